"""KiCad's untouched default stackup: what it writes before anybody has entered one. It declares nothing."""

from __future__ import annotations

from stackup_lib.board import Board

# What KiCad 6 to 10 fill in for a new board (BOARD_STACKUP::BuildDefaultStackupList): every dielectric FR4 4.5/0.02,
# all equally thick, so that copper of 35 um, two masks of 10 um and they add up to the board thickness.
_MATERIAL, _DK, _DF = "FR4", 4.5, 0.02
_COPPER_MM, _MASKS_MM = 0.035, 0.02
_TOLERANCE_MM = 0.0011


def is_untouched_default(board: Board) -> bool:
    """Return True when the board's stackup is KiCad's own default for its layer count and thickness."""
    stackup = board.stackup
    if stackup is None:
        return False
    dielectrics, copper = stackup.dielectrics, stackup.copper
    if not dielectrics or len(copper) != len(dielectrics) + 1:
        return False
    plies = [row.plies[0] for row in dielectrics if len(row.plies) == 1]
    if len(plies) != len(dielectrics):
        return False
    if any((p.material, p.dk, p.df) != (_MATERIAL, _DK, _DF) or p.thickness_locked for p in plies):
        return False
    if any(row.thickness_mm is None or abs(row.thickness_mm - _COPPER_MM) > _TOLERANCE_MM for row in copper):
        return False
    heights = [p.thickness_mm for p in plies if p.thickness_mm is not None]
    if len(heights) != len(plies) or max(heights) - min(heights) > _TOLERANCE_MM:
        return False
    return board.thickness_mm is None or _fills_board(board.thickness_mm, heights, len(copper))


def _fills_board(board_mm: float, heights_mm: list[float], copper_layers: int) -> bool:
    """The equal shares are those that KiCad computes from the board thickness, with or without masks."""
    for masks in (_MASKS_MM, 0.0):
        share = (board_mm - copper_layers * _COPPER_MM - masks) / len(heights_mm)
        if abs(share - heights_mm[0]) <= _TOLERANCE_MM:
            return True
    return False

