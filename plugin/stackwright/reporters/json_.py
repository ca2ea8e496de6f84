"""The report as JSON; its schema is published as `fixtures/schemas/report-v1.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from drc_rules.report.findings import Finding
from drc_rules.report.kicad_drc import KicadDrc
from drc_rules.report.verdicts import ClauseVerdict
from stackwright import __version__
from stackwright.results.checked import Checked, Unchecked

FORMAT = "stackwright-report"
VERSION = 1


def render(boards: Sequence[Checked | Unchecked]) -> str:
    """Return the JSON text; same boards and settings give the same bytes."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "reports": [_report(b) for b in boards if isinstance(b, Checked)],
        "errors": [
            {"path": b.path, "where": b.error.where, "what": b.error.what, "next_step": b.error.next_step}
            for b in boards
            if isinstance(b, Unchecked)
        ],
    }
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _report(checked: Checked) -> dict[str, object]:
    report = checked.report
    board = report.board.model_dump(mode="json", exclude={"lines", "sha256"})
    return {
        "headline": report.headline.value,
        "headline_why": report.headline_why,
        "board": board,
        "findings": [_finding(f) for f in report.findings],
        "verdicts": [_verdict(v) for v in report.verdicts],
        "coverage": {**report.coverage.model_dump(mode="json"), "percent": round(report.coverage.percent, 2)},
        "taken_as": [t.model_dump(mode="json") for t in report.taken_as],
        "unknown_pairs": list(report.unknown_pairs),
        "proofs": list(report.proofs),
        "crashes": [c.model_dump(mode="json") for c in report.crashes],
        "notes": list(report.notes),
        "accepted": [a.model_dump(mode="json") for a in report.accepted],
        "stale_suppressions": [one.model_dump(mode="json") for one in report.stale_suppressions],
        "fixed": [known.model_dump(mode="json") for known in report.fixed],
        "stackup": report.stackup.model_dump(mode="json") if report.stackup else None,
        "process": report.process.model_dump(mode="json") if report.process else None,
        "impedances": [row.model_dump(mode="json") for row in report.impedances],
        "pairs": [row.model_dump(mode="json") for row in report.pairs],
        "losses": [row.model_dump(mode="json") for row in report.losses],
        "backdrills": [row.model_dump(mode="json") for row in report.backdrills],
        "rails": [row.model_dump(mode="json") for row in report.rails],
        "backdrills_missing": [m.model_dump(mode="json") for m in report.backdrills_missing],
        **({} if checked.exit_reasons is None else _exit(checked)),
        **({} if report.kicad_drc is None else {"kicad_drc": _kicad_drc(report.kicad_drc)}),
        "provenance": {
            "stackwright": __version__,
            "board_sha256": report.board.sha256,
            "profile": report.profile,
            "form": report.form,
            "config": checked.config_path,
            "data_sha256": checked.data_digest,
        },
        **({} if checked.timing is None else {"timing": _timing(checked.timing, checked.background_s)}),
    }


def _exit(checked: Checked) -> dict[str, object]:
    reasons = [
        {"exit_code": one.code, "cause": one.cause.value, "text": one.text, "next_step": one.next_step}
        for one in checked.exit_reasons or ()
    ]
    return {"exit_code": checked.exit_code, "exit_reasons": reasons}


def _timing(seconds: Mapping[str, float], background_s: float) -> dict[str, object]:
    rounded = {name: round(value, 6) for name, value in seconds.items()}
    return {"total_s": round(sum(seconds.values()), 6), "beside_s": round(background_s, 6), "seconds": rounded}


def _kicad_drc(drc: KicadDrc) -> dict[str, object]:
    counts = [{**row.model_dump(mode="json"), "or_more": row.is_capped} for row, _ in drc.by_type()]
    return {**drc.model_dump(mode="json"), "counts": counts}


def _finding(finding: Finding) -> dict[str, object]:
    return finding.model_dump(mode="json")


def _verdict(verdict: ClauseVerdict) -> dict[str, object]:
    return {
        "clause": verdict.clause.id,
        "title": verdict.clause.title,
        "severity": verdict.clause.severity.value,
        "code": verdict.code or None,
        "verdict": verdict.verdict.value,
        "words": verdict.words,
        "confidence": verdict.confidence.value,
        "checked": verdict.checked,
        "undecided": verdict.undecided,
        "has_rule": verdict.has_rule,
        "worst": verdict.worst.value if verdict.worst else None,
        "missing": [m.model_dump(mode="json") for m in verdict.missing],
        "guesses": [m.model_dump(mode="json") for m in verdict.guesses],
        "source": verdict.source,
    }
