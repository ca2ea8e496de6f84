"""Skew within pairs: tracks, vias and packages, each against a value worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from drc_rules.analysis.delay.pair_skew import PairSkew, skews_of
from drc_rules.analysis.return_path.return_paths import ReturnPaths
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from fixtures.miniboard import MiniBoard, write
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.kicad import read_board
from stackup_lib.vias.via_field import ViaBody, ViaStack, via_capacitance

STACKUP = """
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0
In1.Cu 0.015
core 1.2 "370HR" dk=4.0
In2.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0
B.Cu 0.035
"""
CONFIG = """
[[interface]]
is = "pcie5"
nets = ["/PCIE_*"]
"""
STRAIGHT_P: tuple[tuple[float, float], ...] = ((5, 10), (65, 10))
STRAIGHT_N: tuple[tuple[float, float], ...] = ((5, 10.3), (65, 10.3))
DETOUR_N: tuple[tuple[float, float], ...] = ((5, 10.3), (30, 10.3), (30, 12.8), (31, 12.8), (31, 10.3), (65, 10.3))


def skew(
    folder: Path, n_mm: tuple[tuple[float, float], ...] = STRAIGHT_N, *, under_n: bool = False, die: str = ""
) -> PairSkew:
    """The skew of a pair from U1 to J1; N may dive to B.Cu and back, and the pad of P on U1 may have a package."""

    def track(net: str, layer: str, path: tuple[tuple[float, float], ...]) -> dict[str, object]:
        return {"net": net, "layer": layer, "width_mm": 0.15, "path_mm": path}

    def part(reference: str, x_mm: float) -> dict[str, object]:
        p = {"number": "1", "net": "/PCIE_TX0_P", "size_mm": (0.2, 0.2)}
        n = {"number": "2", "net": "/PCIE_TX0_N", "size_mm": (0.2, 0.2), "at_mm": (0, 0.3)}
        return {"reference": reference, "at_mm": (x_mm, 10), "pads": [p, n]}

    tracks, vias = [track("/PCIE_TX0_P", "F.Cu", STRAIGHT_P)], []
    if under_n:
        tracks += [
            track("/PCIE_TX0_N", "F.Cu", ((5, 10.3), (20, 10.3))),
            track("/PCIE_TX0_N", "B.Cu", ((20, 10.3), (50, 10.3))),
            track("/PCIE_TX0_N", "F.Cu", ((50, 10.3), (65, 10.3))),
        ]
        vias = [{"net": "/PCIE_TX0_N", "at_mm": (x, 10.3)} for x in (20, 50)]
    else:
        tracks.append(track("/PCIE_TX0_N", "F.Cu", n_mm))
    board = MiniBoard.model_validate(
        {
            "size_mm": (80, 40),
            "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
            "stackup": STACKUP,
            "config": CONFIG,
            "parts": [part("U1", 5), part("J1", 65)],
            "tracks": tracks,
            "vias": vias,
        }
    )
    path = write(board, folder, "pair")
    if die:
        text = path.read_text()
        at = text.index('(net "/PCIE_TX0_P")', text.index('"U1"'))
        path.write_text(f"{text[:at]}{die} {text[at:]}")
    context, _, _ = prepare(read_board(path), parse_config(CONFIG), Overrides())
    (found,) = skews_of(context, ReturnPaths(context).groups[0]).known
    return found


def test_equal_traces_have_none(tmp_path: Path) -> None:
    """Nothing is left, and nothing is unsure."""
    one = skew(tmp_path)
    assert one.skew_ps.low == one.skew_ps.high == 0.0
    assert one.layer is None and one.unsure is None


def test_a_longer_trace_is_late_by_its_length(tmp_path: Path) -> None:
    """5 mm at the odd mode's effective Dk of 2.5 to 2.6; the sign tells which trace."""
    one = skew(tmp_path, DETOUR_N)
    assert one.length_mm == pytest.approx((60.0, 65.0), abs=1e-6)
    assert 5 * 1000 * math.sqrt(2.5) / LIGHT_MM_GHZ < -one.skew_ps.nominal < 5 * 1000 * math.sqrt(2.6) / LIGHT_MM_GHZ
    assert one.skew_ps.low < one.skew_ps.nominal < one.skew_ps.high < 0
    assert one.size_ps.nominal == -one.skew_ps.nominal
    assert one.layer == 0 and one.layer_mm == pytest.approx(-5.0, abs=1e-6)


@pytest.mark.parametrize("die", ["(die_length 5)", "(die_delay 26.7)"])
def test_a_package_that_makes_up_for_the_detour_cancels_it(die: str, tmp_path: Path) -> None:
    """KiCad stores how long the bond wire or package trace is, or how late."""
    one = skew(tmp_path, DETOUR_N, die=die)
    assert abs(one.skew_ps.nominal) < 0.15
    assert one.package_ps == pytest.approx(26.7, abs=0.15)


@pytest.mark.parametrize("die", ["-2147.483648", "-0.00254", "871.97184", "0"])
def test_a_pad_to_die_length_that_no_package_has_is_none(die: str, tmp_path: Path) -> None:
    """Boards that KiCad 4 wrote hold such lengths on pads where none was ever entered."""
    one = skew(tmp_path, DETOUR_N, die=f"(die_length {die})")
    assert one.package_ps == 0.0
    assert one.skew_ps.nominal == pytest.approx(-26.7, abs=0.15)


def test_a_trace_that_climbs_alone_is_late_by_its_barrels(tmp_path: Path) -> None:
    """Two vias through 1.5 mm on Dk 4: barrels of 0.3 mm in antipads of 0.85 mm, with their pads.

    ln(a'/a) is 1.5 ln(1/0.15) - ln(2)/2 between the planes and ln(0.85/0.3) outside of them.
    """
    one = skew(tmp_path, under_n=True)
    faces = ((0.0, 0.035), (0.135, 0.15), (1.35, 1.365), (1.465, 1.5))
    body = ViaBody(barrel_mm=0.3, pad_mm=0.45, antipad_mm=0.85, ends_mm=(0.0, 1.5), padded=(0, 1, 2, 3))
    farads = via_capacitance(ViaStack(faces, (4.0, 4.0, 4.0), (1, 2)), body).total_pf
    rim, between = math.log(0.85 / 0.3), 1.5 * math.log(1 / 0.15) - math.log(2) / 2
    henries = 0.2 * (1.2 * between + 2 * (0.15 - 0.0175) * rim)
    line_ps = 1000 * math.sqrt(2.5 + 1.5 / math.sqrt(1 + 12 / 1.8)) / LIGHT_MM_GHZ
    usual_ps = (1000 * henries / 50 + farads * 50) / 2 - line_ps * (0.3 + 0.45) / 2
    assert -one.vias_ps == pytest.approx(2 * usual_ps, rel=0.001)
    assert one.skew_ps.low < one.skew_ps.nominal < one.skew_ps.high < 0  # late even with bare barrels
