"""Pressed thickness of prepreg: glass and resin of its plies, less the resin that flows between the copper features.

Volume is kept: two copper layers face each other across H = n h - sum t_cu (1 - coverage), where h is one cured ply
pressed between flat sheets. Resin that leaves at the panel's edge is not in it: it makes real boards thinner.
"""

import math
from collections.abc import Sequence
from functools import cache

from stackup_lib.core.facts import Confidence, Fact, Origin, unknown
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.materials.data import read_toml, sources_of
from stackup_lib.materials.model import Construction
from stackup_lib.materials.sources import MaterialSource, lowered


class FacingCopper(Frozen):
    """Copper that is pressed into the prepreg from one side.

    Attributes:
        thickness_mm: finished copper; None when not known.
        coverage: share of the area that has copper, 0 to 1; None when not known.
    """

    thickness_mm: float | None
    coverage: float | None


class PressedPrepreg(Frozen):
    """Thickness between the facing copper surfaces after lamination, in mm.

    Attributes:
        thickness_mm: nominal.
        low_mm: thinnest that the values allow, never below the bare glass.
        high_mm: thickest.
        cured_mm: all plies before they fill copper.
    """

    thickness_mm: float
    low_mm: float
    high_mm: float
    cured_mm: float


@record
class _Data:
    areal_g_per_m2: dict[str, float]
    cloth_um: dict[str, float]
    glass_g_per_cm3: tuple[float, float, float]
    resin_g_per_cm3: tuple[float, float, float]
    ply_tolerance_mm: float
    fabric: MaterialSource
    tolerance: MaterialSource


@cache
def _data() -> _Data:
    data = read_toml("glass_weights.toml")
    sources = sources_of(data)
    return _Data(
        areal_g_per_m2={k: v for k, v in data["g_per_m2"].items() if k != "source"},
        cloth_um={k: v for k, v in data["cloth_um"].items() if k != "source"},
        glass_g_per_cm3=data["density"]["glass_g_per_cm3"],
        resin_g_per_cm3=data["density"]["resin_g_per_cm3"],
        ply_tolerance_mm=data["tolerance"]["ply_mm"],
        fabric=sources[data["g_per_m2"]["source"]],
        tolerance=sources[data["tolerance"]["source"]],
    )


def glass_areal_weight_g_per_m2(style: str) -> float | None:
    """Return the nominal areal weight of a glass style, None when it is not known."""
    return _data().areal_g_per_m2.get(style)


def cloth_thickness_mm(style: str) -> float | None:
    """Return the thickness of the woven cloth of a glass style (IPC-4412), None when it is not known."""
    um = _data().cloth_um.get(style)
    return None if um is None else um / 1000


def solid_glass_mm(style: str) -> float | None:
    """Return the thickness of a style's glass without gaps, in mm; None for a glass style of unknown weight."""
    weight = glass_areal_weight_g_per_m2(style)
    return None if weight is None else glass_thickness_mm(weight, _data().glass_g_per_cm3[1])


def glass_thickness_mm(areal_g_per_m2: float, glass_g_per_cm3: float) -> float:
    """Return the solid thickness of glass: weight over density (1 g/m2 over 1 g/cm3 is 1 um)."""
    return areal_g_per_m2 / glass_g_per_cm3 / 1000


def resin_thickness_mm(areal_g_per_m2: float, resin_content_pct: float, resin_g_per_cm3: float) -> float:
    """Return the solid thickness of the resin of one ply: G RC/(1 - RC)/density.

    Resin content RC is resin mass over the mass of resin and glass (IPC-TM-650 2.3.16); G is the glass, in g/m2.
    """
    share = resin_content_pct / 100
    return areal_g_per_m2 * share / (1 - share) / resin_g_per_cm3 / 1000


def thickest_ply_mm(style: str, resin_content_pct: float) -> float | None:
    """Return what one ply has at most before it fills copper, over densities and the suppliers' tolerance, in mm.

    None for a glass style of unknown weight.
    """
    weight = glass_areal_weight_g_per_m2(style)
    return None if weight is None else _from_figures(weight, resin_content_pct)[2]


