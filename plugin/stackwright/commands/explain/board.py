"""`stackwright explain CODE --board BOARD`: the formula of a rule with the numbers of one board, step by step."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from drc_rules.explain.explain_trace import BoardTrace, CalculationStep, ClauseTrace, Decided, FactUsed, trace_clauses
from drc_rules.report.formula import Formula, Value, evaluate, nominal, number, substituted
from drc_rules.report.model import Verdict
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.documents import cite
from drc_rules.rules.rule import Rule, all_rules
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.facts import Confidence
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackwright.commands.lookup.shipped import shipped_clauses
from stackwright.commands.request import JSON, BoardRequest
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, some
from stackwright.text.words import number as with_unit

FORMAT, VERSION = "stackwright-explanation", 1
AMISS_SHOWN, FACTS_SHOWN = 2, 8
"""What the text shows without `--all`; of a clause whose objects all passed one. JSON has everything."""

VERDICT_STYLE = {
    Verdict.FAILED: "bold red",
    Verdict.NOT_VERIFIABLE: "yellow",
    Verdict.PASSED: "green",
    Verdict.NOT_APPLICABLE: "dim",
}


@dataclass(frozen=True)
class ExplainRequest(BoardRequest):
    """What the command line asks: a rule or clause of one board, with the options of `check`.

    Attributes:
        verbose: show all objects, not the first of each clause.
    """

    word: str
    verbose: bool = False


@record
class Asked:
    """What a word means: a rule with all its clauses, or one clause."""

    rule: Rule | None
    clause: str | None

    def wants(self, clause: Clause) -> bool:
        """Tell whether a clause is chosen."""
        if self.clause is not None:
            return clause.id == self.clause
        return self.rule is not None and clause.kind in self.rule.kinds


def explain_board(typed: Path, request: ExplainRequest) -> int:
    """Print how one board answers a rule or a clause.

    Raises:
        StackwrightError: no such rule or clause, or the board or its settings cannot be read.
    """
    path = find_board(typed)
    request.check_file(typed, path)
    asked = _asked(request.word)
    with watched(path.name):
        found = trace_clauses(read_board(path), request.config_of(path), request.overrides, asked.wants)
    asked = _known(asked, found)
    if request.format == JSON:
        text = json.dumps(as_data(path, asked, found), indent=2, ensure_ascii=True) + "\n"
    else:
        text = request.laid_out(_page(path, asked, found, show_all=request.verbose))
    request.deliver(text, "explanation")
    return 0


def _asked(word: str) -> Asked:
    rule = next((one for one in all_rules() if word.lower() in one.words), None)
    return Asked(rule, None) if rule else Asked(None, word.lower())


def _known(asked: Asked, found: BoardTrace) -> Asked:
    """Find the rule of a clause; raises `ConfigError` where neither this board nor any profile has the clause."""
    if asked.rule is not None:
        return asked
    clauses = [one.clause for one in found.answers]
    clauses += [one.clause for one in shipped_clauses() if one.clause.id == asked.clause]
    if not clauses:
        known = {text for one in all_rules() for text in (one.code, one.name)}
        known |= {one.clause.id for one in shipped_clauses()} | {one.id for one in found.clauses}
        hint = did_you_mean(asked.clause or "", known)
        near = hint if hint.startswith("did") else "stackwright rules and stackwright profiles list them"
        raise ConfigError(asked.clause or "", "no such rule or clause", near)
    rule = next((one for one in all_rules() if clauses[0].kind in one.kinds), None)
    return Asked(rule, asked.clause)


# ---------------------------------------------------------------------------------------------- text


def _page(path: Path, asked: Asked, found: BoardTrace, *, show_all: bool) -> Page:
    page = Page()
    rule = asked.rule
    page.line(styled(f"{rule.code} {rule.name}" if rule else asked.clause or "", "bold"), f"  {path.as_posix()}")
    if rule:
        page.line(rule.summary)
    where = found.profile.name if found.profile else "no workload"
    page.line(styled(f"for {where}{f', form {found.form}' if found.form else ''}", "dim"))
    if rule and rule.formula:
        _formula(page, rule.formula)
    for answer in found.answers:
        _clause(page, answer, show_all=show_all)
    if not found.answers:
        _not_asked(page, asked, found)
    _facts(page, _used(found, show_all=show_all), show_all=show_all)
    page.gap()
    word = rule.code if rule else asked.clause
    page.line(f"next: stackwright explain {word}")
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
        page.line(styled(f"and {count(telling - len(shown), 'further object')}: --all shows them", "dim"), indent=2)
    if shown and len(answer.objects) > telling:
        page.gap()
        page.line(styled(f"and {count(len(answer.objects) - telling, 'object')} that passed", "dim"), indent=2)


def _shown(answer: ClauseTrace, *, show_all: bool) -> Sequence[Decided]:
    """The objects that are shown in full: the first ones with anything to show."""
    telling = [one for one in answer.objects if one.steps or one.findings or one.missing]
    amiss = sum(one.verdict is not Verdict.PASSED for one in telling)
    return telling if show_all else telling[: max(1, min(amiss, AMISS_SHOWN))]


def _tally(answer: ClauseTrace) -> Text:
    verdict = answer.verdict
    guess = verdict is Verdict.PASSED and any(one.confidence is Confidence.LOW for one in answer.objects)
    text = styled(f"{verdict.value} on a guess" if guess else verdict.value, VERDICT_STYLE[verdict])
    if answer.rule is None:
        return text.append(": no rule decides it yet")
    if not answer.objects:
        return text.append(f": {_why_not(answer)}")
    verdicts = [one.verdict for one in answer.objects]
    if len(set(verdicts)) == 1:
        return text.append(f": {count(len(verdicts), 'object')}{', all of them' if len(verdicts) > 1 else ''}")
    parts = [f"{verdicts.count(one)} {one.value}" for one in Verdict if one in verdicts]
    return text.append(f": of {count(len(verdicts), 'object')} {', '.join(parts)}")


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
        page.line(_styled_verdict(one.verdict), sure, f"  {what}", indent=2)
    for working in one.steps if formula else ():
        page.line(
            _styled_verdict(_verdict_of(formula, one, working)), sure, "  ", styled(working.what, "bold"), indent=2
        )
        _working(page, formula, working)
    for finding in one.findings:
        if one.steps and formula:
            page.line(f"{finding.severity.value}: {finding.title}", indent=4)
        elif finding.measured and finding.limit and finding.limit.value is not None:
            measured, limit = (with_unit(one.value, one.unit) for one in (finding.measured, finding.limit))
            page.line(f"found {measured}, required {limit}", indent=4)
        page.line(styled(f"fix: {finding.fix}", "dim"), indent=4)
    if one.missing:
        if one.steps and formula:
            page.line(f"not known: {one.missing.fact}", indent=4)
        page.line("to decide it, give:", indent=4)
        page.verbatim(one.missing.how_to_give.splitlines(), indent=6)


def _styled_verdict(verdict: Verdict) -> Text:
    return styled(verdict.value, VERDICT_STYLE[verdict])


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
    units = {symbol.name: symbol.unit for symbol in formula.symbols}
    rows = [
        (styled(symbol.name, "cyan"), _with_range(values[symbol.name], symbol.unit), styled(symbol.meaning, "dim"))
        for symbol in formula.symbols
        if symbol.name in values
    ]
    page.rows([Column(min_width=4), Column(), Column(wraps=True)], rows, indent=4)
    for step in steps(formula, values, units):
        page.line(step, indent=4)


def steps(formula: Formula, values: dict[str, Value], units: dict[str, str]) -> Iterable[Text]:
    """Give each line of a formula with its numbers: definitions with their result, criteria with yes or no."""
    for name, right in formula.definitions:
        if name in values:
            text = f"{name} = {right} = {substituted(right, values)}"
            result = f"{number(nominal(values[name]))} {units.get(name, '')}".strip()
            yield styled(text).append(f" = {result}", style="bold")
    for criterion in formula.criteria:
        holds = formula.holds(criterion, values)
        if holds is not None:
            text = f"{criterion}:  {substituted(criterion, values)}{_result(criterion, values)}"
            yield styled(text).append_text(_holds(formula, criterion, values, nominally=holds))
    if any(formula.holds(criterion, values) is False for criterion in formula.criteria):
        yield from _failing(formula, values)


def _failing(formula: Formula, values: dict[str, Value]) -> Iterable[Text]:
    """Say of what does not pass whether it fails, where a formula tells the two apart."""
    for failure in formula.failures:
        fails = formula.holds(failure, values)
        if fails is not None:
            text = f"fails where {failure}:  {substituted(failure, values)}{_result(failure, values)}"
            answer = ("  it does", "bold red") if fails else ("  it does not: open", "yellow")
            yield styled(text).append_text(styled(*answer))


def _holds(formula: Formula, criterion: str, values: Mapping[str, Value], *, nominally: bool) -> Text:
    """Say whether a criterion holds: nominally, and over the whole of what is not known."""
    ends: list[dict[str, Value]] = [
        {name: getattr(value, end) if isinstance(value, Interval) else value for name, value in values.items()}
        for end in ("low", "high")
    ]
    always = {formula.holds(criterion, one) for one in ends} == {nominally}
    answer = "holds" if nominally else "does not hold"
    return styled(
        f"  {answer}{'' if always else ' nominally, but may not' if nominally else ' nominally, but may'}",
        ("green" if nominally else "bold red") if always else "yellow",
    )


def _result(criterion: str, values: Mapping[str, Value]) -> str:
    """The value of a limit that is computed itself: ` = 48`."""
    limit = re.split(r"[≤≥<>] ", criterion)[-1]
    return "" if limit in values else f" = {number(evaluate(limit, values))}"


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
        page.line(styled(f"and {count(len(known) - len(shown), 'further fact')}: --all shows them", "dim"), indent=2)


def _not_asked(page: Page, asked: Asked, found: BoardTrace) -> None:
    """Say why it does not apply to this board, and where it applies."""
    shipped = [s for s in shipped_clauses() if asked.wants(s.clause)]
    by = list(dict.fromkeys(name for one in shipped for name in one.asked_by))
    page.heading("Not asked of this board")
    if found.profile is None:
        page.line("No workload is stated: only the state of the board itself is judged.", indent=2)
    else:
        page.line(f"No clause of {found.profile.name} for the interfaces of this board asks it.", indent=2)
    if by:
        page.line(f"It is required by {some(by, 6)}; --profile NAME judges the board for one of them.", indent=2)


# ---------------------------------------------------------------------------------------------- JSON


def as_data(path: Path, asked: Asked, found: BoardTrace) -> dict[str, object]:
    """Return everything that the text tells, and what it leaves out, for machines."""
    rule = asked.rule
    return {
        "format": FORMAT,
        "version": VERSION,
        "board": path.as_posix(),
        "profile": found.profile.name if found.profile else None,
        "form": found.form,
        "rule": {"code": rule.code, "name": rule.name} if rule else None,
        "formula": _formula_data(rule.formula) if rule and rule.formula else None,
        "clauses": [_clause_data(answer) for answer in found.answers],
    }


def _formula_data(formula: Formula) -> dict[str, object]:
    return {
        "lines": list(formula.lines),
        "passes": list(formula.criteria),
        "symbols": {one.name: {"meaning": one.meaning, "unit": one.unit} for one in formula.symbols},
    }


def _clause_data(answer: ClauseTrace) -> dict[str, object]:
    formula = answer.rule.formula if answer.rule else None
    return {
        "clause": answer.clause.model_dump(mode="json"),
        "source": cite(answer.clause.source),
        "verdict": answer.verdict.value,
        "facts": [_fact_data(fact) for fact in answer.facts],
        "objects": [
            {
                "verdict": one.verdict.value,
                "confidence": one.confidence.value,
                "workings": [_working_data(formula, working) for working in one.steps if formula],
                "findings": [finding.model_dump(mode="json") for finding in one.findings],
                "missing": one.missing.model_dump(mode="json") if one.missing else None,
                "facts": [_fact_data(fact) for fact in one.facts],
            }
            for one in answer.objects
        ],
    }


def _working_data(formula: Formula, working: CalculationStep) -> dict[str, object]:
    values = formula.complete(working.numbers)
    units = {symbol.name: symbol.unit for symbol in formula.symbols}
    return {
        "what": working.what,
        "numbers": {name: _number_data(value) for name, value in values.items()},
        "steps": [step.plain for step in steps(formula, values, units)],
        "holds": [formula.holds(criterion, values) for criterion in formula.criteria],
    }


def _number_data(value: Value) -> object:
    """A number, or a range; None stands for the infinite, for which JSON has no word."""
    if isinstance(value, Interval):
        return {end: _number_data(number) for end, number in value.model_dump().items()}
    return value if math.isfinite(value) else None


def _fact_data(fact: FactUsed) -> dict[str, str]:
    return {
        "name": fact.name,
        "value": fact.value,
        "origin": fact.origin.value,
        "source": fact.source,
        "confidence": fact.confidence.value,
    }
