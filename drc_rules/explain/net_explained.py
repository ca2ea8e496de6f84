"""One net in full: what was read from its classes and its name, its pair, its links, and how it is routed."""

import re
from collections.abc import Iterator

from drc_rules.analysis.nets.board_links import title_of
from drc_rules.analysis.via.configured_vias import via_of_net
from drc_rules.facts.context import Context
from drc_rules.facts.net_pins import PinEvidence, pin_evidence
from drc_rules.requirements.interfaces import families, family
from drc_rules.requirements.interfaces.bus_nets import family_by_bus
from drc_rules.requirements.interfaces.names import (
    ASIDE,
    complements,
    family_by_class,
    family_by_name,
    is_generated,
    is_sideband,
    is_told_by_sheet,
    is_unconnected,
    normalise,
)
from drc_rules.settings.config import Config
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad.read.patterns import matcher
from stackup_lib.nets.design_widths import Statement
from stackup_lib.nets.links import Link, LinkPad, Links
from stackup_lib.nets.routing.routes import Route


class Reading(Frozen):
    """One thing that was looked at: what it is, what it says, and whether it counted."""

    looked_at: str
    says: str
    counted: bool


class NetClassOf(Frozen):
    """A class of the net, and what puts it there."""

    name: str
    by: str


class ExplainedVia(Frozen):
    """What KiCad has for one size of the net's through vias, and its source; None and "" where not specified.

    Attributes:
        what: `diameter`, `hole` or `ring`.
        asked_mm: preferred size, of which `asked_by` names rule, file and line, or net class.
        least_mm, greatest_mm: what KiCad's own check lets pass.
        doubts: rules, with file and line, that may say otherwise.
    """

    what: str
    asked_mm: float | None
    asked_by: str
    least_mm: float | None
    least_by: str
    greatest_mm: float | None
    greatest_by: str
    doubts: tuple[str, ...]


class RoutedNet(Frozen):
    """How one net of a link is routed.

    Attributes:
        start, end: pads at the ends of the path, "" when no tracks join them.
        path_mm: from pad centre to pad centre; `routed_mm` is all copper of the net.
        by_layer_mm: layer -> length of the path on it.
        vias: `F.Cu to In2.Cu at 3.1 mm`, in order.
        branches: what branches off the path, as text.
        apart_mm: tracks that no track joins to the path.
    """

    net: str
    start: str
    end: str
    path_mm: float
    routed_mm: float
    by_layer_mm: dict[str, float]
    vias: tuple[str, ...]
    branches: tuple[str, ...]
    apart_mm: float


class ExplainedLink(Frozen):
    """One link of the net; `chain` is nets and parts in turn, e.g. `/TX_P`, `C1 220n`, `/TXC_P`."""

    chain: tuple[str, ...]
    ends: tuple[str, ...]
    taps: tuple[str, ...]
    partner: tuple[str, ...]
    path_mm: float
    nets: tuple[RoutedNet, ...]
    notes: tuple[str, ...]


class ExplainedNet(Frozen):
    """Everything about one net.

    Attributes:
        taken_for: the interface or family, "rail", "ground", "unconnected pin", or "" for nothing.
        origin, confidence, why: of that.
        partner: the other net of its pair, "" for none; `paired_by` says by whose rule.
        via: diameter, hole and ring of its through vias, as classes, custom rules and Board Setup say them.
        pads: `U1.A7` and so on.
        refused: two-pad parts that no link goes through, and why; none for a rail.
    """

    net: str
    read_as: str
    classes: tuple[NetClassOf, ...]
    taken_for: str
    interface: str
    origin: Origin
    confidence: Confidence
    why: str
    readings: tuple[Reading, ...]
    partner: str
    paired_by: str
    via: tuple[ExplainedVia, ...]
    pads: tuple[str, ...]
    links: tuple[ExplainedLink, ...]
    refused: tuple[str, ...]


def explain_net(ctx: Context, links: Links, config: Config, net: int) -> ExplainedNet:
    """Return everything about a net of the board."""
    board, role = ctx.board, ctx.assignment.role_of(net)
    name = board.nets[net]
    taken, why = _taken(ctx, links, net)
    partner, pair = links.pairs.complement_of(net), links.pairs.pair_of(net)
    by_kicad = pair is not None and bool(links.pairs.by_kicad[pair])
    return ExplainedNet(
        net=name,
        read_as=normalise(name),
        classes=tuple(_classes(board, name)),
        taken_for=taken,
        interface=role.interface or "" if role else "",
        origin=role.origin if role else Origin.INFERRED,
        confidence=Confidence.MEDIUM if taken == "ground" else ctx.assignment.confidence_of(net),
        why=why,
        readings=(*_readings(ctx, config, net), *_pin_readings(ctx, links, net)),
        partner="" if partner is None else board.nets[partner],
        paired_by="" if pair is None else "KiCad's naming rule" if by_kicad else "spelling; KiCad does not pair them",
        via=tuple(_via(ctx, net)),
        pads=tuple(pad.name for pad in links.pads_of(net)),
        links=tuple(_explained_link(links, link) for link in links.of(net)),
        refused=tuple(_refusals(links, net)),
    )


