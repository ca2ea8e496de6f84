"""The stackup alone: what is known of it, drawn and tabled; honest about the rest and harmless whatever its names."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.stackup_rows import StackupView, Stated
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackwright.cli.app import run
from stackwright.drawing import tables, words
from stackwright.drawing.svg import LABEL_STEP, svg
from tests.support.boards import BOARDS, board_file
from tests.support.remembered import fixture_report
from tests.support.reports.hostile_texts import HOSTILE, hostile_view

SCHEMAS = BOARDS.parent / "schemas"
SVG = "{http://www.w3.org/2000/svg}"


@cache
def view_of(name: str) -> StackupView:
    """Return the stackup of one of our boards."""
    view = fixture_report(name).stackup
    assert view is not None
    return view


def texts(drawing: str) -> list[str]:
    """Return every line of text of a drawing."""
    root = ET.fromstring(drawing)  # noqa: S314 - our own output
    return ["".join(e.itertext()) for e in root.iter() if e.tag in (f"{SVG}text", "text")]


# --- what is known ---------------------------------------------------------------------------------------------------


def test_the_view_says_of_each_row_what_a_person_reads_off_the_board() -> None:
    """Rows in order with thickness, material, laminate, role, foil and interfaces."""
    view = view_of("training_b200_lossy_prepreg")
    rows = {row.name: row for row in view.rows}

    assert [row.name for row in view.rows][:6] == ["F.Mask", "F.Cu", "dielectric 1", "In1.Cu", "dielectric 2", "In2.Cu"]
    assert sum(row.is_copper for row in view.rows) == 28
    assert view.thickness_mm == pytest.approx(3.5416)
    lossy = rows["dielectric 5"]
    assert (lossy.kind, lossy.material, lossy.laminate) == (LayerKind.PREPREG, "370HR 1080 RC71%", "370HR")
    assert lossy.df_10ghz is not None
    assert lossy.df_10ghz.value == pytest.approx(0.030)
    assert "Isola" in lossy.df_10ghz.source
    plane = rows["In10.Cu"]
    assert (plane.role, plane.main_net) == (LayerRole.POWER, "+12V")
    assert plane.copper_oz is not None
    assert plane.copper_oz.value == 2
    fast = rows["In4.Cu"]
    assert fast.foil is not None
    assert (fast.foil.grade, fast.foil.origin.value) == ("HVLP", "declared")
    assert [(one.interface, one.nets, one.inferred) for one in fast.carries] == [("nvlink5", 4, False)]


@pytest.mark.parametrize(("declared", "said"), [("foil = 'VLP'", ""), ("copper_oz = 0.5", "0.5 oz")])
def test_the_declared_weight_of_a_foil_goes_before_its_thickness(declared: str, said: str, tmp_path: Path) -> None:
    """43 um of plated outer copper are of no class: half an ounce and plating, say."""
    text = board_file("no_stackup").read_text(encoding="utf-8")
    rows = (("F.Cu", "copper", 0.043), ("dielectric 1", "prepreg", 0.1), ("B.Cu", "copper", 0.043))
    stackup = "".join(f'(layer "{name}" (type "{kind}") (thickness {mm}))' for name, kind, mm in rows)
    board = tmp_path / "plated.kicad_pcb"
    board.write_text(text.replace("(setup", f"(setup (stackup {stackup})", 1), encoding="utf-8")
    (tmp_path / "stackwright.toml").write_text(f'[declared.copper."F.Cu"]\n{declared}\n', encoding="utf-8")

    view = check_board(board).stackup

    assert view is not None
    assert words.copper_weight(next(row for row in view.rows if row.name == "F.Cu")) == said


def test_sublayers_are_rows_of_their_own() -> None:
    """KiCad's plies of one dielectric may be of different materials."""
    names = [row.name for row in view_of("edge_jetson_carrier_fit").rows]

    assert names[names.index("In2.Cu") + 1 : names.index("In3.Cu")] == ["dielectric 3, ply 1", "dielectric 3, ply 2"]


