"""The capacitance of a via to the planes that it passes, from a field solution round its axis.

Barrel, pads, antipads and planes are bodies of revolution, so Laplace's equation in (r, z) is exact for them: finite
volumes on a graded grid, rows of it eliminated from top to bottom. Every plane counts as grounded, as in the circuit
model of Zhang, Fan, Selli, Cocchini and de Paulis (IEEE Trans. MTT 56 (2008) 2118): what the voltage between two planes
does is inductance of the return path, `via_circuit`. Lengths in mm, depths from the board's top, capacitances in pF.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record

Real = NDArray[np.float64]

EPSILON_0 = 8.8541878128e-3
"""pF/mm."""

AIR_MM = 0.8
"""Above and below the board; a pad's field ends within some of its own width."""

CELLS_PLY, CELLS_COPPER, CELLS_RING, CELLS_ANTIPAD = 10, 2, 6, 10
"""Cells across a dielectric, copper, a pad's ring and its clearance: within 2 % of a grid twice as fine."""

THIN_MM = 0.02
"""What is thinner is one cell: the edges of pads and openings that are all but as wide as one another."""

FIRST_MM, GROWTH = 0.02, 1.3
"""First cell beyond the antipad or the board, and by how much the next ones grow."""

HELD = 1e9
"""Weight of a node of known voltage: far above any other, which are 0.01 to 1000."""


@record
class ViaStack:
    """What a via goes through.

    Attributes:
        faces_mm: depth of both faces of each copper layer.
        dk: of each dielectric between two copper layers.
        planes: layers that are planes, ascending.
    """

    faces_mm: tuple[tuple[float, float], ...]
    dk: tuple[float, ...]
    planes: tuple[int, ...]

    def middle_mm(self, layer: int) -> float:
        """Return the depth of the middle of a copper layer."""
        return sum(self.faces_mm[layer]) / 2


@record
class ViaBody:
    """The copper of a via.

    Attributes:
        barrel_mm: drilled diameter.
        pad_mm: diameter of its pads.
        antipad_mm: diameter of the openings in the planes.
        ends_mm: depths at which the barrel begins and ends.
        padded: layers with a pad, ascending.
    """

    barrel_mm: float
    pad_mm: float
    antipad_mm: float
    ends_mm: tuple[float, float]
    padded: tuple[int, ...]


@record
class ViaCapacitance:
    """Capacitance of a via: at each copper layer, with the pad there, and in each dielectric."""

    at_layers_pf: tuple[float, ...]
    in_plies_pf: tuple[float, ...]

    @property
    def total_pf(self) -> float:
        """Of the whole via."""
        return sum(self.at_layers_pf) + sum(self.in_plies_pf)


@lru_cache(maxsize=1024)
def via_capacitance(stack: ViaStack, body: ViaBody) -> ViaCapacitance:
    """Return the capacitance of a via to all planes."""
    radii, depths = _radii(stack, body), _depths(stack, body)
    known = _known(stack, body, radii, depths)
    along, down = _weights(stack, radii, depths)
    charge = _charges(along, down, known) * EPSILON_0
    at_layers = [charge[(depths > a - 1e-9) & (depths < b + 1e-9)].sum() for a, b in stack.faces_mm]
    gaps = [(one[1], other[0]) for one, other in pairwise(stack.faces_mm)]
    in_plies = [charge[(depths > a + 1e-9) & (depths < b - 1e-9)].sum() for a, b in gaps]
    return ViaCapacitance(tuple(map(float, at_layers)), tuple(map(float, in_plies)))


def _clustered(low: float, high: float, cells: int) -> Real:
    """Grid lines that crowd at both ends, where fields are strong."""
    return low + (high - low) * (1 - np.cos(np.pi * np.arange(cells + 1) / cells)) / 2


def _growing(begin: float, end: float) -> Real:
    """Grid lines from one place towards another, ever further apart."""
    count = max(1, math.ceil(math.log(1 + abs(end - begin) * (GROWTH - 1) / FIRST_MM, GROWTH)))
    steps = np.cumsum(GROWTH ** np.arange(count))
    return begin + (end - begin) * np.concatenate([[0.0], steps / steps[-1]])


def _radii(stack: ViaStack, body: ViaBody) -> Real:
    """Grid lines from the barrel to where fields between the planes have ended."""
    barrel, pad, rim = body.barrel_mm / 2, body.pad_mm / 2, body.antipad_mm / 2
    faces = stack.faces_mm
    planes = [0.0, *(x for plane in stack.planes for x in faces[plane]), faces[-1][1]]
    outer = rim + max(0.3, *(b - a for a, b in pairwise(planes)))
    if rim - pad > THIN_MM:
        rings = [_clustered(barrel, pad, CELLS_RING)] if pad > barrel + 1e-6 else []
        rings.append(_clustered(max(pad, barrel), rim, CELLS_ANTIPAD))
    else:  # only layers without a plane have the pad: it may reach over the rim
        near, far = min(pad, rim), max(pad, rim)
        rings = [_clustered(barrel, near, CELLS_ANTIPAD)]
        rings.append(_clustered(near, far, CELLS_RING) if far - near > THIN_MM else np.array([near, far]))
    return distinct(np.concatenate([*rings, _growing(max(pad, rim), outer)]))


