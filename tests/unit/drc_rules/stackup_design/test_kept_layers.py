"""A board that is laid out keeps its layers: when they are the goal, with which copper, and what else is then said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from drc_rules.stackup_design.goals import From, GoalChoices, GoalsFound, goals_for, project_of, selection_for
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file
from tests.support.small_boards.kept_layers import PLANES, SIX, TRACK

UNFILLED = {"layer": "In1.Cu", "rect_mm": [1, 1, 9, 9], "filled": False}


def goals_of(
    folder: Path,
    board: Mapping[str, object],
    profile: str | None = None,
    config: str = "",
    choices: GoalChoices | None = None,
) -> GoalsFound:
    """Goals of a board."""
    path = mini_file(folder, {"size_mm": [80, 40], **board})
    project = project_of(read_board(path), parse_config(config), Overrides(profile))
    return goals_for(selection_for(profile, None, choices, project), project, choices)


def reason(found: GoalsFound, goal: str) -> tuple[str, From]:
    """What is said of a goal, and who says it."""
    (one,) = [one for one in found.reasons if one.goal == goal]
    return one.value, one.origin


@pytest.mark.parametrize(
    ("outer", "inner", "oz", "shown"),
    [(0.035, 0.0152, 0.5, "0.5 oz"), (0.035, 0.035, 1.0, "1 oz"), (0.07, 0.07, 2.0, "2 oz")],
)
def test_layers_and_copper_of_a_board_are_the_goal(
    tmp_path: Path, outer: float, inner: float, oz: float, shown: str
) -> None:
    """Signals, ground, signals, power: no planes are added, and no copper becomes thinner, the outer neither."""
    found = goals_of(tmp_path, {"stackup": SIX.format(outer=outer, inner=inner), "planes": PLANES, "tracks": [TRACK]})
    assert found.kept is not None
    kept = found.kept.laid_out
    assert kept is not None
    assert kept.layers == "OGSPGO"
    assert kept.copper_oz[1:-1] == (oz,) * 4
    assert found.kept.finish.outer_copper_mm == (None if outer == 0.035 else outer)
    keeping = found.keeping()
    assert reason(keeping, "layers") == ("6: S-G-S-P-G-S", From.BOARD)
    assert reason(keeping, "inner copper") == (shown, From.BOARD)
    assert not {"other signal layers", "power planes", "ground copper"} & {one.goal for one in keeping.reasons}


def test_a_board_with_the_default_stackup_keeps_its_layers_and_assumes_their_copper(tmp_path: Path) -> None:
    """Its copper is not known; the power plane is as light as the signal layer that mirrors it, and that is said."""
    board = {"stackup": "default", "copper_layers": 6, "planes": PLANES, "tracks": [TRACK]}
    keeping = goals_of(tmp_path, board).keeping()
    assert reason(keeping, "inner copper") == ("0.5 oz", From.ASSUMPTION)


@pytest.mark.parametrize(
    ("board", "choices"),
    [
        ({"copper_layers": 6}, GoalChoices()),  # nothing is laid out inside
        ({"copper_layers": 6, "tracks": [TRACK]}, GoalChoices(layers=8)),
        ({"copper_layers": 6, "tracks": [TRACK]}, GoalChoices(power_planes=2)),
        ({"copper_layers": 6, "tracks": [TRACK], "zones": [UNFILLED]}, GoalChoices()),
    ],
    ids=["empty", "more layers are wanted", "other planes are wanted", "zones are not filled"],
)
def test_layers_are_free_where_nobody_has_to_route_anew(
    tmp_path: Path, board: dict[str, object], choices: GoalChoices
) -> None:
    """A new board, other layers that the user wants, and fills that are not there."""
    found = goals_of(tmp_path, board, choices=choices)
    assert found.kept is None
    assert found.keeping() == found


def test_a_board_of_two_layers_keeps_them_unless_a_requirement_wants_more(tmp_path: Path) -> None:
    """Without a workload two do; at the edge four are required, and the reason names the requirement."""
    board: dict[str, object] = {"stackup": "default", "copper_layers": 2}
    kept = goals_of(tmp_path, board).kept
    assert kept is not None
    assert kept.laid_out is not None
    assert (kept.layer_count, kept.laid_out.layers) == (2, "OO")
    edge = goals_of(tmp_path, board, "edge")
    assert edge.kept is None
    (layers,) = [one for one in edge.reasons if one.goal == "layers"]
    assert (layers.value, layers.origin) == ("4, not the board's 2", From.CLAUSE)
    assert layers.source.startswith("copper layers >= 4 (edge); edge.layers.min: ")


def test_lines_run_where_they_are_routed(tmp_path: Path) -> None:
    """A pair on an inner layer next to power is solved there, and etched as 1 oz is; on two layers, outside."""
    pair = {
        "nets": ["/TX_P", "/TX_N"],
        "layer": "In2.Cu",
        "path_mm": [[5, 20], [60, 20]],
        "width_mm": 0.12,
        "gap_mm": 0.15,
    }
    config = '[[interface]]\nis = "pcie3"\nnets = ["/TX_*"]\n'
    six = {"stackup": SIX.format(outer=0.035, inner=0.035), "planes": PLANES, "pairs": [pair]}
    inside = goals_of(tmp_path, six, config=config).kept
    assert inside is not None
    assert inside.laid_out is not None
    assert (inside.laid_out.layers, {line.where for line in inside.lines}) == ("OGFPGO", {"stripline"})
    assert inside.least_width_mm == 0.089
    two = {"stackup": "default", "copper_layers": 2, "pairs": [{**pair, "layer": "F.Cu"}]}
    outside = goals_of(tmp_path, two, config=config).kept
    assert outside is not None
    assert {line.where for line in outside.lines} == {"outer"}
    assert outside.least_width_mm == 0.075
