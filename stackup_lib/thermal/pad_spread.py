"""How heat that enters the copper of a pad evenly reaches the holes in it through that copper."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

IMAGES = 3
"""Rows of images along the longer side, and back: those left out are e^(-6 pi) of the nearest, or less."""


MOST_OPEN = 0.9
"""Share of a pad that holes may take."""

MOST_RADIUS = 1 / 3
"""Of the shorter side: of a hole as large as the pad there is no copper left to compute."""


def pad_rise_k(
    ways_k_per_w: Reals,
    at_mm: Reals,
    radius_mm: Reals,
    size_mm: tuple[float, float],
    square_k_per_w: float,
) -> float:
    """Return the mean rise of the copper of a pad, per watt that enters it evenly, above what its holes lead to.

    Args:
        ways_k_per_w: from each hole on.
        at_mm: of the holes, from the middle of the pad along its sides, shape (holes, 2).
        radius_mm: of the holes, through which no heat enters.
        size_mm: of the pad, a rectangle.
        square_k_per_w: resistance of a square of its copper; 0 for copper that spreads heat without loss.

    Heat that enters a hole evenly all around makes it an upper bound: a tenth above finite differences where holes
    nearly touch one another in a corner, 5 % where they are three diameters apart there, next to nothing where spread.
    """
    radius_mm = np.minimum(radius_mm, MOST_RADIUS * min(size_mm))
    room_mm = np.array(size_mm) / 2 - radius_mm[:, None]
    at_mm = np.clip(at_mm, -room_mm, room_mm)
    ways_k_per_w, at_mm, radius_mm = _apart(ways_k_per_w, at_mm, radius_mm)
    shares = math.pi * radius_mm**2 / (size_mm[0] * size_mm[1])
    shares *= min(1.0, MOST_OPEN / shares.sum())
    closed = 1 - shares.sum()
    into_holes = shares / closed  # heat on the holes, were they closed, for one watt on the copper
    matrix = np.diag(ways_k_per_w) + square_k_per_w * spread_squares(at_mm, radius_mm, size_mm)
    by_pad, by_holes = np.linalg.solve(matrix, np.array([np.ones(len(shares)), ways_k_per_w * into_holes]).T).T
    mean = (1 / closed - by_holes.sum()) / by_pad.sum()
    watts = mean * by_pad + by_holes
    in_holes = ways_k_per_w * (watts - into_holes) - square_k_per_w * watts / (4 * math.pi)  # means of their discs
    return float((mean - (shares * in_holes).sum()) / closed)


def _apart(ways_k_per_w: Reals, at_mm: Reals, radius_mm: Reals) -> tuple[Reals, Reals, Reals]:
    """Put holes that lie on one another, as a via on a plated pad does, into one with their ways side by side."""
    kept: list[int] = []
    watts = 1 / ways_k_per_w
    for k in range(len(at_mm)):
        away = np.hypot(*(at_mm[kept] - at_mm[k]).T)
        on = np.flatnonzero(away < np.maximum(radius_mm[kept], radius_mm[k]))
        if len(on):
            watts[kept[on[0]]] += watts[k]
        else:
            kept.append(k)
    return 1 / watts[kept], at_mm[kept], radius_mm[kept]


def spread_squares(at_mm: Reals, radius_mm: Reals, size_mm: tuple[float, float]) -> Reals:
    """Return how far each hole lowers the copper around each, below the pad's mean, per watt and square resistance.

    Args:
        at_mm: of the holes, from the middle of the pad along its sides, shape (holes, 2).
        radius_mm: of the holes, which lie within the pad.
        size_mm: of the pad.

    Returns:
        Symmetric, shape (holes, holes). With `W` watts into the holes, which enter the pad evenly, and a sheet of
        `r` K/W per square, the copper at the holes is colder than the mean of the pad by `r` times this times `W`.

    The mean-free Green's function of a rectangle with insulated sides: its cosine series along the shorter one, summed
    by sum of e^(-na) cos(nb) / n = -ln(1 - 2 e^-a cos b + e^-2a) / 2, as a mean over the circle of a hole.
    """
    turned = size_mm[0] < size_mm[1]
    long, short = (size_mm[1], size_mm[0]) if turned else size_mm
    x, y = (at_mm[:, ::-1] if turned else at_mm).T
    x, y = (x + long / 2)[:, None], (y + short / 2)[:, None]
    radius = np.maximum(radius_mm[:, None], radius_mm)
    found = (x**2 + x.T**2) / (2 * long) - np.maximum(x, x.T) + long / 3
    found /= short
    for away in (np.abs(x - x.T), x + x.T):
        for row in range(IMAGES):
            for distance in (away + 2 * row * long, 2 * (row + 1) * long - away):
                for across in (y - y.T, y + y.T):
                    found += _image(distance, across, short, radius) / (2 * math.pi)
    return np.asarray(found + radius**2 / (4 * long * short))


def _image(away_mm: Reals, across_mm: Reals, short_mm: float, radius_mm: Reals) -> Reals:
    """Of one image in each period across; nearer than the circle it has the mean that it has on the circle."""
    decay = np.exp(-math.pi * away_mm / short_mm)
    square = 1 - 2 * decay * np.cos(math.pi * across_mm / short_mm) + decay**2
    nearest_mm = np.minimum(np.abs(across_mm), np.abs(2 * short_mm - np.abs(across_mm)))
    is_inside = np.hypot(away_mm, nearest_mm) < radius_mm
    return np.asarray(-np.log(np.where(is_inside, (math.pi * radius_mm / short_mm) ** 2, square)) / 2)
