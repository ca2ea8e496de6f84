"""A changed file onto the disk: whole or not at all, whatever fails, with a backup and never under KiCad's hands."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.core.errors import BoardFileError, NotWrittenError
from stackup_lib.kicad.write.file_edit import FileEdit, apply_edit, apply_together, diff_text, digest, lock_of
from tests.support.kicad.kicad_boards import HEAD_V10, board_text, kicad_layout
from tests.support.ordinary_user import ordinary_user

ROOT = Path(__file__).parents[4]
OLD = kicad_layout(board_text(head=HEAD_V10, nets="")).encode()
NEW = OLD.replace(b"(epsilon_r 4.5)", b"(epsilon_r 4.25)")


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "board.kicad_pcb"
    path.write_bytes(OLD)
    return path


def apply(path: Path, new: bytes = NEW, *, backup: bool = True) -> Path | None:
    return apply_edit(path, new, expected_digest=digest(OLD), backup=backup).backup


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def test_the_new_content_stands_and_the_old_one_lies_beside_it(board: Path) -> None:
    """The backup holds the former bytes under a name that KiCad does not open; nothing else is left behind."""
    backup = apply(board)
    assert board.read_bytes() == NEW
    assert backup is not None
    assert backup.read_bytes() == OLD
    assert backup.name == f"board.kicad_pcb.{digest(OLD)[:12]}-bak"
    assert names(board.parent) == {"board.kicad_pcb", backup.name}


def test_apply_and_undo_restore_every_byte(board: Path) -> None:
    """The backup applied again gives the former file, and a third turn finds its backups there already."""
    backup = apply(board)
    assert backup is not None
    back = apply_edit(board, backup.read_bytes(), expected_digest=digest(NEW))
    assert board.read_bytes() == OLD
    apply(board)
    assert back.backup is not None
    assert names(board.parent) == {"board.kicad_pcb", backup.name, back.backup.name}


def test_the_same_content_touches_nothing(board: Path) -> None:
    """Neither the file, nor its time, nor a backup."""
    before = board.stat()
    written = apply_edit(board, OLD, expected_digest=digest(OLD))
    assert (written.changed, written.backup) == (False, None)
    assert board.stat().st_mtime_ns == before.st_mtime_ns
    assert names(board.parent) == {"board.kicad_pcb"}


def test_without_a_backup_there_is_none(board: Path) -> None:
    """`backup=False` leaves the new file alone in its folder."""
    assert apply(board, backup=False) is None
    assert names(board.parent) == {"board.kicad_pcb"}


def test_a_new_file_must_not_exist_yet(tmp_path: Path) -> None:
    """With no expected digest a file is made, and one that is there is not overwritten."""
    path = tmp_path / "board.kicad_dru"
    written = apply_edit(path, b"(version 1)\n", expected_digest=None)
    assert (written.changed, written.backup, path.read_bytes()) == (True, None, b"(version 1)\n")
    with pytest.raises(NotWrittenError, match="exists already"):
        apply_edit(path, b"(version 2)\n", expected_digest=None)


def test_what_changed_since_it_was_read_is_not_overwritten(board: Path) -> None:
    """Another program's save between reading and writing wins."""
    board.write_bytes(OLD + b"\n")
    with pytest.raises(NotWrittenError, match="changed since it was read; run the command again"):
        apply(board)
    assert board.read_bytes() == OLD + b"\n"
    board.unlink()
    with pytest.raises(NotWrittenError, match="is gone"):
        apply(board)


def test_a_save_at_the_last_moment_is_not_overwritten(board: Path) -> None:
    """A save while the new file is being checked wins too."""
    theirs = OLD + b"\n"
    with pytest.raises(NotWrittenError, match="changed since it was read"):
        apply_edit(board, NEW, expected_digest=digest(OLD), check=lambda path, _: path.write_bytes(theirs))
    assert board.read_bytes() == theirs


