"""Where the plane under a track is missing: gaps in the copper that carries its return current. Lengths in mm.

Geometry only: what a gap does to a signal depends on its rise time; `Gap.delay_ps` helps. Copper graphics,
tracks and pads of the plane's layer do not count as plane.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, LayerKind, Stackup
from stackup_lib.copper.copper_map import FLOATING, NO_COPPER, CopperMap, unfilled_zones
from stackup_lib.copper.fill_edges import Complexes, rows_inside
from stackup_lib.core.arrays import alike_rows, distinct
from stackup_lib.core.light import LIGHT_MM_PER_PS
from stackup_lib.core.record import record
from stackup_lib.return_path.gap_kinds import GapKind, GapKinds
from stackup_lib.return_path.plane_copper import PlaneEdges, PlaneLines, PlaneSections, refuse_untrue_fills
from stackup_lib.return_path.runs import Run, joined_runs
from stackup_lib.return_path.track_lines import TrackLines, track_lines

PARALLELS = 8
"""Number of parallels that represent the band under a track, each for an equal part of its return current."""

MOST_MISSING = 0.5
"""A track is over a gap where its middle is, or where more than this share of the band's current has no plane."""

MIDDLE_MM = 0.0001
"""The middle is over void when it is so far to both sides: a track may run along the very edge of a plane."""

MOST_POINTS = 100_000
"""Places at which tracks of more than 50 m are looked at."""

LEAST_MM = 1e-6
"""Shorter sections are none: ends of copper that meet to a nanometre."""


@record
class Gap:
    """A section of a net on one layer where the plane under (or over) it is missing.

    Attributes:
        net, layer, plane: indices of the net, of the copper layer it runs on, and of the plane's layer.
        length_mm: along the track over void; strips of plane narrower than the height, which join voids, not counted.
        missing_share: of the return current in the band, on average over the gap: 1 when nothing of the plane is left.
        tracks: rows of `Board.tracks`, ascending.
        x_mm, y_mm: middle of its longest piece.
        start_mm, end_mm: both ends (x, y); of a gap at a branch, two of its ends.
        plane_nets: nets of the plane where it is back, ascending; `NO_COPPER` when the track ends over void.
        ring_mm: of a ring, how far from the middle of its hole it may reach; 0 for anything else.
    """

    net: int
    layer: int
    plane: int
    kind: GapKind
    length_mm: float
    missing_share: float
    tracks: tuple[int, ...]
    x_mm: float
    y_mm: float
    start_mm: tuple[float, float]
    end_mm: tuple[float, float]
    plane_nets: tuple[int, ...]
    ring_mm: float = 0.0

    def delay_ps(self, eps_eff: float) -> float:
        """Return the time a signal takes over it, length sqrt(eps_eff)/c; eps_eff is that of the line."""
        return self.length_mm * math.sqrt(eps_eff) / LIGHT_MM_PER_PS


def plane_share(height_mm: float, other_height_mm: float) -> float:
    """Return the share of the return current in the plane at `height_mm` when another is on the other side.

    h2/(h1 + h2): the charge that a line between two grounded planes induces in each, exact in one dielectric
    (W. Shockley, Journal of Applied Physics 9 (1938) 635-636, from Green's reciprocation theorem).
    """
    return other_height_mm / (height_mm + other_height_mm)


def plane_height_mm(stackup: Stackup, layer: int, plane: int) -> float | None:
    """Return the distance between the facing sides of two copper layers; None where a thickness is missing."""
    rows = [k for k, row in enumerate(stackup.layers) if row.kind is LayerKind.COPPER]
    if max(layer, plane) >= len(rows) or layer == plane:
        return None
    first, last = sorted((rows[layer], rows[plane]))
    between = [row.thickness_mm for row in stackup.layers[first + 1 : last]]
    return None if not between or any(t is None for t in between) else sum(t for t in between if t is not None)


