"""Heat through the board: the physics of a via array, high-power components, their pads and their settings."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from scipy.sparse import coo_matrix, diags
from scipy.sparse.linalg import spsolve

from drc_rules.analysis.thermal.hot_parts import (
    HotPartOnBoard,
    candidates,
    fill_notes,
    holes_near,
    hot_parts,
    required_hot_parts,
)
from drc_rules.analysis.thermal.pad_shapes import inside_pad, pad_middles_mm, pad_polygon
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Basis, Clause, Severity, Source
from drc_rules.rules.thermal._thermal_path import connected_layers, describe, heat_path
from drc_rules.settings.config import parse_config
from stackup_lib.copper.shapes import pad_pieces
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.power.rail_drop.net_copper import pad_area
from stackup_lib.thermal.pad_spread import pad_rise_k, spread_squares
from stackup_lib.thermal.via_array import (
    ThermalBarrel,
    array_k_per_w,
    barrel_k_per_w,
    barrel_range_k_per_w,
)
from tests.support.mini import mini_context
from tests.support.robustness.metamorphic import rotated

CASES = Path(__file__).parents[4] / "fixtures" / "rules" / "thermal" / "open_thermal_vias.toml"
CLAUSE = Clause(
    id="t", kind="thermal_via_fill", title="t", severity=Severity.INFO, basis=Basis.PHYSICS, source=Source(document="x")
)
NINE = {"net": "GND", "at_mm": [18.9, 13.9], "drill_mm": 0.3, "size_mm": 0.5, "grid": [3, 3], "pitch_mm": 1.1}
HOT = '[[hot_part]]\nrefs = ["U1"]\npower_w = 4\n'


def context(folder: Path, **changes: object) -> Context:
    """The board of the rule's cases with nine vias in its thermal pad, unless changed."""
    base = tomllib.loads(CASES.read_text(encoding="utf-8"))["base"]["qfn"]
    data = {**base, "vias": [NINE], "config": HOT, **changes}
    return mini_context(folder, data, str(data["config"]))


def only(ctx: Context) -> HotPartOnBoard:
    (part,) = hot_parts(ctx)
    return part


def test_a_plated_barrel_has_the_resistance_of_its_wall() -> None:
    """1.6 mm, 0.3 mm across with the wall of 25 um inside, copper of 385 W/mK: 192 K/W, as calculators say."""
    wall = math.pi * (0.15**2 - 0.125**2)

    assert barrel_k_per_w(1.6, wall, 0.0, 385.0, 0.0) == pytest.approx(192, abs=1)


def test_a_barrel_filled_with_copper_conducts_with_its_whole_section() -> None:
    """The same hole plated shut: 1.6 / (385 pi 0.15^2) = 59 K/W."""
    assert barrel_k_per_w(1.6, 0.0, math.pi * 0.15**2, 385.0, 385.0) == pytest.approx(58.8, abs=0.1)


def test_the_range_of_a_barrel_spans_plating_and_the_two_readings_of_its_diameter() -> None:
    """A wall of 18 um inside 0.3 mm at 350 W/mK is the worst, one of 35 um outside it, full of solder, the best."""
    found = barrel_range_k_per_w(ThermalBarrel(0.3, 1.6, "none"))
    worst = 1600 / (350 * math.pi * (0.15**2 - 0.132**2) + 0.026 * math.pi * 0.132**2)
    best = 1600 / (400 * math.pi * (0.185**2 - 0.15**2) + 60 * math.pi * 0.15**2)

    assert found.high == pytest.approx(worst, rel=1e-6)
    assert found.low == pytest.approx(best, rel=1e-6)
    assert found.nominal == pytest.approx(1600 / (390 * math.pi * (0.170**2 - 0.15**2)), rel=2e-3)


def test_an_order_of_class_3_has_thicker_walls() -> None:
    """IPC-6012: 25 um on average and 20 at the thinnest place; the best case stays."""
    usual, better = (barrel_range_k_per_w(ThermalBarrel(0.3, 1.6, "none", None, yes)) for yes in (False, True))

    assert better.nominal == pytest.approx(1600 / (390 * math.pi * (0.175**2 - 0.15**2)), rel=2e-3)
    assert better.high == pytest.approx(
        1600 / (350 * math.pi * (0.15**2 - 0.130**2) + 0.026 * math.pi * 0.130**2), rel=1e-6
    )
    assert better.low == usual.low


