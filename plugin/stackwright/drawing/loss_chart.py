"""Loss over frequency as a drawing: what one link loses part by part, its range, and what the board may lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from drc_rules.analysis.loss.loss_curve import LossCurve, LossPoint
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackwright.drawing.axes import Point, Scale, apart, between, named, path
from stackwright.drawing.budget_bars import PARTS, PATTERNS

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 38, 94, 34, 30
LINE = 13.0
"""Least distance of two lines of text."""
NAME_WIDTH = 70.0
HIGHEST, RESONANT = 2.2, 1.5
"""Worst cases and resonating stubs are cut at this multiple of the board's budget, or of the loss of its lines."""
KEY_WIDTH, KEY_HEIGHT = 760, 24


@record
class _Chart:
    """A curve and where it is drawn."""

    curve: LossCurve
    ident: str
    patterns: str

    @cached_property
    def nyquist_ghz(self) -> float:
        return self.curve.row.nyquist_ghz

    @cached_property
    def share_db(self) -> float | None:
        """What the board may lose, without package and connector."""
        return None if self.share_range_db is None else self.share_range_db.nominal

    @cached_property
    def share_range_db(self) -> Interval | None:
        """The same with the range of what package and connector take."""
        row = self.curve.row
        if row.share_db is None:
            return None
        low, nominal, high = (
            row.share_db - sum(getattr(part.db, end) for part in row.allowances) for end in ("high", "nominal", "low")
        )
        return Interval(low=low, nominal=nominal, high=high)

    @cached_property
    def told(self) -> tuple[LossPoint, ...]:
        """Points up to the resonance of a stub, beyond which no total is known."""
        points = self.curve.points
        end = next((k for k, p in enumerate(points) if p.total_db.nominal is None), len(points))
        return points[:end]

    @cached_property
    def x(self) -> Scale:
        return Scale(0.0, 1.5 * self.nyquist_ghz, LEFT, WIDTH - RIGHT)

    @cached_property
    def y(self) -> Scale:
        return Scale(0.0, self.top_db, HEIGHT - BOTTOM, TOP)

    @cached_property
    def top_db(self) -> float:
        """Highest loss drawn: all of the nominal one, if no stub resonates, and as much of the worst as is readable."""
        lines = max(point.lines_db for point in self.curve.points)
        at = self.curve.at(self.nyquist_ghz)
        nominal = at.total_db.nominal if at and at.total_db.nominal is not None else lines
        is_resonant = len(self.told) < len(self.curve.points)
        most = (RESONANT if is_resonant else HIGHEST) * max(self.share_db or 0.0, nominal, lines)
        highs = [most if p.total_db.high is None else p.total_db.high for p in self.curve.points]
        share = self.share_range_db.high if self.share_range_db else 0.0
        return 1.06 * max(min(max(highs), most), 1.1 * (self.share_db or 0.0), share, 0.1)

    def point(self, ghz: float, db: float | None) -> Point:
        """Return where a loss is; what is without bound lies far above the drawing."""
        return self.x.at(ghz), max(self.y.at(20 * self.top_db if db is None else db), TOP - HEIGHT)


def loss_chart(curve: LossCurve, ident: str, patterns: str) -> str:
    """Return one link's chart.

    Args:
        curve: the link.
        ident: begins the ids in it, of which a page has one each.
        patterns: beginning of the ids that `loss_key` was given.
    """
    chart = _Chart(curve, ident, patterns)
    row = curve.row
    title = f"Loss of {row.name} over frequency, {row.interface}"
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="{ident}title" aria-describedby="{ident}told">',
        *named(ident, title, describe(curve)),
        f'<clipPath id="{ident}plot"><path d="M{LEFT} {TOP}H{WIDTH - RIGHT}V{HEIGHT - BOTTOM}H{LEFT}z"/></clipPath>',
        *_grid(chart),
        f'<g clip-path="url(#{ident}plot)">',
        *_areas(chart),
        *_resonance(chart),
        *_range(chart),
        "</g>",
        f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>',
        *_names(chart),
        *_end_labels(chart),
        *_nyquist(chart),
        "</svg>",
    ]
    return "\n".join(parts)


