"""What `next:` prints runs as it is printed, on every fixture board; the first screen is one screen."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackwright.reporters import text
from tests.support.boards import BOARDS
from tests.support.in_process import run_here as run
from tests.support.in_process import run_process
from tests.support.remembered import equal_boards_checked_once

NAMES = sorted(path.name for path in BOARDS.iterdir() if path.is_dir())


@pytest.fixture(autouse=True)
def _remembered() -> Iterator[None]:
    with equal_boards_checked_once():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a blank in its name, to work in."""
    made = tmp_path / "my boards"
    made.mkdir()
    return made


@pytest.mark.parametrize("name", NAMES)
def test_the_next_step_runs_as_printed_and_the_screen_is_short(name: str, folder: Path) -> None:
    shutil.copytree(BOARDS / name, folder / name)

    shown = run("check", name, cwd=folder).out.splitlines()

    assert len(shown) <= text.MOST_LINES
    assert shown[0].split("  ")[0] in ("FIT", "NOT FIT", "NOT PROVEN", "NO WORKLOAD")
    assert shown[-1].startswith("next: ")
    following = shown[-1].removeprefix("next: ")
    if following.startswith("in KiCad, "):
        return
    program, *words = shlex.split(following)
    assert program == "stackwright"
    ran = run(*words, cwd=folder)
    assert ran.code in (0, 1), ran.err
    assert "Traceback" not in ran.err


def test_after_init_the_next_step_is_to_fill_in_not_init_again(folder: Path) -> None:
    """Values marked "?" are counted, remarks behind # are not; with none left and data missing it is init once more."""
    board = folder / "board"
    shutil.copytree(BOARDS / "no_stackup", board)
    settings = board / "stackwright.toml"
    settings.unlink()

    def following() -> str:
        return run("check", "board", "--profile", "edge", cwd=folder).out.splitlines()[-1]

    assert following() == "next: stackwright init board/no_stackup.kicad_pcb --profile edge"
    run("init", "board", "--profile", "edge", cwd=folder)
    marked = sum('"?"' in line.partition("#")[0] for line in settings.read_text().splitlines())
    assert marked > 3
    assert following() == f'next: fill in {marked} values marked "?" in board/stackwright.toml, then check again'
    settings.write_text('profile = "edge"  # "?" in a remark is none\n')
    assert following() == "next: stackwright init board/no_stackup.kicad_pcb --profile edge"


def test_a_process_of_its_own_prints_the_same(folder: Path) -> None:
    """Exit code and both streams."""
    name = NAMES[0]
    shutil.copytree(BOARDS / name, folder / name)

    assert run_process("check", name, cwd=folder) == run("check", name, cwd=folder)


@pytest.mark.parametrize("profile", ["training-b200", "inference-pcie", "edge"])
def test_a_board_without_settings_is_led_from_fit_to_settings(profile: str, folder: Path) -> None:
    """`fit` where no workload is given; then, with one, what is missing or wrong."""
    name = "inference_pcie_gen5_fit"
    shutil.copytree(BOARDS / name, folder / name)
    (folder / name / "stackwright.toml").unlink()

    first = run("check", name, cwd=folder).out.splitlines()
    assert first[0] == "NO WORKLOAD"
    assert first[-1] == f"next: stackwright fit {name}/{name}.kicad_pcb"
    second = run("check", name, "--profile", profile, cwd=folder).out.splitlines()
    verb = second[-1].split()[2]
    headline = second[0].split("  ")[0]
    assert verb in {"FIT": ("fab-pack",), "NOT PROVEN": ("init",), "NOT FIT": ("suggest", "check")}[headline]
