"""Damages files as chance, tools and malice do: token by token, byte by byte, and with what breaks programs most.

Everything comes from a `random.Random` that the caller seeds: the same seed damages the same way on every machine.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.\w~*/$]+|\s+|.', re.DOTALL)
OPENING, CLOSING = b"([{", b")]}"

NUMBERS = (
    *(b"0", b"-0", b"-1", b"1", b"2", b"3", b"31", b"32", b"64"),
    *(b"65", b"255", b"0.000001", b"-0.5", b"1e-300", b"5e-324"),
    *(b"1e9", b"-1e9", b"1e15", b"1e30", b"1e154", b"1e155", b"1e308", b"-1e308", b"1e309", b"1e400", b"1e99999"),
    *(b"nan", b"inf", b"-inf", b"Infinity", b"NaN", b"2147483647", b"-2147483648", b"4294967296"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"9" * 60, b"9" * 400, b"9" * 5000),
    *(b"0x10", b"1_000", b"1,5", b"1.2.3", b"--1", b"1e", b".", b"\xc2\xb2", b"\xd9\xa3", b"20171130", b"20991231"),
)  # fmt: skip
TEXTS = (
    *(b"", b'""', b'"', b'"\\"', b'"\\\\"', b'"\\x1b[2J\\x07"'),
    *(b'"\x1b]0;owned\x07"', b'"%s%n%d"', b'"{0}{x}"', b'"${A}"'),
    *(b'"<script>alert(1)</script>"', b'"]]>&lt;"', b"\"'><img src=x onerror=alert(1)>\"", b'"::error file=x::y"'),
    *(b'"a\\n::error::b"', b'"\r\n"', b'"\\u0000"', b'"\\ud800"'),
    *(b'"\xe2\x80\xae"', b'"\xed\xa0\x80"', b'"../../etc/passwd"'),
    *(b'"F.Cu"', b'"B.Cu"', b'"In1.Cu"', b'"In30.Cu"', b'"In31.Cu"'),
    *(b'"*.Cu"', b'"Edge.Cuts"', b'"GND"', b'"/PCIE_TX0_P"'),
    *(b"true", b"false", b"null", b"yes", b"no", b"none", b"[]"),
    *(b"{}", b"()", b"[[]]", b"2027-01-31", b"1979-05-27T07:32:00Z"),
    *(b"copper", b"core", b"prepreg", b"FR4", b'"85ohm"', b"smd"),
    *(b"thru_hole", b"micro", b"blind", b"locked", b"free"),
)  # fmt: skip
PIECES = (
    *(b"(", b")", b'"', b"\\", b"#", b";", b"|", b"'", b"'''", b"["),
    *(b"]", b"{", b"}", b"=", b",", b":", b"\x00", b"\x1b", b"\xff"),
    *(b"\xc3", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b"\x0c"),
    *(b"\xe2\x80\xa8", b"\xc2\x85", b"(pts", b"(net ", b"(at 0 0)"),
    *(b"(layer F.Cu)", b"addsublayer", b"(zone)", b"(via)", b"(arc)"),
    *(b"\n# a comment\n", b"\n[[rail]]\n", b"\n[declared]\n"),
)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def tokens(data: bytes) -> tuple[bytes, ...]:
    """Return words, strings, blanks and single signs; joined they are the data again."""
    return tuple(TOKEN.findall(data))


def damaged(chance: random.Random, seed: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return a seed with one to six damages of its tokens, and now and then of its bytes; half stay well formed."""
    parts = list(tokens(seed))
    gentle = chance.random() < 0.5
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 6))):
        if parts:
            chance.choice(_GENTLE_DAMAGES if gentle else _TOKEN_DAMAGES)(chance, parts, others)
    data = b"".join(parts)
    if not gentle and chance.random() < 0.4:
        data = chance.choice(_BYTE_DAMAGES)(chance, data)
    return data


def _at(chance: random.Random, parts: list[bytes], wanted: Callable[[bytes], object] = lambda _: True) -> int:
    """A place in the parts, of a wanted kind where one is soon found."""
    start = chance.randrange(len(parts))
    for step in range(min(len(parts), 60)):
        at = (start + step) % len(parts)
        if wanted(parts[at]):
            return at
    return start


def _group(chance: random.Random, parts: list[bytes]) -> tuple[int, int]:
    """Where a list with all that is in it begins and ends; one token where there is none."""
    at = _at(chance, parts, lambda p: p in (b"(", b"[", b"{"))
    depth = 0
    for end in range(at, min(len(parts), at + 2000)):
        depth += (parts[end] in (b"(", b"[", b"{")) - (parts[end] in (b")", b"]", b"}"))
        if depth <= 0:
            return at, end + 1
    return at, at + 1


def _is_number(part: bytes) -> bool:
    return part[:1].isdigit() or (part[:1] in (b"-", b".") and len(part) > 1)


def _is_string(part: bytes) -> bool:
    return part[:1] == b'"' and len(part) > 1


