"""Windows and macOS: what differs there is given to the code as it would find it, on whatever system this runs."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote

import pytest

from drc_rules.engine.baseline import Baseline, board_name, load_baseline
from drc_rules.engine.check import check_board
from drc_rules.engine.suppressions import accept
from drc_rules.report.known_findings import Remembered
from drc_rules.report.model import Report
from drc_rules.settings.suppression import Suppression
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.files import whole_file
from stackup_lib.core.files.file_names import as_stored, composed, found_among
from stackup_lib.core.files.whole_file import write_whole
from stackup_lib.kicad.write.file_edit import apply_edit, digest
from stackwright.kicad import doctor
from stackwright.kicad.live import PLUGIN
from stackwright.reporters import github, gitlab, junit, sarif
from stackwright.results.checked import Checked
from stackwright.run import paths, programs
from stackwright.run.data_digest import data_digest
from stackwright.run.processes import MOST_ON_WINDOWS, worker_count
from stackwright.run.revisions import board_at, has_board, is_device
from stackwright.run.user_cache import name_of
from stackwright.run.wildcards import without_wildcards
from stackwright.text import output, streams
from stackwright.text.output import OutputError, check_target, write_file
from tests.support.in_process import environment

ROOT = Path(__file__).parents[2]
BOARD = ROOT / "fixtures" / "boards" / "default_stackup" / "default_stackup.kicad_pcb"
NFC = unicodedata.normalize("NFC", "Gerät")
NFD = unicodedata.normalize("NFD", "Gerät")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git on the PATH")


class WindowsError_(PermissionError):  # noqa: N801, N818 - as Windows' Python raises it
    """An error with Windows' own number, which Python has on Windows only."""

    def __init__(self, number: int) -> None:
        super().__init__(errno.EACCES, "Access is denied")
        self.winerror = number


def checked(board: Path) -> Checked:
    """A board's outcome as reporters get it."""
    return Checked(check_board(board), None, "0" * 64, "error")


@pytest.fixture(scope="module")
def report() -> Report:
    """A report with findings."""
    return check_board(BOARD)


# names


def test_the_same_name_otherwise_composed_is_found() -> None:
    """The very name comes first, and case is not overlooked: two files may differ by it."""
    assert NFC != NFD
    assert found_among(f"{NFD}.kicad_pcb", ["a", f"{NFC}.kicad_pcb"]) == f"{NFC}.kicad_pcb"
    assert found_among(NFD, [NFC, NFD]) == NFD
    assert found_among("Card", ["card"]) is None


def test_a_typed_name_becomes_the_one_on_the_disk(tmp_path: Path) -> None:
    """As on macOS, whose file system opens `BOARD` for `Board` and one form of `Gerät` for the other."""
    (tmp_path / "Hw").mkdir()
    stored = tmp_path / "Hw" / f"{NFC}.kicad_pcb"
    stored.write_text("x")
    os.link(stored, tmp_path / "Hw" / f"{NFD.upper()}.kicad_pcb")  # stands for the lookup that lets a name pass
    (tmp_path / "hw").symlink_to("Hw")
    listing = {tmp_path: ["Hw"], tmp_path / "Hw": [stored.name, "other"]}

    def entries(folder: Path) -> list[str]:
        return listing[folder] if folder in listing else [one.name for one in folder.iterdir()]

    assert as_stored(tmp_path / "hw" / f"{NFD.upper()}.kicad_pcb", entries) == stored
    assert as_stored(stored, entries) == stored
    assert as_stored(tmp_path / "Hw" / "OTHER", entries) == tmp_path / "Hw" / "OTHER", "that is another file"


