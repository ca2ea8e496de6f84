"""The board judged with the fab's stackup: which clauses change, and which rows of the fab's to accept or refuse."""

from dataclasses import replace
from pathlib import Path

from drc_rules.engine.check import check_board
from drc_rules.fab_exchange.fab_compare import CompareOutcome, Matched
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import ClauseVerdict, Headline, Report, Verdict
from drc_rules.settings.config import Config
from stackup_lib.core.frozen import Frozen

MOST_ROWS = 20
"""Rows that are judged one by one: each is a check of the board."""
_RANK = {Verdict.PASSED: 0, Verdict.NOT_APPLICABLE: 0, Verdict.NOT_VERIFIABLE: 1, Verdict.FAILED: 2}


class ClauseChange(Frozen):
    """A clause that the fab's stackup decides otherwise; `findings` are those that the board has not.

    Attributes:
        before_words, after_words: the verdicts as reports say them: `met`, `failed`, `not met`, `remark`.
    """

    clause: str
    title: str
    before: Verdict
    after: Verdict
    before_words: str
    after_words: str
    is_worse: bool
    findings: tuple[str, ...] = ()


class FabVerdict(Frozen):
    """The board as it is, and with the fab's stackup.

    Attributes:
        accept: rows that differ, and with which no clause gets worse.
        refuse: rows of which each alone makes a clause worse.
        together: rows of which none alone does, or too many to judge one by one, although all together do.
    """

    before: Headline
    after: Headline
    changes: tuple[ClauseChange, ...]
    accept: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    together: tuple[str, ...] = ()


def fab_verdict(
    path: Path, content: bytes, matched: Matched, config: Config, overrides: Overrides
) -> FabVerdict | None:
    """Check the board twice, and row by row where the fab's stackup makes a clause worse.

    None where the fab does not state the board's whole stackup: `matched.not_judged` says what is missing.

    Raises:
        StackwrightError: board or settings cannot be read.
    """
    if matched.not_judged:
        return None
    before = check_board(path, config=config, overrides=overrides, text=content, tables=False)
    same_facts = matched.config.declared.dielectric == config.declared.dielectric
    if matched.content == content and same_facts:
        return FabVerdict(before=before.headline, after=before.headline, changes=())
    after = check_board(path, config=matched.config, overrides=overrides, text=matched.content, tables=False)
    changes = clause_changes(before, after)
    odd = {m.layer for m in matched.layers if m.outcome is not CompareOutcome.ACCEPT}
    rows = tuple(name for name in matched.row_contents if name in odd)
    plain = FabVerdict(before=before.headline, after=after.headline, changes=changes)
    worse = {change.clause for change in changes if change.is_worse}
    if not worse:
        return plain.model_copy(update={"accept": rows})
    if len(rows) > MOST_ROWS:
        return plain.model_copy(update={"together": rows})
    codes = {verdict.code for verdict in before.verdicts if verdict.clause.id in worse and verdict.code}
    chosen = replace(overrides, select=tuple(sorted(codes)), counts_left_out=False) if codes else overrides
    own = check_board(path, config=config, overrides=chosen, text=content, tables=False)
    refused = []
    for name in rows:
        # the settings of the fab's board drop declarations of rows that the fab replaces: here of this row alone
        with_row = check_board(
            path, config=matched.row_configs[name], overrides=chosen, text=matched.row_contents[name], tables=False
        )
        if any(change.is_worse for change in clause_changes(own, with_row)):
            refused.append(name)
    rest = tuple(name for name in rows if name not in refused)
    return plain.model_copy(
        update={"refuse": tuple(refused), "accept" if refused else "together": rest},
    )


def clause_changes(before: Report, after: Report) -> tuple[ClauseChange, ...]:
    """Return the clauses that two reports of a board decide otherwise, those that get worse first."""
    own = {finding.key for finding in before.findings}
    theirs = {verdict.clause.id: verdict for verdict in after.verdicts}
    found = []
    for verdict in before.verdicts:
        new = theirs.get(verdict.clause.id)
        more = tuple(f.title for f in after.findings if f.clause == verdict.clause.id and f.key not in own)
        if new is not None and (new.verdict is not verdict.verdict or more):
            found.append(_change(verdict, new, more))
    return tuple(sorted(found, key=lambda change: (not change.is_worse, change.clause)))


def _change(before: ClauseVerdict, after: ClauseVerdict, more: tuple[str, ...]) -> ClauseChange:
    is_worse = _RANK[after.verdict] > _RANK[before.verdict] or bool(more)
    clause = before.clause
    return ClauseChange(
        clause=clause.id,
        title=clause.title,
        before=before.verdict,
        after=after.verdict,
        before_words=before.words,
        after_words=after.words,
        is_worse=is_worse,
        findings=more,
    )
