"""The map of the collected requirements: lines of texts to rows, rows to clauses, and back."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from drc_rules.requirements.documents import Document, Trust, documents
from drc_rules.requirements.profiles.profile import load_profile, profile_names

EXPECTED = Path(__file__).resolve().parents[3] / "fixtures" / "expected"
ROWS_FILE = EXPECTED / "requirements.toml"
TEXTS_FILE = EXPECTED / "requirement_texts.toml"


class Row(BaseModel):
    """One collected requirement.

    Attributes:
        clauses: ids of the clauses that state it; * stands for any ending.
        declared_only: why no board file can say it, or not all of it.
    """

    model_config = ConfigDict(extra="forbid")

    title: str
    clauses: list[str] = []
    declared_only: str = ""
    note: str = ""


class Lines(BaseModel):
    """What some lines of a text say: the rows that keep it, or the reason why none does."""

    model_config = ConfigDict(extra="forbid")

    says: str
    rows: list[str] = []
    reason: str = ""


class RequirementText(BaseModel):
    """A text that requirements were collected from.

    Attributes:
        lines: how many lines it has.
        at: what they say, by number or range of numbers.
        title: title, where it is not among the documents that clauses name; publisher and trust likewise.
    """

    model_config = ConfigDict(extra="forbid")

    lines: int
    at: dict[str, Lines]
    title: str = ""
    publisher: str = ""
    trust: Trust | None = Field(default=None)


class Place(NamedTuple):
    """Lines of a text: key of the text, numbers of the lines."""

    text: str
    lines: str


@cache
def requirement_rows() -> Mapping[str, Row]:
    """Every row by its key, e.g. `1.10`."""
    data = tomllib.loads(ROWS_FILE.read_text(encoding="utf-8"))
    return {key: Row.model_validate(row) for key, row in data.items()}


@cache
def requirement_texts() -> Mapping[str, RequirementText]:
    """Every text by its key."""
    data = tomllib.loads(TEXTS_FILE.read_text(encoding="utf-8"))
    return {key: RequirementText.model_validate(text) for key, text in data.items()}


def document_of_text(key: str) -> Document:
    """The document that a text is, also where no clause names it."""
    text = requirement_texts()[key]
    if text.trust is None:
        return documents()[key]
    return Document(title=text.title, publisher=text.publisher, trust=text.trust)


def places_of(row: str) -> list[Place]:
    """Lines that a row was collected from."""
    return [
        Place(key, lines)
        for key, text in requirement_texts().items()
        for lines, one in text.at.items()
        if row in one.rows
    ]


@cache
def templates() -> tuple[str, ...]:
    """Ids of the clauses that profiles state for every high-speed interface."""
    return tuple(row.id for name in profile_names() for row in load_profile(name).per_interface)


def reached(patterns: Iterable[str], clause_id: str) -> bool:
    """True when patterns name a clause, or the profile clause that it was made from for one interface."""
    made_from = [template for template in templates() if clause_id.startswith(template + ".")]
    return any(fnmatchcase(one, pattern) for pattern in patterns for one in (clause_id, *made_from))


def rows_of(clause_id: str) -> list[str]:
    """Keys of the rows that a clause states."""
    return [key for key, row in requirement_rows().items() if reached(row.clauses, clause_id)]
