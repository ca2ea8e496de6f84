"""Which column of a fab's table holds what: header words, their roles and units, headers over two lines."""

import re
from collections.abc import Sequence

from stackup_lib.core.frozen import Frozen

MM_PER = {"mm": 1.0, "um": 0.001, "mil": 0.0254, "inch": 25.4}
UNIT = r"(mm|um|µm|μm|microns?|mils?|thou|inch(?:es)?|in\b|\")"
_UNIT_NAMES = {"µm": "um", "μm": "um", "micron": "um", "mils": "mil", "thou": "mil", "in": "inch", '"': "inch"}
_THICK = r"(thickness|thick|thk|height|dicke|厚度)"
_WIDTH = r"((line|trace|track|conductor) ?)?(width|lw|w|线宽)"
_GAP = r"((line|trace|pair|diff) ?)?(gap|spacing|space|separation|clearance|ls|s|线距)"
_COLUMNS = {
    "layer": r"(layers?|layer ?(name|id|order)|name|l|ly|lage|lagenname|层|层别|层次)",
    "number": r"(layer ?(no|nr|number|#)|no|nr|#|item|pos|position|seq)",
    "kind": r"(type|layer type|function|kind|usage|category|class|typ|art|类型)",
    "description": r"(description|desc|layer description|bezeichnung|remarks?|comments?|notes?)",
    "thickness": rf"((layer|board|material)? ?{_THICK})",
    "copper thickness": rf"((copper|cu|foil|conductor) ?{_THICK}|铜厚)",
    "dielectric thickness": rf"((dielectric|diel|insulation|insulator|core ?/ ?pp) ?{_THICK})",
    "material": r"(materials?|laminate|product|(base )?material (name|type|description|family|grade)"
    r"|dielectric material|dielectric|brand|laminate type|supplier description|basismaterial|材料|板材)",
    "glass": r"(construction|glass( style| type)?|style|pp( type)?|prepreg( type)?|glass ?cloth|fabric|weave)",
    "resin": r"((resin( content)?|rc|r/c) ?%?)",
    "dk": r"((dk|er|εr|ɛr|e r|epsilon ?r|dielectric const(ant)?|permittivity|介电常数)( value| stated)?|dk ?/ ?er)",
    "df": r"((df|tan ?[dδ]|loss tangent|dissipation factor|loss tan|tan delta)( value| stated)?)",
    "dk frequency": r"(dk|er|εr) ?((at|@) ?)?[gm]hz",
    "df frequency": r"(df|tan ?[dδ]|loss tangent) ?((at|@) ?)?[gm]hz",
    "frequency": r"(dk ?/ ?df ?)?((at|@) ?)?[gm]hz|(test |measuring )?freq(uency)?( [gm]hz)?",
    "tg": r"(tg)",
    "oz": r"((copper|cu|foil)? ?(oz|weight|wt|weight oz)|copper ?oz|oz cu|copper|cu)",
    "w/s": rf"({_WIDTH} ?[/&+-] ?{_GAP}|lw ?/ ?(ls|s)|l ?/ ?s|(line|trace) ?[/&] ?(space|gap|spacing)|线宽 ?/ ?线距)",
    "width": rf"({_WIDTH})",
    "gap": rf"({_GAP})",
    "ohm": r"((diff(erential)?|se)? ?(impedance|imp|ohms?|z0|zo|zdiff|z|阻抗)( value)?)",
}
LENGTHS = ("thickness", "copper thickness", "dielectric thickness")
_WITH_ROLE = (*LENGTHS, "oz", "w/s", "width", "gap")
_PROCESSED = (
    r"\b(finished|final|pressed|processed|after (press(ing)?|lam(ination)?)|actual|adjusted|modified|suggested"
    r"|proposed|recommended|revised|production|plated|new)\b"
)
_BASE = (
    r"\b(base|original|raw|unpressed|before (press(ing)?|lam(ination)?)|start(ing)?|initial|customer'?s?|drawn"
    r"|design(ed)?|artwork|gerber|requested|required|nominal)\b"
)
_TARGET = r"\b(target|required|requested|spec(ified)?|nominal|customer'?s?|design)\b"
_COMPUTED = r"\b(calc(ulated)?|computed|simulated|predicted|sim|modell?ed|actual|result|adjusted|final)\b"
_AT = re.compile(r"@(?! ?[gm]hz$).*|\bat [0-9.]+ ?[gm]hz.*|\b[0-9.]+ ?ghz\b", re.IGNORECASE)
_GHZ = re.compile(r"(\d+(?:[.,]\d+)?)\s*(g(?:hz)?|mhz)\b", re.IGNORECASE)
_SUB_WORD = re.compile(rf"(?:\(?\[?{UNIT}\]?\)?|oz|%|ohms?|Ω|°?c|w|s|{_PROCESSED}|{_BASE}|{_THICK})+", re.IGNORECASE)


