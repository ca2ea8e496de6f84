"""Ways of parts to the planes: over copper that joins them to vias, and what several pads share counts once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from tests.support.small_boards.decoupled import NET, REGULATOR, capacitor, context_of, decoupled

TRACE_NH = 1.256637e-6 * 0.2 * 12 / (0.2 + 1.4 * 0.2) * 1e6
"""mu0 h l/(w + 1.4 h) of 12 mm of 0.2 mm, 0.2 mm over ground: there and back are twice that."""


def load(pads: int) -> dict[str, Any]:
    """U1 with some pads on the rail in a row along x, and as many on ground, 2 mm below."""
    rows = [(k, row, net) for row, net in ((0.0, NET), (2.0, "GND")) for k in range(pads)]
    own = [
        {"number": f"{net}{k}", "net": net, "at_mm": [-0.8 * k, y], "size_mm": [0.4, 0.4], "shape": "rect"}
        for k, y, net in rows
    ]
    return {"reference": "U1", "at_mm": [40, 30], "pads": own}


def far_board(pads: int, near: list[dict[str, Any]], *, joined: bool = False) -> dict[str, Any]:
    """The load's pads lead over 12 mm of 0.2 mm to one via each; others may lie next to them, joined or not."""
    base = decoupled()
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[40 - 0.8 * (pads - 1), y], [52, y]]}
        for net, y in ((NET, 30), ("GND", 32))
    ]
    if joined:
        tracks += [
            {"net": via["net"], "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[40, y], via["at_mm"]]}
            for via, y in zip(near, (30, 32), strict=True)
        ]
    vias = [{"net": NET, "at_mm": [52, 30]}, {"net": "GND", "at_mm": [52, 32]}, *near]
    return {
        "vias": [*base["vias"][:-2], *vias],
        "tracks": [*base["tracks"], *tracks],
        "parts": [part for part in base["parts"] if part["reference"] != "U1"] + [load(pads)],
        "config": base["config"] + REGULATOR,
    }


NEAR = [{"net": NET, "at_mm": [40, 30.7]}, {"net": "GND", "at_mm": [40.8, 30.9]}]


def planes_nh(folder: Path, board: dict[str, Any]) -> float:
    """Inductance from the capacitors to the load, in nH."""
    return pdn_of(context_of(folder, **board), NET).spreading_ph / 1000


def test_vias_that_nothing_joins_to_the_load_are_not_its_own(tmp_path: Path) -> None:
    """Vias of both nets within 1 mm of the pad, on no copper of them: the current takes the tracks of 12 mm."""
    assert planes_nh(tmp_path, far_board(1, NEAR)) == pytest.approx(2 * TRACE_NH, rel=0.1)


def test_joined_vias_are_the_loads_own(tmp_path: Path) -> None:
    """The same vias at the ends of dogbones: the tracks of 12 mm count no longer."""
    assert planes_nh(tmp_path, far_board(1, NEAR, joined=True)) < 0.2 * TRACE_NH


@pytest.mark.parametrize(("pads", "squares"), [(2, 1 / 4), (4, (1 + 4 + 9) / 16)])
def test_a_track_that_several_pads_share_counts_once(tmp_path: Path, pads: int, squares: float) -> None:
    """Pads in a row on one track to one via: energy adds 0.8 mm times the squares of the shares of current."""
    one = planes_nh(tmp_path / "one", far_board(1, []))
    by_hand = one + 2 * squares * TRACE_NH * 0.8 / 12
    assert planes_nh(tmp_path / "more", far_board(pads, [])) == pytest.approx(by_hand, rel=0.02)


def test_pads_with_tracks_and_vias_of_their_own_are_in_parallel(tmp_path: Path) -> None:
    """Two pads, each with 12 mm of track to a via of its own: half of the inductance of one."""
    board = far_board(1, [])
    twin = [{**pad, "number": f"{pad['number']}b", "at_mm": [0, pad["at_mm"][1] + 4]} for pad in load(1)["pads"]]
    board["parts"][-1]["pads"] += twin
    for net, y in ((NET, 34), ("GND", 36)):
        board["vias"].append({"net": net, "at_mm": [52, y]})
        board["tracks"].append({"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[40, y], [52, y]]})
    one = planes_nh(tmp_path / "one", far_board(1, []))
    assert planes_nh(tmp_path / "two", board) == pytest.approx(one / 2, rel=0.15)


def on_one_track(count: int, reach_mm: float) -> dict[str, Any]:
    """Capacitors 1 mm apart above one another, all pads of a net on one track that leads to a single via."""
    base = decoupled()
    parts = [part for part in base["parts"] if not part["reference"].startswith("C")]
    parts += [capacitor(f"C{k + 1}", 30, 20 - k) for k in range(count)]
    ends = ((NET, 29.5), ("GND", 30.5))
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[x, 21 - count], [x, 20 + reach_mm]]}
        for net, x in ends
    ]
    vias = [{"net": net, "at_mm": [x, 20 + reach_mm]} for net, x in ends]
    return {"parts": parts, "tracks": tracks, "vias": [*base["vias"][4:], *vias], "config": base["config"] + REGULATOR}


