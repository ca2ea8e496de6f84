"""KiCad's untouched default stackup: what it writes before anybody has entered one. It declares nothing."""

from __future__ import annotations

from stackup_lib.board.board import Board, LayerKind, Stackup

# KiCad 6 to 10 fill in FR4 4.5/0.02 between coppers of 35 um so that all rows add up to the board thickness: in equal
# shares (BOARD_STACKUP::BuildDefaultStackupList); or, once a user has picked a layer count in Board Setup
# (setDefaultLayerWidths), with prepregs of 0.1 mm and cores that share the rest.
_MATERIAL, _DK, _DF = "FR4", 4.5, 0.02
_COPPER_MM, _MASKS_MM, _PREPREG_MM = 0.035, 0.02, 0.1
_TOLERANCE_MM = 0.0011

_ONE_CORE_MM = 1.51
"""Height of the core of KiCad's two-layer default of 1.6 mm. Boards of KiCad 6 and 7 whose user added layers to it got
it with every layer: 4.69 mm with four. A layer count that is picked later keeps that sum, with prepregs of 0.1 mm."""


def is_untouched_default(board: Board) -> bool:
    """Return True when the board's stackup is one of KiCad's own defaults for its layer count and thickness."""
    stackup = board.stackup
    if stackup is None or not _is_plain(stackup):
        return False
    heights = [row.thickness_mm or 0.0 for row in stackup.dielectrics]
    shares = [row.thickness_mm or 0.0 for row in stackup.dielectrics if row.kind is LayerKind.CORE]
    prepregs = [row.thickness_mm or 0.0 for row in stackup.dielectrics if row.kind is LayerKind.PREPREG]
    thin_prepregs = (
        bool(shares) and bool(prepregs) and _all_near(prepregs, _PREPREG_MM) and _all_near(shares, shares[0])
    )
    if not thin_prepregs and not _all_near(heights, heights[0]):
        return False
    return board.thickness_mm is None or _adds_up(board.thickness_mm, sum(heights), len(stackup.copper), len(heights))


def is_grown_default(board: Board) -> bool:
    """Return True when layers were added to the default of a new board, each with its core: the sum was not chosen."""
    if board.stackup is None or not is_untouched_default(board):
        return False
    added_mm, layer_mm = -(_ONE_CORE_MM + 2 * _COPPER_MM), _ONE_CORE_MM + _COPPER_MM
    added_mm += sum(row.thickness_mm or 0.0 for row in (*board.stackup.copper, *board.stackup.dielectrics))
    added = round(added_mm / layer_mm)
    return added > 0 and added % 2 == 0 and abs(added_mm - added * layer_mm) <= _TOLERANCE_MM * added


def _is_plain(stackup: Stackup) -> bool:
    """One unlocked ply of KiCad's FR4 between any two coppers of 35 um."""
    dielectrics, copper = stackup.dielectrics, stackup.copper
    if not dielectrics or len(copper) != len(dielectrics) + 1 or any(len(row.plies) != 1 for row in dielectrics):
        return False
    plies = [row.plies[0] for row in dielectrics]
    if any((p.material, p.dk, p.df) != (_MATERIAL, _DK, _DF) or p.thickness_locked for p in plies):
        return False
    return all(row.thickness_mm is not None and _all_near([row.thickness_mm], _COPPER_MM) for row in copper)


def _adds_up(board_mm: float, dielectrics_mm: float, copper_layers: int, dielectrics: int) -> bool:
    """The dielectrics fill what copper leaves of the board thickness, with or without masks."""
    rest = board_mm - copper_layers * _COPPER_MM
    return any(abs(rest - masks - dielectrics_mm) <= _TOLERANCE_MM * dielectrics for masks in (_MASKS_MM, 0.0))


def _all_near(values: list[float], wanted: float) -> bool:
    return all(abs(value - wanted) <= _TOLERANCE_MM for value in values)
