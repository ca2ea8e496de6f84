"""From the rows of a stackup around a layer to the `TraceEnvironment` of that layer. Lengths in mm.

A stackup row of dielectric states the distance between copper faces, as KiCad and most fab drawings mean it: the copper
of a signal layer adds to it. Where that copper lies: it is bonded to the core next to it, and sinks into the prepreg on
its other side. Between two prepregs it is the foil of a build-up layer, bonded to the one nearer to the board's middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import GeometryError, Mask
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment

INNER_TAPER_PER_COPPER = 1.0
"""Base less top width over copper thickness, of etched inner foil: 12.7 to 15 um on 15.2 um in the geometry that an
online calculator of a fab sends to its field solver."""

OUTER_TAPER_PER_COPPER = 0.5
"""The same of outer layers, where plated copper is not all etched: 15 to 20 um on 40.6 um."""


@record
class BuildupRow:
    """A dielectric, or the copper of another signal layer, between a trace and its plane.

    Attributes:
        dk: of a dielectric; None for copper, whose gaps are filled by the prepreg next to it.
        label: the ply, where a row has several.
    """

    name: str
    kind: Literal["core", "prepreg", "copper"]
    thickness_mm: float
    dk: float | None = None
    label: str = ""


def site_of(
    layer: str,
    *,
    copper_mm: float,
    above: Sequence[BuildupRow],
    below: Sequence[BuildupRow],
    reference_above: str | None,
    reference_below: str | None,
    in_upper_half: bool,
    mask: Mask | None = None,
    taper_mm: float | None = None,
) -> TraceEnvironment:
    """Return the site of a layer.

    Args:
        layer: name of the trace's layer.
        copper_mm: its finished thickness.
        above: rows over it, from the trace outward, up to the plane or the surface.
        below: rows under it, likewise.
        reference_above: layer of the plane over it, None where that side is open.
        reference_below: layer of the plane under it, likewise.
        in_upper_half: of the board: a foil between two prepregs is bonded to the one below it.
        mask: solder mask, where the trace is on the surface.
        taper_mm: base less top width; by default from the copper's thickness.

    Raises:
        GeometryError: no plane, nothing between trace and plane, or a dielectric without Dk.
    """
    if reference_above is None and reference_below is None:
        raise GeometryError(f"{layer} has no reference plane", "name the layer that carries its return current")
    outer = not above or not below
    per_copper = OUTER_TAPER_PER_COPPER if outer else INNER_TAPER_PER_COPPER
    bonded_below = _bonded_below(above, below, in_upper_half=in_upper_half)
    upper, lower = _sheets(above), _sheets(below)
    turned = reference_below is None
    if turned:
        upper, lower = lower, upper
        reference_above, reference_below = reference_below, reference_above
        bonded_below = not bonded_below
    return TraceEnvironment(
        layer=layer,
        reference_below=reference_below,
        reference_above=reference_above,
        below=tuple(reversed(lower)),
        above=tuple(upper),
        copper_mm=copper_mm,
        taper_mm=per_copper * copper_mm if taper_mm is None else taper_mm,
        base="lower" if bonded_below else "upper",
        mask=mask if not upper else None,
        is_turned=turned,
    )


def _bonded_below(above: Sequence[BuildupRow], below: Sequence[BuildupRow], *, in_upper_half: bool) -> bool:
    """Tell whether the trace's lower face is the one that was bonded to laminate."""
    if not above or not below:
        return bool(below)
    if below[0].kind == "core" or above[0].kind == "core":
        return below[0].kind == "core"
    return in_upper_half


def _sheets(rows: Sequence[BuildupRow]) -> list[DielectricSheet]:
    """Turn rows, from the trace outward, into sheets; copper becomes what fills its gaps."""
    sheets = []
    for k, row in enumerate(rows):
        if row.kind != "copper" and row.dk is None:
            raise GeometryError(f"{row.name} has no Dk", "give dk of every core and prepreg")
        filler = row if row.kind != "copper" else _filler(rows[max(k - 1, 0) : k + 2])
        if filler is None or filler.dk is None:
            continue
        kind: Literal["core", "prepreg"] = "core" if filler.kind == "core" else "prepreg"
        sheets.append(
            DielectricSheet(
                name=filler.name,
                kind=kind,
                thickness_mm=row.thickness_mm,
                dk=filler.dk,
                label=filler.label,
                gap_layer=row.name if row is not filler else "",
            )
        )
    return sheets


def _filler(adjacent: Sequence[BuildupRow]) -> BuildupRow | None:
    dielectrics = [row for row in adjacent if row.kind != "copper"]
    return next((row for row in dielectrics if row.kind == "prepreg"), dielectrics[0] if dielectrics else None)
