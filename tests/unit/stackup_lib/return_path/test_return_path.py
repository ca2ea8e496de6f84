"""Gaps in the plane under a track, and the vias by which its return current changes planes."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from scipy.integrate import quad

from stackup_lib.board.board import Board, Floats, Ints, LayerKind
from stackup_lib.copper.copper_map import NO_COPPER, CopperMap
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.nets.routing.routes import route_of
from stackup_lib.return_path.gap_kinds import GapKind
from stackup_lib.return_path.layer_changes import LayerChange, layer_changes
from stackup_lib.return_path.plane_copper import PlaneEdges, PlaneLines
from stackup_lib.return_path.plane_gaps import (
    Gap,
    ReturnPath,
    plane_height_mm,
    plane_share,
)
from tests.support.mini import mini_board

HEIGHT_MM = 0.2
WHOLE = 'planes = { "In1.Cu" = "GND" }\n'


def mini(folder: Path, text: str) -> Board:
    return mini_board(folder, tomllib.loads("copper_layers = 4\n" + text))


def track(*corners: tuple[float, float], net: str = "/D", layer: str = "F.Cu", width_mm: float = 0.15) -> str:
    path = [list(corner) for corner in corners]
    return f'[[tracks]]\nnet = "{net}"\nlayer = "{layer}"\nwidth_mm = {width_mm}\npath_mm = {path}\n'


def zone(left: float, right: float, net: str = "GND", top: float = 1, bottom: float = 70) -> str:
    return f'[[zones]]\nnet = "{net}"\nlayer = "In1.Cu"\nrect_mm = [{left}, {top}, {right}, {bottom}]\n'


def via(x: float, y: float, net: str = "GND") -> str:
    return f'[[vias]]\nnet = "{net}"\nat_mm = [{x}, {y}]\n'


def tracks_of(board: Board, layer: str = "F.Cu") -> Ints:
    return np.flatnonzero(board.tracks.layer == board.layer_index[layer])


def gaps_of(board: Board, height_mm: float = HEIGHT_MM) -> tuple[Gap, ...]:
    return ReturnPath(CopperMap(board)).gaps(tracks_of(board), 1, height_mm)


def plane_names(board: Board, gap: Gap) -> list[str | None]:
    return [None if net == NO_COPPER else board.nets[net] for net in gap.plane_nets]


# Gaps of known size.


def test_a_whole_plane_has_no_gap(tmp_path: Path) -> None:
    """A track within the plane's outline, nothing in the plane."""
    assert gaps_of(mini(tmp_path, WHOLE + track((10, 10), (60, 10), (80, 30)))) == ()


def test_a_slot_crossed_square_is_as_long_as_it_is_wide(tmp_path: Path) -> None:
    """2 mm, nothing of the plane left, the same net on both sides."""
    board = mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 39) + zone(41, 99))

    (gap,) = gaps_of(board)

    assert gap.kind is GapKind.SLOT
    assert gap.length_mm == pytest.approx(2.0, abs=1e-6)
    assert gap.missing_share == pytest.approx(1.0)
    assert plane_names(board, gap) == ["GND"]
    assert gap.end_mm[0] - gap.start_mm[0] == pytest.approx(2.0, abs=1e-6)
    assert gap.x_mm - float(board.tracks.start_x_mm[0]) == pytest.approx(20.0)


def test_a_slot_crossed_at_45_degrees_is_longer_by_the_square_root_of_two(tmp_path: Path) -> None:
    """2 mm across are 2.83 mm along the track."""
    (gap,) = gaps_of(mini(tmp_path, track((20, 10), (60, 50)) + zone(1, 39) + zone(41, 99)))

    assert gap.length_mm == pytest.approx(2 * math.sqrt(2), abs=3e-4)


def test_a_slit_narrower_than_the_band_is_seen_where_it_is_crossed_aslant(tmp_path: Path) -> None:
    """0.1 mm at 45 degrees: nowhere is more than half of the band over void, and yet all of its current is cut."""
    (gap,) = gaps_of(mini(tmp_path, track((20, 10), (60, 50)) + zone(1, 39.95) + zone(40.05, 99)))

    assert gap.length_mm == pytest.approx(0.1 * math.sqrt(2), abs=3e-4)
    assert gap.missing_share < 0.5


