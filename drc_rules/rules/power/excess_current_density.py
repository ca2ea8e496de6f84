"""The current density in the copper of a declared rail exceeds its limit.

What it checks
--------------
The highest current density in the copper of each `[[rail]]` that states `max_a_per_mm2`: the mean over a disc of 0.2 mm
diameter, the narrowest neck that matters, on a mesh that resolves the disc. It fails where the limit is exceeded even
with the thickest copper that a fab may deliver for the stated thickness, and by more than the mesh leaves open.
Exceeded with the stated thickness only, it is not verifiable until `copper_um` declares the finished copper. Without
the loads that other tables of its net declare, no rail passes: one table has them all.

Why it matters
--------------
Where antipads and slots leave a narrow bridge, all the current of a plane passes through it: it heats up there, and
adds much of the voltage drop.

How to fix
----------
Widen the bridge: move vias apart or remove their unused pads, extend the plane around them, or add a second layer.
Where the densest place is at a via or a pad of the rail's source or load, add vias and spread them around the pad.

What it cannot see
------------------
Only the densest place is reported. Copper is uniform per layer; each part's pads, and a via up to the outside of its
barrel, are one potential. The ground return and the temperature are left out.

Sources
-------
The limit is the one declared: no density applies to all boards, because a short neck between wide copper stays cool.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.power.power_rails import PowerRails, SolvedRail
from drc_rules.analysis.power.rail_doubt import copper_line_of, unsure
from drc_rules.analysis.power.rail_inputs import loads_of, pads_of_all
from drc_rules.analysis.power.rail_modes import need_all_loads
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.report.numbers import figure
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.core.facts import Confidence
from stackup_lib.core.interval import Interval, Standing

AT_CONTACT_MM = 0.5
"""Current that is dense so near to a via or pad is crowded because it enters or leaves there."""


def _rails(ctx: Context, _clause: Clause) -> Iterator[RailDeclaration]:
    return (row for row in PowerRails(ctx).declared if row.max_a_per_mm2 is not None)


FORMULA = """
J = K / t
J ≤ J_max

J: current density where it is highest [A/mm2]
K: current per width there [A/mm]
t: copper thickness [mm]
J_max: declared limit [A/mm2]
"""


@rule(
    "PDN004", aliases=("dense-neck",), kinds=("rail_current_density",), over=_rails, formula=FORMULA, reads_fills=True
)
def excess_current_density(ctx: Context, _clause: Clause, row: RailDeclaration) -> Iterator[DraftFinding]:
    """Yield one finding per rail whose densest current is past its limit."""
    limit = row.max_a_per_mm2 or float("inf")
    solved = PowerRails(ctx).solved(row)
    peak = solved.peak
    thickness = solved.copper.thickness_mm[ctx.board.layer_index[peak.layer]]
    ctx.shows(f"{row.net} on {peak.layer}", J=peak.a_per_mm2.nominal, K=peak.a_per_mm.nominal, t=thickness, J_max=limit)
    found = _density(solved)
    standing = found.against(maximum=limit)
    if standing is Standing.WITHIN:
        need_all_loads(PowerRails(ctx).declared, row)
        return
    if standing is Standing.UNSURE:
        what = f"current density of {row.net} on {peak.layer} in A/mm2"
        hint = copper_line_of(solved, peak.layer)
        raise unsure(row.net, what, found, f"maximum {limit:g} A/mm2", hint)
    yield DraftFinding(
        title=f"current density {figure(found.nominal)} A/mm2, maximum {limit:g} A/mm2: {row.net} on {peak.layer}, "
        f"{figure(peak.a_per_mm.nominal)} A per mm of width",
        why="Where the current of a wide plane is crowded, copper heats up and adds to the voltage drop",
        fix=_fix(ctx.board, solved),
        ids=(*PowerRails(ctx).ids_of(row), peak.layer),
        measured=Measured(value=round(found.nominal, 3), unit="A/mm2"),
        limit_value=limit,
        places=(Location(layer=peak.layer, net=row.net, x_mm=peak.x_mm, y_mm=peak.y_mm),),
        inferred=solved.confidence is not Confidence.HIGH,
    )


def _fix(board: Board, solved: SolvedRail) -> str:
    """A bridge is widened; where current is crowded at a via or pad of the net, it needs more ways in or out."""
    if _is_at_contact(board, solved):
        return "Add vias and spread them around the pad there, or widen the copper that meets it"
    return "Widen the bridge there, or add copper on another layer"


def _is_at_contact(board: Board, solved: SolvedRail) -> bool:
    """Tell whether the densest place is near the copper of a hole, or of a pad of the source or a load."""
    import shapely  # noqa: PLC0415 - heavy, and only a finding needs it

    from stackup_lib.power.rail_drop.net_copper import pad_area  # noqa: PLC0415

    peak, layer = solved.peak, solved.layer_index[solved.peak.layer]
    vias = board.vias
    here = (vias.net == solved.net) & (vias.start_layer <= layer) & (vias.end_layer >= layer)
    radius_mm = np.fmax(vias.pad_size_mm[here, layer], vias.drill_mm[here]) / 2
    if (np.hypot(vias.x_mm[here] - peak.x_mm, vias.y_mm[here] - peak.y_mm) <= radius_mm + AT_CONTACT_MM).any():
        return True
    ends = pads_of_all(board, solved.row, solved.row.from_, "from", "where it is fed")
    loads, _ = loads_of(board, solved.row, solved.current_a)
    place = shapely.Point(peak.x_mm, peak.y_mm)
    return any(
        holds_layer(board.pads.layers[[pad]], layer)[0] and pad_area(board, pad).dwithin(place, AT_CONTACT_MM)
        for pad in (*ends, *(pad for load in loads for pad in load.pads))
    )


def _density(solved: SolvedRail) -> Interval:
    """The density where it is highest, with what its mesh leaves open and what the finished copper there may be."""
    peak = solved.peak
    thin, stated, thick = solved.range_of(peak.layer)
    found = peak.a_per_mm2
    return Interval(low=found.low * stated / thick, nominal=found.nominal, high=found.high * stated / thin)
