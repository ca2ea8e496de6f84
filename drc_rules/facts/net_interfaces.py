"""Which net is which interface: declared in `stackwright.toml`, else inferred from net classes, names and pins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from drc_rules.facts.declared_nets import (
    backdrill_notes,
    half_pair_notes,
    impedance_notes,
    lone_note,
    rail_notes,
    unmatched_notes,
    untaken_notes,
)
from drc_rules.facts.memory_parts import generation_by_memory
from drc_rules.facts.net_pins import PinEvidence, pin_evidence
from drc_rules.facts.pin_pairs import links_without_fills
from drc_rules.report.model import TakenAs
from drc_rules.requirements.interfaces.bus_nets import family_by_bus
from drc_rules.requirements.interfaces.generations import Generations
from drc_rules.requirements.interfaces.load import families, family, interface, interface_ids
from drc_rules.requirements.interfaces.model import Family
from drc_rules.requirements.interfaces.names import (
    ASIDE,
    complements,
    family_by_class,
    family_by_name,
    is_generated,
    is_generic,
    is_sideband,
    is_told_by_sheet,
    is_unconnected,
    normalise,
)
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config, InterfaceDeclaration
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import Board, Ints
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.core.record import record
from stackup_lib.core.words import count as counted
from stackup_lib.nets.links import Links

SUCH_AS = "nets such as "
"""What a group of nets that were taken by name alone is called by, before one of them."""

_HALF_LANE = re.compile(r"(?:[RT]X|PE[RT])(?:[NP]_?\d+|[_.]?\d*[_.]?[NP+-])$")
"""The end of the name of one trace of a lane; `_N` alone ends that of many a control net, too."""


@record
class NetRole:
    """What one net was assigned to.

    Attributes:
        family: id of the family.
        interface: id of the generation, None when nothing says which.
        why: short text, the same for all nets of a group.
        group: what the nets have in common, for the report.
        by_pins: class and name say nothing; the pins at its ends do.
    """

    family: str
    interface: str | None
    origin: Origin
    confidence: Confidence
    why: str
    group: str
    by_pins: bool = False


@record
class Assignment:
    """What the nets of a board were assigned to.

    Attributes:
        roles: one entry per net of `Board.nets`, or None.
        links: of the board, whatever its nets are assigned to.
        idle: nets of one pad without copper, as pins of a module that its carrier leaves open; nothing is asked of them
    """

    roles: tuple[NetRole | None, ...]
    links: Links = field(compare=False, repr=False)
    notes: tuple[str, ...] = ()
    idle: frozenset[int] = frozenset()

    @cached_property
    def _nets(self) -> Mapping[str, Ints]:
        found: dict[str, list[int]] = {}
        for net, role in enumerate(self.roles):
            if role is not None:
                for key in {role.family, role.interface or role.family}:
                    found.setdefault(key, []).append(net)
        return {key: np.array(nets, dtype=np.int64) for key, nets in found.items()}

    def nets_of(self, interface_or_family: str) -> Ints:
        """Return the nets of an interface or a family, in order of net index; empty when there are none."""
        return self._nets.get(interface_or_family, np.zeros(0, dtype=np.int64))

    def role_of(self, net: int) -> NetRole | None:
        """Return what a net was assigned to."""
        return self.roles[net]

    def is_declared(self, net: int) -> bool:
        """Return True when the user has said what the net is."""
        role = self.roles[net]
        return role is not None and role.origin is Origin.DECLARED

    def confidence_of(self, net: int) -> Confidence:
        """Return how sure a net's role is; low when it has none."""
        role = self.roles[net]
        return role.confidence if role else Confidence.LOW

    def interfaces(self) -> tuple[str, ...]:
        """Ids of the interfaces on the board, sorted; sidebands left out."""
        present = {role.interface for role in self.roles if role and role.family not in ASIDE}
        return tuple(sorted(one for one in present if one))

    def fast_interfaces(self) -> tuple[str, ...]:
        """Ids of the high-speed interfaces on the board, sorted."""
        return tuple(one for one in self.interfaces() if family(interface(one).family).fast)

    def families_without_generation(self) -> tuple[str, ...]:
        """Ids of the high-speed families on the board with nets of unknown generation, sorted."""
        return tuple(one for one in self._open_families if family(one).fast)

    def memories_without_generation(self) -> tuple[str, ...]:
        """Ids of the other families of memories with nets of unknown generation, sorted: each has its own impedance."""
        return tuple(one for one in self._open_families if family(one).bus is not None and not family(one).fast)

    @cached_property
    def _open_families(self) -> tuple[str, ...]:
        present = {role.family for _, role in self._in_use() if role.interface is None}
        return tuple(sorted(present.difference(ASIDE)))

    def _in_use(self) -> Iterator[tuple[int, NetRole]]:
        return ((net, role) for net, role in enumerate(self.roles) if role and net not in self.idle)

    def taken_as(self, *, idle: bool = False) -> tuple[TakenAs, ...]:
        """One line per group of nets in use, or idle; high-speed families and larger groups first, no sidebands."""
        groups: dict[NetRole, list[str]] = {}
        for net, role in enumerate(self.roles):
            if role and role.family not in ASIDE and (net in self.idle) is idle:
                groups.setdefault(role, []).append(self.links.board.nets[net])
        lines = [
            TakenAs(
                group=f"{SUCH_AS}{min(nets)}" if role.group.startswith(SUCH_AS) else role.group,
                nets=len(nets),
                interface=role.interface or "",
                family=role.family,
                origin=role.origin.value,
                confidence=role.confidence,
                why=role.why,
            )
            for role, nets in groups.items()
        ]
        return tuple(sorted(lines, key=lambda t: (not family(t.family).fast, -t.nets, t.family, t.group, t.why)))


