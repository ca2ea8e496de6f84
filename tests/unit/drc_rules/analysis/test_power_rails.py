"""Declared rails: what the settings may say, what is worked out from it, and rails of a real board by other means."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import shapely
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail, core_rail_lines, largest_power_nets
from drc_rules.analysis.power.rail_table import rail_rows
from drc_rules.facts.context import Context
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.power.copper import barrel_resistance_ohm, sheet_resistance_ohm
from stackup_lib.power.rail_drop.net_copper import net_copper, pad_area
from stackup_lib.power.rail_drop.rail import Load, Terminal, copper_of, solve_rail
from stackup_lib.power.rail_drop.sheets import Precision
from tests.support.mini import mini_context

RAIL = '[[rail]]\nnet = "+5V"\nvoltage_v = 5\n'


def pin(reference: str, x: float, y: float = 10.0, net: str = "+5V", count: int = 1) -> dict[str, object]:
    pads = [
        {"number": f"{k + 1}", "net": net, "at_mm": [0, 1.5 * k], "size_mm": [1, 1], "shape": "rect"}
        for k in range(count)
    ]
    return {"reference": reference, "at_mm": [x, y], "pads": pads}


def context_of(folder: Path, config: str, **keys: object) -> Context:
    """A board with a bar of +5V, 2 mm wide and 50 mm long, between J1 and U1 with U2 half way."""
    mini = {
        "size_mm": [70, 30],
        "stackup": 'F.Cu 0.035\ncore 1.5 "370HR"\nB.Cu 0.035',
        "tracks": [{"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [60, 10]], "width_mm": 1.0}],
        "parts": [pin("J1", 10), pin("U1", 60), pin("U2", 35, count=1), pin("C1", 20), pin("J9", 5, 25, "GND")],
        "config": config,
        **keys,
    }
    return mini_context(folder, mini, config)


def solved(folder: Path, config: str, **keys: object) -> SolvedRail:
    context = context_of(folder, config, **keys)
    return PowerRails(context).solved(PowerRails(context).declared[0])


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("current_a = 1\ntdp_w = 5", "not several"),
        ("current_a = 1\nto = { U1 = 1 }", "not several"),
        ("to = { U1 = -1 }", "draws no current"),
        ("max_drop_mv = 5\nmax_drop_pct = 1", "not both"),
        ("curent_a = 1", 'did you mean "current_a"'),
        ("voltage = 1", "unknown key"),
        ("duty_pct = 120", "give at most 100"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(lines: str, says: str) -> None:
    """With the key as it was written, and what to do."""
    with pytest.raises(ConfigError, match=says):
        parse_config(RAIL + lines)


def test_an_open_key_leaves_the_rail_and_is_not_known(tmp_path: Path) -> None:
    """As `init` and the report write it: a rail that is there and cannot be solved, not a rail less."""
    assert parse_config(RAIL + 'current_a = 1\ncopper_um = { "F.Cu" = "?" }').rail[0].copper_um == {}
    for number, (lines, lacks) in enumerate(
        (
            ('current_a = 1\nfrom = ["?"]\nto = ["U1"]', "where it is fed"),
            ('current_a = "?"\nfrom = ["J1"]\nto = ["U1"]', "the current"),
            ('current_a = 1\nfrom = ["J1"]\nto = "?"', "what draws from it"),
            ('from = ["J1"]\nto = { U1 = "?" }', "the current"),
        )
    ):
        with pytest.raises(MissingFact, match=lacks):
            solved(tmp_path / str(number), RAIL + lines)
    assert parse_config(RAIL + 'current_a = 1\ncopper_um = { "F.Cu" = 40 }').rail[0].copper_um == {"F.Cu": 40.0}


def test_declared_copper_of_a_layer_is_no_longer_in_doubt(tmp_path: Path) -> None:
    """40 um in place of the stated 35: nothing but the solver's own range is left."""
    text = RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\ncopper_c = 20\nplating_um = 20\n'
    plain = solved(tmp_path / "plain", text)
    sure = solved(tmp_path / "sure", text + 'copper_um = { "F.Cu" = 40 }')

    assert sure.worst_v.nominal / plain.worst_v.nominal == pytest.approx(35 / 40, rel=1e-3)
    assert (sure.ratio.low, sure.ratio.high) == (1.0, 1.0)
    assert plain.ratio.low < 0.6
    assert plain.ratio.high > 1.0