def test_via_spans_count_every_via_once_and_keep_backdrills_apart() -> None:
    """139 plain vias and 80 backdrilled ones of eight depths, the deepest drilled last."""
    view = view_of("training_b200_lossy_prepreg")
    drilled = [span for span in view.spans if span.backdrills]

    assert sum(span.count for span in view.spans) == 219
    assert sum(span.count for span in drilled) == 80
    assert {(span.kind, span.top, span.bottom) for span in view.spans} == {("through", "F.Cu", "B.Cu")}
    assert drilled[0].backdrills[0].must_cut == "In26.Cu"
    assert drilled[-1].backdrills[0].must_cut == "In3.Cu"


@pytest.mark.parametrize("name", ["no_stackup", "default_stackup", "default_stackup_of_board_setup"])
def test_what_is_not_declared_stays_unknown(name: str) -> None:
    """No thickness, no material, no Df is invented; KiCad's default declares nothing."""
    view = view_of(name)

    assert view.stated is not Stated.FILE
    assert all(row.thickness_mm is None and row.df_10ghz is None and not row.material for row in view.rows)
    assert not view.is_to_scale
    drawing = svg(view)
    assert "not declared" in drawing
    assert any("not declared" in remark for remark in words.remarks(view))


def test_a_layer_that_the_stackup_lacks_is_named() -> None:
    """A drawing of half a board must say so."""
    view = view_of("stackup_contradicts_layers")

    assert view.notes
    assert view.notes[0] in [remark.rstrip(".")[:1].lower() + remark.rstrip(".")[1:] for remark in words.remarks(view)]


# --- the drawing -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", sorted(folder for folder in BOARDS.iterdir() if folder.is_dir()), ids=lambda folder: folder.name
)
def test_every_board_can_be_drawn(folder: Path) -> None:
    """Well-formed XML with a label for every row, of a size that a mail can carry; twice the same bytes."""
    view = view_of(folder.name)
    drawing = svg(view)

    labels = texts(drawing)
    assert all(any(words.full_name(row) in label for label in labels) for row in view.rows)
    assert len(drawing) < 200_000
    assert drawing == svg(view)


