"""Exports of a real KiCad 10: nothing invented on untouched files, every seeded difference found."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest

from drc_rules.release.corrections import corrected_file
from drc_rules.release.model import ReleaseOutcome
from tests.conftest import KicadCli
from tests.support.kicad.release_exports import (
    DIFFERS,
    FIXTURES,
    NOT_COMPARED,
    NOT_STATED,
    NOTE,
    Change,
    Exported,
    context_of,
    copied,
    export,
    in_zip,
    job,
    key_of,
    new_after,
    replaced,
    swapped,
    told,
    without,
)

pytestmark = pytest.mark.kicad


@pytest.fixture(scope="module")
def training(kicad_cli: KicadCli, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    board = FIXTURES / "training_b200_fit" / "training_b200_fit.kicad_pcb"
    return export(kicad_cli, board, tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="module")
def hdi(kicad_cli: KicadCli, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    board = FIXTURES / "inference_hdi_2n2_fit" / "inference_hdi_2n2_fit.kicad_pcb"
    return export(kicad_cli, board, tmp_path_factory.mktemp("hdi"), ("gerber", "c.xml", "odb4.tgz"))


LOST_ROW = {(NOT_STATED, "stackup row"), (NOT_STATED, "finish"), (NOT_STATED, "impedance")}

UNTOUCHED: dict[str, set[tuple[ReleaseOutcome, str]]] = {
    "gerber": {
        (DIFFERS, "backdrill depth"),  # KiCad counts to the middle of the last layer
        (NOTE, "drill files"),  # and writes each backdrill into two files
        (NOT_STATED, "impedance"),
        (NOT_STATED, "via protection"),
    },
    "c.xml": {(NOT_STATED, "impedance"), (NOT_STATED, "backdrill size")},
    "b.xml": {(NOT_STATED, "impedance"), (NOT_STATED, "backdrill size"), (NOT_STATED, "finish")},
    "odb4.tgz": LOST_ROW,
    "odb4.zip": LOST_ROW,
    "odb.zip": {(DIFFERS, "Df"), (DIFFERS, "thickness"), *LOST_ROW},
    "net.d356": {
        (NOT_STATED, topic) for topic in ("stackup", "finish", "impedance", "via protection", "outline", "layers")
    },
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_kicad_loses_of_28_layers_and_nothing_else(training: Exported, name: str) -> None:
    assert told(training.findings(name)) == UNTOUCHED[name]


@pytest.mark.parametrize("name", ["gerber", "c.xml", "odb4.tgz"])
def test_a_board_with_microvias(hdi: Exported, name: str) -> None:
    lost = {"gerber": {"impedance", "via protection"}, "c.xml": {"impedance"}, "odb4.tgz": {"impedance", "finish"}}
    assert told(hdi.findings(name)) == {(NOT_STATED, topic) for topic in lost[name]}


def test_rounding_is_named_with_its_remedy(training: Exported) -> None:
    """The default precision of KiCad's ODB++ makes Df 0.002 to 0.0; the remedy is to export with four decimals."""
    df = [finding for finding in training.findings("odb.zip") if finding.topic == "Df"]
    assert len(df) == 23
    assert {(one.board, one.sent) for one in df} >= {("0.002", "0")}
    assert all("--precision 4" in one.fix for one in df)


def test_28_layers_take_less_than_two_seconds(training: Exported) -> None:
    begun = time.process_time()
    training.findings("gerber")
    assert time.process_time() - begun < 2


DEMOS = {
    "cm5_minima": ("CM5_MINIMA_3.kicad_pcb", {(NOT_STATED, "impedance")}),
    "stickhub": ("StickHub.kicad_pcb", {(NOT_STATED, "impedance")}),
}


