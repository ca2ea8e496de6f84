"""Laminates, glass styles, foils and copper weights: look-up by name, Dk(f), Df(f), Tg by method, roughness.

Every row of the data names its source and how that was read; values come back as `Fact`s. Nothing is read until the
first look-up.
"""

from stackup_lib.materials.glass import GlassStyle, glass_styles
from stackup_lib.materials.library import Catalogue, catalogue
from stackup_lib.materials.lookup import Match
from stackup_lib.materials.model import (
    Construction,
    ConstructionKind,
    DielectricPoint,
    Laminate,
    LossClass,
    Spread,
    Tg,
    TgMethod,
    loss_class_from_df,
)
from stackup_lib.materials.sources import Grade, Source

__all__ = [
    "Catalogue",
    "Construction",
    "ConstructionKind",
    "DielectricPoint",
    "GlassStyle",
    "Grade",
    "Laminate",
    "LossClass",
    "Match",
    "Source",
    "Spread",
    "Tg",
    "TgMethod",
    "catalogue",
    "glass_styles",
    "loss_class_from_df",
]
