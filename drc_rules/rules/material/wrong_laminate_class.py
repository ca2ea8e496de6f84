"""A dielectric adjacent to a high-speed layer is of a lossier class than required.

What it checks
--------------
The loss class of each dielectric sheet adjacent to a layer with high-speed nets against the minimum class of the
clause: standard, mid, low, very-low, ultra-low, super-ultra-low, by Df near 10 GHz. A Df declared in `stackwright.toml`
takes precedence over the class of the laminate's name; one at another frequency is first converted to 10 GHz by the
laminate's own curve. A laminate that the requirement names meets it by name, unless the declared Df cannot be that
laminate's. A Df without a frequency, such as the loss tangent in the board file, decides from twice the class's border
and twice the laminate's own; below ten times the laminate's own it is a warning at most.

Why it matters
--------------
Laminates are chosen and quoted by class long before lengths are known. One class too low is rarely fixed later: it
changes every height and width on the board.

How to fix
----------
Choose a laminate of the class for the dielectrics adjacent to the high-speed layers (`stackwright materials very-low`).
Power and ground layers with no adjacent high-speed layer may stay in FR4.

What it cannot see
------------------
A family has one class, near 10 GHz: spread and standard glass count alike, and Df at Nyquist is `excess-link-loss`'s.
Laminates on either side of a border differ little. A loss tangent of 0.02 counts only for FR4.

Sources
-------
Each clause names document, table and row. The class borders are Stackwright's own, because laminate makers use the same
words for different losses: `stackwright materials` prints class and Df.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.material._named import CLEARLY_ABOVE, bare_df_above, is_named, note_of_untouched, severity_of_bare
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import HighSpeedPly, fast_plies
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.materials import CLASS_BORDER, LossClass, loss_class_from_df


@rule("MAT002", kinds=("laminate_class",), over=fast_plies, by_stackup="decided")
def wrong_laminate_class(ctx: Context, clause: Clause, fast: HighSpeedPly) -> Iterator[DraftFinding]:
    """Yield one finding per ply below the class."""
    ply, wanted = fast.ply, LossClass(clause.limit.at_least)
    named, bare = is_named(ctx, ply, clause), bare_df_above(ply, CLASS_BORDER.get(wanted, math.inf))
    found = ply.loss_class
    if not named and found.known and (bare is None or found.need() < wanted):
        if ctx.need(found) < wanted:
            yield _finding(fast, wanted, found.need(), _why_so(ply))
    elif bare is not None:
        ctx.rests_on(Confidence.LOW)
        stated = f" at best, by the Df of {bare:g} stated {ply.df.bare_place}, without a frequency"
        draft = _finding(fast, wanted, loss_class_from_df(bare / CLEARLY_ABOVE), stated)
        yield replace(draft, severity=severity_of_bare(ply, bare))
    elif not named:
        ctx.need(found)


def _why_so(ply: DielectricPly) -> str:
    declared = ply.declaration
    if ply.loss_class.origin is not Origin.DECLARED or declared.df is None:
        return ""
    return f", by the Df of {declared.df:g} declared at {declared.at_ghz:g} GHz"


def _finding(fast: HighSpeedPly, wanted: LossClass, found: LossClass, why_so: str) -> DraftFinding:
    ply = fast.ply
    return DraftFinding(
        title=(
            f"{ply.label} ({ply.stated}), adjacent to {fast.touching}: {found.label} "
            f"loss{why_so}, minimum {wanted.label} loss"
        ),
        why="A late change of the loss class changes every height and width" + note_of_untouched(ply),
        fix=f"Choose {wanted.label}-loss laminate for the dielectrics adjacent to {fast.touching}",
        ids=(ply.label,),
        measured=Measured(value=found.label, unit="loss class"),
        limit_value=wanted.label,
        places=(Location(layer=ply.row), *(Location(layer=layer.name) for layer in fast.layers)),
        inferred=fast.inferred,
    )
