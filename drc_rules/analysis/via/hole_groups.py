"""All plated holes of a board in groups that are alike: by kind, span and diameter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM, hole_sets
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.report.findings import Location, ObjectRows
from drc_rules.report.places import place_in
from drc_rules.requirements.fabs.holes import HoleKind, drilled_one_mm
from stackup_lib.board.board import Board, Floats, Ints, ViaKind
from stackup_lib.core.arrays import alike_rows
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.record import entity
from stackup_lib.core.words import count

PLACES_SHOWN = 20
"""Places listed with one finding."""


@entity
class HoleGroup:
    """Holes of one kind, span, finished and drilled diameter.

    Attributes:
        top, bottom: copper layers between which they go.
        drill_mm: finished, as KiCad stores it.
        rows: indices into the vias, or for `are_pads` into the pads.
        room_mm: the drill, where the pads leave no room for one that is wider by the usual plating.
        is_guess: treated as microvias, though the file does not call them so.
    """

    kind: HoleKind
    top: int
    bottom: int
    drill_mm: float
    rows: Ints
    are_pads: bool = False
    room_mm: float | None = None
    is_guess: bool = False

    @property
    def drilled_mm(self) -> float:
        """What is drilled; by a laser, as it is drawn."""
        if self.room_mm is not None:
            return self.room_mm
        return self.drill_mm if self.kind == "microvia" else drilled_one_mm(self.drill_mm)

    @property
    def describe(self) -> str:
        """How many of what."""
        noun = "plated hole" if self.are_pads else "microvia" if self.kind == "microvia" else "via"
        return count(len(self.rows), noun)

    def places(self, board: Board) -> tuple[Location, ...]:
        """Where they are, the first of many: through several layers, at none of them alone."""
        table = board.pads if self.are_pads else board.vias
        return tuple(place_in(board, table, row) for row in self.rows[:PLACES_SHOWN].tolist())

    @property
    def object_rows(self) -> ObjectRows:
        """All of them."""
        rows = tuple(self.rows.tolist())
        return ObjectRows(pads=rows) if self.are_pads else ObjectRows(vias=rows)


def hole_groups(board: Board) -> tuple[HoleGroup, ...]:
    """Return every plated hole of a board in groups, vias first; holes without a diameter are left out."""
    vias, last = board.vias, board.layer_count - 1
    of_vias, of_pads = list[HoleGroup](), list[HoleGroup]()
    for holes in hole_sets(board, by_laser=True):
        drilled, many = holes.drilled_mm, len(holes.vias)
        rows = holes.vias
        is_named = vias.kind[rows] == ViaKind.MICRO
        columns = np.column_stack([is_named, vias.start_layer[rows], vias.end_layer[rows]]).astype(np.int64)
        for key, drill, room, at in _alike(columns, holes.drill_mm[:many], drilled[:many]):
            named, top, bottom = key
            kind: HoleKind = "microvia" if holes.is_micro else "buried" if top > 0 or bottom < last else "through"
            is_guess = holes.is_micro and not named
            room_mm = None if holes.is_micro else room
            of_vias.append(HoleGroup(kind, top, bottom, drill, rows[at], room_mm=room_mm, is_guess=is_guess))
        none = np.zeros((len(holes.pads), 0), dtype=np.int64)
        for _, drill, room, at in _alike(none, holes.drill_mm[many:], drilled[many:]):
            of_pads.append(HoleGroup("through", 0, last, drill, holes.pads[at], are_pads=True, room_mm=room))
    return (*of_vias, *of_pads)


def smallest_through_drill_mm(groups: Sequence[HoleGroup]) -> float | None:
    """Return what is drilled for the smallest through via; None where there is none, or none with a diameter."""
    through = [group for group in groups if group.kind == "through" and not group.are_pads]
    return min((group.drilled_mm for group in through if group.drill_mm >= NO_DIAMETER_MM), default=None)


def groups_of(ctx: Context) -> tuple[HoleGroup, ...]:
    """Return the `hole_groups` of the board that is checked."""
    return hole_groups(ctx.board)


def _alike(columns: Ints, drill_mm: Floats, drilled_mm: Floats) -> list[tuple[list[int], float, float | None, Ints]]:
    """Rows that agree in all columns and both diameters, to a micrometre; the drilled one where it is not the usual."""
    if not len(drill_mm):
        return []
    micrometres = np.rint(np.column_stack([drill_mm, drilled_mm]) * 1000).astype(np.int64)
    table = np.column_stack([columns, micrometres])
    first, group = alike_rows(table)
    found = []
    for number, (*key, finished, drilled) in enumerate(table[first].tolist()):
        is_tight = drilled < round(drilled_one_mm(finished / 1000) * 1000)
        room = drilled / 1000 if is_tight else None
        found.append((key, finished / 1000, room, np.flatnonzero(group == number)))
    return found


UNENTERED_MARGIN = 2.0
"""A stackup that is not entered may turn out this much thicker than the thickness the file holds."""


def depth_mm(ctx: Context, group: HoleGroup) -> float:
    """Return how deep the holes of a group are: over the copper, for microvias between it.

    Raises:
        MissingFact: there is no stackup with a thickness for every layer.
    """
    faces = ctx.copper_faces_mm()
    if len(faces) != ctx.board.layer_count:
        raise MissingFact("the thickness of every stackup layer", DECLARE_STACKUP)
    if group.kind == "microvia":
        return faces[group.bottom][0] - faces[group.top][1]
    return faces[group.bottom][1] - faces[group.top][0]


def is_wide_for_any_board(ctx: Context, group: HoleGroup, max_ratio: float) -> bool:
    """Return True when through holes are wide enough even for a board twice as thick as the file says.

    It spares boards without a stackup the question about holes that no stackup could make too deep; low confidence.
    """
    thickness = ctx.board.thickness_mm
    if group.kind != "through" or thickness is None or UNENTERED_MARGIN * thickness > max_ratio * group.drill_mm:
        return False
    ctx.rests_on(Confidence.LOW)
    return True
