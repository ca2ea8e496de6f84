"""Fills that nothing joins to the rest of their net: islands, and planes that every via of their net passes by.

Only what is certain counts: the net has vias or plated holes through the layer, and neither the fill nor one that it
touches has one of them, a track, a pad or a drawn shape of the net. So does copper without a net, and that of a net
without any via or pad where another ground has holes through the layer: there, vias are not still to be drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.copper.fill_edges import rows_inside

if TYPE_CHECKING:
    from shapely import Polygon

TOUCH_MM = 0.005
"""Copper that is nearer joins: KiCad draws curves with chords that lie up to 5 um off them."""

_Circles = tuple[Floats, Floats, Floats]
"""x, y and radius of copper, which may also be a circle around it."""

NO_NET = 0
_NONE: _Circles = (np.zeros(0), np.zeros(0), np.zeros(0))


def floating_fills(board: Board, layer: int, fills: Sequence[tuple[int, Polygon]]) -> tuple[bool, ...]:
    """Tell of each of a layer's fills whether nothing joins it to the rest of its net.

    Args:
        board: what the fills are of.
        layer: copper layer.
        fills: of that layer, with their nets, prepared.
    """
    found = [False] * len(fills)
    for net in {net for net, _ in fills}:
        is_certain = net == NO_NET or _has_holes(board, layer, net) or _is_left_over(board, layer, net)
        if not is_certain or _is_drawn(board, layer, net):
            continue
        mine = [k for k, (of, _) in enumerate(fills) if of == net]
        circles = _circles(board, layer, net) if net != NO_NET else _NONE
        joined = [k for k in mine if _touches(fills[k][1], circles)]
        loose = [k for k in mine if k not in set(joined)]
        while loose and joined:
            joined = [k for k in loose if any(_meet(fills[k][1], fills[other][1]) for other in joined)]
            loose = [k for k in loose if k not in set(joined)]
        for k in loose:
            found[k] = True
    return tuple(found)


def plated_reach_mm(board: Board, layer: int) -> tuple[Floats, Floats]:
    """Return how far the copper of every via, and of every pad, reaches around its middle on a layer."""
    vias, pads = board.vias, board.pads
    land = np.nan_to_num(vias.pad_size_mm[:, layer])
    via = np.where(land > 0, land, np.nan_to_num(vias.drill_mm)) / 2
    return via, np.nan_to_num(np.hypot(pads.size_x_mm, pads.size_y_mm)) / 2


def _has_holes(board: Board, layer: int, net: int) -> bool:
    vias, pads = board.vias, board.pads
    through = (vias.start_layer <= layer) & (vias.end_layer >= layer) & (vias.net == net)
    return bool(np.any(through) or np.any((pads.kind == PadKind.THROUGH) & (pads.drill_x_mm > 0) & (pads.net == net)))


def _is_left_over(board: Board, layer: int, net: int) -> bool:
    """Tell whether nothing but copper is on a net, as after a new name for ground, which another one is then."""
    if np.any(board.vias.net == net) or np.any(board.pads.net == net):
        return False
    others = (other for other, name in enumerate(board.nets) if other != net and is_ground(name))
    return any(_has_holes(board, layer, other) for other in others)


def _is_drawn(board: Board, layer: int, net: int) -> bool:
    """Tell whether drawn shapes may join fills: of the net, or in a footprint without one."""
    drawn = board.drawings
    # pads count by how far they reach, but for custom ones
    is_plain = np.append(board.pads.shape != "custom", False)[drawn.pad] if len(drawn) else drawn.pad >= 0
    return bool(np.any(~is_plain & holds_layer(drawn.layers, layer) & ((drawn.net == net) | (drawn.net == 0))))


def _circles(board: Board, layer: int, net: int) -> _Circles:
    """Vias, pads, and tracks of a net on a layer; tracks by their ends."""
    return tuple(np.concatenate(parts) for parts in zip(*_parts(board, layer, net), strict=True))  # type: ignore[return-value]


def _parts(board: Board, layer: int, net: int) -> Iterator[_Circles]:
    vias, pads, tracks = board.vias, board.pads, board.tracks
    via_mm, pad_mm = plated_reach_mm(board, layer)
    spans = _rows((vias.start_layer <= layer) & (vias.end_layer >= layer) & (vias.net == net))
    yield vias.x_mm[spans], vias.y_mm[spans], via_mm[spans]
    plated = (pads.kind != PadKind.NON_PLATED) & (pads.net == net)
    on_layer = _rows(plated & (holds_layer(pads.layers, layer) | (pads.drill_x_mm > 0)))
    yield pads.x_mm[on_layer], pads.y_mm[on_layer], pad_mm[on_layer]
    routed = _rows((tracks.layer == layer) & (tracks.net == net))
    for x, y in ((tracks.start_x_mm, tracks.start_y_mm), (tracks.end_x_mm, tracks.end_y_mm)):
        yield x[routed], y[routed], tracks.width_mm[routed] / 2


def _rows(wanted: np.ndarray) -> Ints:
    return np.flatnonzero(wanted).astype(np.int64)


def _touches(fill: Polygon, circles: _Circles) -> bool:
    import shapely  # noqa: PLC0415 - heavy, and only a board with high-speed nets needs it

    x, y, reach = circles
    if len(rows_inside(fill, x, y)):
        return True
    left, low, right, high = fill.bounds
    far = reach + TOUCH_MM
    near = np.flatnonzero((x >= left - far) & (x <= right + far) & (y >= low - far) & (y <= high + far))
    return bool(np.any(shapely.dwithin(fill, shapely.points(x[near], y[near]), far[near])))


def _meet(one: Polygon, other: Polygon) -> bool:
    import shapely  # noqa: PLC0415

    return bool(shapely.dwithin(one, other, TOUCH_MM))
