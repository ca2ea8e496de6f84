"""The lines that a changed stackup takes off their target, and the widths that bring them back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from drc_rules.analysis.impedance.line_effects import LineEffect
from drc_rules.facts.context import Context
from drc_rules.stackup_design.retarget import Reroute, retargeted_lines
from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackwright.tables.rules_link import rules_link


@record
class WidthChanges:
    """What has to be rerouted, and the design rules for it.

    Attributes:
        reroute: routed copper that moved and is off its target after the change.
        rules: width and gap per net class on the layers of that copper.
        file: name for the design rules.
        link: the design rules as a `data:` address; empty where there are none.
    """

    reroute: tuple[Reroute, ...]
    rules: tuple[PlannedRule, ...]
    file: str
    link: str


def width_changes(moved: Sequence[LineEffect], after: Context, name: str) -> WidthChanges | None:
    """Return the widths to change in the new stackup; None where no line that moved is off its target.

    Args:
        moved: lines whose impedance, loss or yield the change moves.
        after: the board with the new stackup.
        name: of the board after the change.
    """
    where = {(one.layer, one.target.target.ohm, one.target.target.kind) for one in moved}
    layers = sorted({after.board.layer_index[layer] for layer, _, _ in where if layer in after.board.layer_index})
    if not layers:
        return None
    try:
        lines = retargeted_lines(after, layers)
    except MissingFact:
        return None  # the page says of each line why it is not solved
    reroute = tuple(one for one in lines.reroute if (one.layer, one.target.ohm, one.target.kind) in where)
    if not reroute:
        return None
    asked = {(one.layer, one.target.kind == "differential") for one in reroute if one.new_width_mm is not None}
    rules = tuple(rule for rule in lines.rule if (rule.layer, rule.gap_mm is not None) in asked)
    file = f"{PurePath(name.rpartition(':')[2]).stem}-widths.kicad_dru"
    return WidthChanges(reroute, rules, file, rules_link(rules, file, after.board.format_version) if rules else "")
