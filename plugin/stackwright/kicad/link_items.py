"""What a row of the delay table selects in KiCad: the tracks and vias of its nets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from stackwright.reporters.delays import FIRST_BOARD, shown_delays
from stackwright.text.words import clean

if TYPE_CHECKING:
    from stackup_lib.board.board import Board, Ints, Text
    from stackwright.drawing.charts import Charts

MOST_ITEMS, MOST_IN_ALL = 1000, 50_000
"""Items of one row, and of all rows together: the answer to the page's server stays small."""


def link_items(board: Board, charts: Charts) -> dict[str, object]:
    """Return by the id of each row on the page what it is about, in the form of a finding."""
    rows = [row for group in shown_delays(charts, FIRST_BOARD) for row in group.rows]
    most = min(MOST_ITEMS, MOST_IN_ALL // max(1, len(rows)))
    tracks, vias = _by_net(board.tracks.net, board.tracks.uuid), _by_net(board.vias.net, board.vias.uuid)
    return {
        row.id: {
            "members": [
                {
                    "items": list(_of(row.link.nets, board, (tracks, vias)))[:most],
                    "layer": row.link.layers[0][0] if len(row.link.layers) == 1 else None,
                    "title": clean(row.link.name),
                }
            ]
        }
        for row in rows
    }


def _by_net(nets: Ints, uuids: Text) -> dict[int, list[str]]:
    """Return the items of each net that have an id."""
    found: dict[int, list[str]] = {}
    for net, uuid in zip(np.asarray(nets).tolist(), uuids.tolist(), strict=True):
        if uuid:
            found.setdefault(net, []).append(uuid)
    return found


def _of(names: Iterable[str], board: Board, kinds: Iterable[dict[int, list[str]]]) -> Iterator[str]:
    nets = [board.net_index[name] for name in names]
    for kind in kinds:
        for net in nets:
            yield from kind.get(net, ())
