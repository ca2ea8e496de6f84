"""What a line is made of, as a range: the least lossy, the nominal and the lossiest materials that its facts allow.

One home for boards and for candidate stackups, so that a suggestion and a check of it take the same range.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from stackup_lib.core.record import record
from stackup_lib.materials import FoilGrade, find_foil
from stackup_lib.transmission_lines.lossy import CopperFaces, LineMaterials
from stackup_lib.transmission_lines.materials.conductor_models import NICKEL_HIGH, NICKEL_LOW, NickelGold
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricSample, PermittivityModel, loss_tangent
from stackup_lib.transmission_lines.materials.foil_roughness import GRADE_RZ_UM, FoilFace, RzInterval, face_roughness
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ, laminate_model, through_point
from stackup_lib.transmission_lines.materials.roughness import Roughness
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment

DF_SLACK = 0.1
"""A data sheet's Df is good to this share: methods and resin contents differ by that where no spread is tabulated."""

UNKNOWN_FOIL = RzInterval(low_um=GRADE_RZ_UM[FoilGrade.HVLP][0], nominal_um=4.0, high_um=GRADE_RZ_UM[FoilGrade.STD][1])
"""Foil that is not declared: from the smoothest to the roughest on the market."""

NICKEL = (NICKEL_LOW, NickelGold().nickel, NICKEL_HIGH)

Models = tuple[PermittivityModel, PermittivityModel, PermittivityModel]


def permittivity_range(
    samples: tuple[DielectricSample, ...], dk: float, df: float, df_range: tuple[float, float], frequency_ghz: float
) -> Models:
    """Return permittivities of a dielectric with its lowest, nominal and highest Df.

    Args:
        samples: the data sheet's points, none or several.
        dk: at `DK_GHZ`.
        df: at `frequency_ghz`.
        df_range: its tabulated ends, which `DF_SLACK` widens.
        frequency_ghz: where Df holds.

    Raises:
        DielectricDataError: Dk and Df that no material can have.
    """
    nominal = laminate_model(samples, dk, DK_GHZ, df, frequency_ghz)
    smooth = loss_tangent(nominal, frequency_ghz)
    low, high = min(df_range[0], smooth * (1 - DF_SLACK)), max(df_range[1], smooth * (1 + DF_SLACK))
    ends = [laminate_model((), dk, DK_GHZ, value, frequency_ghz) for value in (low, high)]
    return ends[0], nominal, ends[1]


@record
class LineCopper:
    """Foils and thicknesses of the copper that carries a line's current.

    Attributes:
        foil: of the trace, "" where it is not declared.
        plane_foils: of the planes below and above, "" where there is none or its foil is not declared.
        plane_mm: thickness of the planes below and above.
        is_enig: nickel and gold lie on faces that neither laminate nor mask covers.
    """

    foil: str
    plane_foils: tuple[str, str]
    plane_mm: tuple[float, float]
    is_enig: bool = False


def material_range(
    site: TraceEnvironment, sheets: Sequence[Models], copper: LineCopper, mask_df: float, frequency_ghz: float
) -> tuple[LineMaterials, LineMaterials, LineMaterials]:
    """Return the least lossy, the nominal and the lossiest materials of a line.

    Args:
        site: where it runs.
        sheets: permittivities of each of its sheets.
        copper: foils, thicknesses and finish.
        mask_df: of the solder mask at `frequency_ghz`.
        frequency_ghz: where the loss is wanted.
    """
    below, above = copper.plane_foils
    faces = (
        _roughness(copper.foil, FoilFace.BONDED),
        _roughness(copper.foil, FoilFace.OTHER),
        _roughness(below, _face_toward(site.below[0] if site.below else None)),
        _roughness(above, _face_toward(site.above[-1] if site.above else None)),
    )
    coat = through_point(site.mask.er, mask_df, frequency_ghz) if site.mask else None

    def at(k: int) -> LineMaterials:
        return LineMaterials(
            sheets=tuple(models[k] for models in sheets),
            mask=coat,
            faces=CopperFaces(*(face[k] for face in faces)),
            plane_copper_mm=copper.plane_mm,
            finish=NickelGold(nickel=NICKEL[k]) if copper.is_enig and site.mask is None else None,
        )

    return at(0), at(1), at(2)


@lru_cache(maxsize=64)
def _roughness(foil: str, face: FoilFace) -> tuple[Roughness, Roughness, Roughness]:
    """Return the laws of the smoothest, the nominal and the roughest face that a foil may have."""
    if not foil:
        rz = UNKNOWN_FOIL if face is FoilFace.BONDED else UNKNOWN_FOIL.model_copy(update={"low_um": 0.0})
        return rz.laws()
    return (face_roughness(find_foil(foil), face, "the layer").value or UNKNOWN_FOIL).laws()


def _face_toward(sheet: DielectricSheet | None) -> FoilFace:
    """Tell which face of a plane looks at the trace: the bonded one where a core lies between."""
    return FoilFace.BONDED if sheet is not None and sheet.kind == "core" else FoilFace.OTHER
