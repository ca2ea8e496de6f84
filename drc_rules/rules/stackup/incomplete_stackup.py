"""A stackup row has no thickness or no material, or is missing.

What it checks
--------------
Whether every copper and dielectric row of a declared stackup has a thickness, and every dielectric sheet a material;
and whether a dielectric, which is core or prepreg, is between every two copper rows. A missing Dk counts only where the
catalogue has none for the material: that is information. KiCad writes a loss tangent of 0 for "not set": no value.

Why it matters
--------------
A row without thickness has no impedance; a sheet without material has no loss, no Tg and no order number: the fab will
ask, or choose.

How to fix
----------
Fill in the row under File > Board Setup > Physical Stackup. Write the laminate, and where you know it the glass
style and resin content, into the material field: "R-5775(N) 1078 RC67%".

What it cannot see
------------------
Values need only be present, not plausible: a prepreg of 3 um or a misspelt laminate passes (see `thin-dielectric`,
`unknown-laminate`, `implausible-dk`). Foil or finished copper is not distinguished. Solder mask, loss tangents and
resin contents are not checked.

Sources
-------
KiCad's stackup block as KiCad 6 to 10 write it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import LayerKind, StackupLayer
from stackup_lib.core.record import record
from stackup_lib.core.words import listed

DK_AT_GHZ = 1.0
"""Frequency at which the catalogue gives a Dk."""


@record
class UnknownRow:
    """A copper or dielectric row, the one under it, and a row of a type that is neither between them."""

    row: StackupLayer
    below: StackupLayer | None
    strange: StackupLayer | None = None


def _rows(ctx: Context, _clause: Clause) -> list[UnknownRow]:
    layers = ctx.stackup().layers
    known = [k for k, row in enumerate(layers) if row.kind is LayerKind.COPPER or row.is_dielectric]
    return [
        UnknownRow(
            layers[k],
            None if below is None else layers[below],
            next((row for row in layers[k + 1 : below or k] if row.kind is LayerKind.OTHER), None),
        )
        for k, below in zip_longest(known, known[1:])
    ]


@rule("STK003", kinds=("stackup_complete",), over=_rows, by_stackup="decided")
def incomplete_stackup(ctx: Context, _clause: Clause, found: UnknownRow) -> Iterator[DraftFinding]:
    """Yield one finding per row with something missing."""
    row, below = found.row, found.below
    declared = None if ctx.declarations.stale else ctx.declarations.config.declared.dielectric.get(row.name)
    lacks, without = [], set[int]()
    if thin := {k for k, ply in enumerate(row.plies, 1) if not ply.thickness_mm}:
        lacks.append("thickness")
        without |= thin
    unnamed = {k for k, ply in enumerate(row.plies, 1) if not ply.material} if row.is_dielectric else set[int]()
    if unnamed and not (declared and declared.material):
        lacks.append("material")
        without |= unnamed
    if (strange := found.strange) is not None:
        yield _of_strange_type(ctx, strange)
    elif below is not None and row.kind is below.kind is LayerKind.COPPER:
        lacks.append(f"dielectric between it and {below.name}")
    lacks_dk = _lacks_dk(ctx, row)
    if lacks or lacks_dk:
        words = [*lacks, *(["Dk, and the catalogue has none"] if lacks_dk else [])]
        yield DraftFinding(
            title=f"{_who_states(row, without)} no {' and no '.join(words)}",
            why="Without it, impedance and loss of the adjacent layers cannot be computed",
            fix=f"Fill in {row.name} under File > Board Setup > Physical Stackup and save",
            ids=(row.name, *(lacks or ["Dk"])),
            severity=None if lacks else Severity.INFO,
            places=(Location(layer=row.name, line=ctx.board.line_of(row.offset) if row.offset else None),),
        )


def _of_strange_type(ctx: Context, row: StackupLayer) -> DraftFinding:
    return DraftFinding(
        title=f'{row.name} is of type "{row.type_text}", neither core nor prepreg',
        why="The row counts neither for the thickness nor for impedance and loss of the adjacent layers",
        fix=f"Choose core or prepreg for {row.name} under File > Board Setup > Physical Stackup and save",
        ids=(row.name, "type"),
        places=(Location(layer=row.name, line=ctx.board.line_of(row.offset) if row.offset else None),),
    )


def _who_states(row: StackupLayer, without: set[int]) -> str:
    """The row, or its plies without what others of it state, and the verb."""
    if not without or len(without) == len(row.plies):
        return f"{row.name} states"
    which = listed([f"ply {k}" for k in sorted(without)])
    return f"{row.name}, {which} {'states' if len(without) == 1 else 'state'}"


def _lacks_dk(ctx: Context, row: StackupLayer) -> bool:
    """Tell whether any ply of a row has no Dk: none in the file, none declared, none in the catalogue."""
    plies = [ply for ply in ctx.plies if ply.row == row.name and ply.dk.fault is None]
    return any(not ply.dk.at(DK_AT_GHZ).known for ply in plies)
