"""Where a plane's stored copper lies under straight lines, exactly: boundaries are crossed, not sampled.

A line next to a track enters copper or leaves it where it crosses an edge of a fill. Fills are rings that run round
copper one way and round holes the other, so the crossings add up to the number of fills under each section; the slits
by which KiCad ties holes to the outline are crossed once each way and cancel.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.board.columns import Columns
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.fill_edges import PEN_DRAWN, Complexes, rows_in_fills
from stackup_lib.copper.stale_fills import REFILL, need_true_fills
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import entity

PART_MM = 2.0
"""Long lines are looked at in parts of this length: the box around a slanting one holds half the plane."""

MOST_PARTS, MOST_PARTS_PER_LINE = 100_000, 100
"""More of them are made longer, for the result does not depend on them: no line is so long that it fills the memory."""

NEAR_MM = 0.00002
"""Distance from the line at which copper is looked up: a slit, which has no width, may lie on the line itself."""

CUT = 0.5 - math.pi / 100
"""Where a section is cut across: near its middle, but at no place where corners drawn on a grid could be."""

ASIDE_MM = 1e-9
"""Parallels are moved to the left by it: an edge that runs along one is on its right at both ends, however rounded."""


@entity
class PlaneLines(Columns):
    """Straight lines, one row each: start (x + iy), direction of length 1, length in mm."""

    start: Complexes
    direction: Complexes
    length_mm: Floats


@entity
class PlaneSections(Columns):
    """Sections of parallels, one row each: line, which of its parallels, from where to where, fills under it."""

    line: Ints
    offset: Ints
    from_mm: Floats
    to_mm: Floats
    fills: Ints


@entity
class _Near:
    """Edges near lines, in the line's own direction (along + i across); one row for each part of a line.

    An edge counts for the part of the line, from where to where, on which it is crossed: once, however often it stands
    here.
    """

    line: Ints
    from_mm: Floats
    to_mm: Floats
    start: Complexes
    end: Complexes


def refuse_untrue_fills(copper: CopperMap, layer: int) -> None:
    """Raise `MissingFact` where the stored fills of a layer cannot be what would be made.

    They are missing, of a format that does not store their edge, or out of date anywhere on the board: copper of
    another net is in a fill. A fill that leaves out what it could cover by now cannot be distinguished from a good one.
    """
    board, zones = copper.board, copper.board.zones
    name = board.copper_layers[layer].name
    asked = (zones.is_rule_area == 0) & holds_layer(zones.layers, layer)
    if not copper.is_filled(layer) or np.any(asked & (zones.is_filled == 0)):
        raise MissingFact(f"the zone fills of {name}", REFILL)
    if board.format_version < PEN_DRAWN:
        raise MissingFact(f"the zone fills of {name} with their outline width, which KiCad 5 did not store", REFILL)
    need_true_fills(copper.other_net)


@entity
class PlaneEdges:
    """The filled copper of one layer with its edges."""

    copper: CopperMap
    layer: int

    def sections(self, lines: PlaneLines, offsets_mm: Floats) -> PlaneSections:
        """Return the number of fills under each of some lines and their parallels, section by section.

        Args:
            lines: straight lines.
            offsets_mm: shape (lines, n): how far each of n parallels lies to the left of its line.

        Returns:
            every parallel from end to end, in no order of lines.
        """
        offsets_mm = offsets_mm + ASIDE_MM
        near = self._near(lines, np.abs(offsets_mm).max(axis=1) + 1e-6)
        is_busy = np.zeros(len(lines), dtype=np.bool_)
        is_busy[near.line] = True
        found = [self._uncrossed(lines, offsets_mm.shape[1], np.flatnonzero(~is_busy))]
        if np.any(is_busy):
            found.append(self._crossed(lines, offsets_mm, np.flatnonzero(is_busy), near))
        return PlaneSections.joined(found)

    def _uncrossed(self, lines: PlaneLines, count: int, quiet: Ints) -> PlaneSections:
        """The parallels of lines without any edge near them: one look-up tells what lies under all of them."""
        length = lines.length_mm[quiet]
        fills = self._fills_at(lines, quiet, np.zeros(len(quiet)), length / 2)
        every = np.repeat(np.arange(len(quiet)), count)
        return PlaneSections(
            quiet[every], np.tile(np.arange(count), len(quiet)), np.zeros(len(every)), length[every], fills[every]
        )

    def _crossed(self, lines: PlaneLines, offsets_mm: Floats, busy: Ints, near: _Near) -> PlaneSections:
        """The parallels of lines with edges near them, section by section."""
        count = offsets_mm.shape[1]
        row, at, turn = _crossings(offsets_mm, near)
        every = (busy[:, None] * count + np.arange(count)).ravel()
        rows = np.concatenate([every, row, every])
        places = np.concatenate([np.zeros(len(every)), at, lines.length_mm[every // count]])
        turns = np.concatenate([np.zeros(len(every), dtype=np.int64), turn, np.zeros(len(every), dtype=np.int64)])
        order = np.lexsort((places, rows))
        rows, places, turns = rows[order], places[order], turns[order]
        is_section = rows[1:] == rows[:-1]
        row, start, end = rows[:-1][is_section], places[:-1][is_section], places[1:][is_section]
        height = np.cumsum(turns)[:-1][is_section]
        found = PlaneSections(row // count, row % count, start, end, height)
        return replace(found, fills=height + self._missing(lines, offsets_mm, near, found))

    def _missing(self, lines: PlaneLines, offsets_mm: Floats, near: _Near, found: PlaneSections) -> Ints:
        """Return what the fills of sections, ordered by parallel, lack: each parallel's begin at 0, whatever is there.

        One look-up per line tells it for one of its parallels, inside the longest section of all, where edges are
        farthest. The edges that a cut across the line meets there lead from that parallel to the others.
        """
        count = offsets_mm.shape[1]
        longest = _longest_of_each(found.line, found.to_mm - found.from_mm)
        line, place = found.line[longest], found.from_mm[longest] + CUT * (found.to_mm - found.from_mm)[longest]
        known = self._fills_at(lines, line, offsets_mm[line, found.offset[longest]], place)
        cut_mm = np.full(len(lines), np.nan)
        cut_mm[line] = place
        cut = found.where((found.from_mm < cut_mm[found.line]) & (cut_mm[found.line] <= found.to_mm))
        below = _fills_below(offsets_mm, near, cut, cut_mm)
        own = np.arange(len(line)) * count + found.offset[longest]
        missing = np.zeros(offsets_mm.size, dtype=np.int64)
        missing[cut.line * count + cut.offset] = np.repeat(known - below[own], count) + below - cut.fills
        return np.asarray(missing[found.line * count + found.offset])

    def _near(self, lines: PlaneLines, reach_mm: Floats) -> _Near:
        """The edges that come within reach of lines."""
        edges = self.copper.edges(self.layer)
        line, from_mm, to_mm = _parts(lines)
        reach = reach_mm[line]
        ends = lines.start[line] + lines.direction[line] * np.stack([from_mm, to_mm])
        low_left, high_right = (way(ends.real, axis=0) + 1j * way(ends.imag, axis=0) for way in (np.min, np.max))
        part, edge = edges.near(
            low_left.real - reach, low_left.imag - reach, high_right.real + reach, high_right.imag + reach
        )
        line, from_mm, to_mm, reach = line[part], from_mm[part], to_mm[part], reach[part]
        start, turned = lines.start[line], lines.direction[line].conj()
        p, q = (edges.start[edge] - start) * turned, (edges.end[edge] - start) * turned
        near = (np.minimum(p.imag, q.imag) <= reach) & (np.maximum(p.imag, q.imag) > -reach)
        near &= (np.minimum(p.real, q.real) <= to_mm + 1e-9) & (np.maximum(p.real, q.real) > from_mm - 1e-9)
        return _Near(line[near], from_mm[near], to_mm[near], p[near], q[near])

    def _fills_at(self, lines: PlaneLines, line: Ints, across_mm: Floats, along_mm: Floats) -> Ints:
        at = lines.start[line] + lines.direction[line] * (along_mm + 1j * (across_mm + NEAR_MM))
        found = np.zeros(len(line), dtype=np.int64)
        for _, rows in rows_in_fills(self.copper.fills(self.layer), at.real, at.imag):
            found[rows] += 1
        return found


def _crossings(offsets_mm: Floats, near: _Near) -> tuple[Ints, Floats, Ints]:
    """Return where parallels cross edges: (row of the parallel, place along it, +1 into copper or -1 out of it)."""
    rows, places, turns = [], [], []
    for k in range(offsets_mm.shape[1]):
        across = offsets_mm[near.line, k]
        above_p, above_q = near.start.imag > across, near.end.imag > across
        met = np.flatnonzero(above_p != above_q)
        a, b = near.start[met], near.end[met]
        at = a.real + (across[met] - a.imag) / (b.imag - a.imag) * (b.real - a.real)
        inside = (at > near.from_mm[met]) & (at <= near.to_mm[met])
        rows.append(near.line[met][inside] * offsets_mm.shape[1] + k)
        places.append(at[inside])
        turns.append(np.where(above_p[met][inside], 1, -1))
    return np.concatenate(rows), np.concatenate(places), np.concatenate(turns)


def _fills_below(offsets_mm: Floats, near: _Near, cut: PlaneSections, cut_mm: Floats) -> Ints:
    """Return how many more fills are under each section at its line's cut than at the cut's end on the right.

    Both edges of a slit are met at the same place to the last bit, whichever way they run.
    """
    at = cut_mm[near.line]
    met = np.flatnonzero(((near.start.real < at) != (near.end.real < at)) & (near.from_mm < at) & (at <= near.to_mm))
    start, end, at = near.start[met], near.end[met], at[met]
    is_forward = start.real < end.real
    first, last = np.where(is_forward, start, end), np.where(is_forward, end, start)
    across = first.imag + (at - first.real) / (last.real - first.real) * (last.imag - first.imag)
    line = np.concatenate([near.line[met], cut.line])
    places = np.concatenate([across, offsets_mm[cut.line, cut.offset]])
    turns = np.concatenate([np.where(is_forward, 1, -1), np.zeros(len(cut), dtype=np.int64)])
    order = np.lexsort((places, line))
    fills = np.zeros(len(order), dtype=np.int64)
    fills[order] = np.cumsum(turns[order])
    return fills[len(met) :]


def _parts(lines: PlaneLines) -> tuple[Ints, Floats, Floats]:
    """Return lines in parts of at most `PART_MM`: line, from where, to where; the box around a part is a small one."""
    most = MOST_PARTS + MOST_PARTS_PER_LINE * len(lines)
    part_mm = max(PART_MM, float(lines.length_mm.sum()) / most)
    count = np.maximum(1, np.ceil(lines.length_mm / part_mm)).astype(np.int64)
    line = np.repeat(np.arange(len(lines)), count)
    step = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
    size = (lines.length_mm / count)[line]
    return line, step * size, np.where(step + 1 == count[line], lines.length_mm[line], (step + 1) * size)


def _longest_of_each(line: Ints, length_mm: Floats) -> Ints:
    """Return the index of the longest section of every line; lines are in ascending order."""
    begins = np.flatnonzero(np.diff(line, prepend=-1))
    longest = np.maximum.reduceat(length_mm, begins)
    alike = np.flatnonzero(length_mm == np.repeat(longest, np.diff(np.append(begins, len(line)))))
    return alike[np.searchsorted(alike, begins)]
