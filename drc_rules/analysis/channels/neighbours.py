"""Which pairs of an interface run next to which others, place by place along their routes. Lengths in mm.

A place is a piece of the first pair's track with the nearest piece of the other pair, parallel and on the same layer.
Of the two traces of the first pair the nearer one counts; which trace faces which gives the sign of the coupling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.nets.board_links import complete_routes
from drc_rules.analysis.return_path.return_paths import ReturnPaths
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.board.columns import Columns, first_of_each
from stackup_lib.copper.coupling import TrackPieces, pieces_of
from stackup_lib.copper.parallel_pairs import next_to
from stackup_lib.core.record import entity
from stackup_lib.nets.links import Link

REACH_HEIGHTS = 8.0
"""Farther apart than this many heights over the nearer plane, pairs couple by a thousandth at most."""

SAME_PLACE_MM = 2.0
"""Both traces of a pair are at one place where their pieces are this near."""


@entity
class Places(Columns):
    """Where two pairs run next to each other, one row each.

    Attributes:
        leg, other_leg: trace of the first and of the other pair, 0 for P and 1 for N.
        at_mm, other_at_mm: middle along each trace, from the beginning of its link.
        mm: length.
        gap_mm: edge to edge.
        is_opposite: both run in opposite directions.
    """

    leg: Ints
    other_leg: Ints
    at_mm: Floats
    other_at_mm: Floats
    mm: Floats
    gap_mm: Floats
    is_opposite: NDArray[np.bool_]

    def turned(self) -> Places:
        """Return the same places, the other pair first."""
        return Places(self.other_leg, self.leg, self.other_at_mm, self.at_mm, self.mm, self.gap_mm, self.is_opposite)


@entity
class _Drawn(Columns):
    """Pieces of the traces of links: number of the link, trace, and place along it, in its direction."""

    link: Ints
    leg: Ints
    at_mm: Floats
    forward: NDArray[np.complex128]


def pair_links(ctx: Context, interface_id: str) -> tuple[LinkLoss, ...]:
    """Return the pairs of an interface whose loss is known."""
    losses = LinkLosses(ctx)
    both = (losses.of(interface_id, declared=declared).known for declared in (True, False))
    return tuple(link for known in both for link in known if len(link.traces) > 1)


def neighbours_of(ctx: Context, link: LinkLoss) -> Iterator[tuple[LinkLoss, Places]]:
    """Yield the other pairs of its interface that run next to a pair, and where, that pair being the first.

    Raises:
        MissingFact: the stackup does not tell how far a layer is from its plane.
    """
    with ctx.aside():
        links = pair_links(ctx, link.interface.id)
        places = ctx.get(_places, link.interface.id)
    mine = next((k for k, one in enumerate(links) if one.nets == link.nets), None)
    for (first, second), where in places.items():
        if first == mine:
            yield links[second], where
        elif second == mine:
            yield links[first], where.turned()


def _places(ctx: Context, interface_id: str) -> dict[tuple[int, int], Places]:
    links = pair_links(ctx, interface_id)
    if len(links) < 2:
        return {}
    pieces, drawn = _drawn(ctx, links)
    found: dict[tuple[int, int], list[Places]] = {}
    for layer, reach in _reach_mm(ctx).items():
        rows = np.flatnonzero(pieces.layer == layer)
        here, along = pieces.where(rows), drawn.where(rows)
        one, other, gap = next_to(here, along.link, reach)
        couples = np.column_stack([along.link[one], along.link[other]])
        for couple in np.unique(couples, axis=0):
            mine = np.flatnonzero(np.all(couples == couple, axis=1))
            kept = mine[_facing(here, along, one[mine], gap[mine])]
            where = _of_couple(here, along, (one[kept], other[kept]), gap[kept])
            found.setdefault((int(couple[0]), int(couple[1])), []).append(where)
    return {couple: Places.joined(parts) for couple, parts in found.items()}


def _reach_mm(ctx: Context) -> dict[int, float]:
    """Return how far neighbours count on each layer."""
    paths = ReturnPaths(ctx)
    found: dict[int, float] = {}
    for part in paths.referenced:
        if part.planes:
            height = min(paths.height_mm(part.layer, plane) for plane in part.planes)
            found[part.layer] = max(found.get(part.layer, 0.0), REACH_HEIGHTS * height)
    return found


def _facing(pieces: TrackPieces, drawn: _Drawn, one: Ints, gap: Floats) -> Ints:
    """Return which rows of a couple count: of each piece the nearest, of both traces the nearer one at each place."""
    nearest = first_of_each(np.lexsort((gap, one)), one)
    at, legs, gaps = one[nearest], drawn.leg[one[nearest]], gap[nearest]
    place = pieces.x_mm[at] + 1j * pieces.y_mm[at]
    kept = np.ones(len(nearest), dtype=np.bool_)
    for leg in (0, 1):
        mine, its = np.flatnonzero(legs == leg), np.flatnonzero(legs != leg)
        if not len(its):
            continue
        is_there = np.abs(place[mine, None] - place[None, its]) <= SAME_PLACE_MM
        least = np.where(is_there, gaps[None, its], np.inf).min(axis=1)
        kept[mine] = (gaps[mine] < least) | ((gaps[mine] == least) & (leg == 0))
    return nearest[kept]


def _of_couple(pieces: TrackPieces, drawn: _Drawn, rows: tuple[Ints, Ints], gap: Floats) -> Places:
    one, other = rows
    away = (pieces.x_mm[one] - pieces.x_mm[other]) + 1j * (pieces.y_mm[one] - pieces.y_mm[other])
    return Places(
        leg=drawn.leg[one],
        other_leg=drawn.leg[other],
        at_mm=drawn.at_mm[one],
        other_at_mm=drawn.at_mm[other] + (away * drawn.forward[other].conj()).real,
        mm=pieces.length_mm[one],
        gap_mm=gap,
        is_opposite=(drawn.forward[one] * drawn.forward[other].conj()).real < 0,
    )


def _drawn(ctx: Context, links: Sequence[LinkLoss]) -> tuple[TrackPieces, _Drawn]:
    """Return all pieces of the paths of links, and where they are on them."""
    rows: list[tuple[int, float, float, bool]] = []
    owners: list[tuple[int, int]] = []
    for number, link in enumerate(links):
        for leg, trace in enumerate(link.traces):
            walked = list(_walked(ctx, trace))
            rows += walked
            owners += [(number, leg)] * len(walked)
    track = np.array([row for row, *_ in rows], dtype=np.int64)
    begins, scale = (np.array([one[k] for one in rows], dtype=np.float64) for k in (1, 2))
    is_turned = np.array([one[3] for one in rows], dtype=np.bool_)
    of = np.array(owners, dtype=np.int64).reshape(-1, 2)
    pieces = pieces_of(ctx.board, track)
    row = np.cumsum(pieces.part == 0) - 1
    share = (pieces.part + 0.5) / np.bincount(row)[row]
    share = np.where(is_turned[row], 1 - share, share)
    length = ctx.board.tracks.length_mm[track] * scale
    forward = np.where(is_turned[row], -pieces.direction, pieces.direction)
    return pieces, _Drawn(of[row, 0], of[row, 1], begins[row] + share * length[row], forward)


def _walked(ctx: Context, trace: Link) -> Iterator[tuple[int, float, float, bool]]:
    """Yield the tracks of a path: row, where it begins, its length on the path of its own, and if it is walked back."""
    board, done = ctx.board, 0.0
    for route in complete_routes(ctx, trace):
        begins = done
        pads = board.pads
        here = 0j if route.start_pad is None else complex(pads.x_mm[route.start_pad], pads.y_mm[route.start_pad])
        for piece in route.pieces:
            rows = list(piece.tracks)
            scale = piece.length_mm / max(float(board.tracks.length_mm[rows].sum()), 1e-9)
            at = begins
            for row in rows:
                first, last = _ends(board, row)
                is_turned = abs(last - here) < abs(first - here)
                here = first if is_turned else last
                yield row, at, scale, is_turned
                at += scale * float(board.tracks.length_mm[row])
            begins += piece.length_mm
        done += route.path_length_mm


def _ends(board: Board, row: int) -> tuple[complex, complex]:
    tracks = board.tracks
    first = complex(tracks.start_x_mm[row], tracks.start_y_mm[row])
    return first, complex(tracks.end_x_mm[row], tracks.end_y_mm[row])
