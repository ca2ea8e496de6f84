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


LAYOUTS = {
    "as KiCad 8 and later": " (xy {} {})",
    "line by line, with tabs": "\n\t\t\t(xy {} {})",
    "line by line, with spaces": "\n      (xy {} {})",
    "as Windows ends lines": "\r\n\t(xy {} {})",
    "without a space": "(xy {} {})",
    "with spaces everywhere": "  ( xy  {}  {}  )  ",
    "a number on each line": " (xy\n{}\n{}\n)",
    "with tabs": "\t(xy\t{}\t{})",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_of_the_file_gives_the_same_corners(layout: str) -> None:
    rng = np.random.default_rng(4)
    corners = np.round(rng.uniform(-300, 300, (50, 2)), 6).tolist()
    text = "".join(LAYOUTS[layout].format(x, y) for x, y in corners)
    assert _corners(text) == corners
    half = len(corners) // 2
    mixed = "".join(LAYOUTS["as KiCad 8 and later"].format(x, y) for x, y in corners[:half])
    assert _corners(mixed + "".join(LAYOUTS[layout].format(x, y) for x, y in corners[half:])) == corners


@pytest.mark.parametrize("text", ["(xy 1)", "(xy 1 2) (xy 3)", "(xy 12)\n(xy 3 4)", "(xy 1\n)\n(xy 2 3)"])
def test_a_corner_has_two_numbers(text: str) -> None:
    """Nowhere do two numbers become one, nor one of them a part of the next corner."""
    with pytest.raises(MalformedError):
        _corners(text)


def test_a_third_number_of_a_corner_is_not_read() -> None:
    assert _corners("(xy 1 2 3)") == _corners("(xy 1\n2 3)") == [[1, 2]]
