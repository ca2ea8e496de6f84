"""The fab's stackup that the settings say is ordered, next to the board's in a report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from drc_rules.facts.declared import Overrides
from stackwright.commands.check.command import check_one
from stackwright.commands.check.request import CheckRequest
from stackwright.reporters.html import render
from tests.support.in_process import run_here
from tests.support.reports.pages import Page

ROOT = Path(__file__).parents[2]
SIX_LAYERS = "edge_jetson_carrier_fit"


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board of six layers whose settings order nothing yet."""
    folder = tmp_path / "board"
    shutil.copytree(ROOT / "fixtures" / "boards" / SIX_LAYERS, folder)
    return folder


def page_of(board: Path, stackup: str | None, suffix: str = "html") -> tuple[int, str, str]:
    """Check a board with a stackup ordered; return the exit code, the page and the error."""
    if stackup is not None:
        with (board / "stackwright.toml").open("a", encoding="utf-8") as settings:
            settings.write(f'\n[order]\nstackup = "{stackup}"\n')
    target = board / f"report.{suffix}"
    ran = run_here("check", board, "--format", suffix, "--output", target, cwd=ROOT)
    return ran.code, target.read_text(encoding="utf-8") if target.exists() else "", ran.err


def test_the_rows_of_the_ordered_stackup_stand_next_to_the_boards(board: Path) -> None:
    """Values of both by row, as the fab's list of 2025-05-09 has them; equal copper is not marked."""
    code, text, _ = page_of(board, "JLC061611-7628A")
    words = " ".join("".join(Page(text).words).split())
    assert code == 0
    assert "JLC061611-7628A: 5 rows of 11 different" in words
    assert "JLCPCB as of 2025-05-09" in words
    assert f"stackwright match {SIX_LAYERS}.kicad_pcb --with JLC061611-7628A" in words
    assert "dielectric 1 0.119 3.9 IS400 2116 \u22600.203 \u22604.4 \u2260NP-155F 7628 RC49%" in words
    assert "In1.Cu 0.03 0.03 1 oz" in words
    assert words.count("\u2260") == 3 * 5
    assert 'href="#b1-ordered"' in text


def test_a_stackup_of_other_layers_is_said_not_compared(board: Path) -> None:
    """Nothing is shown as equal that was not compared."""
    code, text, _ = page_of(board, "JLC04161H-7628")
    words = " ".join("".join(Page(text).words).split())
    assert code == 0
    assert "JLC04161H-7628 cannot be compared with the board: it has 4 copper layers, the board 6." in words
    assert "Nothing differs" not in words


def test_a_board_of_the_ordered_stackup_has_no_difference(board: Path) -> None:
    """After `retarget` to it."""
    ran = run_here("retarget", board, "--to", "JLC061611-7628A", "--write", cwd=ROOT)
    assert ran.code in (0, 1), ran.err
    _, text, _ = page_of(board, "JLC061611-7628A")
    words = " ".join("".join(Page(text).words).split())
    assert "JLC061611-7628A: as the board's" in words
    assert "Nothing differs that both state." in words
    assert "\u2260" not in words


@pytest.mark.parametrize("suffix", ["html", "json"])
def test_a_name_that_no_fab_lists_is_refused(board: Path, suffix: str) -> None:
    """Whatever the format, with the file, the key and the nearest name."""
    code, text, error = page_of(board, "JLC061611-762", suffix)
    assert code == 2
    assert "no fab lists" in text  # the report says it too: nothing was checked
    assert 'stackwright.toml: "order.stackup": no fab lists "JLC061611-762"; did you mean "JLC0616' in error


def test_without_an_order_nothing_is_shown(board: Path) -> None:
    """Neither the section nor its link."""
    _, text, _ = page_of(board, None)
    assert "Ordered stackup" not in text


def test_the_page_in_kicad_shows_it_too(board: Path) -> None:
    """The page of the button is the report of the board as KiCad has it."""
    with (board / "stackwright.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[order]\nstackup = "JLC061611-7628A"\n')
    path = board / f"{SIX_LAYERS}.kicad_pcb"
    outcome, _ = check_one(path, CheckRequest(Overrides()), live=path.read_bytes())
    assert "JLC061611-7628A: 5 rows of 11 different" in render([outcome])
