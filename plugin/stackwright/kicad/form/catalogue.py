"""What inputs offer from the catalogue: workloads, form factors, laminates, foils, generations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from drc_rules.requirements.forms import forms
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.profiles.profile import load_profile, profile_names
from stackup_lib.materials import FoilGrade, Laminate, foils
from stackup_lib.materials import catalogue as materials
from stackwright.kicad.form.model import FormChoice

AT_GHZ = 10.0


@cache
def workloads() -> tuple[FormChoice, ...]:
    """Return the workloads."""
    return tuple(FormChoice(value=name, note=load_profile(name).title) for name in profile_names())


@cache
def form_factors() -> tuple[FormChoice, ...]:
    """Return the form factors."""
    return tuple(FormChoice(value=name, note=form.title) for name, form in sorted(forms().items()))


@cache
def laminates() -> tuple[FormChoice, ...]:
    """Return every laminate with its maker, loss class and Df."""
    return tuple(FormChoice(value=one.family, note=_laminate(one)) for one in materials().laminates)


def _laminate(one: Laminate) -> str:
    loss = f"{one.loss_class.label} loss" if one.loss_class else ""
    df = one.df_at(AT_GHZ)
    value = f"Df {df.value:.3g} at {AT_GHZ:g} GHz" if df.value is not None and df.known else ""
    return ", ".join(word for word in (one.maker, loss, value) if word)


@cache
def foil_names() -> tuple[FormChoice, ...]:
    """Return the grades, then the products of the makers."""
    grades = tuple(FormChoice(value=grade.value, note="grade") for grade in FoilGrade)
    taken = {grade.value for grade in FoilGrade}
    products = (FormChoice(value=one.name, note=one.grade.value) for one in foils() if one.name not in taken)
    return (*grades, *products)


def generations(ids: Iterable[str]) -> tuple[FormChoice, ...]:
    """Return interfaces by their ids."""
    return tuple(FormChoice(value=one, note=interface(one).title) for one in ids)
