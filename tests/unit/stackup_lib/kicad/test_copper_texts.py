"""Text on copper lies within the rectangle that is read for it; what is hidden or on no copper is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.verdicts import Verdict
from stackup_lib.board.board import CopperTexts
from stackup_lib.kicad import read_board

BOARD = """(kicad_pcb (version 20241229) (generator "pcbnew") (general (thickness 1.6))
(layers (0 "F.Cu" signal) (2 "B.Cu" signal) (25 "Edge.Cuts" user) (5 "F.SilkS" user))
(net 0 "") (net 1 "VCC") (net 2 "SIG")
(gr_rect (start 10 10) (end 45 35) (stroke (width 0.05) (type solid)) (fill no) (layer "Edge.Cuts"))
{items})"""

TEXT = '(gr_text "{}" (at {} {}) (layer "F.Cu") (effects (font (size 2.1 2.1) (thickness 0.2)){}))'
TWO_TRACKS = """(segment (start 18 20) (end 25 20) (width 0.3) (layer "F.Cu") (net 1))
(segment (start 18 {}) (end 25 {}) (width 0.3) (layer "F.Cu") (net 2))"""


def written(folder: Path, items: str) -> Path:
    path = folder / "text.kicad_pcb"
    path.write_text(BOARD.format(items=items), encoding="utf-8")
    return path


def texts(folder: Path, items: str) -> CopperTexts:
    return read_board(written(folder, items)).texts


def box(found: CopperTexts, row: int = 0) -> tuple[float, float, float, float]:
    x, y = found.corner_x_mm[row], found.corner_y_mm[row]
    return round(min(x), 3), round(min(y), 3), round(max(x), 3), round(max(y), 3)


@pytest.mark.parametrize(
    ("words", "justify", "kicads"),
    [
        ("HHH", "", (-1.396, -0.6, 1.396, 0.525)),
        ("HHH", "left top", (0.176, -0.015, 2.967, 1.11)),
        ("HHH", "right bottom", (-2.967, -1.185, -0.176, -0.06)),
        ("HHH", "left mirror", (-2.967, -0.6, -0.176, 0.525)),
        (r"HHH\nHHH\nHHH", "left top", (0.176, -0.015, 2.967, 4.33)),
        (r"HHH\nHHH\nHHH", "bottom", (-1.396, -4.405, 1.396, -0.06)),
        ("gj", "left", (0.128, -0.6, 1.253, 0.859)),
    ],
)
def test_the_rectangle_holds_what_kicad_draws_and_little_more(
    tmp_path: Path, words: str, justify: str, kicads: tuple[float, ...]
) -> None:
    """Extents by pcbnew of KiCad 10, as shares of the font's size, for a pen without width."""
    font, pen, spare = 2.1, 0.1, 0.25

    left, top, right, bottom = box(texts(tmp_path, TEXT.format(words, 20, 20, f" (justify {justify})")))

    most = [20 + font * kicads[0] - pen, 20 + font * kicads[1] - pen, 20 + font * kicads[2] + pen]
    most.append(20 + font * kicads[3] + pen)
    assert most[0] - spare * font <= left <= most[0] + 0.01
    assert most[1] - spare * font <= top <= most[1] + 0.01
    assert most[2] - 0.01 <= right <= most[2] + spare * font
    assert most[3] - 0.01 <= bottom <= most[3] + spare * font


def test_text_of_a_footprint_and_a_dimension_are_read_and_hidden_text_is_not(tmp_path: Path) -> None:
    silk = TEXT.format("S", 1, 1, "").replace("F.Cu", "F.SilkS")
    inside = """(property "Reference" "R1" (at 0 -2 90) (layer "F.Cu") (effects (font (size 1 1))))
(property "Value" "1k" (at 0 2) (layer "F.Cu") (hide yes) (effects (font (size 1 1))))
(fp_text user "HH" (at 2 0 90) (layer "F.Cu") (effects (font (size 1 1))))"""
    part = f'(footprint "F" (layer "F.Cu") (at 30 20 90) {inside})'
    dimension = """(dimension (type aligned) (layer "B.Cu") (pts (xy 20 20) (xy 30 20)) (height 2)
(gr_text "10 mm" (at 25 22) (layer "B.Cu") (effects (font (size 1 1)))))"""

    found = texts(tmp_path, silk + part + dimension)

    assert found.words.tolist() == ["10 mm", "R1", "HH"]
    assert found.layers.tolist() == [2, 1, 1]
    assert (found.x_mm[2], found.y_mm[2]) == pytest.approx((30, 18))
    left, top, right, bottom = box(found, 2)
    assert (right - left) < (bottom - top)  # its angle is that on the board
    assert box(found, 0)[0] <= 18


