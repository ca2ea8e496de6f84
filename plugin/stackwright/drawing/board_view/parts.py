"""Parts as a drawing shows them: reference, side, box and courtyard."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackup_lib.kicad.read.items.courtyards import courtyards
from stackwright.drawing.board_view.shapes import BACK, FRONT, Steps, steps, units

MOST_CORNERS = 24
"""Of one courtyard: circles and rounded ones are drawn with fewer."""


@record
class ViewPart:
    """A part; box and courtyard in units. `is_drawn` says that the footprint has a courtyard, whose box this is."""

    reference: str
    side: int
    left: int
    top: int
    width: int
    height: int
    yards: tuple[Steps, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """True where the footprint has a courtyard; else the box is that of its pads."""
        return bool(self.yards)


def parts(board: Board) -> Iterator[ViewPart]:
    """Yield every footprint that has a courtyard or pads."""
    yards: dict[int, list[tuple[Ints, Ints]]] = {}
    for row, x, y in courtyards(board):
        chosen = distinct(np.linspace(0, len(x) - 1, min(len(x), MOST_CORNERS)).astype(np.int64))
        yards.setdefault(row, []).append((units(x[chosen]), units(y[chosen])))
    boxes = _pad_boxes(board)
    for row, reference in enumerate(board.footprints.reference.tolist()):
        found = yards.get(row, [])
        if found:
            xs, ys = np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found])
            left, top, right, bottom = (int(v) for v in (xs.min(), ys.min(), xs.max(), ys.max()))
        elif not np.isnan(boxes[row, 0]):
            left, top, right, bottom = units(boxes[row]).tolist()
        else:
            continue
        side = BACK if board.footprints.back[row] == 1 else FRONT
        drawn = tuple(steps(x, y) for x, y in found)
        yield ViewPart(reference, side, left, top, right - left, bottom - top, drawn)


def _pad_boxes(board: Board) -> Floats:
    """Left, top, right and bottom of the pads of each footprint, in mm; NaN without any."""
    pads = board.pads
    angle = np.deg2rad(pads.rotation_deg)
    cos, sin = np.abs(np.cos(angle)) / 2, np.abs(np.sin(angle)) / 2
    wide = pads.size_x_mm * cos + pads.size_y_mm * sin
    high = pads.size_x_mm * sin + pads.size_y_mm * cos
    found = np.full((len(board.footprints), 4), np.nan)
    np.fmin.at(found[:, 0], pads.footprint, pads.x_mm - wide)
    np.fmin.at(found[:, 1], pads.footprint, pads.y_mm - high)
    np.fmax.at(found[:, 2], pads.footprint, pads.x_mm + wide)
    np.fmax.at(found[:, 3], pads.footprint, pads.y_mm + high)
    return found
