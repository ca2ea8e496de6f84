"""Microvias and the vias of their net that begin on the layer where they end: on one another, apart, or neither."""

from __future__ import annotations

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.columns import Columns
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import entity
from stackup_lib.vias.build_ups import ROWS_AT_ONCE, SAME_SPOT_MM
from stackup_lib.vias.via_spans import ROUNDING_MM, lasered


@entity
class Joints(Columns):
    """Two vias of a net that meet on a layer, and are nearer than half the sum of their pads.

    Attributes:
        above, below: rows of the vias that end there from above and from below.
        layer: where they meet.
        apart_mm: from centre to centre.
        pads_mm: half the sum of their pads on that layer.
        holes_mm: half the sum of their drills.
    """

    above: Ints
    below: Ints
    layer: Ints
    apart_mm: Floats
    pads_mm: Floats
    holes_mm: Floats


def staggered(board: Board) -> Joints | None:
    """Return the microvias that are neither on one another nor apart; None on a board where none continues another."""
    is_laser = lasered(board).astype(np.bool_)
    found = [_meeting(board, layer, is_laser, is_laser) for layer in range(1, board.layer_count - 1)]
    parts = [part for part in found if part is not None]
    if not parts:
        return None
    joints = Joints.joined(parts)
    return joints.where(joints.apart_mm > SAME_SPOT_MM)


def on_drilled(board: Board) -> Joints | None:
    """Return the microvias whose hole meets that of a drilled via; None on a board where none ends where one does."""
    vias, last = board.vias, board.layer_count - 1
    is_laser = lasered(board).astype(np.bool_)
    is_drilled = ~is_laser & ((vias.start_layer > 0) | (vias.end_layer < last))
    both = [(is_laser, is_drilled), (is_drilled, is_laser)]
    found = [_meeting(board, layer, above, below) for layer in range(1, last) for above, below in both]
    parts = [part for part in found if part is not None]
    if not parts:
        return None
    joints = Joints.joined(parts)
    return joints.where(joints.apart_mm < joints.holes_mm)


def _meeting(board: Board, layer: int, are_above: np.ndarray, are_below: np.ndarray) -> Joints | None:
    """Return the pairs on a layer whose pads overlap; None where vias end there from one side alone."""
    vias = board.vias
    above = np.flatnonzero(are_above & (vias.end_layer == layer) & (vias.start_layer < layer))
    below = np.flatnonzero(are_below & (vias.start_layer == layer) & (vias.end_layer > layer))
    if not len(above) or not len(below):
        return None
    rows = [(np.zeros(0, dtype=np.int64),) * 2]
    for net in distinct(vias.net[above]).tolist():
        upper, lower = above[vias.net[above] == net], below[vias.net[below] == net]
        for first in range(0, len(upper), ROWS_AT_ONCE):
            some = upper[first : first + ROWS_AT_ONCE]
            column = some[:, None]
            is_near = _apart_mm(board, column, lower) < _pads_mm(board, layer, column, lower) - ROUNDING_MM
            one, other = np.nonzero(is_near)
            rows.append((some[one], lower[other]))
    one, other = (np.concatenate(column) for column in zip(*rows, strict=True))
    holes = (vias.drill_mm[one] + vias.drill_mm[other]) / 2
    apart, pads = _apart_mm(board, one, other), _pads_mm(board, layer, one, other)
    return Joints(one, other, np.full(len(one), layer), apart, pads, holes)


def _apart_mm(board: Board, one: Ints, other: Ints) -> Floats:
    x, y = board.vias.x_mm, board.vias.y_mm
    return np.asarray(np.hypot(x[one] - x[other], y[one] - y[other]))


def _pads_mm(board: Board, layer: int, one: Ints, other: Ints) -> Floats:
    pads = np.nan_to_num(board.vias.pad_size_mm[:, layer])
    return np.asarray((pads[one] + pads[other]) / 2)
