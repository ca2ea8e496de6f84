"""A line before and after a change, as text: ohm, decibels per inch, and the share of a production near its target."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.impedance.line_effects import LineEffect, LineState

MM_PER_INCH = 25.4
FAR_PCT = 10.0
"""Farther off its target than this, a line is pointed out."""
UNKNOWN = "?"


def ohm(state: LineState) -> str:
    """Return the impedance without its unit."""
    return UNKNOWN if state.impedance_ohm is None else f"{state.impedance_ohm:.1f}"


def per_inch(state: LineState) -> float | None:
    """Return the loss at the target's Nyquist frequency in dB/inch."""
    return None if state.loss_db_per_mm is None else state.loss_db_per_mm * MM_PER_INCH


def db_per_inch(state: LineState) -> str:
    """Return the loss at the target's Nyquist frequency without its unit."""
    loss = per_inch(state)
    return UNKNOWN if loss is None else f"{loss:.2f}"


def share(state: LineState) -> str:
    """Return the share of a typical production within the tolerance of the target."""
    return UNKNOWN if state.tolerance_yield_pct is None else f"{state.tolerance_yield_pct:.0f} %"


def size(effect: LineEffect) -> str:
    """Return width, and gap of a pair, in mm."""
    return sizes(effect.width_mm, effect.gap_mm)


def sizes(width_mm: float, gap_mm: float | None, digits: int = 4) -> str:
    """Return a width, and the gap of a pair, in mm."""
    return f"{round(width_mm, digits):g}" + ("" if gap_mm is None else f"/{round(gap_mm, digits):g}")


def off_pct(effect: LineEffect) -> float | None:
    """Return how far the line is off its target after the change, in percent."""
    now = effect.after.impedance_ohm
    return None if now is None else 100 * (now / effect.target.target.ohm - 1)


def step(before: float | None, after: float | None, digits: int) -> str:
    """Return by how much a value moves, with its sign; "" where it does not move or is not known."""
    if before is None or after is None:
        return ""
    moved = round(after, digits) - round(before, digits)  # the step between what is shown
    return _signed(f"{moved:+.{digits}f}") if round(moved, digits) else ""


def percent(value: float) -> str:
    """Return a signed share, `+2.4 %`."""
    return _signed(f"{value:+.1f} %")


def _signed(text: str) -> str:
    return text.replace("-", "\u2212")


def problems(effect: LineEffect) -> list[str]:
    """Return why a value is not known, each reason once."""
    return list(dict.fromkeys(p for p in (effect.before.problem, effect.after.problem) if p))


def all_problems(effects: Iterable[LineEffect]) -> list[str]:
    """Return why values are not known, with the layers that it concerns."""
    layers: dict[str, dict[str, None]] = {}
    for effect in effects:
        for problem in problems(effect):
            layers.setdefault(problem, {})[effect.layer] = None
    return [f"{', '.join(names)}: {problem}" for problem, names in layers.items()]


def by_target(effects: Iterable[LineEffect]) -> list[tuple[LineTarget, list[LineEffect]]]:
    """Return the lines of each target together; targets of one title may differ in what they ask."""
    groups: dict[LineTarget, list[LineEffect]] = {}
    for effect in effects:
        groups.setdefault(effect.target, []).append(effect)
    return list(groups.items())
