"""Corners of zones and fills: the numbers that the file states, however they are written."""

from __future__ import annotations

import numpy as np
import pytest

from stackup_lib.kicad.read.items.zones import polygon
from stackup_lib.kicad.syntax.tree import MalformedError


def _corners(text: str) -> list[list[float]]:
    data = f'(filled_polygon (layer "F.Cu") (pts {text}))'.encode()
    layer, corners = polygon(data, 0, len(data))
    assert layer == "F.Cu"
    return [[float(x), float(y)] for x, y in corners]


def test_corners_are_the_nearest_doubles() -> None:
    rng = np.random.default_rng(3)
    words = [f"{rng.uniform(-300, 300):.{places}f}" for places in (0, 3, 6, 9, 15, 20) for _ in range(500)]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    assert _corners(" ".join(f"(xy {x} {y})" for x, y in pairs)) == [[float(x), float(y)] for x, y in pairs]


@pytest.mark.parametrize(("x", "is_value"), [("+1.5", 1.5), ("01.5", 1.5), (".5", 0.5), ("-.5", -0.5), ("7.", 7.0)])
def test_unusual_spellings_are_read(x: str, is_value: float) -> None:
    assert _corners(f"(xy {x} 2) (xy 3 4)\n\t(xy 5 6)") == [[is_value, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("x", ["9" * 400, "1-2", "--1", "1.2.3", "", "1e", "99999999999"])
def test_what_is_no_number_of_a_board_is_refused(x: str) -> None:
    with pytest.raises(MalformedError):
        _corners(f"(xy {x} 2)")


def test_a_polygon_without_corners_has_none() -> None:
    assert _corners("") == []
