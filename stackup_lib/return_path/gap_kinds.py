"""What a gap of a plane is, by the holes and pads around it. Lengths in mm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.copper_map import NO_COPPER
from stackup_lib.copper.fill_edges import Complexes
from stackup_lib.return_path.plane_copper import PlaneLines
from stackup_lib.return_path.runs import Run

RING_CLEARANCE_MM = 0.5
"""Void no farther from the land of a hole is its antipad or thermal ring; no farther from a pad of the net it is a
cut-out under that pad. KiCad's own default for the clearance of a zone."""

MOST_POINTS, MOST_CELLS = 100_000, 2_000_000
"""Points at which a gap of more than 10 m is looked at, and the largest table of points and holes: no file fills the
memory."""


class GapKind(StrEnum):
    """What a gap is, by what lies around it: a ring lies all around one hole, merged antipads around several."""

    RING = "ring around a hole"
    MERGED = "antipads grown together"
    PAD = "cut-out under a pad"
    SLOT = "slot in the plane"
    SPLIT = "split between two nets"
    END = "end of the plane"


class GapKinds:
    """The holes and pads of one board, against which its gaps are held."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._holes: dict[int, tuple[Complexes, Floats]] = {}

    def of(
        self, run: Run, lines: PlaneLines, net: int, layers: tuple[int, int], beyond: set[int]
    ) -> tuple[GapKind, float]:
        """Return what a gap is, and of a ring how far it may reach in mm.

        Args:
            run: the gap.
            lines: of which the run has sections.
            net: of the tracks.
            layers: that of the tracks, and the plane's.
            beyond: nets of the plane where it is back.
        """
        if len(beyond - {NO_COPPER}) > 1:
            return GapKind.SPLIT, 0.0
        points = _points_on(run, lines)
        ring_mm, is_merged = _in_rings(points, *self._rings(layers[1]))
        if ring_mm:
            return GapKind.RING, ring_mm
        if self._under_pads(points, layers[0], net):
            return GapKind.PAD, 0.0
        if is_merged:
            return GapKind.MERGED, 0.0
        return (GapKind.END if run.open_ends or NO_COPPER in beyond or not beyond else GapKind.SLOT), 0.0

    def _under_pads(self, points: Complexes, layer: int, net: int) -> bool:
        """Tell whether all points lie under pads of a net on a layer, or hardly beyond; boards cut planes out there."""
        pads = self.board.pads
        rows = np.flatnonzero(holds_layer(pads.layers, layer) & (pads.net == net))
        return all(self._all_under(rows, some) for some in _some_at_a_time(points, len(rows)))

    def _all_under(self, pads_at: Ints, points: Complexes) -> bool:
        pads = self.board.pads
        apart = points[:, None] - (pads.x_mm[pads_at] + 1j * pads.y_mm[pads_at])
        # KiCad's angles turn counter-clockwise while y points down
        turned = apart * np.exp(1j * np.radians(pads.rotation_deg[pads_at]))
        turned = turned - (pads.shift_x_mm[pads_at] + 1j * pads.shift_y_mm[pads_at])
        near_x = np.abs(turned.real) <= pads.size_x_mm[pads_at] / 2 + RING_CLEARANCE_MM
        near_y = np.abs(turned.imag) <= pads.size_y_mm[pads_at] / 2 + RING_CLEARANCE_MM
        return bool(np.all(np.any(near_x & near_y, axis=1)))

    def _rings(self, plane: int) -> tuple[Complexes, Floats]:
        """Return centre and reach of the ring around every hole that goes through a layer, from left to right."""
        if plane not in self._holes:
            vias, pads = self.board.vias, self.board.pads
            spans = np.flatnonzero((vias.start_layer <= plane) & (vias.end_layer >= plane))
            drilled = np.flatnonzero(np.isin(pads.kind, (PadKind.THROUGH, PadKind.NON_PLATED)) & (pads.drill_x_mm > 0))
            centre = np.concatenate(
                [vias.x_mm[spans] + 1j * vias.y_mm[spans], pads.x_mm[drilled] + 1j * pads.y_mm[drilled]]
            )
            land = np.concatenate([vias.size_mm[spans], np.fmax(pads.size_x_mm[drilled], pads.size_y_mm[drilled])])
            order = np.argsort(centre.real)
            self._holes[plane] = centre[order], land[order] / 2 + RING_CLEARANCE_MM
        return self._holes[plane]


def _points_on(run: Run, lines: PlaneLines) -> Complexes:
    """Return points on the centre line of a run, 0.1 mm apart or nearer, its ends among them; of metres, fewer."""
    rows = zip(run.piece.tolist(), run.from_mm.tolist(), run.to_mm.tolist(), strict=True)
    per_mm = min(10.0, MOST_POINTS / max(float((run.to_mm - run.from_mm).sum()), 1.0))
    steps = (
        lines.start[piece]
        + lines.direction[piece] * np.linspace(first, last, max(3, math.ceil((last - first) * per_mm) + 1))
        for piece, first, last in rows
    )
    return np.concatenate(list(steps))


def _some_at_a_time(points: Complexes, others: int) -> Iterator[Complexes]:
    """Yield the points in parts that make tables of a bounded size with `others` more."""
    count = max(1, MOST_CELLS // max(1, others))
    return (points[start : start + count] for start in range(0, len(points), count))


def _in_rings(points: Complexes, centre: Complexes, reach_mm: Floats) -> tuple[float, bool]:
    """Return the reach of the widest hole around all points, 0 for none; and whether each point is within some's.

    Holes come from left to right.
    """
    widest = reach_mm.max(initial=0.0)
    near = np.arange(*np.searchsorted(centre.real, (points.real.min() - widest, points.real.max() + widest)))
    near = near[np.abs(centre[near] - points[0]) <= reach_mm[near] + np.abs(points - points[0]).max()]
    alone, is_merged = np.ones(len(near), dtype=np.bool_), True
    for some in _some_at_a_time(points, len(near)):
        is_near = np.abs(some[:, None] - centre[near]) <= reach_mm[near]
        alone &= np.all(is_near, axis=0)
        is_merged = is_merged and bool(np.all(np.any(is_near, axis=1)))
        if not is_merged and not alone.any():
            break
    return float(reach_mm[near][alone].max(initial=0.0)), is_merged
