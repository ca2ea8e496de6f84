"""Findings: what is wrong, how wrong, where, and what to do."""

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from drc_rules.requirements.clauses import Basis, Severity
from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen


class Location(Frozen):
    """Where a finding is; every part may be absent."""

    layer: str | None = None
    net: str | None = None
    uuid: str | None = None
    x_mm: float | None = None
    y_mm: float | None = None
    line: int | None = None


MOST_PLACES = 10
"""From here on the places of a finding may be the first of more."""


class ObjectRows(Frozen):
    """All objects of a finding whose places name only the first of many: rows of the board's tables."""

    vias: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    tracks: tuple[int, ...] = ()


class Measured(Frozen):
    """What was found, as a number with its unit or as a word."""

    value: float | str
    unit: str = ""


class FindingLimit(Frozen):
    """What was required, as a number with its unit or as a word, and where that stands."""

    value: float | str | None
    unit: str = ""
    source: str = ""


class Finding(Frozen):
    """One thing wrong.

    Attributes:
        title: what is wrong, with the numbers, in one sentence without a full stop.
        why: what it costs the user.
        fix: what to do.
        objects: structural ids of what it is about (layers, uuids, net names), which make the key.
        key: structural identity: rule code and sorted object ids; survives moves and unrelated edits.
        line: line of the board file where a fix would begin; None for a board that is no file.
        also: other clauses that fail by it without a finding of their own, such as those of milder tiers of fabs.
    """

    code: str
    name: str
    clause: str
    also: tuple[str, ...] = ()
    severity: Severity
    confidence: Confidence
    basis: Basis
    title: str
    why: str
    fix: str
    measured: Measured | None = None
    limit: FindingLimit | None = None
    places: tuple[Location, ...] = ()
    objects: tuple[str, ...] = ()
    key: str
    line: int | None = None
    # all objects, for drawings; no part of the JSON report
    every: SkipJsonSchema[ObjectRows | None] = Field(default=None, exclude=True, repr=False)

    # pairs of nets or pins, where the title counts them; no part of the JSON report
    counted: SkipJsonSchema[int] = Field(default=0, exclude=True, repr=False)

    @property
    def numbers(self) -> tuple[float, float] | None:
        """The measured value and its limit; None where either is no number."""
        measured, limit = self.measured and self.measured.value, self.limit and self.limit.value
        if not isinstance(measured, float | int) or not isinstance(limit, float | int):
            return None
        return measured, limit

    @property
    def members(self) -> int:
        """How many pairs of nets, pins, holes or nets it is about; 0 where its places are the first of many.

        Tracks do not count: another way of the same net is no other defect.
        """
        holes = len(self.every.vias) + len(self.every.pads) if self.every is not None else 0
        if self.counted or holes:
            return self.counted or holes
        if len(self.places) >= MOST_PLACES:
            return 0
        return len({place.net for place in self.places if place.net})
