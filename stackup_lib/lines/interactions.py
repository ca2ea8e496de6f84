"""Potential and field of all elements at all targets: a series in real arithmetic far away, closed forms nearby.

Most pairs of target and element lie many element lengths apart. With u = half / (z - centre) = 1 / zeta the moments are
sums of Re(f u^k), where f is a scale, turned to the normal for the field, and those follow from the first two by

    Re(f u^(k+1)) = 2 Re(u) Re(f u^k) - |u|^2 Re(f u^(k-1))

(u solves u^2 = 2 Re(u) u - |u|^2), so that all polynomials of an element come out of one product with a small matrix.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from stackup_lib.lines.kernels import Complex, Real, normal_field_moments, potential_moments

_FAR, _NEAR = 12.0, 3.0
"""Beyond |zeta| = 12 a short series is used, down to 3 a long one, and closer by the closed forms."""

_BLOCK = 4096
"""Pairs that are worked on together: a handful of arrays of them stays in the processor's cache."""


def _terms(order: int) -> tuple[int, int]:
    """Return lengths of the short and the long series: they leave less than 5e-7 of each function where each begins.

    Of many polynomials, which fine meshes use, less than 1e-10.
    """
    return (3, 8) if order <= 4 else (6, 12)


def _q_series(n: int, terms: int) -> list[float]:
    """Return factors of u^(n+1), u^(n+3) ... in Q_n.

    Q_n = n!/(2n+1)!! zeta^(-n-1) F((n+1)/2, (n+2)/2; n + 3/2; zeta^-2) (Abramowitz & Stegun 8.1.3).
    """
    out = [1.0]
    for k in range(n):
        out[0] *= (k + 1) / (2 * k + 3)
    for k in range(terms - 1):
        out.append(out[-1] * ((n + 1) / 2 + k) * ((n + 2) / 2 + k) / ((n + 1.5 + k) * (k + 1)))
    return out


@cache
def _field_factors(order: int, terms: int) -> Real:
    """Factors of u^0, u^1 ... (rows) in Q_0, Q_1 ... (columns)."""
    out = np.zeros((order + 2 * terms - 1, order))
    for n in range(order):
        out[n + 1 : n + 2 * terms : 2, n] = _q_series(n, terms)
    return out


@cache
def _potential_factors(order: int, terms: int) -> Real:
    """The same in the integrals of P_n(t) ln(zeta - t), that of P_0 without its 2 ln(zeta).

    The integrals are those at the head of `kernels`; ln(zeta^2 - 1) = 2 ln(zeta) - u^2 - u^4 / 2 - ...
    """
    out = np.zeros((order + 2 * terms, order))
    out[2 : 2 * terms + 1 : 2, 0] = 2 * np.array(_q_series(1, terms)) - 1 / np.arange(1, terms + 1)
    for n in range(1, order):
        out[n : n + 2 * terms : 2, n] -= _q_series(n - 1, terms)
        out[n + 2 : n + 2 * terms : 2, n] += _q_series(n + 1, terms)[:-1]
        out[:, n] *= 2 / (2 * n + 1)
    return out


def add_effect(
    out: Real, targets: Complex, normals: Complex | None, *, centre: Complex, half: Complex, sign: float = 1.0
) -> None:
    """Add sign times the potential of P_0, P_1 ... on elements at targets, or with normals E.n; eps0 = 1.

    `out` has shape (targets, elements, order). It is filled by the short series in blocks of targets, which leaves out
    nearby pairs; these follow all at once.
    """
    order = out.shape[-1]
    short, long = _terms(order)
    least = _FAR**2 * (half.real**2 + half.imag**2)
    near: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)]
    rows = max(1, _BLOCK // len(centre))
    for start in range(0, len(targets), rows):
        block = slice(start, start + rows)
        x, y = targets.real[block, None] - centre.real, targets.imag[block, None] - centre.imag
        turned = None if normals is None else normals[block, None]
        close, some = _series(x, y, turned, half, size=(order, short), scale=sign, least=least)
        out[block] += some
        near.append(np.flatnonzero(close) + start * len(centre))
    flat = out.reshape(-1, order)
    at = np.concatenate(near)
    target, element = at // len(centre), at % len(centre)
    apart, half = targets[target] - centre[element], half[element]
    turned = None if normals is None else normals[target]
    long_enough = _NEAR**2 * (half.real**2 + half.imag**2)
    x, y = apart.real.copy(), apart.imag.copy()
    close, some = _series(x, y, turned, half, size=(order, long), scale=sign, least=long_enough)
    half = half[close]
    zeta = apart[close] / half
    if turned is None:
        exact = potential_moments(zeta, half, order)
    else:
        exact = normal_field_moments(zeta, half, turned[close], order)
    some[close] = sign * exact.T
    flat[at] += some


def _series(
    x: Real, y: Real, normal: Complex | None, half: Complex, *, size: tuple[int, int], scale: float, least: Real
) -> tuple[NDArray[np.bool_], Real]:
    """Return which pairs are closer than `least` (squared distance), and the series, (*x.shape, order), 0 for them.

    `size` is the number of polynomials and of terms.
    """
    order, terms = size
    a, b = half.real.copy(), half.imag.copy()
    distance = x * x + y * y
    close = distance < least
    np.maximum(distance, least, out=distance)
    inverse = 1.0 / distance
    inverse[close] = 0.0
    square = a * a + b * b
    length = np.sqrt(square)
    real = a * x
    real += b * y
    real *= inverse
    if normal is None:
        factors = _potential_factors(order, terms)
        each = length * (scale / (-2.0 * np.pi))
        log = np.log(distance)
        log *= each
        first, second = np.broadcast_to(each, real.shape), each * real
    else:
        factors = _field_factors(order, terms)
        nx, ny = normal.real, normal.imag
        first = (a * nx + b * ny) / length * (scale / np.pi)
        second = (nx * x + ny * y) * inverse * (length * (scale / np.pi))
    powers = _powers(first, second, real, square * inverse, len(factors))
    out = powers.T.dot(factors).reshape(*real.shape, order)
    if normal is None:
        out[..., 0] += log
        out[close, 0] = 0.0
    return close, np.asarray(out)


def _powers(first: Real, second: Real, real: Real, square: Real, count: int) -> Real:
    """Re(f u^k) for k = 0 ... count - 1, (count, pairs), from the first two, Re(u) and |u|^2."""
    out = np.empty((count, *real.shape))
    out[0], out[1] = first, second
    twice = 2.0 * real
    less = np.empty_like(real)
    for k in range(2, count):
        np.multiply(twice, out[k - 1], out=out[k])
        np.multiply(square, out[k - 2], out=less)
        out[k] -= less
    return out.reshape(count, -1)
