"""Where tracks cross in mid-run."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.core.record import entity
from stackup_lib.nets.routing.track_points import TOUCH_MM, Points


@entity
class Crossings:
    """Crossings of polylines with those in the same row.

    Attributes:
        row: of each crossing.
        first_share, second_share: how far along each of the two it lies, from 0 to 1.
        place: x + iy in mm.
    """

    row: Ints
    first_share: Floats
    second_share: Floats
    place: Points


def crossings(first: Points, second: Points) -> Crossings:
    """Return where polylines cross, but for their ends: those meet what they touch already.

    Args:
        first: corners in mm, evenly spaced along each polyline, shape (polylines, corners).
        second: the same of the others.
    """
    step, other_step = np.diff(first)[:, :, None], np.diff(second)[:, None, :]
    apart = second[:, None, :-1] - first[:, :-1, None]
    area = (step.conj() * other_step).imag
    with np.errstate(divide="ignore", invalid="ignore"):  # parallel chords do not cross
        along = (apart.conj() * other_step).imag / area
        other_along = (apart.conj() * step).imag / area
    met = (along >= 0) & (along <= 1) & (other_along >= 0) & (other_along <= 1)
    row, chord, other_chord = np.nonzero(met)
    place = first[row, chord] + along[met] * step[row, chord, 0]
    ends = np.column_stack([first[:, [0, -1]], second[:, [0, -1]]])[row]
    mid_run = np.all(np.abs(ends - place[:, None]) > TOUCH_MM, axis=1)
    return Crossings(
        row=row[mid_run],
        first_share=((chord + along[met]) / step.shape[1])[mid_run],
        second_share=((other_chord + other_along[met]) / other_step.shape[2])[mid_run],
        place=place[mid_run],
    )
