"""Which named stackups contradict themselves, by their own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from drc_rules.requirements.fabs.stackups.model import NamedSheet, NamedStackup

MOST_OFF = 0.10
"""Thickness tolerance that the fabs of these stackups state for a finished board."""


def misfits_of(stackup: NamedStackup) -> Iterator[Literal["thickness", "symmetry", "incomplete"]]:
    """Yield what does not fit: rows that sum to another board, sides that differ, values that are not stated."""
    total = stackup.sum_mm
    if total is not None and abs(total / stackup.thickness_mm - 1) > MOST_OFF:
        yield "thickness"
    sides = [_build(row) for row in stackup.rows]
    if sides != sides[::-1]:
        yield "symmetry"
    dielectrics = [row for row in stackup.rows if row.kind != "copper"]
    if total is None or any(row.dk is None for row in dielectrics) or len(stackup.copper) != stackup.copper_layers:
        yield "incomplete"


def _build(row: NamedSheet) -> tuple[object, ...]:
    return row.kind, row.thickness_mm, row.laminate, row.construction, row.dk
