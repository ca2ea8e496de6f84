"""Planes in pieces: what nothing joins has no curve, and vias between layers count, by a second calculation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

from drc_rules.analysis.power.over_frequency.decoupling import OTHER_PIECE
from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from stackup_lib.core.facts import MissingFact
from tests.support.small_boards.decoupled import NET, RAIL, context_of, decoupled

MU0 = 4e-7 * math.pi
SIX_LAYERS = """
F.Cu 0.035
core 0.2 "370HR" dk=4.2 df=0.02
In1.Cu 0.035
prepreg 0.1 "370HR" dk=4.2 df=0.02
In2.Cu 0.035
core 1.0 "370HR" dk=4.2 df=0.02
In3.Cu 0.035
prepreg 0.1 "370HR" dk=4.2 df=0.02
In4.Cu 0.035
core 0.2 "370HR" dk=4.2 df=0.02
B.Cu 0.035
"""
UNDECLARED = RAIL.replace('from = ["L1"]\n', "")


def zone(net: str, layer: str, left: float, right: float) -> dict[str, Any]:
    return {"net": net, "layer": layer, "rect_mm": [left, 0.5, right, 39.5]}


def halves(net: str, layer: str, gap: float) -> list[dict[str, Any]]:
    return [zone(net, layer, 0.5, 37), zone(net, layer, 37 + gap, 59.5)]


@pytest.mark.parametrize("gap", [0.2, 3.0], ids=["less than a cell", "more than a cell"])
@pytest.mark.parametrize("is_ground", [False, True], ids=["the rail", "ground"])
def test_a_gap_from_edge_to_edge_leaves_no_curve(tmp_path: Path, gap: float, *, is_ground: bool) -> None:
    """Whatever joins the islands elsewhere; a track does here."""
    net, layer, other = ("GND", "In1.Cu", {"In2.Cu": NET}) if is_ground else (NET, "In2.Cu", {"In1.Cu": "GND"})
    track = {"net": net, "layer": layer, "width_mm": 1, "path_mm": [[36, 38], [41, 38]]}
    changes = {"planes": other, "zones": halves(net, layer, gap), "config": UNDECLARED}
    for number, more in enumerate(([], [track])):
        ctx = context_of(tmp_path / str(number), **changes, tracks=[*decoupled()["tracks"], *more])
        with pytest.raises(MissingFact, match=r"what joins the planes of \+0V8 at the regulator and at U1"):
            pdn_of(ctx, NET)


def test_a_slot_that_ends_leaves_the_planes_whole(tmp_path: Path) -> None:
    bridge = {"net": NET, "layer": "In2.Cu", "rect_mm": [36, 30, 41, 39.5]}
    row = pdn_of(context_of(tmp_path, planes={"In1.Cu": "GND"}, zones=[*halves(NET, "In2.Cu", 1), bridge]), NET)
    assert not row.left_out
    assert row.spreading_ph > 223, "more than without the slot"


def test_capacitors_on_another_piece_are_left_out(tmp_path: Path) -> None:
    """A slot between the capacitors and the load, with the regulator on the load's side."""
    zones = [
        {"net": NET, "layer": "In2.Cu", "rect_mm": [0.5, 0.5, 59.5, 21.8]},
        {"net": NET, "layer": "In2.Cu", "rect_mm": [0.5, 22.2, 59.5, 39.5]},
    ]
    row = pdn_of(context_of(tmp_path, planes={"In1.Cu": "GND"}, zones=zones), NET)
    assert row.left_out == {OTHER_PIECE: ("C2",)}
    assert [one.reference for one in row.capacitors] == ["C1"]
    assert any("how C2 reach" in one.what and not one.narrows for one in row.missing)


def test_a_regulator_off_its_planes_has_no_curve(tmp_path: Path) -> None:
    """Its vias are 40 mm of track away from the pad."""
    keys = decoupled()
    parts = [dict(part, at_mm=[8, 38]) if part["reference"] == "L1" else part for part in keys["parts"]]
    far = {"net": NET, "layer": "F.Cu", "width_mm": 1, "path_mm": [[8, 38], [55, 38], [55, 20], [48, 20]]}
    with pytest.raises(MissingFact, match="how the regulator reaches the planes"):
        pdn_of(context_of(tmp_path, parts=parts, tracks=[*keys["tracks"], far]), NET)


