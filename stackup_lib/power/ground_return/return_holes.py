"""Currents in the vias, plated holes and tracks of a ground return."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.record import entity, record
from stackup_lib.power.ground_return.return_net import Holes, Resistors, ReturnKind
from stackup_lib.power.network import joined_parts
from stackup_lib.power.rail_drop.rail_models import HoleCurrent

LEAST_SHARE = 0.001
"""Of the largest current in a hole; holes with less are left out."""

SHARED = 0.5
"""Other rails count in a hole or track for one that sends at least this share of what each of them does."""

Others = Mapping[int, Sequence[Sequence[Sequence[int]]]]
"""By rail, for each of the others: its flows by number, or in several modes of work those of each."""


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
    barrels: Barrels, volts: Floats, rail_of: Sequence[int], ends: Collection[int], others: Others
) -> Mapping[int, tuple[HoleCurrent, ...]]:
    """Return the largest current of each hole's barrel by rail, largest first; the flows of one rail add up.

    Those of other rails are added where they raise it.

    Args:
        barrels: where currents are looked for.
        volts: of the nodes, by flow.
        rail_of: the rail of each flow.
        ends: rows of `Board.pads` at which currents enter or leave: they are no holes on the way.
        others: whose flows may be at once with those of each rail.
    """
    holes, resistors = barrels.holes, barrels.resistors
    barrel = np.flatnonzero(resistors.kind == ReturnKind.BARREL)
    hole, upper = resistors.row[barrel], resistors.layer[barrel]
    one, two = resistors.first[barrel], resistors.second[barrel]
    flow_a = resistors.siemens[1, barrel, None] * (volts[one] - volts[two])
    on_the_way = ~np.isin(holes.pad[hole], np.asarray(sorted(ends), dtype=np.int64))
    found: dict[int, tuple[HoleCurrent, ...]] = {}
    for rail in dict.fromkeys(rail_of):
        current = flow_a[:, [one == rail for one in rail_of]].sum(axis=1)
        more, left = _from_others(current, flow_a, others.get(rail, ()))
        size = np.abs(current) + more
        order = np.lexsort((-size, hole))
        first = order[np.diff(hole[order], prepend=-1) != 0]
        least = LEAST_SHARE * float(size.max(initial=0.0))
        kept = first[on_the_way[first] & (size[first] > least)]
        rows = (
            replace(
                _hole(barrels, int(hole[k]), int(upper[k]), float(current[k]), float(more[k])), left_a=float(left[k])
            )
            for k in kept.tolist()
        )
        found[rail] = tuple(sorted(rows, key=lambda one: (-one.current_a, one.x_mm, one.y_mm)))
    return found


def _from_others(own_a: Floats, flow_a: Floats, others: Sequence[Sequence[Sequence[int]]]) -> tuple[Floats, Floats]:
    """Return what other rails add to a rail's own currents, and the same where one of them sends far more.

    What lowers a rail's current is left out.
    """
    if not others:
        return np.zeros_like(own_a), np.zeros_like(own_a)
    along = np.sign(own_a)[:, None] * flow_a
    most = [np.max([along[:, flows].sum(axis=1) for flows in modes], axis=0) for modes in others]
    raising = np.maximum(most, 0.0)
    is_shared, total = np.abs(own_a) >= SHARED * raising.max(axis=0), raising.sum(axis=0)
    return np.where(is_shared, total, 0.0), np.where(is_shared, 0.0, total)


@record
class ReturnTrack:
    """The largest current along a track outside fills, and the voltage along the tracks that it goes on in."""

    row: int
    current_a: float
    run_v: float


def track_currents(
    resistors: Resistors, volts: Floats, rail_of: Sequence[int], others: Others
) -> Mapping[int, tuple[ReturnTrack, ...]]:
    """Return the largest current along each track outside fills by rail, largest first; flows add up as in holes.

    Args:
        resistors: of the net.
        volts: of its nodes, by flow.
        rail_of: the rail of each flow.
        others: whose flows may be at once with those of each rail.
    """
    tracks = np.flatnonzero(resistors.kind == ReturnKind.TRACK)
    one, two, row = resistors.first[tracks], resistors.second[tracks], resistors.row[tracks]
    found: dict[int, tuple[ReturnTrack, ...]] = {}
    if not len(tracks):
        return found
    flow_a = resistors.siemens[1, tracks, None] * (volts[one] - volts[two])
    part = joined_parts(one, two, len(volts))
    for rail in dict.fromkeys(rail_of):
        mine = [each == rail for each in rail_of]
        own_a = flow_a[:, mine].sum(axis=1)
        more, _ = _from_others(own_a, flow_a, others.get(rail, ()))
        current = np.abs(own_a) + more
        order = np.lexsort((-current, row))
        first = order[np.diff(row[order], prepend=-1) != 0]
        kept = first[current[first] > LEAST_SHARE * float(current.max())].tolist()
        run_v = _run_v(volts[:, mine].sum(axis=1), one, two, part) * current / np.maximum(np.abs(own_a), 1e-15)
        rows = (ReturnTrack(int(row[k]), float(current[k]), float(run_v[k])) for k in kept)
        found[rail] = tuple(sorted(rows, key=lambda track: (-track.current_a, track.row)))
    return found


def _run_v(volts: Floats, one: Ints, two: Ints, part: Ints) -> Floats:
    """Return for each track, between the nodes `one` and `two`, the voltage along the tracks that it goes on in."""
    low, high = np.full(len(volts), np.inf), np.full(len(volts), -np.inf)
    for nodes in (one, two):
        np.minimum.at(low, part[nodes], volts[nodes])
        np.maximum.at(high, part[nodes], volts[nodes])
    return np.asarray((high - low)[part[one]])


def _hole(barrels: Barrels, hole: int, upper: int, current: float, others: float) -> HoleCurrent:
    board, holes = barrels.board, barrels.holes
    lower = upper + 1 + int(np.argmax(barrels.node[hole, upper + 1 :] >= 0))
    first, second = (upper, lower) if current >= 0 else (lower, upper)
    via, pad = int(holes.via[hole]), int(holes.pad[hole])
    return HoleCurrent(
        uuid=str(board.vias.uuid[via] if via >= 0 else board.pads.uuid[pad]),
        x_mm=float(holes.x_mm[hole]),
        y_mm=float(holes.y_mm[hole]),
        is_via=via >= 0,
        current_a=abs(current) + others,
        from_layer=board.copper_layers[first].name,
        to_layer=board.copper_layers[second].name,
        others_a=others,
    )
