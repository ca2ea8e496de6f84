"""From a laminate's tabulated Dk and Df to a causal permittivity over frequency."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from stackup_lib.core.record import record
from stackup_lib.materials import Match
from stackup_lib.materials.dielectric import SPAN
from stackup_lib.transmission_lines.materials.dielectric_models import (
    LOWER_CORNER_GHZ,
    UPPER_CORNER_GHZ,
    Complex,
    DielectricDataError,
    DielectricSample,
    PermittivityModel,
    fit_causal,
    loss_tangent,
    wideband_debye,
)

DK_GHZ = 1.0
"""Where a Dk is read for an impedance: a coupon's TDR edge of 0.1 to 0.3 ns holds 1 to 3 GHz."""

AGREES = 0.25
"""A causal fit stands for the data when it meets the Df in question within this share: no Df that is read off the
points lies farther off, so that one curve answers at every frequency. A Df from elsewhere decides alone."""


@record
class Scaled:
    """A permittivity times a real factor: the laminate's loss tangent and slope, the Dk that the stackup states."""

    model: PermittivityModel
    factor: float

    def permittivity(self, frequency_ghz: ArrayLike) -> Complex:
        """Return eps' - j eps'' at frequencies in GHz."""
        return np.asarray(self.factor * self.model.permittivity(frequency_ghz))


def samples_of(match: Match) -> tuple[DielectricSample, ...]:
    """Return Dk and Df of what a material text names, at every frequency that its data sheet states.

    A Df that rises above its last frequency has one sample more, where it is last known: the causal fit, which holds
    Df beyond its points, so follows what is read there.
    """
    if match.laminate is None:
        return ()
    constructions = match.laminate.constructions_of(match.style, match.resin_content_pct)
    points = [p for p in match.laminate.points if p.typical] + [p for c in constructions for p in c.points]
    frequencies = sorted({p.frequency_ghz for p in points if p.frequency_ghz is not None})
    read = ((f, match.dk_at(f).value, match.df_at(f).value) for f in frequencies)
    samples = [DielectricSample(f, dk, df) for f, dk, df in read if dk is not None or df is not None]
    last = next((s for s in reversed(samples) if s.df), None)
    if last is not None and last.df is not None:
        beyond_ghz = SPAN * last.frequency_ghz
        risen = match.df_at(beyond_ghz).value
        if risen is not None and risen > last.df:
            samples.append(DielectricSample(beyond_ghz, df=risen, printed=False))
    return tuple(samples)


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
    if fitted is not None and abs(loss_tangent(fitted, df_at_ghz) / df - 1) <= AGREES:
        return Scaled(fitted, dk / float(np.real(fitted.permittivity(dk_at_ghz))))
    single = through_point(dk, df, df_at_ghz)
    return Scaled(single, dk / float(np.real(single.permittivity(dk_at_ghz))))


@lru_cache(maxsize=256)
def _fitted(samples: tuple[DielectricSample, ...]) -> PermittivityModel | None:
    """Fit Df over frequency; None where nothing can be fitted, or no causal material has such a Df.

    One Dk is enough: it is scaled to the stackup's, and over frequency a causal Dk goes as its Df demands, better than
    sheets print it to two decimals.
    """
    dks = [DielectricSample(s.frequency_ghz, dk=s.dk) for s in samples if s.dk is not None]
    dfs = [replace(s, dk=None) for s in samples if s.df is not None]
    points = [*dfs, *dks[len(dks) // 2 :][:1]]
    try:
        return fit_causal(points, lower_corner_ghz=LOWER_CORNER_GHZ, upper_corner_ghz=UPPER_CORNER_GHZ)
    except DielectricDataError:
        return None
