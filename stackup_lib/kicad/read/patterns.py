"""Net class patterns as KiCad matches them: as a wildcard and as a regular expression, against the whole net name.

KiCad's regular expressions are PCRE; what Python spells otherwise (inline flags, POSIX classes) is translated. Seen on
KiCad 10.0.6.
"""

from __future__ import annotations

import functools
import math
import operator
import re
import warnings
from collections.abc import Callable

Matcher = Callable[[str], bool]
MOST_CHARACTERS = 1000
MOST_WILDCARDS = 6
"""Of a pattern that is no expression for Python; KiCad's PCRE takes some of those all the same, such as `^*`."""
MOST_STEPS = 1e6
"""A regular expression that could try more ways than this on one name is not tried."""
MOST_STEPS_IN_ALL = 3e9
"""The same for all names of a board."""
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


def matcher(pattern: str, *, longest: int = 40, names: int = 1) -> tuple[Matcher, str | None]:
    """Return a test for net names, and a remark when the pattern was not tried as a regular expression.

    Upper and lower case differ, as in KiCad. A pattern in a board file must not be able to stall a check: `longest` is
    the length of the longest name that will be matched, `names` their number.
    """
    wildcard = re.compile(_wildcard(pattern))
    regular, remark = _regular(pattern, longest, names)
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


def _regular(pattern: str, longest: int, names: int) -> tuple[re.Pattern[str] | None, str | None]:
    if is_literal(pattern):
        return None, None
    is_long = len(pattern) > MOST_CHARACTERS
    expression = None if is_long else _compiled(pattern)
    is_wildcard = expression is None and not is_long and pattern.count("*") <= MOST_WILDCARDS
    if is_long or (not is_wildcard and _is_costly(pattern, longest, names)):
        return None, f'net class pattern "{pattern}" is read as a wildcard only: as a regular expression it may not end'
    return expression, None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern as Python spells it, None when it is no regular expression."""
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
            return re.compile(anchored, flags)
    except (re.error, OverflowError, RecursionError):
        return None


def _ways(plain: str, length: int) -> int:
    """In how many ways a name may be shared out among the repeats, times the choices; classes are one character."""
    repeats = len(re.findall(r"[*+]|\{\d*,\d*\}", plain))
    ways = math.comb(length + repeats, min(repeats, 40)) << min(len(re.findall(r"(?<![*+?}(])\?", plain)), 60)
    open_groups = [1]
    for char in plain:
        if char == "(":
            open_groups.append(1)
        elif char == "|":
            open_groups[-1] += 1
        elif char == ")" and len(open_groups) > 1:
            ways *= open_groups.pop()
    return ways


def _is_costly(pattern: str, longest: int, names: int) -> bool:
    """True where names of that length can be taken apart in too many ways, for repeats in repeats, back references."""
    plain = re.sub(r"\\[^1-9]", "x", pattern)
    if re.search(r"\\[1-9]", plain):
        return True
    plain = re.sub(r"\[\^?\]?[^\]]*\]", "x", plain)
    ways = _ways(plain, longest)
    if ways > MOST_STEPS or ways * names > MOST_STEPS_IN_ALL:
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
