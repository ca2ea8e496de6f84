"""From a cross section to the straight pieces that can carry charge: copper faces and dielectric interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import Section, Strip

OPEN_EXTENT = 1e3
"""Open interfaces and coplanar grounds end at this many section sizes: charge there falls at least as x^-2."""

SHIELDED_EXTENT = 5.0
"""Between two planes everything ends this many plane distances beyond the copper: fields fall as exp(-pi x / b)."""

PLANE_ABOVE, COPLANAR_LEFT, COPLANAR_RIGHT = -1, -2, -3
"""Conductors at ground that carry explicit charge (signals count from 0); the plane below is an exact image."""


@record
class BoundaryPiece:
    """A straight boundary piece with its materials right (minus) and left (plus) of the direction start -> end.

    `conductor` is None on a dielectric interface. Both permittivities of a solid copper face are the one outside.
    """

    start: complex
    end: complex
    eps_minus: float
    eps_plus: float
    conductor: int | None = None

    def at(self, fraction: float) -> complex:
        """The point at a fraction of the way."""
        return self.start + (self.end - self.start) * fraction


def is_symmetric(section: Section) -> bool:
    """Whether the section is its own mirror image in x = 0."""
    mirrored = tuple(strip.model_copy(update={"centre_mm": -strip.centre_mm}) for strip in reversed(section.strips))
    return mirrored == section.strips or all(strip.centre_mm == 0 for strip in section.strips)


def pieces(section: Section) -> list[BoundaryPiece]:
    """All boundary pieces of the whole section."""
    extent = _extent(section)
    faces = [f for k, strip in enumerate(section.strips) for f in _strip_faces(strip, k)]
    faces += _coplanar_faces(section, extent)
    if section.plane_above:
        y = section.height_mm
        er = section.layers[-1].er
        faces.append(BoundaryPiece(complex(extent, y), complex(-extent, y), er, er, PLANE_ABOVE))
    heights = section.interfaces_mm
    out = [cut for face in faces for cut in _cut_at_heights(face, section, heights)]
    out += _interfaces(section, heights, extent)
    out += _mask_surface(section, extent)
    return out


def right_half(parts: list[BoundaryPiece]) -> list[BoundaryPiece]:
    """The pieces at x >= 0, those across x = 0 cut there."""
    out = []
    for part in parts:
        a, b = part.start, part.end
        if max(a.real, b.real) <= 0:
            continue
        if a.real >= 0 and b.real >= 0:
            out.append(part)
            continue
        cut = complex(0.0, part.at(a.real / (a.real - b.real)).imag)
        out.append(replace(part, start=cut) if a.real < 0 else replace(part, end=cut))
    return out


def size_mm(section: Section) -> float:
    """The section's size: the larger of its height and the reach of its copper to either side."""
    reach = max(abs(s.centre_mm) + s.base_width_mm / 2 for s in section.strips) + (section.coplanar_gap_mm or 0.0)
    return max(reach, section.height_mm, *(s.top_mm for s in section.strips))


def _extent(section: Section) -> float:
    if section.plane_above:
        reach = max(abs(s.centre_mm) + s.base_width_mm / 2 for s in section.strips) + (section.coplanar_gap_mm or 0.0)
        return reach + SHIELDED_EXTENT * section.height_mm
    return OPEN_EXTENT * size_mm(section)


def _permittivity(section: Section, heights: Sequence[float], y: float) -> float:
    """Layer permittivity at a height (never called exactly on an interface); air or mask above the last layer."""
    if y < 0:
        return section.er_below
    for layer, top in zip(section.layers, heights[1:], strict=True):
        if y < top:
            return layer.er
    return section.mask.er if section.mask else 1.0


