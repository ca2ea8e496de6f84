"""`stackwright fab-pack`: what was stated, in tables; what was not, as NOT STATED; never a guess."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tomllib import loads as parse_toml
from typing import Any

import numpy as np
import pytest

from drc_rules.analysis.via.backdrill_table import BackdrillRow, BackdrillTable
from drc_rules.engine.check import prepare
from drc_rules.fab_exchange.answer.stackup_text import read_fab_file
from drc_rules.fab_exchange.pack.backdrills import backdrills_table
from drc_rules.fab_exchange.pack.holes import via_types
from drc_rules.fab_exchange.pack.notes import fab_notes, in_ranges
from drc_rules.fab_exchange.pack.table import NOT_STATED
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config, parse_config
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.interval import Interval
from stackup_lib.kicad import read_board
from stackup_lib.vias.build_ups import rows_under_microvias
from stackwright.cli.app import run
from stackwright.commands.fab.pack_pdf import NO_FPDF, _widths
from tests.support.boards import BOARDS, board_file, copied
from tests.support.mini import mini_context, mini_file
from tests.support.stackups import SIX_LAYERS, UNLIKE_PLIES

FIT = "inference_pcie_gen5_fit"
HDI = "inference_hdi_2n2_fit"
PROTECTIONS = (
    *("tented_front", "tented_back", "covered_front", "covered_back"),
    *("plugged_front", "plugged_back", "filled", "capped"),
)


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A copy of our PCIe card."""
    return copied(FIT, tmp_path, "card")


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
    """Until it is declared; then the fab reads the declared values and their frequency."""
    rows = pack(card, tmp_path / "pack")["stackup"]
    assert {row["Df at GHz"] for row in rows if row["type"] in ("core", "prepreg")} == {NOT_STATED}
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f'{text}\n[declared.dielectric."dielectric 2"]\ndf = 0.0021\nat_ghz = 16\n', encoding="utf-8")
    row = next(r for r in pack(card, tmp_path / "pack")["stackup"] if r["layer"] == "dielectric 2")
    assert (row["Df"], row["Df at GHz"], row["Dk at GHz"]) == ("0.0021", "16", NOT_STATED)


@pytest.mark.parametrize(
    ("declared", "dk", "at_ghz"),
    [
        ("", "3.35", NOT_STATED),
        ("dk = 3.36\nat_ghz = 10", "3.36", "10"),
        ("dk = 3.36\ndf = 0.002\nat_ghz = 10\ndk_at_ghz = 1", "3.36", "1"),
        ("dk_at_ghz = 12", "3.35", "12"),
        ("dk = 3.36", "3.36", NOT_STATED),
    ],
)
def test_the_fab_reads_at_what_frequency_a_dk_holds(
    card: Path, tmp_path: Path, declared: str, dk: str, at_ghz: str
) -> None:
    """As far as it is declared; a Df's frequency alone is none of the Dk in the board file."""
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f'{text}\n[declared.dielectric."dielectric 2"]\n{declared}\n', encoding="utf-8")
    row = next(r for r in pack(card, tmp_path / "pack")["stackup"] if r["layer"] == "dielectric 2")
    assert (row["Dk"], row["Dk at GHz"]) == (dk, at_ghz)


def test_our_own_reader_takes_both_frequencies_back(card: Path, tmp_path: Path) -> None:
    """A Dk at 1 GHz next to a Df at 10 GHz, and a row of which the frequencies are open."""
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    declared = '[declared.dielectric."dielectric 2"]\ndk_at_ghz = 1\ndf = 0.0021\nat_ghz = 10\n'
    settings.write_text(f"{text}\n{declared}", encoding="utf-8")
    pack(card, tmp_path / "pack")
    table = next((tmp_path / "pack").glob("*stackup.csv"))

    found = read_fab_file(table.read_bytes(), table.name)

    first, second = [row for row in found.rows if row.kind in ("core", "prepreg")][:2]
    assert (second.dk_at_ghz, second.df, second.at_ghz) == (1, 0.0021, 10)
    assert (first.dk_at_ghz, first.at_ghz) == (None, None)
    assert run(["compare", str(card), str(table)]) in (0, 1)


def test_an_outer_copper_weight_is_never_made_up(card: Path, tmp_path: Path) -> None:
    """Plating makes it ambiguous: it is NOT STATED until it is declared."""
    rows = {row["layer"]: row for row in pack(card, tmp_path / "pack")["stackup"]}
    assert rows["F.Cu"]["copper oz"] == NOT_STATED
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f'{text}\n[declared.copper."F.Cu"]\ncopper_oz = 0.5\n', encoding="utf-8")
    rows = {row["layer"]: row for row in pack(card, tmp_path / "pack")["stackup"]}
    assert rows["F.Cu"]["copper oz"] == "0.5"


def test_the_weight_of_a_plated_inner_layer_is_never_made_up(tmp_path: Path) -> None:
    """Where microvias end, thickness is foil and plating; the layers between the build-ups are foil alone."""
    rows = {row["layer"]: row["copper oz"] for row in pack(BOARDS / HDI, tmp_path)["stackup"]}
    assert {rows[name] for name in ("F.Cu", "In1.Cu", "In2.Cu", "In13.Cu", "In14.Cu", "B.Cu")} == {NOT_STATED}
    assert (rows["In3.Cu"], rows["In5.Cu"]) == ("0.5", "1")


