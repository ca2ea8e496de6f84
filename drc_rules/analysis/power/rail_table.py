"""The rows of a report's table of declared rails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail, WholeDrop
from drc_rules.analysis.power.rail_inputs import current_of
from drc_rules.facts.context import Context
from drc_rules.report.rail_rows import RailLayer, RailLoad, RailRow
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import polygon_areas_mm2
from stackup_lib.core.facts import MissingFact


def rail_rows(ctx: Context) -> tuple[RailRow, ...]:
    """Return one row per declared rail, in the order of the settings file."""
    return tuple(_row(ctx, row) for row in PowerRails(ctx).declared)


def _row(ctx: Context, row: RailDeclaration) -> RailRow:
    has_volts = row.voltage_v is not None
    limit = row.max_drop_v if has_volts or row.max_drop_pct is None else None
    target = row.target_ohm if has_volts else None
    known = RailRow(
        net=row.net,
        voltage_v=row.voltage_v,
        core=row.core,
        source=", ".join(row.from_),
        limit_mv=None if limit is None else limit * 1000,
        target_mohm=None if target is None else target * 1000,
        stated_mohm=row.impedance_mohm,
    )
    try:
        known = known.model_copy(update={"current_a": current_of(ctx, row)[0]})
        whole = PowerRails(ctx).whole(row)
    except MissingFact as missing:
        return known.model_copy(update={"problem": missing.name, "cure": missing.how_to_give})
    return known.model_copy(update=_solution(ctx.board, whole) | _densest(whole.there))


def _densest(solved: SolvedRail) -> dict[str, object]:
    """Return where current is densest, of a rail that limits it: it takes as long as the rest of the solution."""
    if solved.row.max_a_per_mm2 is None:
        return {}
    try:
        return {"densest_a_per_mm2": solved.peak.a_per_mm2.nominal, "densest_layer": solved.peak.layer}
    except MissingFact:
        return {}


def _solution(board: Board, whole: WholeDrop) -> dict[str, object]:
    solved, back = whole.there, whole.back
    drop = solved.drop
    total = drop.power_w.nominal
    return {
        "loads": tuple(
            RailLoad(
                name=load.name,
                current_a=load.current_a,
                drop_mv=whole.of(k).times(1000),
                back_mv=back.of(k).times(1000) if back else None,
                way=tuple(f"{step.name} on {step.layer}" if step.layer else step.name for step in load.route),
            )
            for k, load in enumerate(drop.loads)
        ),
        "drop_mv": whole.worst_v.times(1000),
        "there_mv": solved.drop_of(whole.worst).times(1000),
        "back_mv": back.of(whole.worst).times(1000) if back else None,
        "ground": back.net if back else "",
        "shares_ground": back.counted if back else (),
        "not_counted": _not_counted(whole),
        "loss_w": solved.ratio.of(drop.power_w),
        "resistance_mohm": whole.resistance_ohm.times(1000),
        "layers": tuple(_layers(board, solved)),
        "holes": len(drop.holes),
        "hole_a": drop.holes[0].current_a if drop.holes else None,
        "hole_loss_pct": 100 * drop.barrel_power_w / total if total else None,
        "distance_mm": solved.distance_mm,
        "assumed": (*solved.assumed, *([back.inferred] if back and back.inferred else [])),
    }


def _not_counted(whole: WholeDrop) -> str:
    if whole.missing:
        return f"return path: {whole.missing.name}"
    if whole.back is None:
        return "return path: no copper connects it"
    others = ", ".join(whole.back.left_out)
    return f"what {others} may send through {whole.back.net}" if others else ""


def _layers(board: Board, solved: SolvedRail) -> Iterator[RailLayer]:
    zones, total = board.zones, solved.drop.power_w.nominal
    mine = zones.net[zones.fill_zone] == solved.net
    area = polygon_areas_mm2(zones.fill_x_mm, zones.fill_y_mm, zones.fill_start)
    filled = np.bincount(zones.fill_layer[mine], area[mine], board.layer_count) if len(area) else None
    for name, watt in solved.drop.layer_power_w.items():
        index = board.layer_index[name]
        yield RailLayer(
            layer=name,
            copper_um=1000 * solved.copper.thickness_mm[index],
            fill_mm2=round(float(filled[index]), 1) if filled is not None else 0.0,
            loss_pct=100 * watt / total if total else 0.0,
        )
