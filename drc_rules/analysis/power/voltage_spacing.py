"""Voltages of nets, as declared or by their names, and the distances that IPC-2221B and IPC-9592 ask between them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.requirements.data_files import read_model
from stackup_lib.board.board import Board, Floats
from stackup_lib.copper.clearances import SpaceFinder, Spaces
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.copper.shapes import CopperShape, CopperShapes, Mask, pad_rows
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.nets.net_voltages import volts_of_name

FILE = Path(__file__).with_name("voltage_spacing.toml")

INNER, BARE, MASKED, LEADS = "B1", "B2", "B4", "A6"
"""Classes of IPC-2221B table 6-1."""

WORDS = {INNER: "inside", BARE: "bare copper", MASKED: "under solder mask", LEADS: "pads of parts"}


class _Row(Frozen):
    up_to_v: float
    mm: dict[str, float]


class _PowerConversion(Frozen):
    document: str
    from_v: float
    mm: float
    per_volt_mm: float


class _File(Frozen):
    document: str
    above_v: float
    row: tuple[_Row, ...]
    per_volt_mm: dict[str, float]
    power_conversion: _PowerConversion


@record
class NetVolts:
    """Voltage of a net against ground; `declared` where a `[[rail]]` states it, else its name does."""

    volts: float
    declared: bool


@cache
def spacing_table() -> _File:
    """The table as data."""
    return read_model(FILE, _File)


def spacing_mm(volts: float, kind: str) -> float:
    """Return the smallest distance for a voltage between conductors, in mm; 0 up to 30 V.

    Args:
        volts: difference of the two, DC or peak.
        kind: class of the table, `B1` inside.

    Source: IPC-2221B table 6-1.
    """
    table = spacing_table()
    if volts <= table.above_v:
        return 0.0
    last = table.row[-1]
    row = next((row for row in table.row if volts <= row.up_to_v), last)
    return row.mm[kind] + max(volts - last.up_to_v, 0.0) * table.per_volt_mm[kind]


def conversion_spacing_mm(volts: float) -> float:
    """Return the smallest distance for a voltage on the surface of a power converter, in mm; 0 below 100 V.

    Args:
        volts: difference of the two, DC or peak.

    Source: IPC-9592, spacing of circuit boards, at second hand.
    """
    asked = spacing_table().power_conversion
    return asked.mm + asked.per_volt_mm * volts if volts >= asked.from_v else 0.0


def net_volts(ctx: Context) -> Mapping[int, NetVolts]:
    """Return the voltage of every net that states one, by number; a declared rail wins over its name.

    Of a net that several rails declare, at 5 and at 20 V, the largest counts.
    """
    board = ctx.board
    named = ((net, volts_of_name(name)) for net, name in enumerate(board.nets) if name)
    found = {net: NetVolts(volts, declared=False) for net, volts in named if volts is not None}
    for rail in ctx.declarations.config.rail:
        net = board.net_index.get(rail.net)
        if net is not None and rail.voltage_v is not None:
            is_below = rail.negative or (volts_of_name(rail.net) or 0.0) < 0
            mine = NetVolts(-rail.voltage_v if is_below else rail.voltage_v, declared=True)
            before = found.get(net)
            if before is None or not before.declared or abs(before.volts) < abs(mine.volts):
                found[net] = mine
    return found


def widest_volts(ctx: Context) -> float:
    """Return the largest difference between any two nets whose voltages are known; 0 without any."""
    volts = [one.volts for one in ctx.get(net_volts).values()]
    return max(volts, default=0.0) - min(volts, default=0.0)


def voltage_spaces(ctx: Context) -> SpaceFinder:
    """Return what measures the spaces of the board as far as its voltages require any."""
    board, volts = ctx.board, ctx.get(widest_volts)
    outer = max(conversion_spacing_mm(volts), *(spacing_mm(volts, kind) for kind in (BARE, MASKED, LEADS)))
    last = board.layer_count - 1
    reach = tuple(outer if layer in (0, last) else spacing_mm(volts, INNER) for layer in range(board.layer_count))
    return SpaceFinder(ctx.copper, reach, PostFills(ctx.copper, 0.0, reach))


def differences_v(ctx: Context, spaces: Spaces) -> Floats:
    """Return the voltage between the two sides of each space; NaN where one of them is not known. Shape (spaces,)."""
    known = ctx.get(net_volts)
    volts = np.full(len(ctx.board.nets), np.nan)
    for net, one in known.items():
        volts[net] = one.volts
    return np.asarray(np.abs(volts[spaces.one.net] - volts[spaces.other.net]))


def kinds_of(board: Board, spaces: Spaces) -> list[str]:
    """Return the class of each space: inside, or outside by what solder mask covers."""
    if spaces.layer not in (0, board.layer_count - 1):
        return [INNER] * len(spaces)
    bare = _is_bare(board, spaces.one, spaces.layer) & _is_bare(board, spaces.other, spaces.layer)
    leads = (pad_rows(board, spaces.one) >= 0) & (pad_rows(board, spaces.other) >= 0)
    return [LEADS if lead else BARE if open_ else MASKED for open_, lead in zip(bare, leads, strict=True)]


def strict_kinds_of(board: Board, spaces: Spaces) -> list[str]:
    """Return for each space with one bare side the class of that side, "" for others: the table names no mixed pair."""
    if spaces.layer not in (0, board.layer_count - 1):
        return [""] * len(spaces)
    one, other = _is_bare(board, spaces.one, spaces.layer), _is_bare(board, spaces.other, spaces.layer)
    pads = np.where(one, pad_rows(board, spaces.one), pad_rows(board, spaces.other)) >= 0
    return [(LEADS if pad else BARE) if mixed else "" for mixed, pad in zip(one ^ other, pads, strict=True)]


def _is_bare(board: Board, pieces: CopperShapes, layer: int) -> Mask:
    """Which pieces no mask covers: pads, and vias that say that they are not tented, or whose board does."""
    side, stated = ("front", board.vias.tented_front) if layer == 0 else ("back", board.vias.tented_back)
    rows, is_via = pieces.row, pieces.kind == CopperShape.VIA
    bare = np.asarray(pad_rows(board, pieces) >= 0)
    if not board.ipc4761.get(f"tenting_{side}", True):
        stated = np.where(stated < 0, 0, stated)
    bare[is_via] = stated[rows[is_via]] == 0
    return bare
