"""First-order changes of a line: how its current crowds on each copper face, what each dielectric holds of its field.

Crowding: at high frequency current flows on the surface as charge does in the air-filled section, so the resistance is
Rs times the integral of J^2 over all faces over I^2 (H. A. Wheeler, Proc. IRE 30 (1942) 412). At a corner of interior
angle a the charge goes as r^p with p = pi/(2 pi - a) - 1 (J. Meixner, IEEE Trans. AP 20 (1972) 442): the square is
integrable but no polynomial follows it, so an element at a corner is integrated from its charge Q and length l:
(p + 1)^2/(2 p + 1) Q^2/l.

Shares: q_i = d ln C / d ln eps_i by the adjoint system, on a mesh in which every layer has its boundary elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import record
from stackup_lib.core.result_cache import cached_result
from stackup_lib.field_solver.boundary import (
    COPLANAR_LEFT,
    COPLANAR_RIGHT,
    PLANE_ABOVE,
    BoundaryPiece,
    pieces,
    right_half,
    size_mm,
)
from stackup_lib.field_solver.interactions import View, effect
from stackup_lib.field_solver.kernels import Real
from stackup_lib.field_solver.mesh import Resolution
from stackup_lib.field_solver.sections import GeometryError, Section, Strip
from stackup_lib.field_solver.solver import LADDER, System, assemble, gauss

Mode = Literal["single", "odd", "even"]

PANEL_POINTS, FAR_PANEL = 8, 0.5
"""Points of each panel on which the charge of the plane below is squared and summed: 1e-7 of the sum is left."""

FINER_CROWDING, FINER_SHARES = 20.0, 3.0
"""By how many times a rung is better than the one before, at least: on the reference rows by 40 to 100, and by 4."""

LEAST_ERROR = 1e-4
"""Floor of the error estimate: what the rung leaves on the worst of the reference rows is a third of it."""

AIR = 1.0
MARK, MARK_STEP = 2.0, 0.01
"""Permittivities that stand for the number of a medium while the mesh is made."""


@record
class Crowding:
    """The integral of J^2 over faces over I^2, in 1/mm; times the surface resistance it is ohm per mm.

    Of a pair: of one trace and its half of the planes, for the current of that trace.
    """

    strip_lower_per_mm: float
    strip_upper_per_mm: float
    strip_walls_per_mm: float
    plane_below_per_mm: float
    plane_above_per_mm: float
    coplanar_per_mm: float

    @property
    def strip_per_mm(self) -> float:
        """All faces of the trace."""
        return self.strip_lower_per_mm + self.strip_upper_per_mm + self.strip_walls_per_mm

    @property
    def total_per_mm(self) -> float:
        """Trace and return path."""
        return self.strip_per_mm + self.plane_below_per_mm + self.plane_above_per_mm + self.coplanar_per_mm


FACES = len(fields(Crowding))


@record
class Shares:
    """q = d ln C / d ln eps of every dielectric: `layers` as in `Section.layers`, `below` under an open bottom."""

    layers: tuple[float, ...]
    mask: float = 0.0
    below: float = 0.0

    @property
    def air(self) -> float:
        """What is left for air."""
        return 1.0 - math.fsum(self.layers) - self.mask - self.below


@record
class Perturbation:
    """Crowding and shares of one mode; the error estimate is relative, of the total crowding and of the shares."""

    crowding: Crowding
    shares: Shares
    error_estimate: float

    def numbers(self) -> list[float]:
        """Return all that there is of it, for `from_numbers`."""
        crowding, shares = astuple(self.crowding), self.shares
        return [self.error_estimate, *crowding, shares.mask, shares.below, *shares.layers]

    @staticmethod
    def from_numbers(numbers: Sequence[float]) -> Perturbation:
        """Return the perturbation that has these numbers."""
        error, *values = numbers
        crowding, (mask, below, *layers) = values[:FACES], values[FACES:]
        return Perturbation(Crowding(*crowding), Shares(tuple(layers), mask, below), error)

    def turned(self) -> Perturbation:
        """Return it of the section upside down, between two planes: what was below is above."""
        now = self.crowding
        crowding = replace(
            now,
            strip_lower_per_mm=now.strip_upper_per_mm,
            strip_upper_per_mm=now.strip_lower_per_mm,
            plane_below_per_mm=now.plane_above_per_mm,
            plane_above_per_mm=now.plane_below_per_mm,
        )
        return replace(self, crowding=crowding, shares=replace(self.shares, layers=self.shares.layers[::-1]))


@cached_result(Perturbation.numbers, Perturbation.from_numbers)
def perturb(section: Section, mode: Mode, tolerance: float = 1e-3) -> Perturbation:
    """Return crowding and shares of a single line, or of a mode of a symmetric pair.

    Raises:
        GeometryError: the mode does not fit the section, the pair is not its own mirror image, or the trace has no
            thickness (its loss diverges at the edges).
    """
    _check(section, mode)
    last: Perturbation | None = None
    for resolution in LADDER:
        now = _perturb_once(section, mode, resolution)
        if last is not None:
            error = max(_error(now, last), LEAST_ERROR)
            now = replace(now, error_estimate=error)
            if error <= tolerance:
                break
        last = now
    return now


def _check(section: Section, mode: Mode) -> None:
    pair = len(section.strips) == 2
    if pair != (mode != "single"):
        raise GeometryError(f'mode "{mode}" of {"a pair" if pair else "a single line"}', "ask single, odd or even")
    if any(strip.thickness_mm == 0 for strip in section.strips):
        raise GeometryError("the loss of copper without thickness", "give the copper thickness in mm")


def _error(finer: Perturbation, coarser: Perturbation) -> float:
    crowding = abs(finer.crowding.total_per_mm / coarser.crowding.total_per_mm - 1)
    a, b = finer.shares, coarser.shares
    shares = zip((*a.layers, a.mask, a.below), (*b.layers, b.mask, b.below), strict=True)
    return max(crowding / FINER_CROWDING, max(abs(x - y) for x, y in shares) / FINER_SHARES)


def _perturb_once(section: Section, mode: Mode, resolution: Resolution) -> Perturbation:
    media = _Media(section)
    system = assemble(media.marked, resolution)
    if mode != "single" and not system.has_modes:
        what = "the modes of a pair that is not its own mirror image"
        raise GeometryError(what, "give two equal traces side by side")
    parts = pieces(media.marked)
    return Perturbation(
        _crowding(system, right_half(parts) if system.symmetric else parts, mode),
        _shares(system, media, mode),
        math.nan,
    )


class _Media:
    """Numbers the media of a section, so that what each holds can be told on one mesh."""

    def __init__(self, section: Section) -> None:
        count = len(section.layers)
        self.permittivities = np.array(
            [AIR, *(x.er for x in section.layers), section.er_below, section.mask.er if section.mask else AIR]
        )
        self.count = count
        self.has_mask = section.mask is not None and section.mask.er != AIR
        layers = tuple(x.model_copy(update={"er": _mark(k + 1)}) for k, x in enumerate(section.layers))
        mask = section.mask.model_copy(update={"er": _mark(count + 2)}) if section.mask and self.has_mask else None
        self.marked = section.model_copy(
            update={"layers": layers, "er_below": _mark(count + 1), "mask": mask if self.has_mask else section.mask}
        )

    def system(self, marked: System) -> System:
        """Return the system with real permittivities in place of marks."""
        minus, plus = (self.permittivities[_number(eps)] for eps in (marked.eps_minus, marked.eps_plus))
        return replace(marked, section=self.marked, eps_minus=minus, eps_plus=plus)


def _mark(number: int) -> float:
    return MARK + MARK_STEP * number


def _number(marks: Real) -> NDArray[np.intp]:
    """Return the media behind marks; air keeps its own permittivity."""
    return np.where(marks == AIR, 0, np.rint((marks - MARK) / MARK_STEP)).astype(np.intp)


def _shares(marked: System, media: _Media, mode: Mode) -> Shares:
    sign = -1.0 if mode == "odd" else 1.0
    drive = (0, 1) if mode != "single" else (0,)
    total, minus, plus = media.system(marked).with_image(sign).slopes(drive)
    count = len(media.permittivities)
    slopes = np.bincount(_number(marked.eps_minus), minus, count) + np.bincount(_number(marked.eps_plus), plus, count)
    *layers, below, mask = (slopes * media.permittivities / total)[1:].tolist()
    open_below, with_mask = media.permittivities[-2:] != AIR
    return Shares(tuple(layers), mask if with_mask else 0.0, below if open_below else 0.0)


def _crowding(system: System, parts: list[BoundaryPiece], mode: Mode) -> Crowding:
    """Square the air-filled section's charge and sum it by face; halves of a symmetric section count twice."""
    sign = -1.0 if mode == "odd" else 1.0
    drives = [(0, 1)] if mode != "single" else [(0,)]
    density = system.with_image(sign).air_density(drives)[0]
    copper = ~np.isnan(system.conductor)
    conductor, half = system.conductor[copper], np.abs(system.mesh.half[copper])
    owner = system.mesh.piece[copper]
    order = np.arange(density.shape[1])
    squared = half * (density**2 * (2 / (2 * order + 1))).sum(axis=1)
    charge = 2 * half * density[:, 0]
    factor = _corner_factors(system, parts, copper)
    squared = np.where(np.isnan(factor), squared, factor * charge**2 / (2 * half))
    both = 2.0 if system.symmetric and mode == "single" else 1.0
    on_trace = conductor >= 0 if mode == "single" else conductor == conductor.max()
    total = both * float(charge[on_trace].sum())
    face = np.array([_face(part) for part in parts])[owner]

    def of(rows: NDArray[np.bool_]) -> float:
        return both * float(squared[rows].sum()) / total**2

    below = _plane_below(system, density, copper, sign) if system.section.plane_below else 0.0
    return Crowding(
        of((conductor >= 0) & (face == "lower")),
        of((conductor >= 0) & (face == "upper")),
        of((conductor >= 0) & (face == "wall")),
        both * below / total**2,
        of(conductor == PLANE_ABOVE),
        of((conductor == COPLANAR_LEFT) | (conductor == COPLANAR_RIGHT)),
    )


