"""The cache of solved cross sections: the same output with it, without it, and with a damaged file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.core.result_cache import is_caching
from stackup_lib.field_solver import perturbation, solver
from stackwright.cli.app import run
from stackwright.run import line_cache
from stackwright.run.line_cache import LineCache
from tests.support.boards import board_file
from tests.support.remembered import forget

CARD = str(board_file("inference_pcie_gen5_fit"))
QUESTION = ["impedance", CARD, "--layer", "In2.Cu", "--width", "0.1", "--gap", "0.13", "--frequency", "16", "--json"]
KEY, ENTRY = b"k" * 16, b"entry"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in a cache that is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("STACKWRIGHT_NO_CACHE", raising=False)
    return tmp_path / "cache" / "stackwright" / "lines" / "solved.sqlite3"


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command and return what it prints; it must succeed and say nothing else."""

    def run_it(*words: str) -> str:
        assert anew(*words) == 0
        out, err = capsys.readouterr()
        assert not err
        return out

    return run_it


def anew(*words: str) -> int:
    """Run a command as a new process would; the tests themselves solve each cross section once."""
    forget()
    return run([*words])


def count(file: Path) -> int:
    """Return the number of entries."""
    table = sqlite3.connect(file)
    try:
        return int(table.execute("SELECT COUNT(*) FROM entry").fetchone()[0])
    finally:
        table.close()


def refuse_to_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make whatever is solved an error."""

    def refused(*_: object) -> None:
        raise AssertionError("solved")

    for module in (solver, perturbation):
        monkeypatch.setattr(module, "assemble", refused)


def test_the_second_run_solves_nothing_and_says_the_same(
    file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte by byte."""
    first = answer(*QUESTION)
    assert count(file) > 1
    refuse_to_solve(monkeypatch)
    assert answer(*QUESTION) == first


@pytest.mark.parametrize("words", [("--no-cache", *QUESTION), (*QUESTION, "--no-cache")])
def test_without_the_cache_all_is_solved_and_nothing_cached(
    words: tuple[str, ...], file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option may stand before the command or behind it."""
    alone = answer(*words)
    assert not file.exists()
    assert answer(*QUESTION) == alone
    refuse_to_solve(monkeypatch)
    with pytest.raises(AssertionError, match="solved"):
        anew(*words)


def test_an_environment_without_the_cache(
    file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a CI that starts anew each time."""
    monkeypatch.setenv("STACKWRIGHT_NO_CACHE", "1")
    answer(*QUESTION)
    assert not file.exists()


def damage(file: Path) -> None:
    """Write over the pages behind the first."""
    text = file.read_bytes()
    file.write_bytes(text[:100] + b"\x5a" * (len(text) - 100))


def stand_in_its_way(file: Path) -> None:
    """Put a folder where the file would be."""
    file.unlink()
    file.mkdir()


SPOILED: dict[str, Callable[[Path], object]] = {
    "no database": lambda file: file.write_bytes(b"stackup" * 1000),
    "damaged": damage,
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:5000]),
    "empty": lambda file: file.write_bytes(b""),
    "a folder": stand_in_its_way,
    "another table": lambda file: sqlite3.connect(file).executescript(
        "DROP TABLE entry; CREATE TABLE entry (key, numbers); INSERT INTO entry VALUES ('a', 1)"
    ),
    "texts for numbers": lambda file: sqlite3.connect(file).executescript("UPDATE entry SET numbers = 'four'"),
    "damaged numbers": lambda file: sqlite3.connect(file).executescript("UPDATE entry SET numbers = zeroblob(40)"),
    "others may write": lambda file: file.parent.chmod(0o777),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_file_that_cannot_be_used_changes_nothing(how: str, file: Path, answer: Callable[..., str]) -> None:
    """What is damaged is removed, and made again by a later run."""
    first = answer(*QUESTION)
    SPOILED[how](file)
    assert answer(*QUESTION) == first
    assert answer(*QUESTION) == first
    if how not in ("a folder", "others may write"):
        assert count(file) > 1


