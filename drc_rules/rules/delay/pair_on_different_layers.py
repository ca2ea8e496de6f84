"""The two traces of a high-speed pair run on different layers.

What it checks
--------------
Every routed pair of a high-speed interface, from end to end: the length that one trace runs on a layer where the other
does not, while the other runs as far elsewhere. It is compared with a tenth of a wavelength at the Nyquist frequency;
where the generation is not known, at that of the slowest, and what depends on it is not verifiable. Neither is an
interface of which a pair is not routed from end to end, unless another one fails. What lies over the other trace on the
next layer, more than a fifth of the pair, is a broadside pair and does not count.

Why it matters
--------------
Traces on different layers are no pair: impedance, delay and loss differ, each has its own return current, and part of
the signal turns into common mode.

How to fix
----------
Route both traces on the same layer, and change layers with both vias next to each other.

What it cannot see
------------------
Broadside pairs with a layer between are reported: suppress them. Where the traces of a pair take turns on two layers
with equal lengths on each, nothing is found.

Sources
-------
A tenth of a wavelength is lumped: what is shorter spoils an edge no more than a pad does.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.pair_layers import PairLayers, layers_of
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, ReturnPaths, too_long
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule

PLACES_SHOWN = 20

FORMULA = """
L ≤ L_max

L: length of each trace on a layer where the other trace does not run [mm]
L_max: a tenth of a wavelength at Nyquist [mm]
"""


def _groups(ctx: Context, _clause: Clause) -> Iterator[HighSpeedGroup]:
    """Groups of which at least one pair was followed from end to end."""
    return (group for group in ReturnPaths(ctx).groups if layers_of(ctx, group).known)


@rule("SKW002", kinds=("pair_on_different_layers",), over=_groups, since="0.1", formula=FORMULA, slow_objects=True)
def pair_on_different_layers(ctx: Context, _clause: Clause, group: HighSpeedGroup) -> Iterator[DraftFinding]:
    """Yield one finding for the pairs of an interface whose traces are too far on different layers."""
    ctx.rests_on(ctx.assignment.confidence_of(group.nets[0]))
    found = layers_of(ctx, group)
    known = found.known
    worst = max(known, key=lambda one: one.apart_mm)
    ctx.shows(f"{group.title}, {worst.name}", L=worst.apart_mm, L_max=group.lumped_mm[-1])
    over = [one for one in known if too_long(ctx, group, one.apart_mm)]
    if over:
        yield _draft(ctx, group, sorted(over, key=lambda one: (-one.apart_mm, one.name)))
        return
    for fact in found.missing:
        raise fact


def _draft(ctx: Context, group: HighSpeedGroup, over: list[PairLayers]) -> DraftFinding:
    worst, board = over[0], ctx.board
    names = [board.copper_layers[k].name for k in worst.layers or ()]
    limit = group.lumped_mm[0]
    more = f" (and {len(over) - 1} more)" if len(over) > 1 else ""
    return DraftFinding(
        title=(
            f"P and N on different layers ({', '.join(names)}) for {worst.apart_mm:.1f} mm, maximum {limit:.1f} mm: "
            f"{group.title}, {worst.name}{more}"
        ),
        why=f"Beyond a tenth of a wavelength at {group.choices[0].nyquist_ghz:g} GHz they are no pair",
        fix="Route both traces on the same layer",
        ids=(group.id,),
        measured=Measured(value=round(worst.apart_mm, 2), unit="mm"),
        limit_value=round(limit, 2),
        places=tuple(
            Location(layer=board.copper_layers[layer].name, net=board.nets[net])
            for one in over[:PLACES_SHOWN]
            for layer, net in zip(one.layers or (), one.nets, strict=False)
        ),
        inferred=not group.declared,
    )
