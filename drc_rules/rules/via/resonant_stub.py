"""A via stub resonates too close to the frequencies of its signal.

What it checks
--------------
The barrel that is left beyond the last layer with copper of the net, at both ends of every via and plated pad of a
high-speed interface, less what KiCad 10's own and declared backdrills remove. Its quarter-wave resonance, with the
laminate's Dk and the load of barrel, pads and planes, against a multiple of the interface's Nyquist frequency; of the
slowest generation where it is unknown (the remark of ten times apart). Planes' openings are those of the stored fills.
At the pin of a part, a stub that only its worst case speaks against is information: the part brings its hole with it,
and no drill shortens a soldered pin. A stub that fails nominally has one finding, which speaks for the worst case and
the remark as well; where only a part of its range fails, the answer is open, as where a stub passes only if a backdrill
no wider than the hole's own drill takes all plating away.

Why it matters
--------------
At its resonance a stub shorts the signal; at a third of it, it costs tenths of a decibel and reflects them. Planes and
pads slow the barrel down: it resonates a fifth to a third lower than in bare laminate.

How to fix
----------
Backdrill from the stub's side, with the must-cut layer next to the layer where the signal leaves; or route out on a
layer closer to that side; or use blind vias. Removing unused pads helps too. Delete a via that the net leaves on no
other layer: all of it is a stub.

What it cannot see
------------------
Without fills, openings follow clearances; ground vias are not read. What a drill leaves has a closed form, which may be
high. Dk along the barrel may exceed the sheet's. Stubs on one link are not judged together.

Sources
-------
f = c/(4 L sqrt(Dk_eff)) with Dk_eff = c^2 L C of a barrel among planes; the nominal one from a field solution where
planes reach along the stub, within 4 % of three stubs in a 3-D solver (validation page). Its return current is 1 mm
away, at a thick pin two diameters, and in the other via of a pair up to 2 mm or three diameters away. Three times
Nyquist keeps the loss mild; ten times is a rule of thumb (Signal Integrity Journal 2962), for information. The worst
case is the longest stub that the drawing allows in the smallest opening, with the highest Dk and the farthest return
current, by the same model, 4 % lower for the solution itself. An error needs the whole range below the limit, on a
declared interface. g is below 1 where a stub begins between two planes far apart: it has a share of their return
current, less inductance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drc_rules.analysis.via.high_speed_vias import (
    StubGroup,
    StubValues,
    describe_nets,
    doubtful_drill,
    grouped_stubs,
    ids_of,
    is_inferred,
    need_layers,
    places_of,
    span_of,
)
from drc_rules.analysis.via.stub_nulls import load_of, resonance_values
from drc_rules.analysis.via.stub_removal import ways_out
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import told_apart
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.interfaces import Interface
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.light import LIGHT_MM_GHZ

CODE = "VIA002"
WORST = "stub_resonance_worst"

FORMULA = """
f = c / (4 · L · √(Dk · g))
f ≥ k · f_N

f: quarter-wave resonance of the stub [GHz]
c: speed of light [mm GHz]
L: stub, with what the pad at its end adds [mm]
Dk: of the laminate along the barrel
g: load of pads and planes on the barrel; below 1 where it shares its return current
k: minimum multiple of Nyquist
f_N: Nyquist frequency of the interface [GHz]
"""


def _groups(ctx: Context, _clause: Clause) -> tuple[StubGroup, ...]:
    return tuple(group for group in ctx.get(grouped_stubs) if any(one.nyquist_ghz for one in group.choices))


@rule(CODE, kinds=("stub_resonance", WORST), over=_groups, formula=FORMULA, reads_fills=True)
def resonant_stub(ctx: Context, clause: Clause, group: StubGroup) -> Iterator[DraftFinding]:
    """Yield a finding when the group's stubs resonate below the clause's multiple of Nyquist."""
    ctx.rests_on(ctx.assignment.confidence_of(group.holes[0].net))
    need_layers(ctx, group)
    if not group.stubs:
        return
    figures = resonance_values(ctx, group)
    resonance = figures.resonance_ghz.low if clause.kind == WORST else figures.resonance_ghz.nominal
    factor = clause.limit.min or 0.0
    _show(ctx, clause, group, figures)
    minimum_ghz = factor * (group.choices[-1].nyquist_ghz or 0.0)
    if resonance >= minimum_ghz:
        _need_sure_drill(ctx, clause, group, minimum_ghz)
        return
    slowest_bears_it = resonance >= factor * (group.choices[0].nyquist_ghz or 0.0)
    if len(group.choices) > 1 and (slowest_bears_it or clause.severity is Severity.INFO):
        raise generation_of(ctx, group.family)
    is_remark = clause.kind == WORST or clause.severity is Severity.INFO
    if not is_remark and figures.resonance_ghz.high >= factor * (group.choices[0].nyquist_ghz or 0.0):
        raise _undecided(ctx, clause, group, figures)
    yield _draft(ctx, clause, group, figures, group.choices[0])


def _need_sure_drill(ctx: Context, clause: Clause, group: StubGroup, minimum_ghz: float) -> None:
    """Raise `MissingFact` where the stubs pass only if a drill as wide as the hole's own takes all plating away."""
    doubt = doubtful_drill(ctx, group)
    if doubt is None:
        return
    whole = resonance_values(ctx, replace(group, drill=None)).resonance_ghz
    if (whole.low if clause.kind == WORST else whole.nominal) < minimum_ghz:
        raise doubt


