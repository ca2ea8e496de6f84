"""A board that `stackwright new` began, in a real KiCad 10: it opens, is saved as it is, and its rules are obeyed."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, find_config, prepare
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.forms import forms
from drc_rules.stackup_design.plan_file import parse_plan
from stackup_lib.board.board import LayerKind
from stackup_lib.board.planned import PlannedClass, PlannedRow, PlannedStackup, planned_from
from stackup_lib.board.stackup import Ply
from stackup_lib.copper.cuts.board_area import board_area
from stackup_lib.kicad import read_board, read_project
from stackup_lib.kicad.write.new_board import empty_board
from stackup_lib.kicad.write.project_writer import set_net_classes
from stackwright.commands.apply.new import NewRequest, new_board
from tests.conftest import KicadCli
from tests.support.cli.new_boards import CLASS, SIX_LAYERS
from tests.support.kicad.kicad_editor import editor_command
from tests.support.kicad.violations import KICADS, OURS, all_violations, pair, segment, violations

pytestmark = pytest.mark.kicad


def begun(folder: Path, form: str | None = "oam", neck_mm: float | None = None) -> Path:
    """A new board of six layers with everything next to it."""
    plan = folder / "six.stackwright-plan.toml"
    necks = SIX_LAYERS.replace("tolerance_mm = 0.002", f"neck_mm = {neck_mm}") if neck_mm else SIX_LAYERS
    plan.write_text(necks, encoding="utf-8")
    (folder / "card").mkdir()
    board = folder / "card" / "card.kicad_pcb"
    new_board(board, NewRequest("edge", form=form, interfaces=("pcie4",), plan=plan))
    return board


def deep(count: int) -> PlannedStackup:
    """Copper layers between prepregs and cores, and masks."""
    mask = PlannedRow(kind=LayerKind.MASK, plies=(Ply(thickness_mm=0.0152, dk=3.5, material="LPI"),))
    rows = [mask]
    for i in range(count):
        if i:
            kind = LayerKind.PREPREG if i % 2 else LayerKind.CORE
            ply = Ply(thickness_mm=0.07, material="Megtron 7(N)", dk=3.3, df=0.002)
            rows.append(PlannedRow(kind=kind, plies=(ply,)))
        layer_type = "power" if i % 3 == 1 else "signal"
        rows.append(PlannedRow(kind=LayerKind.COPPER, plies=(Ply(thickness_mm=0.03),), layer_type=layer_type))
    return PlannedStackup(rows=(*rows, mask), copper_finish="ENIG", dielectric_constraints=True)


@pytest.mark.parametrize(("count", "size_mm"), [(2, (30.0, 20.0)), (32, (1000.0, 400.5)), (8, None)])
def test_kicad_saves_an_empty_board_as_it_is(
    count: int, size_mm: tuple[float, float] | None, tmp_path: Path, kicad_cli: KicadCli
) -> None:
    """But for its own name in place of ours, every byte."""
    path = tmp_path / "board.kicad_pcb"
    ours = empty_board(deep(count), size_mm=size_mm)
    path.write_bytes(ours)
    kicad_cli("pcb", "upgrade", "--force", path)
    assert ours.count(OURS) == 1
    assert path.read_bytes() == ours.replace(OURS, KICADS)
    assert read_board(path).layer_count == count


def test_declared_facts_hold_after_kicads_save(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """KiCad writes the board anew and the hash of its stackup stays, so foil and Df are not stale."""
    path = begun(tmp_path)
    kicad_cli("pcb", "upgrade", "--force", path)
    board = read_board(path)
    context, _, _ = prepare(board, find_config(path, None), Overrides())
    assert not context.declarations.stale
    assert context.foil(board.layer_index["In2.Cu"]).known
    report = check_board(path)
    assert not report.findings
    assert not any("stale" in note for note in report.notes)


def test_kicad_reports_what_only_our_rules_forbid(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Pairs with their layer's width pass, one with another layer's or a smaller gap does not.

    KiCad's own limits say nothing of widths.
    """
    path = begun(tmp_path)
    project = path.with_suffix(".kicad_pro")
    with_nets = PlannedClass(name=CLASS, patterns=("/TX*",))
    project.write_bytes(set_net_classes(project.read_bytes(), [with_nets]).content)
    empty = path.read_bytes()

    def routed(*pairs: str) -> None:
        path.write_bytes(empty.replace(b"\t(embedded_fonts no)", "".join(pairs).encode() + b"\t(embedded_fonts no)"))

    good = (pair("TX0", "F.Cu", 60, 0.118, 0.15), pair("TX1", "In2.Cu", 70, 0.13, 0.15))
    routed(*good)
    assert violations(path, kicad_cli) == []
    routed(*good, pair("TX2", "In2.Cu", 80, 0.118, 0.15), pair("TX3", "F.Cu", 90, 0.118, 0.12))
    found = violations(path, kicad_cli)
    assert [kind for kind, _ in found] == ["clearance", "diff_pair_gap_out_of_range", "track_width"]
    assert f"stackwright: {CLASS}, pair on F.Cu" in found[1][1]
    assert f"stackwright: {CLASS}, pair on In2.Cu" in found[2][1]
    path.with_suffix(".kicad_dru").unlink()
    assert [kind for kind, _ in violations(path, kicad_cli)] == ["clearance"]


