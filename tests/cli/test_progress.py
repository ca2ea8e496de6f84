"""Long commands on a terminal say what they are at; Ctrl-C is one line and leaves no half file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stackwright.run import watched
from tests.support.hang import FOR_EVER_S
from tests.support.in_process import environment

ROOT = Path(__file__).parents[2]
NAME = "training_b200_lossy_prepreg"
AT_ONCE = (
    "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background ignores it
    "import sys\nfrom stackwright.run import watched\nwatched.SHOWN_AFTER_S = 0\n"
    "from stackwright.__main__ import main\nmain()\n"
)
"""The command line with a line of progress that does not wait for two seconds."""
LONG = {
    "check": ["check", "card.kicad_pcb", "--format", "json"],
    "baseline": ["baseline", "card.kicad_pcb"],
    "delay": ["delay", "card.kicad_pcb"],
    "explain": ["explain", "VIA002", "--board", "card.kicad_pcb"],
    "fab-pack": ["fab-pack", "card.kicad_pcb", "--output", "pack"],
    "fit": ["fit", "card.kicad_pcb"],
    "impedance": ["impedance", "card.kicad_pcb"],
    "nets": ["nets", "card.kicad_pcb"],
    "suggest": ["suggest", "card.kicad_pcb", "--limit", "1"],
}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a terminal of POSIX")
Start = Callable[[list[str]], "tuple[subprocess.Popen[bytes], int]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a command with a terminal as its error stream; and the terminal's other end."""
    for file in (ROOT / "fixtures" / "boards" / NAME).iterdir():
        shutil.copy(file, tmp_path / file.name.replace(NAME, "card"))
    started = []

    def begin(words: list[str]) -> tuple[subprocess.Popen[bytes], int]:
        import pty

        out = (tmp_path.parent / "out").open("wb")  # no pipe: it is not read in the meantime
        mine, theirs = pty.openpty()
        folders = os.pathsep.join([str(ROOT), str(ROOT / "plugin")])
        process = subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, *words],
            cwd=tmp_path,
            env={**environment(), "PYTHONPATH": folders, "TERM": "xterm", "COLUMNS": "120"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        out.close()
        started.append((process, mine))
        return process, mine

    yield begin
    for process, mine in started:
        process.kill()
        process.wait()
        os.close(mine)


def read(terminal: int, until: bytes = b"") -> bytes:
    """Read what a terminal shows, to its end or to some words."""
    shown = b""
    while not until or until not in shown:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_command_says_what_it_is_at(start: Start, name: str, tmp_path: Path) -> None:
    """Which board, on the error stream of a terminal, and takes it away again; nothing of it is in the answer."""
    process, terminal = start(LONG[name])
    shown = read(terminal)
    assert process.wait(timeout=FOR_EVER_S) in (0, 1)
    out = (tmp_path.parent / "out").read_bytes()
    assert b"searching stackups" in shown if name == "suggest" else b"card.kicad_pcb" in shown
    assert shown.count(b"\x1b[?25l") == shown.count(b"\x1b[?25h")  # the cursor is shown again
    assert b"\x1b[?25" not in out
    assert out


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_in_a_long_command_is_one_line_and_leaves_nothing(start: Start, name: str, tmp_path: Path) -> None:
    """No file is there that was not, none is cut off, and the line of progress is gone."""
    process, terminal = start(LONG[name])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    shown = read(terminal, b"searching stackups" if name == "suggest" else b"card.kicad_pcb")
    process.send_signal(signal.SIGINT)
    shown += read(terminal)
    assert process.wait(timeout=FOR_EVER_S) == 130
    out = (tmp_path.parent / "out").read_bytes()
    assert shown.endswith(b"interrupted\r\n")
    assert b"Traceback" not in shown
    assert out == b""
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_of_many_boards_it_is_said_how_many_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal; else nothing is, and the answers are the same."""
    said: list[str] = []
    monkeypatch.setattr(watched.ProgressLine, "begin", lambda self: None)
    monkeypatch.setattr(watched.ProgressLine, "say", lambda self, title: said.append(title))
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    assert [*watched.counted("abc", 3)] == ["a", "b", "c"]
    assert said == []
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert [*watched.counted("abc", 3)] == ["a", "b", "c"]
    assert said == ["1 of 3 boards checked", "2 of 3 boards checked", "3 of 3 boards checked"]


SWALLOWED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from drc_rules.engine import one_clause
def interrupted(*_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt as error:
        raise ValueError("of a library: KeyboardInterrupt") from error
{where}
from stackwright.__main__ import main
main()
"""
IN_A_RULE = "one_clause._check_objects = interrupted"
OUTSIDE = "import stackwright.cli.app\nstackwright.cli.app.run = interrupted"


@pytest.mark.parametrize("where", [IN_A_RULE, OUTSIDE])
def test_ctrl_c_that_a_library_turns_into_its_own_error_is_no_defect(where: str) -> None:
    """As pydantic does while it builds a model: no rule is said to have crashed, and nothing is to be reported."""
    board = ROOT / "fixtures" / "boards" / NAME / f"{NAME}.kicad_pcb"
    words = [sys.executable, "-c", SWALLOWED.format(where=where), "check", str(board)]
    folders = os.pathsep.join([str(ROOT), str(ROOT / "plugin")])
    done = subprocess.run(
        words, env={**environment(), "PYTHONPATH": folders}, capture_output=True, timeout=FOR_EVER_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.decode()) == (130, b"", "interrupted\n")


LOST = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from drc_rules.engine import one_clause
class Garbage:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
real, left = one_clause._check_objects, [Garbage()]
def collecting(*args):
    left.clear()
    return real(*args)
one_clause._check_objects = collecting
from stackwright.__main__ import main
main()
"""


def test_ctrl_c_that_python_drops_is_heeded_at_the_next_step() -> None:
    """What is raised while garbage is collected goes no further than the error stream; the check ends all the same."""
    board = ROOT / "fixtures" / "boards" / NAME / f"{NAME}.kicad_pcb"
    folders = os.pathsep.join([str(ROOT), str(ROOT / "plugin")])
    done = subprocess.run(
        [sys.executable, "-c", LOST, "check", str(board)],
        env={**environment(), "PYTHONPATH": folders},
        capture_output=True,
        timeout=FOR_EVER_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, b"")
    assert "Exception ignored in" in done.stderr.decode()
    assert done.stderr.decode().endswith("\ninterrupted\n")