def test_a_slot_is_one_gap_where_the_track_bends_in_it(tmp_path: Path) -> None:
    """Two tracks meet in the middle of the slot: 1 mm of one and 1.41 mm of the other."""
    (gap,) = gaps_of(mini(tmp_path, track((20, 10), (40, 10), (60, 30)) + zone(1, 39) + zone(41, 99)))

    # next to the bend the band's middle decides, which leaves the slot where the centre line does
    assert gap.length_mm == pytest.approx(1 + math.sqrt(2), abs=3e-4)
    assert len(gap.tracks) == 2


def test_an_arc_over_a_slot_has_the_length_of_its_arc(tmp_path: Path) -> None:
    """A quarter of a circle of 20 mm over a slot of 2 mm: 20 mm times the angle between the two edges."""
    board = mini(tmp_path, track((20, 10), (40, 30)) + zone(1, 34) + zone(36, 99))
    tracks, half = board.tracks, 20 * math.sqrt(0.5)
    x, y = tracks.start_x_mm + half, tracks.start_y_mm + 20 - half
    arc = replace(board, tracks=replace(tracks, mid_x_mm=x, mid_y_mm=y))

    (gap,) = gaps_of(arc)

    assert gap.length_mm == pytest.approx(20 * (math.asin(16 / 20) - math.asin(14 / 20)), rel=2e-3)
    assert len(gap.tracks) == 1


def test_what_layers_between_cover_does_not_count(tmp_path: Path) -> None:
    """A void of 20 mm, of which In2, here between, covers 6 mm to one side of the middle, 6 mm over it, and all."""
    planes = zone(1, 30) + zone(50, 99)

    def lengths(left: float, right: float) -> list[tuple[GapKind, float]]:
        cover = zone(left, right).replace("In1.Cu", "In2.Cu")
        board = mini(tmp_path, track((20, 10), (60, 10), layer="B.Cu") + planes + cover)
        found = ReturnPath(CopperMap(board)).gaps(tracks_of(board, "B.Cu"), 1, HEIGHT_MM, [2])
        return [(gap.kind, round(gap.length_mm, 6)) for gap in found]

    assert lengths(32, 38) == [(GapKind.SLOT, 14.0)]
    assert lengths(37, 43) == [(GapKind.END, 7.0), (GapKind.END, 7.0)]
    assert lengths(28, 52) == []
    assert lengths(60, 70) == [(GapKind.SLOT, 20.0)]


def test_two_slots_apart_are_two_gaps_and_over_a_thin_strip_one(tmp_path: Path) -> None:
    """A strip of 0.1 mm, half the height, does not carry the plane on; one of 5 mm does. Void alone is counted."""
    text = track((20, 10), (80, 10)) + zone(1, 39) + zone(40, 40.1) + zone(41.1, 60) + zone(62, 99)

    long, short = gaps_of(mini(tmp_path, text))

    assert long.length_mm == pytest.approx(2.0, abs=1e-6)
    assert short.length_mm == pytest.approx(2.0, abs=1e-6)
    spans = sorted(gap.end_mm[0] - gap.start_mm[0] for gap in (long, short))
    assert spans == pytest.approx([2.0, 2.1], abs=1e-6)


def test_beyond_the_edge_of_the_plane_all_of_the_track_counts(tmp_path: Path) -> None:
    """The plane ends at 40 mm, the track at 60."""
    board = mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 40))

    (gap,) = gaps_of(board)

    assert gap.kind is GapKind.END
    assert gap.length_mm == pytest.approx(20.0, abs=1e-6)
    assert plane_names(board, gap) == [None, "GND"]


def test_along_the_edge_it_matters_on_which_side_the_track_runs(tmp_path: Path) -> None:
    """0.05 mm within the edge more than half of the current has its plane; 0.05 mm beyond it has not."""
    within = mini(tmp_path, track((10, 69.95), (60, 69.95)) + zone(1, 99))
    beyond = mini(tmp_path, track((10, 70.05), (60, 70.05)) + zone(1, 99))

    assert gaps_of(within) == ()
    (gap,) = gaps_of(beyond)
    assert gap.length_mm == pytest.approx(50.0)
    assert 0.5 < gap.missing_share < 1


def test_a_strip_under_the_middle_must_carry_half_of_the_current(tmp_path: Path) -> None:
    """Copper 0.06 mm wide under a track of 0.15 mm is no plane; copper 0.4 mm wide carries most of the current."""
    narrow, wide = (
        mini(tmp_path, track((10, 40), (60, 40)) + zone(1, 99, top=40 - half, bottom=40 + half)) for half in (0.03, 0.2)
    )

    (gap,) = gaps_of(narrow)
    assert gap.length_mm == pytest.approx(50.0)
    assert gap.missing_share == pytest.approx(1 - math.atan(0.03 / 0.275) / math.atan(1), abs=1 / 8)
    assert gaps_of(wide) == ()


