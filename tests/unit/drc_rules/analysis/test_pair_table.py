"""No ohm is withheld: every routed pair is reported with its impedance, judged or not, and why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drc_rules.analysis.impedance.pair_table import MOST_SOLVED, NO_PLANE, NOT_SOLVED, pair_rows
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.engine.check import check_up, prepare
from drc_rules.engine.report_tables import LARGE_BYTES
from drc_rules.facts.declared import Overrides
from drc_rules.report.link_rows import PairOnLayer, PairRow
from drc_rules.settings.config import Config
from stackup_lib.kicad import read_board
from stackwright.reporters import html, json_, markdown, text
from stackwright.results.checked import Checked
from stackwright.tables import pairs
from stackwright.tables.copper import worst
from stackwright.text.page import plain_console
from tests.support.mini import mini_file
from tests.support.reports.made_reports import report as made
from tests.support.small_boards.routed_pair import CONFIG, STACKUP

USB = ("/USB_D+", "/USB_D-")


def pair(nets: tuple[str, str], y_mm: float, *, end_mm: float = 60, width_mm: float = 0.174) -> dict[str, object]:
    path = [[5, y_mm], [end_mm, y_mm]]
    return {"nets": nets, "layer": "F.Cu", "path_mm": path, "width_mm": width_mm, "gap_mm": 0.15}


def board(folder: Path, *routed: dict[str, object], **changes: object) -> Path:
    card = {"size_mm": [80, 60], "planes": {"In1.Cu": "GND"}, "stackup": STACKUP, "config": CONFIG, "pairs": routed}
    return mini_file(folder, {**card, **changes})


def rows(folder: Path, *routed: dict[str, object], **changes: object) -> dict[str, PairRow]:
    return {row.name: row for row in check_up(board(folder, *routed, **changes)).report.pairs}


def only(row: PairRow) -> PairOnLayer:
    (layer,) = row.layers
    return layer


def test_a_pair_too_short_to_count_has_its_impedance_and_says_so(tmp_path: Path) -> None:
    """52 mm of USB 2.0 at 240 MHz: no reason for an error, and none to keep 85 ohm to ourselves."""
    row = rows(tmp_path, pair(USB, 10, end_mm=57))["/USB_D"]

    assert only(row).impedance_ohm == pytest.approx(85.0, abs=0.5)
    assert row.length_mm == pytest.approx(52)
    assert (row.target_ohm, row.is_judged) == (90, False)
    assert row.why_not == "too short to count: 52 mm of one width and gap, and up to 62.5 mm is ignored"


def test_a_pair_without_a_target_has_its_impedance_too(tmp_path: Path) -> None:
    """Names that say nothing: two lines of 41.3 ohm (Hammerstad, less 3 % for the mask), and less by the coupling."""
    row = rows(tmp_path, pair(("/LINK_A_P", "/LINK_A_N"), 10, width_mm=0.25))["/LINK_A"]

    apart = 2 * 41.3 * 0.97
    assert 0.8 * apart < (only(row).impedance_ohm or 0.0) < 0.95 * apart
    assert (row.target_ohm, row.interface, row.why_not) == (None, "", "no target known")


@pytest.mark.parametrize(("width_mm", "is_judged"), [(0.4, True), (0.174, False)])
def test_a_pair_that_no_generation_accepts_is_judged(tmp_path: Path, width_mm: float, is_judged: bool) -> None:
    """IMP002 finds it; one that some generation accepts waits for its own."""
    report = check_up(board(tmp_path, pair(("/USB3_TX_P", "/USB3_TX_N"), 10, width_mm=width_mm), config="")).report
    (row,) = report.pairs

    assert row.is_judged is is_judged
    assert any("no generation accepts" in finding.title for finding in report.findings) is is_judged
    assert ("USB 3 / USB4 of unknown generation" in row.why_not) is not is_judged


def test_a_judged_pair_has_the_impedance_that_its_clause_judged(tmp_path: Path) -> None:
    """One solver, one number; it comes behind what is not judged."""
    path = board(tmp_path, pair(("/PCIE_TX0_P", "/PCIE_TX0_N"), 10), pair(USB, 20, end_mm=30))
    report = check_up(path).report

    assert [(row.name, row.is_judged) for row in report.pairs] == [("/USB_D", False), ("/PCIE_TX0", True)]
    (link,) = (row for row in report.impedances if row.target == "PCIe Gen5")
    assert link.worst is not None and only(report.pairs[1]).impedance_ohm == link.worst.impedance_ohm


def test_a_pair_without_a_plane_or_a_stackup_says_what_is_missing(tmp_path: Path) -> None:
    """There is no number to be had."""
    for name in ("plane", "stackup"):
        (tmp_path / name).mkdir()
    bare = rows(tmp_path / "plane", pair(USB, 10), planes={})["/USB_D"]
    default = rows(tmp_path / "stackup", pair(USB, 10), stackup="default", copper_layers=4)["/USB_D"]

    assert only(bare).problem == bare.why_not == NO_PLANE
    assert only(default).impedance_ohm is None
    assert "the stackup" in only(default).problem


def test_traces_that_run_apart_have_twice_the_impedance_of_one(tmp_path: Path) -> None:
    """Two single lines of 54.7 ohm by Hammerstad's formulas with thickness, less 3 % for the mask."""
    ends = zip(USB, (10, 15), strict=True)
    tracks = [{"net": net, "layer": "F.Cu", "path_mm": [[5, y], [60, y]], "width_mm": 0.15} for net, y in ends]
    row = rows(tmp_path, tracks=tracks)["/USB_D"]

    assert only(row).gap_mm is None
    assert only(row).impedance_ohm == pytest.approx(2 * 54.7 * 0.97, rel=0.02)
    assert row.why_not == "its traces run apart"


