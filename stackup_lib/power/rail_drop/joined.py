"""Which pads of a net its copper joins, looked at piece by piece: no currents, no triangles, no part that conducts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Ints
from stackup_lib.copper.shapes import copper_pads
from stackup_lib.core.arrays import distinct
from stackup_lib.power.ground_return.return_net import holes_of
from stackup_lib.power.network import joined_parts
from stackup_lib.power.rail_drop.net_copper import (
    QUARTER,
    RailNotJoinedError,
    RailNotSolvedError,
    net_fills,
    net_graphics,
    net_pads,
    net_tracks,
    refuse_unfilled,
)
from stackup_lib.power.rail_drop.rail_models import Terminal

if TYPE_CHECKING:
    from shapely import Geometry

TOUCHING_MM = 1e-6
"""Pieces nearer than KiCad's grid touch."""

MOST_NAMED = 4
"""Pads that a message names."""

ADVICE = "route it, or state another source"

JUMPERS = "pads that are joined inside a part (jumpers)"

BEFORE_JUMPER = (
    "nothing states the resistance inside: judge the copper on each side with a [[rail]] up to that part's pads"
)

IN_NET = "draw that copper with the net, or as a zone of it"


def joined_pads(
    board: Board, net: int, pads: Sequence[int], *drawn_nets: int, inside_parts: bool = False
) -> dict[int, int]:
    """Return a number for each of some pads of a net; those with the same number are joined by copper alone.

    A pad is one piece of metal on all of its layers; two pads of one part are two pieces, but with `inside_parts` those
    that KiCad holds joined inside a part that is fitted. A fill that goes on under
    copper of another net is not refused: see `refuse_stale`. Graphics join where their net is one of `drawn_nets`, 0
    for those without a net; without any, custom pads are their anchors.

    Raises:
        RailNotSolvedError: a zone of the net has no stored fill.
    """
    refuse_unfilled(board, net)
    pieces = _Pieces()
    pieces.count = len(pads)
    number = {pad: node for node, pad in enumerate(pads)}
    inside = [*_inside_parts(board, net)] if inside_parts else []
    for pad in {pad for pair in inside for pad in pair} - number.keys():
        number[pad] = pieces.new()
    for pad, layer, area in net_pads(board, net, is_whole=bool(drawn_nets)):
        pieces.add([(layer, area)], number.get(pad, -1))
    for piece in net_tracks(board, net):
        pieces.add([piece])
    for layers, areas in _barrels(board, net):
        pieces.add(zip(layers, areas, strict=True))
    for piece in net_graphics(board, *drawn_nets):
        pieces.add([piece])
    fills: dict[int, list[tuple[Geometry, int]]] = {}
    for layer, fill in net_fills(board, net):
        fills.setdefault(layer, []).append((fill, pieces.new()))
    first, second = pieces.links(fills)
    by_parts = np.array([(number[one], number[other]) for one, other in inside], dtype=np.int64).reshape(-1, 2).T
    first, second = np.concatenate([first, by_parts[0]]), np.concatenate([second, by_parts[1]])
    return dict(zip(pads, joined_parts(first, second, pieces.count).tolist(), strict=False))


def _inside_parts(board: Board, net: int) -> Iterator[tuple[int, int]]:
    """Yield pads of a net, two by two, that are joined inside a part."""
    pads = board.pads
    rows = np.flatnonzero((pads.net == net) & (pads.jumper >= 0) & (board.footprints.unfitted[pads.footprint] == 0))
    for group in distinct(pads.jumper[rows]).tolist():
        yield from pairwise(rows[pads.jumper[rows] == group].tolist())


class _Pieces:
    """Copper by layer, each piece with the number of what it belongs to."""

    def __init__(self) -> None:
        self.count = 0
        self.on: dict[int, tuple[list[Geometry], list[int]]] = {}

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def add(self, pieces: Iterator[tuple[int, Geometry]] | Sequence[tuple[int, Geometry]], node: int = -1) -> None:
        """Add pieces that are one."""
        number = self.new() if node < 0 else node
        for layer, area in pieces:
            areas, nodes = self.on.setdefault(layer, ([], []))
            areas.append(area)
            nodes.append(number)

    def links(self, fills: Mapping[int, Sequence[tuple[Geometry, int]]]) -> tuple[Ints, Ints]:
        """Return which numbers touch, fills included."""
        found: list[tuple[Ints, Ints]] = [(np.zeros(0, dtype=np.int64),) * 2]
        for layer in self.on.keys() | fills.keys():
            areas, nodes = self.on.get(layer, ([], []))
            found += _touching(np.array(areas, dtype=object), np.array(nodes, dtype=np.int64), fills.get(layer, ()))
        first, second = (np.concatenate(column) for column in zip(*found, strict=True))
        return first, second


