"""The search for stackups, best first: candidates are bounded, half solved, solved, judged, and ranked."""

import math
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.candidates import CandidateStackup
from stackup_lib.synthesis.evaluate import COARSE, FINE, Evaluated, Evaluator, Judge, Solutions
from stackup_lib.synthesis.fill.choices import LaminatePair
from stackup_lib.synthesis.fill.closest import Build, closest_builds, thickness_range_mm
from stackup_lib.synthesis.fill.places import has_rest
from stackup_lib.synthesis.goals import Goals
from stackup_lib.synthesis.laminate_pairs import laminate_pairs
from stackup_lib.synthesis.layer_copper import foil_of, keeps_signal_weights, orders_to_try, with_smooth_foil
from stackup_lib.synthesis.pareto import (
    Objectives,
    have_equal_objectives,
    how_better,
    kind_of,
    objectives_of,
    undominated,
)
from stackup_lib.synthesis.rejected import Rejections

FILL_CHOICES = 3
"""Choices of fast dielectrics that are tried, one after the other, while no line reaches its target."""

TOO_NARROW = "a trace narrower"
"""How a fault of width says that even the narrowest trace is too wide."""

COST_CLASSES = (1.1, 1.25)
"""Costs within a tenth, or a quarter, of the cheapest count as one class (Design007, May 2023)."""

UNKNOWN_DF = 0.05
"""A stackup whose losses cannot be worked out has to be this much cheaper; engineering judgement."""

SMOOTHER = (FoilGrade.RTF, FoilGrade.VLP, FoilGrade.HVLP)
"""Foils that are tried where a loss budget is not met."""


class Relaxation(Frozen):
    """A goal that, given up or eased alone, lets the others be met.

    Attributes:
        goal: which one, e.g. `thickness`.
        words: from what to what, e.g. `thickness 1.57 mm to 2.61 mm`.
        result: what can be built then.
    """

    goal: str
    words: str
    result: Evaluated


class Stage(IntEnum):
    """How much of a candidate is known."""

    BOUNDED = 0
    INNER = 1
    JUDGED = 2
    WHOLE = 3


@dataclass
class SearchEntry:
    """A candidate on its way; `others` are built and tried where it fails."""

    candidate: CandidateStackup
    others: tuple[Build, ...]
    known: Evaluated
    objectives: Objectives
    stage: Stage = Stage.BOUNDED

    def __post_init__(self) -> None:
        self.kind, self.name = kind_of(self.candidate), self.candidate.name


