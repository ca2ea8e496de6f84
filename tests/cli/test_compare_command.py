"""`stackwright compare`: a fab's table in whatever dress, row by row, and what its differences do to the lines."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drc_rules.fab_exchange.answer.stackup_text import read_fab_table
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import ConfigError, StackwrightError
from stackup_lib.kicad import read_board
from stackwright.cli.app import run
from stackwright.commands.fab.compare import ComparisonDocument
from tests.support.mini import mini_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CARD = ROOT / "fixtures" / "boards" / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit.kicad_pcb"
SCHEMA = ROOT / "fixtures" / "schemas" / "comparison-v1.json"
HEAD = ("Layer", "Type", "Thickness (mm)", "Material", "Dk")

FOUR_LAYERS = {
    "comma, mil": """Stackup proposal,,,,
Layer,Layer Type,Thickness (mil),Material,Er,Copper Weight
,Solder Mask,0.8,LPI,3.5,
L1,Signal,1.4,,,0.5oz
,Prepreg,3.5,370HR 1080,3.9,
L2,Plane,1.2,,,1
,Core,40,370HR,4.2,
L3,Plane,1.2,,,1
,Prepreg,3.5,370HR 1080,3.9,
L4,Signal,1.4,,,H
,Solder Mask,0.8,LPI,3.5,
Total thickness,,53.8,,,
""",
    "semicolon, decimal comma": """Lage;Type;Thickness [µm];Material;DK @ 1GHz;Cu oz
;Lötstopp mask;20,32;LPI;3,5;
L1;Copper;35,56;;;1/2
;PP;88,9;370HR 1080;3,9;
L2;Copper;30,48;;;1
;Core;1016;370HR;4,2;
L3;Copper;30,48;;;1
;PP;88,9;370HR 1080;3,9;
L4;Copper;35,56;;;1/2
;mask;20,32;LPI;3,5;
""",
    "pasted columns, units in the cells": """
  Layer   Description   Thickness   Material   Dk   oz
  -       Solder mask   0.8mil      LPI        3.5  -
  L1      Signal        1.4mil      -          -    0.5
  -       Prepreg       3.5mil      370HR 1080   3.9  -
  L2      GND           1.2mil      -          -    1
  -       Core          40mil       370HR      4.2  -
  L3      PWR           1.2mil      -          -    1
  -       Prepreg       3.5mil      370HR 1080   3.9  -
  L4      Signal        1.4mil      -          -    0.5
  -       Solder mask   0.8mil      LPI        3.5  -
""",
    "bars and inches": """| Layer Name | Type | Finished Thickness (in) | Material | Dielectric Constant | oz |