def test_where_case_counts_nothing_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths, `..` and folders that may be passed but not read stay as they were typed."""
    (tmp_path / "a").mkdir()
    (tmp_path / "Board.kicad_pcb").write_text("x")
    (tmp_path / "board.kicad_pcb").write_text("y")
    monkeypatch.chdir(tmp_path / "a")

    def unreadable(folder: Path) -> list[str]:
        raise PermissionError(errno.EACCES, "no", str(folder))

    assert as_stored(Path("../board.kicad_pcb")) == Path("../board.kicad_pcb")
    assert as_stored(tmp_path / "Board.kicad_pcb", unreadable) == tmp_path / "Board.kicad_pcb"


def test_a_baseline_from_macos_holds_on_linux(tmp_path: Path) -> None:
    """Written with the letter and its dots apart, read for a board whose name has one letter, and the other way."""
    known = Remembered(key="STK001-1", code="STK001", clause="c", title="t")
    file = tmp_path / "b.json"
    for written, asked in ((NFD, NFC), (NFC, NFD)):
        file.write_text(Baseline(boards={f"{written}.kicad_pcb": (known,)}).text(), encoding="utf-8")
        assert load_baseline(file).boards[board_name(tmp_path / f"{asked}.kicad_pcb", file)] == (known,)


def test_a_baseline_survives_a_checkout_and_an_editor_of_windows(tmp_path: Path) -> None:
    """CRLF, and a byte order mark in front."""
    known = Remembered(key="STK001-1", code="STK001", clause="c", title="t")
    baseline = Baseline(boards={"hw/card.kicad_pcb": (known,)})
    (tmp_path / "b.json").write_bytes(b"\xef\xbb\xbf" + baseline.text().replace("\n", "\r\n").encode())
    assert load_baseline(tmp_path / "b.json") == baseline


def test_a_board_on_another_drive_has_its_whole_path_as_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows knows no relative path from C: to D:."""

    def relpath(*_: object) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(os.path, "relpath", relpath)
    assert board_name(tmp_path / "a.kicad_pcb", Path("b.json")) == (tmp_path / "a.kicad_pcb").as_posix()


@pytest.mark.parametrize("name", [f"{NFC}.kicad_pcb", f"hw/{NFD}.kicad_pcb", f"C:/hw/{NFD}.kicad_pcb"])
def test_a_suppression_for_a_board_holds_in_either_form(report: Report, name: str) -> None:
    """`board` was written on one system, and is checked on another."""
    there = report.model_copy(update={"board": report.board.model_copy(update={"path": name})})
    for written in (NFC, NFD):
        one = Suppression(key=report.findings[0].key, board=f"{written}.kicad_pcb", reason="r", owner="o")
        accepted = accept(there, [one], today=date(2026, 1, 1)).accepted
        assert [one.finding.key for one in accepted] == [report.findings[0].key]


def test_paths_in_reports_are_spelt_as_git_keeps_them() -> None:
    """Git composes on macOS; elsewhere it keeps what is there, and so do we."""
    assert paths.as_git_has_it(f"hw/{NFD}.kicad_pcb", "darwin") == f"hw/{NFC}.kicad_pcb"
    assert paths.as_git_has_it(f"hw/{NFD}.kicad_pcb", "linux") == f"hw/{NFD}.kicad_pcb"


def test_the_folder_of_the_run_may_be_reached_by_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a drive that Windows maps into a network: the board resolves to where it is, so must the folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "drive").symlink_to("real")
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "drive")
    assert paths.relative_to_run(str(tmp_path / "real" / "a.kicad_pcb")) == ("a.kicad_pcb", True)


@pytest.mark.parametrize("name", ["mein Gerät #2 50%.kicad_pcb", f"{NFD}.kicad_pcb", "a,b:c.kicad_pcb"])
def test_odd_names_come_through_every_format(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path in a report, taken apart as its reader does, is the path of the file."""
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(BOARD, tmp_path / name)
    outcome = checked(Path(name))
    run = json.loads(sarif.render([outcome]))["runs"][0]
    uri = run["artifacts"][0]["location"]["uri"]

    assert unquote(uri) == name
    assert uri.isascii()
    assert not set(' #:"<>\\') & set(uri)
    assert {issue["location"]["path"] for issue in json.loads(gitlab.render([outcome]))} == {name}
    assert f'name="{name}"' in junit.render([outcome])
    escaped = name.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    assert f"file={escaped},line=" in github.render([outcome])


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such a name")
def test_a_name_that_is_no_text_can_be_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Latin-1 out of an old archive: each format is UTF-8, and SARIF's address is that of the very bytes."""
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"Ger\xe4t.kicad_pcb")
    shutil.copyfile(BOARD, tmp_path / name)
    outcome = checked(Path(name))

    assert json.loads(sarif.render([outcome]))["runs"][0]["artifacts"][0]["location"]["uri"] == "Ger%E4t.kicad_pcb"
    for render in (gitlab.render, junit.render, github.render):
        assert render([outcome]).encode("utf-8")


