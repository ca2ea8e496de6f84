"""What the value text and the footprint of a capacitor say: `4u7`, `100nF/16V X7R`, `C_0402_1005Metric`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeVar

from stackup_lib.core.record import record

_T = TypeVar("_T")

_POWERS = {"p": -12, "n": -9, "u": -6, "µ": -6, "μ": -6}
_VALUE = r"(?i)(?<![\w.])(\d+(?:[.,]\d+)?)\s*([pnuµμ])F?(\d*)(?![\w])"
_VOLTS = r"(?i)(?<![\w.])(\d+(?:[.,]\d+)?)\s*V(\d*)(?:DC)?(?![\w])"
_DIELECTRIC = r"(?i)(?<![A-Za-z0-9])(C0G|COG|NP0|NPO|X[5-8][RSTL]|Y5V|Z5U)(?![A-Za-z0-9])"
_SIZE = r"(?<!\d)(01005|0201|0402|0603|0805|1206|1210|1812|2220)(?!\d)"
_METRIC = r"(?i)\d{4,5}\s*_?Metric"


@record
class CapacitorText:
    """What the texts state, None where they do not: farad, rated volt, dielectric and size by EIA."""

    capacitance_f: float | None
    rated_v: float | None
    dielectric: str | None
    size: str | None


@lru_cache(maxsize=65536)
def read_capacitor(value: str, footprint: str = "") -> CapacitorText:
    """Return what the texts state; two values that differ, or a number without a prefix, state nothing.

    A code of three digits is no value: 104 may be 100 nF or a part number. A size is read from the footprint first.
    """
    text = value.replace("_", " ").replace("/", " ").replace(",", ".").strip()
    farads = {_number(m[1], m[3]) * 10.0 ** _POWERS[m[2].lower()] for m in re.finditer(_VALUE, text)} - {0.0}
    volts = {_number(m[1], m[2]) for m in re.finditer(_VOLTS, text)}
    kinds = {_eia(m[1]) for m in re.finditer(_DIELECTRIC, text)}
    sizes = set(re.findall(_SIZE, re.sub(_METRIC, "", footprint))) or set(re.findall(_SIZE, re.sub(_METRIC, "", text)))
    return CapacitorText(_only(farads), _only(volts), _only(kinds), _only(sizes))


def _number(whole: str, rest: str) -> float:
    return float(f"{whole}.{rest}") if rest and "." not in whole else float(whole)


def _eia(text: str) -> str:
    return {"COG": "C0G", "NPO": "C0G", "NP0": "C0G"}.get(text.upper(), text.upper())


def _only(found: set[_T]) -> _T | None:
    return next(iter(found)) if len(found) == 1 else None
