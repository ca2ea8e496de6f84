"""Our fixture boards: the fit ones are fit, and each broken twin fails exactly what is broken in it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from tests.support.boards import board_file
from tests.support.remembered import fixture_report, forget, report_of

ROOT = Path(__file__).parents[2] / "fixtures"
EXPECTED = tomllib.loads((ROOT / "expected" / "boards.toml").read_text(encoding="utf-8"))
BOARDS = sorted(path.parent.name for path in ROOT.glob("boards/*/*.kicad_pcb"))


def checked(name: str) -> Report:
    return fixture_report(name)


def test_every_fixture_board_states_what_is_expected_of_it() -> None:
    """A board without expectations shows nothing."""
    assert sorted(EXPECTED) == BOARDS


@pytest.mark.parametrize("name", BOARDS)
def test_a_fixture_board_fails_exactly_what_is_broken_in_it(name: str) -> None:
    """Headline, failed clauses, and the error-tier clauses that stay open."""
    report = checked(name)

    counted = [v for v in report.verdicts if v.has_rule]
    failed = sorted(v.clause.id for v in counted if v.verdict is Verdict.FAILED)
    open_errors = sorted(
        v.clause.id for v in counted if v.verdict is Verdict.NOT_VERIFIABLE and v.clause.severity is Severity.ERROR
    )
    assert not report.crashes
    assert failed == EXPECTED[name]["failed"]
    assert open_errors == EXPECTED[name].get("undecided_errors", [])
    assert report.headline.value == EXPECTED[name]["headline"]


@pytest.mark.parametrize("name", [n for n in BOARDS if n.endswith("_fit")])
def test_a_fit_board_is_decided_in_full(name: str) -> None:
    """Every question that a rule can ask is answered: nothing was passed over."""
    report = checked(name)

    cover = report.coverage
    assert cover.decided + cover.unjudged_pairs == cover.total
    assert cover.unjudged_pairs == (1 if name == "edge_jetson_carrier_fit" else 0)  # 52 mm of USB 2.0
    assert [f.title for f in report.findings if f.severity is not Severity.INFO] == []


def test_a_missing_project_is_reported_together_with_the_net_classes_that_were_declared() -> None:
    """The declarations name net classes that only the project knows."""
    assert any("matches no net" in note for note in checked("missing_project").notes)


def test_the_same_board_gives_the_same_report() -> None:
    """Same bytes in, same report out."""
    board = board_file("training_b200_no_backdrill")
    once = check_board(board)
    forget()
    assert check_board(board) == once


# What a person sees in the files of KiCad's own demo boards.


@pytest.mark.demo
def test_no_demo_board_gets_an_error_without_configuration(demo_boards: Path) -> None:
    """Ordinary boards are not alarmed: the only errors are the three shorts that KiCad's own check finds as well."""
    boards = sorted(demo_boards.rglob("*.kicad_pcb"))

    reports = {path.stem: report_of(path) for path in boards}

    assert len(reports) >= 15
    assert {n: r.crashes for n, r in reports.items() if r.crashes} == {}
    errors = {n: [f.title for f in r.findings if f.severity is Severity.ERROR] for n, r in reports.items()}
    assert {n: titles for n, titles in errors.items() if titles} == {
        "tinytapeout-demo": [
            "short: track of GND overlaps pad 1 of J18 (unconnected-(J18-Pad1)) by 0.200 mm on F.Cu: "
            "a pin that the schematic leaves open (and 1 more)",
        ]
    }
    assert all(r.coverage.decided > 0 for r in reports.values())


def jetson(demos: Path, profile: str) -> Report:
    path = demos / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb"
    return report_of(path, profile)


@pytest.mark.demo
def test_edge_on_the_jetson_carrier_finds_the_unmirrored_copper_and_no_false_error(demo_boards: Path) -> None:
    """In6 is 35 um, its mirror In3 18; holes of 0.1 mm go through 1.69 mm; a bare FR4 states no Tg."""
    report = jetson(demo_boards, "edge")

    warnings = [(f.code, f.title) for f in report.findings if f.severity is Severity.WARNING]
    verdicts = {v.clause.id: v.verdict for v in report.verdicts}
    assert [title for code, title in warnings if code != "VIA004"] == [
        "In3.Cu and its mirror In6.Cu differ: 18 um against 35 um"
    ]
    deep = [title.partition(", F.Cu")[0] for code, title in warnings if code == "VIA004"]
    assert [title.rpartition(": ")[2] for title in deep] == ["23 plated holes", "3235 vias"]
    assert all("(finished 0.1 mm; drilled 0.2 mm" in title for title in deep)
    assert [f.title for f in report.findings if f.severity is Severity.ERROR] == []
    assert verdicts["edge.tg.min"] is Verdict.NOT_VERIFIABLE
    assert report.headline.value == "not proven"


