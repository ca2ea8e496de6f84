"""A changed file onto the disk: whole or not at all, never under KiCad's hands, with a backup.

One Stackwright at a time reads, checks, keeps and replaces (`sole_writer`). The backup holds the bytes that were
checked; a writer that comes too late finds the file changed, says so and changes nothing.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from stackup_lib.core.errors import BoardFileError, NotWrittenError, StackwrightError
from stackup_lib.core.files.plain_file import read_board_bytes, read_plain_text
from stackup_lib.core.files.sole_writer import HeldError, sole_writer
from stackup_lib.core.files.whole_file import (
    is_held,
    keep_backup,
    permissions,
    real_path,
    remove_leftovers,
    take_place,
    temporary_file,
)
from stackup_lib.core.record import record
from stackup_lib.kicad.read.project import read_project
from stackup_lib.kicad.read.reader import read_board

_REASONS = {
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left in your quota",
    errno.EFBIG: "the file would grow beyond the allowed size",
    errno.EEXIST: "there is one by now",
    errno.ELOOP: "its links lead in a circle",
}
_NEXT_STEPS = {
    errno.EACCES: "check the permissions of file and folder",
    errno.EPERM: "check the permissions of file and folder",
    errno.EROFS: "copy the project to a folder that can be written",
    errno.ENOSPC: "free some space and try again",
}
_CONTEXT_LINES = 3
MOST_LOCK_BYTES = 64 * 1024


@record
class Written:
    """What `apply_edit` did.

    Attributes:
        path: the file that was replaced; for a link the file that it points to.
        changed: False when the file held these bytes already; then nothing was touched.
        backup: where the former content lies; None when there was none, or none was wanted.
    """

    path: Path
    changed: bool
    backup: Path | None


def digest(content: bytes) -> str:
    """Return the fingerprint by which a file's content is recognised: SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def lock_of(path: Path) -> Path | None:
    """Return the lock file of a KiCad that holds this file, None when there is none.

    KiCad 10 puts `~NAME.lck` next to a board and next to its project while they are open, `NAME` with its suffix. A
    project is rewritten by every editor that has one of its files open, so for a `.kicad_pro` the locks of board and
    schematic count too.
    """
    names = [path.name]
    if path.suffix == ".kicad_pro":
        names += [path.with_suffix(suffix).name for suffix in (".kicad_pcb", ".kicad_sch")]
    try:
        real = real_path(path)
    except OSError:  # then no program can have opened it
        real = path
    for folder in dict.fromkeys((path.parent, real.parent)):
        for name in dict.fromkeys((*names, real.name)):
            if (lock := folder / f"~{name}.lck").exists():
                return lock
    return None


def apply_edit(
    path: Path,
    new: bytes,
    *,
    expected_digest: str | None,
    backup: bool = True,
    check: Callable[[Path, bytes], object] | None = None,
    even_if_open: bool = False,
) -> Written:
    """Replace a file's content, so that at any moment the old or the new one stands there whole.

    Args:
        path: the file; a link is followed, and stays a link; a second name of it (a hard link) keeps the old content.
        new: what shall stand in it.
        expected_digest: `digest` of the content from which `new` was made; None when the file must not exist yet.
        backup: keep the former content next to it, as `NAME.<digest>-bak`.
        check: called with the path and the bytes read back from the disk before they take their place; raises when they
            are not to be used. By default boards and projects are read by our own reader.
        even_if_open: KiCad may hold the file: the caller lets it read the new one at once.

    Raises:
        NotWrittenError: KiCad holds the file, it changed since it was read, or the disk refuses; the file is as it was.
        BoardFileError: the new content cannot be read back.
    """
    with _told(path):
        real = real_path(path)
    with _told(path), sole_writer([real.parent]):
        if not even_if_open:
            _refuse_lock(path)
        old = _unchanged(real, expected_digest)
        if expected_digest == digest(new):
            return Written(real, changed=False, backup=None)
        refuse_unwritable(path)
        with temporary_file(real, new, like=real) as made:
            (check or _read_back)(path, read_board_bytes(made))
            kept = keep_backup(real, old) if backup and old is not None else None
            if not even_if_open:
                _refuse_lock(path)
            _unchanged(real, expected_digest)
            take_place(made, real, new=old is None)
    remove_leftovers(real.parent)
    return Written(real, changed=True, backup=kept)


