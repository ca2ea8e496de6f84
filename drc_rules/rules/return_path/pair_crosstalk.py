"""High-speed pairs are routed so close to each other that they couple.

What it checks
--------------
For every layer with pairs of a high-speed interface, apart by the planes that they run over: high-speed pairs of other
links in parallel, for more than a tenth of a wavelength at Nyquist, closer than the interface's guide requires (four
heights over the nearer of these planes, where it states none). For the pair with the most noise, the noise of all these
neighbours is added by power; in phase they add more. For the strongest one the field solver computes the coupled share
at the closest distance; for the others and wider sections the fields of thin wires give the ratio. Timing is unknown:
the value is a maximum.

Why it matters
--------------
Coupled noise adds at the receiver: at the near end the gap decides, in a microstrip at the far end the length as well.
Transmitters next to receivers are the worst case: one is strong, the other weak.

How to fix
----------
Move the pairs apart, bring the plane closer, route transmit and receive pairs on different layers, or use a stripline,
which has little far-end coupling: none where all of its dielectric has one Dk.

What it cannot see
------------------
Single-ended and broadside neighbours and far ends count as quiet. Runs below a tenth of a wavelength (59 % of full
coupling) and gaps beyond four heights (up to 2.4 %) pass. Long microstrips can have a quarter more.

Sources
-------
NVIDIA DG-10931: four heights between PCIe pairs up to Gen4 (nine between transmit and receive). Coupling: the
inductance and capacitance matrices of the traces. Power sum: IEEE 802.3, annex 69B. The limit in percent is engineering
judgement: a warning where a document states the distance, else information.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from drc_rules.analysis.return_path.return_paths import PLACES_SHOWN, Referenced
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.documents import documents
from drc_rules.rules.return_path._pair_neighbours import (
    Crowd,
    Victim,
    asked_heights,
    coupling_of,
    crowd,
    parts_with_pairs,
)
from drc_rules.rules.rule import DraftFinding, rule

if TYPE_CHECKING:
    from stackup_lib.transmission_lines.pair_crosstalk import PairCoupling


def _parts(ctx: Context, _clause: Clause) -> tuple[Referenced, ...]:
    return tuple(parts_with_pairs(ctx))


FORMULA = """
k ≤ k_max

k: coupling at the near end, (k_L + k_C) / 2 · sin(2 π f T), at most up to f_N, of all neighbours by power [%]
k_max: maximum [%]
g: gap from pair to pair [mm]
h: height over the nearer plane [mm]
L: parallel length [mm]
f_N: Nyquist frequency [GHz]
"""


@rule("RET004", aliases=("crowded-pairs",), kinds=("pair_crosstalk",), over=_parts, formula=FORMULA, reads_fills=True)
def pair_crosstalk(ctx: Context, clause: Clause, part: Referenced) -> Iterator[DraftFinding]:
    """Yield one finding for the pairs of an interface on a layer where one has too much crosstalk."""
    ctx.rests_on(ctx.assignment.confidence_of(part.nets[0]))
    most = clause.limit.max or 0.0
    slowest, fastest = (part.group.choices[k].nyquist_ghz or 0.0 for k in (0, -1))
    found = crowd(ctx, part, slowest)
    near = _percent(ctx, found)
    if near <= most and fastest > slowest and _percent(ctx, crowd(ctx, part, fastest)) > most:
        raise generation_of(ctx, part.group.family)
    if (victim := found.noisiest) is None:
        return
    ctx.shows(
        f"{part.group.title} on {ctx.board.copper_layers[part.layer].name}, {ctx.pairs.name[victim.pair]}",
        k=near,
        k_max=most,
        g=victim.run[0],
        h=found.height_mm,
        L=victim.run[1].length_within_mm(found.allowed_mm),
        f_N=slowest,
    )
    if near > most:
        yield _draft(ctx, clause, found, victim)


def _percent(ctx: Context, found: Crowd) -> float:
    """Return the near-end crosstalk of all neighbours of the noisiest pair."""
    if (victim := found.noisiest) is None:
        return 0.0
    return 100 * victim.ratio * _near_end(found, victim, coupling_of(ctx, found.part, victim.run))


def _near_end(found: Crowd, victim: Victim, coupling: PairCoupling) -> float:
    """Return what the loudest neighbour leaves at the near end."""
    length = victim.run[1].length_within_mm(found.allowed_mm)
    return victim.near_share * coupling.near_end(length, found.nyquist_ghz)


def _draft(ctx: Context, clause: Clause, found: Crowd, victim: Victim) -> DraftFinding:
    part, board, pairs, nyquist = found.part, ctx.board, ctx.pairs, found.nyquist_ghz
    gap, worst = victim.run
    layer, length = board.copper_layers[part.layer].name, worst.length_within_mm(found.allowed_mm)
    coupling = coupling_of(ctx, part, victim.run)
    near = _near_end(found, victim, coupling)
    far = victim.far_share * coupling.far_end(length, nyquist)
    names = pairs.name[worst.first], pairs.name[worst.second]
    total = victim.ratio * near
    count = len(found.runs) - 1
    others = "1 more run" if count == 1 else f"{count} more runs"
    more = f", {others} closer than {found.allowed_mm:.2f} mm" if count else ""
    asked = asked_heights(part.group)
    document = documents()[part.group.choices[0].document_of("pair_spacing_heights")] if asked else None
    says = f"{document.publisher} requires {asked:g} heights" if document else "no document states a distance"
    return DraftFinding(
        title=(
            f"near-end crosstalk {100 * near:.1f} % ({20 * math.log10(near):.0f} dB){_with_others(victim, total)}, "
            f"maximum {clause.limit.max:g} %: {part.group.title} on {layer}, {names[0]} and {names[1]}, "
            f"{gap:.2f} mm apart for {length:.0f} mm{more}"
        ),
        why=(
            f"The gap is {gap / found.height_mm:.1f} heights over the nearer plane, {says}. "
            f"Far-end crosstalk is {100 * far:.1f} % at {nyquist:g} GHz"
        ),
        fix="Move the pairs apart, bring the plane closer, or route them on different layers",
        ids=(part.group.id, layer, *(board.copper_layers[plane].name for plane in part.planes)),
        measured=Measured(value=round(100 * total, 2), unit="%"),
        limit_value=clause.limit.max,
        limit_unit=clause.limit.unit,
        places=tuple(
            Location(layer=layer, net=board.nets[int(pairs.positive[run.first])])
            for _, run in found.runs[:PLACES_SHOWN]
        ),
        severity=None if asked else Severity.INFO,
        inferred=not part.group.declared,
    )


def _with_others(victim: Victim, total: float) -> str:
    """Say what all neighbours of the pair add up to, where there are more than one."""
    if not victim.others:
        return ""
    count = "1 more neighbour" if victim.others == 1 else f"{victim.others} more neighbours"
    return f", {100 * total:.1f} % with {count}"
