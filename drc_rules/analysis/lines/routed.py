"""What was really routed: every width, gap and pair of planes of some nets, with its length."""

from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from drc_rules.analysis.lines.contiguous import longest_runs_mm
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.flat_pairs import pairs, runs
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.coupling import TrackPieces, pair_sides, pieces_of
from stackup_lib.core.frozen import Frozen
from stackup_lib.nets.diff_pairs import Pairs

SAME_GAP_MM = 0.005
"""Gaps that differ by less are one gap: drawing grids and rounded arcs."""

SAME_WIDTH_MM = 0.001
"""Traces of a pair whose widths differ by less are equally wide: rounding to mils and to micrometres."""

ALONE_GAPS = 4.0
"""A complement farther away than this many of the pair's usual gaps no longer counts: the traces are alone."""

FAR_MM = 2.0
"""Nor does one that is farther away than any dielectric of a board with controlled pairs is thick."""

ROUNDING_MM = 1e-6
"""KiCad's unit: a piece whose middle is on the edge of a pad lies there wherever the board is on the sheet."""

References = tuple[int | None, int | None]


class RoutedLine(Frozen):
    """One geometry in which nets of a group were routed.

    Attributes:
        layer: copper layer.
        width_mm: as drawn.
        gap_mm: edge to edge, None for a single line or a trace of a pair that runs alone.
        other_mm: width of the pair's other trace next to it, where it has another one.
        is_pair: the nets are a pair, also where they run apart.
        references: layers with copper above and below, None where that side is open.
        length_mm: of all nets together; of a pair, of both traces.
        longest_mm: of one net.
        nets: net indices.
        net_lengths_mm: length on each of `nets`.
        net_runs_mm: longest run on each of `nets` that no other geometry breaks.
    """

    layer: int
    width_mm: float
    gap_mm: float | None
    is_pair: bool
    references: References
    length_mm: float
    longest_mm: float
    nets: tuple[int, ...]
    net_lengths_mm: tuple[float, ...] = Field(default=(), exclude=True)
    net_runs_mm: tuple[float, ...] = Field(default=(), exclude=True)
    other_mm: float | None = Field(default=None, exclude=True)


_Key = tuple[int, float, float | None, bool, References, float | None]
_Sums = dict[_Key, dict[int, tuple[float, float]]]
"""Geometry -> net -> length of all pieces, and of the longest run of them."""
_Group = tuple[int, ...]
"""A net alone, or the two of a pair."""

_KNOWN: WeakKeyDictionary[CopperMap, dict[_Group, _Sums]] = WeakKeyDictionary()
"""What was found before on a board: several rules look up the same nets."""


def routed_lines(board: Board, copper: CopperMap, complements: Pairs, nets: Sequence[int]) -> tuple[RoutedLine, ...]:
    """Return every geometry in which some nets were routed, the longest first.

    Nets of a pair are looked at with their complement: their gap is that of the copper.
    """
    groups = dict.fromkeys(_group(complements, net) for net in nets)
    known = _KNOWN.setdefault(copper, {})
    fresh = [group for group in groups if group not in known]
    if fresh:
        known.update(zip(fresh, _sums_of(board, copper, fresh), strict=True))
    sums: _Sums = {}
    for group in groups:
        for key, lengths in known[group].items():
            sums.setdefault(key, {}).update(lengths)
    return tuple(sorted(map(_line, sums.items()), key=_longest_first))


def _group(complements: Pairs, net: int) -> _Group:
    complement = complements.complement_of(net)
    return (net,) if complement is None else (min(net, complement), max(net, complement))


def _longest_first(line: RoutedLine) -> tuple[float, int, float, float]:
    return -line.length_mm, line.layer, line.width_mm, line.gap_mm or 0.0


def _line(item: tuple[_Key, dict[int, tuple[float, float]]]) -> RoutedLine:
    (layer, width, gap, is_pair, references, other), found = item
    lengths = {net: found[net][0] for net in sorted(found)}
    return RoutedLine(
        layer=layer,
        width_mm=width,
        gap_mm=gap,
        is_pair=is_pair,
        references=references,
        length_mm=sum(lengths.values()),
        longest_mm=max(lengths.values()),
        nets=tuple(lengths),
        net_lengths_mm=tuple(lengths.values()),
        net_runs_mm=tuple(found[net][1] for net in lengths),
        other_mm=other,
    )


