"""Tracks, vias and pads without a net that join two nets."""

from __future__ import annotations

from collections.abc import Iterator, Set

from drc_rules.analysis.fabrication.clearance_places import uuid_in
from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.analysis.fabrication.netless_shorts import NetContact, NetlessShort, netless_shorts
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.rules.fabrication.shorts.joined import Joining, Nets, findings
from drc_rules.rules.fabrication.shorts.own_copper import (
    TWO_LONE_PINS,
    are_lone_pins,
    is_jumper,
    is_zero_ohm,
    may_be_drawn,
    pad_words,
)
from drc_rules.rules.rule import DraftFinding
from stackup_lib.board.board import Board
from stackup_lib.copper.shapes import CopperShape

FIX = "Move or remove the copper without a net, give it the net of what it touches, or use a net tie"


def of_netless(ctx: Context, layers: tuple[int, ...], told: Set[Nets]) -> Iterator[DraftFinding]:
    """Yield one finding for each pair of nets that only tracks, vias or pads without a net join.

    Args:
        ctx: the board.
        layers: those with copper of more than one net.
        told: pairs of nets, by name, that are reported already.
    """
    by_nets: dict[Nets, list[NetlessShort]] = {}
    for short in netless_shorts(ctx.get(space_finder), layers):
        one, other = sorted(ctx.board.nets[contact.net] for contact in short.contacts)
        if (one, other) not in told:
            by_nets.setdefault((one, other), []).append(short)
    yield from findings(ctx, by_nets, NETLESS)


def _harmless(board: Board, found: list[NetlessShort]) -> str:
    """Return why copper without a net may join two nets, "" where it may not."""
    if all(short.part >= 0 and _may_join(board, short.part) for short in found):
        return "joined by the part's own copper"
    return TWO_LONE_PINS if are_lone_pins(board, [contact.net for contact in found[0].contacts]) else ""


def _may_join(board: Board, footprint: int) -> bool:
    """Tell whether a part is a jumper, or one that joins its nets anyway."""
    return may_be_drawn(board, footprint) or is_jumper(board, footprint) or is_zero_ohm(board, footprint)


def _words(board: Board, short: NetlessShort) -> str:
    """What joins two nets, as text."""
    kind, row, _ = short.contacts[0].item
    what = CopperShape(kind).name.lower() if kind != CopperShape.DRAWN else "graphic"
    what = pad_words(board, row) if kind == CopperShape.PAD else what
    one, other = short.contacts
    count = len(short.items)
    joins = "without a net joins" if count == 1 else f"and {count - 1} more without a net join"
    names = [board.copper_layers[contact.layer].name for contact in short.contacts]
    on = f"on {names[0]}" if names[0] == names[1] else f"on {names[0]} and {names[1]}"
    return f"{what} {joins} {board.nets[one.net]} and {board.nets[other.net]} {on}"


def _places(board: Board, short: NetlessShort) -> tuple[Location, ...]:
    """Where copper without a net overlaps that of the two nets."""
    return tuple(_place(board, contact) for contact in short.contacts)


def _place(board: Board, contact: NetContact) -> Location:
    kind, row, _ = contact.item
    return Location(
        layer=board.copper_layers[contact.layer].name,
        net=board.nets[contact.net],
        uuid=uuid_in(board, CopperShape(kind), row),
        x_mm=round(contact.x_mm, 6),
        y_mm=round(contact.y_mm, 6),
    )


NETLESS: Joining[NetlessShort] = Joining(
    fix=FIX,
    rest="more netless shorts",
    how="joined by copper without a net",
    overlap_mm=lambda short: short.overlap_mm,
    words=_words,
    places=_places,
    harmless=_harmless,
)
