"""Fills that a pen draws: before KiCad 6 the stored outline is the pen's path, and the copper is half its width larger.

KiCad 10 makes the same of them when it reads such a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stackup_lib.board.board import Floats
from stackup_lib.kicad.syntax import tree

OUTLINES_ONLY = 20250210
"""From this version on no fill is drawn with a pen; before, all but those of `(filled_areas_thickness no)` are."""

_QUARTER = 4
"""Chords of a quarter circle: off by 2 % of the pen's half width."""


def pen_mm(version: int, zone: tree.Node) -> float:
    """Return the width in mm of the pen that draws a zone's fills; 0 where the stored outline is the copper's edge."""
    stated = tree.flag(zone, "filled_areas_thickness")
    drawn = version < OUTLINES_ONLY if stated is None else stated
    return (tree.value(zone, "min_thickness") or 0.0) if drawn else 0.0


def copper_of(corners: Floats, width_mm: float) -> list[Floats]:
    """Return the copper of a fill that a pen draws along `corners`, shape (n, 2) in mm; holes are joined by slits."""
    import shapely  # noqa: PLC0415 - heavy, and only old files need it

    if len(corners) < 3:
        return [corners]
    area = shapely.make_valid(shapely.Polygon(corners))
    grown = shapely.buffer(area, width_mm / 2, quad_segs=_QUARTER)
    parts = [part for part in shapely.get_parts(grown) if not part.is_empty]
    return [
        slit(np.array(part.exterior.coords)[:-1], [np.array(hole.coords)[:-1] for hole in part.interiors])
        for part in parts
    ]


def slit(outer: Floats, holes: Sequence[Floats]) -> Floats:
    """Return one ring, shape (n, 2), that goes round `outer` and, along level slits, round every hole in it."""
    if not holes:
        return outer
    rings = [outer, *sorted(holes, key=lambda ring: float(ring[:, 0].min()))]
    bridges = _bridges(rings)
    found: list[tuple[float, float]] = []
    walks = [_walk(rings[0], 0, bridges[0])]
    while walks:
        step = next(walks[-1], None)
        if step is None:
            walks.pop()
        elif isinstance(step, int):
            hole = rings[step]
            walks.append(_walk(hole, int(np.argmin(hole[:, 0])), bridges[step]))
        else:
            found.append(step)
    return np.array(found[:-1], dtype=np.float64)


_Bridge = tuple[float, float, float, int]
"""Where along an edge a slit begins (0 to 1), the point there, and the ring to which it leads."""


def _bridges(rings: Sequence[Floats]) -> list[dict[int, list[_Bridge]]]:
    """For each ring and edge the slits that begin there: from each hole level to the left, to the first edge met.

    An edge to the left of a hole's leftmost corner belongs to a ring that begins further left: it is joined already.
    """
    found: list[dict[int, list[_Bridge]]] = [{} for _ in rings]
    ends = [np.roll(ring, -1, axis=0) for ring in rings]
    a, b = np.concatenate(rings), np.concatenate(ends)
    low, high = np.minimum(a[:, 1], b[:, 1]), np.maximum(a[:, 1], b[:, 1])
    owner = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    first = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])])
    for number, ring in enumerate(rings[1:], start=1):
        x, y = ring[int(np.argmin(ring[:, 0]))]
        before = int(first[number])  # rings are in order: what begins further left comes first
        met = np.flatnonzero((low[:before] <= y) & (high[:before] > y))
        along = (y - a[met, 1]) / (b[met, 1] - a[met, 1])
        at = a[met, 0] + along * (b[met, 0] - a[met, 0])
        left = np.flatnonzero(at <= x)
        if not len(left):
            continue  # a hole outside its polygon: nothing to cut out
        nearest = left[int(np.argmax(at[left]))]
        edge = int(met[nearest])
        mine = int(owner[edge])
        bridge = (float(along[nearest]), float(at[nearest]), float(y), number)
        found[mine].setdefault(edge - int(first[mine]), []).append(bridge)
    return found


def _walk(ring: Floats, start: int, bridges: dict[int, list[_Bridge]]) -> Iterator[tuple[float, float] | int]:
    """Yield a ring's corners from one back to it; where a slit begins, its point, the ring beyond, its point again."""
    count = len(ring)
    for k in range(start, start + count):
        yield float(ring[k % count, 0]), float(ring[k % count, 1])
        for _, x, y, beyond in sorted(bridges.get(k % count, ())):
            yield x, y
            yield beyond
            yield x, y
    yield float(ring[start, 0]), float(ring[start, 1])
