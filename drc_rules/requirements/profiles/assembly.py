"""What is demanded of a board: profile, form and interfaces put together to clauses, each with its source."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from drc_rules.requirements.clauses import Basis, Clause, Limit, Severity, Source
from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.forms import Form, forms
from drc_rules.requirements.interfaces import Interface, families, family, interface
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.materials import FoilGrade, LossClass

PROFILES = Path(__file__).parent
BOARD = "board"
"""The profile that holds for any board."""

Workload = Literal["training", "inference", "edge"]


class ClauseRow(Clause):
    """A clause as a profile states it.

    Attributes:
        above_ghz: states the clause for every high-speed interface with a higher Nyquist frequency that has none of its
            kind; None for an ordinary clause.
        covered_by: further kinds that make it needless.
    """

    above_ghz: float | None = None
    covered_by: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_a_table_or_row(self) -> "ClauseRow":
        if self.basis in (Basis.REQUIREMENT, Basis.FAB) and not (self.source.table or self.source.row):
            raise ValueError("its source has neither table nor row, where a requirement stands")
        return self

    @model_validator(mode="after")
    def _asks_for_a_known_class(self) -> "ClauseRow":
        words = {"laminate_class": LossClass, "foil": FoilGrade}.get(self.kind)
        if words and self.limit.at_least not in [word.value for word in words]:
            raise ValueError(f"at_least is one of {', '.join(word.value for word in words)}")
        return self

    def plain(self) -> Clause:
        """Return it without what only assembly needs."""
        return Clause.model_construct(**{name: getattr(self, name) for name in Clause.model_fields})  # of checked parts

    def of(self, one: Interface) -> Clause:
        """Return it as a clause of one interface."""
        fields = self.model_dump(exclude={"above_ghz", "covered_by", "id", "interface", "title"})
        return Clause(id=f"{self.id}.{one.id}", interface=one.id, title=f"{one.title}: {self.title}", **fields)


class ProfileFile(Frozen):
    """A profile as its file states it."""

    title: str
    workload: Workload | None = None
    extends: tuple[str, ...] = ()
    form: str | None = None
    interfaces: Mapping[str, str] = Field(default_factory=dict)
    may_carry: Mapping[str, str] = Field(default_factory=dict)
    interfaces_source: Source | None = None
    design_for: tuple[str, ...] = ()
    design_for_reason: str = ""
    drop: tuple[str, ...] = ()
    clause: tuple[ClauseRow, ...] = ()

    @model_validator(mode="after")
    def _says_where_interfaces_stand(self) -> "ProfileFile":
        if (self.interfaces or self.may_carry) and self.interfaces_source is None:
            raise ValueError("interfaces need interfaces_source = { document, table, row }")
        return self


@record
class Profile:
    """What a workload, or one type of board for it, asks of a board.

    Attributes:
        name: its name, or the path of a user's own.
        workload: `training`, `inference` or `edge`; None only for the profile of any board.
        form: form factor unless the user says otherwise, None for any.
        interfaces: family id -> interface id that such a board carries where it carries the family at all.
        must_carry: families that such a board always carries.
        design_for: interfaces that a new stackup is built for where none is named; boards are not judged by them.
        clauses: everything but what belongs to an interface or a form.
        per_interface: stated for every fast enough interface that has no clause of the kind.
        dropped: ids of inherited clauses, or of an interface, that do not hold here.
        extends: names of the profiles that it rests on, nearest last.
    """

    name: str
    title: str
    workload: Workload | None
    form: str | None
    interfaces: Mapping[str, str]
    must_carry: tuple[str, ...]
    interfaces_source: Source | None
    design_for: tuple[str, ...]
    design_for_reason: str
    clauses: tuple[Clause, ...]
    per_interface: tuple[ClauseRow, ...]
    dropped: tuple[str, ...]
    extends: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        """True for one of the user's own, which has the path of its file as its name."""
        return self.name.endswith(".toml")


@record
class Requirements:
    """The clauses that apply to one board, in the order of the report.

    Attributes:
        form: name of the form factor, None when none is stated.
    """

    clauses: tuple[Clause, ...]
    form: str | None = None


def profile_names() -> tuple[str, ...]:
    """Names of the shipped profiles: workloads, then types of boards."""
    names = [path.stem for path in PROFILES.glob("*.toml") if path.stem != BOARD]
    return tuple(sorted(names, key=lambda name: ("-" in name, name)))


@cache
def shipped(name: str) -> Profile:
    """Return a shipped profile by its name."""
    read = read_model(PROFILES / f"{name}.toml", ProfileFile)
    return merged(name, read, [shipped(base) for base in read.extends])


def known_kinds() -> frozenset[str]:
    """Kinds of the clauses that are shipped; another one would be decided by no rule, now or later."""
    return frozenset(shipped_limits())


@cache
def shipped_limits() -> Mapping[str, tuple[Limit, ...]]:
    """Kind of clause -> the limits of it that are shipped: of profiles, interfaces and form factors."""
    named = [shipped(name) for name in (*profile_names(), BOARD)]
    rows = [(row.kind, row.limit) for profile in named for row in (*profile.clauses, *profile.per_interface)]
    links = [one for of in families() for one in of.interfaces]
    rows += [(row.kind, row.limit) for one in links for row in one.clause]
    rows += [(stub.kind, stub.limit) for one in links if (stub := one.stub_clause(BOARD)) is not None]
    rows += [(clause.kind, clause.limit) for form in forms().values() for clause in form.clauses()]
    found: dict[str, list[Limit]] = {}
    for kind, limit in rows:
        found.setdefault(kind, []).append(limit)
    return {kind: tuple(limits) for kind, limits in found.items()}


