"""Which side of a PCI Express slot a link is on: a share of the skew is the card's, another the system board's."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.analysis.loss.loss_shares import CARD_EDGE, form_of
from drc_rules.facts.context import Context
from drc_rules.requirements.parts import known_part
from stackup_lib.board.board import PadKind
from stackup_lib.nets.links import Link


def are_at_card_edge(ctx: Context, links: Iterable[Link]) -> bool:
    """Tell whether each link of an add-in card ends on the contacts of its edge."""
    form, kinds = form_of(ctx), ctx.board.pads.kind
    if form is None or form.connector != CARD_EDGE:
        return False
    return all(any(kinds[pad.row] == PadKind.CONNECTOR for pad in link.ends) for link in links)


def are_at_slot(ctx: Context, links: Iterable[Link]) -> bool:
    """Tell whether each link ends at a slot for cards."""
    return all(any(_is_slot(ctx, pad.row) for pad in link.ends) for link in links)


def _is_slot(ctx: Context, pad: int) -> bool:
    """Tell whether a pad is of a slot: footprints and values of card edges are named alike, but have edge contacts."""
    board = ctx.board
    part = int(board.pads.footprint[pad])
    known = known_part(str(board.footprints.library_id[part]), str(board.footprints.value[part]))
    return known is not None and known.for_cards and board.pads.kind[pad] != PadKind.CONNECTOR
