"""Files in the styles of five fabs, and what a reader has to tell rather than guess."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drc_rules.fab_exchange.answer.cells import length_in
from drc_rules.fab_exchange.answer.stackup_text import FabStackup, read_fab_file, read_fab_table
from drc_rules.fab_exchange.comparison.judged import judge_totals
from stackup_lib.core.errors import ConfigError
from tests.support.hang import no_hang
from tests.support.reports.fab_workbook import fab_workbook

TABLES = Path(__file__).parents[4] / "fixtures" / "fab_tables"
MIL = 0.0254


def stackup(name: str) -> FabStackup:
    return read_fab_file((TABLES / name).read_bytes(), name)


def sizes(found: FabStackup) -> list[float | None]:
    return [row.thickness_mm for row in found.rows]


def shape(found: FabStackup) -> str:
    """Rows by their first letters: m mask, c copper, p prepreg, C core."""
    return "".join("C" if row.kind == "core" else row.kind[0] for row in found.rows)


def test_a_prototype_fabs_csv_with_units_in_the_cells() -> None:
    """Preamble, silk screen, `7628*1`, a core's cladding in brackets, a nominal total with its tolerance, a note."""
    found = stackup("pearl_delta_prototype.csv")
    assert shape(found) == "mcpcCcpcCcpcm"
    assert sizes(found)[:5] == pytest.approx([0.02, 0.035, 0.2104, 0.0152, 0.5])
    assert (found.rows[2].material, found.rows[2].dk) == ("7628*1 RC49%", 4.4)
    assert [row.number for row in found.rows if row.kind == "copper"] == [1, 2, 3, 4, 5, 6]
    (total,) = found.totals
    assert (total.thickness_mm, total.tolerance_pct) == (1.66, 10)
    assert judge_totals(found)[0].outcome.value == "accept"


@pytest.mark.parametrize(
    ("header", "cell", "at_ghz"),
    [
        ("Df at GHz", "10", 10),
        ("Df @ GHz", "10", 10),
        ("Frequency (GHz)", "2.5", 2.5),
        ("Test freq", "500 MHz", 0.5),
        ("Freq [MHz]", "1000", 1),
        ("Frequency", "", None),
        ("Figure", "10", None),
    ],
)
def test_a_column_states_the_frequency_of_each_row(header: str, cell: str, at_ghz: float | None) -> None:
    """Where the header of Df names one too, the row's own counts."""
    rows = f"F.Cu,copper,0.035,,,\nD1,core,0.2,4.2,0.02,{cell}\nB.Cu,copper,0.035,,,\n"

    plain = read_fab_table(f"layer,type,thickness mm,Dk,Df,{header}\n{rows}", "fab.csv").rows[1]
    both = read_fab_table(f"layer,type,thickness mm,Dk,Df at 1 GHz,{header}\n{rows}", "fab.csv").rows[1]

    assert (plain.df, plain.at_ghz) == (0.02, at_ghz)
    assert both.at_ghz == (at_ghz or 1)


@pytest.mark.parametrize(
    ("header", "cells", "of_dk", "of_df"),
    [
        ("Dk,Dk at GHz,Df,Df at GHz", "4.2,1,0.02,10", 1, 10),
        ("Df,Df at GHz,Dk,Dk at GHz", "0.02,10,4.2,1", 1, 10),
        ("Dk,Df,Dk @ GHz,Df @ MHz", "4.2,0.02,1,500", 1, 0.5),
        ("Dk,Df,Dk/Df at GHz,Tg", "4.2,0.02,2,170", 2, 2),
        ("Dk,Df,Freq (GHz),Df at GHz", "4.2,0.02,2,10", 2, 10),
        ("Dk,Df,Df at GHz,Tg", "4.2,0.02,10,170", None, 10),
        ("Dk,Df,Dk at GHz,Tg", "4.2,0.02,1,170", 1, 1),
        ("Dk @ 1 GHz,Df @ 10 GHz,Tg,oz", "4.2,0.02,170,", 1, 10),
        ("Dk,Dk at GHz,Df,Df at GHz", "4.2,NOT STATED,0.02,10", None, 10),
    ],
)
def test_dk_and_df_have_a_frequency_each(header: str, cells: str, of_dk: float | None, of_df: float) -> None:
    """One column was read for both: a Dk at 1 GHz made the Df one at 1 GHz."""
    rows = f"F.Cu,copper,0.035,,,,\nD1,core,0.2,{cells}\nB.Cu,copper,0.035,,,,\n"

    found = read_fab_table(f"layer,type,thickness mm,{header}\n{rows}", "fab.csv")

    core = found.rows[1]
    assert (core.dk, core.dk_at_ghz, core.df, core.at_ghz) == (4.2, of_dk, 0.02, of_df)
    assert found.notes == ()


