"""Signal layers that no 50 ohm track fits on: named where their planes are near, quiet where they are not."""

from __future__ import annotations

import math

import pytest

from stackup_lib.board.stackup import LayerKind
from stackup_lib.synthesis import CandidateRow, CandidateStackup
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.low_impedance import low_impedance_layers

COPPER_MM, DK, FINEST_MM = 0.0152, 4.2, 0.075


def stackup(sheet_mm: float, use: str = "signal") -> CandidateStackup:
    """Six layers; In2.Cu and In3.Cu lie between a ground and each other's far ground, sheets of one thickness."""
    uses = ("outer", "ground", use, "ground", "ground", "outer")
    rows: list[CandidateRow] = []
    for index, (name, each) in enumerate(zip(("F", "In1", "In2", "In3", "In4", "B"), uses, strict=True)):
        copper = {"kind": LayerKind.COPPER, "name": f"{name}.Cu", "use": each, "thickness_mm": COPPER_MM}
        rows.append(CandidateRow.model_validate({**copper, "copper_oz": 0.5}))
        if index < 5:
            kind = LayerKind.CORE if index % 2 else LayerKind.PREPREG
            rows.append(CandidateRow(kind=kind, name=f"dielectric {index + 1}", thickness_mm=sheet_mm, dk=DK))
    return CandidateStackup(rows=tuple(rows), order=Order(layers="OGSGGO", gaps="pcpcp", pattern=""))


def stripline_ohm(sheet_mm: float) -> float:
    """IPC-2141, a centred stripline: within some 6 % at this width."""
    between = 2 * sheet_mm + COPPER_MM
    return 60 / math.sqrt(DK) * math.log(1.9 * between / (0.8 * FINEST_MM + COPPER_MM))


@pytest.mark.parametrize(("sheet_mm", "is_named"), [(0.05, True), (0.075, True), (0.11, False), (0.2, False)])
def test_a_layer_between_near_planes_is_named(sheet_mm: float, is_named: bool) -> None:
    """31 and 41 ohm by the closed form at 0.05 and 0.075 mm; 51 at 0.11 mm."""
    found = low_impedance_layers(stackup(sheet_mm), FINEST_MM)
    assert list(found) == ["In2.Cu"] * is_named
    if is_named:
        assert found["In2.Cu"] == pytest.approx(stripline_ohm(sheet_mm), rel=0.15)


def test_layers_with_goals_and_layers_of_too_thick_copper_say_nothing() -> None:
    """Fast lines have widths of their own; a track as narrow as its taper cannot be solved."""
    assert low_impedance_layers(stackup(0.05, "fast"), FINEST_MM) == {}
    assert low_impedance_layers(stackup(0.05), 0.001) == {}