def drawing_of(folder: Path) -> dict[str, str]:
    """What the cross-section of a pack says at the right of each row."""
    (page,) = folder.glob("*-fab.html")
    svg = re.findall(r"<svg.*?</svg>", page.read_text(encoding="utf-8"), re.DOTALL)[0]
    said = [re.sub(r"<[^>]+>", "", text) for text in re.findall(r"<text.*?</text>", svg, re.DOTALL)]
    at = said.index("F.Mask")
    rows = [said[k : k + 3] for k in range(at, said.index("B.Mask") + 1, 3)]
    return {name: words for name, _, words in rows}


def test_the_drawing_states_nothing_that_its_table_states_otherwise(tmp_path: Path) -> None:
    """A data sheet's Df stood beside the board's own, and half an ounce beside NOT STATED."""
    rows = {row["layer"]: row for row in pack(BOARDS / "training_b200_lossy_prepreg", tmp_path / "a")["stackup"]}
    said = drawing_of(tmp_path / "a")
    assert (said["dielectric 10"], rows["dielectric 10"]["Df"]) == ("core, 370HR 1080", "0.025")
    rows = {row["layer"]: row for row in pack(BOARDS / HDI, tmp_path / "b")["stackup"]}
    said = drawing_of(tmp_path / "b")
    assert {name for name, row in rows.items() if row["type"] == "copper" and row["copper oz"] != NOT_STATED} == {
        name for name, words in said.items() if " oz" in words
    }
    assert "0.5 oz" in said["In3.Cu"] and "0.5 oz" not in said["In1.Cu"]


def test_lengths_have_three_decimals(tmp_path: Path) -> None:
    """A third of a row of several sheets had six, and a hole typed in mils; thin copper keeps what tells it apart."""
    text = board_file(FIT).read_text(encoding="utf-8").replace("(drill 0.25)", "(drill 0.250012)", 9)
    board = tmp_path / "b.kicad_pcb"
    board.write_text(text.replace("(thickness 0.077)", "(thickness 0.0770333)"), encoding="utf-8")
    tables = pack(board, tmp_path / "pack")
    through = [row["finished mm"] for row in tables["holes"] if row["plated"] == "yes"]
    assert "0.25" in through and len(through) == len(set(through))
    assert not any(len(row["finished mm"].partition(".")[2]) > 3 for row in (*tables["holes"], *tables["vias"]))
    rows = {row["layer"]: row["thickness mm"] for row in tables["stackup"]}
    assert (rows["dielectric 1"], rows["In1.Cu"]) == ("0.077", "0.0152")


def test_sheets_of_a_row_add_up_to_it(tmp_path: Path) -> None:
    """Two sheets of 0.0435 mm are 0.087, not twice 0.043; the drawing has the same."""
    text = UNLIKE_PLIES.replace("prepreg 0.08 ", "prepreg 0.0435 ").replace("prepreg+ 0.1 ", "prepreg+ 0.0435 ")
    board = mini_file(tmp_path, parse_toml(text))
    rows = {row["layer"]: row["thickness mm"] for row in pack(board, tmp_path / "pack")["stackup"]}
    plies = [f"dielectric 1, ply {k}" for k in (1, 2)]
    assert sum(float(rows[name]) for name in plies) == pytest.approx(0.087)
    assert max(len(rows[name]) for name in plies) == len("0.044")
    page = next((tmp_path / "pack").glob("*.html")).read_text(encoding="utf-8")
    drawn = re.findall(r"0\.04\d+ mm", page.partition("</svg>")[0])
    assert sorted(drawn) == sorted(f"{rows[name]} mm" for name in plies)


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


