"""Boundary elements that shrink toward every corner and grow in proportion to their distance from all others.

Charge density is singular at copper edges and where an interface meets copper (r^(-1/2) on a thin edge, r^(-1/3) at a
right angle, a power that depends on the materials at a triple point), and elsewhere smooth on the scale of the distance
to the next such point, whether that point is on the same face or across a dielectric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import entity, record
from stackup_lib.field_solver.boundary import BoundaryPiece
from stackup_lib.field_solver.sections import GeometryError

RATIO = 0.2
"""Each level of grading makes the elements at a corner this much smaller."""

TRIPLE = 2
"""Levels more where an interface meets copper."""

SAMPLES = 96
"""Points on which the wanted element length is sampled along each piece, dense toward both ends."""


@record
class Resolution:
    """How finely to divide.

    Args:
        levels: grading at corners of copper.
        order: number of polynomials per element.
        growth: element length over distance to the nearest corner.
    """

    levels: int
    order: int
    growth: float


@entity
class Mesh:
    """Elements as columns: centre and half vector (complex, mm), and the piece each belongs to."""

    centre: NDArray[np.complex128]
    half: NDArray[np.complex128]
    piece: NDArray[np.intp]


def build_mesh(parts: Sequence[BoundaryPiece], resolution: Resolution, scale_mm: float, *, mirrored: bool) -> Mesh:
    """Cut pieces into elements.

    Args:
        parts: the boundary.
        resolution: how finely.
        scale_mm: size of the section; much farther out elements may grow faster.
        mirrored: x = 0 is a symmetry plane, where pieces end without a corner.
    """
    corner, smallest = _corners(parts, resolution, mirrored=mirrored)
    start = np.array([p.start for p in parts])
    along = np.array([p.end for p in parts]) - start
    spread = np.log(np.abs(along).max() / smallest.min()) + 3.0
    u = np.linspace(-spread, spread, SAMPLES)
    fraction = 1.0 / (1.0 + np.exp(-u))
    # logistic samples; their distance to each corner is taken from the nearer end to keep its digits
    offset = np.abs(along)[:, None] * np.exp(-np.abs(u)) / (1.0 + np.exp(-np.abs(u)))
    sample = start[:, None] + along[:, None] * fraction
    near = 1e-9 * scale_mm
    at_start, at_end = (np.abs(end - corner[:, None]) <= near for end in (start, start + along))
    at_corner = np.where(u < 0, at_start[:, :, None], at_end[:, :, None])
    distance = np.where(at_corner, offset, _distance(sample, corner[:, None, None]))
    length = resolution.growth * (distance + smallest[:, None, None]).min(axis=0)
    length = np.minimum(length, FACING * _facing(parts, start, along, sample))
    length *= np.sqrt(1.0 + np.abs(sample) / (FAR * scale_mm))
    step = np.abs(along)[:, None] * fraction * (1.0 - fraction) / length  # elements per unit of u
    count = np.concatenate(
        [np.zeros((len(parts), 1)), np.cumsum((step[:, 1:] + step[:, :-1]) / 2 * (u[1] - u[0]), axis=1)], axis=1
    )
    if (wanted := float(count[:, -1].sum())) > MOST_ELEMENTS:
        raise GeometryError(f"the field would need {wanted:.0e} elements", "check for extreme ratios of dimensions")
    a, b, owner = [], [], []
    for k in range(len(parts)):
        number = max(1, math.ceil(count[k, -1] - 0.1))
        cuts: Iterable[complex] = ()
        if number > 1:
            inner = np.interp(np.arange(1, number) * (count[k, -1] / number), count[k], u)
            cuts = (start[k] + along[k] / (1.0 + np.exp(-inner))).tolist()
        a += [start[k], *cuts]
        b += [*cuts, start[k] + along[k]]
        owner += [k] * number
    first, last = np.array(a), np.array(b)
    return Mesh((first + last) / 2, (last - first) / 2, np.array(owner))


def _distance(one: NDArray[np.complex128], other: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Distance in mm between points; three times as fast as the modulus of complex numbers, which minds overflow."""
    apart = one - other
    return np.asarray(np.sqrt(apart.real**2 + apart.imag**2))


MOST_ELEMENTS = 10_000
"""Lines of boards need some hundred; a matrix of that size fills half a gigabyte."""
FACING = 4.0
"""Elements are at most this many times as long as the way across to a trace: closer together, one feels where the
polynomials of the other end."""


def _facing(
    parts: Sequence[BoundaryPiece],
    start: NDArray[np.complex128],
    along: NDArray[np.complex128],
    sample: NDArray[np.complex128],
) -> NDArray[np.float64]:
    """Distance from samples, (pieces, samples), to the nearest face of a trace that does not meet their own piece."""
    ends = np.stack([start, start + along], axis=1)
    near = 1e-9 * np.abs(along).min()
    trace = np.array([p.conductor is not None and p.conductor >= 0 for p in parts])
    touches = (np.abs(ends[trace, None, :, None] - ends[None, :, None, :]) < near).any(axis=(2, 3))
    start, along = start[trace, None, None], along[trace, None, None]
    share = ((sample - start) * along.conj()).real / np.abs(along) ** 2
    foot = start + along * np.clip(share, 0.0, 1.0)
    return np.asarray(np.where(touches[:, :, None], np.inf, _distance(sample, foot)).min(axis=0))


FAR = 10.0
"""Beyond this many section sizes elements grow faster than their distance: what little charge lies there is smooth."""


def _corners(
    parts: Sequence[BoundaryPiece], resolution: Resolution, *, mirrored: bool
) -> tuple[NDArray[np.complex128], NDArray[np.float64]]:
    """Distinct ends of pieces, and the scale of the elements there: a fraction of the shortest distance around."""
    found: dict[tuple[float, float], tuple[float, bool, bool]] = {}
    for part in parts:
        length = abs(part.end - part.start)
        for p in (part.start, part.end):
            if mirrored and p.real == 0:
                continue
            key = (round(p.real, 9), round(p.imag, 9))
            shortest, copper, dielectric = found.get(key, (math.inf, False, False))
            is_copper = part.conductor is not None
            found[key] = (min(shortest, length), copper or is_copper, dielectric or not is_copper)
    corner = np.array([complex(*key) for key in found])
    between = np.abs(corner[:, None] - corner) + np.where(np.eye(len(corner)) > 0, np.inf, 0.0)
    shortest = np.minimum([length for length, _, _ in found.values()], between.min(axis=1))
    # a corner of the dielectric alone is only weakly singular: half the levels do; a triple point is the worst
    full, half = resolution.levels, (resolution.levels + 1) // 2
    levels = np.array([(full + TRIPLE * dielectric) if copper else half for _, copper, dielectric in found.values()])
    return corner, shortest * RATIO**levels
