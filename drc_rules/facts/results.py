"""The results of analyses, each computed once per board and taken over wherever the choices it read are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from drc_rules.facts.used import Used
from stackup_lib.core.record import record, workpiece

Key = tuple[Callable[..., object], tuple[object, ...]]
"""An analysis and what it was computed for."""


@record
class Kept:
    """A result with what it rests on."""

    value: object
    used: Used

    def holds(self, choices: Mapping[str, object]) -> bool:
        """Tell whether it is the same under these choices, as far as it has read them."""
        return all(_is_same(value, choices[name]) for name, value in self.used.choices.items())


@workpiece
class Results:
    """The results for one board with one settings file; contexts that differ in their choices share it."""

    _kept: dict[Key, list[Kept]] = field(default_factory=dict)

    def find(self, key: Key, choices: Mapping[str, object]) -> Kept | None:
        """Return the result under these choices, None where it has not been computed."""
        return next((kept for kept in self._kept.get(key, ()) if kept.holds(choices)), None)

    def keep(self, key: Key, kept: Kept) -> None:
        """Remember a result."""
        self._kept.setdefault(key, []).append(kept)

    def new_since(self, known: frozenset[Key]) -> dict[Key, Kept]:
        """Return the results about single things (a line, an interface) that another process may want to know.

        Those about the whole board are left out: they are large, and every process that needs them has them.
        """
        return {key: kept[-1] for key, kept in self._kept.items() if key[1] and key not in known}

    def adopt(self, found: Mapping[Key, Kept]) -> None:
        """Take over what another process has found out about the same board."""
        for key, kept in found.items():
            self._kept.setdefault(key, [kept])

    @property
    def keys(self) -> frozenset[Key]:
        """What there are results of."""
        return frozenset(self._kept)


def _is_same(one: object, other: object) -> bool:
    """Names are compared, objects are the same one: equal objects would take long to compare."""
    return one is other or (isinstance(one, str) and one == other)
