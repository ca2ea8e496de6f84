"""Layers on which a plated hole has no pad: its wall is copper all the same, and a pad that a fill keeps is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely

from stackup_lib.board.board import Board
from stackup_lib.copper.clearances import SpaceFinder
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.cuts.cut_gaps import cut_gaps
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.kicad import read_board
from tests.support.mini import mini_board, mini_file

BOARD = {"size_mm": [60, 40], "copper_layers": 4, "stackup": "default"}
VIA = {"net": "/V", "at_mm": [10, 10], "size_mm": 0.6, "drill_mm": 0.3, "remove_unused": True}


def shorts(board: Board, layer: int) -> list[tuple[str, float]]:
    """The other nets that vias reach into on a layer, and how far."""
    reach = (0.1,) * board.layer_count
    found = SpaceFinder(CopperMap(board), reach, PostFills(CopperMap(board), 0.25, reach)).shorts(layer)
    nets = [(int(found.one.net[k]), int(found.other.net[k])) for k in range(len(found))]
    named = ["+".join(sorted(board.nets[net] for net in pair)) for pair in nets]
    return [(name, round(float(-gap), 4)) for name, gap in zip(named, found.gap_mm, strict=True)]


def without_end_pads(board: Board) -> Board:
    return replace(board, vias=replace(board.vias, keep_end=np.zeros_like(board.vias.keep_end)))


def test_the_wall_of_a_via_counts_where_its_end_pad_is_left_out(tmp_path: Path) -> None:
    """A wall of 0.15 mm and a track of 0.2 mm whose middle is 0.1 mm away: 0.15 mm of it; from 0.25 mm on none."""
    tracks = [{"net": "/B", "layer": "B.Cu", "width_mm": 0.2, "path_mm": [[5, 10.1], [15, 10.1]]}]
    board = mini_board(tmp_path, {**BOARD, "vias": [VIA], "tracks": tracks})
    away = replace(board.tracks, start_y_mm=board.tracks.start_y_mm + 0.16, end_y_mm=board.tracks.end_y_mm + 0.16)

    assert shorts(without_end_pads(board), 3) == [("/B+/V", 0.15)]
    assert shorts(without_end_pads(replace(board, tracks=away)), 3) == []
    assert shorts(board, 3) == [("/B+/V", 0.2)]  # where it is kept the track lies in the pad, whole


def test_walls_meet_what_shapely_says_that_they_meet(tmp_path: Path) -> None:
    """40 vias without pads on B.Cu and 80 tracks at all angles: the pairs, and the deepest by their areas."""
    chance = np.random.default_rng(3)
    places = chance.uniform(5, 15, (40, 2)).round(3)
    ends = np.concatenate(
        [(start := chance.uniform(5, 15, (80, 2)).round(3)), start + chance.uniform(-1, 1, (80, 2))], 1
    )
    table = {
        "vias": [{**VIA, "net": f"/V{k}", "at_mm": place} for k, place in enumerate(places.tolist())],
        "tracks": [
            {"net": f"/T{k}", "layer": "B.Cu", "width_mm": 0.15, "path_mm": [row[:2], row[2:]]}
            for k, row in enumerate(ends.round(3).tolist())
        ],
    }
    board = without_end_pads(mini_board(tmp_path, {**BOARD, **table}))
    discs = {f"/V{k}": shapely.Point(place).buffer(0.15, quad_segs=64) for k, place in enumerate(places.tolist())}
    lines = {
        f"/T{k}": shapely.LineString([row[:2], row[2:]]).buffer(0.075, quad_segs=64)
        for k, row in enumerate(ends.round(3).tolist())
    }
    expected = {
        f"{track}+{via}": shapely.intersection(disc, line).area
        for via, disc in discs.items()
        for track, line in lines.items()
        if shapely.intersection(disc, line).area > 1e-3
    }

    found = {names for names, _ in shorts(board, 3) if "/V" in names and "/T" in names}

    assert len(expected) > 10
    assert expected.keys() <= found
    assert all(shapely.dwithin(discs[n.split("+")[1]], lines[n.split("+")[0]], 1e-3) for n in found)


def test_a_slot_without_a_pad_on_a_layer_counts_along_its_length(tmp_path: Path) -> None:
    """A slot of 3 by 1 mm: a track across its end is met 1.4 mm from the middle, not 1.7 mm from it."""
    pad = {"number": "1", "net": "/V", "kind": "through", "size_mm": [4, 2], "slot_mm": [3, 1], "layers": ["F.Cu"]}
    found = []
    for x in (11.4, 11.7):
        track = {"net": "/B", "layer": "B.Cu", "width_mm": 0.2, "path_mm": [[x, 5], [x, 15]]}
        part = {"reference": "J1", "at_mm": [10, 10], "pads": [pad]}
        board = mini_board(tmp_path / str(x), {**BOARD, "parts": [part], "tracks": [track]})
        found.append([name for name, _ in shorts(board, 3)])
    assert found == [["/B+/V"], []]


@pytest.mark.parametrize(("stated", "expected"), [("", []), (' "In1.Cu"', [("/B+/V", 0.015)]), (' "In2.Cu"', [])])
def test_a_pad_that_a_fill_keeps_is_there(tmp_path: Path, stated: str, expected: list[tuple[str, float]]) -> None:
    """KiCad states the layers on which a fill joins a via: 0.3 + 0.075 mm reach 0.015 mm over 0.36 mm on In1."""
    tracks = [{"net": "/B", "layer": "In1.Cu", "width_mm": 0.15, "path_mm": [[10.36, 5], [10.36, 15]]}]
    path = mini_file(tmp_path, {**BOARD, "vias": [VIA], "tracks": tracks})
    text = path.read_text(encoding="utf-8")
    assert text.count("(zone_layer_connections)") == 1
    path.write_text(text.replace("(zone_layer_connections)", f"(zone_layer_connections{stated})"), encoding="utf-8")

    assert shorts(read_board(path), 1) == expected


def test_a_pad_that_a_fill_keeps_is_near_an_unplated_hole(tmp_path: Path) -> None:
    """A pad of 0.3 mm and a hole of 0.5 mm, 1 mm apart: 0.2 mm on In1, where a fill joins it; the wall is beyond."""
    hole = {"number": "", "kind": "non_plated", "shape": "circle", "size_mm": [1, 1], "drill_mm": 1}
    part = {"reference": "H1", "at_mm": [11, 10], "pads": [hole]}
    board = mini_board(tmp_path, {**BOARD, "vias": [VIA], "parts": [part]})
    kept = replace(board, vias=replace(board.vias, fill_layers=np.array([1 << 1], dtype=np.uint64)))

    found = [cut_gaps(CopperMap(one)) for one in (board, kept)]

    assert [sorted(gaps.layer[gaps.cut >= 0].tolist()) for gaps in found] == [[0, 3], [0, 1, 3]]
    assert found[1].gap_mm[found[1].layer == 1].tolist() == [pytest.approx(0.2)]
