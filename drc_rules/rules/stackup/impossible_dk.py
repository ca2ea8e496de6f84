"""A stackup row states a Dk that no laminate or solder mask has.

What it checks
--------------
The Dk of every dielectric sheet, in the board file or declared in `stackwright.toml`, against the range of all
laminates, and that of solder mask against 2 to 6. KiCad's 0 and 1 mean "not set". KiCad's untouched default stackup
is exempt.

Why it matters
--------------
Impedance goes with one over the square root of Dk: by a typing error (42 for 4.2) every adjacent line comes out at a
third. So nothing that depends on the row is judged: impedance, loss, stub resonance and delay are not verifiable.

How to fix
----------
Correct Epsilon R of the row under File > Board Setup > Physical Stackup, or the line in `stackwright.toml`. Leave the
tracks unchanged until then.

What it cannot see
------------------
A wrong Dk inside the range: `implausible-dk` compares it with the laminate that the row names. A few ceramic-filled
microwave laminates (Dk 12.2 to 12.9) and foams (below 2) are outside; their lines are not judged.

Sources
-------
Data sheets of laminates: PTFE with 2.1 is the lowest solid dielectric, its ceramic-filled grades reach 11. Solder mask
is an epoxy: 3.5 to 3.9 by the sheets of Taiyo's PSR-4000, 3.7 and 3.8 by AISLER and JLCPCB.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.facts.row_faults import MASK_DK, correct, dk_is_possible, limit_of, mask_dk_is_possible
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class StatedDk:
    """A stated Dk, where, how it is corrected, and what it is of."""

    row: str
    label: str
    dk: float
    how: str
    is_mask: bool = False


def _stated(ctx: Context, _clause: Clause) -> list[StatedDk]:
    if not ctx.plies:
        raise MissingFact("the stackup", DECLARE_STACKUP)
    stackup = ctx.board.stackup if not ctx.is_default_stackup else None
    masks = [row for row in (stackup.layers if stackup else ()) if row.kind is LayerKind.MASK]
    found = [StatedDk(ply.row, ply.label, dk, ply.how_to_correct("dk")) for ply in ctx.plies if (dk := ply.dk.stated)]
    found += [
        StatedDk(m.name, m.name, dk, correct(m.name, "Epsilon R"), is_mask=True) for m in masks if (dk := m.plies[0].dk)
    ]
    return found


FORMULA = """
Dk_min ≤ Dk ≤ Dk_max

Dk: as stated
Dk_min: lowest of any laminate, or of any solder mask
Dk_max: highest of any laminate, or of any solder mask
"""


@rule("STK012", kinds=("dk_possible",), over=_stated, formula=FORMULA, by_stackup="stated")
def impossible_dk(ctx: Context, _clause: Clause, found: StatedDk) -> Iterator[DraftFinding]:
    """Yield one finding per Dk outside the range."""
    limit = MASK_DK if found.is_mask else limit_of("dk_possible")
    low, high = limit.min or 0.0, limit.max or 0.0
    ctx.shows(found.label, Dk=found.dk, Dk_min=low, Dk_max=high)
    if mask_dk_is_possible(found.dk) if found.is_mask else dk_is_possible(found.dk):
        return
    what = "solder mask" if found.is_mask else "laminates"
    yield DraftFinding(
        title=f"{found.label}: Dk {found.dk:g} is outside the range of {what}, {low:g} to {high:g}",
        why="Impedance, loss and delay of lines next to this row are not judged",
        fix=f"{found.how}. Leave the tracks unchanged",
        ids=(found.label,),
        measured=Measured(value=found.dk, unit="Dk"),
        limit_value=f"{low:g}-{high:g}",
        places=(Location(layer=found.row),),
    )
