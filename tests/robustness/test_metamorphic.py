"""How a board lies, how its file is written and what its nets are called changes nothing in what is found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from drc_rules.analysis.impedance.route_impedance import link_impedances
from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.declared import Overrides
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from tests.support.judgement import Judgement, clauses_of, differences, judge
from tests.support.mini import mini_file
from tests.support.remembered import equal_sections_solved_once
from tests.support.robustness import metamorphic as meta
from tests.support.robustness.metamorphic import Variant
from tests.support.rule_cases import all_cases

ROOT = Path(__file__).parents[2] / "fixtures" / "boards"
BOARDS = sorted(path.parent.name for path in ROOT.glob("*/*.kicad_pcb"))

MESH = 0.02
"""A rail is solved on triangles, to bounds a few percent apart: copper that lies otherwise gets other triangles."""

GRID = 0.005
"""The ground return is solved on a grid from the lower left corner: a mirror puts its coarse cells elsewhere."""


@dataclass(frozen=True)
class Change:
    """A change, and what it may alter."""

    make: Callable[[Board], Variant]
    within: float = 1e-6
    back_within: float = 1e-6
    without: tuple[str, ...] = ()
    in_order: bool = True
    keeps_keys: bool = True


CHANGES = {
    "moved by a metre": Change(lambda board: meta.moved(board, 1000, 1000)),
    "moved over the sheet's corner, off any grid": Change(
        lambda board: meta.moved(board, -1234.5678, -987.654321), within=MESH
    ),
    "rotated by 90 degrees": Change(meta.rotated, within=MESH),
    # the highest density is known to 5 % to each side, by which the finest triangles move
    "rotated by 17 degrees": Change(lambda board: meta.rotated(board, 17), within=MESH, without=("densest_a",)),
    "moved off any grid, not far": Change(lambda board: meta.moved(board, 137.013, -42.707), within=MESH),
    "mirrored": Change(meta.mirrored, back_within=GRID),
    "turned over": Change(meta.flipped, back_within=GRID, in_order=False, keeps_keys=False),
    "tracks the other way round": Change(meta.reversed_tracks, without=("place.",)),
    "items in another order": Change(meta.shuffled, without=("place",)),
    "nets with other numbers": Change(meta.renumbered),
    "items with other ids": Change(meta.with_other_uuids, keeps_keys=False),
    "layers with the user's names": Change(meta.with_user_names),
    "nets without the slash of the root sheet": Change(meta.without_paths, keeps_keys=False),
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
    temporary_file = path.with_name("stackwright.toml")
    return temporary_file.read_text(encoding="utf-8") if temporary_file.exists() else ""


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
    return differences(
        before,
        after,
        within=change.within,
        back_within=change.back_within,
        without=change.without,
        in_order=change.in_order,
    )


@pytest.fixture(autouse=True)
def _remembered() -> Iterator[None]:
    with equal_sections_solved_once():
        yield


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["edge_unmirrored_copper", "inference_hdi_2n2_fit"])
def test_a_board_that_is_only_put_otherwise_is_judged_as_before(name: str, change: str) -> None:
    """Verdicts, findings with their numbers and places, impedances, losses, rails and backdrills."""
    assert found_by(CHANGES[change], *fixture(name)) == []


def test_lengths_and_distances_at_their_limits_stay_there_when_the_board_is_turned() -> None:
    """Breakouts of 1 mm, return vias 1 mm away, tracks of which half is over an antipad: all a nanometre off."""
    assert found_by(CHANGES["rotated by 17 degrees"], *fixture("inference_pcie_gen5_fit")) == []


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_that_is_written_otherwise_is_judged_as_before(name: str) -> None:
    """Other order, numbers, ids, names and place, all at once, on every fixture board."""
    assert found_by(REWRITTEN, *fixture(name)) == []


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("name", ["edge_unmirrored_copper", "inference_hdi_2n2_fit", "training_b200_no_backdrill"])
def test_a_board_whose_tracks_are_cut_into_parts_gets_the_same_verdicts(name: str, parts: int) -> None:
    """Lengths move by pieces of 1 mm, and by what lies over a hole of the planes; findings are the same ones."""
    board, before = original(*fixture(name))

    after = judge(meta.split(board, parts), fixture(name)[1])

    assert before.verdicts == after.verdicts
    assert before.keys == after.keys
    assert clauses_of(before) == clauses_of(after)


PIECE_MM = 1.0
"""Tracks are looked at in pieces of at most so much: where their ends lie decides what a pad or a hole takes along."""

ENDS_COUNT = ("length_mm", "uncoupled_mm", "forgiven_mm", "over_holes_mm")
"""Lengths to which such pieces add up."""


@functools.cache
def impedances_as_drawn(path: Path) -> tuple[Board, dict[str, dict[str, object]]]:
    board = read_board(path)
    return board, impedances_of(board, path)


def impedances_of(board: Board, path: Path) -> dict[str, dict[str, object]]:
    """The impedance table, a flat row for each link."""
    context = prepare(board, find_config(path, None), Overrides())[0]
    return {row.name: dict(_flat(row.model_dump())) for row in context.get(link_impedances)}


def _flat(row: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def moved_by_more(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """What a row says otherwise: a length by more than a piece, anything else at all."""
    found = []
    for name in before.keys() | after.keys():
        one, other = before.get(name), after.get(name)
        if isinstance(one, float) and isinstance(other, float):
            is_length = name.rsplit(".", 1)[-1] in ENDS_COUNT
            agree = abs(one - other) <= PIECE_MM if is_length else other == pytest.approx(one, rel=1e-6, abs=1e-9)
        else:
            agree = one == other
        found += [] if agree else [f"{name}: {one} and {other}"]
    return found


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("name", ["edge_unmirrored_copper", "inference_hdi_2n2_fit", "training_b200_no_backdrill"])
def test_tracks_that_are_cut_have_the_impedance_that_they_had(name: str, parts: int) -> None:
    """Of every link mean, worst section, gaps and planes are the same numbers; lengths move by a piece at most."""
    path, _ = fixture(name)
    board, before = impedances_as_drawn(path)

    after = impedances_of(meta.split(board, parts).board, path)

    assert before.keys() == after.keys()
    assert {link: moved_by_more(row, after[link]) for link, row in before.items()} == {link: [] for link in before}


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_a_track_over_a_gap_of_its_plane_is_one_track_however_it_is_cut(parts: int, tmp_path: Path) -> None:
    """A gap under the middle of a long track does not become the track's plane, nor vanish between two halves."""
    loaded = next(one for one in all_cases() if "slot of 8 mm under its middle" in one.case.why)
    path = mini_file(tmp_path, loaded.board)
    board = read_board(path)

    before, after = impedances_of(board, path), impedances_of(meta.split(board, parts).board, path)

    assert {link: moved_by_more(row, after[link]) for link, row in before.items()} == {"/PCIE_TX0": []}
    assert before["/PCIE_TX0"]["mean_ohm.nominal"] == pytest.approx(85, rel=0.02)


