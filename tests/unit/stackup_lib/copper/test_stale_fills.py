"""Fills that do not match the routing: what is in them is found, and nothing that rests on them is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import check_board, prepare
from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import Outcome
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board
from stackup_lib.copper.clearances import SpaceFinder
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.copper.stale_fills import Item, need_true_fills
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from tests.support.boards import BOARDS, board_file
from tests.support.mini import mini_board, mini_file

FIXTURES = ("inference_pcie_gen5_fit", "edge_jetson_carrier_fit")

LOOKS_ITSELF = {"FAB012", "FAB013", "FAB014"}
"""They judge what does not hang on fills all the same, and say themselves what does."""

LOOKS_WHERE_THERE_IS_SOME = {"FAB017", "FAB018", "SKW001"}
"""So do these, where there are unplated holes, copper near the board's edge or pairs whose traces differ."""

HOLDS_ALL_THE_SAME = {"VIA006", "VIA009", "CUP004", "FAB015", "SKW002", "NET008", "NET009"}
"""Sizes of drills, spans of vias, overlaps and layers of tracks, vias and pads, pins of pairs, values of capacitors:
fills decide nothing."""


class Watched:
    """The zones of a board that remember whether their fills were read."""

    def __init__(self, board: Board) -> None:
        self._zones, self.asked = board.zones, False

    def __getattr__(self, name: str) -> object:
        self.asked |= name.startswith("fill_")
        return getattr(self._zones, name)

    def __len__(self) -> int:
        return len(self._zones)


def decide(board: Board, name: str, codes: frozenset[str] | None = None) -> Outcome:
    config = parse_config((BOARDS / name / "stackwright.toml").read_text(encoding="utf-8"))
    context, requirements, _ = prepare(board, config, Overrides())
    rules = [rule for rule in all_rules() if codes is None or rule.code in codes]
    kinds = {kind for rule in rules for kind in rule.kinds}
    return run(context, [c for c in requirements.clauses if c.kind in kinds], all_rules(), rules)


@cache
def fixture(name: str) -> Board:
    return read_board(board_file(name))


def with_old_fills(board: Board) -> Board:
    """The board after one ground via was given to another net, and before the zones were filled again."""
    ground, net = board.net_index["GND"], board.vias.net.copy()
    row = int(np.flatnonzero(net == ground)[0])
    net[row] = next(k for k, name in enumerate(board.nets) if name and k != ground)
    return replace(board, vias=replace(board.vias, net=net))


def verdicts(outcome: Outcome, codes: set[str]) -> Mapping[str, ClauseVerdict]:
    return {one.clause.id: one for one in outcome.verdicts if one.code in codes}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXTURES)
def test_no_answer_that_rests_on_fills_is_given_while_they_are_old(name: str) -> None:
    """What was passed or failed by a rule that reads fills is open then, for this reason alone, and said once."""
    reads = {rule.code for rule in all_rules() if rule.reads_fills}
    fresh, old = decide(fixture(name), name), decide(with_old_fills(fixture(name)), name)

    before, after = verdicts(fresh, reads), verdicts(old, reads)
    decided = {key for key, one in before.items() if one.verdict in (Verdict.PASSED, Verdict.FAILED)}
    assert len(decided) > 5
    assert {after[key].verdict for key in decided} == {Verdict.NOT_VERIFIABLE}
    assert all("zone fills that match the routing" in [m.fact for m in after[key].missing] for key in decided)
    assert not [f.title for f in old.findings if f.code in reads]
    assert [f.code for f in fresh.findings if f.code == "FAB014"] == []
    assert [f.code for f in old.findings if f.code == "FAB014"] == ["FAB014"]
    assert not fresh.crashes
    assert not old.crashes


@pytest.mark.parametrize("name", FIXTURES)
def test_every_rule_that_asks_for_fills_is_declared_so(name: str) -> None:
    """Of the other rules only those few look at stored fills."""
    asks = set()
    for rule in all_rules():
        if not rule.reads_fills:
            board, watched = replace(fixture(name)), Watched(fixture(name))
            object.__setattr__(board, "zones", watched)
            assert not decide(board, name, frozenset({rule.code})).crashes
            asks |= {rule.code} if watched.asked else set()
    assert LOOKS_ITSELF <= asks <= LOOKS_ITSELF | LOOKS_WHERE_THERE_IS_SOME | HOLDS_ALL_THE_SAME


def mini(folder: Path, **table: object) -> Board:
    table = {"size_mm": [60, 40], "copper_layers": 4, "stackup": "default", **table}
    return mini_board(folder, table)


def found(board: Board, *, to_the_rim: bool = False) -> list[tuple[str, str, str, str]]:
    """What is in fills: by its middle and its ends, or also what only reaches into one with its side."""
    copper, none = CopperMap(board), (0.0,) * board.layer_count
    rows = SpaceFinder(copper, none, PostFills(copper, 0.0, none)).other_net if to_the_rim else copper.other_net
    names = [layer.name for layer in board.copper_layers]
    return [
        (
            Item(int(rows.kind[k])).name,
            board.nets[max(int(rows.net[k]), 0)],
            board.nets[int(rows.fill_net[k])],
            names[int(rows.layer[k])],
        )
        for k in range(len(rows))
    ]


