"""A solution made finer around some places, with the rest as it is.

The triangles around each place are taken out and meshed anew, the finer the nearer to it, and both forms are solved for
the currents that enter them by the conserving form. What the rest of the mesh leaves open shows where the continuous
form is solved for the potentials at the border instead: their two densities are then no farther from the true one than
from one another, in the sum of squares (W. Prager, J. L. Synge, Q. Appl. Math. 5 (1947) 241-269).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity
from stackup_lib.power.network import conductance_matrix, factorized, joined_parts
from stackup_lib.power.rail_drop.elements import (
    Assembly,
    ElementForm,
    ElementLinks,
    MeshedSheet,
    assemble,
    gradients_v_per_mm,
)
from stackup_lib.power.rail_drop.mesh import CopperMesh, Indices, Mask, Reals, conform
from stackup_lib.power.rail_drop.sheets import SheetSolution

if TYPE_CHECKING:
    from scipy.spatial import cKDTree
    from shapely import Geometry

Number = TypeVar("Number", np.float64, np.int64)

REACH_MM = 1.0
"""Triangles nearer to a place than this are meshed anew, and their neighbours."""

STANDOFF = 0.75
"""Distance of points inside from points of the border, in terms of the distance of such points from one another."""

NO_LINKS = ElementLinks(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


@entity
class Fineness:
    """Longest edge of a triangle: at a place, and as a share of the distance from it."""

    edge_mm: float
    grade: float

    def of(self, away_mm: Reals) -> Reals:
        """Return the longest edge at distances from the nearest place."""
        return np.maximum(self.edge_mm, self.grade * away_mm)


@entity
class Field:
    """Sizes of densities in triangles, in amperes per mm of width.

    Attributes:
        corners_mm: shape (triangles, 3, 2); `sheet_of`: the sheet of each.
        middle: of the mean of both forms; `apart`: of their difference.
        other: of the continuous form between the potentials of the rest.
    """

    corners_mm: Reals
    sheet_of: Indices
    middle: Reals
    apart: Reals
    other: Reals


@entity
class _Cut:
    """The triangles of one sheet around some places, and what is held at their border.

    Attributes:
        ends_mm: shape (edges, 2, 2), of the border.
        volts: shape (edges, 2), potentials of the continuous form at the ends; NaN where no copper goes on.
        amperes: per edge, into the triangles by the conserving form.
        node: of the contact on which an edge lies, or -1.
    """

    area: Geometry
    ends_mm: Reals
    volts: Reals
    amperes: Reals
    node: Indices


@entity
class _Border:
    """Edges at the border of the new mesh.

    Attributes:
        points, edges: unknowns of their ends, shape (edges, 2), and of themselves, shape (edges, 1).
        ends_mm: shape (edges, 2, 2).
        on: edge of the cut on which each lies.
    """

    points: Indices
    edges: Indices
    ends_mm: Reals
    on: Indices


def field_of(solution: SheetSolution) -> Field:
    """Return the densities of a solution as it is."""
    assembly = solution.assembly
    conserving, continuous = solution.density_a_per_mm, _density(assembly, solution.volts, conserving=False)
    return _field(assembly, assembly.sheet_of, conserving, continuous, continuous)


def finer_field(solution: SheetSolution, places: Sequence[Reals], fineness: Fineness) -> Field:
    """Return the densities around some places, solved on finer triangles; `places` of each sheet have shape (n, 2).

    Raises:
        MeshFailed: the copper there cannot be meshed.
    """
    used = [sheet for sheet, some in enumerate(places) if len(some)]
    cuts = [_cut(solution, sheet, places[sheet]) for sheet in used]
    meshes = [
        MeshedSheet(cut.area, solution.sheets[sheet].sheet_ohm, _graded_mesh(cut, places[sheet], fineness))
        for sheet, cut in zip(used, cuts, strict=True)
    ]
    assembly = assemble(meshes, [], NO_LINKS, 0)
    borders = [_border(assembly, number, cut) for number, cut in enumerate(cuts)]
    conserving = _with_amperes(assembly.conserving, [border.edges for border in borders], cuts, borders)
    continuous = _with_amperes(assembly.continuous, [border.points for border in borders], cuts, borders)
    return _field(
        assembly,
        np.array(used, dtype=np.int64)[assembly.sheet_of],
        _density(assembly, conserving, conserving=True),
        _density(assembly, continuous, conserving=False),
        _density(assembly, _with_volts(assembly.continuous, cuts, borders), conserving=False),
    )


def _field(assembly: Assembly, sheet_of: Indices, conserving: Reals, continuous: Reals, other: Reals) -> Field:
    middle, apart = size_of((conserving + continuous) / 2), size_of(conserving - continuous)
    return Field(assembly.corners_mm, sheet_of, middle, apart, size_of(other))


def _density(assembly: Assembly, volts: Reals, *, conserving: bool) -> Reals:
    return np.asarray(-assembly.siemens[:, None] * gradients_v_per_mm(assembly, volts, conserving=conserving))


def _cut(solution: SheetSolution, sheet: int, places: Reals) -> _Cut:
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    assembly = solution.assembly
    rows = np.flatnonzero(assembly.sheet_of == sheet)
    shapes = shapely.polygons(assembly.corners_mm[rows])
    _, near = shapely.STRtree(shapes).query(shapely.points(places), predicate="dwithin", distance=REACH_MM)
    edges = assembly.conserving.unknowns[rows]
    is_contact = edges < assembly.node_count
    met = np.zeros(assembly.conserving.count, dtype=bool)
    met[edges[near]] = True
    mine = np.asarray((met[edges] & ~is_contact).any(axis=1), dtype=np.bool_)
    mine[near] = True
    everywhere, inside = (np.bincount(some.ravel(), minlength=len(met)) for some in (edges, edges[mine]))
    triangle, side = np.nonzero((is_contact | (inside[edges] == 1)) & mine[:, None])
    row, edge, on_contact = rows[triangle], edges[triangle, side], is_contact[triangle, side]
    goes_on = on_contact | (everywhere[edge] > 1)
    ends = ends_of(assembly.corners_mm, row, side)
    amperes = _inward_a(ends, assembly.corners_mm[row, side], solution.density_a_per_mm[row])
    return _Cut(
        area=shapely.coverage_union_all(shapes[mine]),
        ends_mm=ends,
        volts=np.where(goes_on[:, None], solution.volts[ends_of(assembly.continuous.unknowns, row, side)], np.nan),
        amperes=np.where(goes_on, amperes, 0.0),
        node=np.where(on_contact, edge, -1),
    )


def ends_of(corners: NDArray[Number], triangle: Indices, side: Indices) -> NDArray[Number]:
    """Return what holds at both ends of some sides, of what holds at the corners of all triangles."""
    return np.stack([corners[triangle, (side + k) % 3] for k in (1, 2)], axis=1)


def _inward_a(ends: Reals, opposite: Reals, density: Reals) -> Reals:
    """Return the current that a density leads into triangles through one of their sides."""
    along, away = ends[:, 1] - ends[:, 0], opposite - ends[:, 0]
    across = along[:, 0] * density[:, 1] - along[:, 1] * density[:, 0]
    return np.asarray(across * np.sign(along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]))


def _graded_mesh(cut: _Cut, places: Reals, fineness: Fineness) -> CopperMesh:
    """Mesh an area, the finer the nearer to one of the places."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    near = cKDTree(places)
    border, edges = _graded_border(cut, near, fineness)
    points = [border]
    step, farthest = fineness.edge_mm, float(near.query(border)[0].max())
    while step == fineness.edge_mm or step <= fineness.grade * farthest:
        points.append(_lattice(cut, near, cKDTree(border), fineness, step))
        step *= 2
    return conform(cut.area, np.vstack(points), edges)


