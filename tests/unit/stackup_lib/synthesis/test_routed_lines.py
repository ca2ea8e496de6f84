"""Routed lines of a laid-out board: stackups that keep their impedance come first, by a formula of a second source."""

from __future__ import annotations

import math

import numpy as np
import pytest

from drc_rules.requirements.fabs.builds import build_rules
from stackup_lib.field_solver.sections import Section
from stackup_lib.field_solver.solver import LADDER, impedance_once
from stackup_lib.synthesis import CandidateStackup, Goals, LaidOut, RoutedSize, routed_lines, suggest
from stackup_lib.synthesis.arrange import orders
from stackup_lib.synthesis.evaluate import _most_impedance_at
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.synthesis.routed_lines import leaves, most_ohm, outer_misfit, rerouted
from stackup_lib.transmission_lines.finish import LineFinish
from stackup_lib.transmission_lines.width_request import WidthLimits

BARE = LineFinish(mask=None, outer_taper_mm=0.0)
COPPER_MM = 0.035


def track(width_mm: float, layer: int = 0, ohm: float = 50.0, gap_mm: float | None = None) -> RoutedSize:
    return RoutedSize(layer=layer, width_mm=width_mm, gap_mm=gap_mm, low_ohm=0.9 * ohm, high_ohm=1.1 * ohm)


def keeping(*routed: RoutedSize, layers: str = "OGSSGO") -> Goals:
    laid_out = LaidOut(layers=layers, copper_oz=(None,) * len(layers), routed=routed)
    return Goals(
        laid_out=laid_out,
        layer_count=len(layers),
        thickness_mm=1.6,
        build_rules=build_rules(),
        finish=BARE,
        rank_by="cost",
    )


def microstrip_ohm(width_mm: float, height_mm: float, er: float) -> float:
    """Hammerstad and Jensen 1980, with their correction for thick copper: within 1 % of exact solutions."""
    u, t = width_mm / height_mm, COPPER_MM / height_mm
    du = t / math.pi * math.log(1 + 4 * math.e / (t * (1 / math.tanh(math.sqrt(6.517 * u))) ** 2))
    ur = u + du * (1 + 1 / math.cosh(math.sqrt(er - 1))) / 2
    a = 1 + math.log((ur**4 + (ur / 52) ** 2) / (ur**4 + 0.432)) / 49 + math.log(1 + (ur / 18.1) ** 3) / 18.7
    b = 0.564 * ((er - 0.9) / (er + 3)) ** 0.053
    effective = (er + 1) / 2 + (er - 1) / 2 * (1 + 10 / ur) ** (-a * b)

    def air_ohm(x: float) -> float:
        f = 6 + (2 * math.pi - 6) * math.exp(-((30.666 / x) ** 0.7528))
        return 376.73 / (2 * math.pi) * math.log(f / x + math.sqrt(1 + 4 / x**2))

    return air_ohm(ur) / math.sqrt(effective)


def outer_of(candidate: CandidateStackup) -> tuple[float, float]:
    row = candidate.dielectrics[0]
    assert row.dk is not None
    return row.thickness_mm, row.dk


@pytest.mark.parametrize("width_mm", [0.12, 0.2, 0.28])
def test_the_outer_dielectric_keeps_what_is_routed_over_it(width_mm: float) -> None:
    """It was near 0.08 mm whatever was routed: a track of 0.2 mm over it has 41 ohm."""
    best = suggest(keeping(track(width_mm)), limit=1).ranked[0]
    assert microstrip_ohm(width_mm, *outer_of(best.candidate)) == pytest.approx(50, rel=0.1)
    assert best.rerouted == 0


def test_without_routed_lines_the_outer_dielectric_is_as_thin_as_usual() -> None:
    """Nor do lines decide it whose plane lies farther in."""
    for goals in (keeping(), keeping(track(0.28), layers="OSGGSO")):
        assert outer_of(closest(orders(goals)[0], "370HR", goals)[0])[0] == pytest.approx(0.08, abs=0.012)


@pytest.mark.parametrize("layer", [0, 2])
@pytest.mark.parametrize(("width_mm", "gap_mm"), [(0.1, None), (1.0, None), (0.1, 0.075), (1.0, 0.075), (5.0, 1.0)])
def test_no_line_has_more_impedance_than_its_faces_as_parallel_plates(
    layer: int, width_mm: float, gap_mm: float | None
) -> None:
    """Very wide lines are nearly that."""
    goals = keeping(layers="OGSGGSGO")
    section = closest(orders(goals)[0], "370HR", goals)[0].site(layer).section(width_mm, gap_mm)

    solved = impedance_once(section, LADDER[1])
    assert solved <= most_ohm(section)
    assert width_mm < 5 or solved >= 0.8 * most_ohm(section)


