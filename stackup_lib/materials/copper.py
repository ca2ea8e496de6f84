"""Copper weights: ounces to thickness, and finished thickness to ounce classes."""

import math
from functools import cache, lru_cache

from stackup_lib.core.facts import Confidence, Fact, Origin, unknown
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.data import read_toml, sources_of
from stackup_lib.materials.sources import MaterialSource


class CopperWeight(Frozen):
    """One foil weight; thicknesses in micrometres.

    Attributes:
        oz: ounces per square foot.
        nominal_um: foil as bought.
        internal_min_um: least finished thickness of an inner layer.
        external_class2_min_um: least finished thickness of a plated outer layer, IPC class 2.
        external_class3_min_um: the same, IPC class 3.
    """

    oz: float
    nominal_um: float
    internal_min_um: float
    external_class2_min_um: float
    external_class3_min_um: float
    source: MaterialSource


class _Band(Frozen):
    oz: float
    from_um: float
    to_um: float
    confidence: Confidence
    source: MaterialSource


class StatedFoil(Frozen):
    """Thicknesses in micrometres that a stackup may state for inner copper of these weights."""

    from_um: float
    to_um: float
    weights: str
    source: MaterialSource


SAME_OZ = 0.01
"""A third of an ounce is listed as 0.33."""


@cache
def copper_weights() -> tuple[CopperWeight, ...]:
    """Return the known foil weights, lightest first."""
    data = read_toml("copper_weights.toml")
    sources = sources_of(data)
    return tuple(CopperWeight.model_validate({**row, "source": sources[row["source"]]}) for row in data["weight"])


@cache
def _bands() -> tuple[_Band, ...]:
    data = read_toml("copper_weights.toml")
    sources = sources_of(data)
    return tuple(_Band.model_validate({**row, "source": sources[row["source"]]}) for row in data["band"])


def neighbouring_weights_oz(oz: float) -> tuple[float, ...]:
    """Return the foil weights below and above a weight that no foil has; () for one that a foil has.

    Heavier ones than the heaviest that is known are not judged.
    """
    known = [band.oz for band in _bands()]
    if oz > known[-1] or any(abs(one - oz) < SAME_OZ for one in known):
        return ()
    return (*[one for one in known if one < oz][-1:], next(one for one in known if one > oz))


@cache
def stated_foils() -> tuple[StatedFoil, ...]:
    """Return what stackups may state for inner copper, lightest first; heavier copper than the last is not judged."""
    data = read_toml("copper_weights.toml")
    sources = sources_of(data)
    return tuple(StatedFoil.model_validate({**row, "source": sources[row["source"]]}) for row in data["stated"])


def neighbouring_foils(thickness_mm: float) -> tuple[StatedFoil | None, StatedFoil | None] | None:
    """Return the weights below and above a thickness of inner copper that is none's; None for one that is a weight's.

    Heavier copper than every known weight counts as the heaviest.
    """
    um = round(thickness_mm * 1000, 3)
    foils = stated_foils()
    if any(foil.from_um <= um <= foil.to_um for foil in foils) or um > foils[-1].to_um:
        return None
    lower = [foil for foil in foils if foil.to_um < um]
    return (lower[-1] if lower else None), next(foil for foil in foils if foil.from_um > um)


def ounce_class(thickness_mm: float, *, outer: bool) -> Fact[float]:
    """Return the ounce class of a copper layer of a finished thickness in millimetres.

    Between two classes the answer is unknown. An outer layer's class has low confidence: its thickness may mean the
    foil or the foil with plating.
    """
    side = "outer" if outer else "inner"
    name = f"copper weight of {thickness_mm * 1000:.4g} um {side} copper"
    thickness_um = round(thickness_mm * 1000, 3) if math.isfinite(thickness_mm) else math.nan
    band = next((b for b in reversed(_bands()) if b.from_um <= thickness_um <= b.to_um), None)
    if band is None:
        return unknown(name, f"give the {side} layer the finished thickness of a copper weight: {_usual()}")
    source = f"a finished thickness of {band.from_um:g} to {band.to_um:g} um is {band.oz:g} oz"
    if outer:
        source += "; plating makes outer weights ambiguous"
    return Fact[float](
        name=name,
        value=band.oz,
        origin=Origin.INFERRED,
        source=source,
        confidence=Confidence.LOW if outer else band.confidence,
    )


PROCESSED_SHARE = 0.89
"""Of its nominal thickness, what processing leaves of inner foil: 15.2, 30 and 61 um of 17.1, 34.3 and 68.6."""

NOMINAL_UM_PER_OZ = 34.3


@lru_cache(maxsize=256)
def inner_copper_mm(oz: float) -> float:
    """Return the usual finished thickness of inner copper of a weight."""
    stated = {row["oz"]: row["um"] for row in read_toml("copper_weights.toml")["inner"]}
    if oz in stated:
        return float(stated[oz]) / 1000
    nominal_um = next((w.nominal_um for w in copper_weights() if w.oz == oz), NOMINAL_UM_PER_OZ * oz)
    return round(PROCESSED_SHARE * nominal_um / 1000, 4)


def outer_foil_oz(finished_mm: float) -> float | None:
    """Return the heaviest foil that plated outer copper of a thickness can be made of, by IPC-6012's minima of class 2.

    None for copper thinner than those of every foil.
    """
    um = round(finished_mm * 1000, 3)
    return max((w.oz for w in copper_weights() if w.external_class2_min_um <= um), default=None)


def _usual() -> str:
    return ", ".join(f"{w.nominal_um / 1000:.4f} mm is {w.oz:g} oz" for w in copper_weights() if w.oz >= 0.5)