def test_limits_and_target_follow_from_the_declaration() -> None:
    """1 % of 5 V is 50 mV; 2 % of 5 V at a step of 4 A are 25 milliohm."""
    rail = parse_config(RAIL + "max_drop_pct = 1\nripple_pct = 2\nstep_a = 4").rail[0]
    plain = parse_config(RAIL + "max_drop_mv = 30").rail[0]

    assert rail.max_drop_v == pytest.approx(0.05)
    assert rail.target_ohm == pytest.approx(0.025)
    assert plain.max_drop_v == pytest.approx(0.03)
    assert plain.target_ohm is None


def test_amperes_of_each_load_are_taken_as_they_are(tmp_path: Path) -> None:
    """3 A over the first half of the bar, 1 A over the second: 24 and 24 mm between the pads, 1 mm wide."""
    rail = solved(tmp_path, RAIL + 'from = ["J1"]\nto = { U1 = 1, U2 = 2 }')
    drops = {load.name: load.drop_v.nominal for load in rail.drop.loads}

    assert rail.current_a == 3.0
    assert drops["U2"] == pytest.approx(3 * 24 * sheet_resistance_ohm(0.035), rel=0.01)
    assert drops["U1"] == pytest.approx((3 * 24 + 24) * sheet_resistance_ohm(0.035), rel=0.01)
    assert rail.confidence is Confidence.HIGH


def test_a_list_of_loads_shares_the_current_by_pads_and_says_so(tmp_path: Path) -> None:
    """U2 has three pads, U1 one: 3 A and 1 A of 4 A, which is an assumption."""
    parts = [pin("J1", 10), pin("U1", 60), pin("U2", 35, 10, count=3)]
    extra = [{"net": "+5V", "layer": "F.Cu", "path_mm": [[35, 10], [35, 13]], "width_mm": 1.0}]
    bar = {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [60, 10]], "width_mm": 1.0}
    text = RAIL + 'current_a = 4\nfrom = ["J1"]\nto = ["U1", "U2"]'
    rail = solved(tmp_path, text, parts=parts, tracks=[bar, *extra])

    assert {load.name: load.current_a for load in rail.drop.loads} == {"U1": 1.0, "U2": 3.0}
    assert "shared out by the pads" in " ".join(rail.assumed)
    assert rail.confidence is Confidence.MEDIUM


