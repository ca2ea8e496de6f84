"""A real PCB editor of KiCad 10 on a screen of its own, for tests that press Stackwright's button in it.

`kicad-pcbnew-api` (or what STACKWRIGHT_KICAD_EDITOR names) starts it under Xvfb with the API on, sends keys and the
mouse, and takes pictures. Its settings, plugins and caches lie in a new folder of the test's own.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

T = TypeVar("T")
NAME = "button"
COPPER = (224, 122, 38)
"""The face of the upper copper in the icon."""

TOOLBAR_ROWS = 110
FEWEST_PIXELS = 60
SHOWN_AFTER_S = 600
"""For the plugin's environment: KiCad makes it and fetches its packages at the first start, over a network or none."""

SETTLED_AFTER_S = 60
"""Packages come within seconds of each other; when none has come for so long, KiCad is done or has given up."""

SETTINGS = {
    "api": {"enable_server": True, "interpreter_path": "/usr/bin/python3"},
    "auto_backup": {"enabled": False},
    "do_not_show_again": {
        "data_collection_prompt": True,
        "env_var_overwrite_warning": True,
        "migrate_wrl_prompt": True,
        "scaled_3d_models_warning": True,
        "update_check_prompt": True,
        "zone_fill_warning": True,
    },
    "graphics": {"canvas_type": 2},
    "session": {"remember_open_files": False},
    "system": {"check_for_kicad_updates": False},
}
"""No wizard and no question at the first start; Cairo draws: without a GPU KiCad starts in half the time."""


@functools.cache
def editor_command() -> str | None:
    """Return the command that drives a PCB editor, None when there is none."""
    return os.environ.get("STACKWRIGHT_KICAD_EDITOR") or shutil.which("kicad-pcbnew-api")


@dataclass(frozen=True)
class Editor:
    """A PCB editor that starts with the plugin installed.

    Attributes:
        state: folder of everything; short, because a socket's path may not be long.
    """

    command: str
    state: Path

    @property
    def home(self) -> Path:
        """KiCad's home folder."""
        return self.state / NAME / "home"

    @property
    def opened(self) -> Path:
        """The file to which every opened report is added, a line each."""
        return self.state / "opened"

    @property
    def socket(self) -> str:
        """Address of its API."""
        return f"ipc://{self.state / NAME / 'tmp' / 'kicad' / 'api.sock'}"

    @property
    def remembered(self) -> Path:
        """Where the plugin keeps the ids of its markers."""
        return self.home / ".config/kicad/10.0/plugins/org.stackwright.kicad/markers.json"

    def install(self, package: Path) -> None:
        """Put settings and the plugin of a package where KiCad looks for them."""
        opener = self.state / "opener"
        opener.write_text(f'#!/bin/sh\necho "$1" >> {self.opened}\n')
        opener.chmod(0o755)
        config = self.home / ".config" / "kicad" / "10.0"
        config.mkdir(parents=True)
        settings = {**SETTINGS, "environment": {"vars": {"STACKWRIGHT_OPEN": str(opener)}}}
        (config / "kicad_common.json").write_text(json.dumps(settings))
        plugin = self.home / ".local/share/kicad/10.0/plugins/stackwright"
        with zipfile.ZipFile(package) as archive:
            for name in archive.namelist():
                if name.startswith("plugins/"):
                    target = plugin / name.removeprefix("plugins/")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))

    def run(self, verb: str, *arguments: str | Path, check: bool = True) -> str:
        """Run the driving command."""
        command = [self.command, verb, "--name", NAME, *map(str, arguments)]
        environment = {**os.environ, "KICAD_API_STATE": str(self.state)}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=check, env=environment
        ).stdout.strip()

    def picture(self, target: Path) -> Path:
        """Take a picture of the screen."""
        self.run("shot", target)
        return target

    @property
    def reports(self) -> Path:
        """Where the plugin keeps its reports."""
        return self.home / ".cache" / "stackwright" / "reports"

    def start(self, board: Path) -> None:
        """Start KiCad with a board, and wait until it has fetched the plugin's packages and shows the button.

        Most first starts on Debian end without a button: all packages are there, and the installer that has ended is a
        child of KiCad that nothing waits for. wxWidgets 3.2 learns of its end by a pipe (`wxWakeUpPipe`), which a
        signal in another thread leaves marked as full; GTK's image loaders are such children (libglycin). Nothing in
        the package changes that: a second start only sees that all packages are there.
        """
        self.run("start", board)
        with contextlib.suppress(AssertionError):
            wait_for("the button or the end of the packages", self._button_or_settled(), SHOWN_AFTER_S)
        if self._button() is None:
            shown = self.picture(Path(os.environ.get("STACKWRIGHT_PICTURES", self.state)) / "no_button.png")
            sys.stderr.write(f"no button ({shown}) with {self._fetched()}; KiCad is started once more\n")
            self.run("stop")
            self.run("start", board)
            wait_for("the button, after a second start,", self._button, SHOWN_AFTER_S / 2)

    def _button_or_settled(self) -> Callable[[], object]:
        """Whether the button is there, or packages have come and no more follow."""
        seen, since = self._fetched(), time.monotonic()

        def asked() -> object:
            nonlocal seen, since
            if (now := self._fetched()) != seen:
                seen, since = now, time.monotonic()
            return self._button() or (len(seen) > 1 and time.monotonic() - since > SETTLED_AFTER_S)

        return asked

    def press(self) -> str:
        """Click the button with the mouse, as soon as it is there; return the opened address when markers are set."""
        before, markers = self.addresses(), _age(self.remembered)
        x, y = wait_for("the button", self._button, 60)
        self.run("xdo", "mousemove", str(x), str(y), "click", "1")
        wait_for("the page", lambda: len(self.addresses()) > len(before), 60)
        wait_for("the markers", lambda: _age(self.remembered) > markers, 120)
        return self.addresses()[-1]

    def addresses(self) -> list[str]:
        """What was opened so far."""
        return self.opened.read_text().splitlines() if self.opened.exists() else []

    def _fetched(self) -> list[str]:
        """What KiCad has installed for the plugin so far.

        The installer moves folders while we look: only the folder of packages is listed, and one that is gone is empty.
        """
        environments = self.home / ".cache/kicad/10.0/python-environments"
        with contextlib.suppress(FileNotFoundError):
            return sorted(info.name for info in environments.glob("*/lib/*/site-packages/*.dist-info"))
        return []

    def _button(self) -> tuple[int, int] | None:
        """The middle of our icon's copper in the toolbar."""
        shown = pixels(self.picture(self.state / "toolbar.png").read_bytes(), TOOLBAR_ROWS)
        hits = np.argwhere((shown == COPPER).all(axis=-1))
        if len(hits) < FEWEST_PIXELS:
            return None
        y, x = hits.mean(axis=0).astype(int).tolist()
        return x, y


def _age(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def wait_for(what: str, question: Callable[[], T | None], seconds: float) -> T:
    """Ask until the answer is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.5)
    raise AssertionError(f"{what}: not within {seconds:g} s")


def pixels(png: bytes, rows: int) -> np.ndarray:
    """Return red, green and blue of the first rows of a PNG, shape (rows, columns, 3)."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))[:rows]
