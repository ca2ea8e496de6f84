"""Graphics and pads drawn on copper that join two nets."""

from __future__ import annotations

from collections.abc import Iterator, Set

from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.rules.fabrication.shorts.joined import Joining, Nets, findings
from drc_rules.rules.fabrication.shorts.own_copper import as_what, is_jumper, may_be_drawn
from drc_rules.rules.rule import DraftFinding
from stackup_lib.board.board import Board
from stackup_lib.copper.drawn_shorts import DrawnShort

BRIDGED_PADS = 2
"""Nets that one bridge of a jumper joins; a graphic that joins more is none."""

FIX = "Move or remove the shape, give it the net of what it touches, or join the nets with a net tie"


def drawn_by_nets(ctx: Context, told: Set[Nets]) -> dict[Nets, list[DrawnShort]]:
    """Return what drawn copper joins of each two nets, but for the pairs that are told already."""
    by_nets: dict[Nets, list[DrawnShort]] = {}
    for short in ctx.get(space_finder).drawn_shorts:
        one, other = sorted(ctx.board.nets[net] for net in short.nets)
        if (one, other) not in told:
            by_nets.setdefault((one, other), []).append(short)
    return by_nets


def of_drawings(ctx: Context, by_nets: dict[Nets, list[DrawnShort]]) -> Iterator[DraftFinding]:
    """Yield one finding for each pair of nets that only drawn copper joins."""
    joined: dict[int, set[int]] = {}
    for short in ctx.get(space_finder).drawn_shorts:
        joined.setdefault(short.drawing, set()).update(short.nets)
    bridges = {drawing for drawing, nets in joined.items() if len(nets) == BRIDGED_PADS}

    def harmless(board: Board, found: list[DrawnShort]) -> str:
        if not all(_is_meant(board, short, bridges) for short in found):
            return ""
        return f"joined by the part's own copper{as_what(board, int(board.drawings.footprint[found[0].drawing]))}"

    of = Joining(
        fix=FIX,
        rest="more drawn shorts",
        how="joined by drawn copper",
        overlap_mm=lambda short: short.overlap_mm,
        words=_words,
        places=_places,
        harmless=harmless,
    )
    yield from findings(ctx, by_nets, of)


def _is_meant(board: Board, short: DrawnShort, bridges: Set[int]) -> bool:
    """Tell whether a part that may be drawn in copper joins its own pads, or a jumper does by one of `bridges`."""
    part = int(board.drawings.footprint[short.drawing])
    return short.is_own and (may_be_drawn(board, part) or (short.drawing in bridges and is_jumper(board, part)))


def _words(board: Board, short: DrawnShort) -> str:
    drawings, row = board.drawings, short.drawing
    footprint, pad = int(drawings.footprint[row]), int(drawings.pad[row])
    part = str(board.footprints.reference[footprint]) if footprint >= 0 else ""
    of_part = f" of {part}" if part else ""
    own, other = (board.nets[net] for net in short.nets)
    layer = board.copper_layers[short.layer].name
    if pad >= 0:
        number = str(board.pads.number[pad])
        what = "custom pad" if board.pads.shape[pad] == "custom" else "pad"
        shape = " ".join(word for word in (what, number) if word) + f"{of_part} ({own})"
        return f"{shape} overlaps copper of {other} by {short.overlap_mm:.3f} mm on {layer}"
    if drawings.net[row]:
        return f"graphic of {own} overlaps copper of {other} by {short.overlap_mm:.3f} mm on {layer}"
    return f"graphic{of_part} joins {own} and {other} on {layer}"


def _places(board: Board, short: DrawnShort) -> tuple[Location, ...]:
    place = Location(
        layer=board.copper_layers[short.layer].name,
        net=board.nets[short.nets[0]],
        uuid=str(board.drawings.uuid[short.drawing]) or None,
        x_mm=round(short.x_mm, 6),
        y_mm=round(short.y_mm, 6),
        line=board.line_of(int(board.drawings.offset[short.drawing])),
    )
    return (place,)
