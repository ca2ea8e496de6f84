"""Defects of tracks and zones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from stackup_lib.kicad.write.spans import length_text
from tests.corpus.seeds.fills import around, cut_fills
from tests.corpus.seeds.ground import Ground, Kind, Seed, crosswise, set_field

HAIR_MM = 0.04
GAP_MM = 0.03
EDGE_MM = 0.05
PLANE_SHARE = 0.5
SAME_MM = 1e-4
LEAST_EDGE_MM = 4.0


def _narrowed(ground: Ground, row: int, width_mm: float) -> Seed:
    tracks = ground.board.tracks
    item = ground.item(tracks.offset[row])
    start, end = ground.ends(row)
    at = (start + end) / 2
    return Seed(
        edits=(set_field(item, "width", length_text(width_mm)),),
        names=frozenset({str(tracks.uuid[row])}),
        at=(at[0], at[1]),
    )


def fine_outer_track(ground: Ground) -> Iterator[Seed]:
    """An outer track of 0.04 mm."""
    for row in ground.shuffled(ground.track_rows(outer=True), "outer"):
        yield _narrowed(ground, row, HAIR_MM)


def fine_inner_track(ground: Ground) -> Iterator[Seed]:
    """An inner track of 0.04 mm."""
    for row in ground.shuffled(ground.track_rows(outer=False), "inner"):
        yield _narrowed(ground, row, HAIR_MM)


def below_own_minimum(ground: Ground) -> Iterator[Seed]:
    """A track 10 % narrower than Board Setup allows, where no custom rule says otherwise."""
    least, path = ground.board.project.limits.get("min_track_width"), ground.board.path
    if not isinstance(least, float) or not least or path is None or path.with_suffix(".kicad_dru").exists():
        return
    for row in ground.shuffled(ground.track_rows(), "minimum"):
        yield _narrowed(ground, row, 0.9 * least)


def near_another_net(ground: Ground) -> Iterator[Seed]:
    """A track of another net runs 0.03 mm next to a track."""
    for row, like in _two_nets(ground, "clearance"):
        tracks = ground.board.tracks
        start, end = ground.ends(row)
        layer = ground.board.copper_layers[int(tracks.layer[row])].name
        shift = crosswise(start, end) * (float(tracks.width_mm[row]) / 2 + GAP_MM + 0.1)
        middle, along = (start + end) / 2 + shift, (end - start) / np.hypot(*(end - start)) * 0.5
        text, made = ground.track(like, tuple(middle - along), tuple(middle + along), width_mm=0.2, layer=layer)
        nets = ground.board.nets[int(tracks.net[row])], ground.board.nets[int(tracks.net[like])]
        yield Seed(edits=(ground.inserted(text),), names=frozenset({made, *nets}), at=(middle[0], middle[1]))


def across_another_net(ground: Ground) -> Iterator[Seed]:
    """A track of another net crosses a track."""
    for row, like in _two_nets(ground, "short"):
        tracks = ground.board.tracks
        start, end = ground.ends(row)
        layer = ground.board.copper_layers[int(tracks.layer[row])].name
        middle, across = (start + end) / 2, crosswise(start, end) * 0.3
        text, _ = ground.track(like, tuple(middle - across), tuple(middle + across), width_mm=0.15, layer=layer)
        nets = ground.board.nets[int(tracks.net[row])], ground.board.nets[int(tracks.net[like])]
        yield Seed(edits=(ground.inserted(text),), names=frozenset(nets), at=(middle[0], middle[1]))


def _two_nets(ground: Ground, kind: str) -> Iterator[tuple[int, int]]:
    rows = ground.shuffled(ground.track_rows(longer_mm=1.5), kind)
    net = ground.board.tracks.net
    for row in rows:
        other = next((one for one in rows if net[one] != net[row]), None)
        if other is not None:
            yield row, other


def near_the_edge(ground: Ground) -> Iterator[Seed]:
    """A track 0.05 mm from the longest straight piece of the board's edge."""
    tracks, edges = ground.track_rows(longer_mm=1.0, outer=True), _edges(ground)
    if not len(tracks) or not edges:
        return
    like = ground.shuffled(tracks, "edge")[0]
    net = ground.board.nets[int(ground.board.tracks.net[like])]
    outline = ground.board.outline
    centre = np.array([outline.x_mm.min() + outline.x_mm.max(), outline.y_mm.min() + outline.y_mm.max()]) / 2
    for start, end in edges:
        inward = crosswise(start, end)
        inward = inward if np.dot(centre - start, inward) > 0 else -inward
        along = (end - start) / np.hypot(*(end - start))
        middle = start + (end - start) * 0.37 + inward * (EDGE_MM + 0.1)
        ends = [(float(x), float(y)) for x, y in (middle - along, middle + along)]
        text, made = ground.track(like, *ends, width_mm=0.2)
        room = {int(ground.board.tracks.layer[like]): around(ends, 0.2)}
        cut = cut_fills(ground, room, but_net=int(ground.board.tracks.net[like]))
        yield Seed(edits=(*cut, ground.inserted(text)), names=frozenset({made, net}), at=(middle[0], middle[1]))


