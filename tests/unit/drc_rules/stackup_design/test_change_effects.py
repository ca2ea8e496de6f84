"""What a change makes worse: clauses that begin to fail or miss by more, and yields that fall."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.stackup_design.change_effects import JudgedStackup, judged, lower_yields, worse_clauses
from drc_rules.stackup_design.goals import selection_for
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from tests.support.boards import board_file

FIT = "edge_jetson_carrier_fit"


def counts(clause: Clause) -> bool:
    """All but information."""
    return clause.severity is not Severity.INFO


@cache
def board(name: str = FIT) -> Board:
    """A fixture board."""
    return read_board(board_file(name))


def with_prepreg(thickness_mm: float) -> Board:
    """The fit board with another prepreg under its outer layers, which carry its pairs."""
    stackup = board().stackup
    assert stackup is not None
    rows = tuple(
        row.model_copy(update={"plies": tuple(p.model_copy(update={"thickness_mm": thickness_mm}) for p in row.plies)})
        if row.name in ("dielectric 1", "dielectric 5")
        else row
        for row in stackup.layers
    )
    return replace(board(), stackup=stackup.model_copy(update={"layers": rows}))


def context_of(one: Board) -> Context:
    """The board under the settings of the fit one, for edge."""
    return prepare(one, find_config(board_file(FIT), None), Overrides("edge"))[0]


def state_of(one: Board) -> JudgedStackup:
    """A board as a change leaves it."""
    clauses = selection_for("edge", load_profile("edge").form).clauses
    return judged(context_of(one), clauses, counts)


def titles_worse(before: Board, after: Board) -> set[str]:
    """Titles of the clauses that get worse."""
    worse = worse_clauses(state_of(before), state_of(after), counts)
    return {words.partition(":")[0] for _, words in worse}


def test_a_clause_that_begins_to_fail_is_harm_and_the_way_back_is_none() -> None:
    """Copper of another weight than its mirror fails; to mirror it again worsens nothing."""
    odd = board("edge_unmirrored_copper")
    assert titles_worse(board(), odd) == {"stackup symmetric about its middle"}
    assert titles_worse(odd, board()) == set()
    assert titles_worse(odd, odd) == set()


def test_a_miss_that_grows_is_harm_and_one_that_shrinks_is_none() -> None:
    """Pairs of 90 ohm that are below their tolerance on a thin prepreg, and further on a thinner one."""
    thin, thinner = with_prepreg(0.055), with_prepreg(0.045)
    assert "routed impedance within tolerance (default 10 %)" in titles_worse(board(), thin)
    assert "routed impedance within tolerance (default 10 %)" in titles_worse(thin, thinner)
    assert titles_worse(thinner, thin) == set()


def test_a_yield_falls_where_the_impedance_moves_away_from_its_target() -> None:
    """93.6 ohm for 90 at 0.119 mm: more prepreg leaves fewer within 10 %, less prepreg does not."""
    before = context_of(board())
    fewer = lower_yields(before, context_of(with_prepreg(0.13)))
    assert fewer and all("F.Cu" in words or "B.Cu" in words for words in fewer)
    assert all("would fall from" in words for words in fewer)
    assert lower_yields(before, before) == ()
    assert not [words for words in lower_yields(before, context_of(with_prepreg(0.112))) if "90" in words]


def test_copper_that_is_too_heavy_for_its_clearances_is_harm() -> None:
    """Fabs etch 0.25 mm between planes of 2 oz, and 0.3 mm of 4 oz."""
    one = board("edge_unmirrored_copper")
    assert one.stackup is not None
    rows = tuple(
        row.model_copy(update={"plies": tuple(p.model_copy(update={"thickness_mm": 0.14}) for p in row.plies)})
        if row.name == "In3.Cu"
        else row
        for row in one.stackup.layers
    )
    heavy = replace(one, stackup=one.stackup.model_copy(update={"layers": rows}))
    clearance = "clearance >= minimum for its copper weight (best fabs)"
    assert clearance in titles_worse(one, heavy)
    assert titles_worse(heavy, one) == set()
