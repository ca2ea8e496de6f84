"""Ground return: drops between pads of one net against closed forms, finite elements and hand calculation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board
from stackup_lib.kicad.read.reader import read_board
from stackup_lib.power.copper import (
    barrel_resistance_ohm,
    sheet_resistance_ohm,
)
from stackup_lib.power.ground_return.ground_return import solve_return
from stackup_lib.power.ground_return.return_grid import GridSize
from stackup_lib.power.ground_return.solved_return import ReturnFlow
from stackup_lib.power.rail_drop.joined import joined_pads
from stackup_lib.power.rail_drop.net_copper import RailNotSolvedError
from stackup_lib.power.rail_drop.rail import Load, Terminal, copper_of, solve_rail
from tests.support.physics.closed_forms import lattice_squares, step_squares, two_contacts_squares
from tests.support.small_boards.ground_return import board_of, elements_v, fill, pin, solved, terminals_of

OUTER_OHM = sheet_resistance_ohm(0.035)


# --- closed forms ----------------------------------------------------------------------------------------------------


def test_a_strip_is_its_length_over_its_width(tmp_path: Path) -> None:
    """46 mm between two pads that are as wide as the strip, 10 mm: 4.6 squares."""
    parts = [pin("U1", 6, 15, (2, 10)), pin("J1", 54, 15, (2, 10))]
    drops = solved(board_of(tmp_path, zones=[fill("F.Cu", 5, 10, 55, 20)], parts=parts), 2.0)

    assert drops.joined == (True,)
    assert drops.drop_v[0][0] == pytest.approx(2 * 4.6 * OUTER_OHM, rel=0.01)
    assert drops.layer_power_w["F.Cu"] == pytest.approx(4 * 4.6 * OUTER_OHM, rel=0.01)


def test_a_strip_that_steps_to_half_its_width(tmp_path: Path) -> None:
    """20 mm of 12 mm, 20 mm of 6 mm in the middle of it, and the step between: Marcuvitz' series term."""
    zones = [fill("F.Cu", 5, 9, 26, 21), fill("F.Cu", 26, 12, 47, 18)]
    parts = [pin("U1", 5, 15, (2, 12)), pin("J1", 47, 15, (2, 6))]
    squares = 20 / 12 + 20 / 6 + step_squares(6, 12)

    assert solved(board_of(tmp_path, zones=zones, parts=parts)).drop_v[0][0] == pytest.approx(
        squares * OUTER_OHM, rel=0.01
    )


def test_a_ring_between_a_pad_and_the_pads_around_it(tmp_path: Path) -> None:
    """A round pad of 2 mm in the middle, 48 on a circle of 15 mm: ln(b/a)/(2 pi), and what 48 spread of their own.

    n contacts of radius r on a circle of radius b around the source are at ln(b/a)/(2 pi) + ln(b/(n r))/(2 pi n)
    squares from it: the sum of ln|z - z_k| over a polygon's corners is ln|z^n - b^n|. No current flows beyond them.
    """
    count, radius, inner, spot = 48, 15.0, 1.0, 0.4
    turn = 2 * np.pi * np.arange(count) / count
    around = [
        {"number": f"{k}", "net": "GND", "at_mm": [radius * math.cos(a), radius * math.sin(a)], "size_mm": [0.8, 0.8]}
        for k, a in enumerate(turn.tolist())
    ]
    ring = {"reference": "J1", "at_mm": [30, 20], "pads": [{**pad, "shape": "circle"} for pad in around]}
    board = board_of(
        tmp_path, zones=[fill("F.Cu", 1, 1, 59, 39)], parts=[pin("U1", 30, 20, (2, 2), shape="circle"), ring]
    )
    squares = (math.log(radius / inner) + math.log(radius / (count * spot)) / count) / (2 * math.pi)

    assert solved(board, size=GridSize(most_leaves=40_000)).drop_v[0][0] == pytest.approx(squares * OUTER_OHM, rel=0.01)


@pytest.mark.slow
def test_two_pads_on_a_wide_plane(tmp_path: Path) -> None:
    """Square pads of 1 mm, 12 mm apart on 58 x 38 mm: arccosh(D/2a)/pi, edges add a few per cent; and the elements."""
    board = board_of(tmp_path, zones=[fill("F.Cu", 1, 1, 59, 39)], parts=[pin("U1", 24, 20), pin("J1", 36, 20)])
    found = solved(board).drop_v[0][0]
    endless = two_contacts_squares(12, 0.59017) * OUTER_OHM

    assert endless < found < 1.1 * endless
    assert found == pytest.approx(elements_v(board), rel=0.01)


