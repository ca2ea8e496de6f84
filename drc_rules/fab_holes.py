"""Plated holes and their annular rings as a fab sees them: vias, microvias and the holes of parts, one set each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from drc_rules.report import Place
from stackup_lib.board import Board, Floats, Ints, PadKind, ViaKind
from stackup_lib.facts import MissingFact

PLACES_SHOWN = 20
"""Places listed with one finding."""

HoleNoun = Literal["via", "microvia", "plated hole"]

SHAPES_WITHOUT_RING = ("custom", "trapezoid")
"""Shapes of pads whose size does not tell how far the copper reaches from the hole."""


NO_DIAMETER_MM = 0.02
"""Below this a diameter is a placeholder: nothing drills it."""


@dataclass(frozen=True)
class HoleSet:
    """The plated holes of one kind.

    Attributes:
        rows: indices into the vias, or for plated holes of parts into the pads.
        drill_mm: finished diameter as KiCad stores it; of a slot its width.
        ring_mm: least ring over the layers that have a pad; NaN where shape or diameter do not tell.
    """

    noun: HoleNoun
    rows: Ints
    drill_mm: Floats
    ring_mm: Floats

    def counted(self, chosen: Ints) -> str:
        """How many of them, e.g. `3 vias of 41`."""
        count, all_of = len(chosen), len(self.rows)
        whole = "" if count == all_of else f" of {all_of}"
        return f"{count} {self.noun}{'' if count == 1 else 's'}{whole}"

    @property
    def is_sized(self) -> NDArray[np.bool_]:
        """Which of them have a diameter that can be meant."""
        return np.asarray(self.drill_mm >= NO_DIAMETER_MM)

    def need_diameters(self) -> None:
        """Raise `MissingFact` where the file holds a placeholder for a diameter."""
        count = int(np.sum(~self.is_sized))
        if count:
            name = f"the diameter of {count} {self.noun}{'' if count == 1 else 's'} (the file says less than 0.02 mm)"
            raise MissingFact(name, "in KiCad, select them, enter the hole's diameter and save the board")

    def places(self, board: Board, chosen: Ints) -> tuple[Place, ...]:
        """Where some of them are (positions in this set), the first of many."""
        table = board.pads if self.noun == "plated hole" else board.vias
        return tuple(
            Place(
                net=board.nets[int(table.net[row])] or None,
                uuid=str(table.uuid[row]) or None,
                x_mm=float(table.x_mm[row]),
                y_mm=float(table.y_mm[row]),
            )
            for row in self.rows[chosen[:PLACES_SHOWN]].tolist()
        )


def hole_sets(board: Board) -> tuple[HoleSet, ...]:
    """Return the plated holes of a board by kind; kinds that it has not are left out."""
    vias = board.vias
    sized = vias.drill_mm > 0
    is_micro = vias.kind == ViaKind.MICRO
    found = [_vias(board, "via", np.flatnonzero(sized & ~is_micro))]
    found += [_vias(board, "microvia", np.flatnonzero(sized & is_micro)), _plated(board)]
    return tuple(one for one in found if len(one.rows))


def _vias(board: Board, noun: HoleNoun, rows: Ints) -> HoleSet:
    vias = board.vias
    pads = vias.pad_size_mm[rows]
    least = np.min(np.where(np.isnan(pads), np.inf, pads), axis=1, initial=np.inf)
    least = np.where(np.isinf(least), vias.size_mm[rows], least)
    drill = vias.drill_mm[rows]
    return HoleSet(noun, rows, drill, np.where(drill < NO_DIAMETER_MM, np.nan, (least - drill) / 2))


def _plated(board: Board) -> HoleSet:
    pads = board.pads
    narrow = np.fmin(pads.drill_x_mm, pads.drill_y_mm)
    rows = np.flatnonzero((pads.kind == PadKind.THROUGH) & (narrow > 0) & (pads.layers != 0))
    across = np.minimum(pads.size_x_mm[rows] - pads.drill_x_mm[rows], pads.size_y_mm[rows] - pads.drill_y_mm[rows])
    untold = np.isin(pads.shape[rows], SHAPES_WITHOUT_RING) | (narrow[rows] < NO_DIAMETER_MM)
    return HoleSet("plated hole", rows, narrow[rows], np.where(untold, np.nan, across / 2))
