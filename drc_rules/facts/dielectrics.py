"""One dielectric ply with what is known of it: declared, stated in the file, or from the catalogue."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Literal

from drc_rules.facts.against_sheet import (
    Understated,
    is_better_than,
    is_dk_of,
    is_worse_than,
    sheet_df,
    sheet_dk,
)
from drc_rules.facts.declared import Declarations
from drc_rules.facts.declared_tg import agree, counts
from drc_rules.facts.row_faults import (
    cannot_be,
    correct,
    df_is_possible,
    dk_is_possible,
    limit_of,
    sheet_is_possible,
)
from drc_rules.settings.config import DielectricDeclaration
from stackup_lib.board.board import LayerKind, Ply
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, least, unknown
from stackup_lib.core.record import record
from stackup_lib.materials import (
    Grade,
    Laminate,
    LossClass,
    Match,
    MaterialSource,
    Tg,
    TgMethod,
    loss_class_from_df,
)
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError
from stackup_lib.transmission_lines.materials.laminate_models import laminate_model

SAME_FREQUENCY = 0.8
"""A declared Df is that at a frequency when the lower of the two frequencies is at least this share of the other.

Df rises with frequency: one from above is its upper bound, one from below its lower bound."""

CLASS_GHZ = (8.0, 14.0)
"""Frequencies at which a Df gives the loss class as it is."""

CLASS_AT_GHZ = 10.0
"""Where a Df from elsewhere is carried to, for the class."""

UNTOUCHED_DF = 0.02
"""Loss tangent that KiCad gives to every new dielectric, as FR4's. It stays when only material or Dk are typed in:
with any other material it says that the field was not edited, not what the material's Df is."""


DK_DIGITS = 4
"""Of a Dk that is carried to another frequency."""


