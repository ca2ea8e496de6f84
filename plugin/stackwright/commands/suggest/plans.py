"""The plan of one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drc_rules.stackup_design.new_plan import plan_of_answer
from drc_rules.stackup_design.plan_file import Plan

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested


def plan_of_pick(result: Suggested, pick: int) -> Plan:
    """Return the plan of the answer with a number, counted from 1."""
    index = pick - 1
    if index < len(result.changes):
        return result.changes[index].plan
    others, found = bool(result.unsought), result.found
    return plan_of_answer(
        result.entries[index], found.goals, found.interfaces, classes=result.net_classes, controls_others=others
    )
