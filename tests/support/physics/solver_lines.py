"""Half of each straight line that the 3-D solver of vias was run with: port and 4 mm of line, found from the whole.

What the solver's lines and ports do is in its S-parameters of a via too. Line impedance, permittivity with its rise
over frequency, capacitance and inductance of the port are fitted to S11 and the phase of S21 of the line alone.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.transmission_lines.two_port import in_a_row, reversed_chain, s_of_chain, series_chain, shunt_chain
from tests.physics.openems_vias import LINE_MM, REFERENCE

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

UP_TO_GHZ = 12.5
"""Above it ports radiate into the planes and the fit gets worse where vias are compared."""


@dataclass(frozen=True)
class SolverLine:
    """A line of the solver between its port and the via.

    Attributes:
        ohm, eps: of the line; `rise`: of its permittivity, as a share, at 10 GHz.
        port_ff, port_ph: of the port, across and along the line; negative where the line's end is shorter.
        residual: rms of what the fit leaves of S11 and of the phase of S21.
    """

    ohm: float
    eps: float
    rise: float
    port_ff: float
    port_ph: float
    residual: float = 0.0

    def chain(self, ghz: Real) -> Complex:
        """Return the chain from the port to the via."""
        omega = 2e9 * math.pi * ghz
        angle = 2 * math.pi * ghz * LINE_MM * np.sqrt(self.eps * (1 + self.rise * (ghz / 10) ** 2)) / LIGHT_MM_GHZ
        line = np.empty((len(ghz), 2, 2), dtype=np.complex128)
        line[:, 0, 0] = line[:, 1, 1] = np.cos(angle)
        line[:, 0, 1], line[:, 1, 0] = 1j * self.ohm * np.sin(angle), 1j * np.sin(angle) / self.ohm
        along, across = (np.asarray(1j * omega * one) for one in (self.port_ph * 1e-12, self.port_ff * 1e-15))
        return in_a_row([series_chain(along), shunt_chain(across), line], len(ghz))


@cache
def solver_lines() -> dict[tuple[str, int], SolverLine]:
    """Return the lines by board and layer; the boards are symmetric, so layers count from the nearer side."""
    with (REFERENCE / "openems_lines.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {key: _fitted([row for row in rows if (row["board"], int(row["layer"])) == key]) for key in _keys(rows)}


def _keys(rows: list[dict[str, str]]) -> list[tuple[str, int]]:
    return list(dict.fromkeys((row["board"], int(row["layer"])) for row in rows))


def _fitted(rows: list[dict[str, str]]) -> SolverLine:
    rows = [row for row in rows if float(row["ghz"]) <= UP_TO_GHZ]
    ghz, s11, s21 = np.array([[float(row["ghz"]) for row in rows], _complex(rows, "s11"), _complex(rows, "s21")])
    ghz = ghz.real

    def missed(values: Real) -> Real:
        near = SolverLine(*map(float, values)).chain(ghz)
        s = s_of_chain(near @ reversed_chain(near), 50.0)
        return np.concatenate([(s[:, 0, 0] - s11).real, (s[:, 0, 0] - s11).imag, np.angle(s[:, 1, 0] / s21)])

    best = least_squares(missed, [50.0, 3.3, 0.0, 0.0, 0.0], x_scale=[5.0, 0.3, 0.1, 10.0, 10.0])
    ohm, eps, rise, port_ff, port_ph = map(float, best.x)
    return SolverLine(ohm, eps, rise, port_ff, port_ph, residual=float(np.sqrt(np.mean(best.fun**2))))


def _complex(rows: list[dict[str, str]], name: str) -> list[complex]:
    return [complex(float(row[f"{name}_re"]), float(row[f"{name}_im"])) for row in rows]