def test_a_drawing_to_scale_keeps_the_proportions() -> None:
    """A 70 um plane is twice as high as a 35 um one, within the rounding of the coordinates."""
    view = view_of("inference_pcie_gen5_fit")
    root = ET.fromstring(svg(view, to_scale=True))  # noqa: S314 - our own output
    cores = [float(e.get("height", "0")) for e in root.iter(f"{SVG}rect") if e.get("class") == "core"]
    planes = [float(e.get("height", "0")) for e in root.iter(f"{SVG}rect") if e.get("class") == "copper"]

    stated = [row.thickness_mm or 0.0 for row in view.rows if row.kind is LayerKind.CORE]
    assert cores == pytest.approx([value * cores[0] / stated[0] for value in stated], abs=0.02)
    assert max(planes) / cores[0] == pytest.approx(0.041 / stated[0], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("to_scale", [False, True])
def test_labels_never_overlap(to_scale: bool) -> None:
    """Labels of one column are at least a line apart, in the order of the rows, on the largest of our boards."""
    drawing = svg(view_of("training_b200_lossy_prepreg"), to_scale=to_scale)
    root = ET.fromstring(drawing)  # noqa: S314 - our own output
    columns: dict[str, list[float]] = {}
    for element in root.iter(f"{SVG}text"):
        columns.setdefault(element.get("x", "") + element.get("text-anchor", ""), []).append(
            float(element.get("y", "0"))
        )

    gaps = [after - before for ys in columns.values() for before, after in pairwise(ys) if len(ys) > 3]
    assert len(gaps) > 50
    assert min(gaps) >= LABEL_STEP - 0.05


def test_a_backdrilled_barrel_is_hatched_from_its_side_through_the_cut_layer() -> None:
    """The hatched part begins at the bottom copper's lower face and ends at the cut layer's upper one."""
    view = view_of("training_b200_lossy_prepreg")
    root = ET.fromstring(svg(view))  # noqa: S314 - our own output
    hatched = [e for e in root.iter(f"{SVG}rect") if e.get("class") == "drilled"]
    names = {"".join(e.itertext()): float(e.get("y", "0")) for e in root.iter(f"{SVG}text")}

    assert len(hatched) == sum(len(span.backdrills) for span in view.spans)
    ends = {round(float(e.get("y", "0")) + float(e.get("height", "0")), 1) for e in hatched}
    assert len(ends) == 1
    tops = [float(e.get("y", "0")) for e in hatched]
    assert min(tops) < names["In3.Cu"] < min(tops) + 20


def test_a_foil_that_is_not_declared_is_said_once() -> None:
    """On every row it would push what is known out of the picture."""
    view = view_of("inference_pcie_gen5_fit")
    bare = view.model_copy(update={"rows": tuple(row.model_copy(update={"foil": None}) for row in view.rows)})

    assert svg(view).count("VLP foil") == 16
    assert svg(bare).count("foil") == svg(bare).count("no foil grade is declared") == 1


def test_marks_point_at_their_rows() -> None:
    """The report writes the codes of findings at the rows that they are about."""
    drawing = svg(view_of("training_b200_lossy_prepreg"), marks={"In4.Cu": "MAT001"})

    assert [label for label in texts(drawing) if "MAT001" in label] == ["MAT001: " + _at(drawing, "MAT001")]


def test_a_marked_row_ends_inside_the_drawing() -> None:
    """Marks are bold, so fewer letters fit: a long one had run out of the picture."""
    drawing = svg(
        view_of("training_b200_lossy_prepreg"), marks={"In4.Cu": "IMP002, LOS001, MAT001, RET001, VIA001, VIA002"}
    )

    tip, shown = next(label for label in texts(drawing) if label.startswith("IMP002")).split("IMP002")[1:]
    assert tip.endswith("NVLink 5")
    assert shown.endswith("…")
    assert len(f"IMP002{shown}") * 7.6 < 960 - 526  # bold letters of 12 px are 7.6 wide at most; right of the sheets


def test_a_mark_of_a_row_is_at_each_of_its_plies() -> None:
    """A finding names the file's row, which has several sheets where KiCad has sublayers."""
    drawing = svg(view_of("edge_jetson_carrier_fit"), marks={"dielectric 3": "MAT001"})

    assert sum(label.startswith("MAT001: prepreg") for label in texts(drawing)) == 2


def test_names_of_plies_are_not_cut() -> None:
    """The longest names that we give ourselves have room."""
    assert "dielectric 17, ply 2" in texts(svg(view_of("training_b200_lossy_prepreg")))


def _at(drawing: str, mark: str) -> str:
    found = next(label for label in texts(drawing) if label.startswith(mark))
    assert "NVLink 5" in found
    return found.removeprefix(f"{mark}: ")


def test_an_inline_drawing_brings_no_style_of_its_own() -> None:
    """Two drawings in a page share one style sheet, and no ids."""
    view = view_of("training_b200_lossy_prepreg")
    both = svg(view, standalone=False) + svg(view, standalone=False, to_scale=True)

    assert "<style" not in both
    assert ' id="' not in both
    assert "<pattern" not in both  # a PDF would hold every one as a picture


# --- hostile names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_stays_text_in_the_drawing(text: str) -> None:
    """No element of its own, no attribute, no control character, no mark that turns the writing around."""
    for standalone in (True, False):
        drawing = svg(hostile_view(text), standalone=standalone, title=text, marks={"F.Cu": text})
        root = ET.fromstring(drawing)  # noqa: S314 - our own output

        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "title", "style", "rect", "defs", "pattern", "path", "g", "text", "tspan", "polyline"}
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]", drawing)
        assert not any(name.startswith("on") for element in root.iter() for name in element.keys())  # noqa: SIM118


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_keeps_its_cell_in_every_table(text: str) -> None:
    """Markdown has one line per row and no markup of the name's, CSV and JSON parse to the same shape."""
    view = hostile_view(text)

    shown = tables.markdown(view, text)
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(view.rows)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {10}
    assert not re.search(r"<(?!!-- -->)|(?<!\\)`|(?<!\\)\]\(|@octocat|://", shown)
    parsed = list(csv.reader(io.StringIO(tables.csv_text(view))))
    assert [len(row) for row in parsed] == [len(tables.CSV_HEAD)] * (1 + len(view.rows))
    data = json.loads(tables.json_text(view, text, ""))
    assert data["stackup"]["rows"][0]["user_name"] == text
    plain = tables.page(view, text).text()
    for written in (shown, tables.csv_text(view), tables.json_text(view, text, ""), plain):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", written)


