"""Plated holes and their annular rings as a fab sees them: those that are drilled, and those that a laser makes."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, ObjectRows
from drc_rules.report.places import place_in
from drc_rules.requirements.fabs.holes import drilled_mm
from stackup_lib.board.board import Board, Floats, Ints, PadKind, Pads, ViaKind
from stackup_lib.board.layer_masks import holds_layer, layers_of
from stackup_lib.copper.distances import cores
from stackup_lib.copper.drawn_shorts import drawn_areas
from stackup_lib.copper.shapes import pad_pieces, slot_pieces
from stackup_lib.copper.shorts import piece_areas
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import entity
from stackup_lib.core.words import count
from stackup_lib.vias.via_spans import lasered

PLACES_SHOWN = 20
"""Places listed with one finding."""

NO_DIAMETER_MM = 0.05
"""Below this a diameter is a typing error or a placeholder: neither a drill nor a laser makes it."""

ENTER_DIAMETER = "in KiCad, enter the diameter of each hole that has none or less than 0.05 mm, and save the board"

NARROW_MM = 0.3
"""Rings from this on are wide enough for every fab and copper weight."""

FINE_QUARTER = 512
"""Chords of a quarter circle: even a pad of 8 mm is short by less than 5 nm."""

NO_RING_MM = 0.001
"""Below this a pad is as large as its hole: no ring is meant."""


@entity
class HoleSet:
    """All drilled holes of a board, or all microvias: vias first, then the plated holes of parts.

    Attributes:
        vias, pads: rows of the vias and of the pads.
        drill_mm: finished diameter as KiCad stores it; of a slot its width.
        ring_mm: least ring around the finished hole, over the layers with a pad; NaN where shape or diameter do not
            tell.
    """

    is_micro: bool
    vias: Ints
    pads: Ints
    drill_mm: Floats
    ring_mm: Floats

    @property
    def noun(self) -> str:
        """What they are, in one word; part of a finding's key."""
        return "microvia" if self.is_micro else "hole"

    def counted(self, chosen: Ints) -> str:
        """How many of them, e.g. `3 of 41 vias and 1 plated hole`; positions in this set."""
        many = int(np.sum(chosen < len(self.vias)))
        parts = [(many, len(self.vias), "microvia" if self.is_micro else "via")]
        parts.append((len(chosen) - many, len(self.pads), "plated hole"))
        return " and ".join(
            f"{number} of {whole} {noun}s" if number < whole else count(number, noun)
            for number, whole, noun in parts
            if number
        )

    @property
    def drilled_mm(self) -> Floats:
        """What is drilled: as drawn by a laser, else wider for the plating where the pads leave room for that."""
        if self.is_micro:
            return self.drill_mm
        pad_mm = self.drill_mm + 2 * self.ring_mm
        return drilled_mm(self.drill_mm, np.where(self.ring_mm < NO_RING_MM, np.nan, pad_mm))

    @property
    def drilled_ring_mm(self) -> Floats:
        """Least ring around what is drilled; NaN where shape or diameter do not tell."""
        return np.asarray(np.round(self.ring_mm - (self.drilled_mm - self.drill_mm) / 2, 6))

    @property
    def is_sized(self) -> NDArray[np.bool_]:
        """Which of them have a diameter that can be meant."""
        return np.asarray(self.drill_mm >= NO_DIAMETER_MM)

    def need_diameters(self) -> None:
        """Raise `MissingFact` where the file holds a placeholder for a diameter."""
        unsized = np.flatnonzero(~self.is_sized)
        if len(unsized):
            name = f"hole diameter of {self.counted(unsized)} (the file states less than {NO_DIAMETER_MM} mm)"
            raise MissingFact(name, ENTER_DIAMETER)

    def places(self, board: Board, chosen: Ints) -> tuple[Location, ...]:
        """Where some of them are (positions in this set), the first of many."""
        found = []
        for position in chosen[:PLACES_SHOWN].tolist():
            is_via = position < len(self.vias)
            table = board.vias if is_via else board.pads
            row = int(self.vias[position] if is_via else self.pads[position - len(self.vias)])
            found.append(place_in(board, table, row))
        return tuple(found)

    def object_rows(self, chosen: Ints) -> ObjectRows:
        """All of them."""
        is_via = chosen < len(self.vias)
        vias, pads = self.vias[chosen[is_via]], self.pads[chosen[~is_via] - len(self.vias)]
        return ObjectRows(vias=tuple(vias.tolist()), pads=tuple(pads.tolist()))


