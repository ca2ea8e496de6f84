"""Several `[[rail]]` tables of one net: modes of work, or currents that flow at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.net_selection import toml_value
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.facts import MissingFact


def need_all_loads(rows: Iterable[RailDeclaration], row: RailDeclaration) -> None:
    """Raise `MissingFact` where a rail would pass without what other tables of its net declare.

    All loads of a net draw at once, whichever source feeds it, and copper carries the sum. Tables of which one has all
    loads are modes of work: there each stands for itself. So does one that charges what feeds in another, a battery.
    Several inductors are phases, which feed at once.
    """
    alike = [other for other in rows if other.net == row.net]
    lacks = _lacking(alike)
    if lacks:
        what, line = lacks
        raise MissingFact(f"{row.net} with {what}", in_table(row.net, f"{line}, in place of the other tables"))


def are_modes(rows: Sequence[RailDeclaration]) -> bool:
    """Tell whether tables of one net are modes of work: one at a time flows, not their sum."""
    return not _lacking(rows)


def _lacking(rows: Sequence[RailDeclaration]) -> tuple[str, str] | None:
    """Return what flows at once and no table has, and the line that declares it; None for modes of work."""
    fed = [_parts(row.from_) for row in rows]
    charged = set().union(*fed)
    loads = list(dict.fromkeys(load for row in rows for load in row.to if _part(load) not in charged))
    if not any(set(row.to).issuperset(loads) for row in rows):
        together = ", ".join(f'"{load}" = "?"' for load in loads)
        what = f"all its loads at once: {len(rows)} [[rail]] tables, each with loads of its own"
        return what, f"to = {{ {together} }}  # in A"
    phases = set().union(*(parts for parts in fed if parts and all(map(_is_inductor, parts))))
    if phases and not any(phases <= parts for parts in fed):
        what = f"all its phases at once: {len(rows)} [[rail]] tables, each with inductors of its own"
        return what, f"from = {toml_value(sorted(phases))}"
    return None


def _parts(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_part, names))


def _part(name: str) -> str:
    """Return `J1` of the pad `J1.3`."""
    return name.partition(".")[0]


def _is_inductor(part: str) -> bool:
    return reference_kind(part) is ReferenceKind.INDUCTOR
