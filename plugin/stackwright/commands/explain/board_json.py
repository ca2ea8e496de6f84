"""How one board answers a rule or a clause, as JSON: all that the text tells, and what it leaves out."""

from __future__ import annotations

import math
from pathlib import Path

from drc_rules.explain.explain_trace import BoardTrace, CalculationStep, ClauseTrace, FactUsed
from drc_rules.report.formula import Formula, Value
from drc_rules.requirements.documents import cite
from stackup_lib.core.interval import Interval
from stackwright.commands.explain.formula_steps import steps
from stackwright.commands.explain.subject import Subject

FORMAT, VERSION = "stackwright-explanation", 1


def explanation_data(path: Path, subject: Subject, found: BoardTrace) -> dict[str, object]:
    """Return everything that the text tells, and what it leaves out, for machines."""
    rule = subject.rule
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
    return {
        "what": working.what,
        "numbers": {name: _number_data(value) for name, value in values.items()},
        "steps": [step.plain for step in steps(formula, values)],
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
