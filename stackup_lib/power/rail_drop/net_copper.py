"""The copper of one net as polygons per layer: stored fills, tracks, pads; and whether the fills can be true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer, layers_of
from stackup_lib.copper.drawn_shorts import drawn_area
from stackup_lib.copper.fill_edges import PEN_DRAWN
from stackup_lib.core.arrays import distinct
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad.read.items.shapes import arc

if TYPE_CHECKING:
    from shapely import Geometry, Polygon

SMOOTHED_MM = 0.005
"""Outlines of fills are simplified by this much: KiCad itself draws their arcs with chords that are off by 5 um."""

QUARTER = 4
"""Chords per quarter of a round end."""


REFILL = "in KiCad, press B to fill all zones and save the board"


class RailNotSolvedError(StackwrightError):
    """A rail whose resistance cannot be computed from what the board file holds."""


class RailNotJoinedError(RailNotSolvedError):
    """No copper that the file holds joins the source of a rail to a load."""


def net_copper(board: Board, net: int) -> Mapping[int, Geometry]:
    """Return a net's copper per layer as shapely polygons in mm, layers without any left out.

    A rounded rectangle counts as the rectangle. Graphics with the net count, those without one do not. A fill is
    treated as stale where KiCad says so or where copper of another net is in it; a fill that leaves out what it could
    cover by now cannot be distinguished from a good one.

    Raises:
        RailNotSolvedError: fills are missing or stale.
    """
    refuse_stale(board, net)
    fills = _by_layer(net_fills(board, net))
    pads = ((layer, area) for _, layer, area in net_pads(board, net, is_whole=True))
    wired = _by_layer((*net_tracks(board, net), *pads, *net_graphics(board, net)))
    rings = _by_layer(_via_pads(board, net))
    used = sorted(fills.keys() | wired.keys() | stacked_layers(board, net))
    return {on: _joined(fills.get(on, []), [*wired.get(on, []), *rings.get(on, [])]) for on in used}


def stacked_layers(board: Board, net: int) -> frozenset[int]:
    """Return the layers at which vias of a net end and others begin: one on the other, they need no copper to join."""
    vias = board.vias
    mine = vias.net == net
    return frozenset(vias.start_layer[mine].tolist()) & frozenset(vias.end_layer[mine].tolist())


def _by_layer(pieces: Iterable[tuple[int, Geometry]]) -> dict[int, list[Geometry]]:
    found: dict[int, list[Geometry]] = {}
    for layer, piece in pieces:
        found.setdefault(layer, []).append(piece)
    return found


def _joined(fills: list[Geometry], pieces: list[Geometry]) -> Geometry:
    """One area of a layer's fills and pieces; those within a fill, as most are, need not be joined to it."""
    import shapely  # noqa: PLC0415

    loose = np.array(pieces, dtype=object)
    for fill in fills:
        shapely.prepare(fill)
        loose = loose[~shapely.covers(fill, loose)]
    parts = [*map(_smoothed, fills), *loose]
    return _valid(shapely.union_all(parts))


def _smoothed(fill: Geometry) -> Geometry:
    """Simplify an outline ring by ring, which is quick; with its holes in view only where rings then touch."""
    import shapely  # noqa: PLC0415

    quick = shapely.simplify(fill, SMOOTHED_MM, preserve_topology=False)
    return quick if quick.is_valid and not quick.is_empty else shapely.simplify(fill, SMOOTHED_MM)


def pad_area(board: Board, pad: int) -> Polygon:
    """Return a pad's copper as a polygon in mm; a custom shape counts as its anchor."""
    import shapely  # noqa: PLC0415
    from shapely import affinity  # noqa: PLC0415

    pads = board.pads
    x, y = float(pads.x_mm[pad]), float(pads.y_mm[pad])
    half_x, half_y = float(pads.size_x_mm[pad]) / 2, float(pads.size_y_mm[pad]) / 2
    if pads.shape[pad] in ("circle", "oval"):
        small = min(half_x, half_y)
        ends = [(-(half_x - small), -(half_y - small)), (half_x - small, half_y - small)]
        core = shapely.LineString(ends) if half_x != half_y else shapely.Point(0.0, 0.0)
        area = shapely.buffer(core, small, quad_segs=QUARTER)
    else:
        area = shapely.box(-half_x, -half_y, half_x, half_y)
    area = affinity.translate(area, float(pads.shift_x_mm[pad]), float(pads.shift_y_mm[pad]))
    # KiCad's angles turn counter-clockwise while y points down
    return affinity.translate(affinity.rotate(area, -float(pads.rotation_deg[pad]), origin=(0, 0)), x, y)