def written_but_for_the_outline(path: Path) -> tuple[bytes, ...]:
    """What KiCad reads of a new board, without the rectangle on Edge.Cuts."""
    board, rectangles = re.subn(rb"(?s)\t\(gr_rect\n.*?\n\t\)\n", b"", path.read_bytes())
    assert rectangles == 1
    return board, *(path.with_suffix(suffix).read_bytes() for suffix in (".kicad_pro", ".kicad_dru"))


def test_kicads_check_has_no_violation(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Of no kind and no severity, with project and design rules next to the board.

    Form factors whose boards differ in the outline alone are one group: its smallest and its largest are checked.
    """
    groups: dict[tuple[bytes, ...], list[tuple[float, Path]]] = {}
    for form in forms():
        (tmp_path / form).mkdir()
        path = begun(tmp_path / form, form)
        area = board_area(read_board(path).outline)
        assert area is not None
        groups.setdefault(written_but_for_the_outline(path), []).append((area.area, path))
    assert sum(map(len, groups.values())) == len(forms())
    for group in groups.values():
        for _, path in {min(group), max(group)}:
            assert all_violations(path, kicad_cli) == [], path.parents[1].name


def field_of_pads(pitch_mm: float, pad_mm: float) -> str:
    """A BGA of 6 by 6 balls with a courtyard, each on a net of its own, its first ball at 80, 80."""
    pads = "".join(
        f'(pad "{x}{y}" smd circle (at {x * pitch_mm:g} {y * pitch_mm:g}) (size {pad_mm} {pad_mm})'
        f' (layers "F.Cu" "F.Mask") (net "/B{x}{y}") (uuid "{uuid.uuid5(uuid.NAMESPACE_DNS, f"{x} {y}")}"))'
        for x in range(6)
        for y in range(6)
    )
    outside = f"(start {-pitch_mm} {-pitch_mm}) (end {6 * pitch_mm:g} {6 * pitch_mm:g})"
    return (
        f'(footprint "x:bga" (layer "F.Cu") (uuid "{uuid.uuid5(uuid.NAMESPACE_DNS, "bga")}") (at 80 80)'
        f' (property "Reference" "U1" (at 0 0 0) (layer "F.SilkS") (uuid "{uuid.uuid5(uuid.NAMESPACE_DNS, "U1")}"))'
        f' (attr smd) (fp_rect {outside} (stroke (width 0.05) (type default)) (fill no) (layer "F.CrtYd")'
        f' (uuid "{uuid.uuid5(uuid.NAMESPACE_DNS, "courtyard")}")) {pads})'
    )


def test_a_neck_down_in_a_bga_field_is_no_violation(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Between balls of 0.65 mm pitch a line, of 1 mm a pair as narrow as the rule allows; outside it needs more space.

    Narrower or closer than the neck-down, and wider than solved: KiCad names our rule. A pair may spread.
    """
    path = begun(tmp_path, neck_mm=0.09)
    project = path.with_suffix(".kicad_pro")
    classes = [PlannedClass(name=CLASS, patterns=("/TX*",))]
    project.write_bytes(set_net_classes(project.read_bytes(), classes).content)
    empty = path.read_bytes()

    def found(*items: str) -> list[tuple[str, str]]:
        path.write_bytes(empty.replace(b"\t(embedded_fonts no)", "".join(items).encode() + b"\t(embedded_fonts no)"))
        return violations(path, kicad_cli)

    assert found(field_of_pads(0.65, 0.32), segment("/TX0_P", "F.Cu", 80 + 2.5 * 0.65, 0.09)) == []
    through = pair("TX0", "F.Cu", 82.41, 0.09, 0.09)
    assert found(field_of_pads(1.0, 0.5), through) == []
    elsewhere = found(field_of_pads(1.0, 0.5).replace('"U1"', '"X1"'), through)
    assert {kind for kind, _ in elsewhere} == {"clearance"}
    assert any("netclass 'Default'" in words for _, words in elsewhere)
    assert all("rule" not in words for _, words in elsewhere)
    assert found(pair("TX1", "F.Cu", 60, 0.118, 0.15), pair("TX2", "F.Cu", 70, 0.09, 0.178)) == []
    assert found(pair("TX3", "F.Cu", 75, 0.1, 0.2)) == []
    odd = [
        pair("TX1", "F.Cu", 60, 0.08, 0.15),
        pair("TX2", "F.Cu", 70, 0.125, 0.15),
        pair("TX3", "F.Cu", 75, 0.1, 0.08),
    ]
    named = f"stackwright: {CLASS}, pair on F.Cu"
    faults = found(*odd)
    assert [kind for kind, _ in faults] == ["clearance", "diff_pair_gap_out_of_range", "track_width", "track_width"]
    assert all(named in words for kind, words in faults if kind != "clearance")


def test_the_picture_that_kicad_makes_of_it(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """The three-dimensional view of a board with an outline is not an empty picture."""
    path = begun(tmp_path)
    picture = tmp_path / "board.png"
    kicad_cli("pcb", "render", "--output", picture, path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(set(picture.read_bytes())) > 100


@pytest.fixture(scope="module")
def editor() -> Iterator[tuple[str, Path]]:
    """The PCB editor with a new board open: its socket, and the board."""
    command = editor_command()
    if command is None:
        pytest.skip("no PCB editor that can be driven")
    with tempfile.TemporaryDirectory(prefix="sw-", ignore_cleanup_errors=True) as folder:
        path = begun(Path(folder))
        environment = {**os.environ, "KICAD_API_STATE": str(Path(folder) / "k")}
        start = [command, "start", "--name", "n", "--fresh", str(path)]
        run = subprocess.run(start, capture_output=True, text=True, timeout=300, check=True, env=environment)
        yield run.stdout.strip(), path
        subprocess.run([command, "stop", "--name", "n"], check=False, timeout=60, env=environment)


@pytest.mark.editor
def test_the_running_editor_reports_the_planned_stackup(editor: tuple[str, Path]) -> None:
    """Over its API: every row of copper and dielectric with thickness, material, Dk and Df; and the finish."""
    from kipy import KiCad

    live = KiCad(socket_path=editor[0], timeout_ms=120_000).get_board().get_stackup()
    planned = [r for r in parse_plan(SIX_LAYERS, "plan").planned.rows if r.kind is not LayerKind.MASK]
    rows = [row for row in live.layers if row.type == 1 or row.dielectric]
    assert len(rows) == len(planned) == 11
    for theirs, ours in zip(rows, planned, strict=True):
        if theirs.dielectric is None or ours.kind is LayerKind.COPPER:
            assert theirs.thickness / 1e6 == pytest.approx(ours.thickness_mm)
            continue
        plies = [(p.thickness / 1e6, p.material_name, p.epsilon_r) for p in theirs.dielectric.layers]
        assert [p[1] for p in plies] == [p.material for p in ours.plies]
        assert [p[0] for p in plies] == pytest.approx([p.thickness_mm for p in ours.plies], abs=1e-6)
        assert [p[2] for p in plies] == pytest.approx([p.dk for p in ours.plies])
        assert [p.loss_tangent for p in theirs.dielectric.layers] == pytest.approx([p.df or 0.0 for p in ours.plies])


@pytest.mark.editor
def test_the_editors_save_keeps_board_classes_and_facts(editor: tuple[str, Path]) -> None:
    """Board and net classes stand as we wrote them, and nothing that was declared is stale."""
    from kipy import KiCad

    socket, path = editor
    ours = path.read_bytes()
    KiCad(socket_path=socket, timeout_ms=120_000).get_board().save()  # type: ignore[no-untyped-call]
    assert path.read_bytes() == ours.replace(OURS, KICADS)
    classes = read_project(path.with_suffix(".kicad_pro"), ()).classes
    assert classes[CLASS].diff_pair_width_mm == 0.118
    assert classes[CLASS].diff_pair_gap_mm == 0.15
    board = read_board(path)
    assert board.stackup is not None
    assert planned_from(board.stackup).copper_finish == "ENIG"
    assert find_config(path, None).declared.stackup_hash == board.stackup.digest
    assert not re.search(rb"stackwright: begin.*stackwright: begin", path.with_suffix(".kicad_dru").read_bytes(), re.S)
