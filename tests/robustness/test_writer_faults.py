"""When a process is killed or the disk refuses, the old content is there, or the new one, and never half of it."""

from __future__ import annotations

import ast
import contextlib
import errno
import itertools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from drc_rules.settings.config import Config
from drc_rules.stackup_design.plan_file import Plan, PlanRow, plan_of
from fixtures import make_boards
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError, NotWrittenError
from stackup_lib.core.files.whole_file import write_whole
from stackup_lib.kicad import read_board
from stackup_lib.kicad.syntax.scan import head, scan
from stackup_lib.kicad.write.file_edit import FileEdit, apply_edit, apply_together, digest
from stackwright.commands.apply.apply import PlanParts, propose
from stackwright.text.output import OutputError, check_target, write_file
from tests.support.kicad.demo_names import demo_names
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.kicad.kicad_boards import HEAD_V10, STACKUP, board_text, kicad_layout
from tests.support.ordinary_user import NOBODY, ordinary_user
from tests.support.robustness.killed_writers import SCENARIOS

ROOT = Path(__file__).parents[2]
FIXTURES = Path(make_boards.__file__).parent / "boards"
OLD, NEW = b"old\n" * 5000, b"new\n" * 9000
BIG = 10_000_000
posix = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def run(*command: str | Path, **environment: str) -> str:
    """Run a script of ours and return what it says."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "plugin")))
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "report.txt"
    path.write_bytes(OLD)
    return path


# --- killed ----------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kill_before_any_line_leaves_old_or_new(scenario: str) -> None:
    """SIGKILL before each line of every writer: whole files only, and the next write works and tidies up."""
    memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}  # noqa: S108 - the disk would be slow
    step = 5 if scenario == "together" else 1
    said = json.loads(
        run(ROOT / "tests" / "support" / "robustness" / "killed_writers.py", scenario, str(step), **memory)
    )
    assert said["problems"] == []
    assert said["kills"] > 60
    assert "new" in said["seen"]
    assert len(said["seen"]) == 2


@posix
def test_half_a_file_would_be_seen() -> None:
    """A writer that writes in place is caught by the same killing."""
    careless = (
        "import sys, tests.support.robustness.killed_writers as k, stackup_lib.kicad.write.file_edit as f\n"
        "def careless(folder):\n"
        "    with open(folder / 'a.kicad_dru', 'wb') as out:\n"
        "        out.write(k.NEW[:9])\n"
        "        out.flush()\n"
        "        out.write(k.NEW[9:])\n"
        "k.SCENARIOS['careless'] = careless\n"
        "k.TRACED.add('<string>')\n"
        "k.main('careless', 1)\n"
    )
    assert json.loads(run("-c", careless))["problems"]


# --- a disk that refuses ---------------------------------------------------------------------------------------------

FULL_DISK = """
import sys
from pathlib import Path
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.write.file_edit import apply_edit, digest
from stackwright.text.output import OutputError, write_file
folder, kind = Path(sys.argv[1]), sys.argv[2]
path, old, new = folder / "a.kicad_dru", b"old" * 9000, b"new" * 20000
path.write_bytes(old)
fill = folder / "fill"
fill.write_bytes(b"")
results = set()
for kept in range(0, 140_000, 4096):
    path.write_bytes(old)
    for left in folder.glob("*-bak"):
        left.unlink()
    with fill.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError:
            pass
        out.truncate(max(0, out.tell() - kept))
    try:
        if kind == "apply":
            apply_edit(path, new, expected_digest=digest(old))
        else:
            write_file(path, new.decode())
        assert path.read_bytes() == new
        results.add("written")
    except (NotWrittenError, OutputError) as refused:
        assert path.read_bytes() == old
        results.add(str(refused))
    assert not list(folder.glob(".stackwright-*"))
    fill.unlink()
