"""Cross sections of transmission lines, as the field solver takes them. Lengths in mm, y upward, x across the line.

What is where:

- Layers are stacked from y = 0 upward. `plane_below` lies at y = 0, `plane_above` on top of the last layer; without a
  plane there is air, or `er_below` under an open bottom. Planes are perfect, infinitely wide, of no thickness.
- A strip is a trapezoid. `bottom_mm` is the height of its lower face; the *base* (the widest side, the one that was
  bonded to the laminate when it was etched) is its lower or its upper face. Copper displaces whatever layer it is in:
  a strip between core and prepreg that was etched on the core lies wholly inside the prepreg.
- Gaps of a pair and to coplanar grounds are measured between the bases.
- Solder mask follows the copper: `on_laminate_mm` (c1) next to it, `between_mm` (c3) between the traces of a pair,
  `on_trace_mm` (c2) over it, and a shoulder parallel to the trace's wall, `side_mm` away horizontally; by default so
  far that the coat has thickness c2 normal to the wall. Where c1 reaches t + c2 the surface is flat at c1. Makers of
  calculators do not publish their outline; the choice is worth up to about 0.3 % of the impedance.
"""

import math
from itertools import pairwise
from typing import Literal

from pydantic import model_validator

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.frozen import Frozen

MOST_LEAN = 5.0
"""How far a wall may lean over its height: etching leaves 0.2 to 1. Beyond it the edge is a wedge, where the solver's
estimate is no longer to be trusted."""

SMALLEST_MM = 1e-3
"""Gaps and solid dimensions below 1 um are drawing errors, not lines."""


class GeometryError(StackwrightError):
    """A cross section that cannot exist or has no answer."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__("cross section", what, next_step)


class Layer(Frozen):
    """A dielectric layer: thickness in mm, relative permittivity."""

    thickness_mm: float
    er: float


class Strip(Frozen):
    """A trapezoidal trace; thickness 0 means an infinitely thin one (its top width is then ignored)."""

    base_width_mm: float
    top_width_mm: float
    thickness_mm: float
    bottom_mm: float
    centre_mm: float = 0.0
    base: Literal["lower", "upper"] = "lower"

    @property
    def top_mm(self) -> float:
        """Height of the upper face."""
        return self.bottom_mm + self.thickness_mm

    def half_width_at(self, y_mm: float) -> float:
        """Half the width in mm at a height inside the strip."""
        if self.thickness_mm == 0:
            return self.base_width_mm / 2
        up = (y_mm - self.bottom_mm) / self.thickness_mm
        toward_top = up if self.base == "lower" else 1 - up
        return (self.base_width_mm + (self.top_width_mm - self.base_width_mm) * toward_top) / 2


class Mask(Frozen):
    """Solder mask over copper on the outer face; see the module's notes for the outline."""

    er: float
    on_laminate_mm: float
    on_trace_mm: float
    between_mm: float | None = None
    side_mm: float | None = None


class Section(Frozen):
    """A line, a pair or two pairs among dielectric layers, planes and coplanar grounds: one, two or four strips."""

    layers: tuple[Layer, ...]
    strips: tuple[Strip, ...]
    plane_below: bool = True
    plane_above: bool = False
    coplanar_gap_mm: float | None = None
    mask: Mask | None = None
    er_below: float = 1.0

    @property
    def height_mm(self) -> float:
        """Height of the layers together."""
        return math.fsum(layer.thickness_mm for layer in self.layers)

    @property
    def interfaces_mm(self) -> tuple[float, ...]:
        """Heights of all layer boundaries from y = 0 to the top of the last layer."""
        return tuple(math.fsum(x.thickness_mm for x in self.layers[:k]) for k in range(len(self.layers) + 1))

    @model_validator(mode="after")
    def _can_exist(self) -> "Section":
        _check_strips(self)
        _check_layers(self)
        _check_heights(self)
        _check_gaps(self)
        _check_mask(self)
        return self


def _demand(condition: bool, what: str, next_step: str) -> None:  # noqa: FBT001
    if not condition:
        raise GeometryError(what, next_step)


