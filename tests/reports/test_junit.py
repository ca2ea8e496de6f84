"""JUnit reports are what Jenkins takes: by the facts of its schema always, by the schema itself where it is at hand."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import StackwrightError
from stackwright.reporters import junit
from stackwright.results.checked import Checked, Unchecked
from tests.support.remembered import fixture_report
from tests.support.reports.junit_shape import faults
from tests.support.small_boards.guessed_pair import GUESSED, checked, renamed

BOARDS = sorted((Path(__file__).parents[2] / "fixtures" / "boards").glob("*/*.kicad_pcb"))
LOST = Unchecked("hw/<lost> & gone.kicad_pcb", StackwrightError("lost.kicad_pcb", "is no \x00 board", "open it"))


def reported(*paths: Path, fail_on: str = "error") -> str:
    """Return the report of some boards, and of one that cannot be read."""
    return junit.render([*(Checked(fixture_report(path.stem), None, "", fail_on) for path in paths), LOST])


@pytest.fixture(scope="module")
def whole() -> str:
    """Return a report with failures, an error, skipped cases and passed ones."""
    return reported(next(path for path in BOARDS if path.stem == "inference_pcie_low_tg"), BOARDS[0], fail_on="warning")


@pytest.mark.slow
@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_every_fixture_boards_report_has_the_shape_that_jenkins_takes(path: Path) -> None:
    """Elements, attributes and values are those of its schema, whatever the board lacks or breaks."""
    assert faults(reported(path)) == []


def test_the_report_that_is_looked_at_has_everything(whole: str) -> None:
    """Else a shape that nothing fills would be called right."""
    assert faults(whole) == []
    for tag in ("failure", "error", "skipped", "properties", "property", "system-out", "system-err", "testcase"):
        assert re.search(rf"<{tag}[ >/]", whole), tag


@pytest.mark.parametrize("board", ["training_b200_no_backdrill", "inference_pcie_low_tg", "training_b200_ed_foil"])
def test_as_many_cases_fail_as_the_headline_counts(board: str) -> None:
    """A warning that an error's finding speaks for is no further failure; where warnings fail the check, it is one."""
    report = fixture_report(board)
    failed = [v for v in report.verdicts if v.worst is Severity.ERROR]
    warned = [v for v in report.verdicts if v.worst is Severity.WARNING]
    assert report.headline_why.startswith(f"{len(failed)} requirement")

    for fail_on, most in (("error", failed), ("warning", [*failed, *warned])):
        text = junit.render([Checked(report, None, "", fail_on)])
        cases = [case for case in ET.fromstring(text).iter("testcase") if case.find("failure") is not None]  # noqa: S314
        assert {str(case.get("name")).partition(":")[0] for case in cases} == {v.clause.id for v in most}


def test_a_case_names_the_finding_that_speaks_for_it_and_counts_similar_ones() -> None:
    text = junit.render([Checked(fixture_report("training_b200_no_backdrill"), None, "", "error")])
    cases = {str(case.get("name")).partition(":")[0]: case for case in ET.fromstring(text).iter("testcase")}  # noqa: S314
    worst = cases["board.via.stub_resonance_worst"].find("skipped")
    assert worst is not None
    assert str(worst.get("message")).startswith("warning, below what fails the check: told by VIA002, board.via.")
    stub = next(failure for case in cases.values() if (failure := case.find("failure")) is not None)
    assert str(stub.get("message")).endswith("similar)")
    assert "more and" not in text


BREAKS: dict[str, Callable[[str], str]] = {
    "<testsuite> lacks errors": lambda text: re.sub(r' errors="\d+"', "", text, count=1),
    "<testsuite> lacks name": lambda text: re.sub(r'<testsuite name="[^"]*"', "<testsuite", text, count=1),
    "<testcase> lacks name": lambda text: re.sub(r'<testcase name="[^"]*"', "<testcase", text, count=1),
    "<property> lacks value": lambda text: re.sub(r'(<property name="\w+") value="[^"]*"', r"\1", text, count=1),
    'time="soon" of <testsuite>': lambda text: text.replace('time="0"', 'time="soon"', 1),
    'tests="many" of <testsuite>': lambda text: re.sub(r' tests="\d+"', ' tests="many"', text, count=1),
    "<testcase> has no line": lambda text: text.replace("<testcase ", '<testcase line="1" ', 1),
    "<testcase> in <properties>": lambda text: text.replace("</properties>", '<testcase name="a"/></properties>', 1),
    "<passed> in <testcase>": lambda text: text.replace("</testcase>", "<passed/></testcase>", 1),
    "text in <testsuite>": lambda text: text.replace("</testsuite>", "so it is</testsuite>", 1),
    "the root is <report>": lambda text: text.replace("testsuites>", "report>"),
}


@pytest.mark.parametrize("fault", BREAKS)
def test_what_jenkins_refuses_is_told(fault: str, whole: str) -> None:
    """The shape is no rubber stamp: each fault is found, and only it where nothing follows from it."""
    broken = BREAKS[fault](whole)
    assert broken != whole
    assert faults(broken)[0] == fault


def test_a_pass_on_a_guess_says_so_in_the_output_of_its_case(tmp_path: Path) -> None:
    """The case has passed; what it rests on and what would make it sure stand next to it, and no other is doubted."""
    report = checked(tmp_path, GUESSED, renamed("/PCIE5_TX0_P", "/PCIE5_TX0_N"))
    guessed = {f"{v.clause.id}: {v.clause.title}": v for v in report.verdicts if v.is_guess and v.has_rule}
    assert guessed

    text = junit.render([Checked(report, None, "", "error")])

    assert faults(text) == []
    said = {case.get("name"): case.findtext("system-out") for case in ET.fromstring(text).iter("testcase")}  # noqa: S314
    for name, verdict in guessed.items():
        output = said[name]
        assert output is not None
        assert output.startswith("It is met, on a guess; it needs: ")
        assert verdict.guesses[0].fact in output
    assert {name for name, output in said.items() if output is not None} == set(guessed)


@pytest.fixture(scope="module")
def schema() -> Callable[[str], bool]:
    """Return Jenkins' own schema as a test, which is not ours to ship: name it in STACKWRIGHT_JUNIT_SCHEMA."""
    path = Path(os.environ.get("STACKWRIGHT_JUNIT_SCHEMA", ""))
    if not path.is_file():
        pytest.skip("no JUnit schema: set STACKWRIGHT_JUNIT_SCHEMA to Jenkins' junit-10.xsd")
    read = pytest.importorskip("xmlschema").XMLSchema(str(path))

    def takes(text: str) -> bool:
        return bool(read.is_valid(text.removeprefix('<?xml version="1.0" encoding="UTF-8"?>')))

    return takes


@pytest.mark.parametrize("path", BOARDS[::4], ids=lambda path: path.stem)
def test_reports_are_valid_by_jenkins_own_schema(schema: Callable[[str], bool], path: Path) -> None:
    """What the shape takes, the schema takes."""
    assert schema(reported(path))


@pytest.mark.parametrize("fault", sorted(set(BREAKS) - {'tests="many" of <testsuite>'}))
def test_jenkins_own_schema_refuses_what_the_shape_refuses(
    schema: Callable[[str], bool], fault: str, whole: str
) -> None:
    """The shape's facts are the schema's; only for counts it takes any text."""
    assert schema(whole)
    assert not schema(BREAKS[fault](whole))
