"""Tracks, vias and pads of two nets that overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import uuid_of
from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.rules.fabrication.shorts.joined import PLACES_SHOWN, Joining, Nets, findings, shows_overlap
from drc_rules.rules.fabrication.shorts.own_copper import (
    GENERATED,
    TWO_LONE_PINS,
    are_lone_pins,
    pad_words,
    why_pads_may_overlap,
)
from drc_rules.rules.rule import DraftFinding
from stackup_lib.board.board import Board
from stackup_lib.copper.clearances import TIE_MM, Spaces
from stackup_lib.copper.shapes import CopperShape, CopperShapes, is_wall
from stackup_lib.copper.shorts import is_near_tie, overlap_middles
from stackup_lib.copper.stale_fills import TOUCH_MM

Overlap = tuple[Spaces, int]
"""The overlaps of a layer, and the row of one."""

FIX = "Move or remove one of the two, give both the same net, or join the nets with a net tie"
NEAR_TIE = f"within {TIE_MM:g} mm of the net tie that joins them"
OPEN_WHY = "The finished board joins the pin to the net; the schematic does not. Of an output it is a fault"
OPEN_FIX = "Join them in the schematic too and update the board, or move the copper off the pin"


def overlaps_by_nets(ctx: Context, layers: tuple[int, ...]) -> dict[Nets, list[Overlap]]:
    """Return the overlaps of each two nets."""
    by_nets: dict[Nets, list[Overlap]] = {}
    for layer in layers:
        shorts = ctx.get(space_finder).shorts(layer)
        for row in range(len(shorts)):
            one, other = sorted(ctx.board.nets[int(piece.net[row])] for piece in (shorts.one, shorts.other))
            by_nets.setdefault((one, other), []).append((shorts, row))
    return by_nets


def of_pieces(ctx: Context, by_nets: dict[Nets, list[Overlap]]) -> Iterator[DraftFinding]:
    """Yield one finding for each pair of nets, and one for all pins that the schematic leaves open."""
    board = ctx.board
    met = Counter(net for nets in by_nets for net in nets)
    left_open = {net for net, times in met.items() if times == 1 and _is_left_open(board, net)}
    on_open_pins = {
        nets: found for nets, found in by_nets.items() if not left_open.isdisjoint(nets) and not _harmless(board, found)
    }
    yield from findings(ctx, {nets: found for nets, found in by_nets.items() if nets not in on_open_pins}, PIECES)
    if on_open_pins:
        yield _of_open_pins(ctx, on_open_pins)


def _of_open_pins(ctx: Context, by_pin: dict[Nets, list[Overlap]]) -> DraftFinding:
    board, pins = (
        ctx.board,
        {nets: max(found, key=lambda where: round(_overlap_mm(where), 5)) for nets, found in by_pin.items()},
    )
    widest = min(pins, key=lambda nets: (-_overlap_mm(pins[nets]), nets))
    shows_overlap(ctx, widest, _overlap_mm(pins[widest]))
    shown = sorted(pins, key=lambda nets: (-_overlap_mm(pins[nets]), nets))[:PLACES_SHOWN]
    more = f" (and {len(pins) - 1} more)" if len(pins) > 1 else ""
    return DraftFinding(
        title=f"short: {_words(board, pins[widest])}: a pin that the schematic leaves open{more}",
        why=OPEN_WHY,
        fix=OPEN_FIX,
        ids=("open pins",),
        measured=Measured(value=round(_overlap_mm(pins[widest]), 4), unit="mm"),
        limit_value=0.0,
        places=tuple(place for nets in shown for place in _places(board, pins[nets])),
        counted=len(pins),
    )


def _is_left_open(board: Board, name: str) -> bool:
    """Tell whether a net is but a pin: unnamed, with one pad, and nothing routed to it."""
    if not name.startswith(GENERATED):
        return False
    net = board.nets.index(name)
    return are_lone_pins(board, [net]) and not np.any(board.tracks.net == net) and not np.any(board.vias.net == net)


def _overlap_mm(where: Overlap) -> float:
    shorts, row = where
    return -float(shorts.gap_mm[row])


def _words(board: Board, where: Overlap) -> str:
    """What overlaps what, as text, and how far."""
    (shorts, row), wide = where, _overlap_mm(where)
    one, other = sorted((_piece_words(board, side, row) for side in (shorts.one, shorts.other)), reverse=True)
    how = f"overlaps {other} by {wide:.3f} mm" if wide >= TOUCH_MM / 2 else f"touches {other}"
    return f"{one} {how} on {board.copper_layers[shorts.layer].name}"


def _piece_words(board: Board, pieces: CopperShapes, row: int) -> str:
    """A piece as text: `track of NET`, `pad 1 of U3 (NET)`, without a pad on the layer `hole of via of NET`."""
    kind, net = CopperShape(int(pieces.kind[row])), board.nets[int(pieces.net[row])]
    hole = "hole of " if is_wall(board, pieces, row) else ""
    if kind != CopperShape.PAD:
        return f"{hole}{kind.name.lower()} of {net}"
    return f"{hole}{pad_words(board, int(pieces.row[row]))} ({net})"


def _places(board: Board, where: Overlap) -> tuple[Location, ...]:
    shorts, row = where
    rows = np.array([row])
    one, other = shorts.one.where(rows), shorts.other.where(rows)
    x, y = overlap_middles(board, one, other).round(6)[0].tolist()
    name = board.copper_layers[shorts.layer].name
    return (Location(layer=name, net=board.nets[int(one.net[0])], uuid=uuid_of(board, one), x_mm=x, y_mm=y),)


def _harmless(board: Board, found: list[Overlap]) -> str:
    """Return why an overlap of two nets breaks no circuit, "" where it may."""
    sides = [(side, row) for shorts, row in found for side in (shorts.one, shorts.other)]
    footprints = {
        int(board.pads.footprint[int(side.row[row])]) if int(side.kind[row]) == CopperShape.PAD else -1
        for side, row in sides
    }
    if len(footprints) == 1 and (part := min(footprints)) >= 0 and (reason := why_pads_may_overlap(board, part)):
        return reason
    if all(_is_near_tie(board, where) for where in found):
        return NEAR_TIE
    return TWO_LONE_PINS if are_lone_pins(board, {int(side.net[row]) for side, row in sides}) else ""


def _is_near_tie(board: Board, where: Overlap) -> bool:
    """Tell whether two nets overlap where a net tie joins them anyway, as the sense lines of a shunt do."""
    shorts, row = where
    place = _places(board, where)[0]
    nets = int(shorts.one.net[row]), int(shorts.other.net[row])
    return is_near_tie(board, nets, shorts.layer, (place.x_mm or 0.0, place.y_mm or 0.0), TIE_MM)


PIECES = Joining(
    fix=FIX,
    rest="more shorts",
    how="overlap",
    overlap_mm=_overlap_mm,
    words=_words,
    places=_places,
    harmless=_harmless,
)