def _graded_border(cut: _Cut, near: cKDTree, fineness: Fineness) -> tuple[Reals, Indices]:
    """Halve edges of a border until they are short enough."""
    points, number = np.unique(cut.ends_mm.reshape(-1, 2), axis=0, return_inverse=True)
    edges = number.reshape(-1, 2)
    while True:
        ends, middles = points[edges], points[edges].mean(axis=1)
        away = np.min([near.query(some)[0] for some in (ends[:, 0], middles, ends[:, 1])], axis=0)
        long = size_of(ends[:, 1] - ends[:, 0]) > fineness.of(away)
        if not long.any():
            return points, edges
        added = len(points) + np.arange(int(long.sum()))
        halves = [np.column_stack([edges[long, 0], added]), np.column_stack([added, edges[long, 1]])]
        points, edges = np.vstack([points, middles[long]]), np.vstack([edges[~long], *halves])


def _lattice(cut: _Cut, near: cKDTree, border: cKDTree, fineness: Fineness, step: float) -> Reals:
    """Corners of equilateral triangles inside an area, around each place where edges of up to twice a step do."""
    import shapely  # noqa: PLC0415

    places = near.data
    reach = 2 * step / fineness.grade
    count = int(1.2 * reach / step) + 2
    column, row = np.meshgrid(*2 * [np.arange(-count, count + 1)])
    around = np.column_stack([(column + row % 2 / 2).ravel(), row.ravel() * np.sqrt(3) / 2]) * step
    around = around[size_of(around) <= reach]
    points = (places[:, None] + around).reshape(-1, 2)
    away, nearest = near.query(points)
    longest = fineness.of(away)
    is_of_place = nearest == np.repeat(np.arange(len(places)), len(around))
    points = points[is_of_place & (longest >= step) & (longest < 2 * step)]
    shapely.prepare(cut.area)
    points = points[shapely.contains_xy(cut.area, points[:, 0], points[:, 1])]
    from_border, _ = border.query(points, distance_upper_bound=STANDOFF * step)
    return np.asarray(points[np.isinf(from_border)], dtype=np.float64)


