"""Spaces between copper of different nets: measured against geometry that is buffered and compared shape by shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import shapely

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.facts.declared import Overrides
from drc_rules.rules.rule import find_rule
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board
from stackup_lib.copper.clearances import SpaceFinder, Spaces
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.distances import arc_points, straight_distances
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.kicad.read.items.shapes import arc
from tests.support.kicad.crowd import crowd
from tests.support.mini import mini_board
from tests.support.robustness import metamorphic

REACH_MM = 0.3


def finder(board: Board, reach_mm: float = REACH_MM) -> SpaceFinder:
    reach = (reach_mm,) * board.layer_count
    return SpaceFinder(CopperMap(board), reach, PostFills(CopperMap(board), 0.25, reach))


def built(folder: Path, **table: object) -> Board:
    return mini_board(folder, {"size_mm": [60, 40], **table})


def on(board: Board, layer: str = "F.Cu", reach_mm: float = REACH_MM) -> Spaces:
    return finder(board, reach_mm).on(board.layer_index[layer])


def by_nets(board: Board, spaces: Spaces) -> dict[tuple[str, str], float]:
    """The narrowest space between every two nets."""
    found: dict[tuple[str, str], float] = {}
    for k in range(len(spaces)):
        one, other = sorted((board.nets[int(spaces.one.net[k])], board.nets[int(spaces.other.net[k])]))
        found.setdefault((one, other), float(spaces.gap_mm[k]))
    return found


def track(net: str, x0: float, y0: float, x1: float, y1: float) -> dict[str, object]:
    return {"net": net, "layer": "F.Cu", "width_mm": 0.1, "path_mm": [[x0, y0], [x1, y1]]}


@pytest.mark.slow
def test_every_space_is_that_of_the_buffered_shapes(tmp_path: Path) -> None:
    """Tracks at all angles, vias, round, oval, rectangular and rounded pads: as far apart as their polygons are."""
    chance = np.random.default_rng(7)
    shapes: dict[str, shapely.Geometry] = {}
    tracks, vias, pads = [], [], []
    for number in range(60):
        (x, y), turn = chance.uniform(5, 11, 2), chance.uniform(0, 2 * np.pi)
        end = x + np.cos(turn), y + np.sin(turn)
        tracks.append(track(f"/T{number}", *np.round([x, y, *end], 4).tolist()))
        shapes[f"/T{number}"] = shapely.LineString(np.round([(x, y), end], 4)).buffer(0.05, quad_segs=64)
    for number in range(12):
        x, y = np.round(chance.uniform(5, 11, 2), 4).tolist()
        vias.append({"net": f"/V{number}", "at_mm": [x, y], "size_mm": 0.4, "drill_mm": 0.2})
        shapes[f"/V{number}"] = shapely.Point(x, y).buffer(0.2, quad_segs=64)
    for number in range(24):
        x, y = np.round(chance.uniform(5, 11, 2), 4).tolist()
        shape = ("rect", "circle", "oval", "roundrect")[number % 4]
        wide, high = (0.4, 0.4) if shape == "circle" else (0.6, 0.3)
        corner = {"rect": 0.0, "circle": 0.2, "oval": 0.15, "roundrect": 0.25 * 0.3}[shape]
        pad = {"number": str(number), "net": f"/P{number}", "at_mm": [x, y], "size_mm": [wide, high], "shape": shape}
        pads.append(pad)
        core = shapely.box(x - wide / 2 + corner, y - high / 2 + corner, x + wide / 2 - corner, y + high / 2 - corner)
        shapes[f"/P{number}"] = core.buffer(corner, quad_segs=64) if corner else core
    parts = [{"reference": "U1", "at_mm": [0, 0], "pads": pads}]

    board = built(tmp_path, tracks=tracks, vias=vias, parts=parts)

    expected = {}
    for (one, a), (other, b) in combinations(shapes.items(), 2):
        apart = shapely.distance(a, b)
        if 1e-3 < apart < REACH_MM - 1e-3:
            low, high_name = sorted((one, other))
            expected[low, high_name] = apart
    found = by_nets(board, on(board))
    assert len(expected) > 100
    assert expected.keys() <= found.keys()
    assert {nets: found[nets] for nets in expected} == pytest.approx(expected, abs=2e-4)
    assert all(gap > REACH_MM - 1e-3 or gap < 2e-3 for nets, gap in found.items() if nets not in expected)


def test_pads_lie_where_they_are_turned_and_shifted_to(tmp_path: Path) -> None:
    """A pad of 0.3 by 0.6 mm at 90 degrees, whose copper is 0.2 mm further along, leaves what the drawing leaves."""
    pads = [{"number": "1", "net": "/A", "at_mm": [10, 10], "size_mm": [0.6, 0.3], "shape": "rect"}]
    board = built(
        tmp_path,
        parts=[{"reference": "U1", "at_mm": [0, 0], "pads": pads}],
        tracks=[track("/B", 5, 10.7, 15, 10.7)],
    )
    straight = by_nets(board, on(board, reach_mm=1.0))
    quarter = np.full(1, 90.0)
    turned = replace(board, pads=replace(board.pads, rotation_deg=quarter))
    shifted = replace(turned, pads=replace(turned.pads, shift_x_mm=np.full(1, -0.2)))

    assert straight == {("/A", "/B"): pytest.approx(0.7 - 0.15 - 0.05)}
    assert by_nets(turned, on(turned, reach_mm=1.0)) == {("/A", "/B"): pytest.approx(0.7 - 0.3 - 0.05)}
    # KiCad turns counter-clockwise with y downward: what is to the left of the pad comes down
    assert by_nets(shifted, on(shifted, reach_mm=1.0)) == {("/A", "/B"): pytest.approx(0.7 - 0.3 - 0.05 - 0.2)}


@pytest.mark.slow
def test_drawn_copper_next_to_pads_with_corners_is_as_far_as_its_polygon(tmp_path: Path) -> None:
    """Hooks of 4 by 1 and 1 by 3 mm, of which two points tell nothing: as custom pads, by rectangles at their arms."""
    chance = np.random.default_rng(11)
    hook = [(-0.5, -0.5), (3.5, -0.5), (3.5, 0.5), (0.5, 0.5), (0.5, 2.5), (-0.5, 2.5)]
    parts, polygons = [], {}
    for number in range(40):
        at = (5.0 + 10 * (number % 8), 5.0 + 10 * (number // 8))
        beside = np.round(chance.uniform((-1.2, -1.2), (4.2, 3.2)), 4)
        size, shape = np.round(chance.uniform(0.4, 1.0, 2), 4).tolist(), ("rect", "roundrect")[number % 2]
        own = {"number": "1", "net": f"/A{number}", "size_mm": [1, 1], "area_mm": hook}
        pad = {"number": "2", "net": f"/B{number}", "at_mm": beside.tolist(), "size_mm": size, "shape": shape}
        parts.append({"reference": f"U{number}", "at_mm": at, "pads": [own, pad]})
        corner = 0.25 * min(size) * (number % 2)
        half = np.array(size) / 2 - corner
        core = shapely.box(*(beside - half), *(beside + half))
        other = core.buffer(corner, quad_segs=64) if corner else core
        polygons[f"/A{number}", f"/B{number}"] = shapely.distance(shapely.Polygon(hook), other)
    board = built(tmp_path, size_mm=[90, 60], parts=parts)

    found = by_nets(board, on(board))

    expected = {nets: apart for nets, apart in polygons.items() if 1e-3 < apart < REACH_MM - 1e-3}
    assert len(expected) > 8
    assert {nets: found.get(nets) for nets in expected} == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(
    ("first_mm", "last_mm", "apart"),
    [(0.0, 40.0, [0.05]), (17.0, 25.0, [0.05]), (18.9, 23.1, []), (0.0, 18.9, [0.05]), (19.1, 22.9, [])],
)
def test_along_tracks_that_pass_a_net_tie_only_what_is_near_it_is_left_out(
    tmp_path: Path, first_mm: float, last_mm: float, apart: list[float]
) -> None:
    """The tie is copper from 19.7 to 22.3 mm, down to 20.3 mm: from 18.8 to 23.2 mm the tracks are within 1 mm."""
    pads = [
        {"number": str(k + 1), "net": net, "at_mm": [k * 2.0, 0], "size_mm": [0.6, 0.6]}
        for k, net in enumerate(("/A", "/B"))
    ]
    board = built(
        tmp_path,
        parts=[{"reference": "NT1", "at_mm": [20, 20], "net_ties": ["1, 2"], "pads": pads}],
        tracks=[track("/A", first_mm, 20.5, last_mm, 20.5), track("/B", first_mm, 20.65, last_mm, 20.65)],
    )

    found = on(board, reach_mm=0.07)

    assert found.gap_mm.tolist() == pytest.approx(apart)


def test_away_from_a_short_its_nets_are_told_apart(tmp_path: Path) -> None:
    """A track of /B that crosses one of /A at x = 5 and comes near another one at x = 30 mm, 0.04 mm apart there."""
    board = built(
        tmp_path,
        tracks=[
            track("/A", 5, 5, 5, 15),
            track("/B", 4, 10, 35, 10),
            track("/A", 28, 10.14, 35, 10.14),
            track("/A", 5, 10.13, 5.9, 10.13),
        ],
    )

    assert on(board, reach_mm=0.07).gap_mm.tolist() == pytest.approx([0.04])


def test_arcs_are_measured_along_their_bend(tmp_path: Path) -> None:
    """Two concentric arcs of 1.0 and 1.25 mm leave 0.15 mm, a track next to the bulge what is left of its distance."""
    board = built(tmp_path, tracks=[track("/A", 0, 0, 1, 1), track("/B", 0, 0, 1, 1), track("/C", 0, 0, 1, 1)])
    half = np.sqrt(0.5)
    new = {
        "start_x_mm": [11.0, 11.25, 10.5],
        "start_y_mm": [10.0, 10.0, 9.05],
        "mid_x_mm": [10 + half, 10 + 1.25 * half, np.nan],
        "mid_y_mm": [10 + half, 10 + 1.25 * half, np.nan],
        "end_x_mm": [10.0, 10.0, 12.0],
        "end_y_mm": [11.0, 11.25, 9.8],
    }
    bent = replace(board, tracks=replace(board.tracks, **{name: np.array(value) for name, value in new.items()}))

    found = by_nets(bent, on(bent, reach_mm=0.2))

    assert found == {("/A", "/B"): pytest.approx(0.15, abs=1e-6 + 2e-4), **_to_c(bent)}


def _to_c(board: Board) -> Mapping[tuple[str, str], object]:
    """What lies within 0.2 mm of /C, by chords of another making."""
    t, found = board.tracks, {}
    line = shapely.LineString([(t.start_x_mm[2], t.start_y_mm[2]), (t.end_x_mm[2], t.end_y_mm[2])])
    for k, net in enumerate(("/A", "/B")):
        ends = [(float(getattr(t, f"{w}_x_mm")[k]), float(getattr(t, f"{w}_y_mm")[k])) for w in ("start", "mid", "end")]
        apart = shapely.LineString(np.column_stack(arc(*ends))).distance(line) - 0.1
        if apart < 0.2:
            found[net, "/C"] = pytest.approx(apart, abs=1.2e-3)
    return found


def test_the_points_of_an_arc_lie_on_its_circle_from_end_to_end(tmp_path: Path) -> None:
    """A half circle of 2 mm about (10, 10), the long way round."""
    board = built(tmp_path, tracks=[track("/A", 12, 10, 8, 10)])
    bent = replace(
        board,
        tracks=replace(
            board.tracks,
            start_x_mm=np.full(1, 12.0),
            start_y_mm=np.full(1, 10.0),
            mid_x_mm=np.full(1, 10.0),
            mid_y_mm=np.full(1, 12.0),
            end_x_mm=np.full(1, 8.0),
            end_y_mm=np.full(1, 10.0),
        ),
    )

    points, _ = arc_points(bent, np.zeros(1, dtype=np.int64), 0.001)

    assert np.abs(points - (10 + 10j)) == pytest.approx(np.full(len(points), 2.0))
    assert (points[0], points[-1]) == (pytest.approx(12 + 10j), pytest.approx(8 + 10j))
    assert np.all(points.imag > 10 - 1e-9)
    assert len(points) > 20


def test_the_distance_of_straight_lines_is_the_one_that_shapely_measures() -> None:
    """At random, crossing ones, points and parallels among them."""
    chance = np.random.default_rng(3)
    a, b, c, d = chance.uniform(0, 3, (4, 400)) + 1j * chance.uniform(0, 3, (4, 400))
    b[:40], d[:20] = a[:40], c[:20]
    d[40:80] = c[40:80] + b[40:80] - a[40:80]
    one, other = (
        shapely.linestrings(np.stack([np.stack([p, q], axis=1).real, np.stack([p, q], axis=1).imag], axis=2))
        for p, q in ((a, b), (c, d))
    )

    assert straight_distances(a, b, c, d) == pytest.approx(shapely.distance(one, other), abs=1e-9)


def test_between_fills_and_to_fills_it_is_measured_to_the_nearest_edge(tmp_path: Path) -> None:
    """A via and a pad next to a plane, and two planes side by side."""
    board = built(
        tmp_path,
        vias=[{"net": "/V", "at_mm": [10, 10], "size_mm": 0.4, "drill_mm": 0.2}],
        parts=[{"reference": "U1", "at_mm": [14, 10], "pads": [{"number": "1", "net": "/P", "size_mm": [0.4, 0.4]}]}],
        zones=[
            {"net": "GND", "layer": "F.Cu", "rect_mm": [5, 10.34, 20, 30], "clearance_mm": 0.1},
            {"net": "VDD", "layer": "F.Cu", "rect_mm": [20.22, 10.34, 30, 30], "clearance_mm": 0.1},
        ],
    )

    found = by_nets(board, on(board, reach_mm=0.25))

    assert found == {
        ("/V", "GND"): pytest.approx(0.14),
        ("/P", "GND"): pytest.approx(0.14),
        ("GND", "VDD"): pytest.approx(0.22),
    }


def test_a_fill_with_something_of_another_net_in_it_is_told_to_be_stale(tmp_path: Path) -> None:
    """A via that was moved into a plane without filling it again: no space is made of its way to the plane's edge."""
    board = built(
        tmp_path,
        vias=[{"net": "/V", "at_mm": [10, 10], "size_mm": 0.4, "drill_mm": 0.2}],
        zones=[{"net": "GND", "layer": "F.Cu", "rect_mm": [20, 5, 40, 30]}],
    )
    inside = replace(board, vias=replace(board.vias, x_mm=board.vias.x_mm + 10.3))
    across = replace(board, vias=replace(board.vias, x_mm=board.vias.x_mm + 10.0))

    assert (len(on(board)), on(board).stale) == (0, "")
    for moved in (inside, across):
        spaces = on(moved)
        assert len(spaces) == 0
        assert "copper of /V" in spaces.stale
        assert "is in that of GND" in spaces.stale