@pytest.mark.demo
@pytest.mark.parametrize("name", DEMOS)
def test_nothing_is_invented_on_demo_boards(name: str, kicad_cli: KicadCli, demo_boards: Path, tmp_path: Path) -> None:
    file, expected = DEMOS[name]
    exported = export(kicad_cli, demo_boards / name / file, tmp_path, ("gerber", "c.xml", "odb4.tgz", "net.d356"))
    if exported.context.is_default_stackup:
        expected = {*expected, (NOT_COMPARED, "stackup")}
    for files in ("gerber", "c.xml"):
        assert told(exported.findings(files)) == expected, files
    finish = {(NOT_STATED, "finish")} if name == "cm5_minima" else set()
    assert told(exported.findings("odb4.tgz")) == expected | finish
    assert not [one for one in exported.findings("net.d356") if one.outcome is DIFFERS]


@pytest.fixture(scope="module")
def untouched(training: Exported) -> dict[str, set[tuple[object, ...]]]:
    return {
        name: {key_of(one) for one in training.findings(name)} for name in ("gerber", "c.xml", "odb4.zip", "net.d356")
    }


DIEL5 = "steps/pcb/layers/dielectric_5/attrlist"
ROW = r'(layerOrGroupRef="DIELECTRIC_5" thickness=")[^"]*'
SPEC5 = r'(<Spec name="DIELECTRIC_5_1">.*?DIELECTRIC_CONSTANT">\s*<Property value=")[^"]*'
SEEDED: dict[str, tuple[str, Change, str]] = {
    "a copper layer is missing": ("gerber", without("gerber/*-In5_Cu.g5"), "layers"),
    "a copper layer is there twice": ("gerber", copied("gerber/*-In5_Cu.g5", "gerber/copy.gbr"), "layers"),
    "two layers are swapped": ("gerber", swapped("gerber/*-In5_Cu.g5", "gerber/*-In6_Cu.g6"), "order"),
    "copper is negative": (
        "gerber",
        replaced("gerber/*-In5_Cu.g5", "FilePolarity,Positive", "FilePolarity,Negative"),
        "polarity",
    ),
    "a copper file is empty": ("gerber", replaced("gerber/*-In1_Cu.g1", r"D10\*.*", "M02*"), "layers"),
    "no solder mask": ("gerber", without("gerber/*-F_Mask.gts"), "layers"),
    "no attributes": ("gerber", replaced("gerber/*-In5_Cu.g5", r"%TF\.[^\n]*\n", "", count=0), "layers"),
    "no outline": ("gerber", without("gerber/*-Edge_Cuts.gm1"), "outline"),
    "the outline is smaller": (
        "gerber",
        replaced("gerber/*-Edge_Cuts.gm1", "X635000000", "X630000000", count=0),
        "outline",
    ),
    "no drill files": ("gerber", without("gerber/*.drl"), "drill files"),
    "the plated holes are missing": ("gerber", without("gerber/*-PTH.drl"), "drill files"),
    "a drill file has no span": (
        "gerber",
        replaced("gerber/*-PTH.drl", r"; #@! TF.FileFunction[^\n]*\n", ""),
        "drill span",
    ),
    "another drill size": ("gerber", replaced("gerber/*-PTH.drl", r"T1C0\.250", "T1C0.300"), "drill size"),
    "a hole is missing": ("gerber", replaced("gerber/*-PTH.drl", r"\nX150\.0Y-250\.0", ""), "drill count"),
    "plated holes are sent as non-plated": (
        "gerber",
        replaced("gerber/*-PTH.drl", "FileFunction,Plated,1,28,PTH", "FileFunction,NonPlated,1,28,NPTH"),
        "drill files",
    ),
    "backdrills are missing": ("gerber", without("gerber/*ackdrill*.drl"), "backdrill"),
    "one of two files with the same backdrills is missing": ("gerber", without("gerber/*Drill_28_10.drl"), "NOTE"),
    "backdrills go one layer too far": (
        "gerber",
        lambda folder: (
            [
                path.write_text(path.read_text().replace("NonPlated,10,28", "NonPlated,9,28"))
                for path in folder.glob("gerber/*.drl")
            ]
            and None
        ),
        "backdrill",
    ),
    "backdrills are too small": (
        "gerber",
        replaced("gerber/*Drill_28_10.drl", r"T1C0\.450", "T1C0.350"),
        "backdrill size",
    ),
    "a backdrill reaches the next layer": (
        "gerber",
        replaced("gerber/*in9-back-backdrill.drl", r"stub 2\.426mm", "stub 2.600mm"),
        "backdrill depth",
    ),
    "the job file counts other layers": (
        "gerber",
        job(lambda d: d["GeneralSpecs"].update(LayerNumber=26)),
        "layers",
    ),
    "the job file has another thickness": (
        "gerber",
        job(lambda d: d["GeneralSpecs"].update(BoardThickness=1.6)),
        "thickness",
    ),
    "the job file has another finish": (
        "gerber",
        job(lambda d: d["GeneralSpecs"].update(Finish="HAL SnPb")),
        "finish",
    ),
    "the job file is not impedance controlled": (
        "gerber",
        job(lambda d: d["GeneralSpecs"].update(ImpedanceControlled=False)),
        "impedance",
    ),
    "the job file lacks a ply": (
        "gerber",
        job(lambda d: d["MaterialStackup"].pop(24)),
        "plies",
    ),
    "a row is thicker": ("c.xml", replaced("c.xml", ROW, r"\g<1>0.0990"), "thickness"),
    "another Dk": ("c.xml", replaced("c.xml", SPEC5, r"\g<1>3.210"), "Dk"),
    "another material": ("c.xml", replaced("c.xml", r"R-5680\(N\) 1080 RC66%", "FR-4"), "material"),
    "core for prepreg": (
        "c.xml",
        replaced("c.xml", r'(<Layer name="DIELECTRIC_5" layerFunction=")DIELPREG', r"\g<1>DIELCORE"),
        "type",
    ),
    "copper layers in another order": (
        "c.xml",
        replaced(
            "c.xml",
            r'(<StackupLayer layerOrGroupRef=")In5\.Cu(".*?<StackupLayer layerOrGroupRef=")In6\.Cu',
            r"\g<1>In6.Cu\2In5.Cu",
        ),
        "order",
    ),
    "negative copper": (
        "c.xml",
        replaced("c.xml", r'(<Layer name="In5\.Cu" layerFunction="CONDUCTOR" polarity=")POSITIVE', r"\g<1>NEGATIVE"),
        "polarity",
    ),
    "another finish": ("c.xml", replaced("c.xml", 'SurfaceFinish type="ENIG-N"', 'SurfaceFinish type="OSP"'), "finish"),
    "another hole": ("c.xml", replaced("c.xml", r'(<Hole name="H1" diameter=")0\.250', r"\g<1>0.30"), "drill count"),
    "fill is missing": (
        "c.xml",
        replaced("c.xml", 'layerFunction="HOLEFILL"', 'layerFunction="DOCUMENT"'),
        "via protection",
    ),
    "a backdrill stops at another layer": (
        "c.xml",
        replaced("c.xml", r'(MUST_NOT_CUT_LAYER">\s*<Property layerOrGroupRef=")In2\.Cu', r"\g<1>In3.Cu"),
        "backdrill",
    ),
    "another profile": ("c.xml", replaced("c.xml", r'(<Profile>.*?x=")635\.0', r"\g<1>640.0"), "outline"),
    "another thickness of the whole": (
        "c.xml",
        replaced("c.xml", 'overallThickness="3.53760"', 'overallThickness="3.20"'),
        "thickness",
    ),
    "another Df in ODB++": ("odb4.zip", in_zip(DIEL5, "loss_tangent=0.0020", "loss_tangent=0.0200"), "Df"),
    "another copper weight": (
        "odb4.zip",
        in_zip("steps/pcb/layers/in1.cu/attrlist", r"copper_weight=[\d.]+", "copper_weight=2.0"),
        "copper weight",
    ),
    "a drill of ODB++": (
        "odb4.zip",
        in_zip("steps/pcb/layers/drill_plated_f.cu-b.cu/features", r"r250\.0", "r300.0"),
        "drill size",
    ),
    "a backdrill of ODB++": (
        "odb4.zip",
        in_zip("matrix/matrix", r"END_NAME=IN3\.CU", "END_NAME=IN4.CU"),
        "backdrill",
    ),
    "a hole of the netlist": ("net.d356", replaced("net.d356", "D0098P", "D0118P"), "drill count"),
}


