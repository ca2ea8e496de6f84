"""A line with its materials: loss per length of a trace or pair in its surroundings, as an interval. Lengths in mm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stackup_lib.core.record import record
from stackup_lib.core.stopwatch import timed
from stackup_lib.field_solver.sections import GeometryError, Section
from stackup_lib.field_solver.solution import LineSolution, delay_ps_per_mm
from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.loss import (
    Face,
    Filling,
    Line,
    LineLoss,
    line_from_impedance,
    loss_per_length,
    trace_depth_mm,
)
from stackup_lib.transmission_lines.materials.conductor_models import NickelGold
from stackup_lib.transmission_lines.materials.dielectric_models import PermittivityModel
from stackup_lib.transmission_lines.materials.roughness import Roughness, Smooth
from stackup_lib.transmission_lines.site import TraceEnvironment

if TYPE_CHECKING:
    from stackup_lib.field_solver.perturbation import Crowding, Mode, Perturbation

Real = NDArray[np.float64]


@record
class CopperFaces:
    """Roughness of the faces that carry the current.

    Attributes:
        bonded: the trace's base.
        other: its other face and its walls.
        plane_below: the face of the plane below that looks at the trace.
        plane_above: the face of the plane above that does.
    """

    bonded: Roughness = field(default_factory=Smooth)
    other: Roughness = field(default_factory=Smooth)
    plane_below: Roughness = field(default_factory=Smooth)
    plane_above: Roughness = field(default_factory=Smooth)


@record
class LineMaterials:
    """What a line is made of.

    Attributes:
        sheets: permittivity of each of `TraceEnvironment.sheets`.
        mask: permittivity of the solder mask, None where there is none.
        faces: roughness.
        plane_copper_mm: thickness of the planes below and above.
        finish: nickel and gold on the faces that neither laminate nor mask covers.
    """

    sheets: tuple[PermittivityModel, ...]
    mask: PermittivityModel | None = None
    faces: CopperFaces = field(default_factory=CopperFaces)
    plane_copper_mm: tuple[float, float] = (0.035, 0.035)
    finish: NickelGold | None = None


@record
class SolvedLine:
    """A solved cross section; its first-order changes, which loss needs, are solved on first use.

    For a pair everything is of the odd mode, per trace.

    Attributes:
        image: the line that was solved in place of this one, on an equal site or on its mirror image.
    """

    site: TraceEnvironment
    section: Section
    solution: LineSolution
    tolerance: float
    image: SolvedLine | None = None

    def on(self, site: TraceEnvironment, section: Section) -> SolvedLine:
        """Return the line on an equal site or its mirror image: one problem, solved once, seen from either side."""
        solution = self.solution if site.base == self.site.base else self.solution.turned()
        return SolvedLine(site, section, solution, self.tolerance, self)

    @cached_property
    def perturbation(self) -> Perturbation:
        """Crowding of the current and shares of the dielectrics."""
        if self.image is not None:
            found = self.image.perturbation
            return found if self.site.base == self.image.site.base else found.turned()
        from stackup_lib.field_solver.perturbation import perturb  # noqa: PLC0415 - an impedance alone does not need it

        mode: Mode = "odd" if self.solution.is_pair else "single"
        return perturb(self.section, mode, self.tolerance)

    @cached_property
    def even_perturbation(self) -> Perturbation:
        """The same of the even mode of a pair.

        Raises:
            GeometryError: it is a single line.
        """
        if self.image is not None:
            found = self.image.even_perturbation
            return found if self.site.base == self.image.site.base else found.turned()
        from stackup_lib.field_solver.perturbation import perturb  # noqa: PLC0415 - an impedance alone does not need it

        return perturb(self.section, "even", self.tolerance)

    @property
    def impedance_ohm(self) -> float:
        """Z0 of a single line, Zdiff of a pair."""
        return self.solution.z_diff_ohm if self.solution.is_pair else self.solution.z0_ohm

    @property
    def eps_eff(self) -> float:
        """Effective permittivity of the mode."""
        return self.solution.eps_eff_odd if self.solution.is_pair else self.solution.eps_eff

    @property
    def delay_ps_per_mm(self) -> float:
        """Delay of the mode, without loss and dispersion."""
        return delay_ps_per_mm(self.eps_eff)


@timed("solving")
def solve_line(
    site: TraceEnvironment,
    width_mm: float,
    gap_mm: float | None = None,
    coplanar_gap_mm: float | None = None,
    tolerance: float = 1e-3,
    *,
    other_mm: float | None = None,
) -> SolvedLine:
    """Solve a trace, or the odd mode of a pair, on a site: as its canonical one, so that mirror images agree exactly.

    `other_mm` is the width of the pair's second trace, where it has another one.

    Raises:
        GeometryError: it cannot exist.
    """
    section, plain = site.section(width_mm, gap_mm, coplanar_gap_mm, other_mm), site.canonical()
    if plain.base == site.base:
        return SolvedLine(site, section, solve(section, tolerance), tolerance)
    image = plain.section(width_mm, gap_mm, coplanar_gap_mm, other_mm)
    return SolvedLine(plain, image, solve(image, tolerance), tolerance).on(site, section)


def loss_of(line: SolvedLine, materials: LineMaterials, frequency_ghz: ArrayLike) -> LineLoss:
    """Return R, L, G, C and loss of a solved line of given materials; frequencies in GHz, 0 allowed."""
    return loss_per_length(line_of(line, materials), frequency_ghz)


def line_of(line: SolvedLine, materials: LineMaterials) -> Line:
    """Return the line that `loss_per_length` takes.

    Raises:
        GeometryError: one permittivity per sheet is needed.
    """
    _need_models(line, materials)
    impedance = line.impedance_ohm / (2 if line.solution.is_pair else 1)
    fillings = tuple(_fillings(line, line.perturbation, materials))
    return line_from_impedance(impedance, line.eps_eff, fillings, _faces(line, line.perturbation, materials))


def even_line_of(line: SolvedLine, materials: LineMaterials) -> Line:
    """Return the even mode of a pair, per trace, as `line_of`.

    Raises:
        GeometryError: it is a single line, or one permittivity per sheet is needed.
    """
    _need_models(line, materials)
    changes = line.even_perturbation
    fillings = tuple(_fillings(line, changes, materials))
    one = line.solution
    return line_from_impedance(one.z_even_ohm, one.eps_eff_even, fillings, _faces(line, changes, materials))


def _need_models(line: SolvedLine, materials: LineMaterials) -> None:
    if len(materials.sheets) != len(line.site.sheets):
        raise GeometryError(
            f"{len(materials.sheets)} permittivities for {len(line.site.sheets)} sheets", "give one for each"
        )


def _fillings(line: SolvedLine, changes: Perturbation, materials: LineMaterials) -> Sequence[Filling]:
    shares = changes.shares
    out = [
        Filling(share, sheet.dk, model)
        for share, sheet, model in zip(shares.layers, line.site.sheets, materials.sheets, strict=True)
    ]
    if line.site.mask is not None and materials.mask is not None:
        out.append(Filling(shares.mask, line.site.mask.er, materials.mask))
    return out


def _faces(line: SolvedLine, changes: Perturbation, materials: LineMaterials) -> tuple[Face, ...]:
    crowding, rough = changes.crowding, materials.faces
    strip = line.section.strips[0]
    area = (strip.base_width_mm + strip.top_width_mm) / 2 * strip.thickness_mm
    on_strip = crowding.strip_lower_per_mm + crowding.strip_upper_per_mm + crowding.strip_walls_per_mm
    depth = trace_depth_mm(on_strip, area)
    bonded, other = _bonded_first(crowding, base=strip.base)
    bare = materials.finish if line.site.is_outer and line.site.mask is None else None
    below, above = materials.plane_copper_mm
    return (
        Face(bonded, depth, roughness=rough.bonded),
        Face(other + crowding.strip_walls_per_mm, depth, roughness=rough.other, finish=bare),
        Face(crowding.plane_below_per_mm, below, of_plane=True, is_boundless=True, roughness=rough.plane_below),
        Face(crowding.plane_above_per_mm, above, of_plane=True, is_boundless=True, roughness=rough.plane_above),
        Face(crowding.coplanar_per_mm, below, of_plane=True, is_boundless=True, roughness=rough.other, finish=bare),
    )


def _bonded_first(crowding: Crowding, *, base: str) -> tuple[float, float]:
    pair = crowding.strip_lower_per_mm, crowding.strip_upper_per_mm
    return pair if base == "lower" else (pair[1], pair[0])
