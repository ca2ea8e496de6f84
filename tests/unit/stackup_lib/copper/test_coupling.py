"""Width and gap of a pair are those of the copper, piece by piece."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board
from stackup_lib.copper.coupling import PairGeometry, pair_geometry, pieces_of
from stackup_lib.kicad import read_board
from tests.support.mini import mini_board, mini_file


def mini(folder: Path, text: str) -> Board:
    return mini_board(folder, tomllib.loads("copper_layers = 2\n" + text))


def of_pair(board: Board) -> PairGeometry:
    return pair_geometry(board, board.net_index["/D_P"], board.net_index["/D_N"])


def lengths(found: PairGeometry) -> dict[float | None, float]:
    """Gap in um (None where alone) -> length of both nets."""
    sums: dict[float | None, float] = {}
    for gap, length in zip(found.gap_mm.tolist(), found.pieces.length_mm.tolist(), strict=True):
        key = None if np.isnan(gap) else round(gap * 1000)
        sums[key] = sums.get(key, 0.0) + length
    return sums


def test_a_straight_pair_has_its_drawn_gap_all_along(tmp_path: Path) -> None:
    """20 mm of 0.12/0.15: nothing is alone, nothing is off."""
    board = mini(tmp_path, 'pairs = [{ nets = ["/D_P", "/D_N"], layer = "F.Cu", path_mm = [[10, 10], [30, 10]] }]')

    assert lengths(of_pair(board)) == pytest.approx({150: 40.0})


def test_where_one_trace_swings_out_the_gap_grows_and_it_is_alone(tmp_path: Path) -> None:
    """0.27 mm between centres, then 1.27; the cross-over piece has no parallel complement."""
    board = mini(
        tmp_path,
        """tracks = [
  { net = "/D_P", layer = "F.Cu", width_mm = 0.12, path_mm = [[10, 10], [30, 10]] },
  { net = "/D_N", layer = "F.Cu", width_mm = 0.12, path_mm = [[10, 10.27], [20, 10.27], [20, 11.27], [30, 11.27]] },
]""",
    )

    found = lengths(of_pair(board))

    assert found[150] == pytest.approx(20.0)
    assert found[1150] == pytest.approx(20.0)
    assert found[None] == pytest.approx(1.0)


def test_a_pair_that_is_not_routed_has_no_gaps(tmp_path: Path) -> None:
    """Nets with pads and without tracks: nothing to measure, and no mistake."""
    pads = '[{ number = "1", net = "/D_P" }, { number = "2", net = "/D_N", at_mm = [1, 0] }]'
    board = mini(tmp_path, f'parts = [{{ reference = "U1", at_mm = [10, 10], pads = {pads} }}]')

    assert lengths(of_pair(board)) == {}


def test_the_partner_on_another_layer_is_no_partner(tmp_path: Path) -> None:
    """Broadside copper is not an edge-coupled gap."""
    board = mini(
        tmp_path,
        """tracks = [
  { net = "/D_P", layer = "F.Cu", path_mm = [[10, 10], [20, 10]] },
  { net = "/D_N", layer = "B.Cu", path_mm = [[10, 10.3], [20, 10.3]] },
]""",
    )

    assert lengths(of_pair(board)) == pytest.approx({None: 20.0})


def test_a_pair_in_an_arc_keeps_its_gap(tmp_path: Path) -> None:
    """Concentric quarter circles of 5.0 and 5.3 mm with 0.15 mm traces: 0.15 mm, within what the chords leave."""
    path = mini_file(tmp_path, {"copper_layers": 2, "tracks": []})
    arcs = ""
    for net, radius in (("/D_P", 5.0), ("/D_N", 5.3)):
        middle = radius * 2**-0.5
        arcs += (
            f"  (arc (start {20 + radius} 20) (mid {20 + middle} {20 + middle}) (end 20 {20 + radius}) "
            f'(width 0.15) (layer "F.Cu") (net "{net}"))\n'
        )
    text = path.read_text(encoding="utf-8").rstrip()
    path.write_text(text[: text.rindex(")")] + arcs + ")\n", encoding="utf-8")
    board = read_board(path)

    found = of_pair(board)

    assert len(found.pieces) == 16
    assert found.pieces.length_mm.sum() == pytest.approx(np.pi / 2 * 10.3, rel=1e-6)
    assert found.gap_mm == pytest.approx(np.full(16, 0.15), abs=0.01)


def test_pieces_of_an_arc_lie_on_its_circle_also_the_long_way_round(tmp_path: Path) -> None:
    """Three quarters of a circle of 4 mm: every piece's middle is on the circle and the way passes the middle."""
    path = mini_file(tmp_path, {"copper_layers": 2})
    text = path.read_text(encoding="utf-8").rstrip()
    arc = '  (arc (start 24 20) (mid 17.17157 22.82843) (end 20 16) (width 0.15) (layer "F.Cu") (net "/A"))\n'
    path.write_text(text[: text.rindex(")")] + arc + ")\n", encoding="utf-8")
    board = read_board(path)

    pieces = pieces_of(board, np.array([0]))

    radius = np.abs(pieces.x_mm - 20 + 1j * (pieces.y_mm - 20))
    assert radius == pytest.approx(np.full(8, 4.0), rel=1e-5)
    assert pieces.length_mm.sum() == pytest.approx(1.5 * np.pi * 4, rel=1e-4)
    assert (pieces.x_mm < 18).any() and (pieces.y_mm > 22).any()


@pytest.mark.parametrize(("length_mm", "count"), [(62_000, 62_000), (1e6, 200_100), (1e9, 200_100)])
def test_a_track_of_a_thousand_kilometres_fills_no_memory(length_mm: float, count: int, tmp_path: Path) -> None:
    """Pieces are a millimetre on boards that can be built, and longer where the file holds what cannot."""
    board = mini(tmp_path, 'tracks = [{ net = "/A", layer = "F.Cu", path_mm = [[10, 10], [20, 10]] }]')
    assert len(pieces_of(board, np.arange(1))) == 10
    far = replace(board.tracks, length_mm=np.array([length_mm]))

    assert len(pieces_of(replace(board, tracks=far), np.arange(1))) == count
