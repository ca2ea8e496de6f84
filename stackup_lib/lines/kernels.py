"""Potential and field of straight charged elements, in closed form.

An element is the straight piece `centre + half * t`, t in [-1, 1], in the complex plane; its charge density is a sum of
Legendre polynomials P_n(t). With the target in element coordinates, zeta = (z - centre) / half, and Q_n the Legendre
function of the second kind (Abramowitz & Stegun 8.8.3, Neumann's integral):

    integral P_n(t) / (zeta - t) dt     = 2 Q_n(zeta)
    integral P_n(t) ln(zeta - t) dt     = 2 (Q_{n+1}(zeta) - Q_{n-1}(zeta)) / (2 n + 1)        n >= 1
    integral ln(zeta - t) dt            = ln(zeta^2 - 1) + 2 Q_1(zeta)
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]

_FEW = 6
"""Up to this many functions (coarse resolutions, which need 1e-7) the cheap forward recurrence reaches further."""


def _reach(count: int) -> tuple[float, int]:
    """Return within which |zeta| to recur forward, and how many backward steps to begin early beyond it.

    Forward, rounding grows by about (2 |zeta|)^2 a step; backward, what the start lacks shrinks by as much.
    """
    return (6.0, 3) if count <= _FEW else (3.0, 6)


_FAR = 12.0
"""Beyond this |zeta| four terms of the series in 1/zeta^2 leave less than 1e-8 of each function."""


def legendre_q(zeta: Complex, count: int) -> Complex:
    """Q_0 ... Q_{count-1} at each zeta: shape (count, *zeta.shape). On the cut the real part is the principal value."""
    reach, steps = _reach(count)
    flat = zeta.ravel()
    square = flat.real**2 + flat.imag**2
    if count > _FEW:
        near, rest = np.nonzero(square < reach**2)[0], np.nonzero(square >= reach**2)[0]
        out = np.empty((count, flat.size), dtype=np.complex128)
    else:
        near = np.nonzero(square < reach**2)[0]
        rest = np.nonzero((square >= reach**2) & (square < _FAR**2))[0]
        harmless = flat.copy()
        harmless[square < _FAR**2] = _FAR  # written over below
        out = _series(harmless, count)
    out[:, rest] = _backward(flat[rest], count, steps)
    out[:, near] = _forward(flat[near], count)
    return out.reshape(count, *zeta.shape)


_BLOCK = 4096
"""Elements that are worked on together: a handful of arrays of them stays in the processor's cache."""


@cache
def _series_terms(count: int) -> tuple[tuple[float, float, float, float], ...]:
    """Factors of zeta^-(n+1) (1, zeta^-2, zeta^-4, zeta^-6) in Q_n."""
    rows, lead = [], 1.0
    for n in range(count):
        a, b, c = (n + 1) / 2, (n + 2) / 2, n + 1.5
        first = lead * a * b / c
        second = first * (a + 1) * (b + 1) / ((c + 1) * 2)
        rows.append((lead, first, second, second * (a + 2) * (b + 2) / ((c + 2) * 3)))
        lead *= (n + 1) / (2 * n + 3)
    return tuple(rows)


def _series(zeta: Complex, count: int) -> Complex:
    """Q_n = n!/(2n+1)!! zeta^(-n-1) F((n+1)/2, (n+2)/2; n + 3/2; zeta^-2) (Abramowitz & Stegun 8.1.3), four terms."""
    out = np.empty((count, zeta.size), dtype=np.complex128)
    for start in range(0, zeta.size, _BLOCK):
        block = out[:, start : start + _BLOCK]
        inverse = 1.0 / zeta[start : start + _BLOCK]
        square = inverse * inverse
        power = inverse
        for n, (lead, first, second, third) in enumerate(_series_terms(count)):
            terms = block[n]
            np.multiply(square, third, out=terms)
            terms += second
            terms *= square
            terms += first
            terms *= square
            terms += lead
            terms *= power
            if n + 1 < count:
                power = power * inverse
    return out


def _forward(zeta: Complex, count: int) -> Complex:
    out = np.empty((count, zeta.size), dtype=np.complex128)
    q0 = 0.5 * np.log((zeta + 1.0) / (zeta - 1.0))
    out[0] = q0
    if count > 1:
        out[1] = zeta * q0 - 1.0
    for n in range(1, count - 1):
        out[n + 1] = ((2 * n + 1) / (n + 1)) * zeta * out[n] - (n / (n + 1)) * out[n - 1]
    return out


def _backward(zeta: Complex, count: int, steps: int) -> Complex:
    """By ratios Q_n / Q_{n-1}, started where they no longer matter (Miller's algorithm); worthless near the cut.

    The ratio before Q_0 is Q_0 itself: the recurrence holds at n = 0 with Q_{-1} = 1 (from Q_1 = zeta Q_0 - 1).
    """
    out = np.empty((count, zeta.size), dtype=np.complex128)
    last = count - 1 + steps
    ratio = 0.5 * (last + 1) / (last + 0.5) / zeta
    for n in range(last, 0, -1):
        denominator = ((2 * n + 1) / n) * zeta
        denominator -= ((n + 1) / n) * ratio
        ratio = np.divide(1.0, denominator, out=out[n] if n < count else denominator)
    np.divide(1.0, zeta - ratio, out=out[0])
    for n in range(1, count):
        out[n] *= out[n - 1]
    return out


def potential_moments(zeta: Complex, half: Complex, order: int) -> Real:
    """Potential of P_0 ... P_{order-1} on elements, in units where eps0 = 1: shape (order, *zeta.shape).

    `half` broadcasts against zeta. The potential is -1/(2 pi) times the integral of density times ln(distance).
    """
    q = legendre_q(zeta, order + 1).real
    length = np.abs(half)
    out = np.empty((order, *zeta.shape))
    square = (zeta - 1.0) * (zeta + 1.0)
    out[0] = np.log(np.abs(square)) + 2.0 * q[1] + 2.0 * np.log(length)
    for n in range(1, order):
        out[n] = (2.0 / (2 * n + 1)) * (q[n + 1] - q[n - 1])
    out *= -length / (2.0 * np.pi)
    return out


def normal_field_moments(zeta: Complex, half: Complex, normal: Complex, order: int) -> Real:
    """E.n of P_0 ... P_{order-1} on elements, eps0 = 1: shape (order, *zeta.shape). `normal` is nx + i ny."""
    factor = np.abs(half) / half * normal / np.pi
    return np.asarray((legendre_q(zeta, order) * factor).real)