def test_the_path_in_a_report_has_slashes(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same board, same bytes out, on Windows too."""
    from dataclasses import replace

    from drc_rules.analysis.stackup import facts_of_board
    from drc_rules.engine.check import prepare
    from drc_rules.facts.declared import Overrides
    from drc_rules.settings.config import Config
    from stackup_lib.kicad import read_board

    board = replace(read_board(BOARD), path=PureWindowsPath(r"C:\hw\Mein Gerät\card.kicad_pcb"))  # type: ignore[arg-type]
    context, _, _ = prepare(board, Config(), Overrides())
    assert facts_of_board.board_facts(context, "").path == "C:/hw/Mein Gerät/card.kicad_pcb"


def test_the_cache_takes_a_board_of_any_name() -> None:
    """No longer than file systems allow, no device of Windows, and different for different boards."""
    long = Path("/a") / f"{'Ä' * 120}.kicad_pcb"
    assert len(f"{name_of(long)}.choice.json".encode()) <= 255
    assert not is_device(name_of(Path("/a/aux.v2.kicad_pcb")) + ".html")
    assert name_of(Path("/a/x.kicad_pcb")) != name_of(Path("/b/x.kicad_pcb"))


@pytest.mark.parametrize("name", ["NUL", "con.toml", "Aux.kicad_pcb", "com1", "LPT\u00b9.txt", "nul .toml", "CONIN$"])
def test_windows_devices_are_known(name: str) -> None:
    """Under any ending, in any case."""
    assert is_device(name)


@pytest.mark.parametrize("name", ["console.toml", "com10.toml", "auxiliary", "card.nul", "stackwright.toml"])
def test_names_like_devices_are_names(name: str) -> None:
    """Only the whole first word counts."""
    assert not is_device(name)


# writing


@pytest.mark.parametrize(
    "name",
    ["Card.KICAD_PCB", "card.kicad_pcb ", "card.kicad_pro.", "StackWright.toml", "stackwright.toml.", "x.Kicad_Dru"],
)
def test_a_report_never_takes_a_design_files_name_in_another_spelling(tmp_path: Path, name: str) -> None:
    """On Windows and macOS that is the design file itself."""
    with pytest.raises(OutputError, match="design file"):
        check_target(tmp_path / name, [])


def test_a_report_never_replaces_an_input_under_another_name(tmp_path: Path) -> None:
    """The same file, as `BASE.json` is `base.json` on Windows and macOS; a hard link stands for that here."""
    (tmp_path / "base.json").write_text("{}")
    os.link(tmp_path / "base.json", tmp_path / "BASE.json")
    with pytest.raises(OutputError, match="input of this check"):
        check_target(tmp_path / "BASE.json", [tmp_path / "base.json"])


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[int]]:
    """Let the first moves fail with a number of Windows'; returns the pauses that were made."""

    def hold(times: int, number: int) -> list[int]:
        pauses: list[int] = []
        real = os.replace

        def replace(a: Path, b: Path) -> None:
            nonlocal times
            times -= 1
            if times >= 0:
                raise WindowsError_(number)
            real(a, b)

        monkeypatch.setattr(os, "replace", replace)
        monkeypatch.setattr(time, "sleep", pauses.append)
        return pauses

    return hold


@pytest.mark.parametrize("number", [5, 32, 33])
def test_a_file_that_is_held_for_a_moment_is_written(
    tmp_path: Path, held: Callable[[int, int], list[int]], number: int
) -> None:
    """A virus scanner lets go after a while."""
    (tmp_path / "r.json").write_bytes(b"old")
    pauses = held(3, number)
    write_whole(tmp_path / "r.json", b"new")

    assert (tmp_path / "r.json").read_bytes() == b"new"
    assert len(pauses) == 3


def test_a_file_that_stays_open_elsewhere_is_one_line_and_the_old_one(
    tmp_path: Path, held: Callable[[int, int], list[int]]
) -> None:
    """Windows lets no program replace it; nothing is left next to it."""
    file = tmp_path / "r.json"
    file.write_bytes(b"old")
    held(99, 32)
    with pytest.raises(OutputError, match="another program holds it"):
        write_file(file, "new")
    with pytest.raises(NotWrittenError, match="another program has it open"):
        apply_edit(file, b"new", expected_digest=digest(b"old"), backup=False, check=lambda *_: None)

    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("r.json", b"old")]


