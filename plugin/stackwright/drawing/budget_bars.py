"""The loss budget as bars: what the worst link of each interface loses, part by part, against what the board may."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from drc_rules.report.link_rows import LinkLossRow
from stackup_lib.core.record import record
from stackwright.drawing.axes import label

WIDTH, LEFT, TOP, BAR, GAP = 760, 150, 36, 22, 30
PLOT = WIDTH - LEFT - 20
PARTS = (("dielectric_db", "dielectric"), ("copper_db", "copper"), ("roughness_db", "roughness"), ("holes_db", "vias"))
PATTERNS = {
    "dielectric": '<path d="M0 0h6v6H0z" class="bar-1"/>',
    "copper": '<path d="M0 0h6v6H0z" class="bar-2"/><path d="M0 6L6 0" class="bar-line"/>',
    "roughness": '<path d="M0 0h6v6H0z" class="bar-3"/><path d="M0 0L6 6" class="bar-line"/>',
    "vias": '<path d="M0 0h6v6H0z" class="bar-4"/><path d="M3 0v6" class="bar-line"/>',
}
"""Parts are distinguished by pattern as well as by colour, and named where there is room."""
MOST_LETTERS = 24
"""Of a name next to its bar."""
NARROWEST = 46
"""Room, in units of the drawing, that a number needs inside its part."""


@record
class _Bar:
    """One bar, in dB; `high` is infinite where no worst case is known, `share` None where none is stated."""

    interface: str
    name: str
    nyquist_ghz: float
    parts: tuple[tuple[str, float], ...]
    low: float
    nominal: float
    high: float
    share: float | None

    @property
    def end(self) -> float:
        """How far to the right it reaches: its worst case, cut where that is far beyond all else."""
        share = self.share or 0.0
        return max(min(self.high, 2.5 * max(self.nominal, share)), 1.05 * share)

    @property
    def words(self) -> str:
        """The bar in a sentence."""
        high = f"{self.high:.1f}" if math.isfinite(self.high) else "far more"
        may = "" if self.share is None else f"; the board may lose {self.share:.1f} dB"
        return f"{self.nominal:.1f} dB at {self.nyquist_ghz:g} GHz, {self.low:.1f} to {high}{may}"


def _bar_of(row: LinkLossRow) -> _Bar | None:
    """Return the bar of a link; None where its loss is not known, or a stub resonates at or below Nyquist."""
    total = row.total_db
    losses = [getattr(row, field) for field, _ in PARTS]
    if total is None or total.nominal is None or total.low is None or None in losses:
        return None
    share = None if row.share_db is None else row.share_db - sum(part.db.nominal for part in row.allowances)
    return _Bar(
        interface=row.interface,
        name=row.name,
        nyquist_ghz=row.nyquist_ghz,
        parts=tuple((name, loss) for (_, name), loss in zip(PARTS, losses, strict=True)),
        low=total.low,
        nominal=total.nominal,
        high=math.inf if total.high is None else total.high,
        share=share,
    )


def budget_bars(rows: Sequence[LinkLossRow], ident: str) -> str:
    """Return an SVG for links of known loss, "" for none; `ident` begins its ids, of which a page has one each."""
    bars = [bar for bar in map(_bar_of, rows) if bar is not None]
    if not bars:
        return ""
    scale = PLOT / max(1.0, *(bar.end for bar in bars))
    height = len(bars) * (BAR + GAP) + TOP
    told = label("Loss budget. " + ". ".join(f"{bar.interface}, {bar.name}: {bar.words}" for bar in bars), 10_000)
    parts = [
        f'<svg class="budget" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{told}">',
        "<defs>",
        *(
            f'<pattern id="{ident}{name}" width="6" height="6" patternUnits="userSpaceOnUse">{drawn}</pattern>'
            for name, drawn in PATTERNS.items()
        ),
        "</defs>",
        *_key(ident),
    ]
    for k, bar in enumerate(bars):
        parts += _drawn(bar, TOP + k * (BAR + GAP), scale, ident)
    return "\n".join([*parts, "</svg>"])


def _key(ident: str) -> Iterator[str]:
    x = LEFT
    for name in PATTERNS:
        yield f'<rect x="{x}" y="6" width="14" height="14" fill="url(#{ident}{name})"/>'
        yield f'<text x="{x + 20}" y="17">{name}</text>'
        x += 110
    yield f'<path class="limit" d="M{x + 4} 4v18"/><text x="{x + 12}" y="17">may lose</text>'


def _drawn(bar: _Bar, top: int, scale: float, ident: str) -> Iterator[str]:
    middle = top + BAR / 2
    yield f'<text class="name" x="{LEFT - 10}" y="{middle - 2:.1f}">{label(bar.interface, MOST_LETTERS)}</text>'
    yield f'<text class="small" x="{LEFT - 10}" y="{middle + 11:.1f}">{label(bar.name, MOST_LETTERS)}</text>'
    x = float(LEFT)
    for name, loss in bar.parts:
        wide = loss * scale
        yield f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{BAR}" fill="url(#{ident}{name})"/>'
        if wide >= NARROWEST:
            yield f'<text class="figure" x="{x + wide / 2:.1f}" y="{middle:.1f}">{loss:.1f}</text>'
        x += wide
    yield _range(bar, top, scale)
    yield f'<text class="small left" x="{LEFT}" y="{top + BAR + 14}">{bar.words}</text>'
    if bar.share is not None and bar.share > 0:
        yield f'<path class="limit" d="M{LEFT + bar.share * scale:.1f} {top - 5}v{BAR + 10}"/>'


def _range(bar: _Bar, top: int, scale: float) -> str:
    """Return a line from the best to the worst case; an arrow where the worst lies beyond the drawing."""
    low, tall = top + BAR - 4, 8
    a, b = LEFT + bar.low * scale, LEFT + min(bar.high, bar.end) * scale
    tip = f"M{b - 5:.1f} {low - 4}l5 4l-5 4" if bar.high > bar.end else f"M{b:.1f} {low - tall / 2}v{tall}"
    return f'<path class="range" d="M{a:.1f} {low - tall / 2}v{tall}M{a:.1f} {low}H{b:.1f}{tip}"/>'
