"""Df of a dielectric ply over frequency: declared, stated in the file, or on the laminate's data sheet."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from drc_rules.facts.dielectric.against_sheet import Understated, is_better_than, is_worse_than, sheet_df
from drc_rules.facts.dielectric.stated_ply import StatedPly
from drc_rules.facts.row_faults import cannot_be, df_is_possible, limit_of
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, least, unknown
from stackup_lib.core.record import record

SAME_FREQUENCY = 0.8
"""A declared Df is that at a frequency when the lower of the two frequencies is at least this share of the other.

Df rises with frequency: one from above is its upper bound, one from below its lower bound."""

UNTOUCHED_DF = 0.02
"""Loss tangent that KiCad gives to every new dielectric, as FR4's. It stays when only material or Dk are typed in:
with any other material it says that the field was not edited, not what the material's Df is."""


@record
class PlyDf:
    """Loss tangent of one ply."""

    ply: StatedPly

    def at(self, frequency_ghz: float) -> Fact[float]:
        """Df at a frequency: declared, else from the catalogue; KiCad's bare number states no frequency.

        One that is declared at another frequency bounds it, and counts where the catalogue's is beyond that bound:
        `bound_at`.
        """
        name, stands = f"Df of {self.ply.label} at {frequency_ghz:g} GHz", self._declared_stands(frequency_ghz)
        if self.fault is not None and (self.ply.declaration.df is None or stands in ("at", "above")):
            return unknown(self.fault.name, self.fault.how_to_give)
        declared = self._declared(name) if stands else None
        if declared is not None and (stands == "at" or (stands == "above" and declared.stale)):
            return declared
        fact = self.sheet_at(frequency_ghz, name)
        if declared is None or declared.value is None:
            return fact
        if stands == "above":
            return fact if fact.value is not None and self._is_below_declared(fact.value) else declared
        if fact.value is not None and declared.value > fact.value:
            return replace(declared, confidence=Confidence.LOW, how_to_give=fact.how_to_give)
        return fact

    def sheet_at(self, frequency_ghz: float, name: str) -> Fact[float]:
        """Df of the laminate's data sheet at a frequency, whatever is stated for the ply."""
        how, laminate = self.how_to_declare(frequency_ghz), self.ply.laminate
        if not laminate.known or laminate.value is None:
            return unknown(name, laminate.how_to_give)
        fact = self.ply.match.df_at(frequency_ghz) if self.ply.match else laminate.value.df_at(frequency_ghz)
        if not fact.known:
            return unknown(name, how)
        confidence = least(fact.confidence, laminate.confidence)
        return replace(fact, name=name, confidence=confidence, how_to_give=how)

    def bound_at(self, frequency_ghz: float) -> Literal["", "most", "least"]:
        """Return what `at_least` is of the Df at a frequency: no more than its most or its least, else "" for it."""
        stands = self._declared_stands(frequency_ghz)
        if stands not in ("above", "below") or self.at_least(frequency_ghz).origin is not Origin.DECLARED:
            return ""
        return "most" if stands == "above" else "least"

    def at_least(self, frequency_ghz: float) -> Fact[float]:
        """Df at a frequency, or where it is not known, what it is at least: a Df declared at a lower frequency."""
        found = self.at(frequency_ghz)
        if found.known or self.fault is not None or self._declared_stands(frequency_ghz) != "below":
            return found
        return replace(self._declared(found.name) or found, how_to_give=found.how_to_give)

    def at_most(self, frequency_ghz: float) -> Fact[float]:
        """Df at a frequency, or where that is a guess, what it is at most: at a sheet's lowest frequency, or declared.

        Df rises with frequency.
        """
        found, laminate = self.at(frequency_ghz), self.ply.laminate.value
        if found.confidence is not Confidence.LOW or found.origin is not Origin.CATALOGUE or laminate is None:
            return found
        at = [one.frequency_ghz for one in laminate.points if one.typical and one.df is not None and one.frequency_ghz]
        bounds = [self.at(min(at))] if at and min(at) > frequency_ghz else []
        if self._declared_stands(frequency_ghz) == "above" and (declared := self._declared(found.name)):
            bounds.append(declared)
        surer = [one for one in bounds if one.known and one.confidence.rank > found.confidence.rank]
        return replace(min(surer, key=Fact.need), name=found.name) if surer else found

    def spread_at(self, frequency_ghz: float) -> tuple[float, float]:
        """Lowest and highest Df at a frequency that the maker's sheets allow for what the text names.

        A text without a construction may be any of the laminate's, a glass style any of its resin contents; a declared
        Df is itself, and one from a higher frequency the highest, with the least of laminates as the lowest. A higher
        Df that the board file states for the row is the highest: one of the two is wrong. Above the last frequency of
        a sheet, each is a range of its own (`Laminate.df_bounds_at`).
        """
        df = self.at(frequency_ghz).value or 0.0
        laminate, match = self.ply.laminate.value, self.ply.match
        if self.bound_at(frequency_ghz) == "most":
            return min(df, limit_of("df_possible").min or 0.0), df
        if self.ply.declaration.df is not None or laminate is None or match is None:
            return df, df
        resin = match.resin_content_pct
        rows = laminate.constructions_of(match.style, resin) if match.style else ()
        contents = {row.resin_content_pct for row in rows}
        found = [laminate.df_bounds_at(frequency_ghz, style=match.style, resin_content_pct=rc) for rc in contents]
        ends = [end for bounds in (*found, match.df_bounds_at(frequency_ghz)) for end in bounds or ()]
        spread = None if rows else laminate.df_range_at(frequency_ghz).value
        lowest = min(df, *ends, spread.low if spread else df)
        return lowest, max(df, *ends, spread.high if spread else df, self.bare or 0.0)

    def how_to_declare(self, frequency_ghz: float) -> str:
        """Return the lines of `stackwright.toml` that declare the Df at a frequency."""
        said = self.ply.declaration
        keeps_dk = said.dk is not None and said.dk_at_ghz is None and said.at_ghz not in (None, frequency_ghz)
        kept = f"\ndk_at_ghz = {said.at_ghz:g}" if keeps_dk else ""
        return f'[declared.dielectric."{self.ply.row}"]\ndf = "?"\nat_ghz = {frequency_ghz:g}{kept}'

    def is_declared_at(self, frequency_ghz: float) -> bool:
        """Tell whether a Df is declared for a frequency, not for another one."""
        return self._declared_stands(frequency_ghz) == "at"

    @property
    def bare(self) -> float | None:
        """Df that is stated for the ply without a frequency, None where none is.

        KiCad's own 0.02 with anything but FR4 is no statement, and a number in the file is none on a material
        that `stackwright.toml` puts in the row.
        """
        if self.ply.declaration.df is not None:
            return (
                self.ply.declaration.df
                if self.ply.declaration.at_ghz is None and not self.ply.declarations.stale
                else None
            )
        if self.ply.is_declared or not self.ply.trusted or self.is_untouched:
            return None
        return self.ply.in_file.df

    @property
    def bare_place(self) -> str:
        """Where `bare` stands, for messages."""
        return "in stackwright.toml" if self.ply.declaration.df is not None else "in the board file"

    @property
    def stated(self) -> float | None:
        """Df that is stated for the ply, with a frequency or without; None where none is."""
        if self.ply.declaration.df is not None:
            return None if self.ply.declarations.stale else self.ply.declaration.df
        return self.ply.in_file.df if self.ply.trusted and not self.ply.is_declared else None

    @property
    def fault(self) -> MissingFact | None:
        """What is missing where the stated Df cannot be right; None where it can, or nothing is stated."""
        df, better = self.stated, self.understated
        if df is None:
            return None
        if not df_is_possible(df):
            return cannot_be("Df", self.ply.label, f"{df:g}", self.ply.how_to_correct("df"))
        if better is None or not better.counts:
            return None
        what = f"{df:g} is not that of {better.family}, {better.sheets.low:.2g} to {better.sheets.high:.2g}"
        how = f'{self.ply.how_to_correct("df")}, or name the laminate that has it: material = "?"'
        return MissingFact(f"Df of {self.ply.label} ({what})", how)

    @property
    def understated(self) -> Understated | None:
        """The stated Df where it is far better than the named laminate's sheets; None where it may be right.

        Only a declared one with its frequency counts: without one, loss follows the sheets.
        """
        df, at_ghz, laminate = self.stated, self.ply.declaration.at_ghz, self.ply.sure_laminate
        is_declared = self.ply.declaration.df is not None
        at_ghz = at_ghz if is_declared else None
        sheets = sheet_df(laminate, at_ghz) if laminate is not None else None
        if not df or laminate is None or sheets is None or not is_better_than(laminate, df, at_ghz):
            return None
        row, where = f"{self.ply.label} ({self.ply.stated})", self.bare_place
        return Understated(row, df, where, at_ghz, sheets, laminate.family, counts=at_ghz is not None)

    @property
    def is_untouched(self) -> bool:
        """True where the file's Df is the one that KiCad put there, with another material than FR4."""
        laminate = self.ply.match.laminate if self.ply.match else None
        return self.ply.in_file.df == UNTOUCHED_DF and (laminate is None or not laminate.generic)

    def _declared_stands(self, frequency_ghz: float) -> Literal["", "at", "above", "below"]:
        """Return where a declared Df was taken, seen from a frequency; "" where none is declared with its frequency."""
        at_ghz = self.ply.declaration.at_ghz
        if self.ply.declaration.df is None or at_ghz is None:
            return ""
        if at_ghz < SAME_FREQUENCY * frequency_ghz:
            return "below"
        return "above" if frequency_ghz < SAME_FREQUENCY * at_ghz else "at"

    def _declared(self, name: str) -> Fact[float] | None:
        return self.ply.declarations.of_stackup(name, self.ply.declaration.df, f'dielectric."{self.ply.row}".df')

    def _is_below_declared(self, df: float) -> bool:
        """Tell whether a sheet's Df may be that below the frequency of the declared one, which is of that sheet."""
        declared, laminate = self.ply.declaration, self.ply.laminate.value
        if declared.df is None or declared.at_ghz is None or laminate is None:
            return False
        return df <= declared.df and not is_worse_than(laminate, declared.df, declared.at_ghz)
