"""Kinds of clauses that are named outside their rules exist, and rules tell truly what a stackup does to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drc_rules.engine.check import find_config, prepare
from drc_rules.engine.decide import run
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import all_rules, kinds_by_stackup
from drc_rules.stackup_design.change_effects import ROUTED
from drc_rules.stackup_design.goals import selection_for
from drc_rules.stackup_design.goals_judge import GOAL_KINDS
from drc_rules.stackup_design.stackup_fixes import CURES
from stackup_lib.board.board import Board
from stackup_lib.board.stackup import LayerKind
from stackup_lib.kicad import read_board
from stackwright.commands.fit.changes import LAYERS
from stackwright.commands.fit.words import AS_A_STEP, IN_WORDS
from tests.support.boards import board_file

FAMILIES = ("foil", "material", "stackup")
NOT_BY_ROWS = {"STK004": "rests on the files", "STK019": "rests on the vias"}
"""Rules of these families that no stackup decides alone, and why."""


def test_every_kind_that_is_named_outside_its_rule_is_one() -> None:
    kinds = {kind for one in all_rules() for kind in one.kinds}
    assert {*CURES, *GOAL_KINDS, *LAYERS, *AS_A_STEP, *IN_WORDS, ROUTED} <= kinds
    assert {*CURES, *GOAL_KINDS, *LAYERS} <= kinds_by_stackup("decided")


def test_a_rule_on_rows_says_what_they_do_to_it() -> None:
    """A suggestion is judged by what rows decide; a new rule of these families says so or is named above."""
    said = ("decided", "stated")
    assert {one.code for one in all_rules() if one.family in FAMILIES and one.by_stackup not in said} == {*NOT_BY_ROWS}


def heavier(board: Board) -> Board:
    """Copper twice as thick, dielectrics half as thick, of another Dk."""
    assert board.stackup is not None
    rows = []
    for row in board.stackup.layers:
        times = 2.0 if row.kind is LayerKind.COPPER else 0.5
        plies = tuple(
            one.model_copy(update={"thickness_mm": (one.thickness_mm or 0.0) * times, "dk": one.dk and one.dk * 0.75})
            for one in row.plies
        )
        rows.append(row.model_copy(update={"plies": plies}))
    return replace(board, stackup=board.stackup.model_copy(update={"layers": tuple(rows)}))


def both(name: str) -> tuple[Context, Context, tuple[Clause, ...]]:
    """A fixture board, the same with another stackup, and the clauses of its profile."""
    file = board_file(name)
    board = read_board(file)
    before, after = (prepare(one, find_config(file, None), Overrides())[0] for one in (board, heavier(board)))
    assert before.profile
    return before, after, selection_for(before.profile, before.form).clauses


@pytest.mark.parametrize("name", ["edge_jetson_carrier_fit", "inference_pcie_gen5_caps_fit", "training_b200_fit"])
def test_no_row_moves_what_a_rule_calls_unmoved(name: str) -> None:
    before, after, clauses = both(name)
    mine = [one for one in clauses if one.kind in kinds_by_stackup("unmoved")]
    was, now = (run(ctx, mine, all_rules(), all_rules()) for ctx in (before, after))
    assert len({one.kind for one in mine}) == len(kinds_by_stackup("unmoved"))
    assert now.verdicts == was.verdicts
    assert [one.title for one in now.findings] == [one.title for one in was.findings]
