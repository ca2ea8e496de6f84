"""The command that `stackwright suggest` prints last runs as printed, and the plan asks no more than is controlled."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from drc_rules.stackup_design.plan_file import read_plan
from stackwright.cli.app import run
from tests.support.boards import BOARDS, copied
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


@pytest.mark.parametrize(
    ("more", "which", "note"),
    [
        (["CARD", "--limit", "2"], "1; --pick N takes another", "370HR"),
        (["CARD", "--limit", "2", "--pick", "2", "-v"], "2; --pick N takes another", "16 layers"),
        (["--profile", "edge", "--layers", "4", "--limit", "1", "--"], "1", "4 layers"),
    ],
)
def test_the_plan_of_the_stackup_that_is_drawn_is_one_command_away(
    more: list[str], which: str, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It runs as printed: what was typed stands in it, with a file for the plan."""
    folder = tmp_path / "of a board"
    folder.mkdir()
    card = str(copied("inference_pcie_low_tg", folder))
    assert run(["suggest", *(card if word == "CARD" else word for word in more)]) == 0
    head, _, command = capsys.readouterr().out.rpartition("\n  stackwright suggest ")
    assert head.endswith(f"next, for the plan of answer {which}:")

    with contextlib.chdir(tmp_path):
        assert run(["suggest", *shlex.split(command)]) == 0

    assert note in read_plan(tmp_path / "stackup.stackwright-plan.toml").note


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
    """The board fits: the check comes next, and the command that writes the first new stackup; that one is applied."""
    board, plan = copied("inference_pcie_gen5_fit", tmp_path), tmp_path / "a.toml"
    asked = ["suggest", str(board), "--profile", "inference", "--limit", "2", "--plan", str(plan)]
    assert run(asked) == 0
    check, first_new = next_lines(capsys)
    assert check.startswith("stackwright check ")
    assert check.endswith("-v")
    assert first_new == shlex.join(["stackwright", *asked, "--pick", "2"])
    assert run(shlex.split(first_new)[1:]) == 0
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


def test_lines_that_stay_are_shown_as_they_are_routed(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing has to change, width, impedance and loss are those that `impedance` gives for the routed size."""
    name = "edge_jetson_carrier_fit"
    board = str(BOARDS / name / f"{name}.kicad_pcb")
    assert run(["suggest", board, "--limit", "1", "--format", "json"]) == 0
    first, *_ = json.loads(capsys.readouterr().out)["answers"]
    size = ["--width", "0.16", "--gap", "0.15", "--frequency", "2.5"]
    assert run(["impedance", board, "--layer", "F.Cu", *size, "--format", "json"]) == 0
    solved = json.loads(capsys.readouterr().out)["line"]
    loss = solved["losses"][0]["loss"]["total_db_per_mm"]

    (line,) = [one for one in first["lines"] if one["layer"] == "F.Cu"]

    assert (line["width_mm"], line["gap_mm"]) == (0.16, 0.15)
    assert line["impedance_ohm"]["nominal"] == pytest.approx(solved["z_ohm"], rel=1e-3)
    for end in ("low", "nominal", "high"):
        assert line["loss_db_per_inch"][end] == pytest.approx(25.4 * loss[end], rel=0.005)
    assert run(["suggest", board, "--limit", "1"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "0.160/0.150 USB 3.2 Gen1 90 ohm on F.Cu" in words
    assert "needed, not routed there" in words


def test_a_new_board_is_no_board_to_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`suggest` on what `new` has just made: nothing shows what layers carry; the plan holds what the files have."""
    board, plan = tmp_path / "oam.kicad_pcb", tmp_path / "p.toml"
    assert run(["new", "--profile", "inference-sxm-oam", "--form", "oam", str(board)]) == 0
    assert run(["suggest", str(board), "--limit", "1", "--plan", str(plan)]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "cannot be worked out: what its layers carry is not known: route tracks and fill zones first" in words
    assert "no fast layer carries it" not in words

    assert run(["apply", str(plan), str(board)]) == 0

    words = " ".join(capsys.readouterr().out.split())
    assert "the files hold all of it already" in words
    assert "left out" not in words
