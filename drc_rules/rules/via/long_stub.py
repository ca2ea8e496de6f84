"""A via stub is longer than a maker's guide allows for the interface.

What it checks
--------------
The barrel left beyond the last used layer, at both ends of every via and plated pad on the interface's nets, less what
backdrills remove, against the length that the clause's document gives, on any board. The nominal length decides, to a
hundredth of a millimetre: 15 mil are 0.38 mm. PCIe Gen4 (0.61 mm), USB 3.2 Gen1 (0.4 mm) and Gen2 (0.38 mm) and
DisplayPort HBR3 (0.4 mm) have one; where only the family of a net is known, there is no limit.

Why it matters
--------------
Makers state a length instead of a resonance: they have measured what their transceivers and connectors tolerate.

How to fix
----------
Backdrill from the stub's side; or route out on a layer closer to it; or use blind vias. Delete a via that the net
leaves on no other layer.

What it cannot see
------------------
Length is the sum of nominal thicknesses; a laminated board may have a tenth more. Dk, pads and planes along the barrel
are ignored: `resonant-stub` judges those. Used layers are found as in `missing-backdrill`.

Sources
-------
Each clause names its document. Makers differ: NVIDIA allows no stub at PCIe Gen4, AMD 0.61 mm, Intel 0.76 mm. A guide
is for its maker's parts, so it makes a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.high_speed_vias import (
    StubGroup,
    describe_nets,
    doubtful_drill,
    groups_of,
    ids_of,
    is_inferred,
    length_of,
    need_layers,
    places_of,
    span_of,
)
from drc_rules.analysis.via.stub_removal import ways_out
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import told_apart
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule


def _groups(ctx: Context, clause: Clause) -> tuple[StubGroup, ...]:
    return groups_of(ctx, clause.interface or "")


FORMULA = """
L ≤ L_max

L: stub beyond the last used layer, less what a backdrill removes [mm]
L_max: maximum of the maker's guide [mm]
"""


@rule("VIA003", kinds=("via_stub",), over=_groups, formula=FORMULA, reads_fills=True)
def long_stub(ctx: Context, clause: Clause, group: StubGroup) -> Iterator[DraftFinding]:
    """Yield a finding when the group's nominal stub is longer than the clause's length."""
    ctx.rests_on(ctx.assignment.confidence_of(group.holes[0].net))
    need_layers(ctx, group)
    if not group.stubs:
        return
    length, allowed = length_of(ctx, group), clause.limit.max or 0.0
    decimals = clause.limit.decimals
    compared = length.nominal if decimals is None else round(length.nominal, decimals)
    is_rounded = compared <= allowed < length.nominal
    shown = compared if is_rounded else length
    ctx.shows(f"{describe_nets(ctx, group)}, stub {span_of(ctx, group)}", L=shown, L_max=allowed)
    if compared <= allowed:
        doubt = doubtful_drill(ctx, group)
        if doubt and group.stubs[0].length_mm > allowed:
            raise doubt
        return
    side = ctx.board.copper_layers[group.stubs[0].side].name
    yield DraftFinding(
        title=(
            f"via stub {told_apart(length.nominal, allowed)} mm, maximum {allowed:g} mm: "
            f"{describe_nets(ctx, group)}, {span_of(ctx, group)}"
        ),
        why="The guide is a maker's, for its own parts; it allows no longer stub at this rate",
        fix=ways_out(ctx, group.stubs[0], f"Backdrill from {side}"),
        ids=ids_of(ctx, group),
        measured=Measured(value=round(length.nominal, 4), unit="mm"),
        limit_value=allowed,
        places=places_of(ctx, group),
        inferred=is_inferred(ctx, group),
    )