def test_a_declared_plating_narrows_the_range() -> None:
    """Only what else is not known is left."""
    loose, tight = (
        barrel_range_k_per_w(ThermalBarrel(0.3, 1.6)),
        barrel_range_k_per_w(ThermalBarrel(0.3, 1.6, "unknown", 20.0)),
    )

    assert tight.nominal == pytest.approx(loose.nominal)
    assert loose.low < tight.low < tight.high < loose.high


@pytest.mark.parametrize("fill", ["none", "resin", "conductive epoxy", "filled", "microvia", "unknown", "copper"])
def test_every_fill_keeps_its_figures_in_order(fill: str) -> None:
    """An interval out of order would not build; copper is the best of all."""
    found = barrel_range_k_per_w(ThermalBarrel(0.2, 1.0, fill))

    assert found.low <= found.nominal <= found.high
    assert barrel_range_k_per_w(ThermalBarrel(0.2, 1.0, "copper")).nominal <= found.nominal


HOLE_MM = 0.15
EVEN = [(1.1 * (k - 1), 1.1 * (n - 1)) for k in range(3) for n in range(3)]
NEARLY_TOUCHING = [(1.5, 1.5), (1.5, 1.15), (1.15, 1.5), (1.15, 1.15)]
IN_CORNER = [(1.4, 1.4), (1.4, 0.6), (0.6, 1.4), (0.6, 0.6)]


def solved_on_grid(at_mm: Sequence[tuple[float, float]], ways: Sequence[float], square: float, cells: int) -> float:
    """Mean rise of the copper of a pad of 3.4 by 3.4 mm per watt that enters it evenly, by finite differences: holes on
    one temperature each, with a way of so many K/W to the sink."""
    middles = (np.arange(cells) + 0.5) * 3.4 / cells - 1.7
    x, y = np.meshgrid(middles, middles, indexing="ij")
    number = np.arange(cells * cells).reshape(cells, cells)
    for k, (along, across) in enumerate(at_mm):
        number[np.hypot(x - along, y - across) < HOLE_MM] = cells * cells + k
    _, number = np.unique(number, return_inverse=True)
    number = number.reshape(cells, cells)
    count = number.max() + 1
    first = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    second = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    ends, others = np.concatenate([first, second]), np.concatenate([second, first])
    links = coo_matrix((np.full(len(ends), 1 / square), (ends, others)), shape=(count, count)).tocsr()
    sink = np.zeros(count)
    sink[-len(at_mm) :] = 1 / np.array(ways)
    heat = np.full(count, 1 / (count - len(at_mm)))
    heat[-len(at_mm) :] = 0
    rise = spsolve((diags(np.asarray(links.sum(axis=1)).ravel() + sink) - links).tocsc(), heat)
    return float(rise[: -len(at_mm)].mean())


@pytest.mark.parametrize("ways", [[50.0], [90.0, 40.0, 60.0]], ids=["alike", "unlike"])
@pytest.mark.parametrize(
    ("at_mm", "most"),
    [(EVEN, 1.01), (IN_CORNER, 1.05), (NEARLY_TOUCHING, 1.12), ([(0.0, 0.0)], 1.01)],
    ids=["even", "in a corner", "nearly touching", "one"],
)
def test_heat_spreads_to_holes_as_finite_differences_say(
    at_mm: list[tuple[float, float]], most: float, ways: list[float]
) -> None:
    """9 spread over the pad, 4 in a corner, one in the middle: an upper bound, nearer for holes farther apart."""
    many, square = (ways * 9)[: len(at_mm)], 80.0

    found = pad_rise_k(np.array(many), np.array(at_mm), np.full(len(at_mm), HOLE_MM), (3.4, 3.4), square)

    coarse, fine = (solved_on_grid(at_mm, many, square, cells) for cells in (102, 204))
    assert 0.99 <= found / (2 * fine - coarse) <= most


def test_a_hole_in_the_middle_of_a_square_drains_it_as_a_ring() -> None:
    """Carslaw and Jaeger: b^2/2 ln(b/a) of a disc with insulated rim, as a mean over it; a square differs by 2 %."""
    a2, b2 = 0.15**2, 3.4**2 / math.pi
    ring = (b2**2 * math.log(b2 / a2) / 4 - (b2 - a2) * (3 * b2 - a2) / 8) / (math.pi * b2 * b2)

    found = spread_squares(np.zeros((1, 2)), np.array([0.15]), (3.4, 3.4))

    assert float(found[0, 0]) == pytest.approx(ring, rel=0.02)


