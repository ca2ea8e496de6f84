"""The resonance of via stubs from their field, `stackup_lib.vias.via_field`; of a pair's vias in their odd mode."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from drc_rules.analysis.via.high_speed_vias import StubGroup, StubValues, openings_of, stub_values
from drc_rules.facts.context import Context
from stackup_lib.core.interval import Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.vias.stub_resonance import ViaShape, loading, resonance_ghz

if TYPE_CHECKING:
    from stackup_lib.vias.via_circuit import ModelledVia

FIELD_SPREAD = 0.04
"""How far the field's resonance may be off: three stubs of a 3-D field solver are within 4 %."""


def resonance_values(ctx: Context, group: StubGroup) -> StubValues:
    """Return what `stub_values` does, the resonance from the field.

    Low is that of the longest stub in the smallest opening and the highest Dk, its return current as far away as it
    may be; high is the other way round. The closed form stays where the stub goes on far beyond the last plane, where
    return currents have no rim to flow on, and for what a drill leaves, which ends in openings of planes that the field
    counts as closed.

    Raises:
        MissingFact: as `stub_values`.
    """
    from drc_rules.analysis.via.via_bodies import far_log, places_of, rim_log, via_of  # noqa: PLC0415 - few need it
    from stackup_lib.transmission_lines.via_chain import null_ghz, null_of_pair_ghz  # noqa: PLC0415

    figures = stub_values(ctx, group)
    vias = [via_of(ctx, one, group.choices[-1].nyquist_ghz or 1.0) for one in openings_of(group)]
    narrow, usual, wide = vias
    if group.drill is not None or narrow is None or usual is None or wide is None or not ends_at_planes(usual):
        return figures
    stub, apart = (group.stubs[0].first, group.stubs[0].side), group.shape.partner_mm
    if apart is None:
        nominal = null_ghz(usual, stub)
        far = far_log(narrow, figures.dk.nominal, nominal) if nominal < math.inf else narrow.return_log
        slow = null_ghz(replace(narrow, return_log=far), stub)
        fast = null_ghz(replace(wide, return_log=rim_log(wide.body)), stub)
    else:
        near, place, far_off = places_of(apart, usual.body.barrel_mm)
        nominal = null_of_pair_ghz(usual, place, stub)
        slow = null_of_pair_ghz(narrow, far_off, stub)
        fast = null_of_pair_ghz(wide, near, stub)
    found = Interval(low=min(slow, nominal), nominal=nominal, high=max(fast, nominal))
    return replace(figures, resonance_ghz=_widened(found, group.shape.stub_length_mm(figures.length_mm), figures.dk))


def _widened(found: Interval, length_mm: Interval, dk: Interval) -> Interval:
    """Return a resonance with the spread of length and Dk, f ~ 1/(L sqrt(Dk)), and of the field.

    Low is never above that of the longest stub in bare laminate, whatever return current it shares.
    """
    slower = length_mm.high / length_mm.nominal * math.sqrt(dk.high / dk.nominal) * (1 + FIELD_SPREAD)
    faster = length_mm.nominal / length_mm.low * math.sqrt(dk.nominal / dk.low) * (1 + FIELD_SPREAD)
    low = min(found.low / slower, resonance_ghz(length_mm.high, dk.high))
    return Interval(low=low, nominal=found.nominal, high=found.high * faster)


def ends_at_planes(via: ModelledVia) -> bool:
    """Tell whether the barrel ends less far from the outermost planes than their openings are wide."""
    faces, planes, (top, bottom) = via.stack.faces_mm, via.stack.planes, via.body.ends_mm
    return max(faces[planes[0]][0] - top, bottom - faces[planes[-1]][1]) < via.body.antipad_mm


def load_of(shape: ViaShape, figures: StubValues) -> Interval:
    """Return the load g of f = c/(4 L sqrt(Dk g)): each end is that of its length, Dk and resonance.

    Of the field it may be below 1: half way between two planes a stub has but a part of its return current there, and
    less inductance than a barrel between the same planes.
    """
    lengths, dk, f = shape.stub_length_mm(figures.length_mm), figures.dk, figures.resonance_ghz

    def load(length_mm: float, of: float, ghz: float) -> float | None:
        is_open = length_mm <= 0 or math.isinf(ghz)
        return None if is_open else (LIGHT_MM_GHZ / (4 * length_mm * ghz)) ** 2 / of

    low = load(lengths.low, dk.low, f.high) or loading(shape, lengths.low).low
    nominal = load(lengths.nominal, dk.nominal, f.nominal) or loading(shape, lengths.nominal).nominal
    high = load(lengths.high, dk.high, f.low) or loading(shape, lengths.high).high
    return Interval(low=min(low, nominal), nominal=nominal, high=max(high, nominal))  # equal but for rounding
