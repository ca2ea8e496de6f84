"""What one file states about a board, each fact with its place in the file.

Copper layers are counted from 0 at the top. Lengths are millimetres.
"""

from __future__ import annotations

from enum import StrEnum

from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import record


class FabFileError(StackwrightError):
    """A file of the data for the fab that cannot be read."""


class FabFormat(StrEnum):
    """The format of a file."""

    GERBER = "Gerber"
    JOB = "Gerber job"
    EXCELLON = "Excellon"
    IPC2581 = "IPC-2581"
    ODB = "ODB++"
    D356 = "IPC-D-356"


@record
class StatedNumber:
    """A number as a file writes it; `step` is one unit of its last decimal, in the number's unit."""

    value: float
    step: float
    place: str


@record
class StatedText:
    """A word as a file writes it."""

    value: str
    place: str


def stated_number(text: str, place: str, scale: float = 1.0) -> StatedNumber | None:
    """Return a number with the step of its last decimal; None where the text is no finite number.

    Args:
        text: as written.
        place: file and line.
        scale: from the file's unit to ours.
    """
    try:
        value = float(text)
    except ValueError:
        return None
    if not abs(value) < float("inf"):
        return None
    decimals = 0 if "e" in text.lower() else len(text.strip().partition(".")[2])
    return StatedNumber(value * scale, 10.0**-decimals * scale, place)


def place_at(name: str, content: bytes, offset: int) -> str:
    """Return file and line of a byte offset."""
    return f"{name}:{content.count(10, 0, offset) + 1}"


@record
class SentRow:
    """One sheet of the stackup: a copper layer, a dielectric ply or a solder mask.

    Attributes:
        kind: CORE or PREPREG; OTHER for a dielectric of which the file does not tell which.
        copper_oz: copper weight.
        number: of the row in its group, where the file numbers them besides writing them in an order.
        group: index of the group of rows that it is numbered in.
    """

    kind: LayerKind
    name: str
    place: str
    thickness_mm: StatedNumber | None = None
    material: StatedText | None = None
    dk: StatedNumber | None = None
    df: StatedNumber | None = None
    copper_oz: StatedNumber | None = None
    number: int | None = None
    group: int = 0


@record
class SentLayer:
    """One copper layer; `name` is "" where the format knows numbers only, `index` None where the file has none."""

    name: str
    index: int | None
    polarity: str
    place: str
    is_empty: bool = False


@record
class SentHoles:
    """Holes of one diameter and span; `first` and `last` are None where the file states no span.

    `is_plated` is None where the file does not say; `hits` tells them apart from the same holes in another file.
    """

    first: int | None
    last: int | None
    is_plated: bool | None
    diameter_mm: StatedNumber
    count: int
    is_slot: bool
    place: str
    hits: frozenset[str] = frozenset()


@record
class SentBackdrill:
    """Backdrills of one start, end and size.

    Attributes:
        start: outer layer it starts at.
        must_cut: deepest layer it goes through; None where the file states the next one only.
        must_not_cut: first layer it must not reach; None where the file states the other only.
        depth_mm: from the outer face.
    """

    start: int | None
    must_cut: int | None
    must_not_cut: int | None
    diameter_mm: StatedNumber | None
    depth_mm: StatedNumber | None
    count: int
    place: str
    hits: frozenset[str] = frozenset()


@record
class SentProtection:
    """Vias that are to be `filled` or `capped`."""

    kind: str
    count: int
    place: str


@record
class SentImpedance:
    """A controlled impedance, and the geometry that it is controlled on; None or empty where that is not stated.

    Attributes:
        plus_pct, minus_pct: tolerance.
        planes: copper layers that it refers to.
        layers: copper layers that it is on.
    """

    ohm: StatedNumber
    plus_pct: StatedNumber | None = None
    minus_pct: StatedNumber | None = None
    width_mm: StatedNumber | None = None
    gap_mm: StatedNumber | None = None
    planes: tuple[int, ...] = ()
    layers: tuple[int, ...] = ()


@record
class SentFile:
    """One file, folder or archive in one format.

    Attributes:
        path: as it was named, or its name in the archive.
        layers: copper layers, in the file's order.
        rows: the stackup from the top.
        layer_count: number of copper layers that the file claims.
        size_mm: width and height; `size_has_line` where the width of the outline's line is part of it.
        outline_line_mm: width of the line of the outline.
        file_layers: `(file, function)` that a job file lists.
        functions: what the file says it is, e.g. `Soldermask,Top`.
        unread: why a part of it was not read, and what to do; "" where all was.
    """

    path: str
    format: FabFormat
    generator: str = ""
    layers: tuple[SentLayer, ...] = ()
    rows: tuple[SentRow, ...] = ()
    holes: tuple[SentHoles, ...] = ()
    backdrills: tuple[SentBackdrill, ...] = ()
    protections: tuple[SentProtection, ...] = ()
    finish: StatedText | None = None
    thickness_mm: StatedNumber | None = None
    layer_count: StatedNumber | None = None
    size_mm: tuple[StatedNumber, StatedNumber] | None = None
    size_has_line: bool = False
    outline_line_mm: float | None = None
    impedances: tuple[SentImpedance, ...] = ()
    is_controlled: StatedText | None = None
    file_layers: tuple[tuple[str, str], ...] = ()
    functions: tuple[str, ...] = ()
    unread: str = ""

    @property
    def has_stackup(self) -> bool:
        """True where the file has rows with a dielectric."""
        return any(row.kind not in (LayerKind.COPPER, LayerKind.MASK) for row in self.rows)