@pytest.mark.parametrize("nudge_mm", [0.0, 1e-6, -1e-6])
def test_on_the_very_edge_half_of_the_current_has_its_plane(tmp_path: Path, nudge_mm: float) -> None:
    """A nanometre to either side decides nothing."""
    board = mini(tmp_path, track((10, 70), (60, 70)) + zone(1, 99))

    tracks = board.tracks
    low, high = tracks.start_y_mm + nudge_mm, tracks.end_y_mm + nudge_mm

    assert gaps_of(replace(board, tracks=replace(tracks, start_y_mm=low, end_y_mm=high))) == ()


def test_a_split_between_two_nets_names_both(tmp_path: Path) -> None:
    """From over ground to over a rail, 0.4 mm apart."""
    board = mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 39.8) + zone(40.2, 99, net="+3V3"))

    (gap,) = gaps_of(board)

    assert gap.kind is GapKind.SPLIT
    assert sorted(str(name) for name in plane_names(board, gap)) == ["+3V3", "GND"]
    assert gap.length_mm == pytest.approx(0.4, abs=1e-6)


def test_the_antipad_of_its_own_via_is_a_ring(tmp_path: Path) -> None:
    """A dogbone: from a pad to a via 1 mm away, whose antipad reaches 0.475 mm from its centre."""
    text = WHOLE + track((20, 10), (21, 10)) + via(21, 10, "/D")
    (gap,) = gaps_of(mini(tmp_path, text))

    assert gap.kind is GapKind.RING
    assert gap.length_mm == pytest.approx(0.45 / 2 + 0.25, abs=1e-3)


def test_the_antipad_of_another_via_is_a_ring_only_where_the_track_runs_over_it(tmp_path: Path) -> None:
    """Under the middle of the track, and 1 mm next to it."""
    under = gaps_of(
        mini(
            tmp_path,
            WHOLE + track((20, 10), (40, 10)) + track((29, 12), (30, 10), layer="B.Cu", net="/E") + via(30, 10, "/E"),
        )
    )
    adjacent = gaps_of(mini(tmp_path, WHOLE + track((20, 10), (40, 10)) + via(30, 11, "/E")))

    assert [gap.kind for gap in under] == [GapKind.RING]
    assert under[0].length_mm == pytest.approx(0.95, abs=1e-3)
    assert adjacent == ()


def test_a_field_of_antipads_that_run_together_is_as_long_as_it_is(tmp_path: Path) -> None:
    """Ten vias 0.8 mm apart leave no plane between them: 7.2 mm and a ring at both ends, no lumped ring."""
    field = '[[vias]]\nnet = "/E"\nat_mm = [30, 10]\ngrid = [10, 1]\npitch_mm = 0.8\n'
    (gap,) = gaps_of(mini(tmp_path, WHOLE + track((20, 10), (60, 10)) + field))

    assert gap.kind is GapKind.MERGED
    assert gap.length_mm == pytest.approx(9 * 0.8 + 0.95, abs=1e-3)


def test_a_cut_out_under_its_own_pad_is_told_apart(tmp_path: Path) -> None:
    """Planes are cut out under pads on purpose; a void that goes on under the track is none of them."""
    part = '[[parts]]\nreference = "C1"\nat_mm = [40, 10]\npads = [{ number = "1", net = "/D", size_mm = [1, 1] }]\n'
    pad, slot = (mini(tmp_path, track((20, 10), (40, 10)) + zone(1, left) + part) for left in (39.5, 35))

    assert [gap.kind for gap in gaps_of(pad)] == [GapKind.PAD]
    assert [gap.kind for gap in gaps_of(slot)] == [GapKind.END]


def test_the_copper_of_a_pad_may_lie_off_its_position(tmp_path: Path) -> None:
    """4 mm of pad from the track's end on, away from the void, and back over it."""
    part = '[[parts]]\nreference = "C1"\nat_mm = [40, 10]\npads = [{ number = "1", net = "/D", size_mm = [4, 1] }]\n'
    board = mini(tmp_path, track((20, 10), (40, 10)) + zone(1, 37) + part)
    away, over = (replace(board, pads=replace(board.pads, shift_x_mm=np.array([shift]))) for shift in (2.0, -2.0))

    assert [gap.kind for gap in gaps_of(away)] == [GapKind.END]
    assert [gap.kind for gap in gaps_of(over)] == [GapKind.PAD]


