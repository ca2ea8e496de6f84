"""High-speed nets are in no net class, so KiCad routes them with default width and gap.

What it checks
--------------
Nets assigned to a high-speed interface, by declaration or by name, that are in no net class of the project and for
which no custom design rule prefers a width: one finding per interface. Unused pins (one pad, no track) do not count.

Why it matters
--------------
Class and rule are the only places from which KiCad takes a width, a gap or a clearance. Without them nothing controls
the impedance of these nets while they are routed or changed, and its design rule check passes any width.

How to fix
----------
Make a net class in KiCad, Board Setup, Net Classes, and give it the nets by a pattern. `stackwright impedance` gives
the width and gap for each layer of this stackup.

What it cannot see
------------------
Any class is enough, even without width and gap (`off-target-net-class` judges its values). Nets not recognised as
high-speed, DDR, MIPI and USB 2 are not checked. A rule whose condition cannot be decided counts as applying.

Sources
-------
KiCad: net classes, custom design rules. Net assignment: `stackwright nets --explain NET`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.targets.configured_geometries import design_rules_of, leading_somewhere
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import Family, families
from drc_rules.rules.advice import lacks_project
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.board.design_rules import DesignRules
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import entity
from stackup_lib.nets.design_widths import configured_geometry

SHOWN = 5


@entity
class HighSpeedNets:
    """The nets of a high-speed family that lead somewhere."""

    family: Family
    nets: Ints


def _fast_nets(ctx: Context, _clause: Clause) -> Iterator[HighSpeedNets]:
    used = leading_somewhere(ctx)
    for family in families():
        nets = [net for net in ctx.nets_of(family.id).tolist() if net in used] if family.fast else []
        if nets:
            yield HighSpeedNets(family, np.array(nets, dtype=np.int64))


FORMULA = """
n ≤ 0

n: nets of the family in no net class and with no rule of their own
m: nets of the family that connect pads
"""


@rule(
    "NET006",
    aliases=("unclassified-fast-nets",),
    kinds=("nets_in_classes",),
    over=_fast_nets,
    formula=FORMULA,
    by_stackup="unmoved",
)
def unclassified_high_speed_nets(ctx: Context, _clause: Clause, found: HighSpeedNets) -> Iterator[DraftFinding]:
    """Yield one finding per family with nets that neither a class nor a rule knows."""
    if lacks_project(ctx.board) and not ctx.board.project.net_classes_of:
        raise MissingFact("the net classes", "put the .kicad_pro next to the board")
    rest_on_assignment(ctx, found.nets)
    rules = design_rules_of(ctx)
    classes = ctx.board.project.net_classes_of
    names = [ctx.board.nets[net] for net in found.nets.tolist() if not classes.get(ctx.board.nets[net])]
    loose = [name for name in names if not _has_rule(ctx, name, rules)]
    ctx.shows(found.family.title, n=len(loose), m=len(found.nets))
    if not loose:
        return
    some = loose[0] + (" ..." if len(loose) > 1 else "")
    yield DraftFinding(
        title=f"{len(loose)} of {len(found.nets)} {found.family.title} nets are in no net class ({some})",
        why="KiCad checks no width and no gap of their own",
        fix="Make a net class for them in KiCad, Board Setup, Net Classes, and give it the nets by a pattern",
        ids=(found.family.id,),
        measured=Measured(value=len(loose), unit="nets"),
        limit_value=0,
        places=tuple(Location(net=name) for name in loose[:SHOWN]),
        inferred=not any(ctx.assignment.is_declared(net) for net in found.nets.tolist()),
    )


def _has_rule(ctx: Context, name: str, rules: DesignRules | None) -> bool:
    """Tell whether a design rule prefers a width for a net, or may: what is not certain is no reason to complain."""
    if rules is None:
        return False
    in_pair = ctx.pairs.complement_of(ctx.board.net_index[name]) is not None
    said = configured_geometry(ctx.board, name, rules, in_pair=in_pair)
    return any(layer.doubts or (layer.width is not None and layer.width.is_meant) for layer in said)
