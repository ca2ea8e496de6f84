"""The report as SARIF 2.1.0, for code scanning: one run per board, so that boards left out keep their alerts.

Board text is data: marks that turn the writing around are written out, and what SARIF would read as a link is not one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from drc_rules.report.findings import Finding
from drc_rules.report.kicad_drc import KicadDrc
from drc_rules.report.known_findings import Accepted, StaleSuppression
from drc_rules.report.model import Report
from drc_rules.report.verdicts import ClauseVerdict
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import PAGE_SECTIONS, Rule, all_rules
from drc_rules.settings import FILE_NAME
from stackup_lib.core.files.file_names import place_of
from stackwright import __version__
from stackwright.reporters.entries import open_errors, what_it_needs
from stackwright.results.checked import Checked, Unchecked
from stackwright.results.exit_reason import BROKEN, ExitCause
from stackwright.run.paths import relative_to_run
from stackwright.tables import kicad_drc
from stackwright.text.remarks import KICAD, NOT_PROVEN, REMARKS, STALE, Remark
from stackwright.text.words import clean

Json = dict[str, object]
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
FINGERPRINT = "stackwright/v1"
RELATED = 20
"""Further places of a finding that are listed."""


def render(outcomes: Sequence[Checked | Unchecked], *, with_accepted: bool = True) -> str:
    """Return the SARIF text.

    Args:
        outcomes: boards, checked or not.
        with_accepted: list accepted findings, as suppressed; GitHub's code scanning takes suppressed results for open
            ones, so what is uploaded there is better without them.
    """
    runs = [_run(o, with_accepted=with_accepted) if isinstance(o, Checked) else _failed_run(o) for o in outcomes]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=2, allow_nan=False) + "\n"


def is_whole(outcome: Checked | Unchecked) -> bool:
    """Tell whether all of a check was made: GitHub refuses a run that says otherwise, and its board keeps its alerts.

    Source: https://github.com/github/codeql-action/pull/1732, "unsuccessful execution".
    """
    return isinstance(outcome, Checked) and not _broken(outcome)


def _run(checked: Checked, *, with_accepted: bool) -> Json:
    report = checked.report
    uri, base = _uri(report.board.path)
    accepted = report.accepted if with_accepted else ()
    results = [_finding(f, report, ()) for f in report.findings]
    results += [_finding(one.finding, report, (one,)) for one in accepted]
    results += [_stale(one, checked) for one in report.stale_suppressions]
    results += [_open(v, report) for v in open_errors(report)]
    results += [_kicad(group, report) for group in kicad_drc.groups(report.kicad_drc or KicadDrc())]
    rules = _rules(report)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = index[result["ruleId"]]
    artifact: Json = {"location": _artifact(uri, base), "roles": ["analysisTarget"]}
    if report.board.sha256:
        artifact["hashes"] = {"sha-256": report.board.sha256}
    return {
        **_head(report.board.path, rules),
        "invocations": [_checked_invocation(checked, [_notice(text, uri, base) for text in _broken(checked)])],
        "artifacts": [artifact],
        "results": results,
        "properties": {
            "headline": report.headline.value,
            "headlineWhy": _plain(report.headline_why),
            "profile": report.profile,
            "acceptedFindings": len(report.accepted),
            "coveragePercent": round(report.coverage.percent, 2),
        },
    }


def _broken(checked: Checked) -> list[str]:
    """What of the check could not be made."""
    report, drc = checked.report, checked.report.kicad_drc
    failed = [f"KiCad DRC did not run: {drc.failed}; {drc.next_step}"] if drc is not None and drc.failed else []
    nothing = [f"{r.text}; {r.next_step}" for r in checked.exit_reasons or () if r.cause is ExitCause.NOTHING_CHECKED]
    return [*(f"internal error in rule {c.code} ({c.error})" for c in report.crashes), *failed, *nothing]


def _failed_run(unchecked: Unchecked) -> Json:
    uri, base = _uri(unchecked.path)
    return {
        **_head(unchecked.path, []),
        "invocations": [{**_invocation([_notice(str(unchecked.error), uri, base)]), "exitCode": BROKEN}],
        "artifacts": [],
        "results": [],
    }


def _head(path: str, rules: Sequence[Json]) -> Json:
    driver: Json = {"name": "Stackwright", "semanticVersion": __version__, "rules": list(rules)}
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"stackwright/{_plain(relative_to_run(path)[0])}/"},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which Stackwright was run."}}},
    }


def _invocation(notices: Sequence[Json]) -> Json:
    return {"executionSuccessful": not notices, "toolExecutionNotifications": list(notices)}


def _checked_invocation(checked: Checked, notices: Sequence[Json]) -> Json:
    """An invocation with the exit code of its board, and why it is not 0."""
    if checked.exit_reasons is None:
        return _invocation(notices)
    why = _plain("; ".join(one.text for one in checked.exit_reasons))
    return {
        **_invocation(notices),
        "exitCode": checked.exit_code,
        **({"exitCodeDescription": why} if why else {}),
    }


def _notice(text: str, uri: str, base: str | None) -> Json:
    location = {"physicalLocation": {"artifactLocation": _artifact(uri, base)}}
    return {"level": "error", "message": {"text": _plain(text)}, "locations": [location]}


def _finding(finding: Finding, report: Report, accepted: tuple[Accepted, ...]) -> Json:
    uri, base = _uri(report.board.path)
    names = [(name, kind) for p in finding.places for name, kind in ((p.layer, "layer"), (p.net, "net")) if name]
    location = _location(uri, base, finding.line)
    if names:
        location["logicalLocations"] = [{"name": clean(n), "kind": kind} for n, kind in dict.fromkeys(names)][:RELATED]
    lines = [line for line in dict.fromkeys(p.line for p in finding.places) if line and line != finding.line]
    result: Json = {
        "ruleId": finding.code,
        "level": LEVELS[finding.severity],
        "message": {"text": _sentences(finding.title, f"Why: {finding.why}", f"Fix: {finding.fix}")},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: finding.key},
        "suppressions": [_suppression(one) for one in accepted],
        "properties": {
            "clause": finding.clause,
            "basis": finding.basis.value,
            "confidence": finding.confidence.value,
            "source": clean(finding.limit.source) if finding.limit else "",
        },
    }
    if lines:
        result["relatedLocations"] = [_location(uri, base, line) for line in lines[:RELATED]]
    return result


def _suppression(accepted: Accepted) -> Json:
    until = f", until {accepted.expires.isoformat()}" if accepted.expires else ""
    who = f" ({accepted.owner}{until})" if accepted.owner else ""
    return {"kind": "external", "status": "accepted", "justification": clean(f"{accepted.reason}{who}")}


def _open(verdict: ClauseVerdict, report: Report) -> Json:
    """A clause that is not verifiable, as a note: viewers show notes, and most ignore SARIF's own kind "open"."""
    uri, base = _uri(report.board.path)
    text = _sentences(f"Not proven: {verdict.clause.title}", what_it_needs(verdict))
    return {
        "ruleId": NOT_PROVEN.code,
        "level": "note",
        "message": {"text": text},
        "locations": [_location(uri, base, 1)],
        "partialFingerprints": {FINGERPRINT: f"{NOT_PROVEN.code}-{verdict.clause.id}"},
        "suppressions": [],
        "properties": {"clause": verdict.clause.id, "rule": verdict.code},
    }


