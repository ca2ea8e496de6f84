"""From a declared foil to a law of roughness: Rz as an interval, for the bonded face and the other one."""

from enum import StrEnum

from stackup_lib.core.facts import Confidence, Fact, Origin, unknown
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import FoilGrade, FoilMatch
from stackup_lib.transmission_lines.materials.roughness import Gradient, Roughness, cannonball, rq_from_rz

GRADE_RZ_UM: dict[FoilGrade, tuple[float, float]] = {
    FoilGrade.HVLP: (0.5, 1.5),
    FoilGrade.VLP: (1.5, 3.0),
    FoilGrade.LP: (3.0, 5.0),
    FoilGrade.RTF: (3.0, 5.0),
    FoilGrade.STD: (5.0, 10.0),
}
"""Rz of a grade in um where the foil's own value leaves an end open: the bands of the foil catalogue, closed at 0.5 um
by published class values of HVLP and at 10 um by the maximum of a maker's standard foil (GTS-MP)."""


class FoilFace(StrEnum):
    """Which face of the foil: the one that was bonded to the laminate when the foil was made into it, or the other."""

    BONDED = "bonded"
    OTHER = "other"


class RzInterval(Frozen):
    """Peak to valley height of a face in um: smoothest, nominal, roughest."""

    low_um: float
    nominal_um: float
    high_um: float

    def laws(self) -> tuple[Roughness, Roughness, Roughness]:
        """Return a law for each end and the middle: the cannonball, and for the roughest the gradient law.

        At one RMS height the gradient law reads up to a third higher between 10 and 40 GHz: the law is uncertain by
        that, in addition to the height.
        """
        return cannonball(self.low_um), cannonball(self.nominal_um), Gradient(rq_from_rz(self.high_um))


def face_roughness(match: FoilMatch, face: FoilFace, layer: str) -> Fact[RzInterval]:
    """Return the roughness of one face of a layer's foil.

    Bonded face: the foil's Rz; an end that no value closes is closed by the band of its grade. Where the maker states
    no nominal value in addition to a maximum the nominal is the middle of the interval. An ambiguous name spans from
    the smoothest grade it may be.
    Other face: no catalogue states it, and bonding treatment of inner layers roughens it: anything from smooth to the
    roughness of the bonded face (of reverse-treated foil, whose matte side is the other one, to that of standard
    foil), with low confidence.

    Unknown where the foil is unknown.
    """
    name = f"roughness of the {face} face of {layer}"
    if match.grade is None:
        return unknown(name, f"declare the foil of {layer}: a grade (STD, RTF, LP, VLP, HVLP) or Rz in um")
    low, high, closed = _ends(match)
    if face is FoilFace.OTHER:
        high = GRADE_RZ_UM[FoilGrade.STD][1] if match.grade is FoilGrade.RTF else high
        rz = RzInterval(low_um=0.0, nominal_um=high / 2, high_um=high)
        how = "no figure for this face: from smooth to the roughest it may be"
        return Fact[RzInterval](name=name, value=rz, origin=Origin.INFERRED, source=how, confidence=Confidence.LOW)
    stated = match.foil.rz_nominal_um if match.foil and match.rz_um == match.foil.rz_um else None
    rz = RzInterval(low_um=low, nominal_um=stated or (low + high) / 2, high_um=high)
    where = match.source.text if match.source else f"stated with the foil of {layer}"
    confidence = match.source.grade.confidence if match.source else match.confidence
    if closed:
        confidence, where = Confidence.LOW, f"{where}; open end closed by the band of {match.grade} foil"
    return Fact[RzInterval](name=name, value=rz, origin=Origin.CATALOGUE, source=where, confidence=confidence)


def _ends(match: FoilMatch) -> tuple[float, float, bool]:
    """Rz from and to in um, and whether the band of the grade had to close one end."""
    band = GRADE_RZ_UM[match.grade or FoilGrade.STD]
    low, high = match.rz_um
    closed = low is None or high is None
    if match.status == "ambiguous":
        low = GRADE_RZ_UM[FoilGrade.HVLP][0]
    high = band[1] if high is None else high
    low = min(band[0], high) if low is None else low
    return low, max(low, high), closed
