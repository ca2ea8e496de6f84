"""The documents that limits rest on: title, publisher and how far each is to be trusted."""

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path

from drc_rules.requirements.clauses import Source
from drc_rules.requirements.data_files import parse_model, read_model, read_text
from stackup_lib.core.frozen import Frozen

FILE = Path(__file__).with_name("documents.toml")
_KEY = re.compile(r'^\[document\.("?)(.+)\1\]$', re.MULTILINE)


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
        controllers: of a guide to the boards of one maker's memory controllers, expression for their part numbers, in
            capitals: next to others its impedances are no more than a warning.
    """

    title: str
    publisher: str
    trust: Trust
    url: str = ""
    read_on: date | None = None
    note: str = ""
    controllers: str = ""


class _File(Frozen):
    document: dict[str, Document]


@cache
def documents() -> Mapping[str, Document]:
    """Every document by its key."""
    return read_model(FILE, _File).document


@cache
def document(key: str) -> Document | None:
    """Return the document of that key, None where there is none; the others are not read."""
    text = _tables().get(key)
    return None if text is None else parse_model(text, Document, f"{FILE}: {key}")


@cache
def _tables() -> Mapping[str, str]:
    """What stands below each key, as our file is written; a test reads it in full and compares."""
    _, *parts = _KEY.split(read_text(FILE))
    return dict(zip(parts[1::3], parts[2::3], strict=True))


def cite(source: Source) -> str:
    """Return a source as text: publisher, title, table, row. A key of the user's own is returned as it is."""
    known = document(source.document)
    head = (
        f"{known.publisher}: {known.title}" if known and known.publisher else known.title if known else source.document
    )
    return ", ".join(part for part in (head, source.table, source.row) if part)
