"""Where the time of a check goes, and what a person sees of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from stackup_lib.core.stopwatch import OTHER, Stopwatch, measuring, span, timed
from stackwright.commands.check.command import check_boards
from stackwright.commands.check.request import CheckRequest, ReportRequest
from stackwright.run.watched import ProgressLine, shares_of, timing_lines, watched
from tests.support.mini import mini_file


class Clock:
    """A clock that moves on request."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_runs_inside_another_stretch_counts_for_itself_alone() -> None:
    """Outer 1 + 2 s around an inner of 4 s, half a second on no account: every second once."""
    clock = Clock()
    with measuring(Stopwatch(clock=clock)) as watch:
        with span("IMP002"):
            clock.now += 1
            with span("solving"):
                clock.now += 4
            clock.now += 2
        clock.now += 0.5

    assert watch.seconds == {OTHER: 0.5, "IMP002": 3.0, "solving": 4.0}
    assert watch.calls == {"IMP002": 1, "solving": 1}


def test_a_stretch_that_raises_is_closed() -> None:
    """What comes after it is not counted for it."""
    clock = Clock()
    with measuring(Stopwatch(clock=clock)) as watch:
        with pytest.raises(ValueError, match="odd"), span("reading"):
            clock.now += 1
            raise ValueError("odd")
        clock.now += 2

    assert watch.seconds == {OTHER: 2.0, "reading": 1.0}


def test_a_timed_function_is_counted_only_while_somebody_measures() -> None:
    """It returns what it returns."""

    @timed("doubling")
    def double(number: int) -> int:
        return 2 * number

    assert double(2) == 4
    with measuring(Stopwatch()) as watch:
        assert double(3) == 6
    assert watch.calls == {"doubling": 1}
    assert double(4) == 8
    assert watch.calls == {"doubling": 1}


def test_the_longest_comes_first_and_the_shares_are_of_the_whole() -> None:
    """3 of 4 seconds are 75 %."""
    seconds = shares_of(Stopwatch(seconds={"reading": 1.0, "solving": 3.0}))

    lines = timing_lines(seconds).splitlines()
    assert lines[0] == "timing: 4.000 s"
    assert [line.split() for line in lines[1:]] == [
        ["solving", "3.000", "s", "75.0", "%"],
        ["reading", "1.000", "s", "25.0", "%"],
    ]


def test_work_in_the_background_that_failed_is_told() -> None:
    """A copy that always fails makes each check take twice as long."""
    assert timing_lines({"reading": 1.0}, 0.0, ["ValueError"]).splitlines()[2:] == [
        "  background work failed and was done again: ValueError"
    ]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board with a stackup."""
    return mini_file(tmp_path, {"stackup": 'F.Cu 0.035\ncore 1.5 "370HR"\nB.Cu 0.035'}, "b")


def test_json_holds_the_timing_only_when_it_is_asked_for(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it, two runs give the same bytes; with it, the rest is the same."""
    texts = []
    for timing in (False, False, True):
        check_boards([board], CheckRequest(reports=(ReportRequest("json"),), timing=timing))
        captured = capsys.readouterr()
        assert captured.err == ""
        texts.append(captured.out)

    assert texts[0] == texts[1]
    (report,) = json.loads(texts[2])["reports"]
    timing = report.pop("timing")
    assert [report] == json.loads(texts[0])["reports"]
    assert {"reading", "materials", "STK001"} <= set(timing["seconds"])
    assert timing["total_s"] == pytest.approx(sum(timing["seconds"].values()), abs=1e-4)


def test_text_shows_the_timing_on_the_error_stream(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is piped on is the report alone."""
    check_boards([board], CheckRequest())
    plain = capsys.readouterr()
    check_boards([board], CheckRequest(timing=True))
    timed_run = capsys.readouterr()

    assert plain.err == ""
    assert timed_run.out == plain.out
    assert timed_run.err.startswith("timing: ")
    assert "STK001" in timed_run.err


def test_work_that_takes_long_says_on_a_terminal_what_it_is_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only once the patience has ended; then the board's name and the step that runs."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    patience = ProgressLine("card.kicad_pcb")
    patience.tell("reading")
    assert capsys.readouterr().err == ""

    patience.begin()
    patience.tell("solving")
    patience.end()

    assert patience.text() == "card.kicad_pcb: solving"
    assert "card.kicad_pcb: " in capsys.readouterr().err


def test_quick_work_says_nothing_on_a_terminal_either(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line waits for two seconds."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with watched("card.kicad_pcb"), span("solving"):
        pass
    assert capsys.readouterr().err == ""


def test_nothing_is_said_into_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """However long it takes: no user waits for it there."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with watched("card.kicad_pcb") as watch, span("solving"):
        assert watch.tell is None
    assert capsys.readouterr().err == ""
