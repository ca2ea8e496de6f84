"""How a rule is declared: one function in one file, found by walking `drc_rules.rules`; no list to edit."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import field
from functools import cache, cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Literal, TypeVar

from drc_rules.report.findings import Location, Measured, ObjectRows
from drc_rules.report.formula import Formula, read_formula
from drc_rules.requirements.clauses import Clause, Severity
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.record import entity, record

if TYPE_CHECKING:
    from drc_rules.facts.context import Context

PAGE_SECTIONS = ("What it checks", "Why it matters", "How to fix", "What it cannot see", "Sources")
"""Headings that the docstring of every rule file has, in this order."""


@record
class DraftFinding:
    """What a rule says of one object; the engine adds code, clause and key, and caps the severity.

    Attributes:
        title: what is wrong, with the numbers, without a full stop.
        ids: structural ids of the objects concerned (layer names, uuids, net names); they make the key.
        limit_unit: where it is not that of `measured`.
        every: all objects, where the places are only the first of many.
        counted: how many pairs of nets or pins it is about, where its title counts them.
        severity: lower than the clause's where the rule knows better; never raised above it.
        inferred: True when the object's role was only inferred: such a finding is never an error.
        source: where the limit stands, where that is not the clause's own source; as text.
        fails: False for a remark that does not fail the clause; a remark is always information.
        is_covered: of clauses that differ in their tier of fabs: True, a stricter tier's finding says it all; False, it
            says what no stricter one does; None, it is reported where a stricter tier's finding has the same ids.
        names_tiers: False where the defect is one at every fab, so that the title names no tier.
        defect: what makes findings of several tiers one, where their ids differ by more than the tier.
        left_to: code and ids of another rule's finding, which speaks for this one where there is such.
    """

    title: str
    why: str
    fix: str
    ids: tuple[str, ...]
    measured: Measured | None = None
    limit_value: float | str | None = None
    limit_unit: str | None = None
    places: tuple[Location, ...] = ()
    every: ObjectRows | None = None
    counted: int = 0
    severity: Severity | None = None
    inferred: bool = False
    source: str = ""
    fails: bool = True
    is_covered: bool | None = None
    names_tiers: bool = True
    defect: str = ""
    left_to: tuple[str, tuple[str, ...]] | None = None

    @property
    def unit_of_limit(self) -> str:
        """Unit of the limit, by default that of what was measured; "" where there is no limit."""
        if self.limit_unit is not None:
            return self.limit_unit
        return self.measured.unit if self.measured is not None and self.limit_value is not None else ""


ByStackup = Literal["decided", "stated", "moved", "unmoved"]
S = TypeVar("S")
Check = Callable[["Context", Clause, S], Iterator[DraftFinding]]
Over = Callable[["Context", Clause], Iterable[S]]


@entity
class Rule:
    """A rule as the engine sees it.

    Attributes:
        code: short and stable, e.g. `STK001`.
        name: the file's name with dashes, e.g. `untouched-default-stackup`.
        aliases: former names, which settings and command lines may still use.
        kinds: kinds of clauses that it decides.
        over: gives the objects of a clause; each is decided on its own.
        check: yields a `DraftFinding` for each thing wrong with one object, nothing when it is right.
        module: whose docstring is the rule's page.
        formula_text: what it computes, as `read_formula` reads it; empty where it computes nothing.
        reads_fills: its answer rests on the stored fills of zones: it is not verifiable while these are out of date.
        gives_way_to: codes of rules whose findings on the same items replace its own.
        choices: gives the words that may stand in the `choices` of its clauses; None where these have none.
        slow_objects: finding its objects takes most of its time: nothing counts them where the rule is left out.
        by_stackup: what the rows of a stackup do to it: they alone decide it, with what is said about its copper; it is
            about how they are stated, which rows of the catalogue never do wrong; they may move its answer; or they
            leave it as it is, so that a change of the stackup need not be judged by it.
    """

    code: str
    name: str
    family: str
    kinds: tuple[str, ...]
    since: str
    over: Callable[[Context, Clause], Iterable[object]]
    check: Callable[[Context, Clause, object], Iterator[DraftFinding]]
    module: str
    formula_text: str = field(default="", repr=False)
    reads_fills: bool = False
    gives_way_to: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    choices: Callable[[], Collection[str]] | None = field(default=None, repr=False)
    slow_objects: bool = False
    by_stackup: ByStackup = "moved"

    @property
    def words(self) -> tuple[str, ...]:
        """All that the rule may be called, in lower case: code, name, former names."""
        return self.code.lower(), self.name, *self.aliases

    @cached_property
    def page(self) -> str:
        """What there is to know about it; the headings are `PAGE_SECTIONS`."""
        return inspect.cleandoc(sys.modules[self.module].__doc__ or "")

    @cached_property
    def formula(self) -> Formula | None:
        """What it computes, in the symbols that it gives to `Context.shows`; None where it computes nothing."""
        return read_formula(self.formula_text) if self.formula_text else None

    @property
    def summary(self) -> str:
        """First line of the page."""
        return self.page.splitlines()[0]

    def section(self, heading: str) -> str:
        """Return the text under one of `PAGE_SECTIONS`."""
        found = re.search(rf"^{heading}\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", self.page, re.MULTILINE | re.DOTALL)
        return found.group(1).strip() if found else ""


def rule(
    code: str,
    *,
    kinds: tuple[str, ...],
    over: Over[S],
    since: str = "0.1",
    formula: str = "",
    reads_fills: bool = False,
    gives_way_to: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    choices: Callable[[], Collection[str]] | None = None,
    slow_objects: bool = False,
    by_stackup: ByStackup = "moved",
) -> Callable[[Check[S]], Check[S]]:
    """Declare the decorated function as a rule that decides clauses of the given kinds.

    Args:
        code: three letters of the family and three digits.
        kinds: kinds of clauses it decides; a kind belongs to one rule.
        over: gives the objects of a clause. It may raise `MissingFact`: then the clause is not verifiable.
        since: version that brought the rule.
        formula: what it computes, as `drc_rules.report.formula` reads it; `explain CODE --board X` fills it in.
        reads_fills: it rests on the stored fills of zones, see `Rule`.
        gives_way_to: rules whose findings on the same items replace its own.
        aliases: former names of the rule.
        choices: gives the words that may stand in the `choices` of its clauses.
        slow_objects: see `Rule`.
        by_stackup: see `Rule`.
    """

    def declare(check: Check[S]) -> Check[S]:
        path = check.__module__.split(".")
        declared = Rule(
            code=code,
            name=path[-1].replace("_", "-"),
            family=path[-2],
            kinds=kinds,
            since=since,
            over=over,
            check=check,  # type: ignore[arg-type]  # over and check agree on S; the engine only passes it along
            module=check.__module__,
            formula_text=formula,
            reads_fills=reads_fills,
            gives_way_to=gives_way_to,
            aliases=aliases,
            choices=choices,
            slow_objects=slow_objects,
            by_stackup=by_stackup,
        )
        check.__rule__ = declared  # type: ignore[attr-defined]
        return check

    return declare


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule under `drc_rules.rules`, by code."""
    package = importlib.import_module("drc_rules.rules")
    found: list[Rule] = []
    for family in (one.name for one in pkgutil.iter_modules(package.__path__) if one.ispkg):
        package = importlib.import_module(f"drc_rules.rules.{family}")
        for info in pkgutil.iter_modules(package.__path__, prefix=f"{package.__name__}."):
            module = importlib.import_module(info.name)
            functions = (member for member in vars(module).values() if isinstance(member, FunctionType))
            found += [one.__rule__ for one in functions if hasattr(one, "__rule__")]
    return tuple(sorted(set(found), key=lambda r: r.code))


