"""How a board lies, how its file is written and what its nets are called changes nothing in what is found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from stackup_lib.board import Board
from stackup_lib.kicad import read_board
from tests import metamorphic as meta
from tests.metamorphic import Judgement, Variant, differences, judge

ROOT = Path(__file__).parents[1] / "fixtures" / "boards"
BOARDS = sorted(path.parent.name for path in ROOT.glob("*/*.kicad_pcb"))

MESH = 0.02
"""A rail is solved on a grid of cells; copper that lies otherwise between them differs by so much at most."""

SOLVER = 1e-4
"""The field solver's own error: a line seen from below is another system of equations."""

PIECE = 1.1
"""Tracks are looked at in pieces of 1 mm: lengths under pads and over holes of the planes are whole pieces, in mm."""


@dataclass(frozen=True)
class Change:
    """A change, and what it may alter."""

    make: Callable[[Board], Variant]
    within: float = 1e-6
    without: tuple[str, ...] = ()
    in_order: bool = True
    keeps_keys: bool = True


CHANGES = {
    "moved by a metre": Change(lambda board: meta.moved(board, 1000, 1000)),
    "moved over the sheet's corner, off any grid": Change(
        lambda board: meta.moved(board, -1234.5678, -987.654321), within=MESH
    ),
    "rotated by 90 degrees": Change(meta.rotated, within=MESH),
    "mirrored": Change(meta.mirrored),
    "turned over": Change(meta.flipped, within=SOLVER, in_order=False, keeps_keys=False),
    "tracks the other way round": Change(meta.reversed_tracks, without=("place.",)),
    "items in another order": Change(meta.shuffled, without=("place",)),
    "nets with other numbers": Change(meta.renumbered),
    "items with other ids": Change(meta.with_other_uuids, keeps_keys=False),
    "nets on another sheet": Change(lambda board: meta.renamed(board, "/deep/sheet"), keeps_keys=False),
}

REWRITTEN = Change(
    lambda board: meta.then(
        board,
        meta.shuffled,
        meta.reversed_tracks,
        meta.renumbered,
        meta.with_other_uuids,
        lambda b: meta.renamed(b, "/deep/sheet"),
        lambda b: meta.moved(b, -77.7777, 333.333),
        meta.mirrored,
    ),
    within=MESH,
    without=("place",),
    keeps_keys=False,
)
"""All that leaves numbers as they are, at once."""


def settings_of(path: Path) -> str:
    beside = path.with_name("stackwright.toml")
    return beside.read_text(encoding="utf-8") if beside.exists() else ""


@functools.cache
def original(path: Path, config: str) -> tuple[Board, Judgement]:
    board = read_board(path)
    return board, judge(Variant(board), config)


def fixture(name: str) -> tuple[Path, str]:
    path = ROOT / name / f"{name}.kicad_pcb"
    return path, settings_of(path)


def found_by(change: Change, path: Path, config: str) -> list[str]:
    """Return what is said otherwise after a change."""
    board, before = original(path, config)
    after = judge(change.make(board), config)
    if change.keeps_keys and before.keys != after.keys:
        return ["the findings have other keys"]
    return differences(before, after, within=change.within, without=change.without, in_order=change.in_order)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["edge_unmirrored_copper", "inference_hdi_2n2_fit"])
def test_a_board_that_is_only_put_otherwise_is_judged_as_before(name: str, change: str) -> None:
    """Verdicts, findings with their numbers and places, impedances, losses, rails and backdrills."""
    assert found_by(CHANGES[change], *fixture(name)) == []


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_that_is_written_otherwise_is_judged_as_before(name: str) -> None:
    """Other order, numbers, ids, names and place, all at once, on every fixture board."""
    assert found_by(REWRITTEN, *fixture(name)) == []
