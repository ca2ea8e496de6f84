"""What a profile of one's own may state: kinds, limits, interfaces and ids as the shipped clauses have them.

A rule reads of a limit what its kind has, and in that unit; anything else would count as met, or be taken for another
number. So nothing here is a list: the shipped clauses of the same kind say what a limit of it looks like.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, get_args

from drc_rules.requirements.clauses import Limit
from drc_rules.requirements.forms import forms, load_form
from drc_rules.requirements.interfaces import families, interface, interface_ids
from drc_rules.requirements.profiles.assembly import (
    BOARD,
    ClauseRow,
    Profile,
    ProfileFile,
    Workload,
    assemble,
    kinds_of_interfaces,
    known_kinds,
    shipped,
    shipped_limits,
)
from stackup_lib.core.errors import ConfigError, did_you_mean

ASKS = ("min", "max", "at_least", "required", "choices")
"""Keys of a limit that require something; the others say how it is read."""

OF_A_TIER = "fab tier"
"""The unit of limits whose `at_least` is one of a few words that the shipped clauses of the kind have."""


def refuse_unlike_shipped(where: str, read: ProfileFile) -> None:
    """Refuse what a rule would read as something else, or not at all.

    Args:
        where: the file, as an error names it.
        read: what stands in it.

    Raises:
        ConfigError: names file, clause and what to write.
    """
    seen: set[str] = set()
    for row in read.clause:
        if row.id in seen:
            _refuse(where, row.id, "two clauses have this id", "give each an id of its own")
        seen.add(row.id)
        if row.id in read.drop:
            _refuse(where, row.id, "is stated here, and dropped as well", "take it out of drop")
        if row.kind not in known_kinds():
            _refuse(where, row.id, f'no clause is of kind "{row.kind}"', did_you_mean(row.kind, known_kinds()))
        _refuse_place(where, row)
        _refuse_limit(where, row)
    try:
        if read.form is not None:
            load_form(read.form)
        for one in read.design_for:
            interface(one)
    except ConfigError as error:
        raise ConfigError(f"{where}, {error.where}", error.what, error.next_step) from None


def refuse_strange_drops(where: str, read: ProfileFile, bases: Iterable[Profile], merged: Profile) -> None:
    """Refuse to drop what no clause is called: it would stay; raises `ConfigError`.

    Args:
        where: the file, as an error names it.
        read: what stands in it.
        bases: the profiles that it extends.
        merged: it together with them.
    """
    strange = [one for one in read.drop if one not in _inherited_ids(bases)]
    known = set(_ids_that_may_apply(merged)) if strange else set()
    for one in strange:
        if one not in known:
            raise ConfigError(where, f'drop: no clause is called "{one}"', did_you_mean(one, known))


def refuse_other_choices(profile: Profile, words: Mapping[str, Collection[str]]) -> None:
    """Refuse choices that are none of the words of their kind; raises `ConfigError`.

    Args:
        profile: one of the user's own, with what it extends.
        words: kind -> the words that its rule knows.
    """
    for row in (*profile.clauses, *profile.per_interface):
        for one in row.limit.choices if row.kind in words else ():
            if one not in words[row.kind]:
                _refuse(profile.name, row.id, f'"{one}" is no choice', did_you_mean(one, words[row.kind]))


def _refuse(where: str, clause_id: str, what: str, fix: str) -> NoReturn:
    raise ConfigError(where, f"{clause_id}: {what}", fix)


def _refuse_place(where: str, row: ClauseRow) -> None:
    """Refuse a clause that would never apply."""
    if row.interface is not None:
        try:
            interface(row.interface)
        except ConfigError as error:
            _refuse(where, row.id, f"{error.where} {error.what}", error.next_step)
    elif row.above_ghz is None and row.kind in kinds_of_interfaces():
        fix = 'add interface = "pcie5" or another, or above_ghz = 0 for every high-speed interface without one'
        _refuse(where, row.id, f'a "{row.kind}" is of one interface, and none is given', fix)
    if row.above_ghz is not None and not 0 <= row.above_ghz < math.inf:
        _refuse(where, row.id, f"above_ghz cannot be {row.above_ghz:g}", "give a frequency in GHz")
    for kind in row.covered_by:
        if kind not in known_kinds():
            _refuse(where, row.id, f'covered_by: no clause is of kind "{kind}"', did_you_mean(kind, known_kinds()))


def _refuse_limit(where: str, row: ClauseRow) -> None:
    """Refuse a limit that is not stated as the shipped ones of its kind are."""
    known = shipped_limits()[row.kind]
    asked = _asks(row.limit)
    like = [one for one in known if _asks(one) == asked]
    if not like:
        fix = " or ".join(dict.fromkeys(f"limit = {_written(one)}" for one in _unlike(known)))
        said = _written(row.limit)
        _refuse(where, row.id, f'the limit of a "{row.kind}" cannot be {said}', _as_shipped(fix))
    units = sorted({one.unit for one in like})
    if row.limit.unit not in units and (asked or row.limit.unit):
        said = f'the unit of a "{row.kind}" cannot be "{row.limit.unit}"' if row.limit.unit else "the unit is missing"
        fix = " or ".join(f'write unit = "{one}"' for one in units if one) or "leave unit out"
        _refuse(where, row.id, said, fix)
    _refuse_readings(where, row, known)
    _refuse_numbers(where, row)
    words = {one.at_least for one in like if one.at_least}
    if row.limit.unit == OF_A_TIER and row.limit.at_least not in words:
        said = f"{row.limit.at_least}"
        _refuse(where, row.id, f'at_least cannot be "{said}"', did_you_mean(said, words))


def _refuse_readings(where: str, row: ClauseRow, limits: Iterable[Limit]) -> None:
    """Refuse a key that says how a limit is read, where no rule of the kind reads it."""
    known = {key for one in limits for key in _keys(one)}
    for key in _keys(row.limit):
        if key not in known:
            _refuse(where, row.id, f'the limit of a "{row.kind}" has no "{key}"', "leave it out")


def _refuse_numbers(where: str, row: ClauseRow) -> None:
    limit = row.limit
    for key, value in (("min", limit.min), ("max", limit.max), ("at_ghz", limit.at_ghz)):
        if value is not None and not math.isfinite(value):
            _refuse(where, row.id, f"{key} = {value:g} limits nothing", "give a number")
    if limit.min is not None and limit.max is not None and limit.min > limit.max:
        _refuse(where, row.id, f"min = {limit.min:g} is above max = {limit.max:g}", "correct one of them")
    if limit.at_ghz is not None and limit.at_ghz <= 0:
        _refuse(where, row.id, f"at_ghz cannot be {limit.at_ghz:g}", "give a frequency in GHz")


def _keys(limit: Limit) -> tuple[str, ...]:
    """Keys that a limit states, but for its unit."""
    return tuple(key for key in Limit.model_fields if key != "unit" and getattr(limit, key) not in (None, (), ""))


def _asks(limit: Limit) -> frozenset[str]:
    """What is asked: the keys, and whether something is required or needless."""
    return frozenset(f"{key} {limit.required}" if key == "required" else key for key in _keys(limit) if key in ASKS)


def _unlike(limits: Iterable[Limit]) -> Iterator[Limit]:
    """One limit of each way to state it."""
    seen: set[frozenset[str]] = set()
    for one in limits:
        if _asks(one) not in seen:
            seen.add(_asks(one))
            yield one


def _as_shipped(fix: str) -> str:
    return f"write it like {fix}" if any(f"{key} =" in fix for key in ASKS) else "leave limit out: the kind has none"


def _written(limit: Limit) -> str:
    """A limit as it stands in the file."""
    return f"{{ {', '.join(_key_written(limit))} }}".replace("{  }", "{}")


def _key_written(limit: Limit) -> Iterator[str]:
    for key in (*(one for one in Limit.model_fields if one in ASKS), "unit"):
        value = getattr(limit, key)
        if value in (None, (), ""):
            continue
        yield f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {json.dumps(value)}"


def _inherited_ids(bases: Iterable[Profile]) -> set[str]:
    return {one for base in bases for one in (*(c.id for c in (*base.clauses, *base.per_interface)), *base.dropped)}


def _ids_that_may_apply(profile: Profile) -> Iterator[str]:
    """Ids of all clauses of a profile with any interfaces and any form factor."""
    every, whole = interface_ids(), replace(profile, dropped=())
    yield from (clause.id for form in forms().values() for clause in form.clauses())
    for workload in (profile.workload,) if profile.workload else get_args(Workload):
        judged = replace(whole, workload=workload)
        for present, open_families in ((every, [one.id for one in families()]), ((), [])):
            yield from (clause.id for clause in assemble(judged, None, present, open_families).clauses)


def notes_on(profile: Profile) -> Iterator[str]:
    """Say of a profile of one's own what it leaves out that holds for any board."""
    if BOARD in profile.extends:
        return
    stated = {one.id for one in profile.clauses}
    left_out = sum(one.id not in stated for one in shipped(BOARD).clauses)
    if left_out:
        yield (
            f'{Path(profile.name).name} does not rest on "{BOARD}": {left_out} requirements that hold for every board '
            f'are not checked (stackup, drills, clearances, shorts ...); add extends = ["{BOARD}"]'
        )