def _depths(stack: ViaStack, body: ViaBody) -> Real:
    """Grid lines through the board and the air next to it, from plane to plane past the barrel's ends."""
    faces = stack.faces_mm
    parts = [_growing(faces[0][0], faces[0][0] - AIR_MM), _growing(faces[-1][1], faces[-1][1] + AIR_MM)]
    parts += [np.linspace(a, b, CELLS_COPPER + 1) for a, b in faces]
    parts += [_clustered(one[1], other[0], CELLS_PLY) for one, other in pairwise(faces)]
    top, bottom = body.ends_mm
    above = max((faces[p][0] for p in stack.planes if faces[p][1] < top - 1e-9), default=-math.inf)
    below = min((faces[p][1] for p in stack.planes if faces[p][0] > bottom + 1e-9), default=math.inf)
    lines = distinct(np.concatenate([*parts, [top, bottom]]).round(7))
    return lines[(lines > above - 1e-9) & (lines < below + 1e-9)]


def _known(stack: ViaStack, body: ViaBody, radii: Real, depths: Real) -> Real:
    """Voltage at each (depth, radius) where it is given, NaN elsewhere."""
    known = np.full((len(depths), len(radii)), np.nan)
    top, bottom = body.ends_mm

    def rows(low: float, high: float) -> NDArray[np.bool_]:
        return (depths > low - 1e-9) & (depths < high + 1e-9)

    for plane in stack.planes:
        low, high = stack.faces_mm[plane]
        is_passed = high > top + 1e-9 and low < bottom - 1e-9
        rim = body.antipad_mm / 2 if is_passed else 0.0
        known[np.ix_(rows(low, high), radii > rim - 1e-9)] = 0.0
    known[rows(top, bottom), 0] = 1.0
    for layer in body.padded:
        known[np.ix_(rows(*stack.faces_mm[layer]), radii < body.pad_mm / 2 + 1e-9)] = 1.0
    return known


def _weights(stack: ViaStack, radii: Real, depths: Real) -> tuple[Real, Real]:
    """Permittivity times area over distance between neighbours along r, (depths, radii - 1), and down z."""
    inner = [stack.middle_mm(layer) for layer in range(1, len(stack.dk))]
    edges = [stack.faces_mm[0][0], *inner, stack.faces_mm[-1][1]]  # mask fills the gaps of the outer copper
    ply = np.searchsorted(edges, (depths[:-1] + depths[1:]) / 2)
    dk = np.array([1.0, *stack.dk, 1.0])[ply]
    step_z, step_r, mid_r = np.diff(depths), np.diff(radii), (radii[:-1] + radii[1:]) / 2
    share = np.zeros(len(depths))
    share[:-1] += dk * step_z / 2
    share[1:] += dk * step_z / 2
    rings = np.concatenate([radii[:1], mid_r, radii[-1:]])
    areas = math.pi * np.diff(rings**2)
    return share[:, None] * (2 * math.pi * mid_r / step_r), (dk / step_z)[:, None] * areas


def _charges(along: Real, down: Real, known: Real) -> Real:
    """Charge on the copper at 1 V in each row of the grid, over epsilon 0."""
    count, width = known.shape
    fixed, held = ~np.isnan(known), np.nan_to_num(known)
    padded = np.pad(along, ((0, 0), (1, 1)))
    between = np.pad(down, ((1, 1), (0, 0)))
    own = padded[:, :-1] + padded[:, 1:] + between[:-1] + between[1:]
    inverses, sums = np.empty((count, width, width)), np.empty((count, width))
    near = np.arange(width - 1)
    for row in range(count):
        matrix = np.diag(own[row] + HELD * fixed[row])
        matrix[near, near + 1] = matrix[near + 1, near] = -along[row]
        sums[row] = HELD * held[row] * fixed[row]
        if row:
            weight = down[row - 1]
            matrix -= weight[:, None] * inverses[row - 1] * weight
            sums[row] += weight * (inverses[row - 1] @ sums[row - 1])
        inverses[row] = np.linalg.inv(matrix)
    volt = np.empty((count, width))
    volt[-1] = inverses[-1] @ sums[-1]
    for row in range(count - 2, -1, -1):
        volt[row] = inverses[row] @ (sums[row] + down[row] * volt[row + 1])
    out = np.zeros((count, width))
    flow_r, flow_z = along * -np.diff(volt, axis=1), down * -np.diff(volt, axis=0)
    out[:, :-1] += flow_r
    out[:, 1:] -= flow_r
    out[:-1] += flow_z
    out[1:] -= flow_z
    return np.asarray(np.where(fixed & (held > 0.5), out, 0.0).sum(axis=1))
