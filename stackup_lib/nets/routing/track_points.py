"""Places on tracks as complex numbers x + iy in mm: along them, nearest to a point, and within reach of their boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats

TOUCH_MM = 1e-3
"""Ends closer than this are one: a thousand times KiCad's resolution, a hundredth of a narrow track."""

Points = NDArray[np.complex128]
Bools = NDArray[np.bool_]


def in_boxes(points: Points, reach_mm: Floats, boxes: Floats) -> Bools:
    """Tell which points come within reach of the box in the same row."""
    return in_range(points.real, reach_mm, boxes[:, :2]) & in_range(points.imag, reach_mm, boxes[:, 2:])


def in_range(values: Floats, reach_mm: Floats, ranges: Floats) -> Bools:
    """Tell which values come within reach of the range in the same row."""
    return np.asarray((values >= ranges[:, 0] - reach_mm) & (values <= ranges[:, 1] + reach_mm))


def nearest_places(points: Points, corner: Points) -> tuple[Floats, Points]:
    """Return the nearest place on each polyline, (points, corners), to the point in its row: share of it, and where."""
    step = corner[:, 1:] - corner[:, :-1]
    square = np.maximum(np.abs(step) ** 2, TOUCH_MM**4)
    share = np.clip(((points[:, None] - corner[:, :-1]) * step.conj()).real / square, 0.0, 1.0)
    where = corner[:, :-1] + share * step
    chord = np.argmin(np.abs(where - points[:, None]), axis=1)[:, None]
    whole = (chord + np.take_along_axis(share, chord, 1)) / step.shape[1]
    return whole[:, 0], np.take_along_axis(where, chord, 1)[:, 0]


def along_tracks(start: Points, middle: Points, end: Points, share: Floats) -> Points:
    """Return points at shares of the way along tracks; arcs are those with a middle. Shape (tracks, shares)."""
    points = start[:, None] + (end - start)[:, None] * share
    u, v = middle - start, end - start
    cross = (u.conj() * v).imag
    arcs = np.flatnonzero(np.abs(cross) >= TOUCH_MM**3)  # NaN of straight tracks, 0 of three points in a line
    one, two, three, u, v, cross = start[arcs], middle[arcs], end[arcs], u[arcs], v[arcs], cross[arcs]
    centre = one + 1j * (u * np.abs(v) ** 2 - v * np.abs(u) ** 2) / (2 * cross)
    turn = np.angle((two - centre) / (one - centre)) + np.angle((three - centre) / (two - centre))
    points[arcs] = centre[:, None] + (one - centre)[:, None] * np.exp(1j * turn[:, None] * share)
    return np.asarray(points, dtype=np.complex128)
