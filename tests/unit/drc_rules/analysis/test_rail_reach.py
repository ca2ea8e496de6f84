"""Inductance of a supply path from its DC solution, against closed forms of strips over a plane."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.power.rail_reach import RailReach, rail_reach
from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.declared import Overrides
from fixtures.miniboard import build
from stackup_lib.kicad import read_board
from stackup_lib.power.over_frequency.mounting import trace_inductance_h
from tests.support.closed_forms import sheet_inductance_h

STACKUP = """
F.Cu 0.035
prepreg {h} "370HR 2116"
In1.Cu 0.035
core 1.0 "370HR"
In2.Cu 0.035
prepreg {h} "370HR 2116"
B.Cu 0.035
"""
RAIL = """
[[rail]]
net = "+0V8"
voltage_v = 0.8
current_a = 20
from = ["L1"]
to = ["U1"]
"""


def reach(folder: Path, layers: tuple[str, ...], width_mm: float, height_mm: float) -> RailReach:
    """What lies between the ends of strips of 40 mm on some layers, joined by pads as wide as they are."""
    pad: dict[str, object] = {"number": "1", "net": "+0V8", "size_mm": [0.4, width_mm], "shape": "rect"}
    if len(layers) > 1:
        pad |= {"kind": "through", "drill_mm": 0.3}
    board = {
        "size_mm": [80, 60],
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": STACKUP.format(h=height_mm),
        "tracks": [
            {"net": "+0V8", "layer": layer, "path_mm": [[20, 30], [60, 30]], "width_mm": width_mm} for layer in layers
        ],
        "parts": [
            {"reference": reference, "at_mm": [x, 30], "pads": [pad]} for reference, x in (("L1", 20), ("U1", 60))
        ],
        "config": RAIL,
    }
    path = build(board, folder, "board")
    context, _, _ = prepare(read_board(path), find_config(path), Overrides())
    return context.get(rail_reach, 0)


def inductance_h(folder: Path, layers: tuple[str, ...], width_mm: float, height_mm: float) -> float:
    """The nominal inductance."""
    return reach(folder, layers, width_mm, height_mm).inductance_h.nominal


@pytest.mark.parametrize(("width_mm", "height_mm"), [(5.0, 0.2), (10.0, 0.1), (20.0, 0.5)])
def test_a_strip_over_a_plane_has_the_inductance_of_the_closed_form(
    width_mm: float, height_mm: float, tmp_path: Path
) -> None:
    """mu0 h l/(w + 1.4 h), within 3 %: the current spreads from the pads over the ends of the strip."""
    expected = trace_inductance_h(height_mm, 40.0, width_mm)
    assert inductance_h(tmp_path, ("F.Cu",), width_mm, height_mm) == pytest.approx(expected, rel=0.03)


def test_two_strips_over_planes_of_their_own_have_half(tmp_path: Path) -> None:
    """Each carries half of the current."""
    expected = sheet_inductance_h(0.1, 40.0, 20.0) / 2
    assert inductance_h(tmp_path, ("F.Cu", "B.Cu"), 20.0, 0.1) == pytest.approx(expected, rel=0.04)


def test_the_inductance_is_sure_within_a_half_of_it(tmp_path: Path) -> None:
    """Half and one and a half times the nominal one; the distance is that of the pads."""
    found = reach(tmp_path, ("F.Cu",), 5.0, 0.2)
    assert found.inductance_h.low == pytest.approx(0.5 * found.inductance_h.nominal)
    assert found.inductance_h.high == pytest.approx(1.5 * found.inductance_h.nominal)
    assert found.distance_mm == pytest.approx(40.0, abs=0.5)
