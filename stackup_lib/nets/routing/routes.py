"""How a net is routed: the path from pad to pad over tracks, arcs and vias, and what branches off it. Lengths in mm.

The path runs from the centre of one pad to the centre of the other; where a track ends off the centre of a pad or via,
the straight way to it counts, from where the track comes onto its copper; so does that from a pad to a via whose land
is on it. The height of a via counts nothing. KiCad's own length of a net is in `kicad_length`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from enum import StrEnum
from itertools import pairwise

from stackup_lib.board.board import Board, PadKind
from stackup_lib.core.record import record
from stackup_lib.nets.routing.route_contacts import graph_of
from stackup_lib.nets.routing.route_graph import Edge, Graph, NodeKind
from stackup_lib.nets.two_pin_parts import reference_key

SHORTEST_BRANCH_MM = 0.01
"""What sticks out less than this is an end that overshoots, not a branch."""


DELAY_OF_TWO = 0.25
"""Delay that a short line of half its neighbours' impedance adds, of its own: (Z0/Z + Z/Z0) / 2 - 1 with Z = Z0 / 2."""


class BranchKind(StrEnum):
    """What a branch leads to."""

    STUB = "open end"
    TAP = "part next to the path"
    RECEIVER = "another end"


@record
class RouteSegment:
    """A section of the path on one layer with one width; `tracks` are indices into `Board.tracks`, in order."""

    layer: int
    width_mm: float
    length_mm: float
    tracks: tuple[int, ...]


@record
class Crossing:
    """A via on the path; `via` is an index into `Board.vias`, the layers are where the path comes in and goes out.

    Both layers are the same for a via that the path runs past: its whole barrel hangs on the path.
    """

    via: int
    entry_layer: int
    exit_layer: int
    at_mm: float


@record
class Branch:
    """Copper of the net that hangs on the path.

    Attributes:
        kind: open end, part next to the path, or another end of the net.
        at_mm: length of the path from its start to where it branches off.
        layer, x_mm, y_mm: place of the junction; the layer is that of the branch's first track, -1 when it has none.
        length_mm: all tracks of the branch.
        reach_mm: from the path to its farthest end.
        pads: indices into `Board.pads` that it leads to.
    """

    kind: BranchKind
    at_mm: float
    layer: int
    x_mm: float
    y_mm: float
    length_mm: float
    reach_mm: float
    pads: tuple[int, ...]


@record
class Loop:
    """A second way between two places of the path: tracks, or vias and tracks, that leave it and come back to it.

    Attributes:
        at_mm: length of the path from its start to where the second way leaves it.
        path_mm: length of the path between the two places, the farthest apart that the second way joins.
        other_mm: length of the second way between them.
        x_mm, y_mm: place where it leaves the path.
    """

    at_mm: float
    path_mm: float
    other_mm: float
    x_mm: float
    y_mm: float

    @property
    def doubt_mm(self) -> float:
        """By how much longer than the path the way of a signal may be.

        A fast edge has less than half of its height behind the loop (2/3 squared) until the longer way brings the rest.
        To a slow one two equal ways are a short line of half the impedance.
        """
        return max(self.other_mm - self.path_mm, DELAY_OF_TWO * self.path_mm)


@record
class Route:
    """The path between the two pads of a net that are farthest apart along the copper, and what branches off it.

    Attributes:
        net: index into `Board.nets`.
        start_pad, end_pad: indices into `Board.pads`; None when the tracks join no two pads.
        path_length_mm: along the tracks from pad to pad; 0 without a path.
        total_length_mm: all tracks of the net.
        pieces: the path in order, layer by layer and width by width.
        crossings: vias on the path, in order.
        branches: what hangs on the path, in order.
        loops: second ways between places of the path, in order; what they run over is among the branches, too.
        passed_pads: pads, indices into `Board.pads`, that the path runs over or next to without a branch.
        apart_mm: tracks that nothing but a fill, if anything, joins to the path.
        unreached_pads: pads to which no tracks lead from the path: a fill may, or nothing does.
    """

    net: int
    start_pad: int | None
    end_pad: int | None
    path_length_mm: float
    total_length_mm: float
    pieces: tuple[RouteSegment, ...]
    crossings: tuple[Crossing, ...]
    branches: tuple[Branch, ...]
    loops: tuple[Loop, ...]
    passed_pads: tuple[int, ...]
    apart_mm: float
    unreached_pads: tuple[int, ...]

    @property
    def length_mm_by_layer(self) -> dict[int, float]:
        """Copper layer -> length of the path on it."""
        sums: dict[int, float] = {}
        for piece in self.pieces:
            sums[piece.layer] = sums.get(piece.layer, 0.0) + piece.length_mm
        return sums


