"""What a user should know about tables of the settings that choose nets: which choose none, which contradict."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np

from drc_rules.settings.config import BackdrillDeclaration, Config, ImpedanceDeclaration
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import NO_LAYER, Board
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.words import count
from stackup_lib.nets.diff_pairs import Pairs
from stackup_lib.nets.net_voltages import volts_of_name

USUAL_SWING = 0.25
"""By how much of the voltage in its name a bus may differ from it: -48 V is -40.5 to -57 V (ETSI EN 300 132-2)."""


def impedance_notes(board: Board, rows: Sequence[ImpedanceDeclaration]) -> Iterator[str]:
    """Yield a note for each table that matches no net, or states another target for nets of an earlier one."""
    before: dict[int, ImpedanceDeclaration] = {}
    for number, row in enumerate(rows, start=1):
        where = f"[[impedance]] {number} ({row.ohm:g} ohm)"
        chosen = chosen_nets(board, row.net_classes, row.nets)
        if not chosen:
            yield f"{where} matches no net of this board{unknown_class(board, row.net_classes)}"
        twice = [n for n in chosen if n in before and _asked(before[n]) != _asked(row)]
        if twice:
            earlier = ", ".join(sorted({f"{before[n].ohm:g} ohm" for n in twice}))
            yield f"{where} takes {count(len(twice), 'net')} for which an earlier [[impedance]] states {earlier}"
        before |= dict.fromkeys(chosen, row)


def backdrill_notes(board: Board, rows: Sequence[BackdrillDeclaration]) -> Iterator[str]:
    """Yield a note for each `[[backdrill]]` that matches no net, or cuts another layer than the file's do."""
    drilling, index = board.vias.drilling, board.layer_index
    for number, row in enumerate(rows, start=1):
        where, nets = f"[[backdrill]] {number}", chosen_nets(board, row.net_classes, row.nets)
        if not nets:
            yield f"{where} matches no net of this board{unknown_class(board, row.net_classes)}"
        start, cut = index.get(row.from_, NO_LAYER), index.get(row.must_cut, NO_LAYER)
        drilled = (drilling.backdrill_start == start) & (drilling.backdrill_must_cut != cut)
        vias = np.flatnonzero(drilled & np.isin(board.vias.net, list(nets)))
        if len(vias) and NO_LAYER not in (start, cut):
            of_file = {board.copper_layers[k].name for k in drilling.backdrill_must_cut[vias].tolist()}
            other = f"the file's backdrills of {count(len(vias), 'via')} must cut {', '.join(sorted(of_file))}"
            yield f"{where} must cut {row.must_cut} from {row.from_}, {other}: stubs follow the deeper one"


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
        if row.net and board.net_named(row.net) is None:
            yield f"{where}: the board has no such net; {did_you_mean(row.net, filter(None, board.nets))}"
        if named and abs(row.voltage_v - named) > USUAL_SWING * named:
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


def unknown_class(board: Board, net_classes: Sequence[str]) -> str:
    """Return which net class the project does not have, with the nearest one; "" where it has all."""
    unknown = [name for name in net_classes if name not in board.project.classes]
    if not unknown:
        return ""
    return f'; the project has no net class "{unknown[0]}", {did_you_mean(unknown[0], board.project.classes)}'


def _asked(row: ImpedanceDeclaration) -> tuple[float, str]:
    return row.ohm, row.kind
