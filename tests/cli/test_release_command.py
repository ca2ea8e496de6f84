"""`stackwright release`: verdict, exit code and JSON, on a small board and hand-made files."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from drc_rules.release.compare import compare_release
from fixtures.miniboard import build
from stackup_lib.fab_files.facts import FabFileError, FabFormat, SentFile, SentImpedance, StatedNumber, stated_number
from stackwright.__main__ import guarded
from stackwright.cli.app import run
from stackwright.commands.release.command import ReleaseDocument
from tests.support.mini import mini_context
from tests.support.stackups import SHORT_USB, USB_PAIR

SCHEMA = Path(__file__).parents[2] / "fixtures" / "schemas" / "release-v1.json"
BOARD = {
    "size_mm": [40, 30],
    "finish": "ENIG",
    "copper_layers": 2,
    "stackup": 'mask 0.02\nF.Cu 0.035\ncore 1.5 "370HR" dk=4.1 df=0.02\nB.Cu 0.035\nmask 0.02\n',
    "vias": [{"net": "GND", "at_mm": [5, 5]}, {"net": "GND", "at_mm": [9, 5]}],
}
JOB = {
    "GeneralSpecs": {"Size": {"X": 40.05, "Y": 30.05}, "LayerNumber": 2, "BoardThickness": 1.61, "Finish": "ENIG"},
    "FilesAttributes": [{"Path": "top.gtl", "FileFunction": "Copper,L1,Top"}],
    "MaterialStackup": [
        {"Type": "SolderMask", "Thickness": 0.02},
        {"Type": "Copper", "Thickness": 0.035},
        {"Type": "Dielectric", "Thickness": 1.5, "Material": "370HR", "DielectricConstant": 4.1, "LossTangent": 0.02},
        {"Type": "Copper", "Thickness": 0.035},
        {"Type": "SolderMask", "Thickness": 0.02},
    ],
}
FUNCTIONS = {
    "top.gtl": "Copper,L1,Top",
    "bottom.gbl": "Copper,L2,Bot",
    "top.gts": "Soldermask,Top",
    "bottom.gbs": "Soldermask,Bot",
}
HEAD = "%TF.FileFunction,{}*%\n%TF.FilePolarity,Positive*%\n%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,0.05*%\nD10*\n"
EDGE = "X0Y0D02*\nX40000000Y0D01*\nX40000000Y30000000D01*\nX0Y30000000D01*\nX0Y0D01*\nM02*\n"
DRILLS = "M48\n; #@! TF.FileFunction,Plated,1,2,PTH\nMETRIC\nT1C{}\n%\nT1\nX5.0Y5.0\nX9.0Y5.0\nM30\n"


@pytest.fixture
def board(tmp_path: Path) -> Path:
    return build(BOARD, tmp_path, "card")


@pytest.fixture
def fab(tmp_path: Path, board: Path) -> Path:
    """A whole delivery that agrees with the board."""
    folder = tmp_path / "fab"
    folder.mkdir()
    for name, function in FUNCTIONS.items():
        (folder / name).write_text(HEAD.format(function) + "X1000000Y1000000D03*\nM02*\n")
    (folder / "edge.gm1").write_text(HEAD.format("Profile,NP") + EDGE)
    (folder / "card.gbrjob").write_text(json.dumps(JOB))
    (folder / "card.drl").write_text(DRILLS.format(drill_text(board)))
    return folder


def drill_text(board: Path) -> str:
    text = board.read_text()
    at = text.index("(drill ", text.index("(via"))
    return f"{float(text[at + 7 : text.index(')', at)]):.3f}"


def test_what_agrees_is_said_so(board: Path, fab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["release", str(board), str(fab)]) == 0
    said = capsys.readouterr().out
    assert "Agrees" in said and "Df" in said


def test_a_gerber_file_that_was_cut_off_is_refused(board: Path, fab: Path) -> None:
    """Its header alone would name the layer; M02 ends every Gerber file."""
    file = fab / "top.gtl"
    file.write_text(file.read_text().replace("M02*\n", ""))
    with pytest.raises(FabFileError, match=r"top.gtl: has no end \(M02\): a part of it is missing"):
        run(["release", str(board), str(fab)])


def test_what_is_not_compared_is_said(board: Path, fab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["release", str(board), str(fab)]) == 0
    assert "where copper and holes lie is not compared" in capsys.readouterr().out


def test_a_zip_is_as_good_as_a_folder(board: Path, fab: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "fab.zip", "w") as made:
        for path in fab.iterdir():
            made.write(path, path.name)
    assert run(["release", str(board), str(tmp_path / "fab.zip")]) == 0


def test_files_of_another_board_are_called_so_first(board: Path, fab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two signs of three; the differences that follow are left for -v, and no step is named that repairs one."""
    job = {**JOB, "GeneralSpecs": {"Size": {"X": 100.05, "Y": 80.05}, "LayerNumber": 6, "BoardThickness": 1.61}}
    (fab / "card.gbrjob").write_text(json.dumps(job))
    (fab / "edge.gm1").unlink()
    assert run(["release", str(board), str(fab)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "Another board  100.05 x 80.05 mm, not 40 x 30 mm; 6 copper layers, not 2"
    assert said[2].endswith("not in the files: -v lists them") or said[2].endswith("differences: -v lists them")
    assert said[-1] == "next: name the files of this board, not of a panel, or export them again from it"
    assert run(["release", str(board), str(fab), "-v"]) == 1
    verbose = capsys.readouterr().out
    assert "Another board  " in verbose and "copper layers: board 2 copper layers, file 6 copper layers" in verbose


@pytest.mark.parametrize("sign", ["size", "layers", "holes"])
def test_one_sign_alone_is_a_difference_of_the_same_board(
    sign: str, board: Path, fab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its outline changed, the job file is of another state, vias were added."""
    general: dict[str, Any] = {"LayerNumber": 2, "BoardThickness": 1.61, "Finish": "ENIG"}
    if sign == "size":
        (fab / "edge.gm1").write_text(HEAD.format("Profile,NP") + EDGE.replace("X40", "X90"))
        general["Size"] = {"X": 90.05, "Y": 30.05}
    if sign == "layers":
        general["LayerNumber"] = 4
    if sign == "holes":
        drills = (fab / "card.drl").read_text()
        (fab / "card.drl").write_text(drills.replace("M30", "X20.0Y5.0\nM30"))
    (fab / "card.gbrjob").write_text(json.dumps({**JOB, "GeneralSpecs": general}))
    assert run(["release", str(board), str(fab)]) == 1
    said = capsys.readouterr().out
    assert "Another board" not in said and "\nDiffers  " in said


def test_json_holds_every_difference(board: Path, fab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Value of the board and of the file, place, consequence and remedy; as the schema says."""
    job = json.loads(json.dumps(JOB))
    job["MaterialStackup"][2]["LossTangent"] = 0.0
    (fab / "card.gbrjob").write_text(json.dumps(job))
    (fab / "bottom.gbl").unlink()
    assert run(["release", str(board), str(fab), "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
    found = {(one["topic"], one["what"], one["board"], one["sent"]) for one in data["findings"]}
    assert found == {("Df", "dielectric 1", "0.02", "0"), ("layers", "B.Cu", "copper layer 2 of 2", "no Gerber file")}
    assert all(one["place"] and one["consequence"] and one["fix"] for one in data["findings"])
    assert data["agrees"] is False


@pytest.mark.parametrize(
    ("general_mm", "core_mm", "sent", "agrees"),
    [
        (1.6, 1.48, 1.6, True),
        (1.6, 1.46, 1.6, True),
        (None, 1.48, 1.6, True),
        (0.8, 0.68, 0.8, True),
        (1.6, 1.44, 1.6, False),
        (1.6, 1.52, 1.55, False),
        (1.6, 1.48, 1.57, False),
        (0.8, 0.66, 0.8, False),
        (1.6, 0.89, 1.6, False),
        (None, 1.48, 1.62, False),
    ],
)
def test_a_total_thickness_may_be_the_nominal_one_of_the_board(
    tmp_path: Path, general_mm: float | None, core_mm: float, sent: float, *, agrees: bool
) -> None:
    """Rows add up to 0.11 mm more than the core; 1.59 mm is 1.6 mm, 1.55 mm, or another value than KiCad's, is not."""
    rows = f'mask 0.02\nF.Cu 0.035\ncore {core_mm} "370HR" dk=4.1 df=0.02\nB.Cu 0.035\nmask 0.02\n'
    general = {} if general_mm is None else {"thickness_mm": general_mm}
    ctx = mini_context(tmp_path, {**BOARD, "stackup": rows, **general})
    stated = stated_number(str(sent), "BoardThickness")

    findings = compare_release(ctx, [SentFile("x.gbrjob", FabFormat.JOB, thickness_mm=stated)]).findings
    assert [one.what for one in findings if one.topic == "thickness"] == ([] if agrees else ["whole board"])


def test_missing_files_are_named(board: Path, fab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fab / "card.drl").unlink()
    (fab / "card.gbrjob").unlink()
    assert run(["release", str(board), str(fab)]) == 1
    said = capsys.readouterr().out
    assert "Not in the files" in said and "no drill file" in said and "finish" in said


def test_a_board_without_a_stackup_is_not_said_to_agree(
    fab: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = build({"size_mm": [40, 30], "copper_layers": 2, "stackup": None}, tmp_path, "bare")
    assert run(["release", str(bare), str(fab)]) == 1
    assert "Not compared" in capsys.readouterr().out


def test_without_a_stackup_no_command_is_printed_that_needs_one(
    fab: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`release --fix` was printed, and refused when it was run: it writes the rows of the board's own stackup."""
    bare = build(SHORT_USB | {"stackup": None, "copper_layers": 4, "pairs": USB_PAIR}, tmp_path, "bare")
    assert run(["release", str(bare), str(fab / "card.drl")]) == 1
    said = capsys.readouterr().out
    assert "KiCad exports none: send the tables of `stackwright fab-pack`" in said
    assert "--fix" not in said


def test_without_gerbonara_one_line_says_what_to_install(
    board: Path, fab: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gerbonara.rs274x", None)
    assert run(["release", str(board), str(fab)]) == 1
    assert "pip install gerbonara" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("files", "words"),
    [(["nothing.zip"], "cannot be read"), (["note.txt"], "no Gerber"), (["note.txt", "--fix"], "no IPC-2581")],
)
def test_what_cannot_be_read_has_exit_code_2(
    files: list[str], words: str, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.txt").write_text("hello")
    paths = [name if name.startswith("-") else str(tmp_path / name) for name in files]
    assert guarded(lambda: run(["release", str(board), *paths])) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


ROWS = (("M1", "SOLDERMASK"), ("T", "CONDUCTOR"), ("D", "DIELCORE"), ("B", "CONDUCTOR"), ("M2", "SOLDERMASK"))
IPC = f"""<?xml version="1.0" encoding="UTF-8"?>
<IPC-2581 revision="C"><Ecad name="Design"><CadHeader units="MILLIMETER"><Spec name="S">
<Dielectric type="DIELECTRIC_CONSTANT"><Property value="9.9"/></Dielectric></Spec></CadHeader><CadData>
{"".join(f'<Layer name="{name}" layerFunction="{function}" polarity="POSITIVE"/>' for name, function in ROWS)}
<Layer name="H" layerFunction="DRILL"><Span fromLayer="T" toLayer="B"/></Layer>
<Stackup overallThickness="1.61">
{"".join(f'<StackupLayer layerOrGroupRef="{name}" thickness="9"><SpecRef id="S"/></StackupLayer>' for name, _ in ROWS)}
</Stackup><Step name="card"><LayerFeature layerRef="H"><Set>
<Hole diameter="DRILL" platingStatus="VIA"/><Hole diameter="DRILL" platingStatus="VIA"/>
</Set></LayerFeature></Step></CadData></Ecad></IPC-2581>
"""


def test_fix_writes_a_file_that_agrees(
    board: Path, fab: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before: five wrong heights, Dk, no Df and no material. After: only what the format's small file leaves out."""
    path = tmp_path / "card.xml"
    path.write_text(IPC.replace('DRILL" p', f'{drill_text(board)}" p'))
    others = [str(fab / "edge.gm1"), str(fab / "card.gbrjob")]
    assert run(["release", str(board), str(path), *others]) == 1
    assert "5 times" in capsys.readouterr().out
    run(["release", str(board), str(path), "--fix"])
    made = tmp_path / "card-corrected.xml"
    assert f"Written {made}" in " ".join(capsys.readouterr().out.split())  # a long path begins a line of its own
    run(["release", str(board), str(made), *others, "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [one for one in found if one["place"].startswith("card-corrected.xml")] == []


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        ("", []),
        ("0 0 0 0 0", []),
        ("1 2 3 4 5", []),
        ("0 10 20 | 0 10", []),  # two groups, each with its own numbers
        ("3 ? 7 8 9", []),
        ("0 3 2 1 4", [("differs", "T"), ("differs", "B")]),
        ("0 1 2 | 4 3", [("not compared", "which row is at the top")]),
        ("9 8 7 6 5", [("not compared", "which row is at the top")]),
    ],
)
def test_numbers_of_rows_agree_with_their_order(
    board: Path, fab: Path, capsys: pytest.CaptureFixture[str], numbers: str, wanted: list[Any]
) -> None:
    """`sequence` numbers the rows of a group; a fab's program that goes by it must build what is written."""
    path = board.with_name("card.xml")
    path.write_text(IPC.replace('DRILL" p', f'{drill_text(board)}" p'))
    run(["release", str(board), str(path), "--fix"])
    made = board.with_name("card-corrected.xml")
    words = iter(numbers.split())

    def numbered(found: re.Match[str]) -> str:
        word = next(words, "")
        group = "</StackupGroup><StackupGroup>" if word == "|" else ""
        word = next(words) if group else word
        return group + found[0] + (f' sequence="{word}"' if word else "")

    text = re.sub("<StackupLayer(?= )", numbered, made.read_text(encoding="utf-8"))
    text = re.sub("(<Stackup [^>]*>)", r"\1<StackupGroup>", text).replace("</Stackup>", "</StackupGroup></Stackup>")
    made.write_text(text, encoding="utf-8")
    capsys.readouterr()
    run(["release", str(board), str(made), str(fab / "edge.gm1"), str(fab / "card.gbrjob"), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    found = [one for one in found if one["place"].startswith("card-corrected.xml")]
    assert [(one["outcome"], one["what"]) for one in found] == wanted
    assert all(one["topic"] == "order" for one in found)


def test_the_printed_command_corrects_the_file_of_a_folder(
    board: Path, fab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names board and folder and runs as printed; then the file it replaces is told as long as it is there."""
    (fab / "card.xml").write_text(IPC.replace('DRILL" p', f'{drill_text(board)}" p'))
    assert run(["release", str(board), str(fab)]) == 1
    last = capsys.readouterr().out.splitlines()[-1].strip()
    assert shlex.split(last) == ["stackwright", "release", str(board), str(fab), "--fix"]
    for _ in range(2):  # the corrected file is no second one to correct
        run(shlex.split(last)[1:])
        assert sorted(one.name for one in fab.glob("*.xml")) == ["card-corrected.xml", "card.xml"]
    capsys.readouterr()
    run(["release", str(board), str(fab)])
    assert "send only the corrected one: remove" in capsys.readouterr().out
    (fab / "card.xml").unlink()
    run(["release", str(board), str(fab)])
    assert "corrected one" not in capsys.readouterr().out


@pytest.mark.parametrize("delivery", ["revision B", "several", "zip"])
def test_the_printed_commands_export_what_can_be_corrected(
    board: Path, fab: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], delivery: str
) -> None:
    """`--fix` was printed for files that it refuses: revision B, several of them, one in a zip."""
    text = IPC.replace('DRILL" p', f'{drill_text(board)}" p')
    (fab / "a.xml").write_text(text.replace('revision="C"', 'revision="B"') if delivery == "revision B" else text)
    if delivery == "several":
        (fab / "b.xml").write_text(text)
    sent = shutil.make_archive(str(tmp_path / "sent"), "zip", fab) if delivery == "zip" else str(fab)
    assert run(["release", str(board), sent]) == 1
    export, fix = (shlex.split(line) for line in capsys.readouterr().out.splitlines()[-2:])
    assert export[:6] == ["kicad-cli", "pcb", "export", "ipc2581", "--version", "C"]
    assert fix == ["stackwright", "release", str(board), export[7], "--fix"]


def test_of_several_files_in_a_folder_one_has_to_be_named(
    board: Path, fab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.xml", "b.xml"):
        (fab / name).write_text(IPC)
    assert guarded(lambda: run(["release", str(board), str(fab), "--fix"])) == 2
    assert "several IPC-2581 files: a.xml, b.xml; name the one to correct" in " ".join(capsys.readouterr().err.split())
    assert not list(fab.glob("*-corrected.xml"))


def test_what_needs_no_correction_prints_no_command(board: Path, fab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["release", str(board), str(fab)]) == 0
    assert "next:" not in capsys.readouterr().out


def test_fix_writes_files_only(board: Path, fab: Path) -> None:
    assert run(["release", str(board), str(fab), "--fix", "--format", "json"]) == 2


def test_the_schema_is_the_one_of_the_program() -> None:
    made = ReleaseDocument.model_json_schema(mode="serialization")
    committed = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert committed == {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def stated(value: float, step: float = 0.001) -> StatedNumber:
    return StatedNumber(value, step, "x.xml:7")


USB = SentImpedance(
    stated(90, 1), stated(10, 1), stated(10, 1), stated(0.2), stated(0.2), planes=(1,), layers=(0,)
)  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (USB, set()),
        (replace(USB, plus_pct=None, width_mm=None, gap_mm=None, planes=(), layers=()), set()),
        (replace(USB, width_mm=stated(0.21)), {"line width of 90 ohm"}),
        (replace(USB, gap_mm=stated(0.15)), {"gap of 90 ohm"}),
        (replace(USB, plus_pct=stated(20, 1)), {"tolerance (plus) of 90 ohm"}),
        (replace(USB, planes=(2,)), {"reference planes of 90 ohm"}),
        (replace(USB, ohm=stated(85, 1)), {"controlled impedance"}),
    ],
)
def test_a_controlled_impedance_is_compared_with_its_geometry(
    sent: SentImpedance, says: set[str], tmp_path: Path
) -> None:
    """Width, gap, tolerance and planes, as far as the file states them; the fab would tune another line."""
    ctx = mini_context(tmp_path, {**SHORT_USB, "pairs": USB_PAIR}, "[declared]\nimpedance_tolerance_pct = 10\n")
    found = compare_release(ctx, [SentFile("x.xml", FabFormat.IPC2581, impedances=(sent,))]).findings

    assert {one.what for one in found if one.topic == "impedance"} == says
