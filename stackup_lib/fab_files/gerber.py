"""Gerber X2: layer, polarity and outline from the attributes; drill files in Gerber format.

Attributes are read from the header lines (Ucamco, The Gerber Layer Format Specification, chapter 5); only the outline
is parsed as drawing, by gerbonara.
"""

from __future__ import annotations

import importlib
import re
import warnings
from dataclasses import replace

from stackup_lib.core.interrupts import raise_if_interrupted
from stackup_lib.fab_files.archive import Member
from stackup_lib.fab_files.facts import (
    FabFileError,
    FabFormat,
    SentFile,
    SentHoles,
    SentLayer,
    SentProtection,
    StatedNumber,
    place_at,
    stated_number,
)

NO_GERBONARA = "the outline is not read without Gerbonara; pip install gerbonara"

_ATTRIBUTE = re.compile(rb"(?:%|G04 #@! )TF[.,](\w+),?([^*]*)\*")
"""KiCad 10.0.6 writes a comma for the dot in its files of filled and capped vias."""
_PROTECTIONS = {"Filling": "filled", "Capping": "capped"}
_DRAWS = re.compile(rb"D0?[13]\*|G36\*")
_APERTURE = re.compile(rb"%ADD(\d+)C,([\d.]+)[X*\d.]*%")
_SELECT = re.compile(rb"\n(?:G54)?D([1-9]\d+)\*|D0?3\*")
_FLASH = re.compile(rb"D0?3\*")
_END = re.compile(rb"M0?[02]\s*\*")
"""M02, and M00, which older programs write."""
_SHOWN = 64 * 1024


def is_gerber(head: bytes) -> bool:
    """Tell whether a file begins as Gerber does."""
    return b"%FS" in head or b"%MOMM*%" in head or b"%MOIN*%" in head


def read_gerber(member: Member) -> SentFile:
    """Return what a Gerber file states of itself.

    Raises:
        FabFileError: it cannot be read.
    """
    content = member.read()
    if not _END.search(content[-_SHOWN:]):
        raise FabFileError(member.place, "has no end (M02): a part of it is missing", "export it again")
    found = {m[1].decode(): (m[2].decode("utf-8", "replace"), m.start()) for m in _ATTRIBUTE.finditer(content[:_SHOWN])}
    function, at = found.get("FileFunction", ("", 0))
    polarity = found.get("FilePolarity", ("", 0))[0]
    place = place_at(member.place, content, at)
    words = function.split(",")
    base = SentFile(
        member.place,
        FabFormat.GERBER,
        generator=found.get("GenerationSoftware", ("", 0))[0],
        functions=(function,) if function else (),
    )
    if words[0] == "Copper":
        index = _number(words[1].lstrip("L")) if len(words) > 1 else None
        layer = SentLayer("", None if index is None else index - 1, polarity, place, not _DRAWS.search(content))
        return replace(base, layers=(layer,))
    if words[0] == "Other" and words[-1] in _PROTECTIONS:
        count = len(_FLASH.findall(content))
        return replace(base, protections=(SentProtection(_PROTECTIONS[words[-1]], count, place),))
    if words[0] in ("Plated", "NonPlated") and len(words) > 2:
        return replace(base, holes=_drills(content, words, member.place))
    if words[0] == "Profile":
        return _outline(base, content, member)
    return base


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 4 else None


def _drills(content: bytes, words: list[str], place: str) -> tuple[SentHoles, ...]:
    first, last = _number(words[1]), _number(words[2])
    scale = 25.4 if b"%MOIN*%" in content else 1.0
    sizes = {m[1]: (m[2].decode(), m.start()) for m in _APERTURE.finditer(content)}
    counts: dict[bytes, int] = {}
    now = b""
    for m in _SELECT.finditer(content):
        if m[1]:
            now = m[1]
        else:
            counts[now] = counts.get(now, 0) + 1
    holes = []
    for code, count in counts.items():
        text, at = sizes.get(code, ("", 0))
        line = place_at(place, content, at)
        size = stated_number(text, line, scale)
        if size:
            span = (None if first is None else first - 1, None if last is None else last - 1)
            holes.append(SentHoles(*span, words[0] == "Plated", size, count, is_slot=False, place=line))
    return tuple(holes)


def _outline(base: SentFile, content: bytes, member: Member) -> SentFile:
    if len(content) > 16 * 1024 * 1024:
        raise FabFileError(member.place, "is an outline of more than 16 MB", "export the outline layer alone")
    try:
        drawings = importlib.import_module("gerbonara.rs274x")  # an extra: heavy, and only the outline needs it
    except ImportError:
        return replace(base, unread=NO_GERBONARA)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawing = drawings.GerberFile.from_string(content.decode("utf-8", "replace"))
            (x0, y0), (x1, y1) = drawing.bounding_box("mm")
    except Exception as error:  # gerbonara raises whatever comes up
        raise_if_interrupted()
        raise FabFileError(member.place, "is no Gerber that can be read", "export it again") from error
    line = max((float(m[2]) for m in _APERTURE.finditer(content)), default=0.0)
    line *= 25.4 if b"%MOIN*%" in content else 1.0
    size = tuple(StatedNumber(round(float(length) - line, 6), 1e-3, member.place) for length in (x1 - x0, y1 - y0))
    return replace(base, size_mm=(size[0], size[1]), outline_line_mm=line)