@record
class _Step:
    """One edge of the path, walked toward `to`."""

    edge: Edge
    to: int


def route_of(
    board: Board,
    net: int,
    taps: Collection[int] = (),
    *,
    starts: Collection[int] = (),
    ends: Collection[int] = (),
    graph: Graph | None = None,
) -> Route:
    """Return how a net runs between two of its pads: those that are farthest apart along its tracks.

    Args:
        board: the board.
        net: index into `Board.nets`.
        taps: pads of the net, as indices into `Board.pads`, that are no end of the path while two others are: test
            points, protection, pull-ups.
        starts: pads of the net from which the path shall run; any where none are given.
        ends: the same, to which.
        graph: of the net, where it is known.
    """
    graph = graph or graph_of(board, net)
    references, part = board.footprints.reference, board.pads.footprint
    graph.pads.sort(key=lambda node: (reference_key(str(references[part[graph.nodes[node].row]])), node))
    proper = [node for node in graph.pads if graph.nodes[node].row not in taps]
    path = None
    if starts or ends:
        sides = ([n for n in graph.pads if graph.nodes[n].row in rows] or proper for rows in (starts, ends))
        path = _longest(graph, *sides)
    path = path or _longest(graph, proper, proper) or _longest(graph, graph.pads, graph.pads)
    if path is None:
        return _without_path(net, graph)
    start, steps = path
    at, reached = _distances_along(start, steps), graph.distances(start)
    hanging, loops = _branches(graph, steps, at, taps)
    passed = {row for branch in hanging if branch.length_mm < SHORTEST_BRANCH_MM for row in branch.pads}
    passed |= {graph.nodes[node].row for node in [*at][1:-1] if graph.nodes[node].kind is NodeKind.PAD}
    return Route(
        net=net,
        start_pad=graph.nodes[start].row,
        end_pad=graph.nodes[steps[-1].to if steps else start].row,
        path_length_mm=sum(step.edge.length_mm for step in steps),
        total_length_mm=graph.length_mm,
        pieces=_pieces(steps),
        crossings=_crossings(graph, start, steps, at),
        branches=tuple(branch for branch in hanging if branch.length_mm >= SHORTEST_BRANCH_MM),
        loops=loops,
        passed_pads=tuple(sorted(passed)),
        apart_mm=sum(e.length_mm for e in graph.edges if e.first not in reached),
        unreached_pads=tuple(graph.nodes[node].row for node in graph.pads if node not in reached),
    )


def _without_path(net: int, graph: Graph) -> Route:
    """Return the route of a net whose tracks join no two pads."""
    return Route(
        net=net,
        start_pad=None,
        end_pad=None,
        path_length_mm=0.0,
        total_length_mm=graph.length_mm,
        pieces=(),
        crossings=(),
        branches=(),
        loops=(),
        passed_pads=(),
        apart_mm=graph.length_mm,
        unreached_pads=tuple(graph.nodes[node].row for node in graph.pads),
    )


def _longest(graph: Graph, starts: list[int], ends: list[int]) -> tuple[int, list[_Step]] | None:
    """Return the longest of the shortest ways from a start to an end; of equal ones the first of the starts."""
    best: tuple[float, int, int] | None = None
    for k, start in enumerate(starts[:MOST_STARTS]):
        others = ends[k + 1 :] if ends is starts else ends  # the reverse direction is as long
        reach = graph.distances(start) if others else {}
        for end in others:
            if reach.get(end, 0.0) > (best[0] if best else 0.0) + SAME_MM:
                best = (reach[end], start, end)
    if best is None:
        return None
    return best[1], [_Step(edge, to) for edge, to in graph.way(best[1], best[2])]


