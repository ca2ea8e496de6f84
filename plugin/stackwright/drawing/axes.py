"""What charts have in common: a scale, round ticks, harmless text, paths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from stackup_lib.core.record import record
from stackwright.text.words import clean

Point = tuple[float, float]


@record
class Scale:
    """Maps values from `low` to `high` onto the drawing from `start` to `end`, which may run backwards."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return where a value is."""
        return self.start + (value - self.low) * (self.end - self.start) / (self.high - self.low)

    @property
    def ends(self) -> Point:
        """Minimum and maximum."""
        return self.low, self.high

    def ticks(self, about: int) -> list[float]:
        """Return `about` as many round values inside the scale."""
        step = round_step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def round_step(least: float) -> float:
    """Return the least of 1, 2, 5, 10 ... that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def label(text: str, most: int = 40) -> str:
    """Return text from a board as it may stand in a drawing: cleaned, cut, escaped."""
    shown = clean(text)
    return escape(shown if len(shown) <= most else f"{shown[: most - 1]}\u2026", quote=True)


def path(points: Iterable[Point], *, closed: bool = False) -> str:
    """Return the `d` of a line through points."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("z" if closed else "")


def between(lower: Sequence[Point], upper: Sequence[Point]) -> str:
    """Return the `d` of the area between two lines that run the same way."""
    return path([*lower, *reversed(upper)], closed=True)


def apart(wanted: Sequence[float], least: float) -> list[float]:
    """Return positions as near to the wanted ones, which rise, as keeps them apart: each pushes the next."""
    found: list[float] = []
    for y in wanted:
        found.append(max(y, found[-1] + least) if found else y)
    return found


def named(ident: str, title: str, told: str) -> Iterator[str]:
    """Yield the first children of a drawing: what it is, and what it says to those who cannot see it."""
    yield f'<title id="{ident}title">{label(title, 200)}</title>'
    yield f'<desc id="{ident}told">{label(told, 2000)}</desc>'