def test_a_backdrill_ends_between_two_layers_and_touches_neither(
    card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The depth read 1.367-1.442, whose end is the copper that must not be cut; without a tolerance that is asked."""
    pack(card, tmp_path / "pack")
    faces = read_board(card).stackup
    assert faces is not None
    rows = {row.name: row.thickness_mm or 0.0 for row in faces.layers}
    names = list(rows)
    through = sum(rows[name] for name in names[names.index("In3.Cu") : names.index("B.Cu") + 1])
    spare = through + rows["dielectric 3"]

    def drilled(tolerance_mm: float | None) -> tuple[str, str, str]:
        settings = tmp_path / "own.toml"
        said = "" if tolerance_mm is None else f"\n[order]\nbackdrill_tolerance_mm = {tolerance_mm}\n"
        settings.write_text(card.with_name("stackwright.toml").read_text(encoding="utf-8") + said, encoding="utf-8")
        capsys.readouterr()
        assert run(["fab-pack", str(card), "--output", str(tmp_path / "own"), "--config", str(settings)]) == 0
        with next((tmp_path / "own").glob("*-backdrill.csv")).open(encoding="utf-8", newline="") as lines:
            row = next(one for one in csv.DictReader(lines) if one["must cut"] == "In3.Cu")
        return row["depth mm"], row["stub mm"], " ".join(capsys.readouterr().out.split())

    depth, stub, out = drilled(None)
    low, high = (float(number) for number in re.findall(r"\d\.\d+", depth))
    assert depth == f"over {low:.3f}, under {high:.3f}"
    assert through <= low + 1e-9 < through + 0.001 and spare - 0.001 < high - 1e-9 <= spare
    assert stub == "under 0.077"
    assert "depth tolerance of backdrills" in out
    assert "stub shorter than the 0.25 mm that fabs usually leave: 0.077 mm before In13.Cu, " in out
    depth, _, out = drilled(0.02)
    assert depth == f"over {low + 0.02:.3f}, under {high - 0.02:.3f}, +-0.02"
    assert "depth tolerance of backdrills" not in out and "no room" not in out
    depth, _, out = drilled(0.05)
    assert depth.endswith(": no room for +-0.05")
    assert "backdrills, no room for a depth tolerance of +-0.05 mm: " in out


def test_a_stub_as_long_as_fabs_leave_is_no_question(tmp_path: Path) -> None:
    """Of 0.3 mm of dielectric before the signal, 0.25 can stay."""
    config = "[order]\nbackdrill_tolerance_mm = 0.1\n"
    board = {
        "size_mm": (60, 40),
        "stackup": SIX_LAYERS,
        "tracks": [
            {"net": "/N", "layer": "F.Cu", "path_mm": [[5, 3], [20, 3]]},
            {"net": "/N", "layer": "In2.Cu", "path_mm": [[20, 3], [50, 3]]},
        ],
        "vias": [{"net": "/N", "at_mm": [20, 3], "backdrill": {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In3.Cu"}}],
    }
    table = backdrills_table(mini_context(tmp_path, board, config))
    asked = {question.what for question in table.questions if question.rows}
    assert len(table.rows) == 1 and not asked, table.rows


def test_no_plain_value_begins_like_a_formula(card: Path, tmp_path: Path) -> None:
    """An apostrophe stood before "+-5 %"; before a remark that a spreadsheet would compute it stays."""
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8") + ORDER.replace('"Serial', '"=1+1", "Serial')
    settings.write_text(text, encoding="utf-8")
    tables = pack(card, tmp_path / "pack")
    marked = [cell for rows in tables.values() for row in rows for cell in row.values() if cell.startswith("'")]
    assert marked == ["'=1+1"]


def test_a_drill_that_is_not_required_is_not_ordered(
    card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the stubs would need is reported to the designer, and is not in the fab's table."""
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
        "drc_rules.fab_exchange.pack.backdrills.backdrill_table", lambda _: BackdrillTable(rows=(proposed, asked))
    )
    rows = pack(card, tmp_path / "pack")["backdrill"]
    assert [(row["holes"], row["backdrill mm"]) for row in rows] == [("5", NOT_STATED)]
    assert "7 holes" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["default_stackup", "no_stackup"])
def test_without_a_stackup_the_fab_gets_no_figure(name: str, tmp_path: Path) -> None:
    """KiCad's default declares nothing: no thickness, no material, no finish goes out; the declared foil does."""
    tables = pack(BOARDS / name, tmp_path / "pack")
    head = tuple(tables["stackup"][0])
    copper = ("copper", NOT_STATED, *[""] * 5, NOT_STATED, "ED")
    dielectric = ("core or prepreg", *[NOT_STATED] * 6, "", "")
    rows = [tuple(row[key] for key in head if key != "layer") for row in tables["stackup"]]
    assert rows == [copper, *[dielectric, copper] * 5]
    notes = {row["item"]: row["required"] for row in tables["notes"]}
    assert {notes["finished thickness"], notes["surface finish"], notes["laminates"]} == {NOT_STATED}


