"""What a declared rail says of its source, its loads and their currents, resolved to pads of the board."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.facts.context import Context
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.net_selection import toml_value
from stackup_lib.board.board import Board
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.two_pin_parts import is_left_out
from stackup_lib.power.rail_drop.rail_models import Load

MOST_NAMED = 6
"""Parts or nets that a hint offers."""

PASSIVE = (ReferenceKind.CAPACITOR, ReferenceKind.DIODE, ReferenceKind.TEST_POINT, ReferenceKind.HOLE)
"""Parts that neither feed a rail nor draw a current worth declaring."""

CAPACITORS = (ReferenceKind.CAPACITOR, ReferenceKind.CAPACITOR_ARRAY)
"""No steady current runs through them."""

ENDS = {
    "from": "where {} is fed",
    "to": "what draws from {}",
    "ground_from": "where the return current of {} leaves ground",
    "ground_to": "where the return current of {} enters ground",
}
"""What the keys of a rail that name parts tell."""

CONTINUOUS = "training"
"""The workload whose power counts as continuous, whatever duty is declared."""


def current_of(ctx: Context, row: RailDeclaration) -> tuple[float, str]:
    """Return the current of all loads of a rail, and what it was worked out from, "" where it is declared.

    Raises:
        MissingFact: no current, power or load current is declared.
    """
    if isinstance(row.to, dict) and row.to:
        return sum(row.to.values()), ""
    if row.current_a is not None:
        return row.current_a, ""
    if row.tdp_w is None:
        raise MissingFact(
            f"the current of {row.net}", in_table(row.net, 'current_a = "?"  # or tdp_w, all loads together')
        )
    duty = 100.0 if ctx.workload == CONTINUOUS else row.duty_pct
    amperes = row.tdp_w * duty / 100 / row.volts
    return amperes, f"{amperes:.4g} A is {row.tdp_w:g} W at {row.volts:g} V and {duty:g} % duty"


def loads_of(board: Board, row: RailDeclaration, current_a: float) -> tuple[list[Load], str]:
    """The loads with their currents, and how the current was shared out, "" where each is declared."""
    if isinstance(row.to, dict) and row.to:
        named = list(row.to.items())
        loads = [Load(name=name, pads=_pads_of(board, row, name, "to"), current_a=amperes) for name, amperes in named]
        _need_own_pads(row, loads)
        return loads, ""
    names = tuple(row.to)
    pads_of_all(board, row, names, "to", "what draws from it")
    pads = [_pads_of(board, row, name, "to") for name in names]
    count = sum(len(some) for some in pads)
    loads = [
        Load(name=name, pads=some, current_a=current_a * len(some) / count)
        for name, some in zip(names, pads, strict=True)
    ]
    _need_own_pads(row, loads)
    return loads, "" if len(names) == 1 else "the current shared out by the pads of each load"


def _need_own_pads(row: RailDeclaration, loads: Sequence[Load]) -> None:
    """Raise `MissingFact` where two loads have a pad in common: a pad draws one current."""
    owner: dict[int, str] = {}
    for load in loads:
        shared = next((owner[pad] for pad in load.pads if pad in owner), None)
        if shared is not None:
            what = f"what the pads of {row.net} draw: {shared} and {load.name} are the same pads"
            raise MissingFact(what, in_table(row.net, "name each part or pad once in `to`"))
        owner.update(dict.fromkeys(load.pads, load.name))


def pads_of_all(board: Board, row: RailDeclaration, names: Sequence[str], key: str, what: str) -> tuple[int, ...]:
    """Return the pads of several parts on a rail; raises `MissingFact` where one is not there, or none is named."""
    if not names:
        hint = f'{key} = ["?"]  # parts or pads on it: {", ".join(parts_on(board, row.net)) or "none"}'
        raise MissingFact(f"{row.net}: {what}", in_table(row.net, hint))
    return tuple(dict.fromkeys(pad for name in names for pad in _pads_of(board, row, name, key)))


def _pads_of(board: Board, row: RailDeclaration, name: str, key: str) -> tuple[int, ...]:
    """The pads of a part, or the one of `U7.3`, that are on the rail."""
    on_rail = board.pads.net == board.net_index[row.net]
    chosen = on_rail & part_pads(board, name)
    if not chosen.any() and "." in name:
        part, _, number = name.rpartition(".")
        chosen = on_rail & part_pads(board, part) & (board.pads.number == number)
    if not chosen.any():
        offered = ", ".join(parts_on(board, row.net)) or "none"
        raise MissingFact(
            f"pads of {name} on {row.net}", in_table(row.net, f"{key} = {toml_value(['?'])}  # parts on it: {offered}")
        )
    if reference_kind(name.partition(".")[0]) in CAPACITORS:
        offered = ", ".join(parts_on(board, row.net)) or "none"
        hint = f"{key} = {toml_value(['?'])}  # parts on it: {offered}"
        raise MissingFact(f"{ENDS[key].format(row.net)}: {name} is a capacitor", in_table(row.net, hint))
    pads = tuple(np.flatnonzero(chosen).tolist())
    need_fitted(board, row.net, name, key, pads)
    return pads


def need_fitted(board: Board, net: str, name: str, key: str, pads: Sequence[int]) -> None:
    """Raise `MissingFact` where a declared end of a rail is a part that is not fitted: it feeds and draws nothing."""
    if any(is_left_out(board, footprint) for footprint in set(board.pads.footprint[list(pads)].tolist())):
        offered = ", ".join(parts_on(board, net)) or "none"
        hint = f"{key} = {toml_value(['?'])}  # parts on it that are fitted: {offered}; or clear DNP of {name} in KiCad"
        raise MissingFact(f"{ENDS[key].format(net)}: {name} is not fitted (DNP)", in_table(net, hint))


def part_pads(board: Board, part: str) -> NDArray[np.bool_]:
    """Tell which pads are those of a part."""
    footprint = board.pads.footprint
    return np.asarray((footprint >= 0) & (board.footprints.reference[np.maximum(footprint, 0)] == part))


def parts_on(board: Board, net: str) -> list[str]:
    """Return the fitted parts on a net that may feed it or draw from it, those with most pad area on it first."""
    pads = board.pads
    rows = np.flatnonzero((pads.net == board.net_index[net]) & (pads.footprint >= 0))
    rows = rows[[not is_left_out(board, footprint) for footprint in pads.footprint[rows].tolist()]]
    names, group = np.unique(board.footprints.reference[pads.footprint[rows]], return_inverse=True)
    area = np.bincount(group, pads.size_x_mm[rows] * pads.size_y_mm[rows], len(names))
    order = sorted(zip(names.tolist(), area.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, _ in order if name and reference_kind(name) not in PASSIVE][:MOST_NAMED]
