"""A board's vias as `stackup_lib.vias.via_field` takes them: what they go through, and where their currents return."""

from __future__ import annotations

import math
from dataclasses import replace

from drc_rules.analysis.via.high_speed_vias import StubGroup
from drc_rules.facts.context import Context
from stackup_lib.vias.via_circuit import ModelledVia, log_of_radial_line, log_of_two_returns
from stackup_lib.vias.via_field import ViaBody, ViaStack
from stackup_lib.vias.via_pair import EVEN, ODD, PairPlace, log_of_pair, mode_of_pair

USUAL_RETURN_MM, USUAL_RETURN_BARRELS = 1.0, 2.0
"""Two return vias this far away, one on either side, stand for those of a board (engineering knowledge); of
a thick barrel two diameters away, for so the pins of a connector stand."""

NEAR_RETURN_MM, NEAR_RETURN_BARRELS = 0.5, 1.5
"""Return vias hardly stand nearer to a pair, from centre to centre (engineering knowledge)."""

NO_RETURN_MM = 1000.0
"""Return vias this far from a pair carry none of its odd mode."""

USUAL_DK = 4.0
"""Along a via where a Dk is not known."""


def via_stack(ctx: Context, used: tuple[int, ...], frequency_ghz: float) -> ViaStack | None:
    """Return what vias go through that join these layers; None where no layer of the board is a plane.

    Fills on a layer that the via joins are no plane to it, unless the board has no other: a trace there refers to the
    next layers.

    Raises:
        MissingFact: a thickness is not known.
    """
    ctx.copper_heights_mm()
    planes = [layer for layer, use in enumerate(ctx.uses) if use.is_plane]
    planes = [layer for layer in planes if layer not in used] or planes
    if not planes:
        return None
    faces = tuple((round(a, 6), round(b, 6)) for a, b in ctx.copper_faces_mm())
    return ViaStack(faces, _dk_between(ctx, frequency_ghz), tuple(planes))


def _dk_between(ctx: Context, frequency_ghz: float) -> tuple[float, ...]:
    """Dk of each dielectric, mean by thickness of its plies; that of the board where it is not known."""
    known, usual = _known_dk(ctx, frequency_ghz), mean_dk(ctx, frequency_ghz)
    count = ctx.board.layer_count - 1
    return tuple(round(_mean([(dk, mm) for a, dk, mm in known if a == k]) or usual, 6) for k in range(count))


def mean_dk(ctx: Context, frequency_ghz: float) -> float:
    """Return the mean Dk of the board by thickness, `USUAL_DK` where none is known."""
    return _mean([(dk, mm) for _, dk, mm in _known_dk(ctx, frequency_ghz)]) or USUAL_DK


def mean_df(ctx: Context, frequency_ghz: float) -> float:
    """Return the mean Df of the board by thickness over the plies that have one; 0 where none has."""
    rows = [(ply.df.at(frequency_ghz).value, ply.thickness.value) for ply in ctx.plies]
    return _mean([(df, mm) for df, mm in rows if df is not None and mm]) or 0.0


def _known_dk(ctx: Context, frequency_ghz: float) -> list[tuple[int, float, float]]:
    """Layer above, Dk and thickness of each ply that has both."""
    rows = [(ply.above, ply.dk.at(frequency_ghz).value, ply.thickness.value) for ply in ctx.plies]
    return [(above, dk, mm) for above, dk, mm in rows if dk is not None and mm]


def _mean(rows: list[tuple[float, float]]) -> float | None:
    return sum(dk * mm for dk, mm in rows) / sum(mm for _, mm in rows) if rows else None


