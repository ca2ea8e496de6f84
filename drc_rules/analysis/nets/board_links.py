"""The links of a board: nets followed through series parts, from end to end."""

from __future__ import annotations

from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.links import Link, Links, PadRole, find_links
from stackup_lib.nets.routes import Route


def board_links(ctx: Context) -> Links:
    """Return the links of the board; ask for them with `Context.get`."""
    return find_links(ctx.board, ctx.pairs)


def complete_routes(ctx: Context, link: Link) -> tuple[Route, ...]:
    """Return the routes of a link, net by net.

    Raises:
        MissingFact: one of them does not lead from end to end.
    """
    links = ctx.get(board_links)
    routes = links.routes(link)
    for route in routes:
        open_ends = [row for row in route.unreached_pads if links.pad_role[row] <= PadRole.SERIES]
        if route.start_pad is None or open_ends:
            raise MissingFact(
                f"the whole route of {ctx.board.nets[route.net]}", "route it from pad to pad, then check again"
            )
    return routes
