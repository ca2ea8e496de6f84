"""Faults that any board's exports can have, seeded in those of three boards; IPC-2581 files against the schema."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from drc_rules.release.corrections import corrected_file
from tests.conftest import KicadCli
from tests.support.kicad.release_exports import (
    FIXTURES,
    NOT_STATED,
    NOTE,
    Change,
    Exported,
    copied,
    export,
    in_zip,
    job,
    key_of,
    new_after,
    replaced,
    swapped,
    without,
)
from tests.support.reports.ipc2581_grammar import ipc2581_faults

pytestmark = pytest.mark.kicad

BOARDS = ("inference_hdi_2n2_fit", "inference_pcie_gen5_caps_fit", "edge_jetson_carrier_fit")
SENT = ("gerber", "c.xml", "odb4.zip", "net.d356")


@pytest.fixture(scope="module", params=BOARDS)
def board(request: pytest.FixtureRequest, kicad_cli: KicadCli, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """One of the boards with its exports."""
    name = request.param
    return export(kicad_cli, FIXTURES / name / f"{name}.kicad_pcb", tmp_path_factory.mktemp(name), SENT)


@pytest.fixture(scope="module")
def untouched(board: Exported) -> dict[str, set[tuple[object, ...]]]:
    return {name: {key_of(one) for one in board.findings(name)} for name in SENT}


def moved_right_edge(name: str, pattern: str, by: float) -> Change:
    """Move the largest of the x coordinates of the outline."""

    def change(folder: Path) -> None:
        path = next(iter(folder.glob(name)))
        text = path.read_text()
        largest = max(re.findall(pattern, text), key=float)
        path.write_text(text.replace(f"X{largest}Y", f"X{float(largest) + by:.0f}Y"))

    return change


def bigger_first_tool(folder: Path) -> None:
    path = next(iter(folder.glob("gerber/*-PTH.drl")))
    text, number = re.subn(r"(?m)^T1C([\d.]+)", lambda found: f"T1C{float(found[1]) + 0.05:.3f}", path.read_text())
    assert number == 1
    path.write_text(text)


def changed(name: str, pattern: str, by: float) -> Change:
    """Add to the number that follows a pattern."""
    return replaced(name, f"({pattern})([\\d.]+)", lambda found: f"{found[1]}{float(found[2]) + by:.4f}")


def exchanged_kinds(folder: Path) -> None:
    """Make a prepreg of each core and a core of each prepreg."""
    path = folder / "c.xml"
    other = {"DIELCORE": "DIELPREG", "DIELPREG": "DIELCORE"}
    text, number = re.subn("DIELCORE|DIELPREG", lambda found: other[found[0]], path.read_text())
    assert number
    path.write_text(text)


GENERAL = "GeneralSpecs"
CU = r'<Layer name="In1\.Cu" layerFunction="CONDUCTOR" polarity="'
SEEDED: dict[str, tuple[str, Change, str]] = {
    "a copper layer is missing": ("gerber", without("gerber/*-In1_Cu.g1"), "layers"),
    "a copper layer is there twice": ("gerber", copied("gerber/*-In1_Cu.g1", "gerber/copy.gbr"), "layers"),
    "two layers are swapped": ("gerber", swapped("gerber/*-In1_Cu.g1", "gerber/*-In2_Cu.g2"), "order"),
    "copper is negative": ("gerber", replaced("gerber/*-In2_Cu.g2", "rity,Positive", "rity,Negative"), "polarity"),
    "a copper file is empty": ("gerber", replaced("gerber/*-In1_Cu.g1", r"D10\*.*", "M02*"), "layers"),
    "no solder mask": ("gerber", without("gerber/*-B_Mask.gbs"), "layers"),
    "no attributes": ("gerber", replaced("gerber/*-In2_Cu.g2", r"%TF\.[^\n]*\n", "", count=0), "layers"),
    "no outline": ("gerber", without("gerber/*-Edge_Cuts.gm1"), "outline"),
    "the outline is 5 mm wider": ("gerber", moved_right_edge("gerber/*-Edge_Cuts.gm1", r"X(\d+)Y", 5e6), "outline"),
    "no drill files": ("gerber", without("gerber/*.drl"), "drill files"),
    "the plated holes are missing": ("gerber", without("gerber/*-PTH.drl"), "drill files"),
    "a drill file has no span": (
        "gerber",
        replaced("gerber/*-PTH.drl", r"; #@! TF.FileFunction[^\n]*\n", ""),
        "drill span",
    ),
    "another drill size": ("gerber", bigger_first_tool, "drill size"),
    "a hole is missing": ("gerber", replaced("gerber/*-PTH.drl", r"\nX[\d.-]+Y[\d.-]+(?=\n)", ""), "drill count"),
    "other layers in the job file": ("gerber", job(lambda d: d[GENERAL].update(LayerNumber=18)), "layers"),
    "another thickness in the job file": ("gerber", job(lambda d: d[GENERAL].update(BoardThickness=1.1)), "thickness"),
    "another finish in the job file": ("gerber", job(lambda d: d[GENERAL].update(Finish="HAL SnPb")), "finish"),
    "no controlled impedance in the job file": (
        "gerber",
        job(lambda d: d[GENERAL].update(ImpedanceControlled=False)),
        "impedance",
    ),
    "a thicker row": ("c.xml", changed("c.xml", 'layerOrGroupRef="DIELECTRIC_2" thickness="', 0.02), "thickness"),
    "another Dk": (
        "c.xml",
        changed("c.xml", r'<Spec name="DIELECTRIC_2_1">.*?DIELECTRIC_CONSTANT">\s*<Property value="', 0.3),
        "Dk",
    ),
    "another Df": (
        "c.xml",
        changed("c.xml", r'<Spec name="DIELECTRIC_2_1">.*?LOSS_TANGENT">\s*<Property value="', 0.01),
        "Df",
    ),
    "another material": (
        "c.xml",
        replaced("c.xml", r'(<Spec name="DIELECTRIC_2_1">\s*<General[^>]*>\s*<Property text=")[^"]*', r"\1Nelco 4000"),
        "material",
    ),
    "cores and prepregs are exchanged": ("c.xml", exchanged_kinds, "type"),
    "negative copper": ("c.xml", replaced("c.xml", f"({CU})POSITIVE", r"\1NEGATIVE"), "polarity"),
    "another finish": ("c.xml", replaced("c.xml", 'SurfaceFinish type="[^"]*"', 'SurfaceFinish type="OSP"'), "finish"),
    "another thickness of the whole": ("c.xml", changed("c.xml", 'overallThickness="', 0.4), "thickness"),
    "another hole": ("c.xml", changed("c.xml", '<Hole name="[^"]*" diameter="', 0.05), "drill count"),
    "another Dk in ODB++": (
        "odb4.zip",
        in_zip("steps/pcb/layers/dielectric_2/attrlist", r"dielectric_constant=[\d.]+", "dielectric_constant=9.8"),
        "Dk",
    ),
    "another copper weight in ODB++": (
        "odb4.zip",
        in_zip("steps/pcb/layers/in1.cu/attrlist", r"copper_weight=[\d.]+", "copper_weight=4.0"),
        "copper weight",
    ),
    "a hole of the netlist": ("net.d356", replaced("net.d356", r"D0098P", "D0118P"), "drill size"),
}


ALSO: dict[str, set[str]] = {
    "no outline": {"layers"},  # the job file lists it
    "a drill file has no span": {"drill files", "drill size"},
    "another drill size": {"drill count"},
    "another hole": {"drill size"},
    "a hole of the netlist": {"drill count"},
}
"""What else a change changes: a hole of another size is one too few of one size and one too many of the other."""


@pytest.mark.parametrize("name", SEEDED)
def test_seeded_differences_are_found_on_any_board(
    board: Exported, untouched: dict[str, set[tuple[object, ...]]], name: str, tmp_path: Path
) -> None:
    """What is new after the change is about the change and nothing else."""
    file, change, topic = SEEDED[name]
    new = new_after(board, file, change, untouched[file], tmp_path)
    topics = {one.topic for one in new}
    assert topic in topics
    assert topics <= {topic} | ALSO.get(name, set())
    assert all(one.place or one.outcome is NOT_STATED for one in new)


def test_corrected_files_follow_the_schema(board: Exported) -> None:
    """KiCad's file does, and so does what is made of it; it then agrees with the board."""
    content = (board.folder / "c.xml").read_bytes()
    made = corrected_file(board.context, content, "c.xml")
    assert ipc2581_faults(content) == []
    assert ipc2581_faults(made) == []
    (board.folder / "made.xml").write_bytes(made)
    assert [one for one in board.findings("made.xml") if one.outcome is not NOTE] == []


