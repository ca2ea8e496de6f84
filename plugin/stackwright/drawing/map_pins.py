"""Findings as places on the board map: numbered, each with everything that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stackup_lib.core.record import record
from stackup_lib.core.words import count
from stackwright.drawing.board_map import BoardMap
from stackwright.drawing.board_view.objects import ViewObjects
from stackwright.tables.grouping import Group

COLOURS = ("#1a6fb5", "#b3541e", "#1f8a4c", "#8b3fa8", "#a38600", "#c2185b", "#00838f", "#5d4037")
"""Of interfaces on the map, distinguishable on light and dark paper; the legend names them."""
MOST_STEPS = 60_000
"""Numbers that say where the objects of one group of findings are; the page says where there are more."""


@record
class Pin:
    """A group of findings on the map; numbers in units of 10 um.

    Attributes:
        id: of the place on the page.
        number: as it stands on the map.
        finding: id of the finding on the page.
        key: of the finding that speaks for the group.
        layers: copper layers that its places name.
        objects: what is drawn when it is chosen.
        counted: how many objects that is, as text.
        is_all: False where there are more.
    """

    id: str
    number: int
    finding: str
    key: str
    title: str
    severity: str
    x: int
    y: int
    layers: tuple[int, ...]
    objects: tuple[ViewObjects, ...]
    counted: str
    is_all: bool

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of all its objects."""
        left, top = min(one.box[0] for one in self.objects), min(one.box[1] for one in self.objects)
        right = max(one.box[0] + one.box[2] for one in self.objects)
        bottom = max(one.box[1] + one.box[3] for one in self.objects)
        return left, top, right - left, bottom - top


def pins_of(drawn: BoardMap, findings: Sequence[tuple[str, Group]], ident: str = "") -> Iterator[Pin]:
    """Yield a pin for each group of findings that has a place on the board.

    Args:
        drawn: the map.
        findings: id of the finding on the page, and the group for which it stands.
        ident: what the ids of places begin with; empty for the only board of a page.
    """
    number = 0
    for finding, group in findings:
        found = [drawn.objects[one.key] for one in group.findings if one.key in drawn.objects]
        if not found:
            continue
        number += 1
        room, objects = MOST_STEPS, list[ViewObjects]()
        for one in found:
            room -= _size(one)
            if room >= 0 or not objects:
                objects.append(one)
        names = {place.layer for member in group.findings for place in member.places}
        first = group.first
        yield Pin(
            id=f"{ident}place-{first.key}",
            number=number,
            finding=finding,
            key=first.key,
            title=first.title,
            severity=first.severity.value,
            x=objects[0].x,
            y=objects[0].y,
            layers=tuple(index for index, name in enumerate(drawn.layers) if name in names),
            objects=tuple(objects),
            counted=_counted(objects),
            is_all=len(objects) == len(found) and all(one.is_all for one in objects),
        )


def _size(one: ViewObjects) -> int:
    return len(one.points) + one.shapes.size


def _counted(objects: Iterable[ViewObjects]) -> str:
    totals: dict[str, int] = {}
    for one in objects:
        for many, noun in one.counts:
            totals[noun] = totals.get(noun, 0) + many
    return ", ".join(count(many, noun) for noun, many in totals.items())


def legend(drawn: BoardMap) -> tuple[str, ...]:
    """Return the interfaces that are drawn, in the order of their colours."""
    return tuple(sorted({tracks.title for tracks in drawn.tracks if tracks.title}))


def colour_of(title: str, titles: Iterable[str]) -> str:
    """Return the colour of an interface; of nets without one, that of text."""
    order = list(titles)
    return COLOURS[order.index(title) % len(COLOURS)] if title in order else "currentColor"
