"""Pairs whose positive trace leads to the negative pin of a part at one end: by the names of the pins at both ends."""

from __future__ import annotations

import re

from drc_rules.analysis.nets.board_links import board_links
from drc_rules.facts.context import Context
from drc_rules.facts.net_pins import pin_reader
from drc_rules.requirements.interfaces.names import usual_spelling
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link

_SIGNED = re.compile(r"(?P<head>.+)_(?P<sign>[PN])")
_PORT = re.compile(r"(?P<pin>.*[PM+-])(?P<port>_(?:UP|DN|US|DS)\d*)")
"""How hubs name the port behind the sign: `USBDP_DN1`."""

_MARKUP = re.compile(r"[~_^]?\{([^{}]*)\}")


@record
class SwappedPair:
    """A pair that is swapped between two parts.

    Attributes:
        family: id of the interface family.
        links: the traces, that of the positive net first.
        straight, swapped: the pads that the positive net joins, `U1.A4 (TXP0)`: on a positive and on a negative pin.
    """

    family: str
    links: tuple[Link, Link]
    straight: str
    swapped: str


@record
class PairPolarity:
    """The pairs of which pins at both ends tell the polarity, and those of them that are swapped."""

    told: tuple[tuple[str, int], ...]
    swapped: tuple[SwappedPair, ...]


def pair_polarity(ctx: Context) -> PairPolarity:
    """Return how many pairs of each family can be judged, and which are swapped; get it with `Context.get`."""
    links, done, told, swapped = ctx.get(board_links), set[int](), dict[str, int](), list[SwappedPair]()
    for net in ctx.pairs.positive.tolist():
        role = ctx.assignment.role_of(net)
        if role is None:
            continue
        for link in links.of_nets([net]):
            complement = links.complement_of(link)
            if complement is None or link.index in done or complement.index == link.index:
                continue
            done |= {link.index, complement.index}
            signs = _signs(ctx, link, complement, role.family)
            if len(signs) < 2:
                continue
            told[role.family] = told.get(role.family, 0) + 1
            right, wrong = (next((pad for pad, sign in signs if sign == one), None) for one in "PN")
            if right and wrong:
                swapped.append(SwappedPair(role.family, (link, complement), right, wrong))
    return PairPolarity(tuple(sorted(told.items())), tuple(swapped))


def _signs(ctx: Context, link: Link, complement: Link, family: str) -> list[tuple[str, str]]:
    """Return the pads of one trace, with their sign, whose pin makes a pair with the other trace's on the same part."""
    found = []
    others = {(pad.reference, read[0]): read[1] for pad in complement.ends if (read := _read(ctx, pad.row, family))}
    for pad in link.ends:
        read = _read(ctx, pad.row, family)
        if read and others.get((pad.reference, read[0])) == {"P": "N", "N": "P"}[read[1]]:
            found.append((f"{pad.name} ({read[2]})", read[1]))
    return found


def _read(ctx: Context, row: int, family: str) -> tuple[str, str, str] | None:
    """Return what the name of a pin has in front of its sign, the sign, and the name; None for no pin of the family."""
    pads, parts = ctx.board.pads, ctx.board.footprints
    part, function = int(pads.footprint[row]), str(pads.function[row])
    names = (str(parts.reference[part]), str(parts.library_id[part]), str(parts.value[part]))
    read, number = pin_reader(*names), str(pads.number[row])
    first, *others = _MARKUP.sub(r"\1", function).split("/")
    for use, told_by in ((first, function), *((one, one) for one in others)):  # `GPIO19/USB_D-` has several uses
        reading = read(number, told_by)
        signed = _signed(use)
        if signed and reading is not None and family in (reading.family, *reading.also):
            return signed
    return None


def _signed(name: str) -> tuple[str, str, str] | None:
    """Return what a name has in front of its sign, the sign, and the name; None for a name without."""
    of_port = _PORT.fullmatch(name.upper())
    signed = _SIGNED.fullmatch(usual_spelling(of_port["pin"] if of_port else name.upper()))
    port = of_port["port"] if of_port else ""
    return (signed["head"] + port, signed["sign"], name) if signed else None