def test_which_side_of_a_pad_is_longer_and_where_its_corner_is_does_not_matter() -> None:
    """Turned and mirrored holes lower each other as before."""
    at_mm, radius = np.array([(1.2, 0.4), (-0.9, 0.1), (0.3, -0.6)]), np.array([0.1, 0.15, 0.2])
    straight = spread_squares(at_mm, radius, (3.0, 1.6))

    assert np.allclose(straight, straight.T, rtol=1e-12)
    assert np.allclose(spread_squares(at_mm[:, ::-1], radius, (1.6, 3.0)), straight, rtol=1e-9)
    assert np.allclose(spread_squares(-at_mm, radius, (3.0, 1.6)), straight, rtol=1e-6)


def test_a_pad_never_leads_more_heat_than_its_holes() -> None:
    """Whatever their number, places and sizes: on one another, at the sides, larger than the pad."""
    draw = np.random.default_rng(7)
    for count in range(1, 60):
        size = tuple(draw.uniform(0.5, 8, 2).tolist())
        ways, radius = draw.uniform(5, 200, count), draw.uniform(0.05, 1.0, count)
        at_mm = draw.uniform(-0.5, 0.5, (count, 2)) * size

        assert pad_rise_k(ways, at_mm, radius, size, 80.0) >= 1 / (1 / ways).sum()
        assert pad_rise_k(ways, at_mm, radius, size, 0.0) == pytest.approx(1 / (1 / ways).sum())


def test_a_via_on_a_plated_pad_is_one_hole() -> None:
    """Two ways side by side, at one place."""
    twice = pad_rise_k(np.array([50.0, 50.0]), np.zeros((2, 2)), np.full(2, 0.15), (3.0, 3.0), 80.0)
    once = pad_rise_k(np.array([25.0]), np.zeros((1, 2)), np.full(1, 0.15), (3.0, 3.0), 80.0)

    assert twice == pytest.approx(once)


def test_an_array_is_its_barrels_side_by_side() -> None:
    """At its best, 9 vias of 0.3 mm under 3.4 mm square are in parallel with 0.7 W/mK of laminate."""
    barrel = ThermalBarrel(0.3, 1.53, "none")
    found = array_k_per_w([barrel] * 9, EVEN, (3.4, 3.4), 0.035)
    laminate = 0.7 * (3.4**2 - 9 * math.pi * 0.15**2) / 1530

    assert found.low == pytest.approx(1 / (9 / barrel_range_k_per_w(barrel).low + laminate), rel=1e-9)
    assert found.nominal < barrel_range_k_per_w(barrel).nominal / 9 + 1
    assert array_k_per_w([barrel] * 18, EVEN * 2, (3.4, 3.4), 0.035).nominal < found.nominal


def test_vias_in_a_corner_of_a_pad_lead_less_heat_than_the_same_spread_over_it() -> None:
    """The pad's copper has to bring the heat there."""
    barrel = ThermalBarrel(0.3, 1.53, "none", 25.0)
    spread = [(0.85, 0.85), (0.85, -0.85), (-0.85, 0.85), (-0.85, -0.85)]
    over, corner = (array_k_per_w([barrel] * 4, at_mm, (3.4, 3.4), 0.035) for at_mm in (spread, IN_CORNER))

    assert corner.low == pytest.approx(over.low)
    assert corner.nominal > 1.2 * over.nominal
    assert corner.high > 1.25 * over.high


def test_the_thermal_pad_is_the_one_much_larger_than_the_others(tmp_path: Path) -> None:
    """Pad 5 of 3.4 mm among pads of 0.7 by 0.25 mm, with nine holes in it."""
    part = only(context(tmp_path))

    assert part.is_exposed
    assert [pad.number for pad in part.pads] == ["5"]
    assert len(part.holes) == 9