@record
class DielectricPly:
    """One ply of core or prepreg.

    Attributes:
        row: the stackup row's name, e.g. `dielectric 3`.
        label: how messages call it, e.g. `dielectric 3, ply 2`.
        above, below: index of the copper layer above and below its row; -1 and the layer count at the surfaces.
        stated: the material text that was looked up, "" when there is none.
        match: what the catalogue makes of it, None when nothing is stated.
        origin: who stated it.
        trusted: False for KiCad's untouched default stackup, whose values declare nothing.
        fault: why its row cannot be laminated with its neighbours; empty where it can.
        is_lone: the only dielectric of the board, so that its type decides nothing.
    """

    row: str
    label: str
    kind: LayerKind
    above: int
    below: int
    ply: Ply
    stated: str
    match: Match | None
    origin: Origin
    declaration: DielectricDeclaration
    declarations: Declarations
    trusted: bool = True
    fault: str = ""
    is_lone: bool = False

    @property
    def is_declared(self) -> bool:
        """True when `stackwright.toml` names its material."""
        return self.origin is Origin.DECLARED

    def touches(self, copper: int) -> bool:
        """Return True when the ply's row lies right above or below a copper layer."""
        return copper in (self.above, self.below)

    @cached_property
    def laminate(self) -> Fact[Laminate]:
        """The laminate family."""
        name = f"laminate of {self.label}"
        how = f'[declared.dielectric."{self.row}"]\nmaterial = "?"  # the laminate that the fab is to use'
        if self.match is None or self.match.laminate is None:
            return unknown(name, how)
        return Fact[Laminate](
            name=name,
            value=self.match.laminate,
            origin=self.origin,
            source=f'"{self.stated}" ({self.origin.value})',
            confidence=self.match.confidence,
            how_to_give=how,
            stale=self.is_declared and self.declarations.stale,
        )

    @cached_property
    def loss_class(self) -> Fact[LossClass]:
        """Loss class: of the declared Df, where there is one with its frequency; else of the laminate family."""
        name = f"loss class of {self.label}"
        family = self._family_class(name)
        df, ghz = self.declaration.df, self.declaration.at_ghz
        if df is None or ghz is None:
            return family
        if self.df_fault is not None:
            return unknown(self.df_fault.name, self.df_fault.how_to_give)
        near_10ghz, confidence = self._carried_to_class(df, ghz)
        declared = loss_class_from_df(near_10ghz)
        is_bound = ghz < CLASS_GHZ[0] and confidence is Confidence.LOW
        if is_bound and (family.value is None or family.value < declared):
            # Df rises with frequency by an unknown amount: the class is the declared one or a lossier one.
            return family
        fact = self.declarations.of_stackup(name, declared, f'dielectric."{self.row}".df') or family
        return replace(fact, confidence=confidence)

    def _carried_to_class(self, df: float, ghz: float) -> tuple[float, Confidence]:
        """Return a declared Df near 10 GHz, the way the laminate's own goes; of an unknown way as it is, unsure."""
        if CLASS_GHZ[0] <= ghz <= CLASS_GHZ[1]:
            return df, Confidence.HIGH
        if self.match is not None:
            here, there = self.match.df_at(ghz).value, self.match.df_at(CLASS_AT_GHZ).value
            if here and there:
                return df * there / here, Confidence.MEDIUM
        return df, Confidence.LOW

    def _family_class(self, name: str) -> Fact[LossClass]:
        laminate = self.laminate
        if not laminate.known or laminate.value is None:
            return unknown(name, laminate.how_to_give)
        fact = laminate.value.loss_class_fact()
        if not fact.known:
            return unknown(name, laminate.how_to_give)
        return replace(fact, name=name, confidence=least(fact.confidence, laminate.confidence))

    def df_at(self, frequency_ghz: float) -> Fact[float]:
        """Df at a frequency: declared, else from the catalogue; KiCad's bare number states no frequency.

        One that is declared at another frequency bounds it, and counts where the catalogue's is beyond that bound:
        `df_bound_at`.
        """
        name, stands = f"Df of {self.label} at {frequency_ghz:g} GHz", self._declared_df_stands(frequency_ghz)
        if self.df_fault is not None and (self.declaration.df is None or stands in ("at", "above")):
            return unknown(self.df_fault.name, self.df_fault.how_to_give)
        declared = self._declared_df(name) if stands else None
        if declared is not None and (stands == "at" or (stands == "above" and declared.stale)):
            return declared
        fact = self.sheet_df_at(frequency_ghz, name)
        if declared is None or declared.value is None:
            return fact
        if stands == "above":
            return fact if fact.value is not None and self._is_below_declared(fact.value) else declared
        if fact.value is not None and declared.value > fact.value:
            return replace(declared, confidence=Confidence.LOW, how_to_give=fact.how_to_give)
        return fact

    def sheet_df_at(self, frequency_ghz: float, name: str) -> Fact[float]:
        """Df of the laminate's data sheet at a frequency, whatever is stated for the ply."""
        how, laminate = self.how_to_declare_df(frequency_ghz), self.laminate
        if not laminate.known or laminate.value is None:
            return unknown(name, laminate.how_to_give)
        fact = self.match.df_at(frequency_ghz) if self.match else laminate.value.df_at(frequency_ghz)
        if not fact.known:
            return unknown(name, how)
        confidence = least(fact.confidence, laminate.confidence)
        return replace(fact, name=name, confidence=confidence, how_to_give=how)

    def df_bound_at(self, frequency_ghz: float) -> Literal["", "most", "least"]:
        """Return what `df_at_least` is of the Df at a frequency: no more than its most or its least, else "" for it."""
        stands = self._declared_df_stands(frequency_ghz)
        if stands not in ("above", "below") or self.df_at_least(frequency_ghz).origin is not Origin.DECLARED:
            return ""
        return "most" if stands == "above" else "least"

    def df_at_least(self, frequency_ghz: float) -> Fact[float]:
        """Df at a frequency, or where it is not known, what it is at least: a Df declared at a lower frequency."""
        found = self.df_at(frequency_ghz)
        if found.known or self.df_fault is not None or self._declared_df_stands(frequency_ghz) != "below":
            return found
        return replace(self._declared_df(found.name) or found, how_to_give=found.how_to_give)

    def df_at_most(self, frequency_ghz: float) -> Fact[float]:
        """Df at a frequency, or where that is a guess, what it is at most: at a sheet's lowest frequency, or declared.

        Df rises with frequency.
        """
        found, laminate = self.df_at(frequency_ghz), self.laminate.value
        if found.confidence is not Confidence.LOW or found.origin is not Origin.CATALOGUE or laminate is None:
            return found
        at = [one.frequency_ghz for one in laminate.points if one.typical and one.df is not None and one.frequency_ghz]
        bounds = [self.df_at(min(at))] if at and min(at) > frequency_ghz else []
        if self._declared_df_stands(frequency_ghz) == "above" and (declared := self._declared_df(found.name)):
            bounds.append(declared)
        surer = [one for one in bounds if one.known and one.confidence.rank > found.confidence.rank]
        return replace(min(surer, key=Fact.need), name=found.name) if surer else found

    def _declared_df_stands(self, frequency_ghz: float) -> Literal["", "at", "above", "below"]:
        """Return where a declared Df was taken, seen from a frequency; "" where none is declared with its frequency."""
        at_ghz = self.declaration.at_ghz
        if self.declaration.df is None or at_ghz is None:
            return ""
        if at_ghz < SAME_FREQUENCY * frequency_ghz:
            return "below"
        return "above" if frequency_ghz < SAME_FREQUENCY * at_ghz else "at"

    def _declared_df(self, name: str) -> Fact[float] | None:
        return self.declarations.of_stackup(name, self.declaration.df, f'dielectric."{self.row}".df')

    def _is_below_declared(self, df: float) -> bool:
        """Tell whether a sheet's Df may be that below the frequency of the declared one, which is of that sheet."""
        declared, laminate = self.declaration, self.laminate.value
        if declared.df is None or declared.at_ghz is None or laminate is None:
            return False
        return df <= declared.df and not is_worse_than(laminate, declared.df, declared.at_ghz)

    def how_to_declare_df(self, frequency_ghz: float) -> str:
        """Return the lines of `stackwright.toml` that declare the Df at a frequency."""
        said = self.declaration
        keeps_dk = said.dk is not None and said.dk_at_ghz is None and said.at_ghz not in (None, frequency_ghz)
        kept = f"\ndk_at_ghz = {said.at_ghz:g}" if keeps_dk else ""
        return f'[declared.dielectric."{self.row}"]\ndf = "?"\nat_ghz = {frequency_ghz:g}{kept}'

    def is_df_declared_at(self, frequency_ghz: float) -> bool:
        """Tell whether a Df is declared for a frequency, not for another one."""
        return self._declared_df_stands(frequency_ghz) == "at"

    @property
    def bare_df(self) -> float | None:
        """Df that is stated for the ply without a frequency, None where none is.

        KiCad's own 0.02 with anything but FR4 is no statement, and a number in the file is none on a material
        that `stackwright.toml` puts in the row.
        """
        if self.declaration.df is not None:
            return self.declaration.df if self.declaration.at_ghz is None and not self.declarations.stale else None
        if self.is_declared or not self.trusted or self.has_untouched_df:
            return None
        return self.ply.df

    @property
    def bare_df_place(self) -> str:
        """Where `bare_df` stands, for messages."""
        return "in stackwright.toml" if self.declaration.df is not None else "in the board file"

    @property
    def stated_dk(self) -> float | None:
        """Dk that is stated for the ply: in the settings, else in the file; None where none is."""
        if self.declaration.dk is not None:
            return None if self.declarations.stale else self.declaration.dk
        return self.ply.dk if self.trusted else None

    @property
    def stated_df(self) -> float | None:
        """Df that is stated for the ply, with a frequency or without; None where none is."""
        if self.declaration.df is not None:
            return None if self.declarations.stale else self.declaration.df
        return self.ply.df if self.trusted and not self.is_declared else None

    @property
    def dk_fault(self) -> MissingFact | None:
        """What is missing where the stated Dk cannot be right; None where it can, or nothing is stated."""
        dk, laminate = self.stated_dk, self._sure_laminate
        if dk is None:
            return None
        if not dk_is_possible(dk):
            return cannot_be("Dk", self.label, f"{dk:g}", self.how_to_correct("dk"))
        sheets = sheet_dk(laminate).value if laminate is not None and not laminate.generic else None
        if laminate is None or sheets is None or is_dk_of(laminate, dk) or self.is_dk_of_former_material:
            return None
        what = f"{dk:g} is not that of {laminate.family}, {sheets.low:.3g} to {sheets.high:.3g}"
        return MissingFact(f"Dk of {self.label} ({what})", self.how_to_correct("dk"))

    @property
    def df_fault(self) -> MissingFact | None:
        """What is missing where the stated Df cannot be right; None where it can, or nothing is stated."""
        df, better = self.stated_df, self.understated
        if df is None:
            return None
        if not df_is_possible(df):
            return cannot_be("Df", self.label, f"{df:g}", self.how_to_correct("df"))
        if better is None or not better.counts:
            return None
        what = f"{df:g} is not that of {better.family}, {better.sheets.low:.2g} to {better.sheets.high:.2g}"
        how = f'{self.how_to_correct("df")}, or name the laminate that has it: material = "?"'
        return MissingFact(f"Df of {self.label} ({what})", how)

    @property
    def is_dk_of_former_material(self) -> bool:
        """True where `stackwright.toml` names another product than the file, whose Dk is not that product's."""
        dk, laminate = self.ply.dk, self._sure_laminate
        if not self.is_declared or self.declaration.dk is not None or dk is None or laminate is None:
            return False
        return not laminate.generic and dk_is_possible(dk) and not is_dk_of(laminate, dk)

    @property
    def understated(self) -> Understated | None:
        """The stated Df where it is far better than the named laminate's sheets; None where it may be right.

        Only a declared one with its frequency counts: without one, loss follows the sheets.
        """
        df, at_ghz, laminate = self.stated_df, self.declaration.at_ghz, self._sure_laminate
        is_declared = self.declaration.df is not None
        at_ghz = at_ghz if is_declared else None
        sheets = sheet_df(laminate, at_ghz) if laminate is not None else None
        if not df or laminate is None or sheets is None or not is_better_than(laminate, df, at_ghz):
            return None
        row, where = f"{self.label} ({self.stated})", self.bare_df_place
        return Understated(row, df, where, at_ghz, sheets, laminate.family, counts=at_ghz is not None)

    @property
    def _sure_laminate(self) -> Laminate | None:
        """The laminate that the row names; None where the name is not understood in full."""
        laminate = self.laminate
        return laminate.value if laminate.known and laminate.confidence is not Confidence.LOW else None

    @property
    def thickness_fault(self) -> MissingFact | None:
        """What is missing where the row cannot be laminated, or is no prepreg; None where nothing speaks against it."""
        if not self.trusted:
            return None
        if self.fault:
            how = correct(self.row, "the type (core or prepreg)")
            return MissingFact(f"type of {self.row} ({self.fault})", how)
        thickness = self.ply.thickness_mm
        if self.kind is not LayerKind.PREPREG or self.is_lone or not thickness or sheet_is_possible(thickness):
            return None
        how = correct(self.row, "the type or the thickness")
        return cannot_be("thickness", self.label, f"{thickness:g} mm of prepreg", how)

    def how_to_correct(self, key: Literal["dk", "df"]) -> str:
        """Return where a stated Dk or Df is corrected: in the settings where they state it, else in KiCad."""
        if getattr(self.declaration, key) is not None:
            return f'Correct {key} in stackwright.toml, [declared.dielectric."{self.row}"]'
        return correct(self.label, "Epsilon R" if key == "dk" else "Loss Tan")

    @property
    def has_untouched_df(self) -> bool:
        """True where the file's Df is the one that KiCad put there, with another material than FR4."""
        laminate = self.match.laminate if self.match else None
        return self.ply.df == UNTOUCHED_DF and (laminate is None or not laminate.generic)

    @property
    def thickness(self) -> Fact[float]:
        """Thickness in mm as the stackup states it."""
        name = f"thickness of {self.label}"
        if self.ply.thickness_mm is None or self.ply.thickness_mm <= 0:
            return unknown(name, f"in KiCad, File > Board Setup > Physical Stackup, thickness of {self.row}")
        if self.thickness_fault is not None:
            return unknown(self.thickness_fault.name, self.thickness_fault.how_to_give)
        return Fact[float](name=name, value=self.ply.thickness_mm, origin=Origin.FILE, source=f"stackup row {self.row}")

    def dk_at(self, frequency_ghz: float) -> Fact[float]:
        """Dk for an impedance: declared, else the file's bare number, else from the catalogue at the frequency.

        A Dk declared with Df and frequency is carried from there: that of FR4 falls by 3 % from 1 to 10 GHz.
        The file's number is what the fab gave the user for this construction; it moves by a few per cent per decade of
        frequency, which KiCad does not state, so it is of medium confidence. One that is not that of a material named
        in `stackwright.toml` is left over from the file's.
        """
        name = f"Dk of {self.label}"
        if self.dk_fault is not None:
            return unknown(self.dk_fault.name, self.dk_fault.how_to_give)
        if self.declaration.dk is not None:
            source = f'dielectric."{self.row}".dk'
            try:
                dk = self._carried_dk(self.declaration.dk, frequency_ghz)
            except DielectricDataError as error:
                return unknown(f"{name} ({error.what})", self.how_to_correct("dk"))
            return self.declarations.of_stackup(name, dk, source) or unknown(name, "")
        if self.trusted and self.ply.dk is not None and not self.is_dk_of_former_material:
            source = f"stackup row {self.row}; no frequency is stated with it"
            return Fact[float](
                name=name, value=self.ply.dk, origin=Origin.FILE, source=source, confidence=Confidence.MEDIUM
            )
        return replace(self.catalogue_dk_at(frequency_ghz), name=name)

    def _carried_dk(self, dk: float, frequency_ghz: float) -> float:
        """Return a declared Dk as it is at another frequency, by the Df that is declared with it."""
        df, df_ghz, dk_ghz = self.declaration.df, self.declaration.at_ghz, self.declaration.dk_ghz
        if df is None or df_ghz is None or dk_ghz is None or self.df_fault is not None:
            return dk
        carried = laminate_model((), dk, dk_ghz, df, df_ghz)
        return round(float(carried.permittivity(frequency_ghz).real), DK_DIGITS)

    def catalogue_dk_at(self, frequency_ghz: float) -> Fact[float]:
        """Dk of the catalogue at a frequency, for the construction that the text names."""
        name = f"Dk of {self.label} at {frequency_ghz:g} GHz"
        how = f"enter Epsilon R of {self.row} in KiCad's Physical Stackup, or:\n{_declare(self.row, 'dk')}"
        laminate = self.laminate
        if self.match is None or not laminate.known:
            return unknown(name, how)
        fact = self.match.dk_at(frequency_ghz)
        if not fact.known:
            return unknown(name, how)
        return replace(fact, name=name, confidence=least(fact.confidence, laminate.confidence))

    def df_spread_at(self, frequency_ghz: float) -> tuple[float, float]:
        """Lowest and highest Df at a frequency that the maker's sheets allow for what the text names.

        A text without a construction may be any of the laminate's, a glass style any of its resin contents; a declared
        Df is itself, and one from a higher frequency the highest, with the least of laminates as the lowest. A higher
        Df that the board file states for the row is the highest: one of the two is wrong. Above the last frequency of
        a sheet, each is a range of its own (`Laminate.df_bounds_at`).
        """
        df = self.df_at(frequency_ghz).value or 0.0
        laminate, match = self.laminate.value, self.match
        if self.df_bound_at(frequency_ghz) == "most":
            return min(df, limit_of("df_possible").min or 0.0), df
        if self.declaration.df is not None or laminate is None or match is None:
            return df, df
        resin = match.resin_content_pct
        rows = laminate.constructions_of(match.style, resin) if match.style else ()
        contents = {row.resin_content_pct for row in rows}
        found = [laminate.df_bounds_at(frequency_ghz, style=match.style, resin_content_pct=rc) for rc in contents]
        ends = [end for bounds in (*found, match.df_bounds_at(frequency_ghz)) for end in bounds or ()]
        spread = None if rows else laminate.df_range_at(frequency_ghz).value
        lowest = min(df, *ends, spread.low if spread else df)
        return lowest, max(df, *ends, spread.high if spread else df, self.bare_df or 0.0)

    @cached_property
    def tg(self) -> Fact[Tg]:
        """Glass transition temperature with its method: the row's own, else the worse of sheet and whole board."""
        name = f"Tg of {self.label}"
        how = f'[declared.dielectric."{self.row}"]\ntg_c = "?"  # by DSC, from the laminate\'s data sheet'
        own = self.declaration
        if own.tg_c is not None:
            return self._declared_tg(name, own.tg_c, own.tg_method, f'dielectric."{self.row}".tg_c')
        catalogued, general = self._catalogue_tg(name, how), self._general_tg(name)
        if general is None or not (catalogued.known or general.known):
            return general or catalogued
        if not (catalogued.known and general.known):
            return general if general.known else catalogued
        return general if counts(general.need(), catalogued.need()) == general.value else catalogued

    @property
    def tg_contradiction(self) -> tuple[Tg, Tg] | None:
        """The Tg declared for the whole board and that of the laminate's sheet, where one of the two is wrong."""
        general = self._general_tg("")
        if self.declaration.tg_c is not None or general is None or not general.known:
            return None
        sheet = self._catalogue_tg("", "")
        if not sheet.known:
            return None
        return None if agree(general.need(), sheet.need()) else (general.need(), sheet.need())

    def _general_tg(self, name: str) -> Fact[Tg] | None:
        value, method = self.declarations.tg_c.value, self.declarations.config.declared.tg_method
        return None if value is None else self._declared_tg(name, value, method, "declared.tg_c")

    def _declared_tg(self, name: str, value_c: float, method: str, source: str) -> Fact[Tg]:
        stated = Tg(
            value_c=value_c, method=TgMethod(method), source=MaterialSource(text="declared", grade=Grade.VENDOR)
        )
        return self.declarations.of_stackup(name, stated, source) or unknown(name, "")

    def _catalogue_tg(self, name: str, how: str) -> Fact[Tg]:
        if self.match is None:
            return unknown(name, self.laminate.how_to_give)
        fact = self.match.tg_fact()
        if not fact.known:
            return unknown(name, how)
        stale = self.is_declared and self.declarations.stale
        return replace(fact, name=name, how_to_give=how, stale=stale)


def _declare(row: str, key: str) -> str:
    return f'[declared.dielectric."{row}"]\n{key} = "?"'