def test_where_unused_pads_are_left_out_only_a_track_gives_a_via_one(tmp_path: Path) -> None:
    """A via that keeps no unused pads is nearer than its pad would be: on In1.Cu nothing is there to be near."""
    table: dict[str, object] = {
        "copper_layers": 4,
        "vias": [{"net": "/V", "at_mm": [10, 10], "size_mm": 0.5, "drill_mm": 0.2, "remove_unused": True}],
    }
    near = {"net": "/A", "layer": "In1.Cu", "width_mm": 0.1, "path_mm": [[5, 10.4], [15, 10.4]]}
    own = {"net": "/V", "layer": "In1.Cu", "width_mm": 0.1, "path_mm": [[10, 10], [10, 5]]}
    (tmp_path / "bare").mkdir()
    (tmp_path / "used").mkdir()
    bare = built(tmp_path / "bare", tracks=[near], **table)
    used = built(tmp_path / "used", tracks=[near, own], **table)

    assert by_nets(bare, on(bare, "In1.Cu")) == {}
    assert by_nets(used, on(used, "In1.Cu")) == {("/A", "/V"): pytest.approx(0.4 - 0.25 - 0.05)}


def test_copper_without_a_net_is_near_to_nets_and_not_to_itself(tmp_path: Path) -> None:
    """Two tracks of no net and one that has a net, 0.1 mm apart each."""
    bare = [{"layer": "F.Cu", "width_mm": 0.1, "path_mm": [[5, y], [15, y]]} for y in (10.0, 10.2)]
    board = built(tmp_path, tracks=[*bare, track("/A", 5, 10.4, 15, 10.4)])

    assert by_nets(board, on(board, reach_mm=0.2)) == {("", "/A"): pytest.approx(0.1)}


