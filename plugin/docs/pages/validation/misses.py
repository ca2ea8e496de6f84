"""Validation, the misses first: where our values are farthest from others', over all comparisons."""

from __future__ import annotations

from collections.abc import Iterator

from docs.pages.markdown import number, prose, table, title
from tests.support.physics.measured_delay import delays
from tests.support.physics.measured_loss import BEYOND, SOLVERS, points, solver_loss_db_per_inch
from tests.support.physics.openems_pairs import pairs
from tests.support.physics.openems_planes import plane_extremes
from tests.support.physics.openems_via_pairs import via_pairs
from tests.support.physics.openems_vias import vias
from tests.support.physics.published_cases import GROUPS, group_of, outcomes

SHOWN = 8
"""Of each comparison."""

Row = tuple[float, str, str, str, str]
"""Difference in per cent, compared with, case, values, and what explains it."""


def blocks() -> Iterator[str]:
    """Return a table of the largest differences of each comparison."""
    yield title("Predicted against others, the largest misses first", 2)
    yield (
        f"The {SHOWN} largest of each comparison. Loss of measured boards counts as missed where the measured value "
        "lies outside of our interval; a nominal value inside of it may still be far off where the foil is not known. "
        f"Of {len(delays())} delays, those within the range that we state are off by up to "
        f"{max(abs(one.off_pct) for one in delays() if one.in_range):.1f} %; beyond it microstrip disperses, and ours "
        "does not. The data at hand have no impedance that was measured on a board whose cross section and laminate "
        "are both stated: it is held against exact solutions and other programs."
    )
    compared = (_measured(), _delays(), _vias(), _via_pairs(), _planes(), _pairs(), _solvers(), _published())
    rows = [row for found in compared for row in sorted(found, key=_rank)[:SHOWN]]
    header = ("difference, %", "compared with", "case", "theirs and ours", "remark")
    yield table(header, [(number(row[0], "+.2g"), *map(prose, row[1:])) for row in sorted(rows, key=_rank)])


def _rank(row: Row) -> tuple[bool, float]:
    return not row[4].startswith("missed"), -abs(row[0])


def _measured() -> Iterator[Row]:
    for point in points():
        off = 100 * (point.nominal / point.measured - 1)
        values = f"{point.measured:.3g} and {point.nominal:.3g} ({point.low:.3g} to {point.high:.3g}) dB/inch"
        inside = point.low <= point.measured <= point.high
        remark = "inside of our interval" if inside else "missed: outside of our interval"
        beyond = "" if point.in_range else "; beyond the range that we state"
        yield off, "loss, measured board", f"{point.line}, {point.frequency_ghz:g} GHz", values, remark + beyond


def _delays() -> Iterator[Row]:
    for one in delays():
        values = f"{one.measured:.2f} (± {one.uncertainty:.2f}) and {one.ours:.2f} ps/inch"
        remark = one.dk_from + ("" if one.in_range else "; beyond the range that we state")
        yield one.off_pct, "delay, measured board", f"{one.line}, {one.frequency_ghz:g} GHz", values, remark


def _vias() -> Iterator[Row]:
    for one in vias():
        ours = one.ours_ps
        values = f"{one.theirs_ps:.1f} and {ours.nominal:.1f} ({ours.low:.1f} to {ours.high:.1f}) ps"
        inside = ours.low <= one.theirs_ps <= ours.high
        remark = "inside of our interval" if inside else "missed: outside of our interval"
        yield one.off_pct, "delay of a via, openEMS (3-D)", f"{one.name}, 5 GHz", values, remark


def _via_pairs() -> Iterator[Row]:
    for one in via_pairs():
        values = f"{one.theirs_ps:.1f} and {one.ours_ps:.1f} ps"
        remark = "held out" if one.is_held_out else ""
        yield one.off_pct, "delay of a pair of vias, openEMS (3-D)", f"{one.name}, {one.mode}, 5 GHz", values, remark


def _planes() -> Iterator[Row]:
    for one in plane_extremes():
        values = f"{one.theirs_ohm:.3g} and {one.ours_ohm:.3g} ohm"
        where = f"{one.case.replace('_', ' ')}, {one.impedance}, {one.theirs_mhz:.0f} MHz"
        remark = f"ours is at {one.ours_mhz:.0f} MHz"
        yield one.off_pct, f"{one.kind} of a pair of planes, openEMS (3-D)", where, values, remark


def _pairs() -> Iterator[Row]:
    for one in pairs():
        for what, port in (("near-end", "near_other"), ("far-end", "far_other")):
            here = one.crosstalk_at(port)
            values = f"{here.theirs:.3f} and {here.ours:.3f}"
            where = f"{one.name} pair, {here.ghz:g} GHz"
            yield here.off_pct, f"{what} crosstalk, openEMS (3-D)", where, values, ""


def _solvers() -> Iterator[Row]:
    for case in SOLVERS:
        theirs, ours = case["loss_db_per_inch"], solver_loss_db_per_inch(case)
        remark = "their Dk has no frequency" if case["id"] in BEYOND else ""
        where = f"{case['id']}, {case['frequency_ghz']:g} GHz"
        yield 100 * (ours / theirs - 1), "loss, field solver", where, f"{theirs:.3g} and {ours:.3g} dB/inch", remark


def _published() -> Iterator[Row]:
    for one in outcomes():
        if one.difference_pct is not None and one.value is not None and one.reference is not None:
            program = GROUPS[group_of(one)]["solver"]
            values = f"{one.reference:.6g} and {one.value:.6g}"
            yield one.difference_pct, f"impedance, {program}", f"{one.id} {one.quantity}", values, one.reason
