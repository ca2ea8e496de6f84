"""One writer at a time in a folder: who reads, checks, keeps a copy and replaces does it under a lock.

The lock is the system's own, on the folder itself where the system can (POSIX), else on a file in it (Windows, and file
systems of a network). A process that ends, however it ends, holds it no longer. Other programs do not look at it: they
are found by what they have changed, see `file_edit`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

LOCK_NAME = ".stackwright.lock"
SHOWN_AFTER_S = 60.0
"""How long a writer waits for another: the new content of the largest boards takes some seconds to be read back."""

_PAUSE_S = 0.01
_TAKEN = (errno.EACCES, errno.EAGAIN)


class HeldError(OSError):
    """Another writer did not finish in time; its `strerror` says so."""

    def __init__(self, folder: Path) -> None:
        super().__init__(errno.EAGAIN, "another Stackwright is writing there", str(folder))


class _Mine(threading.local):
    """The folders whose lock this thread has."""

    def __init__(self) -> None:
        self.folders: set[Path] = set()


_mine = _Mine()


@contextlib.contextmanager
def sole_writer(folders: Iterable[Path], timeout_s: float | None = None) -> Iterator[None]:
    """Hold the locks of folders; a thread that has one already keeps it.

    Args:
        folders: real paths, see `whole_file.real_path`.
        timeout_s: how long to wait for another writer; by default `SHOWN_AFTER_S`.

    Raises:
        HeldError: another writer did not finish in time.
    """
    with contextlib.ExitStack() as stack:
        for folder in sorted(set(folders) - _mine.folders):  # in one order, so that no two wait for each other
            stack.enter_context(_held(folder, SHOWN_AFTER_S if timeout_s is None else timeout_s))
            _mine.folders.add(folder)
            stack.callback(_mine.folders.discard, folder)
        yield


@contextlib.contextmanager
def _held(folder: Path, timeout_s: float) -> Iterator[None]:
    """Hold one folder's lock; a folder in which no lock can be had is written to all the same."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            handle = _locked(folder)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                raise HeldError(folder) from None
            time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        if handle is not None:
            _let_go(handle, folder)


if sys.platform == "win32":
    import msvcrt

    def _locked(folder: Path) -> int | None:
        """Return the open lock; None where there may be none. Raises `BlockingIOError` while another has it."""
        try:
            handle = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOINHERIT)
        except OSError:
            return None
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(handle)
            raise BlockingIOError from None
        return handle

    def _let_go(handle: int, folder: Path) -> None:
        with contextlib.suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        os.close(handle)
        with contextlib.suppress(OSError):  # another one waits for it
            (folder / LOCK_NAME).unlink()

elif sys.platform == "emscripten":  # a page in a browser: its files are its own, and there are no locks

    def _locked(folder: Path) -> int | None:
        """Return None: nothing else can write here."""
        del folder

    def _let_go(handle: int, folder: Path) -> None:
        """Do nothing: no lock is ever had."""

else:
    import fcntl

    _WAYS = (("", os.O_RDONLY | os.O_DIRECTORY), (LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW))

    def _locked(folder: Path) -> int | None:
        """Return the open lock; None where there may be none. Raises `BlockingIOError` while another has it."""
        for name, how in _WAYS:
            try:
                handle = os.open(folder / name, how | os.O_CLOEXEC, 0o600)
            except OSError:
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(handle)
                if error.errno in _TAKEN:
                    raise BlockingIOError from None
                continue  # NFS locks no folders, other file systems nothing
            if _is_there(handle, folder / name):
                return handle
            os.close(handle)
            raise BlockingIOError
        return None

    def _is_there(handle: int, path: Path) -> bool:
        """Tell whether what was locked still has its name: the writer before may have taken the file away."""
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(handle), path.stat())
        return False

    def _let_go(handle: int, folder: Path) -> None:
        if _is_there(handle, folder / LOCK_NAME):
            with contextlib.suppress(OSError):
                (folder / LOCK_NAME).unlink()
        os.close(handle)
