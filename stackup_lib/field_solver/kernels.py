"""Potential and field of straight charged elements, in closed form.

An element is the straight piece `centre + half * t`, t in [-1, 1], in the complex plane; its charge density is a sum of
Legendre polynomials P_n(t). With the target in element coordinates, zeta = (z - centre) / half, and Q_n the Legendre
function of the second kind (Abramowitz & Stegun 8.8.3, Neumann's integral):

    integral P_n(t) / (zeta - t) dt     = 2 Q_n(zeta)
    integral P_n(t) ln(zeta - t) dt     = 2 (Q_{n+1}(zeta) - Q_{n-1}(zeta)) / (2 n + 1)        n >= 1
    integral ln(zeta - t) dt            = ln(zeta^2 - 1) + 2 Q_1(zeta)
"""

from __future__ import annotations

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


def legendre_q(zeta: Complex, count: int) -> Complex:
    """Q_0 ... Q_{count-1} at each zeta: shape (count, *zeta.shape). On the cut the real part is the principal value."""
    reach, steps = _reach(count)
    flat = zeta.ravel()
    square = flat.real**2 + flat.imag**2
    near, rest = np.nonzero(square < reach**2)[0], np.nonzero(square >= reach**2)[0]
    if not len(rest):
        return _forward(flat, count).reshape(count, *zeta.shape)
    out = np.empty((count, flat.size), dtype=np.complex128)
    out[:, rest] = _backward(flat[rest], count, steps)
    out[:, near] = _forward(flat[near], count)
    return out.reshape(count, *zeta.shape)


def _forward(zeta: Complex, count: int) -> Complex:
    out = np.empty((count, zeta.size), dtype=np.complex128)
    q0 = out[0]  # ln((zeta + 1) / (zeta - 1)) / 2, in its parts: far quicker than a complex logarithm
    x, y = zeta.real, zeta.imag
    up, down, height = x + 1.0, x - 1.0, y * y
    q0.real = 0.25 * np.log((up * up + height) / (down * down + height))
    q0.imag = -0.5 * np.arctan2(2.0 * y, up * down + height)
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
    x, height = zeta.real, zeta.imag**2
    up, down = (x + 1.0) ** 2 + height, (x - 1.0) ** 2 + height
    out[0] = 0.5 * np.log(up * down) + 2.0 * q[1] + 2.0 * np.log(length)  # |zeta^2 - 1|^2 = up * down
    for n in range(1, order):
        np.subtract(q[n + 1], q[n - 1], out=out[n])
        out[n] *= 2.0 / (2 * n + 1)
    out *= -length / (2.0 * np.pi)
    return out


def normal_field_moments(zeta: Complex, half: Complex, normal: Complex, order: int) -> Real:
    """E.n of P_0 ... P_{order-1} on elements, eps0 = 1: shape (order, *zeta.shape). `normal` is nx + i ny."""
    factor = np.abs(half) / half * normal / np.pi
    return np.asarray((legendre_q(zeta, order) * factor).real)
