"""What is missing for the losses of `stackwright impedance`, and the command that shows one of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from drc_rules.analysis.impedance.impedance_table import ImpedanceRow
from drc_rules.facts.context import DECLARE_STACKUP
from stackwright.text.command_line import command_line
from stackwright.text.page import Page, styled

FREQUENCY = re.compile(r" at ([0-9.]+) GHz")
AT_GHZ = re.compile(r"(?<=at_ghz = )[0-9.]+")
_ROW = re.compile(r"(?<=dielectric\.\")[^\"]+(?=\")|(?<=at_ghz = )[0-9.]+")


def without_loss(page: Page, rows: Sequence[ImpedanceRow]) -> None:
    """Say once what is missing for the losses that are not printed."""
    problems: dict[str, list[str]] = {}
    for row in rows:
        if row.width_mm is not None and row.loss_problem:
            problems.setdefault(_ROW.sub("...", one_line_of(row.cure)), []).append(row.loss_problem)
    if problems:
        page.heading("no loss", "missing data")
    for cure, whats in problems.items():
        page.line("; ".join(_each_once(whats)), indent=2)
        page.line(styled(cure, "dim"), indent=4)


def _each_once(problems: Iterable[str]) -> Iterator[str]:
    """Yield each problem once, with the range of its frequencies: at another one the same value may be known."""
    alike: dict[str, list[str]] = {}
    for problem in problems:
        alike.setdefault(FREQUENCY.sub("", problem), []).append(problem)
    for same in alike.values():
        at_ghz = sorted((found[1] for one in same if (found := FREQUENCY.search(one))), key=float)
        span = " to ".join(dict.fromkeys((at_ghz[0], at_ghz[-1]))) if at_ghz else ""
        yield FREQUENCY.sub(f" at {span} GHz", same[0])


def one_line_of(cure: str) -> str:
    """Return lines for `stackwright.toml` in one line."""
    return cure.replace("\n", "  ")


def next_command(rows: Sequence[ImpedanceRow], board: Path) -> str:
    """Return the command that shows all values of a line: of the first that has a width.

    Where none has: the one that proposes a stackup, or that shows heights and planes.
    """
    row = next((row for row in rows if row.width_mm), None)
    if row is None:
        no_stackup = any(one.cure == DECLARE_STACKUP for one in rows)
        return command_line("suggest" if no_stackup else "stackup", str(board))
    gap = ("--gap", f"{row.gap_mm:.3f}") if row.gap_mm else ()
    return command_line("impedance", str(board), "--layer", row.layer, "--width", f"{row.width_mm:.3f}", *gap)