def pad_centres_mm(board: Board, pads: Ints) -> tuple[Floats, Floats]:
    """Return the middles of the copper of some pads: KiCad may draw it off the pad's origin, where its hole is."""
    rows = board.pads
    turn = np.deg2rad(rows.rotation_deg[pads])
    right, down = rows.shift_x_mm[pads], rows.shift_y_mm[pads]
    x = rows.x_mm[pads] + right * np.cos(turn) + down * np.sin(turn)
    return x, rows.y_mm[pads] - right * np.sin(turn) + down * np.cos(turn)


def _valid(area: Geometry) -> Geometry:
    """Polygons only, without self-contact."""
    import shapely  # noqa: PLC0415

    sound = area if area.is_valid else shapely.buffer(area, 0)
    return shapely.MultiPolygon([p for p in shapely.get_parts(sound) if p.geom_type == "Polygon" and p.area > 0])


def net_fills(board: Board, net: int, layer: int | None = None) -> Iterator[tuple[int, Geometry]]:
    """Yield layer and area, in mm, of each fill; slits, by which KiCad ties holes to the outline, are closed."""
    import shapely  # noqa: PLC0415

    zones = board.zones
    wanted = zones.net[zones.fill_zone] == net
    for k in np.flatnonzero(wanted if layer is None else wanted & (zones.fill_layer == layer)).tolist():
        first, last = int(zones.fill_start[k]), int(zones.fill_start[k + 1])
        if last - first < 3:
            continue
        ring = shapely.Polygon(np.column_stack([zones.fill_x_mm[first:last], zones.fill_y_mm[first:last]]))
        yield int(zones.fill_layer[k]), _valid(ring)


def layer_fills(board: Board, net: int, layer: int) -> list[Geometry]:
    """Return the stored fills of a net on one layer, in mm."""
    return [area for on, area in net_fills(board, net, layer) if on == layer]


def net_tracks(board: Board, net: int) -> Iterator[tuple[int, Geometry]]:
    """Yield layer and area, in mm, of each track of a net."""
    import shapely  # noqa: PLC0415

    tracks = board.tracks
    for k in np.flatnonzero(tracks.net == net).tolist():
        start = float(tracks.start_x_mm[k]), float(tracks.start_y_mm[k])
        end = float(tracks.end_x_mm[k]), float(tracks.end_y_mm[k])
        middle = float(tracks.mid_x_mm[k]), float(tracks.mid_y_mm[k])
        corners = np.array([start, end]) if np.isnan(middle[0]) else np.column_stack(arc(start, middle, end))
        line = shapely.LineString(corners) if start != end else shapely.Point(start)
        yield int(tracks.layer[k]), shapely.buffer(line, float(tracks.width_mm[k]) / 2, quad_segs=QUARTER)


def net_pads(board: Board, net: int, *, is_whole: bool = False) -> Iterator[tuple[int, int, Geometry]]:
    """Yield row, layer and area, in mm, of each pad of a net, on each of its layers.

    Without `is_whole` as `pad_area` has it, with the anchor of a custom pad alone.
    """
    pads = board.pads
    drawn = {pad: rows for pad, rows in _drawn_of_pads(board, net).items() if is_whole or pads.has_stack[pad]}
    for k in np.flatnonzero((pads.net == net) & (pads.kind != PadKind.NON_PLATED)).tolist():
        for layer, area in _pad_layers(board, k, drawn.get(k, [])):
            yield k, layer, area


def contact_areas(board: Board, pad: int) -> Iterator[tuple[int, Geometry]]:
    """Yield layer and area, in mm, by which a pad is soldered or plated: of a custom one that is the anchor."""
    own = np.flatnonzero(board.drawings.pad == pad).tolist() if board.pads.has_stack[pad] else []
    yield from _pad_layers(board, pad, own)