def test_pads_of_free_shape_are_measured_as_far_as_they_are_known(tmp_path: Path) -> None:
    """Of a custom pad a disc about its anchor, of a trapezoid or a chamfered pad nothing."""
    pads = [
        {"number": "1", "net": "/A", "at_mm": [10, 10], "size_mm": [0.4, 0.4], "shape": "rect"},
        {"number": "2", "net": "/B", "at_mm": [10, 10.5], "size_mm": [0.4, 0.4], "shape": "rect"},
    ]
    board = built(tmp_path, parts=[{"reference": "U1", "at_mm": [0, 0], "pads": pads}])
    for shape, gaps in (("custom", [0.1]), ("trapezoid", []), ("roundrect", [])):
        free = replace(
            board.pads, shape=np.array(["rect", shape]), corner_mm=np.array([0.0, np.nan]), uuid=board.pads.uuid
        )
        found = by_nets(board, on(replace(board, pads=free)))
        assert list(found.values()) == pytest.approx(gaps)


@pytest.mark.parametrize(
    ("numbers", "references", "apart"),
    [
        (("7", "7"), ("U1",), []),
        (("7", "8"), ("U1",), [0.05]),
        (("", ""), ("U1",), [0.05]),
        (("7", "7"), ("U1", "U2"), [0.05]),
    ],
)
def test_pads_of_one_part_with_one_number_are_one_pin(
    tmp_path: Path, numbers: tuple[str, str], references: tuple[str, ...], apart: list[float]
) -> None:
    """KiCad gives the halves of a pin without a net `unconnected-(U1-Pad7)` and `unconnected-(U1-Pad7)_1`."""
    nets = ("unconnected-(U1-Pad7)", "unconnected-(U1-Pad7)_1")
    pads = [
        {"number": number, "net": net, "at_mm": [10 + 0.45 * k, 10], "size_mm": [0.4, 0.4], "shape": "rect"}
        for k, (number, net) in enumerate(zip(numbers, nets, strict=True))
    ]
    of = [pads] if len(references) == 1 else [[pad] for pad in pads]
    parts = [{"reference": name, "at_mm": [0, 0], "pads": own} for name, own in zip(references, of, strict=True)]
    board = built(tmp_path, parts=parts)

    assert list(by_nets(board, on(board)).values()) == pytest.approx(apart)


