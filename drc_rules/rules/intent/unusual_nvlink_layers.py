"""NVLink uses fewer or more layers than usual for its kind of board.

What it checks
--------------
The copper layers on which an NVLink net is routed for longer than its two unavoidable breakouts, counted over all its
nets, against the number that the profile states.

Why it matters
--------------
With few layers for that many pairs, they are closer together than crosstalk allows, or change layers. Each additional
layer costs lamination, drilling depth and registration.

How to fix
----------
Spread the pairs over more stripline layers, each between planes; or keep them where crosstalk has been simulated.
Declare nets that are not NVLink (`[[interface]]`).

What it cannot see
------------------
Layers count, not pairs: three pairs on six layers pass like ninety. Names, classes or declarations identify NVLink. One
net with more than 2 mm makes a layer count, even a jump past a connector; planes are not checked.

Sources
-------
Each clause names document, table and row. Breakouts: a ball and its via are 0.7 to 0.9 mm apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.targets.controlled import BREAKOUT_MM
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact

FAMILY = "nvlink"


def _nets(ctx: Context, _clause: Clause) -> tuple[Ints, ...]:
    nets = ctx.nets_of(FAMILY)
    return (nets,) if len(nets) else ()


FORMULA = """
n_min ≤ n ≤ n_max

n: layers with NVLink beyond its breakouts
n_min: usual minimum
n_max: usual maximum
"""


@rule("NET005", kinds=("nvlink_layers",), over=_nets, formula=FORMULA)
def unusual_nvlink_layers(ctx: Context, clause: Clause, nets: Ints) -> Iterator[DraftFinding]:
    """Yield one finding when the count is outside of the clause's limits."""
    rest_on_assignment(ctx, nets)
    layers = _layers(ctx, nets)
    if not layers:
        raise MissingFact("the layers that carry NVLink", "route its nets, then check again")
    least, most = clause.limit.min, clause.limit.max
    count = len(layers)
    ctx.shows("NVLink", n=count, n_min=least or 0.0, n_max=most if most is not None else float("inf"))
    if (least is None or count >= least) and (most is None or count <= most):
        return
    few = least is not None and count < least
    limit = f"minimum {least:g}" if few else f"maximum {most:g}"
    yield DraftFinding(
        title=f"NVLink on {count} layer{'' if count == 1 else 's'}, usual {limit}: {', '.join(layers)}",
        why="Its pairs are close together or change layers" if few else "Every layer costs lamination and registration",
        fix="Spread the pairs over more layers" if few else "Keep them if the pairs need them",
        ids=(FAMILY,),
        measured=Measured(value=count, unit="layers"),
        limit_value=least if few else most,
        places=tuple(Location(layer=name) for name in layers),
        inferred=not any(ctx.assignment.is_declared(net) for net in nets.tolist()),
    )


def _layers(ctx: Context, nets: Ints) -> list[str]:
    """Names of the layers on which one of the nets is routed beyond its breakouts, top to bottom."""
    tracks, board = ctx.board.tracks, ctx.board
    mine = np.isin(tracks.net, nets)
    keys, inverse = np.unique(tracks.net[mine] * board.layer_count + tracks.layer[mine], return_inverse=True)
    lengths = np.bincount(inverse, tracks.length_mm[mine], len(keys))
    found = distinct(keys[lengths > 2 * BREAKOUT_MM] % board.layer_count)
    return [board.copper_layers[index].name for index in found.tolist()]
