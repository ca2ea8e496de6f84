"""A fab's stackup table as it comes: CSV, semicolons, tabs or pasted columns, under the header names that fabs use.

Nothing is guessed: a length without a unit, or a row that could be anything, is an error with its line.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen

RowKind = Literal["copper", "core", "prepreg", "dielectric", "mask"]

MOST_MM = 20.0
MOST_DK = 100.0
MM_PER = {"mm": 1.0, "um": 0.001, "mil": 0.0254, "inch": 25.4}
_UNIT = r"(mm|um|µm|μm|microns?|mils?|thou|inch(?:es)?|in\b|\")"
_UNIT_NAMES = {"µm": "um", "μm": "um", "micron": "um", "mils": "mil", "thou": "mil", "in": "inch", '"': "inch"}
_COLUMNS = {
    "layer": r"(layer|layer ?(name|no|nr|number|id|#)|name|no|nr|#|l)",
    "kind": r"(type|layer type|description|desc|function|kind|usage|layer description|category)",
    "thickness": r"((finished|final|pressed|nominal|layer|after press(ing)?)? ?(thickness|thick|thk|height))",
    "copper thickness": r"((copper|cu|foil|conductor) ?(thickness|thick|thk))",
    "dielectric thickness": r"((dielectric|diel|insulation|insulator) ?(thickness|thick|thk|height))",
    "material": r"(material|laminate|product|material (name|type)|dielectric material|dielectric|brand|resin)",
    "dk": r"(dk|er|εr|ɛr|e r|epsilon ?r|dielectric constant|permittivity|dk ?/ ?er|dielectric const)",
    "df": r"(df|tan ?[dδ]|loss tangent|dissipation factor|loss tan|tan delta)",
    "oz": r"((copper|cu|foil)? ?(oz|weight|wt|weight oz)|copper ?oz|oz cu|base copper|copper)",
    "width": r"((line|trace|track|finished)? ?(width|lw)|w)",
    "gap": r"((line|trace|pair|diff)? ?(gap|spacing|space|separation)|s)",
    "ohm": r"((target|calc|calculated|simulated|diff|se)? ?(impedance|ohms?|z0|zo|zdiff|z))",
}
_THICKNESSES = ("thickness", "copper thickness", "dielectric thickness")
_AT = re.compile(r"@.*|\bat [0-9.]+ ?[gm]hz.*", re.IGNORECASE)
_NUMBER = re.compile(rf"([-+]?\d*[.,]?\d+(?:e[-+]?\d+\b)?)\s*{_UNIT}?", re.IGNORECASE)
_FIGURE = re.compile(r"(?:(?<![\w.,])-)?\d*[.,]?\d+(?:e[-+]?\d+\b)?", re.IGNORECASE)
_KINDS: tuple[tuple[RowKind | None, str], ...] = (
    (None, r"silk|legend|paste|overlay|screen|coverlay adhesive"),
    ("mask", r"mask|lpi|resist|coverlay"),
    ("prepreg", r"pre-?preg|\bpp\b|b-stage|bondply"),
    ("core", r"\bcore\b|c-stage|\bccl\b"),
    (
        "copper",
        r"copper|\bcu\b|\.cu\b|signal|plane|\bgnd\b|ground|power|\bpwr\b|mixed|foil|conductor|conductive|\bsig\b",
    ),
    ("dielectric", r"dielectric|substrate|insulat"),
)
_RULE = re.compile(r"[-:=_]+")
_TOTAL = re.compile(r"\s*(total|overall|sum|board|finished|tolerance|note)\b", re.IGNORECASE)


MOST_CHARACTERS = 500
MOST_LINES = 20_000
"""A table of a stackup has some dozens; each is looked at under every delimiter."""


class FabRow(Frozen):
    """One row of the fab's stackup; None and "" mean that the table does not say.

    Attributes:
        line: in the table, counted from 1.
        rounding_mm: half of the last digit that the fab printed: closer than this the table cannot say.
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


class FabWidth(Frozen):
    """A line that the fab proposes on a layer, and the impedance that it states."""

    line: int
    layer: str
    width_mm: float
    gap_mm: float | None = None
    stated_ohm: float | None = None


