"""IR drop of a board's rail: copper, barrels and terminals as the file states them, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.miniboard import build
from stackup_lib.board.board import Board, PadKind
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad.read.reader import read_board
from stackup_lib.power.copper import barrel_resistance_ohm, sheet_resistance_ohm
from stackup_lib.power.rail_drop import rail
from stackup_lib.power.rail_drop.mesh import MeshFailed
from stackup_lib.power.rail_drop.net_copper import RailNotSolvedError, net_copper
from stackup_lib.power.rail_drop.peak import Peak, resolved_peak
from stackup_lib.power.rail_drop.rail import BoardCopper, Load, RailDrop, Terminal, copper_of, solve_rail
from stackup_lib.power.rail_drop.sheets import Precision, SheetNetwork, SheetSolution

OUTER_OHM = sheet_resistance_ohm(0.035)
STACKUP = """
F.Cu    0.035
prepreg 0.20  "2116" dk=4.2 df=0.02
In1.Cu  0.0175
core    1.00  "FR4" dk=4.2 df=0.02
In2.Cu  0.0175
prepreg 0.20  "2116" dk=4.2 df=0.02
B.Cu    0.035
"""
FINE = Precision(step_mm=1.0, gap=0.005)


def pin(reference: str, x: float, y: float, **more: object) -> Mapping[str, object]:
    pad = {"number": "1", "net": "+5V", "size_mm": [1.0, 1.0], "shape": "rect"} | more
    return {"reference": reference, "at_mm": [x, y], "pads": [pad]}


def board_of(folder: Path, **keys: object) -> Board:
    return read_board(build({"size_mm": [60, 40], "stackup": STACKUP, **keys}, folder, "rail"))


def pads_of(board: Board, reference: str) -> tuple[int, ...]:
    part = int(np.flatnonzero(board.footprints.reference == reference)[0])
    return tuple(np.flatnonzero(board.pads.footprint == part).tolist())


def solved(board: Board, amperes: Mapping[str, float], source: str = "U1", gap: float = 0.05) -> RailDrop:
    copper = copper_of(board, plating_mm=0.02)
    loads = [Load(name=name, pads=pads_of(board, name), current_a=a) for name, a in amperes.items()]
    feed = Terminal(name=source, pads=pads_of(board, source))
    return solve_rail(board, "+5V", copper, feed, loads, precision=Precision(gap=gap))


def track_board(folder: Path, *paths: list[list[float]]) -> Board:
    tracks = [{"net": "+5V", "layer": "F.Cu", "path_mm": path, "width_mm": 0.5} for path in paths]
    return board_of(folder, tracks=tracks, parts=[pin("U1", 10, 10), pin("J1", 31, 10)])


def test_a_track_between_two_pads_is_its_length_over_its_width(tmp_path: Path) -> None:
    """0.5 mm wide, 20 mm between the pads' edges: 40 squares of 1 oz copper, 19.7 milliohm."""
    drop = solved(track_board(tmp_path, [[10, 10], [31, 10]]), {"J1": 2.0})

    assert drop.worst.drop_v.nominal == pytest.approx(2 * 40 * OUTER_OHM, rel=1e-6)
    assert drop.power_w.nominal == pytest.approx(4 * 40 * OUTER_OHM, rel=1e-6)
    assert drop.layer_power_w["F.Cu"] == pytest.approx(drop.power_w.nominal)
    assert drop.peak.a_per_mm.nominal == pytest.approx(4.0)
    assert drop.peak.a_per_mm2.nominal == pytest.approx(4.0 / 0.035)


def test_a_track_drawn_in_pieces_is_the_same_track(tmp_path: Path) -> None:
    """Three overlapping segments, one of them drawn backwards, and one drawn twice."""
    pieces = track_board(
        tmp_path, [[10, 10], [17, 10]], [[25, 10], [17, 10]], [[24, 10], [31, 10]], [[24, 10], [31, 10]]
    )

    assert solved(pieces, {"J1": 1.0}).worst.drop_v.nominal == pytest.approx(40 * OUTER_OHM, rel=1e-4)


