"""Triangles over a sheet of copper: a Delaunay mesh that keeps every edge of the outline, refined where required."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from scipy.spatial import Delaunay
    from shapely import Geometry

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

GRID_MM = 1e-6
"""KiCad's own grid: points nearer than this are one point."""

SHORTEST_MM = 1e-3
"""Outline edges that the Delaunay mesh lacks are halved down to this; gaps so small may be bridged."""

STANDOFF = 0.75
"""Distance of lattice points from points of the outline, in lattice steps: far enough not to hide an edge of it."""


class MeshFailed(Exception):  # noqa: N818 - caught inside this room, which names the copper that could not be meshed
    """The copper cannot be meshed: too many corners, or triangles that differ from it in area."""


@entity
class CopperMesh:
    """Triangles of one sheet.

    Attributes:
        points_mm: shape (points, 2).
        triangles: shape (triangles, 3), indices into `points_mm`.
        outline: shape (edges, 2), indices of the ends of the outline's edges.
    """

    points_mm: Reals
    triangles: Indices
    outline: Indices


def make_mesh(area: Geometry, step_mm: float) -> CopperMesh:
    """Return a mesh of a polygon or of several, holes left out.

    Args:
        area: shapely Polygon or MultiPolygon in mm.
        step_mm: longest outline edge and lattice step inside.

    Raises:
        MeshFailed: the outline is too tangled to be kept.
    """
    if area.is_empty:
        return CopperMesh(np.zeros((0, 2)), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64))
    points, outline = _outline(area, step_mm)
    inner = _lattice(area, points, step_mm)
    return conform(area, np.vstack([points, inner]), outline)