@dataclass
class Search:
    """One search; `lost`, `failed` (solved, with faults) and `not_closed` (sentences) tell what became of the rest.

    Where no trace is wide enough, all is searched once more with the dielectrics that make it widest (`widest`).
    """

    goals: Goals
    judge: Judge | None = None
    limit: int = 5
    solutions: Solutions = field(default_factory=Solutions)
    lost: Rejections = field(default_factory=Rejections)
    failed: list[Evaluated] = field(default_factory=list)
    not_closed: list[str] = field(default_factory=list)
    widest: bool = False

    def __post_init__(self) -> None:
        self.coarse = Evaluator(self.goals, COARSE, self.solutions)
        self.fine = Evaluator(self.goals, FINE, self.solutions)

    def run(self) -> list[Evaluated]:
        """Return the answers, best first."""
        found = self._run()
        if not found and (again := self._with_widest()):
            found = again.run()
            self.lost = again.lost if found else self.lost
        return found

    def _run(self) -> list[Evaluated]:
        pool = self._pool()
        while True:
            ranked, alike = self._ranked(pool)
            todo = next((e for e in ranked[: self.limit] if e.stage < Stage.WHOLE), None)
            if todo is None:
                break
            if not self._advance(todo, self.fine):
                pool.remove(todo)
        self._record_rejections(pool, ranked, alike)
        return [e.known for e in ranked[: self.limit]]

    def first(self) -> Evaluated | None:
        """Return the first that meets the goals, likely ones first; the caller's clauses are not checked."""
        pool = self._pool()
        while pool:
            entry = self._ranked(pool)[0][0]
            while self._advance(entry, self.coarse):
                if entry.stage is Stage.WHOLE:
                    return self.fine.evaluate(entry.candidate)
            pool.remove(entry)
        again = self._with_widest()
        return again.first() if again else None

    def _with_widest(self) -> "Search | None":
        """Return the search for the widest traces, where some are too narrow; None where that is this one."""
        if self.widest or not any(TOO_NARROW in fault for known in self.failed for fault in known.faults):
            return None
        return Search(self.goals, self.judge, self.limit, self.solutions, widest=True)

    def _pool(self) -> list[SearchEntry]:
        every, offered = orders_to_try(self.goals), laminate_pairs(self.goals, self.lost)
        todo = [order for order in every if keeps_signal_weights(order, self.goals)]
        for order in every:
            if order not in todo:
                words = "a signal layer would take the weight of the plane on its core"
                if self.goals.laid_out is not None:
                    words = "a signal layer would take the weight of a power plane on its core, or opposite to it"
                self.lost.add(f"{len(order.layers)} layers {order.layers}", words)
                self.not_closed += [] if todo else [words]
        pool = []
        for pair in offered:
            for order in todo:
                if pair.is_hybrid and not has_rest(order, self.goals):
                    continue
                closed = closest_builds(order, pair, self.goals, FILL_CHOICES, widest=self.widest)
                if not closed:
                    self._not_closed(order, pair)
                    continue
                entry = self._entered(closed[0](), closed[1:])
                if entry is not None:
                    pool.append(entry)
        return pool

    def _entered(self, candidate: CandidateStackup, others: tuple[Build, ...]) -> SearchEntry | None:
        """Bound a candidate; None where its bound fails it, and those that would be tried after it."""
        known, loss = self.coarse.bound(candidate)
        if not known.faults:
            return SearchEntry(candidate, others, known, objectives_of(known, loss, self.goals))
        if others:
            return self._entered(others[0](), others[1:])
        self._fail(known)
        return None

    def _advance(self, entry: SearchEntry, finally_by: Evaluator) -> bool:
        """Take a candidate, or the one that is tried after it, a stage further; False where all of them fail."""
        if entry.stage is Stage.BOUNDED:
            after, known = Stage.INNER, self.coarse.evaluate_inner(entry.candidate)
        elif entry.stage is Stage.INNER and self.judge is not None:
            clauses = tuple(self.judge(entry.candidate))
            after, known = Stage.JUDGED, self.coarse.judged(entry.known, clauses)
        else:
            after, known = Stage.WHOLE, finally_by.evaluate(entry.candidate, entry.known.clauses)
        if not known.faults:
            entry.stage = after
            loss = max(known.worst_loss_db_per_inch, entry.objectives[0] if after < Stage.WHOLE else 0.0)
            entry.known, entry.objectives = known, objectives_of(known, loss, self.goals)
            return True
        others = entry.others
        if any(line.meets_budget is False for line in known.lines):
            others = _smoother(entry.candidate, others, self.goals)
        if not others:
            self._fail(known)
            return False
        next_one = self._entered(others[0](), others[1:])
        if next_one is None:
            return False
        entry.candidate, entry.others, entry.known = next_one.candidate, next_one.others, next_one.known
        entry.objectives, entry.stage = next_one.objectives, Stage.BOUNDED
        return True

    def _fail(self, known: Evaluated) -> None:
        self.failed.append(known)
        fault = known.faults[0]
        clause = next((c for c, met, words in known.clauses if not met and fault == f"{c}: {words}"), None)
        reason = f"clause {clause} is not met" if clause else _without_numbers(fault)
        self.lost.add(known.candidate.name, fault, reason)

    def _not_closed(self, order: Order, pair: LaminatePair) -> None:
        least = self.goals.least_dielectric_mm
        what = f"{len(order.layers)} layers {order.layers} of {pair}"
        span = thickness_range_mm(order, pair, self.goals)
        if span is None:
            words = f"no construction of it fills the copper and keeps {least:g} mm everywhere"
            self.lost.add(what, words)
        else:
            wanted, least = self.goals.thickness_mm, self.goals.least_thickness_mm or 0.0
            most = self.goals.most_thickness_mm
            asked = f"{least:g} mm or more" if wanted is None else f"{wanted:g} mm"
            asked += f", {most:g} mm at most," if most is not None else ""
            words = f"{span[0]:.2f} to {span[1]:.2f} mm can be built, {asked} wanted"
            self.lost.add(what, words, f"cannot be built {asked} thick")
        self.not_closed.append(f"{what}: {words}")

    def _ranked(self, pool: list[SearchEntry]) -> tuple[list[SearchEntry], list[tuple[SearchEntry, SearchEntry]]]:
        """Return the front, best first and one of each kind; and who was left out for being like which."""
        if not pool:
            return [], []
        front = [pool[k] for k in undominated([e.objectives for e in pool])]
        rank = _rank(self.goals, front)
        kept: list[SearchEntry] = []
        alike: list[tuple[SearchEntry, SearchEntry]] = []
        for one in sorted(front, key=rank):
            like = next(
                (o for o in kept if have_equal_objectives(o.kind, o.objectives, one.kind, one.objectives)), None
            )
            if like is None:
                kept.append(one)
            else:
                alike.append((one, like))
        return kept, alike

    def _record_rejections(
        self, pool: list[SearchEntry], ranked: list[SearchEntry], alike: list[tuple[SearchEntry, SearchEntry]]
    ) -> None:
        said = {id(e) for e in ranked}
        for one, like in alike:
            said.add(id(one))
            self.lost.add(one.name, f"nearly equal to {like.name}", "nearly equal to one that is ranked")
        front = sorted([*ranked, *(one for one, _ in alike)], key=lambda e: -e.stage)
        for one in pool:
            if id(one) in said:
                continue
            better = next(o for o in front if _beats(o.objectives, one.objectives))
            words = f"{better.name} is no worse in anything and {how_better(better.objectives, one.objectives)}"
            self.lost.add(one.name, words, "another one is no worse in anything and better in something")
        for one in ranked[self.limit :]:
            words = f"ranked below the first {self.limit}"
            self.lost.add(one.name, words, words)


