"""Widths and gaps for a target are those whose impedance is known, and what cannot be reached says why."""

from __future__ import annotations

import math

import pytest
from scipy.special import ellipk

from stackup_lib.field_solver.sections import GeometryError, Mask
from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.inverse import Unreachable, solve_pair, solve_width
from stackup_lib.transmission_lines.remedy import GAP_MATCH, Remedy, gap_for, remedy_for, thickness_for
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from stackup_lib.transmission_lines.starting import rough_line
from stackup_lib.transmission_lines.width_request import (
    GapPerWidth,
    KeepGap,
    KeepPitch,
    KeepWidth,
    PairRule,
    Target,
    WidthLimits,
)

WIDE = WidthLimits(min_width_mm=0.05, max_width_mm=2.0, min_gap_mm=0.05, max_gap_mm=2.0)


def _inner(
    *, core_mm: float = 0.1, prepreg_mm: float = 0.12, copper_mm: float = 0.0152, dk: float = 3.6
) -> TraceEnvironment:
    return TraceEnvironment(
        layer="In2.Cu",
        reference_below="In3.Cu",
        reference_above="In1.Cu",
        below=(DielectricSheet(name="dielectric 3", kind="core", thickness_mm=core_mm, dk=dk),),
        above=(DielectricSheet(name="dielectric 2", kind="prepreg", thickness_mm=prepreg_mm, dk=dk),),
        copper_mm=copper_mm,
        taper_mm=copper_mm,
    )


def _outer(*, masked: bool = True) -> TraceEnvironment:
    mask = Mask(er=3.8, on_laminate_mm=0.0305, on_trace_mm=0.0152, between_mm=0.0305)
    return TraceEnvironment(
        layer="F.Cu",
        reference_below="In1.Cu",
        below=(DielectricSheet(name="dielectric 1", kind="prepreg", thickness_mm=0.2104, dk=4.4),),
        copper_mm=0.0406,
        taper_mm=0.02,
        mask=mask if masked else None,
    )


def _differential(ohm: float) -> Target:
    return Target(ohm=ohm, kind="differential")


def _thin_pair_ohm(width_mm: float, gap_mm: float, b_mm: float, dk: float) -> float:
    """Zdiff of infinitely thin strips halfway between planes (Cohn 1955, eq. 4 and 5), exact."""
    k = math.tanh(math.pi * width_mm / (2 * b_mm)) / math.tanh(math.pi * (width_mm + gap_mm) / (2 * b_mm))
    return float(2 * 376.730313668 / (4 * math.sqrt(dk)) * ellipk(1 - k * k) / ellipk(k * k))


@pytest.mark.parametrize("width_mm", [0.08, 0.15, 0.4])
def test_the_width_of_an_exactly_known_strip_is_found(width_mm: float) -> None:
    """An infinitely thin strip between planes has an exact solution (Cohn 1954): its impedance gives its width back."""
    site = _inner(core_mm=0.15, prepreg_mm=0.15, copper_mm=0.0)
    k = 1 / math.cosh(math.pi * width_mm / 0.6)
    ohm = 376.730313668 / (4 * math.sqrt(3.6)) * ellipk(k * k) / ellipk(1 - k * k)
    found = solve_width(site, Target(ohm=ohm), limits=WIDE)
    assert found.gap_mm is None
    assert found.width_mm == pytest.approx(width_mm, rel=8e-4)  # 2e-4 of impedance over a slope of a quarter or more


@pytest.mark.parametrize(
    ("how", "slack"),
    [
        (KeepGap(gap_mm=0.12), 2e-3),
        (KeepPitch(pitch_mm=0.22), 1e-3),
        (GapPerWidth(ratio=1.2), 2e-3),
        (KeepWidth(width_mm=0.1), 4e-3),
    ],
)
def test_an_exactly_known_pair_is_found_by_every_rule(how: PairRule, slack: float) -> None:
    """Whatever of an exact thin pair is kept, the rest of it comes back."""
    site = _inner(core_mm=0.15, prepreg_mm=0.15, copper_mm=0.0)
    found = solve_pair(site, _differential(_thin_pair_ohm(0.1, 0.12, 0.3, 3.6)), WIDE, how=how)
    assert found.width_mm == pytest.approx(0.1, rel=slack)
    assert found.gap_mm == pytest.approx(0.12, rel=slack)


