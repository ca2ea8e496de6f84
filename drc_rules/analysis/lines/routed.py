"""What was really routed: every width, gap and pair of planes of some nets, with its length."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from stackup_lib.copper.fill_distances import fill_distances
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

FILL_HEIGHTS = 3.0
"""Filled copper farther from a line than this many heights over the nearer plane changes its impedance by less than
1 %: 0.9 % of a microstrip of 50 ohm, 0.3 % of pairs, and less between planes, by the field solver."""

FEW = 0.2
"""Copper next to less than this share of a run is no part of the line: the ends of pours, and vias in them."""

LIKE_FILL_MM, LIKE_FILL = 0.01, 0.1
"""Distances to copper that differ by less, in mm or as a share, are one distance."""

FILL_STEPS_MM = (0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Ends of a range of distances are rounded outward to these, so that few lines are solved."""

ROUNDING_MM = 1e-6
"""KiCad's unit: a piece whose middle is on the edge of a pad lies there wherever the board is on the sheet."""

References = tuple[int | None, int | None]


class NearFill(Frozen):
    """Filled copper next to a line on its own layer, of a pair outside of it.

    Attributes:
        near_mm: distance at which it is nowhere nearer, on either side, edge to edge.
        far_mm: distance at which it is nowhere farther; None where there is none along parts of the run, or on a side.
    """

    near_mm: float
    far_mm: float | None

    @property
    def is_even(self) -> bool:
        """It is on both sides at one distance."""
        return self.near_mm == self.far_mm

    def __str__(self) -> str:
        """Return it as text."""
        if self.is_even:
            return f"copper {self.near_mm:g} mm next to it"
        return (
            f"copper {self.near_mm:g} mm{' and more' if self.far_mm is None else f' to {self.far_mm:g} mm'} next to it"
        )


def joined(some: Iterable[NearFill | None]) -> NearFill | None:
    """Return what is next to some lines, taken together."""
    found = tuple(some)
    there = [one for one in found if one is not None]
    if not there:
        return None
    far = [one.far_mm for one in found if one is not None and one.far_mm is not None]
    return NearFill(near_mm=min(one.near_mm for one in there), far_mm=max(far) if len(far) == len(found) else None)


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
        near_fill: filled copper next to it, None where there is none, or where it was not looked for.
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
    near_fill: NearFill | None = Field(default=None, exclude=True)


_Key = tuple[int, float, float | None, bool, References, float | None]
_Sums = dict[tuple[_Key, NearFill | None], dict[int, tuple[float, float]]]
"""Geometry, and copper next to it -> net -> length of all pieces, and of the longest run of them."""
_Group = tuple[int, ...]
"""A net alone, or the two of a pair."""

_KNOWN: WeakKeyDictionary[CopperMap, dict[tuple[_Group, bytes | None], _Sums]] = WeakKeyDictionary()
"""What was found before on a board, by nets and dielectrics: several rules look up the same nets."""


def routed_lines(
    board: Board, copper: CopperMap, complements: Pairs, nets: Sequence[int], dielectric_mm: Floats | None = None
) -> tuple[RoutedLine, ...]:
    """Return every geometry in which some nets were routed, the longest first; filled copper next to it is not told.

    Nets of a pair are looked at with their complement: their gap is that of the copper.

    Args:
        board: the board.
        copper: its fills.
        complements: the pairs of the board.
        nets: whose routes are looked at.
        dielectric_mm: between each copper layer and the next, 0 where it is not known; with it the copper next to the
            lines is looked for, so that `lines_next_to_fills` need not look at the nets once more.
    """
    sums: _Sums = {}
    for found in _known(board, copper, complements, nets, dielectric_mm):
        for (key, _), lengths in found.items():
            sums.setdefault((key, None), {}).update(lengths)
    return tuple(sorted(map(_line, sums.items()), key=_longest_first))