def test_a_mil_table_with_base_and_processed_thickness() -> None:
    """Processed counts; units under the header; SIG, PLN, P-P; construction and resin belong to the material."""
    found = stackup("lakeshore_circuits_mil.tsv")
    assert shape(found) == "mcpcCcpcm"
    expected = [0.8, 1.8, 2.9, 1.2, 39, 1.2, 2.9, 1.8, 0.8]
    assert sizes(found) == pytest.approx([size * MIL for size in expected])
    prepreg = found.rows[2]
    assert (prepreg.material, prepreg.dk, prepreg.df, prepreg.at_ghz) == ("370HR 1x1080 RC66%", 3.66, 0.024, 10)
    assert [(row.number, row.copper_oz) for row in found.rows if row.kind == "copper"] == [
        (1, 0.5), (2, 1), (3, 1), (4, 0.5)
    ]  # fmt: skip
    assert [one.outcome.value for one in judge_totals(found)] == ["accept"]


def test_a_sheet_with_a_second_table_of_impedances() -> None:
    """The unit stands above; C-L with a Dk is a core; adjusted widths count, a line of two layers is two."""
    found = stackup("formosa_precision_two_tables.csv")
    assert shape(found) == "mcpcCcpcCcpcm"
    assert sum(size or 0 for size in sizes(found)) == pytest.approx(30.7 * MIL)
    assert found.rows[2].material == "EM-891K 1078 RC68%"
    assert [row.copper_oz for row in found.rows if row.kind == "copper"] == [1 / 3, 1, 0.5, 0.5, 1, 1 / 3]
    single, pair, *both = found.widths
    assert single.width_mm == pytest.approx(6.8 * MIL)
    assert single.gap_mm is None
    assert (pair.width_mm, pair.gap_mm) == pytest.approx((4.2 * MIL, 5.8 * MIL))
    assert (pair.drawn_width_mm, pair.drawn_gap_mm) == pytest.approx((4 * MIL, 6 * MIL))
    assert (pair.target_ohm, pair.stated_ohm) == (85, 84.6)
    assert [line.layer for line in both] == ["L1", "L6"]


def test_text_pasted_from_a_pdf() -> None:
    """Cells are blank, so each text goes below its header; the unit is in a sentence."""
    found = stackup("hillside_pasted_from_pdf.txt")
    assert shape(found) == "mcpcCcppcm"
    assert sizes(found)[:3] == pytest.approx([0.8 * MIL, 1.8 * MIL, 3.7 * MIL])
    assert found.rows[2].material == "370HR 2113 RC57%"
    assert found.rows[1].copper_oz == 0.5
    assert [one.outcome.value for one in judge_totals(found)] == ["accept"]


