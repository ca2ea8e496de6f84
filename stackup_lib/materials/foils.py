"""Copper foils: grade by what is declared, else by roughness."""

import difflib
import math
import re
from functools import cache
from typing import Literal

from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.materials.data import read_toml, sources_of
from stackup_lib.materials.sources import Grade, MaterialSource, Ranked
from stackup_lib.materials.words import key_of, plain

RZ_PER_RQ = 2 * math.sqrt(3)
"""Rz = 2 sqrt(3) Rq of a triangular profile (L. Simonovich's cannonball model). Others take Rz = 5 Rq; the choice moves
Rz by 1.4."""

FoilStatus = Literal["found", "by roughness", "ambiguous", "unknown"]


class FoilGrade(Ranked):
    """Foil grades from rough to smooth; RTF and LP share a rank."""

    STD = "STD"
    RTF = "RTF"
    LP = "LP"
    VLP = "VLP"
    HVLP = "HVLP"

    @property
    def rank(self) -> int:
        """0 for standard to 3 for HVLP."""
        return {"STD": 0, "RTF": 1, "LP": 1, "VLP": 2, "HVLP": 3}[self.value]


class Foil(Frozen):
    """One foil or grade of foil.

    Attributes:
        rz_min_um: lower end of Rz, None when only a ceiling is stated.
        rz_max_um: upper end of Rz, None when only a floor is stated.
        rz_nominal_um: Rz that the maker calls nominal or typical, where it states one in addition to the limit.
        rq_um: RMS height where that is what is printed (Rq of a line, Sq of an area).
        method: how the roughness was measured, as stated.
        ambiguous: the name means different foils at different makers; `grade` is the roughest of them.
    """

    name: str
    aliases: tuple[str, ...]
    grade: FoilGrade
    rz_min_um: float | None = None
    rz_max_um: float | None = None
    rz_nominal_um: float | None = None
    rq_um: float | None = None
    method: str = ""
    ambiguous: bool = False
    source: MaterialSource
    note: str = ""

    @property
    def rz_um(self) -> tuple[float | None, float | None]:
        """Rz from, to; derived from Rq where only that is known."""
        if self.rz_max_um is None and self.rz_min_um is None and self.rq_um is not None:
            rz = round(rz_from_rq(self.rq_um), 2)
            return rz, rz
        return self.rz_min_um, self.rz_max_um


_GRADE_NAME = re.compile(r"(standard ED|RTF|LP|VLP|HVLP)\d*")


@record
class FoilMatch:
    """The answer to a foil text.

    Attributes:
        grade: None when unknown; of an ambiguous name the roughest reading.
        rz_um: Rz from, to; either end may be open.
        confidence: of the grade.
        note: a sentence for the user, empty when there is nothing to say.
        alternatives: foil names that may be meant.
    """

    text: str
    status: FoilStatus
    grade: FoilGrade | None = None
    foil: Foil | None = None
    rz_um: tuple[float | None, float | None] = (None, None)
    method: str = ""
    source: MaterialSource | None = None
    confidence: Confidence = Confidence.LOW
    note: str = ""
    alternatives: tuple[str, ...] = ()

    @property
    def states_roughness(self) -> bool:
        """True where Rz is given, or a maker states it for the foil; False of a grade, which is a range of Rz."""
        if self.foil is None or self.status == "ambiguous":
            return self.status == "by roughness"
        if self.rz_um != self.foil.rz_um:
            return True
        return self.foil.source.grade is not Grade.ENGINEERING and not _GRADE_NAME.fullmatch(self.foil.name)


def rz_from_rq(rq_um: float) -> float:
    """Return Rz for an RMS height, both in micrometres; see `RZ_PER_RQ`."""
    return RZ_PER_RQ * rq_um


def foil_grade_from_rz(rz_um: float) -> FoilGrade:
    """Return the grade that a roughness Rz in micrometres amounts to.

    Over 5 um standard, 3 to 5 LP (or RTF), up to 3 VLP, up to 1.5 HVLP.

    Raises:
        ValueError: Rz is not a positive number.
    """
    if not (math.isfinite(rz_um) and rz_um > 0):
        raise ValueError(f"Rz must be a positive number of micrometres, not {rz_um!r}")
    if rz_um > 5:
        return FoilGrade.STD
    if rz_um > 3:
        return FoilGrade.LP
    return FoilGrade.VLP if rz_um > 1.5 else FoilGrade.HVLP


