"""Data of a memory arrive at another time than their strobe, one trace of a strobe than the other, or data of RGMII.

What it checks
--------------
Bytes of DDR and GDDR memories: data nets and their mask against both traces of the strobe of their number, check bits
against the strobe that no byte has, LPDDR5 without strobes against its write clock; a strobe for four bits is not
verifiable. Both traces of each strobe and clock of DDR against one another; for GDDR SKW001 does that. The data of each
direction of RGMII with their control. Every net is followed from end to end: sections with the field solver's delay of
their cross section, vias by their field solution, packages by the pad-to-die length at the pads. Where a net joins
several memories, the way from the controller to each is compared. `group_skew_ps` in `[[interface]]` is your
controller's limit for data. Without it the widest of the guides below holds, and what exceeds it is information. None
limits data of DDR3, LPDDR5 or GDDR: what exceeds the widest of its family is information, the rest not verifiable.
Where neither side has a plane, the delay is anything from that in air to that in the highest Dk. A group that only
this, or the longer way where tracks form a loop, may take beyond the limit is not verifiable.

Why it matters
--------------
The receiver samples the data of a byte by its strobe. What arrives early or late takes from setup or hold time.
Training of the strobe alone restores only what is the same for all eight bits; where each bit is trained, more is. Two
traces of a pair that differ move the crossing, and what they radiate.

How to fix
----------
Move the nets that the finding names: the one bit, or the one trace of the strobe, that is off, else both traces of the
strobe to the middle of the data. Match picoseconds, not millimetres: inner layers are slower. Declare the limit of your
controller.

What it cannot see
------------------
Address and command: they are not compared. Packages without a pad-to-die length, which the layout may compensate, DIMMs
and sockets, what training corrects, bits swapped between bytes, the clock of RGMII, which one end may delay on purpose.

Sources
-------
AMD UG583: DDR4 within 10 ps, LPDDR3 within 5 ps, LPDDR4 within 100 ps; AMD UG863: DDR5 within 50 ps. Both traces of a
pair within 2 ps: UG583 for LPDDR3, UG863 for DDR4 and DDR5; no guide that was read allows more. RGMII v2.0, as in table
7-1 of Microchip's KSZ9031RNX data sheet, leaves 200 ps to the board. Less is wanted by TI SPRAD06C, 2 ps for DDR4 data
and 0.4 ps for its pairs, and its DP83867 data sheet, 11 ps for RGMII. Masks belong to the byte: TI SPRAD06C, table 2-7.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.group_skew import SkewGroup, net_groups, nets_to_move, worst_group_skew
from drc_rules.analysis.delay.pair_skew import PairSkew
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.rules.delay._skew_parts import doubt, spent_on
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.interval import Standing

FORMULA = """
t ≤ t_max
fails where t_low > t_max

t: largest difference to the strobe, or between two nets [ps]
t_max: its limit [ps]
t_low: least that it may be over unknown inputs [ps]
dL: difference of the lengths along the tracks, later minus earlier [mm]
"""


def _groups(ctx: Context, _clause: Clause) -> Iterator[SkewGroup]:
    return iter(ctx.get(net_groups))


@rule("SKW005", kinds=("group_skew",), over=_groups, formula=FORMULA, reads_fills=True)
def group_skew(ctx: Context, _clause: Clause, group: SkewGroup) -> Iterator[DraftFinding]:
    """Yield one finding for a group of which a net surely arrives too early or too late."""
    for net in group.nets:
        ctx.rests_on(ctx.assignment.confidence_of(net))
    if group.open_for is not None:
        raise group.open_for
    worst = worst_group_skew(ctx, group)
    ctx.shows(
        f"{group.title}, {group.name}",
        t=worst.size_ps,
        t_max=group.limit.ps,
        t_low=worst.size_ps.low,
        dL=worst.length_mm[0] - worst.length_mm[1],
    )
    if worst.size_ps.against(maximum=group.limit.ps) is Standing.BEYOND:
        yield _draft(ctx, group, worst)
    elif worst.reach_ps > group.limit.ps:
        meets = f"{group.title} {group.name} meets its skew limit"
        raise doubt(meets, worst, group.limit.ps, _fix(ctx, group, worst))
    elif group.limit.open_for is not None:
        raise group.limit.open_for


def _draft(ctx: Context, group: SkewGroup, worst: PairSkew) -> DraftFinding:
    skew_ps, apart = worst.size_ps.nominal, worst.length_mm[0] - worst.length_mm[1]
    late, early = (ctx.board.nets[net] for net in worst.nets)
    limit = group.limit
    of = f"widest of the family, for {limit.of}, as no guide here limits {group.title}: " if limit.of else ""
    guide = f"{of}{cite(Source(document=limit.document))}; your controller may allow more. " if limit.document else ""
    return DraftFinding(
        title=(
            f"skew {skew_ps:.1f} ps ({apart:+.2f} mm), maximum {group.limit.ps:g} ps: "
            f"{group.title} {group.name}, {late} later than {early}"
        ),
        why=f"Limit{': ' if guide else ' as declared. '}{guide}Later against earlier: {spent_on(ctx, worst)}",
        fix=_fix(ctx, group, worst)
        + ("; or declare group_skew_ps of your controller in [[interface]]" if guide and group.strobe else ""),
        ids=(group.title, group.name),
        measured=Measured(value=round(skew_ps, 2), unit="ps"),
        limit_value=round(group.limit.ps, 2),
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


def _fix(ctx: Context, group: SkewGroup, worst: PairSkew) -> str:
    """Move what is off: a bit, or the strobe to the middle of its data."""
    late, early = worst.nets
    names, skew_ps = ctx.board.nets, worst.size_ps.nominal
    mm = skew_ps / worst.ps_per_mm
    if not group.strobe:
        return f"Add {mm:.2f} mm to {names[early]}, or shorten {names[late]}"
    if (found := nets_to_move(ctx, group)) is not None:
        moved, late_ps = found
        what = f"{'Shorten' if late_ps > 0 else 'Lengthen'} {' and '.join(names[one.nets[0]] for one in moved)}"
        each = " each" if len(moved) > 1 else ""
        goal = ", to the middle of its data" if moved[0] in group.strobe else ""
        return f"{what} by {abs(late_ps) / worst.ps_per_mm:.2f} mm{each}{goal}"
    is_late = late in {one.nets[0] for one in group.members}
    return f"Shorten {names[late]} by {mm:.2f} mm" if is_late else f"Lengthen {names[early]} by {mm:.2f} mm"
