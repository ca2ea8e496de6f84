"""IPC-D-356 netlists: holes per diameter. The format has no stackup, and no span of blind and buried holes."""

from __future__ import annotations

import re
from collections import Counter

from stackup_lib.fab_files.archive import Member
from stackup_lib.fab_files.facts import FabFormat, SentFile, SentHoles, StatedNumber, place_at

_UNIT = re.compile(rb"^P  UNITS CUST ([012])", re.MULTILINE)
_HOLE = re.compile(rb"^3[16]7.{29}D(\d{4})([PU ])", re.MULTILINE)


def is_netlist(head: bytes) -> bool:
    """Tell whether a file begins as IPC-D-356 does."""
    return head.startswith((b"P  CODE", b"P  JOB", b"C  ", b"P  UNITS"))


def read_netlist(member: Member) -> SentFile:
    """Return the through holes of a netlist; `CUST 1` is in micrometres, else in 0.0001 inch."""
    content = member.read()
    unit = _UNIT.search(content)
    step = 0.001 if unit and unit[1] == b"1" else 0.00254
    counts: Counter[tuple[int, bytes]] = Counter()
    lines: dict[tuple[int, bytes], int] = {}
    for m in _HOLE.finditer(content):
        key = int(m[1]), m[2]
        counts[key] += 1
        lines.setdefault(key, m.start())
    holes = []
    for (size, plating), count in counts.items():
        place = place_at(member.place, content, lines[size, plating])
        is_plated = {b"P": True, b"U": False}.get(plating)
        number = StatedNumber(size * step, step, place)
        holes.append(SentHoles(None, None, is_plated, number, count, is_slot=False, place=place))
    return SentFile(member.place, FabFormat.D356, holes=tuple(holes))
