"""The width and gap that KiCad is configured to route do not have the target impedance.

What it checks
--------------
For nets with an impedance target, the geometry that KiCad is configured to route on a layer: the preferred values of
the custom design rules, else KiCad 10's tuning profile, else the net class, solved with the stackup's thicknesses and
Dk. A class is judged on the layers where its nets are routed; a rule or profile that names its layer also before
anything is routed. The class Default, values shared with it, and KiCad's own 0.2/0.25 mm do not count. It passes where
the nominal impedance is within the tolerance, fails where it stays outside over the whole range of unknown inputs (Dk,
etch taper, finished outer copper, solder mask, and fills next to what is routed: see `off-target-impedance`), and is
otherwise not verifiable, with what settles it. A rule whose condition or limits cannot be evaluated makes it not
verifiable, too, and so does a hatched plane next to what is routed.

Why it matters
--------------
KiCad routes with these numbers and checks the copper against them: where they are wrong, its design rule check passes
the wrong line and reports the right one. Where the copper follows them, the finding about the copper counts, and this
one only names its origin.

How to fix
----------
Change the number in its rule, profile or class; `stackwright impedance` gives the geometry for every layer and target.

What it cannot see
------------------
Rules for areas, parts or single items make it not verifiable; ranges without a preferred value and class Default are
never judged. Planes are the profile's, else the longest line's. Pads and breakouts are ignored.

Sources
-------
Targets: the interface's own document, or the name of class or rule. KiCad's order, the last rule that applies before
profile and class, and its defaults: KiCad 10.0.6. The solver: see `stackwright validate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from drc_rules.analysis.lines.broadside_pairs import ASK_THE_FAB, BROADSIDE, is_broadside
from drc_rules.analysis.lines.hatched_planes import FILL_SOLID, hatched_mm
from drc_rules.analysis.lines.routed_impedance import RoutedImpedance, routed_impedance, routed_uncertainty
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.lines.uncertainty import LineUncertainty
from drc_rules.analysis.targets.configured_geometries import Intent, configured_geometries
from drc_rules.facts.context import NO_PLANE, Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.advice import source_of, width_command
from drc_rules.rules.impedance._model import FORMULA, answer_of_command, judged, line_numbers, target_ids
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Standing


def _configured(ctx: Context, _clause: Clause) -> Iterable[Intent]:
    return configured_geometries(ctx)


@rule(
    "IMP003",
    aliases=("off-target-intent",),
    kinds=("intended_impedance",),
    over=_configured,
    formula=FORMULA,
    reads_fills=True,
    slow_objects=True,
)
def off_target_net_class(ctx: Context, _clause: Clause, found: Intent) -> Iterator[DraftFinding]:
    """Yield one finding per geometry that KiCad intends and that misses the target."""
    target, geometry, layer = found.target, found.geometry, found.geometry.layer
    title = target.title_on(found.index)
    if found.routed and all(is_broadside(ctx, line, net) for line in found.routed for net in line.nets):
        raise MissingFact(f"the impedance configured for {title} on {layer}: {BROADSIDE}", ASK_THE_FAB)
    if geometry.doubts:
        how = f'{geometry.doubts[0]}: state a preferred value, "(opt ...)", and a condition on net class or net only'
        raise MissingFact(f"the width and gap of the design rules for {title} on {layer}", how)
    solved, unknown = _impedance(ctx, found)
    ohm, gap, near_fill = solved.ohm, geometry.gap_mm if found.is_pair else None, found.near_fill
    held = judged(ctx, target, solved, unknown)
    if held.lacks is not None:
        raise held.lacks
    near = held.target
    ctx.shows(
        f"{geometry.source} for {title} on {layer}",
        **line_numbers(ctx, found.index, found.references),
        Z=ohm,
        w=geometry.width_mm or 0.0,
        s=gap or math.inf,
        d=near_fill.near_mm if near_fill is not None else math.inf,
        Z_0=near.ohm,
        p_tol=held.allowed_pct,
        u=held.toward_pct,
    )
    if held.standing is Standing.WITHIN:
        return
    size = f"{geometry.width_mm:g}" + (f"/{geometry.gap_mm:g}" if found.is_pair else "") + " mm"
    size += f", {near_fill}," if near_fill is not None else ""
    if held.standing is Standing.UNSURE:
        raise held.open_question(f"{size} of {geometry.source} for {title} on {layer}")
    said = f"configured impedance {ohm:.0f} ohm {_kind(found)}, {held.off_pct:+.0f} % from {near.ohm:g} ohm"
    where = "The routed copper follows it" if found.is_followed else "KiCad checks the copper against it"
    names = {s.name for s in (geometry.width, geometry.gap) if s is not None}
    command = width_command(ctx, near, found.index, found.references, gap_mm=gap, near_fill=near_fill)
    yield DraftFinding(
        title=f"{said}, {near.allowed_words}: {geometry.source}, {size} for {title} on {layer}",
        why=f"KiCad's own data contradict the target ({target.source}). {where}",
        fix=f"Change it there: {command} {answer_of_command(ctx, found.index, gap, near.ohm)}",
        source=source_of(target),
        ids=(*names, layer, *target_ids(target)),
        measured=Measured(value=round(ohm, 2), unit="ohm"),
        limit_value=near.ohm,
        places=(Location(layer=layer),),
        severity=Severity.INFO if found.is_followed or _is_guess(found) else None,
        inferred=target.inferred,
    )


def _impedance(ctx: Context, found: Intent) -> tuple[RoutedImpedance, LineUncertainty]:
    """Solve it, with what is not known of it; raises `MissingFact` where it cannot be."""
    target = found.target
    title = f"impedance configured in KiCad for {target.title_on(found.index)} on {found.geometry.layer}"
    if found.references == (None, None):
        raise MissingFact(title, NO_PLANE)
    if not target.inferred:
        ctx.rests_on(target.confidence)
    line, hatched = found.line(ctx), ctx.get(hatched_mm)
    if any(hatched.get((found.index, net), 0.0) > target.lumped_mm for routed in found.routed for net in routed.nets):
        raise MissingFact(f"{title}: the plane next to its nets is hatched", FILL_SOLID)
    try:
        return routed_impedance(Lines(ctx), line), routed_uncertainty(Lines(ctx), line)
    except StackwrightError as error:
        raise MissingFact(f"{title} ({error.what})", error.next_step) from error


def _kind(found: Intent) -> str:
    return "differential" if found.is_pair else "single-ended"


def _is_guess(found: Intent) -> bool:
    """Tell whether the target rests on the names of nets alone."""
    return found.target.inferred and found.target.confidence is Confidence.LOW