class ReturnPath:
    """The planes of one board; each is indexed, and its fills judged, on first use."""

    def __init__(self, copper: CopperMap) -> None:
        self.stored, self.copper = copper, copper.planes
        self.board: Board = copper.board
        self._edges: dict[int, PlaneEdges] = {}
        self._kinds = GapKinds(self.board)
        self._cut: dict[bytes, TrackLines] = {}
        self._joined: dict[bytes, TrackLines] = {}

    def gaps(self, rows: Ints, plane: int, height_mm: float, between: Iterable[int] = ()) -> tuple[Gap, ...]:
        """Return the gaps of a plane under some tracks of one layer, net by net, the longest first.

        A band of half the width and one height to each side of the centre line counts, each part of it by the current
        that flows there: (2/pi) atan(x/h) of it within x to each side, as under the image of a line current in a plane
        (H. Johnson, M. Graham, High-Speed Digital Design, 1993, chapter 5).

        Args:
            rows: indices into `Board.tracks`, all of one layer; gaps go on where the copper of a net's tracks meets.
            plane: copper layer of the plane.
            height_mm: from the trace to the plane.
            between: layers whose copper covers voids of the plane: what of a gap lies over it does not count.

        Raises:
            MissingFact: fills of the plane are missing or stale.
            ValueError: tracks of several layers.
        """
        layers = distinct(self.board.tracks.layer[rows])
        if len(layers) > 1:
            raise ValueError("tracks of one layer are looked at together")
        edges = self._plane(plane)
        pieces = self._met(rows)
        if not len(pieces.track):
            return ()
        found = edges.sections(pieces.lines, _parallels(pieces.width_mm, height_mm))
        covers = [PlaneEdges(self.copper, layer) for layer in between if self.copper.is_filled(layer)]
        joined = joined_runs(_over_void(found), pieces.lines, pieces.corners, height_mm)
        runs = [part for run in joined for part in _open_runs(run, pieces, covers, height_mm)]
        beyond = self._nets_beyond([run for run, _ in runs], plane)
        gaps = [
            self._gap(run, pieces, (int(layers[0]), plane), nets, length_mm)
            for (run, length_mm), nets in zip(runs, beyond, strict=True)
        ]
        return tuple(sorted(gaps, key=lambda gap: (gap.net, -gap.length_mm, gap.x_mm, gap.y_mm)))

    def plane_nets_mm(self, rows: Ints, plane: int, beyond: Iterable[int] = ()) -> dict[tuple[int, int], float]:
        """Return how many mm of each net's tracks run over which net's copper: (net, plane's net) -> length.

        Looked up every half millimetre on the centre line, of more than 50 m at longer steps; the plane's net is
        `NO_COPPER` over void, `FLOATING` over a fill that nothing joins. Raises `MissingFact` as `gaps` does.

        Args:
            rows: indices into `Board.tracks`.
            plane: copper layer of the plane.
            beyond: layers behind it, the nearest first, of which the first with copper counts where the plane has none.
        """
        refuse_untrue_fills(self.stored, plane)
        pieces = self._pieces(rows)
        lengths = pieces.lines.length_mm
        apart_mm = max(0.5, float(lengths.sum()) / (MOST_POINTS + 100 * len(lengths)))
        count = np.maximum(1, np.ceil(lengths / apart_mm)).astype(np.int64)
        owner = np.repeat(np.arange(len(count)), count)
        step = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        part = (pieces.lines.length_mm / count)[owner]
        at = pieces.lines.start[owner] + pieces.lines.direction[owner] * (step + 0.5) * part
        under = self._joined_at(plane, at)
        for layer in beyond:
            void = np.flatnonzero(under == NO_COPPER)
            if len(void) and (self.stored.is_filled(layer) or len(unfilled_zones(self.board, [layer]))):
                refuse_untrue_fills(self.stored, layer)
                under[void] = self._joined_at(layer, at[void])
        keys = np.column_stack([pieces.net[owner], under])
        first, kind = alike_rows(keys)
        sums = np.bincount(kind, part, len(first))
        return {(int(net), int(other)): float(mm) for (net, other), mm in zip(keys[first].tolist(), sums, strict=True)}

    def _joined_at(self, layer: int, at: Complexes) -> Ints:
        found = self.copper.net_at(layer, at.real, at.imag)
        for fill in self.copper.floating(layer):
            found[rows_inside(fill, at.real, at.imag, with_edge=True)] = FLOATING
        return found

    def _pieces(self, rows: Ints) -> TrackLines:
        """Tracks in straight pieces; the same ones are looked up with each of their planes."""
        key = rows.tobytes()
        if key not in self._cut:
            self._cut[key] = track_lines(self.board, rows)
        return self._cut[key]

    def _met(self, rows: Ints) -> TrackLines:
        """The same pieces, cut where another one ends in their copper."""
        key = rows.tobytes()
        if key not in self._joined:
            self._joined[key] = self._pieces(rows).joined()
        return self._joined[key]

    def _plane(self, layer: int) -> PlaneEdges:
        if layer not in self._edges:
            refuse_untrue_fills(self.stored, layer)
            self._edges[layer] = PlaneEdges(self.copper, layer)
        return self._edges[layer]

    def _nets_beyond(self, runs: list[Run], plane: int) -> Iterator[set[int]]:
        """Yield the nets of the plane where it is back; those of all runs are looked up together."""
        at = np.array([place for run in runs for place in run.beyond], dtype=np.complex128)
        nets = iter(self.copper.net_at(plane, at.real, at.imag).tolist())
        for run in runs:
            yield set(islice(nets, len(run.beyond)))

    def _gap(self, run: Run, pieces: TrackLines, layers: tuple[int, int], nets: set[int], length_mm: float) -> Gap:
        layer, plane = layers
        lines, lengths = pieces.lines, run.to_mm - run.from_mm
        longest = int(np.argmax(lengths))
        line = run.piece[longest]
        middle = lines.start[line] + lines.direction[line] * (run.from_mm + run.to_mm)[longest] / 2
        ends = run.ends or ((middle.real, middle.imag),)
        kind, ring_mm = self._kinds.of(run, lines, int(pieces.net[line]), layers, nets)
        return Gap(
            net=int(pieces.net[line]),
            layer=layer,
            plane=plane,
            kind=kind,
            ring_mm=ring_mm,
            length_mm=length_mm,
            missing_share=float((run.missing * lengths).sum() / lengths.sum()),
            tracks=tuple(sorted({int(k) for k in pieces.track[run.piece]})),
            x_mm=float(middle.real),
            y_mm=float(middle.imag),
            start_mm=ends[0],
            end_mm=ends[-1],
            plane_nets=tuple(sorted(nets | ({NO_COPPER} if run.open_ends else set()))),
        )


