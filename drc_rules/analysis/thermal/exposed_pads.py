"""Exposed pads of packages, found by size and place; and the vias in them. Lengths in mm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.thermal.pad_shapes import (
    ROUNDING_MM,
    inside_pad,
    pad_areas_mm2,
    pad_middles_mm,
    pad_shape,
)
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.arrays import distinct, median
from stackup_lib.core.record import record
from stackup_lib.nets.two_pin_parts import is_left_out

LEAST_PADS = 8
"""Pads around an exposed pad: the number on the smallest QFN and SO packages. Engineering judgement."""

LEAST_RATIO = 6.0
"""Minimum area of an exposed pad over that of the usual pad around it: 6 on an MSOP, 15 and more on a QFN."""

LEAST_MM2 = 2.0
"""A smaller pad leads little heat: 1.4 x 1.4 mm."""

MIDDLE = 0.25
"""Its centre is this near the middle of the others, as a share of their extent."""


@record
class ExposedPad:
    """The exposed pad of a part; a package may have several rows of one number.

    Attributes:
        rows: of `Board.pads`.
        size_mm: of the rectangle around all of it, along and across the part.
        vias: vias and plated holes of its net whose centre is in it or between its pieces, and plated holes that are a
            piece of it.
    """

    footprint: int
    reference: str
    number: str
    net: int
    rows: tuple[int, ...]
    size_mm: tuple[float, float]
    vias: int


def exposed_pads(ctx: Context) -> tuple[ExposedPad, ...]:
    """Return the exposed pads of a board's fitted integrated circuits, by reference; get them with `Context.get`.

    A pad that joins no other pad is none: nothing leads its heat away by a net.
    """
    board = ctx.board
    pads = board.pads
    joins = np.bincount(pads.net, minlength=len(board.nets)) > 1
    flat = np.flatnonzero((pads.kind == PadKind.SMD) & (pads.footprint >= 0))
    order = flat[np.argsort(pads.footprint[flat], kind="stable")]
    cuts = np.flatnonzero(np.diff(pads.footprint[order])) + 1
    found = [one for rows in np.split(order, cuts) if len(rows) > LEAST_PADS for one in _of_part(board, rows)]
    found = [one for one in found if joins[one.net]]
    return tuple(sorted(found, key=lambda one: (one.reference, one.number)))


def _of_part(board: Board, rows: Ints) -> Iterator[ExposedPad]:
    pads, footprint = board.pads, int(board.pads.footprint[rows[0]])
    reference = str(board.footprints.reference[footprint])
    if reference_kind(reference) is not ReferenceKind.CHIP or is_left_out(board, footprint):
        return
    area = pad_areas_mm2(board, rows)
    usual = median(area)
    large = (area >= LEAST_RATIO * usual) & (area >= LEAST_MM2) & (pads.net[rows] > 0)
    others = rows[~large]
    if not np.any(large) or len(others) < LEAST_PADS:
        return
    for number in distinct(pads.number[rows[large]]).tolist():
        mine = rows[large & (pads.number[rows] == number)]
        if len(distinct(pads.net[mine])) == 1 and _is_in_the_middle(board, footprint, mine, others):
            plated = _plated_pieces(board, mine[0])
            yield ExposedPad(
                footprint=footprint,
                reference=reference,
                number=str(number),
                net=int(pads.net[mine[0]]),
                rows=tuple(mine.tolist()),
                size_mm=_size_mm(board, footprint, np.concatenate([mine, plated])),
                vias=_vias_in(board, mine, plated),
            )


def _plated_pieces(board: Board, row: int) -> Ints:
    """Return the plated holes that have the number of a surface pad, in the same part: pieces of one exposed pad."""
    pads = board.pads
    same = (pads.footprint == pads.footprint[row]) & (pads.number == pads.number[row])
    return np.flatnonzero(same & (pads.kind == PadKind.THROUGH) & (pads.drill_x_mm > 0))


def _size_mm(board: Board, footprint: int, rows: Ints) -> tuple[float, float]:
    """Return the extent of the pieces of a pad, along and across the part."""
    low, high = _ends_mm(board, footprint, rows)
    width, height = (high - low).tolist()
    return round(width, 6), round(height, 6)  # what turning rounds away is no width


def _ends_mm(board: Board, footprint: int, rows: Ints) -> tuple[Floats, Floats]:
    """Return the lowest and the highest corner of the rectangle around the pieces of a pad, in the part's axes."""
    pads, turned = board.pads, float(board.footprints.rotation_deg[footprint])
    tilt = np.radians(pads.rotation_deg[rows] - turned)
    size_x, size_y = np.array([pad_shape(board, row).size_mm for row in rows.tolist()]).T
    half_x = (size_x * np.abs(np.cos(tilt)) + size_y * np.abs(np.sin(tilt))) / 2
    half_y = (size_x * np.abs(np.sin(tilt)) + size_y * np.abs(np.cos(tilt))) / 2
    middles = _in_part(turned, *pad_middles_mm(board, rows))
    half = np.stack([half_x, half_y])
    return np.min(middles - half, axis=1), np.max(middles + half, axis=1)