@pytest.mark.demo
def test_training_and_a_pcie_card_list_what_the_jetson_carrier_lacks(demo_boards: Path) -> None:
    """Ten layers and half-ounce power planes are neither; what is not stated stays open."""
    training = {v.clause.id: v.verdict for v in jetson(demo_boards, "training").verdicts}
    card = {v.clause.id: v.verdict for v in jetson(demo_boards, "inference-pcie").verdicts}

    assert training["training.layers.min"] is Verdict.FAILED
    assert training["training.copper.min"] is Verdict.FAILED
    assert training["training.generation.pcie"] is Verdict.NOT_VERIFIABLE
    assert card["inference.layers.min"] is Verdict.FAILED
    assert card["inference.backdrill.pcie5"] is Verdict.FAILED
    assert card["inference.foil.pcie5"] is Verdict.NOT_VERIFIABLE
    assert card["inference.impedance_tolerance_max.pcie5"] is Verdict.NOT_VERIFIABLE


@pytest.mark.demo
def test_layer_roles_of_the_jetson_carrier_are_those_a_person_reads_off_the_copper(demo_boards: Path) -> None:
    """S G X G P S G S G S, although KiCad's types say signal nine times and jumper once."""
    report = jetson(demo_boards, "edge")

    assert any("S G X G P S G S G S" in line for line in report.board.lines)
    assert report.board.vias == 3235
    assert report.board.copper_layers == 10
    assert report.board.thickness_mm == pytest.approx(1.711)


@pytest.mark.demo
def test_the_vme_board_is_symmetric_and_its_laminate_known(demo_boards: Path) -> None:
    """Twelve layers, IS400 throughout, nothing to complain about the stackup."""
    report = report_of(demo_boards / "vme-wren" / "vme-wren.kicad_pcb")

    verdicts = {v.clause.id: v.verdict for v in report.verdicts}
    assert report.board.copper_layers == 12
    assert {m.split()[0] for m in report.board.materials} == {"IS400"}
    assert verdicts["board.stackup.symmetry"] is Verdict.PASSED
    assert verdicts["board.laminate.known"] is Verdict.PASSED


def test_an_open_loss_says_what_of_it_is_assumed_for_the_package(tmp_path: Path) -> None:
    """Without settings the chip's own loss is not stated, and the value that is printed must not hide it."""
    name = "inference_pcie_gen5_caps_fit"
    for path in (ROOT / "boards" / name).glob(f"{name}.kicad_p*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())

    report = check_board(tmp_path / f"{name}.kicad_pcb", overrides=Overrides(profile="inference-pcie"))

    facts = [missing.fact for verdict in report.verdicts for missing in verdict.missing]
    assert any("budget 9.5 dB, 3 dB for the package assumed" in fact for fact in facts)


@pytest.mark.parametrize("ignored", ["VIA001", "VIA", "LOS001"])
def test_leaving_rules_out_costs_the_coverage_of_all_their_objects(ignored: str) -> None:
    """Each clause of theirs is as many open questions as it has objects; one, where finding these takes long."""
    whole = fixture_report("training_b200_no_backdrill")
    path = ROOT / "boards" / "training_b200_no_backdrill" / "training_b200_no_backdrill.kicad_pcb"
    settings = Overrides(ignore=(ignored,))

    cut = check_board(path, overrides=settings)

    ran = {one.clause.id: one for one in whole.verdicts}
    left = [one for one in cut.verdicts if one.left_out_by]
    assert left
    assert {one.left_out_by for one in left} == {f"--ignore {ignored}"}
    assert {one.code for one in left} == {one.code for one in whole.verdicts if one.code.startswith(ignored)}
    for one in left:
        full = ran[one.clause.id]
        assert one.undecided == (1 if ignored == "LOS001" else max(1, full.checked + full.undecided))
    lost = sum(ran[one.clause.id].checked for one in left)
    assert cut.coverage.decided == whole.coverage.decided - lost
    assert cut.coverage.total >= whole.coverage.total - (ignored == "LOS001")
    assert cut.coverage.total == sum(one.checked + one.undecided for one in cut.verdicts if one.has_rule)


def test_a_rule_that_is_left_out_is_no_fact_to_supply() -> None:
    """It is said to be left out, and nothing about it stands among the lines to paste."""
    name = "inference_pcie_gen5_fit"
    path = ROOT / "boards" / name / f"{name}.kicad_pcb"

    report = check_board(path, overrides=Overrides(select=("MAT",)))

    facts = [missing.fact for verdict in report.verdicts for missing in verdict.missing]
    assert "rule STK001, which --select MAT leaves out" in facts
    assert not any("rule" in line or "turn" in line for line in report.proofs)