@pytest.mark.parametrize(
    "content", ['{"hostname":"lab","username":"ada"}', "", "[1]", "{}", '{"hostname":"\\u001b[31m"}']
)
def test_a_board_that_kicad_holds_is_not_written(board: Path, content: str) -> None:
    """KiCad's lock file says so, whatever stands in it; the message names who and what to do."""
    lock = board.with_name("~board.kicad_pcb.lck")
    lock.write_text(content)
    with pytest.raises(NotWrittenError) as refused:
        apply(board)
    assert "is open in KiCad" in str(refused.value)
    assert f"delete {lock}" in str(refused.value)
    assert ("ada on lab" in str(refused.value)) == ("ada" in content)
    assert "\x1b" not in str(refused.value)
    assert (board.read_bytes(), names(board.parent)) == (OLD, {board.name, lock.name})


def test_a_kicad_that_opens_the_board_meanwhile_stops_the_write(board: Path) -> None:
    """The lock is looked at again just before the new file takes its place."""
    lock = board.with_name("~board.kicad_pcb.lck")
    with pytest.raises(NotWrittenError, match="is open in KiCad"):
        apply_edit(board, NEW, expected_digest=digest(OLD), check=lambda *_: lock.write_text("{}"))
    assert board.read_bytes() == OLD


def test_a_project_is_held_by_every_editor_of_its_files(tmp_path: Path) -> None:
    """An open board or schematic holds the project, an open project does not hold the board."""
    project = tmp_path / "b.kicad_pro"
    for suffix in ("kicad_pro", "kicad_pcb", "kicad_sch"):
        lock = tmp_path / f"~b.{suffix}.lck"
        lock.touch()
        assert lock_of(project) == lock
        assert (lock_of(tmp_path / "b.kicad_pcb") == lock) == (suffix == "kicad_pcb")
        lock.unlink()
    assert lock_of(project) is None


def test_a_link_stays_a_link(board: Path, tmp_path: Path) -> None:
    """The file that it points to changes, its backup is there; a lock next to the file or next to the link counts."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "linked.kicad_pcb"
    link.symlink_to(board)
    for lock in (folder / "~linked.kicad_pcb.lck", board.with_name("~board.kicad_pcb.lck")):
        lock.touch()
        with pytest.raises(NotWrittenError, match="open in KiCad"):
            apply(link)
        lock.unlink()
    backup = apply(link)
    assert link.is_symlink()
    assert board.read_bytes() == link.read_bytes() == NEW
    assert backup is not None
    assert backup.parent == board.parent


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_kept(board: Path) -> None:
    """Of the file, and for its backup."""
    board.chmod(0o640)
    backup = apply(board)
    assert backup is not None
    assert [oct(path.stat().st_mode & 0o777) for path in (board, backup)] == ["0o640", "0o640"]


def test_a_write_protected_file_stays(board: Path) -> None:
    """Although its folder would let it be replaced."""
    board.chmod(0o444)
    with pytest.raises(NotWrittenError, match="is write-protected; make it writable"):
        apply(board)
    assert (board.read_bytes(), names(board.parent)) == (OLD, {board.name})


def test_a_board_that_would_not_read_back_is_not_written(board: Path) -> None:
    """Bytes that our own reader refuses never reach the file."""
    with pytest.raises(BoardFileError, match="cut short"):
        apply(board, NEW[:-20])
    assert (board.read_bytes(), names(board.parent)) == (OLD, {board.name})


def test_a_project_that_would_not_read_back_is_not_written(tmp_path: Path) -> None:
    """Neither a broken JSON, nor one of the wrong shape."""
    project = tmp_path / "p.kicad_pro"
    project.write_bytes(b"{}\n")
    for broken in (b"{", b'{"net_settings": 1}'):
        with pytest.raises(BoardFileError, match=f"^{re.escape(str(project))}"):
            apply_edit(project, broken, expected_digest=digest(b"{}\n"))
    assert (project.read_bytes(), names(tmp_path)) == (b"{}\n", {project.name})


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    """Nor is what is no file at all."""
    with pytest.raises(NotWrittenError):
        apply_edit(tmp_path, b"", expected_digest=digest(b""))


@pytest.fixture
def three(board: Path) -> list[FileEdit]:
    """A board, its project, and rules that do not exist yet."""
    project = board.with_suffix(".kicad_pro")
    project.write_bytes(b"{}")
    return [
        FileEdit(board, NEW, digest(OLD)),
        FileEdit(board.with_suffix(".kicad_dru"), b"(version 1)\n", None),
        FileEdit(project, b'{"a": 1}', digest(b"{}")),
    ]


def test_files_that_change_together(three: list[FileEdit], board: Path) -> None:
    """All are written, and the former ones lie next to them."""
    written = apply_together(three)
    assert [edit.path.read_bytes() for edit in three] == [edit.new for edit in three]
    assert [w.backup.read_bytes() if w.backup else None for w in written] == [OLD, None, b"{}"]
    assert len(names(board.parent)) == 5


@pytest.mark.parametrize("fault", ["lock", "changed", "unreadable", "exists", "disk"])
def test_all_files_or_none(three: list[FileEdit], board: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stops the last file, the first ones have their former bytes, and a new one is gone."""
    project = board.with_suffix(".kicad_pro")
    if fault == "lock":
        board.with_name("~board.kicad_pro.lck").touch()
    elif fault == "changed":
        project.write_bytes(b"{ }")
    elif fault == "unreadable":
        three[2] = FileEdit(project, b"{", digest(b"{}"))
    elif fault == "exists":
        three[1].path.write_bytes(b"mine")
    else:
        replace = os.replace

        def no_project(source: Path, target: Path) -> None:
            if target == project:
                raise OSError(errno.ENOSPC, "full")
            replace(source, target)

        monkeypatch.setattr(os, "replace", no_project)
    before = {file.name: file.read_bytes() for file in board.parent.iterdir()}
    with pytest.raises((NotWrittenError, BoardFileError)):
        apply_together(three)
    after = {file.name: file.read_bytes() for file in board.parent.iterdir() if not file.name.endswith("-bak")}
    assert after == before


