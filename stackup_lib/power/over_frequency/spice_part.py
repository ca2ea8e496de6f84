"""SPICE subcircuits of capacitors, read: resistances, inductances and capacitances between two terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import cure_of, read_plain
from stackup_lib.core.record import record
from stackup_lib.power.over_frequency.circuit import GROUND, SeriesBranch

MOST_BYTES = 4_000_000
MOST_ELEMENTS = 500
LEAST_OHM = 1e-9
"""Stands for a resistance or an inductance of 0."""

_SUFFIX = {"T": 1e12, "G": 1e9, "MEG": 1e6, "K": 1e3, "M": 1e-3, "U": 1e-6, "N": 1e-9, "P": 1e-12, "F": 1e-15, "": 1.0}
_VALUE = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(MEG|[TGKMUNPF])?[A-Z]*", re.IGNORECASE)


@record
class Subcircuit:
    """A part of two terminals; the second one is ground of the branches, `first` the other."""

    where: str
    name: str
    first: str
    branches: tuple[SeriesBranch, ...]


def read_subcircuit(path: Path, name: str = "") -> Subcircuit:
    """Read a subcircuit of R, L and C.

    Args:
        path: a text file of SPICE.
        name: of the subcircuit; "" where the file has one only.

    Raises:
        StackwrightError: it cannot be read, has no such subcircuit, other elements, other than two terminals, or
            values that are no plain positive numbers.
    """
    where = str(path)
    found = dict(_subcircuits(where, path))
    if not found:
        raise StackwrightError(where, "has no .SUBCKT", "give a SPICE subcircuit, or an .s2p file")
    if name:
        chosen = next((key for key in found if key.upper() == name.upper()), None)
    else:
        chosen = next(iter(found)) if len(found) == 1 else None
    if chosen is None:
        what = f"has no subcircuit {name}" if name else f"has {len(found)} subcircuits"
        raise StackwrightError(where, what, f"state subcircuit = one of {', '.join(list(found)[:8])}")
    return _subcircuit(where, chosen, *found[chosen])


_Lines = list[tuple[int, list[str]]]


def _subcircuits(where: str, path: Path) -> Iterator[tuple[str, tuple[list[str], _Lines]]]:
    """Yield by name the terminals and the lines of each subcircuit."""
    name = ""
    terminals: list[str] = []
    lines: _Lines = []
    for number, words in _lines(where, path):
        head = words[0].upper()
        if head == ".SUBCKT" and len(words) > 1:
            name, terminals, lines = words[1], [word for word in words[2:] if "=" not in word], []
        elif head == ".ENDS" and name:
            yield name, (terminals, lines)
            name = ""
        elif name:
            lines.append((number, words))


def _lines(where: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each statement with the number of its first line; `+` continues one."""
    try:
        text = read_plain(path, MOST_BYTES).decode("latin-1")
    except OSError as error:
        fix = cure_of(error, "correct the path in file =")
        raise StackwrightError(where, error.strerror or "cannot be read", fix) from None
    begun: tuple[int, list[str]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        bare = re.split(r"[;$]", line, maxsplit=1)[0].strip()
        if not bare or bare.startswith("*"):
            continue
        if bare.startswith("+") and begun:
            begun[1].extend(bare[1:].split())
            continue
        if begun:
            yield begun
        begun = number, bare.split()
    if begun:
        yield begun


def _subcircuit(where: str, name: str, terminals: list[str], lines: _Lines) -> Subcircuit:
    if len(terminals) != 2:
        what = f"subcircuit {name} has {len(terminals)} terminals, a capacitor has 2"
        raise StackwrightError(where, what, "give the model of a part of two terminals")
    if len(lines) > MOST_ELEMENTS:
        raise StackwrightError(where, f"subcircuit {name} has {len(lines)} lines", "give a simpler model")
    branches = tuple(_branch(where, number, words, terminals[1]) for number, words in lines)
    if not branches:
        raise StackwrightError(where, f"subcircuit {name} is empty", "give a model with R, L and C")
    return Subcircuit(where, name, terminals[0], branches)


def _branch(where: str, number: int, words: list[str], ground: str) -> SeriesBranch:
    kind = words[0][0].upper()
    if kind not in ("R", "L", "C"):
        what = f"line {number} is {words[0]}: only R, L and C are read"
        raise StackwrightError(where, what, "give the simple model of the part, or an .s2p file")
    found = _VALUE.fullmatch(words[3]) if len(words) == 4 else None
    value = float(found[1]) * _SUFFIX[(found[2] or "").upper()] if found else -1.0
    if value < 0 or (kind == "C" and value == 0):
        what = f"line {number}, {words[0]}, is no element between two nodes with a plain value"
        raise StackwrightError(where, what, "give the simple model of the part, or an .s2p file")
    first, second = (GROUND if word == ground else word for word in words[1:3])
    if first == second:
        raise StackwrightError(where, f"line {number}, {words[0]}, begins and ends at one node", "correct the model")
    return SeriesBranch(
        words[0],
        first,
        second,
        resistance_ohm=max(value, LEAST_OHM) if kind == "R" else LEAST_OHM if value == 0 else 0.0,
        inductance_h=value if kind == "L" else 0.0,
        capacitance_f=value if kind == "C" else None,
    )
