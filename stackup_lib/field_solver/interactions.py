"""Potential and field of all elements at all targets: a series in real arithmetic far away, closed forms nearby.

Most pairs of target and element lie many element lengths apart. With u = half / (z - centre) = 1 / zeta the moments are
sums of Re(f u^k), where f is a scale, turned to the normal for the field, and those follow from the first two by

    Re(f u^(k+1)) = 2 Re(u) Re(f u^k) - |u|^2 Re(f u^(k-1))

(u solves u^2 = 2 Re(u) u - |u|^2), so that all polynomials of an element come out of one product with a small matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.field_solver.kernels import Complex, Real, normal_field_moments, potential_moments

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


class View(NamedTuple):
    """Targets as charges or their images see them: an image's effect at a target is the charge's at its mirror image.

    Args:
        targets: points, (targets,).
        normals: directions in which to take the field, or None for the potential.
        sign: of the image.
        own: element on which each target lies, whose normal field there is left out, or None.
    """

    targets: Complex
    normals: Complex | None
    sign: float = 1.0
    own: NDArray[np.intp] | None = None


def effect(views: Sequence[View], *, centre: Complex, half: Complex, order: int) -> Real:
    """Return the potential of P_0, P_1 ... on elements at targets, or with normals E.n, summed over views; eps0 = 1.

    The shape is (targets, elements, order). The short series fills it in blocks of targets and leaves out nearby pairs;
    these follow all at once.
    """
    count, elements = len(views[0].targets), len(centre)
    short, long = _terms(order)
    potential = views[0].normals is None
    factors = _potential_factors(order, short) if potential else _field_factors(order, short)
    stacked = np.concatenate([factors] * len(views))
    out = np.empty((count, elements, order))
    least = _FAR**2 * (half.real**2 + half.imag**2)
    near: list[list[NDArray[np.intp]]] = [[np.empty(0, dtype=np.intp)] for _ in views]
    rows = max(1, _BLOCK // elements)
    memory = np.empty((len(stacked), min(rows, count) * elements))
    for start in range(0, count, rows):
        block = slice(start, min(start + rows, count))
        pairs = (block.stop - start) * elements
        powers, log = memory[:, :pairs], np.zeros((block.stop - start, elements))
        for k, view in enumerate(views):
            z = view.targets[block, None]
            turned = None if view.normals is None else view.normals[block, None]
            some = powers[k * len(factors) : (k + 1) * len(factors)].reshape(len(factors), *log.shape)
            close = _series(
                z.real - centre.real,
                z.imag - centre.imag,
                turned,
                half,
                scale=view.sign,
                least=least,
                powers=some,
                log=log,
            )
            near[k].append(close + start * elements)
        filled = out[block].reshape(pairs, order)
        np.dot(powers.T, stacked, out=filled)
        if potential:
            filled[:, 0] += log.ravel()
    for view, found in zip(views, near, strict=True):
        _add_near(out, view, np.concatenate(found), centre=centre, half=half, terms=long)
    return out


def _add_near(out: Real, view: View, at: NDArray[np.intp], *, centre: Complex, half: Complex, terms: int) -> None:
    """Add one view's effect of pairs (flat numbers): by the long series, of the nearest by the closed forms."""
    order = out.shape[-1]
    target, element = at // len(centre), at % len(centre)
    if view.own is not None:
        other = view.own[target] != element
        at, target, element = at[other], target[other], element[other]
    apart, half = view.targets[target] - centre[element], half[element]
    turned = None if view.normals is None else view.normals[target]
    least = _NEAR**2 * (half.real**2 + half.imag**2)
    factors = _potential_factors(order, terms) if turned is None else _field_factors(order, terms)
    powers, log = np.empty((len(factors), len(at))), np.zeros(len(at))
    close = _series(
        apart.real.copy(), apart.imag.copy(), turned, half, scale=view.sign, least=least, powers=powers, log=log
    )
    some = powers.T.dot(factors)
    some[:, 0] += log
    half = half[close]
    zeta = apart[close] / half
    if turned is None:
        exact = potential_moments(zeta, half, order)
    else:
        exact = normal_field_moments(zeta, half, turned[close], order)
    some[close] = view.sign * exact.T
    out.reshape(-1, order)[at] += some


def _series(
    x: Real,
    y: Real,
    normal: Complex | None,
    half: Complex,
    *,
    scale: float,
    least: Real,
    powers: Real,
    log: Real,
) -> NDArray[np.intp]:
    """Fill `powers`, (count, *x.shape), and add to `log` the logarithm of P_0 where there is no normal.

    Return the flat numbers of pairs closer than `least` (squared distance), whose powers and logarithm are 0.
    """
    a, b = half.real.copy(), half.imag.copy()
    distance = x * x
    distance += y * y
    close = np.flatnonzero(distance < least)
    distance.reshape(-1)[close] = 1.0
    inverse = 1.0 / distance
    inverse.reshape(-1)[close] = 0.0
    square = a * a + b * b
    length = np.sqrt(square)
    real = a * x
    real += b * y
    real *= inverse
    if normal is None:
        each = length * (scale / (-2.0 * np.pi))
        np.log(distance, out=distance)
        distance *= each
        log += distance
        powers[0] = each
        np.multiply(each, real, out=powers[1])
    else:
        nx, ny = normal.real, normal.imag
        powers[0] = (a * nx + b * ny) / length * (scale / np.pi)
        x *= nx
        y *= ny
        x += y
        x *= inverse
        np.multiply(x, length * (scale / np.pi), out=powers[1])
    inverse *= square
    _recur(powers, real, inverse)
    return close


def _recur(powers: Real, real: Real, square: Real) -> None:
    """Fill Re(f u^k) from the first two on, from Re(u), which is overwritten, and |u|^2."""
    real *= 2.0
    less = np.empty_like(real)
    for k in range(2, len(powers)):
        np.multiply(real, powers[k - 1], out=powers[k])
        np.multiply(square, powers[k - 2], out=less)
        powers[k] -= less
