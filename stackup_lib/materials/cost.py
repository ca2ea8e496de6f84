"""What laminates and foils cost against others. Judgement, but for the laminate factors."""

from functools import cache
from typing import Literal

from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.data import read_toml
from stackup_lib.materials.foils import FoilGrade
from stackup_lib.materials.loss_class import LossClass

CostWord = Literal["lowest", "low", "medium", "high"]


class CostFigures(Frozen):
    """The values of `cost.toml`.

    Attributes:
        laminate: times FR-4, by loss class.
        share: what an effort adds, as a share.
        foil: what a grade adds to a board where every layer has it, against standard foil, as a share.
        more_pct: bounds of the words, in per cent above the cheapest.
        source: where each table comes from.
    """

    laminate: dict[str, float]
    share: dict[str, float]
    foil: dict[str, float]
    more_pct: dict[CostWord, float]
    source: dict[str, str]


@cache
def cost_figures() -> CostFigures:
    """Return the values, read at the first call."""
    return CostFigures.model_validate(read_toml("cost.toml"))


def class_factor(loss_class: LossClass | None) -> float:
    """Return the cost of laminates of a loss class against FR-4, a factor; None is a laminate of unknown class."""
    return cost_figures().laminate[loss_class.value if loss_class else "unknown"]


def foil_share(grade: FoilGrade) -> float:
    """Return what a foil grade adds to a board where every layer has it, against standard foil, as a share."""
    return cost_figures().foil[grade.value]
