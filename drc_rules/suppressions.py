"""`[[suppress]]` in `stackwright.toml`: findings that somebody has accepted, with a reason, and what became of it.

Accepting changes nothing on the board: the clause stays failed and the headline keeps its word. An accepted finding
only no longer counts for the exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from drc_rules.net_choice import matches
from drc_rules.report import Accepted, Finding, Report, StaleSuppression
from drc_rules.rule import find_rule
from stackup_lib.errors import ConfigError
from stackup_lib.file_names import composed

TABLE = re.compile(r"^[ \t]*\[\[[ \t]*suppress[ \t]*\]\]", re.MULTILINE)


class Suppression(BaseModel):
    """One `[[suppress]]` table.

    Attributes:
        code: rule whose findings are accepted.
        key: exact key of one finding, as the report gives it.
        layer, net, object_: wildcards (`*`, `?`); *every* layer, net or object of a finding has to match one of them,
            so that nothing is accepted that was not meant.
        clause: only against this clause.
        board: only on boards whose file name matches, where several share one `stackwright.toml`.
        expires: last day on which it holds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str | None = None
    key: str | None = None
    layer: tuple[str, ...] = ()
    net: tuple[str, ...] = ()
    object_: tuple[str, ...] = Field(default=(), alias="object")
    clause: str | None = None
    board: str | None = None
    reason: str
    owner: str
    expires: date | None = None

    @field_validator("layer", "net", "object_", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("reason", "owner")
    @classmethod
    def _filled(cls, value: str) -> str:
        if value.strip() in ("", "?"):
            raise ValueError("is empty; a suppression needs a reason and an owner")
        return value.strip()

    @field_validator("expires", mode="before")
    @classmethod
    def _day(cls, value: object) -> object:
        if isinstance(value, str) or type(value) is date:
            return value
        raise ValueError(f"{value!r} is not a date such as 2027-01-31")

    @model_validator(mode="after")
    def _says_what(self) -> Suppression:
        if not (self.key or self.layer or self.net or self.object_):
            raise ValueError('says no place: give layer, net, object or key (object = "*" means every one)')
        if self.code is None and self.key is None:
            raise ValueError("says no code, such as STK006")
        if self.code and self.key and not self.key.startswith(f"{self.code}-"):
            raise ValueError(f'key "{self.key}" is not of code {self.code}')
        return self

    @property
    def rule_code(self) -> str:
        """Code of the rule whose findings are accepted."""
        return self.code or (self.key or "").partition("-")[0]

    def __str__(self) -> str:
        """Return what is accepted, in words: `STK006, layer In1.Cu`."""
        parts = [self.rule_code]
        several = {"layer": self.layer, "net": self.net, "object": self.object_}
        single = {"key": self.key, "clause": self.clause, "board": self.board}
        parts += [f"{name} {' '.join(value)}" for name, value in several.items() if value]
        return ", ".join(parts + [f"{name} {value}" for name, value in single.items() if value])

    def covers(self, finding: Finding) -> bool:
        """Tell whether the finding is meant, whatever the date."""
        if finding.code != self.rule_code or self.clause not in (None, finding.clause):
            return False
        if self.key not in (None, finding.key):
            return False
        asked = (
            (self.layer, [place.layer for place in finding.places if place.layer]),
            (self.net, [place.net for place in finding.places if place.net]),
            (self.object_, finding.objects),
        )
        return all(_all_match(patterns, names) for patterns, names in asked if patterns)


def _all_match(patterns: Sequence[str], names: Sequence[str]) -> bool:
    return bool(names) and all(any(matches(pattern, name) for pattern in patterns) for name in names)


def accept(report: Report, suppressions: Iterable[Suppression], *, today: date, toml: str = "") -> Report:
    """Return the report with accepted findings set apart, and suppressions that are expired or match nothing named.

    A suppression whose clauses could not be decided this time is left alone: what it is about may be back tomorrow.

    Args:
        report: of all findings.
        suppressions: in the order of the file.
        today: the day that expiry is measured against.
        toml: text of the settings, for the line of each table.

    Raises:
        ConfigError: a suppression names a rule that does not exist.
    """
    board = composed(report.board.path.rpartition("/")[2])
    here = [(n, one) for n, one in enumerate(suppressions) if one.board is None or matches(composed(one.board), board)]
    for _, one in here:
        if (known := find_rule(one.rule_code).code) != one.rule_code:
            raise ConfigError("suppress", f'"{one.rule_code}" is not a code', f'write "{known}"')
    active = [one for _, one in here if one.expires is None or today <= one.expires]
    accepted = [(finding, by) for finding in report.findings if (by := _first(active, finding)) is not None]
    taken = {id(finding) for finding, _ in accepted}
    lines = [toml.count("\n", 0, table.start()) + 1 for table in TABLE.finditer(toml)]
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
