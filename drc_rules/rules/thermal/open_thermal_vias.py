"""Vias in the thermal pad of a high-power component are not filled and capped.

What it checks
--------------
The plated holes in the thermal pads of every declared `[[hot_part]]`, its footprint's own among them: filled and capped
(IPC-4761 type VII), as KiCad 10 stores it in the via or in the board's setup, or as `via_fill` and `via_capped` state.
A thermal pad is one much larger than the part's others, or named in `pads`; a custom one counts as drawn. Under a part
without one, such as a BGA, the holes inside the pads of its supplies and ground count; vias next to pads do not. KiCad
9 and older, and the holes of a footprint, store no fill: then it is not verifiable.

Why it matters
--------------
Solder runs into an open hole: it leaves voids under the pad, which block the heat, and bumps on the far side, where a
cold plate or a heatsink needs a flat surface.

How to fix
----------
Set Filling and Capping in the properties of those vias (or order IPC-4761 type VII in the fab notes and declare it with
`via_fill` and `via_capped` under the `[[hot_part]]`).

What it cannot see
------------------
Only holes centred in the pad count; vias just outside wick solder as well. KiCad or the settings are believed, whatever
the order says. Small open vias tented on the far side are reported though some assemblers accept them.

Sources
-------
Each clause names document, table and row; `stackwright profiles NAME` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.thermal.hot_parts import PLACES_SHOWN, HotPartOnBoard, required_hot_parts
from drc_rules.analysis.thermal.pad_holes import PadHole
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule


def _with_holes(ctx: Context, clause: Clause) -> Iterator[HotPartOnBoard]:
    """The declared high-power components with a hole in a thermal pad: the clause does not apply to others."""
    yield from (part for part in required_hot_parts(ctx, clause) if part.holes)


FORMULA = """
n ≤ 0

n: vias in the thermal pads that are not both filled and capped
m: vias in them
"""


@rule("THM001", kinds=("thermal_via_fill",), over=_with_holes, formula=FORMULA)
def open_thermal_vias(ctx: Context, _clause: Clause, part: HotPartOnBoard) -> Iterator[DraftFinding]:
    """Yield one finding per part with holes that are not filled and capped."""
    is_done = [ctx.need(hole.filled) and ctx.need(hole.capped) for hole in part.holes]
    wrong = [hole for hole, done in zip(part.holes, is_done, strict=True) if not done]
    ctx.shows(f"{part.reference}", n=len(wrong), m=len(part.holes))
    if not wrong:
        return
    count = f"{len(wrong)} of {len(part.holes)} vias" if len(part.holes) > 1 else "the only via"
    pads = sorted({pad.number for pad in part.pads})
    where = f"thermal pad {', '.join(pads)}" if part.is_exposed else "supply and ground pads"
    yield DraftFinding(
        title=f"{part.reference}: {count} in its {where} {_are(len(wrong))} {_state(wrong)}, required: both",
        why="Solder runs into open holes: voids under the pad, bumps on the far side",
        fix="Set Filling and Capping of those vias in KiCad, or order type VII and declare via_fill and via_capped",
        ids=(part.reference,),
        measured=Measured(value=len(wrong), unit="open vias"),
        limit_value=0,
        places=(part.place(), *(_place(ctx, part, hole) for hole in wrong[:PLACES_SHOWN])),
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _state(holes: list[PadHole]) -> str:
    states = {(hole.filled.value, hole.capped.value) for hole in holes}
    if len(states) > 1:
        return "not both filled and capped"
    filled, capped = states.pop()
    return "filled but not capped" if filled else "capped but not filled" if capped else "neither filled nor capped"


def _place(ctx: Context, part: HotPartOnBoard, hole: PadHole) -> Location:
    layer = ctx.board.copper_layers[part.layer].name
    return Location(layer=layer, net=ctx.board.nets[hole.net], uuid=hole.uuid, x_mm=hole.x_mm, y_mm=hole.y_mm)