ALSO: dict[str, set[str]] = {
    "no outline": {"layers"},  # the job file lists it
    "plated holes are sent as non-plated": {"drill size"},
    "copper layers in another order": {"backdrill"},  # their layers are counted in the file's order
    "another hole": {"drill size"},
    "a hole of the netlist": {"drill size"},
}
"""What else a change changes."""


@pytest.mark.parametrize("name", SEEDED)
def test_seeded_differences_are_found(
    training: Exported, untouched: dict[str, set[tuple[object, ...]]], name: str, tmp_path: Path
) -> None:
    """What is new after the change is about the change and nothing else."""
    file, change, topic = SEEDED[name]
    new = new_after(training, file, change, untouched[file], tmp_path)
    if topic == "NOTE":  # the other of KiCad's two files still has these holes
        assert new == []
        return
    assert {one.topic for one in new} == {topic} | ALSO.get(name, set())
    assert all(one.place or one.outcome is NOT_STATED for one in new)
    assert all(one.consequence and one.fix for one in new)


def test_a_second_ply_of_another_thickness(kicad_cli: KicadCli, tmp_path: Path) -> None:
    """KiCad's IPC-2581 gives the first ply's thickness to the second; the corrected file has both."""
    source = FIXTURES / "training_b200_fit"
    shutil.copytree(source, tmp_path / "board")
    board = tmp_path / "board" / "training_b200_fit.kicad_pcb"
    text = board.read_text()
    second = text.index("addsublayer")
    board.write_text(text[:second] + text[second:].replace("(thickness 0.058)", "(thickness 0.071)", 1))
    kicad_cli("pcb", "export", "ipc2581", "--version", "C", "-o", tmp_path / "c.xml", board)
    exported = Exported(context_of(board), tmp_path)
    wrong = [one for one in exported.findings("c.xml") if one.topic == "thickness" and "ply" in one.what]
    assert [(one.what, one.board, one.sent) for one in wrong] == [("dielectric 11, ply 2", "0.071 mm", "0.058 mm")]
    content = (tmp_path / "c.xml").read_bytes()
    (tmp_path / "right.xml").write_bytes(corrected_file(exported.context, content, "c.xml"))
    assert exported.findings("right.xml") == []


def test_the_corrected_file_keeps_every_other_byte(training: Exported, tmp_path: Path) -> None:
    """Without the added elements it is KiCad's file; with them it agrees."""
    content = (training.folder / "c.xml").read_bytes()
    made = corrected_file(training.context, content, "c.xml")
    (tmp_path / "made.xml").write_bytes(made)
    assert Exported(training.context, tmp_path).findings("made.xml") == []
    bare = re.sub(rb'\n      <Spec name="IMPEDANCE_\d+">.*?</Spec>', b"", made, flags=re.DOTALL)
    bare = re.sub(rb'  <SpecRef id="IMPEDANCE_\d+"/>\n          ', b"", bare)
    bare = re.sub(rb'  <Backdrill type="OTHER" comment="must cut">.*?</Backdrill>\n      ', b"", bare, flags=re.DOTALL)
    bare = re.sub(
        rb'  <Backdrill type="OTHER" comment="drill diameter">.*?</Backdrill>\n      ', b"", bare, flags=re.DOTALL
    )
    assert bare == content
    assert made.count(b"<EdgeCoupled structure=") >= 2
