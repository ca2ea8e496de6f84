"""The button's action next to a real KiCad 10, and its page in a real browser, for the tests of the live page."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.driven import Tab, driven
from tests.support.kicad.kicad_editor import Editor, editor_command, wait_for

if TYPE_CHECKING:
    from kipy import KiCad

ROOT = Path(__file__).parents[3]
FIRST_FINDING = "#report .finding .finding-title"
DONE = "state && state.phase === 'idle' && state.run >= {run} && shownRun === state.run"


class Action:
    """The button's action, as KiCad starts it."""

    def __init__(self, editor: Editor, cache: Path, opener: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "plugin/kicad_addon/main.py"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "KICAD_API_SOCKET": editor.socket,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")]),
                "STACKWRIGHT_OPEN": str(opener),
                "XDG_CACHE_HOME": str(cache),
            },
        )

    def ended(self, seconds: float) -> tuple[int, str]:
        """Wait for its end; exit code and what it says."""
        said, complaint = self.process.communicate(timeout=seconds)
        return self.process.returncode, said + complaint

    def end(self) -> None:
        """End it now, where it has not ended."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def opened_editor(state: Path, board: Path) -> Iterator[Editor]:
    """KiCad's PCB editor with a board open."""
    command = editor_command()
    assert command is not None
    made = Editor(command, state)
    made.state.mkdir()
    made.run("start", board)
    try:
        yield made
    finally:
        made.run("stop", check=False)


def noting_opener(folder: Path) -> Path:
    """A browser that only writes down in a folder what it was asked to open."""
    made = folder / "opener"
    made.write_text(f'#!/bin/sh\necho "$1" >> {folder}/opened\n')
    made.chmod(0o755)
    return made


def addresses(folder: Path) -> list[str]:
    """What was opened so far."""
    file = folder / "opened"
    return file.read_text().splitlines() if file.exists() else []


def opened(folder: Path, number: int) -> str:
    """The address that was opened as the `number`th."""

    def there() -> list[str]:
        lines = addresses(folder)
        return lines if len(lines) >= number else []

    return wait_for("the page", there, 60)[number - 1]


@contextmanager
def checked_page(address: str, profile: Path, picture: Path) -> Iterator[Tab]:
    """The page in a browser, looked at while it shows progress, and with its first report."""
    with driven(profile) as made:
        made.open(address)
        made.wait_for("document.readyState === 'complete' && !progress.hidden")
        made.picture(picture)
        made.wait_for(DONE.format(run=1))
        yield made


def said(tab: Tab) -> str:
    """What the page says in its head."""
    text: str = tab.ask("said.textContent")
    return text


def selected(kicad: KiCad) -> set[str]:
    """Ids of what is selected in KiCad."""
    return {item.id.value for item in kicad.get_board().get_selection()}  # type: ignore[attr-defined]
