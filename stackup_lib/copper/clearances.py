"""The spaces between copper of different nets on one layer, where they are narrower than a given limit.

Tracks, arcs, vias, pads, graphics with a net and stored fills are measured from edge to edge. Two pieces that overlap
are no space: a net tie, a short, or a fill that is out of date. Nor are two that copper without a net joins, as in an
old net tie or a closed jumper. Between pieces of one net, between two that have none,
and between pads of one part with one number there is none either.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints, PadKind, Pads
from stackup_lib.board.columns import first_of_each
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.distances import gaps, straight_distances
from stackup_lib.copper.drawn_shorts import DrawnShort, drawn_shorts, netless_bridges
from stackup_lib.copper.fill_edges import diagonals
from stackup_lib.copper.fill_to_fill import facing_edges
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.copper.shapes import (
    NANOMETRE,
    CopperShape,
    CopperShapes,
    Mask,
    copper_pads,
    drawn_pieces,
    edge_pieces,
    hole_walls,
    pad_pieces,
    track_pieces,
    via_pieces,
    with_rows,
)
from stackup_lib.copper.shorts import (
    NetTie,
    at_tie,
    gaps_beyond,
    joined_areas,
    net_pairs,
    net_ties,
    overlap_mm,
    overlaps,
    same_pin,
    touches,
)
from stackup_lib.copper.stale_fills import (
    TOUCH_MM,
    Item,
    OtherNetItems,
    all_other_net,
    holes_off_fills,
    pieces_in_fills,
)
from stackup_lib.core.arrays import are_among
from stackup_lib.core.record import entity

if TYPE_CHECKING:
    from shapely import STRtree

TIE_MM = 1.0
"""Around a net tie, or other copper that joins two nets, their copper is not distinguished: it belongs to the tie."""

Pairs = tuple[Ints, Ints]


@entity
class Spaces:
    """Spaces on one layer, one row per pair of pieces, the narrowest first.

    Attributes:
        one, other: the pieces; of a fill the core is one edge, and the row that of the edge among the layer's.
        stale: what is in a fill of another net, as text; "" for nothing.
    """

    layer: int
    gap_mm: Floats
    one: CopperShapes
    other: CopperShapes
    stale: str = ""

    def __len__(self) -> int:
        return len(self.gap_mm)

    def where(self, chosen: Ints | Mask) -> Spaces:
        """Return some of the rows."""
        return Spaces(self.layer, self.gap_mm[chosen], self.one.where(chosen), self.other.where(chosen), self.stale)

    @property
    def at_fill(self) -> Mask:
        """Which of them are at a fill."""
        return np.asarray((self.one.kind == CopperShape.FILL) | (self.other.kind == CopperShape.FILL))


@entity
class _Measured:
    """What was measured on a layer: spaces proper, overlaps, what overlaps the edge of a fill, and of which pieces.

    Of overlaps those with copper that has no net are apart: the latter joins one net, or several.
    """

    spaces: Spaces
    shorts: Spaces
    netless: Spaces
    crossed: OtherNetItems
    pieces: CopperShapes


@entity
class SpaceFinder:
    """Finds the spaces of a board layer by layer.

    Attributes:
        reach_mm: by layer, the width below which a space is wanted; layers with 0 are not looked at.
        posts: what vias and holes have around them on layers with fills.
    """

    copper: CopperMap
    reach_mm: tuple[float, ...]
    posts: PostFills
    _found: dict[int, _Measured] = field(default_factory=dict)

    def on(self, layer: int) -> Spaces:
        """Return the spaces of a layer that are narrower than its reach; without fills where these are out of date."""
        return self._on(layer).spaces

    def shorts(self, layer: int) -> Spaces:
        """Return the tracks, vias and pads that overlap others of another net and are no net tie; gaps are negative.

        What is drawn is left to `drawn_shorts`.
        """
        return self._on(layer).shorts

    def netless(self, layer: int) -> Spaces:
        """Return where tracks, vias, pads and their shapes that have no net overlap copper of a net."""
        return self._on(layer).netless

    def pieces(self, layer: int) -> CopperShapes:
        """Return the tracks, vias and pads of a layer, and the walls of the holes that have no pad there."""
        return self._on(layer).pieces

    @cached_property
    def drawn_shorts(self) -> tuple[DrawnShort, ...]:
        """The graphics and shapes of custom pads that overlap copper of another net, or join two nets."""
        board, on = self.copper.board, np.bitwise_or.reduce(self.copper.board.drawings.layers, initial=np.uint64(0))
        layers = [layer for layer in range(board.layer_count) if int(on) >> layer & 1]
        return tuple(found for layer in layers for found in drawn_shorts(board, layer, self._on(layer).pieces))

    @cached_property
    def other_net(self) -> OtherNetItems:
        """What is in fills of other nets, also with a part of its copper or hole: these fills are out of date."""
        board = self.copper.board
        layers = [layer for layer in range(board.layer_count) if self.copper.is_filled(layer)]
        crossed = [part for layer in layers for part in (self._on(layer).crossed, self._holes_in_fills(layer))]
        return all_other_net([self.copper.other_net, *crossed])

    def _on(self, layer: int) -> _Measured:
        if layer not in self._found:
            self._found[layer] = self._measure(layer)
        return self._found[layer]

    @cached_property
    def _ties(self) -> tuple[NetTie, ...]:
        return net_ties(self.copper.board)

    @cached_property
    def _with_pads(self) -> CopperShapes:
        """Vias with their largest pad, and the pads that lie on several layers."""
        board = self.copper.board
        pads = board.pads.layers
        many = np.flatnonzero(copper_pads(board) & ((pads & (pads - np.uint64(1))) != 0))
        return CopperShapes.joined([via_pieces(board), pad_pieces(board, many)])

    @cached_property
    def _through(self) -> CopperShapes:
        """These, and the walls of all other plated holes: they have no pad, or one on a single layer."""
        board, posts = self.copper.board, self._with_pads
        is_via = posts.kind == CopperShape.VIA
        drilled = [board.vias.drill_mm > 0, board.pads.kind == PadKind.THROUGH]
        for rest, rows in zip(drilled, (posts.row[is_via], posts.row[~is_via]), strict=True):
            rest[rows] = False
        walls = hole_walls(board, *(np.flatnonzero(rest) for rest in drilled))
        return CopperShapes.joined([posts, walls.where(walls.radius_mm > 0)])

    @cached_property
    def _walls(self) -> CopperShapes:
        """The walls of the posts' plated holes; of those that have none the radius is 0."""
        posts = self._through
        vias, pads = (np.flatnonzero((posts.kind == CopperShape.VIA) == is_via) for is_via in (True, False))
        walls = hole_walls(self.copper.board, posts.row[vias], posts.row[pads])
        return walls.where(np.argsort(np.concatenate([vias, pads])))

    @cached_property
    def _through_tree(self) -> STRtree:
        import shapely  # noqa: PLC0415 - heavy, and only a board with copper needs it

        return shapely.STRtree(diagonals(self._through.boxes()))

    @cached_property
    def _through_pairs(self) -> Pairs:
        """Those of them that are near one another on any layer."""
        posts = self._through
        one, other = self._through_tree.query(diagonals(posts.boxes(max(self.reach_mm))))
        other_net = np.flatnonzero((one < other) & (posts.net[one] != posts.net[other]))
        return one[other_net], other[other_net]

    def _measure(self, layer: int) -> _Measured:
        import shapely  # noqa: PLC0415

        board, reach = self.copper.board, self.reach_mm[layer]
        alone = np.flatnonzero(copper_pads(board) & (board.pads.layers == np.uint64(1 << layer)))
        flat = CopperShapes.joined([track_pieces(board, layer), pad_pieces(board, alone), drawn_pieces(board, layer)])
        around = diagonals(flat.boxes(reach))
        through, is_there = self._on_layer(layer)
        one, other = self._through_tree.query(around)
        is_there = self._kept(layer, through, is_there, (flat, one, other))
        is_wall = self._is_wall(layer, is_there)
        is_copper = is_there | is_wall
        if np.any(is_wall):
            through = with_rows(through, self._walls, is_wall)
        other_net = np.flatnonzero(is_copper[other] & (flat.net[one] != through.net[other]))
        pairs = [(one[other_net], other[other_net] + len(flat))]
        one, other = shapely.STRtree(around).query(diagonals(flat.boxes()))
        other_net = np.flatnonzero((one < other) & (flat.net[one] != flat.net[other]))
        pairs.append((one[other_net], other[other_net]))
        one, other = self._through_pairs
        both = np.flatnonzero(is_copper[one] & is_copper[other])
        pairs.append((one[both] + len(flat), other[both] + len(flat)))
        one, other = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
        pieces = CopperShapes.joined([flat, through])
        cuts = np.append(np.zeros(len(flat), dtype=np.bool_), is_wall)
        cuts = cuts[one] | cuts[other]  # of a hole without a pad the distance is FAB012's: what it cuts into is a short
        found = [
            self._gaps(layer, pieces.where(one[rows]), pieces.where(other[rows]), reach_mm)
            for rows, reach_mm in ((~cuts, reach), (cuts, -TOUCH_MM))
        ]
        if self.copper.is_filled(layer):
            found.append(self._posts_to_fills(layer, through, is_there & _is_round(board.pads, through)))
            rest = through.where(is_there & ~_is_round(board.pads, through))
            found += self._to_fills(
                layer, CopperShapes.joined([flat, rest]), np.append(around, diagonals(rest.boxes(reach)))
            )
        return self._judged(layer, found, pieces.where(np.append(np.ones(len(flat), dtype=np.bool_), is_copper)))

    def _on_layer(self, layer: int) -> tuple[CopperShapes, Mask]:
        """The posts with their pads of this layer, and which of them have one."""
        board, posts = self.copper.board, self._through
        is_via = posts.kind == CopperShape.VIA
        radius = posts.radius_mm.copy()
        radius[is_via] = np.nan_to_num(board.vias.pad_size_mm[posts.row[is_via], layer]) / 2
        has = radius > 0
        has[~is_via] = holds_layer(board.pads.layers[posts.row[~is_via]], layer)
        has[len(self._with_pads) :] = False
        return replace(posts, radius_mm=radius), has

    def _is_wall(self, layer: int, is_there: Mask) -> Mask:
        """Which posts have only the wall of their hole on a layer: it is plated all the same."""
        board, posts, walls = self.copper.board, self._through, self._walls
        is_via, found = posts.kind == CopperShape.VIA, ~is_there & (walls.radius_mm > 0)
        via, pad = posts.row[is_via], posts.row[~is_via]
        found[is_via] &= (board.vias.start_layer[via] <= layer) & (board.vias.end_layer[via] >= layer)
        is_single = np.arange(len(posts)) >= len(self._with_pads)
        found[~is_via] &= ~(is_single[~is_via] & holds_layer(board.pads.layers[pad], layer))
        return np.asarray(found)

    def _kept(self, layer: int, through: CopperShapes, is_there: Mask, near: tuple[CopperShapes, Ints, Ints]) -> Mask:
        """Which posts keep their pad: where unused ones are left out, those that copper of their net joins."""
        board = self.copper.board
        vias, pads, is_via = board.vias, board.pads, through.kind == CopperShape.VIA
        bare, ends = np.zeros(len(through), dtype=np.bool_), np.zeros(len(through), dtype=np.bool_)
        via, pad = through.row[is_via], through.row[~is_via]
        bare[is_via], bare[~is_via] = vias.remove_unused[via] == 1, pads.remove_unused[pad] == 1
        if not np.any(bare):
            return is_there
        is_end = (vias.start_layer[via] == layer) | (vias.end_layer[via] == layer)
        ends[is_via] = is_end & (vias.keep_end[via] == 1)
        ends[~is_via] = (layer in (0, board.layer_count - 1)) & (pads.keep_end[pad] == 1)
        ends[is_via] |= holds_layer(vias.fill_layers[via], layer)
        ends[~is_via] |= holds_layer(pads.fill_layers[pad], layer)
        flat, one, other = near
        own = np.flatnonzero(bare[other] & (flat.net[one] == through.net[other]))
        one, other = one[own], other[own]
        gap = straight_distances(flat.start[one], flat.end[one], through.start[other], through.end[other])
        gap -= flat.radius_mm[one] + flat.margin_mm[one] + through.radius_mm[other] + through.margin_mm[other]
        used = np.zeros(len(through), dtype=np.bool_)
        used[other[gap < NANOMETRE]] = True
        return np.asarray(is_there & (~bare | ends | used))

    def _gaps(self, layer: int, one: CopperShapes, other: CopperShapes, reach_mm: float) -> Spaces:
        """The gaps of pairs that are within reach; what touches has a gap of 0 or less."""
        gap = gaps(self.copper.board, one, other, reach_mm)
        near = np.flatnonzero(np.isfinite(gap))
        return Spaces(layer, gap[near], one.where(near), other.where(near))

    def _posts_to_fills(self, layer: int, through: CopperShapes, are_round: Mask) -> Spaces:
        """From posts with round copper to the fills."""
        board, edges, near = self.copper.board, self.copper.edges(layer), self.posts.near(layer)
        number = np.full(len(board.vias) + len(board.pads), -1)
        rows = np.flatnonzero(are_round)
        number[through.row[rows] + np.where(through.kind[rows] == CopperShape.VIA, 0, len(board.vias))] = rows
        is_post = number[near.post] >= 0  # a hole without copper of its own has no space: FAB017 looks at it
        own, edge = number[near.post[is_post]], near.edge[is_post]
        gap = near.distance_mm[is_post] - through.radius_mm[own]
        kept = np.flatnonzero(gap < self.reach_mm[layer])
        return Spaces(layer, gap[kept], through.where(own[kept]), edge_pieces(edges, edge[kept]))

    def _to_fills(self, layer: int, pieces: CopperShapes, around: NDArray[np.object_]) -> list[Spaces]:
        """From everything else to the fills, and between fills; of each piece to the nearest edge of each net."""
        edges = self.copper.edges(layer)
        piece, edge = edges.within(around)
        other_net = np.flatnonzero(edges.net[edge] != pieces.net[piece])
        reach = self.reach_mm[layer]
        one, other = facing_edges(edges, reach)
        return [
            _nearest(self._gaps(layer, pieces.where(piece[other_net]), edge_pieces(edges, edge[other_net]), reach)),
            _nearest(self._gaps(layer, edge_pieces(edges, one), edge_pieces(edges, other), reach)),
        ]

    def _judged(self, layer: int, parts: list[Spaces], pieces: CopperShapes) -> _Measured:
        """The spaces proper, the narrowest first, apart from what overlaps: ties, shorts, and what is in a fill."""
        gap = np.concatenate([part.gap_mm for part in parts])
        one, other = (
            CopperShapes.joined([part.one for part in parts]),
            CopperShapes.joined([part.other for part in parts]),
        )
        order = np.lexsort((*_place_keys(one, other), np.round(gap, 6)))
        all_of = Spaces(layer, gap[order], one.where(order), other.where(order))
        at_fill = all_of.at_fill
        overlap = overlaps(self.copper.board, all_of.gap_mm, all_of.one, all_of.other)
        in_fill = all_of.where(overlap & at_fill)
        crossed = pieces_in_fills(in_fill.one, layer, in_fill.other.net)
        # what has no net joins none: it is neither a space nor a short where it touches
        is_named = (all_of.one.net > 0) & (all_of.other.net > 0)
        touch = touches(all_of.gap_mm, all_of.one, all_of.other)
        touching = (overlap | touch | ((all_of.gap_mm < TOUCH_MM) & ~is_named)) & ~at_fill
        drawn = (all_of.one.kind == CopperShape.DRAWN) | (all_of.other.kind == CopperShape.DRAWN)
        shorts = self._shorts(layer, all_of.where(touching & is_named & ~drawn))
        netless = all_of.where(overlap & ~is_named & ~at_fill)
        apart = ~overlap & ~touching & ~same_pin(self.copper.board, all_of.one, all_of.other)
        stale = _crossed(self.copper, layer, crossed)
        clear = self._untied(layer, all_of.where(apart & ~at_fill if stale else apart), all_of.where(touching), pieces)
        spaces = Spaces(layer, np.maximum(clear.gap_mm, 0.0), clear.one, clear.other, stale)
        return _Measured(spaces, shorts, netless, crossed, pieces.where(pieces.kind != CopperShape.DRAWN))

    def _untied(self, layer: int, spaces: Spaces, touching: Spaces, pieces: CopperShapes) -> Spaces:
        """The spaces away from what joins their nets: ties, overlaps, copper without a net; the narrowest first."""
        board, one, other = self.copper.board, touching.one, touching.other
        if not len(spaces):
            return spaces
        wanted = are_among(net_pairs(one, other), net_pairs(spaces.one, spaces.other))
        joined = joined_areas(board, self._ties, layer, one.where(wanted), other.where(wanted))
        for pair, areas in netless_bridges(board, layer, pieces).items():
            joined.setdefault(pair, []).extend(areas)
        gap = gaps_beyond(board, joined, spaces.gap_mm, spaces.one, spaces.other, TIE_MM)
        if np.array_equal(gap, spaces.gap_mm):
            return spaces
        kept = np.flatnonzero(gap < self.reach_mm[layer])
        order = kept[
            np.lexsort((*(key[kept] for key in _place_keys(spaces.one, spaces.other)), np.round(gap[kept], 6)))
        ]
        return Spaces(layer, gap[order], spaces.one.where(order), spaces.other.where(order))

    def _shorts(self, layer: int, touching: Spaces) -> Spaces:
        """The overlaps that are no net tie, the widest first; as gaps, which are negative."""
        board = self.copper.board
        one, other = touching.one, touching.other
        found = touching.where(~at_tie(board, self._ties, layer, one, other) & ~same_pin(board, one, other))
        least = np.where(overlaps(board, found.gap_mm, found.one, found.other), TOUCH_MM, 0.0)
        wide = np.maximum(overlap_mm(board, found.one, found.other), least)
        order = np.lexsort((*_place_keys(found.one, found.other), -np.round(wide, 6)))
        return Spaces(layer, -wide[order], found.one.where(order), found.other.where(order))

    def _holes_in_fills(self, layer: int) -> OtherNetItems:
        """The vias and plated holes whose wall reaches into a fill of another net, whether or not they have a pad."""
        board, near = self.copper.board, self.posts.near(layer)
        vias, pads = board.vias, board.pads
        drill = np.concatenate([vias.drill_mm, np.fmin(pads.drill_x_mm, pads.drill_y_mm)])
        on_layer = np.append(vias.drill_mm > 0, holes_off_fills(board, layer))
        inside = on_layer[near.post] & (near.distance_mm < drill[near.post] / 2 - TOUCH_MM)
        post, fill_net = near.post[inside], self.copper.edges(layer).net[near.edge[inside]]
        x, y, net = (
            np.concatenate([getattr(vias, name), getattr(pads, name)])[post] for name in ("x_mm", "y_mm", "net")
        )
        is_via = post < len(vias)
        kind, row = np.where(is_via, int(Item.VIA), int(Item.HOLE)), np.where(is_via, post, post - len(vias))
        return OtherNetItems(kind, row, np.full(len(post), layer), net, fill_net, x, y)