def _face(part: BoundaryPiece) -> str:
    """Which face of a strip a piece is: faces run counter-clockwise, so the lower one to the right."""
    along = part.end - part.start
    if abs(along.imag) > 1e-9 * abs(along):
        return "wall"
    return "lower" if along.real > 0 else "upper"


def _corner_factors(system: System, parts: list[BoundaryPiece], copper: NDArray[np.bool_]) -> Real:
    """Return (p + 1)^2/(2 p + 1) for elements of copper that touch an outer corner of it, else nan."""
    first = (system.mesh.centre - system.mesh.half)[copper]
    last = (system.mesh.centre + system.mesh.half)[copper]
    factors = np.full(len(first), np.nan)
    near = 1e-9 * size_mm(system.section)
    for corner, angle in (*_strip_corners(system.section), *_ground_corners(system.section, parts)):
        p = math.pi / (2 * math.pi - angle) - 1
        at = (np.abs(first - corner) < near) | (np.abs(last - corner) < near)
        factors[at] = (p + 1) ** 2 / (2 * p + 1)
    return factors


def _strip_corners(section: Section) -> Iterator[tuple[complex, float]]:
    for strip in section.strips:
        yield from _corners(strip)


def _ground_corners(section: Section, parts: list[BoundaryPiece]) -> Iterator[tuple[complex, float]]:
    """Corners of coplanar grounds, which have the trace's own walls."""
    angle_at = {round(corner.imag, 12): angle for corner, angle in _corners(section.strips[0])}
    for part in parts:
        if part.conductor in (COPLANAR_LEFT, COPLANAR_RIGHT) and _face(part) == "wall":
            for end in (part.start, part.end):
                if round(end.imag, 12) in angle_at:
                    yield end, angle_at[round(end.imag, 12)]