def test_an_arc_is_a_strip_bent_around_a_circle(tmp_path: Path) -> None:
    """Half a turn of radius 10.5 mm, 0.5 mm wide: pi/ln(b/a) squares of the ring, less what the pads cover of it."""
    board = track_board(tmp_path, [[10, 10], [31, 10]])
    arc = replace(board.tracks, mid_x_mm=np.array([70.5]), mid_y_mm=board.tracks.start_y_mm - 10.5)
    pads_rad = 2 * math.asin(0.5 / 10.5)
    squares = (math.pi - pads_rad) / math.log(10.75 / 10.25)

    assert solved(replace(board, tracks=arc), {"J1": 1.0}).worst.drop_v.nominal == pytest.approx(
        squares * OUTER_OHM, rel=0.003
    )


def test_hot_copper_drops_more(tmp_path: Path) -> None:
    """85 degrees: 25.5 % over 20 degrees."""
    board = track_board(tmp_path, [[10, 10], [31, 10]])
    source = Terminal(name="U1", pads=pads_of(board, "U1"))
    load = Load(name="J1", pads=pads_of(board, "J1"), current_a=1.0)
    hot = solve_rail(board, "+5V", copper_of(board, 0.02, temperature_c=85.0), source, [load])

    assert hot.worst.drop_v.nominal == pytest.approx(40 * OUTER_OHM * (1 + 65 * 0.00393), rel=1e-6)


def via_board(folder: Path, **via: object) -> Board:
    tracks = [
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [20, 10]], "width_mm": 0.5},
        {"net": "+5V", "layer": "B.Cu", "path_mm": [[20, 10], [31, 10]], "width_mm": 0.5},
    ]
    parts = [pin("U1", 10, 10), {**pin("J1", 31, 10), "side": "back"}]
    return board_of(folder, tracks=tracks, parts=parts, vias=[{"net": "+5V", "at_mm": [20, 10], "drill_mm": 0.3} | via])


def test_current_goes_down_a_barrel(tmp_path: Path) -> None:
    """F.Cu to B.Cu through 1.505 mm of 20 um plating in a 0.3 mm hole, between tracks of 19 and 21 squares."""
    drop = solved(via_board(tmp_path, size_mm=0.5), {"J1": 2.0}, gap=0.005)
    barrel = barrel_resistance_ohm(0.3, 0.02, 1.505)
    hole = drop.holes[0]

    assert drop.barrel_power_w == pytest.approx(4 * barrel, rel=1e-6)
    assert hole.current_a == pytest.approx(2.0)
    assert (hole.from_layer, hole.to_layer) == ("F.Cu", "B.Cu")
    assert (hole.x_mm, hole.y_mm) == (70.0, 60.0)
    # the tracks end at the hole's copper, 0.17 mm from its centre; the last bit narrows toward it
    assert drop.worst.drop_v.nominal / 2 == pytest.approx(barrel + (19 + 21 - 2 * 0.17 / 0.5) * OUTER_OHM, rel=0.01)
    assert [step.layer for step in drop.worst.route] == ["", "B.Cu", "F.Cu"]
    assert [step.name.split()[0] for step in drop.worst.route] == ["J1", "via", "U1"]


def test_a_barrel_is_told_by_its_largest_current_and_the_densest_place_by_its_own_layer(tmp_path: Path) -> None:
    """3 A go down from F.Cu; 1 A leaves on In1, of half the copper, where 0.3 mm carries it, and 2 A go on to B.Cu."""
    tracks = [
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [20, 10]], "width_mm": 2.0},
        {"net": "+5V", "layer": "In1.Cu", "path_mm": [[20, 10], [20, 30]], "width_mm": 0.1},
        {"net": "+5V", "layer": "B.Cu", "path_mm": [[20, 10], [31, 10]], "width_mm": 2.0},
    ]
    down = pin("J2", 20, 30, kind="through", shape="circle", drill_mm=0.5)
    parts = [pin("U1", 10, 10, size_mm=[2, 2]), {**pin("J1", 31, 10, size_mm=[2, 2]), "side": "back"}, down]
    via = {"net": "+5V", "at_mm": [20, 10], "drill_mm": 0.4, "size_mm": 0.8}
    drop = solved(board_of(tmp_path, tracks=tracks, parts=parts, vias=[via]), {"J1": 2.0, "J2": 1.0})

    assert drop.holes[0].current_a == pytest.approx(3.0)
    assert (drop.holes[0].from_layer, drop.holes[0].to_layer) == ("F.Cu", "In1.Cu")
    assert drop.peak.layer == "In1.Cu"
    assert drop.peak.a_per_mm2.nominal == pytest.approx(drop.peak.a_per_mm.nominal / 0.0175)
    assert drop.peak.a_per_mm.nominal >= 9.5


