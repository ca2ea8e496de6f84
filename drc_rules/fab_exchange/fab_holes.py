"""Holes and via protection of a fab pack, as the board file states them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from drc_rules.fab_exchange.fab_table import NOT_STATED, FabTable, figure
from drc_rules.facts.context import Context
from drc_rules.release.board_side import board_side
from stackup_lib.board.board import Board

Flags = NDArray[np.int8]

TYPES = (
    "IPC-4761: I tented, II tented and covered, III plugged, IV plugged and covered, V filled, VI filled and covered, "
    "VII filled and capped; a one side, b both sides."
)


def holes_table(ctx: Context) -> FabTable:
    """Return holes by span, plating and size; slots by their width."""
    side = board_side(ctx)
    tolerance = ctx.declarations.config.order.hole_tolerance_mm
    thickness = side.stackup.thickness_mm if side.stackup else None
    rows = []
    for (first, last, is_plated, is_slot), sizes in sorted(side.holes.items()):
        is_through = (first, last) == (0, len(side.names) - 1)
        for size, many in sorted(sizes.items()):
            ratio = f"{thickness / size:.1f}" if thickness and is_through and is_plated and size > 0 else ""
            rows.append(
                (
                    side.name(first),
                    side.name(last),
                    "yes" if is_plated else "no",
                    "slot" if is_slot else "round",
                    figure(size),
                    "" if not is_plated else NOT_STATED if tolerance is None else f"+-{tolerance:g}",
                    ratio,
                    str(many),
                )
            )
    head = ("from", "to", "plated", "shape", "finished mm", "tolerance mm", "board / hole", "holes")
    remarks = ("Diameters are finished sizes, vias and pads together; of a slot its width.",)
    return FabTable(name="holes", title="Holes", head=head, rows=tuple(rows), remarks=remarks if rows else ())


def protection_table(ctx: Context) -> FabTable:
    """Return vias by span, size and type of protection after IPC-4761."""
    board, names = ctx.board, [layer.name for layer in ctx.board.copper_layers]
    found: Counter[tuple[int, int, float, str]] = Counter()
    vias = board.vias
    types = via_types(board)
    columns = (vias.start_layer.tolist(), vias.end_layer.tolist(), vias.drill_mm.tolist(), types)
    for first, last, drill, kind in zip(*columns, strict=True):
        found[first, last, round(drill, 6), kind] += 1
    rows = tuple((names[a], names[b], figure(drill), kind, str(n)) for (a, b, drill, kind), n in sorted(found.items()))
    head = ("from", "to", "finished mm", "IPC-4761 type", "vias")
    return FabTable(name="vias", title="Via protection", head=head, rows=rows, remarks=(TYPES,) if rows else ())


def via_types(board: Board) -> list[str]:
    """Return the type of each via by IPC-4761; `NOT_STATED` where it is not stated whether it is tented."""
    vias = board.vias
    filled, capped = _of(board, vias.filled, "filling"), _of(board, vias.capped, "capping")
    sides = {
        what: (
            _of(board, getattr(vias, f"{what}_front"), f"{setting}_front"),
            _of(board, getattr(vias, f"{what}_back"), f"{setting}_back"),
        )
        for what, setting in (("tented", "tenting"), ("covered", "covering"), ("plugged", "plugging"))
    }
    many = {what: (front == 1).astype(int) + (back == 1).astype(int) for what, (front, back) in sides.items()}
    unsaid = (sides["tented"][0] == -1) | (sides["tented"][1] == -1)
    found = []
    for k in range(len(vias)):
        tented, covered, plugged = (int(many[what][k]) for what in ("tented", "covered", "plugged"))
        if filled[k] == 1 and capped[k] == 1:
            found.append("VII")
        elif filled[k] == 1:
            found.append(_sided("VI", covered) if covered else "V")
        elif capped[k] == 1:
            found.append("capped, not filled: no type")
        elif plugged:
            found.append(_sided("IV" if covered else "III", plugged))
        elif covered:
            found.append(_sided("II", covered))
        elif tented:
            found.append(_sided("I", tented))
        else:
            found.append(NOT_STATED if unsaid[k] else "open")
    return found


def _of(board: Board, column: Flags, setting: str) -> Flags:
    """Return 1 yes, 0 no, -1 not stated, with the board's own setting where a via has none."""
    default = board.ipc4761.get(setting)
    return column if default is None else np.where(column == -1, np.int8(default), column).astype(np.int8)


def _sided(kind: str, sides: int) -> str:
    return f"{kind}-{'b' if sides == 2 else 'a'}"
