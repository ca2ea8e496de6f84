"""A via begins and ends on one layer, or a microvia goes through more dielectrics than a laser does.

What it checks
--------------
The two layers of every via. They must differ. A via whose type is microvia must go through one dielectric, or two as a
skip via. Depth over diameter of either is judged by `high-aspect-ratio`.

Why it matters
--------------
A via on one layer joins nothing, and the fab gets a drill file without an end. A laser opens one dielectric, at most
two, and stops at the copper of its target; through three it is not offered. A drilled blind via in its place needs a
lamination of its own, which no quotation for microvias contains.

How to fix
----------
Select the vias in KiCad and correct their layers or type. To go deeper, stack or stagger microvias, or use blind vias.

What it cannot see
------------------
Blind and buried vias, which are drilled and may span any layers. Two dielectrics pass here though many fabs offer one.
Vias named microvia by mistake are reported; they may be meant as blind vias.

Sources
-------
Design007, July 2021: skip vias go from layer 1 to 3, as wide as deep. IPC-T-50M as quoted: a microvia is blind, no
deeper than wide and than 0.25 mm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured, ObjectRows
from drc_rules.report.places import place_in
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board, Ints, ViaKind
from stackup_lib.core.arrays import alike_rows
from stackup_lib.core.record import entity
from stackup_lib.core.words import count

PLACES_SHOWN = 20
"""Places listed with one finding."""

SAME_LAYER = "via_two_layers"


@entity
class LikeVias:
    """Vias of one kind between the same two layers; `rows` are their indices."""

    kind: ViaKind
    top: int
    bottom: int
    rows: Ints


def _groups(ctx: Context, clause: Clause) -> Iterator[LikeVias]:
    """Yield all vias in groups; for the clause on microvias, only these."""
    vias = ctx.board.vias
    if not len(vias):
        return
    keys = np.column_stack([vias.kind, vias.start_layer, vias.end_layer])
    first, number_of = alike_rows(keys)
    for number, (kind, top, bottom) in enumerate(keys[first].tolist()):
        if clause.kind == SAME_LAYER or (kind == ViaKind.MICRO and bottom > top):
            yield LikeVias(ViaKind(kind), top, bottom, np.flatnonzero(number_of == number))


FORMULA = """
n ≤ n_max

n: dielectrics that the microvias go through
n_max: maximum
"""


@rule("VIA019", kinds=(SAME_LAYER, "microvia_span"), over=_groups, formula=FORMULA)
def impossible_via_layers(ctx: Context, clause: Clause, found: LikeVias) -> Iterator[DraftFinding]:
    """Yield one finding per group of vias whose layers cannot be meant."""
    top, bottom = (ctx.board.copper_layers[layer].name for layer in (found.top, found.bottom))
    noun = "microvia" if found.kind is ViaKind.MICRO else "via"
    vias, through, most = count(len(found.rows), noun), found.bottom - found.top, clause.limit.max or 0.0
    if clause.kind == SAME_LAYER:
        is_wrong, title = through == 0, f"{vias} from {top} to {top}: both layers are the same"
        why = "A hole without depth joins nothing, and the fab cannot drill it"
        fix, measured = "Correct their layers or type in KiCad", Measured(value=top)
    else:
        ctx.shows(f"{noun}s from {top} to {bottom}", n=through, n_max=most)
        is_wrong = through > most
        title = f"{vias} from {top} to {bottom} through {through} dielectrics, maximum {most:g}"
        why = "A laser opens one dielectric, or two as a skip via; deeper vias are drilled"
        fix, measured = "Stack microvias, or make them blind vias", Measured(value=through, unit="dielectrics")
    if is_wrong:
        yield DraftFinding(
            title=title,
            why=why,
            fix=fix,
            ids=(noun, f"{top} to {bottom}"),
            measured=measured,
            limit_value=clause.limit.max,
            places=_places(ctx.board, found),
            every=ObjectRows(vias=tuple(found.rows.tolist())),
        )


def _places(board: Board, found: LikeVias) -> tuple[Location, ...]:
    layer = board.copper_layers[found.top].name if found.top == found.bottom else None
    return tuple(place_in(board, board.vias, row, layer) for row in found.rows[:PLACES_SHOWN].tolist())
