"""The board is built up otherwise than is usual for its workload.

What it checks
--------------
The HDI class that the vias need: layers of microvias per side, 1-N-1 and so on, any-layer when microvias join all
neighbouring layers, or through vias, with backdrill or without. The number of presses is printed with it. A class
between two that the clause names is taken as named.

Why it matters
--------------
Each build-up is one more press, drill and plating: it costs weeks and yield where it is not needed, and where it is,
its lack shows as stubs.

How to fix
----------
Fewer microvia layers, or through vias with backdrill, as the clause says; keep the class if the density asks for it.

Sources
-------
Each clause names document, table and row; presses are the core's and one per build-up.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.drilled_holes import drilled_holes
from drc_rules.report import Measured
from drc_rules.rule import Draft, rule
from stackup_lib.build_ups import BuildUps, build_ups

BACKDRILLED = "through vias with backdrill"
ANY_LAYER = 99
RANKS = {"through vias": 0, BACKDRILLED: 0, "any-layer": ANY_LAYER}


def _with_vias(ctx: Context, _clause: Clause) -> tuple[BuildUps, ...]:
    return (build_ups(ctx.board),) if len(ctx.board.vias) else ()


@rule("VIA009", kinds=("hdi_class",), over=_with_vias)
def unusual_hdi_class(ctx: Context, clause: Clause, built: BuildUps) -> Iterator[Draft]:
    """Yield a finding when the board's class is none of the clause's and not between two of them."""
    choices = clause.limit.choices
    is_drilled = next(drilled_holes(ctx), None) is not None
    name = BACKDRILLED if built.name == "through vias" and is_drilled else built.name
    if name in choices or (name == BACKDRILLED and "through vias" in choices):
        return
    ranks = sorted(_rank(choice) for choice in choices)
    if built.per_side and ranks[0] < _rank(built.name) < ranks[-1]:
        return
    presses = f", {built.lamination_cycles} presses at least" if built.per_side else ""
    yield Draft(
        title=f"the board needs {name}{presses}; usual are {', '.join(choices)}",
        why="each build-up is one more press, drill and plating; without any, through vias keep their stubs",
        fix="backdrill the vias of fast links, or use microvias there; a board without fast links can leave it"
        if name == "through vias"
        else "keep it where density or loss asks for it",
        ids=("hdi class",),
        measured=Measured(value=name),
        limit_value=", ".join(choices),
    )


def _rank(name: str) -> int:
    return RANKS[name] if name in RANKS else int(name.partition("-")[0])
