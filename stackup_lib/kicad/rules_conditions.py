"""KiCad's rule conditions for a track of a net on a layer: true, false, or None for "cannot tell".

Only what holds for the whole net is decided. Areas, other items, and whatever else is not understood stay open: a
condition never raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from stackup_lib.kicad.patterns import is_literal

_TOKEN = re.compile(
    r"\s*(?:(?P<op>\|\||&&|==|!=|<=|>=|[()!<>,])|'(?P<text>[^']*)'|(?P<word>[A-Za-z_][\w.]*)|(?P<other>[^\s]))"
)
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
MOST_TOKENS = 150
"""Longer conditions are not tried: their parentheses could be nested deeper than Python follows."""


@dataclass(frozen=True)
class TrackOfNet:
    """What a condition is asked about; `classes` holds the net's classes, `Default` when it has no other."""

    net: str
    classes: tuple[str, ...]
    layer: str
    in_pair: bool | None = None


class _StrangeError(Exception):
    """The condition is not one that we can follow."""


def holds(condition: str | None, track: TrackOfNet) -> bool | None:
    """Return whether a rule's condition is true for a track; None where that cannot be told."""
    if condition is None or not condition.strip():
        return True
    tokens = _tokens(condition)
    if tokens is None:
        return None
    parser = _Parser(tokens, track)
    try:
        value = parser.either()
        return value if parser.at == len(tokens) else None
    except _StrangeError:
        return None


@lru_cache(maxsize=1024)
def _tokens(condition: str) -> tuple[tuple[str, str], ...] | None:
    """The tokens of a condition; None where it holds what is none. Each is asked about net by net."""
    tokens = tuple((m.lastgroup or "other", m[m.lastgroup or "other"]) for m in _TOKEN.finditer(condition))
    return None if len(tokens) > MOST_TOKENS or any(kind == "other" for kind, _ in tokens) else tokens


class _Parser:
    """Recursive descent that evaluates as it reads; `||` binds weaker than `&&`."""

    def __init__(self, tokens: tuple[tuple[str, str], ...], track: TrackOfNet) -> None:
        self.tokens, self.track, self.at = tokens, track, 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, text: str | None = None) -> tuple[str, str]:
        found = self.peek()
        if found[0] == "end" or (text is not None and found != ("op", text)):
            raise _StrangeError
        self.at += 1
        return found

    def either(self) -> bool | None:
        value = self.both()
        while self.peek() == ("op", "||"):
            self.take()
            other = self.both()
            value = True if True in (value, other) else None if None in (value, other) else False
        return value

    def both(self) -> bool | None:
        value = self.one()
        while self.peek() == ("op", "&&"):
            self.take()
            other = self.one()
            value = False if False in (value, other) else None if None in (value, other) else True
        return value

    def one(self) -> bool | None:
        if self.peek() == ("op", "!"):
            self.take()
            value = self.one()
            return None if value is None else not value
        if self.peek() == ("op", "("):
            self.take()
            value = self.either()
            self.take(")")
            return value
        kind, word = self.take()
        if kind != "word":
            raise _StrangeError
        if self.peek() == ("op", "("):
            return self.function(word)
        return self.comparison(word)

    def function(self, word: str) -> bool | None:
        self.take("(")
        arguments: list[str] = []
        while self.peek() != ("op", ")"):
            kind, text = self.take()
            if kind == "text":
                arguments.append(text)
            elif (kind, text) != ("op", ","):
                raise _StrangeError
        self.take(")")
        if len(arguments) != 1:
            return None
        if word == "A.hasNetclass":
            return self.has_class(arguments[0])
        if word == "A.inDiffPair" and arguments[0] == "*":
            return self.track.in_pair
        return None

    def has_class(self, name: str) -> bool | None:
        """Exact names are certain; whether KiCad takes wildcards and other letter cases here has not been tried."""
        if name in self.track.classes:
            return True
        return None if any(_same(known, name) for known in self.track.classes) else False

    def comparison(self, word: str) -> bool | None:
        operator = self.take()[1]
        if operator not in _COMPARISONS:
            raise _StrangeError
        kind, text = self.take()
        if kind not in ("text", "word"):
            raise _StrangeError
        if kind != "text" or operator not in ("==", "!="):
            return None
        equal = self.equal(word, text)
        return None if equal is None else equal == (operator == "==")

    def equal(self, word: str, text: str) -> bool | None:
        if word == "A.NetName":
            return _same(self.track.net, text)
        if word == "A.Layer":
            return _same(self.track.layer, text)
        if word == "A.Type":
            return _same("Track", text)
        if word == "A.NetClass":
            # Of several classes KiCad compares a joined name: only "none fits" is certain.
            found = any(_same(name, text) for name in self.track.classes)
            return found if len(self.track.classes) == 1 or not found else None
        return None


def _same(value: str, pattern: str) -> bool:
    parts = [re.escape(part) for part in re.split(r"([*?])", pattern)]
    if is_literal(pattern) or not any(c in pattern for c in "*?"):
        return value.casefold() == pattern.casefold()
    expression = "".join({r"\*": ".*", r"\?": "."}.get(part, part) for part in parts)
    return re.fullmatch(expression, value, re.IGNORECASE | re.DOTALL) is not None
