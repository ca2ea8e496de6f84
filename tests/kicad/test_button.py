"""The button in a real KiCad 10: installed from the package, pressed with the mouse, looked at."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import Chromium, chromium_path
from tests.support.hang import no_hang
from tests.support.kicad.kicad_editor import Editor, editor_command
from tests.support.kicad.kicad_live import FIRST_FINDING

if TYPE_CHECKING:
    from kipy import KiCad
    from kipy.proto.common.types import KIID

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "fixtures" / "boards" / "training_b200_no_backdrill"

pytestmark = [pytest.mark.kicad, pytest.mark.editor]


@pytest.fixture(scope="module")
def board_file(folder: Path) -> Path:
    """A copy of a fixture board whose links lack their backdrills."""
    project = folder / "project"
    project.mkdir()
    for name in (f"{SOURCE.name}.kicad_pcb", f"{SOURCE.name}.kicad_pro", "stackwright.toml"):
        shutil.copyfile(SOURCE / name, project / name)
    return project / f"{SOURCE.name}.kicad_pcb"


@pytest.fixture(scope="module")
def editor(folder: Path, board_file: Path) -> Iterator[Editor]:
    """KiCad's PCB editor with the package's plugin, the board open, and the button pressed once."""
    command = editor_command()
    assert command is not None
    package = folder / "package.zip"
    subprocess.run([sys.executable, ROOT / "plugin/kicad_addon/build.py", "--output", package], check=True)
    made = Editor(command, folder / "k")
    made.state.mkdir()
    made.install(package)
    try:
        made.start(board_file)
        made.press()
        yield made
    finally:
        made.run("stop", check=False)


def alive(kicad: KiCad, ids: list[str]) -> int:
    """How many markers the editor has: it can neither list nor return them, but select them."""
    from google.protobuf.empty_pb2 import Empty  # type: ignore[import-untyped]
    from kipy.proto.common.commands import editor_commands_pb2 as commands

    document = kicad.get_board().document
    clear, add = commands.ClearSelection(), commands.AddToSelection()
    for request in (clear, add):
        request.header.document.CopyFrom(document)
    for one in ids:
        add.items.add().value = one
    client = kicad.get_board().client
    client.send(clear, Empty)
    found = len(client.send(add, commands.SelectionResponse).items)
    client.send(clear, Empty)
    return found


def remembered(editor: Editor, board: Path) -> list[str]:
    """Ids of the markers that the plugin remembers."""
    ids: list[str] = json.loads(editor.remembered.read_text())[str(board)]
    return ids


def report_of(editor: Editor) -> Path:
    """The report that was written last."""
    (page,) = editor.reports.glob("*.html")
    return page


def findings_by_button(editor: Editor) -> str:
    return json.dumps(json.loads(report_of(editor).with_suffix(".json").read_text())["reports"][0]["findings"])


def findings_by_command(board: Path) -> str:
    command = [sys.executable, "-m", "stackwright", "check", str(board), "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")])}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return json.dumps(json.loads(run.stdout)["reports"][0]["findings"])


def test_a_click_checks_the_board_and_opens_the_report(editor: Editor, board_file: Path) -> None:
    """The report is in the user's cache, not in the project, and says what is wrong."""
    page = report_of(editor)

    assert editor.addresses()[-1].startswith("http://127.0.0.1:")
    assert page.is_relative_to(editor.home)
    assert "NOT FIT" in page.read_text(encoding="utf-8").upper()
    assert "VIA001" in page.read_text(encoding="utf-8")
    assert {file.name for file in board_file.parent.iterdir() if file.name.startswith("stackwright")} == {
        "stackwright.toml"
    }


@pytest.mark.browser
def test_the_report_is_shown_by_a_browser(editor: Editor, tmp_path: Path) -> None:
    """A headless Chromium renders it, without a word on its console."""
    path = chromium_path()
    assert path is not None

    shown, console = Chromium(path, tmp_path / "chromium").open(report_of(editor), "--dump-dom")

    assert "VIA001" in shown
    assert console == []