def need_drills(drill_mm: Iterable[float], whose: str) -> None:
    """Raise `MissingFact` where one of some diameters is missing or cannot be meant: nothing is to be computed from it.

    Args:
        drill_mm: finished diameters, nan where the file states none.
        whose: what has them, e.g. `the vias of GND`.
    """
    drill_mm = tuple(drill_mm)
    if any(map(math.isnan, drill_mm)):
        raise MissingFact(f"hole diameter of {whose} (the file states none)", ENTER_DIAMETER)
    if any(0 < size < NO_DIAMETER_MM for size in drill_mm):
        raise MissingFact(f"hole diameter of {whose} (the file states less than {NO_DIAMETER_MM} mm)", ENTER_DIAMETER)


def need_vias_of(board: Board, net: int) -> None:
    """Raise `MissingFact` where a via of a net has a diameter that cannot be meant."""
    need_drills(board.vias.drill_mm[board.vias.net == net].tolist(), f"the vias of {board.nets[net] or 'no net'}")


def hole_sets(board: Board, *, by_laser: bool = False) -> tuple[HoleSet, ...]:
    """Return the drilled holes and the microvias of a board; what it has none of is left out.

    Args:
        board: the board.
        by_laser: vias that a laser makes, though the file does not call them microvias, count among these.
    """
    vias, pads = board.vias, board.pads
    is_laser = lasered(board) if by_laser else vias.kind == ViaKind.MICRO
    narrow = np.fmin(pads.drill_x_mm, pads.drill_y_mm)
    plated = np.flatnonzero((pads.kind == PadKind.THROUGH) & (narrow > 0) & (pads.layers != 0))
    found = []
    for is_micro in (False, True):
        rows = np.flatnonzero((vias.drill_mm > 0) & (is_laser == is_micro))
        own = plated[: 0 if is_micro else None]
        drill = np.concatenate([vias.drill_mm[rows], narrow[own]])
        ring = np.concatenate([_via_rings(board, rows), _pad_rings(board, own)])
        ring = np.where(drill < NO_DIAMETER_MM, np.nan, ring)
        if len(drill):
            found.append(HoleSet(is_micro, rows, own, drill, ring))
    return tuple(found)


def holes_of(ctx: Context, *, by_laser: bool = False) -> tuple[HoleSet, ...]:
    """Return the `hole_sets` of the board that is checked."""
    return hole_sets(ctx.board, by_laser=by_laser)


def _via_rings(board: Board, rows: Ints) -> Floats:
    vias = board.vias
    pads = vias.pad_size_mm[rows]
    least = np.min(np.where(np.isnan(pads), np.inf, pads), axis=1, initial=np.inf)
    return np.asarray((np.where(np.isinf(least), vias.size_mm[rows], least) - vias.drill_mm[rows]) / 2)


def vias_without_pad(board: Board, holes: HoleSet) -> NDArray[np.bool_]:
    """Tell which holes are vias that have no pad larger than their hole on any layer: they can join nothing."""
    vias = board.vias
    pads = np.fmax(np.fmax.reduce(vias.pad_size_mm[holes.vias], axis=1, initial=0.0), vias.size_mm[holes.vias])
    found = np.zeros(len(holes.drill_mm), dtype=bool)
    found[: len(holes.vias)] = (pads - holes.drill_mm[: len(holes.vias)]) / 2 < NO_RING_MM
    return found & holes.is_sized


def _pad_rings(board: Board, rows: Ints) -> Floats:
    if not len(rows):
        return np.zeros(0)
    pads = board.pads
    across = np.minimum(pads.size_x_mm[rows] - pads.drill_x_mm[rows], pads.size_y_mm[rows] - pads.drill_y_mm[rows])
    # where a hole off the middle breaks out of its pad, there is copper on its other side
    breaks_out = (across / 2 >= NO_RING_MM) & (np.hypot(pads.shift_x_mm, pads.shift_y_mm)[rows] > 0)
    narrow_side = narrow_side_mm(pads, rows)
    ring = np.where(breaks_out, np.maximum(narrow_side, NO_RING_MM), narrow_side)
    untold = np.flatnonzero(np.isnan(ring) | np.isnan(pads.corner_mm[rows]))
    ring[untold] = [_ring_in_outline(board, row) for row in rows[untold].tolist()]
    tight = np.flatnonzero((ring >= NO_RING_MM) & (ring < NARROW_MM))
    ring[tight] = _in_larger_pads(pads, rows[tight], ring[tight])
    return ring


