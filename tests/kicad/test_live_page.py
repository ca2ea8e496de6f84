"""The live page with a real KiCad 10 and a real browser: what is clicked in one happens in the other.

The button itself, in KiCad's own environment, is pressed in `test_button.py`; here its action is started next to KiCad.
Pictures are kept in the folder that STACKWRIGHT_PICTURES names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stackup_lib.kicad import read_board
from tests.browser.driven import Tab
from tests.support.boards import BOARDS
from tests.support.kicad.kicad_editor import Editor
from tests.support.kicad.kicad_live import (
    DONE,
    FIRST_FINDING,
    Action,
    checked_page,
    opened,
    selected,
)

if TYPE_CHECKING:
    from kipy import KiCad

SOURCE, LOSSY = BOARDS / "training_b200_no_backdrill", BOARDS / "training_b200_lossy_prepreg"
STACKUP = re.compile(r"\n\t\t\(stackup\n.*?\n\t\t\)\n", re.DOTALL)

pytestmark = [pytest.mark.kicad, pytest.mark.editor, pytest.mark.browser]


@pytest.fixture(scope="module")
def board_file(folder: Path) -> Path:
    """A copy of a fixture board without backdrills, with the stackup of one whose prepreg loses too much."""
    project = folder / "project"
    project.mkdir()
    for name in (f"{SOURCE.name}.kicad_pcb", f"{SOURCE.name}.kicad_pro", "stackwright.toml"):
        shutil.copyfile(SOURCE / name, project / name)
    target = project / f"{SOURCE.name}.kicad_pcb"
    lossy = STACKUP.search((LOSSY / f"{LOSSY.name}.kicad_pcb").read_text(encoding="utf-8"))
    assert lossy is not None
    mixed, times = STACKUP.subn(lambda _: lossy[0], target.read_text(encoding="utf-8"))
    assert times == 1
    target.write_text(mixed, encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def tab(action: Action, folder: Path, pictures: Path) -> Iterator[Tab]:
    """The page in a browser, with its first report."""
    with checked_page(opened(folder, 1), folder / "chromium", pictures / "1-checking.png") as made:
        yield made


def findings(folder: Path) -> list[dict[str, Any]]:
    """The findings of the last report."""
    (file,) = (folder / "cache/stackwright/reports").glob("*[0-9a-f].json")
    rows: list[dict[str, Any]] = json.loads(file.read_text())["reports"][0]["findings"]
    return rows


def first_with_items(tab: Tab, folder: Path) -> tuple[str, set[str]]:
    """Id in the page of the first finding that has items, and those of its members that are listed."""
    from drc_rules.report.findings import Finding
    from stackwright.kicad.worker import shown

    entries: dict[str, Any] = shown([Finding.model_validate(row) for row in findings(folder)])
    for ident, entry in entries.items():
        items = {item for member in entry["members"] for item in member["items"]}
        if items:
            return ident, items
    raise AssertionError("no finding has items")


def test_a_click_on_a_finding_selects_its_items_and_moves_the_canvas(
    tab: Tab, kicad: KiCad, editor: Editor, folder: Path, pictures: Path
) -> None:
    """As many as the report names, no others; pictures before and after differ."""
    ident, items = first_with_items(tab, folder)
    before = editor.picture(pictures / "2-kicad-before.png").read_bytes()
    tab.click(f"#{ident} .finding-title")
    tab.wait_for("said.textContent.includes('selected in KiCad')", 40)
    time.sleep(2)

    assert selected(kicad) == items
    assert editor.picture(pictures / "3-kicad-selected.png").read_bytes() != before
    tab.picture(pictures / "4-page-selected.png")
    assert tab.console == []


def test_the_layer_of_a_finding_comes_on_top_and_the_users_comes_back(
    tab: Tab, kicad: KiCad, editor: Editor, folder: Path, pictures: Path
) -> None:
    """A finding that is on one layer brings it on top; one on several gives back the layer that was active."""
    from kipy.proto.board.board_types_pb2 import BoardLayer

    board, edge = kicad.get_board(), BoardLayer.Value("BL_Edge_Cuts")
    board.set_active_layer(edge)
    layers = {}
    tab.ask("document.querySelectorAll('#report .more-findings').forEach((one) => (one.open = true))")
    for ident in tab.ask("findings().slice(0, 8).map((one) => one.id)"):
        tab.ask("said.textContent = ''")
        tab.click(f"#{ident} .finding-title")
        tab.wait_for("!selecting && said.textContent", 40)
        layers[ident] = BoardLayer.Name(board.get_active_layer())
    editor.picture(pictures / "4b-kicad-layer-of-finding.png")

    assert any(name.endswith("_Cu") for name in layers.values()), layers
    assert "BL_Edge_Cuts" in layers.values(), layers


def test_the_keyboard_walks_through_the_findings(tab: Tab, kicad: KiCad) -> None:
    """j forward, k back; the page marks where one is."""
    first, second = tab.ask("findings().slice(0, 2).map((one) => one.id)")
    tab.ask("here = null")
    tab.press("j")
    assert tab.wait_for("here") == first
    tab.press("j")
    assert tab.wait_for(f"here !== '{first}' && here") == second
    tab.press("k")
    tab.wait_for(f"here === '{first}' && !selecting", 60)
    assert tab.ask("document.querySelectorAll('.finding.here').length") == 1


def test_another_check_keeps_place_and_filters(tab: Tab) -> None:
    """What was hidden stays hidden, clauses and findings; one's finding stays where it was on the screen."""
    first = tab.ask("findings()[0].id")
    tab.click("#report .clauses > summary")
    tab.click(".filter .show-met")
    tab.click("#report .chip[data-group=severity]")
    words = "[...document.querySelectorAll('#report .chip[aria-pressed=true]')].map(chipName)"
    chosen, many = tab.ask(words), tab.ask("findings().length")
    assert chosen == ["severity: error"]
    top = tab.ask("document.querySelector('.finding.here').getBoundingClientRect().top")
    tab.ask("document.activeElement.blur()")
    tab.press("r")
    tab.wait_for(DONE.format(run=2))

    assert tab.ask("document.querySelector('.filter .show-met').checked") is False
    assert tab.ask("document.querySelector('.filter .show-failed').checked") is True
    assert (tab.ask(words), tab.ask("findings().length")) == (chosen, many)
    assert tab.ask("here") == first
    assert abs(tab.ask("document.querySelector('.finding.here').getBoundingClientRect().top") - top) < 3