def test_a_gap_takes_the_time_of_its_length(tmp_path: Path) -> None:
    """2 mm at eps_eff 4 are 2 mm / 149.9 um/ps = 13.34 ps."""
    (gap,) = gaps_of(mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 39) + zone(41, 99)))

    assert gap.delay_ps(4.0) == pytest.approx(13.343, abs=1e-3)


def test_it_is_known_over_which_net_a_track_runs(tmp_path: Path) -> None:
    """19.5 mm over ground, 1 mm over nothing, 19.5 mm over the rail."""
    board = mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 39.5) + zone(40.5, 99, net="+3V3"))

    found = ReturnPath(CopperMap(board)).plane_nets_mm(tracks_of(board), 1)

    names = {NO_COPPER: None} | dict(enumerate(board.nets))
    assert {names[plane]: mm for (_, plane), mm in found.items()} == pytest.approx({"GND": 19.5, None: 1, "+3V3": 19.5})


# What cannot be known is not "no gap".


def test_a_plane_without_fills_is_no_plane_without_gaps(tmp_path: Path) -> None:
    """A zone that was never filled; and a layer with no zone at all."""
    unfilled = mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 99) + "filled = false\n")
    bare = mini(tmp_path, track((20, 10), (60, 10)))

    for board in (unfilled, bare):
        with pytest.raises(MissingFact, match="zone fills of In1"):
            gaps_of(board)


def test_one_unfilled_zone_of_several_is_missed(tmp_path: Path) -> None:
    """What it would fill, or cut out of the others, is not known."""
    with pytest.raises(MissingFact, match="zone fills of In1"):
        gaps_of(mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 39) + zone(41, 99) + "filled = false\n"))


def test_fills_with_foreign_copper_in_them_are_stale(tmp_path: Path) -> None:
    """A via that came after the last fill stands in the plane without an antipad."""
    board = mini(tmp_path, WHOLE + track((20, 10), (60, 10)) + via(30, 30, "GND"))
    vias = replace(board.vias, net=np.full_like(board.vias.net, board.net_index["/D"]))

    assert gaps_of(board) == ()
    with pytest.raises(MissingFact, match="zone fills that match the routing"):
        gaps_of(replace(board, vias=vias))


def test_fills_of_kicad_5_lack_their_edge(tmp_path: Path) -> None:
    """They are stored without the width of the pen."""
    board = mini(tmp_path, WHOLE + track((20, 10), (60, 10)))

    with pytest.raises(MissingFact, match="KiCad 5"):
        gaps_of(replace(board, format_version=20171130))


# It does not matter how the same copper is drawn.


def moved(board: Board, to: Callable[[Complexes], Complexes]) -> Board:
    """The board with its tracks, vias, pads, fills and outline moved."""

    def at(x_mm: Floats, y_mm: Floats) -> tuple[Floats, Floats]:
        z = to(x_mm + 1j * y_mm)
        return z.real, z.imag

    tracks, vias, pads, zones = board.tracks, board.vias, board.pads, board.zones
    (x0, y0), (x1, y1) = at(tracks.start_x_mm, tracks.start_y_mm), at(tracks.end_x_mm, tracks.end_y_mm)
    via_x, via_y = at(vias.x_mm, vias.y_mm)
    pad_x, pad_y = at(pads.x_mm, pads.y_mm)
    fill_x, fill_y = at(zones.fill_x_mm, zones.fill_y_mm)
    edge_x, edge_y = at(board.outline.x_mm, board.outline.y_mm)
    return replace(
        board,
        tracks=replace(tracks, start_x_mm=x0, start_y_mm=y0, end_x_mm=x1, end_y_mm=y1),
        vias=replace(vias, x_mm=via_x, y_mm=via_y),
        pads=replace(pads, x_mm=pad_x, y_mm=pad_y),
        zones=replace(zones, fill_x_mm=fill_x, fill_y_mm=fill_y),
        outline=replace(board.outline, x_mm=edge_x, y_mm=edge_y),
    )


EVERYTHING = (
    track((5, 10), (40, 10), (70, 40))
    + track((5, 50), (95, 52), net="/E", width_mm=0.3)
    + zone(1, 30)
    + zone(32, 60, net="+3V3")
    + zone(60.3, 80)
    + via(20, 10, "/F")
    + via(70, 40, "/D")
    + via(50, 51.2, "/F")
)