def _in_part(turned_deg: float, x_mm: Floats, y_mm: Floats) -> Floats:
    """Return points along and across a part."""
    c, s = np.cos(np.radians(turned_deg)), np.sin(np.radians(turned_deg))
    return np.stack([x_mm * c - y_mm * s, x_mm * s + y_mm * c])


def _is_in_the_middle(board: Board, footprint: int, mine: Ints, others: Ints) -> bool:
    """Tell whether a pad lies between the others, along both axes of the part."""
    pads = board.pads
    angle = np.radians(float(board.footprints.rotation_deg[footprint]))
    x_mm, y_mm = pad_middles_mm(board, mine)
    for c, s in ((np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))):
        around = pads.x_mm[others] * c + pads.y_mm[others] * s
        at = float(np.mean(x_mm * c + y_mm * s))
        extent = float(np.ptp(around))
        if extent <= 0 or abs(at - (float(around.min()) + extent / 2)) > MIDDLE * extent:
            return False
    return True


def _vias_in(board: Board, rows: Ints, plated: Ints) -> int:
    """Count the vias that reach the pads and the plated holes in them, of the same net; and its own plated pieces."""
    pads, vias = board.pads, board.vias
    net, back = pads.net[rows[0]], bool(board.footprints.back[pads.footprint[rows[0]]])
    layer = board.layer_count - 1 if back else 0
    reaches = np.flatnonzero((vias.net == net) & (vias.start_layer <= layer) & (vias.end_layer >= layer))
    holes = np.flatnonzero((pads.kind == PadKind.THROUGH) & (pads.net == net) & (pads.drill_x_mm > 0))
    x = np.concatenate([vias.x_mm[reaches], pads.x_mm[holes]])
    y = np.concatenate([vias.y_mm[reaches], pads.y_mm[holes]])
    inside = np.concatenate([np.zeros(len(reaches), dtype=bool), np.isin(holes, plated)])
    for row in rows.tolist():
        inside |= inside_pad(board, row, x, y, ROUNDING_MM)
    return int(np.sum(inside | _between_pieces(board, rows, x, y)))


def _between_pieces(board: Board, rows: Ints, x_mm: Floats, y_mm: Floats) -> NDArray[np.bool_]:
    """Tell which points lie within a pad of several pieces: makers of modules draw its vias into the gaps."""
    if len(rows) < 2:
        return np.zeros(len(x_mm), dtype=bool)
    footprint = int(board.pads.footprint[rows[0]])
    low, high = _ends_mm(board, footprint, rows)
    at = _in_part(float(board.footprints.rotation_deg[footprint]), x_mm, y_mm)
    within: NDArray[np.bool_] = (at >= low[:, None] - ROUNDING_MM) & (at <= high[:, None] + ROUNDING_MM)
    inside: NDArray[np.bool_] = np.all(within, axis=0)
    return inside
