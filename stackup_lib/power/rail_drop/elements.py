"""Finite elements on meshed sheets: equations of the continuous and of the flux-conserving form, and their solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity, record
from stackup_lib.power.network import conductance_entries, conductance_matrix, factorized, joined_parts
from stackup_lib.power.rail_drop.mesh import CopperMesh, Indices, Mask, Reals, areas_mm2

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix
    from shapely import Geometry

ON_CONTACT_MM = 2e-4
"""An outline edge whose middle is nearer than this to a contact is on it; corners are snapped to half of this."""

COLUMNS = 16
"""Loads that are solved for at once: memory stays bounded."""


@record
class MeshedSheet:
    """A sheet without its contacts, and its triangles."""

    area: Geometry
    sheet_ohm: float
    mesh: CopperMesh


@entity
class ElementForm:
    """One form of the equations: unknowns 0 .. node_count-1 are the nodes, the others points or edges of triangles.

    Attributes:
        unknowns: shape (triangles, 3), those of each triangle.
        stiffness: shape (triangles, 3, 3), in siemens.
        count: number of unknowns.
    """

    unknowns: Indices
    stiffness: Reals
    count: int


@entity
class ElementLinks:
    """Resistors between nodes."""

    first: Indices
    second: Indices
    siemens: Reals


@entity
class Assembly:
    """Both forms over all sheets, triangle by triangle.

    Attributes:
        corners_mm: shape (triangles, 3, 2).
        sheet_of: sheet of each triangle.
        siemens: conductance per square of each triangle's sheet.
        continuous: unknowns at the triangles' corners.
        conserving: unknowns at the edges opposite the corners.
    """

    corners_mm: Reals
    sheet_of: Indices
    siemens: Reals
    continuous: ElementForm
    conserving: ElementForm
    links: ElementLinks
    node_count: int
    sheet_count: int

    def only(self, kept: Mask) -> Assembly:
        """Return the assembly with some of its triangles."""
        continuous, conserving = (
            replace(form, unknowns=form.unknowns[kept], stiffness=form.stiffness[kept])
            for form in (self.continuous, self.conserving)
        )
        return replace(
            self,
            corners_mm=self.corners_mm[kept],
            sheet_of=self.sheet_of[kept],
            siemens=self.siemens[kept],
            continuous=continuous,
            conserving=conserving,
        )


def assemble(
    sheets: Sequence[MeshedSheet], contacts: Sequence[tuple[int, Geometry, int]], links: ElementLinks, node_count: int
) -> Assembly:
    """Return the equations of meshed sheets; a contact is (sheet, region, node)."""
    corners, sheet_of, at_points, at_edges = [], [], [], []
    points = edges = node_count
    for i, sheet in enumerate(sheets):
        mesh = sheet.mesh
        mine = [(region, node) for on, region, node in contacts if on == i]
        point_numbers, edge_numbers, points, edges = _numbers(mesh, mine, points, edges)
        corners.append(mesh.points_mm[mesh.triangles])
        sheet_of.append(np.full(len(mesh.triangles), i, dtype=np.int64))
        at_points.append(point_numbers)
        at_edges.append(edge_numbers)
    all_corners = np.concatenate(corners)
    where = np.concatenate(sheet_of)
    siemens = np.array([1 / s.sheet_ohm for s in sheets])[where]
    opposite = all_corners[:, [2, 0, 1]] - all_corners[:, [1, 2, 0]]
    local = np.einsum("tik,tjk->tij", opposite, opposite) * (siemens / 4 / areas_mm2(all_corners))[:, None, None]
    return Assembly(
        all_corners,
        where,
        siemens,
        ElementForm(np.concatenate(at_points), local, points),
        ElementForm(np.concatenate(at_edges), 4 * local, edges),
        links,
        node_count,
        len(sheets),
    )


def _numbers(
    mesh: CopperMesh, contacts: list[tuple[Geometry, int]], points: int, edges: int
) -> tuple[Indices, Indices, int, int]:
    """Number the unknowns of one sheet; those on a contact carry its node."""
    count = len(mesh.points_mm)
    sides = np.concatenate([mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]], mesh.triangles[:, [0, 1]]])
    unique, inverse = np.unique(sides.min(axis=1) * count + sides.max(axis=1), return_inverse=True)
    ends, edges_of = np.column_stack([unique // count, unique % count]), inverse.reshape(3, -1).T
    met = np.bincount(inverse, minlength=len(ends))
    node = np.full(len(ends), -1, dtype=np.int64)
    border = np.flatnonzero(met == 1)
    node[border] = _contact_of(mesh.points_mm[ends[border]].mean(axis=1), contacts)
    point_node = np.full(count, -1, dtype=np.int64)
    held = node >= 0
    point_node[ends[held].ravel()] = np.repeat(node[held], 2)
    point_numbers, points = _fill_in(point_node, points)
    edge_numbers, edges = _fill_in(node, edges)
    return point_numbers[mesh.triangles], edge_numbers[edges_of], points, edges


def _fill_in(node: Indices, first: int) -> tuple[Indices, int]:
    free = node < 0
    numbers = np.where(free, first + np.cumsum(free) - 1, node)
    return numbers, first + int(free.sum())


def _contact_of(places: Reals, contacts: list[tuple[Geometry, int]]) -> Indices:
    """Node of the contact that each place is on, -1 for none."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    found = np.full(len(places), -1, dtype=np.int64)
    if contacts and len(places):
        tree = shapely.STRtree([region for region, _ in contacts])
        hit, which = tree.query(shapely.points(places), predicate="dwithin", distance=ON_CONTACT_MM)
        found[hit] = np.array([node for _, node in contacts], dtype=np.int64)[which]
    return found


