"""A check that fails by its coverage alone says so in every format that a job keeps."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

import pytest

from stackwright.reporters import github, gitlab, junit, markdown
from stackwright.results.checked import Checked, Unchecked
from tests.reports.test_reporters import report

SHORT = "coverage is 52.3 %, below the minimum of 80 %"
Render = Callable[[Sequence[Checked | Unchecked]], str]


def checked(short: str) -> Checked:
    return Checked(report(findings=()), None, "digest", falls_short=short)


@pytest.mark.parametrize("render", [github.render, gitlab.render, junit.render, markdown.render])
def test_a_coverage_below_its_minimum_is_told(render: Render) -> None:
    told, quiet = render([checked(SHORT)]), render([checked("")])
    assert "52.3 %" in told.replace("%25", "%").replace("\\%", "%")
    assert "52.3" not in quiet


def test_it_is_an_error_of_a_job_and_a_failed_test() -> None:
    assert github.render([checked(SHORT)]).startswith("::error file=")
    suite = ET.fromstring(junit.render([checked(SHORT)]))[0]  # noqa: S314 - of our own text
    assert suite.get("failures") == "1"
    assert "The check fails" in markdown.render([checked(SHORT)])