def lines_next_to_fills(
    board: Board, copper: CopperMap, complements: Pairs, nets: Sequence[int], dielectric_mm: Floats
) -> tuple[RoutedLine, ...]:
    """Return the same, with the filled copper next to each line; nets that have other copper have their own lines."""
    sums: _Sums = {}
    for found in _known(board, copper, complements, nets, dielectric_mm):
        for key, lengths in found.items():
            sums.setdefault(key, {}).update(lengths)
    return tuple(sorted(map(_line, sums.items()), key=_longest_first))


def _known(
    board: Board, copper: CopperMap, complements: Pairs, nets: Sequence[int], dielectric_mm: Floats | None
) -> list[_Sums]:
    groups = dict.fromkeys(_group(complements, net) for net in nets)
    known = _KNOWN.setdefault(copper, {})
    heights = None if dielectric_mm is None else dielectric_mm.tobytes()
    fresh = [group for group in groups if (group, heights) not in known]
    if fresh:
        sums = _sums_of(board, copper, fresh, dielectric_mm)
        known.update({(group, heights): found for group, found in zip(fresh, sums, strict=True)})
    return [known[group, heights] for group in groups]


def _group(complements: Pairs, net: int) -> _Group:
    complement = complements.complement_of(net)
    return (net,) if complement is None else (min(net, complement), max(net, complement))


def _longest_first(line: RoutedLine) -> tuple[float, int, float, float, float]:
    near_mm = 0.0 if line.near_fill is None else line.near_fill.near_mm
    return -line.length_mm, line.layer, line.width_mm, line.gap_mm or 0.0, near_mm


def _line(item: tuple[tuple[_Key, NearFill | None], dict[int, tuple[float, float]]]) -> RoutedLine:
    ((layer, width, gap, is_pair, references, other), near_fill), found = item
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
        near_fill=near_fill,
    )


def _sums_of(board: Board, copper: CopperMap, groups: Sequence[_Group], dielectric_mm: Floats | None) -> list[_Sums]:
    """Sum up some nets and pairs, all in one go: a bus has hundreds of them."""
    group_of = np.full(len(board.nets) + 1, -1)  # the last one stands for items without a net
    for number, group in enumerate(groups):
        group_of[list(group)] = number
    rows = np.flatnonzero(group_of[board.tracks.net] >= 0)
    pieces = pieces_of(board, rows[np.lexsort((board.tracks.net[rows], group_of[board.tracks.net[rows]]))])
    above, below = copper.adjacent_planes(pieces)
    gap, other, is_right = pair_sides(pieces, group_of[pieces.net])
    gap = _usual_gaps(pieces, group_of[pieces.net], gap)
    is_unlike = (gap >= 0) & (np.abs(other - pieces.width_mm) > SAME_WIDTH_MM)
    other = np.where(is_unlike, np.round(other, 4), -1.0)
    kept = np.flatnonzero(_beyond_pads(board, pieces))
    columns = (
        group_of[pieces.net], pieces.layer, np.round(pieces.width_mm, 4), gap, above, below, other, pieces.net,
    )  # fmt: skip
    near_fills: dict[tuple[float, ...], NearFill] = {}
    if dielectric_mm is not None:
        reach = _fill_reach(pieces, above, below, dielectric_mm)
        complement = np.array([group[0] + group[-1] for group in groups])[group_of[pieces.net]] - pieces.net
        sides = fill_distances(copper, pieces.where(kept), complement[kept], reach[kept])
        near_far = _outward(gap[kept], is_right[kept], sides)
        near_fills = _near_fills(
            np.column_stack([column[kept] for column in columns[:-1]]), pieces.length_mm[kept], near_far
        )
    found: list[_Sums] = [{} for _ in groups]
    kinds, of_piece = _alike(columns, kept)
    kind = np.full(len(pieces), -1)
    kind[kept] = of_piece
    lengths = np.bincount(of_piece, pieces.length_mm[kept], len(kinds)).tolist()
    longest = longest_runs_mm(board, pieces, kind, len(kinds)).tolist()
    for (*place, net), length, run in zip(kinds, lengths, longest, strict=True):
        index, layer, width, between, over, under, unlike = place
        of_gap = None if between < 0 else float(between)
        planes = (None if over < 0 else int(over), None if under < 0 else int(under))
        of_other = None if unlike < 0 else float(unlike)
        key = (int(layer), float(width), of_gap, len(groups[int(index)]) > 1, planes, of_other)
        found[int(index)].setdefault((key, near_fills.get(tuple(place))), {})[int(net)] = length, run
    return found


