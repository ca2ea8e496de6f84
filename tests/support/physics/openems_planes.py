"""Peaks and floors of pairs of planes: those of a 3-D field solver, and ours from the same dimensions."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np

from stackup_lib.power.over_frequency.circuit import GROUND, SeriesBranch
from stackup_lib.power.over_frequency.plane_outline import outline_modes
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort
from stackup_lib.transmission_lines.materials.conductor_models import Complex
from tests.physics.openems_planes import EDGE_MM, REFERENCE, extremes, frequencies_hz
from tests.support.once_per_run import once_per_run
from tests.support.physics.plane_cells import cells_of

PORT_MM = EDGE_MM / 0.447
"""Side of the square whose geometric mean distance is the radius of one edge of the solver's mesh."""


@dataclass(frozen=True)
class Extreme:
    """A peak or a floor of |Z|: theirs and ours."""

    case: str
    impedance: str
    kind: str
    theirs_mhz: float
    theirs_ohm: float
    ours_mhz: float
    ours_ohm: float

    @property
    def off_pct(self) -> float:
        """Our |Z| less theirs, in per cent."""
        return 100 * (self.ours_ohm / self.theirs_ohm - 1)

    @property
    def off_mhz_pct(self) -> float:
        """Our frequency less theirs, in per cent."""
        return 100 * (self.ours_mhz / self.theirs_mhz - 1)


@once_per_run
def plane_extremes() -> tuple[Extreme, ...]:
    """All cases; raises `ValueError` where one has other peaks and floors than the other."""
    read = tomllib.loads((REFERENCE / "openems_planes.toml").read_text(encoding="utf-8"))
    with (REFERENCE / "openems_planes.csv").open(encoding="utf-8", newline="") as lines:
        solved = list(csv.DictReader(lines))
    found = []
    hertz = frequencies_hz()
    for name, case in read["case"].items():
        own = solved_planes({"capacitors": [], **read["common"], **case})
        for column, impedance in enumerate(("input", "transfer")):
            theirs = [row for row in solved if (row["case"], row["impedance"]) == (name, impedance)]
            for row, (kind, mhz, ohm) in zip(theirs, extremes(hertz, own[:, column]), strict=True):
                if row["kind"] != kind:
                    raise ValueError(f"{name}: {kind} at {mhz:g} MHz where theirs is a {row['kind']}")
                found.append(Extreme(name, impedance, kind, float(row["mhz"]), float(row["ohm"]), mhz, ohm))
    return tuple(found)


def solved_planes(case: dict[str, Any]) -> Complex:
    """Our input and transfer impedance, shape (frequencies, 2); the laminate's Df falls with frequency."""
    places = [case["port_mm"], case["open_mm"], *(one["at_mm"] for one in case["capacitors"])]
    parts = [SeriesBranch("C", "C", GROUND, one["mohm"] * 1e-3, 0.0, one["nf"] * 1e-9) for one in case["capacitors"]]
    modes = outline_modes(cells_of(case["copper_mm"]), [PlanePort(x, y, PORT_MM) for x, y in places])
    found = []
    for hz in frequencies_hz():
        df = min(0.99, case["df"] * case["df_at_ghz"] * 1e9 / hz)
        pair = PlanePair(1.0, case["spacing_mm"], case["dk"], df, case["copper_um"] * 1e-3)
        z = modes.impedance_ohm(pair, np.array([hz]))[0]
        for number, part in enumerate(parts, start=2):
            own = part.impedance_ohm(np.array([hz]))[0]
            z = z - np.outer(z[:, number], z[number, :]) / (z[number, number] + own)
        found.append(z[0, :2])
    return np.array(found)