def test_every_finding_has_a_marker_in_the_drc_window(
    editor: Editor, kicad: KiCad, board_file: Path, tmp_path: Path
) -> None:
    """As many as there are errors and warnings; a picture of the window is kept next to the other temporary files."""
    findings = json.loads(findings_by_button(editor))
    ids = remembered(editor, board_file)

    assert len(ids) == sum(finding["severity"] != "info" for finding in findings) > 10
    assert alive(kicad, ids) == len(ids)
    kicad.run_action("pcbnew.DRCTool.runDRC")
    time.sleep(3)
    assert editor.picture(tmp_path / "drc_window.png").stat().st_size > 10_000
    editor.run("xdo", "key", "Escape")


def test_another_click_replaces_the_markers(editor: Editor, kicad: KiCad, board_file: Path) -> None:
    """As many again, and none of the old ones is left."""
    old = remembered(editor, board_file)
    editor.press()
    new = remembered(editor, board_file)

    assert len(new) == len(old)
    assert not set(new) & set(old)
    assert (alive(kicad, old), alive(kicad, new)) == (0, len(new))


@pytest.mark.browser
def test_the_page_that_the_button_opens_is_in_touch_with_kicad(editor: Editor, kicad: KiCad, tmp_path: Path) -> None:
    """In the environment that KiCad made: a click on a finding in a browser selects its items in the editor."""
    from tests.browser.driven import driven

    board = kicad.get_board()
    board.clear_selection()  # type: ignore[no-untyped-call]
    with driven(tmp_path / "chromium") as tab:
        tab.open(editor.press())
        tab.wait_for("document.readyState === 'complete' && state && state.phase === 'idle' && shownRun > 0")
        tab.click(FIRST_FINDING)
        tab.wait_for("said.textContent.includes('selected in KiCad')", 60)
        shown = tab.ask("parseInt(said.textContent)")
        assert tab.console == []

    assert len(board.get_selection()) == shown > 0


def test_the_live_board_gives_the_findings_of_the_command_line(editor: Editor, kicad: KiCad, board_file: Path) -> None:
    """Unsaved changes included: a via that is gone in the editor changes the findings, and saving makes both agree."""
    board = kicad.get_board()
    assert findings_by_button(editor) == findings_by_command(board_file)

    board.remove_items_by_id(_items_of(editor))
    editor.press()
    live = findings_by_button(editor)

    assert live != findings_by_command(board_file)
    board.save()  # type: ignore[no-untyped-call]
    assert live == findings_by_command(board_file)


def _items_of(editor: Editor) -> list[KIID]:
    """Two vias that the first finding is about."""
    from kipy.proto.common import types

    first = json.loads(findings_by_button(editor))[0]
    return [types.KIID(value=place["uuid"]) for place in first["places"][:2]]


def test_a_kicad_that_does_not_answer_is_one_line(editor: Editor) -> None:
    """Board Setup, opened by another program, stops it from answering until the window is closed."""
    _run_action(editor, "pcbnew.EditorControl.boardSetup")
    with no_hang():
        said = _said_by_the_action(editor)
    editor.run("xdo", "key", "Escape")
    time.sleep(2)

    assert said.startswith("error: KiCad: did not answer within")
    assert said.count("\n") == 1


def test_a_board_that_was_never_saved_is_one_line(editor: Editor) -> None:
    """It has no name, no project and no settings; the last test, because KiCad has no other board afterwards."""
    _run_action(editor, "common.Control.new")
    editor.run("xdo", "key", "Return")
    time.sleep(3)

    said = _said_by_the_action(editor)

    assert said == "error: the board: has never been saved; save it (Ctrl+S), then press the button again\n"


def _run_action(editor: Editor, name: str) -> None:
    """Let KiCad open a window that blocks its answer."""
    from kipy import KiCad
    from kipy.errors import ConnectionError as NoAnswer

    with pytest.raises(NoAnswer):
        KiCad(socket_path=editor.socket, timeout_ms=3000).run_action(name)


def _said_by_the_action(editor: Editor) -> str:
    """Start the button's action as KiCad does, let it fail, and return what it says on its error stream."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "plugin")])
    run = subprocess.run(
        [sys.executable, ROOT / "plugin/kicad_addon/main.py"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KICAD_API_SOCKET": editor.socket, "PYTHONPATH": path},
    )
    assert (run.returncode, run.stdout) == (2, "")
    return run.stderr
