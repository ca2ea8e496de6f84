"""How far a load is from its regulator, as inductance: of the supply path over its ground plane, from the DC solution.

Currents flow as they do at DC, and return in the nearest ground plane. A sheet of current K at height h over its return
holds mu0 h K^2/2 per area and loses Rs K^2, so that L I^2 = sum of mu0 h P/Rs over the layers: what each layer loses
tells its share of the inductance. At higher frequencies current spreads so that the inductance becomes less. Narrow
copper is corrected by w/(w + 1.4 h), with the width that its squares and the distance give, as a trace over a plane is.
"""

from __future__ import annotations

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail
from drc_rules.facts.context import NO_PLANE, Context
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.power.copper import sheet_resistance_ohm
from stackup_lib.transmission_lines.materials.conductor_models import MU0

GROUND_SHARE = 0.25
"""A layer with ground on this share of the board carries return current."""

FRINGE = 1.4
"""Heights by which the fields of a trace over a plane widen it; `trace_inductance_h` has the same."""

SURE = (0.5, 1.5)
"""What the inductance may be of its nominal value: current that spreads, holes, gaps in the plane. Engineering."""

LEAST_SHARE = 0.02
"""A layer that loses less of the rail's power than this does not need a plane."""


@record
class RailReach:
    """What lies between a regulator and its farthest load.

    Attributes:
        distance_mm: pad to pad.
        inductance_h: of the supply path over ground.
        resistance_ohm: of the supply path.
    """

    distance_mm: float
    inductance_h: Interval
    resistance_ohm: Interval


def rail_reach(ctx: Context, number: int) -> RailReach:
    """Return the reach of a rail by its number in the settings file; ask with `Context.get`.

    Raises:
        MissingFact: the rail cannot be solved, or no ground plane lies above or below its copper.
    """
    row = ctx.declarations.config.rail[number]
    solved = PowerRails(ctx).solved(row)
    squares = {name: _squares(solved, name) for name in _layers(solved)}
    width_mm = solved.distance_mm / sum(squares.values())
    heights = {name: _height_mm(ctx, row, solved.layer_index[name]) for name in squares}
    nominal = sum(
        MU0 * heights[name] * 1e-3 * many * width_mm / (width_mm + FRINGE * heights[name])
        for name, many in squares.items()
    )
    low, high = SURE
    inductance = Interval(low=low * nominal, nominal=nominal, high=high * nominal)
    return RailReach(solved.distance_mm, inductance, solved.resistance_ohm)


def _layers(solved: SolvedRail) -> list[str]:
    total = sum(solved.drop.layer_power_w.values())
    return [name for name, watt in solved.drop.layer_power_w.items() if watt >= LEAST_SHARE * total]


def _squares(solved: SolvedRail, layer: str) -> float:
    """P/(Rs I^2): of a layer that carries all current, its length over its width."""
    _, stated_mm, _ = solved.range_of(layer)
    sheet = sheet_resistance_ohm(stated_mm, solved.copper.temperature_c)
    return solved.drop.layer_power_w[layer] / (sheet * solved.current_a**2)


def _height_mm(ctx: Context, row: RailDeclaration, layer: int) -> float:
    """From a layer to the nearest with ground, face to face."""
    faces = ctx.copper_faces_mm()
    uses = ctx.filled_uses()
    grounds = [k for k, use in enumerate(uses) if k != layer and use.ground_share >= GROUND_SHARE]
    gaps = [max(faces[k][0] - faces[layer][1], faces[layer][0] - faces[k][1]) for k in grounds if k < len(faces)]
    if not gaps:
        raise MissingFact(f"a ground plane for the return of {row.net}", NO_PLANE)
    return min(gaps)
