"""Coupling between two differential pairs side by side on one layer, from the field solver. Lengths in mm.

The solver takes two traces at a time. That is enough: the mutual terms of the inductance matrix and of the matrix of
potential coefficients (the inverse of the capacitance matrix) belong to open conductors, and a thin trace that carries
no net current or charge hardly changes the field between two others. Four traces are put together from such twos.
"""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.core.arrays import distinct
from stackup_lib.core.light import LIGHT_MM_PER_PS
from stackup_lib.core.record import record
from stackup_lib.field_solver.solver import LADDER, solve_once
from stackup_lib.transmission_lines.site import TraceEnvironment

RUNG = 1
"""Resolution: its matrices are good to about 1e-4, and errors of neighbouring distances cancel in the coupling."""


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
    first, second = (gap + width_mm for gap in gaps_mm)
    x = np.array([0.0, first, first + between_mm + width_mm, first + between_mm + width_mm + second])
    # rounded, so that equal distances are solved once
    apart = np.round(np.abs(x[:, None] - x), 6)
    inductance, potential = np.zeros((4, 4)), np.zeros((4, 4))
    for distance in distinct(apart[apart > 0]).tolist():
        found = solve_once(site.section(width_mm, distance - width_mm), LADDER[RUNG])
        for matrix, relative in ((inductance, found.relative_air_capacitance), (potential, found.relative_capacitance)):
            inverse = np.linalg.inv(relative)
            matrix[apart == distance] = inverse[0, 1]
            np.fill_diagonal(matrix, inverse[0, 0])  # the last one is of the traces farthest apart
    modes = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    own_l, own_p = (modes @ matrix @ modes.T for matrix in (inductance, potential))
    speed = math.sqrt(own_p[0, 0] / own_l[0, 0])
    return PairCoupling(
        inductive=float(own_l[0, 1] / math.sqrt(own_l[0, 0] * own_l[1, 1])),
        capacitive=float(own_p[0, 1] / math.sqrt(own_p[0, 0] * own_p[1, 1])),
        delay_ps_per_mm=1 / (LIGHT_MM_PER_PS * speed),
    )
