"""Causal permittivity over frequency: wideband Debye from one (Dk, Df, f), and a causal fit through several.

Convention exp(+j omega t): eps = eps' - j eps'', Dk = eps', Df = eps''/eps'. Frequencies in GHz. Every model here is a
sum of Debye relaxations with non-negative strengths, hence causal and passive by construction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import record
from stackup_lib.transmission_lines.materials.nonnegative import nonnegative_least_squares

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]

LOWER_CORNER_GHZ = 1e-6
"""1 kHz: far below every board signal; moves Dk only by its share of the spread below the data."""

UPPER_CORNER_GHZ = 1000.0
"""1 THz: keeps Df flat to beyond 110 GHz. Some solvers stop at 159.15 GHz (1e12 rad/s), where Df at 67 GHz is already a
quarter lower: pass the corner of the program that is compared with."""

DK_TOLERANCE = 0.03
"""A causal fit that leaves a larger relative error in Dk means data that contradict each other. Two methods of
measurement (through the sheet, along the sheet) alone differ by 1 to 3 %."""

DF_TOLERANCE = 0.25
"""The same for Df, relative; or `DF_ROUNDING`, whichever allows more. Sheets print Df to one or two digits."""

DF_ROUNDING = 0.001

_BANDS_PER_DECADE = 4
_DK_OFF = 0.002  # what counts as an error of one: 0.2 % in Dk
_DF_OFF = 0.02  # 2 % in a Df, or half a step of its last digit
_BETWEEN_OFF = 0.05  # 5 % in Df between the points, and where a trend goes on beyond them
_SMOOTH_WEIGHT = 0.3
_BETWEEN_PER_DECADE = 4  # Df between its points, as dense as the bands
_BEYOND = 10.0  # and held beyond them by this factor, for a trend must not run away where there are no measurements


class DielectricDataError(StackwrightError):
    """Dk and Df that no causal material can have, or that make no sense."""


class PermittivityModel(Protocol):
    """Anything that knows its complex relative permittivity over frequency."""

    def permittivity(self, frequency_ghz: ArrayLike) -> Complex:
        """Return eps' - j eps'' at frequencies in GHz."""
        ...


def loss_tangent(model: PermittivityModel, frequency_ghz: float) -> float:
    """Return Df of a model at a frequency in GHz."""
    eps = complex(np.asarray(model.permittivity(frequency_ghz)))
    return -eps.imag / eps.real


@record
class DielectricSample:
    """Dk, Df or both at one frequency; one that is not `printed` is carried on from those that are, and counts less."""

    frequency_ghz: float
    dk: float | None = None
    df: float | None = None
    printed: bool = True


@record
class WidebandDebye:
    """eps(f) = eps_inf + delta_eps / ln(f2/f1) * ln((f2 + jf)/(f1 + jf)).

    A. R. Djordjevic, R. M. Biljic, V. D. Likar-Smiljanic, T. K. Sarkar, "Wideband frequency-domain characterization of
    FR-4 and time-domain causality", IEEE Trans. EMC 43 (2001) 662-667. C. Svensson, G. E. Dermer, IEEE Trans. Adv.
    Packaging 24 (2001) 191-196, is the same with its lower corner at 0. Valid between the corners, half a decade off.

    Attributes:
        eps_inf: relative permittivity far above `upper_corner_ghz`.
        delta_eps: fall of the permittivity from far below `lower_corner_ghz` to far above `upper_corner_ghz`.
    """

    eps_inf: float
    delta_eps: float
    lower_corner_ghz: float
    upper_corner_ghz: float

    def permittivity(self, frequency_ghz: ArrayLike) -> Complex:
        """Return eps' - j eps'' at frequencies in GHz, 0 allowed."""
        span = math.log(self.upper_corner_ghz / self.lower_corner_ghz)
        strength = self.delta_eps / span
        return self.eps_inf + strength * debye_band(frequency_ghz, self.lower_corner_ghz, self.upper_corner_ghz)