FORMULAS = ["=1+1", "+A1", "+VIN", "-5V*A1", "+3V3|A1", "@SUM(A1)", "  =1+1", "\t=1+1", "\n=1+1", "\uff1d1+1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text: str) -> None:
    """A spreadsheet shows the name; opening the table of an unknown board runs nothing."""
    parsed = list(csv.reader(io.StringIO(tables.csv_text(hostile_view(text)))))

    cells = [cell for row in parsed[1:] for cell in row if cell]
    assert any(cell.strip().startswith("'") for cell in cells)
    assert not any(re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]", cell) for cell in cells)


@pytest.mark.parametrize("name", ["+3V3", "-5V", "+12V_AUX", "+1V0", "+5", "-0.5"])
def test_a_supply_is_called_in_csv_as_it_is(name: str) -> None:
    """A spreadsheet computes nothing of it, and who looks for a rail finds it."""
    assert tables.in_csv(name) == name


def test_numbers_stay_numbers_in_csv() -> None:
    """Thicknesses in mm without quotes, names with them."""
    lines = tables.csv_text(view_of("inference_pcie_gen5_fit")).splitlines()

    assert lines[2].startswith('"F.Cu","","copper",0.041,')


@pytest.mark.slow
def test_json_follows_its_schema_to_the_letter() -> None:
    """Every board's table validates with no key beyond the schema's; the report's schema describes it alike."""
    schema = json.loads((SCHEMAS / "stackup-v1.json").read_text(encoding="utf-8"))
    in_report = json.loads((SCHEMAS / "report-v1.json").read_text(encoding="utf-8"))["$defs"]
    assert schema["$defs"] == {name: in_report[name] for name in schema["$defs"]}

    for definition in (schema, *schema["$defs"].values()):
        if definition.get("type") == "object":
            definition["additionalProperties"] = False
    validator = jsonschema.Draft202012Validator(schema)
    for folder in BOARDS.iterdir():
        if folder.is_dir():
            validator.validate(json.loads(tables.json_text(view_of(folder.name), "a.kicad_pcb", "0" * 64)))


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_shows_a_table_and_writes_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text by default; SVG, Markdown, CSV and JSON on demand, to a file or to standard output."""
    board = str(BOARDS / "inference_pcie_gen5_fit")
    begins = {
        "svg": "<svg ",
        "markdown": "# Stackup of ",
        "csv": '"layer",',
        "json": '{\n  "format": "stackwright-stackup"',
    }

    assert run(["stackup", board]) == 0
    assert "R-5670(N) 1078 RC66%" in capsys.readouterr().out
    for form, begin in begins.items():
        target = tmp_path / form
        assert run(["stackup", board, f"--{form}"]) == 0
        out = capsys.readouterr().out
        assert run(["stackup", board, f"--{form}", "--output", str(target)]) == 0
        assert out.startswith(begin)
        assert target.read_text(encoding="utf-8") == out
        capsys.readouterr()


def test_two_forms_at_once_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says which two."""
    assert run(["stackup", str(BOARDS / "no_stackup"), "--svg", "--csv"]) == 2
    assert "--svg and --csv exclude each other" in capsys.readouterr().err


def test_to_scale_needs_every_thickness() -> None:
    """A drawing to scale of guesses would be a lie."""
    from stackup_lib.core.errors import StackwrightError

    with pytest.raises(StackwrightError, match="cannot be drawn to scale"):
        run(["stackup", str(BOARDS / "no_stackup"), "--svg", "--to-scale"])


def test_the_stackup_is_never_written_over_the_board(tmp_path: Path) -> None:
    """A slip of the keyboard costs nothing."""
    from stackup_lib.core.errors import StackwrightError

    board = tmp_path / "card.kicad_pcb"
    name = "no_stackup"
    board.write_bytes((board_file(name)).read_bytes())

    with pytest.raises(StackwrightError):
        run(["stackup", str(board), "--svg", "--output", str(board)])
    assert board.read_bytes().startswith(b"(kicad_pcb")