def test_two_planes_and_a_field_of_vias(tmp_path: Path) -> None:
    """16 x 4 vias join two planes, fed at one edge of the upper and drawn at the far edge of the lower.

    The mean of both potentials falls as on two planes in parallel; their difference decays over 1/sqrt(2 g Rs), g being
    a cell's conductance per area: barrel and spreading in both planes (Hasimoto). Contacts on a share f of the area
    make a plane (1 - f)/(1 + f) times as resistive (Maxwell, Treatise, art. 314).
    """
    pitch, columns, rows = 2.0, 16, 4
    length, width = columns * pitch, rows * pitch
    zones = [fill("F.Cu", 4, 10, 4 + 1 + length, 18), fill("B.Cu", 5, 10, 5 + length + 1, 18)]
    vias = [{"net": "GND", "at_mm": [6, 11], "grid": [columns, rows], "pitch_mm": pitch, "drill_mm": 0.2}]
    back = pin("J1", 5.5 + length, 14, (1, width), side="back")
    board = board_of(tmp_path, zones=zones, vias=vias, parts=[pin("U1", 4.5, 14, (1, width)), back])
    ohm = barrel_resistance_ohm(0.2, 0.02, 1.535)
    leak = 1 / (pitch**2 * (ohm + 2 * OUTER_OHM * lattice_squares(pitch, 0.12)))
    share = math.pi * (0.12 / pitch) ** 2
    sheet = OUTER_OHM * (1 - share) / (1 + share)
    decay = 1 / math.sqrt(2 * leak * sheet)
    expected = sheet * (length / (2 * width) + decay / width / math.tanh(length / (2 * decay)))
    drops = solved(board)

    assert drops.drop_v[0][0] == pytest.approx(expected, rel=0.01)


def test_a_track_beside_no_fill_is_its_length_over_its_width(tmp_path: Path) -> None:
    """20 mm of 0.5 mm between the pads' edges, drawn whole, in pieces, and with a branch on its way."""
    whole = [{"net": "GND", "layer": "F.Cu", "path_mm": [[10, 10], [31, 10]], "width_mm": 0.5}]
    pieces = [
        {"net": "GND", "layer": "F.Cu", "path_mm": [[10, 10], [17, 10], [31, 10]], "width_mm": 0.5},
        {"net": "GND", "layer": "F.Cu", "path_mm": [[20, 10], [20, 18]], "width_mm": 0.5},
    ]
    for number, tracks in enumerate((whole, pieces)):
        (tmp_path / str(number)).mkdir()
        board = board_of(tmp_path / str(number), tracks=tracks, parts=[pin("U1", 10, 10), pin("J1", 31, 10)])
        assert solved(board).drop_v[0][0] == pytest.approx(40 * OUTER_OHM, rel=1e-3)


def test_a_track_that_ends_on_another_is_joined_to_it(tmp_path: Path) -> None:
    """A T: 10 mm to the branch, 10 mm along it; squares of 0.5 mm, less what the pads cover."""
    tracks = [
        {"net": "GND", "layer": "F.Cu", "path_mm": [[10, 10], [30, 10]], "width_mm": 0.5},
        {"net": "GND", "layer": "F.Cu", "path_mm": [[20, 10.1], [20, 20]], "width_mm": 0.5},
    ]
    board = board_of(tmp_path, tracks=tracks, parts=[pin("U1", 10, 10), pin("J1", 20, 20)])

    assert solved(board).drop_v[0][0] == pytest.approx((10 + 9.9 - 1) / 0.5 * OUTER_OHM, rel=0.01)


def track(width: float, *path: Sequence[float]) -> Mapping[str, object]:
    return {"net": "GND", "layer": "F.Cu", "path_mm": [list(at) for at in path], "width_mm": width}


