"""Plated holes as signal paths: which layers use them, what barrel is left over, what a backdrill takes away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import NO_LAYER, Board, Drilling, Floats, Ints, LayerKind, PadKind, Stackup
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.record import record
from stackup_lib.vias.hole_contacts import hole_contacts


@record
class Backdrill:
    """One controlled-depth drill: enters at an outer layer, passes every layer up to and including `must_cut`."""

    start: int
    must_cut: int
    size_mm: float | None = None


@record
class Machining:
    """What is milled around a hole from one side: a "counterbore", a cylinder, or a "countersink", a cone.

    Attributes:
        start: the outer layer at which it enters.
        size_mm: diameter there.
        depth_mm, angle_deg: how deep it goes, and the cone's full angle.

    What the file does not state is 0.
    """

    kind: str
    start: int
    size_mm: float
    depth_mm: float
    angle_deg: float


@record
class PlatedHole:
    """A via or plated pad of one net.

    Attributes:
        top, bottom: first and last copper layer of the barrel.
        drill_mm: finished diameter, as KiCad stores it.
        used: layers with a track, pad, graphic or fill of the net on the hole, or where a via goes on from it; of a
            plated pad the side of its part too; ascending, none where nothing is routed to it.
        routed: the same without the fills.
        pad_mm: largest pad on it.
        keeps_unused: pads stay on the layers that it only passes.
        is_unsure: the net has a zone without a stored fill, which may use any layer.
        pin_side: the layer that counts as used for no more than the pin that comes in there; -1 for none.
    """

    net: int
    x_mm: float
    y_mm: float
    uuid: str
    is_via: bool
    top: int
    bottom: int
    drill_mm: float
    used: tuple[int, ...]
    backdrills: tuple[Backdrill, ...]
    routed: tuple[int, ...] = ()
    pad_mm: float = 0.0
    keeps_unused: bool = True
    is_unsure: bool = False
    machinings: tuple[Machining, ...] = ()
    pin_side: int = NO_LAYER

    @property
    def joins_nothing(self) -> bool:
        """True for a via that copper of its net reaches on one layer alone."""
        return self.is_via and len(self.used) == 1 and not self.is_unsure


@record
class Stub:
    """Barrel beyond the last used layer, on one side of a hole, before any backdrill.

    Attributes:
        side: outer layer at which the stub ends, and from which it would be drilled away.
        first: last used layer: the stub begins behind it.
    """

    hole: PlatedHole
    side: int
    first: int
    length_mm: float


def copper_heights_mm(stackup: Stackup) -> tuple[float, ...]:
    """Return the depth of each copper layer below the board's top, in mm; none at all where a thickness is missing.

    Inner layers count at their middle, the outer ones at their outer face: there the barrel of a hole ends.
    """
    if not _is_whole(stackup):
        return ()
    heights, depth = [], 0.0
    for row in stackup.layers:
        thickness = row.thickness_mm or 0.0
        if row.kind is LayerKind.COPPER:
            heights.append(depth + thickness / 2)
        if row.kind is LayerKind.COPPER or row.is_dielectric:
            depth += thickness
    return (0.0, *heights[1:-1], depth) if len(heights) > 1 else tuple(heights)


def copper_faces_mm(stackup: Stackup) -> tuple[tuple[float, float], ...]:
    """Return the depth of each copper layer's faces below the top, in mm; none where a thickness is missing."""
    if not _is_whole(stackup):
        return ()
    faces, depth = [], 0.0
    for row in stackup.layers:
        thickness = row.thickness_mm or 0.0
        if row.kind is LayerKind.COPPER:
            faces.append((depth, depth + thickness))
        if row.kind is LayerKind.COPPER or row.is_dielectric:
            depth += thickness
    return tuple(faces)


def _is_whole(stackup: Stackup) -> bool:
    """Tell whether every row from copper to copper states its thickness, and copper never is on copper."""
    rows = [row for row in stackup.layers if row.kind is LayerKind.COPPER or row.is_dielectric]
    on_copper = any(a.kind is b.kind is LayerKind.COPPER for a, b in pairwise(rows))
    return not on_copper and all(row.thickness_mm for row in rows)


