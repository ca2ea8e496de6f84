"""What a user should know about tables of the settings that choose nets: which choose none, which contradict."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

import numpy as np

from drc_rules.requirements.interfaces import interface
from drc_rules.settings.config import (
    BackdrillDeclaration,
    Config,
    ImpedanceDeclaration,
    InterfaceDeclaration,
    NetChoice,
)
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.net_selection import chosen_nets, unmatched_in
from stackup_lib.board.board import NO_LAYER, Board
from stackup_lib.core.errors import did_you_mean, nearest
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.kicad_text import as_kicad_shows
from stackup_lib.core.words import count
from stackup_lib.nets.diff_pairs import Pairs
from stackup_lib.nets.links import Links
from stackup_lib.nets.net_voltages import volts_of_name

MOST_TOLD = 3
"""Of the wildcards of one table that match nothing, those that a note names."""

USUAL_SWING = 0.25
"""By how much of the voltage in its name a bus may differ from it: -48 V is -40.5 to -57 V (ETSI EN 300 132-2)."""


def impedance_notes(board: Board, rows: Sequence[ImpedanceDeclaration]) -> Iterator[str]:
    """Yield a note for each table that names nets that are not there, or states another target than an earlier one."""
    before: dict[int, ImpedanceDeclaration] = {}
    for number, row in enumerate(rows, start=1):
        where = f"[[impedance]] {number} ({row.ohm:g} ohm)"
        chosen = chosen_nets(board, row.net_classes, row.nets)
        yield from unmatched_notes(board, where, row)
        twice = [n for n in chosen if n in before and _asked(before[n]) != _asked(row)]
        if twice:
            earlier = ", ".join(sorted({f"{before[n].ohm:g} ohm" for n in twice}))
            yield f"{where} takes {count(len(twice), 'net')} for which an earlier [[impedance]] states {earlier}"
        before |= dict.fromkeys(chosen, row)


def backdrill_notes(board: Board, rows: Sequence[BackdrillDeclaration]) -> Iterator[str]:
    """Yield a note for each `[[backdrill]]` of nets that are not there, or that cuts a layer other than the file's."""
    drilling, index = board.vias.drilling, board.layer_index
    before: dict[tuple[int, str], BackdrillDeclaration] = {}
    for number, row in enumerate(rows, start=1):
        where, nets = f"[[backdrill]] {number}", chosen_nets(board, row.net_classes, row.nets)
        yield from unmatched_notes(board, where, row)
        twice = [net for net in nets if before.get((net, row.from_), row).must_cut != row.must_cut]
        if twice:
            earlier = ", ".join(sorted({before[net, row.from_].must_cut for net in twice}))
            stated = f"an earlier [[backdrill]] of {count(len(twice), 'net')} must cut {earlier}"
            yield f"{where} must cut {row.must_cut} from {row.from_}, {stated}: stubs follow the shallower one"
        before |= dict.fromkeys(((net, row.from_) for net in nets), row)
        start, cut = index.get(row.from_, NO_LAYER), index.get(row.must_cut, NO_LAYER)
        drilled = (drilling.backdrill_start == start) & (drilling.backdrill_must_cut != cut)
        vias = np.flatnonzero(drilled & np.isin(board.vias.net, list(nets)))
        if len(vias) and NO_LAYER not in (start, cut):
            of_file = {board.copper_layers[k].name for k in drilling.backdrill_must_cut[vias].tolist()}
            other = f"the file's backdrills of {count(len(vias), 'via')} must cut {', '.join(sorted(of_file))}"
            yield f"{where} must cut {row.must_cut} from {row.from_}, {other}: stubs follow the shallower one"


def with_rails_of(board: Board, config: Config) -> Config:
    """Return the settings with the nets of the rails as the board's file spells them, where KiCad shows them so."""

    def spelt(name: str) -> str:
        net = board.net_named(name) if name else None
        return board.nets[net] if net else name

    rails = tuple(
        row.model_copy(update={"net": spelt(row.net), "ground": spelt(row.ground)})
        if (spelt(row.net), spelt(row.ground)) != (row.net, row.ground)
        else row
        for row in config.rail
    )
    return config if rails == config.rail else config.model_copy(update={"rail": rails})