PLANE = {"net": "GND", "layer": "In1.Cu", "rect_mm": [5, 5, 50, 30], "clearance_mm": -1}


def test_what_lies_in_a_fill_is_named_with_both_nets_and_layer(tmp_path: Path) -> None:
    """Vias on every layer that they cross, tracks that only touch the fill with their side, pads by their copper."""
    board = mini(
        tmp_path,
        vias=[{"net": "/A", "at_mm": [20, 10]}, {"net": "GND", "at_mm": [30, 10]}],
        tracks=[
            {"net": "/B", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 4.92], [40, 4.92]]},
            {"net": "/C", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 4.8995], [40, 4.8995]]},
            {"net": "/D", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[10, 20], [40, 20]]},
        ],
        zones=[PLANE, {**PLANE, "layer": "In2.Cu", "net": "VDD"}],
    )

    assert sorted(found(board, to_the_rim=True)) == [
        ("TRACK", "/B", "GND", "In1.Cu"),
        ("VIA", "/A", "GND", "In1.Cu"),
        ("VIA", "/A", "VDD", "In2.Cu"),
        ("VIA", "GND", "VDD", "In2.Cu"),
    ]
    with pytest.raises(MissingFact, match="zone fills that match the routing"):
        need_true_fills(CopperMap(board).other_net)


def test_a_pad_counts_where_its_copper_is_and_once_with_its_hole(tmp_path: Path) -> None:
    """A plated pad is one item, with hole and copper; moved 5 mm off its hole, copper and hole still count as one."""
    pads = [{"number": "1", "net": "/A", "kind": "through", "size_mm": [1, 1], "drill_mm": 0.5}]
    board = mini(tmp_path, parts=[{"reference": "U1", "at_mm": [20, 20], "pads": pads}], zones=[PLANE])
    shifted = replace(board, pads=replace(board.pads, shift_x_mm=np.array([-20.0])))

    assert found(board) == [("PAD", "/A", "GND", "In1.Cu")]
    assert found(shifted) == [("HOLE", "/A", "GND", "In1.Cu")]


@pytest.mark.parametrize(("version", "unplated"), [(20241229, []), (20260206, [("HOLE", "", "GND", "In1.Cu")])])
def test_holes_count_on_layers_without_their_pad(
    tmp_path: Path, version: int, unplated: list[tuple[str, str, str, str]]
) -> None:
    """A plated one in every file: it joins the fill. One that is not is kept clear by KiCad 10, and not by KiCad 9."""
    hole = {"number": "1", "size_mm": [1, 1], "drill_mm": 0.5, "layers": ["F.Cu", "B.Cu"]}
    plated, bare = ({**hole, "net": "/A", "kind": "through"}, {**hole, "kind": "non_plated"})
    boards = [
        replace(
            mini(tmp_path / kind, parts=[{"reference": "U1", "at_mm": [20, 20], "pads": [pad]}], zones=[PLANE]),
            format_version=version,
        )
        for kind, pad in (("plated", plated), ("bare", bare))
    ]

    assert found(boards[0]) == [("HOLE", "/A", "GND", "In1.Cu")]
    assert found(boards[1]) == unplated


def test_a_zone_inside_another_ones_fill_is_seen_without_an_edge_near(tmp_path: Path) -> None:
    """A fill that lies whole in that of another net has no edge that crosses one."""
    board = mini(tmp_path, zones=[PLANE, {**PLANE, "net": "VDD", "rect_mm": [20, 15, 30, 20], "clearance_mm": -9}])

    assert found(board) == [("FILL", "VDD", "GND", "In1.Cu")]


def test_fills_made_as_the_board_is_routed_hold_nothing_else(tmp_path: Path) -> None:
    """The fixture boards' and a mini-board's fills, with vias, pads and tracks of other nets in their antipads."""
    board = mini(
        tmp_path,
        vias=[{"net": "/A", "at_mm": [20, 10]}],
        tracks=[{"net": "/B", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 15], [40, 25]]}],
        zones=[{**PLANE, "clearance_mm": 0.2}],
    )

    assert found(board) == []
    assert all(found(fixture(name)) == [] for name in FIXTURES)
    need_true_fills(CopperMap(board).other_net)


def test_a_track_whose_side_alone_reaches_into_a_fill_makes_the_fills_old_too(tmp_path: Path) -> None:
    """Neither end is in it: it is found among the spaces, and what was decided by fills before that is undone."""
    reads = {rule.code for rule in all_rules() if rule.reads_fills}
    table = {
        "size_mm": [60, 40],
        "copper_layers": 4,
        "stackup": "default",
        "tracks": [{"net": "/B", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 4.92], [40, 4.92]]}],
        "zones": [PLANE],
    }
    apart = {**table, "tracks": [{"net": "/B", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 4], [40, 4]]}]}

    old = check_board(mini_file(tmp_path / "old", table))
    fresh = check_board(mini_file(tmp_path / "fresh", apart))

    assert not [v.clause.id for v in old.verdicts if v.code in reads and v.checked]
    assert [v.clause.id for v in fresh.verdicts if v.code in reads and v.checked]
    assert [f.code for f in old.findings if f.code == "FAB014"] == ["FAB014"]
