"""Crosstalk between pairs by a 3-D field solver, and ours."""

from __future__ import annotations

import csv
import math
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.four_port import chain_of_modes, s_of_pair_chain
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from stackup_lib.transmission_lines.two_port import barrel_chain
from tests.physics.openems_pairs import PORTS
from tests.physics.openems_vias import COPPER_MM, REFERENCE

Complex = NDArray[np.complex128]
NEAR_END_TO_GHZ, FAR_END_FROM_GHZ = 2.0, 2.0


@dataclass(frozen=True)
class Crosstalk:
    """Size of what comes over from the other trace: theirs and ours."""

    ghz: float
    theirs: float
    ours: float

    @property
    def off_pct(self) -> float:
        """Ours less theirs, in per cent."""
        return 100 * (self.ours / self.theirs - 1)


@dataclass(frozen=True)
class Pair:
    """What leaves the ports near, far, near and far of the other trace, as frequencies by ports: theirs and ours."""

    name: str
    ghz: NDArray[np.float64]
    theirs: Complex
    ours: Complex
    delay_ps: tuple[float, float]

    def mode(self, sign: int) -> tuple[Complex, Complex]:
        """Transmission of the differential mode for -1, of the common one for 1: theirs and ours."""
        return self.theirs[:, 1] + sign * self.theirs[:, 3], self.ours[:, 1] + sign * self.ours[:, 3]

    def transmission_off_pct(self) -> float:
        """Largest difference in size of a mode's transmission."""
        return 100 * max(float(np.max(np.abs(np.abs(ours) / np.abs(theirs) - 1))) for theirs, ours in self._modes())

    def delay_off_pct(self) -> float:
        """Largest difference in phase delay, ours less theirs, from 1 GHz on."""
        found = []
        for (theirs, ours), delay in zip(self._modes(), self.delay_ps, strict=True):
            later_ps = 1e3 * np.angle(theirs / ours) / (2 * math.pi * self.ghz)
            found += (100 * later_ps / delay)[self.ghz >= 1].tolist()
        return float(max(found, key=abs))

    def crosstalk_off_pct(self, port: str) -> float:
        """Largest difference in size of crosstalk."""
        return self.crosstalk_at(port).off_pct

    def crosstalk_at(self, port: str) -> Crosstalk:
        """Where near-end crosstalk up to 2 GHz, or far-end crosstalk from there on, differs most."""
        near = port.startswith("near")
        here = self.ghz <= NEAR_END_TO_GHZ if near else self.ghz >= FAR_END_FROM_GHZ
        column = PORTS.index(port)
        found = [
            Crosstalk(float(ghz), float(abs(theirs)), float(abs(ours)))
            for ghz, theirs, ours in zip(
                self.ghz[here], self.theirs[here, column], self.ours[here, column], strict=True
            )
        ]
        return max(found, key=lambda one: abs(one.off_pct))

    def _modes(self) -> tuple[tuple[Complex, Complex], tuple[Complex, Complex]]:
        return self.mode(-1), self.mode(1)


@cache
def pairs() -> tuple[Pair, ...]:
    """Every pair that was solved."""
    read = tomllib.loads((REFERENCE / "openems_pairs.toml").read_text(encoding="utf-8"))
    with (REFERENCE / "openems_pairs.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return tuple(_pair(name, case, [row for row in rows if row["case"] == name]) for name, case in read["case"].items())


def _pair(name: str, case: dict[str, Any], rows: list[dict[str, str]]) -> Pair:
    sheet = DielectricSheet(name="ply", kind="core", thickness_mm=case["ply_mm"], dk=case["dk"])
    site = TraceEnvironment(layer="F.Cu", reference_below="In1.Cu", below=(sheet,), copper_mm=COPPER_MM)
    line = solve(site.section(case["width_mm"], case["gap_mm"]), 1e-5)
    ghz, length = np.array([float(row["ghz"]) for row in rows]), case["length_mm"]
    odd = barrel_chain(ghz, length, line.z_odd_ohm, line.eps_eff_odd, 1e-12)
    even = barrel_chain(ghz, length, line.z_even_ohm, line.eps_eff_even, 1e-12)
    ours = s_of_pair_chain(chain_of_modes(odd, even), 50.0)[:, [0, 1, 2, 3], 0]
    theirs = np.array([[complex(float(row[f"{port}_re"]), float(row[f"{port}_im"])) for port in PORTS] for row in rows])
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    delays = [1e3 * length * math.sqrt(eps) / LIGHT_MM_GHZ for eps in (line.eps_eff_odd, line.eps_eff_even)]
    return Pair(name, ghz, theirs, ours, (delays[0], delays[1]))
