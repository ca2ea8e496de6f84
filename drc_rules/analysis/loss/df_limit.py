"""How a Df is held against a limit that a document states."""

from __future__ import annotations

ALLOWANCE_PCT = 10.0
"""What data sheets are sure of: methods of measurement and lots of one laminate differ by as much. A Df so little above
a limit meets it, with a remark."""

_ROUNDING = 1e-9


def meets(df: float, limit: float) -> bool:
    """Tell whether a Df is no farther above a limit than data sheets are sure of."""
    return df <= limit * (1 + ALLOWANCE_PCT / 100) + _ROUNDING


def is_above(df: float, limit: float) -> bool:
    """Tell whether a Df is above a limit at all."""
    return df > limit + _ROUNDING
