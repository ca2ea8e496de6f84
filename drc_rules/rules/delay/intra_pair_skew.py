"""One trace of a high-speed pair is longer than the other.

What it checks
--------------
Every routed pair of a high-speed interface, of MIPI D-PHY and of any other interface that is declared, from end to end
through its coupling capacitors and common-mode chokes, tuning patterns as drawn. A choke's own skew is not known: with
one, a pair passes up to half of the limit, and is not verifiable from there. A pair of which only a part is declared is
of the declared interface. Each section counts with the delay of its own cross section from the field solver, each via
with the height that the signal climbs, a plated pin with that from its part's side to its trace, each package with the
pad-to-die length or delay stored at the pads. The difference between the two traces is compared with the limit that a
document states for the interface, between device and edge of a PCIe card with that of a card; where none does, with
15 % of the unit interval. Where the generation is not known, the widest limit of the family holds. A difference below
2 % of the unit interval is information; so is one of D-PHY lanes that are not declared: their limit is that of
2.5 Gb/s. Of a slow interface, as SGMII, one below 15 % is no more than information whatever a guide asks. SKW005
compares strobes and clocks of DDR. Where neither side has a plane, the delay is anything from that in air to that in
the highest Dk; both traces of a pair next to each other have the same. A pair that only this may take beyond the limit
is not verifiable. Traces that run broadside are computed alone, each on its layer; where that decides, the pair is not
verifiable. Nor is it where the tracks of a net form a loop, and the longer of its two ways may take it beyond.

Why it matters
--------------
Skew turns part of the signal into common mode: the eye closes, the pair radiates, and coupled noise no longer cancels.

How to fix
----------
Lengthen the shorter trace next to where the lengths part: at the breakout, at the connector or in the bend. The finding
names the layer and the length to add.

What it cannot see
------------------
Glass weave (FAB011 estimates it), the package where KiCad has no pad-to-die length, connectors and cables. Lengths run
from pad centre to pad centre. Meanders count as long as drawn; tight ones are faster by some percent.

Sources
-------
Each interface's own document, named in the finding. 15 % of the bit: HDMI source limit in the TMDS1204 data sheet,
applied to interfaces without a published value. 2 % of the unit interval: MIPI D-PHY in SPRACP4A.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.card_ends import are_at_card_edge
from drc_rules.analysis.delay.pair_skew import (
    HARMLESS_SHARE,
    PairSkew,
    is_slow_and_declared,
    skew_groups,
    skews_of,
    unit_interval_ps,
)
from drc_rules.analysis.nets.board_links import board_links
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.interfaces import Interface, family
from drc_rules.requirements.interfaces.model import ENGINEERING
from drc_rules.rules.delay._skew_parts import SLOWER, VIAS, doubt, doubt_of_chokes, mostly_of, spent_on
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.interval import Standing
from stackup_lib.core.record import record

PLACES_SHOWN = 20

OF_LAYOUT = 0.5
"""Share of the limit up to which a pair with a choke passes: engineering judgement, the choke may take the rest."""


@record
class SkewLimit:
    """The limit of an interface for pairs of some delay per length, which generation's, and who states it."""

    ps: float
    stated: str
    of: str
    document: str


def _groups(ctx: Context, _clause: Clause) -> Iterator[HighSpeedGroup]:
    return (group for group in ctx.get(_with_pairs))


def _with_pairs(ctx: Context) -> tuple[HighSpeedGroup, ...]:
    """Groups of which at least one pair leads somewhere."""
    return tuple(group for group in ctx.get(skew_groups) if (found := skews_of(ctx, group)).known or found.missing)


FORMULA = """
t ≤ t_max

t: difference of the delays of the two traces [ps]
t_max: limit of the interface [ps]
dL: difference of the lengths along the tracks, positive minus negative [mm]
"""


@rule("SKW001", kinds=("pair_skew",), over=_groups, formula=FORMULA, slow_objects=True)
def intra_pair_skew(ctx: Context, clause: Clause, group: HighSpeedGroup) -> Iterator[DraftFinding]:
    """Yield one finding for the pairs of an interface whose traces surely differ by more than its limit."""
    ctx.rests_on(ctx.assignment.confidence_of(group.nets[0]))
    found = skews_of(ctx, group)
    share = (clause.limit.max or 0.0) / 100
    limits = {one: _limit(ctx, group, one, share) for one in found.known}
    if found.known:
        worst = max(found.known, key=lambda one: one.size_ps.nominal / limits[one].ps)
        ctx.shows(
            f"{group.title}, {worst.name}",
            t=worst.size_ps,
            t_max=limits[worst].ps,
            dL=worst.length_mm[0] - worst.length_mm[1],
        )
    over = [one for one in found.known if one.size_ps.against(maximum=limits[one].ps) is Standing.BEYOND]
    if over:
        worst_first = sorted(over, key=lambda one: -one.size_ps.nominal / limits[one].ps)
        yield _draft(ctx, group, worst_first, limits, share if is_slow_and_declared(group) else HARMLESS_SHARE)
        return
    for fact in found.missing:
        raise fact
    near = [one for one in found.known if any(one.chokes) and one.size_ps.nominal > OF_LAYOUT * limits[one].ps]
    for one in near:
        meets = f"{group.title} {one.name} meets its skew limit"
        raise doubt_of_chokes(
            meets, one, f"{limits[one].ps:.1f}", tuple(dict.fromkeys((*one.chokes[0], *one.chokes[1])))
        )
    open_ones = [one for one in found.known if one.reach_ps > limits[one].ps]
    if open_ones:
        one = open_ones[0]
        meets = f"{group.title} {one.name} meets its skew limit"
        raise doubt(meets, one, limits[one].ps, _fix(ctx, one), digits=".1f")


