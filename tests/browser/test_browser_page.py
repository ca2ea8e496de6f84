"""The page that checks a board in the browser: the same findings as the command line, and nothing leaves it.

It needs Pyodide with its wheels for NumPy, Shapely and Pydantic, which no package index has:
`STACKWRIGHT_PYODIDE` names the folder of an unpacked release. Without SciPy in it boards with declared rails are
checked without their settings.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browser_page.build import main
from tests.browser.driven import Tab, driven
from tests.conftest import demo_folder
from tests.support.boards import BOARDS
from tests.support.in_process import run_here

PYODIDE = os.environ.get("STACKWRIGHT_PYODIDE")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PYODIDE, reason="STACKWRIGHT_PYODIDE names no release of Pyodide"),
]
SAID = "document.getElementById('said')"

TAKE = """Promise.all(%s.map((name) => fetch('boards/' + name).then((answer) => answer.arrayBuffer())
  .then((bytes) => new File([bytes], name.split('/').pop()))))"""


class Site(SimpleHTTPRequestHandler):
    """Serves the page, and keeps what is asked."""

    asked: list[str] = []  # noqa: RUF012 - of all requests

    def log_message(self, _format: str, *words: object) -> None:
        """Keep the request's line."""
        self.asked.append(str(words[0]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The built page, and its address."""
    folder = tmp_path_factory.mktemp("site")
    assert main(["--pyodide", str(PYODIDE), "--output", str(folder), "--any-pyodide"]) == 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Site, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(site: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """The page, ready."""
    with driven(tmp_path_factory.mktemp("chromium")) as tab:
        tab.open(site[1])
        tab.wait_for(f"{SAID} && /Ready|cannot/.test({SAID}.textContent)")
        assert tab.ask(f"{SAID}.textContent") == "Ready."
        tab.ask("show = ((plain) => (data) => { window.shown = data; plain(data); })(show), 0")
        yield tab


def has_scipy() -> bool:
    """Tell whether the release at hand is whole."""
    return any(one.stat().st_size > 1_000_000 for one in Path(str(PYODIDE)).glob("scipy-*.whl"))


def boards() -> list[Path]:
    """The shipped boards, and KiCad's small demos where they are."""
    demos = demo_folder()
    names = ("tiny_tapeout", "stickhub", "royalblue54L_feather", "openair-max")
    return sorted(BOARDS.glob("*/*.kicad_pcb")) + [
        board for name in names if demos for board in sorted((demos / name).glob("*.kicad_pcb"))[:1]
    ]


def taken(board: Path, folder: Path) -> list[str]:
    """Copy a board with what belongs to it into a folder of the site; return the names under `boards`."""
    target = folder / "boards" / board.stem
    target.mkdir(parents=True, exist_ok=True)
    files = [
        board,
        *(board.with_suffix(end) for end in (".kicad_pro", ".kicad_dru")),
        board.parent / "stackwright.toml",
    ]
    for file in files:
        is_settings = file.suffix == ".toml"
        if file.exists() and not (is_settings and "rail" in file.read_text(encoding="utf-8") and not has_scipy()):
            shutil.copyfile(file, target / file.name)
    return [f"{board.stem}/{file.name}" for file in sorted(target.iterdir())]


def differences(one: Any, two: Any, at: str = "") -> Iterator[str]:
    """Yield where two documents differ by more than the last digits of a number."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted({*one, *two}):
            yield from differences(one.get(key), two.get(key), f"{at}.{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for index, pair in enumerate(zip(one, two, strict=True)):
            yield from differences(*pair, f"{at}[{index}]")
    elif isinstance(one, float) and isinstance(two, int | float):
        if not math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{at}: {one} {two}"
    elif one != two:
        yield f"{at}: {one!r} {two!r}"


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.stem)
def test_the_page_finds_what_the_command_line_finds(page: Tab, site: tuple[Path, str], board: Path) -> None:
    """The whole report, number by number; and while it was checked nothing was asked of the server."""
    names = taken(board, site[0])
    page.ask(f"window.shown = null, {TAKE % json.dumps(names)}.then((files) => {{ window.files = files; return 0 }})")
    asked = len(Site.asked)
    page.ask("take(window.files)")
    page.wait_for(f"window.shown || {SAID}.className", 300)

    assert page.ask(f"{SAID}.textContent").startswith(f"{board.stem}: checked in")
    assert [one for one in Site.asked[asked:] if "scipy" not in one and "openblas" not in one] == []
    found = json.loads(page.ask("window.shown.json"))
    there = site[0] / "boards" / board.stem / board.name
    said = run_here("check", str(there), "--json", "--jobs", "1").out
    expected = json.loads(said.replace(f"{there.parent}/", "/board/"))
    assert list(differences(expected, found)) == []
    assert page.console == []
