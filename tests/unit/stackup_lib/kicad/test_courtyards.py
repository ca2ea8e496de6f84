"""Courtyards: where KiCad puts them, turned and moved with their footprint, and no error where they are malformed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stackup_lib.kicad.read.items.courtyards import courtyards
from stackup_lib.kicad.read.reader import read_board

HEAD = """(kicad_pcb (version 20240108) (generator "test")
  (layers (0 "F.Cu" signal) (31 "B.Cu" signal)) (net 0 "")
"""
PART = """  (footprint "lib:a.CrtYd" (layer "F.Cu") (uuid "11111111-1111-1111-1111-111111111111") (at 10 20 90)
    (property "Reference" "U1 (F.CrtYd") {shapes}
    (pad "1" smd rect (at 0 0) (size 1 1) (layers "F.Cu")))
"""
RECT = '(fp_rect (start -2 -1) (end 2 1) (stroke (width 0.05) (type solid)) (fill none) (layer "F.CrtYd"))'


def read(tmp_path: Path, *shapes: str) -> list[tuple[int, list[float], list[float]]]:
    path = tmp_path / "a.kicad_pcb"
    path.write_text(HEAD + "".join(PART.format(shapes=shape) for shape in shapes) + ")\n", encoding="utf-8")
    found = courtyards(read_board(path))
    return [(row, np.round(x, 6).tolist(), np.round(y, 6).tolist()) for row, x, y in found]


def test_a_courtyard_turns_and_moves_with_its_footprint(tmp_path: Path) -> None:
    """4 by 2 mm, turned by 90 degrees about the footprint's place."""
    ((row, x, y),) = read(tmp_path, RECT)
    assert row == 0
    assert (min(x), max(x), min(y), max(y)) == (9.0, 11.0, 18.0, 22.0)


def test_each_footprint_has_its_own(tmp_path: Path) -> None:
    """Other layers are no courtyard, whatever a name says; a circle's corners lie on it."""
    line = '(fp_line (start 0 0) (end 9 9) (layer "F.SilkS"))'
    circle = '(fp_circle (center 0 0) (end 3 0) (layer "B.CrtYd"))'
    found = read(tmp_path, line, RECT + line, circle)
    assert [row for row, _, _ in found] == [1, 2]
    assert np.hypot(np.array(found[1][1]) - 10, np.array(found[1][2]) - 20) == pytest.approx(3.0, abs=1e-5)


@pytest.mark.parametrize(
    "shape",
    [
        '(fp_rect (start -2) (end 2 1) (layer "F.CrtYd"))',
        '(fp_poly (layer "F.CrtYd"))',
        '(fp_text user "F.CrtYd" (at 0 0) (layer "F.SilkS"))',
        '(fp_arc (start 0 0) (end 1 1) (layer "F.CrtYd"))',
    ],
)
def test_a_malformed_courtyard_is_left_out(tmp_path: Path, shape: str) -> None:
    """A drawing lacks a line, and the rest is there."""
    assert [row for row, _, _ in read(tmp_path, shape, RECT)] == [1]
