"""Graphics on copper as KiCad draws them: every shape, filled or not, turned and on both sides."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from tests.support.kicad.kicad_facts import compare
from tests.support.kicad.kicad_python import kicads_facts
from tests.support.mini import mini_file

pytestmark = pytest.mark.pcbnew

Point = tuple[float, float]
SHAPES = ("line", "arc", "circle", "rect", "poly", "curve")
COUNT = 20
"""Boards' and footprints' graphics of each shape."""

TURNS_DEG = (0, 90, 180, 270, 33.7, -120.25)


def written(name: str, point: Point) -> str:
    return f"({name} {point[0]:.4f} {point[1]:.4f})"


def random_shape(rng: random.Random, shape: str, at: Point) -> str:
    """What stands in a graphic of that shape, around a point."""
    a, b, c, d = ((at[0] + rng.uniform(-1.6, 1.6), at[1] + rng.uniform(-1.6, 1.6)) for _ in range(4))
    filled = rng.choice(["yes", "no"])
    pen = f"(stroke (width {rng.choice([0.05, 0.1, 0.2, 0.4])}) (type solid))"
    if shape == "line":
        return f"{written('start', a)} {written('end', b)} {pen}"
    if shape == "arc":
        radius, first, sweep = rng.uniform(0.3, 1.5), rng.uniform(0, 6.28), rng.choice([-1, 1]) * rng.uniform(0.2, 5.8)
        ends = (
            (name, (at[0] + radius * math.cos(turn), at[1] + radius * math.sin(turn)))
            for name, turn in (("start", first), ("mid", first + sweep / 2), ("end", first + sweep))
        )
        return " ".join(written(*end) for end in ends) + f" {pen}"
    if shape == "circle":
        return f"{written('center', a)} {written('end', (a[0] + rng.uniform(0.1, 1.0), a[1]))} {pen} (fill {filled})"
    if shape == "rect":
        corner = rng.choice(["", f"(radius {rng.uniform(0.05, 0.4):.3f})"])
        return f"{written('start', a)} {written('end', b)} {corner} {pen} (fill {filled})"
    if shape == "poly":
        if filled == "yes" and rng.random() < 0.5:
            pen = "(stroke (width 0) (type solid))"
        return f"(pts {written('xy', a)} {written('xy', b)} {written('xy', c)}) {pen} (fill {filled})"
    return f"(pts {written('xy', a)} {written('xy', b)} {written('xy', c)} {written('xy', d)}) {pen}"


def graphics(rng: random.Random) -> list[str]:
    """Graphics of the board with a net, and footprints with one graphic each, apart: KiCad passes on nets by touch."""
    found: list[str] = []
    for shape in SHAPES:
        for _ in range(COUNT):
            layer = rng.choice(["F.Cu", "B.Cu"])
            uuids = [f'(uuid "00000000-0000-4000-8000-{2 * len(found) + k:012d}")' for k in range(2)]
            inside = random_shape(rng, shape, (rng.uniform(55, 75), rng.uniform(55, 105)))
            found.append(f'(gr_{shape} {inside} (layer "{layer}") (net "GND") {uuids[0]})')
            inside = random_shape(rng, shape, (0.0, 0.0))
            place = f"(at {rng.uniform(85, 105):.4f} {rng.uniform(55, 105):.4f} {rng.choice(TURNS_DEG)})"
            child = f'(fp_{shape} {inside} (layer "{layer}") {uuids[0].replace("-4000-", "-4001-")})'
            found.append(f'(footprint "G" (layer "{layer}") {uuids[1]} {place} (attr smd) {child})')
    return found


@pytest.mark.parametrize("seed", range(3))
def test_drawn_copper_is_where_kicad_has_it(seed: int, tmp_path: Path) -> None:
    """Layer, net, box and area of 240 graphics; one that is moved by 0.05 mm would be seen."""
    pads = [{"number": "1", "net": "GND", "size_mm": [0.5, 0.5]}]
    parts = [{"reference": "J1", "at_mm": [5, 5], "pads": pads}]
    path = mini_file(tmp_path, {"size_mm": [60, 60], "copper_layers": 2, "stackup": "default", "parts": parts}, "b")
    text = path.read_text(encoding="utf-8").rstrip().removesuffix(")")
    path.write_text(text + "\n".join(graphics(random.Random(seed))) + ")\n", encoding="utf-8")  # noqa: S311
    facts = kicads_facts(path)
    board = read_board(path)
    found = compare(board, facts)
    assert found.mismatches == []
    assert found.values["drawn area"] == 2 * COUNT * len(SHAPES)

    board.drawings.x_mm[:] += 0.05
    assert any(line.startswith("drawn box") for line in compare(board, facts).mismatches)
