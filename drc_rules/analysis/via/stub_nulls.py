"""The resonance of via stubs from their field, `stackup_lib.vias.via_field`; of a pair's vias in their odd mode."""

from __future__ import annotations

import math
from dataclasses import replace

from drc_rules.analysis.via.high_speed_vias import StubGroup, StubValues, stub_values
from drc_rules.analysis.via.via_bodies import place_of, via_of
from drc_rules.facts.context import Context
from stackup_lib.core.interval import Interval
from stackup_lib.transmission_lines.via_chain import null_ghz, null_of_pair_ghz
from stackup_lib.vias.stub_resonance import ViaShape, loading, resonance_ghz
from stackup_lib.vias.via_circuit import ModelledVia


def resonance_values(ctx: Context, group: StubGroup) -> StubValues:
    """Return what `stub_values` does, the nominal resonance from the field.

    The limits of the closed form stay: how far planes, pads and laminates may be from what is drawn is the same. So
    does all of it where the stub goes on far beyond the last plane, where return currents have no rim to flow on, and
    for what a drill leaves, which ends in openings of planes that the field counts as closed.

    Raises:
        MissingFact: as `stub_values`.
    """
    figures = stub_values(ctx, group)
    if group.drill is not None:
        return figures
    via = via_of(ctx, group, group.choices[-1].nyquist_ghz or 1.0)
    if via is None or not _ends_at_planes(via):
        return figures
    stub, apart, range_ghz = (group.stubs[0].first, group.stubs[0].side), group.shape.partner_mm, figures.resonance_ghz
    found = null_ghz(via, stub) if apart is None else null_of_pair_ghz(via, place_of(apart), stub)
    nominal = min(max(found, range_ghz.low), range_ghz.high)
    return replace(figures, resonance_ghz=range_ghz.model_copy(update={"nominal": nominal}))


def _ends_at_planes(via: ModelledVia) -> bool:
    """Tell whether the barrel ends less far from the outermost planes than their openings are wide."""
    faces, planes, (top, bottom) = via.stack.faces_mm, via.stack.planes, via.body.ends_mm
    return max(faces[planes[0]][0] - top, bottom - faces[planes[-1]][1]) < via.body.antipad_mm


def load_of(shape: ViaShape, figures: StubValues) -> Interval:
    """Return the load of pads and planes on a stub; each end is that of its length, nominal that of the resonance."""
    lengths = shape.stub_length_mm(figures.length_mm)
    found = Interval(
        low=loading(shape, lengths.low).low,
        nominal=loading(shape, lengths.nominal).nominal,
        high=loading(shape, lengths.high).high,
    )
    if not 0 < figures.resonance_ghz.nominal < math.inf:
        return found
    bare_ghz = resonance_ghz(shape.stub_length_mm(figures.length_mm).nominal, figures.dk.nominal)
    return found.model_copy(update={"nominal": (bare_ghz / figures.resonance_ghz.nominal) ** 2})