def _limit(ctx: Context, group: HighSpeedGroup, one: PairSkew, share: float) -> SkewLimit:
    """Return the widest limit of the generations that a pair may be of.

    Where a guide to a slow interface states a length and no time, that is practice: the share of the bit decides.
    """
    on_card = any(choice.skew_card_mm for choice in group.choices) and _is_at_card_edge(ctx, one)
    is_slow = is_slow_and_declared(group)
    by_length = () if is_slow else ("skew_card_mm", "skew_mm")
    found = [(choice, _stated_limit(choice, one, by_length, on_card=on_card)) for choice in group.choices]
    stated = [limit for _, limit in found if limit is not None]
    of_share = [_share_limit(choice, share) for choice, limit in found if limit is None]
    return max(stated + (of_share if is_slow or family(group.family).fast else []), key=lambda limit: limit.ps)


def _is_at_card_edge(ctx: Context, one: PairSkew) -> bool:
    links = ctx.get(board_links)
    return are_at_card_edge(ctx, (link for net in one.nets for link in links.of(net)))


def _stated_limit(choice: Interface, one: PairSkew, by_length: tuple[str, ...], *, on_card: bool) -> SkewLimit | None:
    """Return the limit that a document states for a generation."""
    for field, value, factor, unit in (
        ("skew_card_mm", choice.skew_card_mm if on_card else None, one.ps_per_mm, "mm on an add-in card"),
        ("skew_ps", choice.skew_ps, 1.0, "ps"),
        ("skew_mm", choice.skew_mm, one.ps_per_mm, "mm"),
    ):
        document = choice.document_of(field)
        if value is not None and document != ENGINEERING and (unit == "ps" or field in by_length):
            return SkewLimit(value * factor, f"{value:g} {unit}", choice.title, document)
    return None


def _share_limit(choice: Interface, share: float) -> SkewLimit:
    stated = f"{100 * share:g} % of the unit interval"
    return SkewLimit(share * unit_interval_ps(choice), stated, choice.title, ENGINEERING)


def _draft(
    ctx: Context, group: HighSpeedGroup, over: list[PairSkew], limits: dict[PairSkew, SkewLimit], harmless_share: float
) -> DraftFinding:
    worst = over[0]
    limit, skew = limits[worst], worst.size_ps.nominal
    slowest = group.choices[0]
    harmless = max(one.size_ps.nominal for one in over) < harmless_share * unit_interval_ps(slowest)
    any_rate = not (group.declared or family(group.family).fast)
    more = f" (and {len(over) - 1} more)" if len(over) > 1 else ""
    at_least = "" if len(group.choices) == 1 else f" of {limit.of}, widest limit of the family"
    return DraftFinding(
        title=(
            f"intra-pair skew {skew:.1f} ps ({_lengths(worst)}), maximum {limit.ps:.1f} ps: "
            f"{group.title}, {worst.name}{more}"
        ),
        why=(
            f"{100 * skew / unit_interval_ps(slowest):.0f} % of the unit interval of {slowest.title}. "
            f"Limit {limit.stated}{at_least}: {_source(limit)}. {SLOWER if any_rate else ''}"
            f"P against N: {spent_on(ctx, worst)}"
        ),
        fix=_fix(ctx, worst),
        ids=(group.id,),
        measured=Measured(value=round(skew, 2), unit="ps"),
        limit_value=round(limit.ps, 2),
        places=tuple(
            Location(
                layer=ctx.board.copper_layers[one.layer].name if one.layer is not None else "", net=ctx.board.nets[net]
            )
            for one in over[:PLACES_SHOWN]
            for net in one.nets
        ),
        severity=Severity.INFO if harmless or any_rate else None,
        inferred=not group.declared,
    )


def _lengths(one: PairSkew) -> str:
    apart = one.length_mm[0] - one.length_mm[1]
    lengths = f"{'P' if apart > 0 else 'N'} longer by {abs(apart):.2f} mm" if abs(apart) >= 0.005 else "lengths equal"
    cause = mostly_of(one)
    return f"{_late_and_early(one)[0]} later by its {cause}, {lengths}" if cause else lengths


def _late_and_early(one: PairSkew) -> tuple[str, str]:
    return ("P", "N") if one.skew_ps.nominal > 0 else ("N", "P")


def _source(limit: SkewLimit) -> str:
    if limit.document == ENGINEERING:
        return "no document states a figure that matters at its rate; HDMI allows as much at its source"
    return cite(Source(document=limit.document))


def _fix(ctx: Context, one: PairSkew) -> str:
    late, early = _late_and_early(one)
    net = ctx.board.nets[one.nets[1] if early == "N" else one.nets[0]]
    add = f"add {one.size_ps.nominal / one.ps_per_mm:.2f} mm to {net}"
    cause = mostly_of(one)
    if cause == VIAS:
        return f"Give both traces the same vias and layers, or {add}"
    return f"A{add[1:]}" if cause else f"A{add[1:]}, close to where {late} gets longer, or shorten {late}"
