"""What is opened is a regular file of bounded size, or it is refused in one line; one function opens, nothing else."""

from __future__ import annotations

import ast
import itertools
import os
import shutil
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from stackup_lib.core.files.plain_file import LFS, MOST_BYTES, read_plain, read_plain_text
from stackwright.__main__ import guarded
from stackwright.cli.app import run
from tests.support.boards import BOARDS
from tests.support.hang import no_hang

ROOT = Path(__file__).parents[4]
FIT = "inference_pcie_gen5_fit"
posix = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def socket_file(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path may not be long
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def folder(path: Path) -> None:
    path.mkdir()


def huge(path: Path) -> None:
    """A file of 4 TB that takes no room."""
    with path.open("wb") as out:
        out.truncate(4 * 1024**4)


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "device": (device, "it is a device"),
    "pipe": (pipe, "it is a pipe"),
    "socket": (socket_file, "it is a socket"),
    "folder": (folder, "Is a directory"),
    "huge": (huge, "it is larger than"),
}
COMMANDS = {
    "board.kicad_pcb": ["check", "board.kicad_pcb"],
    "board.kicad_pro": ["check", "board.kicad_pcb"],
    "stackwright.toml": ["check", "board.kicad_pcb"],
    "given.toml": ["check", "board.kicad_pcb", "--config", "given.toml"],
    "known.json": ["check", "board.kicad_pcb", "--baseline", "known.json"],
    "own.toml": ["check", "board.kicad_pcb", "--profile", "./own.toml"],
    "plan.toml": ["apply", "plan.toml", "board.kicad_pcb"],
    "plan.json": ["apply", "plan.json", "board.kicad_pcb"],
    "begin.toml": ["new", "new/other.kicad_pcb", "--profile", "inference-pcie", "--plan", "begin.toml"],
    "table.csv": ["compare", "board.kicad_pcb", "table.csv"],
    "cases.csv": ["validate", "cases.csv"],
    "cases.toml": ["validate", "cases.toml"],
}
"""A file that is read -> the command that reads it."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copyfile(BOARDS / FIT / f"{FIT}{suffix}", tmp_path / f"board{suffix}")
    shutil.copyfile(BOARDS / FIT / "stackwright.toml", tmp_path / "stackwright.toml")
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@posix
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_plain_file_is_refused_in_one_line(
    name: str, kind: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Boards, projects, rules, settings, baselines, profiles, plans, tables, cases."""
    make, words = KINDS[kind]
    (project / name).unlink(missing_ok=True)
    make(project / name)
    with no_hang():
        assert guarded(partial(run, COMMANDS[name])) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert "defect of Stackwright" not in said
    if (name, kind) != ("board.kicad_pcb", "folder"):  # a folder with one board means that board
        assert words in said or "no such profile file" in said or "is a folder" in said