def rail_notes(board: Board, rows: Sequence[RailDeclaration]) -> Iterator[str]:
    """Yield a note for each rail of no net, or whose voltage contradicts its net's name, and for each second one."""
    before: set[str] = set()
    for number, row in enumerate(rows, start=1):
        where, named = f"[[rail]] {number} ({row.net})", abs(volts_of_name(row.net) or 0.0)
        if not row.has_net:
            yield f"[[rail]] {number} names no net yet"
            continue
        if board.net_named(row.net) is None:
            yield f"{where}: the board has no such net; {did_you_mean(row.net, filter(None, board.nets))}"
        if named and row.voltage_v is not None and abs(row.voltage_v - named) > USUAL_SWING * named:
            stated = f"states {row.voltage_v:g} V, the name of the net {named:g} V"
            yield f"{where} {stated}: drop and current follow voltage_v"
        if row.net in before:
            yield f"{where} is declared twice: each is judged by its own current, not by the sum"
        before.add(row.net)


def half_pair_notes(board: Board, pairs: Pairs, declared: Container[int]) -> Iterator[str]:
    """Yield a note where the tables of `[[interface]]` take one net of a pair, and none takes the other."""
    halves = [
        (board.nets[one], board.nets[other])
        for positive, negative in zip(pairs.positive.tolist(), pairs.negative.tolist(), strict=True)
        for one, other in ((positive, negative), (negative, positive))
        if one in declared and other not in declared
    ]
    if halves:
        taken, left = min(halves)
        more = f"; {count(len(halves) - 1, 'more pair')} likewise" if len(halves) > 1 else ""
        yield f"[[interface]] takes {taken}, and not {left} of the same pair{more}"


def lone_note(where: str, names: Sequence[str]) -> str:
    """Return a note of the nets that a table of pairs takes by class or wildcard, and that are half of no pair."""
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return f"{where} leaves out {', '.join(names[:MOST_TOLD])}{more}: of no pair; name what is meant one by one"


def unmatched_notes(board: Board, where: str, row: NetChoice) -> Iterator[str]:
    """Yield a note where a table matches no net, or one of its net classes and wildcards does not."""
    classes, patterns = unmatched_in(board, row.net_classes, row.nets)
    has_none = len(classes) + len(patterns) == len(row.net_classes) + len(row.nets)
    said = [_unmatched_class(board, name) for name in classes] + [_unmatched_pattern(board, one) for one in patterns]
    if has_none or said:
        yield note_of(f"{where} matches no net of this board" if has_none else where, said)


def without_nets(row: InterfaceDeclaration) -> MissingFact:
    """Return the fact that is missing where an `[[interface]]` matches no net of the board."""
    title = interface(row.is_).title
    meant = ", ".join([*(f"net class {name}" for name in row.net_classes), *row.nets])
    what = f"{meant} matches none" if meant else "none is named"
    by_class = "in KiCad, assign nets to the net class, or correct the [[interface]]"
    how = by_class if row.net_classes else f"in the [[interface]] of {title}: the names of its nets"
    return MissingFact(f"the nets of {title}: {what}", how)


def note_of(where: str, said: Sequence[str]) -> str:
    """Return a note of what is said of a table, in which no more than `MOST_TOLD` are told."""
    more = [f"{len(said) - MOST_TOLD} more likewise"] if len(said) > MOST_TOLD else []
    told = "; ".join((*said[:MOST_TOLD], *more))
    return f"{where}: {told}" if told else where


def _unmatched_class(board: Board, name: str) -> str:
    if name in board.project.classes:
        return f'net class "{name}" has no net'
    return f'the project has no net class "{name}", {did_you_mean(name, board.project.classes)}'


def _unmatched_pattern(board: Board, pattern: str) -> str:
    near = nearest(pattern.strip("*"), map(as_kicad_shows, filter(None, board.nets)))
    return f'no net is called "{pattern}"' + (f', did you mean "{near}"?' if near else "")


def _asked(row: ImpedanceDeclaration) -> tuple[float, str]:
    return row.ohm, row.kind


def untaken_notes(links: Links, fast: Iterable[int], taken: Container[int]) -> Iterator[str]:
    """Yield a note where parts may lead high-speed signals on to nets that no interface has.

    Args:
        links: of the board.
        fast: its high-speed nets.
        taken: nets that are assigned to any interface.
    """
    found: dict[str, tuple[int, int]] = {}
    for net in fast:
        for part in links.refused(net):
            if part.may_lead_on and part.net not in taken and len(links.pads_of(part.net)) > 1:
                found.setdefault(part.reference, (net, part.net))
    if found:
        first, (near, far) = next(iter(found.items()))
        more = f" and {count(len(found) - 1, 'more part')}" if len(found) > 1 else ""
        near_name, far_name = links.board.nets[near], links.board.nets[far]
        yield (
            f"nets behind {first}{more} are not checked as high-speed: {near_name} may go on as {far_name}; "
            "declare them with [[interface]] if it does"
        )