def _check_strips(section: Section) -> None:
    count = len(section.strips)
    _demand(count in (1, 2, 4), f"{count} signal strips", "give one strip, two for a pair, or four for two pairs")
    for strip in section.strips:
        numbers = (strip.base_width_mm, strip.top_width_mm, strip.thickness_mm, strip.bottom_mm, strip.centre_mm)
        _demand(all(math.isfinite(x) for x in numbers), "a strip dimension is not a finite number", "give plain mm")
        width, top, t = strip.base_width_mm, strip.top_width_mm, strip.thickness_mm
        _demand(width >= SMALLEST_MM, f"trace width {width:g} mm is under 1 um", "give the base width in mm")
        shape = f"trace top width {top:.3g} mm (base {width:.4g} mm, copper {t:g} mm)"
        _demand(t == 0 or top >= SMALLEST_MM, shape, "widen the trace, or take thinner copper or less etch taper")
        _demand(top <= width, f"top width {top:g} mm exceeds base width {width:g} mm", "the base is the wider side")
        leans = t > 0 and width - top > 2 * MOST_LEAN * t
        _demand(
            not leans, f"walls that lean {(width - top) / 2 / t if t else 0:.1f} to 1", "give the top width as etched"
        )
        _demand(t == 0 or t >= SMALLEST_MM / 10, f"copper thickness {t:g} mm", "give it in mm, or 0 for a thin strip")


def _check_layers(section: Section) -> None:
    for layer in section.layers:
        _demand(
            math.isfinite(layer.thickness_mm) and layer.thickness_mm >= SMALLEST_MM,
            f"a dielectric of {layer.thickness_mm:g} mm is under 1 um",
            "give its thickness in mm",
        )
    permittivities = [layer.er for layer in section.layers] + [section.er_below]
    permittivities += [section.mask.er] if section.mask else []
    for er in permittivities:
        _demand(1 <= er < 1e4, f"relative permittivity {er:g}", "give a Dk of 1 or more")
    reference = section.plane_below or section.plane_above or section.coplanar_gap_mm is not None
    _demand(
        reference,
        "no plane or coplanar ground to carry the return current",
        "name a reference plane",
    )
    _demand(
        section.plane_below or not section.plane_above,
        "a plane above and none below",
        "turn the section upside down, so that the only plane is the lower one",
    )


def _check_heights(section: Section) -> None:
    for strip in section.strips:
        if section.plane_below:
            _demand(
                strip.bottom_mm >= SMALLEST_MM, "the trace touches the plane below", "put a dielectric between them"
            )
        if section.plane_above:
            room = section.height_mm - strip.bottom_mm
            _demand(
                strip.thickness_mm <= room - SMALLEST_MM,
                f"copper of {strip.thickness_mm:g} mm in {room:g} mm up to the plane above",
                "make the dielectric above thicker than the copper",
            )


def _check_gaps(section: Section) -> None:
    gap = section.coplanar_gap_mm
    _demand(gap is None or gap >= SMALLEST_MM, f"coplanar gap {gap} mm is under 1 um", "give the gap in mm")
    if gap is not None:
        level = {(s.bottom_mm, s.thickness_mm, s.base) for s in section.strips}
        _demand(len(level) == 1, "coplanar ground next to strips of two layers", "give one section per layer")
    for one, two in pairwise(section.strips):
        across = abs(one.centre_mm - two.centre_mm) - (one.base_width_mm + two.base_width_mm) / 2
        along = max(one.bottom_mm - two.top_mm, two.bottom_mm - one.top_mm)
        _demand(
            max(across, along) >= SMALLEST_MM * (1 - 1e-9),
            f"the gap of the pair is {max(across, along):g} mm, under 1 um",
            "give a gap in mm",
        )


def _check_mask(section: Section) -> None:
    mask = section.mask
    if mask is None:
        return
    _demand(not section.plane_above, "solder mask under a plane", "mask is on outer layers only")
    thicknesses = (mask.on_laminate_mm, mask.on_trace_mm, mask.between_mm, mask.side_mm)
    _demand(
        all(x is None or SMALLEST_MM <= x < math.inf for x in thicknesses),
        "a mask thickness under 1 um",
        "give c1, c2, c3 in mm, or no mask",
    )
    for strip in section.strips:
        _demand(
            abs(strip.bottom_mm - section.height_mm) < 1e-9 and strip.base == "lower",
            "solder mask over copper that is not on the outer face",
            "put the strip's base on top of the last layer",
        )
