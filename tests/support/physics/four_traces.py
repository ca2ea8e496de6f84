"""Four rectangular traces by finite volumes: a second source for how two pairs couple, apart from the field solver.

Laplace's equation on a grid that is fine at every edge of copper, with a plane at y = 0. Lengths in mm.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

Real = NDArray[np.float64]

MODES = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])


@dataclass(frozen=True)
class Box:
    """A rectangle: copper, or a dielectric of this Dk."""

    left: float
    right: float
    low: float
    high: float
    dk: float = 1.0


def lines(at: list[float], fine_mm: float) -> Real:
    """Lines of a grid through some places, `fine_mm` apart at them and growing by a quarter from line to line."""
    found = [min(at)]
    for one, other in pairwise(sorted({round(x, 9) for x in at})):
        half, step = [0.0], fine_mm
        while half[-1] < (other - one) / 2:
            half.append(half[-1] + step)
            step *= 1.25
        way = np.array(half) * (other - one) / 2 / half[-1]
        found += [*(one + way[1:]).tolist(), *(other - way[-2::-1]).tolist()]
    return np.array(found)


def capacitances(traces: list[Box], sheets: list[Box], top_mm: float, *, plane_above: bool, fine_mm: float) -> Real:
    """Maxwell matrix over eps0 of traces over a plane; later sheets cover earlier ones, and air is where none is."""
    every = [*traces, *sheets]
    ends = [x for box in traces for x in (box.left, box.right)]
    aside = 12 * top_mm if plane_above else 4 * top_mm
    x = lines([min(ends) - aside, max(ends) + aside, *(x for box in every for x in (box.left, box.right))], fine_mm)
    y = lines([0.0, top_mm, *(y for box in every for y in (box.low, box.high))], fine_mm)
    x, y = x[np.abs(x) < 1e3], y[y <= top_mm]
    middle_x, middle_y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    dk = np.ones((len(middle_y), len(middle_x)))
    for box in sheets:
        rows, columns = (middle_y > box.low) & (middle_y < box.high), (middle_x > box.left) & (middle_x < box.right)
        dk[np.ix_(rows, columns)] = box.dk
    conductor = np.full((len(y), len(x)), -1)
    for k, box in enumerate(traces):
        rows = (y >= box.low - 1e-9) & (y <= box.high + 1e-9)
        conductor[np.ix_(rows, (x >= box.left - 1e-9) & (x <= box.right + 1e-9))] = k
    is_plane = np.zeros(conductor.shape, dtype=np.bool_)
    is_plane[0] = True
    is_plane[-1] = plane_above
    matrix = _fluxes(x, y, dk)
    volts = (conductor.ravel()[:, None] == np.arange(len(traces))).astype(float)
    free = np.flatnonzero((conductor.ravel() < 0) & ~is_plane.ravel())
    inner = matrix[free][:, free].tocsc()
    factors = splu(inner, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    volts[free] = factors.solve(-(matrix[free] @ volts))
    return np.asarray(volts.T @ (matrix @ volts))


def _fluxes(x: Real, y: Real, dk: Real) -> sparse.csr_matrix:
    """Flux out of the volume around each node over the voltages of all."""
    across = np.pad(dk * np.diff(y)[:, None], ((1, 1), (0, 0)))
    upward = np.pad(dk * np.diff(x), ((0, 0), (1, 1)))
    weights = (across[1:] + across[:-1]) / 2 / np.diff(x), (upward[:, 1:] + upward[:, :-1]) / 2 / np.diff(y)[:, None]
    number = np.arange(len(x) * len(y)).reshape(len(y), len(x))
    one = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    other = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    weight = np.concatenate([part.ravel() for part in weights])
    half = sparse.coo_matrix((-weight, (one, other)), shape=(number.size, number.size)).tocsr()
    both = half + half.T
    return (both - sparse.diags(np.asarray(both.sum(axis=1)).ravel())).tocsr()


def coupling(air: Real, filled: Real) -> tuple[float, float]:
    """Inductive and capacitive coupling of the pairs of traces 0 and 1, and 2 and 3."""
    found = []
    for matrix in (air, filled):
        pairs = MODES @ np.linalg.inv(matrix) @ MODES.T
        found.append(float(pairs[0, 1] / np.sqrt(pairs[0, 0] * pairs[1, 1])))
    return found[0], found[1]
