"""How much of the noise on a pair each of several neighbours brings, relative to one another. Lengths in mm.

The traces are thin wires over one plane or between two: good for the ratio of two couplings on one layer, of which the
stronger is then solved. Absolute couplings are `lines.pair_crosstalk`'s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from stackup_lib.board.board import Floats

USUAL_DELAY_PS_PER_MM = 6.7
"""In a Dk of 4."""


def mutual(apart_mm: Floats, height_mm: float, other_height_mm: float | None = None) -> Floats:
    """Return the mutual inductance of two thin wires at one height, in units of mu_0/2 pi.

    Over a plane 1/2 ln(1 + (2 h/d)^2), from the image of a wire (C. R. Paul, Analysis of Multiconductor Transmission
    Lines, 2nd ed. 2008, chapter 5). Between two planes b apart, 1/2 ln((cosh(pi d/b) - cos(2 pi h/b)) /
    (cosh(pi d/b) - 1)), from the sum of all images; with the other plane far away it turns into the former.

    Args:
        apart_mm: from wire to wire, of any shape.
        height_mm: over one plane.
        other_height_mm: below the other, None where there is none.
    """
    if other_height_mm is None:
        return np.asarray(0.5 * np.log1p((2 * height_mm / apart_mm) ** 2))
    between = height_mm + other_height_mm
    # of far wires cosh overflows and all that is left of the field is none
    wide = np.cosh(np.minimum(np.pi * apart_mm / between, 100.0)) - 1
    return np.asarray(0.5 * np.log1p((1 - math.cos(2 * math.pi * height_mm / between)) / wide))


def pair_mutual(pitch_mm: float, between_mm: Floats, height_mm: float, other_height_mm: float | None = None) -> Floats:
    """Return the mutual inductance of the differential modes of two pairs, in units of mu_0/2 pi.

    Args:
        pitch_mm: from trace to trace within either pair, middle to middle.
        between_mm: from the nearest trace of one to that of the other, middle to middle; of any shape.
        height_mm: over one plane.
        other_height_mm: below the other, None where there is none.
    """
    near, next_, far = (mutual(between_mm + k * pitch_mm, height_mm, other_height_mm) for k in range(3))
    return near - 2 * next_ + far


def near_end(couplings: Floats, lengths_mm: Floats, frequency_ghz: float) -> float:
    """Return what reaches the near end at most, at one frequency, of a run whose sections couple differently.

    The integral of k cos(2 w x/v) over the way x, up to a quarter of a wavelength, the strongest sections first; of an
    even run it is k sin(w T) with the delay T (H. Johnson, M. Graham, High-Speed Digital Design, 1993, chapter 5).
    """
    order = np.argsort(-couplings, kind="stable")
    delay_ns = USUAL_DELAY_PS_PER_MM * np.cumsum(lengths_mm[order]) / 1000
    reached = np.sin(np.minimum(2 * np.pi * frequency_ghz * delay_ns, np.pi / 2))
    return float(np.sum(couplings[order] * np.diff(reached, prepend=0.0)))


def power_sum(parts: Iterable[float]) -> float:
    """Return the sum of noises of which none knows of the others: the root of the sum of squares.

    That is how IEEE 802.3 adds up the crosstalk of several disturbers (PSNEXT, annex 69B).
    """
    return math.sqrt(sum(part**2 for part in parts))
