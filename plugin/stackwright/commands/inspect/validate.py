"""`stackwright validate`: anybody's reference cases, solved and compared row by row."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from stackup_lib.core.errors import ConfigError
from stackup_lib.core.words import count
from stackup_lib.validation.case_files import CaseFileError, read_cases
from stackup_lib.validation.compare import CaseOutcome, Summary, summarize, validate
from stackwright.commands.request import JSON, OutputRequest
from stackwright.text.page import Column, Page, styled

CLEAN, FOUND = 0, 1
FORMAT, VERSION = "stackwright-validation", 1
STYLES = {"within": "green", "in limit": "green", "off": "bold red", "not solved": "bold red", "skipped": "yellow"}


@dataclass(frozen=True)
class ValidateRequest(OutputRequest):
    """What the command line asks."""

    limit_pct: float = 0.1


def validate_cases(path: Path, request: ValidateRequest) -> int:
    """Solve a file of cases and print the comparison; exit code 1 when a row is off or could not be solved.

    Raises:
        StackwrightError: the file cannot be read, or nothing in it can be solved.
    """
    if not (math.isfinite(request.limit_pct) and request.limit_pct > 0):
        raise ConfigError("--limit-pct", f"{request.limit_pct:g} is no limit", "give a percentage above 0")
    request.check_file(path)
    outcomes = list(validate(read_cases(path), request.limit_pct))
    summary = summarize(outcomes, request.limit_pct)
    if not summary.solved and not summary.not_solved:
        raise CaseFileError(
            str(path), f"all {summary.rows} rows are skipped ({outcomes[0].reason})", "give board lines"
        )
    is_json = request.format == JSON
    request.deliver(
        _json(path, outcomes, summary) if is_json else request.laid_out(_page(path, outcomes, summary)), "comparison"
    )
    return CLEAN if summary.agrees else FOUND


def _json(path: Path, outcomes: Sequence[CaseOutcome], summary: Summary) -> str:
    data = {
        "format": FORMAT,
        "version": VERSION,
        "cases": path.as_posix(),
        "summary": summary.model_dump(mode="json"),
        "rows": [outcome.model_dump(mode="json") for outcome in outcomes],
    }
    return json.dumps(data, indent=2, ensure_ascii=True) + "\n"


def _page(path: Path, outcomes: Sequence[CaseOutcome], summary: Summary) -> Page:
    page = Page()
    page.line(
        styled("Validation", "bold"), f"  {path.name}: {count(summary.rows, 'value')}, limit {summary.limit_pct:g} %"
    )
    page.gap()
    header = ("case", "quantity", "value", "reference", "diff %", "+- ref %", "own est. %", "ms", "verdict")
    columns = [Column(max_width=18), Column(max_width=14), *[Column(right=True)] * 6, Column()]
    page.rows(columns, [_cells(outcome) for outcome in outcomes if outcome.verdict != "skipped"], head=header)
    for outcome in outcomes:
        if outcome.reason and outcome.verdict != "skipped":
            page.line(styled(f"{outcome.id} {outcome.quantity}: ", "bold"), outcome.reason, indent=2)
    _skipped(page, outcomes)
    _summary(page, summary)
    return page


def _cells(outcome: CaseOutcome) -> tuple[str | Text, ...]:
    mode = f" {outcome.mode}" if outcome.mode in ("odd", "even") else ""
    return (
        outcome.id,
        f"{outcome.quantity}{mode}",
        _number(outcome.value, ".6g"),
        _number(outcome.reference, ".6g"),
        _number(outcome.difference_pct, "+.4f"),
        _number(outcome.uncertainty_pct, ".2g"),
        _number(outcome.estimate_pct, ".2g"),
        _number(outcome.time_ms, ".1f"),
        styled(outcome.verdict, STYLES.get(outcome.verdict, "")),
    )


def _number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _skipped(page: Page, outcomes: Sequence[CaseOutcome]) -> None:
    skipped = Counter(outcome.reason for outcome in outcomes if outcome.verdict == "skipped")
    if not skipped:
        return
    page.heading(f"{sum(skipped.values())} skipped", "nothing is said about these")
    for reason, times in skipped.items():
        names = dict.fromkeys(o.id for o in outcomes if o.verdict == "skipped" and o.reason == reason)
        page.line(styled(f"{times} x ", "yellow"), f"{reason}: {', '.join(names)}", indent=2)


def _summary(page: Page, summary: Summary) -> None:
    page.heading("agrees" if summary.agrees else "does not agree")
    counts = {
        "solved": summary.solved,
        "within the reference's uncertainty and our estimate": summary.within,
        "inside the limit": summary.in_limit,
        "off": summary.off,
        "off, explained in the file": summary.explained,
        "not solved": summary.not_solved,
        "skipped": summary.skipped,
    }
    page.line("; ".join(f"{count} {words}" for words, count in counts.items() if count), indent=2)
    if summary.largest_pct is not None and summary.median_pct is not None:
        page.line(
            f"largest difference {summary.largest_pct:.3g} % ({summary.largest_id}), median {summary.median_pct:.2g} %",
            indent=2,
        )
