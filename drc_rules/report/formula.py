"""Formulas of rules: text for people that can be evaluated, so that what is printed is what was decided.

A formula is a few lines, an empty line, and its symbols:

    f = c / (4 · L · √(Dk))
    f ≥ k · f_N

    f: quarter-wave resonance of the stub [GHz]
    ...

A line with `=` defines the symbol at its left; one with `≤`, `≥`, `<` or `>` is what passes, or, behind "fails where",
what fails: what neither passes nor fails is open. Any other line is prose, for what no closed form gives. Arithmetic is
Python's, with `·`, `√(...)`, `²`, `^`, `|...|` and `π`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from drc_rules.report.numbers import at_precision
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record

Value = float | Interval
"""A number of a formula: plain, or with the range that is not known."""

_SYMBOL = r"^(\w+): (.*?)(?: \[([^\]]*)\])?$"
_WORD = r"[^\W\d]\w*"
_COMPARES = r"[≤≥<>]"
_WRITTEN = (("·", "*"), ("√", "sqrt"), ("²", "**2"), ("^", "**"), ("≤", "<="), ("≥", ">="))
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "abs": abs,
    "min": min,
    "max": max,
    "log10": math.log10,
    "ln": math.log,
    "ceil": math.ceil,
    "round": lambda value, decimals: at_precision(value, int(decimals)),
}
_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FAILS = "fails where "
_SLACK = 1e-6
"""KiCad stores nanometres, and sums of them as floats: a limit that is met by less is met."""


@record
class Symbol:
    """A symbol of a formula: its meaning as text, and its unit, empty for a plain number."""

    name: str
    meaning: str
    unit: str = ""


@record
class Formula:
    """What a rule computes and what passes.

    Attributes:
        lines: definitions, what passes, and prose, in their order.
        symbols: in the order in which they are explained.
    """

    lines: tuple[str, ...]
    symbols: tuple[Symbol, ...]

    @property
    def definitions(self) -> tuple[tuple[str, str], ...]:
        """Symbol and expression of every line with a closed form."""
        found = (line.partition(" = ") for line in self.lines if not re.search(_COMPARES, line))
        return tuple((left, right) for left, sign, right in found if sign and re.fullmatch(_WORD, left))

    @property
    def criteria(self) -> tuple[str, ...]:
        """What passes: all of them must hold."""
        return tuple(line for line in self.lines if re.search(_COMPARES, line) and not line.startswith(_FAILS))

    @property
    def failures(self) -> tuple[str, ...]:
        """What fails: each alone does. Where a formula has none, what does not pass fails."""
        return tuple(line.removeprefix(_FAILS) for line in self.lines if line.startswith(_FAILS))

    def complete(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """Return the given numbers and those that the definitions make of them, in the order of the symbols."""
        known = dict(given)
        for name, right in self.definitions:
            if name not in known and needed(right) <= known.keys():
                known[name] = evaluate(right, known)
        return {symbol.name: known[symbol.name] for symbol in self.symbols if symbol.name in known}

    def holds(self, criterion: str, values: Mapping[str, Value]) -> bool | None:
        """Tell whether a criterion holds with these numbers; None where one of them is not given."""
        if not needed(criterion) <= values.keys():
            return None
        return bool(evaluate(criterion, values))

    def spare(self, given: Mapping[str, Value]) -> float:
        """Return what is left to the nearest limit, as a share of it; below 0 past it, infinite where none compares."""
        values, least = self.complete(given), math.inf
        for criterion in self.criteria:
            left, sign, right = re.split(r"([≤≥<>])", criterion, maxsplit=1)
            if needed(criterion) <= values.keys() and not re.search(_COMPARES, right):
                small, large = (left, right) if sign in "≤<" else (right, left)
                low, high = evaluate(small, values), evaluate(large, values)
                scale = max(abs(low), abs(high)) or 1.0
                least = min(least, (high - low) / scale if math.isfinite(scale) else high - low)
        return least


def read_formula(text: str) -> Formula:
    """Read the text of a formula.

    Raises:
        ValueError: a line under the empty one explains no symbol.
    """
    shown, _, explained = text.strip().partition("\n\n")
    symbols = []
    for line in filter(None, map(str.strip, explained.splitlines())):
        match = re.match(_SYMBOL, line)
        if match is None:
            raise ValueError(f"no symbol: {line}")
        symbols.append(Symbol(match[1], match[2], match[3] or ""))
    return Formula(tuple(line.strip() for line in shown.splitlines()), tuple(symbols))


def needed(expression: str) -> set[str]:
    """Return the symbols in an expression."""
    return {word for word in re.findall(_WORD, expression) if word not in (*_FUNCTIONS, "π", "or")}


def substituted(expression: str, values: Mapping[str, Value]) -> str:
    """Return an expression with numbers in place of its symbols."""
    return re.sub(_WORD, lambda m: number(nominal(values[m[0]])) if m[0] in values else m[0], expression)


def nominal(value: Value) -> float:
    """Return a plain number, or the middle one of a range."""
    return value.nominal if isinstance(value, Interval) else value


def number(value: float) -> str:
    """Return a number as people read it: five digits that count, whole ones as they are."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == round(value) and abs(value) < 1e9:
        return f"{value:.0f}"
    text = f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
    return text if "e" not in text else f"{value:.2e}"


def evaluate(expression: str, values: Mapping[str, Value]) -> float:
    """Return the value of an expression, for a comparison 1 or 0; no more than arithmetic is understood.

    Raises:
        ValueError: it holds anything else.
        KeyError: a symbol has no value.
    """
    text = re.sub(r"\|([^|]+)\|", r"abs(\1)", expression)
    for written, python in _WRITTEN:
        text = text.replace(written, python)
    plain = {name: nominal(value) for name, value in values.items()} | {"π": math.pi}
    return _value(ast.parse(text.strip(), mode="eval").body, plain)


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return float(constant)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _BINARY[type(sign)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(one, values) for one in arguments))
        case ast.BoolOp(op=ast.Or(), values=parts):
            return float(any(_value(one, values) for one in parts))
        case ast.Compare(left=left, ops=signs, comparators=rest):
            sides = [_value(one, values) for one in (left, *rest)]
            return float(all(_compare(sign, sides[k], sides[k + 1]) for k, sign in enumerate(signs)))
    raise ValueError(f"no arithmetic: {ast.unparse(node)}")


def _compare(sign: ast.cmpop, left: float, right: float) -> bool:
    """Compare; what is equal but for the last digit of a float is equal."""
    if isinstance(sign, ast.LtE | ast.GtE) and math.isclose(left, right, rel_tol=_SLACK, abs_tol=_SLACK):
        return True
    match sign:
        case ast.LtE():
            return left <= right
        case ast.GtE():
            return left >= right
        case ast.Lt():
            return left < right
        case ast.Gt():
            return left > right
    raise ValueError(f"no comparison: {type(sign).__name__}")