def _undecided(ctx: Context, clause: Clause, group: StubGroup, figures: StubValues) -> MissingFact:
    """Return what decides a resonance whose range has the limit in it: the layout, for nothing is left to declare."""
    of, fix = figures.resonance_ghz, _shorter(ctx, group)
    minimum = (clause.limit.min or 0.0) * (group.choices[0].nyquist_ghz or 0.0)
    what = (
        f"stub resonance of {describe_nets(ctx, group)}, {span_of(ctx, group)}, {minimum:.3g} GHz or above: nominal "
        f"{of.nominal:.3g} GHz, {of.low:.3g} to {of.high:.3g} GHz"
    )
    return MissingFact(what, f"in the layout, {fix[:1].lower()}{fix[1:]}: no declaration decides it")


def _show(ctx: Context, clause: Clause, group: StubGroup, figures: StubValues) -> None:
    """Show what makes the resonance, nominal or at its worst."""
    of, is_worst = group.shape, clause.kind == WORST
    lengths, dks = of.stub_length_mm(figures.length_mm), figures.dk
    length, dk = (lengths.high, dks.high) if is_worst else (lengths.nominal, dks.nominal)
    load = load_of(of, figures)
    ctx.shows(
        f"{describe_nets(ctx, group)}, stub {span_of(ctx, group)}",
        f=figures.resonance_ghz.low if is_worst else figures.resonance_ghz,
        c=LIGHT_MM_GHZ,
        L=length if is_worst else lengths,
        Dk=dk if is_worst else dks,
        g=load.high if is_worst else load,
        k=clause.limit.min or 0.0,
        f_N=group.choices[-1].nyquist_ghz or 0.0,
    )


def _shorter(ctx: Context, group: StubGroup) -> str:
    names, stub = [layer.name for layer in ctx.board.copper_layers], group.stubs[0]
    return ways_out(ctx, stub, f"Backdrill from {names[stub.side]} up to the layer next to {names[stub.first]}")


def _draft(ctx: Context, clause: Clause, group: StubGroup, figures: StubValues, one: Interface) -> DraftFinding:
    nyquist = one.nyquist_ghz or 0.0
    length, resonance = figures.length_mm, figures.resonance_ghz
    is_worst = clause.kind == WORST
    shown = resonance.low if is_worst else resonance.nominal
    long = length.high if is_worst else length.nominal
    factor = clause.limit.min or 0.0
    is_pin = not any(hole.is_via for hole in group.holes)
    left = "left by the backdrill" if group.drill else "not backdrilled"
    left = "of a via that joins nothing" if group.holes[0].joins_nothing else left
    return DraftFinding(
        title=(
            f"{'worst-case ' if is_worst else ''}stub resonance {shown:.0f} GHz, "
            f"{told_apart(shown / nyquist, factor, 1)} x Nyquist of {one.title}"
            f"{' or faster' if len(group.choices) > 1 else ''}, minimum {factor:g} x: "
            f"{describe_nets(ctx, group)}, {long:.2f} mm stub {span_of(ctx, group)}, {left}"
        ),
        why=(
            f"At its resonance a stub shorts the signal. Nominal {resonance.nominal:.0f} GHz, "
            f"{resonance.low:.0f} to {resonance.high:.0f} GHz over the values that the board does not state"
        ),
        fix=_shorter(ctx, group),
        ids=ids_of(ctx, group),
        measured=Measured(value=round(shown, 1), unit="GHz"),
        limit_value=round(factor * nyquist, 1),
        places=places_of(ctx, group),
        severity=Severity.INFO if is_worst and is_pin and resonance.nominal >= factor * nyquist else None,
        inferred=is_inferred(ctx, group),
        left_to=(CODE, ids_of(ctx, group)) if is_worst or clause.severity is Severity.INFO else None,
    )
