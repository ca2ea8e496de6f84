"""Inductance of a supply path from its DC solution, against closed forms and filaments with images over a plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from drc_rules.analysis.power.rail_reach import RailReach, rail_reach
from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.declared import Overrides
from fixtures.miniboard import build
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.power.over_frequency.mounting import trace_inductance_h
from tests.support.physics.closed_forms import sheet_inductance_h

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


SIX = """
F.Cu 0.035
prepreg 0.1 "370HR 2116"
In1.Cu 0.035
core 0.1 "370HR"
In2.Cu 0.035
prepreg 0.2 "370HR 2116"
In3.Cu 0.035
core 1.0 "370HR"
In4.Cu 0.035
prepreg 0.2 "370HR 2116"
B.Cu 0.035
"""
BOTTOM_MM = {"F.Cu": 0.47, "In1.Cu": 0.335, "In2.Cu": 0.2}
"""Heights of the lower faces over the upper one of In3."""


def filaments_h_per_mm(carried: Sequence[tuple[float, float]], width_mm: float) -> float:
    """Inductance per mm of copper of 35 um over a plane: filaments in parallel, each with its image.

    `carried` are the height of each layer's lower face and its share of the current, which is even over its section.
    Two filaments have mu0/(2 pi) ln(D/d), one of sides a and b the mean distance 0.2235 (a + b) of itself.
    """
    across, through, t = 300, 3, 0.035
    at = [
        (x, bottom + (k + 0.5) / through * t, share / (across * through))
        for bottom, share in carried
        for k in range(through)
        for x in (np.arange(across) + 0.5) / across * width_mm
    ]
    x, y, amperes = np.array(at).T
    apart, image = (np.hypot(x[:, None] - x, y[:, None] + sign * y) for sign in (-1, 1))
    np.fill_diagonal(apart, 0.2235 * (width_mm / across + t / through))
    return float(2e-10 * amperes @ np.log(image / apart) @ amperes)


def six_layers(folder: Path, runs: Sequence[tuple[str, float, float]], **extra: object) -> RailReach:
    """What lies between L1 at 20 mm and U1 at 60 mm, on strips of 10 mm over a plane on In3 from some x to another."""
    pad = {"number": "1", "net": "+0V8", "size_mm": [0.4, 10.0], "shape": "rect", "kind": "through", "drill_mm": 0.3}
    ends = sorted({20.0, 60.0} | {x for _, start, stop in runs for x in (start, stop)})
    board = {
        "size_mm": [80, 60],
        "planes": {"In3.Cu": "GND"},
        "stackup": SIX,
        "tracks": [
            {"net": "+0V8", "layer": layer, "path_mm": [[start, 30], [stop, 30]], "width_mm": 10.0}
            for layer, start, stop in runs
        ],
        "parts": [
            {"reference": {20.0: "L1", 60.0: "U1"}.get(x, f"J{x:g}"), "at_mm": [x, 30], "pads": [pad]} for x in ends
        ],
        "config": RAIL,
    } | extra
    path = build(board, folder, "board")
    context, _, _ = prepare(read_board(path), find_config(path), Overrides())
    return context.get(rail_reach, 0)


@pytest.mark.parametrize("layers", [("In2.Cu",), ("In1.Cu", "In2.Cu"), ("F.Cu", "In1.Cu", "In2.Cu")])
def test_strips_on_one_side_of_a_plane_induce_in_each_other(layers: tuple[str, ...], tmp_path: Path) -> None:
    """Three strips in parallel have no third of one's inductance: each adds to the field under all that are beyond.

    Filaments give 0.99, 1.14 and 1.30 nH for 40 mm; counted each for itself, three strips would have 0.56 nH.
    """
    share = 1 / len(layers)
    expected = 40 * filaments_h_per_mm([(BOTTOM_MM[name], share) for name in layers], 10.0)
    found = six_layers(tmp_path, [(name, 20, 60) for name in layers])
    assert found.inductance_h.nominal == pytest.approx(expected, rel=0.1)


def test_strips_in_series_do_not_induce_in_each_other(tmp_path: Path) -> None:
    """Half of the way on F.Cu and half on In1: no current lies over other current."""
    halves = [filaments_h_per_mm([(BOTTOM_MM[name], 1.0)], 10.0) for name in ("F.Cu", "In1.Cu")]
    found = six_layers(tmp_path, [("F.Cu", 20, 40), ("In1.Cu", 40, 60)])
    assert found.inductance_h.nominal == pytest.approx(20 * sum(halves), rel=0.1)


TWO_LOADS = RAIL.replace("current_a = 20\n", "").replace('to = ["U1"]', "to = { J26 = 18, U1 = 2 }")


def test_of_several_loads_the_way_to_the_one_that_drops_most_is_told(tmp_path: Path) -> None:
    """All current goes to U1, as if it were alone; that nearer loads may take their part of a step, the low end tells.

    J26, at 6 mm of the 40, takes nine tenths: at U1 the step causes (0.1 x 40 + 0.9 x 6)/40 of the dip, 0.235.
    """
    runs = [("In2.Cu", 20.0, 60.0), ("In2.Cu", 20.0, 26.0)]
    (tmp_path / "one").mkdir()
    one = six_layers(tmp_path / "one", runs)
    two = six_layers(tmp_path, runs, config=TWO_LOADS)
    assert two.load == "U1"
    assert two.distance_mm == pytest.approx(40.0, abs=0.5)
    assert two.inductance_h.nominal == pytest.approx(one.inductance_h.nominal, rel=0.01)
    assert two.resistance_ohm.nominal == pytest.approx(one.resistance_ohm.nominal, rel=0.01)
    assert two.inductance_h.low == pytest.approx(0.235 * one.inductance_h.low, rel=0.05)


def over(folder: Path, planes: dict[str, str], *, back: str = "", config: str = RAIL) -> RailReach:
    """A strip on F.Cu over some planes; with `back`, both of its ends have a pad on that net."""
    pads: list[dict[str, object]] = [{"number": "1", "net": "+0V8", "size_mm": [0.4, 10.0], "shape": "rect"}]
    if back:
        pads.append(
            {"number": "2", "net": back, "at_mm": [0, 15], "kind": "through", "drill_mm": 0.5, "size_mm": [1, 1]}
        )
    parts = [{"reference": name, "at_mm": [x, 30], "pads": pads} for name, x in (("L1", 20), ("U1", 60))]
    return six_layers(folder, [("F.Cu", 20, 60)], planes=planes, parts=parts, config=config)


def height_mm(found: RailReach) -> float:
    """The height that a strip of 10 x 40 mm has with this inductance: mu0 h l/(w + 1.4 h)."""
    millimetres = found.inductance_h.nominal / 1.2566e-9 / 40
    return 10 * millimetres / (1 - 1.4 * millimetres)


@pytest.mark.parametrize(
    ("planes", "back", "config", "expected"),
    [
        ({"In1.Cu": "AGND", "In4.Cu": "GND"}, "GND", RAIL, 1.54),
        ({"In1.Cu": "GND", "In4.Cu": "AGND"}, "GND", RAIL, 0.1),
        ({"In1.Cu": "PWR_RTN", "In4.Cu": "GND"}, "PWR_RTN", RAIL + 'ground = "PWR_RTN"\n', 0.1),
        ({"In1.Cu": "PWR_RTN", "In4.Cu": "GND"}, "", RAIL + 'ground = "PWR_RTN"\n', 0.1),
        ({"In1.Cu": "+5V", "In4.Cu": "GND"}, "", RAIL, 1.54),
    ],
    ids=["another ground is nearer", "it is farther", "declared", "declared, without pads", "the only ground"],
)
def test_current_returns_in_the_plane_of_its_own_net(
    planes: dict[str, str], back: str, config: str, expected: float, tmp_path: Path
) -> None:
    assert height_mm(over(tmp_path, planes, back=back, config=config)) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("planes", "back", "lacking"),
    [
        ({"In1.Cu": "AGND", "In4.Cu": "GND"}, "", "has no ground pad"),
        ({"In1.Cu": "AGND"}, "GND", "a plane of GND for the return"),
        ({"In1.Cu": "+5V"}, "", "a ground plane for the return"),
    ],
    ids=["one of two grounds", "no plane of its own", "no ground at all"],
)
def test_where_the_return_is_not_known_it_is_asked_for(
    planes: dict[str, str], back: str, lacking: str, tmp_path: Path
) -> None:
    with pytest.raises(MissingFact) as raised:
        over(tmp_path, planes, back=back)
    assert lacking in raised.value.name
    assert 'ground = "?"' in raised.value.how_to_give or "ground_from" in raised.value.how_to_give
