"""Laminates: identity, Dk and Df over frequency, Tg with its method, and the constructions a data sheet tabulates."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from typing import Literal, NamedTuple

from stackup_lib.core.facts import Confidence, Fact, Origin, least, unknown
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.dielectric import SPAN, SPAN_DK, DielectricReading, Sample, read_at
from stackup_lib.materials.loss_class import LossClass
from stackup_lib.materials.sources import MaterialSource, lowered

Quantity = Literal["dk", "df"]

RESIN_SLACK_PCT = 3.0
"""A construction answers for a resin content that differs from its own by at most this much."""

CACHED_READINGS = 2048
"""Readings of Dk and Df that are kept: a search reads the same few hundred again and again."""

DISPUTE = 0.15
"""Another sheet of the maker that differs by more than this share puts a typical value in dispute."""


class TgMethod(StrEnum):
    """How a glass transition was measured. DMA reads 10 to 50 degrees above DSC: never compare across methods."""

    DSC = "DSC"
    TMA = "TMA"
    DMA = "DMA"
    UNSTATED = "unstated"


class Tg(Frozen):
    """A glass transition temperature; `is_minimum` for "at least" values of names and slash sheets."""

    value_c: float
    method: TgMethod
    is_minimum: bool = False
    source: MaterialSource


class DielectricPoint(Frozen):
    """Dk and Df at one frequency.

    Attributes:
        frequency_ghz: None when the sheet states none; such a value is unreliable.
        construction: what was measured, as text.
        style: its glass style, where it has one.
        typical: part of the laminate's headline values; other points only widen the spread.
        design: the maker's Dk for the design of circuits; it goes before what a process test reads.
    """

    frequency_ghz: float | None
    dk: float | None = None
    df: float | None = None
    construction: str | None = None
    style: str | None = None
    resin_content_pct: float | None = None
    typical: bool = True
    design: bool = False
    source: MaterialSource


class ConstructionKind(StrEnum):
    """A cured core, or one ply of prepreg after lamination."""

    CORE = "core"
    PREPREG = "prepreg"


class Construction(Frozen):
    """One row of a maker's construction table.

    Attributes:
        style: glass style, None when the table's style is not to be trusted or not stated.
        thickness_mm: dielectric thickness; of a prepreg, the cured ply before it fills copper.
    """

    kind: ConstructionKind
    style: str | None = None
    plies: int | None = None
    resin_content_pct: float | None = None
    thickness_mm: float
    points: tuple[DielectricPoint, ...] = ()
    source: MaterialSource

    def __str__(self) -> str:
        glass = f"{self.plies} x {self.style}" if self.style and (self.plies or 1) > 1 else self.style
        resin = f"RC {self.resin_content_pct:g} %" if self.resin_content_pct else None
        return " ".join(x for x in (self.kind.value, glass, resin, f"{self.thickness_mm:g} mm") if x)


class _Wanted(NamedTuple):
    style: str | None
    resin_content_pct: float | None


class Spread(Frozen):
    """Lowest and highest value over all constructions and sheets."""

    low: float
    high: float


class SheetRange(Frozen):
    """Thinnest and thickest laminate that a maker offers, in mm, dielectric only."""

    min_mm: float
    max_mm: float
    source: MaterialSource

    def __str__(self) -> str:
        return f"{self.min_mm:g} to {self.max_mm:g} mm"


class Laminate(Frozen):
    """One laminate family of one maker.

    Attributes:
        aliases: what people type for it; unique over the catalogue, whatever the case and punctuation.
        loss_class: None when not known.
        loss_class_source: the values it follows from, or `engineering`.
        generic: a kind of material ("FR4"), not a product.
        film: sold as film without glass, for flexible boards, also thinner than a sheet of glass prepreg.
        bonded_by: the maker's prepreg for it, where it is sold as cured laminate only; else "".
        glass: kind of glass, by `glass_kinds`, where the maker sells the family with one kind alone.
        points: typical values over frequency, and single values of other sheets (`typical` false).
        tg: the current sheet's value first, one or more methods.
        td_c: decomposition temperature, degrees Celsius.
        core_thicknesses_mm: standard cores that the maker lists, dielectric only.
        sheets: laminates of any thickness that the maker makes; None where that is not known.
        source: the document that states identity, Td and halogen content.
        note: what a user should know about these values.
    """

    family: str
    maker: str
    aliases: tuple[str, ...]
    loss_class: LossClass | None = None
    loss_class_source: MaterialSource | None = None
    generic: bool = False
    film: bool = False
    bonded_by: str = ""
    points: tuple[DielectricPoint, ...] = ()
    tg: tuple[Tg, ...] = ()
    td_c: float | None = None
    halogen_free: bool | None = None
    glass: str | None = None
    constructions: tuple[Construction, ...] = ()
    core_thicknesses_mm: tuple[float, ...] = ()
    sheets: SheetRange | None = None
    source: MaterialSource
    note: str = ""

    def __hash__(self) -> int:
        return hash((self.maker, self.family))

    @property
    def has_values(self) -> bool:
        """Whether any Dk, Df or Tg of it is known."""
        return bool(self.points or self.tg or any(c.points for c in self.constructions))

    @property
    def sources(self) -> tuple[MaterialSource, ...]:
        """Every document that a value of it rests on, first its own."""
        points = (*self.points, *(p for c in self.constructions for p in c.points))
        tg, tables = (t.source for t in self.tg), (c.source for c in self.constructions)
        sheets = (self.sheets.source,) if self.sheets else ()
        every = (self.source, *tg, *tables, *(p.source for p in points), *sheets)
        return tuple({source.text: source for source in every}.values())

    def df_at(
        self, frequency_ghz: float, *, style: str | None = None, resin_content_pct: float | None = None
    ) -> Fact[float]:
        """Return Df at a frequency in GHz.

        Without style or resin content: the typical value that the data sheet leads with. With them: the tabulated
        construction; where several resin contents of a style fit, the highest Df. A construction that is not tabulated
        falls back to the typical value with less confidence. Unknown where no value reaches the frequency.
        """
        return self._value("df", frequency_ghz, _Wanted(style, resin_content_pct), max)

    def df_bounds_at(
        self, frequency_ghz: float, *, style: str | None = None, resin_content_pct: float | None = None
    ) -> tuple[float, float] | None:
        """Return the ends of what `df_at` may be: above the last frequency of a sheet its trend goes on as a range.

        Elsewhere both are the value itself; None where `df_at` is unknown. Constructions differ by `df_range_at`.
        """
        return self._bounds(frequency_ghz, _Wanted(style, resin_content_pct))

    def dk_at(
        self, frequency_ghz: float, *, style: str | None = None, resin_content_pct: float | None = None
    ) -> Fact[float]:
        """Return Dk at a frequency in GHz, as `df_at`; where several resin contents fit, the middle of their Dk.

        Of a laminate whose maker publishes a design Dk, the design Dk: its source says so.
        """
        return self._value("dk", frequency_ghz, _Wanted(style, resin_content_pct), _middle)

    def df_range_at(self, frequency_ghz: float) -> Fact[Spread]:
        """Return the lowest and highest Df at a frequency over all sheets and tabulated constructions.

        Above a sheet's last frequency, over what each may be there: see `df_bounds_at`.
        """
        return self._range("df", frequency_ghz)

    def dk_range_at(self, frequency_ghz: float) -> Fact[Spread]:
        """Return the lowest and highest Dk at a frequency over all sheets and tabulated constructions."""
        return self._range("dk", frequency_ghz)

    def tg_fact(self) -> Fact[Tg]:
        """Return Tg by the best method stated: DSC, then TMA, then DMA, then an unstated one."""
        name = f"Tg of {self.family}"
        for method in TgMethod:
            for tg in self.tg:
                if tg.method is method:
                    confidence = tg.source.grade.confidence
                    return Fact[Tg](
                        name=name, value=tg, origin=Origin.CATALOGUE, source=tg.source.text, confidence=confidence
                    )
        return unknown(name, f"state the Tg of {self.family} and its method (DSC, TMA or DMA) from the data sheet")

    def loss_class_fact(self) -> Fact[LossClass]:
        """Return the loss class with the confidence of what it rests on."""
        name = f"loss class of {self.family}"
        if self.loss_class is None or self.loss_class_source is None:
            return unknown(name, f"state the Df of {self.family} at 10 GHz from the data sheet")
        source = self.loss_class_source
        confidence = source.grade.confidence
        return Fact[LossClass](
            name=name, value=self.loss_class, origin=Origin.CATALOGUE, source=source.text, confidence=confidence
        )

    @lru_cache(maxsize=CACHED_READINGS)  # noqa: B019 - laminates live as long as the program
    def _value(
        self,
        quantity: Quantity,
        frequency_ghz: float,
        wanted: _Wanted,
        choose: Callable[[Iterable[float]], float],
    ) -> Fact[float]:
        name = f"{quantity.capitalize()} of {self.family} at {frequency_ghz:g} GHz"
        is_special = wanted != _Wanted(None, None)
        if is_special:
            reading = self._tabulated(quantity, frequency_ghz, wanted, choose)
            if reading:
                return _fact(name, reading)
        reading = _read(quantity, self._typical(quantity), frequency_ghz, self._shapes(quantity))
        if reading is None:
            return unknown(name, _how_to_give(self.family, quantity, frequency_ghz))
        confidence, remarks = reading.confidence, [self._which_dk(quantity), reading.how]
        if is_special:
            confidence = lowered(confidence)
            remarks.append(f"typical value: no {quantity.capitalize()} of this construction is tabulated")
        competitor = self._competitor(quantity, frequency_ghz, reading.value)
        if competitor:
            confidence = Confidence.LOW
            remarks.append(competitor)
        return _fact(name, DielectricReading(reading.value, confidence, reading.source, _joined(*remarks)))

    @lru_cache(maxsize=CACHED_READINGS)  # noqa: B019 - as above
    def _bounds(self, frequency_ghz: float, wanted: _Wanted) -> tuple[float, float] | None:
        reading = self._tabulated("df", frequency_ghz, wanted, max) if wanted != _Wanted(None, None) else None
        reading = reading or _read("df", self._typical("df"), frequency_ghz, self._shapes("df"))
        if reading is None:
            return None
        return reading.value * reading.low_share, reading.value * reading.high_share

    def _tabulated(
        self,
        quantity: Quantity,
        frequency_ghz: float,
        wanted: _Wanted,
        choose: Callable[[Iterable[float]], float],
    ) -> DielectricReading | None:
        readings: list[tuple[Construction, DielectricReading]] = []
        shapes = (self._typical(quantity), *self._shapes(quantity))
        constructions = self.constructions_of(*wanted)
        if measured := self._measured_as(quantity, wanted, constructions):
            series = (p for p in self._typical_points(quantity) if p.construction == measured)
            reading = _read(quantity, _samples(series, quantity), frequency_ghz, shapes)
            return reading and replace(reading, how=_joined(measured, reading.how))
        for construction in constructions:
            reading = _read(quantity, _samples(construction.points, quantity), frequency_ghz, shapes)
            if reading:
                readings.append((construction, reading))
        if not readings:
            return None
        value = choose(r.value for _, r in readings)
        shown, nearest = min(readings, key=lambda pair: abs(pair[1].value - value))
        what = str(shown) if len(readings) == 1 else f"{len(readings)} constructions, nearest {shown}"
        confidence = least(*(r.confidence for _, r in readings))
        shares = nearest.low_share, nearest.high_share
        return DielectricReading(value, confidence, nearest.source, _joined(what, nearest.how), *shares)

    def _measured_as(self, quantity: Quantity, wanted: _Wanted, others: Sequence[Construction]) -> str:
        """Return the construction that the headline values were measured on if it is the nearest one, else ""."""
        point = next((p for p in self._typical_points(quantity) if p.construction), None)
        if point is None or point.construction is None or (wanted.style and wanted.style != point.style):
            return ""
        if wanted.resin_content_pct is None:
            return "" if others else point.construction
        if point.resin_content_pct is None:
            return ""
        off = abs(point.resin_content_pct - wanted.resin_content_pct)
        known = [c.resin_content_pct for c in others if c.resin_content_pct is not None]
        competitor = min((abs(c - wanted.resin_content_pct) for c in known), default=RESIN_SLACK_PCT)
        return point.construction if off <= RESIN_SLACK_PCT and off < competitor else ""

    def constructions_of(
        self, style: str | None = None, resin_content_pct: float | None = None
    ) -> tuple[Construction, ...]:
        """Return the constructions of a glass style whose resin content is nearest, within `RESIN_SLACK_PCT`."""
        rows = [c for c in self.constructions if style is None or c.style == style]
        if resin_content_pct is None:
            return tuple(rows)
        off = {id(c): abs(c.resin_content_pct - resin_content_pct) for c in rows if c.resin_content_pct is not None}
        if not off or min(off.values()) > RESIN_SLACK_PCT:
            return ()
        return tuple(c for c in rows if off.get(id(c)) == min(off.values()))

    @lru_cache(maxsize=CACHED_READINGS)  # noqa: B019 - as above
    def _range(self, quantity: Quantity, frequency_ghz: float) -> Fact[Spread]:
        name = f"spread of {quantity.capitalize()} of {self.family} at {frequency_ghz:g} GHz"
        shapes = (self._typical(quantity), *self._shapes(quantity))
        typical = self._typical_points(quantity)
        others = [[s] for s in _samples((p for p in self.points if p not in typical), quantity)]
        every = [self._typical(quantity), *others, *(_samples(c.points, quantity) for c in self.constructions)]
        readings = [r for r in (_read(quantity, samples, frequency_ghz, shapes) for samples in every) if r]
        if not readings:
            return unknown(name, _how_to_give(self.family, quantity, frequency_ghz))
        low, high = min(r.value * r.low_share for r in readings), max(r.value * r.high_share for r in readings)
        return Fact[Spread](
            name=name,
            value=Spread(low=low, high=high),
            origin=Origin.CATALOGUE,
            source="; ".join(dict.fromkeys(r.source for r in readings)),
            confidence=least(*(r.confidence for r in readings)),
        )

    @lru_cache(maxsize=CACHED_READINGS)  # noqa: B019 - as above
    def _typical(self, quantity: Quantity) -> tuple[Sample, ...]:
        return _samples(self._typical_points(quantity), quantity)

    def _typical_points(self, quantity: Quantity) -> tuple[DielectricPoint, ...]:
        design = tuple(p for p in self.points if p.design) if quantity == "dk" else ()
        return design or tuple(p for p in self.points if p.typical)

    def _which_dk(self, quantity: Quantity) -> str:
        """Words for the source of a Dk for design, "" where the maker publishes none."""
        if quantity != "dk" or not any(p.design for p in self.points):
            return ""
        process = [p.dk for p in self.points if not p.design and p.dk is not None]
        return "design Dk" + (f" (process Dk {process[0]:g})" if process else "")

    @lru_cache(maxsize=CACHED_READINGS)  # noqa: B019 - as above
    def _shapes(self, quantity: Quantity) -> tuple[tuple[Sample, ...], ...]:
        series = (_samples(c.points, quantity) for c in self.constructions)
        return tuple(s for s in series if len(s) > 1)

    def _competitor(self, quantity: Quantity, frequency_ghz: float, value: float) -> str:
        for sample in _samples((p for p in self.points if not p.typical), quantity):
            near = sample.frequency_ghz is not None and abs(sample.frequency_ghz / frequency_ghz - 1) < 0.05
            if near and abs(sample.value / value - 1) > DISPUTE:
                return f"in dispute: {sample.source.text} states {sample.value:g}"
        return ""


def _samples(points: Iterable[DielectricPoint], quantity: Quantity) -> tuple[Sample, ...]:
    values = ((p, p.dk if quantity == "dk" else p.df) for p in points)
    return tuple(Sample(p.frequency_ghz, value, p.source) for p, value in values if value is not None)


def _fact(name: str, reading: DielectricReading) -> Fact[float]:
    return Fact[float](
        name=name,
        value=reading.value,
        origin=Origin.CATALOGUE,
        source=_joined(reading.source, reading.how),
        confidence=reading.confidence,
    )


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _read(
    quantity: Quantity, samples: Sequence[Sample], frequency_ghz: float, shapes: Sequence[Sequence[Sample]]
) -> DielectricReading | None:
    span = SPAN_DK if quantity == "dk" else SPAN
    return read_at(samples, frequency_ghz, shapes, span, rises=quantity == "df")


def _middle(values: Iterable[float]) -> float:
    kept = list(values)
    return (min(kept) + max(kept)) / 2


def _how_to_give(family: str, quantity: Quantity, frequency_ghz: float) -> str:
    word = quantity.capitalize()
    return f"state the {word} of {family} at {frequency_ghz:g} GHz from the maker's data sheet, with that frequency"
