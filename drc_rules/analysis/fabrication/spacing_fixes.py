"""What to do about copper that is too close: move what is drawn, and give fills a clearance that they keep.

What a board's own rules state already is never advised lower.
"""

from __future__ import annotations

import numpy as np

from drc_rules.analysis.fabrication.cuts import at_own_cut_out
from drc_rules.analysis.fabrication.fab_clearances import is_outer, own_minimum_mm, tier_space_mm
from drc_rules.analysis.fabrication.fab_limits import TOLERANCE_MM, Bar
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.limits import limit_of
from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.cuts.gap_rows import CutGaps
from stackup_lib.copper.shapes import CopperShape, CopperShapes, pad_rows
from stackup_lib.core.words import listed
from stackup_lib.kicad.design_rules.board_minimums import EDGE, stated_mm

MOST_NAMED = 3
"""With more parts than this the footprints are not named."""

_NOUNS = {
    CopperShape.TRACK: "tracks",
    CopperShape.VIA: "vias",
    CopperShape.PAD: "pads",
    CopperShape.DRAWN: "graphics",
}


def edge_fix(ctx: Context, limit: Bar, near: CutGaps) -> str:
    """Return what takes all copper that misses a distance away from the edge, at every tier."""
    wide = (limit_of("edge_to_copper_mm", Tier.STANDARD) if limit.tier else None) or limit.value
    own = stated_mm(ctx.board.project, EDGE) or 0.0
    parts = at_own_cut_out(ctx.board, near)
    kinds, steps = near.kind[parts < 0], list[str]()
    if np.any(parts >= 0):
        edge = f"the edge drawn in the {_footprints(ctx.board, parts)}"
        steps.append(f"move the pads {_distance(wide, limit, own)} from {edge}")
    if nouns := _drawn(kinds):
        steps.append(f"move these {nouns} to {_distance(wide, limit, own)} from the edge")
    if np.any(kinds == CopperShape.FILL):
        set_it = (
            f"set a copper to edge clearance of {_distance(wide, limit, own)} in Board Setup, then refill the zones"
        )
        steps.append(_refill("Board Setup states", own, wide) if own >= wide - TOLERANCE_MM else set_it)
    return _sentence(steps)


def space_fix(ctx: Context, limit: Bar, pairs: Spaces) -> str:
    """Return what widens the spaces of a layer, at every tier: the narrowest of every two nets."""
    layer = pairs.layer
    wide = (tier_space_mm(ctx, layer, Tier.STANDARD) if limit.tier else None) or limit.value
    stated, is_fill = _stated_mm(ctx.board, pairs), pairs.at_fill
    drawn, low = pairs.where(~is_fill), stated < wide - limit.precision_mm
    parts, name, steps = _parts_of_both(ctx.board, drawn), ctx.board.copper_layers[layer].name, list[str]()
    apart = drawn.where(parts < 0)
    if len(apart):
        nouns = _drawn(np.concatenate([_kinds(ctx.board, side) for side in (apart.one, apart.other)]))
        own = float(np.max(stated[~is_fill][parts < 0]))
        steps.append(f"move these {nouns} on {name} {_distance(wide, limit, own)} apart")
    if np.any(parts >= 0):
        steps.append(f"widen the gaps between pads in the {_footprints(ctx.board, parts)}")
    if np.any(is_fill & low):
        own = float(np.max(stated[is_fill & low]))
        steps.append(
            f"raise the clearance of these nets to {_distance(wide, limit, own)} on {name} in KiCad's design rules, "
            "then refill the zones"
        )
    elif np.any(is_fill):
        steps.append(_refill("these nets have", float(np.min(stated[is_fill])), wide))
    if _can_be_lighter(ctx, layer, limit):
        steps.append(f"or use lighter copper on {name}")
    return _sentence(steps)


def _distance(wide_mm: float, limit: Bar, own_mm: float) -> str:
    """What every tier takes, or the board's own rule where that is more; and the limit where it asks less than both."""
    least = f" (at least {limit.value:g} mm, for {limit.who})" if own_mm < limit.value < wide_mm else ""
    return f"{max(wide_mm, own_mm):g} mm{least}"


def _refill(who: str, own_mm: float, wide_mm: float) -> str:
    return f"refill the zones: {who} {own_mm:g} mm; a custom rule that asks less must ask {wide_mm:g} mm"


def _sentence(steps: list[str]) -> str:
    text = "; ".join(steps)
    return text[:1].upper() + text[1:]


def _footprints(board: Board, parts: Ints) -> str:
    references = sorted({str(board.footprints.reference[part]) for part in parts[parts >= 0].tolist()} - {""})
    of = f" of {listed(references)}" if 0 < len(references) <= MOST_NAMED else ""
    return f"footprint{'s' if len(references) > 1 else ''}{of}"


def _drawn(kinds: Ints) -> str:
    return listed([noun for kind, noun in _NOUNS.items() if np.any(kinds == kind)])


def _kinds(board: Board, side: CopperShapes) -> Ints:
    return np.where(pad_rows(board, side) >= 0, int(CopperShape.PAD), side.kind)


def _stated_mm(board: Board, pairs: Spaces) -> Floats:
    """The clearance that net classes and Board Setup state between the two nets of each space."""
    nets = np.concatenate([pairs.one.net, pairs.other.net]).tolist()
    of = {net: board.project.clearance_mm(board.nets[net]) or 0.0 for net in set(nets)}
    least = own_minimum_mm(board.project)
    both = [[of[net] for net in side.net.tolist()] for side in (pairs.one, pairs.other)]
    return np.asarray(np.maximum(np.max(np.array(both).reshape(2, -1), axis=0), least))


def _parts_of_both(board: Board, pairs: Spaces) -> Ints:
    """The part of each space between two pads of one part; -1 for any other space."""
    one, other = (pad_rows(board, side) for side in (pairs.one, pairs.other))
    if not len(board.pads):
        return one
    part = board.pads.footprint
    return np.where((one >= 0) & (other >= 0) & (part[one] == part[other]), part[one], -1)


def _can_be_lighter(ctx: Context, layer: int, limit: Bar) -> bool:
    """Tell whether the limit is one of copper weight: ordinary outer copper etches no finer when it is thinner."""
    if not is_outer(ctx.board, layer):
        return True
    return limit.tier is not None and limit.value > (limit_of("outer_track_mm", limit.tier) or limit.value)