def pin_layers(board: Board, route: Route, *, is_start: bool) -> tuple[int, int] | None:
    """Return where a signal enters and leaves the plated pin at an end of a route, in its order; None without one.

    At the start from the side of the pin's part to the layer of the first track or via, at the end the other way round.
    """
    pad, pads = route.start_pad if is_start else route.end_pad, board.pads
    if pad is None or pads.kind[pad] != PadKind.THROUGH:
        return None
    of_part = board.layer_count - 1 if board.footprints.back[pads.footprint[pad]] else 0
    piece = route.pieces[0 if is_start else -1] if route.pieces else None
    crossing = route.crossings[0 if is_start else -1] if route.crossings else None
    at_mm = 0.0 if is_start else route.path_length_mm
    if crossing is not None and (piece is None or abs(crossing.at_mm - at_mm) < SHORTEST_BRANCH_MM):
        of_trace = crossing.entry_layer if is_start else crossing.exit_layer
    elif piece is not None:
        of_trace = piece.layer
    else:
        of_trace = of_part
    return (of_part, of_trace) if is_start else (of_trace, of_part)


SAME_MM = 1e-6
"""Ways that differ by less are of one length; pads that only touch have no way between them."""

MOST_STARTS = 32
"""Ends from which ways are measured; a net with more is a bus or a rail, whose longest way says little."""


def _distances_along(start: int, steps: list[_Step]) -> dict[int, float]:
    """Node of the path -> length of the path up to it."""
    at, along = {start: 0.0}, 0.0
    for step in steps:
        along += step.edge.length_mm
        at[step.to] = along
    return at


def _pieces(steps: list[_Step]) -> tuple[RouteSegment, ...]:
    runs: list[list[Edge]] = []
    for edge in (step.edge for step in steps if step.edge.length_mm > 0):
        if runs and (runs[-1][0].layer, runs[-1][0].width_mm) == (edge.layer, edge.width_mm):
            runs[-1].append(edge)
        else:
            runs.append([edge])
    return tuple(
        RouteSegment(
            layer=run[0].layer,
            width_mm=run[0].width_mm,
            length_mm=sum(edge.length_mm for edge in run),
            tracks=tuple(dict.fromkeys(edge.track for edge in run if edge.track is not None)),
        )
        for run in runs
    )


def _crossings(graph: Graph, start: int, steps: list[_Step], at: dict[int, float]) -> tuple[Crossing, ...]:
    """Return the vias on the path in order; one that only hangs on it has the same layer twice."""
    found = []
    for before, after in pairwise(steps):
        node = graph.nodes[before.to]
        if node.kind is NodeKind.VIA:
            entry, leaves = before.edge.layer, after.edge.layer
            found.append(Crossing(via=node.row, entry_layer=entry, exit_layer=leaves, at_mm=at[before.to]))
    crossed = {crossing.via for crossing in found}
    for node_on_path in (start, *(step.to for step in steps)):
        for edge in graph.edges_at(node_on_path):
            if edge.track is not None:
                continue
            adjacent = graph.nodes[edge.other(node_on_path)]
            if adjacent.kind is NodeKind.VIA and adjacent.row not in crossed:
                crossed.add(adjacent.row)
                along, layer = at[node_on_path], edge.layer
                found.append(Crossing(via=adjacent.row, entry_layer=layer, exit_layer=layer, at_mm=along))
    return tuple(sorted(found, key=lambda crossing: crossing.at_mm))