@pytest.mark.parametrize(
    ("ohm", "width_mm", "gap_mm", "coplanar_gap_mm"),
    [(50.4678, 0.345, None, None), (89.7872, 0.285, 0.2, None), (50.4367, 0.29, None, 0.2)],
    ids=["single", "pair", "coplanar"],
)
def test_lines_under_mask_of_another_solver_are_found(
    ohm: float, width_mm: float, gap_mm: float | None, coplanar_gap_mm: float | None
) -> None:
    """Impedances that another field solver gives for masked lines on 0.21 mm lead back to their widths."""
    taper = 0.015 if gap_mm else 0.02
    site = _outer().model_copy(update={"taper_mm": taper})
    target = Target(ohm=ohm, kind="differential" if gap_mm else "single")
    found = solve_width(site, target, gap_mm=gap_mm, coplanar_gap_mm=coplanar_gap_mm, limits=WIDE)
    assert found.width_mm == pytest.approx(width_mm, rel=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("ohm", [75, 85, 90, 100])
@pytest.mark.parametrize("site", [_inner(), _outer(), _outer(masked=False)], ids=["inner", "masked", "bare"])
def test_what_was_found_solves_forward_to_the_target(site: TraceEnvironment, ohm: float) -> None:
    """Solved anew, ten times finer, the pair has the impedance that was requested, to the stated tolerance."""
    found = solve_pair(site, _differential(ohm), WIDE, how=GapPerWidth(ratio=1.0), tolerance=1e-3)
    anew = solve(site.section(found.width_mm, found.gap_mm), 1e-4).impedance_ohm
    assert anew == pytest.approx(ohm, rel=2e-3)
    assert found.impedance_ohm == found.solution.impedance_ohm


def test_a_table_takes_few_solutions() -> None:
    """Three coarse solutions and one fine one, on the average, for six targets on an inner and an outer layer."""
    coarse = fine = 0
    for site in (_inner(), _outer()):
        found = [solve_width(site, Target(ohm=ohm), limits=WIDE, tolerance=1e-3) for ohm in (45, 50)]
        for ohm in (80, 85, 90, 100):
            found.append(solve_pair(site, _differential(ohm), WIDE, how=KeepGap(gap_mm=0.15), tolerance=1e-3))
        coarse += sum(one.solves[0] for one in found)
        fine += sum(one.solves[1] for one in found)
    assert coarse <= 12 * 3.2
    assert fine == 12


@pytest.mark.parametrize(
    "how", [KeepGap(gap_mm=0.12), KeepPitch(pitch_mm=0.22), GapPerWidth(ratio=1.2), KeepWidth(width_mm=0.1)]
)
@pytest.mark.parametrize("site", [_inner(), _outer()], ids=["inner", "masked"])
def test_a_search_goes_on_from_what_was_found_before(site: TraceEnvironment, how: PairRule) -> None:
    """It ends where one from the beginning does, without the coarse solutions and the step between."""
    target = _differential(88)
    start = solve_pair(site, target, WIDE, how=how, tolerance=1e-3)
    found = solve_pair(site, target, WIDE, how=how, tolerance=1e-4, start=start)
    anew = solve_pair(site, target, WIDE, how=how, tolerance=1e-4)
    assert found.impedance_ohm == pytest.approx(88, rel=1e-4)
    assert (found.width_mm, found.gap_mm) == pytest.approx((anew.width_mm, anew.gap_mm), rel=1e-3)
    assert found.solves == (0, 1)


def test_the_closed_form_starts_near_the_truth() -> None:
    """The start is within 15 % of the solver over the range of ordinary lines, or the search would be long."""
    for site in (_inner(), _outer(masked=False)):
        for width, gap in ((0.08, None), (0.2, None), (0.5, None), (0.1, 0.1), (0.15, 0.2), (0.3, 0.3)):
            truth = solve(site.section(width, gap), 1e-3).impedance_ohm
            assert rough_line(site)(width, gap) == pytest.approx(truth, rel=0.15)


def test_too_narrow_a_trace_says_which_dielectric_would_do() -> None:
    """The remedy is solved, not guessed: with it, the trace at the limit has the target impedance."""
    limits = WIDE.model_copy(update={"min_width_mm": 0.075})
    with pytest.raises(Unreachable) as caught:
        solve_pair(_inner(core_mm=0.075), _differential(110), limits, how=KeepGap(gap_mm=0.15))
    error = caught.value
    assert error.width_mm == 0.075
    (remedy,) = error.remedy.dielectrics
    assert remedy.plane == "In3.Cu"
    assert remedy.from_mm == 0.075
    mended = _inner(core_mm=remedy.to_mm).section(0.075, 0.15)
    assert solve(mended).impedance_ohm == pytest.approx(110, rel=1e-3)
    here = solve(_inner(core_mm=0.075).section(0.075, 0.15)).impedance_ohm
    assert error.nearest_ohm == pytest.approx(here, rel=1e-3)
    for word in ("In2.Cu", "110 ohm differential", "narrower than 0.075 mm", "in place of 0.075 mm to In3.Cu"):
        assert word in str(error)


def test_a_pair_that_needs_more_is_told_the_wider_gap_too() -> None:
    """Where the narrowest pair has too little impedance, spreading it costs nothing: the gap that does it is solved."""
    limits = WidthLimits(min_width_mm=0.1, max_width_mm=0.3, min_gap_mm=0.1, max_gap_mm=0.5)
    with pytest.raises(Unreachable, match=r"a gap of .* in place of 0.1 mm or a dielectric of") as caught:
        solve_pair(_inner(), _differential(95), limits, how=KeepGap(gap_mm=0.1))
    assert caught.value.remedy.gap_mm is not None
    before, after = caught.value.remedy.gap_mm
    assert before == 0.1
    assert solve(_inner().section(0.1, after)).impedance_ohm == pytest.approx(95, rel=1e-3)
    with pytest.raises(Unreachable) as caught:
        solve_pair(_inner(), _differential(110), limits, how=KeepGap(gap_mm=0.1))
    assert caught.value.remedy.gap_mm is None
    assert solve(_inner().section(0.1, 0.5)).impedance_ohm < 110


def test_too_wide_a_trace_wants_a_thinner_dielectric() -> None:
    """At the widest trace allowed a thinner dielectric brings the impedance down."""
    limits = WIDE.model_copy(update={"max_width_mm": 0.3})
    with pytest.raises(Unreachable, match=r"wider than 0.3 mm") as caught:
        solve_width(_outer(), Target(ohm=30), limits=limits)
    (remedy,) = caught.value.remedy.dielectrics
    assert remedy.to_mm < remedy.from_mm == 0.2104
    below = (_outer().below[0].model_copy(update={"thickness_mm": remedy.to_mm}),)
    mended = _outer().model_copy(update={"below": below}).section(0.3)
    assert solve(mended).impedance_ohm == pytest.approx(30, rel=1e-3)


def test_where_one_side_is_not_enough_both_are_changed() -> None:
    """With one plane near, moving the other away reaches only so far; both together reach further."""
    limits = WIDE.model_copy(update={"min_width_mm": 0.1})
    with pytest.raises(Unreachable, match=r"to In3.Cu and .* to In1.Cu would reach") as caught:
        solve_width(_inner(), Target(ohm=75), limits=limits)
    near, far = caught.value.remedy.dielectrics
    assert (near.from_mm, far.from_mm) == (0.1, 0.12)
    assert far.to_mm / 0.12 == pytest.approx(near.to_mm / 0.1)
    mended = _inner(core_mm=near.to_mm, prepreg_mm=far.to_mm).section(0.1)
    assert solve(mended).impedance_ohm == pytest.approx(75, rel=1e-3)
    five_times = _inner(core_mm=0.5).section(0.1)
    assert solve(five_times).impedance_ohm < 75


def _thick_pair() -> TraceEnvironment:
    """Heavy copper between planes: at a gap of a third of the width its impedance peaks at a width near 0.25 mm."""
    return _inner(core_mm=0.3, prepreg_mm=0.3, copper_mm=0.06)


def test_a_pair_is_found_beyond_the_peak_of_its_ratio() -> None:
    """The narrowest pairs of a ratio may have less impedance than wider ones; the limit is then no dead end."""
    site, ratio = _thick_pair(), 0.33
    ohms = [solve(site.section(w, ratio * w), 1e-3).impedance_ohm for w in (0.125, 0.25, 0.6)]
    assert ohms[1] > max(ohms[0], ohms[2])
    limits = WidthLimits(min_width_mm=0.065, max_width_mm=2.0, min_gap_mm=0.02)
    for ohm in (ohms[1] * 0.999, ohms[2]):
        found = solve_pair(site, _differential(ohm), limits, how=GapPerWidth(ratio=ratio))
        assert found.impedance_ohm == pytest.approx(ohm, rel=1.001e-4)
    assert found.width_mm == pytest.approx(0.6, rel=2e-3)
    with pytest.raises(Unreachable, match="another ratio of gap to width") as caught:
        solve_pair(site, _differential(ohms[1] * 1.1), limits, how=GapPerWidth(ratio=ratio))
    assert caught.value.nearest_ohm == pytest.approx(ohms[1], rel=0.02)
    assert caught.value.nearest_ohm > max(ohms[0], ohms[2])


def test_a_step_of_the_coarse_mesh_does_not_trap_the_search() -> None:
    """Thin copper under mask, far apart: the coarse impedance steps over the target, the fine one decides."""
    mask = Mask(er=3.5, on_laminate_mm=0.034, on_trace_mm=0.0105, between_mm=0.0308)
    below = (DielectricSheet(name="1", kind="core", thickness_mm=0.14876, dk=2.47),)
    change = {"below": below, "copper_mm": 0.01243, "taper_mm": 0.00373, "mask": mask}
    limits = WidthLimits(min_width_mm=0.04, max_width_mm=2, max_gap_mm=16)
    for ohm in (45.0, 45.1):
        how = GapPerWidth(ratio=1.7591)
        found = solve_pair(_outer().model_copy(update=change), _differential(ohm), limits, how=how, tolerance=1e-3)
        assert found.impedance_ohm == pytest.approx(ohm, rel=max(1.001e-3, found.solution.error_estimate))


def test_two_traces_far_apart_reach_no_more_than_twice_one() -> None:
    """No gap lifts a pair of given width above twice its single-ended impedance; the error names the widest gap."""
    with pytest.raises(Unreachable, match=r"gap wider than 2 mm") as caught:
        solve_pair(_inner(), _differential(120), WIDE, how=KeepWidth(width_mm=0.1))
    alone = solve(_inner().section(0.1)).impedance_ohm
    assert caught.value.nearest_ohm == pytest.approx(2 * alone, rel=2e-3)


def test_what_no_dielectric_fixes_says_so() -> None:
    """500 ohm is out of reach of any board."""
    with pytest.raises(Unreachable, match="no dielectric") as caught:
        solve_width(_outer(), Target(ohm=500), limits=WIDE)
    assert caught.value.remedy == Remedy(dielectrics=())


def test_a_target_at_the_limit_itself_is_reached() -> None:
    """Rounding does not turn the last possible width into an impossible one."""
    ohm = solve(_inner().section(0.1)).impedance_ohm
    limits = WidthLimits(min_width_mm=0.1, max_width_mm=0.3)
    assert solve_width(_inner(), Target(ohm=ohm), limits=limits).width_mm == pytest.approx(0.1, rel=1e-3)
    only = WidthLimits(min_width_mm=0.1, max_width_mm=0.1)
    assert solve_width(_inner(), Target(ohm=ohm), limits=only).width_mm == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize("ohm", [0.0, -50.0, math.inf, math.nan])
def test_an_impossible_target_is_refused(ohm: float) -> None:
    """Zero, negative and endless impedances are slips of the pen."""
    with pytest.raises(GeometryError, match="target"):
        Target(ohm=ohm)


def test_limits_that_contradict_one_another_are_refused() -> None:
    """Least above largest, nothing at all, a pitch with no room, a ratio below nothing, a gap outside its limits."""
    with pytest.raises(GeometryError, match="width limits"):
        WidthLimits(min_width_mm=0.2, max_width_mm=0.1)
    with pytest.raises(GeometryError, match="width limits"):
        WidthLimits(min_width_mm=0.0, max_width_mm=0.1)
    rules: list[PairRule] = [KeepPitch(pitch_mm=0.06), GapPerWidth(ratio=-1), KeepGap(gap_mm=0), KeepWidth(width_mm=9)]
    for how in rules:
        with pytest.raises(GeometryError):
            solve_pair(_inner(), _differential(85), WIDE, how=how)


def test_kind_and_gap_have_to_agree() -> None:
    """A pair needs a gap, a single line has none."""
    with pytest.raises(GeometryError, match="without a gap"):
        solve_width(_inner(), _differential(85), limits=WIDE)
    with pytest.raises(GeometryError, match="with a gap"):
        solve_width(_inner(), Target(ohm=50), gap_mm=0.1, limits=WIDE)
    with pytest.raises(GeometryError, match="asked of a pair"):
        solve_pair(_inner(), Target(ohm=50), WIDE, how=KeepGap(gap_mm=0.1))


def test_a_trace_that_etching_takes_wholly_is_no_candidate() -> None:
    """With 0.3 mm of taper no width up to 0.2 mm leaves a top."""
    site = _inner().model_copy(update={"taper_mm": 0.3})
    with pytest.raises(GeometryError, match="etching takes"):
        solve_width(site, Target(ohm=50), limits=WidthLimits(min_width_mm=0.05, max_width_mm=0.2))


def test_sites_that_cannot_be_are_refused_before_the_search() -> None:
    """A dielectric of nothing, none at all, or less than nothing of copper is named, not stumbled over."""
    for update in ({"thickness_mm": 0.0}, {"thickness_mm": -0.1}, {"dk": 0.0}):
        below = (_outer().below[0].model_copy(update=update),)
        with pytest.raises(GeometryError):
            solve_width(_outer().model_copy(update={"below": below}), Target(ohm=50), limits=WIDE)
    for change in ({"below": ()}, {"copper_mm": -0.01}, {"reference_below": None}):
        with pytest.raises(GeometryError):
            solve_width(_outer(masked=False).model_copy(update=change), Target(ohm=50), limits=WIDE)


def test_a_gap_is_advised_beside_coplanar_ground_too() -> None:
    """Gap and dielectric that would do it are solved with the ground next to the pair, which lowers its impedance."""
    site, sizes = _outer(masked=False), (0.15, 0.12, 0.15)
    here = solve(site.section(*sizes)).impedance_ohm
    gap = gap_for(site, here * 1.03, sizes, 1.0)
    assert gap is not None
    assert solve(site.section(0.15, gap, 0.15)).impedance_ohm == pytest.approx(here * 1.03, rel=1e-3)
    (sheet,) = thickness_for(site, here * 1.02, *sizes)
    below = (site.below[0].model_copy(update={"thickness_mm": sheet.to_mm}),)
    mended = site.model_copy(update={"below": below}).section(*sizes)
    assert solve(mended).impedance_ohm == pytest.approx(here * 1.02, rel=1e-3)


def test_no_gap_is_advised_to_a_pair_that_has_enough_impedance() -> None:
    """A wider gap raises impedance: it is no remedy where there is too much."""
    here = solve(_inner().section(0.1, 0.1)).impedance_ohm
    assert gap_for(_inner(), here * 0.95, (0.1, 0.1, None), 0.5) is None
    assert remedy_for(_inner(), here * 0.95, (0.1, 0.1, None), 0.5).gap_mm is None


def test_an_advised_gap_is_accurate_to_a_thousandth_of_itself() -> None:
    """Small gaps are found as accurately as wide ones: the impedance of a known gap gives that gap."""
    ohm = solve(_inner().section(0.02, 0.024), 1e-4).impedance_ohm
    gap = gap_for(_inner(), ohm, (0.02, 0.02, None), 0.1)
    assert gap == pytest.approx(0.024, rel=5 * GAP_MATCH)
