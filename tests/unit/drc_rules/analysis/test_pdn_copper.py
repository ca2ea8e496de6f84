"""A rail's copper over frequency: as the DC solver finds it below, as planes above; where it is judged, what helps."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

import numpy as np
import pytest

from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.engine.check import check_board
from drc_rules.report.pdn_rows import PdnRow
from fixtures.miniboard import MiniBoard, write
from stackup_lib.core.interval import Interval
from stackup_lib.power.over_frequency.circuit import GROUND, SeriesBranch, impedances_ohm, solve
from stackup_lib.power.over_frequency.plane_pair import OtherCopper, PlanePair, series_ohm
from tests.support.small_boards.decoupled import NET, RAIL, REGULATOR, capacitor, context_of, decoupled, with_more

SURE = 'pdn.capacitor = [{ parts = ["C*"], uf = 10, esr_mohm = 5, esl_ph = 200 }]\n'
FED = RAIL + 'current_a = 10\nground_from = ["U1"]\nground_to = ["J9"]\n' + REGULATOR
NARROW = {
    "planes": {},
    "zones": [
        {"net": NET, "layer": "In2.Cu", "rect_mm": [1, 1, 59, 39]},
        {"net": "GND", "layer": "In1.Cu", "rect_mm": [4, 18, 56, 25]},
    ],
}
"""The rail faces a strip of ground only: most of its copper faces none."""


def with_ground(**changes: object) -> dict[str, object]:
    """The board with a part on ground next to the regulator, where its current comes back."""
    keys = decoupled()
    pad = {"number": "1", "net": "GND", "size_mm": [0.8, 0.8], "kind": "through", "drill_mm": 0.4}
    near = {"reference": "J9", "at_mm": [12, 22], "pads": [pad]}
    return {"parts": [*keys["parts"], near]} | changes


def at(row: PdnRow, hz: float) -> Interval:
    return min(row.points, key=lambda point: abs(math.log(point.hz / hz))).mohm


@pytest.mark.parametrize("changes", [{}, NARROW], ids=["planes", "strip of ground"])
def test_at_1_khz_a_rail_has_what_the_dc_solver_finds(tmp_path: Path, changes: dict[str, object]) -> None:
    """Regulator and copper of the way there and back, and its range inside of the printed one."""
    ctx = context_of(tmp_path, **with_ground(config=FED, **changes))
    found = at(pdn_of(ctx, NET), 1e3)
    whole = PowerRails(ctx).whole(PowerRails(ctx).declared[0])
    assert whole.back is not None
    dc = whole.resistance_ohm.times(1e3)
    assert found.nominal == pytest.approx(0.5 + dc.nominal, rel=0.02)
    assert found.low < 0.5 + dc.low < 0.5 + dc.high < found.high


def test_copper_of_the_rail_as_declared_is_in_the_curve(tmp_path: Path) -> None:
    """Half as thick on In2 and hot: more at 1 kHz, and a narrower range, as nothing of the layer is open."""
    usual = at(pdn_of(context_of(tmp_path, **with_ground(config=FED)), NET), 1e3)
    thin = FED.replace(
        "current_a", 'copper_c = 85\ncopper_um = { "In2.Cu" = 25, "In1.Cu" = 25 }\nplating_um = 20\ncurrent_a'
    )
    found = at(pdn_of(context_of(tmp_path / "thin", **with_ground(config=thin)), NET), 1e3)
    hot = 1 + 0.00393 * 65
    assert (found.nominal - 0.5) / (usual.nominal - 0.5) == pytest.approx(hot * 35 / 25, rel=0.1)
    assert found.high / found.low < usual.high / usual.low


def test_without_a_dc_solution_the_low_end_has_no_copper(tmp_path: Path) -> None:
    """Copper that faces nothing may carry all of it; the output says that this is assumed."""
    config = RAIL.replace('from = ["L1"]\n', "") + REGULATOR
    row = pdn_of(context_of(tmp_path, config=config), NET)
    assert at(row, 1e3).low == pytest.approx(0.8 * 0.5, rel=0.05)
    assert any("does not face ground" in one for one in row.assumed)


def test_other_copper_takes_current_below_and_none_above() -> None:
    """By hand: 2/(sigma t) of two sheets of 35 um, in parallel with 0.5 mOhm at DC; both copper and gap far above."""
    sheet = 2 / (5.8e7 * 35e-6)
    pair = PlanePair(900, 0.3, 4.0, 0.02, 0.035, other=OtherCopper(0.5e-3, 5.0))
    bare = PlanePair(900, 0.3, 4.0, 0.02, 0.035)
    hz = np.geomspace(1, 1e9, 200)
    found, without = series_ohm(pair, hz), series_ohm(bare, hz)
    assert bare.sheet_ohm == pytest.approx(sheet)
    assert found[0].real == pytest.approx(1 / (1 / sheet + 1 / 0.5e-3), rel=1e-3)
    assert found[-1] == pytest.approx(without[-1], rel=1e-2)
    assert np.all(found.real > 0)
    assert np.all(np.diff(found.real) > -1e-12)


def test_impedances_between_two_nodes_by_hand() -> None:
    """A T of resistors: 1 and 2 ohm to the middle, 3 ohm to ground."""
    found = impedances_ohm(
        [
            SeriesBranch("1", "a", "m", 1.0),
            SeriesBranch("2", "b", "m", 2.0),
            SeriesBranch("3", "m", GROUND, 3.0),
        ],
        ("a", "b"),
        np.array([1e3]),
    )[0]
    assert found.real == pytest.approx(np.array([[4.0, 3.0], [3.0, 5.0]]))


def test_it_is_judged_to_where_half_of_the_target_is_left(tmp_path: Path) -> None:
    """Perfect capacitors in the places of the real ones are no error there; beyond only where the user says so."""
    perfect = 'pdn.capacitor = [{ parts = ["C*"], uf = 100, esr_mohm = 0.01, esl_ph = 0.01 }]\n'
    parts = [capacitor(f"C{k}", 40 + 2 * (k % 2), k - 6) for k in range(10, 40)]
    target = "ripple_pct = 5\nstep_a = 8\n"
    board = with_more(parts)
    row = pdn_of(context_of(tmp_path, config=RAIL + target + REGULATOR + perfect, **board), NET)
    assert row.target is not None
    assert row.target.up_to_hz == pytest.approx(0.5 * 5e-3 / (2 * math.pi * row.spreading_ph * 1e-12))
    assert not row.is_surely_above
    beyond = RAIL + target + REGULATOR + perfect + "pdn.up_to_mhz = 100\n"
    far = pdn_of(context_of(tmp_path / "far", config=beyond, **board), NET)
    assert far.is_surely_above
    assert "shorten the vias of the load" in far.excess[-1].note


def test_more_of_a_capacitor_that_resonates_there(tmp_path: Path) -> None:
    """Bulk parts of 220 uF are no remedy above 10 MHz, though their inductance would do; 10 nF parts are."""
    small = [capacitor(f"C{10 + k}", 42, 8 + 2 * k, "10nF 0402 X7R 50V") for k in range(4)]
    bulk = [capacitor("C1", 30, 20, "220uF 1210"), capacitor("C2", 30, 24, "220uF 1210")]
    board = with_more(small)
    board["parts"] = [*board["parts"][2:], *bulk]
    row = pdn_of(context_of(tmp_path, config=RAIL + REGULATOR + "pdn.up_to_mhz = 60\n", **board), NET, (), 60.0)
    high = [one for one in row.excess if one.from_hz > 1e7]
    assert high
    assert all("220 uF" not in one.remedy for one in high)


def test_the_command_of_a_finding_can_be_pasted(tmp_path: Path) -> None:
    """A net with parentheses is quoted, and the board is named by its path."""
    odd = "Net-(IC31-VOUT)"
    text = RAIL + "current_a = 1\nripple_pct = 5\nstep_a = 8\n" + REGULATOR.replace("0.5", "20") + SURE
    keys = decoupled(config=text.replace(NET, odd))
    model = MiniBoard.model_validate_json(MiniBoard.model_validate(keys).model_dump_json().replace(NET, odd))
    report = check_board(write(model, tmp_path, "board"))
    (found,) = [one for one in report.findings if one.code == "PDN001"]
    words = shlex.split(found.fix.split("`")[1])
    assert words[:2] == ["stackwright", "pdn"]
    assert Path(words[2]).name == "board.kicad_pcb"
    assert words[3:] == ["--rail", odd]


def test_solve_is_the_first_of_the_impedances() -> None:
    branches = [SeriesBranch("r", "a", "b", 1.0, 1e-9), SeriesBranch("c", "b", GROUND, 0.1, 0.0, 1e-6)]
    hz = np.geomspace(1e3, 1e8, 7)
    both = impedances_ohm(branches, ("a", "b"), hz)
    assert both[:, 0, 0] == pytest.approx(solve(branches, "a", hz).impedance_ohm)
    assert both[:, 0, 1] == pytest.approx(both[:, 1, 0])
