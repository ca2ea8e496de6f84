"""Excellon drill files: holes per span, plating and diameter, and backdrills.

The span is in Gerber X2 attributes in comments; without them the file does not state one. Only tools and hits are
counted, so coordinates need no number format. gerbonara 1.5 refuses KiCad's slots (`X..Y..G85X..Y..`) and is not used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stackup_lib.fab_files.archive import Member
from stackup_lib.fab_files.facts import (
    FabFileError,
    FabFormat,
    SentBackdrill,
    SentFile,
    SentHoles,
    StatedNumber,
    stated_number,
)

_TOOL = re.compile(r"T(\d+)(?:[FSBHZ][\d.+-]+)*C([\d.]+)")
_PICK = re.compile(r"T(\d+)$")
_HIT = re.compile(r"(?:G05)?(?:X[\d.+-]+)?(?:Y[\d.+-]+)?$")
_REPEAT = re.compile(r"R(\d+)(?:X[\d.+-]+)?(?:Y[\d.+-]+)?$")
_FUNCTION = re.compile(r"TF\.FileFunction,(\w+),(\d+),(\d+)(?:,(\w+))?")
_USE = re.compile(r"TA\.AperFunction,(\w+),(\w+)")
_DEPTH = re.compile(r"[Bb]ackdrill (?:stub|depth) ([\d.]+) ?mm")


@dataclass
class _Drill:
    """One tool and what it makes."""

    size: StatedNumber
    plating: str
    use: str
    depth: StatedNumber | None = None
    hits: list[str] = field(default_factory=list)
    slots: list[str] = field(default_factory=list)
    extra: int = 0


def is_excellon(head: bytes) -> bool:
    """Tell whether a file begins as Excellon does."""
    return head.lstrip()[:3] == b"M48"


def read_excellon(member: Member) -> SentFile:
    """Return the holes of a drill file.

    Raises:
        FabFileError: a tool has no diameter, or the file ends before its drill part.
    """
    reading = _Reading(member.place)
    for number, line in enumerate(member.read().decode("utf-8", "replace").splitlines(), start=1):
        reading.line(line.strip(), number)
    if reading.in_header:
        raise FabFileError(member.place, "is a drill file that ends in its header", "export it again")
    return reading.file()


class _Reading:
    def __init__(self, place: str) -> None:
        self.place = place
        self.in_header, self.scale = True, 1.0
        self.function: tuple[str, int, int, str] | None = None
        self.generator = ""
        self.use = ("", "")
        self.tools: dict[int, _Drill] = {}
        self.now: _Drill | None = None
        self.last: _Drill | None = None
        self.route: list[str] | None = None

    def line(self, line: str, number: int) -> None:
        if line.startswith(";"):
            self._comment(line, number)
        elif self.in_header:
            self._header(line, number)
        else:
            self._body(line, number)

    def _comment(self, line: str, number: int) -> None:
        if m := _FUNCTION.search(line):
            self.function = m[1], int(m[2]), int(m[3]), m[4] or ""
        elif m := _USE.search(line):
            self.use = m[1], m[2]
        elif "TF.GenerationSoftware," in line:
            self.generator = line.partition("TF.GenerationSoftware,")[2]
        elif (m := _DEPTH.search(line)) and self.last:
            self.last.depth = stated_number(m[1], f"{self.place}:{number}")

    def _header(self, line: str, number: int) -> None:
        if line in ("%", "M95"):
            self.in_header = False
        elif line.startswith("INCH") or line == "M72":
            self.scale = 25.4
        elif line.startswith("METRIC") or line == "M71":
            self.scale = 1.0
        elif m := _TOOL.match(line):
            size = stated_number(m[2], f"{self.place}:{number}", self.scale)
            if size is None:
                raise FabFileError(f"{self.place}:{number}", "tool without a diameter", "export it again")
            self.last = self.tools[int(m[1])] = _Drill(size, *self.use)
            self.use = ("", "")

    def _body(self, line: str, number: int) -> None:
        if m := _PICK.match(line):
            if int(m[1]) and int(m[1]) not in self.tools:
                raise FabFileError(f"{self.place}:{number}", f"T{m[1]} has no diameter", "export it again")
            self.now = self.tools.get(int(m[1]))
        elif self.now is None or not line:
            return
        elif line == "M15":
            self.route = []
        elif line in ("M16", "M17"):
            if self.route is not None:
                self.now.slots.append(" ".join(self.route))
            self.route = None
        elif line.startswith(("G00", "G01", "G02", "G03")):
            if self.route is not None:
                self.route.append(line)
        elif "G85" in line:
            self.now.slots.append(line)
        elif m := _REPEAT.match(line):
            self.now.extra += int(m[1][:6])
        elif line[0] in "XYG" and ("X" in line or "Y" in line) and _HIT.match(line):
            self.now.hits.append(line)

    def file(self) -> SentFile:
        holes: list[SentHoles] = []
        backdrills: list[SentBackdrill] = []
        plating, first, last, _ = self.function or ("", 0, 0, "")
        start, end = (first - 1, last - 1) if self.function else (None, None)
        for tool in self.tools.values():
            kind = plating if plating != "MixedPlating" and plating else tool.plating
            is_plated = {"Plated": True, "NonPlated": False}.get(kind)
            hits = frozenset(tool.hits)
            if tool.use == "BackDrill":
                backdrills.append(
                    SentBackdrill(start, end, None, tool.size, tool.depth, len(tool.hits), tool.size.place, hits)
                )
                continue
            for places, is_slot in ((tool.hits, False), (tool.slots, True)):
                count = len(places) + (0 if is_slot else tool.extra)
                if count:
                    holes.append(
                        SentHoles(start, end, is_plated, tool.size, count, is_slot, tool.size.place, frozenset(places))
                    )
        return SentFile(
            self.place,
            FabFormat.EXCELLON,
            self.generator,
            holes=tuple(holes),
            backdrills=tuple(backdrills),
            functions=(",".join(map(str, self.function)),) if self.function else (),
        )
