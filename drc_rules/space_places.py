"""Where narrow spaces are, and between what, in words."""

from __future__ import annotations

import numpy as np

from drc_rules.report import Place
from stackup_lib.board import Board, Ints
from stackup_lib.copper_gaps import cores
from stackup_lib.copper_map import CopperMap
from stackup_lib.copper_pieces import Piece, Pieces
from stackup_lib.spaces import Spaces


def one_per_nets(spaces: Spaces) -> Ints:
    """Return the row of the narrowest space between every two nets, the narrowest first."""
    low, high = np.minimum(spaces.one.net, spaces.other.net), np.maximum(spaces.one.net, spaces.other.net)
    _, first = np.unique(low << 32 | high, return_index=True)
    return np.sort(first).astype(np.int64)


def between(board: Board, spaces: Spaces) -> str:
    """Return between what the narrowest space is."""
    one, other = spaces.one, spaces.other
    nets = sorted(board.nets[int(pieces.net[0])] or "copper of no net" for pieces in (one, other))
    words = f"between {nets[0]} and {nets[1]}"
    if one.kind[0] == other.kind[0] == Piece.PAD:
        parts = {int(board.pads.footprint[int(pieces.row[0])]) for pieces in (one, other)}
        reference = str(board.footprints.reference[parts.pop()]) if len(parts) == 1 else ""
        words += f" (pads of {reference})" if reference else " (pads of one part)" if not parts else ""
    return words


def place(copper: CopperMap, spaces: Spaces, row: int) -> Place:
    """Return the middle of a space; net and item are those of the piece that is no fill."""
    import shapely  # noqa: PLC0415 - heavy, and only a finding needs it

    board, rows = copper.board, np.array([row])
    one, other = spaces.one.where(rows), spaces.other.where(rows)
    line = shapely.get_coordinates(shapely.shortest_line(cores(board, one)[0], cores(board, other)[0]))
    length = float(np.hypot(*(line[-1] - line[0])))
    share = (float(one.radius_mm[0]) + float(spaces.gap_mm[row]) / 2) / length if length else 0.5
    x, y = (line[0] + (line[-1] - line[0]) * share).tolist()
    return Place(
        layer=board.copper_layers[spaces.layer].name,
        net=board.nets[int(one.net[0])] or None,
        uuid=_uuid(board, one) or _uuid(board, other),
        x_mm=round(x, 4),
        y_mm=round(y, 4),
    )


def _uuid(board: Board, piece: Pieces) -> str | None:
    tables = {Piece.TRACK: board.tracks.uuid, Piece.VIA: board.vias.uuid, Piece.PAD: board.pads.uuid}
    table = tables.get(Piece(int(piece.kind[0])))
    return None if table is None else str(table[int(piece.row[0])]) or None