@pytest.mark.parametrize(
    ("apart_mm", "text", "verdict"),
    [
        (1.0, TEXT.format("REV HB", 21, 20.5, ""), Verdict.NOT_VERIFIABLE),
        (1.0, TEXT.format("REV HB", 21, 20.5, " (justify left) (hide yes)"), Verdict.PASSED),
        (1.0, TEXT.format("REV HB", 21, 25, ""), Verdict.PASSED),
        (6.0, TEXT.format("REV HB", 21, 20.5, ""), Verdict.PASSED),  # over one net alone
    ],
)
def test_text_over_copper_of_two_nets_leaves_shorts_open(
    tmp_path: Path, apart_mm: float, text: str, verdict: Verdict
) -> None:
    report = check_board(written(tmp_path, TWO_TRACKS.format(20 + apart_mm, 20 + apart_mm) + text))

    answer = next(one for one in report.verdicts if one.code == "FAB015")
    assert answer.verdict is verdict
    if verdict is Verdict.NOT_VERIFIABLE:
        assert 'the text "REV HB" on F.Cu (x 21.000 mm, y 20.500 mm), over SIG and VCC' in answer.missing[0].fact


BARCODE = """(barcode (at 21 20 {}) (layer "{}") (size 5 3) (text "HELLO") (text_height 1.5) (type qr) (ecc_level L)
(hide {}) (knockout no) (margins 1 2))"""


@pytest.mark.parametrize(("turn", "hide", "size"), [(0, "yes", (7, 7)), (90, "yes", (7, 7)), (0, "no", (8.48, 12.4))])
def test_a_barcode_lies_within_its_size_and_margins_and_its_text(
    tmp_path: Path, turn: int, hide: str, size: tuple[float, float]
) -> None:
    """The letters of HELLO are 6.48 mm wide in KiCad 10, their foot 2.69 mm below."""
    found = texts(tmp_path, BARCODE.format(turn, "F.Cu", hide) + BARCODE.format(0, "F.SilkS", hide))

    left, top, right, bottom = box(found)
    assert len(found) == 1
    assert (right - left, bottom - top) == pytest.approx(size, abs=0.5)
    assert (left + right, top + bottom) == pytest.approx((42, 40))


TABLE = """(table (column_count 2) (layer "F.Cu") (border (external yes) (header yes) (stroke (width 0.2) (type solid)))
(separators (rows no) (cols no)) (column_widths 5 5) (row_heights 2)
(cells (table_cell "A" (start 17 18) (end 22 21) (margins 1 1 1 1) (span 1 1) (layer "F.Cu"))
       (table_cell "B" (start 22 18) (end 27 21) (margins 1 1 1 1) (span 1 1) (layer "F.Cu"))))"""


def test_a_table_lies_within_its_cells(tmp_path: Path) -> None:
    assert box(texts(tmp_path, TABLE)) == (17, 18, 27, 21)


@pytest.mark.parametrize("item", [TABLE, BARCODE.format(0, "F.Cu", "yes")], ids=["table", "barcode"])
def test_tables_and_barcodes_over_two_nets_may_join_them(tmp_path: Path, item: str) -> None:
    """Before, they were no copper: the board passed."""
    for y, verdict in ((20.5, Verdict.NOT_VERIFIABLE), (30, Verdict.PASSED)):
        report = check_board(written(tmp_path, TWO_TRACKS.format(y, y) + item))
        assert next(v.verdict for v in report.verdicts if v.code == "FAB015") is verdict