@pytest.mark.parametrize("junction", [35.0, 22.0])
def test_a_track_that_another_leaves_is_told_by_the_larger_current(junction: float, tmp_path: Path) -> None:
    """1 mm from x = 10 to 60 in one piece: 3 A before the junction and 2 A after it, wherever it lies."""
    tracks = [
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [60, 10]], "width_mm": 1.0},
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[junction, 10], [junction, 30]], "width_mm": 1.0},
    ]
    parts = [pin("U1", 10, 10), pin("J1", 60, 10), pin("J2", junction, 30)]
    drop = solved(board_of(tmp_path, size_mm=[70, 40], tracks=tracks, parts=parts), {"J1": 2.0, "J2": 1.0}, gap=0.15)

    assert [track.current_a for track in drop.tracks] == pytest.approx([3.0, 1.0], rel=0.02)


def test_a_backdrilled_barrel_does_not_lead_on(tmp_path: Path) -> None:
    """Drilled from B.Cu through In2.Cu, the via no longer reaches the track on B.Cu."""
    drill = {"size_mm": 0.6, "from": "B.Cu", "must_cut": "In2.Cu"}
    with pytest.raises(RailNotSolvedError, match="no copper joins U1 to J1"):
        solved(via_board(tmp_path, backdrill=drill), {"J1": 1.0})


def test_a_plated_pad_leads_through_the_board(tmp_path: Path) -> None:
    """A connector's pin that is not the load joins F.Cu and B.Cu by its barrel; as the source it feeds both at once."""
    tracks = [
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [20, 10]], "width_mm": 0.5},
        {"net": "+5V", "layer": "B.Cu", "path_mm": [[20, 10], [31, 10]], "width_mm": 0.5},
    ]
    through = pin("J2", 20, 10, kind="through", drill_mm=0.6)
    parts = [pin("U1", 10, 10), {**pin("J1", 31, 10), "side": "back"}, through]
    board = board_of(tmp_path, tracks=tracks, parts=parts)
    passed = solved(board, {"J1": 1.0})
    fed = solved(board, {"J1": 1.0}, source="J2")

    assert passed.barrel_power_w == pytest.approx(barrel_resistance_ohm(0.6, 0.02, 1.505), rel=1e-6)
    assert not passed.holes[0].is_via
    assert fed.worst.drop_v.nominal == pytest.approx(20 * OUTER_OHM, rel=1e-4)
    assert fed.holes == ()


def test_a_slot_counts_as_the_round_hole_of_its_width_and_needs_no_name(tmp_path: Path) -> None:
    """A slot of 1.8 x 0.6 mm in a file whose pads have no identifiers, as KiCad 5's have none."""
    tracks = [
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [20, 10]], "width_mm": 0.5},
        {"net": "+5V", "layer": "B.Cu", "path_mm": [[20, 10], [31, 10]], "width_mm": 0.5},
    ]
    through: dict[str, object] = {"kind": "through", "drill_mm": 0.6}
    parts = [pin("U1", 10, 10, **through), {**pin("J1", 31, 10), "side": "back"}, pin("J2", 20, 10, **through)]
    board = board_of(tmp_path, tracks=tracks, parts=parts)
    slot = np.where(board.footprints.reference[board.pads.footprint] == "J2", 1.8, board.pads.drill_x_mm)
    nameless = np.full(len(board.pads), "")
    round_y = np.where(board.pads.kind == PadKind.THROUGH, 0.6, np.nan)
    slotted = replace(board, pads=replace(board.pads, drill_x_mm=slot, drill_y_mm=round_y, uuid=nameless))

    assert solved(slotted, {"J1": 1.0}).worst.drop_v.nominal == pytest.approx(
        solved(board, {"J1": 1.0}).worst.drop_v.nominal, rel=1e-6
    )


