"""Rows of a stackup that cannot be: what is stated there counts as unknown, and rules STK012 to STK017 name the row.

A number that no laminate, mask or foil has is a typing error, or stands in the wrong row. Nothing that rests on it is
judged: advice such as "change the width" would make the copper wrong too. The limits are those of the clauses of
`profiles/board.toml`, as shipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from drc_rules.requirements.clauses import Limit
from drc_rules.requirements.profiles.profile import BOARD, load_profile
from stackup_lib.board.board import Board, LayerKind, Stackup, StackupLayer
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.materials import neighbouring_foils, stated_foils

IN_KICAD = "in KiCad, File > Board Setup > Physical Stackup"


@cache
def limit_of(kind: str) -> Limit:
    """Return the limit of the shipped clause of a kind, e.g. `dk_possible`."""
    return next(clause.limit for clause in load_profile(BOARD).clauses if clause.kind == kind)


MASK_DK = Limit(min=2, max=6, unit="Dk")
"""Of solder mask, an epoxy without ceramics: makers and fabs state 3.3 to 3.9. Half as much again is left, what
`[process]` takes too (engineering)."""


def dk_is_possible(dk: float) -> bool:
    """Tell whether any laminate has a Dk."""
    return _inside(limit_of("dk_possible"), dk)


def mask_dk_is_possible(dk: float) -> bool:
    """Tell whether any solder mask has a Dk."""
    return _inside(MASK_DK, dk)


def df_is_possible(df: float) -> bool:
    """Tell whether any laminate has a loss tangent."""
    return _inside(limit_of("df_possible"), df)


def mask_is_possible(thickness_mm: float) -> bool:
    """Tell whether solder mask may be so thick."""
    return _inside(limit_of("mask_thickness"), thickness_mm)


def sheet_is_possible(thickness_mm: float) -> bool:
    """Tell whether one sheet of prepreg may be so thick."""
    return _inside(limit_of("prepreg_sheet"), thickness_mm)


def _inside(limit: Limit, value: float) -> bool:
    return (limit.min is None or value >= limit.min) and (limit.max is None or value <= limit.max)


@record
class Unstackable:
    """Rows that cannot be laminated as they are stated.

    Attributes:
        rows: the dielectric rows that are concerned, top to bottom.
        what: what is wrong with them, in a few words.
        is_certain: the thicknesses cannot be trusted either; False where only the type of a lone row is wrong.
    """

    rows: tuple[str, ...]
    what: str
    is_certain: bool = True


def unstackable(stackup: Stackup) -> tuple[Unstackable, ...]:
    """Return what cannot be laminated: cores that touch, and boards without a core.

    Only prepreg bonds, so a copper layer between two cores is held by nothing. And a press needs at least one core:
    etched inner copper is on one. Foil and HDI builds (prepreg on prepreg, a core in the middle) can be made, and so
    can cores outside with prepreg between them.
    """
    rows = [row for row in stackup.layers if row.kind not in (LayerKind.SILK, LayerKind.PASTE, LayerKind.MASK)]
    dielectrics = [row for row in rows if row.is_dielectric]
    if dielectrics and all(row.kind is LayerKind.PREPREG and not row.has_unlike_plies for row in dielectrics):
        several = len(stackup.copper) > 2
        what = "all dielectrics are prepreg, so no core carries the inner copper"
        lone = "its only dielectric has the type prepreg, but is the core of such a board"
        return (Unstackable(tuple(row.name for row in dielectrics), what if several else lone, is_certain=several),)
    return tuple(_touching_cores(rows))


def _touching_cores(rows: list[StackupLayer]) -> Iterator[Unstackable]:
    """Yield each run of cores with nothing but copper between them."""
    run: list[StackupLayer] = []
    for row in [*rows, None]:
        if row is not None and row.kind is LayerKind.COPPER:
            continue
        if row is not None and row.kind is LayerKind.CORE and not row.has_unlike_plies:
            run.append(row)
            continue
        if len(run) > 1:
            names = tuple(one.name for one in run)
            yield Unstackable(names, "cores with no prepreg between them")
        run = []


def copper_fault(board: Board, index: int, thickness_mm: float) -> MissingFact | None:
    """Return what is missing where copper has the thickness of no foil weight; None where it can be.

    Outer layers are plated, and so are inner ones on which a via ends: their copper may have any thickness that is not
    less than the thinnest foil.
    """
    if neighbouring_foils(thickness_mm) is None or (is_plated(board, index) and not is_too_thin(thickness_mm)):
        return None
    name = board.copper_layers[index].name
    return cannot_be("copper thickness", name, f"{thickness_mm * 1000:g} um", correct(name, "the copper thickness"))


def is_too_thin(thickness_mm: float) -> bool:
    """Tell whether copper is thinner than any foil."""
    adjacent = neighbouring_foils(thickness_mm)
    return adjacent is not None and adjacent[0] is None


def is_plated(board: Board, index: int) -> bool:
    """Tell whether a copper layer is plated: an outer one, or one on which a via begins or ends."""
    if index in (0, board.layer_count - 1):
        return True
    vias = board.vias
    return bool(np.any((vias.start_layer == index) | (vias.end_layer == index)))


THINNED, HEAVIER, PLATED_UM = 0.63, 1.2, 60.0
"""Of the foil that is stated, what processing leaves at least (IPC-6012's minimum of half an ounce, 11.4 um, where
stackups state 18), and what is stated at most without plating (the bands of `stated_foils` end 17 % above the nominal).
Then two platings of up to 30 um each, the second over filled vias."""


def may_become(foil_um: float, um: float, *, plated: bool) -> bool:
    """Tell whether copper of one thickness may be stated for, or finished as, another: thinned, rounded or plated."""
    if any(foil.from_um <= min(foil_um, um) and max(foil_um, um) <= foil.to_um for foil in stated_foils()):
        return True  # weights that stackups do not tell apart
    return THINNED * foil_um <= um <= HEAVIER * foil_um + (PLATED_UM if plated else 0.0)


def mask_fault(row: StackupLayer, *, thickness: bool = True, dk: bool = True) -> MissingFact | None:
    """Return what is missing where solder mask cannot be as thick as stated, or have its Dk; None where it can.

    Args:
        row: of the stackup.
        thickness: False where the thickness is not taken from the row.
        dk: the same of its Dk.
    """
    ply = row.plies[0]
    if thickness and ply.thickness_mm is not None and not mask_is_possible(ply.thickness_mm):
        return cannot_be("thickness", row.name, f"{ply.thickness_mm:g} mm of mask", correct(row.name, "the thickness"))
    if dk and ply.dk is not None and not mask_dk_is_possible(ply.dk):
        return cannot_be("Dk", row.name, f"{ply.dk:g}", correct(row.name, "Epsilon R"))
    return None


def rows_at_fault(stackup: Stackup | None) -> Mapping[str, str]:
    """Return what is wrong with the rows that cannot be laminated and whose thickness is therefore unknown."""
    found = unstackable(stackup) if stackup is not None else ()
    return {row: fault.what for fault in found if fault.is_certain for row in fault.rows}


def lone_row(stackup: Stackup | None) -> str | None:
    """Return the only dielectric where it is called prepreg: a core of the wrong type, whose thickness stands."""
    found = unstackable(stackup) if stackup is not None else ()
    return next((fault.rows[0] for fault in found if not fault.is_certain), None)


def correct(row: str, field: str) -> str:
    """Return what to do about a field of a row, in one line."""
    return f"Correct {field} of {row} {IN_KICAD}"


def cannot_be(what: str, row: str, stated: str, how_to_give: str) -> MissingFact:
    """Return the fact that is missing of a row whose statement cannot be right."""
    return MissingFact(f"{what} of {row} ({stated} is not plausible)", how_to_give)