TRACKS: Mapping[str, Mapping[str, object]] = {
    "a small pad on a wide track": {
        "tracks": [track(4, (5, 5), (15, 5))],
        "parts": [pin("U1", 5, 5, (0.5, 0.5)), pin("J1", 15, 5, (0.5, 0.5))],
    },
    "a pad of a third of the track": {
        "tracks": [track(3, (5, 5), (10, 5))],
        "parts": [pin("U1", 5, 5), pin("J1", 10, 5)],
    },
    "a pad of most of the track": {
        "tracks": [track(1, (5, 10), (10, 10))],
        "parts": [pin("U1", 5, 10, (0.8, 0.8)), pin("J1", 10, 10, (0.8, 0.8))],
    },
    "a track drawn twice": {
        "tracks": [track(0.5, (5, 10), (25, 10)), track(0.5, (5, 10), (25, 10))],
        "parts": [pin("U1", 5, 10), pin("J1", 25, 10)],
    },
    "half of a track drawn twice": {
        "tracks": [track(0.5, (5, 10), (25, 10)), track(0.5, (5, 10), (15, 10))],
        "parts": [pin("U1", 5, 10), pin("J1", 25, 10)],
    },
    "two tracks that overlap by 0.2 mm": {
        "tracks": [track(0.5, (5, 10), (25, 10)), track(0.5, (5, 10.3), (25, 10.3))],
        "parts": [pin("U1", 5, 10), pin("J1", 25, 10)],
    },
    "a track that goes on in a fill": {
        "zones": [fill("F.Cu", 15, 2, 38, 28)],
        "tracks": [track(0.3, (5, 15), (20, 15))],
        "parts": [pin("U1", 5, 15), pin("J1", 33, 15)],
    },
    "a track across a slot": {
        "zones": [fill("F.Cu", 2, 2, 18, 28), fill("F.Cu", 20, 2, 38, 28)],
        "tracks": [track(0.5, (10, 10), (30, 20))],
        "parts": [pin("U1", 6, 8), pin("J1", 34, 22)],
    },
    "a track from fill to fill": {
        "zones": [fill("F.Cu", 2, 2, 12, 28), fill("F.Cu", 28, 2, 38, 28)],
        "tracks": [track(0.3, (8, 15), (32, 15))],
        "parts": [pin("U1", 5, 15), pin("J1", 35, 15)],
    },
}
SECOND_MV = (1.346, 0.7347, 2.076, 18.72, 18.72, 11.70, 16.73, 4.39, 28.00)
"""By finite differences of 0.1 and 0.05 mm on the same shapes, extrapolated; they meet `elements_v` within 1 %."""


@pytest.mark.parametrize(("name", "second_mv"), [*zip(TRACKS, SECOND_MV, strict=True)])
def test_tracks_agree_with_finite_differences(name: str, second_mv: float, tmp_path: Path) -> None:
    """Contacts smaller than the track, copper that is drawn twice, tracks that enter fills: within the stated error."""
    drops = solved(board_of(tmp_path, **TRACKS[name]))

    assert 1000 * drops.drop_v[0][0] == pytest.approx(second_mv, rel=min(drops.error[0], 0.05))


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACKS)
def test_tracks_agree_with_finite_elements(name: str, tmp_path: Path) -> None:
    """The same tracks as the supply side solves them."""
    board = board_of(tmp_path, **TRACKS[name])

    assert solved(board).drop_v[0][0] == pytest.approx(elements_v(board), rel=0.05)


@pytest.mark.parametrize("pitch_mm", [0.3, 0.45, 0.6])
def test_a_track_from_fill_to_fill_is_as_long_on_coarse_grids(pitch_mm: float, tmp_path: Path) -> None:
    """Cells as wide as the track and twice as wide, as a large board has them: joined, and within 3 %."""
    board = board_of(tmp_path, **TRACKS["a track from fill to fill"])
    drops = solved(board, size=GridSize(least_mm=pitch_mm))

    assert 1000 * drops.drop_v[0][0] == pytest.approx(28.0, rel=0.03)


@pytest.mark.parametrize("bow", [False, True], ids=["straight", "arc"])
def test_a_track_across_a_slot_joins_both_sides(bow: bool, tmp_path: Path) -> None:
    """Its ends lie in the fills, and so does the middle of both: what is between them counts."""
    zones = [fill("F.Cu", 2, 2, 14, 28), fill("F.Cu", 16, 2, 38, 28)]
    board = board_of(
        tmp_path,
        zones=zones,
        tracks=[track(0.5, (6, 15), (34, 15))],
        parts=[pin("U1", 4, 15), pin("J1", 36, 15)],
    )
    if bow:
        tracks = board.tracks
        board = replace(board, tracks=replace(tracks, mid_x_mm=np.array([65.0]), mid_y_mm=tracks.start_y_mm))

    assert solved(board).joined == (True,)


