"""Holes and via protection of a fab pack, as the board file states them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.via.hole_groups import depth_mm, groups_of
from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable, figure_mm, to_um
from drc_rules.facts.context import Context
from drc_rules.release.board_side import board_side
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact
from stackup_lib.vias.build_ups import rows_under_microvias

Flags = NDArray[np.int8]

TYPES = (
    "IPC-4761: I tented, II tented and covered, III plugged, IV plugged and covered, V filled, VI filled and covered, "
    "VII filled and capped; a one side, b both sides."
)
BURIED, COPPER = "buried", "filled with copper"
BURIED_REMARK = "Buried: neither end is on an outer side, so no solder mask covers it; no fill is stated."


def holes_table(ctx: Context) -> FabTable:
    """Return holes by span, plating and size; slots by their width."""
    side, depths = board_side(ctx), _depths_mm(ctx)
    tolerance = ctx.declarations.config.order.hole_tolerance_mm
    rows = []
    for (first, last, is_plated, is_slot), sizes in sorted(side.holes.items()):
        for size, many in sorted(_to_a_micrometre(sizes).items()):
            depth = depths.get((first, last, size)) if is_plated and size > 0 else None
            rows.append(
                (
                    side.name(first),
                    side.name(last),
                    "yes" if is_plated else "no",
                    "slot" if is_slot else "round",
                    figure_mm(size),
                    "" if not is_plated else figure_mm(tolerance),
                    "" if depth is None else f"{depth / size:.1f}",
                    str(many),
                )
            )
    head = ("from", "to", "plated", "shape", "finished mm", "tolerance +- mm", "depth / hole", "holes")
    remarks = (
        "Diameters are finished sizes, as KiCad has them, vias and pads together; of a slot its width.",
        "Depth / hole is by the finished size.",
        "Depth of a microvia is that of the dielectric, of other holes from copper to copper.",
    )
    return FabTable(name="holes", title="Holes", head=head, rows=tuple(rows), remarks=remarks if rows else ())


def _to_a_micrometre(sizes: Mapping[float, int]) -> Counter[float]:
    """Return how many holes there are of each size that a drill table tells apart."""
    found: Counter[float] = Counter()
    for size, many in sizes.items():
        found[to_um(size)] += many
    return found


def _depths_mm(ctx: Context) -> dict[tuple[int, int, float], float]:
    """Return the depth of plated holes by span and diameter; empty where the stackup does not say."""
    try:
        return {(group.top, group.bottom, to_um(group.drill_mm)): depth_mm(ctx, group) for group in ctx.get(groups_of)}
    except MissingFact:
        return {}


def protection_table(ctx: Context) -> FabTable:
    """Return vias by span, size and type of protection after IPC-4761."""
    board, names = ctx.board, [layer.name for layer in ctx.board.copper_layers]
    found: Counter[tuple[int, int, float, str]] = Counter()
    vias = board.vias
    types, under = via_types(board), frozenset(rows_under_microvias(board))
    if ctx.declarations.config.order.copper_fill:
        types = [COPPER if k in under and kind == BURIED else kind for k, kind in enumerate(types)]
    columns = (vias.start_layer.tolist(), vias.end_layer.tolist(), vias.drill_mm.tolist(), types)
    for first, last, drill, kind in zip(*columns, strict=True):
        found[first, last, to_um(drill), kind] += 1
    rows = tuple(
        (names[a], names[b], figure_mm(drill), kind, str(n)) for (a, b, drill, kind), n in sorted(found.items())
    )
    head = ("from", "to", "finished mm", "IPC-4761 type", "vias")
    remarks = [TYPES] if rows else []
    if any(row[3] == BURIED for row in rows):
        remarks.append(BURIED_REMARK)
    if under:
        spans = sorted({(int(vias.start_layer[k]), int(vias.end_layer[k])) for k in under})
        where = ", ".join(f"{names[first]} to {names[last]}" for first, last in spans)
        remarks.append(f"Microvias stand on {len(under)} of these vias ({where}), which have to be filled with copper.")
    return FabTable(name="vias", title="Via protection", head=head, rows=rows, remarks=tuple(remarks))


def via_types(board: Board) -> list[str]:
    """Return the type of each via by IPC-4761; `NOT_STATED` where it is not stated whether it is tented.

    What KiCad stores for a side on which a via does not end is no protection: mask, plug and cover are on outer sides.
    """
    vias = board.vias
    is_outside = vias.start_layer == 0, vias.end_layer == board.layer_count - 1
    filled, capped = _of(board, vias.filled, "filling"), _of(board, vias.capped, "capping")
    sides = {
        what: tuple(
            np.where(ends, _of(board, getattr(vias, f"{what}_{side}"), f"{setting}_{side}"), np.int8(0))
            for side, ends in zip(("front", "back"), is_outside, strict=True)
        )
        for what, setting in (("tented", "tenting"), ("covered", "covering"), ("plugged", "plugging"))
    }
    many = {what: (front == 1).astype(int) + (back == 1).astype(int) for what, (front, back) in sides.items()}
    unsaid = (sides["tented"][0] == -1) | (sides["tented"][1] == -1)
    tented, covered, plugged = many["tented"], many["covered"], many["plugged"]
    first_that_holds = (
        ((filled == 1) & (capped == 1), "VII"),
        ((filled == 1) & (covered > 0), _sided("VI", covered)),
        (filled == 1, "V"),
        (capped == 1, "capped, not filled: no type"),
        ((plugged > 0) & (covered > 0), _sided("IV", plugged)),
        (plugged > 0, _sided("III", plugged)),
        (covered > 0, _sided("II", covered)),
        (tented > 0, _sided("I", tented)),
        (~(is_outside[0] | is_outside[1]), BURIED),
        (unsaid, NOT_STATED),
    )
    conditions, types = zip(*first_that_holds, strict=True)
    found: list[str] = np.select(conditions, [np.asarray(one) for one in types], default=np.asarray("open")).tolist()
    return found


def _of(board: Board, column: Flags, setting: str) -> Flags:
    """Return 1 yes, 0 no, -1 not stated, with the board's own setting where a via has none."""
    default = board.ipc4761.get(setting)
    return column if default is None else np.where(column == -1, np.int8(default), column).astype(np.int8)


def _sided(kind: str, sides: NDArray[np.int_]) -> NDArray[np.str_]:
    return np.where(sides == 2, f"{kind}-b", f"{kind}-a")