@cache
def foils() -> tuple[Foil, ...]:
    """Return the known foils."""
    data = read_toml("foils.toml")
    sources = sources_of(data)
    return tuple(Foil.model_validate({**row, "source": sources[row["source"]]}) for row in data["foil"])


class CladFoils(Frozen):
    """Foil grades that makers clad the cores of some laminate families with."""

    families: tuple[str, ...]
    grades: tuple[FoilGrade, ...]
    source: MaterialSource

    def least(self, wanted: FoilGrade) -> FoilGrade | None:
        """Return the plainest grade that is as smooth as the one wanted; None where there is none."""
        return min((g for g in self.grades if g.rank >= wanted.rank), key=lambda g: g.rank, default=None)

    @property
    def smoothest(self) -> FoilGrade:
        """The smoothest of them."""
        return max(self.grades, key=lambda g: g.rank)


@cache
def _clad() -> dict[str, CladFoils]:
    data = read_toml("clad_foils.toml")
    sources = sources_of(data)
    rows = (CladFoils.model_validate({**row, "source": sources[row["source"]]}) for row in data["clad"])
    return {family: row for row in rows for family in row.families}


def clad_foils(family: str) -> CladFoils | None:
    """Return the foils that the cores of a laminate family are clad with; None where nothing is known of it."""
    return _clad().get(family)


@cache
def _by_key() -> dict[str, Foil]:
    return {key_of(alias): foil for foil in foils() for alias in foil.aliases}


_RZ = r"\brz\s*(?:jis|iso)?\s*[<≤=:]*\s*(\d+(?:\.\d+)?)\s*(?:um|µm|μm)?"
_FILLER = r"\b(?:foil|copper|cu|grade|oz|type)\b|\b\d+(?:[./]\d+)?\s*(?:oz|um|µm|μm)\b"


def find_foil(text: str) -> FoilMatch:
    """Resolve a foil grade, a product name or a roughness ("HVLP2", "FV-WS", "Rz 2.0 um").

    A declared grade decides; a bare roughness gives the grade of its band.
    """
    bare = plain(text[:200])
    rough = re.search(_RZ, bare)
    name = key_of(re.sub(_FILLER, " ", re.sub(_RZ, " ", bare))) or key_of(re.sub(_RZ, " ", bare))
    foil = _by_key().get(key_of(re.sub(_RZ, " ", bare))) or _by_key().get(name)
    rz = float(rough[1]) if rough else None
    if foil is None and rz:
        return _by_roughness(text, rz, name)
    if foil is None:
        near = difflib.get_close_matches(name, _by_key(), n=3, cutoff=0.6)
        names = tuple(dict.fromkeys(_by_key()[k].name for k in near))
        note = f"{text.strip()!r} is not a foil grade known here; grades are STD, RTF, LP, VLP and HVLP."
        return FoilMatch(text=text, status="unknown", note=note, alternatives=names)
    return _known(text, foil, rz)


def _by_roughness(text: str, rz: float, name: str) -> FoilMatch:
    grade = foil_grade_from_rz(rz)
    note = f"Grade by its Rz of {rz:g} um."
    confidence = Confidence.MEDIUM
    if name:
        note += f" {name!r} is not known here."
        confidence = Confidence.LOW
    return FoilMatch(text=text, status="by roughness", grade=grade, rz_um=(rz, rz), confidence=confidence, note=note)


def _known(text: str, foil: Foil, rz: float | None) -> FoilMatch:
    span, grade, note = foil.rz_um, foil.grade, foil.note
    ambiguous = foil.ambiguous and not rz
    if rz:
        span = (rz, rz)
        by_rz = foil_grade_from_rz(rz)
        if foil.ambiguous:
            grade, note = by_rz, f"{foil.name} means different foils; grade by its Rz of {rz:g} um."
        elif by_rz.rank != grade.rank:
            note = f"Declared as {grade}, though an Rz of {rz:g} um is that of {by_rz}."
    return FoilMatch(
        text=text,
        status="ambiguous" if ambiguous else "found",
        grade=grade,
        foil=foil,
        rz_um=span,
        method="" if rz else foil.method or ("derived from Rq" if foil.rq_um else ""),
        source=foil.source,
        confidence=Confidence.LOW if ambiguous else Confidence.HIGH,
        note=note,
    )
