"""A file on the disk that is the old one or the new one, whole, at any moment, even when a process is killed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from stackup_lib.core.files.plain_file import read_plain

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_PREFIX, _SUFFIX = ".stackwright-", ".tmp"
_LEFTOVER_AGE_S = 3600
_HELD = (5, 32, 33)
"""Windows' numbers for access denied, a sharing violation and a lock violation."""
HELD_PAUSES_S = (0.05, 0.1, 0.2, 0.4)


def write_whole(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Put `content` where `path` leads: written next to it, brought to the disk, and moved into its place in one step.

    A link stays a link, permissions stay, the owner where we may. Another name of the same file (a hard link) keeps the
    old content.

    Args:
        path: the file.
        content: all of it.
        replace: False when there must be no such file yet; one that appears at the last moment stays.

    Raises:
        OSError: the disk refuses, the file is write-protected, or there is one and `replace` is False; nothing changed.
    """
    real = real_path(path)
    mode = permissions(real)
    if mode is not None and not replace:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(real))
    if mode is not None and not mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "it is write-protected", str(real))
    with temporary_file(real, content, like=real) as made:
        take_place(made, real, new=not replace)
    remove_leftovers(real.parent)


def real_path(path: Path) -> Path:
    """Return where a path leads, links followed; where there is nothing yet, too.

    Raises:
        OSError: its links lead in a circle.
    """
    try:
        return path.resolve()
    except RuntimeError:  # what Python says of a circle before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def permissions(path: Path) -> int | None:
    """Return the permission bits of a file, None when there is none.

    Raises:
        OSError: it cannot be looked at, or is no regular file.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return stat.S_IMODE(found.st_mode)


@contextlib.contextmanager
def temporary_file(real: Path, content: bytes, *, like: Path) -> Iterator[Path]:
    """A file in the same folder that holds the content, on the disk; gone afterwards, unless it took `real`'s place.

    Its permissions, and where we may its owner, are those of `like`, or a new file's where there is no such file.
    """
    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=real.parent)
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            _dress(made, like)
            _to_disk(out.fileno())
        yield made
    finally:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)


def take_place(made: Path, real: Path, *, new: bool = False) -> None:
    """Move a file of `temporary_file` into the place of another; with `new` it must not be there.

    Raises:
        OSError: the system refuses; FileExistsError when `new` and there is one.
    """
    if not new:
        _replace(made, real)
    elif not _linked(made, real):
        try:
            _replace(made, real)
        except BaseException:
            with contextlib.suppress(OSError):
                real.unlink()
            raise
    _sync_folder(real.parent)


def keep_backup(real: Path, old: bytes) -> Path:
    """Keep a file's former content next to it, under a name that says which content it is and that KiCad does not open.

    What is there by that name already stays: the same content is not written twice, another content gets a number.

    Raises:
        OSError: the disk refuses.
    """
    name = f"{real.name}.{hashlib.sha256(old).hexdigest()[:12]}"
    with temporary_file(real, old, like=real) as made:
        shutil.copystat(real, made)
        for number in itertools.count(1):
            kept = real.with_name(f"{name}-{number}-bak" if number > 1 else f"{name}-bak")
            try:
                take_place(made, kept, new=True)
            except FileExistsError:
                if _holds(kept, old):
                    return kept
            else:
                return kept
    raise AssertionError("unreachable")


def _holds(kept: Path, content: bytes) -> bool:
    """Tell whether a file of our own, and no link or pipe, holds these bytes."""
    found = kept.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size == len(content) and read_plain(kept, len(content)) == content


def _replace(made: Path, real: Path) -> None:
    """Move; on Windows a virus scanner or an indexer may hold either file for a moment."""
    for pause_s in HELD_PAUSES_S:
        try:
            os.replace(made, real)  # noqa: PTH105 - as the standard library names the atomic step
        except OSError as error:
            if not is_held(error):
                raise
            time.sleep(pause_s)
        else:
            return
    os.replace(made, real)  # noqa: PTH105


def is_held(error: OSError) -> bool:
    """Tell whether Windows refused because a program has the file open; it says so as "access denied", too."""
    return getattr(error, "winerror", None) in _HELD


def _to_disk(handle: int) -> None:
    """Bring a file's content to the disk: macOS' `fsync` only brings it to the drive's own memory."""
    if fcntl is not None and hasattr(fcntl, "F_FULLFSYNC"):
        with contextlib.suppress(OSError):  # file systems of the network do not know it
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def _linked(made: Path, real: Path) -> bool:
    """Give the file its name only while no other file has it; False where the file system has no such links.

    There the name is taken by an empty file first, which is ours to replace.
    """
    try:
        os.link(made, real)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        os.close(os.open(real, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return False
    return True


def _dress(made: Path, like: Path) -> None:
    """Give a new file the permissions, and where we may the owner, of another, or of a new one."""
    try:
        old = like.stat()
    except FileNotFoundError:
        if os.name == "posix":
            made.chmod(0o666 & ~_umask())
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(made, old.st_uid, old.st_gid)
    made.chmod(stat.S_IMODE(old.st_mode))


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that were killed long ago; a young one may still be in use."""
    for left in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _LEFTOVER_AGE_S:
                left.unlink()
