"""One board under several workloads: what does not depend on the workload is computed once.

That it does not is noted, not believed: a context says which of its parts, and which of the stated names, a rule has
asked for. A verdict is taken over to another workload only where all that was asked for is the same there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

from drc_rules.clauses import Clause
from drc_rules.config import Config
from drc_rules.context import Context
from drc_rules.declared import Declarations
from drc_rules.engine import Outcome, run
from drc_rules.interfaces import Assignment, assign_nets, interface_ids
from drc_rules.requirements import Profile
from drc_rules.rule import Rule, all_rules
from stackup_lib.board import Board
from stackup_lib.facts import Origin

OF_THE_BOARD = frozenset({"is_default_stackup", "plies", "uses", "_routed_mm", "copper", "pairs"})
"""Parts of a context that neither workload nor form factor nor interfaces change."""

OF_THE_NETS = frozenset({"nets_by_target", "controlled_lines", "link_impedances", "fast_holes", "stub_groups"})
"""Parts that only change with what the nets are taken for."""

BOUND = frozenset({"lines", "link_losses", "return_paths"})
"""Parts that belong to one context and ask it for the others."""

STATED = ("profile", "form")
_PARTS = frozenset(name for name, value in vars(Context).items() if isinstance(value, cached_property))


@dataclass(frozen=True)
class _NotingDeclarations(Declarations):
    """Declarations that note when a rule asks which workload or form factor is stated."""

    asked: set[str] = field(default_factory=set)

    def __getattribute__(self, name: str) -> object:
        if name in STATED:
            object.__getattribute__(self, "asked").add(name)
        return super().__getattribute__(name)


class _NotingContext(Context):
    """A context that notes which of its parts a rule asks for."""

    def __getattribute__(self, name: str) -> object:
        if name in _PARTS:
            vars(self).setdefault("asked", set()).add(name)
        return super().__getattribute__(name)

    def forget(self) -> None:
        """Begin a new note."""
        vars(self)["asked"] = set()
        self._asked_names.clear()

    @property
    def is_the_same_elsewhere(self) -> bool:
        """True when all that was asked for since then is the same under every workload with the same nets."""
        return not self._asked_names and vars(self)["asked"] <= OF_THE_BOARD | OF_THE_NETS | BOUND

    @property
    def _asked_names(self) -> set[str]:
        declarations = self.declarations
        return declarations.asked if isinstance(declarations, _NotingDeclarations) else set()


Decided = dict[Clause, Outcome]


@dataclass(frozen=True)
class Case:
    """A board under one workload in one form factor."""

    context: _NotingContext
    interfaces: frozenset[str]
    _everywhere: Decided = field(repr=False)

    def outcome(self, clauses: Iterable[Clause]) -> Outcome:
        """Decide clauses; what was decided under another workload, and is the same here, is taken over."""
        rules: tuple[Rule, ...] = all_rules()
        together = Outcome()
        for clause in clauses:
            one = self._everywhere.get(clause)
            if one is None:
                self.context.forget()
                one = run(self.context, [clause], rules, rules)
                if self.context.is_the_same_elsewhere:
                    self._everywhere[clause] = one
            together.verdicts.extend(one.verdicts)
            together.findings.extend(one.findings)
            together.crashes.extend(one.crashes)
        return together


@dataclass
class Cases:
    """The cases of one board. There is a context for every workload, form factor and way to take the nets."""

    board: Board
    config: Config
    base: Declarations
    _contexts: list[tuple[str | None, str | None, _NotingContext]] = field(default_factory=list)
    _assigned: list[tuple[Assignment, Decided]] = field(default_factory=list)
    _expected: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)

    def of(self, profile: Profile, form: str | None) -> Case:
        """Return the case of a workload; `form` is None where neither user nor workload says one."""
        assignment, decided = self._assigned[self._assign(dict(profile.interfaces))]
        declared = {row.is_ for row in self.config.interface} & set(interface_ids())
        carried = frozenset({*assignment.interfaces(), *declared})
        context = self._context(profile.workload, form, assignment)
        context.declarations = self._declarations(profile, form)
        return Case(context, carried, decided)

    def _assign(self, expected: dict[str, str]) -> int:
        key = tuple(sorted(expected.items()))
        if key not in self._expected:
            new = assign_nets(self.board, self.config, expected)
            known = [number for number, (one, _) in enumerate(self._assigned) if one == new]
            if not known:
                self._assigned.append((new, {}))
            self._expected[key] = known[0] if known else len(self._assigned) - 1
        return self._expected[key]

    def _context(self, workload: str | None, form: str | None, assignment: Assignment) -> _NotingContext:
        for of, within, context in self._contexts:
            if (of, within) == (workload, form) and context.assignment is assignment:
                return context
        context = _NotingContext(self.board, self.base, assignment)
        for of, _, other in self._contexts:
            alike = OF_THE_NETS if other.assignment is assignment else frozenset()
            known = vars(other)
            vars(context).update({name: known[name] for name in OF_THE_BOARD | alike if name in known})
            if "lines" in known:  # the same solutions, asked by another
                vars(context)["lines"] = replace(other.lines, ctx=context)
            if "return_paths" in known:
                context.return_paths.paths = other.return_paths.paths
            if "power_rails" in known and of == workload:  # currents depend on the kind of workload, on nothing else
                vars(context)["power_rails"] = replace(other.power_rails, ctx=context)
        self._contexts.append((workload, form, context))
        return context

    def _declarations(self, profile: Profile, form: str | None) -> _NotingDeclarations:
        known = {one.name: getattr(self.base, one.name) for one in fields(Declarations)}
        known["profile"] = self.base.profile.model_copy(
            update={"value": profile.name, "origin": Origin.COMMAND_LINE, "source": "--profile"}
        )
        if form is not None:
            known["form"] = self.base.form.model_copy(update={"value": form})
        return _NotingDeclarations(**known)