def test_a_turned_pad_holds_the_vias_that_lie_in_it(tmp_path: Path) -> None:
    """By 90 degrees a pad of 3.4 by 1 mm stands upright: of nine vias the three of one column are inside."""
    ctx = context(tmp_path, vias=[{**NINE, "grid": [3, 3]}])
    board, row = ctx.board, only(ctx).pads[0].row
    size_y, turned = board.pads.size_y_mm.copy(), board.pads.rotation_deg.copy()
    size_y[row], turned[row] = 1.0, 90.0
    pads = replace(board.pads, size_y_mm=size_y, rotation_deg=turned)
    other = Context(replace(board, pads=pads), ctx.declarations, ctx.assignment, ctx.purpose)

    holes = only(other).holes

    assert sorted(round(hole.x_mm - holes[0].x_mm, 3) for hole in holes) == [0, 0, 0]
    assert len({round(hole.y_mm, 3) for hole in holes}) == 3


def test_a_pad_turned_by_30_degrees_turns_as_kicad_turns(tmp_path: Path) -> None:
    """Counter-clockwise with y down: its long axis runs from the lower left to the upper right."""
    board = context(tmp_path).board
    row = only(context(tmp_path)).pads[0].row
    size_y, turned = board.pads.size_y_mm.copy(), board.pads.rotation_deg.copy()
    size_y[row], turned[row] = 0.5, 30.0
    other = replace(board, pads=replace(board.pads, size_y_mm=size_y, rotation_deg=turned))
    x, y = float(board.pads.x_mm[row]), float(board.pads.y_mm[row])
    up, down = y - 1.5 * math.sin(math.radians(30)), y + 1.5 * math.sin(math.radians(30))
    right = x + 1.5 * math.cos(math.radians(30))

    inside = inside_pad(other, row, np.array([right, right]), np.array([up, down]))

    assert inside.tolist() == [True, False]
    assert shapely.contains_xy(pad_area(other, row), [right, right], [up, down]).tolist() == [True, False]


@pytest.mark.parametrize("turned", [0.0, 30.0, 90.0, 225.0])
def test_the_copper_of_a_pad_lies_where_the_shorts_look_for_it(tmp_path: Path, turned: float) -> None:
    """By (1.2, -0.7) before turning: its middle is that of `pad_pieces` and in it, its position is not."""
    board = context(tmp_path).board
    row = only(context(tmp_path)).pads[0].row
    columns = {"shift_x_mm": 1.2, "shift_y_mm": -0.7, "size_x_mm": 1.0, "size_y_mm": 0.6, "rotation_deg": turned}
    changed = {name: getattr(board.pads, name).copy() for name in columns}
    for name, value in columns.items():
        changed[name][row] = value
    other = replace(board, pads=replace(board.pads, **changed))
    pieces = pad_pieces(other, np.array([row]))
    middle = (pieces.start[0] + pieces.end[0]) / 2
    x = np.array([middle.real, float(board.pads.x_mm[row])])
    y = np.array([middle.imag, float(board.pads.y_mm[row])])

    assert inside_pad(other, row, x, y).tolist() == [True, False]
    assert np.concatenate(pad_middles_mm(other, np.array([row]))) == pytest.approx(np.array([x[0], y[0]]))
    assert shapely.contains_xy(pad_polygon(other, row), x, y).tolist() == [True, False]
    assert pad_polygon(other, row).area == pytest.approx(0.6)


def test_a_custom_pad_turns_with_its_outline(tmp_path: Path) -> None:
    """An angle of copper, 12 mm2, and a quarter of its anchor: a hole in the notch is not in it, others are."""
    angle = [[-2, -2], [2, -2], [2, 0], [0, 0], [0, 2], [-2, 2]]
    base = tomllib.loads(CASES.read_text(encoding="utf-8"))["base"]["qfn"]["parts"]
    pads = [{**pad, "size_mm": [1, 1], "area_mm": angle} if pad["number"] == "5" else pad for pad in base[0]["pads"]]
    part = only(context(tmp_path, parts=[{**base[0], "pads": pads}, *base[1:]]))
    pad = part.pads[0]

    assert pad.area_mm2 == pytest.approx(12 + 0.25)
    assert (pad.size_mm, pad.is_rectangle) == ((4.0, 4.0), False)
    x, y = (float(column[pad.row]) for column in (part.board.pads.x_mm, part.board.pads.y_mm))
    inside = inside_pad(part.board, pad.row, x + np.array([-1.5, 1.5, 1.5]), y + np.array([1.5, -1.5, 1.5]))
    assert inside.tolist() == [True, True, False]