def loss_key(patterns: str) -> str:
    """Return the key to all loss charts of a board; it holds their patterns, whose ids begin with `patterns`."""
    found = [
        f'<svg class="chart-key" viewBox="0 0 {KEY_WIDTH} {KEY_HEIGHT}" role="img" aria-label="Key to the charts: '
        'dielectric, copper, roughness and vias stacked; nominal total; range; what the board may lose">',
        "<defs>",
        *(
            f'<pattern id="{patterns}{name}" width="6" height="6" patternUnits="userSpaceOnUse">{drawn}</pattern>'
            for name, drawn in PATTERNS.items()
        ),
        "</defs>",
    ]
    x = 2
    for name in PATTERNS:
        found.append(f'<rect x="{x}" y="5" width="14" height="14" fill="url(#{patterns}{name})"/>')
        found.append(f'<text x="{x + 20}" y="16">{name}</text>')
        x += 34 + 7 * len(name)
    for kind, name in (("total", "all, nominal"), ("edge", "best and worst"), ("limit", "may lose at Nyquist")):
        found.append(f'<path class="{kind}" d="M{x} 12h22"/><text x="{x + 28}" y="16">{name}</text>')
        x += 48 + 6 * len(name)
    return "\n".join([*found, "</svg>"])


def describe(curve: LossCurve) -> str:
    """Return what a chart shows in sentences."""
    said = [f"{p.frequency_ghz:g} GHz: {total_words(p)}" for p in curve.figures]
    chart = _Chart(curve, "", "")
    return f"{'; '.join(said)}.{_may_lose(chart)}"


def _may_lose(chart: _Chart) -> str:
    found = chart.share_range_db
    if found is None:
        return ""
    width = f" ({found.low:.1f} to {found.high:.1f})" if found.high > found.low else ""
    return f" The board may lose {found.nominal:.1f} dB{width} at {chart.nyquist_ghz:g} GHz."


def total_words(point: LossPoint) -> str:
    """Return `3.1 dB, 2.4 to 5.5`."""
    total = point.total_db
    if total.nominal is None or total.low is None:
        return "no bound, a stub resonates"
    return f"{total.nominal:.1f} dB, {total.low:.1f} to {'far more' if total.high is None else f'{total.high:.1f}'}"


def _grid(chart: _Chart) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for db in chart.y.ticks(5):
        y = chart.y.at(db)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text class="tick y" x="{LEFT - 6}" y="{y + 4:.1f}">{db:g}</text>'
    for ghz in chart.x.ticks(6):
        x = chart.x.at(ghz)
        yield f'<path class="grid" d="M{x:.1f} {bottom}v4"/>'
        yield f'<text class="tick x" x="{x:.1f}" y="{bottom + 17}">{ghz:g}</text>'
    yield f'<text class="tick y" x="{LEFT - 6}" y="{TOP - 10}">dB</text>'
    yield f'<text class="tick" x="{WIDTH - RIGHT + 14}" y="{bottom + 17}">GHz</text>'


def _stack(chart: _Chart) -> Iterator[tuple[str, Sequence[Point], Sequence[Point]]]:
    """Yield the parts with the lines below and above them, where they are known."""
    sums = dict.fromkeys((p.frequency_ghz for p in chart.curve.points), 0.0)
    for field, name in PARTS:
        known = [(p.frequency_ghz, getattr(p, field)) for p in chart.curve.points]
        until = next((k for k, (_, db) in enumerate(known) if db is None), len(known))
        lower = [chart.point(ghz, sums[ghz]) for ghz, _ in known[:until]]
        for ghz, db in known[:until]:
            sums[ghz] += db
        yield name, lower, [chart.point(ghz, sums[ghz]) for ghz, _ in known[:until]]


def _areas(chart: _Chart) -> Iterator[str]:
    for name, lower, upper in _stack(chart):
        if lower:
            yield f'<path fill="url(#{chart.patterns}{name})" d="{between(lower, upper)}"/>'
            yield f'<path class="seam" d="{path(upper)}"/>'


def _resonance(chart: _Chart) -> Iterator[str]:
    """Hatch what is not known because a stub takes an unknown part of the signal."""
    beyond = chart.curve.points[max(len(chart.told) - 1, 0) :]
    if len(chart.told) < len(chart.curve.points):
        lower = [chart.point(p.frequency_ghz, p.lines_db) for p in beyond]
        upper = [(x, float(TOP)) for x, _ in lower]
        yield f'<path class="unbound" fill="url(#{chart.patterns}vias)" d="{between(lower, upper)}"/>'