def joined_to(assembly: Assembly, node: int) -> Mask:
    """Return which unknowns of the conserving form current from a node can reach; points alone do not conduct."""
    u = assembly.conserving.unknowns
    rows = np.concatenate([u[:, 0], u[:, 1], assembly.links.first])
    columns = np.concatenate([u[:, 1], u[:, 2], assembly.links.second])
    label = joined_parts(rows, columns, assembly.conserving.count)
    return np.asarray(label == label[node])


@entity
class Potentials:
    """Solution of one form.

    Attributes:
        resistance_ohm: shape (loads, loads): drop at the one for 1 A at the other.
        volts: drop from the source at each unknown for the loads' own currents; 0 where no current can go.
        parts_v: shape (loads, sheets + 1): how much of the drop at each load arises in each sheet, and in all links.
        power_w: of all currents together.
    """

    resistance_ohm: Reals
    volts: Reals
    parts_v: Reals
    power_w: float


def solve_form(
    assembly: Assembly, form: ElementForm, source: int, nodes: Indices, amperes: Reals, *, each: bool = True
) -> Potentials:
    """Solve one form for currents that enter at the source node and leave at the given nodes.

    Without `each` it is solved for all currents together alone: resistances, and parts of drops, are left at 0.
    """
    links = assembly.links
    free = distinct(np.concatenate([form.unknowns.ravel(), links.first, links.second]))
    free = free[free != source]
    row_of = np.full(form.count, -1, dtype=np.int64)
    row_of[free] = np.arange(len(free))
    factors = factorized(_matrix(form, links, row_of, len(free)))
    rows = row_of[nodes]
    drawn = rows >= 0
    load = np.zeros(len(free))
    np.add.at(load, rows[drawn], amperes[drawn])
    volts = np.zeros(form.count)
    volts[free] = factors.solve(load)
    resistance = np.zeros((len(nodes), len(nodes)))
    into = _currents_into(assembly, form, volts, row_of, len(free))
    parts = np.zeros((len(nodes), into.shape[1]))
    for first in range(0, len(nodes) if each else 0, COLUMNS):
        chunk = np.arange(first, min(first + COLUMNS, len(nodes)))
        right = np.zeros((len(free), len(chunk)))
        right[rows[chunk][drawn[chunk]], np.flatnonzero(drawn[chunk])] = 1.0
        solved = factors.solve(right)
        resistance[:, chunk] = np.where(drawn[:, None], solved[rows], 0.0)
        parts[chunk] = solved.T @ into
    return Potentials(resistance, volts, parts, float(load @ volts[free]))


def _currents_into(assembly: Assembly, form: ElementForm, volts: Reals, row_of: Indices, size: int) -> Reals:
    """Return the current that each sheet, and all links as the last, lead into each free unknown.

    Times the potentials of 1 A at one load that is what the drop there owes to each (B. D. H. Tellegen, Philips
    Research Reports 7 (1952) 259): the potentials of one current with the currents of another.
    """
    links, groups = assembly.links, assembly.sheet_count + 1
    sheets = np.einsum("tij,tj->ti", form.stiffness, volts[form.unknowns])
    barrels = links.siemens * (volts[links.first] - volts[links.second])
    last = np.full(len(barrels), groups - 1)
    rows = np.concatenate([row_of[form.unknowns].ravel(), row_of[links.first], row_of[links.second]])
    group = np.concatenate([np.repeat(assembly.sheet_of, 3), last, last])
    amperes = np.concatenate([sheets.ravel(), barrels, -barrels])
    kept = rows >= 0
    found = np.bincount(rows[kept] * groups + group[kept], amperes[kept], size * groups)
    return np.asarray(found.reshape(size, groups), dtype=np.float64)


def _matrix(form: ElementForm, links: ElementLinks, row_of: Indices, size: int) -> csc_matrix:
    u = row_of[form.unknowns]
    of_triangles = np.repeat(u, 3, axis=1).ravel(), np.tile(u, (1, 3)).ravel(), form.stiffness.ravel()
    of_links = conductance_entries(row_of[links.first], row_of[links.second], links.siemens)
    rows, columns, values = (np.concatenate(both) for both in zip(of_triangles, of_links, strict=True))
    return conductance_matrix(rows, columns, values, size)


def gradients_v_per_mm(assembly: Assembly, volts: Reals, *, conserving: bool) -> NDArray[np.float64]:
    """Return the gradient of the potential in each triangle, shape (triangles, 2)."""
    corners = assembly.corners_mm
    opposite = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    slopes = np.stack([-opposite[:, :, 1], opposite[:, :, 0]], axis=2) / twice[:, None, None]
    form = assembly.conserving if conserving else assembly.continuous
    values = volts[form.unknowns] * (-2.0 if conserving else 1.0)
    return np.asarray(np.einsum("ti,tik->tk", values, slopes), dtype=np.float64)