class FabStackup(Frozen):
    """What the fab sent, top to bottom."""

    rows: tuple[FabRow, ...]
    widths: tuple[FabWidth, ...] = ()


class _Head(Frozen):
    columns: dict[str, int]
    units: dict[str, str]
    names: dict[str, str]


def read_fab_table(text: str, where: str) -> FabStackup:
    """Read a fab's table.

    Raises:
        ConfigError: no header is found, or a row or a cell cannot be understood; names line and column.
    """
    if text.count("\n") > MOST_LINES:
        raise ConfigError(where, f"has more than {MOST_LINES} lines, no stackup does", "give the stackup's table alone")
    cells = _split(text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    rows: list[FabRow] = []
    widths: list[FabWidth] = []
    head: _Head | None = None
    for number, row in cells:
        found = _head(row)
        if found is not None:
            head = found
        elif head is not None and any(row) and not _TOTAL.match(next(c for c in row if c)):
            _read_row(row, head, f"{where}, line {number}", rows, widths)
    if not rows:
        step = "give a table whose first line names the columns: layer, type, thickness (mm), material, Dk, copper oz"
        raise ConfigError(where, "no stackup table is found in it", step)
    return FabStackup(rows=tuple(rows), widths=tuple(widths))


def _split(text: str) -> list[tuple[int, list[str]]]:
    """Line numbers and cells, by the delimiter under which most header columns are found."""

    def columns(cells: list[tuple[int, list[str]]]) -> int:
        return max((len(head.columns) for _, row in cells if (head := _head(row))), default=0)

    return max((_cut(text, delimiter) for delimiter in (",", ";", "\t", "|", "  ")), key=columns)


def _cut(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    if delimiter == "  ":
        rows = [re.split(r"\t|\s{2,}", line.strip()) for line in text.split("\n")]
        found = list(enumerate(rows, start=1))
    elif delimiter == "|":
        rows = [line.strip().strip("|").split("|") for line in text.split("\n")]
        found = list(enumerate(rows, start=1))
    else:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            found = [(reader.line_num, row) for row in reader]
        except csv.Error:
            found = []
    return [(number, [_cell(text) for text in row]) for number, row in found]


def _cell(text: str) -> str:
    """A cell with single blanks, and no longer than anybody means: header cells are searched for units."""
    words = " ".join(text[: 4 * MOST_CHARACTERS].split())[:MOST_CHARACTERS]
    return "" if _RULE.fullmatch(words) else words


def _head(row: Sequence[str]) -> _Head | None:
    columns: dict[str, int] = {}
    units: dict[str, str] = {}
    names: dict[str, str] = {}
    for index, cell in enumerate(row):
        plain = _AT.sub("", cell.lower())
        unit = re.search(rf"[\[(/ _]\s*{_UNIT}", plain)
        bare = re.sub(r"[\[(].*?[\])]", " ", plain)
        bare = re.sub(rf"[/ _]{_UNIT}\s*$", " ", bare)
        bare = " ".join(bare.replace("_", " ").replace(".", " ").split())
        key = next((k for k, pattern in _COLUMNS.items() if re.fullmatch(pattern, bare)), None)
        if key == "copper thickness" and re.search(r"\boz\b", plain):
            key = "oz"
        if key is None or key in columns:
            continue
        columns[key], names[key] = index, cell
        if unit:
            units[key] = _unit(unit[1])
    has_figures = any(key in columns for key in (*_THICKNESSES, "width", "oz"))
    is_head = len(columns) >= 3 or (len(columns) == 2 and has_figures)
    numbers = sum(bool(re.fullmatch(r"[-+]?[\d.,]+", cell)) for cell in row)
    return _Head(columns=columns, units=units, names=names) if is_head and has_figures and numbers < 2 else None


def _unit(text: str) -> str:
    word = text.lower()
    word = "inch" if word.startswith("inch") else "um" if word.startswith("micron") else word
    return _UNIT_NAMES.get(word, word)


def _read_row(row: Sequence[str], head: _Head, where: str, rows: list[FabRow], widths: list[FabWidth]) -> None:
    cell = {key: row[index] if index < len(row) else "" for key, index in head.columns.items()}
    line = int(where.rsplit(" ", 1)[1])
    name = cell.get("layer", "")
    width, _ = _length(cell, "width", head, where)
    if width is not None:
        gap, _ = _length(cell, "gap", head, where)
        ohm = _figure(cell, "ohm", where)
        widths.append(FabWidth(line=line, layer=name, width_mm=width, gap_mm=gap, stated_ohm=ohm))
    if not {*_THICKNESSES, "kind", "material"} & head.columns.keys():
        return
    if not any(cell.get(key) for key in ("kind", *_THICKNESSES, "material", "dk", "oz")):
        return
    found, kind = _kind(cell)
    if not found:
        said = cell.get("kind") or name or "it"
        what = f'"{said}" does not say whether this row is copper, core, prepreg or mask'
        raise ConfigError(where, what, "name it in a column Type")
    if kind is None:
        return
    own = "copper thickness" if kind == "copper" else "dielectric thickness"
    column = own if _is_stated(cell.get(own, "")) else "thickness"
    thickness, rounding = _length(cell, column, head, where)
    dk = _figure(cell, "dk", where) if kind != "copper" else None
    if dk is not None and not 1 < dk < MOST_DK:
        raise ConfigError(where, f'column "{head.names["dk"]}": a Dk of {dk:g}', "correct it")
    rows.append(
        FabRow(
            line=line,
            name=name,
            kind=kind,
            thickness_mm=thickness,
            rounding_mm=rounding,
            material=_stated(cell.get("material", "")) if kind != "copper" else "",
            dk=dk,
            df=_figure(cell, "df", where) if kind != "copper" else None,
            copper_oz=_figure(cell, "oz", where) if kind == "copper" else None,
        )
    )


def _kind(cell: Mapping[str, str]) -> tuple[bool, RowKind | None]:
    """Whether the row is understood, and its kind; None for silk screen and paste, which build nothing."""
    for key in ("kind", "layer", "material"):
        text = cell.get(key, "").lower()
        for kind, pattern in _KINDS:
            if text and re.search(pattern, text):
                return True, kind
    if cell.get("dk"):
        return True, "dielectric"
    if cell.get("oz"):
        return True, "copper"
    return False, None


def _length(cell: Mapping[str, str], key: str, head: _Head, where: str) -> tuple[float | None, float]:
    """A length in mm and half of its last printed digit."""
    text = cell.get(key, "")
    if not _is_stated(text):
        return None, 0.0
    match = _NUMBER.search(text)
    if match is None:
        raise ConfigError(where, f'column "{head.names[key]}": "{text}" is no length', "write a number, e.g. 0.1 mm")
    unit = _unit(match[2]) if match[2] else head.units.get(key)
    if unit is None:
        what = f'column "{head.names[key]}": "{text}" has no unit'
        raise ConfigError(where, what, f'name it in the header, e.g. "{head.names[key]} (mm)"')
    number = match[1].replace(",", ".")
    digits = len(number.partition(".")[2])
    value = float(number) * MM_PER[unit]
    if not 0 < value < MOST_MM:
        raise ConfigError(where, f'column "{head.names[key]}": "{text}" is no length', "check number and unit")
    return value, 0.5 * 10.0**-digits * MM_PER[unit]


def _figure(cell: Mapping[str, str], key: str, where: str) -> float | None:
    text = cell.get(key, "")
    if not _is_stated(text):
        return None
    fraction = re.search(r"\b(\d{1,2})\s*/\s*(\d{1,2})\b", text) if key == "oz" else None
    if fraction and int(fraction[2]):
        return int(fraction[1]) / int(fraction[2])
    if key == "oz" and text.strip().upper() in ("H", "HOZ"):
        return 0.5
    match = _FIGURE.search(text)
    found = math.nan if match is None else float(match[0].replace(",", "."))
    if not 0 <= found < math.inf:
        raise ConfigError(where, f'column "{key}": "{text}" is no number that can be', "write a number")
    return found


def _stated(text: str) -> str:
    return text if _is_stated(text) else ""


def _is_stated(text: str) -> bool:
    return text.strip().lower() not in ("", "-", "--", "n/a", "na", "none", "/", "?", "not stated")
