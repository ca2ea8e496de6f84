"""Where the current of a rail is densest, on a mesh that resolves the disc over which it is averaged."""

from __future__ import annotations

import numpy as np

from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.mesh import Mask, Reals
from stackup_lib.power.rail_drop.sheets import SheetNetwork, SheetSolution, solve_finer

CANDIDATES = 400
"""Places around which the density is averaged: those with the densest triangles, one per half radius."""

FINEST = 0.5
"""Longest edge of a triangle in terms of the radius of the disc: shorter ones are fine enough."""

LEAST_DOUBT = 0.03
"""Of the highest density: where half of the distance of both forms is less, a finer mesh changes little."""

MOST_PASSES = 12
"""Finer meshes: each halves the edges, and those of 6 mm come down to 0.05 mm in 7."""

MOST_MORE = 6_000
"""Mesh points that are added for the densest current."""


@record
class Peak:
    """Where current is densest, per mm of width, on the mean over a disc.

    `doubt` is the distance of both forms there as a share: half of it holds in the sum of squares over all copper, and
    at one place all of it does.
    """

    sheet: int
    x_mm: float
    y_mm: float
    a_per_mm: float
    doubt: float


def resolved_peak(network: SheetNetwork, solution: SheetSolution, radius_mm: float) -> Peak:
    """Return the highest mean of the current density over the copper within a radius, refining where that may be.

    At an inner corner the density has no bound, but its mean has; choose the radius below half of the necks' width.
    """
    peak, most = densest(solution, radius_mm), solution.points + MOST_MORE
    for _ in range(MOST_PASSES):
        marked = _unresolved(solution, peak, radius_mm, most - solution.points)
        if not marked.any():
            break
        solution = solve_finer(network, solution, marked)
        peak = densest(solution, radius_mm)
    return peak


def densest(solution: SheetSolution, radius_mm: float) -> Peak:
    """Return the highest mean of the current density over the copper within a radius, on the mesh as it is."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    centres = solution.assembly.corners_mm.mean(axis=1)
    sheet_of = solution.assembly.sheet_of
    size = solution.size_mm2
    density = _size(solution.middle_a_per_mm)
    best = Peak(-1, 0.0, 0.0, -1.0, 0.0)
    for sheet in distinct(sheet_of).tolist():
        rows = np.flatnonzero(sheet_of == sheet)
        order = rows[np.argsort(-density[rows], kind="stable")]
        _, first = np.unique(np.floor(centres[order] / (radius_mm / 2)), axis=0, return_index=True)
        chosen = order[np.sort(first)[:CANDIDATES]]
        near = cKDTree(centres[rows]).query_ball_point(centres[chosen], radius_mm)
        for triangle, others in zip(chosen.tolist(), near, strict=True):
            disc = rows[others]
            share = size[disc] / size[disc].sum()
            mean = float((density[disc] * share).sum())
            if mean > best.a_per_mm:
                doubt = 2 * float((solution.doubt_a_per_mm[disc] * share).sum()) / mean if mean > 0 else 0.0
                best = Peak(sheet, float(centres[triangle, 0]), float(centres[triangle, 1]), mean, doubt)
    return best


def _unresolved(solution: SheetSolution, peak: Peak, radius_mm: float, room: int) -> Mask:
    """Mark the triangles in which the density may be the highest and is not sure, those with most in doubt first."""
    corners = solution.assembly.corners_mm
    longest = _size((corners - corners[:, [1, 2, 0]]).reshape(-1, 2)).reshape(-1, 3).max(axis=1)
    doubt = solution.doubt_a_per_mm
    may_be = _size(solution.middle_a_per_mm) + 2 * doubt
    away = _size((corners - np.array([peak.x_mm, peak.y_mm])).reshape(-1, 2)).reshape(-1, 3).min(axis=1)
    of_peak = (solution.assembly.sheet_of == peak.sheet) & (away <= radius_mm)
    wanted = (longest > FINEST * radius_mm) & (doubt > LEAST_DOUBT * peak.a_per_mm)
    wanted &= of_peak | (may_be > peak.a_per_mm)
    marked = np.zeros(len(wanted), dtype=bool)
    order = np.argsort(-np.where(wanted, may_be, -1.0), kind="stable")
    marked[order[: min(max(room, 0), int(wanted.sum()))]] = True
    return marked


def _size(vectors: Reals) -> Reals:
    return np.asarray(np.hypot(vectors[:, 0], vectors[:, 1]))