def plated_holes(board: Board, nets: Ints) -> tuple[PlatedHole, ...]:
    """Return the vias and plated through pads on the given nets, net by net, vias first."""
    wanted = np.zeros(max(len(board.nets), 1), dtype=bool)
    wanted[nets] = True
    vias = _by_net(board.vias.net, np.flatnonzero(wanted[board.vias.net]))
    plated = _by_net(board.pads.net, np.flatnonzero(wanted[board.pads.net] & (board.pads.kind == PadKind.THROUGH)))
    touched = hole_contacts(board, wanted)
    unfilled = _unfilled_nets(board)
    filled = _filled_layers(board, vias, plated)
    found: list[PlatedHole] = []
    for net in nets.tolist():
        unsure = net in unfilled
        for make, rows, routed, poured in (
            (_via, vias, touched.vias, filled.vias),
            (_pad, plated, touched.pads, filled.pads),
        ):
            found += [
                make(board, row, routed.get(row, set()), poured.get(row, set()), is_unsure=unsure)
                for row in rows.get(net, ())
            ]
    return tuple(found)


@record
class _Filled:
    """Layers on which a fill of its own net touches a hole, by row among the vias and among the pads."""

    vias: dict[int, set[int]] = field(default_factory=dict)
    pads: dict[int, set[int]] = field(default_factory=dict)


def _filled_layers(board: Board, vias: Mapping[int, list[int]], pads: Mapping[int, list[int]]) -> _Filled:
    """Ask every fill of the holes' nets which of their pads it touches, or which barrels where there is no pad.

    A fill goes over the holes it is joined to, or its thermal spokes do. What keeps its clearance, because the zone
    joins no pads or another one goes before it here, joins the net elsewhere and leaves the barrel open.
    """
    found, zones = _Filled(), board.zones
    net_of_fill = zones.net[zones.fill_zone]
    for fill in np.flatnonzero(np.isin(net_of_fill, [*vias, *pads])).tolist():
        net, layer = int(net_of_fill[fill]), int(zones.fill_layer[fill])
        rows = np.array(vias.get(net, []), dtype=np.int64)
        inside = (board.vias.start_layer[rows] <= layer) & (board.vias.end_layer[rows] >= layer)
        rows = rows[inside]
        at = board.vias.x_mm[rows], board.vias.y_mm[rows]
        for row in rows[_touched(board, fill, *at, _land_mm(board, rows, layer))].tolist():
            found.vias.setdefault(row, set()).add(layer)
        rows = np.array(pads.get(net, []), dtype=np.int64)
        at = board.pads.x_mm[rows], board.pads.y_mm[rows]
        across = np.fmin(board.pads.size_x_mm[rows], board.pads.size_y_mm[rows])
        for row in rows[_touched(board, fill, *at, across / 2)].tolist():
            found.pads.setdefault(row, set()).add(layer)
    return found


def _land_mm(board: Board, rows: Ints, layer: int) -> Floats:
    """Radius of the vias' pads on a layer; of their barrels where they have none, or it is left out unused."""
    vias = board.vias
    is_end = (vias.start_layer[rows] == layer) | (vias.end_layer[rows] == layer)
    is_kept = (is_end & (vias.keep_end[rows] == 1)) | holds_layer(vias.fill_layers[rows], layer)
    is_bare = (vias.remove_unused[rows] == 1) & ~is_kept
    pads = vias.pad_size_mm[rows, layer]
    radius: Floats = np.where(is_bare | np.isnan(pads), vias.drill_mm[rows], pads) / 2
    return radius


