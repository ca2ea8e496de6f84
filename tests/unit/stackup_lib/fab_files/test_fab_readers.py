"""Readers of what is sent to a fab, on small files of ours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from stackup_lib.board.stackup import LayerKind, Ply
from stackup_lib.fab_files.facts import FabFileError, FabFormat, SentFile, stated_number
from stackup_lib.fab_files.ipc2581_write import BackdrillSpec, ImpedanceSpec, corrected_ipc2581
from stackup_lib.fab_files.read import read_fab_files

GERBER = "%TF.FileFunction,Copper,L2,Inr*%\n%TF.FilePolarity,Negative*%\n%FSLAX46Y46*%\n%MOMM*%\nD10*\nX0Y0D03*\nM02*\n"
DRILL = """M48
; #@! TF.FileFunction,MixedPlating,1,4
FMAT,2
INCH
; #@! TA.AperFunction,Plated,PTH,ViaDrill
T1C0.0100
; #@! TA.AperFunction,NonPlated,NPTH,ComponentDrill
T2C0.0400
%
G90
T1
X1.0Y1.0
X2.0Y1.0
R03X0.1
T2
X1.0Y2.0G85X1.5Y2.0
G00X3.0Y3.0
M15
G01X3.5Y3.0
M16
M30
"""
BACKDRILL = """M48
; #@! TF.FileFunction,NonPlated,3,4,Blind
METRIC
; #@! TA.AperFunction,NonPlated,BackDrill
T1C0.450
; Backdrill stub 0.838mm (0.0330"), post-machining
%
T1
X1.0Y-1.0
M30
"""
NETLIST = """P  CODE 00
P  UNITS CUST 0
317GND              VIA        MD0098PA00X+098425Y-115945X0197Y0000R000S3
317GND              VIA        MD0098PA00X+098425Y-125945X0197Y0000R000S3
367N/C              J1          D0591UA00X+006258Y+019173X0591Y0000R090S0
999
"""
IPC = """<?xml version="1.0" encoding="UTF-8"?>
<IPC-2581 revision="C" xmlns="http://webstds.ipc.org/2581">
  <Ecad name="Design">
    <CadHeader units="MILLIMETER">
      <Spec name="D1">
        <General type="MATERIAL">
          <Property text="FR-4"/>
        </General>
        <Dielectric type="DIELECTRIC_CONSTANT">
          <Property value="4.20"/>
        </Dielectric>
      </Spec>
      <Spec name="BD">
        <Backdrill type="START_LAYER">
          <Property layerOrGroupRef="B"/>
        </Backdrill>
        <Backdrill type="MUST_NOT_CUT_LAYER">
          <Property layerOrGroupRef="T"/>
        </Backdrill>
      </Spec>
    </CadHeader>
    <CadData>
      <Layer name="T" layerFunction="CONDUCTOR" side="TOP" polarity="POSITIVE"/>
      <Layer name="P" layerFunction="DIELPREG" side="INTERNAL" polarity="POSITIVE"/>
      <Layer name="B" layerFunction="CONDUCTOR" side="BOTTOM" polarity="POSITIVE"/>
      <Layer name="H" layerFunction="DRILL" side="ALL" polarity="POSITIVE">
        <Span fromLayer="T" toLayer="B"/>
      </Layer>
      <Stackup name="S" overallThickness="0.27" tolPlus="0" tolMinus="0" whereMeasured="METAL" stackupStatus="PROPOSED">
        <StackupGroup name="G" thickness="0.27" tolPlus="0" tolMinus="0">
          <StackupLayer layerOrGroupRef="T" thickness="0.035" tolPlus="0" tolMinus="0"/>
          <StackupLayer layerOrGroupRef="P" thickness="0.20" tolPlus="0" tolMinus="0">
            <SpecRef id="D1"/>
          </StackupLayer>
          <StackupLayer layerOrGroupRef="B" thickness="0.035" tolPlus="0" tolMinus="0">
          </StackupLayer>
        </StackupGroup>
      </Stackup>
      <Step name="board">
        <Profile>
          <Polygon>
            <PolyBegin x="0" y="0"/>
            <PolyStepSegment x="20" y="0"/>
            <PolyStepCurve x="20" y="10" centerX="20" centerY="5" clockwise="false"/>
            <PolyStepSegment x="0" y="10"/>
          </Polygon>
        </Profile>
        <LayerFeature layerRef="H">
          <Set>
            <Hole name="H1" diameter="0.250" platingStatus="VIA" plusTol="0" minusTol="0" x="1" y="1">
              <SpecRef id="BD"/>
            </Hole>
            <Hole name="H2" diameter="0.250" platingStatus="VIA" plusTol="0" minusTol="0" x="2" y="1"/>
          </Set>
        </LayerFeature>
      </Step>
    </CadData>
  </Ecad>
</IPC-2581>
"""
ODB = {
    "matrix/matrix": """STEP {
  COL=1
  NAME=PCB
}
LAYER {
  ROW=1
  CONTEXT=BOARD
  TYPE=SIGNAL
  NAME=TOP
  POLARITY=POSITIVE
}
LAYER {
  ROW=3
  CONTEXT=BOARD
  TYPE=SIGNAL
  NAME=BOT
  POLARITY=NEGATIVE
}
LAYER {
  ROW=2
  CONTEXT=BOARD
  TYPE=DIELECTRIC
  DIELECTRIC_TYPE=CORE
  NAME=D1
}
LAYER {
  ROW=4
  CONTEXT=BOARD
  TYPE=DRILL
  NAME=DRILL_A
  START_NAME=TOP
  END_NAME=BOT
}
""",
    "steps/pcb/layers/d1/attrlist": """UNITS=INCH
.layer_dielectric=0.0400
.dielectric_constant=4.2
.loss_tangent=0.0
""",
    "steps/pcb/layers/drill_a/features": """UNITS=MM
$0 r300.0
$1 oval500.0x900.0
P 1 1 0 P 0 8 0
P 2 1 0 P 0 8 0
P 3 1 1 P 0 8 0
""",
    "steps/pcb/layers/drill_a/tools": "UNITS=MM\nTOOLS {\n  NUM=1\n  TYPE=NON_PLATED\n  DRILL_SIZE=300.0\n}\n",
    "steps/pcb/profile": "UNITS=MM\nOB 0 0 I\nOS 30 0\nOS 30 -20\nOE\n",
}


def read(tmp_path: Path, name: str, text: str) -> SentFile:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    (file,), _ = read_fab_files([path])
    return file


def test_a_gerber_states_layer_and_polarity_in_its_header(tmp_path: Path) -> None:
    file = read(tmp_path, "x.gbr", GERBER)
    (layer,) = file.layers
    assert (file.format, layer.index, layer.polarity, layer.place) == (FabFormat.GERBER, 1, "Negative", "x.gbr:1")


def test_filled_vias_and_drills_in_gerber_format(tmp_path: Path) -> None:
    """KiCad spells the attribute of its via files with a comma."""
    flashes = "%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,0.250000*%\nD10*\nX0Y0D03*\nX1Y0D03*\nM02*\n"
    (filled,) = read(tmp_path, "f.gbr", f"%TF,FileFunction,Other,Filling*%\n{flashes}").protections
    assert (filled.kind, filled.count) == ("filled", 2)
    (hole,) = read(tmp_path, "d.gbr", f"%TF.FileFunction,Plated,1,4,PTH,Drill*%\n{flashes}").holes
    assert (hole.first, hole.last, hole.is_plated, hole.diameter_mm.value, hole.count) == (0, 3, True, 0.25, 2)
    assert hole.place == "d.gbr:4"


def test_excellon_counts_hits_repeats_and_both_kinds_of_slots(tmp_path: Path) -> None:
    """Inches become mm; without plating in the file's function the tool says it."""
    file = read(tmp_path, "x.drl", DRILL)
    found = [(h.first, h.last, h.is_plated, round(h.diameter_mm.value, 4), h.count, h.is_slot) for h in file.holes]
    assert found == [(0, 3, True, 0.254, 5, False), (0, 3, False, 1.016, 2, True)]
    assert file.holes[0].place == "x.drl:6"


def test_backdrills_have_span_size_and_depth(tmp_path: Path) -> None:
    (drill,) = read(tmp_path, "x.drl", BACKDRILL).backdrills
    assert drill.diameter_mm and drill.depth_mm
    assert (drill.start, drill.must_cut, drill.diameter_mm.value, drill.depth_mm.value) == (2, 3, 0.45, 0.838)


@pytest.mark.parametrize("text", ["M48\nT1C0.3\n", "M48\nMETRIC\n%\nT4\nX1Y1\nM30\n"])
def test_a_drill_file_that_is_torn_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(FabFileError, match="export it again"):
        read(tmp_path, "x.drl", text)


def test_a_netlist_counts_holes(tmp_path: Path) -> None:
    holes = read(tmp_path, "x.d356", NETLIST).holes
    assert [(h.is_plated, round(h.diameter_mm.value, 5), h.count) for h in holes] == [
        (True, 0.24892, 2),
        (False, 1.50114, 1),
    ]


def test_an_ipc2581_is_read_as_a_stream(tmp_path: Path) -> None:
    file = read(tmp_path, "x.xml", IPC)
    assert [layer.name for layer in file.layers] == ["T", "B"]
    ply = file.rows[1]
    assert ply.kind is LayerKind.PREPREG and ply.dk and ply.material and ply.thickness_mm
    assert (ply.dk.value, ply.df, ply.material.value, ply.thickness_mm.step) == (4.2, None, "FR-4", 0.01)
    assert [(h.first, h.last, h.count) for h in file.holes] == [(0, 1, 2)]
    assert [(d.start, d.must_not_cut, d.count) for d in file.backdrills] == [(1, 0, 1)]
    assert file.size_mm and (file.size_mm[0].value, file.size_mm[1].value) == (25.0, 10.0)


ENTITY = (
    '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY y "&x;&x;&x;">]>\n<IPC-2581>&y;</IPC-2581>\n'
)


@pytest.mark.parametrize("text", [ENTITY, ENTITY.replace('"xxxxxxxx"', 'SYSTEM "file:///etc/passwd"')])
def test_entities_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(FabFileError, match="document type or entities"):
        read(tmp_path, "x.xml", text)


def test_odb_is_read_from_a_folder(tmp_path: Path) -> None:
    for name, text in ODB.items():
        path = tmp_path / "job" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (file,), others = read_fab_files([tmp_path / "job"])
    assert others == ()
    assert [(layer.name, layer.polarity) for layer in file.layers] == [("TOP", "Positive"), ("BOT", "Negative")]
    core = file.rows[1]
    assert core.kind is LayerKind.CORE and core.thickness_mm and core.df
    assert (round(core.thickness_mm.value, 6), core.df.value, core.df.step) == (1.016, 0.0, 0.1)
    found = [(h.first, h.last, h.is_plated, round(h.diameter_mm.value, 6), h.count, h.is_slot) for h in file.holes]
    assert found == [(0, 1, False, 0.3, 2, False), (0, 1, False, 0.5, 1, True)]
    assert file.size_mm and (file.size_mm[0].value, file.size_mm[1].value) == (30.0, 20.0)


SHEETS = [
    (LayerKind.COPPER, Ply(thickness_mm=0.035)),
    (LayerKind.PREPREG, Ply(thickness_mm=0.21, material='A "1080" & B', dk=4.2, df=0.012)),
    (LayerKind.COPPER, Ply(thickness_mm=0.035)),
]
LINE = ImpedanceSpec(0, 50.0, 10.0, 0.38, None, (1,), "MICROSTRIP_MASK_COVERED", "RF")


def test_a_corrected_file_says_what_the_board_does(tmp_path: Path) -> None:
    made = corrected_ipc2581(IPC.encode(), "x.xml", SHEETS, [LINE], [BackdrillSpec(1, 1, 0, 0.45)])
    file = read(tmp_path, "made.xml", made.decode())
    ply = file.rows[1]
    assert ply.thickness_mm and ply.material and ply.dk and ply.df
    assert (ply.thickness_mm.value, ply.material.value, ply.dk.value, ply.df.value) == (
        0.21,
        'A "1080" & B',
        4.2,
        0.012,
    )
    (line,) = file.impedances
    assert line.plus_pct and line.minus_pct and line.width_mm and line.gap_mm is None
    assert (line.ohm.value, line.plus_pct.value, line.minus_pct.value, line.width_mm.value) == (50.0, 10.0, 10.0, 0.38)
    assert (line.layers, line.planes) == ((0,), (1,))
    (drill,) = file.backdrills
    assert drill.diameter_mm and (drill.must_cut, drill.diameter_mm.value) == (1, 0.45)
    step = IPC.index("<Step")
    assert made.endswith(IPC[step:].encode())


@pytest.mark.parametrize(
    ("content", "sheets", "words"),
    [
        (IPC.replace('revision="C"', 'revision="B"'), SHEETS, "revision B"),
        (IPC, SHEETS[:2], "other rows"),
        (IPC.replace('name="D1"', 'name="IMPEDANCE_1"'), SHEETS, "before"),
    ],
)
def test_what_cannot_be_corrected_is_refused(content: str, sheets: list[tuple[LayerKind, Ply]], words: str) -> None:
    with pytest.raises(FabFileError, match=words):
        corrected_ipc2581(content.encode(), "x.xml", sheets, [LINE], [])


@pytest.mark.parametrize(("text", "step"), [("0.20", 0.01), ("4", 1.0), ("1e-3", 1.0)])
def test_a_number_knows_its_last_decimal(text: str, step: float) -> None:
    number = stated_number(text, "x")
    assert number and number.step == pytest.approx(step)
    assert stated_number("nan", "x") is None and stated_number("x", "x") is None


SAMPLES = {"x.gbr": GERBER, "e.gbr": GERBER.replace("Copper,L2,Inr", "Profile,NP"), "x.drl": DRILL, "x.d356": NETLIST}


@pytest.mark.parametrize("name", [*SAMPLES, "x.xml", "matrix"])
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """Whatever is cut, doubled or replaced, the answer is facts or one line."""
    text = {**SAMPLES, "x.xml": IPC, "matrix": ODB["matrix/matrix"]}[name]
    chance = random.Random(name)  # noqa: S311 - the same damage each time
    path = tmp_path / ("matrix/matrix" if name == "matrix" else name)
    path.parent.mkdir(exist_ok=True)
    answers = set()
    for _ in range(60):
        at = chance.randrange(len(text))
        piece = chance.choice(["", "-", "9" * 5000, "nan", "\0", "<", "1e999", text[at : at + 40]])
        path.write_text(text[:at] + piece + text[at + chance.randrange(12) :])
        try:
            read_fab_files([tmp_path if name == "matrix" else path])
            answers.add("read")
        except FabFileError as error:
            assert "\n" not in str(error)
            answers.add("refused")
    assert answers <= {"read", "refused"} and answers


def test_nothing_for_a_fab_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(FabFileError, match="no Gerber"):
        read_fab_files([tmp_path / "a.txt"])
