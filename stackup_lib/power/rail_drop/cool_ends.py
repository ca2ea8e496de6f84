"""Whether tracks outside fills end in wide copper, which keeps their ends cool, and the voltage along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints
from stackup_lib.core.record import entity, record
from stackup_lib.power.network import joined_parts

if TYPE_CHECKING:
    from shapely import Geometry

RELIEF_MM = 0.8
"""Ring of a hole and gap of its thermal relief together are hardly wider: a fill so near is joined to it."""

TOUCH_MM = 0.01
"""Pads and fills so near are joined: outlines of both are drawn with chords."""

WIDE = 20.0
"""A fill is wide copper from this many squares of a track's width on, if it is no less than the tracks that it cools.
A smaller one, such as a teardrop, spreads no more heat than a pad."""


@record
class TrackHole:
    """A hole of the net, the layers that it joins, and the least and largest drop along its barrel in V."""

    x_mm: float
    y_mm: float
    radius_mm: float
    layers: tuple[int, ...]
    low_v: float
    high_v: float


@record
class TrackPad:
    """A pad of the net on its layers; `feeds` or `draws` where the rail's current enters or leaves."""

    area: Geometry
    layers: tuple[int, ...]
    feeds: bool = False
    draws: bool = False


@entity
class TrackGroups:
    """Tracks of all layers as groups that touch, by number.

    Attributes:
        layer, areas: of each group; `width_mm`: of its widest track.
        low_v, high_v: least and largest drop in it; endless and reversed where there is none.
    """

    layer: Ints
    areas: NDArray[np.object_]
    width_mm: Floats
    low_v: Floats
    high_v: Floats


@entity
class TrackEnds:
    """What the groups of tracks are joined to.

    Attributes:
        volts: largest difference within what each group is joined to outside fills, barrels at its ends included.
        divisor: n of the bound V2/(n k rho) on their rise over wide copper: 8 where all current comes from wide copper
            and goes to it, 2 where it does so at one end and pads are the other, 0 where no bound holds.
    """

    volts: Floats
    divisor: Ints


@entity
class _Links:
    """Holes, pads and small fills that may join groups: which touch which, and the largest fill that each meets."""

    link: Ints
    group: Ints
    fill_mm2: Floats


def track_ends(
    groups: TrackGroups,
    holes: Sequence[TrackHole],
    pads: Sequence[TrackPad],
    fills_of: Mapping[int, Sequence[Geometry]],
) -> TrackEnds:
    """Return the voltage along groups of tracks, and which bound by conduction holds for them.

    With a cool end only, the other one being a pad that gives off no heat, copper warms as if it went on beyond that
    pad as its mirror image: twice the voltage between cool ends, four times the rise.

    Args:
        groups: of tracks outside fills.
        holes: those of the net that join layers.
        pads: all of the net.
        fills_of: the net's fills by layer.
    """
    least_mm2 = WIDE * float(groups.width_mm.min()) ** 2
    wide = {layer: [one for one in fills if one.area >= least_mm2] for layer, fills in fills_of.items()}
    small = [TrackPad(one, (layer,)) for layer, fills in fills_of.items() for one in fills if one.area < least_mm2]
    pieces = [*pads, *small]
    links = _links(groups, holes, pieces, wide)
    count = len(groups.areas)
    joins = links.fill_mm2[links.link] == 0
    total = count + len(links.fill_mm2)
    part = joined_parts(links.group[joins], count + links.link[joins], total)[:count]
    size = int(part.max()) + 1
    feeds, draws = _warm_ends(part, links, len(holes), pieces)
    met = _met_fills(groups, links, wide)
    need = np.maximum(WIDE * _most(part, groups.width_mm, size) ** 2, np.bincount(part, _area(groups.areas), size))
    cool = [group for group, fill in met if fill >= need[part[group]]]
    short = [group for group, fill in met if fill < need[part[group]]]
    is_cool, is_short = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    is_cool[part[cool]] = True
    is_short[part[short]] = True
    bound = np.where(feeds | draws, 2, 8)
    bound[~is_cool | is_short | (feeds & draws)] = 0
    return TrackEnds(_span(groups, holes, links, part), bound[part])


