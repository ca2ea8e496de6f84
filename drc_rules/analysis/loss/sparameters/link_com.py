"""The operating margin of a link as a channel of the standard that publishes its reference packages and equaliser.

Information: the link stands alone between both packages, without the crosstalk that a channel is judged with. Where it
ends at a connector it is this board's part of the channel only.
"""

from __future__ import annotations

from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.loss.sparameters.link_network import REFERENCE_OHM, link_network
from drc_rules.facts.context import Context
from stackup_lib.channels.com import Margin, operating_margin
from stackup_lib.channels.pulse import symbol_grid_ghz
from stackup_lib.channels.reference import ReferenceChannel
from stackup_lib.core.record import record
from stackup_lib.transmission_lines.four_port import mixed_modes

REACH = 3.0
"""Times the symbol rate: there the reference receiver passes a hundredth."""


@record
class LinkMargin:
    """The margin of one link.

    Attributes:
        reference: what the standard refers it to.
        margin: of the worse length of package.
        is_part: the link ends at a connector.
    """

    reference: ReferenceChannel
    margin: Margin
    is_part: bool


def reference_channel(ctx: Context, link: LinkLoss) -> ReferenceChannel | None:
    """Return what a link is referred to; None where nothing is published for its interface and kind of channel."""
    reference = link.interface.reference_channel
    declared = ctx.get(declarations_by_net).get(link.nets[0])
    role = (declared.role if declared else None) or ""
    return reference if reference and role in reference.roles and len(link.traces) > 1 else None


def link_margin(
    ctx: Context, link: LinkLoss, reference: ReferenceChannel, max_ghz: float | None = None
) -> LinkMargin | None:
    """Return the margin of a pair whose loss is known; None where its S-parameters end below the symbol rate.

    Args:
        ctx: the board.
        link: the pair.
        reference: of `reference_channel`.
        max_ghz: last frequency of its S-parameters; None for three times the symbol rate.

    Raises:
        MissingFact: a Dk, Df, drill or layer is not known.
        StackwrightError: a line cannot be solved, or the file of a part cannot be used.
    """
    last = min(max_ghz or REACH * reference.symbol_gbd, REACH * reference.symbol_gbd)
    if last < reference.symbol_gbd:
        return None
    ghz = symbol_grid_ghz(reference.symbol_gbd, last, reference.step_ghz)
    channel = mixed_modes(link_network(ctx, link, ghz).s)[:, :2, :2]
    found = operating_margin(ghz, channel, reference, REFERENCE_OHM)
    return LinkMargin(reference=reference, margin=found, is_part=link.on_socket)