def _touched(board: Board, fill: int, x_mm: Floats, y_mm: Floats, reach_mm: Floats) -> NDArray[np.bool_]:
    """Tell which points have a fill within their reach."""
    zones = board.zones
    here = slice(int(zones.fill_start[fill]), int(zones.fill_start[fill + 1]))
    x, y = zones.fill_x_mm[here], zones.fill_y_mm[here]
    touched = np.zeros(len(x_mm), dtype=np.bool_)
    if not len(x_mm) or len(x) < MIN_CORNERS:
        return touched
    near = (x_mm + reach_mm >= x.min()) & (x_mm - reach_mm <= x.max())
    rows = np.flatnonzero(near & (y_mm + reach_mm >= y.min()) & (y_mm - reach_mm <= y.max()))
    if len(rows):
        import shapely  # noqa: PLC0415 - heavy, and only a net with filled copper needs it

        polygon = shapely.Polygon(np.column_stack([x, y]))
        shapely.prepare(polygon)
        touched[rows] = shapely.dwithin(polygon, shapely.points(x_mm[rows], y_mm[rows]), reach_mm[rows])
    return touched


MIN_CORNERS = 3
"""A ring of fewer corners encloses no copper."""


def _by_net(net_column: Ints, rows: Ints) -> dict[int, list[int]]:
    """Rows by net, in file order."""
    found: dict[int, list[int]] = {}
    for row, net in zip(rows.tolist(), net_column[rows].tolist(), strict=True):
        found.setdefault(net, []).append(row)
    return found


def _unfilled_nets(board: Board) -> set[int]:
    """Nets with a zone of which no fill is stored."""
    zones = board.zones
    filled = np.zeros(len(zones), dtype=bool)
    filled[zones.fill_zone] = True
    return set(zones.net[~filled & (zones.is_rule_area == 0)].tolist())


def stubs(holes: tuple[PlatedHole, ...], heights_mm: tuple[float, ...]) -> tuple[Stub, ...]:
    """Return the unused barrel at both ends of every hole that something uses."""
    found = []
    for hole in holes:
        if not hole.used or hole.bottom >= len(heights_mm):
            continue
        for side, first in ((hole.top, hole.used[0]), (hole.bottom, hole.used[-1])):
            length = abs(heights_mm[side] - heights_mm[first])
            if length > 0:
                found.append(Stub(hole, side, first, length))
    return tuple(found)


THICKNESS_SPREAD = 0.10
"""Usual tolerance of a board's thickness, and so of an undrilled stub's length (engineering knowledge)."""


def drill_from(side: int, own: Iterable[Backdrill], declared: Iterable[Backdrill], hole_mm: float) -> Backdrill | None:
    """Return the drill from one side of a hole that can be counted on, None when there is none.

    All drills of the file are made: the deepest counts. Where it and a declared one disagree, or declared ones do, the
    shallowest does: what then passes holds for each. One that is no wider than the finished hole cuts no plating.

    Args:
        side: outer layer from which it enters.
        own: drills of the board file.
        declared: those of the settings.
        hole_mm: finished diameter of the hole.
    """

    def depth(drill: Backdrill) -> int:
        return abs(drill.must_cut - side)

    of_file, stated = (
        [drill for drill in drills if drill.start == side and not is_within(drill, hole_mm)]
        for drills in (own, declared)
    )
    return min([*([max(of_file, key=depth)] if of_file else []), *stated], key=depth, default=None)


def is_within(drill: Backdrill, hole_mm: float) -> bool:
    """Tell whether a backdrill is no wider than the finished hole that it goes into."""
    return 0 < (drill.size_mm or 0.0) <= hole_mm


def residual_mm(stub: Stub, drill: Backdrill | None, faces_mm: tuple[tuple[float, float], ...]) -> Interval:
    """Return the barrel that is left beyond the last used layer.

    A drawing binds the fab to cut the must-cut layer and to spare the used one: at worst the stub reaches up to the
    former, at best nothing is left up to the next layer; nominally the drill stops half way to that layer. A drill
    that passes the used layer leaves nothing (and more is wrong than the stub).

    Args:
        stub: before drilling.
        drill: from its side, None for none: then the length is known to the board's thickness tolerance.
        faces_mm: `copper_faces_mm` of the stackup.
    """
    if drill is None:
        spread = stub.length_mm * THICKNESS_SPREAD
        return Interval(low=stub.length_mm - spread, nominal=stub.length_mm, high=stub.length_mm + spread)
    down = stub.side > stub.first
    if (drill.must_cut <= stub.first) if down else (drill.must_cut >= stub.first):
        return ZERO
    origin = faces_mm[stub.first][1 if down else 0]
    worst = abs(faces_mm[drill.must_cut][0 if down else 1] - origin)
    following = drill.must_cut + (-1 if down else 1)
    best = abs(faces_mm[following][1 if down else 0] - origin)
    return Interval(low=best, nominal=(best + worst) / 2, high=worst)


