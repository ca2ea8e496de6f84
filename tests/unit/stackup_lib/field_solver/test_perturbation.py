"""Crowding and dielectric shares agree with exact derivatives, with laws of nature, and know how far they are off."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stackup_lib.field_solver import shapes
from stackup_lib.field_solver.perturbation import Mode, Perturbation, perturb
from stackup_lib.field_solver.sections import GeometryError, Mask, Section
from stackup_lib.field_solver.solver import LADDER, _kernels, assemble, solve
from stackup_lib.validation.cases import section_of_case

CASES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[4] / "fixtures/reference/exact_loss_cases.toml").read_text(encoding="utf-8")
)["case"]


@cache
def solved(number: int) -> Perturbation:
    case = CASES[number]
    return perturb(section_of_case(case["geometry"], case["parameters_mm"]), case["mode"])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{c['id']}-{c['mode']}" for c in CASES])
def test_every_exact_resistance_is_met_within_the_estimate(number: int) -> None:
    """Trace, return path and total within 0.05 %, a tenth of what is required, and within the estimate."""
    case, found = CASES[number], solved(number)
    crowding = found.crowding

    assert found.error_estimate <= 1e-3
    assert crowding.total_per_mm == pytest.approx(case["total_per_mm"], rel=min(5e-4, found.error_estimate))
    assert crowding.strip_per_mm == pytest.approx(case["signal_per_mm"], rel=5e-4)
    assert crowding.total_per_mm - crowding.strip_per_mm == pytest.approx(case["return_per_mm"], rel=5e-4)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{c['id']}-{c['mode']}" for c in CASES])
def test_every_exact_share_is_met(number: int) -> None:
    """Each dielectric's within 5e-4 and the estimate; homogeneous sections hold everything in their dielectric."""
    shares, expected = solved(number).shares, CASES[number]["shares"]
    within = min(solved(number).error_estimate, 5e-4)

    if "all" in expected:
        assert math.fsum(shares.layers) == pytest.approx(1.0, abs=2e-5)
    else:
        assert shares.layers[0] == pytest.approx(expected["substrate"], abs=within)
        assert shares.mask == pytest.approx(expected.get("mask", 0.0), abs=within)
        if "upper" in expected:
            assert shares.layers[1] == pytest.approx(expected["upper"], abs=within)


def trapezoid(*, recess_mm: float = 0.0) -> Section:
    """A stripline of a trapezoid whose walls have all receded by `recess_mm`, planes too; filled with air."""
    d = recess_mm
    slope = math.atan2(0.03, 0.01)  # of the wall: 0.02 mm of taper on 0.03 mm
    inward = d / math.sin(slope) + d / math.tan(slope)  # what the base loses on one side when wall and base recede
    base, rise = 0.2 - 2 * inward, 0.03 - 2 * d
    return shapes.stripline(
        width_mm=base,
        top_width_mm=base - 2 * rise / math.tan(slope),
        thickness_mm=rise,
        layers_below=[(0.15 + 2 * d, 1.0)],
        layers_above=[(0.25, 1.0)],  # the trace's new base and the plane have both moved up by d
    )


def test_a_trapezoid_obeys_wheelers_rule_of_receding_walls() -> None:
    """R/Rs is the derivative of 1/C0 for all walls receding along their normals: central difference of the solver."""
    step = 2e-4

    def inverse_capacitance(recess_mm: float) -> float:
        return 1 / float(solve(trapezoid(recess_mm=recess_mm), 1e-7).relative_air_capacitance[0, 0])

    derivative = (inverse_capacitance(step) - inverse_capacitance(-step)) / (2 * step)

    assert perturb(trapezoid(), "single").crowding.total_per_mm == pytest.approx(derivative, rel=2e-3)


def offset_pair(*, upside_down: bool) -> Section:
    below, above = [(0.1, 3.6), (0.05, 4.2)], [(0.3, 3.9)]
    if upside_down:
        section = shapes.stripline(
            width_mm=0.12, gap_mm=0.15, thickness_mm=0.02, layers_below=above[::-1], layers_above=below[::-1]
        )
        # the base hangs on what was below: turn the strips over and keep the copper in what was above
        strips = tuple(
            s.model_copy(update={"bottom_mm": 0.3 - s.thickness_mm, "base": "upper"}) for s in section.strips
        )
        return section.model_copy(update={"strips": strips})
    return shapes.stripline(width_mm=0.12, gap_mm=0.15, thickness_mm=0.02, layers_below=below, layers_above=above)


