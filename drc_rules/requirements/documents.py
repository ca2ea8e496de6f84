"""The documents that limits rest on: title, publisher and how far each is to be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path

from drc_rules.requirements.clauses import Source
from drc_rules.requirements.data_files import read_model
from stackup_lib.core.frozen import Frozen

FILE = Path(__file__).with_name("documents.toml")


class Trust(StrEnum):
    """How far a document is to be trusted."""

    PRIMARY = "primary"  # a standard, or a maker's own guide or data sheet
    SECONDARY = "secondary"  # trade press, fabs' capability lists, a value at second hand
    MARKETING = "marketing-grade"  # published to sell; numbers without their conditions
    ENGINEERING = "engineering"  # knowledge of the trade; no document was found: never the ground of an error


class Document(Frozen):
    """One document.

    Attributes:
        url: where it was published, empty when that is not known.
        read_on: when it was read, None when only quotations of it were.
    """

    title: str
    publisher: str
    trust: Trust
    url: str = ""
    read_on: date | None = None
    note: str = ""


class _File(Frozen):
    document: dict[str, Document]


@cache
def documents() -> Mapping[str, Document]:
    """Every document by its key."""
    return read_model(FILE, _File).document


def cite(source: Source) -> str:
    """Return a source as text: publisher, title, table, row. A key of the user's own is returned as it is."""
    known = documents().get(source.document)
    head = (
        f"{known.publisher}: {known.title}" if known and known.publisher else known.title if known else source.document
    )
    return ", ".join(part for part in (head, source.table, source.row) if part)
