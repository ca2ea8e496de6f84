"""The copper weight of a layer: as declared, else by the thickness that the stackup states."""

from __future__ import annotations

import math
from dataclasses import replace

from drc_rules.facts.context import Context
from stackup_lib.core.facts import Confidence, Fact, Origin
from stackup_lib.materials import ounce_class, stated_foils
from stackup_lib.materials.copper import NOMINAL_UM_PER_OZ


def weight_of(ctx: Context, layer: int) -> Fact[float]:
    """Return the copper weight of a layer in oz, the same for every rule that judges by weight.

    `copper_oz` goes before the stackup's thickness, and counts as unknown while it is stale. The weight of an outer
    layer that is not declared is a guess: its thickness may include plating. Copper above every class has whole ounces
    of 34.3 um each: that it is heavier than all of them is sure, how much is not.
    """
    name = ctx.board.copper_layers[layer].name
    declared = ctx.declarations.copper_weight(name)
    if declared is not None:
        return declared
    thickness = ctx.copper_thickness_mm(layer)
    if thickness.value is None or not thickness.known:
        return Fact[float](name=thickness.name, how_to_give=thickness.how_to_give, stale=thickness.stale)
    outer = layer in (0, ctx.board.layer_count - 1)
    found = ounce_class(thickness.value, outer=outer)
    if found.value is None:
        found = _above_all(thickness.value, outer=outer) or found
    um = f"the stackup's {thickness.value * 1000:.4g} um"
    why = f"{um} may include plating" if outer else f"of the foil as bought; {um} may be several weights"
    how = f'[declared.copper."{name}"]\ncopper_oz = "?"  # {why}'
    return replace(found, name=f"copper weight of {name}", how_to_give=how)


def _above_all(thickness_mm: float, *, outer: bool) -> Fact[float] | None:
    """The weight of copper that is thicker than that of every class; None where it is not."""
    um, heaviest = round(thickness_mm * 1000, 3), stated_foils()[-1].to_um
    if not heaviest < um < math.inf:
        return None
    least = int(heaviest / NOMINAL_UM_PER_OZ) + 1
    return Fact[float](
        name="",
        value=float(max(least, round(um / NOMINAL_UM_PER_OZ))),
        origin=Origin.INFERRED,
        source=f"a finished thickness of {um:g} um at {NOMINAL_UM_PER_OZ:g} um an ounce",
        confidence=Confidence.LOW if outer else Confidence.MEDIUM,
    )
