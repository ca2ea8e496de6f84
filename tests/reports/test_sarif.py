"""SARIF: valid, on the right lines, stable, complete, and harmless whatever a board says."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import RuleCrash
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import all_rules
from stackup_lib.core.errors import BoardFileError
from stackwright.reporters import sarif
from stackwright.results.checked import Checked, Unchecked
from tests.support.boards import BOARDS
from tests.support.remembered import fixture_report
from tests.support.reports.accepted import ACCEPTED, HOSTILE, STALE
from tests.support.reports.made_reports import finding, report

ROOT = Path(__file__).parents[2]


def of(*outcomes: Checked | Unchecked) -> Any:
    return json.loads(sarif.render(outcomes))


def made(**changes: object) -> Checked:
    return Checked(report(**changes), "boards/stackwright.toml", "0" * 64)


def results(log: Any, code: str = "") -> list[Any]:
    return [r for run in log["runs"] for r in run["results"] if r["ruleId"].startswith(code)]


def line_of(result: Any) -> int:
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert isinstance(line, int)
    return line


@pytest.fixture(scope="module")
def schema() -> Any:
    """Return OASIS' schema, which is not ours to ship: name it in STACKWRIGHT_SARIF_SCHEMA."""
    path = Path(os.environ.get("STACKWRIGHT_SARIF_SCHEMA", ""))
    if not path.is_file():
        pytest.skip("no SARIF schema: set STACKWRIGHT_SARIF_SCHEMA to OASIS' sarif-schema-2.1.0.json")
    return json.loads(path.read_text(encoding="utf-8"))


def everything() -> list[Checked | Unchecked]:
    """Return outcomes with all that a log can hold."""
    crash = RuleCrash(code="VIA001", name="missing-backdrill", error="ValueError: x")
    return [
        made(findings=(finding(HOSTILE), finding("/B", line=12)), accepted=(ACCEPTED,), stale_suppressions=(STALE,)),
        made(crashes=(crash,), findings=(finding(limit=None, measured=None, places=()),)),
        Unchecked("boards/broken card.kicad_pcb", BoardFileError("boards/broken card.kicad_pcb", "is cut off", "save")),
    ]


def test_all_that_a_log_can_hold_is_valid(schema: Any) -> None:
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(of(*everything()))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in BOARDS.glob("*/*.kicad_pcb")))
def test_every_fixture_board_is_valid_sarif(schema: Any, name: str) -> None:
    checked = Checked(fixture_report(name), None, "0")
    jsonschema.Draft4Validator(schema).validate(of(checked))


def test_a_finding_says_what_why_and_how_to_fix_it_at_its_line() -> None:
    (result,) = results(of(made(findings=(finding(line=12),))), "VIA")
    one = finding()
    assert result["message"]["text"] == f"{one.title}. Why: {one.why}. Fix: {one.fix}."
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "boards/card.kicad_pcb", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 12}
    assert result["partialFingerprints"] == {"stackwright/v1": one.key}
    assert result["properties"]["clause"] == one.clause


def test_the_case_of_a_net_name_is_kept() -> None:
    (result,) = results(of(made(findings=(finding("usb_dp"),))), "VIA")
    assert result["message"]["text"].startswith("usb_dp: ")


