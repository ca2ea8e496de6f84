"""`stackwright fab-pack`: what was stated, in tables; what was not, as NOT STATED; never a guess."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest

from drc_rules.analysis.via.backdrill_table import BackdrillRow, BackdrillTable
from drc_rules.fab_exchange.fab_tables import NOT_STATED
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.interval import Interval
from stackup_lib.kicad import read_board
from stackwright.cli.app import run

BOARDS = Path(__file__).parents[2] / "fixtures" / "boards"
FIT = "inference_pcie_gen5_fit"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A copy of our PCIe card."""
    shutil.copytree(BOARDS / FIT, tmp_path / "card")
    return tmp_path / "card" / f"{FIT}.kicad_pcb"


def pack(board: Path, folder: Path) -> dict[str, list[dict[str, str]]]:
    """The tables of a pack by name, as spreadsheets read them."""
    assert run(["fab-pack", str(board), "--output", str(folder)]) == 0
    found = {}
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as lines:
            found[path.stem.rsplit("-", 1)[1]] = list(csv.DictReader(lines))
    return found


def test_the_stackup_is_the_boards_row_by_row(card: Path, tmp_path: Path) -> None:
    """Names, thicknesses and materials as the board file states them; the declared foil on each copper layer."""
    rows = pack(card, tmp_path / "pack")["stackup"]
    stackup = read_board(card).stackup
    assert stackup is not None
    ours = [
        r for r in stackup.layers if r.kind in (LayerKind.COPPER, LayerKind.CORE, LayerKind.PREPREG, LayerKind.MASK)
    ]
    assert [row["layer"] for row in rows] == [row.name for row in ours]
    assert [float(row["thickness mm"]) for row in rows] == pytest.approx([row.thickness_mm for row in ours])
    assert [row["material"] for row in rows if row["type"] in ("core", "prepreg")] == [
        row.plies[0].material for row in stackup.dielectrics
    ]
    assert {row["foil"] for row in rows if row["type"] == "copper"} == {"VLP"}


def test_nobody_has_said_at_what_frequency_kicads_df_holds(card: Path, tmp_path: Path) -> None:
    """Until it is declared; then the fab reads the declared figures and their frequency."""
    rows = pack(card, tmp_path / "pack")["stackup"]
    assert {row["Df at GHz"] for row in rows if row["type"] in ("core", "prepreg")} == {NOT_STATED}
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f'{text}\n[declared.dielectric."dielectric 2"]\ndf = 0.0021\nat_ghz = 16\n', encoding="utf-8")
    row = next(r for r in pack(card, tmp_path / "pack")["stackup"] if r["layer"] == "dielectric 2")
    assert (row["Df"], row["Df at GHz"]) == ("0.0021", "16")


def test_an_outer_copper_weight_is_never_made_up(card: Path, tmp_path: Path) -> None:
    """Plating makes it ambiguous: it is NOT STATED until somebody declares it."""
    rows = {row["layer"]: row for row in pack(card, tmp_path / "pack")["stackup"]}
    assert rows["F.Cu"]["copper oz"] == NOT_STATED
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f'{text}\n[declared.copper."F.Cu"]\ncopper_oz = 0.5\n', encoding="utf-8")
    rows = {row["layer"]: row for row in pack(card, tmp_path / "pack")["stackup"]}
    assert rows["F.Cu"]["copper oz"] == "0.5"


def test_facts_of_another_stackup_do_not_reach_the_fab(card: Path, tmp_path: Path) -> None:
    """Stale declarations are no statements: foil and tolerance are NOT STATED."""
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8").replace("[declared]\n", '[declared]\nstackup_hash = "0123456789ab"\n')
    settings.write_text(text, encoding="utf-8")
    tables = pack(card, tmp_path / "pack")
    assert {row["foil"] for row in tables["stackup"] if row["type"] == "copper"} == {NOT_STATED}
    assert {row["tolerance %"] for row in tables["impedance"]} == {NOT_STATED}


