"""A lossy line over frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.transmission_lines.loss import Face, Filling, Line, LineLoss, line_from_impedance, loss_per_length
from stackup_lib.transmission_lines.materials.dielectric_models import PermittivityModel
from stackup_lib.transmission_lines.materials.laminate_models import laminate_model

GHZ = np.linspace(0, 40, 801)


def lossy(ohm: float = 42.0, ghz: NDArray[np.float64] = GHZ) -> LineLoss:
    """A stripline's values: Dk 3.6, Df 0.01 at 10 GHz, a trace of 0.1 x 0.015 mm."""
    model: PermittivityModel = laminate_model((), 3.6, 10.0, 0.01, 10.0)
    line: Line = line_from_impedance(ohm, 3.6, (Filling(1.0, 3.6, model),), (Face(12.0, 0.018),))
    return loss_per_length(line, ghz)