def test_a_workbook_with_merged_cells_and_decimal_commas() -> None:
    """A cover sheet, a header over two lines, German words, the lines on a sheet of their own."""
    found = read_fab_file(fab_workbook(), "fab.xlsx")
    assert shape(found) == "mcpcCcpcm"
    assert sizes(found) == pytest.approx([0.02, 0.042, 0.0665, 0.035, 1.2, 0.035, 0.0665, 0.042, 0.02])
    assert (found.rows[4].dk, found.rows[4].df) == (4.2, 0.02)
    (line,) = found.widths
    assert (line.width_mm, line.gap_mm, line.target_ohm, line.stated_ohm) == pytest.approx((0.105, 0.15, 100, 99.4))
    assert [one.outcome.value for one in judge_totals(found)] == ["accept"]


NO_UNIT = "Layer,Type,Thickness\nL1,Copper,1.4\n,Core,{core}\nL2,Copper,1.4\n"


def test_the_boards_thickness_decides_a_unit_that_the_table_leaves_out_and_it_is_told() -> None:
    """62 of nothing is 62 mil on a board of 1.6 mm; without a board, or of another thickness, nothing is guessed."""
    text = NO_UNIT.format(core=59.2)
    found = read_fab_table(text, "fab", board_mm=1.6)
    assert sizes(found) == pytest.approx([1.4 * MIL, 59.2 * MIL, 1.4 * MIL])
    assert "names no unit; read in mil" in found.notes[0]
    for board_mm in (None, 0.2, 5.0):
        with pytest.raises(ConfigError, match="has no unit"):
            read_fab_table(text, "fab", board_mm=board_mm)


def test_two_columns_that_may_be_the_same_are_told() -> None:
    """Two thicknesses in one unit: the first is read."""
    text = "Layer,Type,Thickness (mm),Height (mm)\nL1,Copper,0.035,0.04\n"
    found = read_fab_table(text, "fab")
    assert (sizes(found), len(found.notes)) == ([0.035], 1)
    assert '"Height (mm)" and "Thickness (mm)"' in found.notes[0]


@pytest.mark.parametrize(
    ("cell", "expected_mm"),
    [("2 x 0.075 mm", 0.15), ("3.0 mil*2", 6 * MIL), ("1,016.0 um", 1.016), ("1.016,0 um", 1.016), ("0,035 mm", 0.035)],
)
def test_lengths_as_fabs_write_them(cell: str, expected_mm: float) -> None:
    """Sheets times thickness, separators of thousands, decimal commas."""
    found = read_fab_table(f"Layer;Type;Thickness\nPP;Prepreg;{cell}\n", "fab")
    assert sizes(found) == pytest.approx([expected_mm])


@pytest.mark.parametrize("cell", ["9" * 4000, "0." + "1" * 4000, "9" * 4000 + "x"])
def test_an_endless_number_is_refused_at_once(cell: str) -> None:
    """A search that tries every split of its digits takes a minute for a thousand of them."""
    with no_hang(), pytest.raises(ConfigError, match="is no length"):
        length_in(cell, "the cell", "fab.csv", "mm")


def test_a_total_that_is_not_the_sum_is_told() -> None:
    """1.5 mm stated, 1.07 mm in the rows."""
    text = "Layer,Type,Thickness (mm)\nL1,Copper,0.035\n,Core,1.000\nL2,Copper,0.035\nTotal thickness,,1.5\n"
    (total,) = judge_totals(read_fab_table(text, "fab"))
    assert (total.outcome.value, total.stated_mm) == ("differs", 1.5)
    assert total.sum_mm == pytest.approx(1.07)


def packed(size: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", b" " * size)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7", "is a PDF"),
        (b"\xd0\xcf\x11\xe0", "before 2007"),
        (b"PK\x03\x04nothing", "no workbook"),
        (packed(100), "no workbook"),
        (packed(65_000_000), "unpacks to more than 64 MB"),
    ],
)
def test_what_is_no_table_is_refused_with_the_way_out(data: bytes, said: str) -> None:
    """One line, no traceback."""
    with pytest.raises(ConfigError, match=said):
        read_fab_file(data, "fab")