def _is_round(pads: Pads, posts: CopperShapes) -> Mask:
    """Which posts are vias, or round pads whose copper lies evenly around their hole."""
    rows, is_pad = np.where(posts.kind == CopperShape.PAD, posts.row, 0), posts.kind == CopperShape.PAD
    if not len(pads):
        return np.asarray(~is_pad)
    shift = np.hypot(pads.shift_x_mm[rows], pads.shift_y_mm[rows])
    is_disc = posts.is_straight & (posts.start == posts.end) & (shift < NANOMETRE)
    return np.asarray(~is_pad | (is_disc & (np.fmin(pads.drill_x_mm[rows], pads.drill_y_mm[rows]) > 0)))


def _nearest(spaces: Spaces) -> Spaces:
    """The narrowest space of each of the first pieces to each net."""
    order = np.lexsort((spaces.gap_mm, spaces.other.net, spaces.one.kind, spaces.one.row))
    return spaces.where(first_of_each(order, spaces.one.row, spaces.one.kind, spaces.other.net))


def _place_keys(one: CopperShapes, other: CopperShapes) -> tuple[Floats, Floats]:
    """Where a pair is, whichever of the two comes first: an order that does not hang on that of the file."""
    middle = (one.start + one.end + other.start + other.end) / 4
    return np.round(middle.imag, 5), np.round(middle.real, 5)


def _crossed(copper: CopperMap, layer: int, crossed: OtherNetItems) -> str:
    """What is in a fill of another net, on this layer where there is such, as text; "" for nothing."""
    found = all_other_net([crossed, copper.other_net])
    if not len(found):
        return ""
    k = int(np.argmax(found.layer == layer))
    whose, fill = (copper.board.nets[max(int(net[k]), 0)] or "no net" for net in (found.net, found.fill_net))
    return f"copper of {whose} at x {found.x_mm[k]:.3f} mm, y {found.y_mm[k]:.3f} mm is in that of {fill}"
