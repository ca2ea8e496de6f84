"""What we write, in a real KiCad 10: it opens the board, sees the planned stackup, and obeys classes and rules."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.miniboard import build
from stackup_lib.board.board import LayerKind
from stackup_lib.board.planned import PlannedClass, PlannedRow, PlannedRule, PlannedStackup, planned_from
from stackup_lib.board.stackup import Ply
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad import read_board, read_project
from stackup_lib.kicad.write.file_edit import apply_edit, digest
from stackup_lib.kicad.write.project_writer import set_net_classes
from stackup_lib.kicad.write.rules_writer import replace_rules
from stackup_lib.kicad.write.stackup_writer import replace_stackup
from tests.conftest import KicadCli
from tests.support.kicad.kicad_boards import EMPTY_V6
from tests.support.kicad.kicad_editor import editor_command

pytestmark = pytest.mark.kicad

LAMINATES = ("Megtron 6 R-5775(N) 1035", "I-Tera MT40", '370HR 2116 µ "x"')
MASK = PlannedRow(kind=LayerKind.MASK, plies=(Ply(thickness_mm=0.02, material="Epoxy", dk=3.5, df=0.025),))


def plan(count: int, most_plies: int = 3) -> PlannedStackup:
    """Copper of 35 and 17.5 um, dielectrics of one to several plies with awkward numbers, mask outside."""
    rows: list[PlannedRow] = [MASK]
    for i in range(count):
        if i:
            kind = LayerKind.PREPREG if i % 2 else LayerKind.CORE
            plies = tuple(
                Ply(
                    thickness_mm=0.1 + 0.000001 * i + 0.01 * k,
                    material=LAMINATES[(i + k) % 3],
                    dk=3.61 + 0.123456 * k,
                    df=0.0000123 * (i + k),
                    thickness_locked=k == 1,
                )
                for k in range(1 + i % most_plies)
            )
            rows.append(PlannedRow(kind=kind, plies=plies))
        thickness = 0.035 if i in (0, count - 1) else 0.0175
        layer_type = "power" if i % 2 else "signal"
        rows.append(PlannedRow(kind=LayerKind.COPPER, plies=(Ply(thickness_mm=thickness),), layer_type=layer_type))
    return PlannedStackup(
        rows=(*rows, MASK),
        copper_finish="ENIG",
        dielectric_constraints=True,
        edge_connector="bevelled",
        edge_plating=True,
    )


def written(path: Path, planned: PlannedStackup) -> Path:
    """The board with the plan applied to it."""
    content = path.read_bytes()
    new = replace_stackup(content, planned, label=str(path), change_layers=True)
    apply_edit(path, new, expected_digest=digest(content))
    return path


@pytest.mark.parametrize("count", [2, 6, 32])
@pytest.mark.parametrize("stackup", ["board setup default", None])
def test_kicads_own_save_is_what_we_wrote(count: int, stackup: str | None, tmp_path: Path, kicad_cli: KicadCli) -> None:
    """KiCad reads the board, here on one line, and writes it anew: its file is ours to the byte."""
    path = written(build({"stackup": stackup, "copper_layers": 2}, tmp_path, "board"), plan(count))
    ours = path.read_bytes()
    path.write_bytes(re.sub(rb"\n\t*", b" ", ours))
    kicad_cli("pcb", "upgrade", "--force", path)
    assert path.read_bytes() == ours
    stackup_of_file = read_board(path).stackup
    assert stackup_of_file is not None
    assert stackup_of_file.thickness_mm == pytest.approx(plan(count).thickness_mm, abs=1e-6)


def test_an_unknown_dk_stays_unknown_through_kicads_save(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Plies and masks without Dk and Df come back without them; where a file is silent KiCad makes them FR4's."""
    path = build({"copper_layers": 2}, tmp_path, "board")
    planned = plan(6)
    unknown = [
        row.model_copy(update={"plies": tuple(p.model_copy(update={"dk": None, "df": None}) for p in row.plies)})
        for row in planned.rows
    ]
    ours = written(path, planned.model_copy(update={"rows": tuple(unknown)})).read_bytes()
    kicad_cli("pcb", "upgrade", "--force", path)
    assert path.read_bytes() == ours
    assert {(p.dk, p.df) for row in planned_in(path).rows for p in row.plies} == {(None, None)}
    path.write_bytes(re.sub(rb"\t*\((?:epsilon_r|loss_tangent) [01]\)\n", b"", ours))
    kicad_cli("pcb", "upgrade", "--force", path)
    assert (4.5, 0.02) in {(p.dk, p.df) for row in planned_in(path).rows for p in row.plies}


