"""The thermal pad of a high-power component has no vias, or few.

What it checks
--------------
Every `[[hot_part]]` with a thermal pad that dissipates heat through the board: whether there are plated holes in the
pad at all, and their mean spacing (root of the pad's area over their number), net by net. Copper within a larger pad
adds no area; a custom pad counts as drawn. Vias close to a pad without any, vias in pads of another net, or a pour that
joins the pad, of twenty times its area, make it information. Where the stackup is known, the finding states the thermal
resistance from pad to sink: wall and fill of all holes in parallel with the laminate. Parts with a cooled lid, and
those on a copper coin, are exempt. A part declared to dissipate through the board, without a thermal pad or pads of
ground or supplies, is not verifiable.

Why it matters
--------------
FR-4 conducts heat about 1000 times worse than copper: below a pad of 3.5 mm square, 1.6 mm of it alone are 400 K/W,
nine vias of 0.3 mm are 20. Down to a pitch of about a millimetre further holes help; well below it the copper planes
limit.

How to fix
----------
Place vias of 0.2 to 0.3 mm at 1.0 to 1.2 mm pitch in the pad, filled and capped, connected to planes without thermal
reliefs.

What it cannot see
------------------
Spacing is a mean over the pads of a net: holes in one corner, or of 0.1 mm, count like an even field. Neither power nor
a switching node changes the limit. Whether the vias reach copper is not judged.

Sources
-------
The pitch is engineering practice, which is why a sparse array is information. Fourier's law: see `stackup_lib.thermal`,
with its conductivities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from drc_rules.analysis.thermal.hot_parts import NEAR_MM, HotPartOnBoard, NetPads, holes_near, hot_parts
from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.thermal._heat_spread import adjacent_vias, joined_fills
from drc_rules.rules.thermal._thermal_path import describe, heat_path
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.diff_pairs import UNCONNECTED

LARGE_COPPER = 20
"""From this multiple of the pad's area on, the copper around the pad spreads the heat by itself."""

ROUNDING = 1.05
"""A pitch is a mean: five percent more is no finding."""


def _through_board(ctx: Context, _clause: Clause) -> Iterator[HotPartOnBoard]:
    for part in hot_parts(ctx):
        if (part.is_exposed or _has_no_way(part)) and not part.declared.coin and not part.declared.cools_off_the_top:
            yield part


def _has_no_way(part: HotPartOnBoard) -> bool:
    """True where it is declared that the heat leaves through the board, and no pad is seen by which it could."""
    said = part.declared.cooling == "board" or part.declared.board_w is not None
    return said and not part.pads


FORMULA = """
n_min = ceil(A / (1.05 · p_max)²)
n ≥ n_min

n: vias in the thermal pad
n_min: usual minimum
A: area of the pad [mm2]
p: via pitch, √(A / n) [mm]
p_max: usual maximum pitch [mm]
"""


@rule("THM002", kinds=("thermal_via_array",), over=_through_board, formula=FORMULA, reads_fills=True)
def sparse_thermal_vias(ctx: Context, clause: Clause, part: HotPartOnBoard) -> Iterator[DraftFinding]:
    """Yield one finding per part without vias, or with few; a remark on their thermal resistance."""
    if not part.pads:
        how = f'in the [[hot_part]] of {part.reference}: pads = ["?"]  # numbers of its thermal pads'
        raise MissingFact(f"thermal pads of {part.reference}", how)
    most, told = clause.limit.max or math.inf, False
    for mine in part.by_net:
        count, wanted = len(mine.holes), math.ceil(mine.area_mm2 / most**2 / ROUNDING**2)
        pitch = math.sqrt(mine.area_mm2 / count) if count else math.inf
        ctx.shows(_whose(ctx, part, mine), n=count, n_min=wanted, A=mine.area_mm2, p=pitch, p_max=most)
        if not count:
            yield _without_vias(ctx, part, mine, wanted)
        elif pitch > most * ROUNDING:
            told = len(part.by_net) == 1
            yield DraftFinding(
                title=(
                    f"{_whose(ctx, part, mine)}: thermal via pitch {pitch:.1f} mm, usual maximum {most:g} mm: "
                    f"{_vias(count)} in its {mine.area_mm2:.1f} mm2 thermal pad, usual {wanted}"
                    f"{_resistance(ctx, part) if told else ''}"
                ),
                why="Laminate conducts heat about 1000 times worse than copper",
                fix=f"Add {_vias(wanted - count)} of 0.2 to 0.3 mm to the pad",
                ids=_ids(part, mine),
                measured=Measured(value=round(pitch, 2), unit="mm"),
                limit_value=most,
                places=(part.place(),),
                severity=Severity.INFO,
            )
    if not told and (text := _resistance(ctx, part)):
        yield DraftFinding(
            title=f"{part.reference}: {_vias(len(part.holes))} in its thermal pad{'s' * (len(part.by_net) > 1)}{text}",
            why="It adds to the resistance of the package and from the sink to the air",
            fix=_next_step(part),
            ids=(part.reference, "resistance"),
            places=(part.place(),),
            fails=False,
        )


