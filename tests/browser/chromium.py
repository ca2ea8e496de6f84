"""A headless Chromium, where there is one, that says what a page does wrong."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CONSOLE = re.compile(r"CONSOLE[:(].*|.*Uncaught.*")


@functools.cache
def chromium_path() -> str | None:
    """Return the browser named by `STACKWRIGHT_CHROMIUM` or found on the PATH, None when there is none."""
    named = os.environ.get("STACKWRIGHT_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass(frozen=True)
class Chromium:
    """Opens pages without a screen, each time with the same fresh profile folder and without a network."""

    path: str
    profile: Path

    def open(self, page: Path, *options: str, dark: bool = False) -> tuple[str, list[str]]:
        """Open a page; return what the browser prints, and what its console says."""
        run = subprocess.run(
            [
                self.path,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={self.profile}",
                "--hide-scrollbars",
                "--enable-logging=stderr",
                *(["--blink-settings=preferredColorScheme=0"] if dark else []),
                *options,
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=180,
            check=False,
        )
        assert run.returncode == 0, run.stderr[-2000:]
        return run.stdout, CONSOLE.findall(run.stderr)
