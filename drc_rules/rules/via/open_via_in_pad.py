"""Through vias in the ball pads of a BGA are not filled and capped.

What it checks
--------------
Through, blind and buried vias that reach the side of a BGA and whose centre lies inside one of its ball pads, of the
same net: filled and capped (IPC-4761 type VII), as KiCad 10 stores it in the via or in the board's setup. Microvias are
exempt. A BGA is a footprint with 36 or more round surface pads in a grid of five rows and columns or more.

Why it matters
--------------
The solder of the ball runs into an open hole: the joint lacks solder, or has a void.

How to fix
----------
Set Filling and Capping in the properties of these vias, and order IPC-4761 type VII; or move them out of the pads.

What it cannot see
------------------
KiCad is believed, whatever the order says: a fill that only the fab notes state is reported. KiCad 9 and older store
none: then it is not verifiable. Vias next to balls, with too little mask between, pass.

Sources
-------
IPC-4761 names the types; that a via in a ball pad takes type VII is engineering knowledge. Hence never more than
information.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints, PadKind
from stackup_lib.core.facts import Confidence, Fact, Origin, unknown
from stackup_lib.core.record import entity
from stackup_lib.vias.build_ups import Bga, bgas, microvias

PLACES_SHOWN = 10

FORMULA = """
n ≤ 0

n: vias in ball pads that are not both filled and capped
m: vias in ball pads
"""


@entity
class BgaWithVias:
    """A BGA and the rows of the vias in its ball pads."""

    bga: Bga
    reference: str
    vias: Ints


def _with_vias_in_pads(ctx: Context, _clause: Clause) -> Iterator[BgaWithVias]:
    board = ctx.board
    pads, vias = board.pads, board.vias
    large = np.flatnonzero(~np.isin(np.arange(len(vias.x_mm)), microvias(board)))
    for bga in bgas(board):
        layer = board.layer_count - 1 if board.footprints.back[bga.footprint] else 0
        left, top, right, bottom = bga.box_mm
        x, y = vias.x_mm[large], vias.y_mm[large]
        near = (x >= left - bga.pitch_mm) & (x <= right + bga.pitch_mm)
        near &= (y >= top - bga.pitch_mm) & (y <= bottom + bga.pitch_mm)
        near &= (vias.start_layer[large] <= layer) & (vias.end_layer[large] >= layer)
        rows = (pads.footprint == bga.footprint) & (pads.kind == PadKind.SMD) & (pads.shape == "circle")
        balls = np.flatnonzero(rows)
        inside = [via for via in large[near].tolist() if _is_in_a_ball(ctx, via, balls)]
        if inside:
            yield BgaWithVias(bga, str(board.footprints.reference[bga.footprint]), np.array(inside, dtype=np.int64))


def _is_in_a_ball(ctx: Context, via: int, balls: Ints) -> bool:
    pads, vias = ctx.board.pads, ctx.board.vias
    away = np.hypot(pads.x_mm[balls] - vias.x_mm[via], pads.y_mm[balls] - vias.y_mm[via])
    return bool(np.any((away < pads.size_x_mm[balls] / 2) & (pads.net[balls] == vias.net[via])))


@rule("VIA016", kinds=("bga_via_in_pad_fill",), over=_with_vias_in_pads, since="0.1", formula=FORMULA)
def open_via_in_pad(ctx: Context, _clause: Clause, part: BgaWithVias) -> Iterator[DraftFinding]:
    """Yield one finding per BGA with vias in its ball pads that are not filled and capped."""
    vias = ctx.board.vias
    wrong = [
        via
        for via in part.vias.tolist()
        if not (
            ctx.need(_stated(ctx, part, "filling", int(vias.filled[via])))
            and ctx.need(_stated(ctx, part, "capping", int(vias.capped[via])))
        )
    ]
    ctx.shows(part.reference, n=len(wrong), m=len(part.vias))
    if wrong:
        yield DraftFinding(
            title=f"{part.reference}: vias in ball pads, not both filled and capped: {len(wrong)} of {len(part.vias)}",
            why="The solder of the ball runs into an open hole",
            fix="Set Filling and Capping of these vias in KiCad and order IPC-4761 type VII, or move them",
            ids=(part.reference,),
            measured=Measured(value=len(wrong), unit="open vias"),
            limit_value=0,
            places=tuple(_place(ctx, via) for via in wrong[:PLACES_SHOWN]),
        )


def _stated(ctx: Context, part: BgaWithVias, what: str, stated: int) -> Fact[bool]:
    """Return what the via says, else the board's default."""
    default = ctx.board.ipc4761.get(what)
    if stated >= 0:
        return Fact[bool](name=f"via {what}", value=stated == 1, origin=Origin.FILE, source="the via")
    if default is not None:
        source, sure = "board setup, IPC-4761 defaults", Confidence.MEDIUM
        return Fact[bool](name=f"via {what}", value=default, origin=Origin.FILE, source=source, confidence=sure)
    title = f"whether the vias in the ball pads of {part.reference} are filled and capped"
    return unknown(title, "in KiCad, properties of the vias in ball pads: set Filling and Capping")


def _place(ctx: Context, via: int) -> Location:
    vias = ctx.board.vias
    net = ctx.board.nets[int(vias.net[via])]
    return Location(net=net, uuid=str(vias.uuid[via]), x_mm=float(vias.x_mm[via]), y_mm=float(vias.y_mm[via]))