def _cut_at_heights(face: BoundaryPiece, section: Section, heights: Sequence[float]) -> Iterator[BoundaryPiece]:
    """A wall in several layers, cut at their boundaries, each part with the permittivity next to it."""
    low, high = sorted((face.start.imag, face.end.imag))
    tiny = 1e-9 * max(heights[-1], high, SHIELDED_EXTENT * 1e-3)
    inside = [y for y in heights if low + tiny < y < high - tiny]
    rise = face.end.imag - face.start.imag
    fractions = sorted({0.0, 1.0, *((y - face.start.imag) / rise for y in inside)})
    for f0, f1 in pairwise(fractions):
        a, b = face.at(f0), face.at(f1)
        middle, direction = (a + b) / 2, (b - a) / abs(b - a)
        thin = face.eps_minus < 0
        right = _permittivity(section, heights, (middle - 1j * direction * tiny).imag)
        left = _permittivity(section, heights, (middle + 1j * direction * tiny).imag) if thin else right
        yield BoundaryPiece(a, b, right, left, face.conductor)


def _strip_faces(strip: Strip, conductor: int) -> list[BoundaryPiece]:
    """Faces counter-clockwise, so that the outside is on the right; a thin strip is one piece, marked by -1."""
    x, low, high = strip.centre_mm, strip.bottom_mm, strip.top_mm
    half_low, half_high = strip.half_width_at(low), strip.half_width_at(high)
    if strip.thickness_mm == 0:
        return [BoundaryPiece(complex(x - half_low, low), complex(x + half_low, low), -1, -1, conductor)]
    corners = [
        complex(x - half_low, low),
        complex(x + half_low, low),
        complex(x + half_high, high),
        complex(x - half_high, high),
    ]
    return [BoundaryPiece(a, b, 1, 1, conductor) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]


def _coplanar_faces(section: Section, extent: float) -> list[BoundaryPiece]:
    if section.coplanar_gap_mm is None:
        return []
    strip = section.strips[0]
    low, high = strip.bottom_mm, strip.top_mm
    out = []
    for side, conductor in ((-1, COPLANAR_LEFT), (1, COPLANAR_RIGHT)):
        at_low = complex(side * ground_edge(section, low, side), low)
        at_high = complex(side * ground_edge(section, high, side), high)
        far_low, far_high = complex(side * extent, low), complex(side * extent, high)
        if strip.thickness_mm == 0:
            chain = [at_low, far_low] if side > 0 else [far_low, at_low]
            mark = -1
        else:
            chain = [far_high, at_high, at_low, far_low]
            chain = chain if side > 0 else chain[::-1]
            mark = 1
        out += [BoundaryPiece(a, b, mark, mark, conductor) for a, b in pairwise(chain)]
    return out


def ground_edge(section: Section, y_mm: float, side: int) -> float:
    """Distance |x| in mm of the coplanar ground's wall at a height inside the copper."""
    outer = max(section.strips, key=lambda s: side * s.centre_mm)
    base = side * outer.centre_mm + outer.base_width_mm / 2 + (section.coplanar_gap_mm or 0.0)
    return base + outer.base_width_mm / 2 - outer.half_width_at(y_mm)


def _copper_spans(section: Section, y: float, extent: float) -> list[tuple[float, float]]:
    """Where a horizontal line at height y is in or on copper."""
    near = 1e-9 * max(section.height_mm, 1e-3)
    spans = []
    for strip in section.strips:
        if strip.bottom_mm - near <= y <= strip.top_mm + near:
            half = strip.half_width_at(min(max(y, strip.bottom_mm), strip.top_mm))
            spans.append((strip.centre_mm - half, strip.centre_mm + half))
    level = section.strips[0]
    if section.coplanar_gap_mm is not None and level.bottom_mm - near <= y <= level.top_mm + near:
        inside = min(max(y, level.bottom_mm), level.top_mm)
        spans += [(-extent, -ground_edge(section, inside, -1)), (ground_edge(section, inside, 1), extent)]
    return sorted(spans)


def _interfaces(section: Section, heights: Sequence[float], extent: float) -> list[BoundaryPiece]:
    permittivities = [section.er_below, *(layer.er for layer in section.layers)]
    permittivities.append(section.mask.er if section.mask else 1.0)
    out = []
    for k, y in enumerate(heights):
        is_plane = (k == 0 and section.plane_below) or (k == len(heights) - 1 and section.plane_above)
        below, above = permittivities[k], permittivities[k + 1]
        if is_plane or below == above:
            continue
        x = -extent
        for left, right in [*_copper_spans(section, y, extent), (extent, extent)]:
            if left > x:
                out.append(BoundaryPiece(complex(x, y), complex(left, y), below, above))
            x = max(x, right)
    return out


