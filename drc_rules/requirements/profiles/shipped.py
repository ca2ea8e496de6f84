"""Everything the shipped profiles may ask, for looking things up."""

from __future__ import annotations

from functools import cache

from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import forms, load_form
from drc_rules.requirements.interfaces import interface_ids
from drc_rules.requirements.profiles.profile import BOARD, Profile, assemble, load_profile, profile_names
from stackup_lib.core.record import record


@record
class Shipped:
    """A clause, and the profiles and forms that may ask it."""

    clause: Clause
    asked_by: tuple[str, ...]


def clauses_of(profile: Profile) -> tuple[Clause, ...]:
    """Return what a profile asks of a board that carries the interfaces that the profile names, in its own form."""
    form = load_form(profile.form) if profile.form else None
    return assemble(profile, form, profile.interfaces.values(), ()).clauses


def clauses_beyond_any_board(profile: Profile) -> tuple[Clause, ...]:
    """Return of `clauses_of` what no board without a workload is held to."""
    general = assemble(load_profile(BOARD), None, profile.interfaces.values(), ()).clauses
    known = {text for one in general for text in (one.id, one.title)}
    return tuple(one for one in clauses_of(profile) if not known.intersection((one.id, one.title)))


@cache
def shipped_clauses() -> tuple[Shipped, ...]:
    """Every clause that any shipped profile or form may ask; one entry for clauses that are the same."""
    asked: dict[Clause, list[str]] = {}
    profiles = {name: load_profile(name) for name in (BOARD, *profile_names())}
    for name, profile in profiles.items():
        for clause in assemble(profile, None, interface_ids(), ()).clauses:
            asked.setdefault(clause, []).append("any board" if name == BOARD else name)
    for form in forms().values():
        for clause in form.clauses():
            asked.setdefault(clause, []).append(f"form {form.name}")
    return tuple(Shipped(clause, tuple(by)) for clause, by in asked.items())