def test_a_folder_that_others_may_write_to_is_not_read(
    file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user may have written the numbers."""
    answer(*QUESTION)
    file.parent.chmod(0o777)
    refuse_to_solve(monkeypatch)
    with pytest.raises(AssertionError, match="solved"):
        anew(*QUESTION)


def test_a_file_that_another_run_holds_is_waited_for_once(
    file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each cross section."""
    first = answer(*QUESTION)
    waited: list[float] = []
    connect = sqlite3.connect

    def noted(name: Path, *, timeout: float, isolation_level: None) -> sqlite3.Connection:
        waited.append(timeout)
        return connect(name, timeout=timeout / 10, isolation_level=isolation_level)

    monkeypatch.setattr(sqlite3, "connect", noted)
    holder = connect(file, isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        assert answer(*QUESTION) == first
    finally:
        holder.close()
    assert len(waited) == 1
    assert file.exists()


def test_without_a_home_nothing_is_cached(
    file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a user of a container whom the system does not know."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    first = answer(*QUESTION)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert answer(*QUESTION) == first


def test_a_python_without_sqlite_caches_nothing(
    file: Path, answer: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such Pythons exist."""
    first = answer(*QUESTION)
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert answer(*QUESTION) == first


def test_the_file_stays_small_and_the_oldest_go(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is opened with a tenth too many."""
    monkeypatch.setattr(line_cache, "MOST_ENTRIES", 100)
    numbers = [k.to_bytes(16, "big") for k in range(120)]
    for part in (numbers[:109], numbers[109:112], numbers[112:]):
        cache = LineCache(file)
        for one in part:
            cache.put(one, one)
        cache.close()
    cache = LineCache(file)
    there = [cache.get(one) for one in numbers]
    cache.close()
    assert there == [None] * 12 + numbers[12:]
    assert file.stat().st_mode & 0o077 == 0 or file.parent.stat().st_mode & 0o077 == 0


def test_a_copy_of_the_process_opens_the_file_for_itself(file: Path) -> None:
    """SQLite forbids to share what is open."""
    cache = LineCache(file)
    cache.put(KEY, ENTRY)
    child = os.fork()
    if not child:
        code = 1
        try:
            cache.put(KEY[::-1] + b"2", ENTRY)
            code = int(cache.get(KEY) != ENTRY)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cache.get(KEY[::-1] + b"2") == ENTRY
    cache.close()


def test_several_runs_at_a_time_lose_nothing(file: Path) -> None:
    """Four processes that write at once: no entry is wrong, and no run fails or prints."""
    program = (
        "import sys; from pathlib import Path; from stackwright.run.line_cache import LineCache\n"
        "cache = LineCache(Path(sys.argv[1])); number = int(sys.argv[2])\n"
        "for k in range(100):\n"
        "    cache.put(b'%d-%d' % (number, k), b'%d' % k)\n"
        "    cache.put(b'shared-%d' % k, b'%d' % k)\n"
        "    assert cache.get(b'shared-%d' % k) in (b'%d' % k, None)\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(file), str(k)], stderr=subprocess.PIPE) for k in range(4)
    ]
    for one in runs:
        _, said = one.communicate(timeout=60)
        assert (one.returncode, said) == (0, b"")
    cache = LineCache(file)
    shared = [cache.get(b"shared-%d" % k) for k in range(100)]
    cache.close()
    assert shared == [b"%d" % k for k in range(100)]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_reports_are_the_same_byte_by_byte(file: Path, jobs: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Of boards with routed links: with a cache that is empty, full, or none; in one process or two."""
    boards = [str(board_file(name)) for name in ("inference_hdi_2n2_fit", "edge_jetson_carrier_fit")]
    said = []
    for more in (["--no-cache"], [], []):
        anew("check", *boards, "--jobs", str(jobs), "--format", "json", *more)
        out, err = capsys.readouterr()
        said.append((out, err))
    assert said[0] == said[1] == said[2]
    assert count(file) > 10


@pytest.mark.slow
def test_suggested_stackups_are_the_same(file: Path, answer: Callable[..., str]) -> None:
    """A search for other goals finds some of its cross sections there, and returns what it would without them."""
    goals = ("suggest", "--profile", "inference-pcie", "--layers", "12", "--json")
    alone = answer(*goals, "--length", "pcie5=90", "--no-cache")
    answer(*goals, "--length", "pcie5=100")
    before = count(file)
    assert answer(*goals, "--length", "pcie5=90") == alone
    assert count(file) >= before > 10


def test_the_cache_ends_with_the_command(file: Path, answer: Callable[..., str]) -> None:
    """What is solved afterwards is not cached."""
    answer(*QUESTION)
    assert file.exists()
    assert not is_caching()
