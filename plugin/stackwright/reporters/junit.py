"""The report as JUnit XML: one suite per board, one test case per clause, for Jenkins, GitLab and the like.

Ant's schema, which most readers follow, knows passed, failed, broken and skipped. Whatever is not proven, does not
apply, was accepted or is below the severity that fails the check is skipped, and says why: it has not passed. What
has passed on a guess says so in the output of its case: the schema knows no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from drc_rules.engine.one_finding import of_clause
from drc_rules.report.findings import Finding
from drc_rules.report.model import Report
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Severity
from stackwright import __version__
from stackwright.reporters.entries import what_it_needs
from stackwright.results.checked import Checked, Unchecked
from stackwright.results.exit_reason import ExitCause, untold
from stackwright.run.paths import relative_to_run
from stackwright.run.run_date import run_date
from stackwright.tables import kicad_drc
from stackwright.text.remarks import KICAD
from stackwright.text.words import clean, count

_NOT_XML = re.compile("[\ufffe\uffff]")
"""What XML 1.0 forbids in addition to the control characters and halves of pairs that `clean` writes out."""
CASES = {
    ExitCause.NOTHING_CHECKED: ("something was checked", "error"),
    ExitCause.SUPPRESSIONS: ("every suppression accepts something", "failure"),
    ExitCause.COVERAGE: ("coverage reaches its minimum", "failure"),
}
"""Reasons of the exit code that are no clause: name of the case, and what has become of it."""

COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(outcomes: Sequence[Checked | Unchecked]) -> str:
    """Return the XML text; the date in it is that of the run, or `SOURCE_DATE_EPOCH`."""
    root = ET.Element("testsuites")
    root.extend(_suite(outcome, number) for number, outcome in enumerate(outcomes))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(outcome: Checked | Unchecked, number: int) -> ET.Element:
    path = outcome.path if isinstance(outcome, Unchecked) else outcome.report.board.path
    name = " ".join(_text(relative_to_run(path)[0]).split())
    cases = _broken_board(outcome, name) if isinstance(outcome, Unchecked) else _cases(outcome, name)
    suite = ET.Element("testsuite", name=name, package="stackwright", id=str(number), hostname="localhost", time="0")
    suite.set("timestamp", run_date().strftime("%Y-%m-%dT%H:%M:%S"))
    suite.set("tests", str(len(cases)))
    for attribute, tag in COUNTED.items():
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(outcome).items():
        ET.SubElement(properties, "property", name=key, value=_text(value))
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = "" if isinstance(outcome, Unchecked) else _left_over(outcome.report)
    ET.SubElement(suite, "system-err")
    return suite


def _properties(outcome: Checked | Unchecked) -> dict[str, str]:
    if isinstance(outcome, Unchecked):
        return {"stackwright": __version__, "headline": "not checked"}
    report = outcome.report
    found = {"stackwright": __version__, "headline": report.headline.value, "profile": report.profile or ""}
    return {**found, "coverage": f"{report.coverage.percent:.2f} %"}


def _broken_board(outcome: Unchecked, suite: str) -> list[ET.Element]:
    case = _case("the board can be checked", suite, "check")
    _outcome(case, "error", str(outcome.error), "not checked")
    return [case]


def _cases(checked: Checked, suite: str) -> list[ET.Element]:
    report = checked.report
    broken = [_case(f"rule {crash.code} runs", suite, "check") for crash in report.crashes]
    for case, crash in zip(broken, report.crashes, strict=True):
        _outcome(case, "error", f"internal error in rule {crash.code} ({crash.error})", "internal error")
    for reason in untold(checked.exit_reasons):
        if reason.cause in CASES:
            title, tag = CASES[reason.cause]
            broken.append(_case(title, suite, "check"))
            _outcome(broken[-1], tag, reason.text, reason.cause.value)
    judged = [verdict for verdict in report.verdicts if verdict.has_rule]
    return [*broken, *(_clause(verdict, checked, suite) for verdict in judged), *_kicad(checked, suite)]


def _kicad(checked: Checked, suite: str) -> Iterator[ET.Element]:
    """One case for each type of violation that KiCad's own check reports, or one for all where there is none."""
    drc = checked.report.kicad_drc
    if drc is None:
        return
    groups = list(kicad_drc.groups(drc))
    if not groups:
        case = _case(f"{kicad_drc.TITLE}: {kicad_drc.remark(drc)}", suite, KICAD.code)
        if drc.failed:
            _outcome(case, "error", f"{drc.failed}; {drc.next_step}", "did not run")
        yield case
    for group in groups:
        case = _case(f"{kicad_drc.TITLE}: {group.type}", suite, KICAD.code)
        if checked.fail_on != "never" and group.severity.rank >= Severity(checked.fail_on).rank:
            more = [f"and {group.more} more"] if group.more else []
            _outcome(case, "failure", group.title, group.severity.value, "\n".join([*group.places, *more]))
        else:
            _skipped(case, f"{group.severity.value}, below what fails the check: {group.title}")
        yield case