@pytest.mark.parametrize("mode", ["odd", "even"])
def test_upside_down_the_faces_and_layers_change_places(mode: Mode) -> None:
    """Nothing knows where up is: the plane below is an image, the plane above is meshed, and both give the same."""
    up, down = perturb(offset_pair(upside_down=False), mode), perturb(offset_pair(upside_down=True), mode)
    a, b = up.crowding, down.crowding

    assert a.strip_lower_per_mm == pytest.approx(b.strip_upper_per_mm, rel=1e-3)
    assert a.strip_upper_per_mm == pytest.approx(b.strip_lower_per_mm, rel=1e-3)
    assert a.strip_walls_per_mm == pytest.approx(b.strip_walls_per_mm, rel=1e-3)
    assert a.plane_below_per_mm == pytest.approx(b.plane_above_per_mm, abs=2e-4 * a.total_per_mm)
    assert a.plane_above_per_mm == pytest.approx(b.plane_below_per_mm, abs=2e-4 * a.total_per_mm)
    assert up.shares.layers == pytest.approx(down.shares.layers[::-1], abs=2e-4)


def test_a_layer_cut_in_two_of_the_same_dielectric_shares_its_part() -> None:
    """Equal neighbours have no boundary between them, and still each its share: together that of the one."""
    whole = shapes.microstrip(width_mm=0.2, height_mm=0.12, thickness_mm=0.02, er=4.0)
    cut = whole.model_copy(
        update={"layers": tuple(whole.layers[0].model_copy(update={"thickness_mm": h}) for h in (0.05, 0.07))}
    )

    one, two = perturb(whole, "single").shares, perturb(cut, "single").shares

    assert math.fsum(two.layers) == pytest.approx(one.layers[0], abs=1e-4)
    assert two.layers[1] > two.layers[0] > 0.1


@pytest.mark.slow
def test_coplanar_ground_takes_crowding_from_the_plane_and_open_bottoms_hold_a_share() -> None:
    """Near ground next to the trace carries loss; a half space below holds half the field of a thin trace."""
    far, near = (
        shapes.coplanar(width_mm=0.3, ground_gap_mm=g, thickness_mm=0.035, layers_below=[(0.2, 4.4)])
        for g in (2.0, 0.1)
    )
    a, b = perturb(far, "single").crowding, perturb(near, "single").crowding
    assert b.coplanar_per_mm > 20 * a.coplanar_per_mm
    assert b.plane_below_per_mm < 0.8 * a.plane_below_per_mm

    half_space = shapes.coplanar(
        width_mm=0.3, ground_gap_mm=0.2, thickness_mm=0.001, layers_below=[], plane_below=False, er_below=4.4
    )
    shares = perturb(half_space, "single").shares
    assert shares.below == pytest.approx(4.4 / 5.4, abs=5e-3)
    assert shares.air == pytest.approx(1 / 5.4, abs=5e-3)


def test_a_mask_takes_its_share_from_air_and_changes_no_crowding() -> None:
    """The magnetic field does not see dielectrics."""
    bare = shapes.microstrip(width_mm=0.2, height_mm=0.1, thickness_mm=0.035, er=4.0)
    coated = shapes.microstrip(
        width_mm=0.2,
        height_mm=0.1,
        thickness_mm=0.035,
        er=4.0,
        mask=Mask(er=3.5, on_laminate_mm=0.03, on_trace_mm=0.015),
    )
    a, b = perturb(bare, "single"), perturb(coated, "single")

    assert b.crowding.total_per_mm == pytest.approx(a.crowding.total_per_mm, rel=1e-3)
    assert 0.03 < b.shares.mask < a.shares.air
    assert b.shares.air < a.shares.air


def test_what_has_no_answer_is_refused() -> None:
    """Copper without thickness, a mode of the wrong kind, a lopsided pair."""
    thin = shapes.microstrip(width_mm=0.2, height_mm=0.1, thickness_mm=0, er=4.0)
    with pytest.raises(GeometryError, match="without thickness"):
        perturb(thin, "single")
    pair = offset_pair(upside_down=False)
    with pytest.raises(GeometryError, match='mode "single" of a pair'):
        perturb(pair, "single")
    lopsided = pair.model_copy(
        update={"strips": (pair.strips[0], pair.strips[1].model_copy(update={"centre_mm": 0.2}))}
    )
    with pytest.raises(GeometryError, match="mirror image"):
        perturb(lopsided, "odd")