def refine_mesh(area: Geometry, mesh: CopperMesh, marked: Mask) -> CopperMesh:
    """Return the mesh of the old points and of the middles of the marked triangles' edges.

    `marked` has one entry per triangle. Delaunay's triangles are better shaped than a division of the old ones would
    be, and of all on the same points they give the highest lower bound (S. Rippa, CAGD 7 (1990) 489-497).
    """
    chosen = mesh.triangles[marked]
    if not len(chosen):
        return mesh
    count = len(mesh.points_mm)
    halved = distinct(_keys(np.vstack([chosen[:, [0, 1]], chosen[:, [1, 2]], chosen[:, [2, 0]]]), count))
    ends = np.column_stack([halved // count, halved % count])
    middles = mesh.points_mm[ends].mean(axis=1)
    where = np.searchsorted(halved, _keys(mesh.outline, count))
    on_outline = halved[np.minimum(where, len(halved) - 1)] == _keys(mesh.outline, count)
    middle = count + where[on_outline]
    split = mesh.outline[on_outline]
    outline = np.vstack(
        [
            mesh.outline[~on_outline],
            np.column_stack([split[:, 0], middle]),
            np.column_stack([middle, split[:, 1]]),
        ]
    )
    return conform(area, np.vstack([mesh.points_mm, middles]), outline)


def _outline(area: Geometry, step_mm: float) -> tuple[Reals, Indices]:
    """Points and edges of all rings, edges no longer than the step."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    rings = [shapely.get_coordinates(ring) for part in shapely.get_parts(area) for ring in _rings(part)]
    starts, ends = (np.vstack([ring[cut] for ring in rings]) for cut in (slice(None, -1), slice(1, None)))
    points, index = np.unique(np.round(np.vstack([starts, ends]) / GRID_MM), axis=0, return_inverse=True)
    index = index.reshape(-1)
    edges = np.column_stack([index[: len(starts)], index[len(starts) :]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    return _divide(points * GRID_MM, edges, step_mm)


def _rings(polygon: Geometry) -> list[Geometry]:
    return [polygon.exterior, *polygon.interiors]


def _divide(points: Reals, edges: Indices, step_mm: float) -> tuple[Reals, Indices]:
    """Divide edges into equal parts no longer than the step."""
    span = points[edges[:, 1]] - points[edges[:, 0]]
    parts = np.maximum(np.ceil(np.hypot(span[:, 0], span[:, 1]) / step_mm - 1e-9), 1).astype(np.int64)
    row = np.repeat(np.arange(len(edges)), parts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    is_last = nth == parts[row] - 1
    number = np.cumsum(~is_last) + len(points) - 1
    added = points[edges[row, 0]] + span[row] * ((nth + 1) / parts[row])[:, None]
    ends = np.where(is_last, edges[row, 1], number)
    starts = np.where(nth == 0, edges[row, 0], np.concatenate([[0], ends[:-1]]))
    return np.vstack([points, added[~is_last]]), np.column_stack([starts, ends])


def _lattice(area: Geometry, points: Reals, step_mm: float) -> Reals:
    """Corners of equilateral triangles inside the area, well away from the outline; centred on it."""
    import shapely  # noqa: PLC0415
    from scipy.spatial import cKDTree  # noqa: PLC0415

    low, high = points.min(axis=0), points.max(axis=0)
    steps = np.array([step_mm, step_mm * np.sqrt(3) / 2])
    counts = np.ceil((high - low) / steps / 2).astype(int)
    column, row = np.meshgrid(*(np.arange(-count, count + 1) for count in counts))
    lattice = np.column_stack([(column + row % 2 / 2).ravel(), row.ravel()]) * steps + (low + high) / 2
    shapely.prepare(area)
    lattice = lattice[shapely.contains_xy(area, lattice[:, 0], lattice[:, 1])]
    near, _ = cKDTree(points).query(lattice, distance_upper_bound=STANDOFF * step_mm)
    return np.asarray(lattice[np.isinf(near)], dtype=np.float64)


def conform(area: Geometry, points: Reals, outline: Indices) -> CopperMesh:
    """Triangulate, halve the outline's edges that are missing until none is, and keep what is in the copper."""
    origin = points.mean(axis=0)
    delaunay = _delaunay(points - origin)
    while True:
        triangles = delaunay.simplices.astype(np.int64)
        count = len(points)
        present = np.sort(_keys(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), count))
        wanted = _keys(outline, count)
        where = np.minimum(np.searchsorted(present, wanted), len(present) - 1)
        span = points[outline[:, 1]] - points[outline[:, 0]]
        missing = (present[where] != wanted) & (np.hypot(span[:, 0], span[:, 1]) > SHORTEST_MM)
        if not missing.any():
            break
        split = outline[missing]
        middle = count + np.arange(len(split))
        middles = points[split].mean(axis=1)
        points = np.vstack([points, middles])
        delaunay = _grown(delaunay, points - origin, len(middles))
        halves = [np.column_stack([split[:, 0], middle]), np.column_stack([middle, split[:, 1]])]
        outline = np.vstack([outline[~missing], *halves])
    return _inside(area, CopperMesh(points, triangles, outline))


def _delaunay(points: Reals) -> Delaunay:
    """Triangulate so that points can be added; not where all first points lie on one circle, as in small grids."""
    from scipy.spatial import Delaunay, QhullError  # noqa: PLC0415 - heavy

    try:
        return Delaunay(points, incremental=True)
    except QhullError:
        return Delaunay(points)


def _grown(delaunay: Delaunay, points: Reals, added: int) -> Delaunay:
    """Triangulate the points, the last of which are new: into the old triangulation where it takes them."""
    from scipy.spatial import QhullError  # noqa: PLC0415 - heavy

    try:
        delaunay.add_points(points[-added:])
    except (QhullError, RuntimeError):
        return _delaunay(points)
    return delaunay


def _inside(area: Geometry, mesh: CopperMesh) -> CopperMesh:
    import shapely  # noqa: PLC0415

    corners = mesh.points_mm[mesh.triangles]
    size = areas_mm2(corners)
    centre = corners.mean(axis=1)
    shapely.prepare(area)
    kept = (size > GRID_MM**2) & shapely.contains_xy(area, centre[:, 0], centre[:, 1])
    if abs(size[kept].sum() - area.area) > 1e-5 * area.area:
        raise MeshFailed(f"{size[kept].sum():.6g} mm2 of triangles on {area.area:.6g} mm2 of copper")
    used, numbers = np.unique(mesh.triangles[kept], return_inverse=True)
    renumber = np.full(len(mesh.points_mm), -1, dtype=np.int64)
    renumber[used] = np.arange(len(used))
    outline = renumber[mesh.outline]
    return replace(
        mesh,
        points_mm=mesh.points_mm[used],
        triangles=numbers.reshape(-1, 3),
        outline=outline[(outline >= 0).all(axis=1)],
    )


def areas_mm2(corners_mm: Reals) -> Reals:
    """Return the area of each triangle; `corners_mm` has shape (triangles, 3, 2)."""
    one, two = corners_mm[:, 1] - corners_mm[:, 0], corners_mm[:, 2] - corners_mm[:, 0]
    return np.asarray(np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]) / 2)


def _keys(edges: Indices, count: int) -> Indices:
    """One number per edge, the same for both directions."""
    return np.asarray(edges.min(axis=1) * count + edges.max(axis=1))