def on_two_sides(folder: Path, vias: Sequence[Sequence[float]]) -> Board:
    """A track on either side, of 1.5 mm, that vias join on their way: none is where a track ends."""
    folder.mkdir()
    tracks = [
        {"net": "GND", "layer": "F.Cu", "path_mm": [[10, 10], [22, 10]], "width_mm": 1.5},
        {"net": "GND", "layer": "B.Cu", "path_mm": [[13, 10], [40, 10]], "width_mm": 1.5},
    ]
    joints = [{"net": "GND", "at_mm": list(at), "size_mm": 0.5, "drill_mm": 0.25} for at in vias]
    ends = [pin("U1", 10, 10), pin("J1", 40, 10, side="back")]
    return board_of(folder, tracks=tracks, vias=joints, parts=ends)


def test_vias_on_the_way_of_a_track_lead_down(tmp_path: Path) -> None:
    """In its middle and at its side; one beside the copper does not."""
    board = on_two_sides(tmp_path / "on", [(16, 10), (19, 10.6)])
    drops = solved(board)

    assert drops.joined == (True,)
    assert drops.drop_v[0][0] == pytest.approx(elements_v(board), rel=max(drops.error[0], 0.05))
    assert solved(on_two_sides(tmp_path / "beside", [(16, 11.2)])).joined == (False,)


# --- against finite elements -----------------------------------------------------------------------------------------

PERFORATED = {
    "zones": [fill("F.Cu", 2, 2, 58, 38), fill("B.Cu", 2, 2, 58, 38)],
    "vias": [
        {"net": "GND", "at_mm": [9, 9], "grid": [2, 2], "pitch_mm": 2.0},
        {"net": "GND", "at_mm": [47, 29], "grid": [3, 1], "pitch_mm": 2.0},
        {"net": "SIG", "at_mm": [22, 6], "grid": [6, 8], "pitch_mm": 3.0, "size_mm": 1.2, "drill_mm": 0.6},
    ],
    "parts": [pin("U1", 6, 10, (2, 2)), pin("J1", 50, 34, (2, 2), side="back")],
}
SLOTTED = {
    "zones": [fill("F.Cu", 2, 2, 28, 38), fill("F.Cu", 31, 2, 58, 38), fill("F.Cu", 28, 30, 31, 34)],
    "parts": [pin("U1", 10, 8, (2, 2)), pin("J1", 50, 8, (2, 2))],
}


@pytest.mark.slow
@pytest.mark.parametrize("keys", [PERFORATED, SLOTTED], ids=["perforated", "slotted"])
def test_the_stated_error_holds_what_finite_elements_give(keys: Mapping[str, object], tmp_path: Path) -> None:
    """Planes full of antipads, and planes with a slot that one bridge of 4 mm crosses; fine and coarse grids."""
    board = board_of(tmp_path, **keys)
    exact = elements_v(board, 0.02)

    for size in (GridSize(), GridSize(most_cells=60_000, most_leaves=2500)):
        drops = solved(board, size=size)
        assert drops.drop_v[0][0] == pytest.approx(exact, rel=drops.error[0])
        assert drops.error[0] < 0.25


@pytest.mark.slow
@pytest.mark.parametrize("keys", [PERFORATED, SLOTTED], ids=["perforated", "slotted"])
def test_finer_cells_close_in_on_finite_elements(keys: Mapping[str, object], tmp_path: Path) -> None:
    """Cells wider than the antipads, a third of them, a tenth: 8, 2 and 1 % are left of the distance."""
    board = board_of(tmp_path, **keys)
    exact = elements_v(board)
    steps = {1.6: 0.08, 0.4: 0.02, 0.1: 0.01}
    found = [solved(board, size=GridSize(least_mm=step, most_leaves=60_000)) for step in steps]

    assert [drops.nodes for drops in found] == sorted(drops.nodes for drops in found)
    for drops, left in zip(found, steps.values(), strict=True):
        assert drops.drop_v[0][0] == pytest.approx(exact, rel=left)
        assert drops.drop_v[0][0] == pytest.approx(exact, rel=drops.error[0])


