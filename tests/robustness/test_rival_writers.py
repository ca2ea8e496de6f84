"""Several writers of one board, one of them killed: nothing is lost, and the one that comes too late says so."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.files import sole_writer as locks
from stackup_lib.core.files.sole_writer import LOCK_NAME, HeldError, sole_writer
from stackup_lib.core.files.whole_file import keep_backup, take_place
from stackup_lib.kicad.write import file_edit
from stackup_lib.kicad.write.file_edit import FileEdit, apply_edit, apply_together, digest
from stackwright.commands.check.baseline import write_baseline
from stackwright.commands.check.command import check_one
from stackwright.commands.check.request import CheckRequest
from stackwright.commands.setup.init import init_board
from stackwright.text.output import OutputError, former_of, write_over
from tests.support.robustness.rival_writers import COMMANDS, SCENARIOS

ROOT = Path(__file__).parents[2]
BOARD = ROOT / "fixtures" / "boards" / "default_stackup" / "default_stackup.kicad_pcb"
OLD, NEW = b"old" * 5000, b"new" * 5000
posix = pytest.mark.skipif(os.name != "posix", reason="forks and locks of POSIX")


@posix
@pytest.mark.parametrize("writers", [2, 4])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_of_several_writers_one_wins_and_the_old_content_is_kept(scenario: str, writers: int) -> None:
    """200 rounds: the file is the winner's, the backup holds what was there, every other writer says that it lost."""
    assert met(scenario, writers, 200) == {"rounds": 200, "problems": []}


@posix
@pytest.mark.parametrize("command", COMMANDS)
def test_of_several_commands_one_wins_and_the_others_say_so(command: str) -> None:
    """As typed: all have read the old file when the first writes. `rival_writers.py` does more rounds."""
    assert met(command, 3, 5) == {"rounds": 5, "problems": []}


@posix
def test_commands_that_write_over_each_other_would_be_seen() -> None:
    """Without a look at what is there by now, every writer wins."""
    careless = (
        "import tests.support.robustness.rival_writers as r\n"
        "def blind(target, text, *, former, keep=False):\n"
        "    target.write_text(text)\n"
        "r.apply_command.write_over = blind\n"
        "r.main('stackup', 2, 2)\n"
    )
    assert len(met(careless)["problems"]) == 2