def coplanar_trapezoid(*, recess_mm: float = 0.0) -> Section:
    """A tapered trace between tapered grounds over a plane, all walls receded by `recess_mm`; filled with air."""
    d = recess_mm
    slope = math.atan2(0.03, 0.01)
    inward = d / math.sin(slope) + d / math.tan(slope)
    base, rise = 0.2 - 2 * inward, 0.03 - 2 * d
    return shapes.coplanar(
        width_mm=base,
        top_width_mm=base - 2 * rise / math.tan(slope),
        ground_gap_mm=0.08 + 2 * inward,
        thickness_mm=rise,
        layers_below=[(0.15 + 2 * d, 1.0)],
    )


def test_coplanar_ground_recedes_with_its_own_walls() -> None:
    """Its corners are as acute as the trace's: all of trace, ground and plane together obey Wheeler's rule."""
    step = 2e-4

    def inverse_capacitance(recess_mm: float) -> float:
        solution = solve(coplanar_trapezoid(recess_mm=recess_mm), 1e-7)
        return 1 / float(solution.relative_air_capacitance[0, 0])

    derivative = (inverse_capacitance(step) - inverse_capacitance(-step)) / (2 * step)
    crowding = perturb(coplanar_trapezoid(), "single").crowding

    assert crowding.total_per_mm == pytest.approx(derivative, rel=2e-3)
    assert crowding.coplanar_per_mm > 0.1 * crowding.total_per_mm


def covered_pair() -> Section:
    return offset_pair(upside_down=False)


def open_pair() -> Section:
    """A pair on two dielectrics without a plane, under mask; every permittivity its own."""
    pair = shapes.microstrip(
        width_mm=0.12,
        gap_mm=0.15,
        thickness_mm=0.02,
        height_mm=0.3,
        er=4.0,
        mask=Mask(er=3.3, on_laminate_mm=0.02, on_trace_mm=0.015),
    )
    layers = tuple(
        pair.layers[0].model_copy(update={"thickness_mm": h, "er": er}) for h, er in ((0.2, 4.0), (0.1, 3.5))
    )
    return pair.model_copy(update={"layers": layers, "plane_below": False})


def floating_line() -> Section:
    """A line between coplanar grounds without a plane: the potential at infinity is unknown."""
    line = shapes.microstrip(width_mm=0.2, thickness_mm=0.02, height_mm=0.3, er=4.0)
    return line.model_copy(update={"plane_below": False, "coplanar_gap_mm": 0.15})


@pytest.mark.parametrize(
    ("section", "drive", "sign"),
    [
        (covered_pair(), (0, 1), -1.0),
        (covered_pair(), (0, 1), 1.0),
        (open_pair(), (0, 1), -1.0),
        (floating_line(), (0,), 1.0),
    ],
    ids=["covered-odd", "covered-even", "open-odd", "floating-line"],
)
def test_slopes_are_differences_of_the_charge(section: Section, drive: tuple[int, ...], sign: float) -> None:
    """Of each layer's permittivity the slope is the central difference of C on the same mesh."""

    def charge(layer: int, step: float) -> float:
        rows = [r.model_copy(update={"er": r.er + step * (k == layer)}) for k, r in enumerate(section.layers)]
        system = assemble(section.model_copy(update={"layers": tuple(rows)}), LADDER[1])
        return float(system.with_image(sign).charges([drive])[0].sum())

    system = assemble(section, LADDER[1])
    total, minus, plus = system.with_image(sign).slopes(drive)

    assert total == pytest.approx(charge(0, 0.0), rel=1e-10)
    for number, layer in enumerate(section.layers):
        slope = minus[system.eps_minus == layer.er].sum() + plus[system.eps_plus == layer.er].sum()
        assert slope > 0
        assert slope == pytest.approx((charge(number, 1e-4) - charge(number, -1e-4)) / 2e-4, rel=1e-6)


def test_kernels_that_wait_are_those_of_the_same_mesh() -> None:
    """A section solved again, after others and with other permittivities, answers as the first time."""
    line = shapes.microstrip(width_mm=0.2, thickness_mm=0.02, height_mm=0.12, er=4.0)
    others = [
        line.model_copy(update={"layers": (line.layers[0].model_copy(update={"er": 3.0}),)}),
        shapes.microstrip(width_mm=0.2, thickness_mm=0.02, height_mm=0.12, er=1.0),  # no interface
        line.model_copy(update={"plane_below": False, "coplanar_gap_mm": 0.15}),
        shapes.microstrip(width_mm=0.21, thickness_mm=0.02, height_mm=0.12, er=4.0),
    ]
    alone = []
    for section in (line, *others):
        _kernels.cache_clear()
        alone.append(solve(section).relative_capacitance)

    _kernels.cache_clear()
    together = [solve(section).relative_capacitance for section in (line, *others, *others[::-1], line)]

    assert [c.tolist() for c in together] == [c.tolist() for c in (*alone, *alone[:0:-1], alone[0])]
