"""A fab's file as rows of cells: workbooks, CSV with any delimiter, markdown and pasted columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence

import openpyxl
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from drc_rules.fab_exchange.answer.blanks import cut_by_kind
from drc_rules.fab_exchange.answer.headers import find_head
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.files.plain_file import other_encoding
from stackup_lib.core.interrupts import raise_if_interrupted

MOST_CHARACTERS = 500
MOST_LINES = 20_000
"""A table of a stackup has some dozens; each is looked at under every delimiter."""
_MOST_COLUMNS = 200
_MOST_SHEETS = 50
_MOST_UNPACKED_BYTES = 64_000_000
_RULE = re.compile(r"[-:=_+]+")
_TOKEN = re.compile(r"\S+(?: \S+)*")

Rows = list[tuple[int, list[str]]]
"""Line numbers, counted from 1, and cells."""


def read_sheets(data: bytes, where: str) -> list[tuple[str, Rows]]:
    """Return the tables of a file with their names: one for a text, one for each sheet of a workbook.

    Raises:
        ConfigError: it is neither text nor a workbook, or larger than any stackup.
    """
    if data.startswith(b"PK\x03\x04"):
        return _workbook(data, where)
    if data.startswith(b"%PDF"):
        raise ConfigError(where, "is a PDF", "paste the text of its table, or ask the fab for CSV or xlsx")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise ConfigError(where, "is a workbook of before 2007", "save it as xlsx or CSV")
    return [(where, split_text(_decoded(data, where), where))]


def _decoded(data: bytes, where: str) -> str:
    """Old spreadsheets write Windows' code page, and Excel's "Unicode text" is UTF-16."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if (spelling := other_encoding(data)) and not data.startswith(codecs.BOM_UTF8):
        raise ConfigError(where, f"is {spelling}", "save it as CSV in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _workbook(data: bytes, where: str) -> list[tuple[str, Rows]]:
    step = "save it as xlsx or CSV again"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > _MOST_UNPACKED_BYTES:
            what = f"unpacks to more than {_MOST_UNPACKED_BYTES // 1_000_000} MB"
            raise ConfigError(where, what, "give the stackup's table alone")
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        sheets = [sheet for sheet in book.worksheets[:_MOST_SHEETS] if sheet.sheet_state == "visible"]
        return [(f"{where}, sheet {sheet.title[:40]}", list(_sheet_rows(sheet))) for sheet in sheets]
    except ConfigError:
        raise
    except Exception as error:  # openpyxl raises whatever the damage in the file leads to
        raise_if_interrupted()
        raise ConfigError(where, "is no workbook that can be read", step) from error


def _sheet_rows(sheet: ReadOnlyWorksheet) -> Iterator[tuple[int, list[str]]]:
    sheet.reset_dimensions()
    rows = sheet.iter_rows(max_row=MOST_LINES, max_col=_MOST_COLUMNS)  # type: ignore[misc]
    for number, row in enumerate(rows, start=1):
        yield number, [_cell(_shown(cell.value, getattr(cell, "number_format", ""))) for cell in row]


def _shown(value: object, number_format: str | None) -> str:
    """A cell's text; a unit that only the format shows stays with its number."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, int | float):
        unit = re.search(r'"\s*(mm|um|µm|mil|inch|oz|%)\s*"', number_format or "", re.IGNORECASE)
        return f"{value:.8g}" + (f" {unit[1]}" if unit else "")
    return str(value)


def split_text(text: str, where: str) -> Rows:
    """Return lines and cells of a text, by the delimiter under which most header columns are found.

    Raises:
        ConfigError: it has more lines than any stackup.
    """
    if text.count("\n") > MOST_LINES:
        raise ConfigError(where, f"has more than {MOST_LINES} lines, no stackup does", "give the stackup's table alone")
    plain = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")

    def columns(cells: Rows) -> int:
        return max((len(head.columns) for _, row in cells if (head := find_head(row))), default=0)

    found = max((_cut(plain, delimiter) for delimiter in (",", ";", "\t", "|", "  ")), key=columns)
    return found if columns(found) else cut_by_kind(plain.split("\n")) or found


def _cut(text: str, delimiter: str) -> Rows:
    if delimiter == "  ":
        return list(_pasted(text.split("\n")))
    if delimiter == "|":
        rows = [line.strip().removeprefix("|").removesuffix("|").split("|") for line in text.split("\n")]
        found = list(enumerate(rows, start=1))
    else:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            found = [(reader.line_num, row) for row in reader]
        except csv.Error:
            found = []
    return [(number, [_cell(text) for text in row]) for number, row in found]


def _pasted(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Columns set apart by two blanks; where a row has blank cells, each text goes below the header that it is."""
    spans: list[tuple[int, int]] = []
    for number, line in enumerate(lines, start=1):
        tokens = [(m.start(), m.end(), _cell(m[0])) for m in _TOKEN.finditer(line.expandtabs(8)[:4000])]
        cells = [text for _, _, text in tokens]
        if find_head(cells) is not None:
            spans = [(start, end) for start, end, _ in tokens]
        elif spans and 1 < len(tokens) < len(spans):
            cells = [""] * len(spans)
            for start, end, text in tokens:
                place = min(range(len(spans)), key=lambda k: _apart(spans[k], start, end))
                cells[place] = f"{cells[place]} {text}".strip()
        yield number, cells


def _apart(span: tuple[int, int], start: int, end: int) -> float:
    """How far a text stands from a header: negative where they overlap."""
    return max(span[0], start) - min(span[1], end) + 0.01 * abs(span[0] + span[1] - start - end)


def _cell(text: str) -> str:
    """A cell with single blanks, and no longer than anybody means: header cells are searched for units."""
    plain = unicodedata.normalize("NFKC", text[: 4 * MOST_CHARACTERS]).replace("\u2044", "/")
    words = " ".join(plain.replace("**", "").split())[:MOST_CHARACTERS]
    return "" if _RULE.fullmatch(words) else words