# --- several rails, terminals, refusals ------------------------------------------------------------------------------


def three(folder: Path) -> tuple[Board, list[Terminal]]:
    """Pads across a strip of 10 mm: U1 at 5 mm, U2 at 25 mm, J1 at 45 mm; 1.8 squares between neighbours."""
    parts = [pin("U1", 6, 15, (2, 10)), pin("U2", 26, 15, (2, 10)), pin("J1", 46, 15, (2, 10))]
    board = board_of(folder, zones=[fill("F.Cu", 5, 10, 47, 20)], parts=parts)
    return board, terminals_of(board, ("U1", "U2", "J1"))


def test_currents_that_share_the_copper_add_up(tmp_path: Path) -> None:
    """1 A from U1 and 2 A from U2 to J1: 3 and 6 squares over two pieces of 1.8; each flow's part is distinguished."""
    board, ends = three(tmp_path)
    flows = [ReturnFlow(entry=0, exit=2, current_a=1.0), ReturnFlow(entry=1, exit=2, current_a=2.0)]
    drops = solve_return(board, "GND", copper_of(board, 0.02), ends, flows=flows, pairs=[(0, 2), (1, 2)])
    piece = 1.8 * OUTER_OHM

    assert drops.drop_v[0] == pytest.approx((2 * piece, 2 * piece), rel=0.005)
    assert drops.drop_v[1] == pytest.approx((piece, 2 * piece), rel=0.005)
    assert sum(drops.layer_power_w.values()) == pytest.approx(piece * (1 + 9), rel=0.005)


def test_the_way_back_is_the_same_from_either_end(tmp_path: Path) -> None:
    """Reciprocity: what 1 A between U1 and J1 makes between U2 and J1 is what it makes the other way around."""
    board, ends = three(tmp_path)
    flows = [ReturnFlow(entry=0, exit=2, current_a=1.0), ReturnFlow(entry=1, exit=2, current_a=1.0)]
    drops = solve_return(board, "GND", copper_of(board, 0.02), ends, flows=flows, pairs=[(0, 2), (1, 2)]).drop_v

    assert drops[0][1] == pytest.approx(drops[1][0], rel=1e-9)


def test_a_mirrored_board_has_the_same_drop(tmp_path: Path) -> None:
    """Left and right exchanged, and moved by less than a cell: within the error that is stated."""
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    zones = [fill("F.Cu", 2, 2, 58, 38)]
    one = board_of(folders[0], zones=zones, parts=[pin("U1", 10, 10), pin("J1", 40, 30)])
    other = board_of(
        folders[1],
        zones=[fill("F.Cu", 2.03, 2.07, 58.03, 38.07)],
        parts=[pin("U1", 50.03, 10.07), pin("J1", 20.03, 30.07)],
    )
    drops = [solved(board) for board in (one, other)]

    assert drops[0].drop_v[0][0] == pytest.approx(drops[1].drop_v[0][0], rel=0.02)


def test_currents_in_vias_agree_with_finite_elements(tmp_path: Path) -> None:
    """Four vias at one end, two at the other, in unlike places: the largest within 5 %, upwards and downwards."""
    places = ((9, 19), (9, 21), (12, 20), (15, 22), (49, 20), (53, 22))
    board = board_of(
        tmp_path,
        zones=[fill("F.Cu", 7, 17, 17, 24), fill("F.Cu", 47, 17, 55, 24), fill("B.Cu", 5, 5, 58, 35)],
        vias=[{"net": "GND", "at_mm": list(at)} for at in places],
        parts=[pin("J1", 8, 20), pin("U1", 54, 20)],
    )
    ends = terminals_of(board, ("U1", "J1"))
    exact = solve_rail(board, "GND", copper_of(board, 0.02), ends[1], [Load("U1", ends[0].pads, current_a=1.0)]).holes
    found = solved(board).holes[0]

    assert len(found) == len(places)
    assert {(one.from_layer, one.to_layer) for one in found} == {("F.Cu", "B.Cu"), ("B.Cu", "F.Cu")}
    assert sum(one.current_a for one in found if one.x_mm < exact[0].x_mm - 10) == pytest.approx(1.0)
    by_place = {(one.x_mm, one.y_mm): one.current_a for one in exact}
    for one in found:
        assert one.current_a == pytest.approx(by_place[one.x_mm, one.y_mm], rel=0.05)


