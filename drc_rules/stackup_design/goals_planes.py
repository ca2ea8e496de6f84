"""Goals of a stackup: how many power planes, and where they are on the board that stands."""

from __future__ import annotations

from drc_rules.stackup_design.goal_work import From, GoalWork
from stackup_lib.board.layer_roles import LayerRole, LayerUse
from stackup_lib.synthesis import Goals
from stackup_lib.synthesis.arrange import least_layers

LEAST_LAYERS = 4
"""The search arranges no fewer."""

MANY_LAYERS = 20
"""From here four power planes, below two: how such boards are usually laid out."""


def power_planes(work: GoalWork, count: int) -> int:
    """Return how many there are to be: as chosen, as the board's inner layers are filled, or as usual."""
    said = work.choices.power_planes
    if said is not None:
        work.say("power planes", f"{said}", From.USER, "your choice")
        return said
    uses = work.project.context.uses if work.project else ()
    if any(use.is_plane for use in uses[1:-1]):
        supplies = sum(map(_is_supply, uses[1:-1]))
        planes = supplies
        while least_layers(Goals(power_planes=planes)) > count:
            planes -= 1
        words = "inner layers filled with supplies" if supplies else "no inner layer is filled with supplies"
        if planes == supplies:
            work.say("power planes", f"{planes}", From.BOARD, words)
        else:
            work.say("power planes", f"{planes} of {supplies}", From.BOARD, f"{words}; {count} layers hold no more")
        return planes
    planes = 4 if count >= MANY_LAYERS else 2 if count > 4 else 0
    words = (
        "no requirement states a number; rails are not known"
        if planes
        else "the layers hold none: supplies share the grounds"
    )
    work.say("power planes", f"{planes}", From.ASSUMPTION, words)
    return planes


def power_above(work: GoalWork) -> bool:
    """Tell whether the upper inner layer of a board of four is its power plane."""
    uses = work.project.context.uses if work.project else ()
    return len(uses) == LEAST_LAYERS and _is_supply(uses[1]) and not _is_supply(uses[2])


def _is_supply(use: LayerUse) -> bool:
    return use.role is LayerRole.POWER or (use.role is LayerRole.MIXED and use.power_share > use.ground_share)