def test_other_refusals_are_not_waited_for(tmp_path: Path, held: Callable[[int, int], list[int]]) -> None:
    """A full disk stays full."""
    pauses = held(99, 112)
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "r.json", b"new")
    assert pauses == []


def test_a_file_is_written_where_nothing_of_posix_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No owners, no links, no folder that can be opened, no fcntl: as Python on Windows."""

    def missing(*_: object) -> None:
        raise AssertionError("is not there")

    monkeypatch.delattr(os, "chown")
    monkeypatch.setattr(whole_file, "fcntl", None)
    monkeypatch.setattr(whole_file, "_umask", missing)
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(os, "open", missing)
    try:
        whole_file._sync_folder(tmp_path)
        whole_file._dress(tmp_path, tmp_path / "none")
    finally:
        monkeypatch.undo()


def test_macos_is_asked_to_empty_the_drives_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `fsync` does not; a file system that knows no better gets the plain one."""
    asked: list[int] = []

    class Fcntl:
        F_FULLFSYNC = 51

        @staticmethod
        def fcntl(_: int, command: int) -> None:
            asked.append(command)
            if len(asked) > 1:
                raise OSError(errno.ENOTSUP, "no")

    monkeypatch.setattr(whole_file, "fcntl", Fcntl)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for handle in (8, 9):
        whole_file._to_disk(handle)

    assert (asked, synced) == ([51, 51], [9])


# streams


def test_what_goes_into_a_pipe_is_utf_8_with_plain_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows' own would make the XML that says UTF-8 a lie, and other bytes than elsewhere."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252", newline="\r\n"))
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    streams.prepare()
    sys.stdout.write("85 Ω, Gerät\n")
    sys.stdout.flush()

    assert raw.getvalue() == "85 Ω, Gerät\n".encode()


def test_a_terminal_of_windows_shows_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is written out; nothing is an error."""

    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(raw, encoding="cp1252"))
    streams.prepare()
    sys.stdout.write("85 Ω, Gerät")
    sys.stdout.flush()

    assert raw.getvalue() == b"85 \\u03a9, Ger\xe4t"


def test_a_program_without_any_streams_can_write_and_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """As pythonw.exe, with which KiCad starts plugins on Windows: writing goes nowhere, there is nothing to read."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    streams.prepare()
    sys.stdout.write("85 Ω")
    sys.stderr.write("85 Ω")
    assert sys.stdin.read() == ""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the shell closes the streams")
@pytest.mark.parametrize(
    ("board", "closed", "code"),
    [
        ("edge_jetson_carrier_fit", ">&-", 0),
        ("edge_jetson_carrier_fit", "<&- >&- 2>&-", 0),
        ("training_b200_lossy_prepreg", ">&-", 1),
        ("missing", "<&- >&- 2>&-", 2),
    ],
)
def test_with_closed_streams_the_report_is_written_and_the_code_is_the_verdict(
    board: str, closed: str, code: int, tmp_path: Path
) -> None:
    """A crash would end with 1: findings."""
    target = tmp_path / "report.json"
    given = ["check", str(ROOT / "fixtures" / "boards" / board), "--format", "json", "-o", str(target)]
    command = shlex.join([sys.executable, "-m", "stackwright", *given])
    ran = subprocess.run(["sh", "-c", f"{command} {closed}"], check=False, capture_output=True)
    assert (ran.returncode, target.exists()) == (code, True)


