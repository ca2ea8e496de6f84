"""Where a plane's stored copper lies under straight lines, exactly: boundaries are crossed, not sampled.

A line beside a track enters copper or leaves it where it crosses an edge of a fill. Fills are rings that run round
copper one way and round holes the other, so the crossings add up to the number of fills under each stretch; the slits
by which KiCad ties holes to the outline are crossed once each way and cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board import Board, Floats, Ints, PadKind
from stackup_lib.copper_map import NO_COPPER, CopperMap
from stackup_lib.facts import MissingFact
from stackup_lib.power.net_copper import PEN_DRAWN

if TYPE_CHECKING:
    from shapely import Polygon, STRtree

Complexes = NDArray[np.complex128]

REFILL = "fill all zones in KiCad (B) and save the board"

BESIDE_MM = 0.00002
"""Where copper is asked for, so far beside the line: a slit, which has no width, may lie on the line itself."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Straight lines, one row each: start (x + iy), direction of length 1, length in mm."""

    start: Complexes
    direction: Complexes
    length_mm: Floats

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of parallels, one row each: line, which of its parallels, from where to where, fills under it."""

    line: Ints
    offset: Ints
    from_mm: Floats
    to_mm: Floats
    fills: Ints


def refuse_untrue_fills(copper: CopperMap, layer: int) -> None:
    """Raise `MissingFact` where the stored fills of a layer cannot be what would be made.

    They are missing, of a format that does not store their edge, or copper of another net lies in them. A fill that
    leaves out what it could cover by now cannot be told from a good one.
    """
    board, zones = copper.board, copper.board.zones
    name = board.copper_layers[layer].name
    asked = (zones.is_rule_area == 0) & ((zones.layers >> np.uint64(layer)) & np.uint64(1) != 0)
    if not copper.is_filled(layer) or np.any(asked & (zones.is_filled == 0)):
        raise MissingFact(f"the filled copper of {name}", REFILL)
    if board.format_version < PEN_DRAWN:
        raise MissingFact(f"the filled copper of {name} with its edge, which KiCad 5 did not store", REFILL)
    what = _foreign_inside(copper, layer)
    if what:
        raise MissingFact(f"the filled copper of {name} as it is now: {what}, of another net, lies in it", REFILL)


def _foreign_inside(copper: CopperMap, layer: int) -> str:
    """Return a via, pad or track whose middle lies in a fill of another net, "" for none."""
    board = copper.board
    vias, pads, tracks = board.vias, board.pads, board.tracks
    spans = np.flatnonzero((vias.start_layer <= layer) & (vias.end_layer >= layer))
    on_layer = (pads.layers >> np.uint64(layer)) & np.uint64(1) != 0
    lands = np.flatnonzero(on_layer & (pads.kind != PadKind.NON_PLATED))
    run = np.flatnonzero(tracks.layer == layer)
    straight = np.isnan(tracks.mid_x_mm[run])
    x = np.where(straight, (tracks.start_x_mm[run] + tracks.end_x_mm[run]) / 2, tracks.mid_x_mm[run])
    y = np.where(straight, (tracks.start_y_mm[run] + tracks.end_y_mm[run]) / 2, tracks.mid_y_mm[run])
    for what, at_x, at_y, nets in (
        ("via", vias.x_mm[spans], vias.y_mm[spans], vias.net[spans]),
        ("pad", pads.x_mm[lands], pads.y_mm[lands], pads.net[lands]),
        ("track", x, y, tracks.net[run]),
    ):
        under = copper.net_at(layer, at_x, at_y)
        wrong = np.flatnonzero((under != NO_COPPER) & (under != nets))
        if len(wrong):
            return f"a {what} at x {at_x[wrong[0]]:.3f} mm, y {at_y[wrong[0]]:.3f} mm"
    return ""


@dataclass(frozen=True, eq=False)
class PlaneEdges:
    """The edges of all fills of one layer, turned so that copper lies on the left (x + iy, y taken as upward)."""

    start: Complexes
    end: Complexes
    fills: tuple[Polygon, ...]
    tree: STRtree

    def stretches(self, lines: Lines, offsets_mm: Floats) -> Stretches:
        """Return the number of fills under each of some lines and their parallels, stretch by stretch.

        Args:
            lines: straight lines.
            offsets_mm: shape (lines, n): how far each of n parallels lies to the left of its line.

        Returns:
            every parallel from end to end, in order of line, parallel and place.
        """
        count = offsets_mm.shape[1]
        row, at, turn = self._crossings(lines, offsets_mm)
        every = np.arange(offsets_mm.size)
        length = np.repeat(lines.length_mm, count)
        rows = np.concatenate([every, row, every])
        places = np.concatenate([np.zeros(len(every)), at, length])
        turns = np.concatenate([np.zeros(len(every), dtype=np.int64), turn, np.zeros(len(every), dtype=np.int64)])
        order = np.lexsort((places, rows))
        rows, places, turns = rows[order], places[order], turns[order]
        is_stretch = rows[1:] == rows[:-1]
        row, start, end = rows[:-1][is_stretch], places[:-1][is_stretch], places[1:][is_stretch]
        height = np.cumsum(turns)[:-1][is_stretch]
        # one look-up per parallel, where it is farthest from any edge, tells how high the sum stands there
        longest = _longest_of_each(row, end - start)
        known = self._fills_at(lines, offsets_mm, row[longest], (start + end)[longest] / 2)
        base = np.zeros(offsets_mm.size, dtype=np.int64)
        base[row[longest]] = known - height[longest]
        return Stretches(row // count, row % count, start, end, height + base[row])

    def _crossings(self, lines: Lines, offsets_mm: Floats) -> tuple[Ints, Floats, Ints]:
        """Return where parallels cross edges: (row of the parallel, place along it, +1 into copper or -1 out of it)."""
        import shapely  # noqa: PLC0415

        ends = lines.start + lines.direction * lines.length_mm
        way = shapely.linestrings(np.stack([_xy(lines.start), _xy(ends)], axis=1))
        # an edge may lie square to the end of the line: the parallels' ends are the farthest points
        reach = np.abs(offsets_mm).max(axis=1) + 1e-6
        line, edge = self.tree.query(way, predicate="dwithin", distance=reach)
        turned = lines.direction[line].conj()
        p, q = (self.start[edge] - lines.start[line]) * turned, (self.end[edge] - lines.start[line]) * turned
        rows, places, turns = [], [], []
        for k in range(offsets_mm.shape[1]):
            across = offsets_mm[line, k]
            above_p, above_q = p.imag > across, q.imag > across
            met = np.flatnonzero(above_p != above_q)
            a, b = p[met], q[met]
            at = a.real + (across[met] - a.imag) / (b.imag - a.imag) * (b.real - a.real)
            inside = (at > 0) & (at < lines.length_mm[line[met]])
            rows.append(line[met][inside] * offsets_mm.shape[1] + k)
            places.append(at[inside])
            turns.append(np.where(above_p[met][inside], 1, -1))
        return np.concatenate(rows), np.concatenate(places), np.concatenate(turns)

    def _fills_at(self, lines: Lines, offsets_mm: Floats, row: Ints, along_mm: Floats) -> Ints:
        import shapely  # noqa: PLC0415

        line, k = row // offsets_mm.shape[1], row % offsets_mm.shape[1]
        across = offsets_mm[line, k] + BESIDE_MM
        at = lines.start[line] + lines.direction[line] * (along_mm + 1j * across)
        found = np.zeros(len(row), dtype=np.int64)
        for fill in self.fills:
            left, low, right, high = fill.bounds
            near = np.flatnonzero((at.real >= left) & (at.real <= right) & (at.imag >= low) & (at.imag <= high))
            found[near] += shapely.contains_xy(fill, at.real[near], at.imag[near])
        return found


def _xy(points: Complexes) -> Floats:
    return np.column_stack([points.real, points.imag])


def _longest_of_each(row: Ints, length_mm: Floats) -> Ints:
    """Return the index of the longest stretch of every row; rows are in ascending order."""
    order = np.lexsort((-length_mm, row))
    first = np.ones(len(row), dtype=np.bool_)
    first[1:] = row[order][1:] != row[order][:-1]
    return np.asarray(order[first], dtype=np.int64)


def plane_edges(board: Board, layer: int) -> PlaneEdges:
    """Return the edges of the fills stored on a layer, indexed."""
    import shapely  # noqa: PLC0415

    zones = board.zones
    starts, ends, fills = [], [], []
    for k in np.flatnonzero(zones.fill_layer == layer).tolist():
        first, last = int(zones.fill_start[k]), int(zones.fill_start[k + 1])
        if last - first < 3:
            continue
        ring = zones.fill_x_mm[first:last] + 1j * zones.fill_y_mm[first:last]
        following = np.roll(ring, -1)
        is_left = np.sum((ring.conj() * following).imag) > 0
        moves = ring != following
        starts.append((ring if is_left else following)[moves])
        ends.append((following if is_left else ring)[moves])
        fills.append(shapely.Polygon(_xy(ring)))
    shapely.prepare(fills)
    start = np.concatenate(starts) if starts else np.zeros(0, dtype=np.complex128)
    end = np.concatenate(ends) if ends else np.zeros(0, dtype=np.complex128)
    tree = shapely.STRtree(shapely.linestrings(np.stack([_xy(start), _xy(end)], axis=1)))
    return PlaneEdges(start, end, tuple(fills), tree)
