"""The impedance and backdrill tables of a report as text, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.report.link_rows import BackdrillRow, LinkImpedance
from stackup_lib.core.interval import Interval
from stackwright.text.words import count, some

IMPEDANCE_HEAD = ("Interface", "Target", "Links", "Mean by length", "Worst deviation")
BACKDRILL_SHORT = ("From", "Holes", "Must cut", "Must keep", "Depth, mm", "Stub, mm", "Or leave on")
BACKDRILL_HEAD = ("From", "Must cut", "Must not cut", "Holes", "Depth", "Stub left", "Remark")


def impedance_rows(rows: Sequence[LinkImpedance]) -> Iterator[tuple[str, ...]]:
    """Yield a row per target: the target, how many links, the range of their means, the worst section of all."""
    of_target: dict[tuple[str, float, str], list[LinkImpedance]] = {}
    for row in rows:
        of_target.setdefault((row.target, row.target_ohm, row.kind), []).append(row)
    for links in of_target.values():
        first = links[0]
        yield first.target, asked(first), _links(links), _means(links), _farthest(links)


def asked(row: LinkImpedance) -> str:
    """Return `85 ohm +-10 %`."""
    return f"{row.target_ohm:g} ohm +-{row.tolerance_pct:g} %"


def mean(row: LinkImpedance) -> str:
    """Return `84.9 ohm (82.5 to 87.3)`."""
    found = row.mean_ohm
    return f"{found.nominal:.1f} ohm ({found.low:.1f} to {found.high:.1f})" if found else ""


def worst(row: LinkImpedance) -> str:
    """Return `86.1 ohm (+1 %) on F.Cu, 0.174/0.15 mm for 12.3 mm`, or why there is none."""
    if row.problem:
        return row.problem
    section = row.worst
    if section is None:
        return _nothing_counts(row)
    gap = f"/{section.gap_mm:g}" if section.gap_mm is not None else ""
    off = f"{section.impedance_ohm:.1f} ohm ({round(row.off_pct):+d} %)"
    return f"{off} on {section.layer}, {section.width_mm:g}{gap} mm for {section.length_mm:.1f} mm"


def _nothing_counts(row: LinkImpedance) -> str:
    """Return why no section of a link counts: what most of it is."""
    if row.over_holes_mm > max(row.forgiven_mm, row.uncoupled_mm):
        return "no plane above or below it"
    together = row.length_mm - row.over_holes_mm - row.uncoupled_mm
    return "its traces run apart" if row.uncoupled_mm > together else "too short to count"


def remarks(row: LinkImpedance) -> str:
    """Return what was ignored, what lies over holes in the planes, and what of a pair is not coupled."""
    parts = (
        (row.forgiven_mm, "allowed"),
        (row.over_holes_mm, "without a plane"),
        (row.uncoupled_mm, "apart"),
    )
    said = [f"{length:.1f} mm {what}" for length, what in parts if length >= 0.05]
    if row.gap_drift_mm > 0:
        said.append(f"gap {row.gap_min_mm:g} to {row.gap_max_mm:g} mm")
    return ", ".join(said)


def backdrill_row(row: BackdrillRow) -> tuple[str, ...]:
    """Return the cells of one depth group."""
    return (
        row.start,
        row.must_cut,
        row.must_not_cut,
        f"{count(row.holes, 'hole')} of {row.hole_mm:g} mm" + (f", drill {row.drill_mm:g} mm" if row.drill_mm else ""),
        f"{row.depth_mm.nominal:.2f} ({span(row.depth_mm)}) mm",
        f"{row.residual_mm.nominal:.2f} (up to {row.residual_mm.high:.2f}) mm",
        "; ".join(_backdrill_remarks(row)),
    )


def backdrill_cells(row: BackdrillRow) -> tuple[str, ...]:
    """Return one depth group as narrow as a terminal is; a star marks a group that is not ordered yet."""
    return (
        row.start,
        f"{row.holes}{'*' if row.is_proposed else ''} of {row.hole_mm:g}",
        row.must_cut,
        row.must_not_cut,
        span(row.depth_mm),
        f"up to {row.residual_mm.high:.2f}",
        row.exit_instead or "",
    )


def _backdrill_remarks(row: BackdrillRow) -> Iterator[str]:
    if row.is_proposed:
        yield "proposed: not in the board file, needed by the stubs"
    if row.exit_instead:
        yield f"leave on {row.exit_instead} instead and no drilling is needed"


def span(interval: Interval) -> str:
    """Return `0.20 to 0.31`."""
    return f"{interval.low:.2f} to {interval.high:.2f}"


def _links(links: Sequence[LinkImpedance]) -> str:
    what = "pair" if links[0].kind == "differential" else "line"
    return count(len(links), what)


def _means(links: Sequence[LinkImpedance]) -> str:
    known = [row.mean_ohm.nominal for row in links if row.mean_ohm]
    if not known:
        return ""
    low, high = f"{min(known):.1f}", f"{max(known):.1f}"
    return f"{low} ohm" if low == high else f"{low} to {high} ohm"


def _farthest(links: Sequence[LinkImpedance]) -> str:
    known = [row for row in links if row.worst]
    unknown = list(dict.fromkeys(row.problem for row in links if row.problem))
    said = [] if not known else [max(known, key=lambda row: (abs(row.off_pct), row.name))]
    text = [f"{worst(row)} of {row.name}" for row in said]
    if unknown:
        many = sum(bool(row.problem) for row in links)
        text.append(f"{many} not known: {some(unknown, 2)}")
    return "; ".join(text) or worst(links[0])
