"""A stackup that a fab offers by name, and the edition of the fab's data that it comes from."""

from datetime import date
from typing import Literal

from stackup_lib.core.frozen import Frozen

NOREQ = "NOREQ"
"""What JLCPCB calls its default of a thickness, where no impedance control is ordered."""


class NamedSheet(Frozen):
    """One row of a named stackup: a copper layer, or one sheet of prepreg or core; None where the fab states nothing.

    Attributes:
        thickness_mm: finished copper, pressed prepreg, nominal core.
        weight_oz: of copper.
        construction: glass style of a prepreg.
        dk, df: as the fab states them; it states no frequency.
    """

    kind: Literal["copper", "prepreg", "core"]
    thickness_mm: float | None = None
    weight_oz: float | None = None
    manufacturer: str = ""
    laminate: str = ""
    construction: str = ""
    resin_content_pct: float | None = None
    dk: float | None = None
    df: float | None = None
    tg_c: float | None = None

    @property
    def material(self) -> str:
        """Laminate, glass style and resin content, as they are entered in KiCad; "" for copper."""
        glass = "" if self.kind == "core" else self.construction
        resin = "" if self.resin_content_pct is None else f"RC{self.resin_content_pct:g}%"
        return " ".join(word for word in (self.laminate, glass, resin) if word)


class Misfit(Frozen):
    """Stackups of an edition that contradict themselves or lack something, kept because the fab offers them.

    Attributes:
        orders: names as `NamedStackup.order` gives them.
        what: of which kind: the sum of the rows, the symmetry, values that are not stated.
    """

    what: Literal["thickness", "symmetry", "incomplete"]
    orders: tuple[str, ...]
    reason: str


class FabEdition(Frozen):
    """A fab's stackups as they were on one day.

    Attributes:
        fab: key on the command line.
        title: the fab's name.
        date: of the data; fabs change their stackups.
        is_superseded: the fab has replaced these stackups; they are found by name, and not proposed.
        process: preset of `[process]` with the fab's etching, plating and mask; "" where none is known.
        source: where the data comes from.
        trust: how sure it is.
        licence: of the data.
        remarks: what to know before ordering.
        misfit: stackups that contradict themselves.
    """

    fab: str
    title: str
    date: date
    is_superseded: bool = False
    process: str = ""
    source: str
    trust: Literal["primary", "secondary"]
    licence: str
    remarks: tuple[str, ...] = ()
    misfit: tuple[Misfit, ...] = ()


class NamedStackup(Frozen):
    """One stackup of an edition, without solder mask.

    Attributes:
        name: the fab's; one name may stand for several combinations of thickness and copper.
        thickness_mm: nominal, as ordered.
        outer_oz, inner_oz: copper weights, as ordered; `inner_oz` is None for two layers.
        rows: top to bottom; each sheet of prepreg is a row.
    """

    edition: FabEdition
    name: str
    copper_layers: int
    thickness_mm: float
    outer_oz: float
    inner_oz: float | None = None
    rows: tuple[NamedSheet, ...]

    @property
    def order(self) -> str:
        """Name with what tells apart stackups of one name: layers, thickness, copper weights."""
        inner = "" if self.inner_oz is None else f"/{self.inner_oz:g}"
        return f"{self.name} {self.copper_layers}L {self.thickness_mm:g} mm {self.outer_oz:g}{inner} oz"

    @property
    def sum_mm(self) -> float | None:
        """Sum of the rows, None where one states no thickness."""
        parts = [row.thickness_mm for row in self.rows]
        return None if None in parts else sum(part for part in parts if part is not None)

    @property
    def gaps(self) -> tuple[tuple[NamedSheet, ...], ...]:
        """The sheets between each two copper layers, top to bottom."""
        found: list[list[NamedSheet]] = []
        for row in self.rows:
            if row.kind == "copper":
                found.append([])
            else:
                found[-1].append(row)
        return tuple(tuple(sheets) for sheets in found[:-1])

    @property
    def copper(self) -> tuple[NamedSheet, ...]:
        """The copper layers, top to bottom."""
        return tuple(row for row in self.rows if row.kind == "copper")

    @property
    def misfits(self) -> tuple[Misfit, ...]:
        """What the edition lists against this stackup."""
        return tuple(one for one in self.edition.misfit if self.order in one.orders)
