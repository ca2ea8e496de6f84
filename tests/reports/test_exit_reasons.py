"""A check that fails although no finding is an error says why in every format that a job keeps."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

import pytest

from stackwright.reporters import github, gitlab, html, json_, junit, markdown, sarif
from stackwright.results.checked import Checked, Unchecked
from stackwright.results.exit_reason import BROKEN, FOUND, ExitCause, ExitReason
from tests.support.reports.made_reports import finding, report

SHORT = ExitReason(ExitCause.COVERAGE, FOUND, "coverage is 52.3 %, below the minimum of 80 %", "supply what is missing")
NOTHING = ExitReason(ExitCause.NOTHING_CHECKED, BROKEN, "nothing was checked", "leave out fewer rules")
STALE = ExitReason(ExitCause.SUPPRESSIONS, FOUND, "1 suppression does nothing", "remove it")
PLAIN = ExitReason(ExitCause.FINDINGS, FOUND, "findings, error or above", is_plain=True)
LOW = ExitReason(ExitCause.FINDINGS, FOUND, "findings, warning or above", "correct them")
Render = Callable[[Sequence[Checked | Unchecked]], str]
FORMATS = [github.render, gitlab.render, html.render, json_.render, junit.render, markdown.render, sarif.render]


def checked(*reasons: ExitReason) -> Checked:
    return Checked(report(findings=()), None, "digest", exit_reasons=reasons)


def plain(text: str) -> str:
    return text.replace("%25", "%").replace("\\%", "%")


@pytest.mark.parametrize("render", FORMATS)
@pytest.mark.parametrize("reason", [SHORT, NOTHING, STALE])
def test_why_the_check_fails_is_told(render: Render, reason: ExitReason) -> None:
    assert reason.text in plain(render([checked(reason)]))
    assert reason.text not in plain(render([checked()]))


@pytest.mark.parametrize("render", [github.render, gitlab.render, html.render, markdown.render])
def test_a_threshold_below_error_is_told_and_errors_speak_for_themselves(render: Render) -> None:
    assert LOW.text in render([checked(LOW)])
    assert PLAIN.text not in render([checked(PLAIN)])


def test_all_reasons_are_told_not_the_first_alone() -> None:
    text = markdown.render([checked(STALE, SHORT)])
    assert STALE.text in text
    assert SHORT.text in plain(text)


def test_it_is_an_error_of_a_job_and_a_failed_test() -> None:
    assert github.render([checked(SHORT)]).startswith("::error file=")
    suite = ET.fromstring(junit.render([checked(SHORT, STALE)]))[0]  # noqa: S314 - of our own text
    assert suite.get("failures") == "2"
    assert "The check fails" in markdown.render([checked(SHORT)])


def test_nothing_checked_is_an_error_of_a_test_and_no_successful_execution() -> None:
    suite = ET.fromstring(junit.render([checked(NOTHING)]))[0]  # noqa: S314 - of our own text
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert {one["severity"] for one in json.loads(gitlab.render([checked(NOTHING)]))} >= {"blocker"}
    (invocation,) = json.loads(sarif.render([checked(NOTHING)]))["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["exitCode"] == 2


def test_formats_for_programs_hold_the_exit_code_whatever_it_is() -> None:
    made = [Checked(report(findings=(finding("x"),)), None, "d", exit_reasons=(PLAIN,)), checked()]
    first, second = json.loads(json_.render(made))["reports"]
    assert (first["exit_code"], first["exit_reasons"][0]["cause"]) == (1, "findings")
    assert (second["exit_code"], second["exit_reasons"]) == (0, [])
    runs = json.loads(sarif.render(made))["runs"]
    assert [run["invocations"][0]["exitCode"] for run in runs] == [1, 0]
    assert "exit_code" not in json.loads(json_.render([Checked(report(), None, "d")]))["reports"][0]