def _mask_surface(section: Section, extent: float) -> list[BoundaryPiece]:
    """The outer face of the solder mask, from left to right: mask on the right (below), air on the left (above)."""
    mask = section.mask
    if mask is None or mask.er == 1.0:
        return []
    points = mask_outline(section, extent)
    return [BoundaryPiece(a, b, mask.er, 1.0) for a, b in pairwise(points) if a != b]


def mask_outline(section: Section, extent: float) -> list[complex]:
    """Corner points of the mask's surface from left to right."""
    mask = section.mask
    if mask is None:
        return []
    strips = sorted(section.strips, key=lambda s: s.centre_mm)
    t, y0 = strips[0].thickness_mm, section.height_mm
    top = y0 + t + mask.on_trace_mm
    adjacent = y0 + mask.on_laminate_mm
    if adjacent >= top:  # flat; cut over the edges of the copper, where its charge changes
        edges = sorted(
            x for s in strips for x in (s.centre_mm - s.base_width_mm / 2, s.centre_mm + s.base_width_mm / 2)
        )
        return [complex(x, adjacent) for x in (-extent, *edges, extent)]
    between = min(y0 + (mask.on_laminate_mm if mask.between_mm is None else mask.between_mm), top)
    slope = (strips[0].base_width_mm - strips[0].top_width_mm) / 2 / t if t else 0.0
    away = mask.on_trace_mm * (1 + slope**2) ** 0.5 if mask.side_mm is None else mask.side_mm
    # humps of copper from left to right: (left base edge, right base edge); None where the copper goes on to infinity
    humps: list[tuple[float | None, float | None]] = [
        (s.centre_mm - s.base_width_mm / 2, s.centre_mm + s.base_width_mm / 2) for s in strips
    ]
    if section.coplanar_gap_mm is not None:
        humps = [(None, -ground_edge(section, y0, -1)), *humps, (ground_edge(section, y0, 1), None)]
    first, last = humps[0][0], humps[-1][1]
    points = [complex(-extent, top)]
    if first is not None:
        points = [complex(-extent, adjacent), *_shoulder(first - away, adjacent - y0, top - y0, y0, slope)]
    for k, ((_, right), (left, _)) in enumerate(pairwise(humps)):
        assert right is not None and left is not None  # noqa: S101 - only the outermost humps are open
        trace = k - (section.coplanar_gap_mm is not None)  # on the left
        inner = len(strips) > 1 and trace in {0, 2} and trace + 1 < len(strips)
        floor = between if inner else adjacent
        points += _valley((right + away, left - away), floor - y0, top - y0, y0, slope)
    if last is None:
        return [*points, complex(extent, top)]
    return [
        *points,
        *(_mirrored(_shoulder(-last - away, adjacent - y0, top - y0, y0, slope))),
        complex(extent, adjacent),
    ]


def _shoulder(base: float, low: float, high: float, y0: float, slope: float) -> list[complex]:
    """A rise from floor to top, leaning right by `slope` per mm from x = base at the laminate."""
    return [complex(base + slope * low, y0 + low), complex(base + slope * high, y0 + high)]


def _mirrored(points: list[complex]) -> list[complex]:
    return [complex(-p.real, p.imag) for p in points[::-1]]


def _valley(edges: tuple[float, float], low: float, high: float, y0: float, slope: float) -> list[complex]:
    """Down one hump's wall and up the next's; filled to a notch, or wholly, where the shoulders meet."""
    left, right = edges
    left_low, right_low = left - slope * low, right + slope * low
    if high <= low or left - slope * high >= right + slope * high:
        return []
    if left_low < right_low:
        return [*_mirrored(_shoulder(-left, low, high, y0, slope)), *_shoulder(right, low, high, y0, slope)]
    meet = (left - right) / (2 * slope)
    return [
        complex(left - slope * high, y0 + high),
        complex((left + right) / 2, y0 + meet),
        complex(right + slope * high, y0 + high),
    ]