def test_both_tables_give_the_same_reason_for_a_short_pair_that_runs_apart(tmp_path: Path) -> None:
    """The summary said "too short to count" of what the list said runs apart."""
    ends = zip(USB, (10, 15), strict=True)
    tracks = [{"net": net, "layer": "F.Cu", "path_mm": [[5, y], [13, y]], "width_mm": 0.15} for net, y in ends]
    report = check_up(board(tmp_path, tracks=tracks)).report

    assert [row.why_not for row in report.pairs] == ["its traces run apart"]
    assert [worst(row) for row in report.impedances] == ["its traces run apart"]


def test_a_pair_of_two_geometries_tells_the_longer_one(tmp_path: Path) -> None:
    """110 mm on one layer, and yet too short: no width and gap of it is longer than a tenth of 625 mm at 0.24 GHz."""
    first = pair(USB, 10, end_mm=65)
    second = {**pair(USB, 10, end_mm=115, width_mm=0.2), "path_mm": [[65, 10], [115, 10]]}
    row = rows(tmp_path, first, second, size_mm=[160, 60])["/USB_D"]

    assert row.length_mm == pytest.approx(110)
    assert row.why_not == "too short to count: 60 mm of one width and gap, and up to 62.5 mm is ignored"


def test_a_pair_of_low_speed_nets_has_no_generation_to_miss(tmp_path: Path) -> None:
    """`LED+` and `LED-` said "low speed of unknown generation"."""
    row = rows(tmp_path, pair(("/LED+", "/LED-"), 10))["/LED"]

    assert (row.target_ohm, row.why_not) == (None, "low speed: no target applies")


@pytest.mark.parametrize(
    ("nets", "config", "why_not"),
    [
        (
            ("/USB3_TX_P", "/USB3_TX_N"),
            "",
            "no target known: USB 3 / USB4 of unknown generation, 85 or 90 ohm; "
            "none accepts less than 72.25 or more than 103.5 ohm",
        ),
        (("/DDR_CK_P", "/DDR_CK_N"), "", "no target known: DDR/LPDDR of unknown generation, 75 to 100 ohm"),
        (("/C2C_P", "/C2C_N"), "nvlink-c2c", "no target known: no impedance is stated for NVLink-C2C"),
    ],
)
def test_a_pair_without_a_target_names_what_its_family_asks(
    nets: tuple[str, str], config: str, why_not: str, tmp_path: Path
) -> None:
    """An engineer sees from the impedance in the row whether any generation would take it."""
    declared = f'[[interface]]\nis = "{config}"\nnets = ["/C2C*"]\n' if config else ""
    (row,) = rows(tmp_path, pair(nets, 10), config=declared).values()

    assert row.target_ohm is None and row.why_not == why_not


def test_a_pair_without_tracks_has_no_row(tmp_path: Path) -> None:
    """There is nothing to tell of it."""
    parts = [{"reference": "J1", "at_mm": [5, 5], "pads": [{"number": net, "net": net} for net in USB]}]

    assert rows(tmp_path, parts=parts) == {}