def test_the_page_has_every_table_and_the_terminal_what_is_open(
    card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """First what is not stated, then every table, and the board's fingerprint; the same board gives the same bytes."""
    pack(card, tmp_path / "pack")
    out = " ".join(capsys.readouterr().out.split())
    text = (tmp_path / "pack" / f"{FIT}-fab.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", text) == [
        *("Not stated", "Notes", "Cross-section", "Stackup", "Laminates"),
        *("Substitutes", "Impedances", "Holes", "Via protection", "Backdrills"),
    ]
    assert re.search(r"SHA-256 [0-9a-f]{64}", text)
    assert "notes: IPC-6012 class, thickness tolerance, " in out
    assert "<script src" not in text
    pack(card, tmp_path / "again")
    for name in (f"{FIT}-fab.html", f"{FIT}-fab.pdf"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "pack" / name).read_bytes()


def test_every_open_note_says_how_to_answer_it(card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines that `-v` prints fit into the settings as they are, and declare nothing until they are filled in."""
    assert run(["fab-pack", str(card), "--output", str(tmp_path / "pack"), "-v"]) == 0
    where, *lines = capsys.readouterr().out.split("To answer")[1].splitlines()
    assert where == "  in stackwright.toml"
    toml = "\n".join(line.strip() for line in lines if " = " in line or line.strip().startswith("["))
    assert parse_config(toml).model_dump() == Config().model_dump()
    assert len(parse_toml(toml)["order"]) >= 10


@pytest.mark.parametrize(
    ("more", "words"), [(["-v"], "To answer  in ours.toml\n"), ([], "the lines of ours.toml that")]
)
def test_the_lines_are_for_the_settings_file_that_was_given(
    more: list[str], words: str, card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They went into a stackwright.toml that nothing read."""
    (tmp_path / "ours.toml").write_text('profile = "edge"\n', encoding="utf-8")
    pack = ["fab-pack", str(card), "--output", str(tmp_path / "pack"), "--config", str(tmp_path / "ours.toml")]
    assert run([*pack, *more]) == 0
    assert words in capsys.readouterr().out


ORDER = """
[order]
ipc_class = "3"
thickness_tolerance_pct = 10
slash_sheets = { "Megtron 6(N)" = "IPC-4101/102" }
substitutes = ["FR408HR", "Unobtainium 9"]
width_change_pct = 0
height_changes = false
coupons = true
hole_tolerance_mm = 0.075
mask_colour = "green"
panel = "single boards"
remarks = ["Serial number on every board"]
"""


def test_an_order_answers_the_fabs_questions(card: Path, tmp_path: Path) -> None:
    """Each answer stands in the notes with the file that says it, and in the tables that it concerns."""
    settings = card.with_name("stackwright.toml")
    settings.write_text(settings.read_text(encoding="utf-8") + ORDER, encoding="utf-8")
    tables = pack(card, tmp_path / "pack")
    notes = {row["item"]: (row["required"], row["stated in"]) for row in tables["notes"]}
    settings_file = "stackwright.toml"
    assert notes["IPC-6012 class"] == ("3", settings_file)
    assert notes["thickness tolerance"] == ("within 10 %", settings_file)
    alone = "Unobtainium 9 (not judged, ask first)"
    assert notes["substitution of laminates"] == (f"Megtron 6(N) by {alone}; 370HR by FR408HR, {alone}", settings_file)
    assert notes["fab may change widths of controlled lines"] == ("no", settings_file)
    assert notes["fab may change dielectric heights"] == ("no", settings_file)
    assert notes["remark"] == ("Serial number on every board", settings_file)
    assert notes["surface finish"][1] == "board file"
    assert notes["UL mark"] == (NOT_STATED, "")
    assert [row["coupon"] for row in tables["impedance"]] == ["C1", "C2"]
    assert {row["tolerance +- mm"] for row in tables["holes"] if row["plated"] == "yes"} == {"0.075"}
    assert NOT_STATED not in {row["slash sheet"] for row in tables["laminates"] if row["laminate"] == "Megtron 6(N)"}


@pytest.mark.parametrize(
    ("edge", "order", "wanted"),
    [
        ("bevelled", "", {"gold on edge contacts": NOT_STATED, "bevel of the edge": NOT_STATED}),
        ("yes", "", {"gold on edge contacts": NOT_STATED}),
        ("no", "", {"edge connector": NOT_STATED}),  # a PCIe card
        (
            "bevelled",
            "contact_gold_um = 0.76\nbevel_deg = 20\n",
            {"gold on edge contacts": "at least 0.76 um", "bevel of the edge": "20 degrees"},
        ),
        (
            "no",
            "contact_gold_um = 0.76\n",
            {"gold on edge contacts": "at least 0.76 um", "edge connector": NOT_STATED},
        ),
    ],
)
def test_a_card_edge_asks_for_its_gold_and_its_bevel(
    card: Path, tmp_path: Path, edge: str, order: str, wanted: dict[str, str]
) -> None:
    """Fabs plate and bevel by numbers that no board file holds; a board without a card edge is not asked."""
    text = card.read_text(encoding="utf-8")
    assert "(edge_connector bevelled)" in text
    card.write_text(text.replace("(edge_connector bevelled)", f"(edge_connector {edge})"), encoding="utf-8")
    settings = card.with_name("stackwright.toml")
    settings.write_text(f"{settings.read_text(encoding='utf-8')}\n[order]\n{order}", encoding="utf-8")
    notes = {row["item"]: row["required"] for row in pack(card, tmp_path / "pack")["notes"]}
    asked = ("edge connector", "gold on edge contacts", "bevel of the edge")
    assert {item: said for item, said in notes.items() if item in asked} == {"edge connector": edge} | wanted


def test_a_board_without_a_card_edge_says_so(tmp_path: Path) -> None:
    """A baseboard has none: "no" is an answer there."""
    notes = {
        row["item"]: row["required"] for row in pack(copied("training_b200_fit", tmp_path), tmp_path / "p")["notes"]
    }
    assert notes["edge connector"] == "no"
    assert "gold on edge contacts" not in notes


def test_a_substitute_is_judged_by_the_clauses_it_would_change(card: Path, tmp_path: Path) -> None:
    """A lossier laminate makes loss clauses worse, an unknown one is not judged."""
    settings = card.with_name("stackwright.toml")
    settings.write_text(settings.read_text(encoding="utf-8") + ORDER, encoding="utf-8")
    rows = pack(card, tmp_path / "pack")["substitutes"]
    said = {row["substitute"]: row["judgement"] for row in rows if row["laminate"] == "Megtron 6(N)"}
    assert said["Unobtainium 9"] == "not in our catalogue: not judged"
    assert "makes worse: " in said["FR408HR"] and "very-low-loss laminate: not met" in said["FR408HR"]


def test_a_substitute_without_public_data_is_to_be_asked_about(tmp_path: Path) -> None:
    """IT-180A has no public Df at 2.5 GHz, where the carrier's USB loss is judged; S1000-2M has."""
    board = copied("edge_jetson_carrier_fit", tmp_path, "carrier")
    settings = board.with_name("stackwright.toml")
    order = '\n[order]\nsubstitutes = ["IT-180A", "S1000-2M"]\n'
    settings.write_text(settings.read_text(encoding="utf-8") + order, encoding="utf-8")
    tables = pack(board, tmp_path / "pack")

    said = {row["substitute"]: row["judgement"] for row in tables["substitutes"]}
    assert said["S1000-2M"] == "no requirement gets worse"
    assert re.match(r"leaves open: insertion loss .*: not verifiable$", said["IT-180A"])
    notes = {row["item"]: row["required"] for row in tables["notes"]}
    assert notes["substitution of laminates"] == "IS400 by IT-180A (not judged, ask first), S1000-2M"


def test_a_line_too_short_for_a_verdict_is_ordered_all_the_same(tmp_path: Path) -> None:
    """The carrier's USB 2.0 pairs are 49 mm long, where 62.5 mm count: the fab controls them as well.

    Of MIPI D-PHY and USB 3.2, whose lines count, nothing is added.
    """
    board = copied("edge_jetson_carrier_fit", tmp_path, "carrier")
    rows = pack(board, tmp_path / "pack")["impedance"]
    found = [(row["layer"], row["for"], row["target ohm"], row["width mm"], row["gap mm"]) for row in rows]

    assert found == [
        ("F.Cu", "MIPI D-PHY", "100", "0.12", "0.15"),
        ("B.Cu", "MIPI D-PHY", "100", "0.12", "0.15"),
        ("F.Cu", "USB 3.2 Gen1", "90", "0.16", "0.15"),
        ("F.Cu", "USB 2.0 high speed", "90", "0.16", "0.15"),
    ]


def test_holes_and_protection_are_counted(card: Path, tmp_path: Path) -> None:
    """Every via and drilled pad is in the table of holes, every via in the table of protection."""
    tables = pack(card, tmp_path / "pack")
    board = read_board(card)
    drilled = int(np.isfinite(board.pads.drill_x_mm).sum())
    assert sum(int(row["holes"]) for row in tables["holes"]) == len(board.vias) + drilled
    assert sum(int(row["vias"]) for row in tables["vias"]) == len(board.vias)
    filled = int(((board.vias.filled == 1) & (board.vias.capped == 1)).sum())
    assert sum(int(row["vias"]) for row in tables["vias"] if row["IPC-4761 type"] == "VII") == filled


@pytest.mark.parametrize(
    ("sides", "kind"),
    [
        ({}, NOT_STATED),
        ({"tented_front": 0, "tented_back": 0}, "open"),
        ({"tented_front": 1, "tented_back": 0}, "I-a"),
        ({"tented_front": 1, "tented_back": 1}, "I-b"),
        ({"tented_front": 1, "tented_back": 1, "covered_back": 1}, "II-a"),
        ({"plugged_front": 1, "plugged_back": 1}, "III-b"),
        ({"plugged_front": 1, "covered_front": 1}, "IV-a"),
        ({"filled": 1}, "V"),
        ({"filled": 1, "covered_front": 1, "covered_back": 1}, "VI-b"),
        ({"filled": 1, "capped": 1}, "VII"),
        ({"capped": 1}, "capped, not filled: no type"),
    ],
)
def test_protection_is_named_after_ipc_4761(card: Path, sides: dict[str, int], kind: str) -> None:
    """One via of each type; where tenting is not stated the type is open."""
    board = read_board(card)
    flags = [name for name in PROTECTIONS if name not in sides]
    columns: dict[str, Any] = {
        name: np.full(len(board.vias), sides.get(name, -1), np.int8) for name in (*flags, *sides)
    }
    changed = replace(board, vias=replace(board.vias, **columns), ipc4761={})
    assert set(via_types(changed)) == {kind}


def test_a_side_on_which_a_via_does_not_end_has_no_protection() -> None:
    """Mask covers a blind via on its outer side only, and no buried via; what is filled is filled all the same."""
    board = read_board(board_file(HDI))
    vias, last = board.vias, board.layer_count - 1
    kinds = np.array(via_types(board))
    is_blind = (vias.start_layer == 0) ^ (vias.end_layer == last)
    is_buried = (vias.start_layer > 0) & (vias.end_layer < last)
    assert is_blind.any() and is_buried.any()
    assert set(kinds[is_blind]) == {"I-a"}
    assert set(kinds[is_buried]) == {"buried"}
    assert "I-b" in set(kinds[~is_blind & ~is_buried])
    filled = replace(board, vias=replace(vias, filled=np.ones(len(vias), np.int8)))
    assert set(np.array(via_types(filled))[is_buried]) == {"V"}
    open_ones = replace(board, ipc4761={"tenting_front": False})
    assert set(np.array(via_types(open_ones))[vias.end_layer == 1]) == {"open"}


def test_copper_fill_under_stacked_microvias_is_asked_until_it_is_ordered(tmp_path: Path) -> None:
    """What a microvia stands on has to be filled; where none stands on another there is no question."""
    item = "copper fill of vias under stacked microvias"

    def notes_and_types(name: str, config: str) -> tuple[str | None, set[str], str]:
        board = copied(HDI, tmp_path, name)
        settings = board.with_name("stackwright.toml")
        settings.write_text(settings.read_text(encoding="utf-8") + config, encoding="utf-8")
        tables = pack(board, tmp_path / f"{name}-pack")
        said = {row["item"]: row["required"] for row in tables["notes"]}.get(item)
        page = next((tmp_path / f"{name}-pack").glob("*.html")).read_text(encoding="utf-8")
        kinds = {row["IPC-4761 type"] for row in tables["vias"] if row["from"] in ("In1.Cu", "In13.Cu")}
        return said, kinds, page

    said, kinds, page = notes_and_types("open", "")
    assert (said, kinds) == (NOT_STATED, {"buried"})
    assert "Microvias stand on 24 of these vias (In1.Cu to In2.Cu, In13.Cu to In14.Cu)" in page
    said, kinds, page = notes_and_types("ordered", "\n[order]\ncopper_fill = true\n")
    assert (said, kinds) == ("yes", {"filled with copper"})
    assert "no fill is stated" not in page
    board = read_board(board_file(HDI))
    assert len(rows_under_microvias(board)) == 24
    apart = replace(board.vias, x_mm=board.vias.x_mm + np.arange(len(board.vias)))
    assert rows_under_microvias(replace(board, vias=apart)) == ()


def test_examples_of_answers_are_true_as_they_stand(card: Path, tmp_path: Path) -> None:
    """/126 is a sheet of 370HR, and was offered for Megtron 6; a green legend on green mask is not seen."""
    ctx = prepare(read_board(card), Config(), Overrides())[0]
    lines = [note.to_add[1] for note in fab_notes(ctx)]
    assert [line for line in lines if "IPC-4101" in line] == ['slash_sheets = "?"  # e.g. { "370HR" = "IPC-4101/126" }']
    assert {'mask_colour = "?"  # e.g. "green"', 'legend_colour = "?"  # e.g. "white"'} <= set(lines)


def test_holes_of_every_span_have_their_depth(tmp_path: Path) -> None:
    """Over copper without solder mask; of a microvia the dielectric that the laser drills."""
    rows = {(row["from"], row["to"], row["finished mm"]): row for row in pack(BOARDS / HDI, tmp_path)["holes"]}
    assert float(rows["F.Cu", "In1.Cu", "0.125"]["depth / hole"]) == pytest.approx(0.077 / 0.125, abs=0.05)
    assert float(rows["F.Cu", "B.Cu", "0.2"]["depth / hole"]) == pytest.approx((1.57 - 2 * 0.02) / 0.2, abs=0.06)
    assert all(row["depth / hole"] for row in pack(BOARDS / HDI, tmp_path)["holes"] if row["plated"] == "yes")


def test_the_notes_begin_with_size_and_kind_of_vias(card: Path, tmp_path: Path) -> None:
    """A quotation takes the size, and how often the board is laminated."""
    notes = {row["item"]: row["required"] for row in pack(BOARDS / HDI, tmp_path)["notes"]}
    assert notes["board size"] == "167.65 x 111.15 mm (box around the outline)"
    assert notes["vias"] == "2-N-2, at least 3 lamination cycles, microvias stacked 2 high"
    notes = {row["item"]: row["required"] for row in pack(card, tmp_path / "card-pack")["notes"]}
    assert notes["vias"] == "through vias"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("[goals]\nbuild_ups = 3\n", ("no vias yet; 3-N-3 declared, at least 4 lamination cycles", "stackwright.toml")),
        ("", ("no vias", "board file")),
    ],
)
def test_build_ups_that_are_declared_are_in_the_pack_before_their_vias(
    config: str, said: tuple[str, str], tmp_path: Path
) -> None:
    """A new board said "no vias" alone; with vias it is they that count."""
    ctx = mini_context(tmp_path, {"size_mm": (60, 40), "stackup": SIX_LAYERS}, config)
    assert [note[1:3] for note in fab_notes(ctx) if note.item == "vias"] == [said]
    net = [{"net": "/N", "layer": "F.Cu", "path_mm": [[5, 3], [20, 3]]}]
    drilled = {"size_mm": (60, 40), "stackup": SIX_LAYERS, "tracks": net, "vias": [{"net": "/N", "at_mm": [20, 3]}]}
    ctx = mini_context(tmp_path / "b", drilled, config)
    assert [note[1:3] for note in fab_notes(ctx) if note.item == "vias"] == [("through vias", "board file")]


