"""Every reason for the exit code of a checked board."""

from __future__ import annotations

import math
from collections.abc import Iterator

from drc_rules.report.model import Report
from drc_rules.requirements.clauses import Severity
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import CheckOptions
from stackwright.reporters.next_step import asks_nothing, next_step
from stackwright.results.exit_reason import BROKEN, FOUND, ExitCause, ExitReason
from stackwright.tables.counts import left_out_words, sectionless
from stackwright.tables.grouping import not_verifiable
from stackwright.text.words import count, number


def exit_reasons(report: Report, options: CheckOptions) -> tuple[ExitReason, ...]:
    """Return every reason why the exit code is not 0, those that make it 2 first."""
    return (*_broken(report), *_found(report, options.fail_on or "error"), *_short(report, options))


def _broken(report: Report) -> Iterator[ExitReason]:
    for crash in report.crashes:
        text = f"internal error in rule {crash.code} ({crash.error})"
        yield ExitReason(ExitCause.CRASH, BROKEN, text, "please report this board")
    drc = report.kicad_drc
    if drc is not None and drc.failed:
        yield ExitReason(ExitCause.NO_KICAD_DRC, BROKEN, f"KiCad DRC did not run: {drc.failed}", drc.next_step)
    if not report.coverage.decided:
        step = "supply what is listed under Missing data, or leave out fewer rules"
        step = next_step(report) if asks_nothing(report) else step
        yield ExitReason(ExitCause.NOTHING_CHECKED, BROKEN, "nothing was checked", step)


def _found(report: Report, wanted: str) -> Iterator[ExitReason]:
    if wanted == "never":
        return
    least = Severity(wanted)
    others = "correct them, or give --fail-on error"
    ranks = [finding.severity.rank for finding in report.findings]
    if any(rank >= least.rank for rank in ranks):
        plain = max(ranks) >= Severity.ERROR.rank
        yield ExitReason(
            ExitCause.FINDINGS, FOUND, f"findings, {wanted} or above", "" if plain else others, is_plain=plain
        )
    if report.kicad_drc is not None and report.kicad_drc.fails(least):
        plain = report.kicad_drc.fails(Severity.ERROR)
        text = f"violations of KiCad DRC, {wanted} or above"
        yield ExitReason(ExitCause.KICAD_DRC, FOUND, text, "" if plain else others, is_plain=plain)
    if wanted in ("warning", "info") and report.stale_suppressions:
        text = f"{count(len(report.stale_suppressions), 'suppression does', 'suppressions do')} nothing"
        which = "them" if report.stale_suppressions[1:] else "it"
        file = report.settings_file or FILE_NAME
        yield ExitReason(ExitCause.SUPPRESSIONS, FOUND, text, f"remove {which} from {file}, or correct {which}")


def _short(report: Report, options: CheckOptions) -> Iterator[ExitReason]:
    minimum = options.min_coverage_pct
    if minimum is None or report.coverage.percent >= minimum:
        return
    told = f"; {left}" if (left := left_out_words(report)) else ""
    percent = math.floor(10 * report.coverage.percent) / 10  # rounded to the nearest, it could be the minimum itself
    text = f"coverage is {percent:.1f} %, below the minimum of {number(minimum)} %{told}"
    yield ExitReason(ExitCause.COVERAGE, FOUND, text, _to_cover_more(report))


def _to_cover_more(report: Report) -> str:
    """What raises the coverage: data; where none is missing, a look at the pairs that are not judged, or a fix."""
    waiting, left_out = not_verifiable(report.verdicts)
    steps = ["supply what is listed under Missing data"] if report.unknown_pairs or waiting else []
    if steps or left_out:
        return ", and ".join([*steps, *(["leave out fewer rules"] if left_out else [])])
    if told := sectionless(report.coverage):
        return f"{told}; -v says why"
    return "fix the findings first: their requirements are not decided for every object"
