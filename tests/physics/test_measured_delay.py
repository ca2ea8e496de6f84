"""Delay per length from drawing and data sheet to picoseconds, against boards that were measured."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from drc_rules.analysis.lines.solved_lines import limit_of
from stackup_lib.transmission_lines.lossy import loss_of
from stackup_lib.transmission_lines.materials.conductor_models import NickelGold
from tests.physics.test_measured_loss import LINES, PER_INCH, foil_of, materials_of, solved

MEASURED = Path(__file__).parents[2] / "fixtures" / "reference" / "measured_delay_cases.toml"
MAKERS_DK, FITTED_DK = "the maker's Dk", "Dk fitted to this line"


@dataclass(frozen=True)
class Delay:
    """A measured delay and ours, in ps/inch; `in_range` up to where a quasi-static answer is given."""

    line: str
    dk_from: str
    frequency_ghz: float
    measured: float
    uncertainty: float
    ours: float
    in_range: bool

    @property
    def off_pct(self) -> float:
        """Ours less measured, in per cent."""
        return 100 * (self.ours / self.measured - 1)


@cache
def delays() -> tuple[Delay, ...]:
    """Every measured delay, predicted from the maker's Dk where there is one, and from the fitted one."""
    out: list[Delay] = []
    for line in tomllib.loads(MEASURED.read_text(encoding="utf-8"))["line"]:
        name = line["id"]
        bonded, other = (rz.laws()[1] for rz in foil_of(name))
        finish = NickelGold() if LINES[name]["finish"] == "ENIG" else None
        for dk in (line.get("maker_dk"), None):
            if dk is None and out and out[-1].line == name and out[-1].dk_from == FITTED_DK:
                continue
            materials = materials_of(name, bonded, other, finish=finish, dk=dk)
            limit = limit_of(solved(name, dk)).frequency_ghz
            for ghz, measured, uncertainty in line["points"]:
                ours = float(loss_of(solved(name, dk), materials, ghz).delay_ps_per_mm) * PER_INCH
                source = MAKERS_DK if dk else FITTED_DK
                out.append(Delay(name, source, ghz, measured, uncertainty, ours, ghz <= limit))
    return tuple(out)


def of(dk_from: str, *, in_range: bool) -> list[Delay]:
    """Return the delays predicted from one Dk, within the range that we state, or beyond."""
    return [one for one in delays() if one.dk_from == dk_from and one.in_range == in_range]


def test_the_makers_dk_predicts_the_delay_within_two_percent() -> None:
    """Nothing is fitted. The two lines of one laminate differ by up to 1.5 % themselves: nickel slows one of them."""
    found = of(MAKERS_DK, in_range=True)
    assert len(found) == 14
    assert max(abs(one.off_pct) for one in found) < 2.0
    assert max(abs(one.off_pct) for one in found if one.line == "ASTRA-Copper") < 1.0


def test_the_change_of_the_delay_over_frequency_is_that_of_the_laminate() -> None:
    """With the Dk that was fitted to these lines the level is given, and what is left is the curve."""
    found = of(FITTED_DK, in_range=True)
    assert len(found) == 19
    assert max(abs(one.off_pct) for one in found) < 1.2


@pytest.mark.parametrize("dk_from", [MAKERS_DK, FITTED_DK])
def test_beyond_the_range_that_we_state_a_quasi_static_delay_is_too_short(dk_from: str) -> None:
    """Microstrip disperses: the field moves into the laminate. That is why the range ends where it does."""
    last = [one for one in of(dk_from, in_range=False) if one.frequency_ghz == 110.0]
    assert len(last) == 2
    assert all(-4.0 < one.off_pct < -1.5 for one in last)
