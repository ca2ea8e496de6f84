"""Does a permittivity obey the Kramers-Kronig relation, that is: is it causal?"""

from __future__ import annotations

import math

import numpy as np

from stackup_lib.transmission_lines.materials.dielectric_models import PermittivityModel


def kramers_kronig_gap(model: PermittivityModel, at_ghz: float, eps_inf: float, step: float = 0.002) -> float:
    """Return eps' - eps_inf - (2/pi) P-integral of eps'' x/(x^2 - f^2) dx, relative to eps'.

    Maclaurin's rule on a grid in ln x with the pole half way between two nodes: the principal value needs no care.
    """
    n = np.arange(-int(30 / step), int(30 / step)) + 0.5
    x = at_ghz * np.exp(n * step)
    loss = -model.permittivity(x).imag
    integral = np.sum(loss * x**2 / (x**2 - at_ghz**2)) * step
    there = complex(model.permittivity(at_ghz)).real
    return abs(eps_inf + 2 / math.pi * float(integral) - there) / there
