"""On which layers tracks, surface pads, graphics and other vias touch the plated holes of their net."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.distances import gaps
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.copper.shapes import (
    NANOMETRE,
    CopperShape,
    CopperShapes,
    copper_pads,
    disc_pieces,
    drawn_pieces,
    pad_pieces,
    pad_rows,
    slot_pieces,
    track_pieces,
)
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record

Contacts = dict[int, set[int]]


@record
class HoleContacts:
    """Layers on which something touches a hole, by row among the vias and among the pads; nothing is left out."""

    vias: Contacts
    pads: Contacts


def hole_contacts(board: Board, wanted: NDArray[np.bool_]) -> HoleContacts:
    """Return what touches the holes of some nets, fills aside.

    A land counts as it is drawn on each layer, with the wall of a pin, and so does what touches it. A via that shares
    one layer alone with another goes on from it there, as a stacked microvia does.

    Args:
        board: the board.
        wanted: which nets; shape (nets,).
    """
    found = HoleContacts({}, {})
    for layer in range(board.layer_count):
        lands, others = _on_layer(board, layer, wanted)
        if len(lands) and len(others):
            for land in _touched(board, lands, others):
                pad = int(pad_rows(board, lands.where(np.array([land])))[0])
                of, row = (found.vias, int(lands.row[land])) if pad < 0 else (found.pads, pad)
                of.setdefault(row, set()).add(layer)
    for row, layer in _joints(board, wanted):
        found.vias.setdefault(row, set()).add(layer)
    return found


def _on_layer(board: Board, layer: int, wanted: NDArray[np.bool_]) -> tuple[CopperShapes, CopperShapes]:
    """The lands of holes on a layer, and what may touch them."""
    vias, pads = board.vias, board.pads
    drawn, here = drawn_pieces(board, layer), copper_pads(board) & holds_layer(pads.layers, layer) & wanted[pads.net]
    is_plated = np.append(pads.kind == PadKind.THROUGH, False)[pad_rows(board, drawn)]
    drawn, is_plated = drawn.where(wanted[drawn.net]), is_plated[wanted[drawn.net]]
    rows = np.flatnonzero((vias.start_layer <= layer) & (vias.end_layer >= layer) & wanted[vias.net])
    radius = np.fmax(vias.pad_size_mm[rows, layer], vias.drill_mm[rows]) / 2
    discs = disc_pieces(rows, vias.net[rows], vias.x_mm[rows] + 1j * vias.y_mm[rows], radius)
    through = np.flatnonzero((pads.kind == PadKind.THROUGH) & (pads.drill_x_mm > 0) & wanted[pads.net])
    barrels = replace(slot_pieces(board, through), kind=np.full(len(through), CopperShape.PAD, dtype=np.int8))
    plated = pad_pieces(board, np.flatnonzero(here & (pads.kind == PadKind.THROUGH)))
    flat = pad_pieces(board, np.flatnonzero(here & (pads.kind != PadKind.THROUGH)))
    tracks = track_pieces(board, layer)
    others = [tracks.where(wanted[tracks.net]), flat, drawn.where(~is_plated)]
    return CopperShapes.joined([discs, barrels, plated, drawn.where(is_plated)]), CopperShapes.joined(others)


def _touched(board: Board, lands: CopperShapes, others: CopperShapes) -> Iterator[int]:
    """The rows of the lands that something of their net touches."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with wanted nets needs it

    other, land = shapely.STRtree(diagonals(lands.boxes())).query(diagonals(others.boxes(NANOMETRE)))
    own = np.flatnonzero(others.net[other] == lands.net[land])
    other, land = other[own], land[own]
    gap = gaps(board, others.where(other), lands.where(land), NANOMETRE)
    yield from distinct(land[np.isfinite(gap)]).tolist()


def _joints(board: Board, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Vias (row, layer) that go on from another one: their pads meet, on the one layer that both spans share.

    Without them the barrel below a microvia that stands on it would pass for a stub.
    """
    import shapely  # noqa: PLC0415

    vias = board.vias
    rows = np.flatnonzero(wanted[vias.net])
    if not len(rows) or np.all((vias.start_layer[rows] == 0) & (vias.end_layer[rows] == board.layer_count - 1)):
        return
    at, reach = shapely.points(vias.x_mm[rows], vias.y_mm[rows]), vias.size_mm[rows] / 2
    one, other = shapely.STRtree(at).query(at, predicate="dwithin", distance=reach + float(reach.max()))
    apart = np.hypot(vias.x_mm[rows[one]] - vias.x_mm[rows[other]], vias.y_mm[rows[one]] - vias.y_mm[rows[other]])
    meets = (vias.net[rows[one]] == vias.net[rows[other]]) & (apart <= reach[one] + reach[other])
    one, other = rows[one[meets]], rows[other[meets]]
    first = np.maximum(vias.start_layer[one], vias.start_layer[other])
    last = np.minimum(vias.end_layer[one], vias.end_layer[other])
    for k in np.flatnonzero(first == last).tolist():
        yield int(one[k]), int(first[k])
