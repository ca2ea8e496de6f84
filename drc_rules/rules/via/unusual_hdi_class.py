"""The board's HDI class is not the usual one for its workload.

What it checks
--------------
The HDI class that the vias need: layers of microvias per side (1-N-1 and so on), any-layer when microvias join all
adjacent layers, or through vias, with backdrill or without. The number of lamination cycles is printed with it. A class
between two that the clause names passes. Plain through vias fail only where a hole of a high-speed net keeps a stub: a
board of two layers, or one without high-speed nets, gains nothing from either.

Why it matters
--------------
Each build-up is one more lamination, drilling and plating: it costs weeks and yield where it is not needed. Where it
is, its lack shows as stubs.

How to fix
----------
Use fewer microvia layers, or through vias with backdrill, as the clause says; keep the class if the density requires
it.

What it cannot see
------------------
The class follows the vias drawn: an unrouted board shows less than it will have, and one stray microvia makes it HDI.
Drilled blind and buried vias count only as lamination cycles. Sides that differ count as the higher one.

Sources
-------
Each clause names document, table and row. Lamination cycles follow from the spans: a drilled blind or buried via needs
a subassembly of its own, laminated before the next; each level of microvias adds one; two layers alone are a core and
need none.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.via.drilled_holes import drilled_holes
from drc_rules.analysis.via.high_speed_vias import grouped_stubs
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.record import record
from stackup_lib.vias.build_ups import BuildUps, build_ups

PLAIN = "through vias"
BACKDRILLED = "through vias with backdrill"
ANY_LAYER = 99
MOST_PER_SIDE = 15
"""Layers of microvias that a side of a board of 32 layers has room for."""

RANKS = {PLAIN: 0, BACKDRILLED: 0, "any-layer": ANY_LAYER}


@record
class Build:
    """How the vias are made; `stubs` counts the holes of high-speed nets that keep one if plainly drilled."""

    ups: BuildUps
    name: str
    stubs: int = 0


def _builds(ctx: Context, clause: Clause) -> Iterator[Build]:
    if not len(ctx.board.vias):
        return
    ups = build_ups(ctx.board)
    if ups.name != PLAIN or PLAIN in clause.limit.choices:
        yield Build(ups, ups.name)
    elif drilled_holes(ctx):
        yield Build(ups, BACKDRILLED)
    elif stubs := sum(len(group.holes) for group in ctx.get(grouped_stubs) if group.stubs):
        yield Build(ups, PLAIN, stubs)


def _classes() -> tuple[str, ...]:
    return (*RANKS, *(f"{per_side}-N-{per_side}" for per_side in range(1, MOST_PER_SIDE + 1)))


@rule("VIA009", kinds=("hdi_class",), over=_builds, choices=_classes)
def unusual_hdi_class(_ctx: Context, clause: Clause, build: Build) -> Iterator[DraftFinding]:
    """Yield a finding when the board's class is none of the clause's and not between two of them."""
    choices = clause.limit.choices
    ranks = sorted(_rank(choice) for choice in choices)
    if build.name in choices or (build.ups.per_side and ranks[0] < _rank(build.name) < ranks[-1]):
        return
    if build.stubs:
        holes = (
            "through hole of a high-speed net keeps" if build.stubs == 1 else "through holes of high-speed nets keep"
        )
        title, fix = (
            f"{build.stubs} plain {holes} a stub",
            "Backdrill those whose stub does harm, or use microvias there",
        )
    else:
        cycles = build.ups.lamination_cycles
        many = (
            f" and at least {cycles} lamination cycle{'' if cycles == 1 else 's'}"
            if build.ups.per_side and cycles
            else ""
        )
        title = f"the board needs {build.name}{many}"
        fix = "Use fewer microvia layers, unless density or loss requires them"
    yield DraftFinding(
        title=f"{title}; usual: {', '.join(choices)}",
        why="Each build-up adds a lamination, drilling and plating. Without any, through vias keep their stubs",
        fix=fix,
        ids=("hdi class",),
        measured=Measured(value=build.name),
        limit_value=", ".join(choices),
    )


def _rank(name: str) -> int:
    return RANKS[name] if name in RANKS else int(name.partition("-")[0])