def _taken(ctx: Context, links: Links, net: int) -> tuple[str, str]:
    role, rails = ctx.assignment.role_of(net), links.rails
    if role is not None and not (role.family in ASIDE and rails.is_rail(net)):
        return title_of(role), f"{role.group}: {role.why}"
    if is_unconnected(ctx.board.nets[net]):
        return "unconnected pin", "KiCad names the nets of unused pins so"
    if rails.is_rail(net):
        return "ground" if rails.is_ground(net) else "rail", ", ".join(rails.why(net))
    return "", "nothing says what it is"


def _classes(board: Board, name: str) -> Iterator[NetClassOf]:
    project = board.project
    for net_class in project.net_classes_of.get(name, ()):
        of_class = [text for text, of in project.patterns if of == net_class]
        patterns = [text for text in of_class if matcher(text, longest=len(name))[0](name)]
        if net_class in project.assignments.get(name, ()):
            by = "assigned by name"
        else:
            by = f"pattern {patterns[0]}" if patterns else "a pattern of the project"
        yield NetClassOf(name=net_class, by=by)


def _via(ctx: Context, net: int) -> Iterator[ExplainedVia]:
    via = via_of_net(ctx, net)
    for what, asked in (("diameter", via.diameter), ("hole", via.hole), ("ring", None)):
        least, largest = via.limits[what].least, via.limits[what].largest
        yield ExplainedVia(
            what=what,
            asked_mm=asked.value_mm if asked else None,
            asked_by=_by(asked),
            least_mm=least.value_mm if least else None,
            least_by=_by(least),
            greatest_mm=largest.value_mm if largest else None,
            greatest_by=_by(largest),
            doubts=via.doubts,
        )


def _by(said: Statement | None) -> str:
    """Who says it: a rule with file and line, a net class, Board Setup."""
    if said is None:
        return ""
    return said.source if said.source.endswith(said.name) else f'rule "{said.name}", {said.source}'


def _readings(ctx: Context, config: Config, net: int) -> Iterator[Reading]:
    """Yield what decided and what did not, in the order in which it is tried."""
    board, role = ctx.board, ctx.assignment.role_of(net)
    name = board.nets[net]
    declared = role is not None and role.origin is Origin.DECLARED
    for number, row in enumerate(config.interface, start=1):
        if net in chosen_nets(board, row.net_classes, row.nets):
            counted = declared and role is not None and row.is_ in (role.interface, role.family)
            yield Reading(looked_at=f"[[interface]] {number}", says=f'chooses it: is = "{row.is_}"', counted=counted)
        else:
            yield Reading(looked_at=f"[[interface]] {number}", says=f'does not choose it ("{row.is_}")', counted=False)
    for net_class in board.project.net_classes_of.get(name, ()):
        read = family_by_class(net_class)
        says = f"reads as {family(read).title}" if read else "names no interface"
        counted = read is not None and not declared and role is not None and f"net class {net_class}" == role.group
        yield Reading(looked_at=f"net class {net_class}", says=says, counted=counted)
    taken = role.family if role and not declared else ""
    yield from _name_readings(ctx, name, taken=taken)
    of_bus = family_by_bus(board).get(net)
    if of_bus is not None:
        says = f"joins the same parts as the differential strobes of a {family(of_bus).title} bus"
        yield Reading(looked_at="bus", says=says, counted=of_bus == taken)


def _name_readings(ctx: Context, name: str, *, taken: str) -> Iterator[Reading]:
    """Yield what the name says: family, near misses, sideband, the other half of the pair."""
    if is_generated(name):
        yield Reading(looked_at="name", says="made up by KiCad from a pin: it is not read", counted=False)
        return
    text, read = normalise(name), family_by_name(name)
    told = "with its sheet reads" if is_told_by_sheet(name) else "reads"
    says = f"{text} {told} as {family(read).title}" if read else f"{text} reads as no interface"
    yield Reading(looked_at="name", says=says, counted=read is not None and read == taken)
    for one in families():
        if one.id == read:
            continue
        if one.claims(text):
            yield Reading(looked_at="name", says=f"would also read as {one.title}", counted=False)
        elif any(re.search(p.head, text) for p in one.pattern):
            barred = one.id not in ASIDE and is_sideband(name, one)
            reason = (
                "a control, clock or power word in it speaks against that" if barred else "but does not end like it"
            )
            yield Reading(looked_at="name", says=f"begins like {one.title}, {reason}", counted=False)
    of = family(read) if read else None
    if of is not None and not of.single_ended and of.id not in ASIDE and complements(text):
        there = {normalise(other) for other in ctx.board.nets}
        found = next((complement_net for complement_net in complements(text) if complement_net in there), None)
        says = f"the other half of the pair, {found}, is there" if found else "the other half of the pair is missing"
        yield Reading(looked_at="pair", says=says, counted=found is not None)


