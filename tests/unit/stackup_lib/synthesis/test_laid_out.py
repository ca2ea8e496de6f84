"""Layers that are laid out stay: weights, symmetry, what a fab presses, and why they cannot where they cannot."""

from __future__ import annotations

from itertools import product

import pytest

from drc_rules.requirements.fabs.builds import build_rules
from stackup_lib.synthesis import CandidateStackup, Goals, LaidOut, LineGoal, suggest
from stackup_lib.synthesis.arrange import orders
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.synthesis.layer_copper import keeps_signal_weights
from stackup_lib.transmission_lines.width_request import Target
from tests.support.each import each
from tests.support.stackup_audit import audit

ARRANGED = Goals(layer_count=6, power_planes=2, thickness_mm=1.6, build_rules=build_rules())


def keeping(layers: str, oz: float | None = None, least_power_oz: float = 0.0, **goals: object) -> Goals:
    """Goals of a board with these layers, all inner ones of one weight."""
    weights = (None, *[oz] * (len(layers) - 2), None)
    laid_out = LaidOut(layers=layers, copper_oz=weights, least_power_oz=least_power_oz)
    update = {"laid_out": laid_out, "layer_count": len(layers), **goals}
    return ARRANGED.model_copy(update=update)


def built(goals: Goals, family: str = "370HR") -> CandidateStackup:
    """What comes nearest to the thickness."""
    return closest(orders(goals)[0], family, goals)[0]


@each(layers=["OO", *(f"O{a}{b}O" for a, b in product("GSPF", repeat=2)), "OGSPGO", "OGSSPO", "OSGPSO", "OGFPGO"])
def test_any_order_that_is_laid_out_is_built_as_a_fab_builds(layers: str) -> None:
    """The auditor, which knows nothing of the search, finds no fault: symmetry, cladding, resin, sheets of prepreg."""
    for oz in (None, 0.5, 1.0, 2.0):
        goals = keeping(layers, oz)
        candidate = built(goals)
        assert candidate.order.layers == layers
        assert candidate.thickness_mm == pytest.approx(1.6, rel=0.1)
        assert [fault for fault in audit(candidate, drill_mm=0.25) if fault.level == "fault"] == []


@pytest.mark.parametrize(
    ("layers", "oz", "least_oz", "wanted"),
    [
        ("OGSPGO", None, 0.0, [0.5, 0.5, 0.5, 0.5]),  # the power plane mirrors a signal layer
        ("OGSPGO", 1.0, 0.0, [1.0, 1.0, 1.0, 1.0]),  # as it stands
        ("OGPPGO", None, 0.0, [1.0, 1.0, 1.0, 1.0]),  # power and ground on one core, no signals among them
        ("OGPPGO", 0.5, 2.0, [2.0, 2.0, 2.0, 2.0]),  # a requirement is heavier than what stands
        ("OSGGSO", 2.0, 0.0, [2.0, 2.0, 2.0, 2.0]),
        ("OGSPGO", 0.5, 1.0, [1.0, 1.0, 1.0, 1.0]),  # signals of 1 oz rather than a board that is routed anew
    ],
)
def test_weights_stay_and_what_is_tied_to_signals_is_as_light(
    layers: str, oz: float | None, least_oz: float, wanted: list[float]
) -> None:
    """By hand: a mirror and the other side of a core have one weight."""
    goals = keeping(layers, oz, least_oz)
    assert keeps_signal_weights(orders(goals)[0], goals)
    assert [row.copper_oz for row in built(goals).copper[1:-1]] == wanted


def test_layers_that_are_laid_out_are_the_only_ones_searched() -> None:
    """Where they do, nothing is rearranged; where a power plane has to be heavier than its mirror, why is said."""
    kept = suggest(ARRANGED, limit=2, kept=keeping("OGSPGO"))
    assert kept.keeps_layers
    assert {one.candidate.order.layers for one in kept.ranked} == {"OGSPGO"}
    assert kept.why_moved == ""
    moved = suggest(ARRANGED, limit=2, kept=keeping("OGSPGO", least_power_oz=2.0))
    assert not moved.keeps_layers
    assert {one.candidate.order.layers for one in moved.ranked} == {"OGPPGO"}
    assert "signal layer would take the weight of a power plane" in moved.why_moved


def test_no_high_speed_layer_becomes_heavier_for_a_power_plane() -> None:
    """Its lines were routed for half an ounce; ordinary signals may have one, not two."""
    for layers, least_oz, keeps in (("OGFPGO", 0.5, True), ("OGFPGO", 1.0, False), ("OGSPGO", 1.0, True)):
        goals = keeping(layers, 0.5, least_oz)
        assert keeps_signal_weights(orders(goals)[0], goals) is keeps
    heavy = keeping("OGSPGO", 0.5, 2.0)
    assert not keeps_signal_weights(orders(heavy)[0], heavy)


def test_two_layers_are_one_laminate_that_nobody_presses() -> None:
    """1.6 mm less two coppers of 35 um and two masks; as thick as a maker offers it, in one piece."""
    found = suggest(ARRANGED, kept=keeping("OO"))
    assert found.keeps_layers
    best = found.ranked[0]
    (core,) = best.candidate.dielectrics
    mask = best.candidate.rows[0].thickness_mm
    assert core.thickness_mm == pytest.approx(1.6 - 2 * 0.035 - 2 * mask, abs=0.005)
    assert (core.laminate, best.laminations, core.source) == ("370HR", 0, "Isola, 370HR product page")
    assert not any("core build" in driver for driver in best.cost.drivers)


def test_a_line_on_two_layers_that_needs_a_plane_close_by_says_why_four_are_wanted() -> None:
    """85 ohm over 1.5 mm takes traces wider than any that fit; over a thin board of 0.2 mm they are narrow."""
    line = LineGoal(name="PCIe", target=Target(ohm=85, kind="differential"), where="outer")
    four = ARRANGED.model_copy(update={"layer_count": 4, "power_planes": 0, "lines": (line,)})
    found = suggest(four, limit=1, kept=keeping("OO", lines=(line,)))
    assert not found.keeps_layers
    assert found.why_moved.startswith("PCIe: F.Cu: 85 ohm differential needs a trace wider than 0.4 mm")
    assert len(found.ranked[0].candidate.copper) == 4
    thin = suggest(four, limit=1, kept=keeping("OO", thickness_mm=0.3, lines=(line,)))
    assert thin.keeps_layers
    assert {one.layer for one in thin.ranked[0].lines} == {"F.Cu", "B.Cu"}
