"""Between which parts the nets of a memory or of a parallel link run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from drc_rules.analysis.nets.board_links import board_links
from drc_rules.facts.context import Context
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.links import Link

_PASSIVE = (
    ReferenceKind.RESISTOR,
    ReferenceKind.RESISTOR_ARRAY,
    ReferenceKind.INDUCTOR,
    ReferenceKind.FERRITE,
    ReferenceKind.CAPACITOR,
    ReferenceKind.CAPACITOR_ARRAY,
)
"""Parts that neither send nor receive: a link ends on them where we cannot follow it."""


def link_of(ctx: Context, net: int) -> Link | None:
    """Return the link of a net: where it is on several, the one of the net alone, which joins two parts."""
    found = ctx.get(board_links).of(net)
    return next((one for one in found if len(one.nets) == 1), found[0] if found else None)


def links_of(ctx: Context, nets: Iterable[int]) -> tuple[Link, ...]:
    """Return the links of some nets, as `link_of`, in their order."""
    return tuple(link for net in nets if (link := link_of(ctx, net)) is not None)


def leads_on(ctx: Context, net: int) -> bool:
    """Tell whether a net is routed, or should be: one that only one part has is left open by design."""
    link = link_of(ctx, net)
    if link is None:
        return len({*ctx.board.pads.footprint[ctx.board.pads.net == net].tolist()}) > 1
    return bool(link.length_mm) or len({ctx.board.pads.footprint[pad.row] for pad in link.ends}) > 1


def chips_on(ctx: Context, net: int, name: str) -> set[int]:
    """Return the parts at the ends of a net that send or receive, as indices into `Board.footprints`.

    Raises:
        MissingFact: the net cannot be followed to its end; `name` is what is to be compared.
    """
    if (link := link_of(ctx, net)) is None:
        raise MissingFact(f"the route of {ctx.board.nets[net]}", "it counts as a supply rail: rename the net")
    chips = {pad.reference: pad.row for pad in link.ends if reference_kind(pad.reference) not in _PASSIVE}
    passive = next((pad.reference for pad in link.ends if reference_kind(pad.reference) in _PASSIVE), "")
    if len(chips) < 2 and passive:
        raise MissingFact(
            f"the whole route of {ctx.board.nets[net]}, which continues behind {passive}",
            f"give {passive} a value in ohm, or compare {name} behind it by hand",
        )
    return {int(ctx.board.pads.footprint[row]) for row in chips.values()}


def ends_of(ctx: Context, of: str, name: str, nets: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the pairs of parts between which a group is compared; an empty one where each net has just two.

    Raises:
        MissingFact: a net cannot be followed to its end, or which part is the controller is not known.
    """
    chips = [chips_on(ctx, net, name) for net in nets]
    links = [link for net in nets if (link := link_of(ctx, net)) is not None]
    if all(len({pad.reference for pad in link.ends}) <= 2 for link in links):
        return [()]
    shared = sorted(set[int].intersection(*chips))
    if len(shared) < 2:
        raise MissingFact(f"which parts {name} runs between: its nets end on different ones", "compare it by hand")
    if len(shared) == 2:
        return [tuple(shared)]
    controller = controller_of(ctx, of, name, shared)
    return [(controller, other) for other in shared if other != controller]


def controller_of(ctx: Context, of: str, name: str, parts: Collection[int]) -> int:
    """Return the part that has the most nets of the interface, of equals the one with the most pads.

    Raises:
        MissingFact: several have as many.
    """
    pads = ctx.board.pads
    mine = np.isin(pads.net, [net for net, role in enumerate(ctx.assignment.roles) if role and role.family == of])
    count = {
        part: (len({*pads.net[mine & (pads.footprint == part)].tolist()}), int((pads.footprint == part).sum()))
        for part in parts
    }
    best = [part for part in parts if count[part] == max(count.values())]
    if len(best) == 1:
        return best[0]
    names = ", ".join(sorted(str(ctx.board.footprints.reference[part]) for part in parts))
    how = "none has more nets of the bus, or more pads, than the others: compare the ways from the controller by hand"
    raise MissingFact(f"which of {names} is the controller of {name}", how)
