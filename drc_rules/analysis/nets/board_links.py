"""The links of a board: nets followed through series parts, from end to end."""

from __future__ import annotations

from drc_rules.facts.context import Context
from stackup_lib.nets.links import Links, find_links


def board_links(ctx: Context) -> Links:
    """Return the links of the board; ask for them with `Context.get`."""
    return find_links(ctx.board, ctx.pairs)