def _sums_of(board: Board, copper: CopperMap, groups: Sequence[_Group]) -> list[_Sums]:
    """Sum up some nets and pairs, all in one go: a bus has hundreds of them."""
    group_of = np.full(len(board.nets) + 1, -1)  # the last one stands for items without a net
    for number, group in enumerate(groups):
        group_of[list(group)] = number
    rows = np.flatnonzero(group_of[board.tracks.net] >= 0)
    pieces = pieces_of(board, rows[np.lexsort((board.tracks.net[rows], group_of[board.tracks.net[rows]]))])
    above, below = copper.adjacent_planes(pieces)
    gap, other = pair_sides(pieces, group_of[pieces.net])
    gap = _usual_gaps(pieces, group_of[pieces.net], gap)
    is_unlike = (gap >= 0) & (np.abs(other - pieces.width_mm) > SAME_WIDTH_MM)
    other = np.where(is_unlike, np.round(other, 4), -1.0)
    kept = np.flatnonzero(_beyond_pads(board, pieces))
    columns = (
        group_of[pieces.net], pieces.layer, np.round(pieces.width_mm, 4), gap, above, below, other, pieces.net,
    )  # fmt: skip
    found: list[_Sums] = [{} for _ in groups]
    kinds, of_piece = _alike(columns, kept)
    kind = np.full(len(pieces), -1)
    kind[kept] = of_piece
    lengths = np.bincount(of_piece, pieces.length_mm[kept], len(kinds)).tolist()
    longest = longest_runs_mm(board, pieces, kind, len(kinds)).tolist()
    for (index, layer, width, between, over, under, unlike, net), length, run in zip(
        kinds, lengths, longest, strict=True
    ):
        of_gap = None if between < 0 else float(between)
        planes = (None if over < 0 else int(over), None if under < 0 else int(under))
        of_other = None if unlike < 0 else float(unlike)
        key = (int(layer), float(width), of_gap, len(groups[int(index)]) > 1, planes, of_other)
        found[int(index)].setdefault(key, {})[int(net)] = length, run
    return found


def _summed(
    columns: tuple[Floats | Ints, ...], length_mm: Floats, rows: Ints
) -> Iterator[tuple[tuple[float, ...], float]]:
    """Yield what stands alike in all columns of some rows, with the sum of the lengths."""
    kinds, kind = _alike(columns, rows)
    yield from zip(kinds, np.bincount(kind, length_mm[rows], len(kinds)).tolist(), strict=True)


def _alike(columns: tuple[Floats | Ints, ...], rows: Ints) -> tuple[list[tuple[float, ...]], Ints]:
    """Return what stands alike in all columns of some rows, in order, and which of these each row has."""
    if not len(rows):
        return [], np.zeros(0, dtype=np.int64)
    table = np.column_stack([column[rows] for column in columns])
    order = np.lexsort(table.T[::-1])
    begins = np.concatenate([[True], np.any(table[order][1:] != table[order][:-1], axis=1)])
    kind = np.empty(len(rows), dtype=np.int64)
    kind[order] = np.cumsum(begins) - 1
    return list(map(tuple, table[order][begins].tolist())), kind


def _beyond_pads(board: Board, pieces: TrackPieces) -> NDArray[np.bool_]:
    """Tell which pieces lie outside the pads of their nets: under a pad there is no line, only the pad."""
    pads = board.pads
    of_net = np.argsort(pads.net, kind="stable")
    reach = np.hypot(pads.size_x_mm, pads.size_y_mm) / 2
    beyond = np.ones(len(pieces), dtype=np.bool_)
    for each, rank in pairs(pieces.net, runs(pads.net[of_net], len(board.nets))):
        its = of_net[rank]
        dx, dy = pieces.x_mm[each] - pads.x_mm[its], pieces.y_mm[each] - pads.y_mm[its]
        near = np.flatnonzero((np.abs(dx) <= reach[its]) & (np.abs(dy) <= reach[its]))
        piece, pad = each[near], its[near]
        apart = (dx[near] + 1j * dy[near]) * np.exp(1j * np.radians(pads.rotation_deg[pad]))
        half_x, half_y = pads.size_x_mm[pad] / 2 + ROUNDING_MM, pads.size_y_mm[pad] / 2 + ROUNDING_MM
        inside = (np.abs(apart.real) <= half_x) & (np.abs(apart.imag) <= half_y)
        shared = holds_layer(pads.layers[pad], pieces.layer[piece])
        beyond[piece[inside & shared]] = False
    return beyond


def _usual_gaps(pieces: TrackPieces, group: Ints, gap_mm: Floats) -> Floats:
    """Round gaps to the pair's usual one on each layer where they differ by no more than drawing does; -1 for none."""
    rounded = np.round(gap_mm, 4)
    adjacent = np.flatnonzero(~np.isnan(rounded))
    usual = np.full(len(pieces), np.nan)
    where = group * (pieces.layer.max(initial=0) + 1) + pieces.layer
    best: dict[float, tuple[float, float]] = {}
    for (place, gap), length in _summed((where, rounded), pieces.length_mm, adjacent):
        if place not in best or length > best[place][0]:  # of equal ones the narrowest, which comes first
            best[place] = length, gap
    if best:
        places = np.array(sorted(best))
        at = np.minimum(np.searchsorted(places, where), len(places) - 1)
        usual = np.where(places[at] == where, np.array([best[place][1] for place in places.tolist()])[at], np.nan)
    rounded = np.where(np.abs(rounded - usual) <= SAME_GAP_MM, usual, rounded)
    alone = np.isnan(rounded) | (rounded > ALONE_GAPS * usual) | (rounded > FAR_MM)
    return np.where(alone, -1.0, rounded)


def by_layer(lines: Sequence[RoutedLine]) -> Mapping[int, tuple[RoutedLine, ...]]:
    """Return the lines of each layer, the longest first."""
    found: dict[int, list[RoutedLine]] = {}
    for line in lines:
        found.setdefault(line.layer, []).append(line)
    return {layer: tuple(rows) for layer, rows in found.items()}
