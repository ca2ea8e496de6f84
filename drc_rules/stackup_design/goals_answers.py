"""The search for the goals of a workload: first as they are, then without what is only preferred."""

from __future__ import annotations

from dataclasses import replace

from drc_rules.stackup_design.goal_work import From, Reason
from drc_rules.stackup_design.goals import GoalsFound
from stackup_lib.synthesis import Answers, suggest


def answers_for(found: GoalsFound, limit: int) -> tuple[Answers, GoalsFound]:
    """Return the best stackups, `limit` at most, and the goals that they meet.

    Layers that are laid out stay where they can. A weight of power planes that no one requires gives way where nothing
    can be built with it.
    """
    answers = suggest(found.goals, found.judge, limit, found.kept)
    if answers.keeps_layers:
        return answers, found.keeping()
    if answers.ranked or found.eased is None:
        return answers, found
    lighter = suggest(found.eased, found.judge, limit)
    if not lighter.ranked:
        return answers, found
    return lighter.model_copy(update={"why_moved": answers.why_moved}), _eased(
        found, found.eased.power_copper_oz, answers
    )


def _eased(found: GoalsFound, power_oz: float, answers: Answers) -> GoalsFound:
    """Return the goals with lighter power planes, and why they are lighter."""
    goal = "power copper"
    why = f"no more is required, and with more {answers.unreachable[0]}"
    said = Reason(goal, f"{power_oz:g} oz, not {found.goals.power_copper_oz:g} oz", From.ASSUMPTION, why)
    reasons = tuple(said if one.goal == goal else one for one in found.reasons)
    return replace(found, goals=found.eased or found.goals, reasons=reasons, eased=None)
