"""Nets whose tracks form loops: which way a signal takes, and how late it is, no file states. Lengths in mm."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.nets.routing.routes import Loop, Route

LEAST_MM = 0.1
"""Loops that leave less open are those of a track that comes onto a pad or into a bend at two places."""


@record
class TwoWays:
    """What the loops of a trace leave open.

    Attributes:
        doubt_mm: by how much longer than its shortest way the trace may be.
        net: index of the net with the worst loop.
        worst: that loop.
    """

    doubt_mm: float
    net: int
    worst: Loop


def two_ways(routes: Iterable[Route]) -> TwoWays | None:
    """Return what the loops on some routes leave open, None without any that matters."""
    found = [(loop.doubt_mm, route.net, loop) for route in routes for loop in route.loops if loop.doubt_mm >= LEAST_MM]
    if not found:
        return None
    _, net, worst = max(found, key=lambda one: one[0])
    return TwoWays(sum(doubt for doubt, *_ in found), net, worst)


def which_way(ctx: Context, *ways: TwoWays | None) -> MissingFact | None:
    """Return what is not known of the worst of some loops."""
    worst = max((one for one in ways if one), key=lambda one: one.doubt_mm, default=None)
    if worst is None:
        return None
    net, loop = ctx.board.nets[worst.net], worst.worst
    name = (
        f"which way a signal on {net} takes: its tracks form a loop of {loop.path_mm:.2f} and {loop.other_mm:.2f} mm "
        f"at {loop.x_mm:.2f}, {loop.y_mm:.2f} mm"
    )
    return MissingFact(name, f"in the layout, remove one of the two ways of {net}, then check again")
