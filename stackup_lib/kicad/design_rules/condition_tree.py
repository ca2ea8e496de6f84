"""KiCad's rule conditions as trees, and their truth where only some of their parts are known.

Who knows what a part is about gives its truth: true, false, or None for "cannot tell".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from stackup_lib.core.record import record

_PIECE = (
    r"\s*(?:(?P<op>\|\||&&|==|!=|<=|>=|[()!<>,])|'(?P<text>[^']*)'|(?P<number>[-+]?\d+\.?\d*[a-zA-Z]*)"
    r"|(?P<word>[A-Za-z_][\w.]*)|(?P<other>[^\s]))"
)
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_END = ("end", "")
MOST_TOKENS = 150
"""Longer conditions are not tried: their parentheses could be nested deeper than Python follows."""


@record
class Comparison:
    """`A.NetClass == 'x'`: a word, an operator, and a text in quotes; `is_text` is False for anything else there."""

    word: str
    operator: str
    value: str
    is_text: bool = True


@record
class Call:
    """`A.insideArea('x')`; arguments that are no texts in quotes are left out."""

    word: str
    arguments: tuple[str, ...]


@record
class Junction:
    """Parts under `all` (`&&`), `any` (`||`) or, one part, `not` (`!`)."""

    kind: Literal["all", "any", "not"]
    parts: tuple[Condition, ...]


Leaf: TypeAlias = Comparison | Call
Condition: TypeAlias = Comparison | Call | Junction


@lru_cache(maxsize=1024)
def parse_condition(text: str) -> Condition | None:
    """Return the tree of a condition; None where it is empty or not one that we can follow."""
    tokens = tuple((m.lastgroup or "other", m[m.lastgroup or "other"]) for m in re.finditer(_PIECE, text))
    if not tokens or len(tokens) > MOST_TOKENS or any(kind == "other" for kind, _ in tokens):
        return None
    parser = _Parser(tokens)
    try:
        found = parser.every()
    except _StrangeError:
        return None
    return found if parser.at == len(tokens) else None


def truth(condition: Condition, of: Callable[[Leaf], bool | None]) -> bool | None:
    """Return whether a condition is true when its parts are what `of` says; None where that leaves it open."""
    if not isinstance(condition, Junction):
        return of(condition)
    values = [truth(part, of) for part in condition.parts]
    if condition.kind == "not":
        return None if values[0] is None else not values[0]
    decides = condition.kind == "any"
    if decides in values:
        return decides
    return None if None in values else not decides


def leaves(condition: Condition) -> Iterator[Leaf]:
    """Yield the parts that are no junctions, from left to right."""
    if isinstance(condition, Junction):
        for part in condition.parts:
            yield from leaves(part)
    else:
        yield condition


def is_like(value: str, pattern: str, *, minds_case: bool = False) -> bool:
    """Tell whether a value fits a text of a condition, which may hold `*` and `?`."""
    flags = re.DOTALL if minds_case else re.DOTALL | re.IGNORECASE
    return _expression(pattern, flags).fullmatch(value) is not None


@lru_cache(maxsize=1024)
def _expression(pattern: str, flags: re.RegexFlag) -> re.Pattern[str]:
    """A pattern that never steps back: the shortest run up to each fixed piece is the right one."""
    first, *others = [re.escape(piece).replace(r"\?", ".") for piece in pattern.split("*")]
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1] if piece)
    text = f"{first}{middle}.*{others[-1]}" if others else first
    return re.compile(text, flags)


class _StrangeError(Exception):
    """The condition is not one that we can follow."""


class _Parser:
    """Recursive descent. In KiCad, tried on 10.0.6, `!` binds before `==`, and `||` before `&&`: not as in C."""

    def __init__(self, tokens: tuple[tuple[str, str], ...]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def take(self, text: str | None = None) -> tuple[str, str]:
        found = self.peek()
        if found == _END or (text is not None and found != ("op", text)):
            raise _StrangeError
        self.at += 1
        return found

    def every(self) -> Condition:
        parts = [self.either()]
        while self.peek() == ("op", "&&"):
            self.take()
            parts.append(self.either())
        return parts[0] if len(parts) == 1 else Junction("all", tuple(parts))

    def either(self) -> Condition:
        parts = [self.one()]
        while self.peek() == ("op", "||"):
            self.take()
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else Junction("any", tuple(parts))

    def one(self) -> Condition:
        if self.peek() == ("op", "!"):
            return self.negated()
        if self.peek() == ("op", "("):
            self.take()
            inside = self.every()
            self.take(")")
            return inside
        kind, word = self.take()
        if kind != "word":
            raise _StrangeError
        return self.call(word) if self.peek() == ("op", "(") else self.comparison(word)

    def negated(self) -> Condition:
        """What a `!` begins; before a comparison KiCad turns the word alone, and what that gives equals no text."""
        self.take("!")
        begin = self.at
        while self.peek() == ("op", "!"):
            self.take()
        if self.peek()[0] != "word" or self.tokens[self.at + 1 : self.at + 2] == (("op", "("),):
            self.at = begin
            return Junction("not", (self.one(),))
        compared = self.comparison(self.take()[1])
        if not compared.is_text or compared.operator not in ("==", "!="):
            raise _StrangeError
        return Junction("all" if compared.operator == "!=" else "any", ())

    def call(self, word: str) -> Call:
        self.take("(")
        arguments: list[str] = []
        while self.peek() != ("op", ")"):
            kind, text = self.take()
            if kind == "text":
                arguments.append(text)
            elif (kind, text) != ("op", ","):
                raise _StrangeError
        self.take(")")
        return Call(word, tuple(arguments))

    def comparison(self, word: str) -> Comparison:
        operator = self.take()[1]
        kind, value = self.take()
        if operator not in _COMPARISONS or kind == "op":
            raise _StrangeError
        return Comparison(word, operator, value, is_text=kind == "text")
