"""How much of each triangle of a mesh lies in a disc, exactly: means over discs change smoothly as they move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.power.rail_drop.mesh import Mask, Reals

Complexes = NDArray[np.complex128]


def areas_in_discs_mm2(corners_mm: Reals, middles_mm: Reals, radius_mm: float) -> Reals:
    """Return the area of triangles within discs, shape (discs, triangles).

    Args:
        corners_mm: shape (triangles, 3, 2).
        middles_mm: shape (discs, 2).
        radius_mm: of the discs.
    """
    corners, middles = as_complex(corners_mm), as_complex(middles_mm)
    around = corners[None] - middles[:, None, None]
    swept = _swept_mm2(around, around[:, :, [1, 2, 0]], radius_mm)
    return np.asarray(np.abs(swept.sum(axis=2)), dtype=np.float64)


def lie_in_mesh(corners_mm: Reals, places_mm: Reals) -> Mask:
    """Tell which places lie in one of the triangles."""
    around = as_complex(corners_mm)[None] - as_complex(places_mm)[:, None, None]
    turned = (around.conj() * around[:, :, [1, 2, 0]]).imag
    inside = np.logical_or((turned >= 0).all(axis=2), (turned <= 0).all(axis=2))
    return np.asarray(np.any(inside, axis=1), dtype=np.bool_)


def as_complex(places_mm: Reals) -> Complexes:
    """Return places, shape (..., 2), as x + jy."""
    return np.asarray(places_mm[..., 0] + 1j * places_mm[..., 1], dtype=np.complex128)


def _swept_mm2(start: Complexes, end: Complexes, radius: float) -> Reals:
    """Signed area between the middle of a disc and an edge, within the disc: a triangle, and a sector on each side."""
    along = end - start
    length = np.abs(along)
    unit = along / np.maximum(length, 1e-300)
    nearest = -(start * unit.conj()).real
    half = np.sqrt(np.maximum(radius**2 - (start * unit.conj()).imag ** 2, 0.0))
    first, last = np.clip(nearest - half, 0.0, length), np.clip(nearest + half, 0.0, length)
    enters = np.where(first > 0, start + first * unit, start)
    leaves = np.where(last < length, start + last * unit, end)
    angle = np.angle(enters * start.conj()) + np.angle(end * leaves.conj())
    return np.asarray((enters.conj() * leaves).imag / 2 + angle * radius**2 / 2, dtype=np.float64)
