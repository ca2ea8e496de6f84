"""Points in the fills of a layer, all at once: the same as fill by fill."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from stackup_lib.copper.fill_edges import rows_in_fills, rows_inside

SQUARES = [(1, shapely.box(0, 0, 4, 4)), (2, shapely.box(3, 1, 9, 2)), (1, shapely.box(20, 20, 21, 21))]
WITH_A_SLIT = (3, shapely.Polygon([(0, 5), (6, 5), (6, 9), (3, 9), (3, 7), (3, 9), (0, 9)]))


@pytest.fixture
def fills() -> list[tuple[int, shapely.Polygon]]:
    found = [*SQUARES, WITH_A_SLIT]
    shapely.prepare([fill for _, fill in found])
    return found


def test_each_fill_has_the_points_that_it_has_alone(fills: list[tuple[int, shapely.Polygon]]) -> None:
    rng = np.random.default_rng(5)
    x, y = np.round(rng.uniform(-1, 10, (2, 400)), 1)  # many lie on an edge, or beside a fill at its height
    found = dict(rows_in_fills(fills, x, y))
    for k, (_, fill) in enumerate(fills):
        alone = rows_inside(fill, x, y)
        assert found.get(k, alone[:0]).tolist() == alone.tolist()
    assert len(found[0]) and len(found[1]) and len(found[3])
    assert 2 not in found


def test_points_are_not_looked_for_in_fills_of_their_own_net(fills: list[tuple[int, shapely.Polygon]]) -> None:
    x, y = np.array([3.5, 3.5, 3.5, 50.0]), np.array([1.5, 1.5, 1.5, 1.5])
    found = {k: rows.tolist() for k, rows in rows_in_fills(fills, x, y, np.array([1, 2, 3, 3]))}
    assert found == {0: [1, 2], 1: [0, 2]}


def test_a_point_on_a_slit_is_in_the_fill_only_with_its_edge(fills: list[tuple[int, shapely.Polygon]]) -> None:
    """The slit runs from the upper edge down to (3, 7), with copper on both sides; (3, 6) lies below it."""
    x, y = np.array([3.0, 3.0, 0.0, 7.0]), np.array([8.0, 6.0, 7.0, 7.0])
    _, slit = fills[3]
    assert rows_inside(slit, x, y).tolist() == [1]
    assert rows_inside(slit, x, y, with_edge=True).tolist() == [0, 1, 2]
    assert dict(rows_in_fills(fills, x, y))[3].tolist() == [1]
    assert dict(rows_in_fills(fills, x, y, with_edge=True))[3].tolist() == [0, 1, 2]


def test_neither_points_nor_fills_give_nothing(fills: list[tuple[int, shapely.Polygon]]) -> None:
    assert not list(rows_in_fills([], np.array([1.0]), np.array([1.0])))
    assert not list(rows_in_fills(fills, np.zeros(0), np.zeros(0)))
    assert not list(rows_in_fills(fills, np.array([np.nan]), np.array([1.0])))


@pytest.mark.parametrize("degrees", [0, 17, 30, 45, 90])
def test_a_point_on_an_edge_stays_on_it_when_both_are_turned_and_rounded(degrees: int) -> None:
    """To whole nanometres, as KiCad stores them; a point ten of them away is outside."""
    turn = np.exp(1j * np.radians(degrees))
    corners = np.array([0, 10, 10 + 7j, 7j]) * turn
    fill = shapely.Polygon(np.round(np.stack([corners.real, corners.imag], axis=1), 6))
    on_edge = (10 + 1j * np.linspace(0.5, 6.5, 31)) * turn
    beyond = (10 + 1e-5 + 1j * np.linspace(0.5, 6.5, 31)) * turn

    assert len(rows_inside(fill, np.round(on_edge.real, 6), np.round(on_edge.imag, 6), with_edge=True)) == 31
    assert not len(rows_inside(fill, np.round(beyond.real, 6), np.round(beyond.imag, 6), with_edge=True))
