"""A fab's stackup as it comes: workbooks, CSV, markdown or pasted columns, under the header names that fabs use.

Nothing is guessed silently: a length without a unit is an error with its line, or, where the board's thickness decides
the unit, a note. What could be two things is a note too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drc_rules.fab_exchange.answer.cells import (
    GLASS,
    MOST_DK,
    RowKind,
    UnitMissingError,
    figure,
    is_ounces,
    is_stated,
    kind_of,
    length,
    length_in,
)
from drc_rules.fab_exchange.answer.headers import LENGTHS, MM_PER, UNIT, Head, find_head, joined_head, unit_name
from drc_rules.fab_exchange.answer.lines import FabWidth, lines_in
from drc_rules.fab_exchange.answer.sheets import Rows, read_sheets, split_text
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen

_TOTAL = re.compile(r"\W*(total|overall|sum|board|finished|stack-?up thickness|gesamt|summe|总|成品)", re.IGNORECASE)
_NOTE = re.compile(r"\W*(tolerance|notes?|remarks?|comments?|hinweis|备注)\b", re.IGNORECASE)
_UNITS_NOTE = re.compile(
    rf"\b(?:units?|einheit(?:en)?)\b\W{{0,3}}(?:of \w+ ?\W? ?)?{UNIT}"
    rf"|\b(?:dimensions|thickness(?:es)?|values|ma(?:ß|ss)e)( are| is| sind)? in {UNIT}",
    re.IGNORECASE,
)
_TOLERANCE = re.compile(r"(?:\+\s*/?\s*-|±)\s*(\d+(?:[.,]\d+)?)\s*%")
_UNIT_BAND = (0.75, 1.3)
"""How far the sum of a table may be from the board's thickness for its unit to be decided by it: units are 25 apart."""


class FabRow(Frozen):
    """One row of the fab's stackup; None and "" mean that the table does not say.

    Attributes:
        line: in the table, counted from 1.
        rounding_mm: half of the last digit that the fab printed: closer than this the table cannot say.
        number: of a copper layer, counted from the top, where the table has it.
        at_ghz, dk_at_ghz: the frequency that the row, or else the header, names for `df` and for `dk`.
    """

    line: int
    name: str
    kind: RowKind
    thickness_mm: float | None = None
    rounding_mm: float = 0.0
    material: str = ""
    dk: float | None = None
    df: float | None = None
    copper_oz: float | None = None
    number: int | None = None
    at_ghz: float | None = None
    dk_at_ghz: float | None = None
    tg_c: float | None = None


class FabTotal(Frozen):
    """A thickness that the table states for the whole board; `tolerance_pct` where it states one."""

    line: int
    text: str
    thickness_mm: float
    rounding_mm: float
    tolerance_pct: float | None = None


