"""Direct current in thin sheets of copper joined by barrels, between a lower and an upper bound.

Two solutions on one mesh bracket the exact one. Potentials that are continuous and linear in every triangle dissipate
less than the true field does for the same currents (Dirichlet's principle); the piecewise constant fluxes of the
Crouzeix-Raviart element conserve current through every edge and dissipate more (Thomson's principle; L. D. Marini, SIAM
J. Numer. Anal. 22 (1985) 493-496: with no source inside, they are the lowest Raviart-Thomas fluxes). Where the two
differ the mesh is refined (W. Prager, J. L. Synge, Q. Appl. Math. 5 (1947) 241-269).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.core.interval import Interval
from stackup_lib.core.record import entity, record
from stackup_lib.power.network import joined_parts
from stackup_lib.power.rail_drop.elements import (
    ON_CONTACT_MM,
    Assembly,
    ElementLinks,
    MeshedSheet,
    Potentials,
    assemble,
    gradients_v_per_mm,
    joined_to,
    solve_form,
)
from stackup_lib.power.rail_drop.mesh import Indices, Mask, MeshFailed, Reals, areas_mm2, make_mesh, refine_mesh

if TYPE_CHECKING:
    from shapely import Geometry

REFINED_SHARE = 0.7
"""Share of the gap between the bounds that the refined triangles of one pass hold (W. Doerfler's marking)."""

POINTS_PER_TRIANGLE = 1.5
"""Mesh points that a refined triangle adds, each edge being shared by two."""


SNAP_MM = 1e-4
"""Corners are moved by up to half of this, so that no gap or sliver of copper is thinner."""

MOST_CORNERS = 250_000
"""Corners of all outlines up to which memory stays under about half a gigabyte."""


class NotJoined(Exception):  # noqa: N818 - caught inside this room, which names the load
    """No copper joins the source to these loads, by their numbers."""

    def __init__(self, loads: tuple[int, ...]) -> None:
        super().__init__(loads)
        self.loads = loads


@record
class CopperSheet:
    """Copper of one thickness: a shapely polygon or several, in mm, and its resistance per square."""

    area: Geometry
    sheet_ohm: float


@record
class Contact:
    """A region of a sheet on one potential, that of `node`; contacts that touch are one."""

    sheet: int
    area: Geometry
    node: int


@record
class Barrel:
    """A resistor between two nodes; positive current flows from `first` to `second`."""

    first: int
    second: int
    resistance_ohm: float


@record
class SheetNetwork:
    """Sheets, contacts and barrels; current enters at node `source` and leaves at the loads.

    Attributes:
        loads: (node, current in A) of each; several may have the same node.
    """

    sheets: Sequence[CopperSheet]
    contacts: Sequence[Contact]
    barrels: Sequence[Barrel]
    source: int
    loads: Sequence[tuple[int, float]]

    @property
    def node_count(self) -> int:
        """Number of nodes: the largest that is named, and one."""
        named = [self.source, *(c.node for c in self.contacts), *(node for node, _ in self.loads)]
        return 1 + max([*named, *(max(b.first, b.second) for b in self.barrels)])


@record
class Precision:
    """When to stop.

    Attributes:
        step_mm: longest edge of the first mesh.
        gap: wanted distance of the bounds of the power, as a share of their middle.
        most_points: no refinement beyond this many mesh points; the bounds then stay as wide as they are.
        most_passes: no more meshes than this.
    """

    step_mm: float = 2.0
    gap: float = 0.05
    most_points: int = 80_000
    most_passes: int = 12


@entity
class SheetSolution:
    """What flows where.

    Attributes:
        drops_v: source to each load.
        parts_v: shape (loads, sheets + 1): what of each drop arises in each sheet, and in all barrels.
        power_w: in all the copper.
        sheet_power_w: per sheet, middle of the bounds.
        barrel_current_a: per barrel, signed; 0 for one that no current reaches.
        barrel_power_w: in all barrels.
        size_mm2, density_a_per_mm: per triangle of `assembly`; density is a vector of current per mm of width.
        points: mesh points; `passes`: meshes that were solved.
        assembly: the last mesh's equations; triangles that current can reach.
        volts: drop from the source at each unknown of the continuous form.
        node_of: the number under which each node was solved: contacts that touch share one; `source`: that of it.
        sheets: as meshed; `kept`: which of their triangles `assembly` has.
        gap_w: per triangle of `assembly`, its part of the gap between the bounds of the power.
    """

    drops_v: tuple[Interval, ...]
    parts_v: Reals
    power_w: Interval
    sheet_power_w: tuple[float, ...]
    barrel_current_a: Reals
    barrel_power_w: float
    size_mm2: Reals
    density_a_per_mm: Reals
    points: int
    passes: int
    assembly: Assembly
    volts: Reals
    node_of: Indices
    source: int
    sheets: Sequence[MeshedSheet]
    kept: Mask
    gap_w: Reals


def solve_sheets(network: SheetNetwork, precision: Precision | None = None) -> SheetSolution:
    """Return drops, currents and power of a network of sheets, with bounds that hold the exact values.

    Raises:
        NotJoined: no copper joins the source to a load.
        MeshFailed: a sheet cannot be meshed, has too many corners, or there is nothing between source and loads.
    """
    goal = precision or Precision()
    if not network.sheets:  # a net without copper
        raise NotJoined(tuple(range(len(network.loads))))
    node_of = _merged(network)
    areas = [
        _conducting(sheet.area, [c for c in network.contacts if c.sheet == i], node_of)
        for i, sheet in enumerate(network.sheets)
    ]
    _refuse_too_many_corners(areas)
    sheets = [
        MeshedSheet(area, sheet.sheet_ohm, make_mesh(area, goal.step_mm))
        for area, sheet in zip(areas, network.sheets, strict=True)
    ]
    solution = _solve(network, node_of, sheets, 1)
    while solution.passes < goal.most_passes and _gap(solution) > goal.gap:
        room = int((goal.most_points - solution.points) / POINTS_PER_TRIANGLE)
        marked = _marked(solution.gap_w, room)
        if not marked.any():
            break
        solution = _solve(network, node_of, _refined(solution, marked), solution.passes + 1)
    return solution


def solve_closer(network: SheetNetwork, solution: SheetSolution, gap: float, most_work: int) -> SheetSolution:
    """Return where current flows, with a smaller gap between the bounds; drops and power are left as they are.

    `most_work` is the sum of the mesh points of all passes but the first: beyond that the gap is left as it is.
    """
    work, found = 0, solution
    while work <= most_work and _gap(found) > gap:
        sheets = _refined(found, _marked(found.gap_w, most_work))
        found = _solve(network, solution.node_of, sheets, found.passes + 1, each=False)
        work += found.points
    return replace(found, drops_v=solution.drops_v, parts_v=solution.parts_v)


def _gap(solution: SheetSolution) -> float:
    """Distance of the bounds of the power, as a share of their middle."""
    power = solution.power_w
    return (power.high - power.low) / power.nominal if power.nominal else 0.0


def _refuse_too_many_corners(areas: Sequence[Geometry]) -> None:
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    count = sum(int(shapely.get_num_coordinates(area)) for area in areas)
    if count > MOST_CORNERS:
        raise MeshFailed(f"{count} corners, of {MOST_CORNERS} that fit into memory")


def _merged(network: SheetNetwork) -> Indices:
    """Give nodes whose contacts touch on a sheet one number."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    first: list[Indices] = []
    second: list[Indices] = []
    for i in range(len(network.sheets)):
        mine = [c for c in network.contacts if c.sheet == i]
        nodes = np.array([c.node for c in mine], dtype=np.int64)
        regions = np.array([c.area for c in mine], dtype=object)
        one, two = shapely.STRtree(regions).query(regions, predicate="dwithin", distance=1e-6)
        first.append(nodes[one])
        second.append(nodes[two])
    return joined_parts(np.concatenate(first), np.concatenate(second), network.node_count)


def _conducting(area: Geometry, contacts: list[Contact], node_of: Indices) -> Geometry:
    """Copper around its contacts, without the parts that touch fewer than two nodes: no current flows in those."""
    import shapely  # noqa: PLC0415

    regions = [c.area for c in contacts]
    cut = shapely.difference(area, shapely.union_all(regions), grid_size=SNAP_MM) if contacts else area
    parts = np.array([part for part in shapely.get_parts(cut) if part.geom_type == "Polygon"], dtype=object)
    part_of, region_of = shapely.STRtree(regions).query(parts, predicate="dwithin", distance=ON_CONTACT_MM)
    nodes = node_of[np.array([c.node for c in contacts], dtype=np.int64)[region_of]]
    pairs = np.unique(np.column_stack([part_of, nodes]), axis=0)
    live = np.bincount(pairs[:, 0].astype(np.int64), minlength=len(parts)) > 1
    return shapely.MultiPolygon(parts[live].tolist())


def _solve(
    network: SheetNetwork, node_of: Indices, sheets: Sequence[MeshedSheet], done: int, *, each: bool = True
) -> SheetSolution:
    """Solve both forms on one mesh, for each load alone as well or not."""
    contacts = [(c.sheet, c.area, int(node_of[c.node])) for c in network.contacts]
    full = assemble(sheets, contacts, _links(network, node_of), int(node_of.max()) + 1)
    source = int(node_of[network.source])
    reached = joined_to(full, source)
    nodes = node_of[[node for node, _ in network.loads]]
    if not reached[nodes].all():
        raise NotJoined(tuple(np.flatnonzero(~reached[nodes]).tolist()))
    kept = reached[full.conserving.unknowns[:, 0]]
    live = reached[full.links.first]
    links = ElementLinks(full.links.first[live], full.links.second[live], full.links.siemens[live])
    if not kept.any():
        raise MeshFailed("the pads of its ends touch, with no copper between them")
    assembly = replace(full.only(kept), links=links)
    amperes = np.array([current for _, current in network.loads])
    lower = solve_form(assembly, assembly.continuous, source, nodes, amperes, each=each)
    upper = solve_form(assembly, assembly.conserving, source, nodes, amperes, each=each)
    low_field = gradients_v_per_mm(assembly, lower.volts, conserving=False)
    high_field = gradients_v_per_mm(assembly, upper.volts, conserving=True)
    size = areas_mm2(assembly.corners_mm)
    heat = assembly.siemens * size * ((low_field**2).sum(axis=1) + (high_field**2).sum(axis=1)) / 2
    current = _barrel_currents(network, node_of, upper)
    resistance = np.array([b.resistance_ohm for b in network.barrels])
    return SheetSolution(
        drops_v=_drops(lower, upper, amperes),
        parts_v=(lower.parts_v + upper.parts_v) / 2,
        power_w=_ordered(lower.power_w, upper.power_w),
        sheet_power_w=tuple(np.bincount(assembly.sheet_of, heat, len(sheets)).tolist()),
        barrel_current_a=current,
        barrel_power_w=float((resistance * current**2).sum()),
        size_mm2=size,
        density_a_per_mm=-assembly.siemens[:, None] * high_field,
        points=sum(len(s.mesh.points_mm) for s in sheets),
        passes=done,
        assembly=assembly,
        volts=lower.volts,
        node_of=node_of,
        source=source,
        sheets=sheets,
        kept=kept,
        gap_w=assembly.siemens * size * ((low_field - high_field) ** 2).sum(axis=1),
    )


def _links(network: SheetNetwork, node_of: Indices) -> ElementLinks:
    first = node_of[np.array([b.first for b in network.barrels], dtype=np.int64)]
    second = node_of[np.array([b.second for b in network.barrels], dtype=np.int64)]
    return ElementLinks(first, second, np.array([1 / b.resistance_ohm for b in network.barrels]))


def _barrel_currents(network: SheetNetwork, node_of: Indices, solved: Potentials) -> Reals:
    """Potentials are drops from the source, so current flows toward the larger one."""
    links = _links(network, node_of)
    return np.asarray((solved.volts[links.second] - solved.volts[links.first]) * links.siemens)


def _drops(lower: Potentials, upper: Potentials, amperes: Reals) -> tuple[Interval, ...]:
    """Bound the drop at each load.

    The true matrix of resistances is the lower one plus E, where E and D - E are positive semidefinite, D being the
    difference of both. Hence e.E.I differs from e.D.I/2 by at most sqrt(e.D.e I.D.I)/2 (Cauchy and Schwarz). Where no
    load feeds current in, none lifts another: a drop is at least what the load's own current causes.
    """
    between = upper.resistance_ohm - lower.resistance_ohm
    between = (between + between.T) / 2
    whole = max(float(amperes @ between @ amperes), 0.0)
    middle = (upper.resistance_ohm + lower.resistance_ohm) @ amperes / 2
    half = np.sqrt(np.maximum(np.diag(between), 0.0) * whole) / 2
    low = middle - half
    if (amperes >= 0).all():
        low = np.clip(low, np.minimum(np.diag(lower.resistance_ohm) * amperes, middle), None)
    bounds = zip(low.tolist(), middle.tolist(), (middle + half).tolist(), strict=True)
    return tuple(Interval(low=a, nominal=b, high=c) for a, b, c in bounds)


def _ordered(low: float, high: float) -> Interval:
    """Bounds that agree to rounding may come in either order."""
    return Interval(low=min(low, high), nominal=(low + high) / 2, high=max(low, high))


def _marked(gap_w: Reals, room: int) -> Mask:
    """Mark the triangles that hold most of the gap, no more than there is room for."""
    order = np.argsort(-gap_w, kind="stable")
    sums = np.cumsum(gap_w[order])
    count = min(int(np.searchsorted(sums, REFINED_SHARE * sums[-1])) + 1, max(room, 0), len(order))
    marked = np.zeros(len(gap_w), dtype=bool)
    marked[order[:count]] = True
    return marked


def _refined(solution: SheetSolution, marked: Mask) -> list[MeshedSheet]:
    """Refine the meshes around some triangles of a solution."""
    of_all = solution.kept.copy()
    of_all[of_all] = marked
    bounds = np.cumsum([0, *(len(s.mesh.triangles) for s in solution.sheets)])
    return [
        replace(s, mesh=refine_mesh(s.area, s.mesh, of_all[first:last]))
        for s, first, last in zip(solution.sheets, bounds[:-1], bounds[1:], strict=True)
    ]