def _whose(ctx: Context, part: HotPartOnBoard, mine: NetPads) -> str:
    """Return the part, and which of its pads where it has them on several nets."""
    if len(part.by_net) == 1:
        return part.reference
    numbers = ", ".join(dict.fromkeys(pad.number for pad in mine.pads))
    net = ctx.board.nets[mine.net]
    return f"{part.reference} pad {numbers}{f' ({net})' if net and not net.startswith(UNCONNECTED) else ''}"


def _ids(part: HotPartOnBoard, mine: NetPads) -> tuple[str, ...]:
    numbers = sorted({pad.number for pad in mine.pads}) if len(part.by_net) > 1 else []
    return part.reference, *numbers


def _next_step(part: HotPartOnBoard) -> str:
    told = part.declared
    if told.max_k_per_w is None and told.junction_max_c is None:
        return "Set max_k_per_w under [[hot_part]] to have it judged"
    return "See THM003, which judges it by the declared maximum"


def _without_vias(ctx: Context, part: HotPartOnBoard, mine: NetPads, wanted: int) -> DraftFinding:
    adjacent, area = holes_near(part.board, mine.pads, NEAR_MM), mine.area_mm2
    around = sum(float(fill.area) for fill in joined_fills(ctx, part, mine))
    layer = ctx.board.copper_layers[part.layer].name
    near = f"; {_vias(adjacent)} of its net within {NEAR_MM:g} mm" if adjacent else ""
    alone = f"; only the {around:.0f} mm2 of copper on {layer} spread its heat" if around > area else ""
    others = len(part.holes)
    elsewhere = f"; {_vias(others)} in its other pads" if others else ""
    watt = part.declared.through_board_w
    place = f"lace {_vias(wanted)} of 0.2 to 0.3 mm in the pad, filled and capped"
    return DraftFinding(
        title=f"{_whose(ctx, part, mine)}: thermal pad has no vias{f', {watt:g} W' if watt else ''}"
        f"{near or alone or elsewhere}",
        why="Laminate below the pad conducts heat about 1000 times worse than copper",
        fix=f"P{place}" if mine.net else f"Connect the pad to a net, and p{place}",
        ids=_ids(part, mine),
        measured=Measured(value=0, unit="vias"),
        limit_value=wanted,
        places=(part.place(),),
        severity=Severity.INFO if others or adjacent or around > LARGE_COPPER * area else None,
    )


def _resistance(ctx: Context, part: HotPartOnBoard) -> str:
    """Return the array's resistance as text, empty where the stackup does not state it."""
    try:
        path = heat_path(ctx, part)
    except MissingFact:
        return ""
    if path is None:
        return ""
    found, near, watt = path.k_per_w, path.to_plane_k_per_w, part.declared.through_board_w
    text = f", {describe(found.nominal)} ({describe(found.low)} to {describe(found.high)}) K/W to {path.sink_name}"
    adjacent = adjacent_vias(part)
    if near is not None:
        text += f", {describe(near.nominal)} to {path.plane_name}, which spreads heat too"
    elif adjacent:  # so the rise of the pad is not known
        text += f", without {_vias(adjacent)} next to the pad"
    elif watt:
        text += f", {found.nominal * watt:.0f} C at {watt:g} W"
    return text


def _vias(count: int) -> str:
    return f"{count} via" + ("" if count == 1 else "s")
