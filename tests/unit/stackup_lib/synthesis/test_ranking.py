"""Which candidate is first, which are alike, and which are beaten: by hand, and against all pairs."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackup_lib.synthesis import CandidateStackup, Evaluated, Goals, LineGoal
from stackup_lib.synthesis.arrange import orders
from stackup_lib.synthesis.best_first import SearchEntry, _beats, _rank
from stackup_lib.synthesis.cost import Cost
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.synthesis.pareto import (
    Kind,
    Objectives,
    have_equal_objectives,
    how_better,
    kind_of,
    objectives_of,
    undominated,
)
from stackup_lib.transmission_lines.width_request import Target

GOALS = Goals(layer_count=4, thickness_mm=1.6)
BUDGET = LineGoal(
    name="x",
    target=Target(ohm=85, kind="differential"),
    nyquist_ghz=8,
    longest_mm=100,
    loss_budget_db=5,
)
ONE_LAMINATE = Kind(8, frozenset({"370HR"}), "370HR", "a")
VALUES = st.tuples(*[st.integers(0, 2).map(float)] * 7)


@cache
def candidate() -> CandidateStackup:
    return closest(orders(GOALS)[0], "370HR", GOALS)[0]


def evaluated(cost: float = 10.0, **update: object) -> Evaluated:
    """A stackup of which only what a test names matters."""
    known = Evaluated(
        candidate=candidate(),
        lines=(),
        cost=Cost(index=cost, drivers=()),
        thickness_error=0.0,
        laminations=1,
        aspect_ratio=6.0,
        backdrilled=(),
        faults=(),
    )
    return known.model_copy(update=update)


def entry(name: str, loss: float = 1.0, cost: float = 10.0, **update: object) -> SearchEntry:
    known = evaluated(cost, **update)
    made = SearchEntry(candidate(), (), known, objectives_of(known, loss, GOALS))
    made.name = name
    return made


def ranked(goals: Goals, *entries: SearchEntry) -> list[str]:
    return [one.name for one in sorted(entries, key=_rank(goals, list(entries)))]


@given(st.lists(VALUES, min_size=1, max_size=8))
def test_the_front_is_what_no_other_beats(table: list[Objectives]) -> None:
    """Of every pair: no worse in anything and better in something."""
    front = [
        k
        for k, mine in enumerate(table)
        if not any(
            all(a <= b for a, b in zip(other, mine, strict=True))
            and any(a < b for a, b in zip(other, mine, strict=True))
            for other in table
        )
    ]
    assert undominated(table) == front
    for a in table:
        for b in table:
            assert _beats(a, b) is (a != b and all(x <= y for x, y in zip(a, b, strict=True)))


def test_objectives_are_loss_cost_thickness_laminations_laminates_rerouted_sizes_and_missed_wishes() -> None:
    """In this order, and the words for what one has over another too."""
    known = evaluated(12.5, thickness_error=0.06, laminations=3, rerouted=4, missed_wishes=("a", "b"))
    mine = objectives_of(known, 1.23456, GOALS)
    assert mine == (1.235, 12.5, 1.0, 3.0, 1.0, 4.0, 2.0)
    assert how_better((1.0, 10.0, 0.0, 1.0, 1.0, 1.0, 0.0), (1.5, 12.5, 1.0, 3.0, 2.0, 4.0, 2.0)) == (
        "loses 1 instead of 1.5 dB/inch and costs 10 instead of 12.5 and comes nearer to the thickness and "
        "takes 1, not 3 laminations and is of 1 laminate, not 2 and moves 1, not 4 routed sizes out of tolerance "
        "and misses 0, not 2 preferred clauses"
    )
    assert how_better(mine, mine) == ""
    assert kind_of(candidate()) == Kind(4, frozenset({"370HR"}), "370HR", orders(GOALS)[0].pattern)


@pytest.mark.parametrize(
    ("loss", "cost", "alike"),
    [(1.029, 1.0, True), (1.033, 1.0, False), (1.0, 1.05, True), (1.0, 1.055, False), (1.033, 1.055, False)],
)
def test_candidates_within_three_per_cent_of_loss_and_five_of_cost_are_one_answer(
    loss: float, cost: float, alike: bool
) -> None:
    """Of one high-speed laminate, one number of layers, laminations, laminates and missed wishes."""
    other = ONE_LAMINATE._replace(pattern="b")
    first: Objectives = (1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    second: Objectives = (loss, cost, 1.0, 1.0, 1.0, 0.0, 0.0)
    for a, b in ((first, second), (second, first)):
        assert have_equal_objectives(ONE_LAMINATE, a, other, b) is alike
    assert have_equal_objectives(ONE_LAMINATE, first, ONE_LAMINATE, second)
    for kind in (other._replace(layers=6), other._replace(fast_laminate="Megtron 6")):
        assert not have_equal_objectives(ONE_LAMINATE, first, kind, first)
    for place in (3, 4, 5, 6):
        loss, cost, thickness, *rest = (value + (k == place) for k, value in enumerate(first))
        apart: Objectives = (loss, cost, thickness, rest[0], rest[1], rest[2], rest[3])
        assert not have_equal_objectives(ONE_LAMINATE, first, other, apart)


def test_by_cost_the_cheapest_is_first_and_a_missed_thickness_costs_its_share() -> None:
    """5 % off the thickness weigh as 5 % more cost; preferred requirements come before all."""
    by_cost = GOALS.model_copy(update={"rank_by": "cost"})
    off = entry("off", cost=10.0, thickness_error=-0.05)
    assert ranked(by_cost, entry("dear", cost=10.6), off, entry("b", cost=10.4)) == ["b", "off", "dear"]
    wish = entry("misses", cost=5.0, missed_wishes=("x",))
    assert ranked(by_cost, wish, entry("dear", cost=20.0, loss=2.0)) == ["dear", "misses"]
    lossy = (entry("lossy", loss=2.0), entry("z", loss=1.0))
    assert ranked(by_cost, *lossy) == ["z", "lossy"]


def test_routed_lines_that_stay_come_before_cost_and_loss() -> None:
    """A board is not routed anew for a cheaper stackup; a preferred requirement comes before that."""
    moves, stays = entry("moves", cost=5.0, loss=0.5, rerouted=1), entry("stays", cost=20.0, loss=2.0)
    for goals in (GOALS, GOALS.model_copy(update={"rank_by": "cost"})):
        assert ranked(goals, moves, stays) == ["stays", "moves"]
        assert ranked(goals, entry("wish", missed_wishes=("x",)), moves) == ["moves", "wish"]
        assert ranked(goals, entry("two", rerouted=2), moves) == ["moves", "two"]


def test_by_loss_only_within_a_class_of_cost() -> None:
    """Up to 10 % more than the cheapest is its class, up to 25 % the next; within one, the least loss is first."""
    cheap, near = entry("cheap", loss=1.0, cost=10.0), entry("near", loss=0.9, cost=10.9)
    next_class, dear = entry("next", loss=0.5, cost=12.4), entry("dear", loss=0.1, cost=12.6)
    assert ranked(GOALS, dear, next_class, cheap, near) == ["near", "cheap", "next", "dear"]
    third, dearest = entry("third", loss=0.2, cost=12.7), entry("dearest", loss=0.1, cost=99.0)
    assert ranked(GOALS, third, dearest, cheap) == ["cheap", "dearest", "third"]
    off = entry("off", loss=10.0, thickness_error=0.06)  # 10 / 10.5 + 0.06 is more than 10.5 / 10.5
    assert ranked(GOALS, off, entry("exact", loss=10.5)) == ["exact", "off"]
    assert ranked(GOALS, entry("off", loss=10.0, thickness_error=0.04), entry("exact", loss=10.5)) == ["off", "exact"]
    misses = entry("misses", loss=0.1, cost=1.0, missed_wishes=("x",))  # its cost is no measure for those that do not
    assert ranked(GOALS, misses, cheap, near) == ["near", "cheap", "misses"]


def test_where_there_is_a_budget_the_margin_counts() -> None:
    """Of a lower loss per inch no one has anything; what is not solved may have any margin."""
    goals = GOALS.model_copy(update={"lines": (BUDGET,)})

    class WithMargin(Evaluated):
        @property
        def least_margin_db(self) -> float | None:
            return self.aspect_ratio - 10

    def with_margin(name: str, margin: float, loss: float) -> SearchEntry:
        made = entry(name, loss=loss)
        made.known = WithMargin.model_validate(dict(made.known) | {"aspect_ratio": margin + 10})
        return made

    assert ranked(goals, with_margin("less", 1.0, 0.5), with_margin("more", 2.0, 1.0)) == ["more", "less"]
    assert ranked(goals, with_margin("more", 2.0, 1.0), entry("unsolved", loss=3.0)) == ["unsolved", "more"]


def test_of_equals_fewer_backdrills_then_less_cost_then_the_name() -> None:
    """So that answers have one order."""
    drilled = entry("a", backdrilled=("In2.Cu",))
    assert ranked(GOALS, drilled, entry("c"), entry("b")) == ["b", "c", "a"]
    assert ranked(GOALS, entry("a", cost=10.5), entry("b", cost=10.0)) == ["b", "a"]


def test_what_loses_the_same_is_ranked_by_cost_and_not_by_a_hundredth_of_the_thickness() -> None:
    """A build at twice the cost was second for being 0.01 mm nearer to the thickness; 4 % less loss still count."""
    by_loss = GOALS.model_copy(update={"rank_by": "loss"})
    best, near = entry("best", cost=10.0), entry("near", cost=20.1, loss=0.87)
    cheap = entry("cheap", cost=13.5, loss=0.87, thickness_error=0.004)
    assert ranked(by_loss, near, cheap, best) == ["best", "cheap", "near"]
    nearer = entry("nearer", cost=20.1, loss=0.87, thickness_error=0.0004)  # of 1.6 mm, 0.01 mm nearer than:
    farther = entry("farther", cost=13.5, loss=0.87, thickness_error=0.006)
    assert ranked(by_loss, nearer, farther, best) == ["best", "farther", "nearer"]
    better = entry("better", cost=20.1, loss=0.83)
    assert ranked(by_loss, better, cheap, best) == ["best", "better", "cheap"]


def test_by_cost_a_laminate_without_df_has_to_be_five_per_cent_cheaper() -> None:
    """No loss of a line can be worked out in it."""
    by_cost = GOALS.model_copy(update={"rank_by": "cost"})

    def without_df(name: str, cost: float) -> SearchEntry:
        one = entry(name, cost=cost)
        rows = tuple(row.model_copy(update={"df": None}) for row in one.candidate.rows)
        one.candidate = one.candidate.model_copy(update={"rows": rows})
        return one

    known = entry("known", cost=10.3, thickness_error=0.005)
    assert ranked(by_cost, without_df("open", 10.0), known) == ["known", "open"]
    assert ranked(by_cost, without_df("open", 9.6), known) == ["open", "known"]