def test_a_hidden_sheet_is_not_read_and_two_stackups_are_told() -> None:
    """The longest is read."""
    book = openpyxl.Workbook()
    for title, rows in (("old", 4), ("Rev A", 2), ("Rev B", 3)):
        sheet = book.create_sheet(title)
        sheet.append(["Layer", "Type", "Thickness (mm)"])
        for k in range(rows):
            sheet.append([f"L{k + 1}", "Copper", 0.035])
    book["old"].sheet_state = "hidden"
    stream = io.BytesIO()
    book.save(stream)
    found = read_fab_file(stream.getvalue(), "fab.xlsx")
    assert len(found.rows) == 3
    assert "Rev B is read, not Rev A" in " ".join(found.notes)


SEEDS = [*(path.read_bytes() for path in sorted(TABLES.iterdir())), fab_workbook()]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_no_damage_to_a_file_leads_to_anything_but_one_line(data: st.DataObject) -> None:
    """Bytes replaced, cut out or doubled."""
    content = bytearray(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(1, 4))):
        at, length = data.draw(st.integers(0, len(content))), data.draw(st.integers(0, 40))
        content[at : at + length] = data.draw(st.sampled_from([b"", b"\x00", b"9" * 30, b";", b"\n", b"\xff/1,"]))
    with contextlib.suppress(ConfigError):
        for row in read_fab_file(bytes(content), "fab", board_mm=1.6).rows:
            assert row.thickness_mm is None or 0 < row.thickness_mm < 20 * 9


def test_text_of_a_pdf_without_its_columns_is_read_by_what_values_can_be() -> None:
    """The same sheet with single blanks has the same rows; a remark says that columns were reported by their values."""
    aligned = TABLES / "hillside_pasted_from_pdf.txt"
    flat = "\n".join(" ".join(line.split()) for line in aligned.read_text(encoding="utf-8").splitlines())
    found, known = read_fab_table(flat, "mail"), stackup(aligned.name)
    alike = {"line": 0, "number": None}
    assert [row.model_copy(update=alike) for row in found.rows] == [row.model_copy(update=alike) for row in known.rows]
    assert any("single blanks" in note for note in found.notes)
    assert not any("single blanks" in note for note in known.notes)


def test_weights_and_types_keep_their_columns_among_single_blanks() -> None:
    """`Layer Type` are two columns, `Layer Name` and `Copper weight` one; ounces are no thickness."""
    by_type = (
        "Layer Type Thickness (mm) Material Dk Df\nL1 Copper 0.035\nPP Prepreg 0.21 2116 RC54% IT-180A 4.1 0.015\n"
    )
    by_type += "L2 Copper 0.0175\nCore Core 0.5 IT-180A 4.3 0.014\nL3 Copper 0.035\nTotal 0.8 mm\n"
    found = read_fab_table(by_type, "mail")
    assert sizes(found) == [0.035, 0.21, 0.0175, 0.5, 0.035]
    assert (found.rows[1].material, found.rows[1].dk, found.rows[1].df) == ("2116 RC54% IT-180A", 4.1, 0.015)
    by_weight = "Layer Name Copper weight Thickness mil Material Dk Df\nTOP 0.5 oz 2.1\n"
    by_weight += "PP 3.9 EM-370(Z) 1080 RC 66% 3.6 0.012\n"
    by_weight += "GND 1 oz 1.2\nCORE 39 EM-370(Z) 4.2 0.013\nBOT 0.5 oz 2.1\n"
    found = read_fab_table(by_weight, "mail")
    assert [row.copper_oz for row in found.rows if row.kind == "copper"] == [0.5, 1, 0.5]
    assert sizes(found) == pytest.approx([size * MIL for size in (2.1, 3.9, 1.2, 39, 2.1)])


def test_prose_among_single_blanks_is_no_table() -> None:
    """A letter that speaks of layers and thickness is refused, as before."""
    with pytest.raises(ConfigError):
        read_fab_table("Please find the layer stack with thickness and material as below.\nBest regards\n", "mail")
