"""All plated holes of a board in groups that are alike: by kind, span and diameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drc_rules.context import DECLARE_STACKUP, Context
from drc_rules.fabs.holes import HoleKind
from drc_rules.report import Place
from stackup_lib.board import Board, Floats, Ints, PadKind, ViaKind
from stackup_lib.facts import Confidence, MissingFact
from stackup_lib.holes import copper_faces_mm

PLACES_SHOWN = 20
"""Places listed with one finding."""


@dataclass(frozen=True)
class HoleGroup:
    """Holes of one kind, span and finished diameter.

    Attributes:
        top, bottom: copper layers between which they go.
        rows: indices into the vias, or for `are_pads` into the pads.
    """

    kind: HoleKind
    top: int
    bottom: int
    drill_mm: float
    rows: Ints
    are_pads: bool = False

    @property
    def in_words(self) -> str:
        """How many of what."""
        count = len(self.rows)
        noun = "plated hole" if self.are_pads else "microvia" if self.kind == "microvia" else "via"
        return f"{count} {noun}{'' if count == 1 else 's'}"

    def places(self, board: Board) -> tuple[Place, ...]:
        """Where they are, the first of many."""
        table = board.pads if self.are_pads else board.vias
        layer = board.copper_layers[self.top].name
        return tuple(
            Place(
                layer=layer,
                net=board.nets[int(table.net[row])] or None,
                uuid=str(table.uuid[row]) or None,
                x_mm=float(table.x_mm[row]),
                y_mm=float(table.y_mm[row]),
            )
            for row in self.rows[:PLACES_SHOWN].tolist()
        )


def hole_groups(board: Board) -> tuple[HoleGroup, ...]:
    """Return every plated hole of a board in groups, vias first; holes without a diameter are left out."""
    vias, pads, last = board.vias, board.pads, board.layer_count - 1
    kind = np.where(vias.kind == ViaKind.MICRO, 2, np.where((vias.start_layer > 0) | (vias.end_layer < last), 1, 0))
    names: tuple[HoleKind, ...] = ("through", "buried", "microvia")
    sized = np.flatnonzero(vias.drill_mm > 0)
    columns = (kind, vias.start_layer, vias.end_layer)
    found = [
        HoleGroup(names[int(key[0])], int(key[1]), int(key[2]), drill, rows)
        for key, drill, rows in _alike([column[sized].astype(np.int64) for column in columns], vias.drill_mm, sized)
    ]
    narrow = np.fmin(pads.drill_x_mm, pads.drill_y_mm)
    plated = np.flatnonzero((pads.kind == PadKind.THROUGH) & (narrow > 0))
    spans = [np.zeros(len(plated), dtype=np.int64)]
    found += [
        HoleGroup("through", 0, last, drill, rows, are_pads=True) for _, drill, rows in _alike(spans, narrow, plated)
    ]
    return tuple(found)


def _alike(columns: list[Ints], drill_mm: Floats, rows: Ints) -> list[tuple[tuple[int, ...], float, Ints]]:
    """Rows that agree in all columns and in diameter, to a micrometre."""
    if not len(rows):
        return []
    micrometres = np.rint(drill_mm[rows] * 1000).astype(np.int64)
    table = np.column_stack([*columns, micrometres])
    unique, inverse = np.unique(table, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    return [(tuple(key[:-1]), key[-1] / 1000, rows[inverse == number]) for number, key in enumerate(unique.tolist())]


UNENTERED_MARGIN = 2.0
"""A stackup that nobody has entered may turn out this much thicker than the thickness the file holds."""


def depth_mm(ctx: Context, group: HoleGroup) -> float:
    """Return how deep the holes of a group are: over the copper, for microvias between it.

    Raises:
        MissingFact: there is no stackup with a thickness for every layer.
    """
    stackup = ctx.stackup()
    faces = copper_faces_mm(stackup)
    if len(faces) != ctx.board.layer_count:
        raise MissingFact("a stackup with a thickness for every layer of the board", DECLARE_STACKUP)
    if group.kind == "microvia":
        return faces[group.bottom][0] - faces[group.top][1]
    return faces[group.bottom][1] - faces[group.top][0]


def is_wide_for_any_board(ctx: Context, group: HoleGroup, greatest_ratio: float) -> bool:
    """Return True when through holes are wide enough even for a board twice as thick as the file says.

    It spares boards without a stackup the question about holes that no stackup could make too deep; low confidence.
    """
    thickness = ctx.board.thickness_mm
    if group.kind != "through" or thickness is None or UNENTERED_MARGIN * thickness > greatest_ratio * group.drill_mm:
        return False
    ctx.rests_on(Confidence.LOW)
    return True
