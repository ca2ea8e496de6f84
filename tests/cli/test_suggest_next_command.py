"""The command that `stackwright suggest` prints last runs as printed, and the plan asks no more than is controlled."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from drc_rules.stackup_design.plan_file import read_plan
from stackwright.cli.app import run
from tests.support.boards import copied
from tests.support.mini import mini_file

pytestmark = pytest.mark.slow

FOUR = """
F.Cu 0.035
prepreg 0.1 "{laminate} 2116 RC56%"
In1.Cu 0.035
core 1.2 "{laminate}"
In2.Cu 0.035
prepreg 0.1 "{laminate} 2116 RC56%"
B.Cu 0.035
"""
PLANES = {"In1.Cu": "GND", "In2.Cu": "GND"}


def next_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What stands under `next:`."""
    return [line.strip() for line in capsys.readouterr().out.partition("\nnext:\n")[2].splitlines() if line.strip()]


@pytest.mark.parametrize(("layers", "flag"), [(2, True), (4, False)])
def test_other_layers_are_asked_for_in_the_printed_command(
    layers: int, flag: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board of two layers gets four at the edge; one of four keeps them."""
    board = mini_file(tmp_path, {"size_mm": [40, 30], "copper_layers": layers, "stackup": "default"})
    plan = tmp_path / "a.toml"
    assert run(["suggest", str(board), "--profile", "edge", "--limit", "1", "--plan", str(plan)]) == 0
    (command,) = next_lines(capsys)
    assert command.endswith(" --layers") is flag
    assert run(shlex.split(command)[1:]) == 0


def test_a_plan_that_changes_nothing_is_not_the_next_thing_to_apply(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The board fits: the check comes next, and --pick of the first new stackup is named; that one is applied."""
    board, plan = copied("inference_pcie_gen5_fit", tmp_path), tmp_path / "a.toml"
    asked = ["suggest", str(board), "--profile", "inference", "--limit", "2", "--plan", str(plan)]
    assert run(asked) == 0
    check, hint = next_lines(capsys)
    assert check.startswith("stackwright check ")
    assert check.endswith("-v")
    assert hint == "this plan changes nothing; --pick 2 writes the plan of the first new stackup"
    assert run([*asked, "--pick", "2"]) == 0
    (command,) = next_lines(capsys)
    assert command.startswith("stackwright apply ")
    assert read_plan(plan).board == board.name


@pytest.mark.parametrize(
    ("more", "flag"),
    [({}, None), ({"tracks": [{"net": "/ANT", "layer": "F.Cu", "path_mm": [[5, 5], [35, 5]]}]}, True)],
    ids=["no controlled line", "an antenna feed"],
)
def test_impedance_control_is_ordered_only_for_lines_that_have_a_target(
    more: Mapping[str, object], flag: bool | None, tmp_path: Path
) -> None:
    """Without one the board's own flag stays."""
    stackup = FOUR.format(laminate="370HR")
    board = mini_file(tmp_path, {"size_mm": [40, 30], "stackup": stackup, "planes": PLANES, **more})
    settings = '[[impedance]]\nnets = ["/ANT"]\nohm = 50\nkind = "single"\n' if more else ""
    (tmp_path / "stackwright.toml").write_text(settings, encoding="utf-8")
    plan = tmp_path / "a.toml"
    for pick in ("1", "2", "3", "4"):  # changes of the board's own stackup come first
        asked = ["suggest", str(board), "--profile", "edge", "--layers", "4", "--plan", str(plan), "--pick", pick]
        assert run(asked) == 0
        if (found := read_plan(plan)).note.startswith("4 layers"):
            break
    assert found.note.startswith("4 layers")
    assert found.impedance_controlled is flag


def test_on_a_board_that_is_routed_inside_layers_are_added_in_kicad(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`apply --layers` would refuse: the step in KiCad comes first, and the command then does without the flag."""
    data = {
        "size_mm": [40, 30],
        "copper_layers": 4,
        "stackup": "default",
        "tracks": [{"net": "/A", "layer": "In1.Cu", "path_mm": [[5, 5], [35, 5]]}],
    }
    board = mini_file(tmp_path, data)
    asked = ["suggest", str(board), "--profile", "edge", "--layers", "6", "--limit", "1"]
    assert run([*asked, "--plan", str(tmp_path / "a.toml")]) == 0
    step, command = next_lines(capsys)
    assert step.startswith("in KiCad, set 6 copper layers in Board Setup")
    assert command.startswith("stackwright apply ") and "--layers" not in command