PLANE = {
    "planes": {"In1.Cu": "+5V", "In2.Cu": "GND"},
    "vias": [
        {"net": "+5V", "at_mm": [10, 15], "grid": [2, 2]},
        {"net": "+5V", "at_mm": [50, 20], "grid": [2, 1]},
        {"net": "GND", "at_mm": [20, 5], "grid": [8, 8], "pitch_mm": 3.0},
    ],
    "parts": [pin("U1", 10.5, 15.5, size_mm=[3.0, 3.0]), pin("J1", 50.5, 20, size_mm=[3.0, 2.0])],
}


def test_the_copper_of_a_net_is_its_stored_fill_with_the_slits_closed(tmp_path: Path) -> None:
    """A plane of 59 x 39 mm less 64 antipads, whose area KiCad's own polygon gives; rings of vias add nothing to it."""
    board = board_of(tmp_path, **PLANE)
    zones = board.zones
    net = board.net_index["+5V"]
    fill = int(np.flatnonzero(zones.net[zones.fill_zone] == net)[0])
    first, last = zones.fill_start[fill], zones.fill_start[fill + 1]
    x, y = zones.fill_x_mm[first:last], zones.fill_y_mm[first:last]
    shoelace = abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2
    area = net_copper(board, net)[board.layer_index["In1.Cu"]]

    assert area.area == pytest.approx(shoelace, rel=1e-6)
    assert sum(len(part.interiors) for part in area.geoms) == 64


def test_a_plane_s_drops_add_up_to_the_lost_power(tmp_path: Path) -> None:
    """Power is the sum of current times drop; vias share the current, and all of it passes In1.Cu."""
    drop = solved(board_of(tmp_path, **PLANE), {"J1": 10.0})
    layers = drop.layer_power_w

    assert drop.power_w.nominal == pytest.approx(10 * drop.worst.drop_v.nominal, rel=1e-9)
    assert sum(layers.values()) + drop.barrel_power_w == pytest.approx(drop.power_w.nominal, rel=0.01)
    assert layers["In1.Cu"] > 0.8 * drop.power_w.nominal
    assert "In2.Cu" not in layers
    assert sum(hole.current_a for hole in drop.holes if hole.x_mm < 80) == pytest.approx(10.0, rel=1e-6)
    assert sum(hole.current_a for hole in drop.holes if hole.x_mm > 80) == pytest.approx(10.0, rel=1e-6)


@pytest.mark.slow
def test_a_mirrored_board_has_the_same_drop(tmp_path: Path) -> None:
    """Left and right exchanged: the two solutions' bounds meet, their middles within 0.5 %."""
    board = board_of(tmp_path, **PLANE)
    swapped = {
        "planes": PLANE["planes"],
        "vias": [
            {"net": "+5V", "at_mm": [49, 15], "grid": [2, 2]},
            {"net": "+5V", "at_mm": [9, 20], "grid": [2, 1]},
            {"net": "GND", "at_mm": [19, 5], "grid": [8, 8], "pitch_mm": 3.0},
        ],
        "parts": [pin("U1", 49.5, 15.5, size_mm=[3.0, 3.0]), pin("J1", 9.5, 20, size_mm=[3.0, 2.0])],
    }
    (tmp_path / "mirror").mkdir()
    one = solved(board, {"J1": 10.0}, gap=0.02).worst.drop_v
    other = solved(board_of(tmp_path / "mirror", **swapped), {"J1": 10.0}, gap=0.02).worst.drop_v

    assert max(one.low, other.low) <= min(one.high, other.high)
    assert other.nominal == pytest.approx(one.nominal, rel=0.005)