@cache
def kinds_of_interfaces() -> frozenset[str]:
    """Kinds whose every shipped clause is of one interface: their rules look at the nets of it."""
    of_boards = {row.kind for name in (*profile_names(), BOARD) for row in shipped(name).clauses if not row.interface}
    return known_kinds() - of_boards - {clause.kind for form in forms().values() for clause in form.clauses()}


def merged(name: str, read: ProfileFile, bases: Iterable[Profile]) -> Profile:
    """Put a profile onto those that it extends; a clause of the same id takes the place of the inherited one."""
    rows: dict[str, ClauseRow | Clause] = {}
    interfaces: dict[str, str] = {}
    must_carry: dict[str, None] = {}
    dropped: dict[str, None] = {}
    form, workload, source, chain = None, None, None, []
    for base in bases:
        rows |= {clause.id: clause for clause in (*base.clauses, *base.per_interface)}
        interfaces |= base.interfaces
        must_carry |= dict.fromkeys(base.must_carry)
        dropped |= dict.fromkeys(base.dropped)
        form, workload, source = base.form or form, base.workload or workload, base.interfaces_source or source
        chain += [*base.extends, base.name]
    rows |= {row.id: row for row in read.clause}
    _check_interfaces(name, read)
    kept = [row for row in rows.values() if row.id not in read.drop]
    return Profile(
        name=name,
        title=read.title,
        workload=read.workload or workload,
        form=read.form or form,
        interfaces={**interfaces, **read.may_carry, **read.interfaces},
        must_carry=tuple({**must_carry, **dict.fromkeys(read.interfaces)}),
        interfaces_source=read.interfaces_source or source,
        design_for=read.design_for,
        design_for_reason=read.design_for_reason,
        clauses=tuple(row.plain() if isinstance(row, ClauseRow) else row for row in kept if not _is_template(row)),
        per_interface=tuple(row for row in kept if isinstance(row, ClauseRow) and _is_template(row)),
        dropped=tuple(one for one in {**dropped, **dict.fromkeys(read.drop)} if one not in {r.id for r in read.clause}),
        extends=tuple(dict.fromkeys(chain)),
    )


def _is_template(row: Clause) -> bool:
    return isinstance(row, ClauseRow) and row.above_ghz is not None


def _check_interfaces(name: str, read: ProfileFile) -> None:
    for family_id, interface_id in {**read.interfaces, **read.may_carry}.items():
        if interface(interface_id).family != family(family_id).id:
            raise ConfigError(f'profile "{name}"', f"{interface_id} is no {family_id}", "correct interfaces")


def assemble(
    profile: Profile | None,
    form: Form | None,
    interfaces: Iterable[str],
    families_without_generation: Iterable[str],
) -> Requirements:
    """Put together the clauses that apply to one board.

    Args:
        profile: None when no workload is stated: then only the state of the board itself is judged.
        form: None for any form factor.
        interfaces: ids of the interfaces on the board.
        families_without_generation: high-speed families on the board whose generation is not specified.
    """
    base = profile or shipped(BOARD)
    present = [interface(one) for one in sorted(set(interfaces))]
    open_families = sorted(set(families_without_generation))
    clauses = {c.id: c for c in base.clauses if c.interface is None or c.interface in {one.id for one in present}}
    if base.workload:
        for clause in _of_interfaces(base, base.workload, present):
            clauses.setdefault(clause.id, clause)
        there = {one.family for one in present}.union(open_families)
        for clause in (*_absent(base, base.workload, there), *_generations(base.workload, open_families)):
            clauses[clause.id] = clause
    stubs = (one.stub_clause(base.workload or BOARD) for one in present)
    clauses |= {clause.id: clause for clause in stubs if clause is not None}
    if form is not None:
        clauses |= {clause.id: clause for clause in form.clauses()}
    kept = tuple(clause for clause in clauses.values() if clause.id not in base.dropped)
    return Requirements(kept, form.name if form else None)


def _of_interfaces(profile: Profile, workload: str, present: Iterable[Interface]) -> Iterator[Clause]:
    """Clauses of the interfaces themselves, and the profile's for those that have none of the kind."""
    for one in present:
        own = one.clauses(workload)
        yield from own
        kinds = {clause.kind for clause in own}
        for row in profile.per_interface:
            fast_enough = (one.nyquist_ghz or 0.0) > (row.above_ghz or 0.0)
            if fast_enough and family(one.family).fast and not kinds.intersection((row.kind, *row.covered_by)):
                yield row.of(one)


def _absent(profile: Profile, workload: str, there: set[str]) -> Iterator[Clause]:
    """One clause per family that such a board carries and to which no net is assigned."""
    for family_id in profile.must_carry:
        if family_id not in there and profile.interfaces_source is not None:
            one = interface(profile.interfaces[family_id])
            yield Clause(
                id=f"{workload}.present.{one.id}",
                kind="interface_present",
                title=f"{one.title} nets found ({profile.title})",
                severity=Severity.ERROR,
                source=profile.interfaces_source,
                interface=one.id,
            )


def _generations(workload: str, open_families: Iterable[str]) -> Iterator[Clause]:
    """One clause per family whose generation decides which clauses apply, but is not known."""
    for family_id in open_families:
        of = family(family_id)
        asked = [clause for one in of.interfaces for clause in one.clauses(workload)]
        if asked:
            worst = max((clause.severity for clause in asked), key=lambda s: s.rank)
            yield Clause(
                id=f"{workload}.generation.{family_id}",
                kind="interface_generation",
                title=f"generation of {of.title} specified",
                severity=worst,
                basis=Basis.FILE,
                limit=Limit(choices=tuple(one.id for one in of.interfaces)),
                source=Source(document="kicad-file-format", row="a net has no signalling standard"),
                interface=family_id,
            )