|---|---|---|---|---|---|
| Top Silk | Silkscreen |  |  |  |  |
| Mask | Solder Mask | 0.0008 | LPI | 3.5 | |
| TOP | Signal | 0.0014 | | | 0.5 |
| D1 | Prepreg | 0.0035 | 370HR 1080 | 3.9 | |
| GND | Plane | 0.0012 | | | 1 |
| D2 | Core | 0.0400 | 370HR | 4.2 | |
| PWR | Plane | 0.0012 | | | 1 |
| D3 | Prepreg | 0.0035 | 370HR 1080 | 3.9 | |
| BOT | Signal | 0.0014 | | | 0.5 |
| Mask | Solder Mask | 0.0008 | LPI | 3.5 | |
""",
}
FOUR_LAYERS["quoted header over two lines, columns of their own"] = """Layer,Type,"Cu thickness
(um)","Dielectric thickness
(um)",Material,Dk,Weight (oz)
,Mask,,20.32,LPI,3.5,
L1,CONDUCTOR,35.56,,,,0.5
,Prepreg,,88.9,370HR 1080,3.9,
L2,PLANE,30.48,,,,1
,Core,,1016,370HR,4.2,
L3,PLANE,30.48,,,,1
,Prepreg,,88.9,370HR 1080,3.9,
L4,CONDUCTOR,35.56,,,,0.5
,Mask,,20.32,LPI,3.5,
"""
MIL = 0.0254


@pytest.mark.parametrize("text", FOUR_LAYERS.values(), ids=FOUR_LAYERS.keys())
def test_a_table_reads_the_same_in_any_dress(text: str) -> None:
    """Delimiters, header names, units in the header or the cell, decimal commas, fractions of an ounce."""
    rows = read_fab_table(text, "fab").rows
    kinds = ["mask", "copper", "prepreg", "copper", "core", "copper", "prepreg", "copper", "mask"]
    assert [row.kind for row in rows] == kinds
    sizes = [0.8, 1.4, 3.5, 1.2, 40, 1.2, 3.5, 1.4, 0.8]
    assert [row.thickness_mm for row in rows] == pytest.approx([size * MIL for size in sizes])
    assert [row.copper_oz for row in rows if row.kind == "copper"] == [0.5, 1, 1, 0.5]
    assert [row.dk for row in rows if row.kind in ("core", "prepreg")] == [3.9, 4.2, 3.9]
    assert [row.material for row in rows if row.kind in ("core", "prepreg")] == ["370HR 1080", "370HR", "370HR 1080"]


def test_the_rounding_of_a_thickness_is_half_its_last_digit() -> None:
    """3.5 mil may be 3.45 to 3.55."""
    row = read_fab_table("Layer,Type,Thickness (mil)\nL1,Copper,3.5\n", "fab").rows[0]
    assert (row.line, row.kind) == (2, "copper")
    assert (row.thickness_mm, row.rounding_mm) == pytest.approx((3.5 * MIL, 0.05 * MIL))


def test_the_pack_for_the_fab_can_be_compared_when_it_comes_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """NOT STATED is no value: our own table is accepted, but for what is not stated."""
    assert run(["fab-pack", str(CARD), "--output", str(tmp_path)]) == 0
    capsys.readouterr()

    code = run(["compare", str(CARD), str(next(tmp_path.glob("*stackup.csv")))])

    out = capsys.readouterr().out
    assert code in (0, 1)
    assert "differs" not in out
    assert "none changes" in out


@pytest.mark.parametrize(
    ("declared", "says"),
    [(0.5, ""), (1, "F.Cu differs copper weight 1 oz 0.5 oz"), (None, "F.Cu cannot tell copper weight 0.035 mm")],
)
def test_a_declared_weight_is_what_a_fab_s_is_compared_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], declared: float | None, says: str
) -> None:
    """Outer copper of 35 um is 1 oz, or 0.5 oz plated: the file does not tell, the settings do."""
    rows = """
    F.Cu 0.035
    prepreg 0.1 "370HR 2116" dk=4.0
    In1.Cu 0.015
    core 1.2 "370HR" dk=4.0
    In2.Cu 0.015
    prepreg 0.1 "370HR 2116" dk=4.0
    B.Cu 0.015
    """
    settings = f'[declared.copper."F.Cu"]\ncopper_oz = {declared}\n' if declared else ""
    board = mini_file(tmp_path, {"stackup": rows, "config": settings})
    lines = ["Layer,Type,Thickness (mm),Material,Dk,oz", "F.Cu,Copper,0.035,,,0.5", "D1,Prepreg,0.1,370HR 2116,4.0,"]
    lines += ["In1.Cu,Copper,0.015,,,", "D2,Core,1.2,370HR,4.0,", "In2.Cu,Copper,0.015,,,"]
    fab = tmp_path / "fab.csv"
    fab.write_text("\n".join([*lines, "D3,Prepreg,0.1,370HR 2116,4.0,", "B.Cu,Copper,0.015,,,", ""]))

    run(["compare", str(board), str(fab)])
    said = " ".join(capsys.readouterr().out.split())
    assert says in said
    assert ("copper weight" in said) == bool(says)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no stackup table is found"),
        ("hello\nworld\n", "no stackup table is found"),
        ("Layer,Type,Thickness\nL1,Copper,3.5\n", 'line 2: column "Thickness": "3.5" has no unit'),
        ("Layer,Type,Thickness (mm)\nL1,Copper,thin\n", 'line 2: column "Thickness (mm)": "thin" is no length'),
        ("Layer,Type,Thickness (mm)\nL1,Copper,0.0\n", 'line 2: column "Thickness (mm)": "0.0" is no length'),
        ("Layer,Type,Thickness (mm)\nL1,Copper,0.03\nX,Frobnicate,0.1\n", 'line 3: "Frobnicate" does not say'),
        ("Layer,Type,Thickness (mm),Dk\nL1,Prepreg,0.03,0.4\n", 'line 2: column "Dk": a Dk of 0.4'),
        (f"Layer,Type,Thickness (mm)\nL1,Copper,{'9' * 5000}\n", "is no length"),
        ("Layer,Type,Thickness (mm)\nL1,Copper,35\n", '"35" is no length'),
        ("Layer,Type,Thickness (mm),Dk\nL1,Prepreg,0.03,high\n", 'line 2: column "dk": "high" is no number'),
    ],
)
def test_what_cannot_be_read_is_told_by_line_and_column(text: str, said: str) -> None:
    """Nothing is guessed, least of all a unit."""
    with pytest.raises(ConfigError, match=re.escape(said)):
        read_fab_table(text, "fab")


HEADS = ["Layer", "Type", "Thickness (mm)", "Dk", "oz", "Width (um)", "total"]
VALUES = ["Copper", "Core", "mask", "L1", "0.1", "1e5", "1/0", "1/2", "3.5 mil", "1,5", "9" * 400]
NOISE = ["", "-", "\x00", '"', "\u2028", "@", "[", ";", "|", "\n"]
CELLS = st.sampled_from([*HEADS, *VALUES, *NOISE])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(CELLS, max_size=6), max_size=6), st.sampled_from([",", ";", "\t", " | ", "   "]))
def test_whatever_is_pasted_is_read_or_refused(cells: list[list[str]], delimiter: str) -> None:
    """Never anything but a stackup or one line that says where it is at fault."""
    text = "\n".join(delimiter.join(row) for row in cells)
    with contextlib.suppress(ConfigError):
        for row in read_fab_table(text, "fab").rows:
            assert row.thickness_mm is None or 0 < row.thickness_mm < 20
            assert row.dk is None or 1 < row.dk < 100


# --- against a board --------------------------------------------------------------------------------------------------


def rows_of_card(head: tuple[str, ...] = HEAD, board: Path = CARD) -> list[dict[str, str]]:
    """The card's own stackup, or that of another board, as a fab would print it."""
    stackup = read_board(board).stackup
    assert stackup is not None
    found, copper = [], 0
    for row in stackup.layers:
        ply = row.plies[0]
        if row.thickness_mm is None:  # silk screen and paste
            continue
        copper += row.kind is LayerKind.COPPER
        name = f"L{copper}" if row.kind is LayerKind.COPPER else row.name
        cells = (name, row.kind.value, f"{row.thickness_mm:.4f}", ply.material or "", f"{ply.dk}" if ply.dk else "")
        found.append({**dict.fromkeys(head, ""), **dict(zip(HEAD, cells, strict=True))})
    return found


