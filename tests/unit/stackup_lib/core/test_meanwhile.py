"""Work in a copy of this process: the same answers, and nothing lost when the copy fails."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Set
from pathlib import Path

import pytest

from drc_rules.engine import decide as engine
from drc_rules.engine.one_clause import LeftOut, Outcome, decided
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Rule
from stackup_lib.core import background_process as meanwhile
from stackup_lib.core.background_process import MOST_PIECES, BackgroundTask, WorkQueue, sharing_cores
from stackup_lib.core.stopwatch import Stopwatch, measuring, span
from stackwright.commands.check import command as check
from stackwright.commands.check.command import check_boards
from stackwright.commands.check.request import CheckRequest, ReportRequest
from tests.support.boards import board_file

forks = pytest.mark.skipif(sys.platform != "linux", reason="only Linux copies processes")


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meanwhile, "cores", lambda: 2)


def test_without_sharing_the_work_is_done_here_and_only_when_it_is_asked_for() -> None:
    """A check inside a server, a test or one of several processes is not copied."""
    done: list[int] = []

    def work() -> int:
        done.append(os.getpid())
        return 3

    answer = BackgroundTask(work)
    assert not answer.is_running
    assert not done
    assert answer.result() == 3
    assert done == [os.getpid()]


@forks
def test_a_copy_works_and_its_answer_comes_back() -> None:
    """Large answers too: no process waits for a pipe to be emptied."""
    with sharing_cores():
        answer = BackgroundTask(lambda: (os.getpid(), b"x" * 10_000_000))
        assert answer.is_running
        pid, text = answer.result()
    assert pid != os.getpid()
    assert len(text) == 10_000_000


@forks
def test_what_is_not_worth_a_copy_gets_none() -> None:
    """With nothing to do, or on one core."""
    with sharing_cores():
        assert not BackgroundTask(os.getpid, when=False).is_running
    with sharing_cores(on=False):
        assert not BackgroundTask(os.getpid).is_running


@forks
def test_on_one_core_there_is_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes on one core are slower than one."""
    monkeypatch.setattr(meanwhile, "cores", lambda: 1)
    with sharing_cores():
        assert not BackgroundTask(os.getpid).is_running


