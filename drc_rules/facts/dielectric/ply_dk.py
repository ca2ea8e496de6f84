"""Dk of a dielectric ply over frequency: declared, stated in the file, or on the laminate's data sheet."""

from __future__ import annotations

from dataclasses import replace

from drc_rules.facts.dielectric.against_sheet import is_dk_of, sheet_dk
from drc_rules.facts.dielectric.ply_df import PlyDf
from drc_rules.facts.dielectric.stated_ply import StatedPly
from drc_rules.facts.row_faults import cannot_be, dk_is_possible
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, least, unknown
from stackup_lib.core.record import record
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError
from stackup_lib.transmission_lines.materials.laminate_models import laminate_model

DK_DIGITS = 4
"""Of a Dk that is carried to another frequency."""


@record
class PlyDk:
    """Permittivity of one ply.

    Attributes:
        df: of the same ply; a declared Dk goes from one frequency to another by it.
    """

    ply: StatedPly
    df: PlyDf

    def at(self, frequency_ghz: float) -> Fact[float]:
        """Dk for an impedance: declared, else the file's bare number, else from the catalogue at the frequency.

        A Dk declared with Df and frequency is carried from there: that of FR4 falls by 3 % from 1 to 10 GHz.
        The file's number is what the fab gave the user for this construction; it moves by a few per cent per decade of
        frequency, which KiCad does not state, so it is of medium confidence; with `dk_at_ghz` it is carried as well.
        One that is not that of a material named in `stackwright.toml` is left over from the file's.
        """
        name = f"Dk of {self.ply.label}"
        if self.fault is not None:
            return unknown(self.fault.name, self.fault.how_to_give)
        if self.ply.declaration.dk is not None:
            source = f'dielectric."{self.ply.row}".dk'
            try:
                dk = self._carried(self.ply.declaration.dk, self.ply.declaration.dk_ghz, frequency_ghz)
            except DielectricDataError as error:
                return unknown(f"{name} ({error.what})", self.ply.how_to_correct("dk"))
            return self.ply.declarations.of_stackup(name, dk, source) or unknown(name, "")
        if self.ply.trusted and self.ply.in_file.dk is not None and not self.is_of_former_material:
            at = self.stated_at_ghz
            said = "no frequency is stated with it" if at is None else f"at {at:g} GHz by stackwright.toml"
            source = f"stackup row {self.ply.row}; {said}"
            try:
                dk = self._carried(self.ply.in_file.dk, at, frequency_ghz)
            except DielectricDataError as error:
                return unknown(f"{name} ({error.what})", self.ply.how_to_correct("dk"))
            return Fact[float](name=name, value=dk, origin=Origin.FILE, source=source, confidence=Confidence.MEDIUM)
        return replace(self.catalogue_at(frequency_ghz), name=name)

    def catalogue_at(self, frequency_ghz: float) -> Fact[float]:
        """Dk of the catalogue at a frequency, for the construction that the text names."""
        name = f"Dk of {self.ply.label} at {frequency_ghz:g} GHz"
        row = self.ply.row
        how = f'[declared.dielectric."{row}"]\ndk = "?"  # or enter Epsilon R of {row} in KiCad\'s Physical Stackup'
        laminate = self.ply.laminate
        if self.ply.match is None or not laminate.known:
            return unknown(name, how)
        fact = self.ply.match.dk_at(frequency_ghz)
        if not fact.known:
            return unknown(name, how)
        return replace(fact, name=name, confidence=least(fact.confidence, laminate.confidence))

    @property
    def stated(self) -> float | None:
        """Dk that is stated for the ply: in the settings, else in the file; None where none is."""
        if self.ply.declaration.dk is not None:
            return None if self.ply.declarations.stale else self.ply.declaration.dk
        return self.ply.in_file.dk if self.ply.trusted else None

    @property
    def stated_at_ghz(self) -> float | None:
        """Frequency of the Dk that is stated, GHz; that of Df alone is none of the file's Dk."""
        said = self.ply.declaration
        if self.ply.declarations.stale:
            return None
        return said.dk_at_ghz if said.dk is None else said.dk_ghz

    @property
    def fault(self) -> MissingFact | None:
        """What is missing where the stated Dk cannot be right; None where it can, or nothing is stated."""
        dk, laminate = self.stated, self.ply.sure_laminate
        if dk is None:
            return None
        if not dk_is_possible(dk):
            return cannot_be("Dk", self.ply.label, f"{dk:g}", self.ply.how_to_correct("dk"))
        sheets = sheet_dk(laminate).value if laminate is not None and not laminate.generic else None
        if laminate is None or sheets is None or is_dk_of(laminate, dk) or self.is_of_former_material:
            return None
        what = f"{dk:g} is not that of {laminate.family}, {sheets.low:.3g} to {sheets.high:.3g}"
        return MissingFact(f"Dk of {self.ply.label} ({what})", self.ply.how_to_correct("dk"))

    @property
    def is_of_former_material(self) -> bool:
        """True where `stackwright.toml` names another product than the file, whose Dk is not that product's."""
        dk, laminate = self.ply.in_file.dk, self.ply.sure_laminate
        if not self.ply.is_declared or self.ply.declaration.dk is not None or dk is None or laminate is None:
            return False
        return not laminate.generic and dk_is_possible(dk) and not is_dk_of(laminate, dk)

    def _carried(self, dk: float, dk_ghz: float | None, frequency_ghz: float) -> float:
        """Return a Dk of one frequency as it is at another, by the Df that is declared with it."""
        df, df_ghz = self.ply.declaration.df, self.ply.declaration.at_ghz
        if df is None or df_ghz is None or dk_ghz is None or self.df.fault is not None:
            return dk
        carried = laminate_model((), dk, dk_ghz, df, df_ghz)
        return round(float(carried.permittivity(frequency_ghz).real), DK_DIGITS)
