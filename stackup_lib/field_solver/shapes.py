"""The usual cross sections by their usual dimensions (mm). Symbols as in the reference cases: see each function."""

from __future__ import annotations

from collections.abc import Sequence

from stackup_lib.field_solver.sections import GeometryError, Layer, Mask, Section, Strip

Layers = Sequence[tuple[float, float]]
"""(thickness_mm, er) from the bottom up."""


def microstrip(
    *,
    width_mm: float,
    height_mm: float,
    thickness_mm: float,
    er: float,
    gap_mm: float | None = None,
    mask: Mask | None = None,
    top_width_mm: float | None = None,
) -> Section:
    """A trace, or a pair with `gap_mm`, on one laminate, bare or under mask: w (base), h, t, er, s (between bases).

    `top_width_mm` is w by default (a rectangle).
    """
    strips = _traces(width_mm, top_width_mm, thickness_mm, height_mm, gap_mm)
    return Section(layers=_layers([(height_mm, er)]), strips=strips, mask=mask)


def embedded_microstrip(
    *,
    width_mm: float,
    thickness_mm: float,
    layers_below: Layers,
    layers_above: Layers,
    gap_mm: float | None = None,
    top_width_mm: float | None = None,
) -> Section:
    """A trace, or a pair with `gap_mm`, under a flat cover: its layers start at the base of the trace; above is air."""
    bottom = sum(thickness for thickness, _ in layers_below)
    strips = _traces(width_mm, top_width_mm, thickness_mm, bottom, gap_mm)
    return Section(layers=_layers([*layers_below, *layers_above]), strips=strips)


def stripline(
    *,
    width_mm: float,
    thickness_mm: float,
    layers_below: Layers,
    layers_above: Layers,
    gap_mm: float | None = None,
    top_width_mm: float | None = None,
) -> Section:
    """A trace, or a pair with `gap_mm`, between two planes: its base is on `layers_below` (the core).

    The copper lies inside `layers_above`, which reach from the base to the plane above: their thickness includes the
    copper (h2 + t of the usual drawings). For a strip etched on the upper core turn the section upside down.
    """
    bottom = sum(thickness for thickness, _ in layers_below)
    strips = _traces(width_mm, top_width_mm, thickness_mm, bottom, gap_mm)
    return Section(layers=_layers([*layers_below, *layers_above]), strips=strips, plane_above=True)


def broadside_stripline(
    *,
    width_mm: float,
    gap_mm: float,
    thickness_mm: float,
    layers_below: Layers,
    er_between: float,
    layers_above: Layers,
    top_width_mm: float | None = None,
    offset_mm: float = 0.0,
) -> Section:
    """Two traces face to face, bonded to the dielectric of thickness s between them; `offset_mm` is misregistration.

    `layers_below` reach from the plane below to the lower trace's base and so contain that trace (at their top), as
    `layers_above` contain the upper one (at their bottom).
    """
    low = sum(thickness for thickness, _ in layers_below)
    top = width_mm if top_width_mm is None else top_width_mm

    def trace(bottom: float, centre: float, base: str) -> Strip:
        return Strip.model_validate(
            {
                "base_width_mm": width_mm,
                "top_width_mm": top,
                "thickness_mm": thickness_mm,
                "bottom_mm": bottom,
                "centre_mm": centre,
                "base": base,
            }
        )

    strips = (trace(low - thickness_mm, -offset_mm / 2, "upper"), trace(low + gap_mm, offset_mm / 2, "lower"))
    layers = _layers([*layers_below, (gap_mm, er_between), *layers_above])
    return Section(layers=layers, strips=strips, plane_above=True)


def coplanar(
    *,
    width_mm: float,
    ground_gap_mm: float,
    thickness_mm: float,
    layers_below: Layers,
    layers_above: Layers = (),
    gap_mm: float | None = None,
    plane_below: bool = True,
    plane_above: bool = False,
    er_below: float = 1.0,
    mask: Mask | None = None,
    top_width_mm: float | None = None,
) -> Section:
    """A trace, or a pair with `gap_mm`, between coplanar grounds of infinite width, with or without planes.

    Grounds have the strip's thickness and taper and the planes' potential. Without a plane below, `er_below` fills the
    half space under the last of `layers_below`.
    """
    bottom = sum(thickness for thickness, _ in layers_below)
    return Section(
        layers=_layers([*layers_below, *layers_above]),
        strips=_traces(width_mm, top_width_mm, thickness_mm, bottom, gap_mm),
        plane_below=plane_below,
        plane_above=plane_above,
        coplanar_gap_mm=ground_gap_mm,
        er_below=er_below,
        mask=mask,
    )


def _layers(layers: Layers) -> tuple[Layer, ...]:
    return tuple(Layer(thickness_mm=thickness, er=er) for thickness, er in layers)


def _traces(
    width_mm: float, top_width_mm: float | None, thickness_mm: float, bottom_mm: float, gap_mm: float | None = None
) -> tuple[Strip, ...]:
    if gap_mm is not None and gap_mm <= 0:
        raise GeometryError(f"the gap of the pair is {gap_mm:g} mm", "give a gap above 0, or none for a single trace")
    top = width_mm if top_width_mm is None else top_width_mm
    away = 0.0 if gap_mm is None else (width_mm + gap_mm) / 2
    return tuple(
        Strip(
            base_width_mm=width_mm,
            top_width_mm=top,
            thickness_mm=thickness_mm,
            bottom_mm=bottom_mm,
            centre_mm=centre,
        )
        for centre in ((-away, away) if away else (0.0,))
    )