HEAVY = """
F.Cu 0.105
prepreg 0.2 "370HR"
In1.Cu 0.105
core 0.6 "370HR"
In2.Cu 0.105
prepreg 0.2 "370HR"
B.Cu 0.105
"""


def told(variant: metamorphic.Variant) -> list[tuple[str, str, list[tuple[float, float]]]]:
    """What the rule finds: severity, words and places, as they are on the board before it was put otherwise."""
    context, requirements, _ = prepare(variant.board, parse_config(""), Overrides())
    rule = find_rule("FAB013")
    outcome = run(context, [c for c in requirements.clauses if c.kind in rule.kinds], [rule], [rule])
    assert not outcome.crashes
    return sorted(
        (
            found.severity.value,
            variant.say(found.title),
            [
                (round(x, 2) + 0.0, round(y, 2) + 0.0)
                for x, y in (variant.place(p.x_mm or 0.0, p.y_mm or 0.0) for p in found.places)
            ],
        )
        for found in outcome.findings
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda board: metamorphic.moved(board, -1234.5678, -987.654321),
        metamorphic.rotated,
        metamorphic.mirrored,
        metamorphic.flipped,
        metamorphic.reversed_tracks,
        metamorphic.shuffled,
        metamorphic.renumbered,
        lambda board: metamorphic.split(board, 3),
    ],
)
def test_a_board_that_is_put_otherwise_has_the_same_narrow_spaces(
    change: Callable[[Board], metamorphic.Variant], tmp_path: Path
) -> None:
    """In three ounces a crowd of tracks, vias, pads and planes is too near in many places: always the same."""
    board = built(tmp_path, **{**crowd(), "stackup": HEAVY})

    before = told(metamorphic.Variant(board))

    assert len(before) == 6
    assert told(change(board)) == before