def test_a_geometry_is_for_the_nets_that_have_it(tmp_path: Path) -> None:
    """Two interfaces with one target on two layers: each row names its own, and how far it is off."""
    rows = pack(BOARDS / "training_b200_fit", tmp_path)["impedance"]
    assert {(row["layer"], row["for"]) for row in rows if row["for"] != "NVLink 5 (B200)"} == {("In2.Cu", "PCIe Gen6")}
    for row in rows:
        off = 100 * (float(row["solved ohm"]) / float(row["target ohm"]) - 1)
        assert float(row["off %"]) == pytest.approx(off, abs=0.1)


def test_only_the_longest_columns_of_a_wide_table_are_cut() -> None:
    """A short cell like "NOT STATED" is never broken while a long one can give way."""
    assert _widths([62.0, 31.0]) == pytest.approx((124.0, 62.0))
    assert _widths([20.0, 300.0, 16.0]) == pytest.approx((20.0, 150.0, 16.0))
    assert _widths([100.0, 300.0, 26.0]) == pytest.approx((80.0, 80.0, 26.0))


@pytest.mark.parametrize(
    ("material", "laminate"),
    [
        ("2116 RC58%", NOT_STATED),
        ("1 x 7628 RC 45 %", NOT_STATED),
        ("PR2116", NOT_STATED),
        ("FR4 2116 RC58%", None),
        ("NP-155F 2116", None),
        ("XY 2116 RC58%", "XY 2116 RC58%"),
    ],
)
def test_a_glass_style_is_no_laminate(material: str, laminate: str | None, tmp_path: Path) -> None:
    """Three rows of "2116 RC58%" stood as a laminate in the notes; a name that nobody knows is one."""
    board = mini_file(tmp_path, {"size_mm": (60, 40), "stackup": SIX_LAYERS.replace("R-5670(N)", material)})
    rows = pack(board, tmp_path / "pack")["laminates"]
    named = next(row["laminate"] for row in rows if row["rows"].startswith("dielectric 1"))
    assert named == laminate if laminate else named != NOT_STATED