def test_a_second_click_on_the_button_uses_the_running_session(
    tab: Tab, editor: Editor, folder: Path, opener: Path, action: Action
) -> None:
    """It ends at once; the session checks again, and the new address belongs to the same server."""
    second = Action(editor, folder / "cache", opener)
    assert second.ended(60) == (0, "")

    assert opened(folder, 2).split("/")[2] == opened(folder, 1).split("/")[2]
    tab.wait_for(DONE.format(run=3))
    assert action.process.poll() is None


def test_a_window_that_blocks_kicad_is_said_and_nothing_is_lost(tab: Tab, editor: Editor, kicad: KiCad) -> None:
    """Board Setup, opened by a program: no answer within the time; afterwards all is as before."""
    from kipy import KiCad
    from kipy.errors import ConnectionError as NoAnswer

    with pytest.raises(NoAnswer):
        KiCad(socket_path=editor.socket, timeout_ms=2000).run_action("pcbnew.EditorControl.boardSetup")
    tab.click(FIRST_FINDING)
    tab.wait_for("said.className === 'bad' && said.textContent.includes('did not answer')", 60)
    editor.run("xdo", "key", "Escape")
    time.sleep(2)

    tab.click(FIRST_FINDING)
    tab.wait_for("!selecting && said.className === ''", 60)
    assert tab.ask("findings().length") > 0


def test_a_drawing_is_one_step_of_undo(tab: Tab, kicad: KiCad, editor: Editor, pictures: Path) -> None:
    """On a user layer; the button takes it away again."""
    board = kicad.get_board()
    before = len(board.get_shapes())
    tab.click("#draw")
    tab.wait_for("said.textContent.includes('findings drawn on')", 60)
    drawn = len(board.get_shapes()) - before
    editor.picture(pictures / "5-kicad-drawn.png")

    assert drawn > 0
    assert tab.ask("state.stale") is False
    kicad.run_action("common.Interactive.undo")
    assert len(board.get_shapes()) == before
    tab.wait_for("!clear.hidden")
    tab.click("#clear")
    tab.wait_for("said.textContent === 'The drawing is gone.'", 60)


