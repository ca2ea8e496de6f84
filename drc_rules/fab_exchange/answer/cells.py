"""Cells of a fab's table: lengths with their units and rounding, numbers, ounces, kinds of row."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Literal

from drc_rules.fab_exchange.answer.headers import MM_PER, UNIT, Head, unit_name
from stackup_lib.core.errors import ConfigError

RowKind = Literal["copper", "core", "prepreg", "dielectric", "mask"]
MOST_MM = 20.0
MOST_DK = 100.0
_PLAIN = r"(?<!\d)\d{0,20}[.,]?\d{1,20}(?:e[-+]?\d{1,3}\b)?(?!\d)"
"""Bounded: what is longer is no length, and a search for it would take as long as the square of its digits."""
_THOUSANDS = re.compile(r"(?<!\d)(\d{1,3}),(\d{3})(?=\.\d)|(?<!\d)(\d{1,3})\.(\d{3})(?=,\d)")
_NUMBER = re.compile(rf"([-+]?{_PLAIN})\s*{UNIT}?", re.IGNORECASE)
_TIMES = re.compile(rf"(?<![\d.,])(\d)\s*[x*\u00d7]\s*({_PLAIN})\s*{UNIT}?", re.IGNORECASE)
_TIMES_AFTER = re.compile(rf"({_PLAIN})\s*{UNIT}?\s*[x*\u00d7]\s*(\d)(?![\d.,])", re.IGNORECASE)
_FIGURE = re.compile(r"(?:(?<![\w.,])-)?\d*[.,]?\d+(?:e[-+]?\d+\b)?", re.IGNORECASE)
_OUNCES = re.compile(r"\boz\b|\d\s*oz|^h(/h)?$", re.IGNORECASE)
_KINDS: tuple[tuple[RowKind | None, str], ...] = (
    (None, r"silk|legend|paste|overlay|screen|coverlay adhesive|peelable|字符"),
    ("mask", r"mask|lpi|resist|coverlay|lötstopp|^s/?m$|阻焊"),
    ("prepreg", r"pre-?preg|\bp-?p\b|^pp|b-stage|bondply|bonding|半固化|^rcc$"),
    ("core", r"\bcore\b|c-stage|\bccl\b|^kern\b|^laminate$|芯板"),
    ("dielectric", r"dielectric|substrate|insulat|non-?conduct|isolation"),
    (
        "copper",
        r"copper|\bcu\b|\.cu\b|signal|plane|\bpln\b|\bgnd\b|ground|power|\bpwr\b|mixed|foil|conduct|\bsig\b|kupfer|铜|信号",
    ),
)
_NUMBERED = re.compile(r"(l|ly|layer)?[\s_-]*0*\d{1,2}\s*(\(.*\)|[-_ ].*)?", re.IGNORECASE)
_OUTER = re.compile(r"(top|bottom|bot|[cs]s|comp(onent)?|solder) ?(layer|side)?", re.IGNORECASE)
GLASS = re.compile(
    r"(?<!\d)(10[1-9]|106[57]?|10[1-9]\d|13\d\d|15\d\d|16[57]\d|211[236]|212[05]|215[67]|2313|3070|3313|762[89])(?!\d)"
)


def kind_of(cell: Mapping[str, str]) -> tuple[bool, RowKind | None]:
    """Return whether the row is understood, and its kind; None for silk screen and paste, which build nothing."""
    texts = [cell.get(key, "").lower() for key in ("kind", "layer", "description", "material")]
    found: RowKind | None = None
    for text in texts:
        kinds = [kind for kind, pattern in _KINDS if text and re.search(pattern, text)]
        if kinds and kinds[0] == "dielectric":
            found = "dielectric"  # another column may say which
        elif kinds and not (found and kinds[0] == "copper"):
            return True, kinds[0]
    if found:
        return True, found
    if any(re.fullmatch(r"c-?l", text) for text in texts):
        return True, "core" if is_stated(cell.get("dk", "")) or cell.get("glass") else "copper"
    if is_stated(cell.get("dk", "")) or is_stated(cell.get("resin", "")):
        return True, "dielectric"
    if is_stated(cell.get("oz", "")):
        return True, "copper"
    if GLASS.search(" ".join((cell.get("material", ""), cell.get("glass", "")))):
        return True, "dielectric"
    name = cell.get("layer", "")
    if not cell.get("kind") and not cell.get("material") and (_NUMBERED.fullmatch(name) or _OUTER.fullmatch(name)):
        return True, "copper"
    return False, None


def length(cell: Mapping[str, str], key: str, head: Head, where: str, unit: str | None) -> tuple[float | None, float]:
    """Return a length in mm and half of its last printed digit; `unit` holds where neither cell nor header has one.

    Raises:
        ConfigError: it is no length, or its unit is not known.
    """
    text = cell.get(key, "")
    if not is_stated(text):
        return None, 0.0
    return length_in(text, f'column "{head.names.get(key, key)}": "{text}"', where, head.units.get(key) or unit)


def length_in(text: str, what: str, where: str, unit: str | None) -> tuple[float, float]:
    """Return the first length of a text in mm, and half of its last printed digit; raises as `length` does."""
    plain = _THOUSANDS.sub(r"\1\2\3\4", text)
    times, match = 1, _TIMES.search(plain)
    if match is not None:
        times, number, named = int(match[1]), match[2], match[3]
    elif (match := _TIMES_AFTER.search(plain)) is not None:
        times, number, named = int(match[3]), match[1], match[2]
    elif (match := _NUMBER.search(plain)) is not None:
        number, named = match[1], match[2]
    else:
        raise ConfigError(where, f"{what} is no length", "write a number, e.g. 0.1 mm")
    unit = unit_name(named) if named else unit
    if unit is None:
        raise UnitMissingError(where, f"{what} has no unit", "name it in the header, e.g. Thickness (mm)")
    number = number.replace(",", ".")
    digits = len(number.partition(".")[2].partition("e")[0])
    value = times * float(number) * MM_PER[unit]
    if not 0 < value < MOST_MM:
        raise ConfigError(where, f"{what} is no length", "check number and unit")
    return value, times * 0.5 * 10.0**-digits * MM_PER[unit]


class UnitMissingError(ConfigError):
    """A length whose unit neither the cell nor the header nor a note of the table names."""


def figure(cell: Mapping[str, str], key: str, where: str) -> float | None:
    """Return a number without unit; ounces also as `1/2` and `H`. Raises `ConfigError` where it is none."""
    text = cell.get(key, "")
    if not is_stated(text):
        return None
    fraction = re.search(r"\b(\d{1,2})\s*/\s*(\d{1,2})\b", text) if key == "oz" else None
    if fraction and int(fraction[2]):
        return int(fraction[1]) / int(fraction[2])
    if key == "oz" and re.fullmatch(r"h(/h)?\s*(oz)?\b.*", text.strip(), re.IGNORECASE):
        return 0.5
    match = _FIGURE.search(text)
    found = math.nan if match is None else float(match[0].replace(",", "."))
    if not 0 <= found < math.inf:
        raise ConfigError(where, f'column "{key}": "{text}" is no number that can be', "write a number")
    return found


def is_ounces(text: str) -> bool:
    """Whether a cell holds a copper weight, wherever it stands."""
    return bool(_OUNCES.search(text.strip()))


def is_stated(text: str) -> bool:
    """Whether a cell says anything."""
    return text.strip().lower() not in ("", "-", "--", "n/a", "na", "none", "/", "?", "not stated", "nan", "tbd")
