"""Currents in the vias, plated holes and tracks of a ground return."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.record import entity, record
from stackup_lib.power.ground_return.return_net import Holes, Resistors, ReturnKind
from stackup_lib.power.network import joined_parts
from stackup_lib.power.rail_drop.rail_models import HoleCurrent

LEAST_SHARE = 0.001
"""Of the largest current in a hole; holes with less are left out."""


@entity
class Barrels:
    """The plated holes of a net, in its network of resistors.

    Attributes:
        node: of each hole on each copper layer, -1 where it touches nothing there.
    """

    board: Board
    holes: Holes
    node: Ints
    resistors: Resistors


def hole_currents(
    barrels: Barrels, flow_a: Floats, rail_of: Sequence[int], ends: Collection[int]
) -> Mapping[int, tuple[HoleCurrent, ...]]:
    """Return the largest current of each hole's barrel by rail, largest first; the flows of one rail add up.

    Args:
        barrels: where currents are looked for.
        flow_a: current from the first to the second end of each barrel, in the order of the resistors, by flow.
        rail_of: the rail of each flow.
        ends: rows of `Board.pads` at which currents enter or leave: they are no holes on the way.
    """
    holes, resistors = barrels.holes, barrels.resistors
    barrel = np.flatnonzero(resistors.kind == ReturnKind.BARREL)
    hole, upper = resistors.row[barrel], resistors.layer[barrel]
    on_the_way = ~np.isin(holes.pad[hole], np.asarray(sorted(ends), dtype=np.int64))
    found: dict[int, tuple[HoleCurrent, ...]] = {}
    for rail in dict.fromkeys(rail_of):
        current = flow_a[:, [one == rail for one in rail_of]].sum(axis=1)
        size = np.abs(current)
        order = np.lexsort((-size, hole))
        first = order[np.diff(hole[order], prepend=-1) != 0]
        least = LEAST_SHARE * float(size.max(initial=0.0))
        kept = first[on_the_way[first] & (size[first] > least)]
        rows = (_hole(barrels, int(hole[k]), int(upper[k]), float(current[k])) for k in kept.tolist())
        found[rail] = tuple(sorted(rows, key=lambda one: (-one.current_a, one.x_mm, one.y_mm)))
    return found


@record
class ReturnTrack:
    """The largest current along a track outside fills, and the voltage along the tracks that it goes on in."""

    row: int
    current_a: float
    run_v: float


def track_currents(
    resistors: Resistors, volts: Floats, rail_of: Sequence[int]
) -> Mapping[int, tuple[ReturnTrack, ...]]:
    """Return the largest current along each track outside fills by rail, largest first; its flows add up.

    Args:
        resistors: of the net.
        volts: of its nodes, by flow.
        rail_of: the rail of each flow.
    """
    tracks = np.flatnonzero(resistors.kind == ReturnKind.TRACK)
    one, two, row = resistors.first[tracks], resistors.second[tracks], resistors.row[tracks]
    found: dict[int, tuple[ReturnTrack, ...]] = {}
    for rail in dict.fromkeys(rail_of) if len(tracks) else ():
        of_rail = volts[:, [each == rail for each in rail_of]].sum(axis=1)
        current = np.abs(resistors.siemens[1, tracks] * (of_rail[one] - of_rail[two]))
        part = joined_parts(one, two, len(of_rail))
        low, high = np.full(len(of_rail), np.inf), np.full(len(of_rail), -np.inf)
        for nodes in (one, two):
            np.minimum.at(low, part[nodes], of_rail[nodes])
            np.maximum.at(high, part[nodes], of_rail[nodes])
        order = np.lexsort((-current, row))
        first = order[np.diff(row[order], prepend=-1) != 0]
        kept = first[current[first] > LEAST_SHARE * float(current.max())].tolist()
        rows = (
            ReturnTrack(int(row[k]), float(current[k]), float(high[part[one[k]]] - low[part[one[k]]])) for k in kept
        )
        found[rail] = tuple(sorted(rows, key=lambda track: (-track.current_a, track.row)))
    return found


def _hole(barrels: Barrels, hole: int, upper: int, current: float) -> HoleCurrent:
    board, holes = barrels.board, barrels.holes
    lower = upper + 1 + int(np.argmax(barrels.node[hole, upper + 1 :] >= 0))
    first, second = (upper, lower) if current >= 0 else (lower, upper)
    via, pad = int(holes.via[hole]), int(holes.pad[hole])
    return HoleCurrent(
        uuid=str(board.vias.uuid[via] if via >= 0 else board.pads.uuid[pad]),
        x_mm=float(holes.x_mm[hole]),
        y_mm=float(holes.y_mm[hole]),
        is_via=via >= 0,
        current_a=abs(current),
        from_layer=board.copper_layers[first].name,
        to_layer=board.copper_layers[second].name,
    )
