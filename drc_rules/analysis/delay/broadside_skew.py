"""What a pair that runs broadside leaves open of its skew: its traces are computed alone, each on its layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drc_rules.analysis.delay.trace_delay import delay_ps_per_mm
from drc_rules.analysis.lines.broadside_pairs import BROADSIDE, broadside_mm
from drc_rules.analysis.lines.solved_lines import LineKey
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact

LEAST_PS = 0.05
"""Less is none to a reader."""


def broadside_ps(
    ctx: Context, nets: Sequence[int], other_nets: Sequence[int], apart_mm: Mapping[LineKey, float]
) -> float:
    """Return what of the skew of two traces is the difference of their layers while they run over one another.

    Coupled traces carry one wave, and lone ones two: the true skew lies between that without it and that with it.

    Args:
        ctx: the board.
        nets: of the first trace.
        other_nets: of the second one; those of another pair are not coupled to the first.
        apart_mm: how much longer the first trace is in each cross section.
    """
    if not any(ctx.pairs.complement_of(net) in other_nets for net in nets):
        return 0.0
    found = ctx.get(broadside_mm, deliberate=True)
    met_mm = sum(found.get(net, 0.0) for net in nets)
    sides = [{key: mm for key, mm in apart_mm.items() if sign * mm > 0} for sign in (1, -1)]
    if not met_mm or not all(sides):
        return 0.0
    lengths = [abs(sum(side.values())) for side in sides]
    sums = [sum(abs(mm) * delay_ps_per_mm(ctx, key)[0].nominal for key, mm in side.items()) for side in sides]
    each = [total / length for total, length in zip(sums, lengths, strict=True)]
    ps = min(met_mm, *lengths) * (each[0] - each[1])
    return ps if abs(ps) >= LEAST_PS else 0.0


def not_modelled(name: str) -> MissingFact:
    """Return what keeps the range of such a pair's skew wide."""
    how = (
        "its traces run broadside, and their coupling is not in the model: put both layers at one distance from their "
        "planes in one dielectric, or route both traces on one layer"
    )
    return MissingFact(f"the skew of {name}: {BROADSIDE}", how)