def test_every_controlled_geometry_has_target_planes_and_tolerance(card: Path, tmp_path: Path) -> None:
    """As routed, with the tolerance that was declared and what our solver makes of it."""
    rows = pack(card, tmp_path / "pack")["impedance"]
    assert [(row["layer"], row["width mm"], row["gap mm"], row["target ohm"]) for row in rows] == [
        ("In2.Cu", "0.094", "0.13", "85"),
        ("In13.Cu", "0.094", "0.13", "85"),
    ]
    assert [row["reference planes"] for row in rows] == ["In1.Cu, In3.Cu", "In12.Cu, In14.Cu"]
    assert {row["tolerance %"] for row in rows} == {"5"}
    assert all(float(row["solved ohm"]) == pytest.approx(87.8, abs=0.2) for row in rows)


def test_backdrills_are_those_of_the_file(card: Path, tmp_path: Path) -> None:
    """Every drilled hole of the board is in one of the depth groups."""
    rows = pack(card, tmp_path / "pack")["backdrill"]
    board = read_board(card)
    drilled = int((board.vias.drilling.backdrill_start >= 0).sum() + (board.vias.drilling.tertiary_start >= 0).sum())
    assert sum(int(row["holes"]) for row in rows) == drilled > 0
    assert {(row["from"], row["must cut"], row["must not cut"]) for row in rows} >= {("B.Cu", "In3.Cu", "In2.Cu")}


def test_a_drill_that_nobody_asked_for_is_not_ordered(
    card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the stubs would need is told to the designer, and is not in the fab's table."""
    proposed = BackdrillRow(
        start="B.Cu",
        must_cut="In3.Cu",
        must_not_cut="In2.Cu",
        hole_mm=0.25,
        drill_mm=None,
        depth_mm=Interval(low=1.0, nominal=1.0, high=1.0),
        holes=7,
        nets=("X",),
        residual_mm=Interval(low=0.0, nominal=0.0, high=0.0),
        is_proposed=True,
    )
    asked = proposed.model_copy(update={"is_proposed": False, "holes": 5})
    monkeypatch.setattr(
        "drc_rules.fab_exchange.fab_tables.backdrill_table", lambda _: BackdrillTable(rows=(proposed, asked))
    )
    rows = pack(card, tmp_path / "pack")["backdrill"]
    assert [(row["holes"], row["drill mm"]) for row in rows] == [("5", NOT_STATED)]
    assert "7 holes" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["default_stackup", "no_stackup"])
def test_without_a_stackup_the_fab_gets_no_figure(name: str, tmp_path: Path) -> None:
    """KiCad's default declares nothing: no thickness, no material, no finish goes out."""
    tables = pack(BOARDS / name, tmp_path / "pack")
    for row in tables["stackup"]:
        assert {row[key] for key in row if key not in ("layer", "type")} == {NOT_STATED}
    notes = {row["item"]: row["required"] for row in tables["notes"]}
    assert {notes["finished thickness"], notes["surface finish"], notes["laminates"]} == {NOT_STATED}


def test_the_page_has_every_table_and_the_terminal_what_is_open(
    card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One Markdown file with all of it and the board's fingerprint; the same board gives the same bytes."""
    pack(card, tmp_path / "pack")
    out = capsys.readouterr().out
    text = (tmp_path / "pack" / f"{FIT}-fab.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Stackup", "Impedances", "Backdrills", "Notes"]
    assert re.search(r"SHA-256 [0-9a-f]{64}", text)
    widths = {line.count("|") for line in text.split("## ")[1].splitlines() if line.startswith("|")}
    assert len(widths) == 1
    assert "notes: thickness tolerance, substitution of laminates, Tg, IPC-6012 class" in " ".join(out.split())
    pack(card, tmp_path / "again")
    assert (tmp_path / "again" / f"{FIT}-fab.md").read_text(encoding="utf-8") == text


def test_a_folder_that_cannot_be_made_is_one_line(card: Path, tmp_path: Path) -> None:
    """A file in its place, a parent that is not there."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for folder in ("file", "no/such/parent"):
        with pytest.raises(StackwrightError, match=r"--output|choose a place"):
            run(["fab-pack", str(card), "--output", str(tmp_path / folder)])
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