def _range(chart: _Chart) -> Iterator[str]:
    low = [chart.point(p.frequency_ghz, p.total_db.low) for p in chart.told]
    high = [chart.point(p.frequency_ghz, p.total_db.high) for p in chart.told]
    total = [chart.point(p.frequency_ghz, p.total_db.nominal) for p in chart.told]
    if total:
        yield f'<path class="band" d="{between(low, high)}"/>'
        yield f'<path class="edge" d="{path(low)}"/><path class="edge" d="{path(high)}"/>'
        yield f'<path class="total" d="{path(total)}"/>'
    limit = chart.curve.limit_ghz
    if limit is not None:
        yield f'<path class="edge" d="M{chart.x.at(limit):.1f} {TOP}V{HEIGHT - BOTTOM}"/>'


def _names(chart: _Chart) -> Iterator[str]:
    """Name the parts where they are thickest, if there is room."""
    for name, lower, upper in _stack(chart):
        end = upper[-1][0] - NAME_WIDTH / 2 if upper else 0.0
        rows = [(a, b) for a, b in zip(lower, upper, strict=True) if a[1] - b[1] >= LINE + 2 and a[0] < end]
        if rows:
            (x, y), (_, above) = max(rows, key=lambda row: row[0][1] - row[1][1])
            if above > TOP + LINE:
                yield f'<text class="part" x="{x:.1f}" y="{(y + above) / 2 + 4:.1f}">{name}</text>'
    beyond = chart.curve.points[len(chart.told) :]
    if beyond:
        x = chart.x.at(beyond[0].frequency_ghz) + 8
        yield f'<text class="part first" x="{x:.1f}" y="{TOP + 17}">a stub resonates</text>'


def _end_labels(chart: _Chart) -> Iterator[str]:
    """Name the lines at their ends, right of the plot."""
    if not chart.told or len(chart.told) < len(chart.curve.points):
        return
    last = chart.told[-1]
    wanted = [
        (max(chart.point(last.frequency_ghz, db)[1], TOP), word, db)
        for word, db in (("worst", last.total_db.high), ("nominal", last.total_db.nominal), ("best", last.total_db.low))
    ]
    places = apart([y for y, _, _ in wanted], LINE)
    x = chart.x.at(last.frequency_ghz) + 5
    for (_, word, db), y in zip(wanted, places, strict=True):
        far = db is None or db > chart.top_db
        shown = "" if db is None else f"{db:.1f}"
        arrow = "\u2191" if far else ""
        strong = ' class="strong"' if word == "nominal" else ' class="end"'
        yield f'<text{strong} x="{x:.1f}" y="{y + 4:.1f}">{shown}{arrow} {word}</text>'


def _share_range(chart: _Chart, x: float) -> Iterator[str]:
    """Draw how far package and connector, as far as they are assumed, move what the board may lose."""
    found = chart.share_range_db
    if found is not None and found.high - found.low > 0.01 * chart.top_db:
        low, high = chart.y.at(max(found.low, 0.0)), chart.y.at(found.high)
        ends = f"M{x - 6:.1f} {low:.1f}h12M{x - 6:.1f} {high:.1f}h12"
        yield f'<path class="limit fine" d="M{x:.1f} {low:.1f}V{high:.1f}{ends}"/>'


def _nyquist(chart: _Chart) -> Iterator[str]:
    x = chart.x.at(chart.nyquist_ghz)
    yield f'<path class="nyquist" d="M{x:.1f} {TOP - 4}V{HEIGHT - BOTTOM}"/>'
    yield f'<text class="mark" x="{x:.1f}" y="{TOP - 10}">Nyquist {chart.nyquist_ghz:g} GHz</text>'
    at, share = chart.curve.at(chart.nyquist_ghz), chart.share_db
    if share is not None and share > 0:
        y = chart.y.at(share)
        yield f'<path class="limit" d="M{x - 18:.1f} {y:.1f}h36"/>'
        yield from _share_range(chart, x)
        yield f'<text class="mark may" x="{x - 24:.1f}" y="{y + 4:.1f}">may lose {share:.1f} dB</text>'
    if at is not None and at.total_db.nominal is not None:
        y = chart.y.at(at.total_db.nominal)
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        is_close = share is not None and 0 < y - chart.y.at(share) < 2 * LINE
        dx, dy, side = (9, LINE + 2, "after") if is_close else (-9, -8, "may")
        yield f'<text class="mark {side}" x="{x + dx:.1f}" y="{y + dy:.1f}">{at.total_db.nominal:.1f} dB</text>'