def _stale(stale: StaleSuppression, checked: Checked) -> Json:
    uri, base = _uri(checked.config_path or FILE_NAME)
    text = _sentences(f"The suppression of {stale.entry} {stale.problem}", f"It said: {stale.reason} ({stale.owner})")
    return {
        "ruleId": STALE.code,
        "level": "warning",
        "message": {"text": f"{text} Fix: remove it, or correct it."},
        "locations": [_location(uri, base, stale.line)],
        "partialFingerprints": {FINGERPRINT: f"{STALE.code}-{clean(stale.entry)}"},
        "suppressions": [],
        "properties": {"owner": clean(stale.owner)},
    }


def _kicad(group: kicad_drc.ViolationGroup, report: Report) -> Json:
    """The violations of one type that KiCad's own check reports."""
    uri, base = _uri(report.board.path)
    more = f"And {group.more} more" if group.more else ""
    return {
        "ruleId": KICAD.code,
        "level": LEVELS[group.severity],
        "message": {"text": _sentences(f"KiCad DRC: {group.title}", *group.places, more)},
        "locations": [_location(uri, base, 1)],
        "partialFingerprints": {FINGERPRINT: f"{KICAD.code}-{group.type}-{group.severity.value}"},
        "suppressions": [],
        "properties": {"type": group.type},
    }


def _rules(report: Report) -> list[Json]:
    """Every rule that had a say on this board, and our remarks."""
    worst: dict[str, Severity] = {}
    for verdict in report.verdicts:
        severity = verdict.clause.severity
        if severity.rank >= worst.get(verdict.code, severity).rank:
            worst[verdict.code] = severity
    rules = [_rule(one, worst[one.code]) for one in all_rules() if one.code in worst]
    return [*rules, *(_remark(one) for one in REMARKS)]


def _rule(rule: Rule, worst: Severity) -> Json:
    sections = {heading: rule.section(heading) for heading in PAGE_SECTIONS}
    return {
        "id": rule.code,
        "name": _camel(rule.name),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(sections["What it checks"].split()) or rule.summary},
        "help": {
            "text": "\n\n".join(f"{heading}\n{text}" for heading, text in sections.items() if text),
            "markdown": "\n\n".join(f"## {heading}\n\n{text}" for heading, text in sections.items() if text),
        },
        "defaultConfiguration": {"level": LEVELS[worst]},
        "properties": {"tags": ["pcb", rule.family], "since": rule.since},
    }


def _remark(remark: Remark) -> Json:
    return {
        "id": remark.code,
        "name": _camel(remark.name),
        "shortDescription": {"text": remark.summary},
        "fullDescription": {"text": remark.text},
        "help": {"text": remark.text, "markdown": remark.text},
        "defaultConfiguration": {"level": remark.level},
        "properties": {"tags": ["pcb", "check"]},
    }


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def _location(uri: str, base: str | None, line: int | None) -> Json:
    return {"physicalLocation": {"artifactLocation": _artifact(uri, base), "region": {"startLine": line or 1}}}


def _artifact(uri: str, base: str | None) -> Json:
    return {"uri": uri, "uriBaseId": base} if base else {"uri": uri}


def _uri(path: str) -> tuple[str, str | None]:
    """Return a path as URI: relative to the folder of the run where it lies inside, else absolute."""
    relative, inside = relative_to_run(path)
    if inside:
        return quote(os.fsencode(relative)), ROOT
    return place_of(Path(path)).as_uri(), None


def _sentences(*parts: str) -> str:
    return _plain(" ".join(f"{part.rstrip('.')}." for part in parts if part))


def _plain(text: str) -> str:
    """Return text that SARIF shows as it is: no link, no placeholder, nothing that steers the viewer."""
    text = re.sub(r"\{(\d+)\}", r"{{\1}}", clean(text))
    return re.sub(r"[\[\]\\]", r"\\\g<0>", text) if re.search(r"\]\s*\(", text) else text
