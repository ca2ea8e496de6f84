"""What makes up the skew of two traces, as text, and the verdict on that of a group of nets."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.bare_lines import FILL_ONE
from drc_rules.analysis.delay.group_skew import SkewGroup, nets_to_move, worst_group_skew
from drc_rules.analysis.delay.pair_skew import PairSkew
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.rules.rule import DraftFinding
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Standing

SLOWER = "A slower link may have more, in proportion to its bit: declare the interface if it runs at that rate. "
"""Where a limit is that of one rate and the rate of the link is not declared."""

VIAS, PACKAGE = "vias", "package"


def _parts_ps(one: PairSkew) -> tuple[tuple[str, float], ...]:
    """The parts of a skew that no length of track makes."""
    return (VIAS, one.vias_ps), (PACKAGE, one.package_ps)


def mostly_of(one: PairSkew) -> str:
    """Return what other than the tracks makes more than half of the skew; "" where they do."""
    skew_ps = one.skew_ps.nominal
    return next((what for what, ps in _parts_ps(one) if ps * skew_ps > skew_ps * skew_ps / 2), "")


def spent_on(ctx: Context, one: PairSkew) -> str:
    """Return where the difference is: `tracks on In2.Cu +3.10 mm, vias +0.2 ps, package +1.0 ps`."""
    parts = []
    if one.layer is not None:
        parts.append(f"tracks on {ctx.board.copper_layers[one.layer].name} {one.layer_mm:+.2f} mm")
    parts += [f"{what} {ps:+.1f} ps" for what, ps in _parts_ps(one) if ps]
    return ", ".join(parts)


def doubt_of_chokes(meets: str, one: PairSkew, limit: str, names: tuple[str, ...]) -> MissingFact:
    """Return what leaves a skew undecided on whose way are chokes: a data sheet states no skew of theirs."""
    what = f"whether {meets}: {one.size_ps.nominal:.1f} ps without {', '.join(names)}, maximum {limit} ps"
    return MissingFact(what, "in the layout, leave the choke half of the limit: no file states its own skew")


def doubt(meets: str, one: PairSkew, limit_ps: float, fix: str, *, digits: str = "g") -> MissingFact:
    """Return what leaves a skew undecided: the fact that would narrow its range, else the layout that decides it."""
    size = one.size_ps
    what = f"whether {meets}: {size.low:.1f} to {size.high:.1f} ps, maximum {limit_ps:{digits}} ps"
    if one.unsure:
        return MissingFact(f"{what}; not known is {one.unsure.name}", one.unsure.how_to_give)
    if size.nominal <= limit_ps:
        open_ps = one.reach_ps - size.nominal
        return MissingFact(f"{what}; sections without a reference plane leave {open_ps:.1f} ps open", FILL_ONE)
    return MissingFact(what, f"in the layout, {fix[:1].lower()}{fix[1:]}: no declaration decides it")


def judged(ctx: Context, group: SkewGroup, others: str, field: str) -> Iterator[DraftFinding]:
    """Yield one finding for a group of which a net surely arrives too early or too late.

    Args:
        ctx: the board.
        group: what is compared.
        others: what is compared with its strobe or clock.
        field: of `[[interface]]`, that states the limit of the user's controller.

    Raises:
        MissingFact: the group cannot be compared, or what is known leaves it open.
    """
    for net in group.nets:
        ctx.rests_on(ctx.assignment.confidence_of(net))
    if group.open_for is not None:
        raise group.open_for
    worst = worst_group_skew(ctx, group)
    fix = _fix(ctx, group, worst, others)
    limit = group.limit
    ctx.shows(
        f"{group.title}, {group.name}",
        t=worst.size_ps,
        t_max=limit.ps,
        t_low=worst.size_ps.low,
        dL=worst.length_mm[0] - worst.length_mm[1],
    )
    if worst.size_ps.against(maximum=limit.ps) is Standing.BEYOND:
        yield _draft(ctx, group, worst, fix, field if group.strobe else "")
    elif worst.reach_ps > limit.ps:
        raise doubt(f"{group.title} {group.name} meets its skew limit", worst, limit.ps, fix)
    elif limit.open_for is not None:
        raise limit.open_for


def _draft(ctx: Context, group: SkewGroup, worst: PairSkew, fix: str, field: str) -> DraftFinding:
    skew_ps, apart = worst.size_ps.nominal, worst.length_mm[0] - worst.length_mm[1]
    late, early = (ctx.board.nets[net] for net in worst.nets)
    limit = group.limit
    of = f"widest of the family, for {limit.of}, as no guide here limits {group.title}: " if limit.of else ""
    guide = f"{of}{cite(Source(document=limit.document))}; your controller may allow more. " if limit.document else ""
    return DraftFinding(
        title=(
            f"skew {skew_ps:.1f} ps ({apart:+.2f} mm), maximum {limit.ps:g} ps: "
            f"{group.title} {group.name}, {late} later than {early}"
        ),
        why=f"Limit{': ' if guide else ' as declared. '}{guide}Later against earlier: {spent_on(ctx, worst)}",
        fix=fix + (f"; or declare {field} of your controller in [[interface]]" if guide and field else ""),
        ids=(group.title, group.name),
        measured=Measured(value=round(skew_ps, 2), unit="ps"),
        limit_value=round(limit.ps, 2),
        limit_unit="ps",
        places=tuple(
            Location(
                layer=ctx.board.copper_layers[worst.layer].name if worst.layer is not None else "",
                net=ctx.board.nets[net],
            )
            for net in worst.nets
        ),
        severity=Severity.INFO if guide else None,
        inferred=not group.declared,
    )


def _fix(ctx: Context, group: SkewGroup, worst: PairSkew, others: str) -> str:
    """Move the one net that is off, else the strobe or clock to the middle of the others."""
    late, early = worst.nets
    names, mm = ctx.board.nets, worst.size_ps.nominal / worst.ps_per_mm
    if not group.strobe:
        return f"Add {mm:.2f} mm to {names[early]}, or shorten {names[late]}"
    if (found := nets_to_move(ctx, group)) is not None:
        moved, late_ps = found
        what = f"{'Shorten' if late_ps > 0 else 'Lengthen'} {' and '.join(names[one.nets[0]] for one in moved)}"
        each = " each" if len(moved) > 1 else ""
        goal = f", to the middle of {others}" if moved[0] in group.strobe else ""
        return f"{what} by {abs(late_ps) / worst.ps_per_mm:.2f} mm{each}{goal}"
    is_late = late in {one.nets[0] for one in group.members}
    return f"Shorten {names[late]} by {mm:.2f} mm" if is_late else f"Lengthen {names[early]} by {mm:.2f} mm"
