"""The load at which a rail's impedance is seen: which part, where its vias meet the planes, and their inductance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drc_rules.analysis.power.over_frequency.mounts import Mounts, Pairs, in_parallel, with_range
from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.analysis.power.rail_inputs import need_fitted, part_pads, parts_on
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.power.over_frequency.landings import PLATING_MM, apart_mm
from stackup_lib.power.over_frequency.mounting import via_pair_inductance_h

MARGIN_MM = 1.0
"""Vias so far outside of the box of the load's pads still are the load's."""

OWN_WAY_MM = 3.0
"""So long is the copper from the outline of a pad to a via under the load: dogbones, not tracks to vias elsewhere."""

MOST_TRIED = 8
"""Places of a load that are looked up in the planes."""

IN_SERIES = (ReferenceKind.INDUCTOR, ReferenceKind.FERRITE, ReferenceKind.FUSE, ReferenceKind.RESISTOR)
"""Parts that lead on to another net."""

SMALLEST_MM = 1.0
"""Side of the square in which the current of one via leaves the planes."""


@dataclass(frozen=True)
class LoadPort:
    """A load.

    Attributes:
        name: of the part.
        x_mm, y_mm, size_mm: square in which its vias meet the planes.
        vias_h: inductance of its vias from the pads to the nearer plane, all of them in parallel.
        vias: their number, 0 where its pads lie in the plane.
        layer: of the rail, where they first meet one.
        inferred: why this part counts as the load, "" where it is stated.
    """

    name: str
    x_mm: float
    y_mm: float
    size_mm: float
    vias_h: Interval
    vias: int
    layer: int
    inferred: str


def load_of(mounts: Mounts, nets: tuple[int, int], stated: tuple[str, ...], sources: tuple[str, ...]) -> LoadPort:
    """Return the load: of the stated parts the one with most pads on the rail, else of all.

    Raises:
        MissingFact: the stated parts have no pad on the rail or are not fitted, or nothing on it may be a load.
    """
    board, (net, ground) = mounts.board, nets
    if not stated:
        return _inferred(mounts, nets, sources)
    for one in stated:
        need_fitted(board, board.nets[net], one, "to", _pads(board, one, net).tolist())
    name = max(stated, key=lambda name: len(_pads(board, name, net)))
    pads = _pads(board, name, net)
    if not len(pads):
        raise MissingFact(
            f"pads of {', '.join(stated)} on {board.nets[net]}",
            in_table(board.nets[net], f'to = ["?"]  # parts on it: {", ".join(parts_on(board, board.nets[net]))}'),
        )
    return _load(mounts, name, pads, ground)


def _inferred(mounts: Mounts, nets: tuple[int, int], sources: tuple[str, ...]) -> LoadPort:
    """The part with most pads on the rail that reaches the planes; connectors come last, as they feed more often."""
    board, (net, ground) = mounts.board, nets
    on_net = [name for name in parts_on(board, board.nets[net]) if name not in sources]
    candidates = [name for name in on_net if reference_kind(name) not in IN_SERIES]
    missing: MissingFact | None = None
    for name in sorted(
        candidates, key=lambda one: (reference_kind(one) is ReferenceKind.SOCKET, -len(_pads(board, one, net)))
    ):
        try:
            found = _load(mounts, name, _pads(board, name, net), ground)
        except MissingFact as reason:
            missing = missing or reason
            continue
        return replace(found, inferred="most pads on the rail")
    name = board.nets[net]
    raise missing or MissingFact(f"the load of {name}: no part on it draws a current", in_table(name, 'to = ["?"]'))


def _load(mounts: Mounts, name: str, pads: Ints, ground: int) -> LoadPort:
    board = mounts.board
    columns, net = board.pads, int(board.pads.net[pads[0]])
    back = bool(board.footprints.back[columns.footprint[pads[0]]])
    x, y = columns.x_mm[pads], columns.y_mm[pads]
    box = (
        float(x.min()) - MARGIN_MM,
        float(y.min()) - MARGIN_MM,
        float(x.max()) + MARGIN_MM,
        float(y.max()) + MARGIN_MM,
    )
    own, back_of = mounts.landings.near(net, box, back=back), mounts.landings.near(ground, box, back=back)
    grounds = np.flatnonzero((columns.footprint == columns.footprint[pads[0]]) & (columns.net == ground))
    own = mounts.landings.reached(pads, own, OWN_WAY_MM, back=back)
    if len(grounds):
        back_of = mounts.landings.reached(grounds, back_of, OWN_WAY_MM, back=back)
    drilled = pads[columns.drill_x_mm[pads] > 0]
    if len(drilled):
        own = np.zeros(0, dtype=np.int64)
    points = (
        np.column_stack([board.vias.x_mm[own], board.vias.y_mm[own]])
        if len(own)
        else np.column_stack([columns.x_mm[pads], columns.y_mm[pads]])
    )
    middle = points.mean(axis=0)
    size = max(SMALLEST_MM, float(np.sqrt(np.prod(np.maximum(np.ptp(points, axis=0), SMALLEST_MM)))))
    under = _under(mounts, points)
    layer = mounts.nearest(under, back=back).rail_layer
    at = LoadPort(name, float(middle[0]), float(middle[1]), size, ZERO, 0, layer, "")
    depth = mounts.depth_mm(under, back=back)
    if depth <= 0:
        return at
    if not (len(own) and len(back_of)):
        return _by_pads(mounts, pads, grounds, at, under)
    from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy, and only a rail with capacitors needs it

    return_mm = np.column_stack([board.vias.x_mm[back_of], board.vias.y_mm[back_of]])
    apart = float(cKDTree(return_mm).query(points)[0].mean())
    barrel = float(np.median(board.vias.drill_mm[own])) + 2 * PLATING_MM
    pairs = min(len(own), len(back_of))
    nominal = via_pair_inductance_h(depth, max(apart, 1.05 * barrel), barrel) / pairs
    return replace(at, vias_h=with_range(nominal), vias=len(own))


def _under(mounts: Mounts, points: Floats) -> Pairs:
    """The pairs of planes that any of some places of a load meets."""
    step = max(1, len(points) // MOST_TRIED)
    found = {pair for x, y in points[::step].tolist() for pair in mounts.under(x, y)}
    return sorted(found, key=lambda pair: pair.layers) or mounts.facing


def _by_pads(mounts: Mounts, pads: Ints, grounds: Ints, load: LoadPort, under: Pairs) -> LoadPort:
    """A load without vias under it: from its pads to the nearest vias, and back by the nearest of its ground pads."""
    back = bool(mounts.board.footprints.back[mounts.board.pads.footprint[pads[0]]])
    there = list(mounts.landings_of(pads.tolist(), back=back).values())
    back_again = list(mounts.landings_of(grounds.tolist(), back=back).values())
    if not there or not back_again:
        what = "on the rail" if not there else "on ground"
        raise MissingFact(
            f"how {load.name} reaches the planes: no copper joins its pads to a via {what} within 30 mm", "add vias"
        )
    ways = (
        [mounts.way_h(one, under, back=back, apart_mm=apart_mm(one, other)) for one in ends]
        for ends, other in ((there, back_again[0]), (back_again, there[0]))
    )
    return replace(load, vias_h=with_range(sum(in_parallel(way) for way in ways)), vias=len(there))


def _pads(board: Board, name: str, net: int) -> Ints:
    return np.flatnonzero(part_pads(board, name) & (board.pads.net == net))
