"""An address or command net of a DDR memory arrives at another time than its clock.

What it checks
--------------
Address, bank, command and control nets of DDR3, DDR4, DDR5 and LPDDR memories against both traces of the clock that
samples them: at each memory, from the controller on, as a fly-by bus reaches one after another. Every net is followed
from end to end: sections with the field solver's delay of their cross section, vias by their field solution, packages
by the pad-to-die length at the pads. Two clocks at a memory have the nets whose names begin as theirs, `CA0_A` and
`CK_P_A`. `address_skew_ps` in `[[interface]]` is your controller's limit. Without it the widest of the guides below
holds, and what exceeds it is information. For a memory of unknown generation that proves nothing: not verifiable.

Why it matters
--------------
The memory samples address and command by the clock. What arrives early or late takes from setup or hold time, and most
controllers do not train these nets one by one.

How to fix
----------
Move the net that the finding names, else both traces of the clock to the middle of the others. Match picoseconds, not
millimetres: inner layers are slower. Match every section of a fly-by bus, from memory to memory. Declare the limit of
your controller.

What it cannot see
------------------
What is on a DIMM, packages without a pad-to-die length, nets with names of their own, chip selects of LPDDR5, for which
AMD wants 20 ps. On some controllers the clock is late on purpose.

Sources
-------
Intel 683385, 2.6.3: DDR3 within 20 ps; table 42: LPDDR3 within 10 ps. AMD UG863: DDR4 at most 50 ps, DDR5 and LPDDR5
within 50 ps. TI SPRAD06C: LPDDR4 within 312.5 ps. Less is wanted for DDR4 by Intel 821801, table 15, 20 ps, AMD UG583,
8 ps, and TI SPRAD06C, 3 ps.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.address_groups import LIMIT, address_groups
from drc_rules.analysis.delay.group_skew import SkewGroup
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.delay._skew_parts import judged
from drc_rules.rules.rule import DraftFinding, rule

FORMULA = """
t ≤ t_max
fails where t_low > t_max

t: largest difference between a net and a trace of its clock [ps]
t_max: its limit [ps]
t_low: least that it may be over unknown inputs [ps]
dL: difference of the lengths along the tracks, later minus earlier [mm]
"""


def _groups(ctx: Context, _clause: Clause) -> Iterator[SkewGroup]:
    return iter(ctx.get(address_groups))


@rule("SKW006", kinds=("address_skew",), over=_groups, formula=FORMULA, reads_fills=True)
def address_skew(ctx: Context, _clause: Clause, group: SkewGroup) -> Iterator[DraftFinding]:
    """Yield one finding for a memory at which a net surely arrives too early or too late."""
    yield from judged(ctx, group, "address and command", LIMIT)
