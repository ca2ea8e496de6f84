"""Sections of a link that have no plane at all, above or below, and how far off their delay may be. Lengths in mm.

They are computed as over the nearest plane of their layer; no more is known of them than what any line obeys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from drc_rules.analysis.lines.board_lines import lines_of
from drc_rules.analysis.return_path.without_plane import MOST_WITHOUT
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.nets.links import Link
from stackup_lib.return_path.gap_kinds import RING_CLEARANCE_MM
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ

BareKey = tuple[int, float, float | None]
"""Layer, width and gap of a section without a plane."""

SHORTEST_MM = 2 * RING_CLEARANCE_MM
"""A run over void that is no longer is the antipad of a hole, as in every board."""

HIGHEST_DK = 4.7
"""Of a ply that states none: FR-4."""

FILL_ONE = "fill a plane along all of it, or route it over one"


def bare_mm(ctx: Context, link: Link, length_mm: float) -> Mapping[BareKey, float]:
    """Return how much of a link has no plane, by geometry; no more than its length, as branches have none either.

    Nothing where fills are missing or out of date: where planes end is not known then.
    """
    if not ctx.get(knows_planes):
        return {}
    found: dict[BareKey, float] = {}
    for line in lines_of(ctx, link.nets):
        if line.references != (None, None):
            continue
        rows = zip(line.nets, line.net_lengths_mm, line.net_runs_mm, strict=True)
        length = sum(mm for net, mm, run in rows if net in link.nets and run > SHORTEST_MM)
        if length:
            key = line.layer, line.width_mm, line.gap_mm
            found[key] = found.get(key, 0.0) + length
    share = min(1.0, length_mm / sum(found.values())) if found else 1.0
    return {key: share * mm for key, mm in found.items()}


def knows_planes(ctx: Context) -> bool:
    """Tell whether every zone has a fill, and an up-to-date one; get it with `Context.get`."""
    try:
        ctx.need_filled_planes(range(ctx.board.layer_count))
        ctx.need_true_fills()
    except MissingFact:
        return False
    return True


def bare_ps_per_mm(ctx: Context) -> tuple[float, float]:
    """Return the least and the most delay per length of any line on this board.

    A quasi-static line's effective permittivity is its capacitance over that without dielectrics. By Thomson's
    principle capacitance grows with the permittivity anywhere, so it lies between 1 and the highest Dk (R. E. Collin,
    Field Theory of Guided Waves, 1991, chapter 4). A detour of the return current around a slot comes on top (RET001).
    """
    known = [ply.dk.at(DK_GHZ).value for ply in ctx.plies]
    highest = max((HIGHEST_DK if dk is None else dk for dk in known), default=HIGHEST_DK)
    return 1000 / LIGHT_MM_GHZ, 1000 * math.sqrt(highest) / LIGHT_MM_GHZ


def skew_of_bare_ps(
    ctx: Context, first: Mapping[BareKey, float], second: Mapping[BareKey, float], ps_per_mm: float
) -> tuple[float, float]:
    """Return by how much earlier and later the first of two traces may be for its sections without a plane.

    What both have next to a complement in one geometry cancels: the other trace is most of their return path. Lone
    traces each have a return path of their own.
    """
    fast, slow = bare_ps_per_mm(ctx)
    less, more = max(ps_per_mm - fast, 0.0), max(slow - ps_per_mm, 0.0)
    earlier, later = 0.0, 0.0
    for key in dict.fromkeys((*first, *second)):
        mine, other = first.get(key, 0.0), second.get(key, 0.0)
        common = 0.0 if key[2] is None else min(mine, other)
        earlier += less * (mine - common) + more * (other - common)
        later += more * (mine - common) + less * (other - common)
    return earlier, later


def without_plane(bare: Mapping[BareKey, float], length_mm: float) -> MissingFact | None:
    """Return what a delay rests on where more than a tenth of a trace has no plane."""
    if sum(bare.values()) <= MOST_WITHOUT * length_mm:
        return None
    return MissingFact(f"a reference plane along more than {100 * MOST_WITHOUT:g} % of the tracks", FILL_ONE)
