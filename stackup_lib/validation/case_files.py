"""Files of reference cases: tables (CSV) and TOML, row by row, with what is wrong in them said by row and column.

A row with a cell that cannot be read is skipped, with that as its reason; a table of unknown format is refused.

A table is known by its columns. Impedances: `geometry`, `parameters` (or `parameters_mm`: JSON, mm), `quantity`, and
`value_ohm`, `value` or `published_value`; optional `id`, `uncertainty_pct`, `completeness`, `missing_or_ambiguous`,
`source`. Loss in the skin limit: `geometry`, `parameters`, `mode` and `R_total_over_Rs_per_mm`; optional the other
values of `LOSS_COLUMNS` and `dielectric_shares`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.files.toml_text import TomlError, read_toml
from stackup_lib.core.record import record
from stackup_lib.validation.cases import NOT_BOARD_LINES, REMARKS, is_known_geometry

VALUE_COLUMNS = ("value_ohm", "value", "published_value")
PARAMETER_COLUMNS = ("parameters", "parameters_mm")
LOSS_COLUMNS = {
    "Z_ohm": "Z",
    "R_signal_over_Rs_per_mm": "R_signal",
    "R_return_over_Rs_per_mm": "R_return",
    "R_total_over_Rs_per_mm": "R_total",
}
"""Columns of a table of loss in the skin limit and our names: impedance of the mode in ohm, and the integral of J^2
over the contour of trace and of everything else over I^2, in 1/mm."""
MODES = ("single", "odd", "even")

CHECK_COLUMN = "rel_difference"
"""By how much R_total differs from a second reference, as a fraction: used as its uncertainty."""

_LOSS_KEYS = {
    "impedance_ohm": "Z",
    "trace_per_mm": "R_signal",
    "return_per_mm": "R_return",
    "plane_per_mm": "R_return",
    "dielectric_share": "q_all",
}


class CaseFileError(StackwrightError):
    """A file of reference cases that cannot be read."""


class _CellError(CaseFileError):
    """A cell that cannot be read: its row is skipped."""

    def __init__(self, row: _Row, column: str, what: str, next_step: str) -> None:
        self.place = f"{row.noun} {row.number}, column {column}"
        super().__init__(f"{row.path}, {self.place}", what, next_step)


@record
class ReferenceCase:
    """One reference value of one cross section.

    Attributes:
        row: where it stands: line of the table, number of the entry in TOML.
        parameters: by the file's own keys; lengths in mm.
        reference: the value; None only where the row could not be read.
        quantity: as `cases.QUANTITIES` has it, or a value of `LOSS_COLUMNS`, or a dielectric's `q_`.
        mode: of loss values; "" for impedances.
        uncertainty_pct: of the reference; None where the file does not state it.
        explained: why the reference is known to differ; "" where it is not.
        skipped: why it is not to be solved; "" where it is.
    """

    id: str
    row: int
    geometry: str
    parameters: Mapping[str, float]
    quantity: str
    reference: float | None
    mode: str = ""
    uncertainty_pct: float | None = None
    source: str = ""
    explained: str = ""
    skipped: str = ""


def read_cases(path: Path) -> tuple[ReferenceCase, ...]:
    """Read a file of cases, in the file's order; `.toml` as this project's references, anything else as a table.

    Raises:
        CaseFileError: it cannot be read; the error names row and column.
    """
    try:
        text = read_plain_text(path, "utf-8-sig")
    except OSError as error:
        raise CaseFileError(str(path), f"{error.strerror}", "give a file of cases") from error
    except UnicodeDecodeError as error:
        raise CaseFileError(str(path), "is not UTF-8 text", "save it as CSV in UTF-8") from error
    if not text.strip():
        raise CaseFileError(str(path), "is empty", f"give a table with {_WANTED}")
    cases = tuple(_toml(path, text) if path.suffix.lower() == ".toml" else _table(path, text))
    if not cases:
        raise CaseFileError(str(path), "has no rows", "give at least one case")
    return cases


_WANTED = "the columns geometry, parameters, quantity, value_ohm (or mode and R_total_over_Rs_per_mm)"


@record
class _Row:
    """A row and where it stands."""

    path: Path
    number: int
    cells: Mapping[str, object]
    noun: str = "row"

    def fail(self, column: str, what: str, next_step: str) -> _CellError:
        return _CellError(self, column, what, next_step)

    def text(self, column: str) -> str:
        value = self.cells.get(column)
        return "" if value is None else str(value).strip()

    def number_in(self, column: str, value: object, *, least: float = -math.inf) -> float:
        if value is None or value == "":
            raise self.fail(column, "is empty", "give a number")
        try:
            got = math.nan if isinstance(value, bool) else float(str(value))
        except ValueError:
            got = math.nan
        if not math.isfinite(got):
            raise self.fail(column, f'"{_short(value)}" is not a number', "give a finite number")
        if got < least:
            raise self.fail(column, f"{got:g} is below {least:g}", "give a number that can be")
        return got


def _short(value: object) -> str:
    return str(value)[:40]


def _table(path: Path, text: str) -> Iterator[ReferenceCase]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        columns = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = columns
        read = _table_kind(path, columns)
        for row in reader:
            here = _Row(path, reader.line_num, {k: v for k, v in row.items() if k})
            if any(here.text(column) for column in columns):
                yield from _read_or_skipped(read, here)
    except csv.Error as error:
        raise CaseFileError(f"{path}, row {reader.line_num}", f"malformed CSV ({error})", "check its quotes") from error


def _read_or_skipped(read: Callable[[_Row], Iterator[ReferenceCase]], row: _Row) -> list[ReferenceCase]:
    """Return the cases of a row; of one with a bad cell, that it is skipped and why."""
    try:
        return list(read(row))
    except _CellError as error:
        skipped = ReferenceCase(
            id=row.text("id") or f"{row.noun} {row.number}",
            row=row.number,
            geometry=row.text("geometry"),
            parameters={},
            quantity=row.text("quantity"),
            reference=None,
            mode=row.text("mode"),
            source=row.text("source"),
            skipped=f"cannot be read: {error.place}: {error.what}",
        )
        return [skipped]


def _table_kind(path: Path, columns: list[str]) -> Callable[[_Row], Iterator[ReferenceCase]]:
    has = set(columns)
    common = "geometry" in has and bool(has & set(PARAMETER_COLUMNS))
    if common and "quantity" in has and has & set(VALUE_COLUMNS):
        return _impedance_row
    if common and {"mode", "R_total_over_Rs_per_mm"} <= has:
        return _loss_row
    raise CaseFileError(str(path), f"its columns are {', '.join(columns)[:120]}", f"give {_WANTED}")


def _impedance_row(row: _Row) -> Iterator[ReferenceCase]:
    column = next(name for name in VALUE_COLUMNS if name in row.cells)
    skipped = _why_incomplete(row) or _why_not_a_line(row)
    stated = row.text("uncertainty_pct")
    yield ReferenceCase(
        id=row.text("id") or f"row {row.number}",
        row=row.number,
        geometry=_word(row, "geometry"),
        parameters={} if skipped else _parameters(row),
        quantity=_word(row, "quantity"),
        reference=_reference(row, column, row.cells[column]),
        uncertainty_pct=row.number_in("uncertainty_pct", stated, least=0) if stated else None,
        source=row.text("source"),
        explained=row.text("explained"),
        skipped=skipped,
    )


def _loss_row(row: _Row) -> Iterator[ReferenceCase]:
    figures = {name: row.cells[column] for column, name in LOSS_COLUMNS.items() if row.text(column)}
    shares = row.text("dielectric_shares")
    figures |= _json_numbers(row, "dielectric_shares", shares) if shares else {}
    checked = row.text(CHECK_COLUMN)
    known = {"R_total": abs(row.number_in(CHECK_COLUMN, checked)) * 100} if checked else {}
    yield from _loss_cases(row, _parameters(row), figures, known)


def _loss_cases(
    row: _Row, parameters: Mapping[str, float], figures: Mapping[str, object], known: Mapping[str, float]
) -> Iterator[ReferenceCase]:
    geometry, _, word = _word(row, "geometry").partition(" ")
    mode = row.text("mode") or word or MODES[0]
    if mode not in MODES:
        raise row.fail("mode", f'"{_short(mode)}" is not a mode', f"give {', '.join(MODES)}")
    skipped = _why_incomplete(row) or _why_not_a_line(row)
    for quantity, value in figures.items():
        yield ReferenceCase(
            id=row.text("id") or f"row {row.number}",
            row=row.number,
            geometry=geometry,
            parameters=parameters,
            quantity=quantity,
            reference=_reference(row, quantity, value),
            mode=mode,
            uncertainty_pct=known.get(quantity),
            source=row.text("source"),
            skipped=skipped,
        )


def _toml(path: Path, text: str) -> Iterator[ReferenceCase]:
    try:
        entries = read_toml(text).get("case")
    except TomlError as error:
        raise CaseFileError(str(path), f"malformed TOML ({error})", "correct it") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise CaseFileError(str(path), "has no [[case]]", "give a file of reference cases")
    for number, entry in enumerate(entries, 1):
        yield from _read_or_skipped(_entry, _Row(path, number, entry, "case"))


def _entry(row: _Row) -> Iterator[ReferenceCase]:
    if row.cells.get("values") is None and row.cells.get("trace_per_mm") is None:
        raise row.fail("values", "no reference value of a cross section", "give values = { Z0 = ... }")
    parameters = _numbers(row, "parameters_mm", row.cells.get("parameters_mm"))
    if "dk" in row.cells:
        parameters["er"] = row.number_in("dk", row.cells["dk"], least=0)
    if row.cells.get("values") is None:
        yield from _loss_cases(row, parameters, _loss_figures(row), {})
        return
    uncertainty = row.cells.get("uncertainty_pct")
    known = _numbers(row, "uncertainty_pct", uncertainty) if uncertainty is not None else {}
    explained = row.cells.get("explained")
    reasons = explained if isinstance(explained, dict) else {}
    skipped = _why_incomplete(row) or _why_not_a_line(row)
    for quantity, value in _numbers(row, "values", row.cells["values"]).items():
        yield ReferenceCase(
            id=row.text("id") or f"case {row.number}",
            row=row.number,
            geometry=_word(row, "geometry"),
            parameters=parameters,
            quantity=quantity,
            reference=_reference(row, quantity, value),
            uncertainty_pct=known.get(quantity),
            source=row.text("source") or row.text("method") or row.text("group"),
            explained=str(reasons.get(quantity, "")),
            skipped=skipped,
        )


def _loss_figures(row: _Row) -> dict[str, object]:
    figures: dict[str, object] = {name: row.cells[key] for key, name in _LOSS_KEYS.items() if key in row.cells}
    if "dielectric_shares" in row.cells:
        figures |= _numbers(row, "dielectric_shares", row.cells["dielectric_shares"])
    return figures


def _word(row: _Row, column: str) -> str:
    text = row.text(column)
    if not text:
        raise row.fail(column, "is empty", "give it, or remove the row")
    return text


def _reference(row: _Row, column: str, value: object) -> float:
    got = row.number_in(column, value)
    if got <= 0:
        raise row.fail(column, f"{got:g} is not above 0", "give the reference value")
    return got


def _why_incomplete(row: _Row) -> str:
    if row.text("completeness") in ("", "complete"):
        return ""
    missing = row.text("missing_or_ambiguous") or row.text("missing")
    return f"incomplete: {missing or 'the file does not say what is missing'}"


def _why_not_a_line(row: _Row) -> str:
    geometry = row.text("geometry").partition(" ")[0]
    if geometry in NOT_BOARD_LINES:
        return f"{geometry} is no board line: it checks an engine for round or closed conductors"
    if geometry and not is_known_geometry(geometry):
        return f'unknown geometry "{_short(geometry)}"'
    return ""


def _parameters(row: _Row) -> dict[str, float]:
    column = next(name for name in PARAMETER_COLUMNS if name in row.cells)
    return _json_numbers(row, column, row.text(column))


def _json_numbers(row: _Row, column: str, text: str) -> dict[str, float]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise row.fail(column, "is not JSON", 'write it as {"w": 0.1, "h": 0.2}') from error
    return _numbers(row, column, found)


def _numbers(row: _Row, column: str, found: object) -> dict[str, float]:
    """Numbers by name, without empty ones and remarks; no length or permittivity is negative."""
    if not isinstance(found, dict):
        raise row.fail(column, "is not a table of names and numbers", 'write it as {"w": 0.1, "h": 0.2}')
    return {
        key: row.number_in(f"{column}, {_short(key)}", value, least=0)
        for key, value in found.items()
        if value is not None and key not in REMARKS
    }
