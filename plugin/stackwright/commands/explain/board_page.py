"""How one board answers a rule or a clause, as text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from rich.text import Text

from drc_rules.explain.explain_trace import BoardTrace, CalculationStep, ClauseTrace, Decided, FactUsed, worst_of
from drc_rules.report.formula import Formula, Value, nominal, number
from drc_rules.report.verdicts import Verdict, verdict_words
from drc_rules.requirements.documents import cite
from drc_rules.requirements.profiles.shipped import shipped_clauses
from stackup_lib.core.interval import Interval
from stackwright.commands.explain.formula_steps import steps
from stackwright.commands.explain.subject import Subject
from stackwright.tables.counts import LABELS
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, some
from stackwright.text.words import number as with_unit

AMISS_SHOWN, FACTS_SHOWN = 2, 8
"""What the text shows without `-v`; of a clause whose objects all passed one. JSON has everything."""

VERDICT_STYLE = {
    Verdict.FAILED: "bold red",
    Verdict.NOT_VERIFIABLE: "yellow",
    Verdict.PASSED: "green",
    Verdict.NOT_APPLICABLE: "dim",
}


def board_page(path: Path, subject: Subject, found: BoardTrace, *, show_all: bool) -> Page:
    """Return rule, formula, each clause with its objects, and the facts that they rest on."""
    page = Page()
    rule = subject.rule
    page.line(styled(f"{rule.code} {rule.name}" if rule else subject.clause or "", "bold"))
    page.verbatim([path.as_posix()], indent=0)
    if rule:
        page.line(rule.summary)
    where = found.profile.name if found.profile else "no workload"
    page.line(styled(f"for {where}{f', form {found.form}' if found.form else ''}", "dim"))
    if rule and rule.formula:
        _formula(page, rule.formula)
    for answer in found.answers:
        _clause(page, answer, show_all=show_all)
    if not found.answers:
        _not_required(page, subject, found)
    _facts(page, _used(found, show_all=show_all), show_all=show_all)
    page.gap()
    word = rule.code if rule else subject.clause
    page.line("next:")
    page.verbatim([f"stackwright explain {word}"])
    if any(one.is_guess for one in found.answers):
        purpose = ["--profile", found.profile.name] if found.profile else []
        page.verbatim([command_line("check", str(path), *purpose, "-v")])
    return page


def _formula(page: Page, formula: Formula) -> None:
    page.heading("Formula")
    for line in formula.lines:
        page.line(*([styled("passes where  ", "dim")] if line in formula.criteria else []), line, indent=2)


def _clause(page: Page, answer: ClauseTrace, *, show_all: bool) -> None:
    clause = answer.clause
    page.heading(clause.id)
    rows = [
        ("requires", styled(clause.title)),
        ("severity", clause.severity.value),
        ("source", styled(cite(clause.source))),
        ("note", styled(clause.note)),
        ("verdict", _tally(answer)),
    ]
    page.rows([Column(min_width=8), Column(wraps=True)], [row for row in rows if str(row[1])])
    shown = _shown(answer, show_all=show_all)
    for one in shown:
        _object(page, answer, one)
    telling = len(_shown(answer, show_all=True))
    if telling > len(shown):
        page.gap()
        page.line(styled(f"and {count(telling - len(shown), 'further object')}: -v shows them", "dim"), indent=2)
    if shown and len(answer.objects) > telling:
        page.gap()
        page.line(styled(f"and {count(len(answer.objects) - telling, 'object')} that met it", "dim"), indent=2)


def _shown(answer: ClauseTrace, *, show_all: bool) -> Sequence[Decided]:
    """The objects that are shown in full: the first ones with anything to show."""
    telling = [one for one in answer.objects if one.steps or one.findings or one.missing]
    amiss = sum(one.verdict is not Verdict.PASSED for one in telling)
    return telling if show_all else telling[: max(1, min(amiss, AMISS_SHOWN))]


def _tally(answer: ClauseTrace) -> Text:
    text = styled(answer.words, VERDICT_STYLE[answer.verdict])
    if answer.rule is None:
        return text.append(": no rule decides it yet")
    if not answer.objects:
        return text.append(f": {_why_not(answer)}")
    words = [one.words for one in sorted(answer.objects, key=lambda one: list(Verdict).index(one.verdict))]
    if len(set(words)) == 1:
        return text.append(f": {count(len(words), 'object')}{', all of them' if len(words) > 1 else ''}")
    parts = [f"{words.count(one)} {one}" for one in dict.fromkeys(words)]
    return text.append(f": of {count(len(words), 'object')} {', '.join(parts)}")


def _why_not(answer: ClauseTrace) -> str:
    """Why nothing on the board is concerned."""
    about = answer.rule.section("What it checks").split("\n\n", maxsplit=1)[0] if answer.rule else ""
    first = " ".join(about.split()).split(". ")[0].rstrip(".")
    return f"nothing on the board is concerned. What is looked at: {first[:1].lower()}{first[1:]}"


def _object(page: Page, answer: ClauseTrace, one: Decided) -> None:
    """One object: its numbers, the formula with them, and what follows."""
    formula = answer.rule.formula if answer.rule else None
    page.gap()
    sure = styled(f", {one.confidence.value} confidence", "dim") if one.missing is None else styled("")
    if not one.steps or formula is None:
        what = one.findings[0].title if one.findings else one.missing.fact if one.missing else ""
        page.line(_styled_verdict(one.verdict, one), sure, f"  {what}", indent=2)
    for working in one.steps if formula else ():
        verdict = _styled_verdict(_verdict_of(formula, one, working), one)
        page.line(verdict, sure, "  ", styled(working.what, "bold"), indent=2)
        _working(page, formula, working)
    for finding, after in zip_longest(one.findings, one.findings[1:]):
        if (one.steps and formula) or finding is not one.findings[0]:
            page.line(f"{LABELS[finding.severity]}: {finding.title}", indent=4)
        elif finding.measured and finding.limit and finding.limit.value is not None:
            measured, limit = (with_unit(one.value, one.unit) for one in (finding.measured, finding.limit))
            page.line(f"found {measured}, required {limit}", indent=4)
        if after is None or after.fix != finding.fix:
            page.line(styled(f"fix: {finding.fix}", "dim"), indent=4)
    if one.missing:
        if one.findings or (one.steps and formula):
            page.line(f"not known: {one.missing.fact}", indent=4)
        page.line("to decide it:", indent=4)
        page.verbatim(one.missing.how_to_give.splitlines(), indent=6)


def _styled_verdict(verdict: Verdict, one: Decided) -> Text:
    return styled(verdict_words(verdict, worst_of(one.findings)), VERDICT_STYLE[verdict])


def _verdict_of(formula: Formula | None, one: Decided, working: CalculationStep) -> Verdict:
    """The verdict of one working: an object fails by one of several, and what is met is not called failed."""
    if formula is None or one.verdict is not Verdict.FAILED or len(one.steps) == 1:
        return one.verdict
    values = formula.complete(working.numbers)
    holds = formula.criteria and all(formula.holds(criterion, values) for criterion in formula.criteria)
    return Verdict.PASSED if holds else one.verdict


def _working(page: Page, formula: Formula | None, working: CalculationStep) -> None:
    if formula is None:
        return
    values = formula.complete(working.numbers)
    rows = [
        (styled(symbol.name, "cyan"), _with_range(values[symbol.name], symbol.unit), styled(symbol.meaning, "dim"))
        for symbol in formula.symbols
        if symbol.name in values
    ]
    page.rows([Column(min_width=4), Column(), Column(wraps=True)], rows, indent=4)
    for step in steps(formula, values):
        page.line(step, indent=4)


def _with_range(value: Value, unit: str) -> str:
    if isinstance(value, Interval) and value.low < value.high:
        return f"{number(value.nominal)} ({number(value.low)} to {number(value.high)}) {unit}".strip()
    return f"{number(nominal(value))} {unit}".strip()


def _used(found: BoardTrace, *, show_all: bool) -> list[FactUsed]:
    """The facts behind what is shown; where those were settled earlier, e.g. of a line solved before, those of all."""
    shown = [one for answer in found.answers for one in _shown(answer, show_all=show_all)]
    everything = [one for answer in found.answers for one in answer.objects]
    chosen = [fact for answer in found.answers for fact in answer.facts]
    facts = [fact for one in shown for fact in one.facts] or [fact for one in everything for fact in one.facts]
    return list(dict.fromkeys([*facts, *chosen]))


def _facts(page: Page, known: Sequence[FactUsed], *, show_all: bool) -> None:
    if not known:
        return
    page.heading("Rests on")
    shown = known if show_all else known[:FACTS_SHOWN]
    rows = [
        (fact.name, fact.value, styled(f"{fact.origin.value}, {fact.confidence.value}: {fact.source}", "dim"))
        for fact in shown
    ]
    page.rows([Column(max_width=38), Column(max_width=18), Column(wraps=True)], rows)
    if len(known) > len(shown):
        page.line(styled(f"and {count(len(known) - len(shown), 'further fact')}: -v shows them", "dim"), indent=2)


def _not_required(page: Page, subject: Subject, found: BoardTrace) -> None:
    """Say why it does not apply to this board, and where it applies."""
    shipped = [s for s in shipped_clauses() if subject.wants(s.clause)]
    by = list(dict.fromkeys(name for one in shipped for name in one.asked_by))
    page.heading("Not asked of this board")
    if found.profile is None:
        page.line("No workload is stated: only the state of the board itself is judged.", indent=2)
    else:
        page.line(f"No requirement of {found.profile.name} for the interfaces of this board needs it.", indent=2)
    if by:
        page.line(f"It is required by {some(by, 6)}; --profile NAME judges the board for one of them.", indent=2)
