"""Loss of a line on a candidate stackup, with the same materials and intervals that a check of a board takes."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt

from stackup_lib.core.errors import StackwrightError
from stackup_lib.materials import FoilGrade, catalogue, find_foil
from stackup_lib.synthesis.candidates import CandidateStackup
from stackup_lib.synthesis.constructions import DK_GHZ
from stackup_lib.transmission_lines.lossy import CopperFaces, LineMaterials
from stackup_lib.transmission_lines.materials.dielectric_models import PermittivityModel, loss_tangent
from stackup_lib.transmission_lines.materials.foil_roughness import GRADE_RZ_UM, FoilFace, RzInterval, face_roughness
from stackup_lib.transmission_lines.materials.laminate_models import laminate_model, samples_of, through_point
from stackup_lib.transmission_lines.materials.roughness import Roughness
from stackup_lib.transmission_lines.site import LineSite, Sheet

DF_SLACK = 0.1
"""A data sheet's Df is good to this share: methods and resin contents differ by that where no spread is tabulated."""

UNKNOWN_FOIL = RzInterval(low_um=GRADE_RZ_UM[FoilGrade.HVLP][0], nominal_um=4.0, high_um=GRADE_RZ_UM[FoilGrade.STD][1])
"""Foil that nobody has asked for: from the smoothest to the roughest on the market."""

SMALLEST_DK_SHARE = 0.9
"""A causal Dk at Nyquist keeps at least this share of the one at 1 GHz: laminates lose 1 to 3 % per decade."""

LIGHT_MM_GHZ = 299.792458

Triple = tuple[Roughness, Roughness, Roughness]
Models = tuple[PermittivityModel, PermittivityModel, PermittivityModel]


class DfUnknownError(StackwrightError):
    """The catalogue has no Df of a dielectric at the frequency of the goal."""


def materials_of(
    candidate: CandidateStackup, site: LineSite, index: int, frequency_ghz: float
) -> tuple[LineMaterials, LineMaterials, LineMaterials]:
    """Return the least lossy, the nominal and the lossiest materials of a line on a copper layer.

    Raises:
        DfUnknownError: a Df is not known at the frequency.
    """
    texts = construction_of(candidate)
    models = [sheet_models(texts[s.name], s.dk, frequency_ghz) for s in site.sheets]
    foils = {c.name: c.foil for c in candidate.copper}
    copper = {c.name: c.thickness_mm for c in candidate.copper}
    below, above = site.reference_below, site.reference_above
    faces = (
        _roughness(candidate.copper[index].foil, FoilFace.BONDED),
        _roughness(candidate.copper[index].foil, FoilFace.OTHER),
        _roughness(foils.get(below or "", ""), _face_toward(site.below[0] if site.below else None)),
        _roughness(foils.get(above or "", ""), _face_toward(site.above[-1] if site.above else None)),
    )
    coat = through_point(site.mask.er, candidate.finish.mask_df, frequency_ghz) if site.mask else None

    def at(k: int) -> LineMaterials:
        return LineMaterials(
            sheets=tuple(model[k] for model in models),
            mask=coat,
            faces=CopperFaces(*(face[k] for face in faces)),
            plane_copper_mm=(copper.get(below or "", site.copper_mm), copper.get(above or "", site.copper_mm)),
        )

    return at(0), at(1), at(2)


def construction_of(candidate: CandidateStackup) -> dict[str, str]:
    """Return row name -> material text of every dielectric."""
    return {r.name: r.construction for r in candidate.dielectrics}


def loss_key(candidate: CandidateStackup, site: LineSite, index: int) -> tuple[object, ...]:
    """Return what decides the loss of a line besides its section; lines on mirrored layers have one key."""
    texts = construction_of(candidate)
    copper = {c.name: (c.foil, c.thickness_mm) for c in candidate.copper}
    sheets = tuple(texts[s.name] for s in site.sheets)
    planes = tuple(copper.get(name or "") for name in (site.reference_below, site.reference_above))
    if site.canonical().base != site.base:
        sheets, planes = sheets[::-1], planes[::-1]
    return candidate.copper[index].foil, sheets, planes


@lru_cache(maxsize=1024)
def sheet_models(text: str, dk: float, frequency_ghz: float) -> Models:
    """Return permittivities of a dielectric with its least, nominal and greatest Df.

    Raises:
        DfUnknownError: no figure of the catalogue reaches the frequency.
    """
    match = catalogue().find(text)
    df = match.df_at(frequency_ghz).value
    if df is None:
        raise DfUnknownError(text, f"no Df of {text} at {frequency_ghz:g} GHz", "leave this laminate out")
    low = high = df
    if match.laminate is not None and not match.style:
        spread = match.laminate.df_range_at(frequency_ghz).value
        low, high = (min(spread.low, df), max(spread.high, df)) if spread else (df, df)
    nominal = laminate_model(samples_of(match), dk, DK_GHZ, df, frequency_ghz)
    smooth = loss_tangent(nominal, frequency_ghz)
    low, high = min(low, smooth * (1 - DF_SLACK)), max(high, smooth * (1 + DF_SLACK))
    ends = [laminate_model((), dk, DK_GHZ, value, frequency_ghz) for value in (low, high)]
    return ends[0], nominal, ends[1]


def least_loss_db_per_inch(candidate: CandidateStackup, index: int, frequency_ghz: float) -> float | None:
    """Return a loss that no line on a layer can undercut; None where a Df is not known.

    A line in several dielectrics loses pi f / c * sum(q eps tan d) / sqrt(eps_eff) nepers per length in them, with
    sum(q eps) = eps_eff (Pozar, Microwave Engineering, 3.30): at least pi f / c * sqrt(least eps) * least tan d.
    Copper only adds.
    """
    beside = [d for k, d in enumerate(candidate.dielectrics) if k in (index - 1, index)]
    df = [_df(d.construction, frequency_ghz) for d in beside]
    known = [value for value in df if value is not None]
    if len(known) < len(beside) or not known or any(d.dk is None for d in beside):
        return None
    dk = min(d.dk for d in beside if d.dk is not None) * SMALLEST_DK_SHARE
    nepers_per_mm = pi * frequency_ghz / LIGHT_MM_GHZ * sqrt(dk) * min(known)
    return nepers_per_mm * 8.685889638 * 25.4


@lru_cache(maxsize=4096)
def _df(text: str, frequency_ghz: float) -> float | None:
    return catalogue().find(text).df_at(frequency_ghz).value


@lru_cache(maxsize=64)
def _roughness(foil: str, face: FoilFace) -> Triple:
    if not foil:
        rz = UNKNOWN_FOIL if face is FoilFace.BONDED else UNKNOWN_FOIL.model_copy(update={"low_um": 0.0})
        return rz.laws()
    return (face_roughness(find_foil(foil), face, "the layer").value or UNKNOWN_FOIL).laws()


def _face_toward(beside: Sheet | None) -> FoilFace:
    """Tell which face of a plane looks at the trace: the bonded one where a core lies between."""
    return FoilFace.BONDED if beside is not None and beside.kind == "core" else FoilFace.OTHER