def _corners(strip: Strip) -> list[tuple[complex, float]]:
    """Corners of a strip with the copper's angle there: acute at the base, obtuse at the top."""
    low, high = strip.bottom_mm, strip.top_mm
    half_low, half_high = strip.half_width_at(low), strip.half_width_at(high)
    lower_angle = math.atan2(strip.thickness_mm, half_low - half_high)
    return [
        (complex(strip.centre_mm + side * half, y), angle)
        for side in (-1, 1)
        for half, y, angle in ((half_low, low, lower_angle), (half_high, high, math.pi - lower_angle))
    ]


def _plane_below(system: System, density: Real, copper: NDArray[np.bool_], sign: float) -> float:
    """Return the integral of the squared charge of the plane y = 0: of x > 0 where the section is solved as a half.

    The field of a charge and its image there is twice the charge's own normal field.
    """
    x, weight = _plane_points(system)
    up = np.full(len(x), 1j)
    views = [View(x.astype(np.complex128), up)]
    if system.symmetric:
        views.append(View(-views[0].targets, up, sign))
    centre, half = system.mesh.centre[copper], system.mesh.half[copper]
    moments = effect(views, centre=centre, half=half, order=density.shape[1])
    total = moments.reshape(len(x), -1) @ density.ravel()
    return float(np.sum(weight * (2 * total) ** 2))


def _plane_points(system: System) -> tuple[Real, Real]:
    """Return abscissae, under the copper and stretching out far, and their weights (Gauss-Legendre by panels).

    The charge of the plane varies with the height of the copper: under it a panel is as long as that is high, beyond it
    x = reach + height sinh(u) and a panel is half a unit of u.
    """
    section = system.section
    reach = max(abs(s.centre_mm) + s.base_width_mm / 2 for s in section.strips)
    height = min(s.bottom_mm for s in section.strips)
    far = math.asinh(1e3 * (reach + height) / height)
    inside, inside_weight = _panels(reach, height)
    u, weight = _panels(far, FAR_PANEL)
    x = np.concatenate([inside, reach + height * np.sinh(u)])
    weight = np.concatenate([inside_weight, height * np.cosh(u) * weight])
    if system.symmetric:
        return x, weight
    return np.concatenate([-x[::-1], x]), np.concatenate([weight[::-1], weight])


def _panels(length: float, longest: float) -> tuple[Real, Real]:
    """Return points and weights on 0 ... length in equal panels of at most so long."""
    points, weights = gauss(PANEL_POINTS)
    half = length / math.ceil(length / longest) / 2
    middles = np.arange(half, length, 2 * half)
    return (middles[:, None] + half * points).ravel(), np.tile(half * weights, len(middles))