def test_fills_that_are_not_stored_are_an_error(tmp_path: Path) -> None:
    """An unfilled zone of the rail; the error says which line and what to do."""
    zone = {"net": "+5V", "layer": "B.Cu", "rect_mm": [5, 25, 20, 35], "filled": False}
    board = board_of(tmp_path, **PLANE, zones=[zone])

    with pytest.raises(
        RailNotSolvedError, match=r"kicad_pcb:\d+: a zone of \+5V has no stored fill; in KiCad, press B"
    ):
        solved(board, {"J1": 1.0})


def test_a_zone_that_was_changed_after_filling_is_an_error(tmp_path: Path) -> None:
    """KiCad drops the mark of a filled zone that it knows to be out of date, and keeps the polygons."""
    board = board_of(tmp_path, **PLANE)
    dropped = replace(board, zones=replace(board.zones, is_filled=np.zeros_like(board.zones.is_filled)))

    with pytest.raises(RailNotSolvedError, match="no stored fill"):
        solved(dropped, {"J1": 1.0})


def test_a_board_whose_fills_were_stripped_is_an_error(tmp_path: Path) -> None:
    """Zones are marked as filled, and not one polygon is stored."""
    board = board_of(tmp_path, **PLANE)
    none = np.zeros(0)
    stripped = replace(
        board.zones,
        fill_zone=none.astype(np.int64),
        fill_layer=none.astype(np.int16),
        fill_start=np.zeros(1, dtype=np.int64),
        fill_x_mm=none,
        fill_y_mm=none,
    )
    with pytest.raises(RailNotSolvedError, match="no stored fill"):
        solved(replace(board, zones=stripped), {"J1": 1.0})


@pytest.mark.slow
@pytest.mark.parametrize("what", ["via", "pad", "track"])
def test_a_fill_with_copper_of_another_net_in_it_is_stale(tmp_path: Path, what: str) -> None:
    """Copper that was moved into the plane after filling: an error with the place, never a number."""
    parts = [*PLANE["parts"], pin("J2", 40, 35, net="GND", layers=["In1.Cu"])]
    tracks = [{"net": "GND", "layer": "In1.Cu", "path_mm": [[30, 35], [35, 35]]}]
    board = board_of(tmp_path, **{**PLANE, "parts": parts, "tracks": tracks})
    if what == "via":
        stale = replace(board, vias=replace(board.vias, x_mm=board.vias.x_mm + np.where(board.vias.net == 0, 0, 1.5)))
    elif what == "pad":
        shift = np.where(board.footprints.reference[board.pads.footprint] == "J2", 10.0, 0.0)
        stale = replace(board, pads=replace(board.pads, x_mm=board.pads.x_mm + shift))
    else:
        stale = replace(board, tracks=replace(board.tracks, start_y_mm=board.tracks.start_y_mm - 30))
    assert solved(board, {"J1": 1.0}).worst.drop_v.low > 0

    with pytest.raises(RailNotSolvedError, match=rf"the fill of \+5V is stale: a {what} at x .* of another net"):
        solved(stale, {"J1": 1.0})


def test_fills_of_kicad_5_are_an_error(tmp_path: Path) -> None:
    """They are stored without the pen that draws their edge: smaller than the copper."""
    board = replace(board_of(tmp_path, **PLANE), format_version=20171130)

    with pytest.raises(RailNotSolvedError, match="as KiCad 5 did"):
        solved(board, {"J1": 1.0})


def test_a_load_without_a_way_is_named(tmp_path: Path) -> None:
    """Two pads of a net without copper between them."""
    board = board_of(tmp_path, parts=[pin("U1", 10, 10), pin("J1", 31, 10)])

    with pytest.raises(RailNotSolvedError, match="no copper joins U1 to J1"):
        solved(board, {"J1": 1.0})