DEMOS = {
    "ecc83/ecc83-pp.kicad_pcb": "edge",
    "interf_u/interf_u.kicad_pcb": "inference",
    "stickhub/StickHub.kicad_pcb": "inference-pcie",
    "royalblue54L_feather/RoyalBlue54L-Feather.kicad_pcb": "training-b200",
}


@pytest.mark.demo
@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_board_that_is_written_otherwise_is_judged_as_before(name: str, demo_boards: Path) -> None:
    """What people drew, with arcs, turned parts and zones of every shape."""
    config = f'profile = "{DEMOS[name]}"\n'

    assert found_by(REWRITTEN, demo_boards / name, config) == []
    assert found_by(CHANGES["rotated by 90 degrees"], demo_boards / name, config) == []


def test_a_judgement_that_differs_is_told() -> None:
    """The comparison sees a number, a word, a place and a finding that only one of them has."""
    path, config = fixture("edge_unmirrored_copper")
    board, before = original(path, config)
    assert board.stackup is not None
    plies = board.stackup.layers[4].plies
    thinner = tuple(ply.model_copy(update={"thickness_mm": (ply.thickness_mm or 1) * 0.9}) for ply in plies)
    row = board.stackup.layers[4].model_copy(update={"plies": thinner})
    stackup = board.stackup.model_copy(update={"layers": (*board.stackup.layers[:4], row, *board.stackup.layers[5:])})

    after = judge(Variant(replace(board, stackup=stackup)), config)

    found = differences(before, after)
    assert any("impedance" in line and line.startswith("only before") for line in found)
    assert any("impedance" in line and line.startswith("only after") for line in found)
    assert differences(before, before) == []