@pytest.mark.parametrize("turn", [1j, -1, np.exp(0.7j)])
@pytest.mark.parametrize("mirror", [False, True])
def test_turned_and_mirrored_boards_have_the_same_gaps(tmp_path: Path, turn: complex, *, mirror: bool) -> None:
    """Kind, length and missing share of every gap."""
    board = mini(tmp_path, EVERYTHING)
    other = moved(board, lambda z: (z.conj() if mirror else z) * turn)

    def known(gaps: tuple[Gap, ...]) -> list[tuple[int, str, float, float]]:
        return sorted((g.net, g.kind.value, round(g.length_mm, 6), round(g.missing_share, 6)) for g in gaps)

    assert len(gaps_of(board)) >= 6
    assert {gap.kind for gap in gaps_of(board)} == {GapKind.RING, GapKind.SPLIT, GapKind.END}
    assert known(gaps_of(other)) == known(gaps_of(board))


def test_a_track_in_pieces_has_the_gaps_of_the_whole(tmp_path: Path) -> None:
    """Nine pieces of a track, some of them within the slot, make one gap."""
    planes = zone(1, 39) + zone(41, 99)
    cuts = [20, 38.7, 39, 39.2, 39.9, 40.5, 40.6, 41, 50, 60]
    whole = gaps_of(mini(tmp_path, track((20, 10), (60, 10)) + planes))
    pieces = gaps_of(mini(tmp_path, track(*((x, 10) for x in cuts)) + planes))

    assert [(g.kind, round(g.length_mm, 6)) for g in pieces] == [(g.kind, round(g.length_mm, 6)) for g in whole]


@pytest.mark.parametrize("offsets_mm", [(0.0,), (-2.0, -1.0, -0.3, 0.0, 0.5, 1.0), (3.5, 0.7, -3.5)])
def test_copper_under_lines_is_what_polygons_say(offsets_mm: tuple[float, ...], tmp_path: Path) -> None:
    """Against shapely's own difference, along 200 lines and their parallels, of any number and in any order.

    Half of them lie on the grid, where slits and edges do.
    """
    rng = np.random.default_rng(5)
    field = '[[vias]]\nnet = "/E"\nat_mm = [10, 10]\ngrid = [20, 12]\npitch_mm = 3.5\n'
    board = mini(tmp_path, WHOLE + field)
    low, high = board.zones.fill_x_mm.min(), board.zones.fill_y_mm.max()
    start = low - 5 + 90 * rng.random(200) + 1j * (high + 5 - 80 * rng.random(200))
    direction = np.exp(2j * np.pi * rng.random(200))
    start[::2] = np.round(start[::2].real) + 1j * np.round(start[::2].imag)
    direction[::2] = np.array([1, 1j, -1, -1j])[np.arange(100) % 4]
    lines = PlaneLines(start, direction, 5 + 40 * rng.random(200))
    plane = PlaneEdges(CopperMap(board), 1)
    ((_, area),) = plane.copper.fills(1)
    copper = shapely.buffer(area, 0)

    count = len(offsets_mm)
    found = plane.sections(lines, np.tile(offsets_mm, (200, 1)))

    row, length = found.line * count + found.offset, found.to_mm - found.from_mm
    covered = np.bincount(row, np.where(found.fills > 0, length, 0.0), 200 * count).reshape(200, count)
    assert np.bincount(row, length) == pytest.approx(np.repeat(lines.length_mm, count))
    assert set(found.fills[length > 1e-9].tolist()) == {0, 1}
    for k in range(200):
        for offset_mm, mm in zip(offsets_mm, covered[k], strict=True):
            # a hair next to the line, as the look-up is: a line may lie on an edge
            ends = start[k] + direction[k] * (np.array([0, lines.length_mm[k]]) + 1j * (offset_mm + 1e-7))
            way = shapely.LineString(np.column_stack([ends.real, ends.imag]))
            assert mm == pytest.approx(way.intersection(copper).length, abs=1e-5)


