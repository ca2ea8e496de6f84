"""The board judged with the fab's stackup: which clauses change, and which rows of the fab's to accept or refuse.

Mirrored rows are judged together, since a fab changes a stackup symmetrically. What is accepted is judged as a whole.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from drc_rules.engine.check import check_board
from drc_rules.fab_exchange.comparison.compare import CompareOutcome, Matched
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.settings.config import Config
from stackup_lib.core.frozen import Frozen

MOST_GROUPS = 20
"""Rows with their mirrored ones that are judged by themselves: each is a check of the board."""
_RANK = {Verdict.PASSED: 0, Verdict.NOT_APPLICABLE: 0, Verdict.NOT_VERIFIABLE: 1, Verdict.FAILED: 2}


class _Answer(StrEnum):
    ACCEPT = "accept"
    ASK = "ask"
    REFUSE = "refuse"


class ClauseChange(Frozen):
    """A clause that the fab's stackup decides otherwise; `findings` are those that the board has not.

    Attributes:
        before_words, after_words: the verdicts as reports say them: `met`, `failed`, `not met`, `remark`.
        is_open: it gets worse only in that it is not proven any more.
        lacks: what is not known of it then.
    """

    clause: str
    title: str
    before: Verdict
    after: Verdict
    before_words: str
    after_words: str
    is_worse: bool
    is_open: bool = False
    findings: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class FabVerdict(Frozen):
    """The board as it is, and with the fab's stackup.

    Attributes:
        accept: rows that differ, and with which, all together, no clause gets worse.
        ask: rows with which a clause is not proven any more, as long as the fab does not state more of them.
        refuse: rows of which each, with its mirrored one, makes a clause worse.
        together: rows of which none does so by itself, or too many to judge, although all together do.
    """

    before: Headline
    after: Headline
    changes: tuple[ClauseChange, ...]
    accept: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    together: tuple[str, ...] = ()


def fab_verdict(
    path: Path, content: bytes, matched: Matched, config: Config, overrides: Overrides
) -> FabVerdict | None:
    """Check the board twice, and by mirrored rows where the fab's stackup makes a clause worse.

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
    groups, whole = tuple(_mirrored(matched)), _answer(changes)
    rows = tuple(name for group in groups for name in group)
    plain = FabVerdict(before=before.headline, after=after.headline, changes=changes)
    if whole is _Answer.ACCEPT:
        return plain.model_copy(update={"accept": _ordered(rows, matched)})
    if len(groups) > MOST_GROUPS:
        part = "ask" if whole is _Answer.ASK else "together"
        return plain.model_copy(update={part: _ordered(rows, matched)})

    def check(text: bytes, settings: Config, by: Overrides) -> Report:
        return check_board(path, config=settings, overrides=by, text=text, tables=False)

    parts = _judged_by_groups(check, matched, before, changes, groups=groups, overrides=overrides)
    return plain.model_copy(update={word: _ordered(names, matched) for word, names in parts.items()})


def _judged_by_groups(
    check: Callable[[bytes, Config, Overrides], Report],
    matched: Matched,
    before: Report,
    changes: Collection[ClauseChange],
    *,
    groups: Collection[tuple[str, ...]],
    overrides: Overrides,
) -> dict[str, list[str]]:
    """Return the rows of each part of a `FabVerdict`: each group by itself, then what is accepted as a whole."""
    worse = {change.clause for change in changes if change.is_worse}
    codes = {verdict.code for verdict in before.verdicts if verdict.clause.id in worse and verdict.code}
    chosen = replace(overrides, select=tuple(sorted(codes)), counts_left_out=False) if codes else overrides

    def answer(names: Collection[str], against: Report, by: Overrides) -> _Answer:
        return _answer(clause_changes(against, check(*matched.with_rows(names), by)))

    own = check(*matched.with_rows(()), chosen)
    answers = {group: answer(group, own, chosen) for group in groups}
    parts = {one: [name for group in groups if answers[group] is one for name in group] for one in _Answer}
    accept, ask, refuse = parts[_Answer.ACCEPT], parts[_Answer.ASK], parts[_Answer.REFUSE]
    together: list[str] = []
    is_open = _answer(changes) is _Answer.ASK
    if is_open:  # what a group fails by itself holds with the others
        ask, refuse = [*ask, *refuse], []
    elif ask and answer([*accept, *ask], before, overrides) is _Answer.REFUSE:
        ask, together = [], ask
    if accept and answer(accept, before, overrides) is not _Answer.ACCEPT:
        (ask if is_open else together).extend(accept)
        accept = []
    return {"accept": accept, "ask": ask, "refuse": refuse, "together": together}


def _ordered(names: Collection[str], matched: Matched) -> tuple[str, ...]:
    return tuple(name for name in matched.changed if name in names)


def _mirrored(matched: Matched) -> Iterator[tuple[str, ...]]:
    """Yield the rows that differ, each with that on the other side of the middle where it differs too."""
    odd = {m.layer for m in matched.layers if m.outcome is not CompareOutcome.ACCEPT} & {*matched.changed}
    names = [one.layer for one in matched.layers]
    of_copper = {layer.name for layer in matched.board.copper_layers}
    copper = [k for k, name in enumerate(names) if name in of_copper]  # not all of them where a row is there twice
    ends = copper[0] + copper[-1] if copper else len(names) - 1
    for k, name in enumerate(names):
        other = names[ends - k] if 0 <= ends - k < len(names) else ""
        if name in odd and not (other in odd and ends - k < k):
            yield (name, other) if other in odd and other != name else (name,)


def _answer(changes: Collection[ClauseChange]) -> _Answer:
    """Return what a fab is told of rows that change clauses so."""
    worse = [change for change in changes if change.is_worse]
    if any(not change.is_open for change in worse):
        return _Answer.REFUSE
    return _Answer.ASK if worse else _Answer.ACCEPT


def clause_changes(before: Report, after: Report) -> tuple[ClauseChange, ...]:
    """Return the clauses that two reports of a board decide otherwise, those that get worse first."""
    own = {finding.key for finding in before.findings}
    theirs = {verdict.clause.id: verdict for verdict in after.verdicts}
    found = []
    for verdict in before.verdicts:
        new = theirs.get(verdict.clause.id)
        more = tuple(f.title for f in after.findings if f.clause == verdict.clause.id and f.key not in own)
        if new is not None and (new.verdict is not verdict.verdict or _rank(new) != _rank(verdict) or more):
            found.append(_change(verdict, new, more))
    return tuple(sorted(found, key=lambda change: (not change.is_worse, change.clause)))


def _rank(verdict: ClauseVerdict) -> int:
    """Order verdicts from good to bad; a guess proves no mandatory requirement."""
    is_unproven = verdict.is_guess and verdict.clause.severity is Severity.ERROR
    return _RANK[Verdict.NOT_VERIFIABLE if is_unproven else verdict.verdict]


def _change(before: ClauseVerdict, after: ClauseVerdict, more: tuple[str, ...]) -> ClauseChange:
    is_worse = _rank(after) > _rank(before) or bool(more)
    is_open = is_worse and not more and _rank(after) == _RANK[Verdict.NOT_VERIFIABLE]
    clause = before.clause
    return ClauseChange(
        clause=clause.id,
        title=clause.title,
        before=before.verdict,
        after=after.verdict,
        before_words=before.words,
        after_words=after.words,
        is_worse=is_worse,
        is_open=is_open,
        findings=more,
        lacks=tuple(one.fact for one in (*after.missing, *after.guesses)) if is_open else (),
    )