def assign_nets(board: Board, config: Config, expected: Mapping[str, str], links: Links | None = None) -> Assignment:
    """Return what every net of a board is assigned to.

    Args:
        board: the board.
        config: `[[interface]]` decides before anything inferred; a later one decides before an earlier one.
        expected: family id -> interface id that the profile says this type of board carries.
        links: those of an earlier assignment of the board.

    Raises:
        ConfigError: an `[[interface]]` names no interface; says which is nearest.
    """
    roles: list[NetRole | None] = [None] * len(board.nets)
    notes: list[str] = []
    links = links if links is not None else links_without_fills(board)
    unused = _idle(board)
    declared = _declared(board, config, links, notes, unused)
    names = {normalise(net) for net in board.nets}
    told = _generations(board, names, expected)
    for index, net in enumerate(board.nets):
        if not net:
            continue
        roles[index] = declared.get(index) or _inferred(net, board, names, told)
    buses = family_by_bus(board)
    of_buses = {(role.family, role.interface) for n in buses if (role := roles[n]) and role.interface}
    for index, of_bus in buses.items():
        generations = [one for of, one in of_buses if of == of_bus]
        roles[index] = _as_its_bus(roles[index], of_bus, generations) or _on_bus(
            board.nets[index], family(of_bus), generations, told
        )
    roles = [None if role and _is_lone(board, links, n, role) else role for n, role in enumerate(roles)]
    loose = {n for n, role in enumerate(roles) if role and _is_loose(board.nets[n], role)}
    named = {n: role.family for n, role in enumerate(roles) if role and n not in loose}
    pins = pin_evidence(board, links, named)
    apart = {n for n in named if _is_by_class_alone(board.nets[n], roles[n]) and pins.held_apart(n, named[n])}
    if apart:
        pins = pin_evidence(board, links, {n: of for n, of in named.items() if n not in apart})
    roles = _as_their_memories(board, links, _with_pins(pins, roles, loose | apart, told))
    roles = _as_their_links(links, roles)
    notes += [*config.not_counted, *_conflicts(pins, roles), *impedance_notes(board, config.impedance)]
    fast = [net for net, role in enumerate(roles) if role is not None and family(role.family).fast]
    notes += untaken_notes(links, fast, {net for net, role in enumerate(roles) if role is not None})
    notes += [*backdrill_notes(board, config.backdrill), *rail_notes(board, config.rail)]
    idle = unused - declared.keys()
    return Assignment(_name_groups(roles, board.nets, idle), links, tuple(notes), idle)