@forks
@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("raises", ["ValueError"]),
        ("killed", ["exit code -9"]),
        ("exits", ["SystemExit"]),
        ("not to be pickled", ["PicklingError", "AttributeError"]),
    ],
)
def test_where_the_copy_fails_the_work_is_done_here(
    end: str, why: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """And nothing of its end reaches the user, but for why it is slow."""
    here = os.getpid()

    def work() -> object:
        if os.getpid() == here:
            return "done here"
        if end == "raises":
            raise ValueError(end)
        if end == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if end == "exits":
            sys.exit(0)
        return lambda: None

    with sharing_cores(), measuring(Stopwatch()) as watch:
        answer = BackgroundTask(work)
        assert answer.is_running
        assert answer.result() == "done here"
    assert len(watch.failures) == 1
    assert watch.failures[0] in why
    assert capfd.readouterr() == ("", "")


@forks
def test_an_error_of_the_work_is_raised_here() -> None:
    """As if there had been no copy."""

    def work() -> None:
        raise KeyError("copper")

    with sharing_cores(), pytest.raises(KeyError, match="copper"):
        BackgroundTask(work).result()


@forks
def test_where_the_system_refuses_a_copy_or_a_file_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes left, no room for a file."""

    def refused(*_: object) -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    with sharing_cores():
        assert BackgroundTask(os.getpid).result() == os.getpid()
    monkeypatch.undo()
    monkeypatch.setattr(meanwhile, "cores", lambda: 2)
    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with sharing_cores():
        assert BackgroundTask(os.getpid).result() == os.getpid()


@forks
def test_a_copy_makes_none_itself_and_prints_nothing_twice(capfd: pytest.CaptureFixture[str]) -> None:
    """What stood in a buffer when the process was copied is written once."""
    sys.stdout.write("once\n")
    with sharing_cores():
        assert BackgroundTask(lambda: BackgroundTask(os.getpid).is_running).result() is False
    sys.stdout.flush()
    assert capfd.readouterr().out == "once\n"


@forks
def test_its_seconds_count_and_are_told_apart() -> None:
    """`--timing` shows each rule's share wherever it was decided."""

    def work() -> None:
        with span("LOS001"):
            time.sleep(0.01)

    with sharing_cores(), measuring(Stopwatch()) as watch:
        BackgroundTask(work).result()
    assert watch.seconds["LOS001"] >= 0.01
    assert 0.01 <= watch.background_s <= sum(watch.seconds.values())


@pytest.mark.slow
@forks
@pytest.mark.parametrize("name", ["inference_pcie_gen5_fit", "training_b200_no_backdrill", "no_stackup"])
def test_a_board_gets_the_same_report_from_one_process_and_from_two(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts, findings, tables and their order; `--jobs 1` keeps to one process."""
    monkeypatch.setattr(check, "LARGE_BYTES", 0)
    copies: list[int] = []
    really = os.fork

    def counted() -> int:
        copies.append(1)
        return really()

    monkeypatch.setattr(os, "fork", counted)
    failures: list[str] = []
    monkeypatch.setattr(meanwhile, "note_failure", failures.append)
    reports = []
    for jobs in (1, None):
        target = tmp_path / f"{jobs}.json"
        wanted = (ReportRequest("json", target),)
        check_boards(
            [board_file(name)],
            CheckRequest(Overrides(profile="training"), reports=wanted, jobs=jobs, fail_on="never"),
        )
        reports.append(target.read_bytes())
    assert reports[0] == reports[1]
    assert len(copies) == 1
    assert not failures


# -------------------------------------------------------------------------------------------------- pieces of work


def test_each_piece_is_taken_once_and_in_order() -> None:
    """By one process alone, too."""
    tray = WorkQueue(3)
    assert list(tray) == [0, 1, 2]
    assert list(tray) == []
    tray.close()
    assert list(tray) == []
    tray.close()


def test_what_was_not_taken_is_left_when_the_tray_is_closed() -> None:
    """And no more numbers are handed out than a byte can tell apart."""
    tray = WorkQueue(MOST_PIECES + 50)
    first = [number for number, _ in zip(tray, range(10), strict=False)]
    tray.close()
    assert first == list(range(10))
    whole = WorkQueue(MOST_PIECES + 50)
    assert list(whole) == list(range(MOST_PIECES))
    whole.close()


@forks
def test_two_processes_share_the_pieces_and_none_is_done_twice() -> None:
    """The next free process takes the next."""
    tray = WorkQueue(200)

    def take() -> list[int]:
        found = []
        for piece in tray:
            time.sleep(0.001)
            found.append(piece)
        return found

    with sharing_cores():
        temporary_file = BackgroundTask(take)
        mine = take()
        its = temporary_file.result()
    tray.close()
    assert mine
    assert its
    assert sorted(mine + its) == list(range(200))


def test_without_a_pipe_there_is_nothing_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many open files: the process that shares work has to see what was not done."""

    def refused() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", refused)
    tray = WorkQueue(3)
    assert list(tray) == []
    tray.close()


@pytest.mark.slow
@forks
@pytest.mark.parametrize("harm", ["the copy is killed", "no pipe"])
def test_what_a_failed_copy_took_with_it_is_decided_here(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same report as from one process: no clause is lost."""
    monkeypatch.setattr(check, "LARGE_BYTES", 0)
    here = os.getpid()

    def killed(context: Context, clause: Clause, decider: Rule | None, on: Set[Rule], left: LeftOut) -> Outcome:
        if os.getpid() != here and harm == "the copy is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        return decided(context, clause, decider, on, left)

    def refused() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    reports = []
    for jobs in (1, None):
        if jobs is None:
            monkeypatch.setattr(engine, "decided", killed)
            if harm == "no pipe":
                monkeypatch.setattr(os, "pipe", refused)
        target = tmp_path / f"{jobs}.json"
        wanted = (ReportRequest("json", target),)
        board = board_file("inference_pcie_gen5_fit")
        check_boards([board], CheckRequest(reports=wanted, jobs=jobs, fail_on="never"))
        reports.append(target.read_bytes())
    assert reports[0] == reports[1]