def _clause(verdict: ClauseVerdict, checked: Checked, suite: str) -> ET.Element:
    case = _case(f"{verdict.clause.id}: {verdict.clause.title}", suite, verdict.code)
    findings = of_clause(verdict, checked.report.findings)
    ranked = [(_severity(f, verdict), f) for f in findings]
    failing = [(severity, f) for severity, f in ranked if _fails(severity, checked.fail_on)]
    if failing:
        message = _summary([f for _, f in failing], verdict)
        _outcome(case, "failure", message, failing[0][0].value, _details(findings))
    elif ranked:
        _skipped(case, f"{ranked[0][0].value}, below what fails the check: {_summary(findings, verdict)}")
    elif verdict.verdict is Verdict.FAILED:
        _skipped(case, f"{verdict.words}, and accepted")
    elif verdict.verdict is Verdict.NOT_VERIFIABLE:
        _skipped(case, f"{verdict.words}. {what_it_needs(verdict)}")
    elif verdict.verdict is Verdict.NOT_APPLICABLE:
        _skipped(case, "not applicable")
    if verdict.is_guess:
        ET.SubElement(case, "system-out").text = _text(what_it_needs(verdict))
    return case


def _severity(finding: Finding, verdict: ClauseVerdict) -> Severity:
    """What a finding weighs for a clause: no more than the clause itself where another clause's speaks for it."""
    own = verdict.worst if finding.clause != verdict.clause.id and verdict.worst else finding.severity
    return min(finding.severity, own, key=lambda one: one.rank)


def _fails(severity: Severity, fail_on: str) -> bool:
    return fail_on != "never" and severity.rank >= Severity(fail_on).rank


def _summary(findings: Sequence[Finding], verdict: ClauseVerdict) -> str:
    first = findings[0]
    similar = f" (and {len(findings) - 1} similar)" if len(findings) > 1 else ""
    told = "" if first.clause == verdict.clause.id else f"told by {first.code}, {first.clause}: "
    return f"{told}{first.title}{similar}"


def _details(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{f.severity.value}: {f.title}. Why: {f.why}. Fix: {f.fix}." for f in findings)


def _case(title: str, suite: str, code: str) -> ET.Element:
    return ET.Element("testcase", name=" ".join(_text(title).split()), classname=f"{suite}.{code}", time="0")


def _outcome(case: ET.Element, tag: str, message: str, kind: str, details: str = "") -> None:
    ET.SubElement(case, tag, message=_text(message), type=kind).text = "\n".join(
        _text(line) for line in details.splitlines()
    )


def _skipped(case: ET.Element, why: str) -> None:
    ET.SubElement(case, "skipped", message=_text(why))


def _left_over(report: Report) -> str:
    """What is no clause of its own: how many findings were accepted, and which suppressions do nothing."""
    lines = [f"{report.headline.value}: {report.headline_why}"]
    lines += [f"{count(len(report.accepted), 'accepted finding')}"] if report.accepted else []
    lines += [f"suppression of {one.entry} {one.problem}" for one in report.stale_suppressions]
    return "\n".join(_text(line) for line in lines)


def _text(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", clean(text))