def mountings_nh(folder: Path, count: int) -> list[float]:
    """Mounting inductance of each capacitor, the nearest to the via first."""
    row = pdn_of(context_of(folder, **on_one_track(count, 12)), NET)
    return [one.mounting_nh.nominal for one in sorted(row.capacitors, key=lambda one: one.reference)]


def test_capacitors_on_one_track_have_its_inductance_together(tmp_path: Path) -> None:
    """Three that share 12 mm of track and its via: each has three times as much, side by side they have it once."""
    (alone,) = mountings_nh(tmp_path / "alone", 1)
    first, second, third = mountings_nh(tmp_path / "three", 3)
    assert first == pytest.approx(3 * alone, rel=0.03)
    millimetre = 2 * TRACE_NH / 12
    in_pad = 0.25 * (1 - (0.2 + 1.4 * 0.2) / (0.5 + 1.4 * 0.2))  # a quarter of a millimetre is as wide as the pad
    assert second - first == pytest.approx((2 + in_pad) * millimetre, rel=0.01)
    assert third - second == pytest.approx((1 + in_pad) * millimetre, rel=0.01)


def fed_ohm(folder: Path, pads: int) -> float:
    """|Z| at 100 kHz below the capacitors, of an inductor whose output pads lead over 12 mm of track to one via."""
    base = decoupled()
    inductor = {"reference": "L1", "at_mm": [8, 20], "pads": []}
    inductor["pads"] = [{"number": "0", "net": "/SW", "at_mm": [-3, 0], "size_mm": [2, 3], "shape": "rect"}] + [
        {"number": str(k + 1), "net": NET, "at_mm": [-0.8 * k, 0], "size_mm": [0.4, 0.4], "shape": "rect"}
        for k in range(pads)
    ]
    path = [[8 - 0.8 * (pads - 1), 20], [20, 20]]
    board = {
        "parts": [*(part for part in base["parts"] if part["reference"] != "L1"), inductor],
        "vias": [*base["vias"][:4], *base["vias"][5:], {"net": NET, "at_mm": [20, 20]}],
        "tracks": [*base["tracks"], {"net": NET, "layer": "F.Cu", "width_mm": 0.2, "path_mm": path}],
        "config": base["config"] + REGULATOR,
    }
    return min(pdn_of(context_of(folder, **board), NET).points, key=lambda one: abs(one.hz - 1e5)).mohm.nominal


def test_pads_of_a_regulator_on_one_track_are_no_tracks_in_parallel(tmp_path: Path) -> None:
    """Two output pads next to one another add a quarter of 0.8 mm of track, not a second track of 12 mm."""
    assert fed_ohm(tmp_path / "two", 2) == pytest.approx(fed_ohm(tmp_path / "one", 1), rel=0.06)
