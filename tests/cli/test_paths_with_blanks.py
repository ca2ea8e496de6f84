"""Commands that a page prints as the next step name files with blanks so that a shell reads them as one word."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from stackwright.cli.app import run
from tests.support.boards import BOARDS

NAME = "inference_pcie_low_tg"


@pytest.fixture
def board(tmp_path: Path) -> Path:
    folder = tmp_path / "my boards"
    folder.mkdir()
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(BOARDS / NAME / f"{NAME}{suffix}", folder / f"card 1{suffix}")
    return folder / "card 1.kicad_pcb"


def next_words(shown: str) -> list[list[str]]:
    """The commands of a page, as a shell splits them."""
    lines = [
        match[1] for line in shown.splitlines() if (match := re.search(r"(?:^|then |next: )\s*(stackwright .*)$", line))
    ]
    return [shlex.split(line) for line in lines if "my boards" in line]


@pytest.mark.parametrize(
    "words",
    [
        ("check", "BOARD"),
        ("fit", "BOARD"),
        ("init", "BOARD", "--profile", "inference-pcie"),
        ("suggest", "BOARD", "--profile", "inference-pcie", "--plan", "PLAN"),
        ("stackup", "BOARD", "--format", "plan", "--output", "PLAN"),
        ("match", "BOARD"),
        ("impedance", "BOARD"),
    ],
    ids=lambda words: words[0],
)
def test_the_next_command_of_a_path_with_blanks_has_it_as_one_word(
    board: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """`stackwright fit /my boards/card 1.kicad_pcb` would read two files that do not exist."""
    plan = board.with_name("my plan.stackwright-plan.toml")
    run([{"BOARD": str(board), "PLAN": str(plan)}.get(word, word) for word in words])

    commands = next_words(capsys.readouterr().out)

    assert commands
    for command in commands:
        assert {str(board), str(plan)} & set(command), command


def test_the_next_command_of_apply_names_plan_and_board(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both with blanks."""
    plan = board.with_name("my plan.stackwright-plan.toml")
    run(["stackup", str(board), "--format", "plan", "--output", str(plan)])
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace("S1141", "370HR"), encoding="utf-8")
    capsys.readouterr()

    run(["apply", str(plan), str(board)])

    (command,) = next_words(capsys.readouterr().out)
    assert command[:4] == ["stackwright", "apply", str(plan), str(board)]
