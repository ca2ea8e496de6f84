"""Whether KiCad 10 can compile a rule's condition and find its layer: where not, it ignores the whole file."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

import tomli

_PIECE = (
    r"\s*(?:(?P<op>\|\||&&|==|!=|<=|>=|[()!<>,])|'(?P<text>[^']*)(?:'|$)|(?P<number>\d+(?:\.\d*)?\s*(?P<unit>[A-Za-z]*))"
    r"|(?P<word>[A-Za-z_][\w.]*)|(?P<other>\S))"
)
_BINARY = frozenset({"||", "&&", "==", "!=", "<=", ">=", "<", ">"})
_REJECTED_SIGNS = frozenset("=&|")
_UNITS = frozenset({"mm", "mil", "in"})
_ITEMS = frozenset({"A", "B", "AB"})
MOST_TOKENS = 150
"""Longer conditions are not tried: their parentheses could be nested deeper than Python follows."""


class Problem(NamedTuple):
    """What is odd about a piece of a rule; `is_certain` where KiCad is known to reject it."""

    what: str
    is_certain: bool


class _Odd(Exception):  # noqa: N818 - ends the walk; not an error of the program
    def __init__(self, what: str, *, is_certain: bool) -> None:
        super().__init__(what)
        self.problem = Problem(what, is_certain)


@cache
def _words() -> tuple[dict[str, int], frozenset[str], frozenset[str]]:
    """Functions with their fewest arguments, accepted and rejected properties; KiCad does not mind letter case."""
    found = tomli.loads(Path(__file__).with_name("conditions.toml").read_text(encoding="utf-8"))
    functions = {name.lower(): int(least) for name, least in found["functions"].items()}
    accepted, rejected = (frozenset(found["properties"][key].lower().split()) for key in ("accepted", "rejected"))
    return functions, accepted, rejected


@cache
def _layer_names() -> frozenset[str]:
    """Names that KiCad knows on every board, however many layers it has and whatever it calls them."""
    found = tomli.loads(Path(__file__).with_name("conditions.toml").read_text(encoding="utf-8"))["layers"]
    numbered = (row["name"].format(k) for row in found["numbered"] for k in range(1, int(row["count"]) + 1))
    return frozenset([*found["names"].split(), *numbered])


def condition_problem(condition: str) -> Problem | None:
    """Return the first thing in a condition that KiCad rejects, or that was never tried; None for neither."""
    tokens = [(m.lastgroup if m.lastgroup != "unit" else "number", m) for m in re.finditer(_PIECE, condition)]
    if not condition.strip():
        return None
    if len(tokens) > MOST_TOKENS:
        return Problem("a condition that is too long to follow", is_certain=False)
    walk = _Walk([(str(kind), m) for kind, m in tokens])
    try:
        walk.expression()
        if not walk.at_end:
            raise _Odd(f'"{walk.shown}" where an operator is expected', is_certain=True)
    except _Odd as odd:
        return odd.problem
    return None


def layer_problem(layer: str, *, is_quoted: bool, user_names: frozenset[str] | None) -> Problem | None:
    """Return what is wrong with a rule's layer; `user_names`: what the board calls its layers, None if not known."""
    if layer in ("inner", "outer") and not is_quoted:
        return None
    if layer in ("inner", "outer"):
        return Problem(f'the layer "{layer}" in quotes, where KiCad knows {layer} only without', is_certain=True)
    names = _layer_names() | (user_names or frozenset())
    pattern = layer.replace("[", "[[]")  # KiCad has * and ?, and no sets
    if user_names is None or any(fnmatchcase(name, pattern) for name in names):
        return None
    return Problem(f'the layer "{layer}", which the board does not have', is_certain=True)


class _Walk:
    """Goes over the tokens of a condition; precedence does not matter for what is rejected."""

    def __init__(self, tokens: list[tuple[str, re.Match[str]]]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def at_end(self) -> bool:
        return self.at >= len(self.tokens)

    @property
    def shown(self) -> str:
        return "the end" if self.at_end else self.tokens[self.at][1].group().strip()

    def is_op(self, *texts: str) -> bool:
        return not self.at_end and self.tokens[self.at][1]["op"] in texts

    def expression(self) -> None:
        self.operand()
        while self.is_op(*_BINARY):
            self.at += 1
            self.operand()
        if not self.at_end and self.tokens[self.at][0] == "other":
            sign = self.shown
            raise _Odd(f'"{sign}" in a condition', is_certain=sign in _REJECTED_SIGNS)

    def operand(self) -> None:
        while self.is_op("!"):
            self.at += 1
        if self.at_end:
            raise _Odd("a condition that ends too early", is_certain=True)
        kind, match = self.tokens[self.at]
        if self.is_op("("):
            self.at += 1
            self.expression()
            if not self.is_op(")"):
                raise _Odd("a parenthesis in a condition that is never closed", is_certain=self.at_end)
            self.at += 1
        elif kind == "op":
            raise _Odd(f'"{self.shown}" where a value is expected', is_certain=True)
        elif kind == "number":
            self.at += 1
            if match["unit"] not in _UNITS:
                what = f'the number "{match["number"]}" in a condition'
                raise _Odd(what if match["unit"] else f"{what} has no unit", is_certain=not match["unit"])
        elif kind == "word":
            self.word(match["word"])
        else:
            self.at += 1
            if kind == "other":
                raise _Odd(f'"{match["other"]}" in a condition', is_certain=False)

    def word(self, word: str) -> None:
        self.at += 1
        item, dot, name = word.partition(".")
        if not dot:
            if word not in _ITEMS and word != "L":
                raise _Odd(f'"{word}" in a condition: a text stands in single quotes', is_certain=True)
            return
        if item not in _ITEMS:
            raise _Odd(f'"{word}" in a condition: an item is A, B or AB', is_certain=True)
        if self.is_op("("):
            self.function(name)
        else:
            self.property(name)

    def function(self, name: str) -> None:
        functions = _words()[0]
        if name.lower() not in functions:
            raise _Odd(f'the function "{name}", which KiCad 10 does not know', is_certain=True)
        self.at += 1
        count = 0
        while not self.at_end and self.tokens[self.at][0] == "text":
            count += 1
            self.at += 1
            if self.is_op(","):
                self.at += 1
        if not self.is_op(")"):
            raise _Odd(f'what stands in the parentheses of "{name}"', is_certain=False)
        self.at += 1
        if count < functions[name.lower()]:
            raise _Odd(f'"{name}" with too few arguments', is_certain=True)

    @staticmethod
    def property(name: str) -> None:
        _, accepted, rejected = _words()
        if "." in name or name.lower() in rejected:
            raise _Odd(f'the property "{name}", which KiCad 10 does not know', is_certain=True)
        if name.lower() not in accepted:
            raise _Odd(f'the property "{name}"', is_certain=False)