def _fill_reach(pieces: TrackPieces, above: Ints, below: Ints, dielectric_mm: Floats) -> Floats:
    """Return how far from each piece copper on its own layer counts; 0 without a plane."""
    depth = np.concatenate([[0.0], np.cumsum(dielectric_mm)])
    to_planes = np.stack([np.abs(depth[pieces.layer] - depth[plane]) for plane in (above, below)])
    to_planes[np.stack([above, below]) < 0] = np.inf
    height = to_planes.min(axis=0, initial=np.inf)
    return np.where(np.isfinite(height), FILL_HEIGHTS * height, 0.0)


def _outward(gap_mm: Floats, is_right: NDArray[np.bool_], sides: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the nearer and the farther copper of each piece; toward its complement only what lies between the two.

    Ground outside a pair, as near as that between its traces, has the larger effect.
    """
    left, right = sides
    is_pair = gap_mm >= 0
    outer, inner = np.where(is_right, left, right), np.where(is_right, right, left)
    inner = np.where(inner < gap_mm, inner, np.inf)
    near = np.where(is_pair, np.minimum(outer, inner), np.minimum(left, right))
    return near, np.where(is_pair, outer, np.maximum(left, right))


def _near_fills(table: Floats, length_mm: Floats, near_far: tuple[Floats, Floats]) -> dict[tuple[float, ...], NearFill]:
    """Return the copper next to each row of a table that stands alike, of those that have any for most of the run."""
    if not np.any(np.isfinite(near_far[0])):
        return {}
    order = np.lexsort(table.T[::-1])
    begins = np.concatenate([[True], np.any(table[order][1:] != table[order][:-1], axis=1)])
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(begins) - 1
    near, far = (_share(run, side, length_mm, at) for side, at in zip(near_far, (FEW, 1 - FEW), strict=True))
    rows = np.flatnonzero(np.isfinite(near))
    places = table[order][begins][rows].tolist()
    ends = zip(near[rows].tolist(), far[rows].tolist(), strict=True)
    return {tuple(place): _near_fill(*each) for place, each in zip(places, ends, strict=True)}


def _share(run: Ints, value: Floats, length_mm: Floats, share: float) -> Floats:
    """Return for each run the value up to which a share of its length lies."""
    order = np.lexsort((value, run))
    along = np.cumsum(length_mm[order])
    total = np.bincount(run, length_mm)
    at = np.searchsorted(along, np.cumsum(total) - total + share * total)
    last = np.cumsum(np.bincount(run)) - 1
    return np.asarray(value[order][np.minimum(at, last)])


def _near_fill(near_mm: float, far_mm: float) -> NearFill:
    if far_mm - near_mm <= max(LIKE_FILL_MM, LIKE_FILL * near_mm):
        middle = max(round((near_mm + far_mm) / 2 / SAME_GAP_MM), 1) * SAME_GAP_MM
        return NearFill(near_mm=round(middle, 4), far_mm=round(middle, 4))
    near = max((step for step in FILL_STEPS_MM if step <= near_mm + ROUNDING_MM), default=max(near_mm, SAME_GAP_MM))
    far = min((step for step in FILL_STEPS_MM if step >= far_mm - ROUNDING_MM), default=None)
    return NearFill(near_mm=round(near, 4), far_mm=far)


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
