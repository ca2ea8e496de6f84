"""Loss of a line on a candidate stackup, with the same materials and intervals that a check of a board takes."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.materials import catalogue
from stackup_lib.synthesis.candidates import CandidateStackup
from stackup_lib.transmission_lines.loss import DB_PER_NEPER
from stackup_lib.transmission_lines.lossy import LineMaterials
from stackup_lib.transmission_lines.material_range import LineCopper, Models, material_range, permittivity_range
from stackup_lib.transmission_lines.materials.laminate_models import samples_of
from stackup_lib.transmission_lines.site import TraceEnvironment

SMALLEST_DK_SHARE = 0.9
"""A causal Dk at Nyquist keeps at least this share of the one at 1 GHz: laminates lose 1 to 3 % per decade."""


class DfUnknownError(StackwrightError):
    """The catalogue has no Df of a dielectric at the frequency of the goal."""


def materials_of(
    candidate: CandidateStackup, site: TraceEnvironment, index: int, frequency_ghz: float
) -> tuple[LineMaterials, LineMaterials, LineMaterials]:
    """Return the least lossy, the nominal and the lossiest materials of a line on a copper layer.

    Raises:
        DfUnknownError: a Df is not known at the frequency.
    """
    texts = construction_of(candidate)
    foils = {c.name: c.foil for c in candidate.copper}
    thickness_mm = {c.name: c.thickness_mm for c in candidate.copper}
    planes = (site.reference_below or "", site.reference_above or "")
    copper = LineCopper(
        foil=candidate.copper[index].foil,
        plane_foils=(foils.get(planes[0], ""), foils.get(planes[1], "")),
        plane_mm=(thickness_mm.get(planes[0], site.copper_mm), thickness_mm.get(planes[1], site.copper_mm)),
    )
    sheets = [sheet_models(texts[s.name], s.dk, frequency_ghz) for s in site.sheets]
    return material_range(site, sheets, copper, candidate.finish.mask_df, frequency_ghz)


def construction_of(candidate: CandidateStackup) -> dict[str, str]:
    """Return row name -> material text of every dielectric."""
    return {r.name: r.construction for r in candidate.dielectrics}


def loss_key(candidate: CandidateStackup, site: TraceEnvironment, index: int) -> tuple[object, ...]:
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
    """Return permittivities of a dielectric with its lowest, nominal and highest Df.

    Raises:
        DfUnknownError: no value of the catalogue reaches the frequency.
    """
    match = catalogue().find(text)
    df = match.df_at(frequency_ghz).value
    if df is None:
        raise DfUnknownError(text, f"no Df of {text} at {frequency_ghz:g} GHz", "leave this laminate out")
    low, high = match.df_bounds_at(frequency_ghz) or (df, df)
    if match.laminate is not None and not match.style:
        spread = match.laminate.df_range_at(frequency_ghz).value
        low, high = (min(spread.low, low), max(spread.high, high)) if spread else (low, high)
    return permittivity_range(samples_of(match), dk, df, (low, high), frequency_ghz)


def least_loss_db_per_inch(candidate: CandidateStackup, index: int, frequency_ghz: float) -> float | None:
    """Return a loss that no line on a layer can undercut; None where a Df is not known.

    A line in several dielectrics loses pi f / c * sum(q eps tan d) / sqrt(eps_eff) nepers per length in them, with
    sum(q eps) = eps_eff (Pozar, Microwave Engineering, 3.30): at least pi f / c * sqrt(least eps) * least tan d.
    Copper only adds.
    """
    adjacent = candidate.dielectrics[max(index - 1, 0) : index + 1]
    return _least_between(tuple((d.construction, d.dk) for d in adjacent), frequency_ghz)


@lru_cache(maxsize=1024)
def _least_between(adjacent: tuple[tuple[str, float | None], ...], frequency_ghz: float) -> float | None:
    dks = [dk for _, dk in adjacent if dk is not None]
    dfs = [df for text, _ in adjacent if (df := catalogue_df(text, frequency_ghz)) is not None]
    if not adjacent or not len(dks) == len(dfs) == len(adjacent):
        return None
    nepers_per_mm = pi * frequency_ghz / LIGHT_MM_GHZ * sqrt(min(dks) * SMALLEST_DK_SHARE) * min(dfs)
    return nepers_per_mm * DB_PER_NEPER * 25.4


@lru_cache(maxsize=4096)
def catalogue_df(text: str, frequency_ghz: float) -> float | None:
    """Return the Df of what a material text names, None where no sheet reaches the frequency."""
    return catalogue().find(text).df_at(frequency_ghz).value
