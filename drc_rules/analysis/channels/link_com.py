"""The operating margin of a link as a channel of the standard that publishes its reference packages and equaliser.

Information: the link stands between both packages, alone and with the crosstalk of the pairs that run next to it on
this board. Where it ends at a connector it is this board's part of the channel only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drc_rules.analysis.channels.link_crosstalk import Complex, NeighbourCrosstalk, Real, neighbour_crosstalk
from drc_rules.analysis.channels.senders import ENDS, ends_that_send
from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.loss.sparameters.link_network import REFERENCE_OHM, link_network
from drc_rules.facts.context import Context
from stackup_lib.channels.com import Margin, operating_margin
from stackup_lib.channels.crosstalk import Aggressor, symbol_noise_v2
from stackup_lib.channels.package import turned
from stackup_lib.channels.pulse import symbol_grid_ghz
from stackup_lib.channels.reference import ReferenceChannel
from stackup_lib.channels.ways import FAR, NEAR
from stackup_lib.core.record import entity, record
from stackup_lib.transmission_lines.four_port import mixed_modes

REACH = 3.0
"""Times the symbol rate: there the reference receiver passes a hundredth."""


@entity
class Neighbour:
    """A pair that runs next to the link, as an aggressor.

    Attributes:
        crosstalk: what comes over, and where from.
        aggressor: its channel to the receiver.
        is_known: names tell at which end it sends; else the end counts at which more comes over.
        noise_v2: by which the ends were chosen.
    """

    crosstalk: NeighbourCrosstalk
    aggressor: Aggressor
    is_known: bool
    noise_v2: float


@record
class LinkMargin:
    """The margin of one link.

    Attributes:
        reference: what the standard refers it to.
        margin: alone, of the worse length of package.
        is_part: the link ends at a connector.
        crowded: the margin with the crosstalk of its neighbours; None without any.
        neighbours: they, in the order of `crowded.taken_db`.
    """

    reference: ReferenceChannel
    margin: Margin
    is_part: bool
    crowded: Margin | None = None
    neighbours: tuple[Neighbour, ...] = ()


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
    alone = operating_margin(ghz, channel, reference, REFERENCE_OHM)
    incoming = [one for one in neighbour_crosstalk(ctx, link, ghz) if reference_channel(ctx, one.link) == reference]
    if not incoming:
        return LinkMargin(reference=reference, margin=alone, is_part=link.on_socket)
    receives, neighbours = _worse_end(ctx, link, (ghz, channel), incoming, reference)
    seen = channel if receives == FAR else turned(channel)
    aggressors = [one.aggressor for one in neighbours]
    return LinkMargin(
        reference=reference,
        margin=alone,
        is_part=link.on_socket,
        crowded=operating_margin(ghz, seen, reference, REFERENCE_OHM, aggressors),
        neighbours=neighbours,
    )


def _worse_end(
    ctx: Context,
    link: LinkLoss,
    channel: tuple[Real, Complex],
    incoming: Sequence[NeighbourCrosstalk],
    reference: ReferenceChannel,
) -> tuple[int, tuple[Neighbour, ...]]:
    """Return the end of the link at which more crosstalk arrives, and its neighbours as aggressors there."""
    found = {end: tuple(_neighbour(ctx, link, channel, one, end, reference) for one in incoming) for end in (FAR, NEAR)}
    end = max(found, key=lambda one: sum(neighbour.noise_v2 for neighbour in found[one]))
    return end, found[end]


def _neighbour(  # noqa: PLR0917 - both links and where the signal goes
    ctx: Context,
    link: LinkLoss,
    channel: tuple[Real, Complex],
    incoming: NeighbourCrosstalk,
    receives: int,
    reference: ReferenceChannel,
) -> Neighbour:
    """Return a neighbour as an aggressor at one end of a link, sending where its name says, else where it is worse."""
    ghz, own = channel
    ends = ends_that_send(ctx, link, incoming.link, receives)
    rows = []
    for sends in ends:
        is_near = (sends != receives) != incoming.same_way
        rows.append((symbol_noise_v2(ghz, incoming.s[:, receives, sends], reference, is_near=is_near), sends, is_near))
    noise, sends, is_near = max(rows)
    s = np.empty_like(own)
    s[:, 0, 0], s[:, 1, 1] = incoming.own_s[:, sends, sends], own[:, receives, receives]
    s[:, 0, 1] = s[:, 1, 0] = incoming.s[:, receives, sends]
    return Neighbour(
        crosstalk=incoming,
        aggressor=Aggressor(channel=s, is_near=is_near),
        is_known=len(ends) < len(ENDS),
        noise_v2=noise,
    )