def _open_runs(run: Run, pieces: TrackLines, covers: list[PlaneEdges], web_mm: float) -> Iterator[tuple[Run, float]]:
    """Yield a run with the length of what is not covered; of one whose middle is covered, each part that is not.

    Such a part lies between the plane and what covers the rest: it ends over void of the plane.
    """
    bare = _uncovered(run, pieces.lines, covers)
    if not len(bare.piece):
        return
    longest = int(np.argmax(run.to_mm - run.from_mm))
    middle = (run.from_mm[longest] + run.to_mm[longest]) / 2
    if np.any((bare.piece == run.piece[longest]) & (bare.from_mm <= middle) & (middle <= bare.to_mm)):
        yield run, bare.length_mm
        return
    for part in joined_runs(bare, pieces.lines, pieces.corners, web_mm):
        yield part, part.length_mm


def _parallels(width_mm: Floats, height_mm: float) -> Floats:
    """Return both sides of the centre line, then the middles of parts of the band with equal current: (tracks, 10).

    A wide trace is many thin ones: its current spreads by half its width more, and the parts with it.
    """
    half = width_mm / 2 + height_mm
    inside = math.atan(1.0)
    parts = (np.arange(PARALLELS) + 0.5) / PARALLELS * 2 - 1
    middle = np.full(len(width_mm), MIDDLE_MM)
    return np.column_stack([-middle, middle, *(half * math.tan(part * inside) for part in parts)])


def _uncovered(run: Run, lines: PlaneLines, covers: Iterable[PlaneEdges]) -> Run:
    """Return what of a run's sections lies under no copper of some layers; the run itself where all of it does."""
    length = run.to_mm - run.from_mm
    start = lines.start[run.piece] + lines.direction[run.piece] * run.from_mm
    middle = PlaneLines(start, lines.direction[run.piece], length)
    covered: dict[int, list[tuple[float, float]]] = {}
    for cover in covers:
        found = cover.sections(middle, np.zeros((len(length), 1)))
        found = found.where((found.fills > 0) & (found.to_mm - found.from_mm > LEAST_MM))
        for row, first, last in zip(found.line.tolist(), found.from_mm.tolist(), found.to_mm.tolist(), strict=True):
            covered.setdefault(row, []).append((first, last))
    if not covered:
        return run
    rows, places = list[int](), list[tuple[float, float]]()
    for row, total in enumerate(length.tolist()):
        left = 0.0
        for first, last in [*sorted(covered.get(row, [])), (total, total)]:
            if first - left > LEAST_MM:
                rows.append(row)
                places.append((left, first))
            left = max(left, last)
    first_mm, last_mm = np.array(places).reshape(-1, 2).T
    begin = run.from_mm[rows]
    return Run(run.piece[rows], begin + first_mm, begin + last_mm, run.missing[rows])


def _over_void(found: PlaneSections) -> Run:
    """Return the sections of the pieces that are over void, in order of piece and place."""
    void = np.flatnonzero((found.fills <= 0) & (found.to_mm > found.from_mm))
    line, centre = found.line[void], found.offset[void] < 2
    weight = np.where(centre, 0.0, 1.0 / PARALLELS)
    at = np.concatenate([found.from_mm[void], found.to_mm[void]])
    piece = np.concatenate([line, line])
    missing = np.concatenate([weight, -weight])
    middle = np.concatenate([centre, centre]) * np.repeat([1, -1], len(void))
    order = np.lexsort((at, piece))
    piece, at = piece[order], at[order]
    share, on_centre = np.cumsum(missing[order]), np.cumsum(middle[order])
    ends = np.flatnonzero(piece[1:] == piece[:-1])
    ends = ends[at[ends + 1] - at[ends] > 1e-9]
    over = ends[(share[ends] > MOST_MISSING + 1e-9) | (on_centre[ends] == 2)]
    return Run.merged(piece[over], at[over], at[over + 1], share[over])
