"""What can go wrong around the live page, with a real KiCad 10 and a real browser: said clearly, and nothing is lost.

A window that blocks KiCad and a KiCad that is killed at rest are in `test_live_page.py`. Pictures are kept in the
folder that STACKWRIGHT_PICTURES names.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser.driven import Tab
from tests.support.boards import BOARDS
from tests.support.kicad.kicad_editor import Editor, wait_for
from tests.support.kicad.kicad_live import (
    DONE,
    FIRST_FINDING,
    Action,
    addresses,
    checked_page,
    opened,
    opened_editor,
    said,
    selected,
)

if TYPE_CHECKING:
    from kipy import KiCad
    from kipy.proto.common.types import KIID

FIRST, OTHER = "training_b200_no_backdrill", "inference_pcie_gen5_caps_no_backdrill"
MANY_TRACKS = 600
"""That cross one another keep KiCad's DRC busy for seconds."""

ANSWERED = "!selecting && said.textContent !== 'asking KiCad ...'"

pytestmark = [pytest.mark.kicad, pytest.mark.editor, pytest.mark.browser]


def project(folder: Path, name: str) -> Path:
    """Copy a fixture board with its project and settings."""
    folder.mkdir()
    for file in (f"{name}.kicad_pcb", f"{name}.kicad_pro", "stackwright.toml"):
        shutil.copyfile(BOARDS / name / file, folder / file)
    return folder / f"{name}.kicad_pcb"


@pytest.fixture(scope="module")
def board_file(folder: Path) -> Path:
    """A board that is not fit."""
    return project(folder / "first", FIRST)


@pytest.fixture(scope="module")
def other_file(folder: Path) -> Path:
    """Another one."""
    return project(folder / "other", OTHER)


@pytest.fixture(scope="module")
def tab(action: Action, folder: Path, pictures: Path) -> Iterator[Tab]:
    """The page in a browser, with its first report."""
    with checked_page(opened(folder, 1), folder / "chromium", pictures / "trouble-checking.png") as made:
        yield made


def client(editor: Editor, patience_ms: int = 60_000) -> KiCad:
    """A client of an editor's KiCad."""
    from kipy import KiCad

    return KiCad(socket_path=editor.socket, timeout_ms=patience_ms)


def is_silent(editor: Editor) -> bool:
    """Whether KiCad lets a short question wait."""
    from kipy.errors import ConnectionError as NoAnswer

    try:
        client(editor, 500).get_version()
    except NoAnswer:
        return True
    return False


def check_again(tab: Tab) -> None:
    """Press r, and wait for another report."""
    run = tab.ask("state.run")
    tab.wait_for("state.phase === 'idle'")
    tab.ask("document.activeElement.blur()")
    tab.press("r")
    tab.wait_for(DONE.format(run=run + 1), 240)


def click(tab: Tab, expected: str) -> str:
    """Click on the first finding, and wait until the page says what is expected, or something else."""
    tab.ask("say('')")
    tab.click(FIRST_FINDING)
    tab.wait_for(f"{ANSWERED} && said.textContent !== ''", 60)
    assert expected in said(tab)
    return said(tab)


def open_board(editor: Editor, kicad: KiCad, board: Path) -> None:
    """Save what is open, then File > Open, with the keyboard."""
    kicad.get_board().save()  # type: ignore[no-untyped-call]
    editor.run("xdo", "key", "ctrl+o")
    time.sleep(2)
    editor.run("xdo", "type", str(board))
    time.sleep(1)
    editor.run("xdo", "key", "Return")

    def is_open() -> bool:
        from kipy.errors import ApiError
        from kipy.errors import ConnectionError as NoAnswer

        try:
            return kicad.get_board().document.board_filename == board.name
        except (ApiError, NoAnswer):  # while it reads
            return False

    wait_for(f"{board.name} in KiCad", is_open, 60)


def test_a_board_that_kicad_saved_was_changed_and_one_that_another_program_wrote_was_written(
    tab: Tab, kicad: KiCad, board_file: Path, pictures: Path
) -> None:
    """The page notices both by itself; checking touches no file, and KiCad's next save ends the difference."""
    board = kicad.get_board()
    board.remove_items(board.get_tracks()[:1])
    board.save()  # type: ignore[no-untyped-call]
    tab.wait_for("state.stale && said.textContent.includes('were changed since this check')", 60)
    assert tab.ask("state.written") is False

    check_again(tab)
    assert tab.ask("state.stale") is False
    other_net = board_file.read_bytes() + b"\n"
    board_file.write_bytes(other_net)
    tab.wait_for("state.written && said.textContent.includes('file was written since this check')", 60)
    tab.picture(pictures / "trouble-file-written.png")
    assert tab.ask("findings().length") > 0
    assert board_file.read_bytes() == other_net

    board.save()  # type: ignore[no-untyped-call]
    tab.wait_for("!state.written", 60)


def test_a_click_and_a_check_while_drc_runs_are_answered(
    tab: Tab, editor: Editor, kicad: KiCad, pictures: Path
) -> None:
    """KiCad does not answer: the page says so or waits, with progress, and afterwards all is as before."""
    board = kicad.get_board()
    made = crossing_tracks(kicad)
    kicad.run_action("pcbnew.DRCTool.runDRC")
    time.sleep(2)
    editor.run("xdo", "key", "Return")
    wait_for("DRC", lambda: is_silent(editor), 30)

    run = tab.ask("state.run")
    tab.press("r")
    tab.wait_for("!progress.hidden && progress.innerText.includes('asking KiCad') && !cancel.hidden")
    tab.click(FIRST_FINDING)
    tab.wait_for("said.textContent !== ''")
    tab.picture(pictures / "trouble-page-during-drc.png")
    editor.picture(pictures / "trouble-drc.png")
    tab.wait_for(ANSWERED, 60)
    assert "is still busy with the last request" in said(tab) or "selected in KiCad" in said(tab)
    tab.wait_for(DONE.format(run=run + 1), 240)

    editor.run("xdo", "key", "Escape")
    board.remove_items_by_id(made)
    check_again(tab)  # the tracks were in the last report: the page would rightly say so, at any time
    click(tab, "selected in KiCad")


