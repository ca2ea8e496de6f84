"""Makes the pictures of the documentation anew: `python plugin/dev/renew_pictures.py [NAME ...]`.

They are pages of real runs, shown in a headless Chromium, and a walk through the button's page with a real KiCad 10.
Without names all are made. Look at each before you commit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.browser.driven import Tab

ROOT = Path(__file__).resolve().parents[2]
PICTURES, BOARDS = ROOT / "fixtures" / "pictures", "fixtures/boards"
WIDTH_PX = 1280
LOSSY, NO_BACKDRILL = f"{BOARDS}/training_b200_lossy_prepreg", f"{BOARDS}/training_b200_no_backdrill"
FIT = f"{BOARDS}/training_b200_fit"

PAGES: Mapping[str, tuple[list[str], str]] = {
    "report": (["check", LOSSY], ""),
    "board_view": (["check", NO_BACKDRILL], "document.querySelector('.board-view').scrollIntoView()"),
    "stackups": (["suggest", LOSSY], "document.querySelector('.choices').scrollIntoView()"),
    "stackup_fix": (["suggest", LOSSY], "document.querySelector('.choices').scrollIntoView()"),
    "diff": (["diff", FIT, LOSSY], "document.querySelector('#stackup').scrollIntoView()"),
}
"""By the picture's name: the command that writes the page, and what is done in it before the picture is taken."""

CLIPS: Mapping[str, tuple[int, int, int, int]] = {"stackup_fix": (12, 50, 640, 650)}
"""By the picture's name: left, top, right and bottom of the part that is kept, in pixels."""

WALKS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "form": ("tests/browser/test_form_in_browser.py", {"form.png": "form"}),
    "kicad": (
        "tests/kicad/test_live_page.py",
        {"6-page-fix.png": "kicad_change"},
    ),
}
"""By name: the test that takes the pictures, and which of them are kept under which name."""


def page(name: str) -> None:
    """Write a page by its command and take its picture."""
    from tests.browser.driven import driven  # noqa: PLC0415 - the path has to be put right first

    command, action = PAGES[name]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a browser may still write
        target = Path(folder) / "page.html"
        words = [sys.executable, "-m", "stackwright", *command, "--format", "html", "--output", str(target)]
        subprocess.run(words, cwd=ROOT, env=_environment(), check=False, stdout=subprocess.DEVNULL)  # noqa: S603
        with driven(Path(folder) / "chromium") as tab:
            tab.narrow(WIDTH_PX)
            tab.open(target.as_uri())
            tab.wait_for("document.readyState === 'complete' && !!document.querySelector('.board')")
            _show(tab, action)
            tab.picture(PICTURES / f"{name}.png")
    if name in CLIPS:
        from PIL import Image  # noqa: PLC0415 - of the development environment alone

        Image.open(PICTURES / f"{name}.png").crop(CLIPS[name]).save(PICTURES / f"{name}.png", optimize=True)


def _show(tab: Tab, action: str) -> None:
    if action:
        tab.ask(f"{action}; new Promise((done) => setTimeout(done, 500))")


def walk(name: str) -> None:
    """Run the test that walks through pages and keep its pictures; a failed walk keeps none."""
    test, kept = WALKS[name]
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "pytest", "-q", test]
        subprocess.run(words, cwd=ROOT, env=_environment(STACKWRIGHT_PICTURES=folder), check=True)  # noqa: S603
        for made, target in kept.items():
            shutil.copyfile(Path(folder) / made, PICTURES / f"{target}.png")


def fab_pack(name: str) -> None:
    """Show the first pages of a fab pack side by side; needs pdftoppm of Poppler."""
    from PIL import Image  # noqa: PLC0415 - it comes with fpdf2

    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "stackwright", "fab-pack", FIT, "--output", folder]
        subprocess.run(words, cwd=ROOT, env=_environment(), check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        target = next(Path(folder).glob("*.pdf"))
        subprocess.run(["pdftoppm", "-r", "58", "-l", "3", "-png", target, Path(folder) / "page"], check=True)  # noqa: S603, S607
        pages = [Image.open(path) for path in sorted(Path(folder).glob("page-*.png"))]
        sheet = Image.new("RGB", (sum(one.width + 8 for one in pages) - 8, pages[0].height), (216, 221, 228))
        for index, one in enumerate(pages):
            sheet.paste(one, (index * (one.width + 8), 0))
        sheet.save(PICTURES / f"{name}.png", optimize=True)


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")]), **more}


def main() -> None:
    """Make the pictures that the command line names."""
    sys.path[:0] = [str(ROOT), str(ROOT / "plugin")]
    makers: dict[str, Callable[[str], None]] = {**dict.fromkeys(PAGES, page), **dict.fromkeys(WALKS, walk)}
    makers["fab_pack"] = fab_pack
    parser = argparse.ArgumentParser(description="Makes the pictures of the documentation anew.")
    parser.add_argument("names", nargs="*", choices=[[], *makers], help="all without a name")
    for name in parser.parse_args().names or makers:
        makers[name](name)


if __name__ == "__main__":
    main()