def test_nets_under_tracks_are_as_long_as_polygons_say(tmp_path: Path) -> None:
    """60 tracks of two nets over three planes and void: within half a look-up's step per edge that each may cross."""
    rng = np.random.default_rng(11)
    ends = np.round(rng.uniform((5, 5), (95, 60), (60, 2, 2)), 2).tolist()
    tracks = "".join(track(*path, net=("/D", "/E")[k % 2]) for k, path in enumerate(ends))
    planes = zone(2, 30) + zone(32, 60, net="/V1", bottom=40) + zone(60.5, 98, net="/V2", top=20)
    board = mini(tmp_path, tracks + planes)
    places = CopperMap(board)
    areas = [
        (board.nets[net], shapely.union_all([fill for n, fill in places.fills(1) if n == net]))
        for net in {net for net, _ in places.fills(1)}
    ]

    found = ReturnPath(places).plane_nets_mm(tracks_of(board), 1)

    expected: dict[tuple[str, str | None], float] = {}
    for row in tracks_of(board).tolist():
        at = board.tracks
        way = shapely.LineString([(at.start_x_mm[row], at.start_y_mm[row]), (at.end_x_mm[row], at.end_y_mm[row])])
        over = {name: way.intersection(area).length for name, area in areas}
        for name, length in [*over.items(), (None, way.length - sum(over.values()))]:
            key = board.nets[at.net[row]], name
            expected[key] = expected.get(key, 0.0) + length
    names = {
        (board.nets[net], None if other == NO_COPPER else board.nets[other]): mm for (net, other), mm in found.items()
    }
    assert set(names) == set(expected)
    assert len(names) == 8
    for key, length in expected.items():
        assert names[key] == pytest.approx(length, rel=0.02)
    assert sum(names.values()) == pytest.approx(float(board.tracks.length_mm.sum()), rel=1e-9)


def test_void_in_one_plane_shows_the_first_copper_behind_it(tmp_path: Path) -> None:
    """A track over a plane to half of its length, and over one a layer below for the rest."""
    below = zone(1, 99).replace("In1.Cu", "In2.Cu").replace("GND", "/V1")
    board = mini(tmp_path, track((20, 10), (60, 10)) + zone(1, 30) + below)
    under = ReturnPath(CopperMap(board))

    alone = {other: mm for (_, other), mm in under.plane_nets_mm(tracks_of(board), 1).items()}
    both = {other: mm for (_, other), mm in under.plane_nets_mm(tracks_of(board), 1, beyond=[2]).items()}

    ground, supply = board.net_index["GND"], board.net_index["/V1"]
    assert alone == {ground: pytest.approx(10, abs=0.5), NO_COPPER: pytest.approx(30, abs=0.5)}
    assert both == {ground: pytest.approx(10, abs=0.5), supply: pytest.approx(30, abs=0.5)}


# How the return current is spread.


@pytest.mark.parametrize(("one_mm", "other_mm"), [(0.1, 0.1), (0.1, 0.25)])
def test_two_planes_share_the_current_as_the_series_of_images_does(one_mm: float, other_mm: float) -> None:
    """Charge on the nearer plane: the exact density sin(pi h/b)/(2b (cosh(pi x/b) - cos(pi h/b))), integrated."""
    b = one_mm + other_mm
    angle = math.pi * one_mm / b

    def density(x: float) -> float:
        return math.sin(angle) / (2 * b * (math.cosh(math.pi * x / b) - math.cos(angle)))

    share, _ = quad(density, -20 * b, 20 * b, points=[0.0], limit=200)

    assert plane_share(one_mm, other_mm) == pytest.approx(share, rel=1e-6)


# Layer changes.

STACKUP = (
    """stackup = """
    + "'''"
    + """
F.Cu 0.035
prepreg 0.1
In1.Cu 0.035
core 0.2
In2.Cu 0.018
prepreg 0.3
In3.Cu 0.018
core 0.2
In4.Cu 0.035
prepreg 0.1
B.Cu 0.035
"""
    + "'''\n"
)
DIVE = """
[[tracks]]
net = "/D"
layer = "F.Cu"
path_mm = [[20, 20], [30, 20]]
[[tracks]]
net = "/D"
layer = "B.Cu"
path_mm = [[30, 20], [40, 20]]
[[parts]]
reference = "J1"
at_mm = [20, 20]
pads = [{ number = "1", net = "/D", size_mm = [0.3, 0.3] }]
[[parts]]
reference = "J2"
side = "back"
at_mm = [40, 20]
pads = [{ number = "1", net = "/D", size_mm = [0.3, 0.3] }]
[[vias]]
net = "/D"
at_mm = [30, 20]
"""


def test_the_height_of_a_plane_needs_every_thickness_between(tmp_path: Path) -> None:
    """Copper between counts; a layer is no plane of its own, and one that the stackup does not have is none."""
    board = mini_board(tmp_path, tomllib.loads("copper_layers = 6\n" + STACKUP))
    stackup = board.stackup
    assert stackup is not None
    rows = [k for k, row in enumerate(stackup.layers) if row.kind is LayerKind.COPPER]
    core = stackup.layers[rows[2] + 1]
    blank = core.model_copy(update={"plies": tuple(p.model_copy(update={"thickness_mm": None}) for p in core.plies)})
    bare = [blank if row is core else row for row in stackup.layers]
    unknown = stackup.model_copy(update={"layers": tuple(bare)})

    assert plane_height_mm(stackup, 1, 3) == pytest.approx(0.2 + 0.018 + 0.3)
    assert plane_height_mm(stackup, 3, 1) == plane_height_mm(stackup, 1, 3)
    assert plane_height_mm(stackup, 4, 5) == pytest.approx(0.1)
    assert plane_height_mm(stackup, 2, 2) is None
    assert plane_height_mm(stackup, 2, 6) is None
    assert plane_height_mm(unknown, 1, 2) == pytest.approx(0.2)
    assert plane_height_mm(unknown, 1, 3) is None