def test_the_least_change_is_shown_and_applied(tab: Tab, kicad: KiCad, board_file: Path, pictures: Path) -> None:
    """As a diff first; applied, KiCad's board, the file and the next report agree, and the former file is kept."""
    former = read_board(board_file).stackup
    tab.click("#fix")
    tab.wait_for("!fixing.hidden && state.phase === 'idle'", 180)
    tab.ask(f"$('board').textContent = '{board_file.name}'; $('said').textContent = ''")  # the guide shows this picture
    tab.picture(pictures / "6-page-fix.png")
    assert "+" in tab.ask("document.querySelector('#fix-files .added').textContent")

    assert tab.ask("document.querySelector('#apply').disabled") is True  # it changes what is built: the box comes first
    assert read_board(board_file).stackup == former

    tab.click("#consent")
    tab.wait_for("!document.querySelector('#apply').disabled")
    tab.click("#apply")
    tab.wait_for("said.textContent.startsWith('Wrote')", 120)
    tab.wait_for(DONE.format(run=4))
    tab.picture(pictures / "7-page-applied.png")
    text = kicad.get_board().get_as_string()
    live = read_board(board_file, text=text.encode()).stackup
    written = read_board(board_file).stackup

    assert live is not None
    assert written is not None
    assert former is not None
    assert live.digest == written.digest != former.digest
    assert list(board_file.parent.glob(f"{board_file.name}.*-bak"))
    assert tab.ask("$('fixing-title').textContent") == "Change applied"
    assert tab.ask("$('fix-rows').tBodies[0].rows.length") > 0


def test_the_applied_change_is_undone(tab: Tab, kicad: KiCad, board_file: Path, pictures: Path) -> None:
    """Board, file and report are those of before."""
    former = read_board(board_file).stackup
    tab.click("#undo")
    tab.wait_for("said.textContent.includes('as before the change')", 120)
    tab.wait_for(DONE.format(run=5))
    tab.picture(pictures / "7b-page-undone.png")
    live = read_board(board_file, text=kicad.get_board().get_as_string().encode()).stackup
    written = read_board(board_file).stackup

    assert former is not None
    assert live is not None
    assert written is not None
    assert live.digest == written.digest != former.digest
    assert tab.ask("$('undo').hidden") is True


def test_a_missing_fact_is_answered_in_the_form(tab: Tab, board_file: Path, pictures: Path) -> None:
    """Tried on the board in KiCad, shown as a diff, written, and checked again."""
    target = board_file.with_name("stackwright.toml")
    former, complaints = target.read_text(), list(tab.console)
    tab.wait_for("state.phase === 'idle'")
    tab.click("#facts-open")
    tab.ask("$('facts-idle').open = true")
    tab.click(".fact[data-question=rail] [name=net]")
    net = tab.ask("document.querySelector('.fact[data-question=rail] [name=net]').list.options[0].value")
    for letter in net:
        tab.press(letter)
    tab.click(".fact[data-question=rail] [name=voltage_v]")
    for letter in "12":
        tab.press(letter)
    tab.wait_for("facts.tried && facts.timer === null && state.phase === 'idle' && !$('facts-diff').disabled")
    tab.picture(pictures / "7c-page-form.png")
    assert "With these answers: " in tab.ask("$('facts-effect').textContent")
    assert target.read_text() == former

    tab.click("#facts-diff")
    tab.wait_for("!$('facts-write').disabled")
    tab.click("#facts-write")
    tab.wait_for("said.textContent.startsWith('Wrote')")
    tab.wait_for(DONE.format(run=6))
    assert target.read_text().startswith(former.rstrip())
    (rail,) = tomllib.loads(target.read_text())["rail"]
    assert (rail["net"], rail["voltage_v"]) == (net, 12)
    tab.click("#facts-close")
    assert tab.console == complaints


def test_a_change_in_the_editor_is_said(tab: Tab, kicad: KiCad) -> None:
    """When one comes back to the page."""
    board = kicad.get_board()
    board.remove_items(board.get_tracks()[:1])
    tab.wait_for("state.phase === 'idle'")
    tab.ask("window.dispatchEvent(new Event('focus'))")
    tab.wait_for("said.textContent.includes('were changed since this check')", 60)


def test_a_killed_kicad_leaves_the_report_and_the_action_ends_with_its_page(
    tab: Tab, editor: Editor, action: Action, pictures: Path
) -> None:
    """No hang, no traceback; the process ends soon after the page is closed."""
    os.kill(int((editor.state / "button" / "pcbnew.pid").read_text()), signal.SIGKILL)
    tab.wait_for("said.textContent.includes('KiCad has ended')", 60)
    tab.picture(pictures / "8-page-kicad-gone.png")
    assert tab.ask("findings().length") > 0
    assert tab.ask("run.disabled") is True

    tab.open("about:blank")
    assert action.ended(60) == (0, "")