def test_the_button_needs_no_error_stream(tmp_path: Path) -> None:
    """KiCad starts it with pythonw.exe on Windows, which has no console: it ends, it does not break."""
    shutil.copyfile(ROOT / "plugin" / "kicad_addon" / "main.py", tmp_path / "main.py")
    program = (
        "import runpy, sys; sys.modules['kipy'] = sys.stderr = None; runpy.run_path('main.py', run_name='__main__')"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False).returncode == 2


@pytest.mark.parametrize(
    ("error", "platform", "gone"),
    [
        (BrokenPipeError(errno.EPIPE, "x"), "linux", True),
        (OSError(errno.EINVAL, "Invalid argument"), "win32", True),
        (OSError(errno.EINVAL, "Invalid argument"), "linux", False),
        (OSError(errno.ENOSPC, "full"), "win32", False),
    ],
)
def test_a_reader_that_goes_away_is_known_on_every_system(error: OSError, platform: str, *, gone: bool) -> None:
    """Windows says "invalid argument"; a full disk is something else."""
    assert streams.reader_has_gone(error, platform) is gone


# other programs


def test_a_program_in_the_current_folder_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows would look there first, and a board's folder may bring a git.exe; so would a PATH with a dot."""
    for folder in ("repository", "bin"):
        (tmp_path / folder).mkdir()
        for name in ("git.exe", "git"):
            (tmp_path / folder / name).write_text("")
            (tmp_path / folder / name).chmod(0o755)
    monkeypatch.chdir(tmp_path / "repository")

    windows = {"PATH": f'.;;relative;"{tmp_path / "bin"}"'}
    assert programs.program("git", windows, "win32") == str(tmp_path / "bin" / "git.exe")
    assert programs.program("git", {"PATH": f".::{tmp_path / 'bin'}"}, "linux") == str(tmp_path / "bin" / "git")
    assert programs.program("git", {"PATH": ".;"}, "win32") is None


def test_a_folder_of_the_path_that_may_not_be_searched_holds_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PATH inherited from another user named one first: every report ended in a permission error."""
    closed, opened = tmp_path / "closed", tmp_path / "open"
    opened.mkdir()
    (opened / "git").touch(mode=0o755)

    def refused(path: Path, **_options: bool) -> os.stat_result:
        if path.parent == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path)

    real = Path.stat
    monkeypatch.setattr(Path, "stat", refused)
    assert programs.program("git", {"PATH": f"{closed}{os.pathsep}{opened}"}, "linux") == str(opened / "git")


def test_a_report_is_opened_by_the_systems_own_program() -> None:
    """By its whole path on Windows, for the same reason; the user's own command keeps its backslashes there."""
    windows, plain = programs.opening_command(None, {"SYSTEMROOT": r"D:\Win"}, "win32"), {"": ""}
    assert windows == [r"D:\Win\System32\rundll32.exe", "url.dll,FileProtocolHandler"]
    assert programs.opening_command(None, plain, "darwin") == ["/usr/bin/open"]
    assert programs.opening_command(None, plain, "linux") == ["xdg-open"]
    own = r'"C:\Program Files\Firefox\firefox.exe" -new-window'
    assert programs.opening_command(own, plain, "win32") == [r"C:\Program Files\Firefox\firefox.exe", "-new-window"]
    assert programs.opening_command("", plain, "win32") == []


def test_a_command_to_copy_is_one_for_the_users_own_shell() -> None:
    """Single quotes mean nothing to Windows."""
    words = ["stackwright", "check", r"C:\Mein Gerät\a.kicad_pcb"]
    assert programs.command_line(words, "win32") == r'stackwright check "C:\Mein Gerät\a.kicad_pcb"'
    assert programs.command_line(["a", "b c"], "darwin") == "a 'b c'"


