"""A profile by its name, or one of the user's own by the path of its file."""

from pathlib import Path

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.forms import Form, forms, load_form
from drc_rules.requirements.profiles.assembly import (
    BOARD,
    Profile,
    ProfileFile,
    Requirements,
    assemble,
    known_kinds,
    merged,
    profile_names,
    shipped,
)
from stackup_lib.core.errors import ConfigError, did_you_mean

__all__ = [
    "BOARD",
    "Form",
    "Profile",
    "Requirements",
    "assemble",
    "forms",
    "known_kinds",
    "load_form",
    "load_profile",
    "profile_names",
]

MOST_LEVELS = 16
"""Profiles that rest on one another in a row."""


def load_profile(name_or_path: str) -> Profile:
    """Return a shipped profile by name, or a user's own by the path of its `.toml`.

    Raises:
        ConfigError: no such profile, unreadable, with unknown keys, resting on itself, or with a limit that no rule
            reads.
    """
    return _load(name_or_path, (), {})


def _load(name: str, on_the_way: tuple[str, ...], loaded: dict[str, Profile]) -> Profile:
    if name in (*profile_names(), BOARD):
        return shipped(name)
    path = _path_of(name, on_the_way[-1] if on_the_way else None)
    key = str(path)
    if key in on_the_way:
        raise ConfigError(key, "rests on itself", "correct extends")
    if key in loaded:
        return loaded[key]
    if len(on_the_way) >= MOST_LEVELS:
        raise ConfigError(key, f"is more than {MOST_LEVELS} profiles deep", "correct extends")
    from drc_rules.requirements.profiles.own_profile import (  # noqa: PLC0415 - few have a profile of their own
        refuse_strange_drops,
        refuse_unlike_shipped,
    )

    read = read_model(path, ProfileFile, _keys_meant)
    refuse_unlike_shipped(key, read)
    bases = [_load(base, (*on_the_way, key), loaded) for base in read.extends]
    loaded[key] = merged(name, read, bases)
    refuse_strange_drops(key, read, bases, loaded[key])
    return loaded[key]


def _keys_meant(word: str) -> tuple[str, ...]:
    return ("kind",) if word == "type" else ()


def _path_of(name: str, within: str | None) -> Path:
    """The file of a user's own profile; inside `extends` it is meant relative to the file that names it."""
    if not name.endswith(".toml"):
        near = did_you_mean(name, profile_names())
        how = f"{near}{' Or' if near.endswith('?') else '; or'} give the path of your own .toml"
        raise ConfigError(f'profile "{name}"', "there is no such profile", how)
    path = Path(name) if within is None else Path(within).parent / name
    if not path.is_file():
        raise ConfigError(str(path), "there is no such profile file", f"shipped: {', '.join(profile_names())}")
    return path.resolve()
