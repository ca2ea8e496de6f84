"""Two neighbouring layers carry signals with no plane between them, and one of them is fast.

What it checks
--------------
Each pair of neighbouring copper layers that both are routed and hold no plane, when a fast interface runs on one of
them; what is shorter than a tenth of a wavelength at its Nyquist frequency does not count. Filled copper, nets and
tracks decide what a layer is, not KiCad's layer type.

Why it matters
--------------
Tracks on neighbouring layers couple broadside, and neither layer gives the other a return path: impedance
changes wherever they cross.

How to fix
----------
Put a ground plane between them, or move the fast nets to a layer with planes on both sides.

What it cannot see
------------------
Layers are compared, not places: one track of some millimetres anywhere on the neighbour is enough for a finding even
where it never comes near the fast nets, and a plane counts wherever on its layer it lies: gap-under-fast-track looks
place by place. A plane is filled copper of nets on 30 % of the outline's bounding box or more: a local ground that does
its work under the fast nets alone is reported, copper drawn as graphics counts as none. Two-layer boards, nets of
unknown generation, DDR, MIPI and USB 2, and runs shorter than a tenth of a wavelength on a layer are left out.

Sources
-------
Each clause names its document. Layer orders: HDI and server stackups of several fabs alternate ground and
signal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.context import LUMPED_SHARE, MM_GHZ_PER_WAVELENGTH, Context, FastLayer
from drc_rules.report import Place
from drc_rules.rule import Draft, rule
from stackup_lib.facts import Confidence
from stackup_lib.roles import LayerUse

MULTILAYER = 4
"""A two-layer board has no room for a plane between; that is a choice, not a mistake."""


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring layers, at least one of them fast.

    Attributes:
        both_routed: a net of either is longer than what is lumped for the fast one.
    """

    upper: LayerUse
    lower: LayerUse
    both_routed: bool
    inferred: bool


def _neighbours(ctx: Context, _clause: Clause) -> Iterator[Neighbours]:
    fast = {f.index: f for name in ctx.assignment.fast_interfaces() for f in ctx.fast_layers(name)}
    if not fast or ctx.board.layer_count < MULTILAYER:
        return
    uses, longest = ctx.filled_uses(), _longest_mm(ctx)
    for index in range(len(uses) - 1):
        here = [fast[i] for i in (index, index + 1) if i in fast]
        if here:
            both_routed = min(longest[index], longest[index + 1]) > _lumped_mm(here)
            yield Neighbours(uses[index], uses[index + 1], both_routed, all(f.inferred for f in here))


def _longest_mm(ctx: Context) -> list[float]:
    """Length of the longest net of each layer."""
    tracks = ctx.board.tracks
    lengths = (
        np.bincount(tracks.net[here], tracks.length_mm[here])
        for here in (tracks.layer == index for index in range(ctx.board.layer_count))
    )
    return [float(np.max(of_nets, initial=0.0)) for of_nets in lengths]


def _lumped_mm(layers: list[FastLayer]) -> float:
    fastest = max(layer.interface.nyquist_ghz or 1.0 for layer in layers)
    return LUMPED_SHARE * MM_GHZ_PER_WAVELENGTH / fastest


@rule("STK011", kinds=("plane_between_signals",), over=_neighbours)
def signal_layers_without_plane(ctx: Context, clause: Clause, pair: Neighbours) -> Iterator[Draft]:
    """Yield one finding when both layers are routed and neither holds a plane."""
    ctx.rests_on(Confidence.MEDIUM)
    if pair.both_routed and not pair.upper.is_plane and not pair.lower.is_plane:
        yield Draft(
            title=f"{pair.upper.name} and {pair.lower.name} both carry signals and no plane lies between them",
            why="tracks couple broadside, and neither layer gives the other a return path",
            fix="put a ground plane between them or move the fast nets",
            ids=(pair.upper.name, pair.lower.name),
            places=(Place(layer=pair.upper.name), Place(layer=pair.lower.name)),
            inferred=pair.inferred,
        )
