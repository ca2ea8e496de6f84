"""What a suggested plan does to a board's files: its words survive KiCad, nothing else changes, undo is whole."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from drc_rules.settings.config import Config
from drc_rules.stackup_design.plan_file import Plan, PlanRow, plan_of, write_plan
from stackup_lib.board.board import LayerKind
from stackup_lib.board.planned import PlannedClass, PlannedRow, PlannedRule, PlannedStackup
from stackup_lib.board.stackup import Ply
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.new_board import empty_board
from stackup_lib.materials import catalogue
from stackup_lib.synthesis.constructions import CatalogueProduct, cores_of, prepregs_of
from stackwright.commands.apply.apply import PlanParts, apply_plan
from tests.conftest import KicadCli
from tests.support.boards import BOARDS

FIT = "inference_pcie_gen5_fit"
CLASS = "85Ohm-diff_PCIE"
EVERYTHING = PlanParts(write=True, change_stackup=True, classes=True, rules=True)
MOST_DIELECTRICS = 31
SMALL_BYTES = 10_000_000


def sold() -> list[CatalogueProduct]:
    """Every construction that a suggestion may be built of, one per material text."""
    every = [s for one in catalogue().laminates for s in (*cores_of(one.family), *prepregs_of(one.family))]
    return list({s.text: s for s in every}.values())


@pytest.mark.kicad
def test_every_laminate_of_a_suggestion_means_the_same_behind_kicad(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Each material text, written by KiCad, resolves to the family, glass style and resin content it was made of."""
    every = sold()
    assert len(every) > 100
    per_row = -(-len(every) // MOST_DIELECTRICS)
    rows = [PlannedRow(kind=LayerKind.COPPER, plies=(Ply(thickness_mm=0.03),))]
    for start in range(0, per_row * MOST_DIELECTRICS, per_row):
        some = every[start : start + per_row] or every[:1]
        plies = tuple(Ply(thickness_mm=s.cured_mm, material=s.text, dk=s.dk, df=s.df) for s in some)
        rows.append(PlannedRow(kind=LayerKind.PREPREG, plies=plies))
        rows.append(PlannedRow(kind=LayerKind.COPPER, plies=(Ply(thickness_mm=0.03),)))
    path = tmp_path / "board.kicad_pcb"
    path.write_bytes(empty_board(PlannedStackup(rows=tuple(rows))))
    kicad_cli("pcb", "upgrade", "--force", path)
    stackup = read_board(path).stackup
    assert stackup is not None
    plies_of_file = [ply for row in stackup.dielectrics for ply in row.plies]
    by_text = {s.text: s for s in every}
    seen = set()
    for ply in plies_of_file:
        match, planned = catalogue().find(ply.material or ""), by_text[ply.material or ""]
        assert match.laminate is not None
        assert match.laminate.family == planned.family
        assert match.style == (planned.row.style if planned.row else None)
        assert match.resin_content_pct == (planned.row.resin_content_pct if planned.row else None)
        assert ply.dk == pytest.approx(planned.dk)
        assert ply.df == (None if planned.df is None else pytest.approx(planned.df))
        seen.add(ply.material)
    assert seen == set(by_text)


# --- every byte -------------------------------------------------------------------------------------------------------


def without(text: bytes, *heads: bytes) -> bytes:
    """A board's text with the first list of each of these heads cut out: found by counting parentheses, not by us."""
    for head in heads:
        start = text.find(b"(" + head)
        if start < 0:
            continue
        depth, at, in_string = 0, start, False
        while True:
            byte = text[at : at + 1]
            if in_string:
                at += byte == b"\\"
                in_string = byte != b'"'
            elif byte == b'"':
                in_string = True
            else:
                depth += (byte == b"(") - (byte == b")")
            at += 1
            if depth == 0:
                break
        text = text[:start] + text[at:]
    return text


def changed(plan: Plan) -> Plan:
    """The plan with every dielectric of another laminate and thickness, a foil on every copper layer, a finish."""
    rows = []
    for row in plan.rows:
        if row.kind == "copper":
            rows.append(row.model_copy(update={"foil": "HVLP"}))
        elif row.kind == "mask":
            rows.append(row)
        else:
            new = {"kind": row.kind, "name": row.name, "thickness_mm": 0.123, "material": "Megtron 7(N)", "dk": 3.3}
            rows.append(PlanRow.model_validate(new))
    return plan.model_copy(
        update={
            "rows": tuple(rows),
            "copper_finish": "Immersion tin",
            "net_class": (PlannedClass(name=CLASS, diff_pair_width_mm=0.111, diff_pair_gap_mm=0.122),),
            "rule": (PlannedRule(net_class=CLASS, layer="F.Cu", width_mm=0.111, gap_mm=0.122, requirement="85 ohm"),),
        }
    )


def state(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.demo
def test_no_byte_outside_the_stackup_changes_on_real_boards(
    demo_boards: Path, copy_board: Callable[[Path], Path], tmp_path: Path
) -> None:
    """KiCad's own demo boards: but for the stackup and the board's thickness, the file is the one that was there."""
    plan_file = tmp_path / "plan.stackwright-plan.toml"
    done = 0
    for source in sorted(demo_boards.glob("*/*.kicad_pcb")):
        if source.stat().st_size > SMALL_BYTES or b"(stackup" not in source.read_bytes():
            continue
        path = copy_board(source)
        before = path.read_bytes()
        plan_file.write_text(write_plan(changed(plan_of(read_board(path), Config()))), encoding="utf-8")
        apply_plan(plan_file, path, PlanParts(write=True, change_stackup=True))
        after = path.read_bytes()
        assert after != before, path.name
        assert without(after, b"stackup", b"thickness") == without(before, b"stackup", b"thickness"), path.name
        again = state(path.parent)
        apply_plan(plan_file, path, PlanParts(write=True, change_stackup=True))
        assert state(path.parent) == again, path.name
        done += 1
    assert done >= 5


def test_all_files_twice_and_undone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Board, project, rules and settings: a second time changes nothing; the backups restore every byte."""
    shutil.copytree(BOARDS / FIT, tmp_path / "card")
    card = tmp_path / "card" / f"{FIT}.kicad_pcb"
    card.with_suffix(".kicad_dru").write_bytes(
        b'(version 1)\n\n# mine\n(rule "m"\n\t(constraint hole_size (min 0.2mm)))\n'
    )
    before = state(card.parent)
    plan_file = tmp_path / "plan.stackwright-plan.toml"
    plan_file.write_text(write_plan(changed(plan_of(read_board(card), Config()))), encoding="utf-8")
    apply_plan(plan_file, card, EVERYTHING)
    written = state(card.parent)
    touched = {name for name in before if written[name] != before[name]}
    assert touched == {card.name, f"{FIT}.kicad_pro", f"{FIT}.kicad_dru", "stackwright.toml"}
    capsys.readouterr()
    apply_plan(plan_file, card, EVERYTHING)
    assert "nothing to do" in capsys.readouterr().out
    assert state(card.parent) == written
    backups = [name for name in written if name.endswith("-bak")]
    assert len(backups) == len(touched)
    for name in backups:
        original = re.sub(r"\.[0-9a-f]{12}-bak$", "", name)
        card.with_name(name).replace(card.with_name(original))
    assert state(card.parent) == before


@pytest.mark.kicad
def test_kicad_reads_all_that_was_applied(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """After its own save the board states the plan's rows, and the plan finds nothing left to do."""
    shutil.copytree(BOARDS / FIT, tmp_path / "card")
    card = tmp_path / "card" / f"{FIT}.kicad_pcb"
    plan_file = tmp_path / "plan.stackwright-plan.toml"
    plan_file.write_text(write_plan(changed(plan_of(read_board(card), Config()))), encoding="utf-8")
    apply_plan(plan_file, card, EVERYTHING)
    kicad_cli("pcb", "upgrade", "--force", card)
    saved = state(card.parent)
    apply_plan(plan_file, card, EVERYTHING)
    assert state(card.parent) == saved
    stackup = read_board(card).stackup
    assert stackup is not None
    assert {row.plies[0].material for row in stackup.dielectrics} == {"Megtron 7(N)"}
