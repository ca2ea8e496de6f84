"""Where the current of a declared rail enters ground at its loads, and where it leaves it for its source."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from drc_rules.analysis.power.rail_inputs import CAPACITORS, ENDS, PASSIVE, need_fitted, pads_of_all, part_pads
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.net_selection import toml_value
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.nets.power_nets import reads_as_supply
from stackup_lib.nets.two_pin_parts import find_two_pads, is_left_out

MOST_OFFERED = 6
"""Parts that a hint offers."""

MOST_IN_SERIES = 3
"""Parts in series between a rail and what drives it: a shunt, the inductor, a ferrite."""

INDUCTORS = (ReferenceKind.INDUCTOR, ReferenceKind.FERRITE)
"""Parts that lead on to what drives them; a resistor next to them may be anything."""

OF_TWO_NETS = (*INDUCTORS, ReferenceKind.RESISTOR, ReferenceKind.FUSE)
"""Parts in series whatever number of pads they have: four for sensing, or two more that hold an inductor."""

NO_ENDS = (*PASSIVE, *OF_TWO_NETS, ReferenceKind.JUMPER)
"""Parts at which no return current ends, and which no hint offers."""

_SWITCHES = re.compile(r"(?:^|[_.\-/\d])(?:SW|LX|PH|PHASE)\d*(?:$|[_.\-])")
"""Nets between a converter and its inductor, which some call after the supply: `+5V_SW`, `SW_3V3`."""

LEAST_PADS = 3
"""A part with fewer pads switches or regulates nothing: no return current ends there."""


@record
class ReturnEnds:
    """Pads on the return net.

    Attributes:
        net: number of the return net.
        source: pads at which the current leaves it.
        loads: pads at which that of each load enters it, in the order of the declaration.
        inferred: how a source without ground pads got some, as text, "" where it has them.
        elsewhere: parts whose ground pads are all on other grounds, and those: what these take is not in the return.
    """

    net: int
    source: tuple[int, ...]
    loads: tuple[tuple[int, ...], ...]
    inferred: str
    elsewhere: str = ""


def return_ends(board: Board, row: RailDeclaration, loads: Sequence[str]) -> ReturnEnds:
    """Return the ends of a rail's way back.

    Sources and loads are parts; what counts are their pads on ground nets, or those that `ground_from` and `ground_to`
    name. An inductor or shunt has none: then those of the parts on its other net count, which is inferred.

    Raises:
        MissingFact: an end is not declared, has no ground pad or is not fitted, or there is not one ground that all
            ends have in common.
    """
    if not row.ground_from:
        pads_of_all(board, row, row.from_, "from", "where it is fed")
    grounds = _grounds(board, row)
    for name in row.from_:
        need_fitted(board, row.net, name, "from", _pads(board, name, frozenset(range(len(board.nets)))))
    inferred: list[str] = []
    sources = [_of(board, row, name, grounds, "ground_from") for name in row.ground_from]
    for name in () if row.ground_from else row.from_:
        own = _pads(board, name, grounds)
        sources.append(own or _behind(board, row, name, grounds, inferred))
    if row.ground_to:
        entered = [pad for name in row.ground_to for pad in _of(board, row, name, grounds, "ground_to")]
        ends = [tuple(entered)] * len(loads)
    else:
        ends = [_of(board, row, name, grounds, "ground_to") for name in loads]
    net = _common(board, row, [*sources, *ends])
    _need_two_ends(board, row, {pad for pads in sources for pad in pads}, {pad for pads in ends for pad in pads})
    return ReturnEnds(
        net=net,
        source=_on(board, net, [pad for pads in sources for pad in pads]),
        loads=tuple(_on(board, net, pads) for pads in ends),
        inferred="; ".join(dict.fromkeys(inferred)),
        elsewhere=_elsewhere(board, net, (*row.from_, *loads)),
    )


def _elsewhere(board: Board, net: int, names: Iterable[str]) -> str:
    """Return the parts that have ground pads, but none on the return net, and their grounds, as text."""
    grounds = frozenset(k for k, name in enumerate(board.nets) if k == net or is_ground(name))
    found = {name: {int(board.pads.net[pad]) for pad in _pads(board, name, grounds)} for name in names}
    return ", ".join(
        f"{name} by {' and '.join(sorted(board.nets[k] for k in nets))}"
        for name, nets in found.items()
        if nets and net not in nets
    )


def _need_two_ends(board: Board, row: RailDeclaration, source: set[int], loads: set[int]) -> None:
    """Raise `MissingFact` where pads are both ends of the return, along which nothing would drop then."""
    parts = board.pads.footprint[sorted(source & loads)].tolist()
    if parts:
        names = ", ".join(sorted({str(board.footprints.reference[part]) for part in parts}))
        raise MissingFact(
            f"where the return current of {row.net} leaves ground: {names} is where it enters",
            f"in the [[rail]] of {row.net}: name no pad as both ends, with ground_from and ground_to",
        )


def _grounds(board: Board, row: RailDeclaration) -> frozenset[int]:
    if not row.ground:
        return frozenset(k for k, name in enumerate(board.nets) if name != row.net and is_ground(name))
    if row.ground not in board.net_index or row.ground == row.net:
        cure = did_you_mean(row.ground, [name for name in board.nets if name and name != row.net])
        raise MissingFact(
            f"a net called {row.ground}", f"in the [[rail]] of {row.net}: name a net of the board; {cure}"
        )
    return frozenset({board.net_index[row.ground]})


def _pads(board: Board, name: str, nets: frozenset[int]) -> tuple[int, ...]:
    """Pads on some nets of a part, or of the part of `U7.3`."""
    on_nets = np.isin(board.pads.net, list(nets))
    chosen = on_nets & part_pads(board, name)
    if not chosen.any() and "." in name:
        chosen = on_nets & part_pads(board, name.rpartition(".")[0])
    return tuple(np.flatnonzero(chosen).tolist())


def _of(board: Board, row: RailDeclaration, name: str, grounds: frozenset[int], key: str) -> tuple[int, ...]:
    found = _pads(board, name, grounds)
    if not found:
        raise _unknown(board, row, name, grounds, key)
    if reference_kind(name.partition(".")[0]) in CAPACITORS:
        raise _unknown(board, row, name, grounds, key)
    need_fitted(board, row.net, name, key, found)
    return found


def _unknown(board: Board, row: RailDeclaration, name: str, grounds: frozenset[int], key: str) -> MissingFact:
    why = "is a capacitor" if _pads(board, name, grounds) else "has no ground pad"
    at_other_end = row.to if key == "ground_from" else row.from_
    offered = ", ".join(_with_ground(board, grounds, {one.partition(".")[0] for one in at_other_end})) or "none"
    line = f"{key} = {toml_value(['?'])}  # parts with most ground pads: {offered}"
    if not np.isin(board.pads.net, list(grounds)).any():
        line = 'ground = "?"  # the net by which its current returns: no net with pads is called ground'
    return MissingFact(
        f"{ENDS[key].format(row.net)}: {name} {why}",
        f"in the [[rail]] of {row.net}: {line}",
    )


def _with_ground(board: Board, grounds: frozenset[int], without: Collection[str]) -> list[str]:
    """The parts with most pads on ground that may be an end, but for some."""
    pads = board.pads
    rows = np.flatnonzero((pads.footprint >= 0) & np.isin(pads.net, list(grounds)))
    names, count = np.unique(board.footprints.reference[pads.footprint[rows]], return_counts=True)
    order = sorted(zip((-count).tolist(), names.tolist(), strict=True))
    ends = [name for _, name in order if name and name not in without and reference_kind(name) not in NO_ENDS]
    return ends[:MOST_OFFERED]


def _behind(
    board: Board, row: RailDeclaration, name: str, grounds: frozenset[int], inferred: list[str]
) -> tuple[int, ...]:
    """Ground pads of what drives an inductor or shunt, or further inductors behind it.

    A net that is itself a supply feeds other loads, and may be fed by what has no ground pad: there only a part that is
    alone on it can be told to drive it.
    """
    part = name if (board.footprints.reference == name).any() else name.rpartition(".")[0]
    near, seen = [(part, row.net)], {part}
    for _ in range(MOST_IN_SERIES):
        found: dict[str, tuple[int, ...]] = {}
        further: list[tuple[str, str]] = []
        for passed, came_by in near:
            net = _other_net(board, passed, came_by)
            adjacent = sorted(_parts_on(board, net) - seen)
            seen.update(adjacent)
            if _is_supply(board, net, grounds) and sum(map(_may_feed, adjacent)) > 1:
                raise _unknown(board, row, name, grounds, "ground_from")
            for one in adjacent:
                own = _pads(board, one, grounds)
                if own and part_pads(board, one).sum() >= LEAST_PADS:
                    found[one] = own
                elif reference_kind(one) in INDUCTORS:
                    further.append((one, net))
        if found:
            inferred.append(f"the return taken to {', '.join(found)}, on the other side of {part}")
            return tuple(pad for some in found.values() for pad in some)
        near = further
    raise _unknown(board, row, name, grounds, "ground_from")


def _is_supply(board: Board, net: str, grounds: frozenset[int]) -> bool:
    """Tell whether a net is a supply by its name or by a capacitor to ground, which no switching node has."""
    if not net:
        return False
    parts, number = find_two_pads(board), board.net_index[net]
    ends = np.column_stack([parts.first_net, parts.second_net])[parts.is_capacitor]
    mine = (ends == number).any(axis=1) & np.isin(ends, list(grounds)).any(axis=1)
    return bool(mine.any()) or (reads_as_supply(net) and not _SWITCHES.search(net.upper()))


def _may_feed(part: str) -> bool:
    """Tell whether a part on a supply may be what feeds it: no capacitor, resistor, diode or test point does."""
    return reference_kind(part) not in (*PASSIVE, *CAPACITORS, ReferenceKind.RESISTOR, ReferenceKind.RESISTOR_ARRAY)


def _other_net(board: Board, part: str, net: str) -> str:
    """The net at the other end of a part in series with two nets, "" for any other part."""
    mine = part_pads(board, part)
    nets = {board.nets[k] for k in board.pads.net[mine].tolist()} - {net, ""}
    in_series = int(mine.sum()) < LEAST_PADS or reference_kind(part) in OF_TWO_NETS
    return nets.pop() if in_series and len(nets) == 1 else ""


def _parts_on(board: Board, net: str) -> set[str]:
    """The fitted parts on a net."""
    if not net:
        return set()
    pads = board.pads
    rows = np.flatnonzero((pads.footprint >= 0) & (pads.net == board.net_index[net]))
    fitted = [one for one in set(pads.footprint[rows].tolist()) if not is_left_out(board, one)]
    return {name for name in board.footprints.reference[fitted].tolist() if name}


def _common(board: Board, row: RailDeclaration, ends: Sequence[Iterable[int]]) -> int:
    """The one ground net that every end has pads on."""
    nets = [{int(board.pads.net[pad]) for pad in pads} for pads in ends]
    shared = set.intersection(*nets) if nets else set()
    if len(shared) == 1:
        return shared.pop()
    names = sorted(board.nets[net] for net in (shared or set().union(*nets)))
    what = "no ground net has pads at its source and at every load" if not shared else "several grounds might be it"
    raise MissingFact(
        f"the net by which the current of {row.net} returns: {what} ({', '.join(names) or 'none'})",
        f'in the [[rail]] of {row.net}: ground = "?"  # with ground_from and ground_to, where its ends are other parts',
    )


def _on(board: Board, net: int, pads: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(pad for pad in pads if int(board.pads.net[pad]) == net))
