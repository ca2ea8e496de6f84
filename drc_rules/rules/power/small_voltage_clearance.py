"""Copper is closer to copper of another voltage than IPC-2221B or IPC-9592 has it.

What it checks
--------------
The clearances on each layer between nets whose voltages are known and differ by more than 30 V: rails as `[[rail]]`
declares them, else nets whose name states a voltage (`+48V`, `VIN_54V0`), and ground. The minimum is that of IPC-2221B
table 6-1 for the voltage between the two: class B1 on inner layers; outside B4 where solder mask covers both sides, A6
between pads of different parts, B2 between other bare copper. At 48 V that is 0.1, 0.13, 0.4 and 0.6 mm. The table
names no pair of which mask covers one side only, e.g. a pad next to a fill: below B4 it fails, from the class of its
bare side on (A6 for a pad) it passes, and between them it is not verifiable.

A second clause compares outer layers with IPC-9592, for power converters: from 100 V on 0.6 mm plus 0.005 mm per volt,
2.6 mm at 400 V. Both are information.

Why it matters
--------------
Racks feed AI boards with 48 to 54 V. Dirt, moisture and flux let a current creep between bare copper, until the surface
chars and the rail arcs. Inside, copper grows along the glass in years of moisture (conductive anodic filaments, CAF).

How to fix
----------
Give the rail a net class with the clearance of the finding, refill the zones, and keep bare pads and test points apart.

What it cannot see
------------------
Nets of unknown voltage: switching nodes, gates, what lies behind a fuse. Pads of one part, which the part sets. Slots,
height above sea level, transients, safety standards. IPC-9592B's steps below 100 V: no clean text has them.

Sources
-------
IPC-2221B table 6-1, as the calculator of KiCad 8 lists it; the standard itself was not read. Edition C of 2023, at
second hand, wants about twice as much under mask: 0.3 mm at 48 V, where B wants 0.13 mm. IPC-9592: a page on power
supplies and TI SLUP421, which leave open whether it holds for inner layers. Hence never more than information.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import between, more_pairs, place
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM
from drc_rules.analysis.power.voltage_spacing import (
    BARE,
    INNER,
    MASKED,
    WORDS,
    conversion_spacing_mm,
    differences_v,
    kinds_of,
    net_volts,
    spacing_mm,
    spacing_table,
    strict_kinds_of,
    voltage_spaces,
    widest_volts,
)
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.report.findings import Measured
from drc_rules.report.numbers import clearance_text, rounded_mm
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.shapes import Mask, pad_rows
from stackup_lib.core.facts import Confidence, MissingFact

PLACES_SHOWN = 20

FORMULA = """
s ≥ s_min - 0.001