BROKEN = {
    r'<Stackup name="[^"]*" ': "<Stackup ",
    'layerFunction="CONDUCTOR"': 'layerFunction="COPPER"',
    '<LineWidth value="': '<LineWidth value="x',
    "<SpecRef id=": '<SpecRef id="NOWHERE"/><Oops id=',
    'unit="MM"': 'unit="FURLONG"',
    '<RefPlane layerOrGroupRef="[^"]*"': '<RefPlane layerOrGroupRef="In99.Cu"',
    r"<Spacing [^>]*>": "",
}


@pytest.mark.parametrize("pattern", BROKEN)
def test_faults_against_the_schema_are_seen(board: Exported, pattern: str) -> None:
    made = corrected_file(board.context, (board.folder / "c.xml").read_bytes(), "c.xml").decode()
    broken, number = re.subn(pattern, BROKEN[pattern], made, count=1)
    assert number
    assert ipc2581_faults(broken.encode())


@pytest.fixture(scope="module")
def schema() -> Any:
    """Return the schema of IPC-2581 C, which is not ours to ship: name it in STACKWRIGHT_IPC2581_SCHEMA."""
    path = Path(os.environ.get("STACKWRIGHT_IPC2581_SCHEMA", ""))
    if not path.is_file():
        pytest.skip("no IPC-2581 schema: set STACKWRIGHT_IPC2581_SCHEMA to IPC-2581C.xsd")
    return pytest.importorskip("xmlschema").XMLSchema(str(path))


def test_corrected_files_are_valid_by_the_schema_itself(board: Exported, schema: Any) -> None:
    made = corrected_file(board.context, (board.folder / "c.xml").read_bytes(), "c.xml")
    assert schema.is_valid(made.decode())
