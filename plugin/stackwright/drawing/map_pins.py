"""Findings as places on the board map: numbered pins, each with a window around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stackwright.drawing.board_map import UNITS_PER_MM, BoardMap
from stackwright.tables.grouping import Group

COLOURS = ("#1a6fb5", "#b3541e", "#1f8a4c", "#8b3fa8", "#a38600", "#c2185b", "#00838f", "#5d4037")
"""Of interfaces on the map, told apart on light and dark paper; the legend names them."""
WINDOW_MM = (24.0, 14.0)


@dataclass(frozen=True)
class Pin:
    """A place of the finding that speaks for its group; numbers in units of 1/100 mm.

    Attributes:
        number: as it stands on the map.
        finding: id of the finding on the page.
        layers: indices of the layers to show in its window; empty for all.
        box: left, top, width and height of its window.
    """

    number: int
    finding: str
    title: str
    severity: str
    x: int
    y: int
    layers: tuple[int, ...]
    box: tuple[int, int, int, int]


def pins_of(drawn: BoardMap, findings: Sequence[tuple[str, Group]]) -> Iterator[Pin]:
    """Yield a pin for each group of findings that has a place on the board."""
    index = {layer.name: layer.index for layer in drawn.layers}
    number = 0
    for ident, group in findings:
        spots = [p for p in group.first.places if p.x_mm is not None and p.y_mm is not None]
        if not spots:
            continue
        number += 1
        x, y = round((spots[0].x_mm or 0.0) * UNITS_PER_MM), round((spots[0].y_mm or 0.0) * UNITS_PER_MM)
        names = dict.fromkeys(place.layer for place in group.first.places if place.layer in index)
        layers = tuple(index[name] for name in names if name is not None)
        yield Pin(number, ident, group.first.title, group.first.severity.value, x, y, layers, _window(x, y))


def _window(x: int, y: int) -> tuple[int, int, int, int]:
    width, height = (round(mm * UNITS_PER_MM) for mm in WINDOW_MM)
    return x - width // 2, y - height // 2, width, height


def legend(drawn: BoardMap) -> tuple[str, ...]:
    """Return the interfaces that are drawn, in the order of their colours."""
    return tuple(sorted({path.title for layer in drawn.layers for path in layer.tracks if path.title}))


def colour_of(title: str, titles: Iterable[str]) -> str:
    """Return the colour of an interface; of nets without one, that of text."""
    order = list(titles)
    return COLOURS[order.index(title) % len(COLOURS)] if title in order else "currentColor"
