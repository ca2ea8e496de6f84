"""Charts as SVG within the page: they take the theme's colours from `_static/pages.css`, light or dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

Scale = Callable[[float], float]

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760.0, 56.0, 12.0, 12.0, 40.0
LETTER = 5.6
"""Usual width of a letter in a label."""
CROWDED = 100
"""More marks than this are drawn finer."""


@dataclass(frozen=True)
class Mark:
    """A value with its error bar.

    Attributes:
        x: its place along the horizontal axis.
        y: the value; None for a bar alone.
        low, high: ends of the error bar, in units of the vertical axis.
        kind: class of the style sheet: `met`, `explained`, `beyond`.
        tip: what a pointer that rests on it reads.
        group: where the horizontal axis is one of groups, the words for its group.
    """

    x: float
    y: float | None
    low: float
    high: float
    kind: str = "met"
    tip: str = ""
    group: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis: where its ends lie, what is printed at which value, and its own scale."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    label: str
    bend: Scale = field(default=lambda value: value)

    def scale(self, start: float, end: float) -> Scale:
        """Return the way from values to places; it refuses values past an end, which would be drawn for less."""
        a, b = self.bend(self.low), self.bend(self.high)

        def place(value: float) -> float:
            if not self.low <= value <= self.high:
                raise ValueError(f"{value:g} lies outside of the axis {self.label}")
            return start + (self.bend(value) - a) / (b - a) * (end - start)

        return place


def log_axis(low: float, high: float, label: str, ticks: Iterable[float]) -> Axis:
    """Return an axis of powers."""
    return Axis(low, high, [(t, f"{t:g}".replace("e-0", "e-")) for t in ticks], label, math.log10)


def percent_axis(ends: tuple[float, float], label: str, ticks: Iterable[float], linear_to: float | None = None) -> Axis:
    """Return an axis of signed per cent; past `linear_to` it goes by powers, on both sides."""

    def bend(value: float) -> float:
        return value if linear_to is None else math.copysign(math.log10(1 + abs(value) / linear_to), value)

    return Axis(*ends, [(t, f"{t:+g}" if t else "0") for t in ticks], label, bend)


def group_axis(marks: Sequence[Mark], label: str = "") -> Axis:
    """Return an axis on which marks stand one after the other; each group is named in the middle of its marks.

    Names stand on three lines in turn, so that those of small groups do not run into each other.
    """
    ticks = []
    for number, (name, group) in enumerate(groupby(marks, key=lambda mark: mark.group)):
        places = [mark.x for mark in group]
        lower = "\n" * (number % 3) if len(name) > 2 and "\n" not in name else ""
        ticks.append(((places[0] + places[-1]) / 2, lower + name))
    return Axis(-1, marks[-1].x + 1, ticks, label)


def in_groups(marks: Iterable[Mark], gap: float = 3.0) -> list[Mark]:
    """Return marks, which come group by group, placed one after the other with a gap between groups."""
    placed: list[Mark] = []
    x, last = 0.0, None
    for mark in marks:
        x += 0.0 if last is None else 1.0 + gap * (mark.group != last)
        last = mark.group
        placed.append(Mark(x, mark.y, mark.low, mark.high, mark.kind, mark.tip, mark.group))
    return placed


def chart(
    name: str,
    caption: str,
    axes: tuple[Axis, Axis],
    marks: Iterable[Mark],
    *,
    band: tuple[float, float] | None = None,
    height: float = 260.0,
    keys: Sequence[tuple[str, str]] = (),
) -> str:
    """Return a figure.

    Args:
        name: what it shows, for who cannot see it.
        caption: a sentence below it, plain words.
        axes: horizontal and vertical.
        marks: values and error bars.
        band: shaded range of the vertical axis.
        height: in the units of the drawing, of which the width is 760.
        keys: kind of marks and its words.
    """
    across = axes[0].scale(LEFT, WIDTH - RIGHT)
    up = axes[1].scale(height - BOTTOM, TOP)
    shapes = [*_frame(axes, across, up, height), *_band(band, up)]
    drawn = list(marks)
    for mark in drawn:
        shapes += _mark(mark, across, up)
    crowded = " crowded" if len(drawn) > CROWDED else ""
    legend = "".join(f'<span class="key {kind}">{escape(words)}</span>' for kind, words in keys)
    return "\n".join(
        [
            f'<figure class="chart{crowded}">',
            f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{escape(name)}">',
            f"<title>{escape(name)}</title>",
            *filter(None, shapes),  # an empty line would end the drawing in Markdown
            "</svg>",
            f"<figcaption>{legend}{escape(caption)}</figcaption>",
            "</figure>",
        ]
    )


def _frame(axes: tuple[Axis, Axis], across: Scale, up: Scale, height: float) -> Iterator[str]:
    bottom = height - BOTTOM
    for value, words in axes[1].ticks:
        y = up(value)
        kind = "zero" if value == 0 and axes[1].low < 0 else "grid"
        yield f'<path class="{kind}" d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}"/>'
        yield f'<text x="{LEFT - 6:g}" y="{y + 3.5:.1f}" text-anchor="end">{escape(words)}</text>'
    for value, words in axes[0].ticks:
        for line, part in enumerate(words.split("\n")):
            x, y = across(value), bottom + 13 + 11 * line
            fits = x + LETTER / 2 * len(part) < WIDTH
            place = (
                f'x="{x:.1f}" y="{y:g}" text-anchor="middle"' if fits else f'x="{WIDTH:g}" y="{y:g}" text-anchor="end"'
            )
            if part:
                yield f"<text {place}>{escape(part)}</text>"
    yield f'<path class="axis" d="M{LEFT:g} {TOP:g}V{bottom:g}H{WIDTH - RIGHT:g}"/>'
    turned = f'transform="translate(11 {(TOP + bottom) / 2:g})rotate(-90)"'
    yield f'<text class="label" {turned}>{escape(axes[1].label)}</text>'
    if axes[0].label:
        middle = (LEFT + WIDTH - RIGHT) / 2
        yield f'<text class="label" x="{middle:g}" y="{height - 6:g}">{escape(axes[0].label)}</text>'


def _band(band: tuple[float, float] | None, up: Scale) -> Iterator[str]:
    if band is not None:
        top, bottom = up(band[1]), up(band[0])
        yield (
            f'<rect class="band" x="{LEFT:g}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT:g}" '
            f'height="{bottom - top:.1f}"/>'
        )


def _mark(mark: Mark, across: Scale, up: Scale) -> Iterator[str]:
    x = across(mark.x)
    bar = f'<path class="bar" d="M{x:.1f} {up(mark.low):.1f}V{up(mark.high):.1f}"/>'
    dot = f'<circle cx="{x:.1f}" cy="{up(mark.y):.1f}" r="2.4"/>' if mark.y is not None else ""
    yield f'<g class="{mark.kind}"><title>{escape(mark.tip)}</title>{bar}{dot}</g>'
