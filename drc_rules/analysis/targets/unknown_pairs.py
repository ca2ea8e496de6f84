"""Differential pairs that are routed and of whose interface nothing is known: no clause asks anything of them."""

from __future__ import annotations

import numpy as np

from drc_rules.analysis.targets.controlled import controlled_lines, counted, nets_by_target
from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.report.verdicts import Missing
from drc_rules.requirements.interfaces import family
from drc_rules.settings.net_selection import nets_line
from stackup_lib.board.board import Board, Flags
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import Origin
from stackup_lib.core.record import record


@record
class UnknownPairs:
    """Such pairs.

    Attributes:
        names: what both nets of each have in common.
        missing: the question, and the table that answers it; None where there are none.
    """

    names: tuple[str, ...]
    missing: Missing | None


def unknown_pairs(ctx: Context) -> UnknownPairs:
    """Return the pairs whose nets both have tracks, no interface, slow ones included, and no impedance to meet.

    What feeds or drains current is left out: a net that fills zones, is a declared rail or reads as ground.
    """
    board, pairs = ctx.board, ctx.pairs
    known = _known(ctx)
    signal = _routed(board) & ~ctx.get(carries_power)
    rows = [
        k
        for k, (one, other) in enumerate(zip(pairs.positive.tolist(), pairs.negative.tolist(), strict=True))
        if signal[one] and signal[other] and not (known[one] or known[other])
    ]
    if not rows:
        return UnknownPairs((), None)
    names = tuple(sorted(pairs.name[k] for k in rows))
    nets = [int(net) for k in rows for net in (pairs.positive[k], pairs.negative[k])]
    what = "1 differential pair" if len(names) == 1 else f"{len(names)} differential pairs"
    lines = f'[[interface]]\nis = "?"  # e.g. pcie5, usb3.2gen1, or low-speed where none is\n{nets_line(board, nets)}'
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    return UnknownPairs(names, Missing(fact=f"the interface of {what}: {shown}", how_to_give=lines))


MOST_NAMED = 4
"""Pairs that the question names; the report lists all."""


def unjudged_pairs(ctx: Context) -> int:
    """Count the routed pairs with a target of which no section is judged: too short, over no plane, or apart."""
    pairs = ctx.pairs
    judged = {net for one in counted(ctx.get(controlled_lines)) for net in one.line.nets}
    asked = {net for nets in ctx.get(nets_by_target).values() for net in nets} & set(
        distinct(ctx.board.tracks.net).tolist()
    )
    paired = {net for net in asked if pairs.complement_of_net[net] >= 0}
    return len(
        {int(pairs.pair_of_net[net]) for net in paired} - {int(pairs.pair_of_net[net]) for net in judged & paired}
    )


def _known(ctx: Context) -> Flags:
    known = np.array([_tells(role) for role in ctx.assignment.roles], dtype=bool)
    for nets in ctx.get(nets_by_target).values():
        known[nets] = True
    return known


def _tells(role: NetRole | None) -> bool:
    """Tell whether a role says what runs on a net: inferred pins for any use do not."""
    return role is not None and (role.origin is Origin.DECLARED or not family(role.family).general)


def _routed(board: Board) -> Flags:
    routed = np.zeros(len(board.nets), dtype=bool)
    routed[board.tracks.net] = True
    return routed


def carries_power(ctx: Context) -> Flags:
    """Return the nets that feed or drain current: they fill zones, are declared rails, or read as ground."""
    board = ctx.board
    power = np.zeros(len(board.nets), dtype=bool)
    power[board.zones.net[board.zones.fill_zone]] = True
    rails = {row.net for row in ctx.declarations.config.rail}
    power[[k for k, name in enumerate(board.nets) if name in rails or is_ground(name)]] = True
    return power
