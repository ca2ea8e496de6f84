"""A pair of a port arrives later than its clock or the other lanes.

What it checks
--------------
Ports of HDMI, MIPI D-PHY and PCIe Gen1 to Gen5, of which documents state a limit: the lanes and the clock whose names
begin alike. Every pair is followed from end to end, each section with the field solver's delay of its cross section,
vias by their field solution, packages by the pad-to-die length at the pads. D-PHY lanes are compared with their clock,
HDMI channels with one another, PCIe lanes with those of the same direction between the same parts. A slot for cards
makes it the limit of a system board, the edge of an add-in card that of a card; between two chips it is that of the
whole path. Where the generation is not known, the widest limit of the family holds. The D-PHY limit is that of
2.5 Gb/s, and no document states one for PCIe Gen6, or from Gen4 between two chips: where the interface is not declared,
a lane beyond it is information. Where neither side has a plane, the delay is anything from that in air to that in the
highest Dk. A port that only this, or the longer way where tracks form a loop, may take beyond is not verifiable.

Why it matters
--------------
The receiver samples the lanes by one clock. What arrives early or late takes from its setup or hold time, or exceeds
what its deskew can take up.

How to fix
----------
Lengthen the earlier pair, both traces alike, or shorten the later one. The finding names the layer that makes the
difference. Pairs on inner layers are slower than those outside: match picoseconds, not millimetres.

What it cannot see
------------------
Packages without a pad-to-die length in KiCad, connectors and cables, the rate that a camera really uses, ports whose
names do not begin alike; a declared port of D-PHY without a clock is not verifiable.

Sources
-------
HDMI: 0.2 of a character, TMDS1204 data sheet. MIPI D-PHY: 0.1 of the unit interval, SPRACP4A, table 3-12. PCIe:
350 ps on an add-in card, 1250 ps on a system board, 1600 ps in all, CEM specification 3.0; the shares also in 4.0, 5.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.lane_skew import OF_CARD, OF_SYSTEM, LanePort, lane_ports, worst_lane_skew
from drc_rules.analysis.delay.pair_skew import PairSkew
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.rules.delay._skew_parts import SLOWER, doubt, doubt_of_chokes, spent_on
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.interval import Standing


def _ports(ctx: Context, _clause: Clause) -> Iterator[LanePort]:
    return iter(ctx.get(lane_ports))


FORMULA = """
t ≤ t_max

t: largest difference of the delays of two pairs [ps]
t_max: limit of the interface [ps]
dL: difference of the lengths along the tracks, later minus earlier [mm]
"""


@rule("SKW003", kinds=("lane_skew",), over=_ports, formula=FORMULA, reads_fills=True, slow_objects=True)
def lane_skew(ctx: Context, _clause: Clause, port: LanePort) -> Iterator[DraftFinding]:
    """Yield one finding for a port of which two pairs surely differ by more than the interface's limit."""
    for trace in port.traces:
        ctx.rests_on(ctx.assignment.confidence_of(trace.nets[0]))
    if port.open_for is not None:
        raise port.open_for
    worst = worst_lane_skew(ctx, port)
    ctx.shows(
        f"{port.title}, {port.name}",
        t=worst.size_ps,
        t_max=port.limit_ps,
        dL=worst.length_mm[0] - worst.length_mm[1],
    )
    if worst.size_ps.against(maximum=port.limit_ps) is Standing.BEYOND:
        yield _draft(ctx, port, worst)
    elif len(worst.chokes[0]) != len(worst.chokes[1]):
        names = tuple(dict.fromkeys((*worst.chokes[0], *worst.chokes[1])))
        meets = f"{port.title} {port.name} meets its lane skew limit, with chokes in some lanes alone"
        raise doubt_of_chokes(meets, worst, f"{port.limit_ps:g}", names)
    elif worst.reach_ps > port.limit_ps:
        meets = f"{port.title} {port.name} meets its lane skew limit"
        raise doubt(meets, worst, port.limit_ps, _fix(ctx, worst))


def _draft(ctx: Context, port: LanePort, worst: PairSkew) -> DraftFinding:
    skew_ps = worst.size_ps.nominal
    late, early = (ctx.board.nets[net] for net in worst.nets)
    at = f" at {port.limit.rate:g} {port.limit.rate_unit}" if port.to_clock else ""
    apart = worst.length_mm[0] - worst.length_mm[1]
    return DraftFinding(
        title=(
            f"lane skew {skew_ps:.1f} ps ({apart:+.2f} mm), maximum {port.limit_ps:g} ps{at}: "
            f"{port.title} {port.name}, {late} later than {early}"
        ),
        why=(
            f"Limit of {port.limit.title} {_between(port)}: "
            f"{cite(Source(document=port.document))}. {_rate(port)}Later against earlier: {spent_on(ctx, worst)}"
        ),
        fix=_fix(ctx, worst),
        ids=(port.limit.family, port.name),
        measured=Measured(value=round(skew_ps, 2), unit="ps"),
        limit_value=round(port.limit_ps, 2),
        places=tuple(
            Location(
                layer=ctx.board.copper_layers[worst.layer].name if worst.layer is not None else "",
                net=ctx.board.nets[net],
            )
            for net in worst.nets
        ),
        severity=Severity.INFO if port.any_rate or (port.to_clock and not port.declared) else None,
        inferred=not port.declared,
    )


def _between(port: LanePort) -> str:
    if port.to_clock:
        return "to the clock"
    return {OF_CARD: "between lanes of an add-in card", OF_SYSTEM: "between lanes of a system board"}.get(
        port.field, "between channels"
    )


def _rate(port: LanePort) -> str:
    if port.any_rate:
        return "Of faster generations none is stated. "
    if not port.to_clock or port.declared:
        return ""
    return SLOWER


def _fix(ctx: Context, worst: PairSkew) -> str:
    late, early = (ctx.board.nets[net] for net in worst.nets)
    add = worst.size_ps.nominal / worst.ps_per_mm
    return f"Add {add:.2f} mm to both traces of {early}'s pair, or shorten that of {late}"
