"""Where small clearances are, and between what, as text."""

from __future__ import annotations

import numpy as np

from drc_rules.report.findings import Location
from stackup_lib.board.board import Board, Ints
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.distances import cores
from stackup_lib.copper.shapes import CopperShape, CopperShapes, pad_rows
from stackup_lib.core.words import count

BEYOND_MM = 0.002
"""So far beyond the middle of a space either side is still taken to reach."""

NO_NET = "copper of no net"

CHORD_SHARE = 0.001
"""More than the share of a radius that lies between a circle and its 128 chords."""


def one_per_nets(board: Board, spaces: Spaces) -> Ints:
    """Return the row of the narrowest space between every two nets, the narrowest first, those alike by their names."""
    low, high = np.minimum(spaces.one.net, spaces.other.net), np.maximum(spaces.one.net, spaces.other.net)
    _, first = np.unique(low << 32 | high, return_index=True)
    rows = sorted((round(float(spaces.gap_mm[row]), 5), *_names(board, spaces, row), row) for row in first.tolist())
    return np.array([row for *_, row in rows], dtype=np.int64)


def _names(board: Board, spaces: Spaces, row: int) -> list[str]:
    return sorted(board.nets[int(piece.net[row])] for piece in (spaces.one, spaces.other))


def more_pairs(pairs: Spaces) -> str:
    """Return how many pairs of nets there are besides the first; "" for none."""
    return f" and {count(len(pairs) - 1, 'more pair')} of nets" if len(pairs) > 1 else ""


def between(board: Board, spaces: Spaces) -> str:
    """Return between what the narrowest space is."""
    pieces = (spaces.one, spaces.other)
    pads = [int(pad_rows(board, piece)[0]) for piece in pieces]
    nets = [board.nets[int(piece.net[0])] for piece in pieces]
    named = sorted((net, net or pad_name(board, pad) or NO_NET) for net, pad in zip(nets, pads, strict=True))
    words = "between " + " and ".join(name for _, name in named)
    if min(pads) >= 0:
        parts = {int(board.pads.footprint[pad]) for pad in pads}
        reference = str(board.footprints.reference[parts.pop()]) if len(parts) == 1 else ""
        words += f" (pads of {reference})" if reference else " (pads of one part)" if not parts else ""
    return words


def pad_name(board: Board, pad: int) -> str:
    """Return part and number of a pad, by which one without a net is called; "" where it has no part, or is none."""
    part = int(board.pads.footprint[pad]) if pad >= 0 else -1
    reference, number = (str(board.footprints.reference[part]), str(board.pads.number[pad])) if part >= 0 else ("", "")
    return f"{reference} pad {number}" if reference and number else f"a pad of {reference}" if reference else ""


def place(copper: CopperMap, spaces: Spaces, row: int) -> Location:
    """Return the middle of a space; net and item are those of the piece that is no fill."""
    import shapely  # noqa: PLC0415 - heavy, and only a finding needs it

    board, rows = copper.board, np.array([row])
    one, other = spaces.one.where(rows), spaces.other.where(rows)
    radii = [float(piece.radius_mm[0]) for piece in (one, other)]
    half = float(spaces.gap_mm[row]) / 2 + BEYOND_MM + CHORD_SHARE * max(radii)
    near = [
        shapely.buffer(cores(board, piece)[0], radius + half, quad_segs=32)
        for piece, radius in zip((one, other), radii, strict=True)
    ]
    # along parallels the space is as narrow everywhere: what is half-way from both has its middle there
    x, y = shapely.get_coordinates(shapely.centroid(shapely.intersection(*near)))[0].tolist()
    return Location(
        layer=board.copper_layers[spaces.layer].name,
        net=board.nets[int(one.net[0])] or None,
        uuid=uuid_of(board, one) or uuid_of(board, other),
        x_mm=x,
        y_mm=y,
    )


def uuid_of(board: Board, piece: CopperShapes) -> str | None:
    """Return the id of one piece; None for a fill."""
    return uuid_in(board, CopperShape(int(piece.kind[0])), int(piece.row[0]))


def uuid_in(board: Board, kind: CopperShape, row: int) -> str | None:
    """Return the id of a piece of copper by its row in the table of its kind; None for a fill."""
    tables = {CopperShape.TRACK: board.tracks.uuid, CopperShape.VIA: board.vias.uuid, CopperShape.PAD: board.pads.uuid}
    table = (tables | {CopperShape.DRAWN: board.drawings.uuid}).get(kind)
    return None if table is None else str(table[row]) or None