def met(*arguments: object) -> dict[str, list[str]]:
    """Run the program, or a text of Python instead of it; returns what it found."""
    memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}  # noqa: S108 - the disk would be slow
    paths = os.pathsep.join((str(ROOT), str(ROOT / "plugin")))
    what = ["-c"] if len(arguments) == 1 else [str(ROOT / "tests" / "support" / "robustness" / "rival_writers.py")]
    done = subprocess.run(
        [sys.executable, *what, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", **memory},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def forked(work: Callable[[], object]) -> int:
    """Run something in a copy of this process; return how it ended."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@posix
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_kill_between_two_replacements_leaves_each_file_whole_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """SIGKILL right before the first, the second and the third replacement; then the same plan is applied again."""
    paths = [tmp_path / f"{name}.kicad_dru" for name in "abc"]
    for path in paths:
        path.write_bytes(OLD)
    place, turn = take_place, iter(range(9))

    def faulty(made: Path, real: Path, *, new: bool = False) -> None:
        if next(turn) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        place(made, real, new=new)

    with monkeypatch.context() as patch:
        patch.setattr(file_edit, "take_place", faulty)
        end = forked(lambda: apply_together([FileEdit(path, NEW, digest(OLD)) for path in paths]))
    assert end == -signal.SIGKILL
    contents = [path.read_bytes() for path in paths]
    assert contents == [NEW] * at + [OLD] * (3 - at)
    kept = {path.name: path.read_bytes() for path in tmp_path.glob("*-bak")}
    assert kept == {f"{path.name}.{digest(OLD)[:12]}-bak": OLD for path in paths[: at + 1]}
    with sole_writer([tmp_path], timeout_s=0):
        pass
    apply_together([FileEdit(path, NEW, digest(content)) for path, content in zip(paths, contents, strict=True)])
    assert [path.read_bytes() for path in paths] == [NEW] * 3


@posix
def test_a_backup_takes_no_name_that_is_taken(tmp_path: Path) -> None:
    """Whatever has the backup's name, another content, a link, a folder or a pipe: it stays as it is."""
    real = tmp_path / "b.kicad_pcb"
    first = f"{real.name}.{digest(OLD)[:12]}-bak"
    real.write_bytes(OLD)
    (tmp_path / first).write_bytes(b"somebody's own")
    (tmp_path / first.replace("-bak", "-2-bak")).symlink_to(real)
    (tmp_path / first.replace("-bak", "-3-bak")).mkdir()
    os.mkfifo(tmp_path / first.replace("-bak", "-4-bak"))
    written = apply_edit(real, NEW, expected_digest=digest(OLD), check=lambda *_: None)
    assert written.backup == tmp_path / first.replace("-bak", "-5-bak")
    assert (written.backup.read_bytes(), real.read_bytes()) == (OLD, NEW)
    assert (tmp_path / first).read_bytes() == b"somebody's own"
    assert keep_backup(real, OLD) == written.backup
    assert len(list(tmp_path.glob("*-bak"))) == 5


def test_who_waits_too_long_says_so_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer that hangs, here another thread."""
    path = tmp_path / "b.kicad_dru"
    path.write_bytes(OLD)
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with sole_writer([tmp_path]):
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(30)
    monkeypatch.setattr(locks, "SHOWN_AFTER_S", 0.05)
    try:
        with pytest.raises(NotWrittenError, match="another Stackwright is writing in this folder"):
            apply_edit(path, NEW, expected_digest=digest(OLD))
        with pytest.raises(NotWrittenError, match="another Stackwright is writing in this folder"):
            apply_together([FileEdit(path, NEW, digest(OLD))])
        with pytest.raises(OutputError, match="another Stackwright is writing there"):
            write_over(path, "new", former=OLD)
    finally:
        leave.set()
        thread.join()
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(path.name, OLD)]
    apply_edit(path, NEW, expected_digest=digest(OLD), backup=False)


@posix
def test_where_folders_cannot_be_locked_a_file_is_and_it_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network file systems lock files only; some lock nothing, and are written to all the same."""
    import fcntl

    flock = fcntl.flock

    def files_only(handle: int, how: int) -> None:
        if os.path.samestat(os.fstat(handle), tmp_path.stat()):
            raise OSError(errno.EBADF, "no folders")
        flock(handle, how)

    def nothing(_handle: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", files_only)
    with sole_writer([tmp_path]):
        assert [file.name for file in tmp_path.iterdir()] == [LOCK_NAME]
        with sole_writer([tmp_path], timeout_s=0):  # this thread has it
            pass
        refused: list[BaseException] = []

        def try_it() -> None:
            try:
                with sole_writer([tmp_path], timeout_s=0):
                    pass
            except HeldError as error:
                refused.append(error)

        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
        assert len(refused) == 1
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(fcntl, "flock", nothing)
    with sole_writer([tmp_path], timeout_s=0):
        pass


class FakeMsvcrt(types.ModuleType):
    """Locks a byte of a file as Windows does: one handle at a time; another that takes the byte is refused."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.held: dict[int, int] = {}

    def locking(self, handle: int, mode: int, count: int) -> None:
        file = os.fstat(handle).st_ino
        assert count == 1
        if mode == self.LK_UNLCK:
            assert self.held.pop(file) == handle, "it is somebody else's lock"
        elif self.held.setdefault(file, handle) != handle:
            raise PermissionError(errno.EACCES, "Permission denied")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The module as Windows imports it, with a pretended `msvcrt`; the other tests keep theirs."""
    fake = FakeMsvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "O_NOINHERIT", getattr(os, "O_NOINHERIT", 0), raising=False)
    made = importlib.util.module_from_spec(importlib.util.spec_from_file_location("windows_locks", locks.__file__))  # type: ignore[arg-type]
    made.__spec__.loader.exec_module(made)  # type: ignore[union-attr]
    made.__dict__["fake"] = fake
    return made


def test_the_lock_of_windows_is_one_writers_and_does_not_stay(windows: types.ModuleType, tmp_path: Path) -> None:
    """A byte of a file is locked: held once, refused to another thread, given back, and the file taken away."""
    assert "fcntl" not in vars(windows)
    with windows.sole_writer([tmp_path]):
        assert [file.name for file in tmp_path.iterdir()] == [LOCK_NAME]
        with windows.sole_writer([tmp_path], timeout_s=0):  # this thread has it
            pass
        ends: list[str] = []

        def other(timeout_s: float) -> None:
            try:
                with windows.sole_writer([tmp_path], timeout_s=timeout_s):
                    ends.append("in")
            except windows.HeldError as error:
                ends.append(str(error.strerror))

        thread = threading.Thread(target=other, args=(0.0,))
        thread.start()
        thread.join()
        assert ends == ["another Stackwright is writing there"]
        waiting = threading.Thread(target=other, args=(60.0,))
        waiting.start()
    waiting.join()
    assert ends[1:] == ["in"]
    assert windows.__dict__["fake"].held == {}
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_windows_is_done_without_where_none_can_be(windows: types.ModuleType, tmp_path: Path) -> None:
    """A folder in which no file can be made; and a lock file that another writer still holds open stays."""
    with windows.sole_writer([tmp_path / "no such folder"], timeout_s=0):
        pass

    def held(path: Path) -> None:
        raise PermissionError(errno.EACCES, "another one waits for it", str(path))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", held)
        with windows.sole_writer([tmp_path], timeout_s=0):
            pass
    with windows.sole_writer([tmp_path], timeout_s=0):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_baseline_that_another_program_wrote_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between reading the old one and writing the new one lies a whole check."""
    target = tmp_path / "known.json"
    assert write_baseline([BOARD], target, CheckRequest(), update=False) == 0
    check = check_one

    def meanwhile(*given: object, **more: object) -> object:
        target.write_text("theirs", encoding="utf-8")
        return check(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("stackwright.commands.check.baseline.check_one", meanwhile)
    with pytest.raises(OutputError, match="was written by another program meanwhile; nothing was written"):
        write_baseline([BOARD], target, CheckRequest(), update=False)
    assert target.read_text(encoding="utf-8") == "theirs"
    capsys.readouterr()


def test_init_force_keeps_what_it_replaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings are work; the page says where the former ones lie."""
    board = tmp_path / BOARD.name
    board.write_bytes(BOARD.read_bytes())
    settings = tmp_path / "stackwright.toml"
    settings.write_text('profile = "edge"\n', encoding="utf-8")
    assert init_board(board, ask=False, force=True) == 0
    (kept,) = tmp_path.glob("stackwright.toml.*-bak")
    assert kept.read_text(encoding="utf-8") == 'profile = "edge"\n'
    assert f"the former content is in {kept.name}" in " ".join(capsys.readouterr().out.split())


def test_a_new_file_that_appears_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    """A plan or settings for which there was no file a moment ago."""
    path = tmp_path / "p.toml"
    former = former_of(path)
    path.write_text("theirs", encoding="utf-8")
    with pytest.raises(OutputError, match="written by another program meanwhile"):
        write_over(path, "ours", former=former)
    assert path.read_text(encoding="utf-8") == "theirs"