s: clearance that misses its minimum by most, else the smallest [mm]
s_min: of the standard, for the voltage and the layer [mm]
U: voltage between the two nets [V]
"""


_BOARDS, _CONVERTERS = "voltage_clearance", "conversion_clearance"
WHY_OUTSIDE = "At this voltage a current creeps between bare or dirty copper until the surface chars"
WHY_INSIDE = "At this voltage copper grows along the glass from one to the other in years of moisture"
COVER = ", or cover both with solder mask"
_NAMES = {_BOARDS: "IPC-2221B", _CONVERTERS: "IPC-9592"}


def _least_mm(clause: Clause, volts: float, kind: str) -> float:
    return conversion_spacing_mm(volts) if clause.kind == _CONVERTERS else spacing_mm(volts, kind)


def _layers(ctx: Context, clause: Clause) -> Iterator[int]:
    """The layers of a board that has two nets so far apart in voltage that the standard states a distance."""
    if _least_mm(clause, ctx.get(widest_volts), BARE) > 0:
        last = ctx.board.layer_count - 1
        yield from sorted({0, last}) if clause.kind == _CONVERTERS else range(last + 1)


@rule("PDN008", kinds=(_BOARDS, _CONVERTERS), over=_layers, formula=FORMULA, reads_fills=True)
def small_voltage_clearance(ctx: Context, clause: Clause, layer: int) -> Iterator[DraftFinding]:
    """Yield one finding for the clearances of a layer that are below those for their voltage."""
    board, name = ctx.board, ctx.board.copper_layers[layer].name
    if len(unfilled_zones(board, (layer,))):
        raise MissingFact(f"the zone fills on {name}", FILL_ZONES)
    spaces, volts, kinds, least = _asked(ctx, clause, layer)
    half_v = spacing_table().above_v / 2
    if not all(one.declared for one in ctx.get(net_volts).values() if abs(one.volts) > half_v):
        ctx.rests_on(Confidence.MEDIUM)
    if not len(spaces):
        return
    worst = _worst_of_nets(spaces, least)
    row = int(worst[0])
    gap, limit, volt = float(spaces.gap_mm[row]), float(least[row]), float(volts[row])
    ctx.shows(name, s=gap, s_min=limit, U=volt)
    worst = worst[spaces.gap_mm[worst] < least[worst] - TOLERANCE_MM]
    if not len(worst):
        if clause.kind == _BOARDS:
            _refuse_half_bare(ctx, spaces, volts, name)
        return
    pairs, standard = spaces.where(worst), _NAMES[clause.kind]
    where = f"{WORDS[kinds[row]]}: {name}, {between(board, pairs)}"
    yield DraftFinding(
        title=f"{clearance_text(gap)}, {standard} {limit:g} mm for {volt:g} V, {where}{more_pairs(pairs)}",
        why=WHY_INSIDE if kinds[row] == INNER else WHY_OUTSIDE,
        fix=f"Give the nets a net class with a clearance of {limit:g} mm and refill the zones"
        + (COVER if kinds[row] == BARE and clause.kind == _BOARDS else ""),
        ids=(name, standard) if clause.kind == _CONVERTERS else (name,),
        measured=Measured(value=rounded_mm(gap), unit="mm"),
        limit_value=limit,
        places=tuple(place(ctx.copper, pairs, one) for one in range(min(len(pairs), PLACES_SHOWN))),
        counted=len(pairs),
    )


def _refuse_half_bare(ctx: Context, spaces: Spaces, volts: Floats, layer: str) -> None:
    """Raise `MissingFact` for pairs with one bare side that are closer than two bare ones may be."""
    strict = strict_kinds_of(ctx.board, spaces)
    asked = [spacing_mm(volt, kind) if kind else 0.0 for volt, kind in zip(volts.tolist(), strict, strict=True)]
    least = np.array(asked)
    close = np.flatnonzero(spaces.gap_mm < least - TOLERANCE_MM)
    if not len(close):
        return
    row = int(close[np.argmin(spaces.gap_mm[close] / least[close])])
    pairs = spaces.where(np.array([row]))
    gap, bare = clearance_text(float(spaces.gap_mm[row])), strict[row]
    raise MissingFact(
        f"whether class B4 or {bare} of IPC-2221B holds where mask covers one of two: {gap} at {volts[row]:g} V on "
        f"{layer}, B4 {spacing_mm(float(volts[row]), MASKED):g} mm, {bare} {least[row]:g} mm, "
        f"{between(ctx.board, pairs)}, {len(close)} in all",
        f"give the nets a net class with a clearance of {least[row]:g} mm, or agree on B4 with the customer",
    )


def _asked(ctx: Context, clause: Clause, layer: int) -> tuple[Spaces, Floats, list[str], Floats]:
    """Return the spaces of a layer for which the standard states a distance, volts, classes, and these in mm."""
    found = ctx.get(voltage_spaces).on(layer)
    volts = differences_v(ctx, found)
    known = np.flatnonzero((volts > spacing_table().above_v) & ~_of_one_part(ctx.board, found))
    spaces, volts = found.where(known), volts[known]
    kinds = kinds_of(ctx.board, spaces)
    least = np.array([_least_mm(clause, volt, kind) for volt, kind in zip(volts.tolist(), kinds, strict=True)])
    rows = np.flatnonzero(least > 0)
    return spaces.where(rows), volts[rows], [kinds[row] for row in rows.tolist()], least[rows]


def _worst_of_nets(spaces: Spaces, least_mm: Floats) -> Ints:
    """Return the row of the space between every two nets that misses its minimum by most, the worst first."""
    order = np.argsort(spaces.gap_mm / least_mm, kind="stable")
    one, other = spaces.one.net[order], spaces.other.net[order]
    _, first = np.unique(np.minimum(one, other) << 32 | np.maximum(one, other), return_index=True)
    return np.asarray(order[np.sort(first)])


def _of_one_part(board: Board, spaces: Spaces) -> Mask:
    """Which spaces are between two pads of one part."""
    one, other = pad_rows(board, spaces.one), pad_rows(board, spaces.other)
    pads = (one >= 0) & (other >= 0)
    same = np.zeros(len(spaces), dtype=np.bool_)
    part = board.pads.footprint
    same[pads] = part[one[pads]] == part[other[pads]]
    return same