def test_rows_without_a_laminate_are_named_by_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The open points read "laminates, laminate: NOT STATED", which names nothing to ask about."""
    board = mini_file(tmp_path, {"size_mm": (60, 40), "stackup": SIX_LAYERS.replace("R-5670(N)", "PR2116")})
    pack(board, tmp_path / "pack")
    page = capsys.readouterr().out
    assert "laminates, laminate: dielectric 1" in page
    assert "stackup, Dk at GHz, Df: dielectric 1-5\n" in page
    assert ": NOT STATED" not in page
    pack(BOARDS / FIT, tmp_path / "named")
    page = capsys.readouterr().out
    assert "laminates, laminate" not in page
    assert "stackup, material, Dk, Df: F.Mask, B.Mask\n" in page, "what the same rows lack is one line"


def test_every_hole_of_a_pack_is_a_finished_one(tmp_path: Path) -> None:
    """The drawing called drill what the table of holes calls finished."""
    pack(BOARDS / HDI, tmp_path)
    page = next(tmp_path.glob("*.html")).read_text(encoding="utf-8")
    assert "finished hole 0.125 mm" in page and not re.search(r"\bdrill 0", page)


def test_numbered_rows_are_read_in_ranges() -> None:
    """Rows in a row in short, others one by one."""
    assert in_ranges(["dielectric 1", "dielectric 2", "dielectric 3", "dielectric 9"]) == "dielectric 1-3, 9"
    assert in_ranges(["core", "dielectric 2", "Prepreg"]) == "core, dielectric 2, Prepreg"


def test_without_fpdf2_the_pack_says_how_to_get_a_pdf(
    card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """HTML and tables are there all the same."""
    monkeypatch.setitem(sys.modules, "fpdf", None)
    pack(card, tmp_path / "pack")
    assert NO_FPDF in " ".join(capsys.readouterr().out.split())
    assert not list((tmp_path / "pack").glob("*.pdf"))
    assert (tmp_path / "pack" / f"{FIT}-fab.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["training_b200_fit", "edge_jetson_carrier_fit", "no_stackup", "default_stackup"])
def test_every_table_is_in_the_pdf(name: str, tmp_path: Path) -> None:
    """By a reader of PDF that has nothing to do with the writer: titles, every layer name, page numbers."""
    pdftotext = shutil.which("pdftotext")
    if pdftotext is None:
        pytest.skip("needs pdftotext")
    tables = pack(BOARDS / name, tmp_path / "pack")
    target = next((tmp_path / "pack").glob("*.pdf"))
    text = subprocess.run([pdftotext, "-layout", str(target), "-"], capture_output=True, check=True, timeout=60)
    words = text.stdout.decode()
    for title in ("Not stated", "Notes", "Stackup", "Laminates", "Impedances", "Holes", "Via protection", "Backdrills"):
        assert re.search(rf"^\s*{title}$", words, re.MULTILINE), title
    for row in tables["stackup"]:
        assert row["layer"] in words
    assert f"page 1 of {words.count(chr(12))}" in words


def test_letters_that_a_pdf_has_not_stop_nothing(card: Path, tmp_path: Path) -> None:
    """A title in Chinese is whole in the HTML."""
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f'{text}\n[order]\nremarks = ["\u8bf7\u6309\u56fe <b>"]\n', encoding="utf-8")
    pack(card, tmp_path / "pack")
    page = (tmp_path / "pack" / f"{FIT}-fab.html").read_text(encoding="utf-8")
    assert "\u8bf7\u6309\u56fe &lt;b&gt;" in page
    assert (tmp_path / "pack" / f"{FIT}-fab.pdf").stat().st_size > 1000


def test_a_folder_that_cannot_be_made_is_one_line(card: Path, tmp_path: Path) -> None:
    """A file in its place, or in that of its parent."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for folder in ("file", "file/pack"):
        with pytest.raises(StackwrightError, match=r"choose another place|choose a place"):
            run(["fab-pack", str(card), "--output", str(tmp_path / folder)])
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_a_folder_is_made_with_those_that_it_is_in(card: Path, tmp_path: Path) -> None:
    """`created if missing` holds for a whole path."""
    pack(card, tmp_path / "no" / "such" / "pack")
    assert (tmp_path / "no" / "such" / "pack" / f"{FIT}-fab.html").exists()


