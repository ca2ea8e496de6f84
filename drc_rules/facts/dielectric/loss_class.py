"""Loss class of a dielectric ply."""

from __future__ import annotations

from dataclasses import replace

from drc_rules.facts.dielectric.stated_ply import StatedPly
from stackup_lib.core.facts import Confidence, Fact, MissingFact, least, unknown
from stackup_lib.materials import LossClass, loss_class_from_df

CLASS_GHZ = (8.0, 14.0)
"""Frequencies at which a Df gives the loss class as it is."""

CLASS_AT_GHZ = 10.0
"""Where a Df from elsewhere is carried to, for the class."""


def loss_class_of(ply: StatedPly, df_fault: MissingFact | None) -> Fact[LossClass]:
    """Loss class: of the declared Df, where there is one with its frequency; else of the laminate family."""
    name = f"loss class of {ply.label}"
    family = _family_class(ply, name)
    df, ghz = ply.declaration.df, ply.declaration.at_ghz
    if df is None or ghz is None:
        return family
    if df_fault is not None:
        return unknown(df_fault.name, df_fault.how_to_give)
    near_10ghz, confidence = _carried_to_class(ply, df, ghz)
    declared = loss_class_from_df(near_10ghz)
    is_bound = ghz < CLASS_GHZ[0] and confidence is Confidence.LOW
    if is_bound and (family.value is None or family.value < declared):
        # Df rises with frequency by an unknown amount: the class is the declared one or a lossier one.
        return family
    fact = ply.declarations.of_stackup(name, declared, f'dielectric."{ply.row}".df') or family
    return replace(fact, confidence=confidence)


def _carried_to_class(ply: StatedPly, df: float, ghz: float) -> tuple[float, Confidence]:
    """Return a declared Df near 10 GHz, the way the laminate's own goes; of an unknown way as it is, unsure."""
    if CLASS_GHZ[0] <= ghz <= CLASS_GHZ[1]:
        return df, Confidence.HIGH
    if ply.match is not None:
        here, there = ply.match.df_at(ghz).value, ply.match.df_at(CLASS_AT_GHZ).value
        if here and there:
            return df * there / here, Confidence.MEDIUM
    return df, Confidence.LOW


def _family_class(ply: StatedPly, name: str) -> Fact[LossClass]:
    laminate = ply.laminate
    if not laminate.known or laminate.value is None:
        return unknown(name, laminate.how_to_give)
    fact = laminate.value.loss_class_fact()
    if not fact.known:
        return unknown(name, laminate.how_to_give)
    return replace(fact, name=name, confidence=least(fact.confidence, laminate.confidence))
