"""What was really routed: every width, gap and pair of planes of some nets, with its length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from stackup_lib.board import Board
from stackup_lib.copper_map import CopperMap
from stackup_lib.coupling import Pieces, pair_geometry, pieces_of
from stackup_lib.frozen import Frozen
from stackup_lib.pairs import Pairs

SAME_GAP_MM = 0.005
"""Gaps that differ by less are one gap: drawing grids and rounded arcs."""

ALONE_GAPS = 4.0
"""A partner farther away than this many of the pair's usual gaps no longer counts: the traces are alone."""

FAR_MM = 2.0
"""Nor does one that is farther away than any dielectric of a board with controlled pairs is thick."""

References = tuple[int | None, int | None]


class RoutedLine(Frozen):
    """One geometry in which nets of a group were routed.

    Attributes:
        layer: copper layer.
        width_mm: as drawn.
        gap_mm: edge to edge, None for a single line or a trace of a pair that runs alone.
        is_pair: the nets are a pair, also where they run apart.
        references: layers with copper above and below, None where that side is open.
        length_mm: of all nets together; of a pair, of both traces.
        longest_mm: of one net.
        nets: net indices.
        net_lengths_mm: length on each of `nets`.
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


_Key = tuple[int, float, float | None, bool, References]
_Sums = dict[_Key, dict[int, float]]
"""Geometry -> net -> length."""

_KNOWN: WeakKeyDictionary[CopperMap, dict[tuple[int, ...], _Sums]] = WeakKeyDictionary()
"""What was found before on a board: several rules ask for the same nets."""


def routed_lines(board: Board, copper: CopperMap, pairs: Pairs, nets: Sequence[int]) -> tuple[RoutedLine, ...]:
    """Return every geometry in which some nets were routed, the longest first.

    Nets of a pair are looked at with their partner: their gap is that of the copper.
    """
    sums: _Sums = {}
    known = _KNOWN.setdefault(copper, {})
    fresh = list(set(nets).difference(*known))
    copper.planes_beside(pieces_of(board, np.flatnonzero(np.isin(board.tracks.net, fresh))))  # all in one go
    done: set[int] = set()
    for net in nets:
        if net in done:
            continue
        partner = pairs.partner_of(net)
        both = (net,) if partner is None else (min(net, partner), max(net, partner))
        done.update(both)
        if both not in known:
            known[both] = _sums_of(board, copper, both)
        for key, lengths in known[both].items():
            sums.setdefault(key, {}).update(lengths)
    return tuple(sorted(map(_line, sums.items()), key=_longest_first))


def _longest_first(line: RoutedLine) -> tuple[float, int, float, float]:
    return -line.length_mm, line.layer, line.width_mm, line.gap_mm or 0.0


def _line(item: tuple[_Key, dict[int, float]]) -> RoutedLine:
    (layer, width, gap, is_pair, references), lengths = item
    return RoutedLine(
        layer=layer,
        width_mm=width,
        gap_mm=gap,
        is_pair=is_pair,
        references=references,
        length_mm=sum(lengths.values()),
        longest_mm=max(lengths.values()),
        nets=tuple(sorted(lengths)),
        net_lengths_mm=tuple(lengths[net] for net in sorted(lengths)),
    )


def _sums_of(board: Board, copper: CopperMap, nets: tuple[int, ...]) -> _Sums:
    """Sum up a single net, or the two of a pair."""
    if len(nets) == 1:
        pieces = pieces_of(board, np.nonzero(board.tracks.net == nets[0])[0])
        pieces = pieces.where(_beyond_pads(board, pieces, nets))
        gaps: list[float | None] = [None] * len(pieces)
    else:
        found = pair_geometry(board, *nets)
        kept = _beyond_pads(board, found.pieces, nets)
        pieces = found.pieces.where(kept)
        gaps = _gaps(pieces, found.gap_mm[kept])
    rows = zip(
        pieces.layer.tolist(), pieces.width_mm.tolist(), pieces.net.tolist(), pieces.length_mm.tolist(), strict=True
    )
    sums: _Sums = {}
    for (layer, width, net, length), gap, planes in zip(rows, gaps, _planes(copper, pieces), strict=True):
        of_key = sums.setdefault((layer, round(width, 4), gap, len(nets) > 1, planes), {})
        of_key[net] = of_key.get(net, 0.0) + length
    return sums


def _beyond_pads(board: Board, pieces: Pieces, nets: tuple[int, ...]) -> NDArray[np.bool_]:
    """Tell which pieces lie outside the pads of their nets: under a pad there is no line, only the pad."""
    pads = board.pads
    rows = np.nonzero(np.isin(pads.net, nets))[0]
    if not len(rows) or not len(pieces):
        return np.ones(len(pieces), dtype=np.bool_)
    turn = np.exp(1j * np.radians(pads.rotation_deg[rows]))
    apart = ((pieces.x_mm + 1j * pieces.y_mm)[:, None] - (pads.x_mm[rows] + 1j * pads.y_mm[rows])) * turn
    inside = (np.abs(apart.real) <= pads.size_x_mm[rows] / 2) & (np.abs(apart.imag) <= pads.size_y_mm[rows] / 2)
    shared = (pads.layers[rows] >> pieces.layer.astype(np.uint64)[:, None]) & np.uint64(1)
    mine = pieces.net[:, None] == pads.net[rows]
    return np.asarray(~np.any(inside & (shared > 0) & mine, axis=1))


def _gaps(pieces: Pieces, gap_mm: np.ndarray) -> list[float | None]:
    """Round gaps to the pair's usual one on each layer and width where they differ by no more than drawing does."""
    rounded = np.round(gap_mm, 4)
    usual = np.full(len(pieces), np.nan)
    for layer in np.unique(pieces.layer):
        here = (pieces.layer == layer) & ~np.isnan(rounded)
        if np.any(here):
            values, where = np.unique(rounded[here], return_inverse=True)
            lengths = np.bincount(where, pieces.length_mm[here])
            usual[pieces.layer == layer] = values[np.argmax(lengths)]
    near = np.abs(rounded - usual) <= SAME_GAP_MM
    rounded = np.where(near, usual, rounded)
    alone = np.isnan(rounded) | (rounded > ALONE_GAPS * usual) | (rounded > FAR_MM)
    return [None if apart else float(gap) for gap, apart in zip(rounded, alone, strict=True)]


def _planes(copper: CopperMap, pieces: Pieces) -> list[References]:
    """Return the planes of pieces."""
    above, below = copper.planes_beside(pieces)
    return list(map(_references, above.tolist(), below.tolist()))


def _references(above: int, below: int) -> References:
    return (None if above < 0 else above, None if below < 0 else below)


def by_layer(lines: Sequence[RoutedLine]) -> Mapping[int, tuple[RoutedLine, ...]]:
    """Return the lines of each layer, the longest first."""
    found: dict[int, list[RoutedLine]] = {}
    for line in lines:
        found.setdefault(line.layer, []).append(line)
    return {layer: tuple(rows) for layer, rows in found.items()}
