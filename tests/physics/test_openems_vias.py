"""The delay of vias against a 3-D field solver; `openems_vias.py` tells how the reference was made."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import pytest

from drc_rules.analysis.delay.via_delay import delay_ps
from stackup_lib.core.interval import Interval
from stackup_lib.vias.stub_resonance import ViaShape
from tests.physics.openems_vias import REFERENCE, copper_mm

COLUMN = "delay_5_ghz_ps"


@dataclass(frozen=True)
class ViaCase:
    """A via as the 3-D solver has it at 5 GHz, and ours, in ps."""

    name: str
    theirs_ps: float
    ours_ps: Interval
    has_stub: bool

    @property
    def off_pct(self) -> float:
        """Ours less theirs, in per cent."""
        return 100 * (self.ours_ps.nominal / self.theirs_ps - 1)


@cache
def vias() -> tuple[ViaCase, ...]:
    """Every layer change that was solved."""
    read = tomllib.loads((REFERENCE / "openems_vias.toml").read_text(encoding="utf-8"))
    with (REFERENCE / "openems_vias.csv").open(encoding="utf-8", newline="") as lines:
        solved = {row["case"]: float(row[COLUMN]) for row in csv.DictReader(lines)}
    cases = {name: {**read["board"][case["board"]], **case} for name, case in read["case"].items()}
    return tuple(_case(name, case, solved[name]) for name, case in cases.items())


def _case(name: str, case: dict[str, Any], theirs_ps: float) -> ViaCase:
    heights = [-sum(face) / 2 for face in copper_mm(case["plies_mm"])]
    top, bottom = case["barrel"]
    upper, lower = sorted((case["entry"], case["exit"]))
    overhangs = (heights[upper] - heights[top], heights[bottom] - heights[lower])
    pad = case["pad_mm"] if case["has_all_pads"] else None
    shape = ViaShape(barrel_mm=case["drill_mm"], antipad_mm=case["antipad_mm"], pad_mm=pad)
    ours = delay_ps(shape, heights[lower] - heights[upper], overhangs, case["dk"])
    return ViaCase(name, theirs_ps, ours, has_stub=any(mm > 0 for mm in overhangs))


def test_every_via_lies_within_our_range() -> None:
    """From a bare barrel to one that everything loads."""
    assert len(vias()) == 10
    assert [one.name for one in vias() if not one.ours_ps.low <= one.theirs_ps <= one.ours_ps.high] == []


def test_the_nominal_delay_is_within_a_fifth_and_in_the_middle_within_a_tenth() -> None:
    """A barrel between two planes alone is farthest off: its pads load it less than between many."""
    off = {one.name: abs(one.off_pct) for one in vias()}
    assert max(off.values()) < 20.0
    assert max(off, key=lambda name: off[name]) == "four_wide"
    assert median(off.values()) < 10.0


def test_an_overhang_delays_as_the_solver_says() -> None:
    """From F.Cu to In2.Cu of eight layers: 0.37 mm take 3.1 ps in a blind via and 9.7 ps in a through via."""
    by_name = {one.name: one for one in vias()}
    with_rest, blind = by_name["eight_stub"], by_name["eight_blind"]
    assert with_rest.has_stub and not blind.has_stub
    ours = with_rest.ours_ps.nominal - blind.ours_ps.nominal
    assert ours == pytest.approx(with_rest.theirs_ps - blind.theirs_ps, rel=0.15)
