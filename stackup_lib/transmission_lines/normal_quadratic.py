"""The exact distribution of a quadratic form in independent standard normal variables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import entity

Real = NDArray[np.float64]

REACH = 9.0
"""Standard deviations within which all but 1e-18 of the probability lies."""

TERMS = 200
"""Of the inversion integral; its error is far below 1e-9 where the linear part dominates."""


@entity
class NormalQuadratic:
    """Y = mean + g.u + u.H.u / 2, u independent and standard normal.

    Attributes:
        constant: value at u = 0.
        gradient: g, (n,).
        hessian: H, (n, n), symmetric.
    """

    constant: float
    gradient: Real
    hessian: Real

    def at(self, u: Real) -> Real:
        """Return Y at points u, (..., n)."""
        return np.asarray(self.constant + u @ self.gradient + ((u @ self.hessian) * u).sum(axis=-1) / 2)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.constant + float(np.trace(self.hessian)) / 2

    @property
    def sigma(self) -> float:
        """Standard deviation."""
        return math.sqrt(float(self.gradient @ self.gradient) + float(np.sum(self.hessian**2)) / 2)

    @property
    def linear(self) -> NormalQuadratic:
        """The same without curvature."""
        return NormalQuadratic(self.constant, self.gradient, np.zeros_like(self.hessian))

    def below(self, y: float) -> float:
        """Return P(Y < y), by inversion of the characteristic function (Gil-Pelaez 1951, Imhof 1961).

        The function is the product of exp(-b^2 t^2 / (2 (1 - i k t))) / sqrt(1 - i k t) over the eigenvalues k of H,
        with b the gradient along its eigenvectors. The integral is a midpoint sum (Davies 1973).
        """
        sigma = self.sigma
        if sigma == 0:
            return float(y > self.constant)
        if abs(y - self.mean) > REACH * sigma:
            return float(y > self.mean)
        curvature, along = np.linalg.eigh(self.hessian)
        b = along.T @ self.gradient
        step = math.pi / (2 * REACH * sigma)
        t = (np.arange(TERMS) + 0.5) * step
        turned = 1 - 1j * t[:, None] * curvature
        log_phi = -0.5 * np.log(turned).sum(axis=1) - 0.5 * ((b * t[:, None]) ** 2 / turned).sum(axis=1)
        wave = np.exp(log_phi + 1j * t * (self.constant - y))
        return min(max(0.5 - float(np.sum(wave.imag / t)) * step / math.pi, 0.0), 1.0)

    def between(self, low: float, high: float) -> float:
        """Return P(low < Y < high)."""
        return max(self.below(high) - self.below(low), 0.0)

    def quantile(self, share: float) -> float:
        """Return y with P(Y < y) = share, to a thousandth of the standard deviation."""
        low, high = self.mean - REACH * self.sigma, self.mean + REACH * self.sigma
        while high - low > 1e-3 * self.sigma:
            middle = (low + high) / 2
            low, high = (middle, high) if self.below(middle) < share else (low, middle)
        return (low + high) / 2