def _branches(
    graph: Graph, steps: list[_Step], at: dict[int, float], taps: Collection[int]
) -> tuple[tuple[Branch, ...], tuple[Loop, ...]]:
    """Follow everything off the path from each of its nodes; what comes back to the path is a loop, too."""
    on_path, used = set(at), {id(step.edge) for step in steps}
    found, loops = list[Branch](), list[Loop]()
    for junction, along in at.items():
        for edge in graph.edges_at(junction):
            if id(edge) in used or _lies_on_path(graph, edge, steps, at):
                continue
            behind = _behind(graph, junction, edge, on_path, used)
            found.append(_branch(graph, behind, (junction, along), taps))
            loops += _loops(graph, behind, junction, at)
    return tuple(sorted(found, key=lambda branch: branch.at_mm)), tuple(sorted(loops, key=lambda loop: loop.at_mm))


def _lies_on_path(graph: Graph, edge: Edge, steps: list[_Step], at: dict[int, float]) -> bool:
    """Tell whether an edge is a second track drawn over the path: straight from node to node, as the path is there."""
    if edge.first not in at or edge.second not in at or edge.track is None:
        return False
    one, two = graph.nodes[edge.first], graph.nodes[edge.second]
    begin, end = sorted((at[edge.first], at[edge.second]))
    straight = math.hypot(one.x_mm - two.x_mm, one.y_mm - two.y_mm)
    if max(abs(edge.length_mm - straight), abs(end - begin - straight)) > SAME_MM:
        return False
    return all(
        step.edge.layer == edge.layer for step in steps if begin < at[step.to] <= end and step.edge.length_mm > 0
    )


def _loops(graph: Graph, behind: _Behind, junction: int, at: dict[int, float]) -> Iterator[Loop]:
    """Yield the loop that what hangs on a junction makes, where it comes back to the path elsewhere."""
    edges, reach = behind
    ways = dict[int, float]()
    for edge in edges:
        for node, before in ((edge.first, edge.second), (edge.second, edge.first)):
            if node in at and node != junction and (before == junction or before in reach):
                ways[node] = min(ways.get(node, math.inf), reach.get(before, 0.0) + edge.length_mm)
    back = max(ways, key=lambda node: abs(at[node] - at[junction]), default=junction)
    apart_mm = abs(at[back] - at[junction])
    if apart_mm >= SHORTEST_BRANCH_MM and any(edge.track is not None and not edge.inside for edge in edges):
        place = graph.nodes[junction]
        yield Loop(min(at[junction], at[back]), apart_mm, ways[back], place.x_mm, place.y_mm)


_Behind = tuple[list[Edge], dict[int, float]]


def _behind(graph: Graph, junction: int, first: Edge, on_path: set[int], used: set[int]) -> _Behind:
    """Return the edges and nodes behind an edge that leaves the path; node -> length of copper from the path."""
    edges, nodes, open_ends = [first], dict[int, float](), [(first.other(junction), first.length_mm)]
    used.add(id(first))
    while open_ends:
        node, reach = open_ends.pop()
        if node in on_path or (node in nodes and nodes[node] <= reach):
            continue
        nodes[node] = reach
        for edge in graph.edges_at(node):
            if id(edge) not in used:
                used.add(id(edge))
                edges.append(edge)
                open_ends.append((edge.other(node), reach + edge.length_mm))
    return edges, nodes


def _branch(graph: Graph, behind: _Behind, start: tuple[int, float], taps: Collection[int]) -> Branch:
    junction, along = start
    edges, nodes = behind
    pads = tuple(sorted(graph.nodes[n].row for n in nodes if graph.nodes[n].kind is NodeKind.PAD))
    kind = BranchKind.STUB
    if pads:
        kind = BranchKind.TAP if all(pad in taps for pad in pads) else BranchKind.RECEIVER
    tracks = [edge for edge in edges if edge.track is not None and not edge.inside]
    return Branch(
        kind=kind,
        at_mm=along,
        layer=tracks[0].layer if tracks else -1,
        x_mm=graph.nodes[junction].x_mm,
        y_mm=graph.nodes[junction].y_mm,
        length_mm=sum(edge.length_mm for edge in tracks),
        reach_mm=max(nodes.values(), default=sum(edge.length_mm for edge in tracks)),
        pads=pads,
    )
