"""Formats for other programs' readers: complete, valid, harmless, and nothing undecided looks passed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import RuleCrash
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import BoardFileError, StackwrightError
from stackwright.commands.check.request import OptionsError, ReportRequest, requested_reports
from stackwright.reporters import github, gitlab, junit, kicad
from stackwright.results.checked import Checked, Unchecked
from tests.support.boards import board_file
from tests.support.reports.accepted import ACCEPTED, HOSTILE, STALE
from tests.support.reports.made_reports import finding, report

CRASH = RuleCrash(code="VIA001", name="missing-backdrill", error="ValueError: x")
LOST = Unchecked("gone.kicad_pcb", BoardFileError("gone.kicad_pcb", "no such file", "give a path"))


def made(*, fail_on: str = "error", **changes: object) -> Checked:
    return Checked(report(**changes), "boards/stackwright.toml", "0" * 64, fail_on)


def checked(name: str) -> Checked:
    return Checked(check_board(board_file(name)), None, "0")


def with_everything() -> Checked:
    hostile = finding("/S").model_copy(update={"title": f"stub {HOSTILE}", "fix": "100 %\n::error::x"})
    return made(findings=(hostile,), accepted=(ACCEPTED,), stale_suppressions=(STALE,), crashes=(CRASH,))


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own text


def cases(text: str) -> dict[str, ET.Element]:
    return {case.get("name", "").split(":")[0]: case for case in parsed(text).iter("testcase")}


def test_github_gets_one_harmless_command_per_line() -> None:
    """No title, fix or path of a board can begin a command of its own, or end the one it stands in."""
    lines = github.render([with_everything(), LOST]).splitlines()
    assert all(line.startswith(("::error file=", "::warning file=", "::notice file=")) for line in lines)
    assert sum(line.startswith("::error") for line in lines) == 3  # the broken rule, the finding, the lost board
    named = next(line for line in lines if "stub <script>" in line)
    assert named.split("::", 2)[1].endswith("title=Stackwright VIA001")
    assert "100 %25 ::error::x" in named
    assert "\u202e" not in named


@pytest.mark.slow
def test_github_shows_findings_that_are_alike_as_one_the_worst_first() -> None:
    """GitHub drops what is past the tenth annotation of a kind."""
    pair = checked("training_b200_lossy_prepreg")
    assert [f.code for f in pair.report.findings].count("MAT001") == 2
    line, *_, open_question = github.render([pair]).splitlines()
    assert open_question.startswith("::notice ")
    assert "and 1 similar" in line
    assert ",line=118,title=Stackwright MAT001::" in line
    mixed = made(findings=(finding("/A").model_copy(update={"severity": Severity.INFO}), finding("/B")))
    assert [line.split()[0] for line in github.render([mixed]).splitlines()][:2] == ["::error", "::notice"]


def test_a_colon_or_comma_of_a_path_ends_no_property_of_a_command() -> None:
    """`file=` takes everything up to the next comma."""
    board = report().board.model_copy(update={"path": "/b,line=9,x:y/c.kicad_pcb"})
    (line, *_) = github.render([made(board=board)]).splitlines()
    assert "file=b%2Cline=9%2Cx%3Ay/c.kicad_pcb,line=" in line


@pytest.mark.slow
def test_gitlab_gets_every_field_that_it_documents_and_fingerprints_that_differ() -> None:
    """GitLab shows only the first of two issues with one fingerprint."""
    issues = json.loads(gitlab.render([with_everything(), checked("training_b200_lossy_prepreg"), LOST]))
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith(("/", "./"))
    prints = [issue["fingerprint"] for issue in issues]
    assert len(prints) == len(set(prints)) >= 7
    assert [i["description"] for i in issues if i["severity"] == "blocker"] == [
        "internal error in rule VIA001 (ValueError: x). Please report this board.",
        "this board was not checked. gone.kicad_pcb: no such file; give a path.",
    ]


def test_the_same_finding_keeps_its_fingerprint_when_lines_move() -> None:
    """A merge request shows what is new; a finding further down in the file is not."""
    here = made(findings=(finding("/A").model_copy(update={"line": 7}),))
    there = made(findings=(finding("/A").model_copy(update={"line": 70}),))
    first, second = (json.loads(gitlab.render([one]))[0] for one in (here, there))
    assert first["fingerprint"] == second["fingerprint"]
    assert first["location"]["lines"] != second["location"]["lines"]


def test_a_clause_passes_in_junit_only_where_it_passed() -> None:
    """Everything undecided, accepted or below the gate is skipped with its reason, everything else fails."""
    board = checked("no_stackup")
    judged = {v.clause.id: v for v in board.report.verdicts if v.has_rule}
    found = cases(junit.render([board]))
    assert set(found) == set(judged)
    passed = {name for name, case in found.items() if case.find("failure") is None and case.find("skipped") is None}
    assert passed == {name for name, v in judged.items() if v.verdict is Verdict.PASSED}
    assert passed
    skipped = found["edge.tg.min"].find("skipped")
    assert skipped is not None
    assert "It needs:" in skipped.get("message", "")


def test_junit_fails_what_fails_the_check() -> None:
    """A failure in JUnit turns a build red, as the exit code does."""
    by_gate = {}
    for gate in ("error", "warning", "never"):
        suite = parsed(junit.render([made(fail_on=gate)]))[0]
        by_gate[gate] = suite.get("failures")
    assert by_gate == {"error": "1", "warning": "1", "never": "0"}
    warned = made(findings=(finding("/A").model_copy(update={"severity": Severity.WARNING}),))
    (case,) = [c for c in cases(junit.render([warned])).values() if c.find("skipped") is not None and _says_below(c)]
    assert case.find("failure") is None


def _says_below(case: ET.Element) -> bool:
    skipped = case.find("skipped")
    return skipped is not None and "warning, below what fails the check" in skipped.get("message", "")


def test_junit_counts_its_cases_and_keeps_to_the_order_of_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ant's schema wants properties, cases, system-out and system-err in that order, and the sums right."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    text = junit.render([with_everything(), LOST])
    assert text == junit.render([with_everything(), LOST])
    suites = list(parsed(text))
    assert [suite.get("id") for suite in suites] == ["0", "1"]
    assert suites[0].get("timestamp") == "1970-01-02T00:00:00"
    for suite in suites:
        tags = [child.tag for child in suite]
        assert tags == ["properties", *["testcase"] * (len(tags) - 3), "system-out", "system-err"]
        assert suite.get("tests") == str(len(tags) - 3)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(attribute) == str(len(list(suite.iter(tag))))
    assert [suite.get("errors") for suite in suites] == ["1", "1"]


@pytest.fixture(scope="module")
def drc_schema() -> Any:
    """Return KiCad's schema, which is not ours to ship: name it in STACKWRIGHT_KICAD_DRC_SCHEMA."""
    path = Path(os.environ.get("STACKWRIGHT_KICAD_DRC_SCHEMA", ""))
    if not path.is_file():
        pytest.skip("no DRC schema: set STACKWRIGHT_KICAD_DRC_SCHEMA to KiCad's drc.v1.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["training_b200_no_backdrill", "no_stackup", "edge_jetson_carrier_fit"])
def test_kicads_own_form_is_valid_by_kicads_schema(drc_schema: Any, name: str) -> None:
    """What reads `kicad-cli pcb drc --format json` reads ours."""
    outcome = checked(name)
    read = json.loads(kicad.render([outcome]))
    jsonschema.validate(read, drc_schema, format_checker=jsonschema.FormatChecker())
    findings = outcome.report.findings
    of_rules = [v for v in read["violations"] if v["type"] != "stackwright_PRF001"]
    assert len(of_rules) == len(findings)
    assert sum(v["severity"] == "error" for v in of_rules) == sum(f.severity is Severity.ERROR for f in findings)


def test_kicads_form_is_valid_whatever_a_board_says(drc_schema: Any) -> None:
    """Places without a uuid or a position are items too."""
    jsonschema.validate(json.loads(kicad.render([with_everything()])), drc_schema)


def test_a_board_that_is_not_proven_is_no_clean_file_in_kicads_form() -> None:
    """An empty list of violations reads as passed."""
    read = json.loads(kicad.render([checked("no_stackup")]))
    assert any(v["severity"] == "warning" and "not proven" in v["description"] for v in read["violations"])


@pytest.mark.parametrize("outcomes", [[], [LOST], [made(), made()]], ids=["none", "not checked", "two"])
def test_kicads_form_holds_one_checked_board(outcomes: list[Checked | Unchecked]) -> None:
    """Its schema has one source, and nowhere to say that a board was not checked."""
    with pytest.raises(StackwrightError, match="one board"):
        kicad.render(outcomes)


def test_formats_and_files_go_in_pairs_and_the_last_may_stay_on_the_terminal() -> None:
    """`--format sarif --output a --format text` writes one file and one page."""
    first, second = Path("a.sarif"), Path("b.xml")
    assert requested_reports([], []) == (ReportRequest(),)
    assert requested_reports([], [first], json=True) == (ReportRequest("json", first),)
    assert requested_reports(["sarif", "junit"], [first, second]) == (
        ReportRequest("sarif", first),
        ReportRequest("junit", second),
    )
    assert requested_reports(["sarif", "text"], [first]) == (ReportRequest("sarif", first), ReportRequest("text"))
    assert requested_reports(["text", "sarif"], [Path("-"), first]) == (
        ReportRequest("text", Path("-")),
        ReportRequest("sarif", first),
    )


@pytest.mark.parametrize(
    ("formats", "outputs", "json_too"),
    [
        (["sarif", "junit"], [], False),
        (["sarif"], ["a", "b"], False),
        (["sarif", "junit"], ["a", "a"], False),
        (["text", "junit"], ["-"], False),
        (["html"], [], True),
    ],
)
def test_options_that_cannot_be_meant_are_refused(formats: list[str], outputs: list[str], json_too: bool) -> None:
    """Two reports in one place would overwrite each other."""
    with pytest.raises(OptionsError):
        requested_reports(formats, [Path(name) for name in outputs], json=json_too)
