"""Delays of lines as measured, and as we solve them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from drc_rules.analysis.lines.solved_lines import limit_of
from stackup_lib.transmission_lines.lossy import loss_of
from stackup_lib.transmission_lines.materials.conductor_models import NickelGold
from tests.support.physics.measured_loss import LINES, PER_INCH, foil_of, materials_of, solved

MEASURED = Path(__file__).parents[3] / "fixtures" / "reference" / "measured_delay_cases.toml"
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
