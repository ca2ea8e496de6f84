"""What a fab usually asks about the stackup that a board states, before the order: its designer can answer it now."""

from __future__ import annotations

from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.builds import build_rules
from drc_rules.stackup_design.cam_item import CamItem, merged
from drc_rules.stackup_design.cam_press import press_items
from drc_rules.stackup_design.stackup_candidate import candidate_of
from stackup_lib.core.facts import MissingFact


def stackup_questions(ctx: Context) -> tuple[CamItem, ...]:
    """Return what lies outside what fabs press without a question; no item where only our own data ends.

    Raises:
        MissingFact: no stackup is stated, a row lacks thickness or laminate, or inner copper is not drawn and filled.
    """
    candidate, shares = candidate_of(ctx), [use.copper_share for use in ctx.filled_uses()]
    ctx.need_filled_planes(range(len(shares)))
    if len(shares) > 2 and not any(shares[1:-1]):
        raise MissingFact("the copper of the inner layers", "route the board and fill its zones")
    items = press_items(candidate, build_rules(), shares)
    return merged(item for item in items if item.asks and item.source)
