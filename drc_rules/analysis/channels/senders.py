"""At which end a neighbour sends, as far as names and parts tell.

Links with TX in their names that begin at one part send in the same direction, those with RX in the other. Which of
both is the part's output is left open: names are given from either side.
"""

from __future__ import annotations

import re
from itertools import product

from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.nets.board_links import complete_routes
from drc_rules.facts.context import Context
from stackup_lib.channels.ways import FAR, NEAR

ENDS = (NEAR, FAR)
_WAY = re.compile(r"(?:^|[._\-/]|PE)(?P<way>[TR])X?[PN]?(?=[\d._\-/+]|$)", re.IGNORECASE)


def way_of_name(name: str) -> str | None:
    """Return T or R of a name such as `/SFP_TX0_P` or `PETp3`; None of one that says neither, or both."""
    found = {match["way"].upper() for match in _WAY.finditer(name)}
    return found.pop() if len(found) == 1 else None


def ends_that_send(ctx: Context, link: LinkLoss, other: LinkLoss, receives: int) -> tuple[int, ...]:
    """Return the ends at which another link may send while a link receives at one of its own.

    One end where both names say a direction and the links share a part, else both.
    """
    ways = way_of_name(link.name), way_of_name(other.name)
    mine, theirs = _parts(ctx, link), _parts(ctx, other)
    if None in ways:
        return ENDS
    found = set()
    for end, its_end in product(ENDS, ENDS):
        if mine[end] is not None and mine[end] == theirs[its_end]:
            both_receive = (end == receives) == (ways[0] == ways[1])
            found.add(1 - its_end if both_receive else its_end)
    return tuple(found) if len(found) == 1 else ENDS


def _parts(ctx: Context, link: LinkLoss) -> tuple[int | None, int | None]:
    """Return the part at the near and at the far end of a link, rows of `Board.footprints`."""
    routes = complete_routes(ctx, link.traces[0])
    pads = routes[0].start_pad, routes[-1].end_pad
    first, last = (None if pad is None else int(ctx.board.pads.footprint[pad]) for pad in pads)
    return first, last
