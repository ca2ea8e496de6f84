"""How many requirements are met, and how many are not, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from drc_rules.report.findings import Finding
from drc_rules.report.model import Report
from drc_rules.report.verdicts import MET_ON_A_GUESS, NOT_LOOKED_AT, ClauseVerdict, Coverage, Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.settings import FILE_NAME
from stackwright.tables.grouping import not_verifiable
from stackwright.text.words import count

ORDER = ("failed", "not met", "remark", "not verifiable", NOT_LOOKED_AT, "met", "not applicable")
"""Words of `ClauseVerdict.words`, worst first; a clause met on a guess is counted as met."""


LABELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "remark"}
"""Severities as people read them."""

SEVERITY_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def severity_counts(findings: Iterable[Finding]) -> str:
    """Return e.g. `2 errors, 1 remark`."""
    severities = Counter(finding.severity for finding in findings)
    return ", ".join(count(severities[one], label) for one, label in LABELS.items() if severities[one])


def verdict_count(many: int, word: str) -> str:
    """Return e.g. `3 failed`, `2 with remarks`; `2 remarks` are findings, of which one requirement can have several."""
    if word == "remark":
        word = "with a remark" if many == 1 else "with remarks"
    return f"{many} {word}"


def tally(verdicts: Iterable[ClauseVerdict]) -> str:
    """Return e.g. `1 failed, 2 with remarks, 1 not verifiable, 96 met (3 on a guess, 1 of severity error)`.

    Reports name the missing data of guesses of severity error only, so these are counted apart.
    """
    ruled = [verdict for verdict in verdicts if verdict.has_rule]
    words = Counter(verdict.words for verdict in ruled)
    guessed = words.pop(MET_ON_A_GUESS, 0)
    errors = sum(verdict.is_guess and verdict.clause.severity is Severity.ERROR for verdict in ruled)
    words["met"] += guessed
    of_them = f", {errors} of severity error" if errors else ""
    aside = {"met": f" ({guessed} on a guess{of_them})"} if guessed else {}
    if by := _left_out_by(ruled):
        aside[NOT_LOOKED_AT] = f" ({by})"
    return ", ".join(verdict_count(words[word], word) + aside.get(word, "") for word in ORDER if words[word])


def _left_out_by(verdicts: Iterable[ClauseVerdict]) -> str:
    return ", ".join(dict.fromkeys(by for one in verdicts if (by := one.left_out_by)))


def left_out_words(report: Report) -> str:
    """Return e.g. `31 requirements not looked at (--ignore VIA)`; empty where every rule ran."""
    left = [one for one in report.verdicts if one.left_out_by]
    return f"{count(len(left), 'requirement')} {NOT_LOOKED_AT} ({_left_out_by(left)})" if left else ""


def coupled_words(cover: Coverage) -> str:
    """Return what the coverage tells of nets that run like pairs by their tracks alone; empty where there are none."""
    if not cover.coupled_pairs:
        return ""
    pairs = count(cover.coupled_pairs, "coupled pair")
    belong = "belongs" if cover.coupled_pairs == 1 else "belong"
    return f"{pairs}, {cover.coupled_mm:.0f} mm routed, {belong} to no known interface"


def sectionless(cover: Coverage) -> str:
    """Return how many pairs have a target and no section to judge: too short, over no plane; empty where none."""
    many = cover.unjudged_pairs
    return f"{count(many, 'pair')} with an impedance target not judged" if many else ""


def unproven_words(report: Report) -> str:
    """Return what waits for data, e.g. `2 requirements not verifiable, 1 pair of unknown interface`."""
    waiting, _ = not_verifiable(report.verdicts)
    guessed = sum(v.is_guess for v in waiting)
    undecided = sum(v.verdict is Verdict.NOT_VERIFIABLE for v in waiting)
    error = "of severity error"  # what others rest on is not told
    told = (
        (undecided, "not verifiable"),
        (guessed, f"{error} met on a guess"),
        (len(waiting) - guessed - undecided, f"{error} not met on a guess"),
    )
    parts = [f"{count(number, 'requirement')} {words}" for number, words in told if number]
    if report.unknown_pairs:
        parts.append(f"{count(len(report.unknown_pairs), 'pair')} of unknown interface")
    if left := left_out_words(report):
        parts.append(left)
    return ", ".join(parts)


def how_to_supply(report: Report) -> str:
    """Return what to do with the lines that supply missing data; comments alone are for no file."""
    if all(line.startswith("#") for line in report.proofs):
        return "there are no lines to paste; instead:"
    return f"fill in and put into {report.settings_file or f'{FILE_NAME} next to the board'}:"
