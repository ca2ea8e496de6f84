"""When a number in a file is the board's number."""

from __future__ import annotations

from stackup_lib.fab_files.facts import StatedNumber

MOST_ROUNDING = 0.005
"""Share of a value that rounding may change: an impedance follows a height by less than half of that."""


def same_number(board: float, sent: StatedNumber) -> bool:
    """Tell whether a file's number is the board's, rounded to the file's last decimal and by 0.5 % at most."""
    off = abs(board - sent.value)
    return off <= 0.5 * sent.step * (1 + 1e-6) and off <= max(MOST_ROUNDING * abs(board), 1e-9)


def is_rounding(board: float, sent: StatedNumber) -> bool:
    """Tell whether the file has too few decimals for the board's number."""
    return abs(board - sent.value) <= 0.5 * sent.step * (1 + 1e-6)


def number_words(value: float, unit: str = "") -> str:
    """Return a number without digits that it does not have."""
    return f"{round(value, 6):.10g}{unit}"