print("\\n".join(sorted(results)))
"""


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 256 kB; skips where none may be mounted."""
    mount = shutil.which("mount")
    if mount is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root mounts file systems")
    folder.mkdir()
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@posix
@pytest.mark.parametrize("kind", ["apply", "report"])
def test_a_real_disk_that_is_full_at_any_page(kind: str, tmp_path: Path) -> None:
    """With any number of free pages the file is the new one or the old one, and the message says why."""
    with small_disk(tmp_path / "disk") as folder:
        said = run("-c", FULL_DISK, folder, kind).splitlines()
    assert "written" in said
    refusals = [line for line in said if line != "written"]
    assert len(refusals) == 1
    assert "No space left on device" in refusals[0] or "no space left on the disk; free some space" in refusals[0]


STEPS = ("write", "flush", "fsync", "fdopen", "chmod", "replace", "link")


FDOPEN = os.fdopen


class Failing:
    """An open file whose write or flush fails, after half of it is written."""

    def __init__(self, handle: int, step: str, number: int) -> None:
        self.file, self.step, self.number = FDOPEN(handle, "wb"), step, number

    def __enter__(self) -> Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def fileno(self) -> int:
        return self.file.fileno()

    def write(self, content: bytes) -> None:
        self.file.write(content[: len(content) // 2] if self.step == "write" else content)
        if self.step == "write":
            raise OSError(self.number, os.strerror(self.number))

    def flush(self) -> None:
        self.file.flush()
        if self.step == "flush":
            raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", STEPS)
def test_whatever_step_fails_nothing_is_lost(
    step: str, number: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports, boards, and files that are new: an error of ours, the old bytes, no rest in the folder."""

    def fail(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    def half(handle: int, mode: str, buffering: int = -1) -> object:
        return Failing(handle, step, number) if "w" in mode else FDOPEN(handle, mode, buffering)

    attempts: list[Callable[[], object]] = [
        lambda: write_file(file, NEW.decode()),
        lambda: apply_edit(file, NEW, expected_digest=digest(OLD)),
        lambda: write_file(file.with_name("new"), NEW.decode(), replace=False),
    ]
    for attempt in attempts:
        with monkeypatch.context() as patch:
            if step in ("write", "flush"):
                patch.setattr(os, "fdopen", half)
            else:
                patch.setattr(os, step, fail)
            with contextlib.suppress(OutputError, NotWrittenError):
                attempt()
        whole = {OLD, NEW}
        assert {p.read_bytes() for p in file.parent.iterdir()} <= whole
        assert not [name for name in names(file.parent) if name.startswith(".stackwright-")]
        if step in ("write", "flush", "fsync", "fdopen", "chmod"):
            assert file.read_bytes() == OLD
            assert not file.with_name("new").exists()
        file.write_bytes(OLD)
        file.with_name("new").unlink(missing_ok=True)


@posix
def test_no_permission_is_one_line_and_changes_nothing() -> None:
    """A read-only folder, a write-protected file: what was there stays, and no temporary file lies about."""
    with ordinary_user() as folder:
        path = folder / "r.txt"
        path.write_bytes(OLD)
        path.chmod(0o444)
        with pytest.raises(OutputError, match="it is write-protected"):
            write_file(path, "new")
        path.chmod(0o644)
        folder.chmod(0o555)
        for attempt in (path, folder / "other.txt"):
            with pytest.raises(OutputError, match=r"cannot be written \(Permission denied\)"):
                write_file(attempt, "new")
        assert (path.read_bytes(), names(folder)) == (OLD, {"r.txt"})
        folder.chmod(0o000)
        with pytest.raises(OutputError, match="Permission denied"):
            write_file(path, "new")
        folder.chmod(0o755)


# --- what a file is --------------------------------------------------------------------------------------------------


@posix
def test_permissions_and_owner_are_kept(file: Path, tmp_path: Path) -> None:
    """A private report stays private; root leaves a file to whom it belongs; a new file is as any program makes it."""
    file.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(file, NOBODY, NOBODY)
    before = file.stat()
    write_file(file, "new")
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    umask = os.umask(0o027)
    try:
        write_file(tmp_path / "fresh", "new")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


@posix
def test_links(file: Path, tmp_path: Path) -> None:
    """A link is kept and its target replaced, one to nothing makes the target; a hard link keeps the old content."""
    link, dangling, hard = (tmp_path / name for name in ("link", "dangling", "hard"))
    link.symlink_to(file)
    dangling.symlink_to("made")
    hard.hardlink_to(file)
    write_file(link, "new")
    write_file(dangling, "new", replace=False)
    assert (link.is_symlink(), dangling.is_symlink()) == (True, True)
    assert file.read_bytes() == (tmp_path / "made").read_bytes() == b"new"
    assert hard.read_bytes() == OLD
    apply_edit(hard, NEW, expected_digest=digest(OLD), backup=False)
    assert (hard.read_bytes(), file.read_bytes()) == (NEW, b"new")


@posix
def test_links_that_lead_in_a_circle(tmp_path: Path) -> None:
    """They are an error of the user's files, not of ours."""
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(OutputError, match="Too many levels of symbolic links"):
        write_file(circle, "new")
    with pytest.raises(OutputError, match="Too many levels of symbolic links"):
        check_target(circle, [])
    with pytest.raises(NotWrittenError, match="its links lead in a circle"):
        apply_edit(circle, NEW, expected_digest=None)
    with pytest.raises(NotWrittenError, match="its links lead in a circle"):
        apply_together([FileEdit(circle, NEW, None)])


def test_a_file_that_appears_at_the_last_moment_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must not exist yet takes its name in one step that refuses an existing one."""
    path = tmp_path / "stackwright.toml"
    link = os.link

    def late(source: Path, target: Path) -> None:
        Path(target).write_bytes(b"theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(OutputError, match="is there already"):
        write_file(path, "ours", replace=False)
    path.unlink()
    with pytest.raises(NotWrittenError, match="there is one by now"):
        apply_edit(path, b"ours", expected_digest=None)
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", {path.name})


def test_without_hard_links_a_new_file_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems have none."""

    def none(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", none)
    path = tmp_path / "n"
    write_whole(path, b"first", replace=False)
    assert path.read_bytes() == b"first"
    with pytest.raises(FileExistsError):
        write_whole(path, b"second", replace=False)
    assert (path.read_bytes(), names(tmp_path)) == (b"first", {"n"})


# --- every board: apply and undo -------------------------------------------------------------------------------------


def changed(board: Board) -> Plan:
    """A plan that requires another thickness of the first dielectric; on a board without a stackup for a new one."""
    try:
        plan = plan_of(board, Config())
    except ConfigError:
        rows: list[PlanRow] = []
        for layer in board.copper_layers:
            rows += [PlanRow(kind="copper", thickness_mm=0.035, name=layer.name)]
            rows += [PlanRow(kind="core", thickness_mm=0.2, material="some sheet")]
        return Plan(rows=tuple(rows[:-1]))
    rows = list(plan.rows)
    at = next(i for i, row in enumerate(rows) if row.kind in ("core", "prepreg"))
    sheet = rows[at].sheets[0]
    thicker = {"thickness_mm": round((sheet.thickness_mm or 0.1) + 0.0123, 4)}
    if rows[at].plies:
        plies = (sheet.model_copy(update=thicker), *rows[at].plies[1:])
        rows[at] = rows[at].model_copy(update={"plies": plies})
    else:
        rows[at] = rows[at].model_copy(update=thicker)
    return plan.model_copy(update={"rows": tuple(rows)})


def apply_and_undo(path: Path) -> bytes:
    """Apply a plan to a board, look, put every file back from its backup; return what stood there in between."""
    before = {p.name: (p.read_bytes(), p.stat().st_mode) for p in path.parent.iterdir()}
    proposal = propose(changed(read_board(path)), path, PlanParts(write=True, change_stackup=True))
    pending = [f for f in proposal.files if f.differs]
    assert path in [f.path for f in pending]
    edits = [FileEdit(f.path, f.new, None if f.old is None else digest(f.old)) for f in pending]
    for edit, written in zip(edits, apply_together(edits), strict=True):
        content = edit.path.read_bytes()
        assert content == edit.new
        if written.backup is None:
            edit.path.unlink()
        else:
            apply_edit(edit.path, written.backup.read_bytes(), expected_digest=digest(content), backup=False)
            written.backup.unlink()
    assert {p.name: (p.read_bytes(), p.stat().st_mode) for p in path.parent.iterdir()} == before
    return next(f.new for f in pending if f.path == path)


def copied(source: Path, folder: Path) -> Path:
    for suffix in (".kicad_pcb", ".kicad_pro", ".kicad_dru"):
        if source.with_suffix(suffix).exists():
            shutil.copyfile(source.with_suffix(suffix), folder / f"b{suffix}")
    settings = source.with_name("stackwright.toml")
    if settings.exists():
        shutil.copyfile(settings, folder / settings.name)
    return folder / "b.kicad_pcb"


def assert_only_the_stackup_changed(old: bytes, new: bytes) -> None:
    """All but the stackup and the board's thickness is the same; so are the line ends."""
    assert old != new
    assert b"(stackup" in new
    assert without_stackup(old) == without_stackup(new)
    if b"\r\n" in old:
        assert new.count(b"\n") == new.count(b"\r\n")


def without_stackup(content: bytes) -> bytes:
    """The bytes around `(stackup ...)`, without the board's thickness."""
    blocks = scan(content)
    setup = next(i for i, at in enumerate(blocks.items.start.tolist()) if head(content, at) == b"setup")
    for row in np.flatnonzero(blocks.parent == setup).tolist():
        start, end = int(blocks.children.start[row]), int(blocks.children.end[row])
        if head(content, start) == b"stackup":
            blanks = content[:start].rstrip()
            content = blanks + content[end:]
            break
    return re.sub(rb"\(thickness [0-9.]+\)", b"", content, count=1)


@pytest.mark.parametrize("name", make_boards.board_names())
def test_apply_and_undo_of_every_fixture_board(name: str, tmp_path: Path) -> None:
    """Board, settings and permissions are the same to the byte; in between only the stackup differs."""
    path = copied(FIXTURES / name / f"{name}.kicad_pcb", tmp_path)
    assert_only_the_stackup_changed(path.read_bytes(), apply_and_undo(path))


@pytest.mark.demo
@pytest.mark.parametrize("name", demo_names(most_bytes=BIG))
def test_apply_and_undo_of_every_demo_board(name: str, demo_boards: Path, tmp_path: Path) -> None:
    """KiCad's own boards too."""
    path = copied(demo_boards / name, tmp_path)
    assert_only_the_stackup_changed(path.read_bytes(), apply_and_undo(path))


PLAIN_MASK = STACKUP.replace("(epsilon_r 3.5) (loss_tangent 0)", "")
TEXT = kicad_layout(board_text(head=HEAD_V10, nets="", setup=PLAIN_MASK))
SPELLINGS = {
    "KiCad's layout": TEXT.encode(),
    "line ends of Windows": TEXT.replace("\n", "\r\n").encode(),
    "one line": " ".join(TEXT.split()).encode(),
    "no line end at the end": TEXT.rstrip().encode(),
    "bytes that are no UTF-8": TEXT.encode().replace(b"not ) a ( list", b"caf\xe9 \xff\xfe \xc3("),
    "UTF-8": TEXT.replace("not ) a ( list", "\u00b5 \u7535\u8def \U0001f600").encode(),
    "comment lines": b"# mine\r\n" + TEXT.replace("\n\t(setup", '\n# (setup "\n\t(setup').encode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_line_ends_and_bytes_are_kept(spelling: str, tmp_path: Path) -> None:
    """Whatever the layout, line ends or encoding: nothing but the stackup changes, and undo gives every byte back."""
    path = tmp_path / "b.kicad_pcb"
    path.write_bytes(SPELLINGS[spelling])
    new = apply_and_undo(path)
    if spelling != "comment lines":
        assert_only_the_stackup_changed(SPELLINGS[spelling], new)
    assert new.count(b"\xe9 \xff\xfe \xc3(") == SPELLINGS[spelling].count(b"\xe9 \xff\xfe \xc3(")


def test_a_board_that_is_too_old_is_left_alone(tmp_path: Path) -> None:
    """KiCad 5 had no stackup: nothing is written."""
    path = tmp_path / "b.kicad_pcb"
    path.write_text(whole_board().text(), encoding="utf-8")
    old = path.read_bytes()
    with pytest.raises(NotWrittenError, match="older than KiCad 6"):
        propose(changed(read_board(path)), path, PlanParts(write=True, change_stackup=True))
    assert (path.read_bytes(), names(tmp_path)) == (old, {path.name})


# --- one door --------------------------------------------------------------------------------------------------------

WRITES = {"write_text", "write_bytes", "copyfile", "copytree", "move", "unlink", "rmtree", "hardlink_to", "symlink_to"}
MOVES = {"replace", "rename"}
"""Of a path with one argument, or of `os`; texts and models have methods of that name."""

ALLOWED = {
    "stackup_lib/core/files/whole_file.py": "the door itself",
    "stackup_lib/core/background_process.py": "the end of a pipe, to which nothing is written",
    "stackup_lib/core/files/sole_writer.py": "the lock's own empty file, where folders cannot be locked",
    "stackup_lib/kicad/write/file_edit.py": "the new file that is undone; a copy in a temporary folder, read back",
    "plugin/stackwright/text/output.py": "a pipe or a device that the user names",
    "plugin/stackwright/run/revisions.py": "a revision, into a temporary folder",
    "plugin/stackwright/kicad/jobs.py": "a job, into a temporary folder",
    "plugin/stackwright/kicad/fixing.py": "copies in a temporary folder",
    "plugin/stackwright/kicad/single.py": "the note of a running session, which only the one that made it removes",
    "plugin/stackwright/run/line_cache.py": "a damaged cache, which is removed; SQLite writes it",
    "plugin/stackwright/run/kicad_drc.py": "what KiCad checks and says, in a temporary folder",
    "plugin/stackwright/ci/job.py": "the host's own files, which are appended to",
    "plugin/stackwright/cli/epilog.py": "lines of a help text, into Click's own buffer",
}


def writes_of(source: str) -> list[str]:
    """Calls that put something on the disk without `write_whole`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
        opened = name in ("open", "fdopen") and any(w in ("w", "wb", "a", "ab", "x", "xb") for w in words)
        of_os = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "os"
        of_path = isinstance(node.func, ast.Attribute) and len(node.args) == 1 and not node.keywords
        if opened or name in WRITES or (name in MOVES and of_path) or (name in {*MOVES, "link"} and of_os):
            found.append(name)
    return found


def test_every_file_is_written_through_one_door() -> None:
    """Boards, settings, baselines, reports, plans and fab packs: who else writes is listed above, with the reason."""
    others = {}
    for path in itertools.chain(*(ROOT.glob(f"{room}/**/*.py") for room in ("stackup_lib", "drc_rules", "plugin"))):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(("plugin/kicad_addon/", "plugin/docs/", "plugin/dev/", "plugin/browser_page/")) and (
            found := writes_of(path.read_text(encoding="utf-8"))
        ):
            others[name] = found
    assert {name: found for name, found in others.items() if name not in ALLOWED} == {}
    assert writes_of("Path(a).write_text(b)\nopen(a, 'w')\nos.replace\ntemporary.replace(real)\n") == [
        "write_text",
        "open",
        "replace",
    ]
