"""Laminates, glass styles, foils and copper weights: look-up by name, Dk(f), Df(f), Tg by method, roughness.

Every row of the data names its source and how that was read; values come back as `Fact`s. Nothing is read until the
first look-up.
"""

from stackup_lib.materials.copper import (
    CopperWeight,
    StatedFoil,
    copper_weights,
    inner_copper_mm,
    neighbouring_foils,
    neighbouring_weights_oz,
    ounce_class,
    outer_foil_oz,
    stated_foils,
)
from stackup_lib.materials.foils import (
    CladFoils,
    Foil,
    FoilGrade,
    FoilMatch,
    clad_foils,
    find_foil,
    foil_grade_from_rz,
    foils,
    rz_from_rq,
)
from stackup_lib.materials.glass import GlassKind, GlassStyle, glass_kinds, glass_styles
from stackup_lib.materials.library import Catalogue, catalogue
from stackup_lib.materials.lookup import Match
from stackup_lib.materials.loss_class import CLASS_BORDER, LossClass, loss_class_from_df
from stackup_lib.materials.model import (
    Construction,
    ConstructionKind,
    DielectricPoint,
    Laminate,
    Spread,
    Tg,
    TgMethod,
)
from stackup_lib.materials.sources import Grade, MaterialSource

__all__ = [
    "CLASS_BORDER",
    "Catalogue",
    "CladFoils",
    "Construction",
    "ConstructionKind",
    "CopperWeight",
    "DielectricPoint",
    "Foil",
    "FoilGrade",
    "FoilMatch",
    "GlassKind",
    "GlassStyle",
    "Grade",
    "Laminate",
    "LossClass",
    "Match",
    "MaterialSource",
    "Spread",
    "StatedFoil",
    "Tg",
    "TgMethod",
    "catalogue",
    "clad_foils",
    "copper_weights",
    "find_foil",
    "foil_grade_from_rz",
    "foils",
    "glass_kinds",
    "glass_styles",
    "inner_copper_mm",
    "loss_class_from_df",
    "neighbouring_foils",
    "neighbouring_weights_oz",
    "ounce_class",
    "outer_foil_oz",
    "rz_from_rq",
    "stated_foils",
]
