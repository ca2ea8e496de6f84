"""What is worked out once: cross sections of equal numbers, rails of equal boards, and checks of boards whose files are
equal byte for byte.

All give what a second run would give, number for number. A test whose point is that second run calls `forget`.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

from drc_rules.engine.check import CheckUp, check_board, check_up, find_config
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.field_solver import perturbation, solver
from stackup_lib.power.ground_return import ground_return
from stackup_lib.power.ground_return.ground_return import ReturnDrops, solve_return
from stackup_lib.power.rail_drop import rail
from stackup_lib.power.rail_drop.peak import Peak, resolved_peak
from stackup_lib.power.rail_drop.rail_models import BoardCopper, Terminal
from stackup_lib.power.rail_drop.sheets import Precision, SheetNetwork, SheetSolution, solve_sheets
from stackup_lib.synthesis import evaluate
from stackup_lib.transmission_lines import inverse, pair_crosstalk, remedy, tolerance
from stackwright.commands.check import command as check_command
from stackwright.commands.diff import command as diff_command
from tests.support.boards import board_file
from tests.support.once_per_run import shared

T = TypeVar("T")

SOLVING = (solver, pair_crosstalk)
"""Modules that call `solve_once` by that name."""

SEEKING = (inverse, evaluate, remedy, tolerance, solver)
"""Modules that call `impedance_once` by that name, and the one from which others import it when they call it."""

solve_once = functools.cache(solver.solve_once)
impedance_once = functools.cache(solver.impedance_once)
perturb = functools.cache(perturbation.perturb)
MOST_OBJECTS = 5000
"""Of boards whose ground returns are kept: larger ones take as long to compare as to solve."""

answers: dict[object, CheckUp] = {}
rails: dict[str, Any] = {}


def forget() -> None:
    """Let the next run work out everything anew."""
    for kept in (solve_once, impedance_once, perturb):
        kept.cache_clear()
    rails.clear()
    answers.clear()


@contextmanager
def equal_rails_solved_once() -> Iterator[None]:
    """Solve equal copper for equal currents once, and the ground return of equal boards, wherever they lie."""

    def sheets(network: SheetNetwork, precision: Precision | None = None) -> SheetSolution:
        return _kept((network, precision), lambda: solve_sheets(network, precision))

    def peak(network: SheetNetwork, solution: SheetSolution, radius_mm: float) -> Peak:
        return _kept((network, len(solution.volts), radius_mm), lambda: resolved_peak(network, solution, radius_mm))

    def returned(board: Board, net: str, copper: BoardCopper, ends: Sequence[Terminal], **how: Any) -> ReturnDrops:
        if len(board.tracks) + len(board.vias) + len(board.pads) > MOST_OBJECTS:
            return solve_return(board, net, copper, ends, **how)
        asked = (replace(board, path=None), net, copper, ends, how)
        return _kept(asked, lambda: solve_return(board, net, copper, ends, **how))

    with ExitStack() as stack:
        stack.enter_context(patch.object(rail, "solve_sheets", sheets))
        stack.enter_context(patch.object(rail, "resolved_peak", peak))
        stack.enter_context(patch.object(ground_return, "solve_return", returned))
        yield


def _kept(asked: object, solve: Callable[[], T]) -> T:
    """Return what a process of the run solved for equal numbers before; what cannot be solved is tried each time."""
    key = hashlib.sha256(pickle.dumps(asked)).hexdigest()
    if key not in rails:
        rails[key] = shared(f"rail-{key}", solve)
    return cast("T", rails[key])


@contextmanager
def equal_sections_solved_once() -> Iterator[None]:
    """Solve a cross section once, however many boards or candidates have it."""
    with ExitStack() as stack:
        for module in SOLVING:
            stack.enter_context(patch.object(module, "solve_once", solve_once))
        for module in SEEKING:
            stack.enter_context(patch.object(module, "impedance_once", impedance_once))
        stack.enter_context(patch.object(perturbation, "perturb", perturb))
        yield


@contextmanager
def equal_boards_checked_once() -> Iterator[None]:
    """Let the commands check a board once whose file, project, rules, settings and name are the same."""
    with ExitStack() as stack:
        stack.enter_context(equal_sections_solved_once())
        stack.enter_context(patch.object(check_command, "check_up", checked))
        stack.enter_context(patch.object(check_command, "check_board", _report_of))
        stack.enter_context(patch.object(diff_command, "check_up", checked))
        yield


@functools.cache
def report_of(path: Path, profile: str | None = None) -> Report:
    """Check a board as it lies there, which no test changes: once in a run, however many tests look at its report."""
    name = hashlib.sha256(f"{path} {profile}".encode()).hexdigest()
    return shared(f"report-{name}", lambda: check_board(path, overrides=Overrides(profile=profile)))


def fixture_report(name: str, profile: str | None = None) -> Report:
    """Check a fixture board as `report_of` does."""
    return report_of(board_file(name), profile)


def checked(
    path: Path,
    *,
    config: Config | None = None,
    overrides: Overrides | None = None,
    text: bytes | None = None,
    today: date | None = None,
    every_pair: bool = False,
    tables: bool = True,
) -> CheckUp:
    """Check a board as `check_up` does; a report that is there already gets the board's path."""

    def check() -> CheckUp:
        return check_up(
            path,
            config=config,
            overrides=overrides,
            text=text,
            today=today,
            every_pair=every_pair,
            tables=tables,
        )

    if not path.is_file() or text is not None:
        return check()
    settings = find_config(path) if config is None else config
    files = [(one.name, one.read_bytes()) for one in _files_of(path)]
    key = (path.name, *files, repr(settings), settings.text, repr(overrides or Overrides()), today, every_pair, tables)
    return _moved(_answer(key, check), path)


def _answer(key: object, check: Callable[[], CheckUp]) -> CheckUp:
    if key not in answers:
        answers[key] = check()
    return answers[key]


def _files_of(board: Path) -> list[Path]:
    """The board and what may be read next to it: project, rules, settings and profiles of one's own."""
    return sorted([*(one for one in board.parent.glob(f"{board.stem}.kicad_*")), *board.parent.glob("*.toml")])


def _moved(found: CheckUp, path: Path) -> CheckUp:
    facts = found.report.board.model_copy(update={"path": path.as_posix()})
    return replace(found, report=found.report.model_copy(update={"board": facts}))


def _report_of(path: Path, *, config: Config, overrides: Overrides, tables: bool) -> Report:
    return checked(path, config=config, overrides=overrides, tables=tables).report