def test_a_via_in_a_pad_leads_down(tmp_path: Path) -> None:
    """Ground pads on F.Cu, the fill on B.Cu: without vias nothing joins them; the shapes themselves say the same."""
    keys = {"zones": [fill("B.Cu", 2, 2, 58, 38)], "parts": [pin("U1", 10, 10), pin("J1", 50, 30)]}
    vias = [{"net": "GND", "at_mm": [10, 10]}, {"net": "GND", "at_mm": [50.3, 30]}]
    for number, (more, joined) in enumerate((({}, False), ({"vias": vias}, True))):
        (tmp_path / str(number)).mkdir()
        board = board_of(tmp_path / str(number), **keys, **more)
        ends = [terminal.pads[0] for terminal in terminals_of(board, ("U1", "J1"))]
        groups = joined_pads(board, board.net_index["GND"], ends)
        assert solved(board).joined == (joined,)
        assert (groups[ends[0]] == groups[ends[1]]) is joined


def test_a_backdrilled_via_does_not_lead_down(tmp_path: Path) -> None:
    """Drilled from B.Cu through B.Cu: nothing is left of its end there."""
    drill = {"size_mm": 0.6, "from": "B.Cu", "must_cut": "B.Cu"}
    vias = [{"net": "GND", "at_mm": [10, 10], "backdrill": drill}, {"net": "GND", "at_mm": [50, 30]}]
    parts = [pin("U1", 10, 10), pin("J1", 50, 30)]

    assert solved(board_of(tmp_path, zones=[fill("B.Cu", 2, 2, 58, 38)], vias=vias, parts=parts)).joined == (False,)


def test_a_slot_of_a_tenth_of_a_millimetre_cuts_a_plane(tmp_path: Path) -> None:
    """Narrower than the cells, and still no current crosses it."""
    zones = [fill("F.Cu", 2, 2, 29.95, 38), fill("F.Cu", 30.05, 2, 58, 38)]
    board = board_of(tmp_path, zones=zones, parts=[pin("U1", 10, 10), pin("J1", 50, 30)])

    assert solved(board, size=GridSize(least_mm=0.8)).joined == (False,)


def test_two_fills_that_touch_are_one(tmp_path: Path) -> None:
    """As KiCad fills a zone inside another one of the same net."""
    zones = [fill("F.Cu", 5, 10, 30, 20), fill("F.Cu", 30, 10, 55, 20)]
    board = board_of(tmp_path, zones=zones, parts=[pin("U1", 6, 15, (2, 10)), pin("J1", 54, 15, (2, 10))])

    assert solved(board).drop_v[0][0] == pytest.approx(4.6 * OUTER_OHM, rel=0.005)


def test_a_fill_that_goes_on_under_a_via_of_another_net_is_stale(tmp_path: Path) -> None:
    """The antipads moved away after filling: an error with the place, never a number."""
    board = board_of(tmp_path, **PERFORATED)
    moved = np.where(board.vias.net == board.net_index["SIG"], 1.0, 0.0)
    stale = replace(board, vias=replace(board.vias, x_mm=board.vias.x_mm + moved, y_mm=board.vias.y_mm + moved))

    with pytest.raises(RailNotSolvedError, match="the fill of GND is stale: a via at x"):
        solved(stale)


def test_fills_that_are_not_stored_are_an_error(tmp_path: Path) -> None:
    """With the line of the zone, as on the supply side."""
    zone = {**fill("F.Cu", 2, 2, 58, 38), "filled": False}
    board = board_of(tmp_path, zones=[zone], parts=[pin("U1", 10, 10), pin("J1", 50, 30)])

    with pytest.raises(RailNotSolvedError, match="a zone of GND has no stored fill"):
        solved(board)


def test_a_solution_is_the_same_every_time(tmp_path: Path) -> None:
    """Same copper, same numbers to the last bit."""
    board = board_of(tmp_path, **PERFORATED)

    assert solved(board) == solved(board)


