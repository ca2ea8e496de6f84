"""The via that a net class specifies violates the board's own limits.

What it checks
--------------
Diameter, hole and annular ring of the through via that KiCad is configured to place for the nets of a class (the
preferred size of the last design rule that applies, else the net class) against the minimum and maximum in the same
data: the last design rule that states one, else Board Setup. Rules for an area, a part or a sheet do not count. Where
vias of that size are routed already, and where only Board Setup's minimum diameter or hole conflicts, it is
information: KiCad's own check reports the former, and its router places the minimum size in place of the latter.

Why it matters
--------------
The two contradict each other, and both are meant to be relied on. Either every via that the router places fails the
design rule check later, or it is larger than the class specifies.

How to fix
----------
Change the value that is wrong, in Board Setup: Net Classes, Custom Rules or Constraints.

What it cannot see
------------------
Only the through via that the router places is judged; microvias, predefined sizes and blind vias are not. Rules for
areas, parts and sheets are ignored: a class used only there meets the wrong limits. Precedence follows KiCad 10.

Sources
-------
KiCad 10.0.6: of limits the last rule that states one counts, and it takes the place of Board Setup's, be it stricter or
not; each was tried on it. What its router does below Board Setup's minimum sizes is read in KiCad's source.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from drc_rules.analysis.via.configured_vias import (
    RequiredVia,
    broken_limit,
    configured_vias,
    describe_size,
    need_no_doubt,
    places_of,
    routed_like,
)
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured, ObjectRows
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.kicad.design_rules.via_settings import BOARD_SETUP
from stackup_lib.nets.design_widths import Statement


def _asked(ctx: Context, _clause: Clause) -> Iterable[RequiredVia]:
    return configured_vias(ctx)


FORMULA = """
v_min ≤ v ≤ v_max

v: diameter, hole or ring of the specified via [mm]
v_min: minimum in KiCad's data [mm]
v_max: maximum [mm]
"""


@rule("VIA013", kinds=("class_via_allowed",), over=_asked, formula=FORMULA)
def forbidden_class_via(ctx: Context, _clause: Clause, asked: RequiredVia) -> Iterator[DraftFinding]:
    """Yield one finding per configured via that KiCad's data forbid."""
    need_no_doubt(asked.via)
    found = broken_limit(asked.via, asked.via.placed_mm or (0.0, 0.0))
    if found is not None:
        yield _forbidden(ctx, asked, *found)
    elif asked.via.asked_mm != asked.via.placed_mm:
        yield _widened(ctx, asked)


def _forbidden(ctx: Context, asked: RequiredVia, what: str, value_mm: float, limit: Statement) -> DraftFinding:
    size_mm = asked.via.placed_mm or (0.0, 0.0)
    is_least = value_mm < limit.value_mm
    routed = routed_like(ctx, asked.nets, size_mm)
    bound = "minimum" if is_least else "maximum"
    who = limit.source if limit.name == BOARD_SETUP else f'rule "{limit.name}", {limit.source}'
    least, most = (limit.value_mm, math.inf) if is_least else (0.0, limit.value_mm)
    ctx.shows(f"{asked.who}, {what} of the via", v=value_mm, v_min=least, v_max=most)
    thing = "annular ring" if what == "ring" else f"via {what}"
    count = f", {_count(routed)} routed" if len(routed) else ""
    return DraftFinding(
        title=(
            f"{thing} {value_mm:.4g} mm, {bound} {limit.value_mm:g} mm ({who}): "
            f"{asked.who}, vias of {describe_size(size_mm)}{count}"
        ),
        why="Every via that KiCad places there fails KiCad's own design rule check",
        fix=f"Change the {what} of the class's via, or the limit, in Board Setup",
        ids=(*asked.asked_by, what, limit.source.rsplit(":", 1)[0], limit.name),
        measured=Measured(value=round(value_mm, 4), unit="mm"),
        limit_value=limit.value_mm,
        places=places_of(ctx, routed),
        every=ObjectRows(vias=tuple(routed.tolist())),
        severity=Severity.INFO if len(routed) else None,
    )


def _widened(ctx: Context, asked: RequiredVia) -> DraftFinding:
    wanted, placed = asked.via.asked_mm or (0.0, 0.0), asked.via.placed_mm or (0.0, 0.0)
    what, at = ("diameter", 0) if placed[0] > wanted[0] else ("hole", 1)
    routed = routed_like(ctx, asked.nets, wanted)
    ctx.shows(f"{asked.who}, {what} of the via", v=wanted[at], v_min=placed[at], v_max=math.inf)
    verb = "fails" if len(routed) == 1 else "fail"
    fails = f" and {verb} its check" if broken_limit(asked.via, wanted) else ""
    count = f", {_count(routed)} routed as specified{fails}" if len(routed) else ""
    return DraftFinding(
        title=(
            f"via {what} {wanted[at]:g} mm, minimum {placed[at]:g} mm (Board Setup): {asked.who}, vias of "
            f"{describe_size(wanted)}, KiCad's router places {describe_size(placed)}{count}"
        ),
        why="The class and Board Setup contradict each other: KiCad does not place the specified via",
        fix="Change the class's via, or the minimum under Constraints, in Board Setup",
        ids=(*asked.asked_by, what, BOARD_SETUP),
        measured=Measured(value=wanted[at], unit="mm"),
        limit_value=placed[at],
        places=places_of(ctx, routed),
        every=ObjectRows(vias=tuple(routed.tolist())),
        severity=Severity.INFO,
    )


def _count(rows: Ints) -> str:
    return f"{len(rows)} {'is' if len(rows) == 1 else 'are'}"