def _declared(board: Board, config: Config, links: Links, notes: list[str], idle: Set[int]) -> dict[int, NetRole]:
    roles: dict[int, NetRole] = {}
    for number, row in enumerate(config.interface, start=1):
        of, interface_id = _meaning(row.is_, f"{config.path or FILE_NAME}, [[interface]] {number}")
        chosen = chosen_nets(board, row.net_classes, row.nets)
        taken = {n for n in chosen if board.nets[n] in row.nets or not is_sideband(board.nets[n], of)}
        where = f'[[interface]] {number} (is = "{row.is_}")'
        notes += unmatched_notes(board, where, row)
        if chosen and not taken:
            other = "control and clock nets, or those of another interface, by their names"
            notes.append(f"{where} matches only {other}; name them one by one if they are meant")
        left_out = len(chosen) - len(taken)
        why = "declared" + (f"; {left_out} control or clock nets left out" if left_out else "")
        lone = [n for n in sorted(taken) if not (_is_half(links, n) or _is_meant(board, row, n, idle))]
        if _is_of_pairs(of) and any(_is_half(links, n) for n in taken) and lone:
            taken.difference_update(lone)
            why += f"; {counted(len(lone), 'net')} of no pair left out"
            notes.append(lone_note(where, [board.nets[n] for n in lone]))
        group = ", ".join([*(f"net class {name}" for name in row.net_classes), *row.nets])
        role = NetRole(of.id, interface_id, Origin.DECLARED, Confidence.HIGH, why, group)
        twice = sum(1 for n in taken if n in roles and roles[n].interface != interface_id)
        if twice:
            notes.append(
                f"{where} takes {counted(twice, 'net')} that an earlier [[interface]] declares as something else"
            )
        roles.update(dict.fromkeys(taken, role))
    if roles:
        notes += half_pair_notes(board, links.pairs, roles)
    return roles


def _meaning(word: str, where: str) -> tuple[Family, str | None]:
    """An interface, also by the name of a family that has no other, or a family whose generation is left open."""
    if word in interface_ids():
        return family(interface(word).family), word
    by_id = {one.id: one for one in families()}
    if word not in by_id:
        known = [*interface_ids(), *by_id]
        raise ConfigError(where, f'"{word}" is no interface', did_you_mean(word, known))
    only = by_id[word].only
    return by_id[word], only.id if only else None


def _inferred(net: str, board: Board, names: set[str], told: Generations) -> NetRole | None:
    """Infer from net classes and name; a sideband, and a lone net that should be half of a pair, is not taken."""
    if is_unconnected(net):
        return None
    by_name = family_by_name(net)
    classes = board.project.net_classes_of.get(net, ())
    if by_name in ASIDE:
        return NetRole(by_name, by_name, Origin.INFERRED, Confidence.LOW, "its name", "")
    of_class = next(((c, f) for c in classes if (f := family_by_class(c)) is not None), None)
    if of_class is not None:
        return _by_class(net, of_class, by_name, names, told)
    if by_name is None:
        return None
    of = family(by_name)
    if not _is_whole(net, of, names):
        return None
    interface_id, said = told.of(of, classes=classes, net=net, sheets=_sheets(net, of))
    read = "sheet names" if is_told_by_sheet(net) else "net names"
    return NetRole(of.id, interface_id, Origin.INFERRED, Confidence.LOW, f"{read} read as {of.title}{said}", "")


def _as_its_bus(role: NetRole | None, of_bus: str, told: Sequence[str]) -> NetRole | None:
    """Return a role that is there, of the only generation that the bus tells where only its own is not known."""
    if role is None or role.interface or role.origin is Origin.DECLARED or role.family != of_bus or len(told) != 1:
        return role
    return replace(role, interface=told[0], why=f"{role.why}; {interface(told[0]).title} as the rest of the bus")


def _on_bus(net: str, of: Family, of_bus: Sequence[str], told: Generations) -> NetRole:
    """Return the role of a net of a bus, of the generation that its sheet tells, or the only one of its other nets."""
    sheets = _sheets(net, of)
    interface_id, said = told.of(of, sheets=sheets)
    if len(of_bus) == 1 and not told.in_sheets(of, sheets):
        interface_id, said = of_bus[0], f"; {interface(of_bus[0]).title} as the rest of the bus"
    why = f"net names read as a memory bus, joined to the same parts as its differential strobes: {of.title}{said}"
    return NetRole(of.id, interface_id, Origin.INFERRED, Confidence.LOW, why, "")


