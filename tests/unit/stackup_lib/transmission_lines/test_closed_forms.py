"""The published closed forms, as other programs compute them, and compared with the field solver where they hold."""

from __future__ import annotations

import pytest

from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.closed_forms import (
    Planes,
    coupled_microstrip_ohm,
    coupled_stripline_ohm,
    microstrip_ohm,
    stripline_ohm,
)
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment


def test_a_coupled_microstrip_is_what_another_program_says() -> None:
    """QucsStudio, Kirschning and Jansen without thickness: Zodd 60.8 ohm (antmicro/kintex-410t-devboard, issue 3)."""
    assert coupled_microstrip_ohm(0.153, 0.2, 0.12, 1e-6, 3.9) / 2 == pytest.approx(60.8, abs=0.05)


def test_thickness_moves_a_coupled_microstrip_by_as_much_as_kicad_is_blamed_for() -> None:
    """KiCad issue 9077: 119.5 ohm by its closed form, 101 by a field solver. Copper of 35 um costs 11 %."""
    thin, thick = (coupled_microstrip_ohm(0.153, 0.2, 0.12, t, 3.9) for t in (1e-6, 0.035))
    assert thin / thick == pytest.approx(1.12, abs=0.02)


@pytest.mark.parametrize(
    ("width_mm", "gap_mm", "copper_mm", "within"),
    [(0.35, None, 0.035, 0.005), (0.15, None, 0.0005, 0.005), (0.25, 0.15, 0.0005, 0.005), (0.25, 0.15, 0.035, 0.03)],
)
def test_microstrips_agree_with_the_solver(
    width_mm: float, gap_mm: float | None, copper_mm: float, within: float
) -> None:
    """Ideal lines 0.2 mm over a plane, Dk 4.4: 0.5 % for thin copper, 3 % for a thick pair."""
    sheet = DielectricSheet(name="core", kind="core", thickness_mm=0.2, dk=4.4)
    site = TraceEnvironment(layer="L1", reference_below="L2", below=(sheet,), copper_mm=copper_mm)
    solved = solve(site.section(width_mm, gap_mm), 1e-3)
    if gap_mm is None:
        assert microstrip_ohm(width_mm, 0.2, copper_mm, 4.4) == pytest.approx(solved.z0_ohm, rel=within)
    else:
        ohm = coupled_microstrip_ohm(width_mm, gap_mm, 0.2, copper_mm, 4.4)
        assert ohm == pytest.approx(solved.z_diff_ohm, rel=within)


@pytest.mark.parametrize(
    ("width_mm", "gap_mm", "above_mm", "copper_mm", "within"),
    [
        (0.15, None, 0.2, 0.015, 0.01),
        (0.08, None, 0.2, 0.0003, 0.01),
        (0.15, None, 0.8, 0.015, 0.06),
        (0.12, 0.15, 0.2, 0.0003, 0.002),
        (0.12, 0.15, 0.2, 0.015, 0.02),
        (0.12, 0.05, 0.2, 0.015, 0.02),
    ],
)
def test_striplines_agree_with_the_solver(
    width_mm: float, gap_mm: float | None, above_mm: float, copper_mm: float, within: float
) -> None:
    """Ideal lines 0.2 mm above a plane, Dk 4.1; off centre, two halves in parallel are up to 6 % off."""
    lower = DielectricSheet(name="core", kind="core", thickness_mm=0.2, dk=4.1)
    upper = DielectricSheet(name="prepreg", kind="prepreg", thickness_mm=above_mm, dk=4.1)
    site = TraceEnvironment(
        layer="L2", reference_below="L3", reference_above="L1", below=(lower,), above=(upper,), copper_mm=copper_mm
    )
    solved = solve(site.section(width_mm, gap_mm), 1e-3)
    planes = Planes(0.2, above_mm, copper_mm)
    if gap_mm is None:
        assert stripline_ohm(width_mm, planes, 4.1) == pytest.approx(solved.z0_ohm, rel=within)
    else:
        assert coupled_stripline_ohm(width_mm, gap_mm, planes, 4.1) == pytest.approx(solved.z_diff_ohm, rel=within)