def _touching(
    areas: NDArray[np.object_], nodes: Ints, fills: Sequence[tuple[Geometry, int]]
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the numbers of pieces of a layer that touch; fills are large, so each is prepared and asked by itself."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    tree = shapely.STRtree(areas)
    one, two = tree.query(areas, predicate="dwithin", distance=TOUCHING_MM)
    yield nodes[one], nodes[two]
    for k, (fill, number) in enumerate(fills):
        shapely.prepare(fill)
        near = tree.query(fill)
        hit = near[shapely.dwithin(fill, areas[near], TOUCHING_MM)]
        yield np.full(len(hit), number), nodes[hit]
        others = [other for area, other in fills[:k] if shapely.dwithin(fill, area, TOUCHING_MM)]
        yield np.full(len(others), number), np.array(others, dtype=np.int64)


def _barrels(board: Board, net: int) -> Iterator[tuple[list[int], list[Geometry]]]:
    """Vias and plated holes with the pads of vias, layer by layer; what a backdrill cuts off is a piece of its own."""
    import shapely  # noqa: PLC0415

    holes = holes_of(board, net, 0.0)
    ring = np.zeros(holes.on.shape)
    via = holes.via >= 0
    ring[via] = np.nan_to_num(board.vias.pad_size_mm[holes.via[via]]) / 2
    size = np.where(holes.on, np.maximum(ring, holes.radius_mm[:, None]), ring)
    centres = shapely.points(holes.x_mm, holes.y_mm)
    hole, layer = np.nonzero(size > 0)
    areas = shapely.buffer(centres[hole], size[hole, layer], quad_segs=QUARTER)
    on = holes.on[hole, layer]
    fresh = np.ones(len(hole), dtype=bool)
    fresh[1:] = (hole[1:] != hole[:-1]) | (layer[1:] != layer[:-1] + 1) | ~on[1:] | ~on[:-1]
    starts = np.append(np.flatnonzero(fresh), len(hole)).tolist()
    for begin, end in pairwise(starts):
        yield layer[begin:end].tolist(), list(areas[begin:end])


def need_joined(board: Board, net: int, source: Terminal, loads: Sequence[Terminal]) -> None:
    """Refuse a rail that is whole only through parts: copper alone has to join all pads of its ends.

    Raises:
        RailNotJoinedError: copper leads from no source to a load, or from a source to no load.
        RailNotSolvedError: single pads of a source or load are apart; only jumpers or graphics without a net join them.
    """
    where = str(board.path or "the board")
    source, *loads = (replace(one, pads=pads_of_copper(board, one.pads)) for one in (source, *loads))
    pads = [pad for one in (source, *loads) for pad in one.pads]
    of = joined_pads(board, net, pads, net)
    open_loads, open_sources = _open(board, of, source, loads)
    names = ", ".join(load.name for load in loads)
    if open_loads:
        names, open_from = ", ".join(load.name for load in open_loads), source.name
    else:
        open_from = ", ".join(one.name for one in open_sources)
    if open_loads or open_sources:
        what = f"no copper joins {open_from} to {names}"
        if not any(_open(board, joined_pads(board, net, pads, net, 0), source, loads)):
            raise RailNotSolvedError(where, f"{what} but graphics without a net", IN_NET)
        if not any(_open(board, joined_pads(board, net, pads, net, inside_parts=True), source, loads)):
            raise RailNotSolvedError(where, f"{what} but {JUMPERS}", BEFORE_JUMPER)
        raise RailNotJoinedError(where, what, ADVICE)
    lone = lone_pads(board, of)
    if lone and not lone_pads(board, joined_pads(board, net, pads, net, inside_parts=True)):
        raise RailNotSolvedError(where, f"no copper joins {lone} to the others but {JUMPERS}", BEFORE_JUMPER)
    if lone:
        what = f"no copper joins {lone} to the other pads that feed it or draw from it"
        raise RailNotSolvedError(where, what, "route it, or name in from and to the pads that carry its current alone")


def _open(
    board: Board, of: Mapping[int, int], source: Terminal, loads: Sequence[Terminal]
) -> tuple[list[Terminal], list[Terminal]]:
    """Return the loads that no source leads to, and the sources that lead to no load."""
    fed, drawn = ({of[pad] for pad in pads} for pads in (source.pads, [p for load in loads for p in load.pads]))
    open_loads = [load for load in loads if not fed & {of[pad] for pad in load.pads}]
    return open_loads, [one for one in by_part(board, source.pads) if not drawn & {of[pad] for pad in one.pads}]


def pads_of_copper(board: Board, pads: Sequence[int]) -> tuple[int, ...]:
    """Return those of some pads that have copper, all of them where none has: openings for paste have none."""
    has = copper_pads(board)[list(pads)]
    return tuple(np.asarray(pads)[has].tolist()) or tuple(pads)


def by_part(board: Board, pads: Sequence[int]) -> tuple[Terminal, ...]:
    """Return pads as one terminal for each part."""
    parts: dict[int, list[int]] = {}
    for pad in pads:
        parts.setdefault(int(board.pads.footprint[pad]), []).append(pad)
    return tuple(Terminal(name=_part(board, some[0]), pads=tuple(some)) for some in parts.values())


def lone_pads(board: Board, of: Mapping[int, int]) -> str:
    """Return the pads that copper does not join to most of the others, as text; "" where all are joined."""
    numbers = list(of.values())
    most = max(numbers, key=numbers.count)
    lone = [f"{_part(board, pad)}.{board.pads.number[pad]}" for pad, number in of.items() if number != most]
    more = f" and {len(lone) - MOST_NAMED} more" if len(lone) > MOST_NAMED else ""
    return ", ".join(lone[:MOST_NAMED]) + more


def is_custom(board: Board, pads: Sequence[int]) -> bool:
    """Tell whether one of some pads has a shape of its own, of which only the anchor is read."""
    return bool((board.pads.shape[list(pads)] == "custom").any())


def _part(board: Board, pad: int) -> str:
    footprint = int(board.pads.footprint[pad])
    return str(board.footprints.reference[footprint]) if footprint >= 0 else "a part"
