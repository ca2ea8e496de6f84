"""Findings that the user has accepted by `[[suppress]]`, and suppressions that are expired or match nothing.

Accepting changes nothing on the board: the clause stays failed and the headline keeps its word. An accepted finding
only no longer counts for the exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from drc_rules.report.findings import Finding
from drc_rules.report.known_findings import Accepted, StaleSuppression
from drc_rules.report.model import Report
from drc_rules.rules.rule import find_rule
from drc_rules.settings import FILE_NAME
from drc_rules.settings.net_selection import matches
from drc_rules.settings.suppression import Suppression
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.files.file_names import composed

TABLE = r"(?m)^[ \t]*\[\[[ \t]*suppress[ \t]*\]\]"


def accept(
    report: Report, suppressions: Iterable[Suppression], *, today: date, toml: str = "", where: str = FILE_NAME
) -> Report:
    """Return the report with accepted findings set apart, and suppressions that are expired or match nothing named.

    A suppression whose clauses could not be decided this time is left alone: what it is about may be back tomorrow.

    Args:
        report: of all findings.
        suppressions: in the order of the file.
        today: the day that expiry is measured against.
        toml: text of the settings, for the line of each table.
        where: what errors call their file.

    Raises:
        ConfigError: a suppression names a rule that does not exist.
    """
    here = [(n, one) for n, one in enumerate(suppressions) if _is_about(one, report)]
    for n, one in here:
        _need_code(one, f"{where}, [[suppress]] {n + 1}")
    active = [one for _, one in here if one.expires is None or today <= one.expires]
    accepted = [(finding, by) for finding in report.findings if (by := _first(active, finding)) is not None]
    taken = {id(finding) for finding, _ in accepted}
    lines = [toml.count("\n", 0, table.start()) + 1 for table in re.finditer(TABLE, toml)]
    stale = [_stale(one, problem, lines[n:]) for n, one in here if (problem := _problem(one, report, today))]
    return report.model_copy(
        update={
            "findings": tuple(finding for finding in report.findings if id(finding) not in taken),
            "accepted": tuple(
                Accepted(finding=finding, by="suppression", reason=one.reason, owner=one.owner, expires=one.expires)
                for finding, one in accepted
            ),
            "stale_suppressions": tuple(stale),
            "headline_why": with_accepted(report, len(accepted)),
        }
    )


def never_suppressed(report: Report, suppressions: Iterable[Suppression]) -> tuple[Finding, ...]:
    """Return the findings that no suppression accepts, nor accepted before it expired.

    Args:
        report: that `accept` returned.
        suppressions: the same as it had.
    """
    here = [one for one in suppressions if _is_about(one, report)]
    return tuple(finding for finding in report.findings if _first(here, finding) is None)


def _is_about(one: Suppression, report: Report) -> bool:
    board = composed(report.board.path.rpartition("/")[2])
    return one.board is None or matches(composed(one.board), board)


def _need_code(one: Suppression, where: str) -> None:
    try:
        known = find_rule(one.rule_code).code
    except ConfigError as error:
        raise ConfigError(where, f'"{one.rule_code}" is no rule', error.next_step) from None
    if known != one.rule_code:
        raise ConfigError(where, f'"{one.rule_code}" is not a code', f'write "{known}"')


def with_accepted(report: Report, more: int) -> str:
    """Return the headline's reason with the number of accepted findings, so that none is accepted silently."""
    before, total = len(report.accepted), len(report.accepted) + more
    why = report.headline_why.removesuffix(_counted(before))
    return why + _counted(total)


def _counted(accepted: int) -> str:
    return f" ({accepted} finding{'' if accepted == 1 else 's'} accepted)" if accepted else ""


def _stale(one: Suppression, problem: str, lines: Sequence[int]) -> StaleSuppression:
    line = lines[0] if lines else None
    return StaleSuppression(entry=str(one), problem=problem, reason=one.reason, owner=one.owner, line=line)


def _first(suppressions: Iterable[Suppression], finding: Finding) -> Suppression | None:
    return next((one for one in suppressions if one.covers(finding)), None)


def _problem(one: Suppression, report: Report, today: date) -> str:
    if one.expires is not None and today > one.expires:
        return f"expired on {one.expires.isoformat()}"
    if any(one.covers(finding) for finding in report.findings):
        return ""
    about = [v for v in report.verdicts if v.code == one.rule_code and one.clause in (None, v.clause.id)]
    return "" if any(v.undecided for v in about) else "matches nothing"
