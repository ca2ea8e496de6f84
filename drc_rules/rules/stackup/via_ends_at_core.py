"""A blind or buried via ends at a core, which the drill would go through as well.

What it checks
--------------
The layers of every blind, buried and microvia against the types of the rows, in an entered stackup. Beyond both ends
there has to be prepreg, or nothing. A microvia, and a drilled via no deeper than wide, may end at a core if its other
end does not: the tool comes from there.

Why it matters
--------------
A core joins its two copper layers before the first lamination, so a drill that goes through one goes through both. The
fab exchanges cores and prepregs to build the vias, and with them the heights that the lines were drawn for.

How to fix
----------
Correct the type of the row (core or prepreg) under File > Board Setup > Physical Stackup: KiCad alternates them until
they are entered. Or end the vias at a layer with prepreg beyond it.

What it cannot see
------------------
Whether the types were entered or are those that KiCad put there. Rows of unlike sheets, which may hold a core and the
prepreg that bonds it, pass. A through via with a backdrill is none of these.

Sources
-------
Sequential lamination: each subassembly is laminated, drilled and plated before it goes into the next (Design007,
January 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.span_words import in_words, places_of
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.facts.row_faults import correct, rows_at_fault
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.via_spans import Span, cores_beyond, is_shallow, spans


def _spans(ctx: Context, _clause: Clause) -> Iterator[Span]:
    found = spans(ctx.board)
    if not found:
        return
    stackup = ctx.stackup()
    if [row.name for row in stackup.copper] != [layer.name for layer in ctx.board.copper_layers]:
        raise MissingFact("a stackup row for each copper layer", DECLARE_STACKUP)
    for row, what in rows_at_fault(stackup).items():
        raise MissingFact(f"type of {row} ({what})", correct(row, "the type (core or prepreg)"))
    yield from found


@rule("STK019", kinds=("via_ends_at_core",), over=_spans)
def via_ends_at_core(ctx: Context, _clause: Clause, span: Span) -> Iterator[DraftFinding]:
    """Yield one finding per span that ends at a core."""
    stackup = ctx.stackup()
    above, below = cores_beyond(stackup, span)
    if not above and not below:
        return
    if not (above and below):
        from_other_end = span.is_laser or is_shallow(ctx.board, span, stackup)
        if from_other_end is None:
            raise MissingFact(f"depth of {in_words(ctx, span)}", DECLARE_STACKUP)
        if from_other_end:
            return
    top, bottom = (ctx.board.copper_layers[layer].name for layer in span.layers)
    places = [f"{above} above {top}"] if above else []
    places += [f"{below} below {bottom}"] if below else []
    cores = [row for row in (above, below) if row]
    verb, noun = "ends" if span.count == 1 else "end", "a core" if len(cores) == 1 else "two cores"
    yield DraftFinding(
        title=f"{in_words(ctx, span)} {verb} at {noun}: {', '.join(places)}",
        why="A core joins its two copper layers before the first lamination: a drill goes through both",
        fix=f"{correct(' or '.join(cores), 'the type (core or prepreg)')}, or end the vias where prepreg follows",
        ids=(f"{top} to {bottom}",),
        measured=Measured(value=" and ".join(cores)),
        places=tuple(places_of(ctx, span)),
    )
