"""How dense a current is where it is densest, by ways that need no triangles: exactly, or on a grid.

The densest place is where the mean of the density over the copper part of a disc is highest, its middle in the copper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

if TYPE_CHECKING:
    from shapely import Geometry

Reals = NDArray[np.float64]


def bent_strip_a_per_mm(turn_deg: float, radius_mm: float, steps: int = 400) -> float:
    """Return the highest mean around the inner corner of a strip 1 mm wide that turns by an angle, for 1 A.

    The upper half plane becomes the bent strip by dz/dw = ((t + 1)/(t - 1))^a with t = exp(pi w) and a half turns of
    bend (Schwarz and Christoffel); w, the straight strip 0 < Im w < 1, is the potential of the flow, so |J| = |dw/dz|.
    """
    power, reach = turn_deg / 180, 4 * radius_mm
    edges = np.linspace(0, reach, steps + 1)
    away = (edges[1:] + edges[:-1]) / 2
    angle = -np.pi * (np.arange(steps) + 0.5) / steps
    t = np.exp(np.pi * (1j + away[:, None] * np.exp(1j * angle)))
    slope = ((t + 1) / (t - 1)) ** power
    of_corner = np.diff(edges ** (power + 1)) / (power + 1) / away**power
    pieces = slope * of_corner[:, None] * np.exp(1j * angle)
    z = np.cumsum(pieces, axis=0) - pieces / 2
    through = np.abs(slope) * away[:, None]
    size = np.abs(slope) * through
    on_sides = z[:: steps // 100, [0, -1, steps // 2]].ravel()
    means = []
    for middle in on_sides[np.abs(on_sides) < radius_mm]:
        inside = np.abs(z - middle) < radius_mm
        means.append(float(through[inside].sum() / size[inside].sum()))
    return max(means)


def radial_a_per_mm(contact_mm: float, radius_mm: float) -> float:
    """Return the highest mean of 1/(2 pi r) outside of a round contact that 1 A leaves."""
    x, y = (axis.ravel() for axis in np.meshgrid(*2 * [np.linspace(-radius_mm, radius_mm, 401)]))
    x, y = x[np.hypot(x, y) <= radius_mm], y[np.hypot(x, y) <= radius_mm]
    means = []
    for middle in np.linspace(contact_mm, contact_mm + radius_mm, 21):
        away = np.hypot(middle + x, y)
        means.append(float((1 / (2 * np.pi * away[away >= contact_mm])).mean()))
    return max(means)


def grid_a_per_mm(area: Geometry, source: Geometry, load: Geometry, radius_mm: float, cells_per_mm: int) -> float:
    """Return the highest mean for 1 A from a contact to another, by finite differences on square cells."""
    left, bottom, right, top = area.bounds
    x, y = (
        low + (np.arange(round((high - low) * cells_per_mm)) + 0.5) / cells_per_mm
        for low, high in ((left, right), (bottom, top))
    )
    places = np.meshgrid(x, y)
    in_copper, in_source, in_load = (shapely.contains_xy(some, *places) for some in _prepared(area, source, load))
    free = in_copper & ~in_source & ~in_load
    number = np.full(free.shape, -1)
    number[in_source], number[in_load] = 0, 1
    number[free] = np.arange(2, 2 + free.sum())
    volts = np.zeros(2 + int(free.sum()))
    volts[1:] = splu(_matrix(number)[1:, 1:]).solve(np.eye(1, len(volts) - 1)[0])
    at = np.where(number >= 0, volts[number], np.nan)
    flow = [np.nan_to_num(np.diff(at, axis=axis) * cells_per_mm) for axis in (1, 0)]
    across = (np.pad(flow[0], ((0, 0), (0, 1))) + np.pad(flow[0], ((0, 0), (1, 0)))) / 2
    along = (np.pad(flow[1], ((0, 1), (0, 0))) + np.pad(flow[1], ((1, 0), (0, 0)))) / 2
    density = np.where(free, np.hypot(across, along), 0.0)
    reach = np.arange(-int(radius_mm * cells_per_mm), int(radius_mm * cells_per_mm) + 1) / cells_per_mm
    disc = (np.hypot(reach[:, None], reach) <= radius_mm).astype(float)
    total, count = (fftconvolve(some, disc, mode="same") for some in (density, free.astype(float)))
    return float((total[free] / count[free]).max())


def _prepared(*areas: Geometry) -> tuple[Geometry, ...]:
    shapely.prepare(list(areas))
    return areas


def _matrix(number: NDArray[np.int64]) -> csc_matrix:
    """Conductances of squares between neighbouring cells."""
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    joined = [(one[kept], two[kept]) for one, two in pairs for kept in [(one >= 0) & (two >= 0) & (one != two)]]
    one, two = (np.concatenate(some) for some in zip(*joined, strict=True))
    rows, columns = np.concatenate([one, two, one, two]), np.concatenate([one, two, two, one])
    values = np.repeat([1.0, -1.0], 2 * len(one))
    return csc_matrix((values, (rows, columns)), shape=2 * [number.max() + 1])