def copper_fill_mm(faces: Sequence[tuple[float, float]]) -> float:
    """Return the resin that copper takes, per area in mm: the sum of thickness (1 - coverage) over (mm, share)."""
    return sum(thickness * (1 - coverage) for thickness, coverage in faces)


def pressed_prepreg(
    name: str,
    *,
    style: str | None,
    resin_content_pct: float | None,
    faces: Sequence[FacingCopper],
    plies: int = 1,
    table: Construction | None = None,
) -> Fact[PressedPrepreg]:
    """Return the pressed thickness of a prepreg of n equal plies, with its interval.

    Args:
        name: which prepreg, for messages.
        style: glass style; needed for the bare glass below which nothing presses, and without `table`.
        resin_content_pct: of the prepreg as bought; likewise.
        faces: the copper on either side, as far as it is pressed in; foil without features covers all.
        plies: number of equal plies.
        table: the maker's row of this prepreg, one ply or more, before it fills copper.

    Returns:
        Unknown where a value is missing, or where the copper needs more resin than there is.
    """
    fact = f"pressed thickness of {name}"
    fill = _fill(faces)
    if fill is None:
        return unknown(fact, f"give thickness and coverage of the copper next to {name}; coverage needs filled zones")
    weight = glass_areal_weight_g_per_m2(style) if style else None
    resin_is_sane = resin_content_pct is not None and 10 < resin_content_pct < 95
    if table is None and (weight is None or not resin_is_sane):
        return unknown(fact, f"state glass style and resin content of {name}, e.g. 2116 RC 55 %")
    glass = plies * glass_thickness_mm(weight, _data().glass_g_per_cm3[1]) if weight else 0.0
    if table is not None:
        cured, low, high = _from_table(table, plies)
    else:
        cured, low, high = (plies * h for h in _from_figures(weight or math.nan, resin_content_pct or math.nan))
    if cured - fill <= glass:
        what = f"the copper takes {fill:.3f} mm of resin and the prepreg plies hold {cured - glass:.3f} mm"
        return unknown(fact, f"use more prepreg plies or a richer prepreg for {name}: {what}")
    pressed = PressedPrepreg(
        thickness_mm=cured - fill,
        low_mm=max(low - fill, glass),
        high_mm=high - fill,
        cured_mm=cured,
    )
    confidence = Confidence.LOW if table is None else lowered(table.source.grade.confidence)
    base = table.source.text if table else _data().fabric.text
    source = f"{base}; less {fill:.4f} mm of resin that the copper takes; flow at the edge is not counted"
    return Fact[PressedPrepreg](name=fact, value=pressed, origin=Origin.INFERRED, source=source, confidence=confidence)


def _fill(faces: Sequence[FacingCopper]) -> float | None:
    known = [(f.thickness_mm, f.coverage) for f in faces if f.thickness_mm is not None and f.coverage is not None]
    if len(known) < len(faces) or not all(t >= 0 and 0 <= c <= 1 for t, c in known):
        return None
    return copper_fill_mm(known)


def _from_table(table: Construction, plies: int) -> tuple[float, float, float]:
    cured = table.thickness_mm * plies / (table.plies or 1)
    slack = _data().ply_tolerance_mm * plies
    return cured, cured - slack, cured + slack


def _from_figures(areal_g_per_m2: float, resin_content_pct: float) -> tuple[float, float, float]:
    """Nominal, thinnest and thickest cured ply over the densities and the suppliers' tolerance, in quadrature."""
    data = _data()
    low, nominal, high = (
        glass_thickness_mm(areal_g_per_m2, glass) + resin_thickness_mm(areal_g_per_m2, resin_content_pct, resin)
        for glass, resin in zip(reversed(data.glass_g_per_cm3), reversed(data.resin_g_per_cm3), strict=True)
    )
    slack = data.ply_tolerance_mm
    return nominal, nominal - math.hypot(nominal - low, slack), nominal + math.hypot(high - nominal, slack)