def _area(areas: NDArray[np.object_]) -> Floats:
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    return np.asarray(shapely.area(areas))


def _most(part: Ints, values: Floats, size: int) -> Floats:
    found = np.zeros(size)
    np.maximum.at(found, part, values)
    return found


def _links(
    groups: TrackGroups,
    holes: Sequence[TrackHole],
    pieces: Sequence[TrackPad],
    wide: Mapping[int, Sequence[Geometry]],
) -> _Links:
    """Find what touches the groups; holes come first."""
    import shapely  # noqa: PLC0415

    places = [shapely.Point(hole.x_mm, hole.y_mm) for hole in holes]
    shapes = np.array([*places, *(piece.area for piece in pieces)], dtype=object)
    layers = [*(hole.layers for hole in holes), *(piece.layers for piece in pieces)]
    reach = np.array([*(hole.radius_mm for hole in holes), *(TOUCH_MM for _ in pieces)])
    fill_mm2 = np.zeros(len(shapes))
    pairs: list[tuple[Ints, Ints]] = []
    for layer in sorted({*groups.layer.tolist(), *wide}):
        mine = np.array([k for k, on in enumerate(layers) if layer in on], dtype=np.int64)
        here = np.flatnonzero(groups.layer == layer)
        if not len(mine):
            continue
        if len(here):
            tree = shapely.STRtree(groups.areas[here])
            at, group = tree.query(shapes[mine], predicate="dwithin", distance=reach[mine])
            pairs.append((mine[at], here[group]))
        near = np.where(mine < len(holes), RELIEF_MM, TOUCH_MM)
        for fill in wide.get(layer, ()):
            shapely.prepare(fill)
            met = mine[shapely.dwithin(fill, shapes[mine], near)]
            fill_mm2[met] = np.maximum(fill_mm2[met], fill.area)
    empty = np.zeros(0, dtype=np.int64)
    link = np.concatenate([empty, *(one for one, _ in pairs)])
    return _Links(link, np.concatenate([empty, *(group for _, group in pairs)]), fill_mm2)


def _warm_ends(
    part: Ints, links: _Links, hole_count: int, pieces: Sequence[TrackPad]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell for each part whether pads without wide copper feed it, and whether such pads draw from it."""
    found = []
    holes = [False] * hole_count
    for one in ([p.feeds for p in pieces], [p.draws for p in pieces]):
        ends = np.zeros(int(part.max()) + 1, dtype=bool)
        at = np.array([*holes, *one], dtype=bool)[links.link] & (links.fill_mm2[links.link] == 0)
        ends[part[links.group[at]]] = True
        found.append(ends)
    return found[0], found[1]


def _met_fills(groups: TrackGroups, links: _Links, wide: Mapping[int, Sequence[Geometry]]) -> list[tuple[int, float]]:
    """Pairs of a group and the area in mm2 of a fill that it runs into, or that its holes or pads meet."""
    import shapely  # noqa: PLC0415

    at = links.fill_mm2[links.link] > 0
    met = list(zip(links.group[at].tolist(), links.fill_mm2[links.link[at]].tolist(), strict=True))
    for layer, fills in wide.items():
        here = np.flatnonzero(groups.layer == layer)
        for fill in fills if len(here) else ():
            met += [(group, fill.area) for group in here[shapely.intersects(fill, groups.areas[here])].tolist()]
    return met


def _span(groups: TrackGroups, holes: Sequence[TrackHole], links: _Links, part: Ints) -> Floats:
    """Return the largest difference within the part of each group, barrels of its holes included."""
    size = int(part.max()) + 1
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(least, part, groups.low_v)
    np.maximum.at(most, part, groups.high_v)
    at = links.link < len(holes)
    reached = part[links.group[at]]
    np.minimum.at(least, reached, np.array([hole.low_v for hole in holes])[links.link[at]])
    np.maximum.at(most, reached, np.array([hole.high_v for hole in holes])[links.link[at]])
    return np.asarray(np.maximum(most - least, 0.0)[part])
