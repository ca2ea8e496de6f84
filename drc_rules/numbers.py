"""Comparing at the precision at which a limit was published."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def at_precision(value: float, decimals: int | None) -> float:
    """Return a value rounded half up to so many decimals; unchanged for None."""
    if decimals is None:
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))