@pytest.mark.slow
def test_a_result_is_on_the_line_of_the_row_that_is_to_be_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name = "training_b200_lossy_prepreg"
    path = Path("fixtures/boards") / name / f"{name}.kicad_pcb"
    log = of(Checked(check_board(path), None, "0"))
    lines = path.read_text(encoding="utf-8").splitlines()
    found = {lines[line_of(r) - 1].strip() for r in results(log, "MAT001")}
    assert found == {'(layer "dielectric 5"', '(layer "dielectric 23"'}
    related = [r["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] for r in results(log, "MAT001")]
    assert {lines[line - 1].strip() for line in related} == {'(layer "In4.Cu"', '(layer "In23.Cu"'}
    assert results(log)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == path.as_posix()


@pytest.mark.parametrize(
    ("severity", "level"), [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note")]
)
def test_severities_are_sarif_levels(severity: Severity, level: str) -> None:
    (result,) = results(of(made(findings=(finding(severity=severity),))), "VIA")
    assert result["level"] == level


def test_every_result_points_at_its_rule_and_the_rule_explains_itself() -> None:
    log = of(*everything())
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    rule = next(rule for rule in log["runs"][0]["tool"]["driver"]["rules"] if rule["id"] == "VIA001")
    page = next(r for r in all_rules() if r.code == "VIA001")
    assert rule["name"] == "MissingBackdrill"
    assert rule["shortDescription"]["text"] == page.summary
    assert page.section("How to fix") in rule["help"]["text"]
    assert "## Why it matters" in rule["help"]["markdown"]
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert "helpUri" not in rule


def test_a_clause_that_is_not_verifiable_is_a_note_with_what_it_needs() -> None:
    (note,) = results(of(made()), "PRF001")
    assert note["level"] == "note"
    assert "Not proven: the demand of training.foil.pcie6" in note["message"]["text"]
    assert "foil grade of In1.Cu" in note["message"]["text"]
    assert note["partialFingerprints"] == {"stackwright/v1": "PRF001-training.foil.pcie6"}


def test_accepted_findings_are_suppressed_with_their_reason_or_left_out() -> None:
    checked = made(accepted=(ACCEPTED,))
    with_them, without = of(checked), json.loads(sarif.render([checked], with_accepted=False))
    states = {r["partialFingerprints"]["stackwright/v1"]: r["suppressions"] for r in results(with_them)}
    (suppression,) = states["VIA001-/S"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert "lab <script>" in suppression["justification"]
    assert suppression["justification"].endswith("(rk)")
    assert states["VIA001-/TX0_P"] == []
    assert len(results(with_them)) == len(results(without)) + 1
    assert without["runs"][0]["properties"]["acceptedFindings"] == 1


def test_a_stale_suppression_is_a_warning_on_its_line_of_the_settings() -> None:
    (result,) = results(of(made(stale_suppressions=(STALE,))), "SUP001")
    assert result["level"] == "warning"
    assert line_of(result) == 7
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "boards/stackwright.toml"


def test_a_board_that_cannot_be_read_and_a_rule_that_broke_are_notifications() -> None:
    log = of(*everything())
    assert [run["invocations"][0]["executionSuccessful"] for run in log["runs"]] == [True, False, False]
    broke, unread = (run["invocations"][0]["toolExecutionNotifications"][0] for run in log["runs"][1:])
    assert "internal error in rule VIA001" in broke["message"]["text"]
    assert unread["message"]["text"] == "boards/broken card.kicad_pcb: is cut off; save"
    assert log["runs"][2]["invocations"][0]["exitCode"] == 2
    uri = unread["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "boards/broken%20card.kicad_pcb"


def test_each_board_is_a_run_of_its_own_with_its_own_category() -> None:
    log = of(*everything())
    assert [run["automationDetails"]["id"] for run in log["runs"]] == [
        "stackwright/boards/card.kicad_pcb/",
        "stackwright/boards/card.kicad_pcb/",
        "stackwright/boards/broken card.kicad_pcb/",
    ]


def test_hostile_names_stay_text() -> None:
    written = sarif.render(everything())
    assert "\u202e" not in written
    (result, *_) = results(json.loads(written), "VIA")
    said = result["message"]["text"]
    assert "<script>alert(1)</script>" in said  # plain text: viewers show it, JSON needs no escape for it
    assert r"\[x\](http://example.org)" in said  # else SARIF reads a link
    assert "{{0}}" in said  # else SARIF reads a placeholder
    assert r"\u202egnp" in said
    assert "\n" not in said


def test_a_bus_in_brackets_is_left_alone() -> None:
    (result,) = results(of(made(findings=(finding("/D[0]"),))), "VIA")
    assert result["message"]["text"].startswith("/D[0]: ")


def test_the_same_reports_give_the_same_bytes_and_no_time() -> None:
    assert sarif.render(everything()) == sarif.render(everything())
    assert "TimeUtc" not in sarif.render(everything())


def test_a_board_outside_the_folder_has_an_absolute_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "no_stackup"
    shutil.copytree(BOARDS / name, tmp_path / "a b")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    board = Path("..") / "a b" / f"{name}.kicad_pcb"
    place = of(Checked(check_board(board), None, "0"))["runs"][0]["artifacts"][0]["location"]
    assert place == {"uri": (tmp_path / "a b" / f"{name}.kicad_pcb").resolve().as_uri()}
