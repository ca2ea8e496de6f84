"""The positive trace of a pair leads to the negative pin of the part at its other end.

What it checks
--------------
Pairs of PCI Express, CXL, USB and HDMI of which the names of the pins at both ends tell the polarity: known connectors,
modules and hubs, and chips whose pins are named after the interface. Series parts are followed. A swap of PCI Express,
CXL or USB 3 is information, since every receiver corrects it; one of USB 2.0 or HDMI is a warning.

Why it matters
--------------
USB 2.0 tells its speed by the line that is pulled up, and HDMI sends characters that are wrong when inverted: the link
does not work. Where a receiver corrects the swap, layout is often easier with it; it should be meant.

How to fix
----------
Swap the two nets at one end in the schematic. Where the receiver corrects it, note it there and accept the finding.

What it cannot see
------------------
Pins without names that tell the polarity, such as those of programmable logic and plain headers; symbols whose pins are
named wrongly; cables that swap; other interfaces, whose parts may be configured.

Sources
-------
PCI Express Base Specification and USB 3.2 Specification, lane polarity inversion. USB 2.0 and HDMI: engineering.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.nets.pair_polarity import SwappedPair, pair_polarity
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.interfaces import family
from drc_rules.requirements.interfaces.model import Family
from drc_rules.rules.rule import DraftFinding, rule

FORBIDDEN = "forbidden"
PLACES_SHOWN = 20


def _families(ctx: Context, _clause: Clause) -> Iterator[Family]:
    """Yield the families that say what a swap means, of which the polarity of a pair can be told."""
    return (of for name, _ in ctx.get(pair_polarity).told if (of := family(name)).swap)


@rule("NET008", kinds=("swapped_pair",), over=_families)
def swapped_pair(ctx: Context, _clause: Clause, of: Family) -> Iterator[DraftFinding]:
    """Yield one finding for the swapped pairs of an interface."""
    found = [one for one in ctx.get(pair_polarity).swapped if one.family == of.id]
    for one in found:
        ctx.rests_on(ctx.assignment.confidence_of(one.links[0].nets[0]))
    if found:
        yield _draft(ctx, of, sorted(found, key=lambda one: one.links[0].nets))


def _draft(ctx: Context, of: Family, found: list[SwappedPair]) -> DraftFinding:
    first, is_wrong = found[0], of.swap == FORBIDDEN
    nets = [ctx.board.nets[link.nets[0]] for one in found for link in one.links]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    corrected = "" if is_wrong else f"{cite(Source(document=of.swap))}. "
    return DraftFinding(
        title=f"{of.title} pair swapped: {nets[0]} joins {first.straight} to {first.swapped}{more}",
        why=f"{corrected}{'The receiver does not correct it' if is_wrong else 'It works; it should be meant'}",
        fix=f"Swap {nets[0]} and {nets[1]} at one end" + ("" if is_wrong else ", or accept it"),
        ids=(of.id,),
        places=tuple(Location(net=net) for net in nets[: 2 * PLACES_SHOWN]),
        severity=None if is_wrong else Severity.INFO,
        inferred=not all(ctx.assignment.is_declared(one.links[0].nets[0]) for one in found),
        fails=is_wrong,
    )
