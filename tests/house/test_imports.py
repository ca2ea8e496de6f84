"""What is imported when: the help is quick, and the core needs no KiCad, no network and no screen."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from stackup_lib.core.frozen import Frozen
from tests.support.in_process import environment

ROOT = Path(__file__).parents[2]
OURS = ("stackup_lib", "drc_rules", "stackwright")
HEAVY = {"numpy", "pydantic", "rich", "sexpdata", "scipy", "drc_rules", "stackup_lib"}
LOADED_LATE = (
    "scipy",
    "stackup_lib.field_solver.solver",
    "stackup_lib.transmission_lines.lossy",
    "stackup_lib.transmission_lines.via_chain",
    "drc_rules.analysis.power.rail_returns",
    "stackup_lib.power.rail_drop.mesh",
    "stackup_lib.power.rail_drop.sheets",
    "stackup_lib.power.ground_return.ground_return",
    "stackup_lib.power.over_frequency",
    "stackup_lib.synthesis.",
    "drc_rules.engine.board_diff",
    "stackwright.drawing.board_map",
)
FOREIGN = {
    "kipy",
    "pcbnew",
    "wx",
    "requests",
    "urllib3",
    "httpx",
    "matplotlib",
    "tkinter",
    "click",
    "rich",
    "stackwright",
}


def all_modules_after(program: str) -> set[str]:
    """Return the modules that a program has imported at its end."""
    ending = "\nimport sys\nprint('\\n' + ' '.join(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program + ending],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment(),
    )
    return set(run.stdout.splitlines()[-1].split())


def modules_after(program: str) -> set[str]:
    """Return the top-level modules that a program has imported at its end."""
    return {name.split(".")[0] for name in all_modules_after(program)}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """A light start-up is a test, not a hope."""
    loaded = modules_after(f"from stackwright.cli.app import run\nrun({arguments!r})")

    assert loaded & HEAVY == set()


@pytest.mark.slow
@pytest.mark.parametrize("package", ["stackup_lib.kicad", "stackup_lib.materials", "drc_rules.engine.check"])
def test_the_core_needs_no_kicad_no_network_and_no_screen(package: str) -> None:
    """Anybody may build on it, in CI or on a server."""
    assert modules_after(f"import {package}") & FOREIGN == set()


@pytest.mark.slow
def test_a_check_loads_no_solver_before_a_board_needs_it() -> None:
    """SciPy, finite elements and the search for stackups take longer to load than a small board to check."""
    program = "import stackwright.commands.check.command\nfrom drc_rules.rules.rule import all_rules\nall_rules()"
    loaded = all_modules_after(program)

    assert "drc_rules.engine.check" in loaded
    assert not {name for name in loaded if name.startswith(LOADED_LATE)}


@pytest.mark.slow
def test_a_check_loads_no_part_of_numpy_that_it_can_do_without() -> None:
    """`np.unique` of one argument and `np.median` load masked arrays, 5 ms; `core.arrays` has both."""
    board = "fixtures/boards/default_stackup/default_stackup.kicad_pcb"
    loaded = all_modules_after(f"from stackwright.cli.app import run\nrun(['check', {board!r}])")

    assert "drc_rules.engine.check" in loaded
    assert not loaded & {"numpy.ma", "numpy.random", "numpy.fft"}


@pytest.mark.slow
def test_the_core_opens_no_connection() -> None:
    """Importing and listing everything works with sockets forbidden."""
    program = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('a connection')\n"
        "socket.socket.connect = refuse; socket.create_connection = refuse\n"
        "from drc_rules.rules.rule import all_rules; from stackup_lib.materials import catalogue\n"
        "assert all_rules() and catalogue().laminates"
    )

    assert "drc_rules" in modules_after(program)


def test_annotations_of_models_are_not_text() -> None:
    """Pydantic would compile each of them again at every start: 1,100 of a check, 10 ms of its 600."""
    import_module("stackwright.commands.check.command")
    found = [one for one in below(Frozen) if one.__module__.split(".")[0] in OURS]
    postponed = {one.__module__ for one in found if any(isinstance(hint, str) for hint in own_annotations(one))}

    assert len(found) > 100
    assert not postponed


def below(base: type) -> list[type]:
    """Return every class derived from one."""
    direct: list[type] = base.__subclasses__()
    return direct + [one for each in direct for one in below(each)]


def own_annotations(one: type) -> list[object]:
    """Return the annotations of a class's own fields."""
    return [*inspect.get_annotations(one).values()]
