"""From a laminate's tabulated Dk and Df to a causal permittivity over frequency."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from stackup_lib.lines.dielectric_models import (
    LOWER_CORNER_GHZ,
    UPPER_CORNER_GHZ,
    Complex,
    DielectricDataError,
    DielectricSample,
    PermittivityModel,
    fit_causal,
    wideband_debye,
)
from stackup_lib.materials import Match

AGREES = 0.03
"""A causal fit stands for the data when it meets the Df in question within this share; else one point decides."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """A permittivity times a real factor: the laminate's loss tangent and slope, the Dk that the stackup states."""

    model: PermittivityModel
    factor: float

    def permittivity(self, frequency_ghz: ArrayLike) -> Complex:
        """Return eps' - j eps'' at frequencies in GHz."""
        return np.asarray(self.factor * self.model.permittivity(frequency_ghz))


def samples_of(match: Match) -> tuple[DielectricSample, ...]:
    """Return Dk and Df of what a material text names, at every frequency that its data sheet states."""
    if match.laminate is None:
        return ()
    constructions = match.laminate.constructions_of(match.style, match.resin_content_pct)
    points = [p for p in match.laminate.points if p.typical] + [p for c in constructions for p in c.points]
    frequencies = sorted({p.frequency_ghz for p in points if p.frequency_ghz is not None})
    read = ((f, match.dk_at(f).value, match.df_at(f).value) for f in frequencies)
    return tuple(DielectricSample(f, dk, df) for f, dk, df in read if dk is not None or df is not None)


def through_point(dk: float, df: float, frequency_ghz: float) -> PermittivityModel:
    """Return the wideband Debye model through one point, between the corners that this project uses."""
    return wideband_debye(dk, df, frequency_ghz, lower_corner_ghz=LOWER_CORNER_GHZ, upper_corner_ghz=UPPER_CORNER_GHZ)


def laminate_model(
    samples: tuple[DielectricSample, ...], dk: float, dk_at_ghz: float, df: float, df_at_ghz: float
) -> PermittivityModel:
    """Return a causal permittivity through the laminate's points that has the Dk and Df in question.

    Args:
        samples: the data sheet's points, none or several.
        dk: relative permittivity that the stackup is solved with.
        dk_at_ghz: where it holds.
        df: loss tangent that decides.
        df_at_ghz: where it holds.

    Raises:
        DielectricDataError: Dk and Df that no material can have.
    """
    fitted = _fitted(samples)
    if fitted is not None:
        there = complex(np.asarray(fitted.permittivity(df_at_ghz)))
        if abs(-there.imag / there.real / df - 1) <= AGREES:
            return Scaled(fitted, dk / float(np.real(fitted.permittivity(dk_at_ghz))))
    single = through_point(dk, df, df_at_ghz)
    return Scaled(single, dk / float(np.real(single.permittivity(dk_at_ghz))))


@lru_cache(maxsize=256)
def _fitted(samples: tuple[DielectricSample, ...]) -> PermittivityModel | None:
    """Fit the points; data sheets whose points no causal material can have are left to the one that decides."""
    try:
        return fit_causal(samples, lower_corner_ghz=LOWER_CORNER_GHZ, upper_corner_ghz=UPPER_CORNER_GHZ)
    except DielectricDataError:
        return None
