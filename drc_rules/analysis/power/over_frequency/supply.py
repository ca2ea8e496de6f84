"""The regulator of a rail: its output resistance and inductance, and where it feeds the planes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.power.rail_inputs import need_fitted, part_pads
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.core.interval import Interval
from stackup_lib.nets.two_pin_parts import PartKind, TwoTerminalParts, is_left_out
from stackup_lib.power.over_frequency.regulators import any_regulator, regulator_kinds

SMALLEST_MM, UNKNOWN_MM = 1.0, 5.0
"""Side of the square in which the regulator feeds the planes: at least, and where its parts are not known."""


@dataclass(frozen=True)
class Supply:
    """A regulator as R and L to ground.

    Attributes:
        resistance_ohm, inductance_h: of its output.
        at_mm: where its parts meet the rail; None where they are not known.
        size_mm: side of the square of its pads.
        words: its kind, values and why.
        is_declared: neither of its values is assumed.
    """

    resistance_ohm: Interval
    inductance_h: Interval
    at_mm: tuple[float, float] | None
    size_mm: float
    words: str
    is_declared: bool


def supply_of(board: Board, parts: TwoTerminalParts, row: RailDeclaration | None, net: int) -> Supply:
    """Return the regulator: as declared, else the range of its kind; an inductor on the rail speaks for a buck.

    Raises:
        MissingFact: a declared source is not fitted.
    """
    inductors = _inductors(board, parts, net)
    names = row.from_ if row is not None and row.from_ else inductors
    for name in row.from_ if row is not None else ():
        need_fitted(board, board.nets[net], name, "from", np.flatnonzero(_part(board, name)).tolist())
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
    values = f"{_range(resistance, 1e3, 'mOhm')}, {_range(inductance, 1e9, 'nH')}"
    words = f"{values}, declared" if all(declared) else f"{values}: {kind.title}, {why}"
    at, size = _pads(board, names, net)
    return Supply(resistance, inductance, at, size, words, all(declared))


def _inductors(board: Board, parts: TwoTerminalParts, net: int) -> tuple[str, ...]:
    on_rail = (parts.first_net == net) | (parts.second_net == net)
    found = parts.footprint[on_rail & (parts.kind == PartKind.INDUCTOR)].tolist()
    rows = [footprint for footprint in found if not is_left_out(board, footprint)]
    return tuple(sorted(str(name) for name in board.footprints.reference[rows].tolist()))


def _pads(board: Board, names: tuple[str, ...], net: int) -> tuple[tuple[float, float] | None, float]:
    """Return the middle of the regulator's pads on the rail, None where there are none, and their side."""
    pads = board.pads
    chosen = np.zeros(len(pads), dtype=bool)
    for name in names:
        chosen |= _part(board, name)
    chosen &= pads.net == net
    if not chosen.any():
        return None, UNKNOWN_MM
    side = float(np.sqrt((pads.size_x_mm[chosen] * pads.size_y_mm[chosen]).sum()))
    return (float(pads.x_mm[chosen].mean()), float(pads.y_mm[chosen].mean())), max(side, SMALLEST_MM)


def _part(board: Board, name: str) -> NDArray[np.bool_]:
    """Tell which pads are those of a part, or of the part of `U7.3`."""
    own = part_pads(board, name)
    return own if own.any() else part_pads(board, name.rpartition(".")[0])


def _range(value: Interval, scale: float, unit: str) -> str:
    if value.low == value.high:
        return f"{value.nominal * scale:.3g} {unit}"
    return f"{value.low * scale:.3g} to {value.high * scale:.3g} {unit}"