def test_wildcards_are_taken_apart_where_the_shell_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those over boards: the ones over nets, and those that match nothing, are left as they are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "[hw]").mkdir()
    for name in ("b.kicad_pcb", "a.kicad_pcb", "_autosave-a.kicad_pcb", "a.kicad_pro"):
        (tmp_path / "[hw]" / name).write_text("")
    typed = ["check", "[hw]/*.kicad_pcb", "--impedance", "PCIE*=85", "no/*.kicad_pcb"]
    found = [str(Path("[hw]") / "a.kicad_pcb"), str(Path("[hw]") / "b.kicad_pcb")]

    assert without_wildcards(typed, "win32") == ["check", *found, *typed[2:]]
    assert without_wildcards(typed, "linux") == typed


@pytest.mark.parametrize(
    ("boards", "jobs", "platform", "workers"),
    [(200, 128, "win32", MOST_ON_WINDOWS), (200, 128, "linux", 128), (3, 128, "win32", 3), (200, 2, "win32", 2)],
)
def test_windows_waits_for_61_processes_at_most(boards: int, jobs: int, platform: str, workers: int) -> None:
    """`ProcessPoolExecutor` raises above that, there."""
    assert worker_count(boards, jobs, platform) == workers


ENTRY = """\
import multiprocessing, signal, sys
from stackwright.__main__ import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # deaf where the tests run in the background
    multiprocessing.set_start_method(sys.argv.pop(1))
    main()
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the command line as an installed one, with its processes made by a method."""
    (tmp_path / "entry.py").write_text(ENTRY)
    running: list[subprocess.Popen[bytes]] = []

    def start(method: str, *words: str | Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(tmp_path / "entry.py"), method, *map(str, words)]
        known = {**os.environ, **environment()}
        quiet = subprocess.PIPE
        running.append(subprocess.Popen(command, env=known, stdout=quiet, stderr=quiet, start_new_session=True))
        return running[-1]

    yield start
    for one in running:
        one.kill()
        one.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_several_boards_are_checked_however_processes_begin(
    method: str, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """`spawn` is how on Windows and macOS, `forkserver` on Linux since Python 3.14; the report is the same."""
    words = ("check", "--jobs", "2", "--format", "json", BOARD.parent, BOARD.parents[1] / "no_stackup")
    out, err = started(method, *words).communicate(timeout=300)
    alone, _ = started("spawn", "check", "--jobs", "1", *words[3:]).communicate(timeout=300)

    assert err == b""
    assert out == alone
    assert len(json.loads(out)["reports"]) == 2


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group")
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_ctrl_c_is_one_line_however_processes_begin(
    method: str, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """A terminal sends it to every process; only the first one says so, and the others end."""
    boards = [folder for folder in sorted(BOARD.parents[1].iterdir()) if folder.is_dir()] * 3
    running = started(method, "check", "--jobs", "2", *boards)
    assert running.stdout is not None
    running.stdout.read(200)  # it is at work
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=120)

    assert (running.returncode, err) == (130, b"interrupted\n")


# KiCad's folders


def place(env: dict[str, str], platform: str, version: str = "10.0") -> doctor.InstallPlace:
    """What the doctor takes for KiCad's folders."""
    found = doctor.newest(env, platform)
    assert found is not None
    assert found.settings.name == version
    return found


def test_kicads_folders_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings roam, the cache is local, and documents are where OneDrive has put them; HOME is Git's, not Windows'."""
    (tmp_path / "AppData/Roaming/kicad/10.0").mkdir(parents=True)
    env = {"USERPROFILE": str(tmp_path), "HOME": "/c/Users/elsewhere"}
    monkeypatch.setattr(doctor, "documents_stated", lambda: None)
    plain = place(env, "win32")
    monkeypatch.setattr(doctor, "documents_stated", lambda: "%USERPROFILE%/OneDrive/Dokumente")
    moved = place(env, "win32")

    assert plain.documents == tmp_path / "Documents/KiCad/10.0"
    assert plain.cache == tmp_path / "AppData/Local/KiCad/10.0"
    assert moved.documents == tmp_path / "OneDrive/Dokumente/KiCad/10.0"


def test_kicads_folders_on_macos(tmp_path: Path) -> None:
    """Preferences, Caches and Documents, in the spelling that a file system which heeds case needs."""
    (tmp_path / "Library/Preferences/kicad/10.0").mkdir(parents=True)
    found = place({"HOME": str(tmp_path)}, "darwin")

    assert found.documents == tmp_path / "Documents/KiCad/10.0"
    assert found.cache == tmp_path / "Library/Caches/KiCad/10.0"


@pytest.mark.parametrize(("platform", "python"), [("win32", "Scripts/python.exe"), ("darwin", "bin/python")])
def test_the_environments_python_is_found_and_named(tmp_path: Path, platform: str, python: str) -> None:
    """In the command that shows what pip says, too; and pip's configuration is that of the system."""
    folders = doctor.InstallPlace((10, 0), tmp_path / "s", tmp_path / "d", tmp_path / "c")
    plugin = folders.documents / "plugins" / "x"
    for made in (plugin, folders.environment):
        made.mkdir(parents=True)
    (plugin / "plugin.json").write_text(json.dumps({"identifier": PLUGIN}))
    proxy, command = doctor._hints(folders, {"HTTPS_PROXY": "x"}, platform)

    assert str(folders.environment / python) in command.cure
    assert {"win32": "pip.ini", "darwin": "/Library/"}[platform] in proxy.cure


def test_a_python_that_kicad_brings_along_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where KiCad is in its usual place: one that is too old is the reason for which there is no button."""
    own = tmp_path / "Contents/Frameworks/Python.framework/Versions/Current/bin/python3"
    own.parent.mkdir(parents=True)
    own.write_text(f"#!{sys.executable}\nprint('3 9')\n")
    own.chmod(0o755)
    folders = doctor.InstallPlace((10, 0), tmp_path, tmp_path, tmp_path)
    assert doctor._python(folders, {}, "darwin").state == doctor.OK
    monkeypatch.setattr(doctor, "KICAD_APP", str(tmp_path))

    assert "is Python 3.9; the packages are there for 3.11" in doctor._python(folders, {}, "darwin").what


# git and CI


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose one board has an umlaut of one letter, and a settings file named as a device of Windows."""
    (tmp_path / f"{NFC}.kicad_pcb").write_bytes(BOARD.read_bytes())
    (tmp_path / "nul.toml").write_text("")
    (tmp_path / "stackwright.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "m"]):
        subprocess.run(["git", *words], check=True, capture_output=True)
    return tmp_path


@needs_git
def test_a_commit_has_the_board_that_macos_spells_in_two_letters(repository: Path) -> None:
    """Git keeps one letter; the disk of a Mac may say two. Files that would be devices on Windows are left out."""
    (repository / f"{NFC}.kicad_pcb").rename(repository / f"{NFD}.kicad_pcb")
    board = repository / f"{NFD}.kicad_pcb"

    assert has_board("HEAD", board)
    with board_at("HEAD", board) as laid:
        assert laid.read_bytes() == BOARD.read_bytes()
        assert sorted(file.suffix for file in laid.parent.iterdir()) == [".kicad_pcb", ".toml"]


@needs_git
@pytest.mark.parametrize("written", ["./ci/all.toml", "{here}/ci/all.toml", "ci/../ci/all.toml"])
def test_settings_for_all_boards_are_known_however_they_are_written(repository: Path, written: str) -> None:
    """A change in them is one in every board; a whole path, or Windows' backslashes, had hidden that."""
    from stackwright.ci.job import choose
    from stackwright.commands.check.request import CheckRequest

    base = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    (repository / "ci").mkdir()
    (repository / "ci" / "all.toml").write_text("")
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (["add", "ci"], [*who, "commit", "-qm", "n"]):
        subprocess.run(["git", *words], check=True, capture_output=True)
    environ = {"STACKWRIGHT_CHANGED_ONLY": "true", "STACKWRIGHT_BASE": base}
    settings = CheckRequest(config=Path(written.format(here=repository)))

    assert choose(environ, settings).boards == [f"{NFC}.kicad_pcb"]
    assert choose(environ, CheckRequest(config=Path("other.toml"))).boards == []


def test_the_actions_environment_is_found_on_windows_too() -> None:
    """Its programs lie in `Scripts` there: every step that runs them looks for both."""
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert action.count('[ -d "$bin" ] || bin="$RUNNER_TEMP/stackwright-venv/Scripts"') == action.count('"$bin/python"')
    assert "stackwright-venv/bin/p" not in action


def test_the_datas_hash_is_the_same_after_a_checkout_with_crlf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git on Windows turns line ends; names are compared with slashes, in the order of their letters."""
    import stackup_lib

    plain, turned = tmp_path / "a", tmp_path / "b"
    for folder, end in ((plain, b"\n"), (turned, b"\r\n")):
        (folder / "x").mkdir(parents=True)
        (folder / "x" / "B.toml").write_bytes(b"a = 1" + end)
        (folder / "x" / "a.toml").write_bytes(b"b = 2" + end)
    found = []
    for folder in (plain, turned):
        monkeypatch.setattr(stackup_lib, "__path__", [str(folder)])
        data_digest.cache_clear()
        found.append(data_digest())
    data_digest.cache_clear()

    assert found[0] == found[1]


def test_a_board_from_a_checkout_with_crlf_has_the_same_findings(tmp_path: Path, report: Report) -> None:
    """Under the same keys, so that an acceptance holds on both systems."""
    (tmp_path / BOARD.name).write_bytes(BOARD.read_bytes().replace(b"\n", b"\r\n"))
    for suffix in (".kicad_pro", ".kicad_dru"):
        if (adjacent := BOARD.with_suffix(suffix)).exists():
            (tmp_path / adjacent.name).write_bytes(adjacent.read_bytes().replace(b"\n", b"\r\n"))
    other = check_board(tmp_path / BOARD.name)
    assert [f.key for f in other.findings] == [f.key for f in report.findings]
    assert report.findings


def test_a_profile_of_ones_own_is_written_with_slashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that were written on Windows are read elsewhere; from another drive only the whole path leads."""
    from stackwright.commands.apply import new_files

    monkeypatch.setattr(new_files, "Path", PureWindowsPath)
    monkeypatch.setattr(os.path, "relpath", lambda *_: r"..\profiles\mine.toml")
    assert new_files._written(r"C:\p\profiles\mine.toml", tmp_path) == "../profiles/mine.toml"
    assert new_files._written("edge", tmp_path) == "edge"
    assert composed(NFD) == NFC


OF_A_BOARD = (
    "check Gerät",
    "check Gerät --format html -o a.html --format sarif -o a.sarif --format json -o a.json",
    "check Gerät --format junit -o a.xml --format markdown -o a.md --format gitlab -o b.json",
    "nets Gerät",
    "impedance Gerät",
    "explain VIA002 --board Gerät",
    "stackup Gerät --format svg",
    "fab-pack Gerät -o pack",
    "baseline Gerät",
    "init Gerät --force",
    "materials Megtron 6",
)


@pytest.mark.slow
@pytest.mark.parametrize("line", OF_A_BOARD)
def test_no_encoding_is_left_to_the_system(tmp_path: Path, line: str) -> None:
    """Where the system's own is not UTF-8, as on Windows and in the locale C without UTF-8 mode, files are UTF-8."""
    shutil.copytree(BOARD.parent, tmp_path / "Gerät")
    strict = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
    odd = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    folders = os.pathsep.join([str(ROOT), str(ROOT / "plugin")])
    ran = subprocess.run(
        [sys.executable, *strict, "-m", "stackwright", *line.split()],
        cwd=tmp_path,
        env={**environment(), **odd, "PYTHONPATH": folders},
        capture_output=True,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr
    assert ran.stderr == b""
    ran.stdout.decode("utf-8")
    for file in tmp_path.rglob("*"):
        if file.is_file() and file.suffix != ".pdf":
            file.read_text(encoding="utf-8")


def test_output_helpers_are_what_they_say() -> None:
    """A place that cannot be resolved is compared by its path."""
    assert not output._is_same(Path("/nowhere/a"), Path("/nowhere/b"))
    assert output._is_same(Path("/nowhere/a"), Path("/nowhere/a"))
