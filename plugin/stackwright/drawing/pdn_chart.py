"""A rail's impedance over frequency as a drawing, both axes logarithmic: nominal, range, target, peaks with causes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from drc_rules.report.numbers import figure
from drc_rules.report.pdn_rows import PdnPoint, PdnRow
from stackwright.drawing.axes import Point, Scale, between, label, named, path
from stackwright.text.frequencies import frequency

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 24, 34, 34
LOWEST_MOHM = 1e-3
MOST_NAMED = 5
"""Peaks that get a number in the drawing; the text lists all."""

STYLE = """
.pdn { --sw-text: #1c2430; --sw-muted: #566172; --sw-paper: #fff; --sw-line: #1f5fa8; --sw-band: #1f5fa8;
  --sw-limit: #b3261e; --sw-grid: #d7dbe2; background: var(--sw-paper);
  font: 12px/1 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
@media (prefers-color-scheme: dark) { .pdn { --sw-text: #e4e8ee; --sw-muted: #a3adbb; --sw-paper: #14181f;
  --sw-line: #7db3f0; --sw-band: #7db3f0; --sw-limit: #ff8a80; --sw-grid: #333a46; } }
@media print { .pdn { --sw-text: #000; --sw-muted: #444; --sw-paper: #fff; --sw-line: #1f5fa8; --sw-band: #1f5fa8;
  --sw-limit: #b3261e; --sw-grid: #ccc; print-color-adjust: exact; } }
.pdn text { fill: var(--sw-text); }
.pdn .tick { fill: var(--sw-muted); }
.pdn .x { text-anchor: middle; }
.pdn .y { text-anchor: end; }
.pdn .grid { stroke: var(--sw-grid); stroke-width: 1; fill: none; }
.pdn .axis { stroke: var(--sw-muted); stroke-width: 1; fill: none; }
.pdn .total { stroke: var(--sw-line); stroke-width: 2; fill: none; }
.pdn .band { fill: var(--sw-band); fill-opacity: 0.16; stroke: none; }
.pdn .limit { stroke: var(--sw-limit); stroke-width: 2; fill: none; stroke-dasharray: 6 4; }
.pdn .limit-word { fill: var(--sw-limit); font-weight: 600; }
.pdn .dot { fill: var(--sw-line); }
"""


@dataclass(frozen=True)
class _Chart:
    """A rail and where its curve is drawn."""

    row: PdnRow

    @cached_property
    def x(self) -> Scale:
        points = self.row.points
        return Scale(math.log10(points[0].hz), math.log10(points[-1].hz), LEFT, WIDTH - RIGHT)

    @cached_property
    def y(self) -> Scale:
        """From the decade below the least of the range, or the target, to the one above the most."""
        values = [end for point in self.row.points for end in (point.mohm.low, point.mohm.high)]
        values += [self.row.target.mohm] if self.row.target else []
        low, high = max(min(values), LOWEST_MOHM), max(values)
        return Scale(math.floor(math.log10(low)), math.ceil(math.log10(high) + 0.05), HEIGHT - BOTTOM, TOP)

    def point(self, hz: float, mohm: float) -> Point:
        return self.x.at(math.log10(hz)), self.y.at(math.log10(max(mohm, LOWEST_MOHM)))

    def line(self, end: str) -> list[Point]:
        return [self.point(point.hz, getattr(point.mohm, end)) for point in self.row.points]


def pdn_chart(row: PdnRow, ident: str, *, alone: bool = False) -> str:
    """Return the chart of a rail.

    Args:
        row: with a curve.
        ident: begins the ids in it, of which a page has one each.
        alone: it is a file of its own, with its style and name space; a page has its own style.
    """
    chart = _Chart(row)
    space = 'xmlns="http://www.w3.org/2000/svg" ' if alone else ""
    parts = [
        f'<svg {space}class="chart pdn" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="{ident}title" aria-describedby="{ident}told">',
        *named(ident, f"Impedance of {row.net} over frequency at {row.load}", describe(row)),
        *([f"<style>{STYLE}</style>"] if alone else []),
        *_grid(chart),
        f'<path class="band" d="{between(chart.line("low"), chart.line("high"))}"/>',
        f'<path class="total" d="{path(chart.line("nominal"))}"/>',
        *_target(chart),
        *_peaks(chart),
        f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>',
        f'<text x="{LEFT}" y="{TOP - 16}">|Z| of {label(row.net)} at {label(row.load)}, mOhm</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def no_chart(net: str, what: str) -> str:
    """Return a drawing that says what is missing, as a file of its own."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart pdn" viewBox="0 0 {WIDTH} 56" role="img">',
            f"<style>{STYLE}</style>",
            f'<text x="8" y="22">{label(net)}: no impedance, as this is not known:</text>',
            f'<text x="8" y="42">{label(what, 110)}</text>',
            "</svg>",
        ]
    )


def describe(row: PdnRow) -> str:
    """Return what the chart shows in sentences."""
    said = [f"{frequency(one.hz)}: {figure(one.mohm.nominal)} mOhm" for one in decades(row)]
    said += [f"peak of {figure(one.mohm.nominal)} mOhm at {frequency(one.hz)}, {one.cause}" for one in row.peaks]
    target = (
        f" The target is {figure(row.target.mohm)} mOhm up to {frequency(row.target.up_to_hz)}." if row.target else ""
    )
    return f"{'; '.join(said)}.{target}"


def decades(row: PdnRow) -> list[PdnPoint]:
    """Return the point nearest to each power of ten."""
    first, last = math.log10(row.points[0].hz), math.log10(row.points[-1].hz)
    powers = range(math.ceil(first - 1e-6), math.floor(last + 1e-6) + 1)
    return [min(row.points, key=lambda one: abs(math.log10(one.hz) - power)) for power in powers]


def _grid(chart: _Chart) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for power in range(round(chart.y.low), round(chart.y.high) + 1):
        y = chart.y.at(power)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text class="tick y" x="{LEFT - 8}" y="{y + 4:.1f}">{10.0**power:g}</text>'
    for power in range(math.ceil(chart.x.low - 1e-6), math.floor(chart.x.high + 1e-6) + 1):
        x = chart.x.at(power)
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>'
        yield f'<text class="tick x" x="{x:.1f}" y="{bottom + 18}">{frequency(10.0**power)}</text>'


def _target(chart: _Chart) -> Iterator[str]:
    target = chart.row.target
    if target is None:
        return
    (left, y), (right, _) = (chart.point(hz, target.mohm) for hz in (target.from_hz, target.up_to_hz))
    yield f'<path class="limit" d="M{left:.1f} {y:.1f}H{right:.1f}v-6v12"/>'
    yield f'<text class="limit-word" x="{left + 6:.1f}" y="{y - 7:.1f}">target {figure(target.mohm)} mOhm</text>'


def _peaks(chart: _Chart) -> Iterator[str]:
    for peak in sorted(chart.row.peaks, key=lambda one: (not one.is_above, -one.mohm.nominal))[:MOST_NAMED]:
        x, y = chart.point(peak.hz, peak.mohm.nominal)
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{label(peak.cause, 120)}</title></circle>'
        yield f'<text class="x" x="{x:.1f}" y="{y - 9:.1f}">{frequency(peak.hz)}</text>'
