"""How much copper pads add to a layer."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.pad_copper import pads_outside_fills_mm2
from tests.support.mini import mini_board


def copper_of(folder: Path, **board: object) -> CopperMap:
    return CopperMap(mini_board(folder, {"copper_layers": 4, **board}))


@pytest.mark.parametrize(
    ("shape", "size_mm", "area_mm2"),
    [
        ("rect", (2, 1), 2.0),
        ("circle", (2, 2), math.pi),
        ("oval", (3, 1), 2 + math.pi / 4),
        ("roundrect", (2, 1), 2 - (4 - math.pi) * 0.25**2),
    ],
)
def test_a_pad_counts_by_its_shape(tmp_path: Path, shape: str, size_mm: tuple[float, float], area_mm2: float) -> None:
    """On its own layer, and not on the other side."""
    pad = {"number": "1", "net": "/A", "shape": shape, "size_mm": size_mm}
    copper = copper_of(tmp_path, parts=[{"reference": "U1", "at_mm": [20, 20], "pads": [pad]}])

    assert pads_outside_fills_mm2(copper, 0) == pytest.approx(area_mm2)
    assert pads_outside_fills_mm2(copper, 3) == 0.0


def test_vias_and_plated_pads_have_lands_and_what_lies_in_its_own_fill_is_counted_there(tmp_path: Path) -> None:
    """Of two vias of 0.6 mm one is in a fill of its net; a hole without plating has no copper."""
    holes = [
        {"number": "1", "net": "/B", "kind": "through", "size_mm": [1, 1]},
        {"number": "", "kind": "non_plated", "size_mm": [3, 3], "at_mm": [10, 0], "drill_mm": 3},
    ]
    copper = copper_of(
        tmp_path,
        vias=[{"net": "GND", "at_mm": [20, 20], "size_mm": 0.6}, {"net": "/A", "at_mm": [22, 20], "size_mm": 0.6}],
        zones=[{"net": "GND", "layer": "F.Cu", "rect_mm": [15, 15, 30, 30]}],
        parts=[{"reference": "J1", "at_mm": [60, 20], "pads": holes}],
    )

    assert pads_outside_fills_mm2(copper, 0) == pytest.approx(math.pi * (0.3**2 + 0.5**2))
    assert pads_outside_fills_mm2(copper, 3) == pytest.approx(math.pi * (2 * 0.3**2 + 0.5**2))
