"""Roughness by foil grade and face."""

from __future__ import annotations

import pytest

from stackup_lib.core.facts import Confidence
from stackup_lib.materials import find_foil
from stackup_lib.transmission_lines.materials.foil_roughness import FoilFace, RzInterval, face_roughness


def bonded(text: str) -> RzInterval:
    return face_roughness(find_foil(text), FoilFace.BONDED, "In2.Cu").need()


@pytest.mark.parametrize(
    "text,low,high",
    [
        ("HVLP", 0.5, 1.5),
        ("HVLP3", 0.5, 1.1),
        ("FV-WS", 0.5, 1.2),
        ("VLP", 1.5, 3.0),
        ("RTF", 3.0, 5.0),
        ("STD", 5.0, 10.0),
        ("GTS-MP", 5.0, 10.0),
        ("Rz 2.0 um", 2.0, 2.0),
        ("LoPro", 3.12, 3.12),
        ("VLP1", 0.5, 3.0),
    ],
)
def test_bonded_face(text: str, low: float, high: float) -> None:
    """The foil's own Rz where it has one (Rz = 2 sqrt 3 Rq where only Rq is printed), else the band of its grade."""
    rz = bonded(text)
    assert (rz.low_um, rz.high_um) == pytest.approx((low, high))
    assert rz.nominal_um == pytest.approx((low + high) / 2)


def test_confidence_follows_the_figure() -> None:
    """A stated Rz is worth more than a band that closes an open end."""
    stated = face_roughness(find_foil("Rz 2.0 um"), FoilFace.BONDED, "F.Cu")
    banded = face_roughness(find_foil("HVLP"), FoilFace.BONDED, "F.Cu")
    assert stated.confidence is Confidence.MEDIUM
    assert banded.confidence is Confidence.LOW
    assert "band of HVLP" in banded.source


def test_other_face_is_wide_and_says_why() -> None:
    """From smooth to as rough as the bonded face; of reverse-treated foil to as rough as a standard matte side."""
    vlp = face_roughness(find_foil("VLP"), FoilFace.OTHER, "In1.Cu")
    assert vlp.need() == RzInterval(low_um=0, nominal_um=1.5, high_um=3.0)
    assert vlp.confidence is Confidence.LOW
    assert face_roughness(find_foil("RTF"), FoilFace.OTHER, "In1.Cu").need().high_um == 10.0


def test_unknown_foil_stays_unknown() -> None:
    """No grade, no roughness: the fact says how to give it."""
    fact = face_roughness(find_foil("whatever foil"), FoilFace.BONDED, "In5.Cu")
    assert not fact.known
    assert "In5.Cu" in fact.how_to_give


@pytest.mark.parametrize("foil", ["HVLP", "VLP", "RTF", "STD", "Rz 2.0 um"])
@pytest.mark.parametrize("ghz", [0.1, 1.0, 8.0, 28.0, 56.0])
def test_laws_bracket_the_nominal(foil: str, ghz: float) -> None:
    """The roughest law is never below the nominal one, nor that below the smoothest."""
    low, nominal, high = (float(law.multiplier(ghz).resistance) for law in bonded(foil).laws())
    assert 1 <= low <= nominal < high


def test_laws_hold_a_measured_foil() -> None:
    """A smooth foil measured at 1.34 (10 GHz) to 1.94 (40 GHz) lies inside the laws of VLP foil, Rz 1.5 to 3 um."""
    low, _, high = (law.multiplier([10.0, 14.0, 28.0, 40.0]).resistance for law in bonded("VLP").laws())
    assert (low < [1.34, 1.41, 1.76, 1.94]).all()
    assert (high > [1.34, 1.41, 1.76, 1.94]).all()