def _rank(goals: Goals, front: list[SearchEntry]) -> Callable[[SearchEntry], tuple[float | int | str, ...]]:
    """Return the key that ranks the front: missed wishes first, then lines to route anew, then what the goals rank by.

    Where there is a loss budget, the margin is the loss that counts; unsolved lines may have any. Loss is not weighed
    against less than half the tolerance of the thickness: a fab's own is as wide.
    """
    worst = max(e.objectives[0] for e in front) or 1.0
    budgets = any(line.loss_budget_db is not None for line in goals.lines)
    cheapest: dict[tuple[float, float], float] = {}
    for entry in front:
        _, cost, *_, moved, missed = entry.objectives
        cheapest[missed, moved] = min(cost, cheapest.get((missed, moved), cost))

    def key(entry: SearchEntry) -> tuple[float | int | str, ...]:
        loss, cost, is_apart, *_, moved, missed = entry.objectives
        apart, drills = abs(entry.known.thickness_error), len(entry.known.backdrilled)
        more = cost / cheapest[missed, moved]
        if goals.rank_by == "cost":
            unknown = 0.0 if entry.candidate.is_df_known else UNKNOWN_DF
            order: tuple[float, ...] = (round(more + apart + unknown, 4), loss)
        else:
            margin = entry.known.least_margin_db
            by_loss = -(math.inf if margin is None else margin) if budgets else loss / worst + apart * is_apart
            order = (bisect(COST_CLASSES, more), round(by_loss, 2))
        return missed, moved, *order, drills, cost, entry.name

    return key


def _beats(a: Objectives, b: Objectives) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def _smoother(candidate: CandidateStackup, others: tuple[Build, ...], goals: Goals) -> tuple[Build, ...]:
    """Return a candidate with the next smoother foil on high-speed layers, then the others with the smoothest."""
    smooth = with_smooth_foil(candidate.order, goals)
    now = _smoothness(candidate, smooth)
    better = (_with_foil(candidate, smooth, grade) for grade in SMOOTHER)
    first = next((c for c in better if _smoothness(c, smooth) > now), None)
    if first is None:  # smooth already, or its cores come with nothing smoother
        return others
    return (lambda: first, *(partial(_smoothest, other, smooth) for other in others))


def _smoothest(build: Build, layers: frozenset[int]) -> CandidateStackup:
    return _with_foil(build(), layers, SMOOTHER[-1])


def _smoothness(candidate: CandidateStackup, layers: frozenset[int]) -> int:
    """Return the sum of the foils' ranks over some layers; a layer without a grade counts less than standard foil."""
    return sum(FoilGrade(c.foil).rank if c.foil else -1 for k, c in enumerate(candidate.copper) if k in layers)


def _with_foil(candidate: CandidateStackup, layers: frozenset[int], grade: FoilGrade) -> CandidateStackup:
    families = {gap: row.laminate for gap, row in enumerate(candidate.dielectrics)}
    names = [c.name for c in candidate.copper]
    foils = {names[k]: foil_of(candidate.order, k, families, grade).value for k in layers}
    rows = tuple(
        r.model_copy(update={"foil": foils[r.name]}) if r.kind is LayerKind.COPPER and r.name in foils else r
        for r in candidate.rows
    )
    return candidate.model_copy(update={"rows": rows})


def _without_numbers(fault: str) -> str:
    """Return what faults of one kind have in common: the goal, and what is wrong with it."""
    for mark, words in (
        ("dB allowed", "loses more than its budget"),
        (TOO_NARROW, "the narrowest line is too wide for its impedance"),
        ("a trace wider", "the widest line is too narrow for its impedance"),
        ("allowed", "aspect ratio of the through vias"),
        ("no Df", "no Df at its frequency is known"),
    ):
        if mark in fault:
            head = fault.split(":", maxsplit=1)[0] if ": " in fault else ""
            return f"{head}: {words}" if head else words
    return fault
