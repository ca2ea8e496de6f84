"""Net assignment of a board: groups by interface with their links, rails, and the rest counted."""

import difflib
from collections.abc import Iterable

from drc_rules.analysis.nets.board_links import counted_in, is_partly_routed, title_of
from drc_rules.analysis.nets.coupled_nets import coupled_nets
from drc_rules.analysis.targets.unknown_pairs import carries_power
from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.requirements.interfaces import family
from drc_rules.requirements.interfaces.names import ASIDE, is_unconnected, normalise
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.kicad_text import as_kicad_shows
from stackup_lib.nets.links import Link, Links

MOST_NAMED = 6
"""Net names that a message lists before it counts the rest."""


class NetGroup(Frozen):
    """Nets with the same assignment for the same reason.

    Attributes:
        family: id of the interface family; `title` is its name, or that of the generation.
        interface: id of the generation, "" when nothing says which.
        by: what the nets have in common: net class, wildcard, or one of their names.
        why: what was read, as text.
        nets, pairs: how many.
        links: how many are counted here: those of which most nets are in this group.
        links_elsewhere: those that it has a net on, and that another group counts.
        unrouted: links counted here without any track.
        partly: links counted here whose tracks do not lead from end to end.
        routed_mm: shortest and longest link, all its copper counted; of those routed from end to end, where there are
            any; None when nothing is routed.
        layers: copper layers with routed length, longest first.
        vias: fewest and most on one of these links.
        doubts: what the links' notes say, each once.
        names: the nets.
    """

    family: str
    title: str
    interface: str
    fast: bool
    origin: Origin
    confidence: Confidence
    by: str
    why: str
    nets: int
    pairs: int
    links: int
    links_elsewhere: int
    unrouted: int
    partly: int
    routed_mm: tuple[float, float] | None
    layers: tuple[str, ...]
    vias: tuple[int, int]
    doubts: tuple[str, ...]
    names: tuple[str, ...]


class NetRail(Frozen):
    """A net that counts as a rail; always inferred, hence with low confidence except for ground."""

    net: str
    is_ground: bool
    confidence: Confidence
    pads: int
    fill_mm2: float
    why: tuple[str, ...]


class OtherPair(Frozen):
    """A differential pair that was not assigned; `length_mm` is all that is routed on its longer net."""

    positive: str
    negative: str
    length_mm: float


class NetsView(Frozen):
    """All nets of a board.

    Attributes:
        groups: high-speed families first, larger groups first.
        rails: ground first, then by filled copper.
        sidebands: control and clock nets among fast ones, by their names.
        others: nets that nothing says anything about.
        other_pairs: a net of each differential pair among them.
        pairs_not_understood: the same pairs with their lengths, longest first.
        coupled: nets that run like a pair, though neither names nor pins make them one; the first is no positive trace.
        unconnected: nets of unused pins.
        notes: what is odd about declarations.
    """

    groups: tuple[NetGroup, ...]
    rails: tuple[NetRail, ...]
    sidebands: int
    others: int
    other_pairs: tuple[str, ...]
    pairs_not_understood: tuple[OtherPair, ...]
    coupled: tuple[OtherPair, ...]
    unconnected: int
    notes: tuple[str, ...]


def nets_view(ctx: Context, links: Links) -> NetsView:
    """Return what every net of a board was assigned to, by which class, pattern or name, and how sure that is."""
    board, roles = ctx.board, ctx.assignment.roles
    by_role: dict[NetRole, list[int]] = {}
    sidebands = unconnected = others = 0
    for net, role in enumerate(roles):
        if role is not None and role.family not in ASIDE:
            by_role.setdefault(role, []).append(net)
        elif is_unconnected(board.nets[net]):
            unconnected += 1
        elif board.nets[net] and not links.rails.is_rail(net):
            sidebands += role is not None
            others += role is None
    counts = counted_in(links, by_role)
    left = _other_pairs(ctx, links)
    groups = [_group(board, links, role, nets, counts) for role, nets in by_role.items()]
    return NetsView(
        groups=tuple(sorted(groups, key=lambda g: (not g.fast, -g.nets, g.family, g.by, g.why))),
        rails=_rails(ctx, links),
        sidebands=sidebands,
        others=others,
        other_pairs=tuple(sorted(pair.positive for pair in left)),
        pairs_not_understood=left,
        coupled=_coupled(ctx),
        unconnected=unconnected,
        notes=ctx.assignment.notes,
    )


def _other_pairs(ctx: Context, links: Links) -> tuple[OtherPair, ...]:
    """Return each pair that was not assigned, the longest first; what feeds current is no pair of unknown interface."""
    roles, nets, mm = ctx.assignment.roles, ctx.board.nets, links.net_length_mm.sum(axis=1)
    power = ctx.get(carries_power)
    pairs = zip(links.pairs.positive.tolist(), links.pairs.negative.tolist(), strict=True)
    left = [pair for pair in pairs if not any(roles[n] or power[n] or links.rails.is_rail(n) for n in pair)]
    rows = [
        OtherPair(positive=nets[one], negative=nets[other], length_mm=round(float(max(mm[one], mm[other])), 3))
        for one, other in left
    ]
    return tuple(sorted(rows, key=lambda row: (-row.length_mm, row.positive)))


