"""Families and interfaces by id, read from the TOML files next to this one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.interfaces.inherit import with_inherited
from drc_rules.requirements.interfaces.model import Family, Interface
from stackup_lib.core.errors import ConfigError, did_you_mean

FOLDER = Path(__file__).parent


@cache
def families() -> tuple[Family, ...]:
    """Every family, by id."""
    found = []
    for path in FOLDER.glob("*.toml"):
        read = read_model(path, Family)
        own = tuple(one.model_copy(update={"family": read.id}) for one in read.interface)
        found.append(read.model_copy(update={"interface": own}))
    return tuple(sorted(with_inherited(found), key=lambda f: f.id))


@cache
def _families_by_id() -> Mapping[str, Family]:
    return {family.id: family for family in families()}


@cache
def _interfaces_by_id() -> Mapping[str, Interface]:
    return {one.id: one for family in families() for one in family.interfaces}


def interface_ids() -> tuple[str, ...]:
    """Ids of every interface, family by family."""
    return tuple(_interfaces_by_id())


def interface(interface_id: str) -> Interface:
    """Return the interface of that id.

    Raises:
        ConfigError: there is none; says which is nearest.
    """
    found = _interfaces_by_id().get(interface_id)
    if found is None:
        raise ConfigError(f'interface "{interface_id}"', "is not known", _which(interface_id))
    return found


def _which(word: str) -> str:
    """Return the ids that begin with a word, or those of the families that it names; else the nearest id."""
    wanted = word.strip().lower()
    begin = [one for one in interface_ids() if wanted and one.startswith(wanted)]
    of_families = [
        each.id for one in families() if len(wanted) > 1 and wanted in one.title.lower() for each in one.interfaces
    ]
    found = begin or of_families
    return f"it is one of {', '.join(found)}" if found else did_you_mean(word, interface_ids())


def family(family_id: str) -> Family:
    """Return the family of that id.

    Raises:
        ConfigError: there is none; says which is nearest.
    """
    found = _families_by_id().get(family_id)
    if found is None:
        raise ConfigError(f'interface family "{family_id}"', "is not known", did_you_mean(family_id, _families_by_id()))
    return found
