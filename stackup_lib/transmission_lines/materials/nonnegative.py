"""Least squares with unknowns that cannot be negative.

SciPy has the same (`scipy.optimize.nnls`, which the tests hold this against), but loading that package takes longer
than a whole fit of a laminate.
"""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Floats

MOST_ROUNDS = 50
"""Times the number of unknowns; a fit takes about one for each."""


class NoAnswerError(ValueError):
    """The search for the least squares did not end."""


def nonnegative_least_squares(matrix: Floats, target: Floats, guess: Floats | None = None) -> Floats:
    """Return x >= 0 with the least |matrix x - target|.

    Algorithm NNLS of C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23: unknowns enter
    one by one, the one that lowers the error fastest first, and leave where they would turn negative. With a guess the
    search begins with the unknowns that are positive in it, as far as they stay so, and mostly ends there too.

    Args:
        matrix: shape (m, n).
        target: shape (m,).
        guess: shape (n,), such as the least squares without a bound.

    Raises:
        NoAnswerError: the search goes round in circles.
    """
    count = matrix.shape[1]
    free = np.zeros(count, dtype=np.bool_) if guess is None else guess > 0.0
    found = _begun(matrix, target, free)
    least = 10.0 * np.finfo(np.float64).eps * float(np.abs(matrix).sum(axis=0).max()) * max(matrix.shape)
    downhill = matrix.T @ (target - matrix @ found)
    for _ in range(MOST_ROUNDS * count):
        if free.all() or float(downhill[~free].max()) <= least:
            return found
        free[np.argmax(np.where(free, -np.inf, downhill))] = True
        found = _feasible(matrix, target, found, free)
        downhill = matrix.T @ (target - matrix @ found)
    raise NoAnswerError("least squares without negative unknowns did not end")


def _begun(matrix: Floats, target: Floats, free: np.ndarray) -> Floats:
    """Least squares over the free unknowns; those that turn negative are freed no longer, until none does."""
    found = np.zeros(len(free))
    while free.any():
        found[:] = 0.0
        found[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
        if found[free].min() > 0.0:
            break
        free &= found > 0.0
    return np.where(free, found, 0.0)


def _feasible(matrix: Floats, target: Floats, found: Floats, free: np.ndarray) -> Floats:
    """Least squares over the free unknowns; those that would turn negative are freed no longer."""
    while True:
        wanted = np.zeros(len(found))
        wanted[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
        below = free & (wanted <= 0.0)
        if not below.any():
            return wanted
        step = float(np.min(found[below] / (found[below] - wanted[below])))
        found = found + step * (wanted - found)
        free &= found > np.finfo(np.float64).eps * max(1.0, float(np.abs(wanted).max()))
        found[~free] = 0.0
