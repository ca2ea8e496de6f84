"""Comparing at the precision at which a limit was published, and numbers as people write them."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def at_precision(value: float, decimals: int | None) -> float:
    """Return a value rounded half up to `decimals`; unchanged for None."""
    if decimals is None:
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def size_text(width_mm: float, gap_mm: float | None) -> str:
    """Return the width of a trace, or width and gap of a pair, in mm: `0.150/0.125`."""
    return f"{width_mm:.3f}" + ("" if gap_mm is None else f"/{gap_mm:.3f}")


UNIT_MM = 1e-6
"""KiCad's unit of length: what is smaller is rounding."""


def distance_text(distance_mm: float) -> str:
    """Return a distance in mm to the micrometre, as `0.125 mm`; one that is less but not zero as such."""
    return "less than 0.001 mm" if UNIT_MM <= distance_mm < 0.0005 else f"{distance_mm:.3f} mm"


def clearance_text(gap_mm: float) -> str:
    """Return the clearance of two pieces of copper, `clearance 0.125 mm`, or that they touch."""
    return "copper touches" if gap_mm < UNIT_MM else f"clearance {distance_text(gap_mm)}"


def rounded_mm(distance_mm: float) -> float:
    """Return a distance rounded to 0.1 um, or to a nanometre where that would be zero."""
    return round(distance_mm, 4) or round(distance_mm, 6)


def told_apart(value: float, limit: float, decimals: int = 2) -> str:
    """Return a value with `decimals`, or as many more as tell it from the limit that it misses."""
    texts = (f"{value:.{decimals + more}f}" for more in range(4))
    return next((text for text in texts if float(text) != limit), f"{value:.{decimals}f}")


def figure(value: float, digits: int = 3) -> str:
    """Return a value with `digits` significant digits, or all before the point if more: never `1.2e+03`."""
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    return f"{value:.0f}" if abs(value) >= 1 else format(Decimal(text), "f")
