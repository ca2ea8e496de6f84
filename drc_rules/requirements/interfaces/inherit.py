"""What is required of a link because it is of a slower one: a limit for a slower link also applies to a faster one.

Documents state laminate, foil, backdrill and tolerance for a few links only. Every loss grows with frequency, so a
clause of one generation holds at least for each later one of its family, and for each link of another family that
names it in `at_least_as`. Of two rows about the same thing the stricter one holds, the link's own where they are alike.

A document speaks of one family. Of another it states nothing, so there an inherited clause is a warning at most, unless
a document says that both have one electrical layer (`electrical_layer`), as CXL has that of PCI Express.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from drc_rules.requirements.clauses import Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.interfaces.model import Family, Interface, InterfaceClause
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.record import record
from stackup_lib.materials import FoilGrade, LossClass

AT_LEAST_AS = ", at least as "
"""In the title of an inherited clause, between the link's name and that of the slower one."""
RANKS = {"laminate_class": LossClass, "foil": FoilGrade}


@record
class _Asked:
    """A row under one workload, and the interface that it is stated for.

    Attributes:
        of_other_family: that interface is of another family, with another electrical layer.
    """

    workload: str
    row: InterfaceClause
    stated_for: Interface
    of_other_family: bool = False

    @property
    def severity(self) -> Severity:
        """That of the row; of another family's no more than a warning."""
        is_too_much = self.of_other_family and self.row.severity is Severity.ERROR
        return Severity.WARNING if is_too_much else self.row.severity

    @property
    def strictness(self) -> tuple[int, int, float]:
        """Severity, then class, then limit."""
        limit, words = self.row.limit, RANKS.get(self.row.kind)
        rank = words(limit.at_least).rank if words and limit.at_least else 0
        return self.severity.rank, rank, -(limit.max if limit.max is not None else float("inf"))


_Rows = Mapping[tuple[str, str], _Asked]
"""By workload and `what`."""


def with_inherited(read: Iterable[Family]) -> tuple[Family, ...]:
    """Return the families with every clause of their interfaces, stated for themselves or for a slower one.

    Raises:
        ConfigError: a link names a faster one, itself or no link at all in `at_least_as` or `electrical_layer`.
    """
    found = {family.id: family for family in read}
    by_id = {one.id: one for family in found.values() for one in family.interface}
    known: dict[str, _Rows] = {}
    return tuple(
        family.model_copy(
            update={
                "interface": tuple(
                    _inheriting(one, _asked(one, found, by_id, known), by_id.get(one.electrical_layer))
                    for one in family.interface
                )
            }
        )
        for family in found.values()
    )


def is_inherited(title: str) -> bool:
    """Tell by its title whether a clause holds for a link only because it holds for a slower one."""
    return AT_LEAST_AS in title


def _asked(
    one: Interface, read: Mapping[str, Family], by_id: Mapping[str, Interface], known: dict[str, _Rows]
) -> _Rows:
    if one.id in known:
        return known[one.id]
    best = {(a.workload, a.row.what): a for a in _own(one)}
    for slower in _slower(one, read, by_id):
        of_other_family = slower.family != one.family and slower.id != one.electrical_layer
        for key, of_slower in _asked(slower, read, by_id, known).items():
            asked = replace(of_slower, of_other_family=of_other_family or of_slower.of_other_family)
            if key not in best or asked.strictness > best[key].strictness:
                best[key] = asked
    kinds = {(asked.workload, asked.row.kind) for asked in best.values()}
    known[one.id] = {
        key: asked
        for key, asked in best.items()
        if asked.stated_for is one
        or not (_says_no_more(asked, best) or any((asked.workload, kind) in kinds for kind in asked.row.covered_by))
    }
    return known[one.id]


def _says_no_more(asked: _Asked, among: _Rows) -> bool:
    """Tell whether another row requires more of the same kind, as 5 % of a tolerance is more than 10 %."""
    alike = (a for a in among.values() if (a.workload, a.row.kind) == (asked.workload, asked.row.kind))
    (rank, *limit) = asked.strictness
    return asked.of_other_family and any(a.severity.rank >= rank and [*a.strictness[1:]] > limit for a in alike)


def _own(one: Interface) -> Iterator[_Asked]:
    return (_Asked(workload, row, one) for row in one.clause for workload in row.workloads)


def _slower(one: Interface, read: Mapping[str, Family], by_id: Mapping[str, Interface]) -> Iterator[Interface]:
    """Return the earlier generations, nearest first, then what the link names."""
    generations = read[one.family].interface
    earlier = generations[: [each.id for each in generations].index(one.id)]
    yield from (each for each in reversed(earlier) if _is_faster(one, each))
    for name in (*([one.electrical_layer] if one.electrical_layer else []), *one.at_least_as):
        if name not in by_id or name == one.id or (by_id[name].nyquist_ghz or 0.0) > (one.nyquist_ghz or 0.0):
            raise ConfigError(f"interface {one.id}", f'"{name}" is no slower link', "name a slower one")
        yield by_id[name]


def _is_faster(one: Interface, other: Interface) -> bool:
    return one.rate > other.rate and (one.nyquist_ghz or 0.0) >= (other.nyquist_ghz or 0.0)


def _inheriting(one: Interface, rows: _Rows, layer: Interface | None) -> Interface:
    merged: dict[tuple[int, bool], tuple[_Asked, list[str]]] = {}
    for asked in rows.values():
        merged.setdefault((id(asked.row), asked.of_other_family), (asked, []))[1].append(asked.workload)
    return one.model_copy(update={"clause": tuple(_row_of(one, asked, on, layer) for asked, on in merged.values())})


def _row_of(one: Interface, asked: _Asked, workloads: list[str], layer: Interface | None) -> InterfaceClause:
    row, base = asked.row, asked.stated_for
    if base is one:
        return row.model_copy(update={"workloads": tuple(workloads), "title": f"{one.title}: {row.title}"})
    return row.model_copy(
        update={
            "workloads": tuple(workloads),
            "title": f"{one.title}{AT_LEAST_AS}{base.title}: {row.title}",
            "severity": asked.severity,
            "note": f"{_why_it_holds(one, asked, layer)} {row.note}".strip(),
        }
    )


def _why_it_holds(one: Interface, asked: _Asked, layer: Interface | None) -> str:
    """Return why a requirement of another link holds for this one, in agreement with its severity."""
    base = asked.stated_for
    if asked.of_other_family:
        return f"No document states it for {one.title}, so it is no error: {base.title}, which is slower, requires it."
    if (base.nyquist_ghz, base.rate) == (one.nyquist_ghz, one.rate) and layer is None:
        return f"No document states it for {one.title}, which is electrically {base.title}."
    of, said = one, ""
    if layer is not None and base.family == layer.family:
        of, stated = layer, cite(Source(document=one.document_of("electrical_layer")))
        said = f"{one.title} has the electrical layer of {layer.title} ({stated}). "
    if base is of:
        return said.strip()
    return (
        f"{said}No document states it for {of.title}: the requirement of {base.title}, which is slower, is the minimum."
    )
