"""What `stackwright pdn` prints of a rail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from drc_rules.report.numbers import figure
from drc_rules.report.pdn_rows import PdnExcess, PdnPeak, PdnPoint, PdnRow
from stackup_lib.core.interval import Interval
from stackwright.drawing.pdn_chart import decades
from stackwright.text.frequencies import frequency
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import some

MOST_PEAKS = 8
"""Peaks that the text lists: those above the target first, then the highest."""


@dataclass(frozen=True)
class Unsolved:
    """A rail without a curve: what is not known, and what to do."""

    net: str
    what: str
    cure: str


def pdn_page(board: Path, rows: Sequence[PdnRow], unsolved: Sequence[Unsolved], *, verbose: bool) -> Page:
    """Return the page of some rails."""
    page = Page()
    page.line(styled("PDN impedance", "bold"), f"  of {board.name}")
    for row in rows:
        _rail(page, row, verbose=verbose)
    for one in unsolved:
        page.gap()
        page.line(styled(one.net, "bold"), styled("  no impedance, as this is not known: ", "yellow"), one.what)
        page.line(f"next: {one.cure}", indent=2)
    return page


def _rail(page: Page, row: PdnRow, *, verbose: bool) -> None:
    page.heading(row.net, f"seen at {'the die of ' if row.at_die else ''}{row.load}, back through {row.ground}")
    page.rows([Column(), Column(wraps=True)], list(_facts(row)))
    page.gap()
    _table(page, row)
    _peaks(page, row)
    _excess(page, row)
    if verbose:
        _capacitors(page, row)
    page.gap()
    page.line(f"assumed: {'; '.join(row.assumed)}", indent=2)
    if row.missing:
        page.line(styled("not declared: ", "yellow"), "; ".join(one.what for one in row.missing), indent=2)
        lines = [line for one in row.missing for line in one.lines]
        if lines:
            where = "" if lines[0] == "[[rail]]" else f", in the [[rail]] of {row.net}"
            page.line(f"to declare in stackwright.toml{where}:", indent=2)
            page.verbatim(lines, indent=4)
    if not verbose:
        page.line("-v lists every capacitor; --format svg draws the curve", indent=2)


def _facts(row: PdnRow) -> Iterator[tuple[str, str]]:
    target = row.target
    if target is None:
        yield "target", "none: declare voltage_v, ripple_pct and step_a of the [[rail]], or give --target MOHM"
    else:
        yield "target", f"{figure(target.mohm)} mOhm, {target.source}"
        yield "judged", f"{frequency(target.from_hz)} to {frequency(target.up_to_hz)}; {target.up_to_source}"
    if target is not None and row.worst_mohm is not None:
        yield "largest", f"{_range(row.worst_mohm)} mOhm in that range: {_standing(row)}"
    yield "regulator", row.regulator
    pairs = [
        f"{one.rail_layer} with {one.ground_layer} {figure(one.area_mm2)} mm2, {figure(one.spacing_mm)} mm"
        for one in row.pairs
    ]
    yield "planes", f"{some(pairs, 3)}; {figure(row.planes_nf)} nF together"
    yield "capacitors", ", ".join(f"{one.count} x {one.group}" for one in row.groups) or "none on the rail"
    for reason, names in row.left_out.items():
        yield "left out", f"{some(list(names), 4)}: {reason}"
    start = "capacitors" if row.groups else "regulator"
    yield "planes and vias", f"{figure(row.spreading_ph)} pH from the {start} to the load"


def _standing(row: PdnRow) -> str:
    worst, target = row.worst_mohm, row.target
    if worst is None or target is None:
        return ""
    if worst.nominal <= target.mohm and any(not one.narrows for one in row.missing):
        return "inside, on assumed values"
    if worst.nominal <= target.mohm:
        return "inside" if worst.high <= target.mohm else "inside, with the range reaching above"
    if worst.low > target.mohm and row.lacks_parts:
        return "above; the parts that are left out may lower it"
    return "above, whatever the range" if row.is_surely_above else "above, with the range reaching below"


def _table(page: Page, row: PdnRow) -> None:
    head = ("frequency", "|Z| mOhm", "lowest", "highest", "")
    columns = [Column(right=True)] * 4 + [Column(wraps=True)]
    page.rows(columns, [_line(row, point) for point in decades(row)], head=head)


def _line(row: PdnRow, point: PdnPoint) -> tuple[str, ...]:
    ends = (figure(point.mohm.nominal), figure(point.mohm.low), figure(point.mohm.high))
    target = row.target
    word = ""
    if target is not None and target.from_hz <= point.hz <= target.up_to_hz and point.mohm.nominal > target.mohm:
        word = "above the target"
    return frequency(point.hz), *ends, word


def _peaks(page: Page, row: PdnRow) -> None:
    if not row.peaks:
        return
    shown = sorted(row.peaks, key=lambda one: (not one.is_above, -one.mohm.nominal))[:MOST_PEAKS]
    page.gap()
    head = ("peak", "|Z| mOhm", "range", "made by")
    columns = [Column(right=True), Column(right=True), Column(), Column(wraps=True)]
    lines = [_peak(one) for one in sorted(shown, key=lambda one: one.hz)]
    page.rows(columns, lines, head=head)


def _peak(one: PdnPeak) -> tuple[str, ...]:
    span = f"{figure(one.mohm.low, 2)} to {figure(one.mohm.high, 2)}"
    above = "; above the target" if one.is_above else ""
    return frequency(one.hz), figure(one.mohm.nominal), span, one.cause + above


def _excess(page: Page, row: PdnRow) -> None:
    if not row.excess:
        return
    page.gap()
    for one in row.excess:
        page.line(styled("above the target ", "bold"), _told(one, has_capacitors=bool(row.groups)), indent=2)


def _told(one: PdnExcess, *, has_capacitors: bool) -> str:
    cure = "" if has_capacitors else "the rail has no capacitor"
    if one.count:
        cure = f"{one.count} more {one.remedy} where the nearest is, mounted like the best of them, bring it below"
    cure = one.note or cure
    return f"from {frequency(one.from_hz)} to {frequency(one.to_hz)}, up to {figure(one.worst_mohm)} mOhm: {cure}"


def _capacitors(page: Page, row: PdnRow) -> None:
    page.gap()
    head = ("part", "value", "size", "uF on the rail", "ESR mOhm", "ESL nH", "mounting nH", "data")
    lines = [
        (
            one.reference,
            one.value,
            one.size,
            _span(one.uf),
            _span(one.esr_mohm),
            figure(one.esl_nh.nominal, 2),
            figure(one.mounting_nh.nominal, 2),
            one.source,
        )
        for one in row.capacitors
    ]
    columns = [Column()] * 3 + [Column(right=True)] * 4 + [Column(wraps=True)]
    page.rows(columns, lines, head=head)
    page.line("data of ESR and ESL: measured parts of the size, or the band of parts of the size", indent=2)
    for bias in dict.fromkeys(one.bias for one in row.capacitors):
        names = [one.reference for one in row.capacitors if one.bias == bias]
        page.line(f"DC bias of {some(names, 4)}: {bias}", indent=2)


def _span(value: Interval) -> str:
    if value.low == value.high:
        return figure(value.nominal, 2)
    return f"{figure(value.low, 2)} to {figure(value.high, 2)}"


def _range(value: Interval) -> str:
    return f"{figure(value.nominal)} ({figure(value.low)} to {figure(value.high)})"
