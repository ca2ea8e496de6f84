"""The copper of drawn shapes, whatever they are and however many are asked for at once."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from stackup_lib.board.board import Board, Drawings
from stackup_lib.copper.drawn_shorts import drawn_area, drawn_areas
from stackup_lib.kicad import read_board
from tests.support.boards import board_file

Shape = tuple[str, int, float, list[tuple[float, float]]]
"""Name, whether it is filled, width of the pen, and points."""

SHAPES: tuple[Shape, ...] = (
    ("dot", 0, 0.2, [(0.0, 0.0)]),
    ("area", 1, 0.0, [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0), (0.0, 0.0)]),
    ("nothing", 0, 0.2, []),
    ("line", 0, 0.2, [(0.0, 0.0), (3.0, 0.0)]),
    ("crossing area", 1, 0.0, [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]),
    ("outline", 0, 0.2, [(5.0, 5.0), (6.0, 5.0), (6.0, 6.0), (5.0, 5.0)]),
)


def board_of(shapes: tuple[Shape, ...]) -> Board:
    """Return a board with these shapes on its first layer."""
    count = len(shapes)
    none = np.zeros(count, dtype=np.int64)
    points = np.array([point for *_, own in shapes for point in own], dtype=np.float64).reshape(-1, 2)
    drawings = Drawings(
        layers=np.ones(count, dtype=np.uint64),
        net=none,
        footprint=none - 1,
        pad=none - 1,
        width_mm=np.array([width for _, _, width, _ in shapes]),
        is_filled=np.array([filled for _, filled, _, _ in shapes], dtype=np.int8),
        start=np.cumsum([0, *(len(own) for *_, own in shapes)]),
        x_mm=points[:, 0],
        y_mm=points[:, 1],
        uuid=np.array([name for name, *_ in shapes], dtype=np.object_),
        offset=none,
    )
    return replace(read_board(board_file("default_stackup")), drawings=drawings)


def test_each_shape_has_its_own_copper() -> None:
    """A dot is a disc of its pen, an area is filled, one that crosses itself as well, and no points are no copper."""
    areas = dict(zip((name for name, *_ in SHAPES), drawn_areas(board_of(SHAPES), np.arange(len(SHAPES))), strict=True))

    assert areas["dot"].area == pytest.approx(pi * 0.01, rel=1e-3)
    assert areas["area"].area == pytest.approx(2.0)
    assert areas["nothing"].is_empty
    assert areas["line"].area == pytest.approx(3 * 0.2 + pi * 0.01, rel=1e-3)
    assert areas["crossing area"].area == pytest.approx(0.5)
    assert areas["outline"].area < 0.2 * (2 + 2**0.5 + 0.4)


def test_many_are_as_one_by_one() -> None:
    """In any order, and none at all."""
    board, order = board_of(SHAPES), np.array([5, 0, 3, 2, 4, 1, 3])

    assert [one.wkb for one in drawn_areas(board, order)] == [drawn_area(board, row).wkb for row in order.tolist()]
    assert len(drawn_areas(board, order[:0])) == 0