def _coupled(ctx: Context) -> tuple[OtherPair, ...]:
    nets, found = ctx.board.nets, ctx.get(coupled_nets)
    return tuple(
        OtherPair(positive=nets[one.first], negative=nets[one.second], length_mm=round(one.length_mm, 3))
        for one in found
    )


def _group(board: Board, links: Links, role: NetRole, nets: list[int], counted_in: dict[int, NetRole]) -> NetGroup:
    found = links.of_nets(nets)
    own = [link for link in found if counted_in[link.index] == role]
    pairs = {pair for net in nets if (pair := links.pairs.pair_of(net)) is not None}
    drawn = [link for link in found if link.length_mm > 0]
    links.prepare(drawn)
    partly = {link.index for link in drawn if is_partly_routed(links, link)}
    drawn = [link for link in drawn if link.index not in partly] or drawn
    routed, vias = [link.length_mm for link in drawn], [link.via_count for link in drawn]
    return NetGroup(
        family=role.family,
        title=title_of(role),
        interface=role.interface or "",
        fast=family(role.family).fast,
        origin=role.origin,
        confidence=role.confidence,
        by=role.group,
        why=role.why,
        nets=len(nets),
        pairs=len(pairs),
        links=len(own),
        links_elsewhere=len(found) - len(own),
        unrouted=sum(not link.length_mm for link in own),
        partly=sum(link.index in partly for link in own),
        routed_mm=(min(routed), max(routed)) if routed else None,
        layers=layers_of(board, found),
        vias=(min(vias, default=0), max(vias, default=0)),
        doubts=tuple(dict.fromkeys(note for link in found for note in link.notes)),
        names=tuple(sorted(board.nets[net] for net in nets)),
    )


def layers_of(board: Board, links: Iterable[Link]) -> tuple[str, ...]:
    """Return the copper layers on which links are routed, the one with most length first."""
    sums: dict[int, float] = {}
    for link in links:
        for layer, length in link.length_mm_by_layer.items():
            sums[layer] = sums.get(layer, 0.0) + length
    order = sorted(sums, key=lambda layer: (-round(sums[layer], 3), layer))
    return tuple(board.copper_layers[layer].name for layer in order)


def _rails(ctx: Context, links: Links) -> tuple[NetRail, ...]:
    """Return the nets that count as rails; what is declared to be an interface is none."""
    rows = []
    for net, name in enumerate(ctx.board.nets):
        if not links.rails.is_rail(net) or is_unconnected(name) or ctx.assignment.is_declared(net):
            continue
        ground = links.rails.is_ground(net)
        rows.append(
            NetRail(
                net=name,
                is_ground=ground,
                confidence=Confidence.MEDIUM if ground else Confidence.LOW,
                pads=len(links.pads_of(net)),
                fill_mm2=round(float(links.rails.fill_mm2[net]), 1),
                why=links.rails.why(net),
            )
        )
    return tuple(sorted(rows, key=lambda row: (not row.is_ground, -row.fill_mm2, -row.pads, row.net)))


def find_net(board: Board, typed: str) -> int:
    """Return the net that the user means: by its name, or by what follows the last slash, in any case.

    Raises:
        ConfigError: there is none (says which is nearest), or several.
    """
    if typed and (net := board.net_named(typed)) is not None:
        return net
    wanted = normalise(typed)
    alike = [net for net, name in enumerate(board.nets) if name and normalise(name) == wanted]
    if "/" in typed:
        alike = [net for net, name in enumerate(board.nets) if _ends_in(name, typed)] or alike
    if len(alike) == 1:
        return alike[0]
    where = f'net "{typed}"'
    if alike:
        names = sorted(board.nets[net] for net in alike)
        rest = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        raise ConfigError(where, "is several nets", f"give one of: {', '.join(names[:MOST_NAMED])}{rest}")
    raise ConfigError(where, "is not on this board", _nearest(board, wanted))


def _ends_in(name: str, typed: str) -> bool:
    return as_kicad_shows(name).upper().endswith(as_kicad_shows(typed).upper())


def _nearest(board: Board, wanted: str) -> str:
    """Return the net whose last part is nearest to what was typed: people leave the path out."""
    named = {normalise(name): name for name in reversed(board.nets) if name and not is_unconnected(name)}
    near = difflib.get_close_matches(wanted, named, n=1, cutoff=0.5)
    return did_you_mean(named[near[0]], [named[near[0]]]) if near else "`stackwright nets` lists what there is"