def _by_class(
    net: str, of_class: tuple[str, str], by_name: str | None, names: set[str], told: Generations
) -> NetRole | None:
    """A class lumps nets of one impedance together, so a name that says something else is believed, but less."""
    net_class, of = of_class[0], family(by_name or of_class[1])
    agrees = by_name == of_class[1]
    if is_sideband(net, of):
        return None
    if not agrees and not is_generated(net) and not _is_whole(net, of, names):
        return None
    interface_id, said = told.of(of, classes=(net_class,), net=net, sheets=_sheets(net, of))
    slower_than = told.slower_than_expected(of, interface_id)
    if agrees and slower_than:
        why, confidence = f"class and net names read as {of.title}, the profile has {slower_than}", Confidence.LOW
    elif agrees:
        why, confidence = f"class and net names read as {of.title}", Confidence.MEDIUM
    elif by_name is None:
        why, confidence = f"class name reads as {of.title}, net names say nothing", Confidence.LOW
    else:
        other = family(of_class[1]).title
        why, confidence = f"net names read as {of.title}, though the class name reads as {other}", Confidence.LOW
    return NetRole(of.id, interface_id, Origin.INFERRED, confidence, why + said, f"net class {net_class}")


def _is_lone(board: Board, links: Links, net: int, role: NetRole) -> bool:
    """True for a net without a name of its own that a class of pairs lists, and that is half of no pair."""
    if role.origin is Origin.DECLARED or family(role.family).single_ended or not is_generated(board.nets[net]):
        return False
    return not _is_half(links, net)


def _is_half(links: Links, net: int) -> bool:
    """True for a net that is half of a pair, by its name or as part of a link that has a complement."""
    rows = links.rows_of_net.get(net, ())
    return links.pairs.complement_of(net) is not None or any(links.complement_row(row) is not None for row in rows)


def _is_meant(board: Board, row: InterfaceDeclaration, net: int, idle: Set[int]) -> bool:
    """Tell whether a net of no pair is one of a table of pairs all the same: named there, or half a lane by its name.

    So is what a class that is named after differential pairs joins: its complement has a name that makes no pair.
    """
    name = board.nets[net]
    classes = set(row.net_classes).intersection(board.project.net_classes_of.get(name, ()))
    is_of_diff = any("DIFF" in one.upper() for one in classes)
    return name in row.nets or (net not in idle and (is_of_diff or _HALF_LANE.search(name.upper()) is not None))


def _is_of_pairs(of: Family) -> bool:
    """True for a family of which every lane is a pair."""
    return of.id not in ASIDE and not of.single_ended


def _idle(board: Board) -> frozenset[int]:
    """Return the nets that lead nowhere: at most one pad, and no copper."""
    found = np.bincount(board.pads.net, minlength=len(board.nets)) <= 1
    for nets in (board.tracks.net, board.vias.net, board.zones.net):
        found[nets] = False
    return frozenset(np.flatnonzero(found).tolist())


def _is_loose(net: str, role: NetRole) -> bool:
    """True for a role by a name that says little: what the net ends at decides before it."""
    return role.origin is Origin.INFERRED and not role.group and is_generic(net, family(role.family))


def _is_by_class_alone(net: str, role: NetRole | None) -> bool:
    """True for a role that a net class tells and the name does not."""
    return role is not None and role.origin is Origin.INFERRED and bool(role.group) and family_by_name(net) is None


def _with_pins(
    pins: PinEvidence, roles: Sequence[NetRole | None], loose: Set[int], told: Generations
) -> list[NetRole | None]:
    """Fill in what class and name leave open, from the pins at the ends of each net and its series parts."""
    found = list(roles)
    for net, name in enumerate(pins.board.nets):
        if (found[net] is not None and net not in loose) or net not in pins.links.rows_of_net:
            continue
        if (won := pins.family_of(net)) is None:
            continue
        of = family(won)
        classes = pins.board.project.net_classes_of.get(name, ())
        interface_id, said = told.of(of, classes=classes, net=name, sheets=_sheets(name, of))
        why = f"{pins.why(net)} read as {of.title}{said}"
        found[net] = NetRole(of.id, interface_id, Origin.INFERRED, Confidence.LOW, why, "", by_pins=True)
    return found