class FabStackup(Frozen):
    """What the fab sent, top to bottom.

    Attributes:
        notes: what the reader decided where the table leaves it open.
    """

    rows: tuple[FabRow, ...]
    widths: tuple[FabWidth, ...] = ()
    totals: tuple[FabTotal, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Reading:
    """A table while it is read; `unit` holds where neither cell nor header names one."""

    where: str
    unit: str | None = None
    rows: list[FabRow] = field(default_factory=list)
    widths: list[FabWidth] = field(default_factory=list)
    totals: list[FabTotal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_fab_table(text: str, where: str, *, board_mm: float | None = None) -> FabStackup:
    """Read a fab's table from text.

    Args:
        text: the table with what stands above and below it.
        where: what errors call the table.
        board_mm: the board's thickness; it decides the unit of a table that names none.

    Raises:
        ConfigError: no header is found, or a row or a cell cannot be understood; names line and column.
    """
    return _chosen([(where, split_text(text, where))], where, board_mm)


def read_fab_file(data: bytes, where: str, *, board_mm: float | None = None) -> FabStackup:
    """Read what a fab sent: text or a workbook; arguments and errors as those of `read_fab_table`."""
    return _chosen(read_sheets(data, where), where, board_mm)


def _chosen(sheets: Sequence[tuple[str, Rows]], where: str, board_mm: float | None) -> FabStackup:
    """The sheet that holds the stackup, with the lines of all sheets."""
    found: list[tuple[str, FabStackup]] = []
    refused: list[ConfigError] = []
    for name, cells in sheets:
        try:
            found.append((name, _with_unit(cells, name, board_mm)))
        except ConfigError as error:
            refused.append(error)
    stackups = [(name, one) for name, one in found if one.rows]
    if not stackups:
        if refused:
            raise refused[0]
        step = "give a table whose first line names the columns: layer, type, thickness (mm), material, Dk, copper oz"
        raise ConfigError(where, "no stackup table is found in it", step)
    name, chosen = max(stackups, key=lambda pair: len(pair[1].rows))
    notes = [f"{error.where}: not read, {error.what}" for error in refused]
    others = [other.rpartition("sheet ")[2] for other, _ in stackups if other != name]
    if others:
        notes.append(f"{len(stackups)} sheets hold a stackup: {name.rpartition('sheet ')[2]} is read, not {others[0]}")
    widths = tuple(line for _, one in found for line in one.widths)
    return chosen.model_copy(update={"widths": widths, "notes": (*chosen.notes, *notes)})


def _with_unit(cells: Rows, where: str, board_mm: float | None) -> FabStackup:
    notes = (found for _, row in cells if find_head(row) is None for cell in row if (found := _UNITS_NOTE.search(cell)))
    named = next(notes, None)
    try:
        return _read(cells, where, unit_name(named.group(named.lastindex or 0)) if named else None)
    except UnitMissingError:
        if board_mm is None:
            raise
        fits = []
        for unit in MM_PER:
            try:
                one = _read(cells, where, unit)
            except ConfigError:
                continue
            total = sum(row.thickness_mm or 0.0 for row in one.rows)
            if _UNIT_BAND[0] * board_mm < total < _UNIT_BAND[1] * board_mm:
                fits.append((unit, total, one))
        if len(fits) != 1:
            raise
        unit, total, one = fits[0]
        sums = f"its rows add up to {total:.3g} mm, the board to {board_mm:.3g} mm"
        note = f"the table names no unit; read in {unit}, {sums}"
        return one.model_copy(update={"notes": (*one.notes, note)})


def _read(cells: Rows, where: str, unit: str | None) -> FabStackup:
    reading = _Reading(where, unit)
    head: Head | None = None
    skip = False
    for index, (number, row) in enumerate(cells):
        if number == 0:  # a remark of the one who cut the text
            reading.notes += row
            continue
        if skip or not any(row):
            skip = False
            continue
        found = find_head(row)
        below = cells[index + 1][1] if index + 1 < len(cells) else []
        joined = joined_head(row, below) if any(below) else None
        two_lines = find_head(joined) if joined else None
        if two_lines and (found is None or len(two_lines.columns) >= len(found.columns)):
            found, skip = two_lines, True
        if found is not None:
            head = found
            reading.notes += [note for note in found.doubts if note not in reading.notes]
        elif not _read_total(row, head, number, reading) and head is not None:
            _read_row(row, head, number, reading)
    return FabStackup(
        rows=tuple(reading.rows),
        widths=tuple(reading.widths),
        totals=tuple(reading.totals),
        notes=tuple(reading.notes),
    )


def _read_total(row: Sequence[str], head: Head | None, line: int, reading: _Reading) -> bool:
    """Whether the row states the thickness of the board, or is a note, rather than a layer."""
    first = next(cell for cell in row if cell)
    if _NOTE.match(first):
        return True
    if not _TOTAL.match(first):
        return False
    text = " ".join(cell for cell in row if cell)
    if not re.search(r"thick|total|sum|gesamt|厚", text, re.IGNORECASE) or not re.search(r"\d", text):
        return True
    unit = reading.unit
    places = [
        head.columns[key]
        for role in ("processed ", "", "base ")
        for key in (f"{role}thickness",)
        if head and key in head.columns
    ]
    in_column = next((row[k] for k in places if k < len(row) and re.search(r"\d", row[k])), "")
    if head and not unit:
        unit = next((head.units[key] for key in head.units if key.endswith("thickness")), None)
    plain = re.sub(_TOLERANCE, " ", in_column or re.sub(r"^[^\d]*", "", text))
    try:
        size, rounding = length_in(plain, text[:60], f"{reading.where}, line {line}", unit)
    except ConfigError:
        reading.notes.append(f'line {line}: "{text[:60]}" is not read')
        return True
    tolerance = _TOLERANCE.search(text)
    percent = float(tolerance[1].replace(",", ".")) if tolerance else None
    total = FabTotal(line=line, text=first[:60], thickness_mm=size, rounding_mm=rounding, tolerance_pct=percent)
    reading.totals.append(total)
    return True


def _read_row(row: Sequence[str], head: Head, line: int, reading: _Reading) -> None:
    cell = {key: row[index] if index < len(row) else "" for key, index in head.columns.items()}
    cell["layer"] = cell.get("layer", "") or cell.get("number", "")
    where = f"{reading.where}, line {line}"
    reading.widths += lines_in(cell, head, where, line, reading.unit)
    if head.is_lines or not {*_lengths(head), "kind", "material", "oz"} & head.columns.keys():
        return
    if not any(is_stated(cell.get(key, "")) for key in ("kind", *_lengths(head), "material", "dk", "oz")):
        return
    found, kind = kind_of(cell)
    if not found:
        said = cell.get("kind") or cell["layer"] or "it"
        what = f'"{said}" does not say whether this row is copper, core, prepreg or mask'
        if any(re.search(r"\d", cell.get(key, "")) for key in _lengths(head)) or not reading.rows:
            raise ConfigError(where, what, "name it in a column Type")
        reading.notes.append(f'line {line}: "{" ".join(c for c in row if c)[:60]}" is no row of the stackup')
        return
    if kind is not None:
        reading.rows.append(_row(cell, head, kind, line, reading))


def _lengths(head: Head) -> list[str]:
    return [key for key in head.columns if key.endswith("thickness")]


def _row(cell: Mapping[str, str], head: Head, kind: RowKind, line: int, reading: _Reading) -> FabRow:
    where = f"{reading.where}, line {line}"
    own = "copper thickness" if kind == "copper" else "dielectric thickness"
    keys = [role + key for role in ("processed ", "", "base ") for key in (own, LENGTHS[0])]
    column = next((key for key in keys if is_stated(cell.get(key, ""))), "thickness")
    is_weight = kind == "copper" and is_ounces(cell.get(column, ""))
    thickness, rounding = (None, 0.0) if is_weight else length(cell, column, head, where, reading.unit)
    dk = figure(cell, "dk", where) if kind != "copper" else None
    if dk is not None and not 1 < dk < MOST_DK:
        raise ConfigError(where, f'column "{head.names["dk"]}": a Dk of {dk:g}', "correct it")
    if column.startswith("base ") and thickness is not None:
        note = f'"{head.names[column]}" is the only thickness: it counts as the pressed one'
        if note not in reading.notes:
            reading.notes.append(note)
    return FabRow(
        line=line,
        name=cell["layer"],
        kind=kind,
        thickness_mm=thickness,
        rounding_mm=rounding,
        material=_material(cell) if kind != "copper" else "",
        dk=dk,
        df=figure(cell, "df", where) if kind != "copper" else None,
        copper_oz=_ounces(cell, column if is_weight else "oz", where) if kind == "copper" else None,
        number=_number(cell) if kind == "copper" else None,
        at_ghz=_at_ghz(cell, head, where, ("df", "dk")) if kind != "copper" else None,
        dk_at_ghz=_at_ghz(cell, head, where, ("dk",)) if kind != "copper" else None,
        tg_c=figure(cell, "tg", where) if kind not in ("copper", "mask") else None,
    )


def _at_ghz(cell: Mapping[str, str], head: Head, where: str, of: Sequence[str]) -> float | None:
    """The frequency of Dk or Df: of the row where it states one, else of the header; what names neither is of both."""
    columns = [f"{of[0]} frequency", "frequency", *(f"{other} frequency" for other in of[1:])]
    for column in columns:
        if own := figure(cell, column, where):
            unit = re.search(r"[gm]hz", f"{cell[column]} {head.names[column]}".lower())
            return own / 1000 if unit and unit[0] == "mhz" else own
    return next((head.at_ghz[name] for name in of if name in head.at_ghz), None)


def _ounces(cell: Mapping[str, str], key: str, where: str) -> float | None:
    said = re.search(r"(\d/\d|[\d.,]+|\bH) ?oz", cell.get("material", ""), re.IGNORECASE)
    text = cell.get(key, "") or (said[0] if said else "")
    if re.search(r"[uµμ]m|micron|mil", text, re.IGNORECASE):
        return None  # a foil's thickness, not its weight
    return figure({"oz": text}, "oz", where)


def _number(cell: Mapping[str, str]) -> int | None:
    """The layer's number: from a column of numbers only where the layer has a name too, else rows may be counted."""
    for text in (cell["layer"], cell.get("number", "") if is_stated(cell["layer"]) else ""):
        match = re.match(r"\s*(?:l|ly|layer)?[\s_-]*0*(\d{1,2})\b", text, re.IGNORECASE)
        if match:
            return int(match[1])
    return None


def _material(cell: Mapping[str, str]) -> str:
    """Laminate, glass and resin content, from however many columns; a word for the kind of row is no material."""
    material = cell.get("material", "") if is_stated(cell.get("material", "")) else ""
    understood = kind_of({"kind": material}) if material else (False, None)
    if understood[0] and not re.search(r"\d", material) and understood[1] != "mask":
        material = ""
    glass = cell.get("glass", "") if is_stated(cell.get("glass", "")) else ""
    resin = cell.get("resin", "") if is_stated(cell.get("resin", "")) else ""
    parts = [material]
    if glass and GLASS.search(glass) and glass.lower() not in material.lower():
        parts.append(glass)
    percent = re.search(r"\d{2}(?:[.,]\d+)?", resin)
    if percent and "rc" not in " ".join(parts).lower():
        value = float(percent[0].replace(",", "."))
        parts.append(f"RC{value:g}%")
    return " ".join(part for part in parts if part) if material or glass else ""
