"""The clock of a DDR memory arrives too early or too late after a strobe for the controller to even it out.

What it checks
--------------
The clock of DDR3, DDR4, DDR5, LPDDR3 and LPDDR4 memories on the board against every strobe, at each memory, from the
controller on. Both are followed from end to end: sections with the field solver's delay of their cross section, vias by
their field solution, packages by the pad-to-die length at the pads. The widest range of the guides below holds; what is
outside is information, since each controller has its own. For a memory of unknown generation a clock within it is not
verifiable.

Why it matters
--------------
Write levelling delays each strobe until it meets the clock at its memory. A clock that arrives before the strobe, as at
the first memory of a fly-by bus next to the controller, or after more than the controller can delay, is not met.

How to fix
----------
Lengthen the clock, with address and command, before the first memory, or shorten the strobe and its byte. Where the
clock is late, shorten the bus or split it.

What it cannot see
------------------
The controller's own range, DIMMs, packages without a pad-to-die length, LPDDR5, whose strobes do not meet CK, and the
delay of address and command, which SKW006 compares with the clock.

Sources
-------
AMD UG583 for DDR3, DDR4 and LPDDR3, UG863 for DDR4 and DDR5: 149 ps before to 1796 ps after. Efinix UG-PCB-DDR-TI:
LPDDR4 within 350 ps. Less is wanted by Intel 683385, 2.6.3, no clock before its strobe for DDR3, Intel 821801, 85 ps
before to 935 ps after for DDR4, and TI SPRAD06C, 0 to 150 ps after for LPDDR4.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.pair_skew import PairSkew
from drc_rules.analysis.delay.strobe_windows import StrobeWindow, clock_after_strobe, may_leave, strobe_windows
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.rules.delay._skew_parts import spent_on
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Standing

FORMULA = """
t_min ≤ t ≤ t_max

t: delay of the clock minus that of a strobe, the one nearest to a limit [ps]
t_min: least by the guide, negative before the strobe [ps]
t_max: most by the guide [ps]
dL: difference of the lengths along the tracks, clock minus strobe [mm]
"""


def _windows(ctx: Context, _clause: Clause) -> Iterator[StrobeWindow]:
    return iter(ctx.get(strobe_windows))


@rule("SKW007", kinds=("clock_to_strobe",), over=_windows, formula=FORMULA, reads_fills=True)
def clock_out_of_strobe_range(ctx: Context, _clause: Clause, window: StrobeWindow) -> Iterator[DraftFinding]:
    """Yield one finding for a memory at which the clock is surely outside the range of the widest guide."""
    for net in window.nets:
        ctx.rests_on(ctx.assignment.confidence_of(net))
    worst = clock_after_strobe(ctx, window)
    ctx.shows(
        f"{window.title}, {window.name}",
        t=worst.skew_ps,
        t_min=window.least_ps,
        t_max=window.most_ps,
        dL=worst.length_mm[0] - worst.length_mm[1],
    )
    standing = worst.skew_ps.against(minimum=window.least_ps, maximum=window.most_ps)
    if standing is Standing.BEYOND:
        yield _draft(ctx, window, worst)
    elif standing is Standing.UNSURE or may_leave(window, worst):
        raise _open(ctx, window, worst)
    elif window.open_for is not None:
        raise window.open_for


def _open(ctx: Context, window: StrobeWindow, worst: PairSkew) -> MissingFact:
    skew = worst.skew_ps
    what = (
        f"whether {window.title} {window.name} is within reach of its strobes: {skew.low:.0f} to {skew.high:.0f} ps "
        f"after them, {_range(window)}"
    )
    fix = _fix(ctx, window, worst)
    how = worst.unsure.how_to_give if worst.unsure else f"in the layout, {fix[:1].lower()}{fix[1:]}"
    return MissingFact(what, how)


def _draft(ctx: Context, window: StrobeWindow, worst: PairSkew) -> DraftFinding:
    clock, strobe = (ctx.board.nets[net] for net in worst.nets)
    skew_ps = worst.skew_ps.nominal
    when = "before" if skew_ps < 0 else "after"
    return DraftFinding(
        title=(
            f"clock {abs(skew_ps):.0f} ps {when} strobe, {_range(window)}: "
            f"{window.title} {window.name}, {clock} {when} {strobe}"
        ),
        why=(
            f"Limit of {window.of}: {cite(Source(document=window.document))}; your controller may allow more. "
            f"Clock against strobe: {spent_on(ctx, worst)}"
        ),
        fix=_fix(ctx, window, worst),
        ids=(window.title, window.name),
        measured=Measured(value=round(skew_ps, 2), unit="ps"),
        limit_value=f"{window.least_ps:g} to {window.most_ps:g}",
        limit_unit="ps",
        places=tuple(Location(net=ctx.board.nets[net]) for net in worst.nets),
        severity=Severity.INFO,
        inferred=not window.declared,
    )


def _range(window: StrobeWindow) -> str:
    return f"allowed {window.least_ps:g} to {window.most_ps:g} ps"


def _fix(ctx: Context, window: StrobeWindow, worst: PairSkew) -> str:
    clock, strobe = (ctx.board.nets[net] for net in worst.nets)
    skew_ps = worst.skew_ps.nominal
    is_early = skew_ps < (window.least_ps + window.most_ps) / 2
    off_ps = window.least_ps - skew_ps if is_early else skew_ps - window.most_ps
    mm = max(off_ps, 0.0) / worst.ps_per_mm
    if is_early:
        return (
            f"Lengthen {clock} with its address and command by {mm:.1f} mm at least, or shorten {strobe} and its byte"
        )
    return f"Shorten {clock} with its address and command by {mm:.1f} mm at least, or lengthen {strobe} and its byte"