def debye_band(frequency_ghz: ArrayLike, lower_ghz: float, upper_ghz: float) -> Complex:
    """Return ln((f_b + jf)/(f_a + jf)): Debye relaxations of unit density per ln f between two frequencies.

    It is the integral of 1/(1 + jf/x) dx/x from f_a to f_b.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64)
    return np.asarray(np.log((upper_ghz + 1j * f) / (lower_ghz + 1j * f)), dtype=np.complex128)


def wideband_debye(
    dk: float, df: float, frequency_ghz: float, *, lower_corner_ghz: float, upper_corner_ghz: float
) -> WidebandDebye:
    """Return the wideband Debye model through one datasheet point.

    Args:
        dk: relative permittivity at `frequency_ghz`.
        df: loss tangent there; 0 gives a constant permittivity.
        frequency_ghz: between the corners.
        lower_corner_ghz: f1; no default, since it is part of the answer (see `LOWER_CORNER_GHZ`).
        upper_corner_ghz: f2; moves loss at high frequency most (see `UPPER_CORNER_GHZ`).

    Raises:
        DielectricDataError: values that make no sense, or a Df so large that eps_inf falls below 1.
    """
    sample = DielectricSample(frequency_ghz, dk, df)
    _check([sample], lower_corner_ghz, upper_corner_ghz)
    band = complex(debye_band(frequency_ghz, lower_corner_ghz, upper_corner_ghz))
    strength = -dk * df / band.imag
    eps_inf = dk - strength * band.real
    if eps_inf < 1:
        raise _impossible(sample, f"the loss implies a permittivity of {eps_inf:.3g} at high frequency, below 1")
    span = math.log(upper_corner_ghz / lower_corner_ghz)
    return WidebandDebye(eps_inf, strength * span, lower_corner_ghz, upper_corner_ghz)


@record
class CausalDielectric:
    """Permittivity as Debye relaxations of stepwise constant density over ln f, fitted through several points.

    Attributes:
        eps_inf: relative permittivity far above the last edge.
        edges_ghz: n + 1 band edges, rising.
        densities: n non-negative relaxation strengths per unit of ln f.
        dk_residual: largest relative error of Dk at the given points, 0 if none.
        df_residual: largest error of Df at the given points (absolute), 0 if none.
    """

    eps_inf: float
    edges_ghz: tuple[float, ...]
    densities: tuple[float, ...]
    dk_residual: float
    df_residual: float

    def permittivity(self, frequency_ghz: ArrayLike) -> Complex:
        """Return eps' - j eps'' at frequencies in GHz, 0 allowed."""
        f = np.asarray(frequency_ghz, dtype=np.float64)
        bands = _bands(f.ravel(), np.asarray(self.edges_ghz))
        return np.asarray(self.eps_inf + bands @ np.asarray(self.densities), dtype=np.complex128).reshape(f.shape)


def fit_causal(
    samples: Sequence[DielectricSample],
    *,
    lower_corner_ghz: float,
    upper_corner_ghz: float,
    dk_tolerance: float = DK_TOLERANCE,
    df_tolerance: float = DF_TOLERANCE,
) -> CausalDielectric:
    """Return the smoothest causal permittivity through points of Dk, Df or both.

    Least squares with non-negative strengths (Lawson-Hanson NNLS), with a small weight on steps of the density: where
    the data are silent it stays flat, so that a single point gives exactly `wideband_debye`. Between several points Df
    goes straight in log f and beyond them it stays, as a table is read; the fit rounds the corners off, since the loss
    of no causal material can have them.

    Args:
        samples: at least one Dk and one Df, at any frequencies between the corners.
        lower_corner_ghz: lower end of the relaxations.
        upper_corner_ghz: upper end of the relaxations.
        dk_tolerance: largest relative error of Dk that is let pass.
        df_tolerance: largest relative error of Df that is let pass (or `DF_ROUNDING`, absolute).

    Raises:
        DielectricDataError: no causal material comes within the tolerances; or nothing to fit.
    """
    _check(samples, lower_corner_ghz, upper_corner_ghz)
    count = max(2, round(_BANDS_PER_DECADE * math.log10(upper_corner_ghz / lower_corner_ghz)))
    edges = np.geomspace(lower_corner_ghz, upper_corner_ghz, count + 1)
    matrix, target = _equations(samples, edges)
    # unknowns: eps_inf - 1 >= 0 and the densities >= 0
    solution = _not_negative(matrix, target - matrix[:, 0])
    fit = _with_residuals(1 + float(solution[0]), edges, solution[1:], samples)
    _judge(fit, samples, dk_tolerance, df_tolerance)
    return fit


def _df_between(samples: Sequence[DielectricSample]) -> list[DielectricSample]:
    """Df between its points and a little beyond them; nothing for a single point."""
    known = sorted((s.frequency_ghz, s.df) for s in samples if s.df is not None)
    if len(known) < 2:
        return []
    at, df = np.log([f for f, _ in known]), [value for _, value in known]
    first, last = known[0][0] / _BEYOND, known[-1][0] * _BEYOND
    between = np.geomspace(first, last, 1 + math.ceil(_BETWEEN_PER_DECADE * math.log10(last / first)))
    return [DielectricSample(float(f), df=float(np.interp(math.log(f), at, df))) for f in between]


def _not_negative(matrix: Real, target: Real) -> Real:
    """Least squares; the search for those without negative unknowns takes a few times as long and is rarely needed."""
    plain = np.asarray(np.linalg.lstsq(matrix, target, rcond=None)[0], dtype=np.float64)
    return plain if plain.min() >= 0 else nonnegative_least_squares(matrix, target, guess=plain)