def _drawn_of_pads(board: Board, net: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero((board.drawings.net == net) & (board.drawings.pad >= 0)).tolist():
        found.setdefault(int(board.drawings.pad[row]), []).append(row)
    return found


def _pad_layers(board: Board, pad: int, drawn: list[int]) -> Iterator[tuple[int, Geometry]]:
    """Yield a pad by layer with shapes that are drawn for it; of one that differs by layer these are all of it."""
    import shapely  # noqa: PLC0415

    is_drawn = bool(drawn) and bool(board.pads.has_stack[pad])
    own = [] if is_drawn else [pad_area(board, pad)]
    for layer in layers_of(int(board.pads.layers[pad])):
        shapes = [drawn_area(board, row) for row in drawn if layer in _layers_drawn(board, row)]
        whole = shapely.union_all([*own, *shapes]) if shapes else own[0] if own else shapely.Polygon()
        if not whole.is_empty:
            yield layer, whole


def _layers_drawn(board: Board, row: int) -> list[int]:
    return layers_of(int(board.drawings.layers[row]))


def net_graphics(board: Board, *nets: int) -> Iterator[tuple[int, Geometry]]:
    """Yield layer and area, in mm, of what is drawn on copper with one of some nets, pads left out; 0 is no net."""
    drawings = board.drawings
    for row in np.flatnonzero(np.isin(drawings.net, nets) & (drawings.pad < 0)).tolist():
        area = drawn_area(board, row)
        for layer in _layers_drawn(board, row) if not area.is_empty else ():
            yield layer, area


def drawn_layers(board: Board, net: int) -> tuple[int, ...]:
    """Return the layers on which graphics of a net lie beyond its fills."""
    import shapely  # noqa: PLC0415

    drawn = _by_layer(net_graphics(board, net))
    beyond = [
        on for on in drawn if not shapely.union_all(layer_fills(board, net, on)).covers(shapely.union_all(drawn[on]))
    ]
    return tuple(sorted(beyond))


def _via_pads(board: Board, net: int) -> Iterator[tuple[int, Geometry]]:
    import shapely  # noqa: PLC0415

    vias = board.vias
    for k in np.flatnonzero(vias.net == net).tolist():
        centre = shapely.Point(float(vias.x_mm[k]), float(vias.y_mm[k]))
        for layer in range(int(vias.start_layer[k]), int(vias.end_layer[k]) + 1):
            size = float(vias.pad_size_mm[k, layer])
            if size > 0:
                yield layer, shapely.buffer(centre, size / 2, quad_segs=QUARTER)


def refuse_unfilled(board: Board, net: int) -> None:
    """Refuse a net with zones of which no fill is stored, or only one without its edge.

    Raises:
        RailNotSolvedError: it says which, and what to do.
    """
    where, name = str(board.path or "the board"), board.nets[net]
    zones = board.zones
    mine = np.flatnonzero((zones.net == net) & (zones.is_rule_area == 0))
    # a zone that KiCad calls filled may hold nothing, its islands being removed; not so when no zone holds anything
    unfilled = mine[zones.is_filled[mine] == 0] if len(zones.fill_zone) else mine
    for zone in unfilled.tolist():
        line = board.line_of(int(zones.offset[zone]))
        raise RailNotSolvedError(f"{where}:{line}", f"a zone of {name} has no stored fill", REFILL)
    if len(mine) and board.format_version < PEN_DRAWN:
        raise RailNotSolvedError(where, f"fills of {name} are stored without their edge, as KiCad 5 did", REFILL)


def refuse_stale(board: Board, net: int) -> None:
    """Refuse a net with fills that are missing, or in which copper of another net lies.

    Raises:
        RailNotSolvedError: it says which, and what to do.
    """
    refuse_unfilled(board, net)
    where, name = str(board.path or "the board"), board.nets[net]
    zones = board.zones
    mine = np.flatnonzero((zones.net == net) & (zones.is_rule_area == 0))
    for layer in distinct(zones.fill_layer[np.isin(zones.fill_zone, mine)]).tolist():
        crossed = _other_net_inside(board, net, layer)
        if crossed:
            raise RailNotSolvedError(where, f"the fill of {name} is stale: {crossed}, of another net, is in it", REFILL)


def _other_net_inside(board: Board, net: int, layer: int) -> str:
    """Return a copper item of another net whose middle is in the net's stored fill, "" for none."""
    import shapely  # noqa: PLC0415

    for area in layer_fills(board, net, layer):
        shapely.prepare(area)
        for what, x, y, rows in _other_net(board, net, layer):
            inside = rows[shapely.contains_xy(area, x[rows], y[rows])]
            if len(inside):
                return f"a {what} at x {x[inside[0]]:.3f} mm, y {y[inside[0]]:.3f} mm"
    return ""


def _other_net(board: Board, net: int, layer: int) -> Iterator[tuple[str, Floats, Floats, Ints]]:
    """Middles of vias, pads and tracks of other nets on a layer: (what, x, y, rows)."""
    vias, pads, tracks = board.vias, board.pads, board.tracks
    spans = (vias.start_layer <= layer) & (vias.end_layer >= layer)
    yield "via", vias.x_mm, vias.y_mm, np.flatnonzero(spans & (vias.net != net))
    on_layer = holds_layer(pads.layers, layer)
    yield "pad", *pad_centres_mm(board, np.arange(len(pads))), np.flatnonzero(on_layer & (pads.net != net))
    x = np.where(np.isnan(tracks.mid_x_mm), (tracks.start_x_mm + tracks.end_x_mm) / 2, tracks.mid_x_mm)
    y = np.where(np.isnan(tracks.mid_y_mm), (tracks.start_y_mm + tracks.end_y_mm) / 2, tracks.mid_y_mm)
    yield "track", x, y, np.flatnonzero((tracks.layer == layer) & (tracks.net != net))
