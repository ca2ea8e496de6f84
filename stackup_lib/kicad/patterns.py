"""Net class patterns as KiCad matches them: as a wildcard and as a regular expression, against the whole net name.

KiCad's regular expressions are PCRE; what Python spells otherwise (inline flags, POSIX classes) is translated. Seen on
KiCad 10.0.6.
"""

from __future__ import annotations

import functools
import operator
import re
import warnings
from collections.abc import Callable

Matcher = Callable[[str], bool]
MAX_REPEATS = 6
"""A regular expression with more unbounded repeats, or with one inside another, can take for ever on one name."""
_SPECIAL = frozenset("\\[](){}|.+*?^$")
_INLINE = re.compile(r"\(\?([ismx]+)\)")
_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}
_POSIX = {
    "digit": r"\d",
    "alpha": "a-zA-Z",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "xdigit": "0-9A-Fa-f",
    "word": r"\w",
}


def matcher(pattern: str) -> tuple[Matcher, str | None]:
    """Return a test for net names, and a remark when the pattern was not tried as a regular expression.

    Upper and lower case differ, as in KiCad.
    """
    wildcard = re.compile(_wildcard(pattern))
    regular, remark = _regular(pattern)
    if regular is None:
        return lambda name: wildcard.fullmatch(name) is not None, remark
    return lambda name: wildcard.fullmatch(name) is not None or regular.match(name) is not None, remark


def is_literal(pattern: str) -> bool:
    """Return whether a pattern can only mean itself; a bus has many such members."""
    return _SPECIAL.isdisjoint(pattern)


def _wildcard(pattern: str) -> str:
    """The wildcard as an expression that never steps back: the shortest run up to each fixed part is the right one."""
    parts = [re.escape(part).replace(r"\?", ".") for part in pattern.split("*")]
    if len(parts) == 1:
        return parts[0]
    middle = "".join(f"(?>.*?{part})" for part in parts[1:-1] if part)
    return f"{parts[0]}{middle}.*{parts[-1]}"


def _regular(pattern: str) -> tuple[re.Pattern[str] | None, str | None]:
    if is_literal(pattern):
        return None, None
    if _is_costly(pattern):
        return None, f'net class pattern "{pattern}" is read as a wildcard only: as a regular expression it may not end'
    inline = _INLINE.match(pattern)
    flags = functools.reduce(operator.or_, (_FLAGS[f] for f in inline.group(1))) if inline else re.RegexFlag(0)
    body = pattern[inline.end() :] if inline else pattern
    for name, characters in _POSIX.items():
        body = body.replace(f"[:{name}:]", characters)
    anchored = body if body.startswith("^") else "^" + body
    anchored = anchored if anchored.endswith("$") else anchored + "$"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(anchored, flags), None
    except (re.error, OverflowError, RecursionError):
        return None, None


def _is_costly(pattern: str) -> bool:
    """True for many unbounded repeats, for a repeated group that holds one or a choice, and back references."""
    plain = re.sub(r"\\[^1-9]", "x", pattern)
    if re.search(r"\\[1-9]", plain) or len(pattern) > 1000:
        return True
    plain = re.sub(r"\[\^?\]?[^\]]*\]", "x", plain)
    if len(re.findall(r"[*+]|\{\d*,\d*\}", plain)) > MAX_REPEATS:
        return True
    risky: list[bool] = []
    for i, char in enumerate(plain):
        if char == "(":
            risky.append(False)
        elif char == ")":
            inner = risky.pop() if risky else False
            repeated = plain[i + 1 : i + 2] in ("*", "+", "{")
            if inner and repeated:
                return True
            if risky and (inner or repeated):
                risky[-1] = True
        elif char in "*+{|?" and risky and plain[i - 1] != "(":
            risky[-1] = True
    return False
