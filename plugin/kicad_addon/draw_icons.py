"""Draws the icons: a stack of copper and laminate seen from above. Run it after a change here.

usage: python plugin/kicad_addon/draw_icons.py
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent

Colour = tuple[int, int, int]
Point = tuple[float, float]

COPPER: Colour = (224, 122, 38)
COPPER_EDGE: Colour = (168, 82, 16)
LAMINATE = {"light": ((64, 140, 92), (38, 92, 58)), "dark": ((104, 188, 136), (66, 140, 94))}
"""Face and edge on a light and on a dark toolbar."""

SAMPLES = 8
"""Samples per pixel and axis."""

HALF_WIDTH, HALF_DEPTH, STEP, RIM = 11.0, 5.2, 4.6, 2.3
"""Of a sheet, and from one sheet to the next, in units of a picture 24 wide."""

TOP_Y = 6.2


def drawn(size: int, theme: str) -> bytes:
    """Return the icon as PNG: copper, laminate, copper, the lowest first."""
    face, edge = LAMINATE[theme]
    sheets = [(COPPER, COPPER_EDGE), (face, edge), (COPPER, COPPER_EDGE)]
    shapes: list[tuple[list[Point], Colour]] = []
    for index in reversed(range(len(sheets))):
        middle = TOP_Y + index * STEP
        left, right = (12 - HALF_WIDTH, middle), (12 + HALF_WIDTH, middle)
        back, front = (12.0, middle - HALF_DEPTH), (12.0, middle + HALF_DEPTH)
        below = [(x, y + RIM) for x, y in (right, front, left)]
        shapes.append(([left, back, right, *below], sheets[index][1]))
        shapes.append(([left, back, right, front], sheets[index][0]))
    return png(size, [[_pixel(x, y, size, shapes) for x in range(size)] for y in range(size)])


def _pixel(x: int, y: int, size: int, shapes: list[tuple[list[Point], Colour]]) -> tuple[int, int, int, int]:
    """Colour and opacity of a pixel, averaged over its samples; the last shape is on top."""
    hits: list[Colour] = []
    for i in range(SAMPLES * SAMPLES):
        at = (x + (i % SAMPLES + 0.5) / SAMPLES) * 24 / size, (y + (i // SAMPLES + 0.5) / SAMPLES) * 24 / size
        top = next((colour for outline, colour in reversed(shapes) if _inside(at, outline)), None)
        if top is not None:
            hits.append(top)
    if not hits:
        return 0, 0, 0, 0
    red, green, blue = (round(sum(hit[channel] for hit in hits) / len(hits)) for channel in range(3))
    return red, green, blue, round(255 * len(hits) / SAMPLES**2)


def _inside(at: Point, outline: list[Point]) -> bool:
    """Whether a point is in a convex polygon."""
    turns = [
        (x2 - x1) * (at[1] - y1) - (y2 - y1) * (at[0] - x1)
        for (x1, y1), (x2, y2) in zip(outline, [*outline[1:], outline[0]], strict=True)
    ]
    return all(turn >= 0 for turn in turns) or all(turn <= 0 for turn in turns)


def png(size: int, rows: list[list[tuple[int, int, int, int]]]) -> bytes:
    """Return a square picture as PNG (ISO/IEC 15948): 8 bits per channel, with opacity."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    raw = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    head = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def main() -> None:
    """Write every icon."""
    for theme in LAMINATE:
        for size in (24, 48):
            (HERE / "icons" / f"check-{theme}-{size}.png").write_bytes(drawn(size, theme))
    (HERE / "resources" / "icon.png").write_bytes(drawn(64, "light"))


if __name__ == "__main__":
    main()
