"""Small lists of a board file as nested Python lists, and typed access to what they hold.

Words stay as they are written, quotes included, so that `(net "1")` and `(net 1)` remain different.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TypeAlias

Node: TypeAlias = "list[str | Node]"

_TOKEN = re.compile(r'[()]|"[^"\\]*(?:\\.[^"\\]*)*"|(?:\\[\\"]?|[^\s()"\\])+', re.DOTALL)
"""A backslash before a quote escapes it outside strings as well: the scan counts quotes that way."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST = 64
MOST = 1e10
"""No number of a board is larger: KiCad's coordinates end at 2147 mm, net numbers and times below this."""
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class MalformedError(ValueError):
    """A list does not hold what it must; the reader adds file and line."""


def parse(data: bytes, start: int, end: int) -> Node:
    """Return the list between two offsets as nested lists; its parentheses are known to balance."""
    root: Node = []
    node, stack = root, [root]
    for token in _TOKEN.findall(data[start:end].decode("utf-8", "replace")):
        if token == "(":  # noqa: S105 - a token of the grammar
            child: Node = []
            node.append(child)
            stack.append(node)
            node = child
        elif token == ")":  # noqa: S105
            if not stack:
                raise MalformedError("the parentheses do not balance")
            node = stack.pop()
        else:
            node.append(token)
    if not root or not isinstance(root[0], list):
        raise MalformedError("the parentheses do not balance")
    return root[0]


def unquoted(token: str) -> str:
    """Return a word without its quotes and escapes."""
    if not token.startswith('"'):
        return token
    inner = token[1:-1]
    return _ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _SIMPLE.get(code, code)


def number(token: object, name: str) -> float:
    """Return a word as a number; `name` says in errors what it is."""
    if (
        isinstance(token, str)
        and len(token) < _LONGEST
        and _NUMBER.fullmatch(token)
        and math.isfinite(found := float(token))
        and abs(found) <= MOST
    ):
        return found
    raise MalformedError(f"({name} ...) holds {_shown(token)} where a number belongs")


def _shown(token: object) -> str:
    if isinstance(token, list):
        return "a list"
    return repr(str(token)[:40]) if token is not None else "nothing"


def head_of(node: Node) -> str:
    """Return the first word of a list, "" when it has none."""
    return node[0] if node and isinstance(node[0], str) else ""


def lists(node: Node, name: str | None = None) -> Iterator[Node]:
    """Yield the lists inside a list, all or those that begin with `name`."""
    for child in node:
        if isinstance(child, list) and (name is None or (child and child[0] == name)):
            yield child


def find(node: Node, *names: str) -> Node | None:
    """Return the first list inside a list that begins with one of `names`."""
    for child in node:
        if isinstance(child, list) and child and child[0] in names:
            return child
    return None


def words(node: Node) -> list[str]:
    """Return the words of a list after its first one, quotes removed."""
    return [unquoted(w) for w in node[1:] if isinstance(w, str)]


def word(node: Node | None, default: str = "") -> str:
    """Return the first word after a list's head, quotes removed."""
    if node is not None and len(node) > 1 and isinstance(node[1], str):
        return unquoted(node[1])
    return default


def value(node: Node, name: str) -> float | None:
    """Return the number in `(name number)` inside a list; None when there is no such list."""
    child = find(node, name)
    return None if child is None else number(child[1] if len(child) > 1 else None, name)


def point(node: Node, name: str) -> tuple[float, float]:
    """Return x and y in mm of `(name x y ...)` inside a list."""
    child = find(node, name)
    if child is None:
        raise MalformedError(f"({head_of(node)} ...) has no ({name} x y)")
    return pair(child)


def pair(node: Node) -> tuple[float, float]:
    """Return x and y in mm of `(name x y ...)`."""
    if len(node) < 3:
        raise MalformedError(f"({head_of(node)} ...) needs two numbers")
    return number(node[1], head_of(node)), number(node[2], head_of(node))


def flag(node: Node, name: str) -> bool | None:
    """Return `(name yes|no)`, `(name)` or a bare `name` inside a list as a truth value; None when it is absent."""
    child = find(node, name)
    if child is None:
        return True if name in node else None
    return word(child, "yes") not in ("no", "false", "none")