def two_floors(vias: list[dict[str, Any]]) -> dict[str, Any]:
    """The rail on In2 up to x = 38, on In3 from x = 37, between grounds on In1 and In4."""
    return {
        "stackup": SIX_LAYERS,
        "planes": {"In1.Cu": "GND", "In4.Cu": "GND"},
        "zones": [zone(NET, "In2.Cu", 0.5, 38), zone(NET, "In3.Cu", 37, 59.5)],
        "vias": [*decoupled()["vias"], *vias],
    }


def test_layers_without_a_via_have_no_curve(tmp_path: Path) -> None:
    with pytest.raises(MissingFact, match=r"no copper joins|what joins"):
        pdn_of(context_of(tmp_path, **two_floors([])), NET)


def test_the_inductance_of_a_via_between_layers_by_a_second_calculation(tmp_path: Path) -> None:
    """Two sheets of another mesh, the pair of vias between them by its closed form, at 10 MHz: within a tenth."""
    x, y = 37.5, 20.0
    ctx = context_of(tmp_path, **two_floors([{"net": NET, "at_mm": [x, y]}, {"net": "GND", "at_mm": [x, y + 1]}]))
    left = squares((37.5, 39), (29.5, 21.5), (x - 0.5, y - 0.5))
    right = squares((22.5, 39), (x - 37, y - 0.5), (46.5 - 37, 19.5))
    gap_mm = 1 / (1 / 0.1 + 1 / 1.135)  # grounds on both sides in parallel
    skin_mm = 1e3 / math.sqrt(math.pi * 1e7 * MU0 * 5.8e7)
    sheets = MU0 * (gap_mm + skin_mm) * 1e-3 * (left + right)
    barrel_mm = 0.2 + 2 * 0.025
    pair = MU0 * 1e-3 / math.pi * math.acosh(1 / barrel_mm)
    load = MU0 * 0.2e-3 / math.pi * math.acosh(1 / barrel_mm) / 4
    assert pdn_of(ctx, NET).spreading_ph == pytest.approx(1e12 * (sheets + pair + load), rel=0.1)


def test_more_vias_between_layers_bring_it_down(tmp_path: Path) -> None:
    found = []
    for count in (1, 4, 19):
        pitch = 36 / count
        vias = [
            {"net": net, "at_mm": [at, 2], "grid": [1, count], "pitch_mm": pitch}
            for net, at in ((NET, 37.5), ("GND", 36.5))
        ]
        found.append(pdn_of(context_of(tmp_path / str(count), **two_floors(vias)), NET).spreading_ph)
    assert found[0] > 2 * found[1] > 2 * found[2] > 0


def squares(sides: tuple[float, float], first: tuple[float, float], second: tuple[float, float]) -> float:
    """How many squares in series a sheet has between two cells of 0.25 mm, as a mesh of resistors."""
    across, down = (round(4 * side) for side in sides)
    number = np.arange(across * down).reshape(across, down)
    pairs = np.concatenate(
        [np.stack([a.ravel(), b.ravel()]) for a, b in ((number[1:], number[:-1]), (number[:, 1:], number[:, :-1]))],
        axis=1,
    )
    size = number.size
    matrix = sparse.coo_matrix((np.ones(pairs.shape[1]), pairs), shape=(size, size))
    matrix = matrix + matrix.T
    matrix = sparse.diags(np.asarray(matrix.sum(axis=1)).ravel()) - matrix
    ends = [number[int(4 * x), int(4 * y)] for x, y in (first, second)]
    current = np.zeros(size)
    current[ends] = 1, -1
    kept = np.arange(size) != ends[1]
    volt = spsolve(matrix.tocsc()[kept][:, kept], current[kept])
    return float(volt[np.flatnonzero(kept) == ends[0]][0])