def _border(assembly: Assembly, number: int, cut: _Cut) -> _Border:
    import shapely  # noqa: PLC0415

    edges = assembly.conserving.unknowns
    met = np.bincount(edges.ravel(), minlength=assembly.conserving.count)
    triangle, side = np.nonzero((met[edges] == 1) & (assembly.sheet_of == number)[:, None])
    ends = ends_of(assembly.corners_mm, triangle, side)
    tree = shapely.STRtree(shapely.linestrings(cut.ends_mm))
    _, on = tree.query_nearest(shapely.points(ends.mean(axis=1)), all_matches=False)
    points = ends_of(assembly.continuous.unknowns, triangle, side)
    return _Border(points, edges[triangle, side][:, None], ends, on)


def _with_volts(form: ElementForm, cuts: Sequence[_Cut], borders: Sequence[_Border]) -> Reals:
    """Solve the continuous form for the potentials at the border; straight lines join those of the rest."""
    volts = np.full(form.count, np.nan)
    for border, cut in zip(borders, cuts, strict=True):
        first, span = cut.ends_mm[border.on, 0], cut.ends_mm[border.on, 1] - cut.ends_mm[border.on, 0]
        start, rise = cut.volts[border.on, 0], cut.volts[border.on, 1] - cut.volts[border.on, 0]
        for points, place in zip(border.points.T, border.ends_mm.transpose(1, 0, 2), strict=True):
            value = start + rise * ((place - first) * span).sum(axis=1) / (span**2).sum(axis=1)
            held = ~np.isnan(value)
            volts[points[held]] = value[held]
    return _solved(form, form.unknowns, np.nan_to_num(volts), ~np.isnan(volts), np.zeros(form.count))


def _with_amperes(
    form: ElementForm, ends: Sequence[Indices], cuts: Sequence[_Cut], borders: Sequence[_Border]
) -> Reals:
    """Solve a form for the currents through the border, where `ends` are its unknowns; a contact is one unknown."""
    into = np.zeros(form.count)
    merged = np.arange(form.count)
    for at, border, cut in zip(ends, borders, cuts, strict=True):
        node = cut.node[border.on]
        for one in distinct(node[node >= 0]).tolist():
            merged[at[node == one]] = at[node == one].min()
        share = size_of(border.ends_mm[:, 1] - border.ends_mm[:, 0])
        share /= size_of(cut.ends_mm[:, 1] - cut.ends_mm[:, 0])[border.on]
        for unknowns in at.T:
            np.add.at(into, merged[unknowns], share * cut.amperes[border.on] / at.shape[1])
    unknowns = merged[form.unknowns]
    around = np.concatenate([unknowns[:, 0], unknowns[:, 1]]), np.concatenate([unknowns[:, 1], unknowns[:, 2]])
    held = merged != np.arange(form.count)
    held[np.unique(joined_parts(*around, form.count), return_index=True)[1]] = True
    return np.asarray(_solved(form, unknowns, np.zeros(form.count), held, into)[merged])


def _solved(form: ElementForm, unknowns: Indices, volts: Reals, held: Mask, into: Reals) -> Reals:
    """Solve a form of which some unknowns are held, for the currents into the others."""
    free = np.flatnonzero(~held)
    row_of = np.full(form.count, -1, dtype=np.int64)
    row_of[free] = np.arange(len(free))
    owed = np.einsum("tij,tj->ti", form.stiffness, volts[unknowns])
    right = into - np.bincount(unknowns.ravel(), owed.ravel(), form.count)
    rows, columns = np.repeat(row_of[unknowns], 3, axis=1).ravel(), np.tile(row_of[unknowns], (1, 3)).ravel()
    found = volts.copy()
    found[free] = factorized(conductance_matrix(rows, columns, form.stiffness.ravel(), len(free))).solve(right[free])
    return found


def size_of(vectors: Reals) -> Reals:
    """Return the lengths of vectors, shape (..., 2)."""
    return np.asarray(np.hypot(vectors[..., 0], vectors[..., 1]))