def test_pads_that_overlap_share_their_copper_and_a_hole_is_in_one(tmp_path: Path) -> None:
    """Two of 2 by 3.4 mm that share 0.6 mm: 3.4 mm square together; the holes of the middle column count once."""
    base = tomllib.loads(CASES.read_text(encoding="utf-8"))["base"]["qfn"]["parts"]
    halves = [
        {"number": "5", "net": "GND", "at_mm": [at, 0], "size_mm": [width, 3.4]}
        for at, width in ((-0.7, 2), (0.6, 2.2))
    ]
    part = only(context(tmp_path, parts=[{**base[0], "pads": [*base[0]["pads"][:4], *halves]}, *base[1:]]))

    assert part.by_net[0].area_mm2 == pytest.approx(3.4**2)
    assert [len(pad.holes) for pad in part.pads] == [3, 6]
    assert (len(part.holes), len(part.by_net[0].holes)) == (9, 9)


def test_fill_comes_from_the_settings_then_the_via_then_the_board(tmp_path: Path) -> None:
    """The board's own default is less sure: it may never have been looked at; older files say nothing."""
    follows = only(context(tmp_path / "a")).holes[0].filled
    own = only(context(tmp_path / "b", vias=[{**NINE, "filled": True, "capped": True}])).holes[0].filled
    said = only(context(tmp_path / "c", config=HOT + 'via_fill = "none"\n', vias=[{**NINE, "filled": True}])).holes[0]
    ctx = context(tmp_path / "d")
    old = only(Context(replace(ctx.board, ipc4761={}), ctx.declarations, ctx.assignment, ctx.purpose)).holes[0].filled

    assert (follows.value, follows.confidence) == (False, Confidence.MEDIUM)
    assert (own.value, own.confidence) == (True, Confidence.HIGH)
    assert said.filled.value is False
    assert not old.known
    assert 'via_fill = "?"' in old.how_to_give


def test_settings_and_vias_that_disagree_on_the_fill_are_told(tmp_path: Path) -> None:
    """The settings count; where the file says nothing, or the same, there is nothing to tell."""
    filled = HOT + 'via_fill = "resin"\nvia_capped = true\n'
    where = "stackwright.toml, [[hot_part]] of U1: its vias are"

    def notes(name: str, config: str, **stored: bool) -> list[str]:
        (tmp_path / name).mkdir()
        return list(fill_notes(context(tmp_path / name, config=config, vias=[NINE | stored])))

    assert notes("against", filled, filled=False, capped=True) == [
        f"{where} filled, in the board file 9 of them are not filled: stackwright.toml counts"
    ]
    open_vias = HOT + 'via_fill = "none"\nvia_capped = false\n'
    assert notes("open", open_vias, filled=True, capped=False) == [
        f"{where} not filled, in the board file 9 of them are filled: stackwright.toml counts"
    ]
    assert notes("alike", filled, filled=True, capped=True) == []
    assert notes("silent", filled) == []
    assert notes("unasked", HOT, filled=False, capped=False) == []
    assert notes("unknown", filled.replace("U1", "U99"), filled=False) == []


def test_the_way_of_the_heat_by_hand(tmp_path: Path) -> None:
    """1.53 mm from F.Cu to B.Cu; each barrel 1530/(390 x 0.02011) = 195 K/W, and half of what the pad's copper adds."""
    path = heat_path(ctx := context(tmp_path), only(ctx))
    assert path is not None
    laminate = 0.3 * (3.4**2 - 9 * math.pi * 0.15**2) / 1530
    barrel = 1530 / (390 * math.pi * (0.170**2 - 0.15**2) + 0.026 * math.pi * 0.15**2)
    square = 1000 / (350 * 0.035)
    rise = pad_rise_k(np.full(9, barrel), np.array(EVEN), np.full(9, HOLE_MM), (3.4, 3.4), square / 2)
    cell_mm2, hole_mm2 = 3.4**2 / 9, math.pi * HOLE_MM**2
    ring = cell_mm2**2 * math.log(cell_mm2 / hole_mm2) / (4 * (cell_mm2 - hole_mm2)) - cell_mm2 / 4
    ring = (ring - (cell_mm2 - hole_mm2) / 8) / (cell_mm2 - hole_mm2) / math.pi * square  # Carslaw and Jaeger

    assert (path.sink_name, path.holes, path.plane_name) == ("B.Cu", 9, "In1.Cu")
    assert path.k_per_w.nominal == pytest.approx(1 / (1 / rise + laminate), rel=1e-6)
    assert rise == pytest.approx((barrel + ring / 2) / 9, rel=2e-3)
    assert path.least_k_per_w < path.k_per_w.low
    assert connected_layers(ctx, only(ctx)) == (1, 3)


