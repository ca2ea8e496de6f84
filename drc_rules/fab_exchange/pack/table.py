"""One table of a fab pack; every renderer draws the same one."""

from typing import NamedTuple

from stackup_lib.core.frozen import Frozen

NOT_STATED = "NOT STATED"
"""Marks a value that is not stated: the fab has to ask, and never gets a guess."""


class Question(NamedTuple):
    """What has to be asked of a table beyond its cells that are `NOT_STATED`, and of which rows; of none nothing."""

    what: str
    rows: tuple[str, ...]


class FabTable(Frozen):
    """One table; every row has as many cells as `head`. `remarks` follow the table."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


def figure(value: float | None) -> str:
    """Return a number with at most six digits, or `NOT_STATED`."""
    return NOT_STATED if value is None else f"{value:.6g}"


def figure_mm(value_mm: float | None) -> str:
    """Return a length as `to_um` rounds it, or `NOT_STATED`."""
    return figure(value_mm and to_um(value_mm))


def to_um(value_mm: float) -> float:
    """Return a length in mm to a micrometre; what is thinner as it is, since it is not 0."""
    return round(value_mm, 3) or value_mm