def test_terminals_that_make_no_sense_are_named(tmp_path: Path) -> None:
    """A net that is not there, a pad of another net, no pads, no current, a negative one."""
    board = track_board(tmp_path, [[10, 10], [31, 10]])
    copper = copper_of(board, 0.02)
    source = Terminal(name="U1", pads=pads_of(board, "U1"))

    def drawing(current_a: float, pads: tuple[int, ...]) -> Load:
        return Load(name="J1", pads=pads, current_a=current_a)

    good = pads_of(board, "J1")
    for net, load, says in [
        ("+12V", drawing(1.0, good), "no net"),
        ("+5V", drawing(1.0, ()), "J1 has a pad that is not on"),
        ("+5V", drawing(0.0, good), "draw no current"),
        ("+5V", drawing(-1.0, good), "negative"),
    ]:
        with pytest.raises(RailNotSolvedError, match=says):
            solve_rail(board, net, copper, source, [load])


def test_unknown_copper_is_a_missing_fact_and_not_a_guess(tmp_path: Path) -> None:
    """No stackup in the file: no thickness, no number."""
    board = read_board(build({"size_mm": [60, 40], "copper_layers": 4}, tmp_path, "bare"))

    with pytest.raises(MissingFact, match="stackup"):
        copper_of(board, 0.02)


def test_copper_on_copper_is_a_missing_fact(tmp_path: Path) -> None:
    """A row of dielectric was lost: every other one has its thickness, and no barrel has a length."""
    rows = 'F.Cu 0.035\ncore 0.5 "FR4"\nIn1.Cu 0.03\nIn2.Cu 0.03\ncore 0.5 "FR4"\nB.Cu 0.035'
    board = read_board(build({"size_mm": [60, 40], "stackup": rows}, tmp_path, "lost"))

    with pytest.raises(MissingFact, match="the dielectric between every two copper layers"):
        copper_of(board, 0.02)


@pytest.mark.slow
@pytest.mark.demo
def test_a_track_only_rail_of_a_real_board_agrees_with_a_hand_calculation(demo_boards: Path) -> None:
    """CSIB_5V of the Jetson Thor board, from connector J10 to R178, 35 um copper, by hand from the track list.

    Two 0.1 mm tracks leave J10's pads 49 and 50 and join: 31.5 and 29.5 squares side by side, 15.2; then 5.23 mm to
    the edge of R178's pad, 52.3 squares: 67.5 squares of 0.4926 milliohm are 33.2 milliohm. Three bends save or add
    less than half a square each.
    """
    folder = demo_boards / "jetson-agx-thor-baseboard"
    board = read_board(folder / "jetson-agx-thor-baseboard.kicad_pcb")
    net = board.net_index["/CSI/CSIB_5V"]
    pads = {name: tuple(pad for pad in pads_of(board, name) if board.pads.net[pad] == net) for name in ("J10", "R178")}
    source = Terminal(name="J10", pads=pads["J10"])
    drop = solve_rail(
        board,
        "/CSI/CSIB_5V",
        BoardCopper(thickness_mm=(0.035,) * 10, height_mm=tuple(range(10)), plating_mm=0.018),
        source,
        [Load(name="R178", pads=pads["R178"], current_a=1.0)],
        precision=FINE,
    )

    assert drop.worst.drop_v.nominal == pytest.approx(33.2e-3, rel=0.02)


def test_where_current_is_densest_is_solved_once_and_only_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes as long as the rest of the rail: who states no limit does not wait for it."""
    calls = []

    def counted(network: SheetNetwork, solution: SheetSolution, radius_mm: float) -> Peak:
        calls.append(radius_mm)
        return resolved_peak(network, solution, radius_mm)

    monkeypatch.setattr(rail, "resolved_peak", counted)
    drop = solved(track_board(tmp_path, [[10, 10], [31, 10]]), {"J1": 2.0})
    assert not calls

    assert drop.peak is drop.peak
    assert calls == [0.1]


def test_copper_that_cannot_be_meshed_finely_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drop is there, where current is densest is not."""

    def fail(*_: object) -> object:
        raise MeshFailed("1 mm2 of triangles on 2 mm2 of copper")

    monkeypatch.setattr(rail, "resolved_peak", fail)
    drop = solved(track_board(tmp_path, [[10, 10], [31, 10]]), {"J1": 2.0})

    assert drop.worst.drop_v.nominal > 0
    with pytest.raises(RailNotSolvedError, match=r"the copper of \+5V cannot be divided into triangles \(1 mm2"):
        _ = drop.peak