@cache
def kinds_by_stackup(how: ByStackup) -> frozenset[str]:
    """Return the kinds of clauses to which the rows of a stackup do this; see `Rule`."""
    return frozenset(kind for one in all_rules() if one.by_stackup == how for kind in one.kinds)


@cache
def _by_word() -> dict[str, Rule]:
    """Return the rules by all that they may be called; of two with one name the first."""
    return {word: one for one in reversed(all_rules()) for word in one.words}


def find_rule(word: str) -> Rule:
    """Return the rule with this code or name.

    Raises:
        ConfigError: there is none; says which is nearest.
    """
    found = _by_word().get(word.lower())
    if found is not None:
        return found
    known = [r.code for r in all_rules()] + [r.name for r in all_rules()]
    raise ConfigError(word, "no such rule", f"{did_you_mean(word, known)}; `stackwright rules` lists them")


def choose_rules(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules whose code or name begins with a selected word and with no ignored one; no word selects all.

    Raises:
        ConfigError: a word matches no rule.
    """
    for word in (*select, *ignore):
        if not any(_matches(r, word) for r in all_rules()):
            find_rule(word)
    chosen = [r for r in all_rules() if not select or any(_matches(r, w) for w in select)]
    return tuple(r for r in chosen if not any(_matches(r, w) for w in ignore))


def _matches(candidate: Rule, word: str) -> bool:
    return candidate.code.lower().startswith(word.lower()) or word.lower() in candidate.words