def table(rows: list[dict[str, str]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[int, ComparisonDocument]]:
    """Return a function that compares a table with the card: exit code and document, without the verdict's checks."""
    monkeypatch.setattr("stackwright.commands.fab.compare.fab_verdict", lambda *_: None)

    def compare(text: str) -> tuple[int, ComparisonDocument]:
        path = tmp_path / "fab.csv"
        path.write_text(text, encoding="utf-8")
        code = run(["compare", str(CARD), str(path), "--json"])
        data = json.loads(capsys.readouterr().out)
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
        for row in (*data["layers"], *data["widths"]):
            row.pop("outcome")  # computed from the rest
            row.pop("meets_target", None)
        return code, ComparisonDocument.model_validate(data)

    return compare


def test_the_schema_is_the_one_of_the_program() -> None:
    """The committed schema is what the models say, so that neither changes alone."""
    made = ComparisonDocument.model_json_schema(mode="serialization")
    committed = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert committed == {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def test_the_boards_own_stackup_is_accepted_whole(
    compared: Callable[[str], tuple[int, ComparisonDocument]],
) -> None:
    """Every row, exit code 0, and no line moves by anything."""
    code, found = compared(table(rows_of_card()))
    assert code == 0
    assert {match.outcome.value for match in found.layers} == {"accept"}
    assert found.lines
    assert all(effect.before == effect.after for effect in found.lines)


def test_a_thicker_core_differs_and_moves_the_lines_beside_it(
    compared: Callable[[str], tuple[int, ComparisonDocument]],
) -> None:
    """Only that row, only the layer that touches it, towards more ohm and less dB."""
    rows = rows_of_card()
    rows[4]["Thickness (mm)"] = "0.1000"
    code, found = compared(table(rows))
    assert code == 1
    differing = {m.layer: [f.what for f in m.figures if f.outcome.value == "differs"] for m in found.layers}
    assert {layer: what for layer, what in differing.items() if what} == {"dielectric 2": ["thickness"]}
    moved, still = found.lines
    assert (moved.layer, still.layer) == ("In2.Cu", "In13.Cu")
    assert still.before == still.after
    assert moved.before.impedance_ohm is not None and moved.after.impedance_ohm is not None
    assert 1.03 < moved.after.impedance_ohm / moved.before.impedance_ohm < 1.12
    assert moved.before.yield_pct is not None and moved.after.yield_pct is not None
    assert moved.after.yield_pct < moved.before.yield_pct
    assert moved.target.tolerance_pct == 5
    assert moved.after.tolerance_yield_pct is not None
    assert moved.after.tolerance_yield_pct < moved.after.yield_pct


def test_a_rounding_of_the_fabs_is_no_difference(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    """0.08 may be 0.075 to 0.085; 0.09 may not."""
    rows = rows_of_card()
    rows[4]["Thickness (mm)"] = "0.08"
    assert compared(table(rows))[0] == 0
    rows[4]["Thickness (mm)"] = "0.09"
    assert compared(table(rows))[0] == 1


@pytest.mark.parametrize(
    ("material", "outcome"),
    [
        ("Panasonic Megtron 6 R-5775(N) 2013 RC56%", "accept"),
        ("R-5775(N) 2116", "differs"),
        ("370HR 2013", "differs"),
        ("Unobtainium 9", "cannot tell"),
    ],
)
def test_materials_are_compared_by_what_they_mean(
    material: str, outcome: str, compared: Callable[[str], tuple[int, ComparisonDocument]]
) -> None:
    """The same construction in other words, another glass, another laminate, an unknown one."""
    rows = rows_of_card()
    rows[4]["Material"] = material
    _, found = compared(table(rows))
    match = next(m for m in found.layers if m.layer == "dielectric 2")
    assert match.outcome.value == outcome


def test_a_lossier_laminate_costs_decibels(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    """370HR in place of Megtron 6 on one side of In2.Cu: Df 0.02 against 0.004."""
    rows = rows_of_card()
    rows[4]["Material"] = "370HR 1080"
    _, found = compared(table(rows))
    effect = next(e for e in found.lines if e.layer == "In2.Cu")
    assert effect.before.loss_db_per_mm is not None and effect.after.loss_db_per_mm is not None
    assert effect.after.loss_db_per_mm > 1.3 * effect.before.loss_db_per_mm


def test_two_sheets_for_one_are_summed(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    """Two sheets of half the thickness and the same material are the board's row."""
    rows = rows_of_card()
    first = {**rows[2], "Thickness (mm)": "0.0385"}
    code, found = compared(table([*rows[:2], first, dict(first), *rows[3:]]))
    assert code == 0
    match = next(m for m in found.layers if m.layer == "dielectric 1")
    assert len(match.lines) == 2


def test_the_fabs_lines_are_solved_and_judged(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    """An impedance that our solver has too is accepted, one that is 10 % off is not, none is open."""
    head = (*HEAD, "Line width (mm)", "Spacing (mm)", "Impedance")
    rows = rows_of_card(head)
    at = next(k for k, row in enumerate(rows) if row["Layer"] == "L3")
    rows[at] |= {"Line width (mm)": "0.094", "Spacing (mm)": "0.13", "Impedance": "87.8"}
    code, found = compared(table(rows))
    (judged,) = found.widths
    assert (code, judged.layer, judged.outcome.value) == (0, "In2.Cu", "accept")
    assert judged.solved_ohm == pytest.approx(87.8, abs=0.2)  # as `stackwright impedance` solves the routed pair
    rows[at]["Impedance"] = "79"
    code, found = compared(table(rows))
    assert (code, found.widths[0].outcome.value) == (1, "differs")
    rows[at]["Impedance"] = ""
    assert compared(table(rows))[1].widths[0].outcome.value == "cannot tell"


def test_a_second_table_may_hold_the_lines(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    """Below the stackup, with its own header."""
    text = table(rows_of_card()) + "\nLayer,Trace width (um),Gap (um),Zdiff\nL3,94,130,87.8\nIn13.Cu,94,130,87.8\n"
    code, found = compared(text)
    assert code == 0
    assert [one.layer for one in found.widths] == ["In2.Cu", "In13.Cu"]


def test_a_table_without_copper_is_refused_in_one_line(tmp_path: Path) -> None:
    """With the counts."""
    path = tmp_path / "fab.csv"
    path.write_text(table([row for row in rows_of_card() if row["Type"] != "copper"]), encoding="utf-8")
    with pytest.raises(ConfigError, match="has 0 copper rows, the board 16") as caught:
        run(["compare", str(CARD), str(path)])
    assert "\n" not in str(caught.value)


def missing_rows(document: ComparisonDocument) -> list[str]:
    """Rows of the board that the table lacks."""
    return [m.layer for m in document.layers if any(f.what == "row" and not f.fab for f in m.figures)]


def test_a_table_that_ends_early_lacks_the_rest(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    """Mask, ten copper layers, nine dielectrics: the others are findings, none of the rest differs."""
    code, found = compared(table(rows_of_card()[:20]))
    missing = missing_rows(found)
    assert (code, len(missing), missing[0], missing[-1]) == (1, 12, "dielectric 10", "B.Cu")
    assert {m.outcome.value for m in found.layers if m.layer not in missing and m.figures} == {"accept"}
    assert "matched by the layers' numbers" in " ".join(found.notes)
    assert "not judged: 6 copper rows are missing" in found.notes
    assert [effect.layer for effect in found.lines] == ["In2.Cu"], "In13.Cu is not in the table"


def test_a_table_with_a_part_of_the_stackup_has_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON and reply; what differs in the part is told, and neither accepted nor refused."""
    rows = rows_of_card()[:20]
    rows[4]["Thickness (mm)"] = "0.1000"
    path = tmp_path / "fab.csv"
    path.write_text(table(rows), encoding="utf-8")

    assert run(["compare", str(CARD), str(path)]) == 1
    out = capsys.readouterr().out
    assert "verdict  not judged, 6 copper rows are missing" in out
    assert "->  fit" not in out and "-> fit" not in out
    run(["compare", str(CARD), str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["verdict"] is None
    run(["compare", str(CARD), str(path), "--reply"])
    out = capsys.readouterr().out
    assert "not judged until you state every row:\n- dielectric 2: thickness 0.075 mm, you state 0.1 mm" in out
    assert "We accept" not in out


def test_our_own_table_of_a_board_is_the_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `stackup --format csv` writes it: every row, Dk and Df among them."""
    path = tmp_path / "full.csv"
    run(["stackup", str(CARD), "--format", "csv", "-o", str(path)])
    assert run(["compare", str(CARD), str(path)]) == 0
    assert "\nverdict  fit, as before\n" in capsys.readouterr().out
    assert run(["compare", str(CARD), str(path), "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert {figure["what"] for one in layers for figure in one["figures"]} >= {"Dk", "Df", "thickness", "material"}


@pytest.mark.parametrize("title", ["Df @10GHz", "Df at 10 GHz", "Df (10 GHz)", "DF@10GHz"])
@pytest.mark.parametrize(("df", "outcome"), [("0.0039", "accept"), ("0.006", "differs")])
def test_a_df_is_held_against_the_boards_at_the_frequency_of_its_title(
    title: str, df: str, outcome: str, compared: Callable[[str], tuple[int, ComparisonDocument]]
) -> None:
    """Megtron 6(N) has 0.00385 at 10 GHz: the maker's 0.003 at 1 and 0.004 at 12 GHz, on a line over log f."""
    rows = rows_of_card((*HEAD, title))
    rows[2][title] = df
    _, found = compared(table(rows))
    figure = next(one for one in found.layers[2].figures if one.what == "Df")
    assert (figure.outcome.value, figure.remark) == (outcome, "at 10 GHz")


def test_a_df_without_a_frequency_says_so(compared: Callable[[str], tuple[int, ComparisonDocument]]) -> None:
    rows = rows_of_card((*HEAD, "Df"))
    rows[2]["Df"] = "0.006"
    _, found = compared(table(rows))
    assert next(one for one in found.layers[2].figures if one.what == "Df").remark == "neither states its frequency"


@pytest.mark.parametrize("left_out", [2, 3])
def test_a_row_that_the_table_lacks_is_a_finding(
    left_out: int, compared: Callable[[str], tuple[int, ComparisonDocument]]
) -> None:
    """A dielectric, a copper layer: by its name, and nothing else counts as another row."""
    rows = rows_of_card()
    code, found = compared(table(rows[:left_out] + rows[left_out + 1 :]))
    assert (code, missing_rows(found)) == (1, [found.layers[left_out].layer])
    assert [m.layer for m in found.layers if m.outcome.value != "accept"] == missing_rows(found)


def test_a_board_without_stackup_has_nothing_to_compare(tmp_path: Path) -> None:
    """KiCad's default is no statement: it is never compared."""
    path = tmp_path / "fab.csv"
    path.write_text(FOUR_LAYERS["comma, mil"], encoding="utf-8")
    board = ROOT / "fixtures" / "boards" / "default_stackup"
    with pytest.raises(StackwrightError, match="nothing to compare"):
        run(["compare", str(board), str(path)])


def test_the_page_tells_differences_effects_and_what_was_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table without masks: they are named, not passed."""
    rows = rows_of_card()
    rows[4]["Thickness (mm)"] = "0.1000"
    path = tmp_path / "fab.csv"
    path.write_text(table(rows[1:-1]), encoding="utf-8")
    assert run(["compare", str(CARD), str(path)]) == 1
    out = capsys.readouterr().out
    assert re.search(r"dielectric 2\s+differs\s+thickness\s+0\.075 mm\s+0\.1 mm", out)
    assert "not compared, for the table says nothing of it: F.Mask, B.Mask" in out
    assert re.search(r"In2\.Cu\s+0\.094/0\.13\s+87\.\d -> 9\d\.\d", out)
    assert max(map(len, out.splitlines())) <= 100 + len(str(path))


def test_the_verdict_names_what_to_refuse_and_the_reply_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A thicker core takes the pair out of tolerance, a lossy laminate fails the interface; a total is no sum."""
    rows = rows_of_card()
    rows[4]["Thickness (mm)"] = "0.1000"
    rows[2]["Material"] = "370HR 1080"
    path = tmp_path / "fab.csv"
    path.write_text(table(rows) + "Total thickness,,1.9\n", encoding="utf-8")
    assert run(["compare", str(CARD), str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["verdict"]
    assert (found["before"], found["after"]) == ("fit", "not fit")
    assert found["refuse"] == ["dielectric 1", "dielectric 2"]
    worse = [change for change in found["changes"] if change["is_worse"]]
    assert any("impedance" in change["title"] and change["after"] == "failed" for change in worse)
    said = {one["after_words"] for one in worse if one["after"] == "failed"}
    assert {"failed", "not met"} <= said <= {"failed", "not met", "remark"}, "as a report says it, by severity"

    assert run(["compare", str(CARD), str(path), "--reply"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"Please change:\n- dielectric 1: .*\n- dielectric 2: thickness 0\.075 mm, you state 0\.1 mm", out)
    assert "states 1.9 mm, your rows add up to" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_df_at_its_frequency_and_a_lower_tg_reach_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table's Df of the same laminate is too high for the links, its Tg too low for the workload."""

    def verdict(columns: tuple[str, ...], cells: tuple[str, ...]) -> tuple[dict[str, object], set[str]]:
        rows = rows_of_card((*HEAD, *columns))
        for row in rows:
            if row["Type"] in ("core", "prepreg"):
                row.update(zip(columns, cells, strict=True))
        path = tmp_path / "fab.csv"
        path.write_text(table(rows), encoding="utf-8")
        run(["compare", str(CARD), str(path), "--json"])
        found = json.loads(capsys.readouterr().out)["verdict"]
        return found, {change["clause"] for change in found["changes"] if change["is_worse"]}

    lossy, worse = verdict(("Df @10GHz",), ("0.02",))
    assert (lossy["before"], lossy["after"]) == ("fit", "not fit")
    assert any(".df." in clause or "loss" in clause for clause in worse), worse
    assert verdict(("Df",), ("0.02",))[0]["after"] == "fit", "a Df without a frequency decides nothing"

    soft, worse = verdict(("Tg",), ("130",))
    assert soft["after"] == "not fit"
    assert any("tg" in clause for clause in worse), worse
    assert verdict(("Tg",), ("250",))[1] == set(), "a higher Tg of a method that nobody names proves nothing"


CARRIER = ROOT / "fixtures" / "boards" / "edge_jetson_carrier_fit" / "edge_jetson_carrier_fit.kicad_pcb"


def answered(
    folder: Path, capsys: pytest.CaptureFixture[str], *changes: tuple[str, str], board: Path = CARRIER
) -> tuple[dict[str, Any], str]:
    """The verdict on a board's own table with some text replaced, and the letter without its line ends."""
    path, text = folder / "fab.csv", table(rows_of_card(board=board))
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    run(["compare", str(board), str(path), "--json"])
    found = json.loads(capsys.readouterr().out)["verdict"]
    run(["compare", str(board), str(path), "--reply"])
    return found, " ".join(capsys.readouterr().out.split())


def test_mirrored_rows_are_answered_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prepregs of 0.05 mm on both sides miss the impedance; cores on both sides harm nothing, together or alone."""
    found, letter = answered(tmp_path, capsys, (",0.1190,", ",0.0500,"), (",0.3600,IS400,", ",0.3600,IT-180A,"))

    assert (found["refuse"], found["accept"]) == (["dielectric 1", "dielectric 5"], ["dielectric 2", "dielectric 4"])
    assert (found["ask"], found["together"]) == ([], [])
    assert "Please change: - dielectric 1, 5: thickness 0.119 mm, you state 0.05 mm" in letter
    assert not any("symmetric" in change["title"] for change in found["changes"])


def test_data_that_the_fab_has_not_stated_are_a_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """IT-180A has no public Df at 2.5 GHz: the loss is not proven, and nothing of it is wrong."""
    found, letter = answered(tmp_path, capsys, ("IS400 2116,", "IT-180A 2116,"))

    assert (found["before"], found["after"]) == ("fit", "not proven")
    assert (found["ask"], found["refuse"], found["accept"]) == (["dielectric 1", "dielectric 5"], [], [])
    assert any(change["is_worse"] and change["is_open"] for change in found["changes"])
    assert "We accept once you have answered below: - dielectric 1, 5: material IT-180A" in letter
    assert "is not proven with your stackup; please state what is missing: Df of dielectric 1 at 2.5 GHz" in letter
    assert "Please change" not in letter


def test_a_requirement_met_on_a_guess_is_a_question_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """IT-968 has no public Df at 16 GHz: the card's loss would be a guess, so that it is fit no more."""
    changes = (("R-5670(N)", "IT-968"), ("R-5775(N)", "IT-968"))
    found, _ = answered(tmp_path, capsys, *changes, board=CARD)

    assert (found["before"], found["after"], found["refuse"]) == ("fit", "not proven", [])
    assert "dielectric 1" in found["ask"]
    (worse,) = [change for change in found["changes"] if change["is_worse"]]
    assert (worse["before_words"], worse["after_words"]) == ("met", "met, on a guess")


def test_the_letter_names_lines_of_which_fewer_are_in_tolerance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.075 mm for 0.119 mm: 77 ohm is inside +-15 % of 90 ohm, and four boards in ten are not."""
    found, letter = answered(tmp_path, capsys, (",0.1190,", ",0.0750,"))

    assert found["accept"] == ["dielectric 1", "dielectric 5"]
    assert "Please adjust the widths of these lines to their targets" in letter
    assert re.search(
        r"F\.Cu, 0\.16/0\.15 mm, USB 3\.2 Gen1: 77\.\d ohm in place of 93\.\d ohm; 5\d % of a typical", letter
    )


def test_the_letter_names_no_line_that_stays_in_tolerance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0.115 mm for 0.119 mm moves the lines toward their targets."""
    assert "adjust" not in answered(tmp_path, capsys, (",0.1190,", ",0.1150,"))[1]