def _bands(frequency_ghz: Real, edges: Real) -> Complex:
    f = 1j * frequency_ghz[:, None]
    return np.asarray(np.log((edges[None, 1:] + f) / (edges[None, :-1] + f)), dtype=np.complex128)


def _df_off(df: float, share: float) -> float:
    """What counts as an error of one in a Df; sheets print three decimals at least, and 0.010 comes here as 0.01."""
    last_digit = math.pow(10.0, float(Decimal(repr(float(df))).as_tuple().exponent))
    return max(share * df, min(last_digit, DF_ROUNDING) / 2, 1e-6)


def _equations(samples: Sequence[DielectricSample], edges: Real) -> tuple[Real, Real]:
    """Weighted rows for (eps_inf, densities): Dk, then Df as eps'' - Df eps' = 0, then flatness."""
    between = _df_between(samples)
    frequencies = np.array([s.frequency_ghz for s in (*samples, *between)])
    bands = _bands(frequencies, edges)
    middle_dk = float(np.mean([s.dk for s in samples if s.dk is not None]))
    rows: list[Real] = []
    target: list[float] = []
    offs = [_DF_OFF if s.printed else _BETWEEN_OFF for s in samples] + [_BETWEEN_OFF] * len(between)
    for sample, band, off in zip((*samples, *between), bands, offs, strict=True):
        if sample.dk is not None:
            rows.append(np.concatenate([[1.0], band.real]) / (_DK_OFF * sample.dk))
            target.append(1 / _DK_OFF)
        if sample.df is not None:
            scale = 1 / (middle_dk * _df_off(sample.df, off))
            rows.append(np.concatenate([[-sample.df], -band.imag - sample.df * band.real]) * scale)
            target.append(0.0)
    count = len(edges) - 1
    typical = middle_dk * max(float(np.mean([s.df for s in samples if s.df is not None])), 1e-4)
    steps = np.zeros((count - 1, count + 1))
    steps[:, 1:] = np.diff(np.eye(count), axis=0) * (_SMOOTH_WEIGHT / typical)
    return np.vstack([*rows, steps]), np.concatenate([target, np.zeros(count - 1)])


def _with_residuals(
    eps_inf: float, edges: Real, densities: Real, samples: Sequence[DielectricSample]
) -> CausalDielectric:
    bare = CausalDielectric(eps_inf, tuple(map(float, edges)), tuple(map(float, densities)), 0.0, 0.0)
    eps = bare.permittivity([s.frequency_ghz for s in samples])
    dk_off = [abs(e.real / s.dk - 1) for e, s in zip(eps, samples, strict=True) if s.dk is not None]
    df_off = [abs(-e.imag / e.real - s.df) for e, s in zip(eps, samples, strict=True) if s.df is not None]
    return CausalDielectric(
        bare.eps_inf, bare.edges_ghz, bare.densities, float(max(dk_off, default=0)), float(max(df_off, default=0))
    )


def _judge(fit: CausalDielectric, samples: Sequence[DielectricSample], dk_tol: float, df_tol: float) -> None:
    eps = fit.permittivity([s.frequency_ghz for s in samples])
    for e, sample in zip(eps, samples, strict=True):
        dk, df = float(e.real), float(-e.imag / e.real)
        if sample.dk is not None and abs(dk / sample.dk - 1) > dk_tol:
            raise _impossible(sample, f"the nearest causal material has Dk {dk:.3g}")
        if sample.df is not None and abs(df - sample.df) > max(df_tol * sample.df, DF_ROUNDING):
            raise _impossible(sample, f"the nearest causal material has Df {df:.2g}")


def _check(samples: Sequence[DielectricSample], lower_ghz: float, upper_ghz: float) -> None:
    where = "dielectric data"
    if not (0 < lower_ghz < upper_ghz < math.inf):
        raise DielectricDataError(where, f"corners {lower_ghz:g} and {upper_ghz:g} GHz", "give 0 < lower < upper")
    if not any(s.dk is not None for s in samples) or not any(s.df is not None for s in samples):
        raise DielectricDataError(where, "no Dk or no Df among the points", "give at least one of each, with frequency")
    for sample in samples:
        if not lower_ghz <= sample.frequency_ghz <= upper_ghz:
            raise _impossible(sample, f"the frequency is outside the corners {lower_ghz:g} to {upper_ghz:g} GHz")
        if sample.dk is not None and not 1 <= sample.dk < math.inf:
            raise _impossible(sample, "Dk must be at least 1")
        if sample.df is not None and not 0 <= sample.df < 1:
            raise _impossible(sample, "Df must be from 0 to 1")


def _impossible(sample: DielectricSample, what: str) -> DielectricDataError:
    parts = [f"{n} {v:g}" for n, v in (("Dk", sample.dk), ("Df", sample.df)) if v is not None]
    where = f"{' and '.join(parts)} at {sample.frequency_ghz:g} GHz"
    return DielectricDataError(where, what, "check value and frequency against the data sheet")
