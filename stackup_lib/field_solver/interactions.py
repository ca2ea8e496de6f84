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

_BLOCK = 8192
"""Pairs that are worked on together: a handful of arrays of them stays in the processor's cache, and few are made."""


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


class _Seen(NamedTuple):
    """All views as one: the targets that each sees (rows), and the element that each target lies on, -1 for none."""

    targets: Complex
    normals: Complex | None
    sign: Real
    own: NDArray[np.intp] | None


def _together(views: Sequence[View]) -> _Seen:
    targets = np.array([view.targets for view in views])
    normals = None if views[0].normals is None else np.array([view.normals for view in views])
    own = None
    if any(view.own is not None for view in views):
        own = np.array([np.full(len(targets[0]), -1) if view.own is None else view.own for view in views])
    return _Seen(targets, normals, np.array([view.sign for view in views]), own)


def effect(views: Sequence[View], *, centre: Complex, half: Complex, order: int) -> Real:
    """Return the potential of P_0, P_1 ... on elements at targets, or with normals E.n, summed over views; eps0 = 1.

    The shape is (targets, elements, order). The short series fills it in blocks of targets and leaves out nearby pairs;
    these follow all at once.
    """
    seen = _together(views)
    (images, count), elements = seen.targets.shape, len(centre)
    short, long = _terms(order)
    potential = seen.normals is None
    factors = _potential_factors(order, short) if potential else _field_factors(order, short)
    stacked = np.concatenate([factors] * images)
    out = np.empty((count, elements, order))
    least = _FAR**2 * (half.real**2 + half.imag**2)
    near = [np.empty(0, dtype=np.intp)]
    rows = max(1, _BLOCK // (images * elements))
    memory = np.empty(len(stacked) * min(rows, count) * elements)
    for start in range(0, count, rows):
        block = slice(start, min(start + rows, count))
        pairs = (block.stop - start) * elements
        powers = memory[: len(stacked) * pairs].reshape(images, len(factors), -1, elements)
        z = seen.targets[:, block, None]
        close, log = _series(
            z.real - centre.real,
            z.imag - centre.imag,
            None if seen.normals is None else seen.normals[:, block, None],
            half,
            scale=seen.sign[:, None, None],
            least=least,
            powers=powers.swapaxes(0, 1),
        )
        image, pair = np.divmod(close, pairs)
        near.append(image * (count * elements) + start * elements + pair)
        filled = out[block].reshape(pairs, order)
        np.dot(powers.reshape(len(stacked), pairs).T, stacked, out=filled)
        if log is not None:
            filled[:, 0] += log.sum(axis=0).ravel()
    _add_near(out, seen, np.concatenate(near), centre=centre, half=half, terms=long)
    return out


def _add_near(out: Real, seen: _Seen, at: NDArray[np.intp], *, centre: Complex, half: Complex, terms: int) -> None:
    """Add the effect of pairs (flat numbers of view, target, element): by the long series, nearest by closed forms."""
    order = out.shape[-1]
    image, at = np.divmod(at, len(out) * len(centre))
    target, element = np.divmod(at, len(centre))
    if seen.own is not None:
        other = seen.own[image, target] != element
        image, at, target, element = image[other], at[other], target[other], element[other]
    apart, half, sign = seen.targets[image, target] - centre[element], half[element], seen.sign[image]
    turned = None if seen.normals is None else seen.normals[image, target]
    least = _NEAR**2 * (half.real**2 + half.imag**2)
    factors = _potential_factors(order, terms) if turned is None else _field_factors(order, terms)
    powers = np.empty((len(factors), len(at)))
    close, log = _series(apart.real.copy(), apart.imag.copy(), turned, half, scale=sign, least=least, powers=powers)
    some = powers.T.dot(factors)
    if log is not None:
        some[:, 0] += log
    half = half[close]
    zeta = apart[close] / half
    if turned is None:
        exact = potential_moments(zeta, half, order)
    else:
        exact = normal_field_moments(zeta, half, turned[close], order)
    some[close] = (sign[close] * exact).T
    flat = out.reshape(-1, order)
    for k in range(len(seen.targets)):  # a pair may be near in several views, and counts once in each
        flat[at[image == k]] += some[image == k]


def _series(
    x: Real, y: Real, normal: Complex | None, half: Complex, *, scale: Real, least: Real, powers: Real
) -> tuple[NDArray[np.intp], Real | None]:
    """Fill `powers`, (count, *x.shape), and overwrite x and y.

    Return the flat numbers of pairs closer than `least` (squared distance), whose powers and logarithm are 0; and where
    there is no normal the logarithm of P_0.
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
    log = None
    if normal is None:
        each = length * (scale / (-2.0 * np.pi))
        log = np.log(distance, out=distance)
        log *= each
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
    return close, log


def _recur(powers: Real, real: Real, square: Real) -> None:
    """Fill Re(f u^k) from the first two on, from Re(u), which is overwritten, and |u|^2."""
    real *= 2.0
    less = np.empty_like(real)
    for k in range(2, len(powers)):
        np.multiply(real, powers[k - 1], out=powers[k])
        np.multiply(square, powers[k - 2], out=less)
        powers[k] -= less