def failing(number: int) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("step", ["replace", "fsync", "fdopen", "chmod"])
@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "no space left on the disk; free some space"),
        (errno.EACCES, "no permission; check the permissions"),
        (errno.EROFS, "the file system is read-only; copy the project"),
        (errno.EIO, "nput/output error; correct that"),
    ],
)
def test_whatever_the_disk_refuses_the_old_file_is_whole(
    board: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int, says: str
) -> None:
    """At every step: one line that names the file and the reason, the old bytes, and no temporary file."""
    with monkeypatch.context() as patch:
        patch.setattr(os, step, failing(number))
        with pytest.raises(NotWrittenError) as refused:
            apply(board)
    assert str(refused.value).startswith(f"{board}: was not changed: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert board.read_bytes() == OLD
    assert not [name for name in names(board.parent) if name.endswith(".tmp")]


def test_a_replace_that_fails_last_leaves_a_backup_and_the_old_file(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup takes a name that is free; the only replacement is that of the board itself."""
    calls: list[object] = []
    replace = os.replace

    def fails_once(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 1:
            raise OSError(errno.EBUSY, "busy")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails_once)
    with pytest.raises(NotWrittenError, match="was not changed: busy"):
        apply(board)
    assert calls == [board]
    assert board.read_bytes() == OLD
    assert names(board.parent) == {board.name, f"{board.name}.{digest(OLD)[:12]}-bak"}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_read_only_folder_is_one_clear_line() -> None:
    """The kernel itself refuses; the file is as it was."""
    with ordinary_user() as folder:
        path = folder / "board.kicad_pcb"
        path.write_bytes(OLD)
        folder.chmod(0o555)
        with pytest.raises(
            NotWrittenError, match="was not changed: no permission; check the permissions of file and folder"
        ):
            apply(path)
        assert (path.read_bytes(), names(folder)) == (OLD, {path.name})
        path.chmod(0o000)
        with pytest.raises(NotWrittenError, match="no permission"):
            apply(path)
        path.chmod(0o644)


LIMITED = """
import resource, signal, sys
from pathlib import Path
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.write.file_edit import apply_edit, digest
path, new = Path(sys.argv[1]), Path(sys.argv[2]).read_bytes()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (len(new) // 2, len(new) // 2))
try:
    apply_edit(path, new, expected_digest=digest(path.read_bytes()))
except NotWrittenError as refused:
    print(refused)
"""
WRITER = """
import sys
from pathlib import Path
from stackup_lib.kicad.write.file_edit import apply_edit, digest
path, contents = Path(sys.argv[1]), [Path(name).read_bytes() for name in sys.argv[2:]]
print("ready", flush=True)
for turn in range(10**9):
    old = path.read_bytes()
    apply_edit(path, contents[turn % 2], expected_digest=digest(old), check=lambda *_: None)
"""


def child(script: str, *arguments: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_disk_that_takes_half_of_it_leaves_the_old_file(board: Path, tmp_path: Path) -> None:
    """The kernel refuses a write in the middle of the file: one line, the old bytes, no rest."""
    new = tmp_path / "new"
    new.write_bytes(NEW)
    said, _ = child(LIMITED, board, new).communicate(timeout=120)
    assert (
        said.strip()
        == f"{board}: was not changed: the file would grow beyond the allowed size; correct that and try again"
    )
    assert (board.read_bytes(), names(tmp_path)) == (OLD, {board.name, "new"})


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_kill_at_any_moment_leaves_one_of_the_contents(board: Path, tmp_path: Path) -> None:
    """A writer that is killed again and again while it swaps two boards never leaves half of one."""
    contents = []
    for name, content in (("a", OLD * 40), ("b", NEW * 40)):
        contents.append(tmp_path / name)
        contents[-1].write_bytes(content)
    whole = {digest(file.read_bytes()) for file in contents}
    board.write_bytes(contents[0].read_bytes())
    seen: set[str] = set()
    for turn in range(12):
        process = child(WRITER, board, *contents)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.003 * turn)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        seen.add(digest(board.read_bytes()))
        backups = [file for file in tmp_path.iterdir() if file.name.endswith("-bak")]
        assert {digest(file.read_bytes()) for file in backups} <= whole
    assert seen <= whole


def test_what_a_killed_writer_left_is_taken_away_later(board: Path) -> None:
    """A temporary file of hours ago goes with the next write; a young one may belong to a running process."""
    old, young = (board.with_name(f".stackwright-{name}-board.kicad_pcb.tmp") for name in ("old", "young"))
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    apply(board)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_diff_shows_only_what_changes() -> None:
    """Three lines around the change, with the numbers of the whole file; nothing for the same bytes."""
    lines = [f"line {i}" for i in range(1, 100_001)]
    old = "\n".join(lines) + "\n"
    new = old.replace("line 50000\n", "line x\n")
    expected = """--- a/b
+++ b/b
@@ -49997,7 +49997,7 @@
 line 49997
 line 49998
 line 49999
-line 50000
+line x
 line 50001
 line 50002
 line 50003
"""
    assert diff_text(old.encode(), new.encode(), name="b") == expected
    assert diff_text(old.encode(), old.encode(), name="b") == ""


@pytest.mark.parametrize(
    ("old", "new", "hunk"),
    [
        ("a\nb\n", "a\nb\nc\n", "@@ -1,2 +1,3 @@\n a\n b\n+c\n"),
        ("a\na\na\n", "a\na\n", "-a\n"),
        ("", "a\n", "+a\n"),
        ("x\r\ny\r\n", "x\r\nz\r\n", "-y\n+z\n"),
        ("a", "\x1b[31mb", "-a\n+\ufffd[31mb\n"),
    ],
)
def test_a_diff_at_the_edges(old: str, new: str, hunk: str) -> None:
    """Additions at the end, repeated lines, an empty file, Windows line ends; nothing that a terminal would obey."""
    assert hunk in diff_text(old.encode(), new.encode(), name="b")
