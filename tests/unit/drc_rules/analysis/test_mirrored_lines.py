"""A line and its mirror image are one problem: solved once, and seen from either side."""

from __future__ import annotations

import pytest

from stackup_lib.field_solver.perturbation import perturb
from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.lossy import solve_line
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment

CORE = DielectricSheet(name="core", kind="core", thickness_mm=0.10, dk=3.3)
PREPREG = DielectricSheet(name="prepreg", kind="prepreg", thickness_mm=0.16, dk=3.7)
SITE = TraceEnvironment(
    layer="In2.Cu",
    reference_below="In3.Cu",
    reference_above="In1.Cu",
    below=(CORE,),
    above=(PREPREG,),
    copper_mm=0.018,
    taper_mm=0.009,
)
MIRRORED = SITE.model_copy(
    update={
        "layer": "In7.Cu",
        "reference_below": "In8.Cu",
        "reference_above": "In6.Cu",
        "below": (PREPREG,),
        "above": (CORE,),
        "base": "upper",
    }
)
SIZES = [(0.1, None), (0.09, 0.12)]


@pytest.mark.parametrize(("width", "gap"), SIZES)
def test_mirror_images_have_one_answer_to_the_last_digit(width: float, gap: float | None) -> None:
    """Impedance, delay, error estimate, crowding and shares; what was below is above."""
    line, image = solve_line(SITE, width, gap), solve_line(MIRRORED, width, gap)

    assert image.impedance_ohm == line.impedance_ohm
    assert image.eps_eff == line.eps_eff
    assert image.solution.error_estimate == line.solution.error_estimate
    assert image.solution.shares.plane_above == line.solution.shares.plane_below
    one, other = line.perturbation, image.perturbation
    assert other.shares.layers == one.shares.layers[::-1]
    assert other.crowding.total_per_mm == pytest.approx(one.crowding.total_per_mm, rel=1e-12)
    assert other.crowding.strip_lower_per_mm == one.crowding.strip_upper_per_mm
    assert other.crowding.plane_above_per_mm == one.crowding.plane_below_per_mm


@pytest.mark.parametrize(("width", "gap"), SIZES)
def test_what_is_seen_from_the_other_side_is_what_that_section_gives_by_itself(width: float, gap: float | None) -> None:
    """The image is no mere swap of names: each part is that of its own section, to the solver's accuracy."""
    image, section = solve_line(MIRRORED, width, gap), MIRRORED.section(width, gap)
    own, changes = solve(section, 1e-3), perturb(section, "single" if gap is None else "odd", 1e-3)

    assert image.section == section
    assert image.site == MIRRORED
    assert image.impedance_ohm == pytest.approx(own.impedance_ohm, rel=1e-4)
    shares = own.shares if gap is None else own.odd_shares
    turned = image.solution.shares if gap is None else image.solution.odd_shares
    assert shares is not None
    assert turned is not None
    assert turned.plane_below == pytest.approx(shares.plane_below, rel=3e-3)
    assert turned.plane_above == pytest.approx(shares.plane_above, rel=3e-3)
    assert image.perturbation.shares.layers == pytest.approx(changes.shares.layers, rel=2e-3)
    for name in ("strip_lower_per_mm", "strip_upper_per_mm", "plane_below_per_mm", "plane_above_per_mm"):
        assert getattr(image.perturbation.crowding, name) == pytest.approx(getattr(changes.crowding, name), rel=1e-2)