def test_a_single_pad_is_named_by_its_number(tmp_path: Path) -> None:
    """J1.1 is the only pad of J1; U1.7 is none."""
    assert solved(tmp_path / "good", RAIL + 'current_a = 1\nfrom = ["J1.1"]\nto = ["U1"]').distance_mm == 50.0

    with pytest.raises(MissingFact, match=r"pads of U1\.7 on \+5V"):
        solved(tmp_path / "bad", RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1.7"]')


@pytest.mark.parametrize(
    ("lines", "fact", "how"),
    [
        ('from = ["J1"]\nto = ["U1"]', "the current of +5V", "current_a"),
        ('current_a = 1\nto = ["U1"]', "+5V: where it is fed", "parts or pads on it: J1, U1, U2"),
        ('current_a = 1\nfrom = ["J1"]', "+5V: what draws from it", "to = "),
        ('current_a = 1\nfrom = ["J1"]\nto = ["J1"]', "source pads of +5V", "both in"),
        ('current_a = 1\nfrom = ["J9"]\nto = ["U1"]', "pads of J9 on +5V", "parts on it: J1, U1, U2"),
    ],
)
def test_what_is_not_declared_is_asked_for_by_name(lines: str, fact: str, how: str, tmp_path: Path) -> None:
    """The fact, and the line that gives it, with the parts that lie on the net."""
    with pytest.raises(MissingFact) as missing:
        solved(tmp_path, RAIL + lines)

    assert missing.value.name == fact
    assert "[[rail]] of +5V" in missing.value.how_to_give
    assert how in missing.value.how_to_give


def test_a_declared_copper_weight_that_the_row_cannot_be_counts_as_finished_copper(tmp_path: Path) -> None:
    """2 oz is 68.6 um of foil, and some 20 um of plating on it; bare foil, expected here before, is not finished.

    IPC-6012 (class 2) requires 78.7 um of it, between bare foil less a tenth and foil with 30 um.
    """
    text = RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\n'
    plain = solved(tmp_path / "plain", text)
    heavy = solved(tmp_path / "heavy", text + '[declared.copper."F.Cu"]\ncopper_oz = 2')

    assert heavy.worst_v.nominal / plain.worst_v.nominal == pytest.approx(35 / (68.6 + 20), rel=1e-6)
    thin, stated, thick = (1000 * mm for mm in heavy.range_of("F.Cu"))
    assert (thin, stated, thick) == pytest.approx((0.9 * 68.6, 88.6, 98.6))
    assert thin < 78.7 < stated


@pytest.mark.parametrize(
    ("layer", "row_um", "oz", "um"),
    [
        ("F.Cu", 41, 0.5, 41),  # half an ounce, plated
        ("F.Cu", 35, 1, 35),  # the foil itself
        ("In1.Cu", 30, 1, 30),  # an ounce, cleaned
        ("In1.Cu", 34.3, 1, 34.3),
        ("In1.Cu", 30, 0.5, 15.2),  # cannot be: what half an ounce is after cleaning
        ("In1.Cu", 15.2, 2, 61),
        ("F.Cu", 15, 1, 34.3 + 20),
    ],
)
def test_a_weight_says_of_which_foil_the_row_s_copper_is(
    layer: str, row_um: float, oz: float, um: float, tmp_path: Path
) -> None:
    """It changes no row that is made of that foil; finished inner copper as the industry's tables have it."""
    outer, inner = (row_um if layer == name else 35 for name in ("F.Cu", "In1.Cu"))
    stackup = (
        f'F.Cu {outer / 1000}\nprepreg 0.2 "2116"\nIn1.Cu {inner / 1000}\ncore 1 "FR4"\nIn2.Cu 0.035\n'
        'prepreg 0.2 "2116"\nB.Cu 0.035'
    )
    plain, weighed = (
        solved(tmp_path / name, ONE_AMPERE + said, stackup=stackup)
        for name, said in (("a", ""), ("b", f'[declared.copper."{layer}"]\ncopper_oz = {oz}\n'))
    )

    assert 1000 * weighed.range_of(layer)[1] == pytest.approx(um)
    index = weighed.layer_index[layer]
    assert 1000 * weighed.copper.thickness_mm[index] == pytest.approx(um)
    assert (weighed.range_of(layer) == plain.range_of(layer)) is (um == row_um)


ONE_AMPERE = RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\n'


@pytest.mark.parametrize(
    ("declared", "um", "slack"),
    [
        ("[process]\nouter_copper_um = 43.2\n", 43.2, 0.0),
        ('[process]\npreset = "oshpark"\n', 43.2, 0.1),
        ('[process]\npreset = "oshpark"\nouter_copper_um = 50\n', 50.0, 0.0),
        ('[process]\nplating_um = 25\n[declared.copper."F.Cu"]\ncopper_oz = 0.5\n', 42.1, 0.1),
    ],
)
def test_finished_outer_copper_that_is_declared_carries_the_rail(
    declared: str, um: float, slack: float, tmp_path: Path
) -> None:
    """In place of the row's 35 um; sure where the key states it, to a tenth where a preset or a foil does."""
    plain, plated = solved(tmp_path / "a", ONE_AMPERE), solved(tmp_path / "b", ONE_AMPERE + declared)

    thin, stated, thick = plated.range_of("F.Cu")
    assert 1000 * stated == pytest.approx(um, abs=0.1)
    assert (thin / stated, thick / stated) == pytest.approx((1 - slack, 1 + slack))
    assert plated.worst_v.nominal / plain.worst_v.nominal == pytest.approx(0.035 / stated, rel=1e-6)
    assert (plated.worst_v.high / plated.worst_v.nominal) < (plain.worst_v.high / plain.worst_v.nominal) + 1e-9
    assert any("um of outer copper (" in one for one in plated.assumed) is bool(slack)


def test_what_a_rail_states_of_its_copper_wins_over_the_process(tmp_path: Path) -> None:
    """`copper_um` of the rail is that of this board's rail; plating on surfaces says nothing of the holes."""
    row = ONE_AMPERE + 'copper_um = { "F.Cu" = 30 }\n'
    found = solved(tmp_path, row + '[process]\npreset = "oshpark"\nplating_um = 30\n')

    assert found.range_of("F.Cu") == (0.03, 0.03, 0.03)
    assert found.range_of("B.Cu")[1] == pytest.approx(0.0432)
    assert found.copper.plating_mm == pytest.approx(0.02)
    stated = solved(tmp_path, row + "plating_um = 40\n" + '[process]\npreset = "oshpark"\nplating_um = 30\n')
    assert stated.copper.plating_mm == pytest.approx(0.04)


def test_inner_layers_take_nothing_from_the_outer_copper(tmp_path: Path) -> None:
    """Four layers, the rail on In1."""
    rows = ["F.Cu 0.035", 'prepreg 0.2 "370HR"', "In1.Cu 0.03", 'core 1 "370HR"', "In2.Cu 0.03", 'prepreg 0.2 "370HR"']
    stackup = "\n".join([*rows, "B.Cu 0.035"])
    found = solved(tmp_path, ONE_AMPERE + "[process]\nouter_copper_um = 43.2\n", stackup=stackup)

    assert found.range_of("In1.Cu")[1] == 0.03
    assert found.range_of("B.Cu") == (0.0432, 0.0432, 0.0432)


CORE, PREPREG = 'core 0.5 "370HR"', 'prepreg 0.2 "370HR"'
FOUR_LAYERS = f"F.Cu 0.035\n{CORE}\nIn1.Cu 0.035\n{PREPREG}\nIn2.Cu 0.035\n{CORE}\nB.Cu 0.035"
TWO_WAYS = {
    "size_mm": [60, 40],
    "stackup": FOUR_LAYERS,
    "zones": [{"net": "+5V", "layer": "In2.Cu", "rect_mm": [5, 5, 55, 20]}],
    "tracks": [{"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 12], [10, 35], [50, 35]], "width_mm": 0.5}],
    "parts": [
        {
            "reference": reference,
            "at_mm": at,
            "pads": [
                {"number": "1", "net": "+5V", "size_mm": [2, 2], "shape": "circle", "kind": kind, "drill_mm": 1.0}
            ],
        }
        for reference, at, kind in (("J1", [10, 12], "through"), ("U1", [50, 12], "through"), ("U2", [50, 35], "smd"))
    ],
}
"""J1 feeds U1 by a plane on In2.Cu and U2 by a track on F.Cu, 22 and 39 mm long between the pads."""


def test_the_range_of_each_drop_is_that_of_the_copper_on_its_own_way(tmp_path: Path) -> None:
    """Outer copper may be plated from 35 to 65 um and inner is 35 at most, whichever loses most of the rail's power."""
    solution = solved(tmp_path, RAIL + 'copper_c = 20\nfrom = ["J1"]\nto = { U1 = 20, U2 = 1 }\n', **TWO_WAYS)
    plane, track = (solution.drop_of(load) for load in range(2))
    exact_v = ((22 + 39) / 0.5 - 0.44) * sheet_resistance_ohm(0.035)

    assert track.nominal == pytest.approx(exact_v, rel=0.02)
    assert solution.ratios[1].low == pytest.approx(0.035 / 0.065)
    assert solution.ratios[1].high == pytest.approx(1 / 0.9)
    assert solution.ratios[0].low == pytest.approx(1.0)
    assert solution.ratios[0].high == pytest.approx(0.035 / 0.0249)
    assert plane.low >= 0.9 * plane.nominal
    assert solution.loss_of(1).layer_power_w["F.Cu"] == pytest.approx(track.nominal, rel=0.02)


def test_hot_copper_as_declared_is_no_longer_in_doubt(tmp_path: Path) -> None:
    """At 60 degrees the middle rises by 15.7 %, and heat no longer widens the range."""
    text = RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\n'
    cold, hot = solved(tmp_path / "a", text), solved(tmp_path / "b", text + "copper_c = 60")

    assert hot.worst_v.nominal / cold.worst_v.nominal == pytest.approx(1 + 40 * 0.00393, rel=1e-6)
    assert hot.worst_v.high < cold.worst_v.high


def test_a_rail_is_solved_once(tmp_path: Path) -> None:
    """Rules and table share the solution."""
    context = context_of(tmp_path, RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]')
    row = PowerRails(context).declared[0]

    assert PowerRails(context).solved(row) is PowerRails(context).solved(row)


def test_the_table_tells_what_is_missing_instead_of_a_number(tmp_path: Path) -> None:
    """One rail is solved, one has no source: the second is there with its current, problem and cure."""
    both = RAIL + 'current_a = 1\nfrom = ["J1"]\nto = ["U1"]\n' + RAIL + 'current_a = 3\nto = ["U1"]\n'
    good, bad = rail_rows(context_of(tmp_path, both))

    assert good.drop_mv is not None
    assert good.problem == ""
    assert good.drop_pct == pytest.approx(good.drop_mv.nominal / 50)
    assert sum(layer.loss_pct for layer in good.layers) + (good.hole_loss_pct or 0) == pytest.approx(100)
    assert (bad.current_a, bad.drop_mv, bad.problem) == (3.0, None, "+5V: where it is fed")


def test_the_largest_power_nets_leave_ground_out(tmp_path: Path) -> None:
    """By filled copper: GND has most, and is none."""
    zones = [
        {"net": "GND", "layer": "B.Cu", "rect_mm": [1, 1, 69, 29]},
        {"net": "+3V3", "layer": "F.Cu", "rect_mm": [1, 20, 9, 29]},
        {"net": "+12V", "layer": "F.Cu", "rect_mm": [20, 20, 60, 29]},
    ]
    assert largest_power_nets(context_of(tmp_path, "", zones=zones).board) == ("+12V", "+3V3")


def test_a_signal_with_a_small_fill_is_no_power_net(tmp_path: Path) -> None:
    """A reset line with a fill of 4 mm2 was offered as a rail; a supply of that size, and an unnamed large one, are."""
    zones = [
        {"net": "/SWD.~{RESET}", "layer": "F.Cu", "rect_mm": [1, 1, 3, 3]},
        {"net": "+1V8", "layer": "F.Cu", "rect_mm": [10, 1, 12, 3]},
        {"net": "/LX", "layer": "F.Cu", "rect_mm": [20, 1, 24, 5]},
    ]
    assert largest_power_nets(context_of(tmp_path, "", zones=zones).board) == ("/LX", "+1V8")


# --- a real board ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thor(demo_boards: Path) -> Board:
    return read_board(demo_boards / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb")


def pads_of(board: Board, net: str, reference: str) -> tuple[int, ...]:
    rows = (board.pads.net == board.net_index[net]) & (board.footprints.reference[board.pads.footprint] == reference)
    return tuple(np.flatnonzero(rows).tolist())


class Raster:
    """Copper of a net as a network of resistors, one per pair of neighbouring cells, joined by barrels."""

    def __init__(self, board: Board, net: str, step_mm: float) -> None:
        self.board, self.net = board, board.net_index[net]
        areas = net_copper(board, self.net)
        bounds = np.array([area.bounds for area in areas.values()])
        low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
        self.x, self.y = np.meshgrid(*(np.arange(a, b + step_mm, step_mm) for a, b in zip(low, high, strict=True)))
        self.node: dict[int, np.ndarray] = {}
        self.rows: list[np.ndarray] = []
        count = 0
        copper = copper_of(board, 0.02)
        for layer, area in areas.items():
            shapely.prepare(area)
            inside = shapely.contains_xy(area, self.x, self.y)
            self.node[layer] = np.where(inside, count + np.cumsum(inside).reshape(inside.shape) - 1, -1)
            count += int(inside.sum())
            siemens = 1 / sheet_resistance_ohm(copper.thickness_mm[layer])
            number = self.node[layer]
            for one, two in ((number[:, :-1], number[:, 1:]), (number[:-1], number[1:])):
                both = (one >= 0) & (two >= 0)
                self._link(one[both], two[both], siemens)
        self.count = count
        vias, height = board.vias, copper.height_mm
        for k in np.flatnonzero(vias.net == self.net).tolist():
            hole = shapely.Point(vias.x_mm[k], vias.y_mm[k]).buffer(vias.drill_mm[k] / 2 + 0.02)
            spots = [(layer, self.cells(layer, hole)) for layer in sorted(self.node)]
            spots = [(layer, cells) for layer, cells in spots if len(cells)]
            for (upper, above), (lower, below) in itertools.pairwise(spots):
                ohm = barrel_resistance_ohm(float(vias.drill_mm[k]), 0.02, height[lower] - height[upper])
                for cells in (above, below):
                    self._link(cells[:-1], cells[1:], 1e6)
                self._link(above[:1], below[:1], 1 / ohm)

    def _link(self, one: np.ndarray, two: np.ndarray, siemens: float) -> None:
        self.rows.append(np.column_stack([one, two, np.full(len(one), siemens)]))

    def cells(self, layer: int, area: shapely.Geometry) -> np.ndarray:
        """Nodes whose middle is in an area."""
        inside = shapely.contains_xy(area, self.x, self.y) & (self.node[layer] >= 0)
        return np.asarray(self.node[layer][inside])

    def drops_v(self, source: tuple[int, ...], loads: dict[tuple[int, ...], float]) -> list[float]:
        """Drop at each load, pads tied together on every layer that they touch."""
        rows, ends = list(self.rows), []
        for number, pads in enumerate([source, *loads]):
            terminal = self.count + number
            for pad in pads:
                for layer in self.node:
                    if int(self.board.pads.layers[pad]) >> layer & 1:
                        cells = self.cells(layer, pad_area(self.board, pad))
                        rows.append(np.column_stack([cells, np.full(len(cells), terminal), np.full(len(cells), 1e6)]))
            ends.append(terminal)
        one, two, siemens = np.vstack(rows).T
        i, j = one.astype(int), two.astype(int)
        size = self.count + len(ends)
        diagonal = np.bincount(i, siemens, size) + np.bincount(j, siemens, size) + 1e-9
        diagonal[ends[0]] += 1e9
        entries = (np.r_[-siemens, -siemens, diagonal], (np.r_[i, j, np.arange(size)], np.r_[j, i, np.arange(size)]))
        amperes = np.zeros(size)
        amperes[ends[1:]] = list(loads.values())
        volts = spsolve(coo_matrix(entries, shape=(size, size)).tocsc(), amperes)
        return [float(volts[end] - volts[ends[0]]) for end in ends[1:]]


@pytest.mark.slow
@pytest.mark.demo
def test_the_input_rail_of_a_real_board_agrees_with_a_hand_calculation_and_a_raster(thor: Board) -> None:
    """VCC_IN of the Jetson Thor board: 8 A from the plug J2 to the switches Q2 and Q39, 37 mm away.

    By hand: F.Cu has 879 mm2 over 71 mm, 12.4 mm wide on average, hence 3.0 squares of 0.49 milliohm on the way, 1.47
    milliohm; In4 has 1256 mm2, 17.7 mm, 2.1 squares of 0.96 milliohm, 2.0 milliohm; side by side 0.85 milliohm. The
    current leaves by two pads of 2 mm at the edge of the 12 mm: from a width w to a contact of 2a at its edge spreading
    takes ln(2w/(pi a))/pi squares, 0.65 squares of 0.4926 milliohm for both in parallel at half the width each, 0.3
    milliohm. Together 1.15 milliohm and 9 mV; the outline is uneven, so within a quarter.
    """
    loads = {pads_of(thor, "VCC_IN", name): 4.0 for name in ("Q2", "Q39")}
    source = pads_of(thor, "VCC_IN", "J2")
    drop = solve_rail(
        thor,
        "VCC_IN",
        copper_of(thor, 0.02),
        Terminal(name="J2", pads=source),
        [Load(name=f"Q{k}", pads=pads, current_a=amperes) for k, (pads, amperes) in enumerate(loads.items())],
    )

    assert drop.worst.drop_v.nominal == pytest.approx(9.2e-3, rel=0.25)
    assert drop.worst.drop_v.nominal == pytest.approx(
        max(Raster(thor, "VCC_IN", 0.15).drops_v(source, loads)), rel=0.05
    )


@pytest.mark.slow
@pytest.mark.demo
@pytest.mark.parametrize(
    ("net", "source", "loads", "step_mm"),
    [
        ("+1V15", "R7", {"U21": 2.0}, 0.07),
        ("SYS_VIN_HV", "R65", {"J1": 6.5}, 0.12),
    ],
)
def test_other_rails_of_the_board_agree_with_the_raster(
    net: str, source: str, loads: dict[str, float], step_mm: float, thor: Board
) -> None:
    """Narrow ways: a raster is a few per cent off where a track is two or three cells wide."""
    drop = solve_rail(
        thor,
        net,
        copper_of(thor, 0.02),
        Terminal(name=source, pads=pads_of(thor, net, source)),
        [Load(name=name, pads=pads_of(thor, net, name), current_a=amperes) for name, amperes in loads.items()],
    )
    cells = Raster(thor, net, step_mm)
    raster = cells.drops_v(pads_of(thor, net, source), {pads_of(thor, net, name): a for name, a in loads.items()})

    assert drop.worst.drop_v.nominal == pytest.approx(max(raster), rel=0.06)


@pytest.mark.parametrize("on_module", [False, True])
def test_who_has_the_core_on_a_module_is_not_asked_to_say_so_again(*, on_module: bool, tmp_path: Path) -> None:
    board = mini_context(tmp_path, {"size_mm": [40, 30], "planes": {"B.Cu": "+12V"}}).board
    lines = core_rail_lines(board, on_module=on_module)
    assert ("core" in lines) is not on_module
    assert ("# the module" in lines) is on_module
    assert "largest: +12V" in lines


@pytest.mark.slow
@pytest.mark.demo
def test_finer_meshes_close_in_on_the_drop_of_a_real_rail(thor: Board) -> None:
    """VCC_IN: the bounds shrink to less than half and stay around each other's middle, which moves by 2 % at most."""
    source = Terminal(name="J2", pads=pads_of(thor, "VCC_IN", "J2"))
    loads = [Load(name="Q2", pads=pads_of(thor, "VCC_IN", "Q2"), current_a=8.0)]
    drops = [
        solve_rail(thor, "VCC_IN", copper_of(thor, 0.02), source, loads, precision=Precision(step_mm=6.0, gap=gap))
        for gap in (0.3, 0.1, 0.04)
    ]
    bounds = [drop.worst.drop_v for drop in drops]
    widths = [one.high - one.low for one in bounds]

    assert [drop.points for drop in drops] == sorted({drop.points for drop in drops})
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 2
    for coarse, fine in itertools.pairwise(bounds):
        assert coarse.low <= fine.nominal <= coarse.high
        assert fine.nominal == pytest.approx(bounds[-1].nominal, rel=0.02)