def crossing_tracks(kicad: KiCad) -> list[KIID]:
    """Tracks of different nets that lie across one another; their ids."""
    from kipy.board_types import Track
    from kipy.geometry import Vector2
    from kipy.proto.board.board_types_pb2 import BoardLayer

    board, rng = kicad.get_board(), np.random.default_rng(1)
    nets, tracks = board.get_nets(), []
    for number in range(MANY_TRACKS):
        track, x_mm, y_mm = Track(), rng.uniform(60, 200), rng.uniform(40, 120)
        track.start = Vector2.from_xy_mm(x_mm, y_mm)
        track.end = Vector2.from_xy_mm(x_mm + rng.uniform(-30, 30), y_mm + rng.uniform(-30, 30))
        track.width, track.layer, track.net = 100_000, BoardLayer.BL_F_Cu, nets[number % len(nets)]
        tracks.append(track)
    return [item.id for item in board.create_items(tracks)]  # type: ignore[attr-defined]


def test_another_board_in_the_same_editor_has_a_page_of_its_own(
    tab: Tab,
    editor: Editor,
    kicad: KiCad,
    folder: Path,
    *,
    opener: Path,
    board_file: Path,
    other_file: Path,
    pictures: Path,
) -> None:
    """Nothing of one page is done to the other's board; when the first board is back, its page goes on."""
    count = tab.ask("findings().length")
    open_board(editor, kicad, other_file)
    assert click(tab, f"KiCad shows another board now ({other_file.name}); open {board_file.name} there")
    assert selected(kicad) == set()
    tab.ask("again()")
    tab.wait_for("state.phase === 'idle' && state.error && said.textContent.includes('another board now')", 60)
    assert tab.ask("findings().length") == count

    number = len(addresses(folder)) + 1
    second = Action(editor, folder / "cache", opener)
    try:
        with checked_page(opened(folder, number), folder / "chromium2", pictures / "trouble-other-board.png") as other:
            assert opened(folder, number).split("/")[2] != opened(folder, 1).split("/")[2]
            click(other, "selected in KiCad")
            open_board(editor, kicad, board_file)
            click(other, f"KiCad shows another board now ({board_file.name})")
            click(tab, "selected in KiCad")
            other.open("about:blank")
            assert second.ended(60) == (0, "")
    finally:
        second.end()


def test_a_second_kicad_has_a_page_of_its_own_and_may_be_killed_during_a_check(
    tab: Tab, kicad: KiCad, folder: Path, *, opener: Path, other_file: Path, pictures: Path
) -> None:
    """What is clicked in its page happens in it alone; killed, it takes neither its own report nor the first page."""
    click(tab, "selected in KiCad")
    before = selected(kicad)
    with opened_editor(folder / "k2", other_file) as second_editor:
        number = len(addresses(folder)) + 1
        second = Action(second_editor, folder / "cache", opener)
        try:
            with checked_page(
                opened(folder, number), folder / "chromium3", pictures / "trouble-second-kicad.png"
            ) as other:
                click(other, "selected in KiCad")
                assert selected(client(second_editor))
                assert selected(kicad) == before

                other.ask("again()")
                other.wait_for("!progress.hidden")
                os.kill(int((second_editor.state / "button" / "pcbnew.pid").read_text()), signal.SIGKILL)
                other.wait_for("state.gone && said.textContent.includes('KiCad has ended')", 60)
                other.wait_for("state.phase === 'idle'", 120)
                other.picture(pictures / "trouble-killed-during-check.png")
                assert other.ask("findings().length") > 0
                other.open("about:blank")
                assert second.ended(60) == (0, "")  # before the browser ends: its goodbye is on its way
        finally:
            second.end()
    click(tab, "selected in KiCad")


def test_a_board_that_was_closed_is_said(tab: Tab, editor: Editor, kicad: KiCad, pictures: Path) -> None:
    """For a new one, which has no file yet: the page needs its own board, not for the new one to be saved."""
    from kipy.errors import ConnectionError as NoAnswer

    kicad.get_board().save()  # type: ignore[no-untyped-call]
    with pytest.raises(NoAnswer):
        client(editor, 3000).run_action("common.Control.new")
    editor.run("xdo", "key", "Return")
    wait_for("an answer", lambda: not is_silent(editor), 30)

    click(tab, f"KiCad shows another board now (a new one without a file); open {FIRST}.kicad_pcb there")
    tab.picture(pictures / "trouble-board-closed.png")
    assert tab.ask("findings().length") > 0


def test_a_kicad_that_was_left_is_said_and_the_action_ends_with_its_page(
    tab: Tab, editor: Editor, action: Action, pictures: Path
) -> None:
    """By File > Quit, with what is not saved thrown away; the report stays."""
    editor.run("xdo", "key", "ctrl+q")
    time.sleep(2)
    editor.run("xdo", "key", "shift+Tab", "shift+Tab", "Return")  # from Save to Discard Changes
    tab.wait_for("state.gone && said.textContent.includes('KiCad has ended')", 60)
    tab.picture(pictures / "trouble-kicad-left.png")
    assert tab.ask("findings().length") > 0
    assert tab.ask("run.disabled") is True

    tab.open("about:blank")
    assert action.ended(60) == (0, "")
