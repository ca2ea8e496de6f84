"""Holes as the rules group them: which are alike, how deep they are, which are drilled out, what lies next to them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from drc_rules.analysis.fabrication.hole_gaps import REACH_MM, hole_gaps
from drc_rules.analysis.via.drilled_holes import DrilledHole, drilled_holes, place_of
from drc_rules.analysis.via.hole_groups import PLACES_SHOWN, depth_mm, hole_groups, is_wide_for_any_board
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.limits import limit_of
from drc_rules.rules.via._drilled_pads import drills_of, pads_near, pieces_near
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.shapes import track_pieces
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.vias.plated_holes import Backdrill, PlatedHole
from tests.support.small_boards.drilled import context, via
from tests.support.stackups import SIX_LAYERS


def test_holes_of_one_kind_span_and_diameter_are_one_group_and_pads_come_last(tmp_path: Path) -> None:
    """Two vias of 0.2 mm, one of 0.3; one buried, one microvia; two pins of 1 mm, one of them in a slot of 1 by 2."""
    pads = [
        {"number": "1", "net": "/A", "kind": "through", "size_mm": [1.6, 1.6], "drill_mm": 1.0, "shape": "circle"},
        {"number": "2", "kind": "through", "at_mm": [5, 0], "size_mm": [1.6, 1.6], "drill_mm": 1.0, "shape": "circle"},
        {"number": "", "kind": "non_plated", "at_mm": [9, 0], "size_mm": [3, 3], "drill_mm": 3.0, "shape": "circle"},
    ]
    board = context(
        tmp_path,
        vias=[
            via(10),
            via(12),
            via(14, drill_mm=0.3, size_mm=0.6),
            via(16, kind="buried", span=["In1.Cu", "In4.Cu"]),
            via(18, kind="blind", span=["F.Cu", "In1.Cu"]),
            via(20, kind="micro", span=["F.Cu", "In1.Cu"], drill_mm=0.1, size_mm=0.25),
        ],
        parts=[{"reference": "J1", "at_mm": [10, 30], "pads": pads}],
    ).board

    found = hole_groups(board)

    assert sorted((g.kind, g.top, g.bottom, g.drill_mm, len(g.rows)) for g in found) == [
        ("buried", 0, 1, 0.2, 1),
        ("buried", 1, 4, 0.2, 1),
        ("microvia", 0, 1, 0.1, 1),
        ("through", 0, 5, 0.2, 2),
        ("through", 0, 5, 0.3, 1),
        ("through", 0, 5, 1.0, 2),
    ]
    assert [g.are_pads for g in found] == [False] * 5 + [True]
    assert {g.describe for g in found} == {"2 vias", "1 via", "1 microvia", "2 plated holes"}
    assert [(p.layer, p.net) for p in found[-1].places(board)] == [(None, "/A"), (None, None)]


def test_of_many_holes_the_first_twenty_are_shown(tmp_path: Path) -> None:
    """30 vias: all of them are counted."""
    board = context(tmp_path, vias=[via(10, grid=[10, 3], pitch_mm=1.5)]).board
    (group,) = hole_groups(board)

    assert group.describe == "30 vias"
    assert len(group.places(board)) == PLACES_SHOWN == 20


def test_a_hole_is_as_deep_as_its_layers_and_a_microvia_as_the_dielectric_between_them(tmp_path: Path) -> None:
    """Through: 1.24 mm; In1 to In4 over their copper 0.13 to 1.11; a laser stops on copper: 0.1 mm of prepreg."""
    ctx = context(
        tmp_path,
        vias=[
            via(10),
            via(16, kind="buried", span=["In1.Cu", "In4.Cu"]),
            via(20, kind="micro", span=["F.Cu", "In1.Cu"], drill_mm=0.1, size_mm=0.25),
        ],
    )

    assert {g.kind: round(depth_mm(ctx, g), 6) for g in hole_groups(ctx.board)} == {
        "through": 1.24,
        "buried": 0.98,
        "microvia": 0.1,
    }


def test_without_a_stackup_only_holes_wide_enough_for_twice_the_thickness_are_decided(tmp_path: Path) -> None:
    """The file says 1.6 mm. At a ratio of 10 a hole of 0.32 mm is deep enough for 3.2 mm, one of 0.31 is not."""
    ctx = context(
        tmp_path,
        stackup="default",
        copper_layers=6,
        thickness_mm=1.6,
        vias=[
            via(10, drill_mm=0.32, size_mm=0.7),
            via(12, drill_mm=0.31, size_mm=0.7),
            via(16, drill_mm=0.5, size_mm=0.9, kind="buried", span=["In1.Cu", "In4.Cu"]),
        ],
    )
    with ctx.recording() as used:
        wide = {(g.kind, g.drill_mm): is_wide_for_any_board(ctx, g, 10.0) for g in hole_groups(ctx.board)}

    assert wide == {("through", 0.32): True, ("through", 0.31): False, ("buried", 0.5): False}
    assert used.confidence is Confidence.LOW
    with pytest.raises(MissingFact, match="stackup"):
        depth_mm(ctx, hole_groups(ctx.board)[0])


def test_a_stackup_of_other_layers_tells_no_depth(tmp_path: Path) -> None:
    """Six layers in the list, four in the stackup: it is not known where a hole ends."""
    four = "\n".join([*SIX_LAYERS.strip().splitlines()[:6], "B.Cu 0.03"])
    ctx = context(tmp_path, stackup=four, copper_layers=6, vias=[via(10)])

    with pytest.raises(MissingFact):
        depth_mm(ctx, hole_groups(ctx.board)[0])


# --- drilled out ---


def drilled(start: int, must_cut: int, size_mm: float | None = 0.5) -> DrilledHole:
    hole = PlatedHole(
        net=1, x_mm=20.0, y_mm=10.0, uuid="", is_via=True, top=0, bottom=5, drill_mm=0.2, used=(0, 1), backdrills=()
    )
    return DrilledHole(hole, Backdrill(start, must_cut, size_mm))


def test_a_drill_takes_away_every_layer_from_where_it_enters_to_the_one_it_must_cut() -> None:
    """From below through B.Cu, In4 and In3; from above through F.Cu and In1."""
    assert list(drilled(5, 3).passed) == [3, 4, 5]
    assert list(drilled(0, 1).passed) == [0, 1]


def test_declared_drills_stand_beside_those_of_the_file_on_holes_that_end_where_they_enter(tmp_path: Path) -> None:
    """Net /A's via has its own drill, /B's only the declared one; a buried via of /B does not end on B.Cu."""
    native = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In3.Cu"}
    ctx = context(
        tmp_path,
        vias=[
            {"net": "/A", "at_mm": [10, 10], "backdrill": native},
            {"net": "/B", "at_mm": [20, 10]},
            {"net": "/B", "at_mm": [30, 10], "kind": "buried", "span": ["In1.Cu", "In4.Cu"]},
            {"net": "/C", "at_mm": [40, 10]},
        ],
        config='[[backdrill]]\nnets = ["/B"]\nfrom = "B.Cu"\nmust_cut = "In4.Cu"\n',
    )

    found = [(ctx.board.nets[d.hole.net], d.drill.start, d.drill.must_cut) for d in drilled_holes(ctx)]

    assert sorted(found) == [("/A", 5, 3), ("/B", 5, 4)]
    one = next(d for d in drilled_holes(ctx) if ctx.board.nets[d.hole.net] == "/A")
    place = place_of(ctx, one, 3)
    assert (place.layer, place.net, place.x_mm) == ("In3.Cu", "/A", one.hole.x_mm)
    assert place.uuid


def test_pads_beside_a_drill_are_those_of_other_nets_with_copper_on_its_layers(tmp_path: Path) -> None:
    """A drill of 0.5 mm and a plated pad of 1.6 mm, 1.25 mm away: 1.25 - 0.8 - 0.25 = 0.2 mm, from the first layer.

    A pad of the same net, a hole without plating, and a pad on the front alone do not count.
    """
    common = {"size_mm": [1.6, 1.6], "shape": "circle", "drill_mm": 1.0}
    pads = [
        {"number": "1", "net": "/B", "kind": "through", "at_mm": [1.25, 0], **common},
        {"number": "2", "net": "/A", "kind": "through", "at_mm": [-1.25, 0], **common},
        {"number": "3", "kind": "non_plated", "at_mm": [0, 1.25], **common},
        {"number": "4", "net": "/B", "at_mm": [0, -1.25], "size_mm": [1.6, 1.6], "shape": "circle"},
        {"number": "5", "net": "/C", "kind": "through", "at_mm": [1.4, 1.4], **common},
    ]
    native = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In3.Cu"}
    ctx = context(
        tmp_path,
        vias=[{"net": "/A", "at_mm": [20, 10], "backdrill": native}],
        parts=[{"reference": "J1", "at_mm": [20, 10], "pads": pads}],
    )
    (one,) = drilled_holes(ctx)

    def within(reach_mm: float) -> list[tuple[float, int, str]]:
        found = [near for _, near in pads_near(ctx.board, drills_of([one]), reach_mm)]
        return sorted((round(gap, 6), layer, ctx.board.nets[net]) for gap, layer, net in found)

    near, wider = within(0.21), [(gap, net) for gap, _, net in within(1.0)]

    assert near == [(0.2, 3, "/B")]
    assert wider == [(0.2, "/B"), (round(1.4 * 2**0.5 - 0.8 - 0.25, 6), "/C")]


@pytest.mark.parametrize(("bulge_mm", "expected"), [(0.0, []), (-0.6, []), (0.6, [0.2])])
def test_an_arc_beside_a_drill_is_no_chord(tmp_path: Path, bulge_mm: float, expected: list[float]) -> None:
    """Its chord passes 1.125 mm from the middle of a drill of 0.5 mm: 1.125 - 0.6 - 0.075 - 0.25 = 0.2 mm."""
    arc = {"net": "/B", "layer": "In4.Cu", "width_mm": 0.15, "path_mm": [[19, 11.125], [21, 11.125]]}
    native = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In4.Cu"}
    ctx = context(tmp_path, vias=[{"net": "/A", "at_mm": [20, 10], "backdrill": native}], tracks=[arc])
    tracks = ctx.board.tracks
    middle = (tracks.start_x_mm + tracks.end_x_mm) / 2, tracks.start_y_mm - bulge_mm
    bent = replace(ctx.board, tracks=replace(tracks, mid_x_mm=middle[0], mid_y_mm=middle[1]))
    (one,) = drilled_holes(ctx)

    near = pieces_near(bent, drills_of([one]).discs, track_pieces(bent, 4), 4, 0.21)

    assert [round(gap, 3) for _, (gap, *_) in near] == expected


# --- copper of other nets next to holes ---


def test_copper_beside_a_hole_counts_on_the_layers_it_goes_through_up_to_a_quarter_millimetre(tmp_path: Path) -> None:
    """A hole of 0.2 mm, 0.44 mm from the middle of a track of 0.2 mm: 0.24 mm, on whichever side; 0.26 mm is beyond.

    A blind via that ends on In1 has nothing next to it on In2; a pin's hole goes through all layers.
    """
    upright = [{"net": "/T", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 5], [10, 15]]}]
    level = [{"net": "/U", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": [[20, 10], [30, 10]]}]
    blind = {"kind": "blind", "span": ["F.Cu", "In1.Cu"]}
    at = [
        ([10.44, 8], {}),
        ([9.56, 8], {}),
        ([10.46, 12], {}),
        ([22, 10.44], {}),
        ([24, 9.56], {}),
        ([26, 10.44], blind),
        ([10.44, 13], blind),
    ]
    pin = {"number": "1", "net": "/A", "kind": "through", "size_mm": [1.0, 1.0], "drill_mm": 0.6, "shape": "circle"}
    board = context(
        tmp_path,
        tracks=[*upright, *level],
        vias=[{"net": "/A", "at_mm": point, **kind} for point, kind in at],
        parts=[{"reference": "J1", "at_mm": [28, 10.6], "pads": [pin]}],
    ).board

    found = hole_gaps(CopperMap(board))

    assert found is not None
    assert max(limit_of("hole_to_copper_mm", tier) or 0.0 for tier in Tier) <= REACH_MM
    near = [
        (round(gap, 6), board.copper_layers[layer].name, board.nets[net])
        for gap, layer, net in zip(found.gap_mm.tolist(), found.layer.tolist(), found.net.tolist(), strict=True)
        if layer >= 0
    ]
    assert len(found.gap_mm) == 8
    assert sorted(near) == [(0.2, "In2.Cu", "/U"), *[(0.24, "In1.Cu", "/T")] * 3, *[(0.24, "In2.Cu", "/U")] * 2]


def test_an_arc_is_measured_as_it_is_drawn(tmp_path: Path) -> None:
    """An arc of 0.2 mm that bulges 2 mm: the hole outside its middle is 0.24 mm away from it, 2.24 mm from its chord.

    The hole beside the chord has nothing near it.
    """
    board = context(
        tmp_path,
        tracks=[{"net": "/T", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 5], [10, 15]]}],
        vias=[{"net": "/A", "at_mm": [12.44, 10]}, {"net": "/A", "at_mm": [10.44, 10]}],
    ).board
    tracks = board.tracks
    bent = replace(tracks, mid_x_mm=tracks.start_x_mm + 2, mid_y_mm=(tracks.start_y_mm + tracks.end_y_mm) / 2)

    found = hole_gaps(CopperMap(replace(board, tracks=bent)))

    assert found is not None
    near, other = sorted(found.gap_mm.tolist())
    assert near == pytest.approx(0.24, abs=1e-3)
    assert other == math.inf
