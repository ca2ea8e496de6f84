"""Changes of the stored fills of zones: slots, and the room that new copper takes when zones are filled again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.kicad.write.spans import Edit, EditSpan, length_text
from tests.corpus.seeds.ground import Ground, Point

if TYPE_CHECKING:
    import shapely

AROUND_MM = 0.25
"""Clearance that is cut around new copper."""
SLIVER_MM2 = 1e-4


def slot(middle: np.ndarray, along: np.ndarray, width_mm: float, reach_mm: float) -> shapely.Polygon:
    """A rectangle across a line: `width_mm` along it, `reach_mm` to both sides."""
    from shapely import Polygon

    one = along / np.hypot(*along) * width_mm / 2
    other = np.array([one[1], -one[0]]) / np.hypot(*one) * reach_mm
    return Polygon([middle + one + other, middle + one - other, middle - one - other, middle - one + other])


def around(path: Sequence[Point], width_mm: float) -> shapely.Polygon:
    """The room that a track needs, or, with one point, a via."""
    from shapely import LineString, Point

    line = LineString(path) if len(path) > 1 else Point(path[0])
    grown: shapely.Polygon = line.buffer(width_mm / 2 + AROUND_MM)
    return grown


def cut_fills(ground: Ground, shapes: Mapping[int, shapely.Geometry], *, but_net: int | None = None) -> list[Edit]:
    """Take shapes out of the fills on their layers, but for those of one net; [] where no fill lies there."""
    from shapely import Polygon, make_valid

    zones = ground.board.zones
    layers = {ground.board.copper_layers[layer].name: shape for layer, shape in shapes.items()}
    edits: list[Edit] = []
    for zone in np.flatnonzero((zones.is_rule_area == 0) & (zones.net != (-1 if but_net is None else but_net))):
        item = ground.item(int(zones.offset[zone]))
        own = item.find("layer") or item.find("layers")
        for part in item.lists("filled_polygon"):
            here, points = part.find("layer") or own, part.find("pts")
            shape = layers.get(here.word(1)) if here is not None else None
            if shape is None or points is None or any(inner.head != "xy" for inner in points.lists()):
                continue
            polygon = make_valid(Polygon([_xy(inner) for inner in points.lists("xy")]))
            if not polygon.intersects(shape):
                continue
            text = ground.data[part.start : part.end].decode("utf-8", "replace")
            start, end = points.start - part.start, points.end - part.start
            pieces = [text[:start] + _points(piece) + text[end:] for piece in _simple(polygon.difference(shape))]
            edits.append(Edit(part.start, part.end, "\n".join(pieces)))
    return edits


def _xy(item: EditSpan) -> tuple[float, float]:
    return float(item.word(1)), float(item.word(2))


def _points(piece: shapely.Polygon) -> str:
    corners = list(piece.exterior.coords)[:-1]
    return "(pts " + " ".join(f"(xy {length_text(x)} {length_text(y)})" for x, y in corners) + ")"


def _simple(shape: shapely.Geometry) -> Iterator[shapely.Polygon]:
    """Polygons without holes: what has some is cut in two through the first, until none has."""
    from shapely import Polygon, box

    for piece in getattr(shape, "geoms", [shape]):
        if not isinstance(piece, Polygon) or piece.area < SLIVER_MM2:
            continue
        if not piece.interiors:
            yield piece
            continue
        left, top, right, bottom = piece.bounds
        x = piece.interiors[0].centroid.x
        for half in (box(left - 1, top - 1, x, bottom + 1), box(x, top - 1, right + 1, bottom + 1)):
            yield from _simple(piece.intersection(half))
