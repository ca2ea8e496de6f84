"""A fence around this process: it reads below some folders and where its own code is, and does nothing else."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

PACKAGES = ("stackwright", "drc_rules", "stackup_lib")
OUTSIDE = "outside of the folders that were given"
READ_ONLY = "this command only reads"
LISTS = frozenset({"os.listdir", "os.scandir", "os.chdir", "glob.glob"})
CHANGES = frozenset(
    {
        *("os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.link", "os.mkdir"),
        *("os.posix_spawn", "os.remove", "os.rename", "os.rmdir", "os.setxattr", "os.spawn", "os.startfile"),
        *("os.startfile/2", "os.symlink", "os.system", "os.truncate", "os.utime", "socket.bind", "socket.connect"),
        *("socket.getaddrinfo", "subprocess.Popen", "webbrowser.open", "pty.spawn"),
    }
)
"""Python's audit events of what a reader never does."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def fence_in(folders: Iterable[Path]) -> None:
    """Let this process read below these folders and where Python and Stackwright are installed; it cannot be undone.

    Whatever else it opens, writes, connects to or starts is a `PermissionError`. Links count by where they lead. What a
    library does without Python's knowledge is not seen.
    """
    allowed = [_plain(folder) for folder in (*map(str, folders), *_code())]
    sys.dont_write_bytecode = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = (*arguments, None, None, None)[:3]
            if isinstance(path, int) or path in (os.devnull, os.devnull.encode()):
                return
            if _writes(mode, flags):
                _refuse(errno.EROFS, READ_ONLY, path)
            if not _is_below(path, allowed):
                _refuse(errno.EACCES, OUTSIDE, path)
        elif event in LISTS:
            path = arguments[0] if arguments and arguments[0] is not None else "."
            if not isinstance(path, int) and not _is_below(path, allowed):
                _refuse(errno.EACCES, OUTSIDE, path)
        elif event in CHANGES:
            _refuse(errno.EPERM, READ_ONLY, event)

    sys.addaudithook(watch)


def _code() -> Iterable[str]:
    """Where modules are: Python's own, those installed with it, and ours, which may be a checkout."""
    paths = sysconfig.get_paths()
    yield from (paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    yield from (one for one in sys.path if Path(one).name in ("site-packages", "dist-packages", "lib-dynload"))
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        yield from (spec.submodule_search_locations or ()) if spec else ()


def _writes(mode: object, flags: object) -> bool:
    is_named = isinstance(mode, str) and bool(set(mode) & set("wxa+"))
    return is_named or (isinstance(flags, int) and bool(flags & WRITES))


def _is_below(path: object, folders: Iterable[str]) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    real = _plain(os.fsdecode(path))
    return any(real == folder or real.startswith(os.path.join(folder, "")) for folder in folders)  # noqa: PTH118


def _plain(path: str) -> str:
    """Return a path without links, in the one spelling that Windows' many have in common."""
    return os.path.normcase(os.path.realpath(path))


def _refuse(number: int, why: str, what: object) -> NoReturn:
    raise PermissionError(number, why, what if isinstance(what, str | bytes) else str(what))