def via_of(ctx: Context, group: StubGroup, frequency_ghz: float) -> ModelledVia | None:
    """Return a hole of a group, None where no layer of the board is a plane.

    Args:
        ctx: the board.
        group: the holes.
        frequency_ghz: where the Dk is read.
    """
    hole, shape = group.holes[0], group.shape
    stack = ctx.get(via_stack, hole.used, frequency_ghz)
    if stack is None:
        return None
    top, bottom = stack.faces_mm[hole.top][0], stack.faces_mm[hole.bottom][1]
    ends = round(top, 6), round(bottom, 6)
    layers = range(hole.top, hole.bottom + 1) if hole.keeps_unused else hole.used
    body = ViaBody(
        barrel_mm=shape.barrel_mm,
        pad_mm=max(hole.pad_mm, shape.barrel_mm),
        antipad_mm=round(shape.antipad_mm, 6),
        ends_mm=ends,
        padded=tuple(k for k in layers if ends[0] < stack.middle_mm(k) < ends[1]),
    )
    return ModelledVia(stack, body, return_log(body))


def return_log(body: ViaBody) -> float:
    """Return ln(a'/a) of the usual return path of a via."""
    return max(rim_log(body), log_of_two_returns(body.barrel_mm, _usual_return_mm(body.barrel_mm)))


def _usual_return_mm(barrel_mm: float) -> float:
    return max(USUAL_RETURN_MM, USUAL_RETURN_BARRELS * barrel_mm)


def far_log(via: ModelledVia, dk: float, frequency_ghz: float) -> float:
    """Return ln(a'/a) of the longest return path of a lone via: the displacement current between planes."""
    return max(log_of_radial_line(via.body.barrel_mm, dk, frequency_ghz), via.return_log)


def with_returns(
    via: ModelledVia, apart_mm: float | None, frequency_ghz: float
) -> tuple[ModelledVia, ModelledVia, ModelledVia]:
    """Return a via with the nearest, the usual and the farthest return current; of a pair in the odd mode.

    Args:
        via: alone.
        apart_mm: to the other via of the pair, None for none.
        frequency_ghz: at which a lone via has planes as its return.
    """
    if apart_mm is not None:
        near, usual, far = places_of(apart_mm, via.body.barrel_mm)
        mode = mode_of_pair(via, usual, ODD)
        logs = (max(log_of_pair(via.body.barrel_mm, place, ODD), 0.0) for place in (near, far))
        nearest, farthest = (replace(mode, return_log=log) for log in logs)
        return nearest, mode, farthest
    longest = far_log(via, sum(via.stack.dk) / len(via.stack.dk), frequency_ghz)
    return replace(via, return_log=rim_log(via.body)), via, replace(via, return_log=longest)


def modes_of_pair(via: ModelledVia, apart_mm: float) -> tuple[ModelledVia, ModelledVia]:
    """Return a via of a pair in the odd and in the even mode, each via in its own antipad, its return via behind it.

    Antipads that overlap are one opening. An oval that both share is not looked for: it makes a pair 2 to 8 % earlier.
    """
    _, place, _ = places_of(apart_mm, via.body.barrel_mm)
    return mode_of_pair(via, place, ODD), mode_of_pair(via, place, EVEN)


def odd_mode(via: ModelledVia, apart_mm: float) -> ModelledVia:
    """Return a via of a pair in the odd mode; see `modes_of_pair`."""
    _, place, _ = places_of(apart_mm, via.body.barrel_mm)
    return mode_of_pair(via, place, ODD)


def places_of(apart_mm: float, barrel_mm: float) -> tuple[PairPlace, PairPlace, PairPlace]:
    """Return where the vias of a pair stand with the nearest, the usual and the farthest return vias."""
    near_mm = max(NEAR_RETURN_MM, NEAR_RETURN_BARRELS * barrel_mm)
    return (
        PairPlace(apart_mm, near_mm, is_oval=False),
        PairPlace(apart_mm, _usual_return_mm(barrel_mm), is_oval=False),
        PairPlace(apart_mm, NO_RETURN_MM, is_oval=False),
    )


def rim_log(body: ViaBody) -> float:
    """Return ln(a'/a) of a return current on the rims of the antipads: the least there is."""
    return math.log(body.antipad_mm / body.barrel_mm)