def test_the_df_of_unlike_plies_can_be_given_with_its_frequency(tmp_path: Path) -> None:
    """One table for the row cannot hold two values; each ply has its own."""
    board = mini_file(tmp_path, parse_toml(UNLIKE_PLIES))
    table = '[declared.dielectric."dielectric 1, ply {}"]\ndf = {}\nat_ghz = 10\n'
    settings = table.format(1, 0.0201) + table.format(2, 0.0189)
    (tmp_path / "stackwright.toml").write_text(settings, encoding="utf-8")
    rows = {row["layer"]: row for row in pack(board, tmp_path / "pack")["stackup"]}
    found = [(rows[f"dielectric 1, ply {k}"]["Df"], rows[f"dielectric 1, ply {k}"]["Df at GHz"]) for k in (1, 2)]
    assert found == [("0.0201", "10"), ("0.0189", "10")]
    assert rows["dielectric 2"]["Df at GHz"] == NOT_STATED


@pytest.mark.slow
def test_a_suggested_stackup_leaves_no_frequency_of_df_open(tmp_path: Path) -> None:
    """Also where a dielectric is of several sheets, which share one table in the settings."""
    plan, board = tmp_path / "a.stackwright-plan.toml", tmp_path / "a.kicad_pcb"
    words = ["suggest", "--profile", "edge", "--layers", "8", "--interface", "pcie3", "--power-oz", "2"]
    assert run([*words, "--limit", "1", "--plan", str(plan)]) == 0
    assert run(["new", "--profile", "edge", "--plan", str(plan), str(board)]) == 0
    dielectrics = [row for row in pack(board, tmp_path / "pack")["stackup"] if row["layer"].startswith("dielectric")]
    assert any("ply 2" in row["layer"] for row in dielectrics)
    assert {row["Df at GHz"] for row in dielectrics} == {"10"}
    assert {row["Dk at GHz"] for row in dielectrics} == {"1"}