def refuse_unwritable(path: Path) -> None:
    """Refuse a file, there or not yet, whose write protection or folder would stop `apply_edit`; nothing is tried.

    Raises:
        NotWrittenError: see above.
    """
    with _told(path):
        real = real_path(path)
        mode = _permissions(real)
    if mode is not None and not mode & stat.S_IWUSR:
        raise NotWrittenError(str(path), "is write-protected", "make it writable, then try again")
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise NotWrittenError(str(path), "was not changed: no permission", _NEXT_STEPS[errno.EACCES])


@record
class FileEdit:
    """One file of several that change together; see `apply_edit` for the fields."""

    path: Path
    new: bytes
    expected_digest: str | None


def apply_together(
    edits: Sequence[FileEdit], *, backup: bool = True, even_if_open: bool = False
) -> tuple[Written, ...]:
    """Apply edits to several files, all of them or none: what was written already is put back when a later one fails.

    Each file is whole at any moment; a process that is killed between two files leaves the first ones new, with their
    backups next to them.

    Raises:
        NotWrittenError, BoardFileError: as `apply_edit`; every file is as it was.
    """
    folders = set()
    for edit in edits:
        with _told(edit.path):
            folders.add(real_path(edit.path).parent)
    with _told(edits[0].path) if edits else contextlib.nullcontext(), sole_writer(folders):
        return _applied_together(edits, backup=backup, even_if_open=even_if_open)


def _applied_together(edits: Sequence[FileEdit], *, backup: bool, even_if_open: bool) -> tuple[Written, ...]:
    former: dict[Path, bytes | None] = {}
    for edit in edits:  # nothing is written before all could be
        if not even_if_open:
            _refuse_lock(edit.path)
        with _told(edit.path):
            former[edit.path] = _unchanged(real_path(edit.path), edit.expected_digest)
    done: list[tuple[FileEdit, Written]] = []
    try:
        for edit in edits:
            written = apply_edit(
                edit.path, edit.new, expected_digest=edit.expected_digest, backup=backup, even_if_open=even_if_open
            )
            done.append((edit, written))
    except BaseException:
        for edit, written in reversed(done):
            if written.changed:
                _put_back(edit, former[edit.path], even_if_open=even_if_open)
        raise
    return tuple(written for _, written in done)


def _put_back(edit: FileEdit, content: bytes | None, *, even_if_open: bool) -> None:
    if content is None:
        with _told(edit.path):
            real = real_path(edit.path)
            _unchanged(real, digest(edit.new))
            real.unlink()
    else:
        apply_edit(edit.path, content, expected_digest=digest(edit.new), backup=False, even_if_open=even_if_open)


def _refuse_lock(path: Path) -> None:
    lock = lock_of(path)
    if lock is None:
        return
    try:
        stated = json.loads(read_plain_text(lock, most_bytes=MOST_LOCK_BYTES, errors="replace"))
        who = f" ({stated['username']} on {stated['hostname']})" if isinstance(stated, dict) else ""
    except (OSError, ValueError, KeyError):
        who = ""
    step = f"close it in KiCad; if no KiCad runs, delete {lock}"
    raise NotWrittenError(str(path), f"is open in KiCad{_printable(who)}", step)


def _printable(text: str) -> str:
    return "".join(c for c in text if c.isprintable())[:80]