def test_geometries_that_nothing_judges_are_solved_as_far_as_is_allowed(tmp_path: Path) -> None:
    """Of a large board none, unless requested; what a rule has solved is reported all the same."""
    path = board(
        tmp_path,
        pair(("/PCIE_TX0_P", "/PCIE_TX0_N"), 10),
        pair(USB, 20),
        pair(("/A_P", "/A_N"), 30, width_mm=0.2),
        pair(("/B_P", "/B_N"), 40, width_mm=0.21, end_mm=30),
    )

    def solved(most: int) -> dict[str, str]:
        ctx = prepare(read_board(path), Config(), Overrides())[0]
        Lines(ctx).solved(0, 0.174, 0.15, (None, 1))
        return {row.name: only(row).problem for row in pair_rows(ctx, most_solved=most)}

    assert {name for name, problem in solved(0).items() if problem == NOT_SOLVED} == {"/A", "/B"}
    assert {name for name, problem in solved(1).items() if problem == NOT_SOLVED} == {"/B"}
    assert not any(solved(MOST_SOLVED).values())
    assert path.stat().st_size < LARGE_BYTES


def test_every_reader_gets_the_pairs(tmp_path: Path) -> None:
    """Text, JSON, Markdown and page; what is judged is there where all is requested."""
    report = check_up(board(tmp_path, pair(("/PCIE_TX0_P", "/PCIE_TX0_N"), 10), pair(USB, 20, end_mm=30))).report
    checked = Checked(report, None, "0")
    ohm = f"{only(report.pairs[0]).impedance_ohm:.1f} ohm"

    short, full = text.page(report, verbose=True, clauses=True).text(), text.page(report, full=True).text()
    section = short.partition("Pairs not judged")[2].partition("\n\n")[0]
    assert "1 of 2 pairs is not judged" in section
    assert "/USB_D" in section and ohm in section and "/PCIE_TX0" not in section
    assert "--full shows every pair" in section
    assert "/PCIE_TX0" in full.partition("\nPairs  ")[2].partition("\n\n")[0]
    assert ohm in markdown.render([checked]).partition("### Pairs not judged")[2]
    page = html.render([checked])
    assert "Differential pairs" in page and ohm in page
    data = json.loads(json_.render([checked]))["reports"][0]["pairs"]
    assert [(row["name"], row["is_judged"]) for row in data] == [("/USB_D", False), ("/PCIE_TX0", True)]


def test_a_long_list_is_cut_in_text_and_says_how_to_see_the_rest() -> None:
    """Ten rows; a geometry that was not solved names the option that solves it."""
    layer = PairOnLayer(layer="F.Cu", width_mm=0.1, gap_mm=0.2, length_mm=9.0, problem=NOT_SOLVED)
    many = tuple(
        PairRow(name=f"/L{n}_", nets=("a", "b"), length_mm=9.0, layers=(layer,), why_not="x") for n in range(12)
    )

    section = (
        text.page(made(pairs=many), verbose=True, clauses=True)
        .text()
        .partition("Pairs not judged")[2]
        .partition("\n\n")[0]
    )

    assert section.count("--full solves it") == 10
    assert "2 pairs more not judged; --full shows every pair and layer" in section
    assert pairs.missing(many) == ()


@pytest.mark.parametrize("width", [80, 100])
def test_why_a_pair_is_not_judged_stands_in_whole_lines(width: int) -> None:
    """In a column of its own it was broken after each word."""
    why = "too short to count: 9.37 mm of one width and gap, and up to 62.5 mm is ignored"
    layer = PairOnLayer(layer="F.Cu", width_mm=0.1, gap_mm=0.2282, length_mm=15.1, fill_near_mm=0.2, problem="no Dk")
    row = PairRow(
        name="/Debugger/D",
        nets=("a", "b"),
        length_mm=15.1,
        layers=(layer,),
        target_ohm=90,
        interface="USB 2.0 high speed",
        why_not=why,
    )
    shown = text.page(made(pairs=(row,)), verbose=True, width=width).text(plain_console(width))

    section = shown.partition("Pairs not judged")[2].partition("\n\n")[0].splitlines()
    assert why in " ".join(" ".join(section).split())
    assert any("too short to count: 9.37 mm of one width and gap, and up to" in line for line in section)
    assert max(map(len, section)) <= width