def _ring_in_outline(board: Board, row: int) -> float:
    """Return the ring of a hole in a pad of which size and corners do not tell it: the least on any layer with the pad.

    Where the hole breaks out of the copper, there is some on another side.
    """
    import shapely  # noqa: PLC0415 - heavy, and only boards with such pads need it

    hole, drawn = slot_pieces(board, np.array([row])), board.drawings
    core, wall = cores(board, hole)[0], piece_areas(board, hole)[0]
    anchor = list(piece_areas(board, pad_pieces(board, np.array([row])), FINE_QUARTER))
    shapes = np.flatnonzero(drawn.pad == row)
    on = {tuple(shapes[holds_layer(drawn.layers[shapes], layer)]) for layer in layers_of(int(board.pads.layers[row]))}
    found = []
    for rows in on:
        copper = shapely.union_all([*anchor, *drawn_areas(board, np.array(rows, dtype=np.int64), FINE_QUARTER)])
        if copper.is_empty:  # where the pad is left out, as nothing joins it
            continue
        inside = shapely.distance(copper.boundary, core) if shapely.covers(copper, core) else 0.0
        has_copper = shapely.difference(copper, wall).area > 0
        found.append(max(inside - float(hole.radius_mm[0]), NO_RING_MM if has_copper else 0.0))
    return round(min(found, default=math.nan), 5)


def narrow_side_mm(pads: Pads, rows: Ints) -> Floats:
    """Return the copper from a hole to the nearest rim of its pad, which a hole off the middle has on one side.

    Less than 0 where the hole is wider or breaks out; NaN for slots off the middle of round pads.
    """
    half_x, half_y = pads.size_x_mm[rows] / 2, pads.size_y_mm[rows] / 2
    hole_x, hole_y = pads.drill_x_mm[rows] / 2, pads.drill_y_mm[rows] / 2
    shift_x, shift_y = np.abs(pads.shift_x_mm[rows]), np.abs(pads.shift_y_mm[rows])
    straight = np.minimum(half_x - hole_x - shift_x, half_y - hole_y - shift_y)
    radius = np.minimum(half_x, half_y)
    away = np.hypot(np.maximum(shift_x - half_x + radius, 0), np.maximum(shift_y - half_y + radius, 0))
    shape = pads.shape[rows]
    is_round = ((shape == "circle") | (shape == "oval")) & ((shift_x > 0) | (shift_y > 0))
    ring = np.where(is_round, radius - away - hole_x, straight)
    return np.where(is_round & (hole_x != hole_y), np.nan, ring)


def _in_larger_pads(pads: Pads, rows: Ints, ring_mm: Floats) -> Floats:
    """Return the copper around holes, in mm: their own ring, or that of a larger pad of their footprint if it is wider.

    As around a screw, and where a slot is drilled as a row of holes. Pads that are shifted from their place, or that
    KiCad takes away where nothing joins them, do not count.
    """
    found, radius = ring_mm.copy(), np.minimum(pads.size_x_mm, pads.size_y_mm) / 2
    needs = ring_mm + np.maximum(pads.drill_x_mm, pads.drill_y_mm)[rows] / 2
    stays = np.isfinite(pads.corner_mm) & (pads.remove_unused == 0)
    stays &= np.hypot(pads.shift_x_mm, pads.shift_y_mm) == 0
    of = pads.footprint[rows]
    large = np.flatnonzero(stays & (radius > np.min(needs, initial=np.inf)))
    for footprint in distinct(of[np.isin(of, pads.footprint[large], kind="table")]).tolist():
        holes = np.flatnonzero(of == footprint)
        larger = large[(pads.footprint[large] == footprint) & (radius[large] > np.min(needs[holes]))]
        for at in holes.tolist() if len(larger) else ():
            found[at] = max(found[at], _ring_within(pads, int(rows[at]), larger))
    return found


def _ring_within(pads: Pads, row: int, larger: Ints) -> float:
    """Return the copper around a hole within one of some pads, in mm; 0 where there is none."""
    others = larger[
        (larger != row)
        & ((pads.net[larger] == pads.net[row]) | (pads.net[row] == 0))  # of stitching holes the library may name no net
        & (pads.layers[larger] & pads.layers[row] == pads.layers[row])
    ]
    away = (pads.x_mm[row] - pads.x_mm[others]) + 1j * (pads.y_mm[row] - pads.y_mm[others])
    own = away * np.exp(1j * np.radians(pads.rotation_deg[others]))  # counter-clockwise while y points down
    corner = pads.corner_mm[others]
    over_x = np.abs(own.real) - pads.size_x_mm[others] / 2 + corner
    over_y = np.abs(own.imag) - pads.size_y_mm[others] / 2 + corner
    outside = np.hypot(np.maximum(over_x, 0), np.maximum(over_y, 0)) + np.minimum(np.maximum(over_x, over_y), 0)
    reach = corner - outside  # from the hole's middle to the rim of the pad
    return float(np.max(reach - max(pads.drill_x_mm[row], pads.drill_y_mm[row]) / 2, initial=0.0))