# --- what a fab asks about what is stated ----------------------------------------------------------------------------


def questions(board: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a wide terminal says below the pack's open points."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        assert run(["fab-pack", str(board), "--output", str(folder)]) == 0
    return re.sub(r"\s+", " ", capsys.readouterr().out.partition("fab questions")[2])


def test_a_prepreg_that_presses_thinner_than_stated_is_a_question(
    card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The card states the maker's 0.077 mm of one sheet; the copper next to it takes resin out of that."""
    ctx, _, _ = prepare(read_board(card), Config(), Overrides())
    copper_mm = {layer.name: layer.thickness_mm or 0.0 for layer in read_board(card).stackup.copper}  # type: ignore[union-attr]
    taken_mm = sum(copper_mm[use.name] * (1 - use.copper_share) for use in ctx.uses[2:4])
    said = questions(card, tmp_path / "pack", capsys)
    assert f"0.077 mm stated, 1 x Megtron 6(N) 1078 RC66% come to {0.077 - taken_mm:.3f} mm" in said
    assert "VLP on 370HR cores; usual: clad with STD, RTF" in said
    assert "0.5/1 oz; usual: equal" in said
    pages = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "pack").glob("*.html"))
    assert "come to" not in pages, "a question to the designer goes to no fab"

    row = r'("dielectric (?:3|13)"\s*\(type "prepreg"\)\s*\(thickness )0.077'
    text, changed = re.subn(row, rf"\g<1>{0.077 - taken_mm:.3f}", card.read_text(encoding="utf-8"))
    assert changed == 2
    card.write_text(text, encoding="utf-8")
    assert "Megtron 6(N) 1078 RC66% come to" not in questions(card, tmp_path / "again", capsys)


def test_what_our_tables_do_not_hold_is_no_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No sheet of IS400 is in the library, and nobody knows what it is clad with: a fab would not ask."""
    assert questions(BOARDS / "edge_jetson_carrier_fit", tmp_path, capsys) == ""


def test_a_board_without_copper_has_no_pressed_thickness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Resin fills what is not copper, and before layout nobody knows how much that is."""
    board = tmp_path / "new.kicad_pcb"
    assert run(["new", "--profile", "edge", str(board)]) == 0
    assert "about the stackup: the copper of the inner layers is not known" in questions(board, tmp_path, capsys)


def test_the_notes_name_the_settings_that_were_given(card: Path, tmp_path: Path) -> None:
    """Those of `--config`, else the file next to the board."""
    default = card.with_name("stackwright.toml")
    assert {row["stated in"] for row in pack(card, tmp_path / "own")["notes"]} == {"stackwright.toml", "board file", ""}
    default.rename(tmp_path / "order 7.toml")
    assert (
        run(["fab-pack", str(card), "--output", str(tmp_path / "pack"), "--config", str(tmp_path / "order 7.toml")])
        == 0
    )
    with next((tmp_path / "pack").glob("*-notes.csv")).open(encoding="utf-8", newline="") as lines:
        assert {row["stated in"] for row in csv.DictReader(lines)} == {"order 7.toml", "board file", ""}