def _unchanged(real: Path, expected: str | None) -> bytes | None:
    """Return the file's content, None where there is no file; refuse another content than the expected one."""
    try:
        found: bytes | None = read_board_bytes(real)
    except FileNotFoundError:
        found = None
    except OSError as bad:
        raise _refusal(real, bad) from None
    if (None if found is None else digest(found)) == expected:
        return found
    if expected is None:
        raise NotWrittenError(str(real), "exists already", "give another name")
    what = "is gone" if found is None else "changed since it was read"
    raise NotWrittenError(str(real), what, "run the command again")


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Within this block, what the disk refuses becomes one line."""
    try:
        yield
    except StackwrightError:
        raise
    except OSError as bad:
        raise _refusal(path, bad) from None


def _refusal(path: Path, bad: OSError) -> NotWrittenError:
    if isinstance(bad, HeldError):
        what = "was not changed: another Stackwright is writing in this folder"
        return NotWrittenError(str(path), what, "run the command again when that one is done")
    if is_held(bad):
        what = "was not changed: another program has it open, or there is no permission"
        return NotWrittenError(str(path), what, "close it there, and check the permissions of file and folder")
    number = bad.errno or 0
    reason = _REASONS.get(number, bad.strerror or "the disk refuses")
    return NotWrittenError(
        str(path), f"was not changed: {reason}", _NEXT_STEPS.get(number, "correct that and try again")
    )


def _permissions(real: Path) -> int | None:
    """The permissions of the file, None when it does not exist yet."""
    try:
        return permissions(real)
    except OSError as bad:
        if bad.errno in (errno.EISDIR, errno.EINVAL):
            raise NotWrittenError(str(real), "is not a file", "give the file itself") from None
        raise


def _read_back(path: Path, content: bytes) -> None:
    """Raise when a board or a project cannot be read."""
    if path.suffix == ".kicad_pcb":
        read_board(path, text=content)
    elif path.suffix == ".kicad_pro":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_bytes(content)
            try:
                read_project(copy, ())
            except BoardFileError as bad:
                where = bad.where.replace(str(copy), str(path))
                raise BoardFileError(where, bad.what, bad.next_step) from None


def diff_text(old: bytes, new: bytes, *, name: str) -> str:
    """Return a unified diff of the part that changes, "" when nothing does; quick for large boards too."""
    if old == new:
        return ""
    start, end = _same_ahead(old, new)
    first = old.rfind(b"\n", 0, start) + 1
    for _ in range(_CONTEXT_LINES):
        first = old.rfind(b"\n", 0, max(0, first - 1)) + 1
    end = min(end, len(old) - start, len(new) - start)
    old_lines, new_lines = (_shown(content, first, len(content) - end) for content in (old, new))
    lines = difflib.unified_diff(old_lines, new_lines, f"a/{name}", f"b/{name}", lineterm="", n=_CONTEXT_LINES)
    skipped = old.count(b"\n", 0, first)
    return "\n".join(_shifted(line, skipped) for line in lines) + "\n"


def _shown(content: bytes, first: int, stop: int) -> list[str]:
    """The lines from `first` to a few behind `stop`, safe for a terminal."""
    for _ in range(_CONTEXT_LINES + 1):
        found = content.find(b"\n", stop)
        stop = len(content) if found < 0 else found + 1
    text = content[first:stop].decode("utf-8", "replace").removesuffix("\n")
    return [
        "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line.removesuffix("\r"))
        for line in text.split("\n")
    ]


def _same_ahead(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes are the same at the beginning and at the end."""
    shorter = min(len(old), len(new))
    a, b = np.frombuffer(old, dtype=np.uint8), np.frombuffer(new, dtype=np.uint8)
    differs = (a[:shorter] != b[:shorter], a[len(a) - shorter :][::-1] != b[len(b) - shorter :][::-1])
    ahead, behind = (int(d.argmax()) if d.any() else shorter for d in differs)
    return ahead, behind


def _shifted(line: str, skipped: int) -> str:
    """A hunk's head with the line numbers of the whole file."""
    if not line.startswith("@@ "):
        return line
    _, old, new, *_ = line.split(" ")
    moved = (f"{sign}{int(at) + skipped}{comma}{count}" for sign, at, comma, count in (_parts(old), _parts(new)))
    return f"@@ {' '.join(moved)} @@"


def _parts(place: str) -> tuple[str, str, str, str]:
    at, comma, count = place[1:].partition(",")
    return place[0], at, comma, count
