"""A formula with the numbers of one object, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rich.text import Text

from drc_rules.report.formula import Formula, Value, evaluate, nominal, number, substituted
from stackup_lib.core.interval import Interval
from stackwright.text.page import styled


def steps(formula: Formula, values: dict[str, Value]) -> Iterator[Text]:
    """Yield each line of a formula with its numbers: definitions with their result, criteria with yes or no."""
    units = {symbol.name: symbol.unit for symbol in formula.symbols}
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


def _failing(formula: Formula, values: dict[str, Value]) -> Iterator[Text]:
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
