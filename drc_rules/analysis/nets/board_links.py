"""The links of a board, nets followed through series parts, from end to end, and the group that counts each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.requirements.interfaces import family, interface
from drc_rules.requirements.interfaces.names import ASIDE
from stackup_lib.board.board import Board
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.chokes import unread_filters, without_supply
from stackup_lib.nets.links import Link, Links, PadRole, Refused, find_links
from stackup_lib.nets.power_nets import begins_with_voltage
from stackup_lib.nets.routing.routes import Route
from stackup_lib.nets.two_pin_parts import NO_SERIES_PART, NOT_FITTED, PartKind, is_bridge


def board_links(ctx: Context) -> Links:
    """Return the links of the board; get them with `Context.get`."""
    of = ctx.assignment
    signals = {
        net
        for net, name in enumerate(ctx.board.nets)
        if begins_with_voltage(name)
        and (of.is_declared(net) or ((role := of.role_of(net)) is not None and role.family not in ASIDE))
    }
    return find_links(ctx.board, ctx.pairs, signals=signals)


def complete_routes(ctx: Context, link: Link, between: Sequence[int] = ()) -> tuple[Route, ...]:
    """Return the routes of a link, net by net; between two of its parts where these are given, see `Links.routes`.

    Raises:
        MissingFact: one of them does not lead from end to end, the link ends at a filter of unknown pins, or a part of
            unknown kind is in series.
    """
    links = ctx.get(board_links)
    _need_known_ends(ctx, link)
    _need_known_parts(ctx, link)
    routes = links.routes(link, between)
    for route in routes:
        if not _is_through(links, route):
            raise MissingFact(f"the whole route of {ctx.board.nets[route.net]}", _how_to_route(links, route))
    return routes


def chokes_on(link: Link) -> tuple[str, ...]:
    """Return the references of the common-mode chokes that a link runs through."""
    found = (part.reference for between in link.parts for part in between if part.kind is PartKind.CHOKE)
    return tuple(dict.fromkeys(found))


def _need_known_ends(ctx: Context, link: Link) -> None:
    unread = ctx.get(_unread_filters)
    for pad in link.ends if unread else ():
        if int(ctx.board.pads.footprint[pad.row]) in unread:
            name = f"where {ctx.board.nets[pad.net]} goes on behind {pad.reference}, which is no end of a link"
            how = f"name the nets at {pad.reference} as pairs, those of its line P and N alike on both sides"
            raise MissingFact(name, how)
    in_way = list(_in_its_way(ctx, link))
    through = {part.reference for _, part in in_way if part.why == NO_SERIES_PART}
    if len({int(ctx.board.pads.footprint[pad.row]) for pad in link.ends if pad.reference not in through}) < 2:
        for net, part in in_way:
            name = f"the other end of {ctx.board.nets[net]}: {part.reference} leads to {ctx.board.nets[part.net]}"
            how = f"in KiCad, give {part.reference} a value or fit it; or declare nothing for a link that is left open"
            raise MissingFact(f"{name} ({part.why})", AS_WHAT_IT_IS if part.why == NO_SERIES_PART else how)


AS_WHAT_IT_IS = (
    "in KiCad, give it the reference of what it is (C, R, L, FB) with a value; draw a closed jumper as a net tie"
)


def _need_known_parts(ctx: Context, link: Link) -> None:
    for net, between in zip(link.nets, link.parts, strict=False):
        for part in between:
            if part.kind is PartKind.OTHER and not is_bridge(ctx.board, *part.pads):
                name = f"what {part.reference} passes on of {ctx.board.nets[net]}"
                raise MissingFact(f"{name}: it is in series, and {NO_SERIES_PART}", AS_WHAT_IT_IS)


def _in_its_way(ctx: Context, link: Link) -> Iterator[tuple[int, Refused]]:
    """Yield the nets of a link and the parts that may lead on to a signal, or would if they were fitted."""
    links = ctx.get(board_links)
    for net in link.nets:
        yield from ((net, part) for part in links.refused(net) if part.may_lead_on or part.why == NOT_FITTED)


def _unread_filters(ctx: Context) -> frozenset[int]:
    links = ctx.get(board_links)
    unread = unread_filters(ctx.board, ctx.pairs, links.rails.grounds)
    return unread.union(_filters_called_chips(ctx.board, links))


def _filters_called_chips(board: Board, links: Links) -> Iterator[int]:
    """Yield the chips without a supply on two pairs, one from another chip, the other on to something else.

    Only a choke is between them so, whatever its reference says.
    """
    kinds = [reference_kind(reference) for reference in board.footprints.reference.tolist()]
    for part, nets in without_supply(board, links.pairs, links.rails.signs).items():
        beyond: dict[int | None, set[int]] = {}
        for net in nets:
            ends = {int(board.pads.footprint[pad.row]) for link in links.of(net) for pad in link.ends}
            beyond.setdefault(links.pairs.pair_of(net), set()).update(ends - {part})
        one, other = beyond.values()
        if one and other and not one & other and any(kinds[end] is ReferenceKind.CHIP for end in one | other):
            yield part


def _how_to_route(links: Links, route: Route) -> str:
    """Return what makes a route whole; its tracks may reach a pad where we do not know its copper."""
    board, pads = links.board, links.board.pads
    for row in route.unreached_pads:
        if pads.shape[row] == "custom":
            pad = f"{board.footprints.reference[pads.footprint[row]]}.{pads.number[row]}"
            return f"route it to the middle of {pad}, of whose free shape only that is known, then check again"
    return "route it from pad to pad, then check again"


def _is_through(links: Links, route: Route) -> bool:
    """Tell whether the tracks of a net join its ends and series parts."""
    return route.start_pad is not None and not any(
        links.pad_role[row] <= PadRole.SERIES for row in route.unreached_pads
    )


def is_partly_routed(links: Links, link: Link) -> bool:
    """Tell whether a link has tracks that do not lead from end to end, and no zone that could."""
    if not link.length_mm or any(net in link.nets for net in links.board.zones.net.tolist()):
        return False
    return not all(_is_through(links, route) for route in links.routes(link))


def counted_in(links: Links, by_role: dict[NetRole, list[int]]) -> dict[int, NetRole]:
    """Return for each link the one group that counts it: that of most of its nets, of equals that of its first net."""
    shares: dict[int, dict[NetRole, list[int]]] = {}
    for role, nets in by_role.items():
        for link in links.of_nets(nets):
            shares.setdefault(link.index, {})[role] = [link.nets.index(net) for net in nets if net in link.nets]
    return {row: min(of_role, key=lambda role: (-len(of_role[role]), of_role[role])) for row, of_role in shares.items()}


def is_declared_as(ctx: Context, family_id: str, *traces: Link) -> bool:
    """Tell whether the user has declared a net of a link to be of a family: that group counts it, no inferred one."""
    nets = (net for trace in traces for net in trace.nets if ctx.assignment.is_declared(net))
    return any((role := ctx.assignment.role_of(net)) is not None and role.family == family_id for net in nets)


def title_of(role: NetRole) -> str:
    """Return the name of what a net was assigned to: the generation where it is known, else the family."""
    return interface(role.interface).title if role.interface else family(role.family).title
