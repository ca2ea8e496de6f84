"""What a production makes of an impedance as a drawing: a distribution per geometry, against what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from drc_rules.analysis.impedance.impedance_spread import LineSpread, TargetSpread
from stackup_lib.core.record import record
from stackwright.drawing.axes import Point, Scale, label, named, path
from stackwright.text.words import count

WIDTH, LEFT, RIGHT = 790, 200, 112
TOP, BOTTOM, ROW, CURVE = 40, 26, 84, 52
"""A row is a curve and the words under it."""
MARGIN = 0.115
"""Room left and right of the curves, as a share of them: the words at the bounds need it."""
MOST_LAYERS = 2


@record
class _Chart:
    """A target and where its lines are drawn."""

    target: TargetSpread
    ident: str

    @cached_property
    def height(self) -> int:
        return TOP + ROW * len(self.target.lines) + BOTTOM

    @cached_property
    def x(self) -> Scale:
        """From the least to the most that a line has or is allowed, and a little more."""
        low, high = self.target.band_ohm
        ends = [ohm for line in self.target.lines for ohm in (line.interval_ohm.low, line.interval_ohm.high)]
        least, most = min(low, *ends), max(high, *ends)
        margin = MARGIN * (most - least)
        return Scale(least - margin, most + margin, LEFT, WIDTH - RIGHT)

    @cached_property
    def per_ohm(self) -> float:
        """Highest density of all lines: one scale for them all, so that equal areas are equal shares."""
        return max(density for line in self.target.lines for _, density in line.density)

    def base(self, row: int) -> float:
        return TOP + ROW * row + CURVE + 8


def spread_chart(target: TargetSpread, ident: str) -> str:
    """Return the chart of one target, "" where no line of it is known; `ident` begins its ids."""
    lines = [line for line in target.lines if line.density]
    if not lines:
        return ""
    chart = _Chart(target.model_copy(update={"lines": tuple(lines)}), ident)
    parts = [
        f'<svg class="chart spread" viewBox="0 0 {WIDTH} {chart.height}" role="img" '
        f'aria-labelledby="{ident}title" aria-describedby="{ident}told">',
        *named(ident, f"Impedance in production, {asked(target)}", "; ".join(describe(line) for line in lines)),
        "<defs>",
        f'<pattern id="{ident}outside" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M0 0h6v6H0z" class="out"/><path d="M0 6L6 0M-1 1L1 -1M5 7L7 5" class="out-line"/></pattern>',
        "</defs>",
        *_band(chart),
    ]
    for row, line in enumerate(lines):
        parts += _row(chart, row, line)
    return "\n".join([*parts, *_axis(chart), "</svg>"])


def asked(target: TargetSpread) -> str:
    """Return `85 ohm +-5 %, differential`."""
    kind = ", differential" if target.kind == "differential" else ""
    return f"{target.target_ohm:g} ohm +-{target.tolerance_pct:g} %{kind}"


def describe(line: LineSpread) -> str:
    """Return `In2.Cu, 0.094/0.13 mm: 87.8 ohm, 63 % inside, 42 to 75 % if the model is off`."""
    found = f"{share(line)} inside, {share_range(line)} if the model is off"
    return f"{layers(line)}, {geometry(line)}: {line.nominal_ohm:.1f} ohm, {found}"


def geometry(line: LineSpread) -> str:
    """Return `0.094/0.13 mm`."""
    gap = f"/{line.gap_mm:g}" if line.gap_mm is not None else ""
    return f"{line.width_mm:g}{gap} mm"


def layers(line: LineSpread) -> str:
    """Return the layers, the first few by name."""
    rest = len(line.layers) - MOST_LAYERS
    return ", ".join(line.layers[:MOST_LAYERS]) + (f" and {rest} more" if rest > 0 else "")


def share(line: LineSpread) -> str:
    """Return the share inside what is allowed: `63 %`."""
    return percent(line.inside.nominal)


def share_range(line: LineSpread) -> str:
    """Return `42 to 75 %`: what the share is if the model is off by what it does not know."""
    low, high = percent(line.inside.low), percent(line.inside.high)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def percent(found: float) -> str:
    """Return a share in percent: all or nothing are said of nothing less."""
    if found > 0.995:
        return "over 99 %"
    return "under 1 %" if found < 0.005 else f"{100 * found:.0f} %"


def _band(chart: _Chart) -> Iterator[str]:
    low, high = (chart.x.at(ohm) for ohm in chart.target.band_ohm)
    middle, foot = chart.x.at(chart.target.target_ohm), chart.height - BOTTOM
    pct = chart.target.tolerance_pct
    yield f'<path class="allowed" d="M{low:.1f} {TOP - 6}H{high:.1f}V{foot}H{low:.1f}z"/>'
    for x, words, at in ((low, f"-{pct:g} %", "high"), (high, f"+{pct:g} %", "low")):
        yield f'<path class="bound" d="M{x:.1f} {TOP - 6}V{foot}"/>'
        yield f'<text class="mark {at}" x="{x + (5 if at == "low" else -5):.1f}" y="{TOP - 12}">{words}</text>'
    yield f'<path class="bound" d="M{middle:.1f} {TOP - 6}V{foot}"/>'
    yield f'<text class="mark" x="{middle:.1f}" y="{TOP - 12}">{chart.target.target_ohm:g} ohm</text>'
    yield f'<text class="mark low" x="{WIDTH - RIGHT + 12}" y="{TOP - 12}">inside</text>'


def _row(chart: _Chart, row: int, line: LineSpread) -> Iterator[str]:
    base = chart.base(row)
    points = _cut([(ohm, base - CURVE * density / chart.per_ohm) for ohm, density in line.density], *chart.x.ends)
    low, high = chart.target.band_ohm
    for start, end, fill in ((0.0, low, "outside"), (low, high, ""), (high, 1e6, "outside")):
        part = _cut(points, start, end)
        if len(part) > 1:
            outline = [(part[0][0], base), *part, (part[-1][0], base)]
            drawn = path(((chart.x.at(ohm), y) for ohm, y in outline), closed=True)
            how = f'fill="url(#{chart.ident}{fill})"' if fill else 'class="inside"'
            yield f'<path {how} d="{drawn}"/>'
    yield f'<path class="total" d="{path((chart.x.at(ohm), y) for ohm, y in points)}"/>'
    yield f'<path class="axis" d="M{LEFT} {base:.1f}H{WIDTH - RIGHT}"/>'
    yield from _nominal(chart, line, base)
    yield f'<text class="name" x="{LEFT - 12}" y="{base - 16:.1f}">{label(layers(line), 26)}</text>'
    yield f'<text class="small" x="{LEFT - 12}" y="{base:.1f}">{geometry(line)}, {count(line.nets, "net")}</text>'
    x = WIDTH - RIGHT + 12
    yield f'<text class="share" x="{x}" y="{base - 14:.1f}">{share(line)}</text>'
    if share_range(line) != share(line):
        yield f'<text class="small left" x="{x}" y="{base:.1f}">{share_range(line)}</text>'


def _nominal(chart: _Chart, line: LineSpread, base: float) -> Iterator[str]:
    """Mark the nominal impedance, and below it by how much all of the curve may lie off."""
    x = chart.x.at(line.nominal_ohm)
    off = line.nominal_ohm * line.model_pct / 100
    a, b = max(chart.x.at(line.nominal_ohm - off), LEFT), min(chart.x.at(line.nominal_ohm + off), WIDTH - RIGHT)
    y = base + 7
    yield f'<path class="range" d="M{a:.1f} {y - 3:.1f}v6M{a:.1f} {y:.1f}H{b:.1f}M{b:.1f} {y - 3:.1f}v6"/>'
    yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    yield f'<text class="end halo" x="{b + 6:.1f}" y="{y + 4:.1f}">{line.nominal_ohm:.1f} ohm nominal</text>'


def _axis(chart: _Chart) -> Iterator[str]:
    foot = chart.height - BOTTOM
    for ohm in chart.x.ticks(8):
        x = chart.x.at(ohm)
        yield f'<path class="grid" d="M{x:.1f} {foot}v4"/>'
        yield f'<text class="tick x" x="{x:.1f}" y="{foot + 17}">{ohm:g}</text>'
    yield f'<path class="axis" d="M{LEFT} {foot}H{WIDTH - RIGHT}"/>'
    yield f'<text class="tick" x="{WIDTH - RIGHT + 12}" y="{foot + 17}">ohm</text>'


def _cut(points: Sequence[Point], start: float, end: float) -> list[Point]:
    """Return what of a line lies between two impedances, its ends interpolated."""
    found: list[Point] = []
    for (a, ya), (b, yb) in pairwise(points):
        low, high = max(a, start), min(b, end)
        if low < high:
            at = [(ohm, ya + (yb - ya) * (ohm - a) / (b - a)) for ohm in (low, high)]
            found += at if not found else at[1:]
    return found