def test_a_circuit_that_is_not_fitted_is_neither_proposed_nor_hot(tmp_path: Path) -> None:
    board = tomllib.loads(CASES.read_text(encoding="utf-8"))["base"]["qfn"]
    ctx = context(tmp_path, parts=[part | {"unfitted": part["reference"] == "U1"} for part in board["parts"]])

    assert candidates(ctx.board) == ()
    with pytest.raises(MissingFact, match=r"component U1, which is not fitted \(DNP\)"):
        hot_parts(ctx)


def test_the_largest_circuits_are_proposed(tmp_path: Path) -> None:
    """Neither resistors nor connectors; the proposal is a table to fill in."""
    ctx = context(tmp_path, config="")

    assert candidates(ctx.board) == ("U1",)
    with pytest.raises(MissingFact) as asked:
        required_hot_parts(ctx, CLAUSE)
    assert 'refs = ["?"]  # e.g. U1, the largest' in asked.value.how_to_give
    assert parse_config(asked.value.how_to_give).hot_part[0].is_open


@pytest.mark.parametrize("degrees", [0.0, 17.0, 45.0])
def test_the_same_circuits_are_proposed_however_the_board_is_turned(tmp_path: Path, degrees: float) -> None:
    """Two pads in a row are no land pattern with an area, on a board that lies askew either."""
    base = tomllib.loads(CASES.read_text(encoding="utf-8"))["base"]["qfn"]
    qfn = base["parts"][0]
    row = [qfn["pads"][0] | {"number": str(k), "at_mm": [9.0 * k, 0.0]} for k in (1, 2)]
    two = [*base["parts"], qfn | {"reference": "U2", "at_mm": [41.37, 33.33], "pads": row}]
    board = rotated(context(tmp_path, config="", parts=two).board, degrees).board

    assert candidates(board) == ("U1",)


def test_vias_beside_a_pad_are_counted_with_those_inside(tmp_path: Path) -> None:
    """Nine inside, and two of three outside within reach; the third is of another net."""
    adjacent = {"net": "GND", "at_mm": [22.5, 15], "drill_mm": 0.3, "grid": [2, 1], "pitch_mm": 0.5}
    other = {"net": "/A", "at_mm": [20, 17.5], "drill_mm": 0.3}

    part = only(context(tmp_path, vias=[NINE, adjacent, other]))

    assert holes_near(part.board, part.pads, 1.5) == 11


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("power_w = 4\nboard_w = 5", "board_w"),
        ("max_k_per_w = 3\njunction_max_c = 100", "not both"),
        ("junction_max_c = 80\nsink_c = 90", "hotter"),
        ('cooling = "water"', "cooling"),
        ("watt = 4", "watt"),
    ],
)
def test_settings_that_make_no_sense_are_errors(table: str, what: str) -> None:
    """The message names the key or what is wrong with it."""
    with pytest.raises(ConfigError, match=what):
        parse_config(f'[[hot_part]]\nrefs = ["U1"]\n{table}\n')


def test_a_placeholder_declares_nothing() -> None:
    """A key with "?" is absent, a table whose references are still open is none."""
    open_table, half = parse_config(
        '[[hot_part]]\nrefs = ["?"]\n[[hot_part]]\nrefs = ["U1"]\npower_w = "?"\ncooling = "?"\n'
    ).hot_part

    assert open_table.is_open
    assert (half.is_open, half.power_w, half.cooling) == (False, None, None)


def test_heat_goes_through_the_board_unless_the_lid_is_cooled() -> None:
    """All of it by default; under a cold plate what is stated, or not known."""
    tables = '[[hot_part]]\nrefs = ["U1"]\npower_w = 9\n{}\n'
    parts = [parse_config(tables.format(line)).hot_part[0] for line in ("", 'cooling = "cold plate"', "board_w = 2")]

    assert [part.through_board_w for part in parts] == [9, None, 2]
    assert [part.cools_off_the_top for part in parts] == [False, True, False]


def test_resistances_are_told_without_powers_of_ten() -> None:
    """Two digits below ten, whole numbers above."""
    assert [describe(x) for x in (0.944, 7.68, 12.4, 151.2)] == ["0.94", "7.7", "12", "151"]
