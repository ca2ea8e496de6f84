"""How far a load is from its regulator, as inductance: of the supply path over its return plane, from the DC solution.

Currents flow as they do at DC, all of it to the load that drops most, and return in the plane of the return net nearest
to each layer. Between a layer and its return flows what all layers beyond carry: a gap h holds mu0 h K^2/2 per area, K
being the sum of their currents per width, so that L I^2 is the sum of mu0 h K^2 over the gaps. For one layer that is
mu0 h P/Rs, with the power P that it loses. At higher frequencies current spreads so that the inductance becomes less.
Narrow copper is corrected by w/(w + 1.4 h), with the width that its squares and the distance give, as a trace over a
plane is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail, all_at_the_worst
from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.analysis.power.rail_ends import return_ends
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Floats
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.copper.cuts.board_area import board_area_mm2
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.power.copper import sheet_resistance_ohm
from stackup_lib.transmission_lines.materials.conductor_models import MU0

if TYPE_CHECKING:
    from stackup_lib.power.rail_drop.rail_models import RailDrop

GROUND_SHARE = 0.25
"""A layer with the return net on this share of the board carries return current."""

FRINGE = 1.4
"""Heights by which the fields of a trace over a plane widen it; `trace_inductance_h` has the same."""

SURE = (0.5, 1.5)
"""What the inductance may be of its nominal value: current that spreads, holes, gaps in the plane. Engineering."""

LEAST_SHARE = 0.02
"""A layer that loses less of the rail's power than this does not need a plane."""


@record
class RailReach:
    """What lies between a regulator and the load that drops most, for all of the rail's current.

    Attributes:
        load: its name.
        distance_mm: pad to pad.
        inductance_h: of the supply path over its return; its low end is less where loads that are nearer may take their
            part of a step.
        resistance_ohm: of the supply path.
    """

    load: str
    distance_mm: float
    inductance_h: Interval
    resistance_ohm: Interval


@record
class _Stack:
    """Layers of a rail on one side of their return plane, the nearest first.

    Attributes:
        gap_mm: of dielectric, and of other copper, under each layer: to its return or to the layer before.
        copper_mm: of each layer.
    """

    layers: tuple[str, ...]
    gap_mm: tuple[float, ...]
    copper_mm: tuple[float, ...]


def rail_reach(ctx: Context, number: int) -> RailReach:
    """Return the reach of a rail by its number in the settings file; ask with `Context.get`.

    Raises:
        MissingFact: the rail cannot be solved, its return net is not known, or no plane of that is filled.
    """
    row = ctx.declarations.config.rail[number]
    solved = PowerRails(ctx).solved(row)
    drop = all_at_the_worst(ctx, solved)
    stacks = _stacks(ctx, solved, _layers(drop))
    squares = [_squares(solved, drop, stack.layers) for stack in stacks]
    width_mm = solved.distance_mm / sum(float(one.sum()) for one in squares)
    nominal = MU0 * 1e-3 * sum(_reach_mm(stack, of, width_mm) for stack, of in zip(stacks, squares, strict=True))
    shared = min(1.0, solved.drop.worst.drop_v.nominal / drop.worst.drop_v.nominal)
    low, high = SURE
    inductance = Interval(low=low * shared * nominal, nominal=nominal, high=high * nominal)
    ratio = solved.ratios[solved.drop.loads.index(solved.drop.worst)]
    resistance = ratio.of(drop.power_w).times(solved.current_a**-2)
    return RailReach(drop.worst.name, solved.distance_mm, inductance, resistance)


def _layers(drop: RailDrop) -> list[str]:
    total = sum(drop.layer_power_w.values())
    return [name for name, watt in drop.layer_power_w.items() if watt >= LEAST_SHARE * total]


def _squares(solved: SolvedRail, drop: RailDrop, layers: Sequence[str]) -> Floats:
    """The integral of K1.K2 over I^2 for every two layers; for one that carries all current, length over width.

    On the diagonal that is P/(Rs I^2).
    """
    own = np.array([drop.layer_power_w[name] / (_sheet_ohm(solved, name) * solved.current_a**2) for name in layers])
    alike = np.eye(len(layers))
    if len(layers) > 1:
        from stackup_lib.power.rail_drop.overlap import likeness  # noqa: PLC0415 - only where layers share a return

        flow = drop.find_flow()
        for i, one in enumerate(layers):
            for k in range(i):
                alike[i, k] = alike[k, i] = likeness(flow[one], flow[layers[k]])
    return np.asarray(alike * np.sqrt(own[:, None] * own[None, :]))