def _pin_readings(ctx: Context, links: Links, net: int) -> Iterator[Reading]:
    """Yield what each pin on the net and on its series parts reads as, and how much weighs for which interface."""
    role = ctx.assignment.role_of(net)
    named = {n: one.family for n, one in enumerate(ctx.assignment.roles) if one and not one.by_pins}
    pins = pin_evidence(ctx.board, links, named)
    for said in pins.on_link(net):
        fits = role is not None and role.family in (said.family, *said.also)
        also = "".join(f" or {family(one).title}" for one in said.also)
        says = f"{said.pin} reads as {family(said.family).title}{also}"
        general = family(said.family).general
        if role is not None and said.known and not (fits or general) and role.family not in ASIDE:
            says += ", which speaks against the above"
        yield Reading(
            looked_at=f"{said.pad}, {said.part.partition('(')[2].rstrip(')')}",
            says=says,
            counted=fits and role is not None and role.by_pins,
        )
    yield from _weighed(pins, net, by_pins=role is not None and role.by_pins)


def _weighed(pins: PinEvidence, net: int, *, by_pins: bool) -> Iterator[Reading]:
    """Yield the sum where more than one interface is possible and class and name have not decided."""
    votes = sorted(pins.votes(net).items(), key=lambda vote: (-vote[1], vote[0]))
    if net not in pins.named and len(votes) > 1:
        sums = ", ".join(f"{family(one).title} {weight:g}" for one, weight in votes)
        tie = "" if pins.winner(net) else "; no one outweighs the others, so none is taken"
        yield Reading(looked_at="weight of pins", says=f"{sums}{tie}", counted=by_pins)


def _refusals(links: Links, net: int) -> Iterator[str]:
    for part in () if links.rails.is_rail(net) else links.refused(net):
        value = f" ({part.value})" if part.value else ""
        far = "" if part.why.startswith("to ") else f" to {links.board.nets[part.net]}"
        yield f"{part.reference}{value}{far}: {part.why}"


def _explained_link(links: Links, link: Link) -> ExplainedLink:
    nets, routes = links.board.nets, links.routes(link)
    partner = links.complement_of(link)
    chain = [nets[link.nets[0]]]
    for net, between in zip(link.nets[1:], link.parts, strict=True):
        chain += [" + ".join(f"{part.reference} {part.value}".strip() for part in between), nets[net]]
    return ExplainedLink(
        chain=tuple(chain),
        ends=tuple(pad.name for pad in link.ends),
        taps=tuple(pad.name for pad in link.taps),
        partner=() if partner is None else tuple(nets[net] for net in partner.nets),
        path_mm=round(sum(route.path_length_mm for route in routes), 3),
        nets=tuple(_routed(links, route) for route in routes),
        notes=link.notes,
    )


def _routed(links: Links, route: Route) -> RoutedNet:
    layers = [layer.name for layer in links.board.copper_layers]
    pads: dict[int, LinkPad] = {pad.row: pad for pad in links.pads_of(route.net)}
    return RoutedNet(
        net=links.board.nets[route.net],
        start="" if route.start_pad is None else pads[route.start_pad].name,
        end="" if route.end_pad is None else pads[route.end_pad].name,
        path_mm=round(route.path_length_mm, 3),
        routed_mm=round(route.total_length_mm, 3),
        by_layer_mm={layers[k]: round(mm, 3) for k, mm in route.length_mm_by_layer.items()},
        vias=tuple(
            f"{layers[c.entry_layer]} to {layers[c.exit_layer]} at {c.at_mm:.1f} mm"
            if c.entry_layer != c.exit_layer
            else f"one hanging on {layers[c.entry_layer]} at {c.at_mm:.1f} mm"
            for c in route.crossings
        ),
        branches=tuple(
            f"{b.kind.value} {', '.join(pads[row].name for row in b.pads if row in pads)}".strip()
            + f": {b.reach_mm:.2f} mm long, off the path at {b.at_mm:.1f} mm"
            for b in route.branches
        ),
        apart_mm=round(route.apart_mm, 3),
    )
