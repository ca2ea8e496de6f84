"""The delay of a via or pin that changes layers. Lengths in mm, delays in ps.

A field solution gives its capacitance, the return path its inductance (`stackup_lib.vias.via_circuit`). Held against
layer changes in a 3-D field solver, `fixtures/reference/openems_vias.toml`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from drc_rules.analysis.via.antipads import USUAL_CLEARANCE_MM
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs.holes import drilled_one_mm
from stackup_lib.core.interval import Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.core.record import record
from stackup_lib.nets.routing.routes import Crossing, Route, pin_layers
from stackup_lib.vias.plated_holes import Backdrill, backdrills_of, drill_from

if TYPE_CHECKING:
    from stackup_lib.vias.via_circuit import ModelledVia

LINE_OHM = 50.0
"""Lines that a via joins; between 42 and 58 ohm its delay moves by 5 %, more where most of it is a stub."""

MODEL_SPREAD = 0.10
"""How far the delay may be off where the return path is known: 17 vias of a 3-D field solver are all within."""

SLOWEST_GHZ = 5.0
"""The return path is no longer than that of a lone via at this frequency: there planes are its return."""

DK_AT_GHZ = 1.0
"""Where the Dk of the laminates is read."""

BARREL_LOADING = (1.0, 1.5, 2.2)
"""Dk_eff over Dk of a barrel whose drill or pad is not stated, or without planes: bare, usual, and with all its pads
between planes (2.1 by a 3-D solution of through vias of 1.5 mm, signal-integrity test board of Antmicro, openEMS)."""


@record
class Climb:
    """A via that changes layers, or a plated pin from the side of its part to that of its trace.

    Attributes:
        upper, lower: the layers that it joins.
        top, bottom: where its barrel ends: the two layers themselves, or beyond what backdrills leave.
        drill_mm: finished; NaN where the file does not say.
        has_all_pads: on layers that it only passes, too.
        clearance_mm: of its net.
    """

    upper: int
    lower: int
    top: int
    bottom: int
    drill_mm: float
    pad_mm: float
    has_all_pads: bool
    clearance_mm: float


def climb_of(ctx: Context, crossing: Crossing) -> Climb | None:
    """Return what a via on a route climbs, None where the route leaves it on the layer that it came on."""
    upper, lower = sorted((crossing.entry_layer, crossing.exit_layer))
    if upper == lower:
        return None
    vias, row = ctx.board.vias, crossing.via
    top, bottom = _ends(ctx, row)
    return Climb(
        upper=upper,
        lower=lower,
        top=min(top, upper),
        bottom=max(bottom, lower),
        drill_mm=round(float(vias.drill_mm[row]), 6),
        pad_mm=round(float(vias.size_mm[row]), 6),
        has_all_pads=bool(vias.remove_unused[row] != 1),
        clearance_mm=ctx.board.project.clearance_mm(ctx.board.nets[int(vias.net[row])]) or 0.0,
    )


def climb_at_pin(ctx: Context, route: Route, *, is_start: bool) -> Climb | None:
    """Return what the plated pin at an end of a route climbs, None for a pad on the surface and a trace on its side."""
    layers, pads = pin_layers(ctx.board, route, is_start=is_start), ctx.board.pads
    row = route.start_pad if is_start else route.end_pad
    if row is None or layers is None or layers[0] == layers[1]:
        return None
    upper, lower = sorted(layers)
    ends, own = (0, ctx.board.layer_count - 1), backdrills_of(pads.drilling, row)
    top, bottom = _left(ctx, ends, own, route.net, float(pads.drill_x_mm[row]))
    return Climb(
        upper=upper,
        lower=lower,
        top=min(top, upper),
        bottom=max(bottom, lower),
        drill_mm=round(float(pads.drill_x_mm[row]), 6),
        pad_mm=round(float(max(pads.size_x_mm[row], pads.size_y_mm[row])), 6),
        has_all_pads=True,
        clearance_mm=ctx.board.project.clearance_mm(ctx.board.nets[route.net]) or 0.0,
    )


def _ends(ctx: Context, row: int) -> tuple[int, int]:
    """Return between which layers the barrel of a via is left by its backdrills, those of the settings among them."""
    vias = ctx.board.vias
    ends = int(vias.start_layer[row]), int(vias.end_layer[row])
    return _left(ctx, ends, backdrills_of(vias.drilling, row), int(vias.net[row]), float(vias.drill_mm[row]))


def _left(ctx: Context, ends: tuple[int, int], own: tuple[Backdrill, ...], net: int, hole_mm: float) -> tuple[int, int]:
    declared = ctx.declarations.backdrills_of(net)
    above, below = (drill_from(side, own, declared, hole_mm) for side in ends)
    return above.must_cut + 1 if above else ends[0], below.must_cut - 1 if below else ends[1]


def via_delay_ps(ctx: Context, climb: Climb) -> Interval:
    """Return the delay of a via: low is that of a bare barrel at least; get it with `Context.get`.

    Raises:
        MissingFact: the stackup does not tell how high it climbs.
    """
    from drc_rules.analysis.via.via_bodies import mean_dk, return_log, rim_log, via_stack  # noqa: PLC0415 - few need it
    from stackup_lib.vias.via_circuit import ModelledVia, log_of_radial_line  # noqa: PLC0415
    from stackup_lib.vias.via_field import ViaBody  # noqa: PLC0415

    heights, layers = ctx.copper_heights_mm(), (climb.upper, climb.lower)
    stack = ctx.get(via_stack, layers, DK_AT_GHZ)
    if stack is None or not (climb.drill_mm > 0 and climb.pad_mm > 0):
        bare = _bare_ps(heights[climb.lower] - heights[climb.upper], mean_dk(ctx, DK_AT_GHZ))
        low, nominal, high = (bare * math.sqrt(factor) for factor in BARREL_LOADING)
        return Interval(low=low, nominal=nominal, high=high)
    barrel = drilled_one_mm(climb.drill_mm, climb.pad_mm)
    pad = max(climb.pad_mm, barrel)
    body = ViaBody(
        barrel_mm=barrel,
        pad_mm=pad,
        antipad_mm=round(pad + 2 * max(climb.clearance_mm, USUAL_CLEARANCE_MM), 6),
        ends_mm=(stack.faces_mm[climb.top][0], stack.faces_mm[climb.bottom][1]),
        padded=tuple(range(climb.top, climb.bottom + 1)) if climb.has_all_pads else layers,
    )
    farthest = log_of_radial_line(barrel, sum(stack.dk) / len(stack.dk), SLOWEST_GHZ)
    via = ModelledVia(stack, body, return_log(body))
    return delay_range_ps(via, layers, (rim_log(body), max(farthest, via.return_log)))


def delay_range_ps(via: ModelledVia, layers: tuple[int, int], logs: tuple[float, float]) -> Interval:
    """Return the delay of a via between lines of `LINE_OHM` on two layers, the upper one first.

    Args:
        via: with its nominal return path.
        layers: that it joins.
        logs: shortest and longest return path, as `ModelledVia.return_log`.
    """
    from stackup_lib.vias.via_circuit import added_delay_ps  # noqa: PLC0415

    stack = via.stack
    paths = (replace(via, return_log=log) for log in (logs[0], via.return_log, logs[1]))
    low, nominal, high = (added_delay_ps(path, layers, LINE_OHM) for path in paths)
    height = stack.middle_mm(layers[1]) - stack.middle_mm(layers[0])
    bare = _bare_ps(height, sum(stack.dk) / len(stack.dk))
    nominal = max(nominal, bare)
    return Interval(
        low=min(max(low * (1 - MODEL_SPREAD), bare), nominal),
        nominal=nominal,
        high=max(high, nominal) * (1 + MODEL_SPREAD),
    )


def _bare_ps(height_mm: float, dk: float) -> float:
    return 1000 * height_mm * math.sqrt(dk) / LIGHT_MM_GHZ
