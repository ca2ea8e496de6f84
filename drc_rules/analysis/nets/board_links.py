"""The links of a board, nets followed through series parts, from end to end, and the group that counts each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.requirements.interfaces import family, interface
from drc_rules.requirements.interfaces.names import ASIDE
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.chokes import unread_filters
from stackup_lib.nets.links import Link, Links, PadRole, Refused, find_links
from stackup_lib.nets.power_nets import begins_with_voltage
from stackup_lib.nets.routing.routes import Route
from stackup_lib.nets.two_pin_parts import NO_VALUE, NOT_FITTED, NOT_ZERO_OHM, PartKind


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
        MissingFact: one of them does not lead from end to end, or the link ends at a filter of unknown pins.
    """
    links = ctx.get(board_links)
    _need_known_ends(ctx, link)
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
    if len({int(ctx.board.pads.footprint[pad.row]) for pad in link.ends}) < 2:
        for net, part in _in_its_way(ctx, link):
            name = f"the other end of {ctx.board.nets[net]}: {part.reference} leads to {ctx.board.nets[part.net]}"
            how = f"in KiCad, give {part.reference} a value or fit it; or declare nothing for a link that is left open"
            raise MissingFact(f"{name} ({part.why})", how)


def _in_its_way(ctx: Context, link: Link) -> Iterator[tuple[int, Refused]]:
    """Yield the nets of a link and the parts that would lead on to a signal, were they fitted or of a known value."""
    links = ctx.get(board_links)
    for net in link.nets:
        yield from ((net, part) for part in links.refused(net) if part.why in (NOT_FITTED, NO_VALUE, *NOT_ZERO_OHM))


def _unread_filters(ctx: Context) -> frozenset[int]:
    links = ctx.get(board_links)
    return unread_filters(ctx.board, ctx.pairs, links.rails.grounds)


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