@pytest.mark.slow
@posix
@pytest.mark.parametrize("kind", KINDS)
def test_design_rules_that_are_no_plain_file_are_a_fact_that_is_missing(
    kind: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of the board is checked; what the rules would have decided is not."""
    make, words = KINDS[kind]
    make(project / "board.kicad_dru")
    with no_hang():
        assert guarded(partial(run, ["check", "board.kicad_pcb", "--format", "json"])) in (0, 1)
    assert f"cannot be read ({words}" in capsys.readouterr().out


@posix
@pytest.mark.parametrize("target", ["nowhere", "link"])
def test_a_link_to_nothing_is_no_missing_file(target: str, tmp_path: Path) -> None:
    """It leads nowhere, or to itself; of a file that is not there, and of a good link, nothing changes."""
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError, match="the link leads nowhere") as refused:
        read_plain(tmp_path / "link")
    assert not isinstance(refused.value, FileNotFoundError)

    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "good").symlink_to("file")
    assert read_plain(tmp_path / "good") == b"text"
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "none")


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("suffix", "code", "words"),
    [
        ("stackwright.toml", 2, "stackwright.toml: cannot be read (the link leads nowhere)"),
        ("board.kicad_dru", 0, "the custom design rules (cannot be read (the link leads nowhere))"),
        ("board.kicad_pro", 0, "board.kicad_pro is a link that leads nowhere: net classes unknown"),
    ],
)
def test_a_file_next_to_the_board_that_is_a_link_to_nothing_is_told(
    suffix: str, code: int, words: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings that were not checked out turned the check off: no workload, exit code 0."""
    (project / suffix).unlink(missing_ok=True)
    assert guarded(partial(run, ["check", "board.kicad_pcb"])) == 0  # there is none
    assert "leads nowhere" not in "".join(capsys.readouterr())
    (project / suffix).symlink_to("nowhere")
    assert guarded(partial(run, ["check", "board.kicad_pcb"])) == code
    assert words in " ".join("".join(capsys.readouterr()).split())


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_or_a_backup_of_any_kind_is_left_alone(
    kind: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock is a lock by its name; what has a backup's name already keeps it."""
    from stackup_lib.kicad.write.file_edit import apply_edit, digest

    make, _ = KINDS[kind]
    settings = project / "stackwright.toml"
    old = settings.read_bytes()
    taken = project / f"stackwright.toml.{digest(old)[:12]}-bak"
    make(taken)
    with no_hang():
        written = apply_edit(settings, b"# new\n", expected_digest=digest(old))
    assert written.backup == taken.with_name(taken.name.replace("-bak", "-2-bak"))
    assert written.backup.read_bytes() == old
    settings.write_bytes(old)
    make(project / "~board.kicad_pcb.lck")
    from stackup_lib.core.errors import NotWrittenError

    board = project / "board.kicad_pcb"
    with no_hang(), pytest.raises(NotWrittenError, match="is open in KiCad; close it"):
        apply_edit(board, b"new", expected_digest=digest(board.read_bytes()))
    capsys.readouterr()


@posix
def test_a_file_that_grows_while_it_is_read_is_bounded(tmp_path: Path) -> None:
    """What the system makes up as it is read states no size."""
    stated = Path("/proc/self/status")
    if stated.exists():
        assert b"Name:" in read_plain(stated)
        with pytest.raises(OSError, match="it is larger than 1 MB"):
            read_plain(stated, 10)
    path = tmp_path / "t"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert read_plain_text(path, "utf-8-sig") == "a\nb\nc\n"
    assert read_plain(path, path.stat().st_size) == path.read_bytes()
    path.write_bytes(b"")
    assert read_plain(path) == b""
    path.write_bytes(bytes(MOST_BYTES))
    assert len(read_plain(path)) == MOST_BYTES


METHODS = {"read_bytes", "read_text", "open"}
"""Of a path, of `os`, `io`, `codecs` and the rest."""
FUNCTIONS = {"open", "fdopen", "copyfile", "copytree", "copy2", "fromfile", "loadtxt", "genfromtxt", "memmap"}

ALLOWED = {
    "stackup_lib/core/files/plain_file.py": "the door itself",
    "stackup_lib/core/files/whole_file.py": "what is written; the folder, to bring its names to the disk",
    "stackup_lib/core/files/sole_writer.py": "the lock: a folder, or an empty file without following links",
    "stackup_lib/fab_files/archive.py": "archives in memory, which were read by the door",
    "stackup_lib/core/background_process.py": "the end of a pipe",
    "plugin/stackwright/text/output.py": "the null device, where standard output has gone",
    "plugin/stackwright/text/streams.py": "the null device, where there is no stream",
    "plugin/stackwright/__main__.py": "the null device, where standard output has gone",
    "plugin/stackwright/ci/job.py": "the host's own files, which are appended to",
    "plugin/stackwright/kicad/single.py": "the note of a running session, made here and now",
    "plugin/stackwright/kicad/server.py": "the page, which is part of the program",
    "plugin/stackwright/reporters/assets.py": "style sheets and scripts, which are part of the program",
    "plugin/stackwright/run/data_digest.py": "data files, which are part of the program",
    "plugin/stackwright/run/kicad_drc.py": "what KiCad says goes into a temporary folder",
    "stackup_lib/kicad/write/new_board.py": "a template, which is part of the program",
}
OWN = ("Path(__file__)",)
"""What a file of the program itself is named by."""


def reads_of(source: str) -> list[str]:
    """Calls that open a file that is not the program's own, without `read_plain`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        of_what = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        is_copy = name == "copy" and of_what == "shutil"
        opens = name in FUNCTIONS or (name in METHODS and of_what) or is_copy
        if opens and not any(word in of_what for word in OWN):
            found.append(f"{of_what}.{name}" if of_what else name)
    return found


@pytest.mark.parametrize("name", [f"{FIT}.kicad_pcb", f"{FIT}.kicad_pro", "stackwright.toml"])
def test_a_pointer_of_git_lfs_is_no_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A board's file that was not fetched is neither broken nor without its rules."""
    shutil.copytree(BOARDS / FIT, tmp_path / "card")
    (tmp_path / "card" / name).write_bytes(LFS + b".github.com/spec/v1\noid sha256:00\nsize 1\n")
    assert run(["check", str(tmp_path / "card"), "-q"]) == 2
    said = capsys.readouterr().err
    assert f"{name}: cannot be read (it is a pointer of Git LFS, not the file); run `git lfs pull`" in said


def test_rules_that_are_a_pointer_of_git_lfs_are_not_verifiable(tmp_path: Path) -> None:
    """They are not broken rules, which would be a finding."""
    (tmp_path / "card.kicad_dru").write_bytes(LFS)
    shutil.copy(BOARDS / FIT / f"{FIT}.kicad_pcb", tmp_path / "card.kicad_pcb")
    report = check_board(tmp_path / "card.kicad_pcb")
    missing = [one for verdict in report.verdicts for one in verdict.missing if "custom design rules" in one.fact]
    assert missing
    assert all("Git LFS" in one.fact and "git lfs pull" in one.how_to_give for one in missing)
    assert "NET004" not in {finding.code for finding in report.findings}


def test_every_file_is_read_through_one_door() -> None:
    """Who else opens a file is listed above, with the reason."""
    others = {}
    for path in itertools.chain(*(ROOT.glob(f"{room}/**/*.py") for room in ("stackup_lib", "drc_rules", "plugin"))):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(("plugin/kicad_addon/", "plugin/docs/", "plugin/dev/", "plugin/browser_page/")) and (
            found := reads_of(path.read_text(encoding="utf-8"))
        ):
            others[name] = found
    assert {name: found for name, found in others.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) - set(others) == set(), "no longer needed"
    assert reads_of("Path(a).read_text()\nopen(b)\nos.open(c, 0)\nPath(__file__).with_name('x').read_text()\n") == [
        "Path(a).read_text",
        "open",
        "os.open",
    ]
