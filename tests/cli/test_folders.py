"""Folders in place of boards: which boards are found below them, and what a command about one board says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from stackup_lib.core.errors import BoardFileError
from stackwright.cli.app import run
from stackwright.run.paths import boards_below, boards_in_backups, boards_of, find_board
from tests.support.boards import BOARDS

SKIPPED = (
    ".git/a.kicad_pcb",
    ".history/deep/a.kicad_pcb",
    "card-backups/a.kicad_pcb",
    "_autosave-x/a.kicad_pcb",
    "node_modules/pack/a.kicad_pcb",
    "_autosave-card.kicad_pcb",
    ".hidden.kicad_pcb",
    "card.kicad_pcb-bak",
    "card.kicad_pro",
)


def written(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("(kicad_pcb)", encoding="utf-8")


def names_in(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in boards_below(folder)]


def test_a_folder_is_searched_with_the_folders_below_it(tmp_path: Path) -> None:
    """Backups, autosaves, hidden folders and packages hold no boards to check."""
    names = ["b/deep/er/x.kicad_pcb", "b/riser.kicad_pcb", "card.kicad_pcb", "fpga-baker/x.kicad_pcb"]
    written(tmp_path, *names, *SKIPPED)
    (tmp_path / "folder.kicad_pcb").mkdir()

    assert names_in(tmp_path) == names


def test_boards_in_folders_of_backups_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a folder may hold more than backups; one that is named is searched."""
    written(tmp_path, "card.kicad_pcb", *SKIPPED)
    monkeypatch.chdir(tmp_path)
    left = Path("card-backups/a.kicad_pcb")

    assert boards_in_backups([Path()]) == [left]
    assert boards_in_backups([Path("card.kicad_pcb"), Path("b")]) == []
    assert boards_in_backups([Path(), Path("card-backups")]) == []
    assert left in boards_of([Path("card-backups")])


def test_a_check_of_a_folder_says_which_boards_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its exit code speaks of the boards that were checked alone."""
    shutil.copytree(BOARDS / "default_stackup", tmp_path / "card")
    written(tmp_path, "card/card-backups/old.kicad_pcb")
    monkeypatch.chdir(tmp_path)
    assert run(["check", "-q", "."]) == 0
    said = "1 board in folders of backups not checked (name one to check it): card/card-backups/old.kicad_pcb\n"
    assert capsys.readouterr().err == f"note: {said}"


def test_links_that_go_round_in_circles_end(tmp_path: Path) -> None:
    """A folder that holds a link to itself, and a board that is one."""
    written(tmp_path, "b/card.kicad_pcb")
    (tmp_path / "b" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b" / "round.kicad_pcb").symlink_to("round.kicad_pcb")

    loop = tmp_path / "b" / "round.kicad_pcb"
    assert names_in(tmp_path) == ["b/card.kicad_pcb", "b/round.kicad_pcb"]
    assert boards_of([tmp_path]) == [tmp_path / "b" / "card.kicad_pcb", loop]
    assert boards_of([loop]) == [loop]
    with pytest.raises(BoardFileError, match=r"round\.kicad_pcb: cannot be read"):
        find_board(loop)


def test_a_board_that_is_meant_twice_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check a.kicad_pcb .`: in the order of the command line, as the user spells it."""
    written(tmp_path, "a.kicad_pcb", "b/c.kicad_pcb")
    monkeypatch.chdir(tmp_path)

    boards = boards_of([Path("b/c.kicad_pcb"), Path(), Path("b"), Path("none.kicad_pcb")])

    assert boards == [Path("b/c.kicad_pcb"), Path("a.kicad_pcb"), Path("none.kicad_pcb")]


def test_a_command_about_one_board_looks_in_the_folder_then_below_it(tmp_path: Path) -> None:
    """The board of the folder itself is the one that is meant."""
    written(tmp_path, "deep/b.kicad_pcb")
    assert find_board(tmp_path) == tmp_path / "deep" / "b.kicad_pcb"
    written(tmp_path, "a.kicad_pcb")
    assert find_board(tmp_path) == tmp_path / "a.kicad_pcb"


def test_a_folder_with_several_boards_or_none_is_one_line(tmp_path: Path) -> None:
    """The line lists them."""
    with pytest.raises(BoardFileError, match=r"holds no \.kicad_pcb file; give the board file$"):
        find_board(tmp_path)
    written(tmp_path, "x/a.kicad_pcb", "y/b.kicad_pcb")
    listed = os.path.join("x", "a.kicad_pcb") + ", " + os.path.join("y", "b.kicad_pcb")  # noqa: PTH118 - as shown
    with pytest.raises(BoardFileError) as raised:
        find_board(tmp_path)
    assert f"holds 2 boards ({listed}); give the one you mean" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """What was not searched may hold a board."""
    written(tmp_path, "a.kicad_pcb", "shut/b.kicad_pcb")
    (tmp_path / "shut").chmod(0)
    try:
        with pytest.raises(BoardFileError, match="shut: cannot be read"):
            boards_of([tmp_path])
    finally:
        (tmp_path / "shut").chmod(0o700)
