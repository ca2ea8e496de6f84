"""Tracks whose copper meets though their ends do not: next to each other, overlapping, or on a third's middle."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.fill_edges import Complexes, xy_of
from stackup_lib.core.arrays import alike_rows
from stackup_lib.core.record import entity
from stackup_lib.return_path.plane_copper import PlaneLines
from stackup_lib.return_path.runs import corner_keys

CORNER_MM = 1e-4
"""Ends that are nearer than this to a corner are led to it."""

LEAST_MM = 1e-6
"""What is shorter is no line."""


@entity
class _Feet:
    """Free ends that lie in the copper of other lines: the end, its line, the other line, and where along that."""

    at: Complexes
    line: Ints
    other: Ints
    along_mm: Floats
    apart_mm: Floats


def joined_in_copper(lines: PlaneLines, nets: Ints, width_mm: Floats) -> tuple[Ints, PlaneLines]:
    """Return lines that meet at their ends wherever their copper does, and for each of which of the given it is part.

    A line is cut where the end of another one of its net lies in its copper, and a short one leads there. Of lines
    between the same corners, as of a track drawn twice, one is left.
    """
    every = np.arange(len(nets))
    feet = _feet(lines, nets, width_mm)
    if not len(feet.line):
        kept = _once(lines.start, _ends(lines), nets)
        return every[kept], lines.where(kept)
    length = lines.length_mm[feet.other]
    is_inner = (feet.along_mm > CORNER_MM) & (feet.along_mm < length - CORNER_MM)
    middle = lines.start[feet.other] + lines.direction[feet.other] * feet.along_mm
    corner = np.where(feet.along_mm < length / 2, lines.start[feet.other], _ends(lines)[feet.other])
    foot = np.where(is_inner, np.where(feet.apart_mm < CORNER_MM, feet.at, middle), corner)
    part = np.concatenate([every, feet.other[is_inner]])
    begin = np.concatenate([np.zeros(len(every)), feet.along_mm[is_inner]])
    order = np.lexsort((begin, part))
    part, start = part[order], np.concatenate([lines.start, foot[is_inner]])[order]
    is_last = np.append(part[1:] != part[:-1], [True])
    end = np.where(is_last, _ends(lines)[part], np.roll(start, -1))
    part, start, end = (np.concatenate(both) for both in ((part, feet.line), (start, feet.at), (end, foot)))
    kept = np.flatnonzero(np.abs(end - start) > LEAST_MM)
    kept = kept[_once(start[kept], end[kept], nets[part[kept]])]
    part, start, way = part[kept], start[kept], (end - start)[kept]
    return part, PlaneLines(start, way / np.abs(way), np.abs(way))


def _feet(lines: PlaneLines, nets: Ints, width_mm: Floats) -> _Feet:
    """Return the ends at which no other line ends, and that lie in another line's copper, each with the nearest."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with fills needs it

    ends, line = np.concatenate([lines.start, _ends(lines)]), np.tile(np.arange(len(nets)), 2)
    _, corner = alike_rows(corner_keys(ends, nets[line]))
    free = np.flatnonzero(np.bincount(corner)[corner] == 1)
    shapes = shapely.linestrings(xy_of(np.stack([lines.start, _ends(lines)], axis=1)))
    points = shapely.points(xy_of(ends[free]))
    which, other = shapely.STRtree(shapes).query(points, predicate="dwithin", distance=width_mm.max(initial=0.0) / 2)
    apart, end = shapely.distance(points[which], shapes[other]), free[which]
    met = (other != line[end]) & (nets[other] == nets[line[end]]) & (apart <= width_mm[other] / 2)
    end, other, apart = end[met], other[met], apart[met]
    order = np.lexsort((other, apart, end))
    nearest = order[np.unique(end[order], return_index=True)[1]]
    end, other, apart = end[nearest], other[nearest], apart[nearest]
    along = ((ends[end] - lines.start[other]) * lines.direction[other].conj()).real
    return _Feet(ends[end], line[end], other, np.clip(along, 0.0, lines.length_mm[other]), apart)


def _once(start: Complexes, end: Complexes, nets: Ints) -> Ints:
    """Return the first line of those between the same corners, ascending."""
    one, other = corner_keys(start, nets), corner_keys(end, nets)
    is_turned = (one[:, 1] > other[:, 1]) | ((one[:, 1] == other[:, 1]) & (one[:, 2] > other[:, 2]))
    low, high = (np.where(is_turned[:, None], *pair) for pair in ((other, one), (one, other)))
    first, _ = alike_rows(np.column_stack([low, high]))
    return np.sort(first)


def _ends(lines: PlaneLines) -> Complexes:
    return np.asarray(lines.start + lines.direction * lines.length_mm)
