"""The links of the delay table on the map: what is drawn when one is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from drc_rules.report.delay_rows import DelayGroup
from stackup_lib.board.board import Board
from stackup_lib.core.record import record
from stackwright.drawing.board_view.shapes import Steps, lines, units


@record
class LinkShape:
    """Tracks of a link, and the box around them; numbers in units of 10 um."""

    box: tuple[int, int, int, int]
    lines: tuple[tuple[int, int, Steps], ...]


def link_shapes(board: Board, groups: Iterable[DelayGroup]) -> Mapping[tuple[str, ...], LinkShape]:
    """Return nets of a link -> its shape."""
    rows_of_net: dict[int, list[int]] = {}
    for row, net in enumerate(board.tracks.net.tolist()):
        rows_of_net.setdefault(net, []).append(row)
    found: dict[tuple[str, ...], LinkShape] = {}
    for one in (link for group in groups for link in group.links):
        rows = [row for name in one.nets for row in rows_of_net.get(board.net_index[name], ())]
        if rows:
            found[one.nets] = _shape(board, np.array(rows, dtype=np.int64))
    return found


def _shape(board: Board, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> LinkShape:
    tracks = board.tracks
    x = units(np.concatenate([tracks.start_x_mm[rows], tracks.end_x_mm[rows]]))
    y = units(np.concatenate([tracks.start_y_mm[rows], tracks.end_y_mm[rows]]))
    left, top = int(x.min()), int(y.min())
    return LinkShape((left, top, int(x.max()) - left, int(y.max()) - top), tuple(lines(board, rows)))