def _edges(ground: Ground) -> list[tuple[np.ndarray, np.ndarray]]:
    """The straight pieces of the outline that lie on its bounding box, the longest first."""
    outline = ground.board.outline
    found = []
    for first, stop in pairwise(outline.start.tolist()):
        points = np.stack([outline.x_mm[first:stop], outline.y_mm[first:stop]], axis=1)
        for start, end in pairwise([*points, points[0]]):
            for axis, all_of in ((0, outline.x_mm), (1, outline.y_mm)):
                if (
                    abs(start[axis] - end[axis]) < SAME_MM
                    and min(abs(start[axis] - all_of.min()), abs(start[axis] - all_of.max())) < SAME_MM
                ):
                    found.append((float(np.hypot(*(end - start))), start, end))
    return [(start, end) for length, start, end in sorted(found, key=lambda one: -one[0]) if length > LEAST_EDGE_MM]


def via_into_fill(ground: Ground) -> Iterator[Seed]:
    """A signal's via is put into a plane, and the zone is not filled again."""
    zones = ground.board.zones
    tracks = ground.board.tracks
    sizes = np.diff(zones.fill_start)
    for fill in sorted(range(len(sizes)), key=lambda one: -sizes[one])[:6]:
        net = int(zones.net[zones.fill_zone[fill]])
        others = np.flatnonzero((tracks.net > 0) & (tracks.net != net))
        if not net or not len(others):
            continue
        part = slice(int(zones.fill_start[fill]), int(zones.fill_start[fill + 1]))
        at = _inside(zones.fill_x_mm[part], zones.fill_y_mm[part], ground.chance(f"fill {fill}"))
        if at is None:
            continue
        like = ground.shuffled(others, "fill")[0]
        text, made = ground.via(ground.net_words(int(tracks.offset[like])), at)
        yield Seed(edits=(ground.inserted(text),), names=frozenset({made, ground.board.nets[net]}), at=at)


def _inside(x: np.ndarray, y: np.ndarray, chance: object) -> tuple[float, float] | None:
    """A point of a polygon, half a millimetre from its edge."""
    from shapely import Point, Polygon

    polygon = Polygon(np.stack([x, y], axis=1)).buffer(-0.5)
    if polygon.is_empty:
        return None
    left, top, right, bottom = polygon.bounds
    for _ in range(200):
        at = chance.uniform(left, right), chance.uniform(top, bottom)  # type: ignore[attr-defined]
        if polygon.contains(Point(at)):
            return float(at[0]), float(at[1])
    return None


def bare_layer(ground: Ground) -> Iterator[Seed]:
    """The zones of an inner plane are deleted; its mirror stays a plane."""
    board, last = ground.board, ground.board.layer_count - 1
    shares = [_filled_share(ground, layer) for layer in range(last + 1)]
    for layer in ground.shuffled(range(1, last), "balance"):
        here = (board.zones.layers == np.uint64(1) << np.uint64(layer)) & (board.zones.is_rule_area == 0)
        if here.any() and min(shares[layer], shares[last - layer]) > PLANE_SHARE:
            edits = tuple(ground.removed(int(offset)) for offset in board.zones.offset[here])
            yield Seed(edits=edits, names=frozenset({board.copper_layers[layer].name}))


def _filled_share(ground: Ground, layer: int) -> float:
    """How much of the board's bounding box the fills cover that belong to this layer alone."""
    zones, outline = ground.board.zones, ground.board.outline
    if not len(outline.x_mm):
        return 0.0
    area = 0.0
    for fill in np.flatnonzero(zones.fill_layer == layer):
        if zones.layers[zones.fill_zone[fill]] != np.uint64(1) << np.uint64(layer):
            continue
        part = slice(int(zones.fill_start[fill]), int(zones.fill_start[fill + 1]))
        x, y = zones.fill_x_mm[part], zones.fill_y_mm[part]
        area += abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2
    return area / float(np.ptp(outline.x_mm) * np.ptp(outline.y_mm))


KINDS = (
    Kind(name="outer track of 0.04 mm", rules=("FAB006",), make=fine_outer_track),
    Kind(name="inner track of 0.04 mm", rules=("CUP002",), make=fine_inner_track, needs_stackup=True),
    Kind(name="track below the board's own minimum", rules=("FAB020",), make=below_own_minimum),
    Kind(name="0.03 mm between tracks of two nets", rules=("FAB013", "FAB015"), make=near_another_net),
    Kind(name="track across a track of another net", rules=("FAB015",), make=across_another_net),
    Kind(name="track 0.05 mm from the edge", rules=("FAB018",), make=near_the_edge),
    Kind(name="via of another net in an old fill", rules=("FAB014",), make=via_into_fill),
    Kind(name="planes of one inner layer deleted", rules=("CUP003",), make=bare_layer),
)