def _as_their_memories(board: Board, links: Links, roles: Sequence[NetRole | None]) -> list[NetRole | None]:
    """Give the inferred nets of memory buses the generation of the memories on them, where nothing else tells it."""
    found = list(roles)
    asked = {n: role for n, role in enumerate(roles) if role and _is_open(role) and family(role.family).bus is not None}
    for net, (told, by) in generation_by_memory(board, links, tuple(asked)).items():
        if interface(told).family == asked[net].family:
            found[net] = replace(
                asked[net], interface=told, why=f"{asked[net].why}; {by} reads as {interface(told).title}"
            )
    return found


def _is_open(role: NetRole) -> bool:
    """True for an inferred role whose generation nothing has told yet."""
    return role.interface is None and role.origin is not Origin.DECLARED


def _as_their_links(links: Links, roles: Sequence[NetRole | None]) -> list[NetRole | None]:
    """Give inferred nets the generation of what series parts join them to, of the same family.

    What is declared decides before anything inferred; what is inferred fills in only what is not known.
    """
    found = list(roles)
    for net, role in enumerate(roles):
        if role is None or role.origin is Origin.DECLARED or role.family in ASIDE:
            continue
        joined = {one for row in links.rows_of_net.get(net, ()) for one in links.chains[row]}
        alike = [one for n in joined if (one := roles[n]) and one.family == role.family]
        declared = {one.interface for one in alike if one.origin is Origin.DECLARED and one.interface}
        inferred = {one.interface for one in alike if one.interface} if _is_open(role) else set[str]()
        for told, how in ((declared, " as declared for"), (inferred, " as")):
            if len(told) == 1 and told != {role.interface}:
                (this,) = told
                why = f"{role.why}; {interface(this).title}{how} the rest of the link"
                found[net] = replace(role, interface=this, why=why)
                break
    return found


def _conflicts(pins: PinEvidence, roles: Sequence[NetRole | None]) -> list[str]:
    """Say where a connector's pins speak against class or name, once for each connector and family."""
    told: dict[tuple[str, str, str], str] = {}
    for net in sorted(pins.readings):
        role = roles[net]
        if role is None or role.origin is Origin.DECLARED or role.family in ASIDE:
            continue
        if against := pins.conflict(net, role.family):
            told.setdefault((against.part, against.family, role.family), pins.board.nets[net])
    return [
        f"{net} is assigned to {family(taken).title}, but pins of {part} read as {family(read).title}"
        for (part, read, taken), net in told.items()
    ]


def _is_whole(net: str, of: Family, names: set[str]) -> bool:
    """True unless it should be half of a pair and the other half is missing."""
    return of.single_ended or any(complement_net in names for complement_net in complements(normalise(net)))


def _sheets(net: str, of: Family) -> tuple[str, ...]:
    """Return the sheets of a memory's net, the nearest first: they are named after the memory."""
    return tuple(reversed(net.split("/")[:-1])) if of.bus is not None else ()


def _generations(board: Board, nets: Set[str], expected: Mapping[str, str]) -> Generations:
    classes = {name for names in board.project.net_classes_of.values() for name in names}
    sheets = {sheet for net in board.nets for sheet in net.split("/")[:-1]}
    return Generations(nets, classes, sheets, expected)


def _name_groups(roles: Sequence[NetRole | None], nets: Sequence[str], idle: Set[int]) -> tuple[NetRole | None, ...]:
    """Give nets that were taken by name alone a group named after the first of them, of those in use where some are."""
    first: dict[NetRole, tuple[bool, str]] = {}
    for index, role in enumerate(roles):
        if role and not role.group:
            first[role] = min(first.get(role, (True, nets[index])), (index in idle, nets[index]))
    named = {role: NetRole(**{**vars(role), "group": f"{SUCH_AS}{net}"}) for role, (_, net) in first.items()}
    return tuple(named.get(role, role) if role else None for role in roles)