def _is_word(part: bytes) -> bool:
    return part[:1] == b'"' or part[:1].isalpha()


def _delete(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    del parts[_at(chance, parts)]


def _delete_group(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    start, end = _group(chance, parts)
    del parts[start:end]


def _double_group(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    start, end = _group(chance, parts)
    parts[start:start] = parts[start:end] * chance.choice((1, 1, 2, 5))


def _move_group(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    start, end = _group(chance, parts)
    group = parts[start:end]
    del parts[start:end]
    at = chance.randrange(len(parts) + 1)
    parts[at:at] = group


def _swap(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    kind = chance.choice((_is_number, _is_word))
    a, b = _at(chance, parts, kind), _at(chance, parts, kind)
    parts[a], parts[b] = parts[b], parts[a]


def _number(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    parts[_at(chance, parts, _is_number)] = chance.choice(NUMBERS)


def _nudge(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    at = _at(chance, parts, _is_number)
    parts[at] = (
        chance.choice((b"-", b"", b"0", b"1e")) + parts[at] + chance.choice((b"", b"0", b"000", b".", b"e9", b"e-9"))
    )


def _all_alike(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    """One word or number becomes another wherever it stands: twins, a board of zero size, one name for all."""
    old = parts[_at(chance, parts, lambda p: _is_number(p) or _is_word(p))]
    new = chance.choice(NUMBERS if _is_number(old) else (*TEXTS, parts[_at(chance, parts, _is_word)]))
    parts[:] = [new if part == old else part for part in parts]


def _text(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    parts[_at(chance, parts, _is_word)] = chance.choice(TEXTS)


def _insert(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    parts.insert(chance.randrange(len(parts) + 1), chance.choice((*PIECES, *NUMBERS, *TEXTS)))


def _splice(chance: random.Random, parts: list[bytes], others: Sequence[bytes]) -> None:
    """A list of another file takes the place of one here, or stands next to it."""
    other = (list(tokens(chance.choice(others))) if others else []) or parts
    start, end = _group(chance, other)
    piece = other[start:end]
    at, until = _group(chance, parts)
    parts[at : chance.choice((at, until))] = piece


def _plausible(chance: random.Random, parts: list[bytes], _: Sequence[bytes]) -> None:
    """A number where a number stands, a string where a string stands."""
    kind = chance.choice((_is_number, _is_number, _is_string))
    at = _at(chance, parts, kind)
    if kind(parts[at]):
        parts[at] = chance.choice(_READABLE if kind is _is_number else _STRINGS)


_READABLE = tuple(word for word in NUMBERS if re.fullmatch(rb"-?\d+(\.\d+)?(e-?\d{1,3})?", word) and len(word) < 64)
_STRINGS = tuple(text for text in TEXTS if re.fullmatch(rb'"([^"\\]|\\.)*"', text))
_GENTLE_DAMAGES = (_delete_group, _double_group, _move_group, _all_alike, _splice, *(_plausible,) * 5)
_TOKEN_DAMAGES = (
    *(_delete, _delete_group, _delete_group, _double_group, _move_group, _swap, _swap),
    *(_number, _number, _number, _nudge, _all_alike, _text, _text, _insert, _splice),
)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flip(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 4)) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _newlines(chance: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b"\x00", b" ")))


def _mark(chance: random.Random, data: bytes) -> bytes:
    if chance.random() < 0.2:
        return data.decode("utf-8", "replace").encode("utf-16")
    return chance.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"#", b"\n")) + data


def _behind(chance: random.Random, data: bytes) -> bytes:
    return data + chance.choice((b"\x00" * 9, b")", b"(", b"}", b"]", b'"', b"\n(kicad_pcb)", data[:200]))


def _nested(chance: random.Random, data: bytes) -> bytes:
    """A few levels, rarely a hundred thousand, closed or left open."""
    depth = chance.choice((3, 70, 300, 1100) if chance.random() < 0.99 else (9_000, 100_000))
    opening, closing = chance.choice(
        ((b"(", b")"), (b"[", b"]"), (b'{"a":', b"}"), (b"(a ", b")"), (b"a=[", b"]"), (b"{a=", b"}"))
    )
    at = chance.randrange(len(data) + 1)
    return data[:at] + opening * depth + chance.choice((b"", b"1")) + chance.choice((b"", closing * depth)) + data[at:]


def _long(chance: random.Random, data: bytes) -> bytes:
    length = chance.choice((300, 3_000) if chance.random() < 0.99 else (100_000, 1_000_000))
    at = chance.randrange(len(data) + 1)
    return (
        data[:at]
        + chance.choice((b"A", b"9", b" ", b"\\", b'"', b"*", b"(a)", b"\n", b"{1,", b"[0-9]")) * length
        + data[at:]
    )


_BYTE_DAMAGES = (_cut, _cut, _flip, _flip, _flip, _newlines, _mark, _behind, _nested, _long)
