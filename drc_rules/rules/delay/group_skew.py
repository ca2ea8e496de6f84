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
limits data of DDR3 or GDDR: what exceeds the widest of its family is information, the rest not verifiable.
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
Address and command, which SKW006 compares. Packages without a pad-to-die length, which the layout may compensate, DIMMs
and sockets, what training corrects, bits swapped between bytes, the clock of RGMII, which one end may delay on purpose.

Sources
-------
AMD UG583: DDR4 within 10 ps, LPDDR3 within 5 ps, LPDDR4 within 100 ps; AMD UG863: DDR5 and LPDDR5 within 50 ps. Both
traces of a pair within 2 ps: UG583 for LPDDR3, UG863 for DDR4, DDR5 and LPDDR5; no guide that was read allows more.
RGMII v2.0, as in table 7-1 of Microchip's KSZ9031RNX data sheet, leaves 200 ps to the board. Less is wanted by TI
SPRAD06C, 2 ps for DDR4 data and 0.4 ps for its pairs, and its DP83867 data sheet, 11 ps for RGMII. Masks belong to the
byte: TI SPRAD06C, table 2-7.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.group_skew import SkewGroup, net_groups
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.delay._skew_parts import judged
from drc_rules.rules.rule import DraftFinding, rule

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
    yield from judged(ctx, group, "its data", "group_skew_ps")
