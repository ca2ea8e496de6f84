"""Parts whose own copper may join their nets: jumpers, resistors of 0 ohm, and what is drawn in copper."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from stackup_lib.board.board import Board
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.arrays import distinct
from stackup_lib.nets.two_pin_parts import is_unfitted, resistance_ohm

JUMPER_PADS = 3
NO_JUMPERS = frozenset(
    {
        ReferenceKind.RESISTOR,
        ReferenceKind.CAPACITOR,
        ReferenceKind.INDUCTOR,
        ReferenceKind.DIODE,
        ReferenceKind.FUSE,
        ReferenceKind.FERRITE,
        ReferenceKind.TRANSISTOR,
        ReferenceKind.CHIP,
    }
)
"""A jumper has two or three pads. Overlapping pads of such parts are a wrong footprint, but for 0 ohm."""

JUMPER_NAME = re.compile(r"jumper|solder[ _-]?bridge", re.IGNORECASE)
"""In the name of a footprint or the value of a jumper."""

DRAWN_PARTS: dict[ReferenceKind | None, str] = {
    ReferenceKind.RESISTOR: "a drawn shunt",
    ReferenceKind.INDUCTOR: "a drawn inductor",
    ReferenceKind.FUSE: "a drawn fuse",
}
"""Of these parts those that may be drawn in copper: shunts, inductors and fuses."""

GENERATED = ("unconnected-(", "Net-(")
"""How KiCad begins the name of a net that has none in the schematic."""

TWO_LONE_PINS = "two pins that join nothing else"


def why_pads_may_overlap(board: Board, footprint: int) -> str:
    """Return why the overlapping pads of one part break no circuit, "" where they may."""
    if _has_few_pads(board, footprint):
        if _kind(board, footprint) not in NO_JUMPERS:
            return "joined by the part's own pads, as a closed jumper is"
        if is_zero_ohm(board, footprint):
            return "joined by the part's own pads; a resistor of 0 ohm joins them anyway"
    return ""


def may_be_drawn(board: Board, footprint: int) -> bool:
    """Tell whether a part may be drawn in copper between its pads: an inductor, a shunt, a fuse, an antenna."""
    return _has_few_pads(board, footprint) and _kind(board, footprint) not in NO_JUMPERS - DRAWN_PARTS.keys()


def is_zero_ohm(board: Board, footprint: int) -> bool:
    """Tell whether a part is a resistor that joins its two nets anyway."""
    value = str(board.footprints.value[footprint])
    is_resistor = _kind(board, footprint) is ReferenceKind.RESISTOR
    return is_resistor and resistance_ohm(value) == 0 and not is_unfitted(value)


def is_jumper(board: Board, footprint: int) -> bool:
    """Tell whether a part is a solder jumper by its reference, the name of its footprint, or its value.

    Rectifier bridges and bridges to a bus are none; a diode's place that its footprint closes, such as
    `D_SMA_Jumper_NC`, is one.
    """
    kind = _kind(board, footprint)
    if kind in (ReferenceKind.CHIP, ReferenceKind.TRANSISTOR):
        return False
    named = f"{board.footprints.library_id[footprint]} {board.footprints.value[footprint]}"
    return kind is ReferenceKind.JUMPER or bool(JUMPER_NAME.search(named))


def as_what(board: Board, footprint: int) -> str:
    """Return which kind of part is drawn in copper, as text; "" where the part does not tell."""
    kind = _kind(board, footprint)
    what = "a closed solder jumper" if is_jumper(board, footprint) else DRAWN_PARTS.get(kind, "")
    return f", as {what} is" if what else ""


def are_lone_pins(board: Board, nets: Iterable[int]) -> bool:
    """Tell whether nets have no name and one pad each."""
    return all(board.nets[net].startswith(GENERATED) and np.count_nonzero(board.pads.net == net) == 1 for net in nets)


def pad_words(board: Board, pad: int) -> str:
    """A pad as text: `pad 1 of U3`."""
    part = str(board.footprints.reference[int(board.pads.footprint[pad])])
    number = str(board.pads.number[pad])
    return " ".join(word for word in ("pad", number, f"of {part}" if part else "") if word)


def _kind(board: Board, footprint: int) -> ReferenceKind | None:
    return reference_kind(str(board.footprints.reference[footprint]))


def _has_few_pads(board: Board, footprint: int) -> bool:
    """Tell whether a part has no more pads, by number, than a jumper; one with tie groups says what it joins."""
    own = board.pads.footprint == footprint
    return len(distinct(board.pads.number[own])) <= JUMPER_PADS and not np.any(board.pads.tie[own] >= 0)
