"""How far unequal copper bows a board as it cools: classical laminate theory, with the interval that materials leave.

It knows layers as whole sheets with their share of copper. Press, curing, weave, uneven copper within a layer and the
yielding of copper are not in it: it bounds one cause of bow, and is no measurement.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import product

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.materials.sources import MaterialSource

NO_COPPER = 1e-6
"""Share of copper on a layer without any: keeps its room, carries nothing."""


class Range(Frozen):
    """Lowest and highest value of a property, with its source."""

    low: float
    high: float
    source: MaterialSource


class BowMaterials(Frozen):
    """What the estimate rests on.

    Attributes:
        copper_gpa, laminate_gpa: Young's modulus in the plane.
        copper_ppm, laminate_ppm: thermal expansion in the plane, per degree.
        cooling_c: from where stresses are frozen in to room temperature.
        copper_poisson, laminate_poisson: Poisson's ratio; they hardly move the result.
    """

    copper_gpa: Range
    laminate_gpa: Range
    copper_ppm: Range
    laminate_ppm: Range
    cooling_c: Range
    copper_poisson: float
    laminate_poisson: float


@record
class BowSheet:
    """One layer of the laminate, top to bottom.

    Attributes:
        thickness_mm: its thickness.
        copper: share of its area that is copper, None for a dielectric. What lies between the copper counts as air.
    """

    thickness_mm: float
    copper: float | None = None


def curvature_per_mm(thickness_mm: Sequence[float], modulus: Sequence[float], free_strain: Sequence[float]) -> float:
    """Return the curvature of a free laminate of isotropic sheets, top to bottom, in 1/mm.

    kappa = (A M - B N) / (A D - B^2) with A, B, D = sum of E' h, E' h z, E' (h z^2 + h^3 / 12) and N, M = sum of
    E' e h, E' e h z about the middle (Jones, Mechanics of Composite Materials, chapter 4, equal biaxial strain: E' =
    E / (1 - nu)). Positive where the lower face is the longer one.

    Args:
        thickness_mm: of each sheet.
        modulus: biaxial modulus of each sheet, in any one unit.
        free_strain: strain that each sheet would take alone, e.g. expansion times temperature change.
    """
    height = -sum(thickness_mm) / 2
    a = b = d = force = moment = 0.0
    for h, e, strain in zip(thickness_mm, modulus, free_strain, strict=True):
        z = height + h / 2
        height += h
        a += e * h
        b += e * h * z
        d += e * (h * z * z + h**3 / 12)
        force += e * strain * h
        moment += e * strain * h * z
    return (a * moment - b * force) / (a * d - b * b)


def bow_pct(curvature: float, length_mm: float) -> float:
    """Return the height of a circular arc over its chord as a share of the length, in % (IPC-TM-650 2.4.22)."""
    if not curvature:
        return 0.0
    radius = 1 / abs(curvature)
    half_angle = min(length_mm / radius / 2, math.pi / 2)
    return 100 * radius * (1 - math.cos(half_angle)) / length_mm


def copper_bow_pct(sheets: Sequence[BowSheet], length_mm: float, materials: BowMaterials | None = None) -> Interval:
    """Return the bow that cooling gives a board of these sheets over a length, in % of it.

    The interval spans every combination of the materials' limits; its nominal takes their middles. Laminates that
    expand like copper do not bow at all, so the low end is often zero.
    """
    known = materials or bow_materials()
    corners = product(*((r.low, r.high) for r in _ranges(known)))
    signed = [_signed_pct(sheets, length_mm, known, corner) for corner in corners]
    middle = _signed_pct(sheets, length_mm, known, tuple((r.low + r.high) / 2 for r in _ranges(known)))
    low = 0.0 if min(signed) <= 0 <= max(signed) else min(abs(value) for value in signed)
    return Interval(low=low, nominal=abs(middle), high=max(abs(value) for value in signed))


def _ranges(known: BowMaterials) -> tuple[Range, ...]:
    return known.copper_gpa, known.laminate_gpa, known.copper_ppm, known.laminate_ppm, known.cooling_c


def _signed_pct(sheets: Sequence[BowSheet], length_mm: float, known: BowMaterials, corner: Sequence[float]) -> float:
    copper_gpa, laminate_gpa, copper_ppm, laminate_ppm, cooling_c = corner
    copper, laminate = copper_gpa / (1 - known.copper_poisson), laminate_gpa / (1 - known.laminate_poisson)
    modulus = [laminate if sheet.copper is None else max(sheet.copper, NO_COPPER) * copper for sheet in sheets]
    strain = [-cooling_c * 1e-6 * (laminate_ppm if sheet.copper is None else copper_ppm) for sheet in sheets]
    curvature = curvature_per_mm([sheet.thickness_mm for sheet in sheets], modulus, strain)
    return math.copysign(bow_pct(curvature, length_mm), curvature)


@cache
def bow_materials() -> BowMaterials:
    """Return the ranges of copper and glass-reinforced laminates."""
    from stackup_lib.materials.data import read_toml, sources_of  # noqa: PLC0415 - needed only for a bow

    data = read_toml("mechanics.toml")
    sources = sources_of(data)
    ranges = {
        name: {"low": row["low"], "high": row["high"], "source": sources[row["source"]]}
        for name, row in data["range"].items()
    }
    poisson = {name: value for name, value in data["poisson"].items() if name != "source"}
    return BowMaterials.model_validate({**ranges, **poisson})