# --- a real board ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thor(demo_boards: Path) -> Board:
    return read_board(demo_boards / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb")


@pytest.mark.slow
@pytest.mark.demo
@pytest.mark.parametrize(
    ("net", "entry", "leave"), [("VCC_IN", "Q2", "J2"), ("+1V15", "U21", "R7"), ("SYS_VIN_HV", "J1", "R65")]
)
def test_rails_of_a_real_board_agree_with_finite_elements(net: str, entry: str, leave: str, thor: Board) -> None:
    """Nets that finite elements can hold, treated as if they were ground: within the error that is stated, and 6 %."""
    ends = terminals_of(thor, (entry, leave), net)
    copper = copper_of(thor, 0.02)
    drops = solve_return(thor, net, copper, ends, flows=[ReturnFlow(entry=0, exit=1, current_a=1.0)], pairs=[(0, 1)])
    load = Load(name=entry, pads=ends[0].pads, current_a=1.0)
    exact = solve_rail(thor, net, copper, ends[1], [load]).worst.drop_v

    assert drops.drop_v[0][0] == pytest.approx(exact.nominal, rel=0.06)
    assert exact.low <= drops.drop_v[0][0] * (1 + drops.error[0])
    assert drops.drop_v[0][0] * (1 - drops.error[0]) <= exact.high


@pytest.mark.demo
def test_the_ground_of_a_real_board_agrees_with_a_hand_calculation(thor: Board) -> None:
    """GND of the Jetson Thor board: 6 A from the module's plug J1 back to the input plug J2.

    By hand: In1, In3, In6 and In8 are planes over 94 % of a board 100 mm high, side by side, times 1.06/0.94 for their
    perforation (Maxwell). A contact of radius a in a strip of width W with a closed end takes ln(W/(2 pi a))/(2 pi)
    squares next to the x/W of its distance (images). J1's pads are a contact of 0.295 (62 + 10) mm, J2's three pins in
    a row of 8.4 mm one of 2.5 mm: spokes, barrels and the shape of the board are left out, hence within 15 %.
    """
    ends = terminals_of(thor, ("J1", "J2"))
    copper = copper_of(thor, 0.02)
    drops = solve_return(thor, "GND", copper, ends, flows=[ReturnFlow(entry=0, exit=1, current_a=6.0)], pairs=[(0, 1)])
    planes = [thor.layer_index[name] for name in ("In1.Cu", "In3.Cu", "In6.Cu", "In8.Cu")]
    sheet = 1 / sum(1 / sheet_resistance_ohm(copper.thickness_mm[layer]) for layer in planes) * 1.06 / 0.94
    pads = thor.pads
    places = [(pads.x_mm[list(end.pads)], pads.y_mm[list(end.pads)]) for end in ends]
    radii = [0.295 * (np.ptp(x) + np.ptp(y)) for x, y in places]
    apart = math.hypot(*(np.mean(one) - np.mean(two) for one, two in zip(*places, strict=True)))
    wide = 100.0
    squares = apart / wide + sum(math.log(wide / (2 * math.pi * a)) for a in radii) / (2 * math.pi)

    assert drops.drop_v[0][0] == pytest.approx(6.0 * sheet * squares, rel=0.15)


@pytest.mark.parametrize(
    ("via", "joined"),
    [
        ({}, True),
        ({"backdrill": {"size_mm": 0.6, "from": "B.Cu", "must_cut": "B.Cu"}}, False),
        ({"net": "+5V"}, False),
    ],
    ids=["whole", "backdrilled", "of another net"],
)
def test_copper_alone_joins_two_pads_of_one_part(via: Mapping[str, object], joined: bool, tmp_path: Path) -> None:
    """A surface pad over a fill on B.Cu, which the part's other pad reaches by its hole: a via in it decides."""
    pads = [
        {"number": "1", "net": "GND", "size_mm": [1, 1], "shape": "rect"},
        {"number": "2", "net": "GND", "at_mm": [10, 0], "size_mm": [2, 2], "kind": "through", "drill_mm": 1},
    ]
    hole = {"net": "GND", "at_mm": [20, 20], **via}
    around = [fill("B.Cu", 2, 2, 58, 18), fill("B.Cu", 2, 18, 19, 22), fill("B.Cu", 21, 18, 58, 22)]
    zones = around if "net" in via else [fill("B.Cu", 2, 2, 58, 38)]
    board = board_of(tmp_path, zones=zones, vias=[hole], parts=[{"reference": "U1", "at_mm": [20, 20], "pads": pads}])
    one, two = terminals_of(board, ["U1"])[0].pads
    of = joined_pads(board, board.net_index["GND"], [one, two])

    assert (of[one] == of[two]) is joined