class Head(Frozen):
    """Columns of a table by what they hold, e.g. `processed thickness`.

    Attributes:
        units: the length unit of a column whose header names it: `mm`, `um`, `mil`, `inch`.
        names: headers as printed.
        at_ghz: the frequency that the header of Dk or Df names, in GHz.
        doubts: columns that could be two things, each as a sentence.
    """

    columns: dict[str, int]
    units: dict[str, str]
    names: dict[str, str]
    at_ghz: dict[str, float]
    doubts: tuple[str, ...] = ()

    @property
    def is_lines(self) -> bool:
        """Whether the table is of impedances only, without a stackup."""
        lengths = any(key.endswith("thickness") for key in self.columns)
        return not lengths and any(key.endswith(("w/s", "width", "ohm")) for key in self.columns)


def find_head(row: Sequence[str]) -> Head | None:
    """Return the columns if the row is a table's header."""
    columns: dict[str, int] = {}
    units: dict[str, str] = {}
    names: dict[str, str] = {}
    at_ghz: dict[str, float] = {}
    doubts: list[str] = []
    for index, cell in enumerate(row):
        key, unit = _column(cell)
        if key is None:
            continue
        at = _frequency_ghz(cell) if key in ("dk", "df") else None
        if key in columns and at is not None and key not in at_ghz:
            pass  # at a stated frequency a number says more than one without
        elif key in columns:
            if at is None and key in at_ghz:
                continue
            if key not in ("number", "description", "kind") and units.get(key) == unit:
                doubts.append(f'"{cell}" and "{names[key]}" may both be the {key}: "{names[key]}" is read')
            continue
        columns[key], names[key] = index, cell
        if unit:
            units[key] = unit
        if at is not None:
            at_ghz[key] = at
    has_values = any(key.endswith(("thickness", "width", "w/s", "oz", "ohm")) for key in columns)
    numbers = sum(bool(re.fullmatch(r"[-+]?[\d.,]+", cell)) for cell in row)
    is_head = len(columns) >= 3 or (len(columns) == 2 and has_values and not numbers)
    if not (is_head and has_values and numbers < 2):
        return None
    return Head(columns=columns, units=units, names=names, at_ghz=at_ghz, doubts=tuple(doubts))


def _frequency_ghz(cell: str) -> float | None:
    """The frequency that the header of a Dk or Df names."""
    found = _GHZ.search(cell)
    return float(found[1].replace(",", ".")) / (1000 if found[2].lower() == "mhz" else 1) if found else None


def _column(cell: str) -> tuple[str | None, str | None]:
    """What a header cell names, with its role, and its length unit."""
    plain = _AT.sub("", cell.lower())
    found = re.search(rf"[\[(/ _]\s*{UNIT}", plain)
    unit = unit_name(found[1]) if found else None
    bare = re.sub(r"[\[(].*?[\])]", " ", plain)
    bare = re.sub(rf"[/ _]{UNIT}\s*$", " ", bare)
    bare = _spaced(bare)
    key, role = _key(bare), ""
    if key is None:
        for pattern, name in ((_TARGET, "target "), (_COMPUTED, "computed ")):
            rest = _spaced(re.sub(pattern, " ", bare))
            if rest != bare and (not rest or _key(rest) == "ohm"):
                return f"{name}ohm", None
    for pattern, name in ((_PROCESSED, "processed "), (_BASE, "base ")):
        if key in (None, *_WITH_ROLE) and re.search(pattern, plain):
            rest = _spaced(re.sub(pattern, " ", bare))
            if (found_key := _key(rest)) in _WITH_ROLE:
                key, role = found_key, name
                break
    if key == "copper thickness" and re.search(r"\boz\b", plain):
        key = "oz"
    if key == "oz" and unit and not re.search(r"\boz\b", plain) and role != "base ":
        key = "copper thickness"
    return (None if key is None else (key if key == "oz" else role + key)), unit


def column_of(cell: str) -> str | None:
    """Return what a header cell names, e.g. `processed thickness`, None for what is no column."""
    return _column(cell)[0]


def _spaced(text: str) -> str:
    return " ".join(re.sub(r"[_.:*]", " ", text).split())


def _key(bare: str) -> str | None:
    return next((k for k, pattern in _COLUMNS.items() if re.fullmatch(pattern, bare)), None)


def joined_head(head: Sequence[str], below: Sequence[str]) -> list[str] | None:
    """Return a header over two lines as one, or None if the line below holds no units or parts of a header.

    A blank cell of the upper line belongs to the cell on its left where the line below goes on: merged cells.
    """
    words = [cell for cell in below if cell]
    if not words or not all(_SUB_WORD.fullmatch(cell.replace(" ", "")) or _column(cell)[0] for cell in words):
        return None
    if any(re.search(r"\d", _AT.sub("", cell)) for cell in words):
        return None
    found: list[str] = []
    left = ""
    for index in range(max(len(head), len(below))):
        above = head[index] if index < len(head) else ""
        sub = below[index] if index < len(below) else ""
        left = above or (left if sub else "")
        unit = re.fullmatch(rf"\(?\[?{UNIT}\]?\)?", sub.lower())
        found.append(f"{left} ({unit[1]})" if unit else f"{sub} {left}".strip() if sub else above)
    return found


def unit_name(text: str) -> str:
    """Return the unit that a fab writes so."""
    word = text.lower()
    word = "inch" if word.startswith("inch") else "um" if word.startswith("micron") else word
    return _UNIT_NAMES.get(word, word)