def six_layers(folder: Path, planes: str, vias: str = "") -> Board:
    text = f"{STACKUP}planes = {{ {planes} }}\n{DIVE}{vias}"
    return mini_board(folder, tomllib.loads(text))


def changes_of(board: Board, planes: dict[int, dict[int, float]] | None = None) -> tuple[LayerChange, ...]:
    route = route_of(board, board.net_index["/D"])
    return layer_changes(CopperMap(board), route.crossings, planes or {0: {1: 1.0}, 5: {4: 1.0}})


GROUNDS = '"In1.Cu" = "GND", "In4.Cu" = "GND"'


def test_the_nearest_ground_via_is_found_with_its_distance(tmp_path: Path) -> None:
    """One 3 mm and one 5 mm away: 3-4-5."""
    (change,) = changes_of(six_layers(tmp_path, GROUNDS, via(33, 24) + via(30, 26)))

    assert (change.entry_plane, change.exit_plane) == (1, 4)
    assert change.distance_mm == pytest.approx(5.0)
    assert not change.keeps_plane


def pad(x: float, y: float, kind: str) -> str:
    return (
        f'[[parts]]\nreference = "J1"\nat_mm = [{x}, {y}]\n'
        f'pads = [{{ number = "1", net = "GND", kind = "{kind}", drill_mm = 0.8, size_mm = [1.4, 1.4] }}]\n'
    )


def test_a_plated_pin_of_ground_is_a_return_via(tmp_path: Path) -> None:
    """It goes through every layer, 2 mm away, where the nearest via is 6 mm away; a surface pad joins no planes."""
    (by_pin,) = changes_of(six_layers(tmp_path, GROUNDS, pad(30, 22, "through") + via(30, 26)))
    (by_via,) = changes_of(
        six_layers(tmp_path, GROUNDS, pad(30, 22, "smd").replace("drill_mm = 0.8, ", "") + via(30, 26))
    )

    assert by_pin.distance_mm == pytest.approx(2.0)
    assert by_via.distance_mm == pytest.approx(6.0)


def test_a_ground_via_that_does_not_reach_both_planes_is_none(tmp_path: Path) -> None:
    """A blind via 1 mm away joins the upper plane to nothing."""
    blind = '[[vias]]\nnet = "GND"\nat_mm = [31, 20]\nkind = "blind"\nspan = ["F.Cu", "In2.Cu"]\n'
    (change,) = changes_of(six_layers(tmp_path, GROUNDS, blind + via(30, 26)))

    assert change.distance_mm == pytest.approx(6.0)


def test_without_a_return_via_there_is_no_distance(tmp_path: Path) -> None:
    """Both planes are ground, and nothing joins them; a via of another net does not."""
    board = six_layers(tmp_path, GROUNDS, via(31, 20, "+3V3"))
    (change,) = changes_of(board)

    assert change.distance_mm is None
    assert change.shared_net == board.net_index["GND"]


def test_planes_of_two_nets_are_joined_by_no_via(tmp_path: Path) -> None:
    """From ground to a rail: only capacitors carry the current across."""
    board = six_layers(tmp_path, '"In1.Cu" = "GND", "In4.Cu" = "+3V3"', via(31, 20) + via(30, 21, "+3V3"))
    (change,) = changes_of(board)

    assert change.shared_net is None
    assert change.distance_mm is None
    assert [board.nets[net] for net in (*change.entry_nets, *change.exit_nets)] == ["GND", "+3V3"]


def test_where_the_main_planes_are_not_joined_another_pair_may_be(tmp_path: Path) -> None:
    """A stripline between a rail and ground: the share in the ground plane has a via, 1 mm away."""
    planes = '"In1.Cu" = "GND", "In3.Cu" = "GND", "In4.Cu" = "+3V3"'
    (change,) = changes_of(six_layers(tmp_path, planes, via(31, 20)), {0: {1: 1.0}, 5: {4: 0.6, 3: 0.4}})

    assert change.distance_mm is None
    assert change.other_planes == (1, 3)
    assert change.other_distance_mm == pytest.approx(1.0)


