"""Arcs, circles and curves as chords, and the corner lists of polygons."""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.board.board import Floats
from stackup_lib.kicad.syntax import tree

Corners = tuple[list[float], list[float]]
MOST_CHORDS = 1000
"""Of one arc: within `DEVIATION_MM` to a radius of 200 mm; thousands of huge circles must not fill the memory."""
DEVIATION_MM = 0.001
"""How far a chord may lie from its arc."""
_BEZIER_CHORDS = 64


def arc(start: tuple[float, float], middle: tuple[float, float], end: tuple[float, float]) -> Corners:
    """Return the corners of chords along the circular arc from start through middle to end, in mm.

    The outermost points of the arc are among the corners, so that its bounding box is exact.
    """
    centre = _centre(start, middle, end)
    if centre is None:
        return [start[0], middle[0], end[0]], [start[1], middle[1], end[1]]
    radius = math.hypot(start[0] - centre[0], start[1] - centre[1])
    a0, am, a1 = (math.atan2(p[1] - centre[1], p[0] - centre[0]) for p in (start, middle, end))
    turn = (a1 - a0) % math.tau
    if (am - a0) % math.tau > turn:
        turn -= math.tau
    if math.hypot(start[0] - end[0], start[1] - end[1]) < 1e-9:
        turn = math.tau
    x, y = sweep(centre, radius, a0, turn)
    x[0], y[0] = start
    x[-1], y[-1] = end
    return x, y


def sweep(centre: tuple[float, float], radius_mm: float, begin_rad: float, turn_rad: float) -> Corners:
    """Return the corners of chords along a circle from an angle through a turn; the circle's extremes are included."""
    step = 2.0 * math.acos(max(-1.0, 1.0 - DEVIATION_MM / radius_mm)) if radius_mm > DEVIATION_MM else math.pi / 4
    count = min(MOST_CHORDS, max(8, math.ceil(abs(turn_rad) / max(step, 1e-4))))
    angles = list(np.linspace(begin_rad, begin_rad + turn_rad, count + 1))
    low, high = sorted((begin_rad, begin_rad + turn_rad))
    quarter = math.pi / 2
    angles += [k * quarter for k in range(math.ceil(low / quarter), math.floor(high / quarter) + 1)]
    angles.sort(reverse=turn_rad < 0)
    return (
        [centre[0] + radius_mm * math.cos(a) for a in angles],
        [centre[1] + radius_mm * math.sin(a) for a in angles],
    )


def rectangle(start: tuple[float, float], end: tuple[float, float], radius_mm: float) -> Corners:
    """Return the closed outline of a rectangle between two of its corners, with KiCad 10's radius of all four."""
    (left, right), (low, high) = sorted((start[0], end[0])), sorted((start[1], end[1]))
    radius = min(radius_mm, (right - left) / 2, (high - low) / 2)
    if radius <= 0.0:
        return [start[0], end[0], end[0], start[0], start[0]], [start[1], start[1], end[1], end[1], start[1]]
    middles = [(x, y) for y in (low + radius, high - radius) for x in (left + radius, right - radius)]
    x, y = [], []
    for quarter, at in enumerate((0, 1, 3, 2), start=2):  # upper left first
        along = sweep(middles[at], radius, quarter * math.pi / 2, math.pi / 2)
        x += along[0]
        y += along[1]
    return [*x, x[0]], [*y, y[0]]


def _centre(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> tuple[float, float] | None:
    """Centre of the circle through three points, None when they lie on a line."""
    bx, by, cx, cy = q[0] - p[0], q[1] - p[1], r[0] - p[0], r[1] - p[1]
    if math.hypot(cx, cy) < 1e-9:
        return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2
    double_area = 2.0 * (bx * cy - by * cx)
    if abs(double_area) < 1e-12:
        return None
    b2, c2 = bx * bx + by * by, cx * cx + cy * cy
    return p[0] + (cy * b2 - by * c2) / double_area, p[1] + (bx * c2 - cx * b2) / double_area


def bezier(node: tree.Node) -> Corners:
    """Return the corners of chords along the cubic curve whose four control points `(pts ...)` holds."""
    x, y = points(node)
    if len(x) != 4:
        raise tree.MalformedError("a curve needs four points in (pts ...)")
    t = np.linspace(0.0, 1.0, _BEZIER_CHORDS + 1)
    weights = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return list(np.array(x) @ weights), list(np.array(y) @ weights)


def points(node: tree.Node) -> Corners:
    """Return the corners in `(pts (xy x y) ...)`; an arc among them gives its chords."""
    x: list[float] = []
    y: list[float] = []
    for child in tree.lists(node):
        name = tree.head_of(child)
        if name == "xy":
            px, py = tree.pair(child)
            x.append(px)
            y.append(py)
        elif name == "arc":
            along = arc(tree.point(child, "start"), tree.point(child, "mid"), tree.point(child, "end"))
            x.extend(along[0])
            y.extend(along[1])
        else:
            raise tree.MalformedError(f"(pts ...) holds ({name} ...), neither xy nor arc")
    return x, y


def placed(x: Floats, y: Floats, at: tuple[Floats, Floats], rotation_deg: Floats) -> tuple[Floats, Floats]:
    """Return points of a footprint at their board position: turned by KiCad's angle (y points down), then moved."""
    angle = np.deg2rad(rotation_deg)
    cos, sin = np.cos(angle), np.sin(angle)
    return at[0] + x * cos + y * sin, at[1] - x * sin + y * cos