def _sheet_ohm(solved: SolvedRail, layer: str) -> float:
    _, stated_mm, _ = solved.range_of(layer)
    return sheet_resistance_ohm(stated_mm, solved.copper.temperature_c)


def _reach_mm(stack: _Stack, squares: Floats, width_mm: float) -> float:
    """Sum of h K^2 over the gaps of a stack and the copper between them, over I^2: times mu0 its inductance.

    In copper with a current per width B beyond it and its own A the field rises evenly: h (B^2 + B.A + A^2/3). The
    outermost copper, and that of the return, are left out, as closed forms leave out a trace's own.
    """
    total = height = 0.0
    for k, (gap, copper) in enumerate(zip(stack.gap_mm, stack.copper_mm, strict=True)):
        height += gap
        beyond, own = squares[k + 1 :, k + 1 :], squares[k, k]
        inside = copper * (beyond.sum() + squares[k, k + 1 :].sum() + own / 3) if len(beyond) else 0.0
        total += (gap * squares[k:, k:].sum() + inside) * width_mm / (width_mm + FRINGE * height)
        height += copper
    return float(total)


def _stacks(ctx: Context, solved: SolvedRail, layers: Sequence[str]) -> list[_Stack]:
    """The layers by the return plane nearest to each, and the side of it."""
    faces = ctx.copper_faces_mm()
    grounds = [k for k in _return_layers(ctx, solved) if k < len(faces)]
    found: dict[tuple[int, bool], list[tuple[float, str]]] = {}
    for name in layers:
        own = solved.layer_index[name]
        gaps = [(max(faces[k][0] - faces[own][1], faces[own][0] - faces[k][1]), k) for k in grounds if k != own]
        if not gaps:
            raise _no_plane(ctx, solved.row, _return_net(ctx, solved))
        gap, ground = min(gaps)
        found.setdefault((ground, own < ground), []).append((gap, name))
    return [_stack(sorted(mine), faces, solved) for mine in found.values()]


def _stack(mine: Sequence[tuple[float, str]], faces: Sequence[tuple[float, float]], solved: SolvedRail) -> _Stack:
    copper = [faces[solved.layer_index[name]][1] - faces[solved.layer_index[name]][0] for _, name in mine]
    between = [far - near - thick for ((near, _), (far, _)), thick in zip(pairwise(mine), copper, strict=False)]
    return _Stack(tuple(name for _, name in mine), (mine[0][0], *between), tuple(copper))


def _return_layers(ctx: Context, solved: SolvedRail) -> list[int]:
    net = _return_net(ctx, solved)
    found = _planes_of(ctx).get(net, [])
    if not found:
        raise _no_plane(ctx, solved.row, net)
    return found


def _planes_of(ctx: Context) -> dict[int, list[int]]:
    """Of each net the layers of which it fills enough to carry return current."""
    least = GROUND_SHARE * (board_area_mm2(ctx.board) or float("inf"))
    found: dict[int, list[int]] = {}
    for layer, use in enumerate(ctx.filled_uses()):
        for net, area in use.fill_mm2.items():
            if net and area >= least:
                found.setdefault(net, []).append(layer)
    return found


def _return_net(ctx: Context, solved: SolvedRail) -> int:
    """The net by which the rail's current returns; where its ends have no pads on one, the only ground with a plane."""
    board, row = ctx.board, solved.row
    try:
        ends = return_ends(board, row, [load.name for load in solved.drop.loads])
    except MissingFact:
        if row.ground and row.ground in board.net_index:
            return board.net_index[row.ground]
        grounds = [net for net in _planes_of(ctx) if is_ground(board.nets[net])]
        if len(grounds) > 1:
            raise
        if not grounds:
            raise _no_plane(ctx, row, None) from None
        return grounds[0]
    if ends.inferred:
        ctx.rests_on(Confidence.MEDIUM)
    return ends.net


def _no_plane(ctx: Context, row: RailDeclaration, net: int | None) -> MissingFact:
    plane = "a ground plane" if net is None else f"a plane of {ctx.board.nets[net]}"
    hint = in_table(row.net, f'ground = "?"  # the net of its return; or add {plane}, then {FILL_ZONES}')
    return MissingFact(f"{plane} for the return of {row.net}: none fills a quarter of the board", hint)
