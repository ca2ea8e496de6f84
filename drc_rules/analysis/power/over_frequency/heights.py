"""Distances between the copper layers of a board, and the permittivity of what lies there."""

from __future__ import annotations

from dataclasses import dataclass

from drc_rules.facts.context import DECLARE_STACKUP, Context
from stackup_lib.core.facts import MissingFact
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ

USUAL_DF = 0.02
"""Loss tangent of FR4, where none is known: it damps resonances of planes only."""


@dataclass(frozen=True)
class LayerHeights:
    """Of each gap between copper layers, top to bottom: thickness in mm, Dk, Df; and the copper of each layer in mm."""

    gap_mm: tuple[float, ...]
    dk: tuple[float, ...]
    df: tuple[float, ...]
    copper_mm: tuple[float, ...]

    def between_mm(self, first: int, second: int) -> float:
        """Return the distance between the facing surfaces of two layers, 0 for the same layer."""
        low, high = min(first, second), max(first, second)
        return sum(self.gap_mm[low:high]) + sum(self.copper_mm[low + 1 : high])

    def dk_between(self, first: int, second: int) -> float:
        """Return the Dk of what is between two layers: in series, as a field across it sees it."""
        low, high = min(first, second), max(first, second)
        gaps, dks = self.gap_mm[low:high], self.dk[low:high]
        return sum(gaps) / sum(gap / dk for gap, dk in zip(gaps, dks, strict=True))


def layer_heights(ctx: Context) -> LayerHeights:
    """Return the heights as the stackup states them; get them by `Context.get`.

    Raises:
        MissingFact: the stackup, a thickness or a Dk is not known.
    """
    ctx.stackup()
    gaps, dks, dfs = [], [], []
    for layer in range(ctx.board.layer_count - 1):
        plies = [ply for ply in ctx.known_plies() if (ply.above, ply.below) == (layer, layer + 1)]
        if not plies:
            raise MissingFact(f"the dielectric under {ctx.board.copper_layers[layer].name}", DECLARE_STACKUP)
        thick = [ctx.need(ply.thickness) for ply in plies]
        dk = [ctx.need(ply.dk.at(DK_GHZ)) for ply in plies]
        gaps.append(sum(thick))
        dks.append(sum(thick) / sum(one / over for one, over in zip(thick, dk, strict=True)))
        dfs.append(max(ply.df.at(DK_GHZ).value or ply.df.stated or USUAL_DF for ply in plies))
    copper = tuple(ctx.need(ctx.copper_thickness_mm(layer)) for layer in range(ctx.board.layer_count))
    return LayerHeights(tuple(gaps), tuple(dks), tuple(dfs), copper)