def _via(board: Board, index: int, touched: Set[int], filled: Set[int], *, is_unsure: bool) -> PlatedHole:
    vias = board.vias
    top, bottom = int(vias.start_layer[index]), int(vias.end_layer[index])
    return PlatedHole(
        net=int(vias.net[index]),
        x_mm=float(vias.x_mm[index]),
        y_mm=float(vias.y_mm[index]),
        uuid=str(vias.uuid[index]),
        is_via=True,
        top=top,
        bottom=bottom,
        drill_mm=float(vias.drill_mm[index]),
        used=tuple(sorted(layer for layer in touched | filled if top <= layer <= bottom)),
        routed=tuple(sorted(layer for layer in touched if top <= layer <= bottom)),
        backdrills=backdrills_of(vias.drilling, index),
        pad_mm=float(vias.size_mm[index]),
        keeps_unused=vias.remove_unused[index] != 1,
        is_unsure=is_unsure,
        machinings=machinings_of(vias.drilling, index, board.layer_count),
    )


def _pad(board: Board, index: int, touched: Set[int], filled: Set[int], *, is_unsure: bool) -> PlatedHole:
    pads = board.pads
    bottom = board.layer_count - 1
    component_side = bottom if board.footprints.back[pads.footprint[index]] else 0
    pin_side = NO_LAYER if component_side in touched | filled else component_side
    if touched or filled:  # where the pin comes in; a pad that nothing joins yet may be left on any layer
        touched = touched | {component_side}
    return PlatedHole(
        net=int(pads.net[index]),
        x_mm=float(pads.x_mm[index]),
        y_mm=float(pads.y_mm[index]),
        uuid=str(pads.uuid[index]),
        is_via=False,
        top=0,
        bottom=bottom,
        drill_mm=float(pads.drill_x_mm[index]),
        used=tuple(sorted(layer for layer in touched | filled if layer <= bottom)),
        routed=tuple(sorted(layer for layer in touched if layer <= bottom)),
        backdrills=backdrills_of(pads.drilling, index),
        pad_mm=float(max(pads.size_x_mm[index], pads.size_y_mm[index])),
        is_unsure=is_unsure,
        machinings=machinings_of(pads.drilling, index, board.layer_count),
        pin_side=pin_side,
    )


def backdrills_of(drilling: Drilling, index: int) -> tuple[Backdrill, ...]:
    """Return the backdrills of a via or pad by its row."""
    columns = (
        (drilling.backdrill_start, drilling.backdrill_must_cut, drilling.backdrill_size_mm),
        (drilling.tertiary_start, drilling.tertiary_must_cut, drilling.tertiary_size_mm),
    )
    return tuple(
        Backdrill(int(start[index]), int(cut[index]), float(size[index]))
        for start, cut, size in columns
        if start[index] != NO_LAYER
    )


def machinings_of(drilling: Drilling, index: int, layer_count: int) -> tuple[Machining, ...]:
    """Return what is milled around a via or pad by its row."""
    d = drilling
    sides = (
        (0, d.front_post, d.front_post_size_mm, d.front_post_depth_mm, d.front_post_angle_deg),
        (layer_count - 1, d.back_post, d.back_post_size_mm, d.back_post_depth_mm, d.back_post_angle_deg),
    )
    return tuple(
        Machining(str(kind[index]), start, *(float(np.nan_to_num(column[index])) for column in sizes))
        for start, kind, *sizes in sides
        if kind[index]
    )