def test_kicad_exports_the_planned_stackup(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """The board statistics and IPC-2581 name the planned thicknesses, Dk and Df.

    One ply each: KiCad 10.0.6 exports the first ply's thickness and material for every ply of a dielectric.
    """
    planned = plan(6, most_plies=1)
    path = written(build({"copper_layers": 2}, tmp_path, "board"), planned)
    stats, ipc = tmp_path / "stats.json", tmp_path / "board.xml"
    kicad_cli("pcb", "export", "stats", "--format", "json", "-o", stats, path)
    assert planned.thickness_mm is not None
    total = float(json.loads(stats.read_text())["board"]["board_thickness"].split()[0])
    assert total == pytest.approx(planned.thickness_mm, abs=1e-4)
    kicad_cli("pcb", "export", "ipc2581", "--units", "mm", "-o", ipc, path)
    text = ipc.read_text(encoding="utf-8")
    layer = re.compile(r'<StackupLayer layerOrGroupRef="(.*?)" thickness="(.*?)".*?<SpecRef id="(.*?)"', re.DOTALL)
    seen = {name.replace("DIELECTRIC_", "dielectric "): (float(t), spec) for name, t, spec in layer.findall(text)}
    for row in planned.rows:
        thickness_mm, spec = seen[row.name]
        assert thickness_mm == pytest.approx(row.thickness_mm, abs=1e-6)
        if row.plies[0].dk is not None:
            stated = re.search(rf'<Spec name="{re.escape(spec)}">.*?</Spec>', text, re.DOTALL)
            assert stated is not None
            numbers = [float(value) for value in re.findall(r'value="(.*?)"', stated.group())]
            assert numbers == pytest.approx([row.plies[0].dk, row.plies[0].df], abs=1e-6)


def test_kicad_reads_what_we_write_into_its_old_formats(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """A board of KiCad 6 that got four layers and a stackup: KiCad 10 brings it up to date with the plan in it."""
    path = tmp_path / "board.kicad_pcb"
    path.write_text(EMPTY_V6)
    written(path, plan(4))
    assert path.read_bytes().startswith(b"(kicad_pcb (version 20211014)")
    ours = planned_in(path)
    kicad_cli("pcb", "upgrade", path)
    board = read_board(path)
    assert board.format_version > 20260000
    assert [layer.kicad_type for layer in board.copper_layers] == ["signal", "power", "signal", "signal"]
    assert planned_in(path) == ours


def planned_in(path: Path) -> PlannedStackup:
    stackup = read_board(path).stackup
    assert stackup is not None
    return planned_from(stackup)


@pytest.mark.demo
@pytest.mark.parametrize(
    "name", ["cm5_minima/CM5_MINIMA_3", "stickhub/StickHub", "tiny_tapeout/tinytapeout-demo", "interf_u/interf_u"]
)
def test_kicad_reads_a_changed_demo_board(
    name: str, demo_boards: Path, copy_board: Callable[[Path], Path], kicad_cli: KicadCli
) -> None:
    """Every dielectric in two new plies, nothing else touched: KiCad sees that stackup and the same routing."""
    path = copy_board(demo_boards / f"{name}.kicad_pcb")
    before = read_board(path)
    plies = tuple(
        Ply(thickness_mm=t, material=f"Tachyon {t}", dk=3.02, df=0.0021, thickness_locked=False) for t in (0.1, 0.07)
    )
    now = planned_in(path)
    rows = [
        row.model_copy(update={"plies": plies}) if row.kind in (LayerKind.CORE, LayerKind.PREPREG) else row
        for row in now.rows
    ]
    planned = now.model_copy(update={"rows": tuple(rows), "copper_finish": "Immersion tin"})
    ours = planned_in(written(path, planned))
    kicad_cli("pcb", "upgrade", "--force", path)
    after = read_board(path)
    theirs = planned_in(path)
    assert [(r.name, r.kind, [(p.thickness_mm, p.material, p.dk, p.df) for p in r.plies]) for r in theirs.rows] == [
        (r.name, r.kind, [(p.thickness_mm, p.material, p.dk, p.df) for p in r.plies]) for r in ours.rows
    ]
    assert theirs.copper_finish == "Immersion tin"
    assert after.thickness_mm == pytest.approx(planned.thickness_mm, abs=1e-6)
    assert (len(after.tracks), len(after.vias), len(after.pads)) == (
        len(before.tracks),
        len(before.vias),
        len(before.pads),
    )


def drc(path: Path, kicad_cli: KicadCli) -> dict[str, set[str]]:
    """Which items KiCad reports, by kind of violation."""
    report = path.with_suffix(".drc.json")
    kicad_cli("pcb", "drc", "--format", "json", "--severity-all", "-o", report, path)
    found: dict[str, set[str]] = {}
    for violation in json.loads(report.read_text())["violations"]:
        found.setdefault(violation["type"], set()).update(item["uuid"] for item in violation["items"])
    return found


def routed(tmp_path: Path) -> Path:
    """Four layers; tracks of 0.1 and 0.13 mm, and pairs of gap 0.15, 0.12 and 0.2 mm, inside and outside."""
    board = {
        "copper_layers": 4,
        "tracks": [
            {"net": f"/PCIE_{i}", "layer": layer, "width_mm": width, "path_mm": [[10, 10 + 3 * i], [30, 10 + 3 * i]]}
            for i, (layer, width) in enumerate([("In1.Cu", 0.1), ("In1.Cu", 0.13), ("F.Cu", 0.1), ("F.Cu", 0.16)])
        ],
        "pairs": [
            {"nets": [f"/{name}_P", f"/{name}_N"], "layer": "In2.Cu", "width_mm": 0.12, "gap_mm": gap,
             "path_mm": [[10, y], [40, y]]}
            for name, gap, y in (("DPA", 0.15, 40), ("DPB", 0.12, 50), ("DPC", 0.2, 60))
        ],
        "net_classes": [{"name": "PCIE", "patterns": ["/PCIE*"]}, {"name": "DP", "patterns": ["/DP?_*"]}],
    }  # fmt: skip
    return build(board, tmp_path, "board")


RULES = (
    PlannedRule(net_class="PCIE", layer="In1.Cu", width_mm=0.13, requirement="85 ohm +/- 10 % (a source, table 1)"),
    PlannedRule(net_class="PCIE", layer="F.Cu", width_mm=0.15, tolerance_mm=0.01, requirement="85 ohm"),
    PlannedRule(net_class="DP", layer="In2.Cu", width_mm=0.12, gap_mm=0.15, requirement="100 ohm"),
)


def uuids(path: Path, net: str) -> set[str]:
    board = read_board(path)
    return set(board.tracks.uuid[board.tracks.net == board.net_index[net]].tolist())


def test_kicad_reports_what_breaks_a_written_rule_and_nothing_else(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Widths off the rule and smaller gaps are violations, those that fit are not, nor is a pair that spreads."""
    path = routed(tmp_path)
    rules = path.with_suffix(".kicad_dru")
    silent = drc(path, kicad_cli)
    assert not {"track_width", "diff_pair_gap_out_of_range"} & silent.keys()
    apply_edit(rules, replace_rules(None, RULES), expected_digest=None)
    found = drc(path, kicad_cli)
    assert found["track_width"] == uuids(path, "/PCIE_0") | uuids(path, "/PCIE_2")
    assert found["diff_pair_gap_out_of_range"] == uuids(path, "/DPB_P") | uuids(path, "/DPB_N")
    rules.write_bytes(replace_rules(rules.read_bytes(), ()))
    assert drc(path, kicad_cli).keys() == silent.keys()


def test_a_class_of_pairs_and_single_lines(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Each has its own width on the same layer: only what misses its own is reported."""
    path = routed(tmp_path)
    content = path.read_bytes().replace(b'"/PCIE_0"', b'"/DPX"').replace(b'"/PCIE_1"', b'"/DPY"')
    path.write_bytes(content.replace(b'(layer "In2.Cu")\n\t\t(net "/DP', b'(layer "In1.Cu")\n\t\t(net "/DP'))
    project = path.with_suffix(".kicad_pro")
    plan = PlannedClass(name="DP", patterns=("/DP*",))
    project.write_bytes(set_net_classes(project.read_bytes(), [plan]).content)
    rules = [
        PlannedRule(net_class="DP", layer="In1.Cu", width_mm=0.12, gap_mm=0.15, requirement="100 ohm"),
        PlannedRule(net_class="DP", layer="In1.Cu", width_mm=0.13, requirement="50 ohm"),
    ]
    path.with_suffix(".kicad_dru").write_bytes(replace_rules(None, rules))
    found = drc(path, kicad_cli)
    assert found["track_width"] == uuids(path, "/DPX")
    assert found["diff_pair_gap_out_of_range"] == uuids(path, "/DPB_P") | uuids(path, "/DPB_N")


def test_a_users_own_rules_are_read_and_win(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Our part stands before them: an exception of the user's for one net holds, ours hold for the others."""
    path = routed(tmp_path)
    own = (
        '(version 1)\n\n# necks are fine here\n(rule "mine"\n\t(condition "A.NetName == \'/PCIE_0\'")\n'
        "\t(constraint track_width (min 0.09mm)))\n"
    )
    path.with_suffix(".kicad_dru").write_bytes(replace_rules(own.encode(), RULES))
    assert drc(path, kicad_cli)["track_width"] == uuids(path, "/PCIE_2")


def test_rules_of_older_versions_are_read_as_well(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """The condition that KiCad 7 and 8 understand says the same."""
    path = routed(tmp_path)
    path.with_suffix(".kicad_dru").write_bytes(replace_rules(None, RULES, format_version=20240108))
    assert drc(path, kicad_cli)["track_width"] == uuids(path, "/PCIE_0") | uuids(path, "/PCIE_2")


OLD_PROJECT = """{
  "meta": {"version": 1},
  "net_settings": {
    "classes": [{"name": "Default", "clearance": 0.2, "track_width": 0.25, "via_diameter": 0.8, "via_drill": 0.4}],
    "meta": {"version": 3}
  }
}
"""


@pytest.mark.parametrize("project", [None, "{}", OLD_PROJECT], ids=["KiCad 10", "empty", "KiCad 7"])
def test_kicad_obeys_written_net_classes(project: str | None, tmp_path: Path, kicad_cli: KicadCli) -> None:
    """A new class and a changed one: their clearances decide which of KiCad's violations appear."""
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[10, y], [30, y]]}
        for net, y in (("/NEW", 10), ("/a", 10.5), ("/OLD", 20), ("/b", 20.5), ("/c", 30), ("/d", 30.5))
    ]
    path = build({"tracks": tracks, "net_classes": [{"name": "OLD", "patterns": ["/OLD"]}]}, tmp_path, "board")
    file = path.with_suffix(".kicad_pro")
    if project is not None:
        file.write_text(project)
    assert "clearance" not in drc(path, kicad_cli)
    classes = (
        PlannedClass(name="NEW", clearance_mm=0.4, track_width_mm=0.2, patterns=("/N*",)),
        PlannedClass(name="OLD", clearance_mm=0.35, patterns=() if project is None else ("/OLD",)),
    )
    content = file.read_bytes()
    apply_edit(file, set_net_classes(content, classes).content, expected_digest=digest(content))
    expected = set().union(*(uuids(path, net) for net in ("/NEW", "/a", "/OLD", "/b")))
    assert drc(path, kicad_cli)["clearance"] == expected


CLASS = PlannedClass(
    name="85Ohm", track_width_mm=0.132, diff_pair_width_mm=0.11, diff_pair_gap_mm=0.1375, patterns=("/PCIE*", "/X_[PN]")
)


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The PCB editor with a written board open: its socket, and the board."""
    command = editor_command()
    if command is None:
        pytest.skip("no PCB editor that can be driven")
    path = written(build({"copper_layers": 2}, tmp_path_factory.mktemp("w"), "board"), plan(6))
    project = path.with_suffix(".kicad_pro")
    project.write_bytes(set_net_classes(project.read_bytes(), [CLASS]).content)
    environment = {**os.environ, "KICAD_API_STATE": str(tmp_path_factory.mktemp("k"))}
    start = [command, "start", "--name", "w", "--fresh", str(path)]
    run = subprocess.run(start, capture_output=True, text=True, timeout=300, check=True, env=environment)
    yield run.stdout.strip(), path
    subprocess.run([command, "stop", "--name", "w"], check=False, timeout=60, env=environment)


@pytest.mark.editor
def test_the_running_editor_sees_the_plan_and_its_lock_keeps_us_off(editor: tuple[str, Path]) -> None:
    """Every row over the API is the planned one; while the editor is open neither board nor project is written."""
    from kipy import KiCad

    socket, path = editor
    live = KiCad(socket_path=socket, timeout_ms=120_000).get_board().get_stackup()
    planned = plan(6)
    rows = [row for row in live.layers if row.type == 1 or row.dielectric]
    ours = [row for row in planned.rows if row.kind is not LayerKind.MASK]
    assert len(rows) == len(ours)
    for theirs, row in zip(rows, ours, strict=True):
        if row.kind is LayerKind.COPPER:
            assert theirs.thickness / 1e6 == pytest.approx(row.thickness_mm)
            continue
        assert theirs.dielectric is not None
        seen = [(p.thickness / 1e6, p.material_name, p.epsilon_r, p.loss_tangent) for p in theirs.dielectric.layers]
        assert [s[1] for s in seen] == [p.material for p in row.plies]
        assert [s[0] for s in seen] == pytest.approx([p.thickness_mm for p in row.plies], abs=1e-6)
        assert [s[2] for s in seen] == pytest.approx([p.dk for p in row.plies])
        assert [s[3] for s in seen] == pytest.approx([p.df for p in row.plies])
    for file in (path, path.with_suffix(".kicad_pro")):
        content = file.read_bytes()
        with pytest.raises(NotWrittenError, match="is open in KiCad"):
            apply_edit(file, content + b"\n", expected_digest=digest(content))
        assert file.read_bytes() == content


@pytest.mark.editor
def test_the_editors_save_keeps_board_and_net_class(editor: tuple[str, Path]) -> None:
    """KiCad writes the board as we wrote it, and the project with our class and patterns in it."""
    from kipy import KiCad

    socket, path = editor
    project = path.with_suffix(".kicad_pro")
    board, before = path.read_bytes(), project.read_bytes()
    live = KiCad(socket_path=socket, timeout_ms=120_000).get_board()
    live.save()  # type: ignore[no-untyped-call]
    assert path.read_bytes() == board
    after = project.read_bytes()
    assert after != before  # KiCad adds every setting that our project leaves out
    found = read_project(project, ("/PCIE_1", "/X_P", "/Y"))
    assert found.net_classes_of == {"/PCIE_1": ("85Ohm",), "/X_P": ("85Ohm",)}
    effective = found.effective("/X_P")
    assert (effective.track_width_mm, effective.diff_pair_width_mm, effective.diff_pair_gap_mm) == (0.132, 0.11, 0.1375)
    assert set_net_classes(after, [CLASS]).content == after