def test_where_nothing_joins_any_planes_those_of_one_net_are_named(tmp_path: Path) -> None:
    """The same stripline without a ground via: the share in the ground plane has none, and is told from a rail's."""
    planes = '"In1.Cu" = "GND", "In3.Cu" = "GND", "In4.Cu" = "+3V3"'
    (change,) = changes_of(six_layers(tmp_path, planes), {0: {1: 1.0}, 5: {4: 0.6, 3: 0.4}})

    assert change.other_planes == (1, 3)
    assert change.other_distance_mm is None


def test_layers_on_both_sides_of_one_plane_need_no_return_via(tmp_path: Path) -> None:
    """The current goes on along the same plane; that of both layers, where either has it but in part."""
    board = six_layers(tmp_path, GROUNDS)
    (change,) = changes_of(board, {0: {1: 1.0}, 5: {4: 0.6, 1: 0.4}})
    (shared,) = changes_of(board, {0: {1: 0.8, 4: 0.2}, 5: {4: 0.8, 1: 0.2}})

    assert change.keeps_plane
    assert change.distance_mm == 0.0
    assert (shared.entry_plane, shared.exit_plane) == (1, 1)


def test_a_plane_that_keeps_little_of_the_current_does_not_spare_the_via(tmp_path: Path) -> None:
    """A quarter on the shared plane: the rest goes from In1 to In4, and no pair of one plane with itself counts."""
    (change,) = changes_of(six_layers(tmp_path, GROUNDS), {0: {1: 1.0}, 5: {4: 0.75, 1: 0.25}})

    assert (change.entry_plane, change.exit_plane) == (1, 4)
    assert change.distance_mm is None
    assert change.other_planes is None


def test_a_layer_change_over_an_unfilled_plane_is_not_judged(tmp_path: Path) -> None:
    """Which net surrounds the via is not known."""
    with pytest.raises(MissingFact, match="zone fills of In4"):
        changes_of(six_layers(tmp_path, '"In1.Cu" = "GND"', via(31, 20)))


def test_the_heights_of_planes_follow_the_stackup(tmp_path: Path) -> None:
    """In2 is 0.2 mm from In1 and 0.518 mm from In4."""
    board = six_layers(tmp_path, GROUNDS)
    assert board.stackup is not None
    heights = {
        (layer, plane): height
        for layer in range(6)
        for plane in (1, 4)
        if (height := plane_height_mm(board.stackup, layer, plane)) is not None
    }

    assert heights[2, 1] == pytest.approx(0.2)
    assert heights[2, 4] == pytest.approx(0.3 + 0.018 + 0.2)


# KiCad's own boards. Every gap listed here was looked at in a picture: antipads of the net's own vias, and planes cut
# out under pads of series capacitors and of an SFP connector, as its maker asks.

FAST = {
    "jetson-agx-thor-baseboard": (r"PCIe|PE[TR]\d|SFI|DP\d\.TX|USBSS|SSTX|SSRX", [1, 8]),
    "vme-wren": (r"/SFP\d\.[RT]X|PCIE|MGT", [1]),
}


@pytest.mark.slow
@pytest.mark.demo
@pytest.mark.parametrize("name", sorted(FAST))
def test_high_speed_nets_of_demo_boards_cross_no_slot_and_no_split(name: str, demo_boards: Path) -> None:
    """Outer layers: all that is missing is rings around vias and what was cut out under pads, 1.1 mm at most."""
    path = next((demo_boards / name).glob("*.kicad_pcb"), None)
    if path is None:
        pytest.skip(f"no demo board {name}")
    board = read_board(path)
    pattern, planes = FAST[name]
    is_fast = np.array([re.search(pattern, net) is not None for net in board.nets])
    paths = ReturnPath(CopperMap(board))
    assert board.stackup is not None

    gaps: list[Gap] = []
    for plane in planes:
        layer = 0 if plane == 1 else board.layer_count - 1
        rows = np.flatnonzero((board.tracks.layer == layer) & is_fast[board.tracks.net])
        height_mm = plane_height_mm(board.stackup, layer, plane)
        assert height_mm is not None
        assert len(rows) > 100
        gaps += paths.gaps(rows, plane, height_mm)

    assert len(gaps) > 10
    assert {gap.kind for gap in gaps} <= {GapKind.RING, GapKind.PAD}
    assert max(gap.length_mm for gap in gaps) < 1.1
