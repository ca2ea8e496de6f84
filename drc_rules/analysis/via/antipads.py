"""How wide the openings of planes are round holes: as the stored fills have them, else as the board's rules make them.

The nearest copper decides: an opening that several holes share counts as a round one that fits into it, which loads
the barrel more than the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.holes import drilled_one_mm
from stackup_lib.board.board import Floats
from stackup_lib.copper.fill_edges import PEN_DRAWN, FillEdges
from stackup_lib.copper.hole_to_fill import SHORTEST_MM, nearest_of_each
from stackup_lib.core.arrays import median
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import entity
from stackup_lib.vias.plated_holes import PlatedHole

USUAL_CLEARANCE_MM = 0.2
"""From a via's pad, or from its hole, to the planes where the project states none: a new KiCad project's."""

REACH_MM = 0.5
"""A plane that ends further away than this beyond the opening of the rules is none to the hole."""

LEAST_RING_MM = 0.05
"""Between the copper of a hole and a plane; what is nearer is a short or no round pad."""


@entity
class Openings:
    """Radius of the opening round each hole on each plane, in mm; infinite where no plane is near."""

    planes: tuple[int, ...]
    radius_mm: Floats

    def of(self, rows: Sequence[int], layers: range) -> Floats:
        """Return the diameters round some holes on the planes among some layers."""
        columns = [k for k, plane in enumerate(self.planes) if plane in layers]
        found = 2 * self.radius_mm[np.ix_(list(rows), columns)].ravel()
        return np.asarray(found[np.isfinite(found)].round(3))  # chords of arcs are no truer


def openings(ctx: Context, holes: tuple[PlatedHole, ...]) -> Openings:
    """Read the openings of all planes round some holes from the stored fills of other nets."""
    planes = tuple(layer for layer, use in enumerate(ctx.uses) if use.is_plane)
    radius = np.full((len(holes), len(planes)), np.inf)
    if len(holes) and ctx.board.format_version >= PEN_DRAWN:  # older fills are wider than stored
        reach = np.array([opening_by_rule_mm(ctx, hole) / 2 + REACH_MM for hole in holes])
        for column, layer in enumerate(planes):
            rows = [k for k, hole in enumerate(holes) if hole.top <= layer <= hole.bottom]
            if rows:
                radius[rows, column] = _nearest_mm(ctx.copper.edges(layer), [holes[k] for k in rows], reach[rows])
        least = np.array([_copper_mm(hole) / 2 + LEAST_RING_MM / 2 for hole in holes])
        radius[radius < least[:, None]] = np.inf
    return Openings(planes, radius)


def opening_mm(ctx: Context, hole: PlatedHole, read_mm: Iterable[float]) -> Interval:
    """Return the opening round holes like one: smallest, median and widest of what was read, else that of the rules."""
    read = sorted(read_mm)
    if not read:
        return Interval.exact(opening_by_rule_mm(ctx, hole))
    return Interval(low=read[0], nominal=median(read), high=read[-1])


def opening_by_rule_mm(ctx: Context, hole: PlatedHole) -> float:
    """Return the opening that the clearances of the board make; where unused pads go away, round the hole."""
    project = ctx.board.project
    clearance = project.clearance_mm(ctx.board.nets[hole.net]) or USUAL_CLEARANCE_MM
    if hole.keeps_unused:
        return _copper_mm(hole) + 2 * max(clearance, LEAST_RING_MM)
    stated = project.limits.get("min_hole_clearance")
    of_hole = USUAL_CLEARANCE_MM
    if isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated < np.inf:
        of_hole = float(stated)
    return max(float(np.nan_to_num(hole.drill_mm)) + 2 * max(clearance, of_hole), _copper_mm(hole) + 2 * LEAST_RING_MM)


def _copper_mm(hole: PlatedHole) -> float:
    """Diameter of a hole's copper in a plane that it passes; 0 where the file does not say."""
    barrel = float(np.nan_to_num(drilled_one_mm(hole.drill_mm, hole.pad_mm)))
    return max(hole.pad_mm, barrel) if hole.keeps_unused else barrel


def _nearest_mm(edges: FillEdges, holes: Sequence[PlatedHole], reach_mm: Floats) -> Floats:
    """Distance from the middle of each hole to the nearest fill of another net; infinite beyond reach, or inside it."""
    found = np.full(len(holes), np.inf)
    if not len(edges):
        return found
    at, net = np.array([complex(h.x_mm, h.y_mm) for h in holes]), np.array([hole.net for hole in holes])
    x, y = at.real, at.imag
    hole, k = edges.near(x - reach_mm, y - reach_mm, x + reach_mm, y + reach_mm)
    other = np.flatnonzero(edges.net[k] != net[hole])
    hole, k = hole[other], k[other]
    way, away = edges.end[k] - edges.start[k], at[hole] - edges.start[k]
    along = (away * way.conj()).real / np.maximum(np.abs(way) ** 2, SHORTEST_MM**2)
    distance = np.abs(away - np.clip(along, 0.0, 1.0) * way)
    order = np.argsort(hole, kind="stable")
    rows = order[nearest_of_each(hole[order], distance[order])]
    is_outside = (away[rows] * way[rows].conj()).imag <= 0  # copper is on the left
    rows = rows[is_outside & (distance[rows] < reach_mm[hole[rows]])]
    found[hole[rows]] = distance[rows]
    return found