@pytest.mark.parametrize("layer", [0, 2])
@pytest.mark.parametrize("ratio", [0.2, 0.25, 0.5, 1.0, 1.5])
def test_no_pair_of_a_ratio_of_gap_to_width_has_more_impedance_than_the_bound_of_its_widths(
    layer: int, ratio: float
) -> None:
    goals = keeping(layers="OGSGGSGO")
    site = closest(orders(goals)[0], "370HR", goals)[0].site(layer)
    limits = WidthLimits(min_width_mm=0.075, max_width_mm=0.4, min_gap_mm=0.075)

    bounds = [impedance_once(site.section(*size), LADDER[2]) for size in _most_impedance_at(site, limits, ratio)]

    least = max(0.075, 0.075 / ratio)
    for width in np.geomspace(least, 0.4, 9):
        assert impedance_once(site.section(width, ratio * width), LADDER[2]) <= 1.0005 * max(bounds)


def test_a_ratio_of_gap_to_width_that_leaves_no_width_has_no_bound() -> None:
    goals = keeping(layers="OGSGGSGO")
    limits = WidthLimits(min_width_mm=0.075, max_width_mm=0.4, min_gap_mm=0.075)
    assert _most_impedance_at(closest(orders(goals)[0], "370HR", goals)[0].site(0), limits, 0.1) == []


def test_a_size_that_is_far_too_wide_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mesh is the largest of all; one that may fit is solved."""
    solved: list[Section] = []

    def impedance(section: Section, _: object) -> float:
        solved.append(section)
        return 50.0

    monkeypatch.setattr(routed_lines, "impedance_once", impedance)
    candidate = closest(orders(keeping())[0], "370HR", keeping())[0]

    for size, count in ((track(1.0), 0), (track(0.12), 1)):
        leaves(candidate.site(0).section(size.width_mm, size.gap_mm), size)
        assert len(solved) == count


def test_sizes_that_no_stackup_keeps_together_are_counted() -> None:
    """50 ohm in 0.1 and in 0.4 mm over one dielectric: one of them leaves, and the count says so."""
    best = suggest(keeping(track(0.1), track(0.4, layer=5)), limit=1).ranked[0]
    assert best.rerouted >= 1
    height, dk = outer_of(best.candidate)
    ohms = [microstrip_ohm(width, height, dk) for width in (0.1, 0.4)]
    assert sum(abs(ohm / 50 - 1) > 0.1 for ohm in ohms) == best.rerouted


def test_the_count_is_that_of_the_formula() -> None:
    """Every 0.02 mm of width over one outer dielectric, but for those within 2 % of a limit."""
    candidate = closest(orders(keeping())[0], "370HR", keeping())[0]
    for width in np.arange(0.08, 0.4, 0.02):
        ohm = microstrip_ohm(float(width), *outer_of(candidate))
        if min(abs(ohm / 45 - 1), abs(ohm / 55 - 1)) > 0.02:
            assert rerouted(candidate, (track(float(width)),), {}) == (not 45 <= ohm <= 55), (width, ohm)


def test_a_size_without_a_plane_does_not_count() -> None:
    for layers, count in (("OSSO", 0), ("OGGO", 1)):
        goals = keeping(layers=layers)
        candidate = closest(orders(goals)[0], "370HR", goals)[0]
        assert rerouted(candidate, (track(0.1),), {}) == count


def test_the_best_height_is_where_the_formula_has_its_ohm() -> None:
    """Of heights 0.05 to 0.3 mm the least misfit lies where the formula is nearest to 50 ohm, at any usual Dk."""
    heights = np.linspace(0.05, 0.3, 51)
    for width in (0.12, 0.2, 0.35):
        for dk in (3.2, 3.8, 4.4):
            misfit = outer_misfit((track(width),), heights, np.full(len(heights), dk), BARE)
            nearest = min(heights, key=lambda h: abs(microstrip_ohm(width, float(h), dk) - 50))
            assert float(heights[misfit.argmin()]) == pytest.approx(float(nearest), rel=0.05, abs=0.006)
