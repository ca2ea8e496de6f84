"""The regulator of a rail: its output resistance and inductance, and where it feeds the planes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.analysis.power.rail_inputs import need_fitted, pads_of_all, part_pads
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.references import letters_of
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.nets.two_pin_parts import PartKind, TwoTerminalParts, is_left_out
from stackup_lib.power.over_frequency.regulators import any_regulator, regulator_kinds

SMALLEST_MM, UNKNOWN_MM = 1.0, 5.0
"""Side of the square in which the regulator feeds the planes: at least, and where its parts are not known."""


_BEAD = re.compile(r"(?i)@\s*\d+\s*MHz|ferrite|bead|(?<![A-Za-z0-9])(?:BLM|BLE|MPZ|MMZ|HZ\d|MH\d)\d*")
"""Values of ferrite beads are ohms at 100 MHz, or the names of their makers' series."""


@dataclass(frozen=True)
class Supply:
    """A regulator as R and L to ground.

    Attributes:
        resistance_ohm, inductance_h: of its output.
        pads: of its parts on the rail, none where they are not known.
        at_mm: their middle; None where they are not known.
        size_mm: side of the square of its pads.
        words: its kind, values and why.
        is_declared: neither of its values is assumed.
        layer: of the rail, where its current enters the planes; None where that is not known.
    """

    resistance_ohm: Interval
    inductance_h: Interval
    pads: tuple[int, ...]
    at_mm: tuple[float, float] | None
    size_mm: float
    words: str
    is_declared: bool
    layer: int | None = None


def supply_of(board: Board, parts: TwoTerminalParts, row: RailDeclaration | None, net: int) -> Supply:
    """Return the regulator: as declared, else the range of its kind; an inductor on the rail speaks for a buck.

    Raises:
        MissingFact: a declared source is not fitted, has no pad on the rail, or is a ferrite bead.
    """
    inductors = _inductors(board, parts, net)
    names = row.from_ if row is not None and row.from_ else inductors
    for name in row.from_ if row is not None else ():
        need_fitted(board, board.nets[net], name, "from", np.flatnonzero(_part(board, name)).tolist())
    if row is not None and row.from_:
        pads_of_all(board, row, row.from_, "from", "where it is fed")
    stated = row.pdn if row is not None else None
    kind_name = stated.regulator if stated is not None else None
    kind = regulator_kinds()[kind_name] if kind_name else None
    why = "kind as declared" if kind else ""
    if kind is None and any(name in inductors for name in names):
        found = sum(name in inductors for name in names)
        kind = regulator_kinds()["multiphase" if found > 1 else "buck"]
        why = f"assumed from {', '.join(names[:4])}{' ...' if len(names) > 4 else ''} on the rail"
    elif kind is None:
        kind, why = any_regulator(), "nothing on the rail shows its kind"
    resistance, inductance = kind.resistance_ohm, kind.inductance_h
    declared = [False, False]
    if stated is not None and stated.regulator_mohm is not None:
        resistance, declared[0] = Interval.exact(stated.regulator_mohm * 1e-3), True
    if stated is not None and stated.regulator_nh is not None:
        inductance, declared[1] = Interval.exact(stated.regulator_nh * 1e-9), True
    elif stated is not None and stated.regulator_khz is not None:
        inductance, declared[1] = Interval.exact(resistance.nominal / (2 * math.pi * stated.regulator_khz * 1e3)), True
    beads = [name for name in names if _is_bead(board, *_footprints(board, name))]
    if beads and not all(declared):
        hint = 'pdn.regulator_mohm = "?"  # with pdn.regulator_nh, of regulator and bead together'
        what = f"the impedance of the ferrite bead {', '.join(beads)} that feeds {board.nets[net]}"
        raise MissingFact(what, in_table(board.nets[net], hint))
    values = f"{_range(resistance, 1e3, 'mOhm')}, {_range(inductance, 1e9, 'nH')}"
    words = f"{values}, declared" if all(declared) else f"{values}: {kind.title}, {why}"
    return Supply(resistance, inductance, *_pads(board, names, net), words, all(declared))


def _inductors(board: Board, parts: TwoTerminalParts, net: int) -> tuple[str, ...]:
    on_rail = (parts.first_net == net) | (parts.second_net == net)
    found = parts.footprint[on_rail & (parts.kind == PartKind.INDUCTOR)].tolist()
    rows = [one for one in found if not is_left_out(board, one) and not _is_bead(board, one)]
    return tuple(sorted(str(name) for name in board.footprints.reference[rows].tolist()))


def _footprints(board: Board, name: str) -> list[int]:
    return sorted(set(board.pads.footprint[_part(board, name)].tolist()))


def _is_bead(board: Board, *footprints: int) -> bool:
    """Tell whether a part is a ferrite bead, by its reference, value or footprint: some are called L1."""
    texts = board.footprints
    return any(
        letters_of(str(texts.reference[one])) == "FB"
        or _BEAD.search(f"{texts.value[one]} {texts.library_id[one]}") is not None
        for one in footprints
    )


def _pads(board: Board, names: tuple[str, ...], net: int) -> tuple[tuple[int, ...], tuple[float, float] | None, float]:
    """Return the regulator's pads on the rail, their middle, None where there are none, and their side."""
    pads = board.pads
    chosen = np.zeros(len(pads), dtype=bool)
    for name in names:
        chosen |= _part(board, name)
    chosen &= pads.net == net
    if not chosen.any():
        return (), None, UNKNOWN_MM
    side = float(np.sqrt((pads.size_x_mm[chosen] * pads.size_y_mm[chosen]).sum()))
    middle = float(pads.x_mm[chosen].mean()), float(pads.y_mm[chosen].mean())
    return tuple(np.flatnonzero(chosen).tolist()), middle, max(side, SMALLEST_MM)


def _part(board: Board, name: str) -> NDArray[np.bool_]:
    """Tell which pads are those of a part, or of the part of `U7.3`."""
    own = part_pads(board, name)
    return own if own.any() else part_pads(board, name.rpartition(".")[0])


def _range(value: Interval, scale: float, unit: str) -> str:
    if value.low == value.high:
        return f"{value.nominal * scale:.3g} {unit}"
    return f"{value.low * scale:.3g} to {value.high * scale:.3g} {unit}"
