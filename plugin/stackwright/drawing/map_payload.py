"""The map as text in a page, for the script that draws it: JSON, packed where that is worth it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Sequence

from stackwright.drawing.board_map import BoardMap
from stackwright.drawing.map_links import LinkShape
from stackwright.drawing.map_pins import Pin, colour_of, legend
from stackwright.text.words import clean

LARGE = 40_000
"""Characters from which on the text is packed."""


def payload(drawn: BoardMap, pins: Iterable[Pin], links: Iterable[tuple[str, LinkShape]] = ()) -> str:
    """Return what is drawn, as text that can stand in any element: JSON, or base64 of its deflated bytes."""
    titles = legend(drawn)
    colours = [*(colour_of(title, titles) for title in titles), ""]
    place = {title: index for index, title in enumerate((*titles, ""))}
    scene = {
        "box": [drawn.left, drawn.top, drawn.width, drawn.height],
        "outline": drawn.outline,
        "layers": [clean(name) for name in drawn.layers],
        "colours": colours,
        "tracks": [[place[one.title], one.layer, one.width, one.ends] for one in drawn.tracks],
        "holes": drawn.holes.discs,
        "pads": drawn.pads.boxes,
        "parts": [[clean(p.reference), p.side, p.left, p.top, p.width, p.height, p.yards] for p in drawn.parts],
        "grid": drawn.planes.step,
        "planes": drawn.planes.fills,
        "places": [_place(pin) for pin in pins],
        "links": [{"id": ident, "sev": "", "box": one.box, "lines": one.lines} for ident, one in links],
    }
    text = json.dumps(scene, separators=(",", ":"), ensure_ascii=True)
    if len(text) <= LARGE:
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


def _place(pin: Pin) -> dict[str, object]:
    merged: dict[str, Sequence[object]] = {
        "discs": [group for one in pin.objects for group in one.shapes.discs],
        "boxes": [group for one in pin.objects for group in one.shapes.boxes],
        "lines": [group for one in pin.objects for group in one.shapes.lines],
        "points": [one.points for one in pin.objects if one.points],
    }
    shown = {name: groups for name, groups in merged.items() if groups}
    return {"id": pin.id, "n": pin.number, "sev": pin.severity, "at": [pin.x, pin.y], "box": pin.box, **shown}
