"""Copper weights and thicknesses of arranged layers, and what dielectrics need next to them: by hand."""

from __future__ import annotations

import pytest

from drc_rules.requirements.fabs.builds import build_rules
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import Goals, LineGoal
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.build_rules import BuildRules, WeightRule
from stackup_lib.synthesis.layer_copper import (
    bare_mm,
    foil_of,
    gap_needs,
    keeps_signal_weights,
    layer_mm,
    layer_oz,
    with_smooth_foil,
)
from stackup_lib.transmission_lines.finish import LineFinish
from stackup_lib.transmission_lines.width_request import Target

ALIKE, FREE = BuildRules(equal_cladding=True), BuildRules()


def order(layers: str, build_ups: int = 0) -> Order:
    """A foil build."""
    inner = len(layers) - 1 - 2 * build_ups
    around = "p" * build_ups
    return Order(layers=layers, gaps=f"{around}{('pc' * inner)[:inner]}{around}", pattern="", build_ups=build_ups)


@pytest.mark.parametrize(
    ("layers", "rules", "wanted"),
    [
        ("OGPPGO", ALIKE, [2.0, 2.0, 2.0, 2.0]),  # ground and power share a core
        ("OGPPGO", FREE, [1.0, 2.0, 2.0, 1.0]),
        ("OGSGGSGO", ALIKE, [0.5, 0.5, 1.0, 1.0, 0.5, 0.5]),  # ground on a signal layer's core is as light
        ("OGSGGSGO", FREE, [1.0, 0.5, 1.0, 1.0, 0.5, 1.0]),
        ("OGPO", FREE, [2.0, 2.0]),  # mirrors are alike
        ("OPGO", FREE, [2.0, 2.0]),
    ],
)
def test_weights_of_cores_and_mirrors(layers: str, rules: BuildRules, wanted: list[float]) -> None:
    """Power of 2 oz, ground of 1 oz; outer layers are half-ounce foil."""
    goals = Goals(power_copper_oz=2.0, ground_copper_oz=1.0, build_rules=rules)
    one = order(layers)
    assert [layer_oz(one, k, goals) for k in range(len(layers))] == [0.5, *wanted, 0.5]
    assert keeps_signal_weights(one, goals)


def test_a_signal_layer_on_the_core_of_a_power_plane_would_be_as_heavy() -> None:
    """Such an order is none; with cores that may be clad unequally it is one."""
    one = order("OGGSPPSGGO")
    for rules, keeps in ((ALIKE, False), (FREE, True)):
        goals = Goals(power_copper_oz=2.0, build_rules=rules)
        assert keeps_signal_weights(order("OGSGPPGSGO"), goals)
        assert keeps_signal_weights(one, goals) is keeps


def test_thicknesses_are_finished_ones() -> None:
    """0.5, 1 and 2 oz inside are 15.2, 30 and 61 um; what build-ups plate is as thick as outside; masks are on top."""
    goals = Goals(power_copper_oz=2.0, ground_copper_oz=1.0)
    assert [layer_mm(order("OGPPGO"), k, goals) for k in range(6)] == [0.035, 0.03, 0.061, 0.061, 0.03, 0.035]
    assert [layer_mm(order("OGGGGO", 2), k, goals) for k in range(3)] == [0.035, 0.035, 0.03]
    thick = goals.model_copy(update={"finish": LineFinish(outer_copper_mm=0.05)})
    assert [layer_mm(order("OGGGGO", 2), k, thick) for k in range(3)] == [0.05, 0.05, 0.03]
    mask = goals.finish.mask
    assert mask is not None
    copper = 2 * (0.035 + 0.03 + 0.061)
    assert bare_mm(order("OGPPGO"), goals) == pytest.approx(copper + 2 * mask.on_trace_mm)


def test_a_gap_needs_what_the_copper_on_either_side_needs() -> None:
    """By the rows of weights; an outer foil counts as half an ounce; a supply of high voltage wants its distance."""
    row = WeightRule(oz=1.0, core_mm=0.1, plies_one=2, plies_both=3, plies_outer=4, gap_mm=0.09)
    heavy = row.model_copy(update={"oz": 2.0, "core_mm": 0.2, "plies_one": 5, "plies_both": 6, "plies_outer": 7})
    rules = BuildRules(weights=(row, heavy))
    goals = Goals(power_copper_oz=2.0, ground_copper_oz=1.0, build_rules=rules, power_gap_mm=0.3)
    needs = [gap_needs(order("OGPPGO"), gap, goals) for gap in range(5)]
    assert [one.plies for one in needs] == [4, 5, 6, 5, 4]
    assert [one.core_mm for one in needs] == [0.1, 0.2, 0.2, 0.2, 0.1]
    assert [one.gap_mm for one in needs] == [0.0, 0.3, 0.3, 0.3, 0.0]
    assert gap_needs(order("OGPPGO"), 2, goals.model_copy(update={"power_gap_mm": None})).gap_mm == 0.09
    assert build_rules().equal_cladding


def test_smooth_foil_is_where_high_speed_currents_flow() -> None:
    """On fast layers and grounds next to them; outside, where a line with a frequency runs or links are routed."""
    one = order("OGFGGFGO")
    assert with_smooth_foil(one, Goals()) == {1, 2, 3, 4, 5, 6}
    assert with_smooth_foil(order("OGFGSGGSGFGO"), Goals()) == {1, 2, 3, 4, 7, 8, 9, 10}  # 4 and 7 on cores of 3 and 8
    assert with_smooth_foil(order("OGGO"), Goals()) == frozenset()
    assert with_smooth_foil(order("OGGO"), Goals(fast_outside=True)) == {0, 1, 2, 3}
    line = LineGoal(name="x", target=Target(ohm=50), where="outer")
    assert with_smooth_foil(order("OGGO"), Goals(lines=(line,))) == frozenset()
    timed = line.model_copy(update={"nyquist_ghz": 8.0})
    assert with_smooth_foil(order("OGGO"), Goals(lines=(timed,))) == {0, 1, 2, 3}


def test_the_foil_of_a_core_is_one_that_its_maker_clads() -> None:
    """370HR comes with HTE and RTF (Isola's product page): nothing smoother is promised; outer foil is the fab's."""
    families = dict.fromkeys(range(3), "370HR")
    assert foil_of(order("OGGO"), 0, families, FoilGrade.HVLP) is FoilGrade.HVLP
    inner = foil_of(order("OGGO"), 1, families, FoilGrade.HVLP)
    assert inner is foil_of(order("OGGO"), 2, families, FoilGrade.HVLP)
    assert inner is FoilGrade.RTF
