"""Coupling between two differential pairs side by side on one layer, from the field solver. Lengths in mm.

All four traces are solved at once: each shields its neighbours, whether or not it carries a net current.
"""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.core.light import LIGHT_MM_PER_PS
from stackup_lib.core.record import record
from stackup_lib.field_solver.solver import LADDER, solve_once
from stackup_lib.transmission_lines.site import TraceEnvironment

RUNG = 0
"""Resolution: of usual microstrips and striplines, one to four heights apart, near-end coupling is within 0.2 % of that
of the third rung (0.6 % of one that is next to nothing). A stackup's tolerances move it by several percent."""


@record
class PairCoupling:
    """How two pairs couple, as ratios of differential voltages.

    Attributes:
        inductive, capacitive: mutual over own term of the differential inductance and of the potential coefficients.
        delay_ps_per_mm: of the differential mode.
    """

    inductive: float
    capacitive: float
    delay_ps_per_mm: float

    def near_end(self, length_mm: float, frequency_ghz: float) -> float:
        """Return what reaches the near end at most, at any frequency up to this one: (kL + kC)/2 sin(2 pi f T).

        The sine is 1 from a quarter of a wavelength on; T is the delay of the run. What a step leaves is half of it
        (H. Johnson, M. Graham, High-Speed Digital Design, 1993, chapter 5).
        """
        turn = min(2 * math.pi * frequency_ghz * self.delay_ps_per_mm * length_mm / 1000, math.pi / 2)
        return abs(self.inductive + self.capacitive) / 2 * math.sin(turn)

    def far_end(self, length_mm: float, frequency_ghz: float) -> float:
        """Return what reaches the far end of a run: pi f T |kC - kL| with the delay T of the run; 0 in a stripline."""
        delay_ns = self.delay_ps_per_mm * length_mm / 1000
        return math.pi * frequency_ghz * delay_ns * abs(self.capacitive - self.inductive)


def pair_coupling(
    site: TraceEnvironment, width_mm: float, gaps_mm: tuple[float, float], between_mm: float
) -> PairCoupling:
    """Return the coupling of two pairs of one trace width.

    Args:
        site: the layer's surroundings.
        width_mm: of all four traces.
        gaps_mm: within either pair, edge to edge.
        between_mm: from pair to pair, edge to edge.

    Raises:
        GeometryError: it cannot exist.
    """
    solved = solve_once(site.two_pairs(width_mm, gaps_mm, between_mm), LADDER[RUNG])
    inductance, potential = (
        np.linalg.inv(matrix) for matrix in (solved.relative_air_capacitance, solved.relative_capacitance)
    )
    modes = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    own_l, own_p = (modes @ matrix @ modes.T for matrix in (inductance, potential))
    speed = math.sqrt(own_p[0, 0] / own_l[0, 0])
    return PairCoupling(
        inductive=float(own_l[0, 1] / math.sqrt(own_l[0, 0] * own_l[1, 1])),
        capacitive=float(own_p[0, 1] / math.sqrt(own_p[0, 0] * own_p[1, 1])),
        delay_ps_per_mm=1 / (LIGHT_MM_PER_PS * speed),
    )
