"""Files, folders, zip and tgz archives as one list of members; what is hostile or without bound is refused.

Archives are read in memory and never unpacked to the disk.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, cast

from stackup_lib.core.files.plain_file import read_plain
from stackup_lib.core.record import record
from stackup_lib.fab_files.facts import FabFileError

MOST_FILE_BYTES = 512 * 1024 * 1024
"""What one file may hold, packed or not; the IPC-2581 of a board of 85 MB is a few hundred megabytes."""
MOST_UNPACKED_BYTES = 1024 * 1024 * 1024
"""What all members of one archive may hold together."""
MOST_MEMBERS = 20_000
"""Files in one archive or folder."""
MOST_DEPTH = 2
"""An archive inside an archive is read; a third one inside that is refused."""
MOST_RATIO = 500
"""Unpacked over packed bytes of a member above 1 MB; text of ODB++ packs 10 to 60 times, zeros 1000 times."""

_NEXT = "unpack it yourself, look at what it holds, and name the folder"
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"


@record
class Member:
    """One file: `name` as in its archive or folder; `source` is what was named; `read` gives its bytes."""

    source: str
    name: str
    read: Callable[[], bytes]

    @property
    def base(self) -> str:
        """The name without its folders."""
        return PurePosixPath(self.name).name

    @property
    def place(self) -> str:
        """The name for messages."""
        return self.base if self.base == Path(self.source).name else f"{Path(self.source).name}:{self.name}"


def members_of(path: Path) -> list[Member]:
    """Return the files behind a path: itself, those of a folder, those of an archive.

    Raises:
        FabFileError: it cannot be read, or it is an archive that is refused.
    """
    try:
        if path.is_dir():
            return _folder(path)
        head = read_plain(path, MOST_FILE_BYTES)
    except OSError as error:
        raise FabFileError(
            str(path), f"cannot be read ({error.strerror})", "name the files, folders or archives for the fab"
        ) from error
    if head.startswith(_ZIP):
        return list(_zip(head, str(path), "", 1))
    if head.startswith(_GZIP):
        return list(_tgz(head, str(path), "", 1))
    return [Member(str(path), path.name, lambda: head)]


def _folder(path: Path) -> list[Member]:
    found: list[Member] = []
    for inner in sorted(path.rglob("*")):
        if inner.is_symlink() or not inner.is_file():
            continue
        if len(found) == MOST_MEMBERS:
            raise FabFileError(
                str(path), f"has more than {MOST_MEMBERS} files", "name the folder with the fab's files only"
            )
        name = inner.relative_to(path).as_posix()
        found.append(Member(str(path), name, partial(_bytes, inner)))
        if inner.suffix.lower() in (".zip", ".tgz") or inner.name.lower().endswith(".tar.gz"):
            packed = found.pop()
            found += _nested(packed.read(), str(path), name, 0)
    return found


def _bytes(path: Path) -> bytes:
    try:
        return read_plain(path, MOST_FILE_BYTES)
    except OSError as error:
        raise FabFileError(
            str(path), f"cannot be read ({error.strerror})", "leave it out, or allow reading it"
        ) from error


def _nested(content: bytes, source: str, name: str, depth: int) -> Iterator[Member]:
    opener = _zip if content.startswith(_ZIP) else _tgz if content.startswith(_GZIP) else None
    if opener is None:
        yield Member(source, name, lambda: content)
    elif depth >= MOST_DEPTH:
        raise _refused(source, "holds archives inside archives inside archives")
    else:
        yield from opener(content, source, f"{name}/", depth + 1)


def _zip(content: bytes, source: str, folder: str, depth: int) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        infos = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise _broken(source) from error
    _bounded(source, len(infos), sum(info.file_size for info in infos))
    for info in infos:
        _safe(source, info.filename, info.file_size)
        mode = info.external_attr >> 16
        if mode & 0o170000 == 0o120000:
            raise _refused(source, f"holds a link, {info.filename}")
        if info.flag_bits & 1:
            raise _refused(source, f"is encrypted, {info.filename}")
        if info.file_size > 1 << 20 and info.file_size > MOST_RATIO * max(info.compress_size, 1):
            raise _refused(source, f"unpacks {info.filename} to more than {MOST_RATIO} times its size")

        def read(info: zipfile.ZipInfo = info) -> bytes:
            try:
                with archive.open(info) as file:
                    return file.read(info.file_size)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, OSError) as error:
                raise _broken(source) from error

        if info.filename.lower().endswith((".zip", ".tgz", ".tar.gz")):
            yield from _nested(read(), source, folder + info.filename, depth)
        else:
            yield Member(source, folder + info.filename, read)


class _Counted:
    """A stream that refuses to give more than its bound, whatever its header says."""

    def __init__(self, stream: IO[bytes], source: str) -> None:
        self.stream, self.source, self.left = stream, source, MOST_UNPACKED_BYTES

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        data = self.stream.read(min(size, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise _refused(self.source, f"unpacks to more than {MOST_UNPACKED_BYTES >> 20} MB")
        return data


def _tgz(content: bytes, source: str, folder: str, depth: int) -> Iterator[Member]:
    found: list[Member] = []
    total = 0
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            counted = cast("IO[bytes]", _Counted(cast("IO[bytes]", stream), source))
            with tarfile.open(fileobj=counted, mode="r|") as archive:
                for count, info in enumerate(archive, start=1):
                    total += info.size
                    _bounded(source, count, total)
                    _safe(source, info.name, info.size)
                    if info.isdir():
                        continue
                    if not info.isreg():
                        raise _refused(source, f"holds a link or device, {info.name}")
                    file = archive.extractfile(info)
                    data = file.read() if file else b""
                    if info.name.lower().endswith((".zip", ".tgz", ".tar.gz")):
                        found += _nested(data, source, folder + info.name, depth)
                    else:
                        found.append(Member(source, folder + info.name, partial(bytes, data)))
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, OSError, ValueError) as error:
        raise _broken(source) from error
    yield from found


def _bounded(source: str, count: int, total: int) -> None:
    if count > MOST_MEMBERS:
        raise _refused(source, f"holds more than {MOST_MEMBERS} files")
    if total > MOST_UNPACKED_BYTES:
        raise _refused(source, f"unpacks to more than {MOST_UNPACKED_BYTES >> 20} MB")


def _safe(source: str, name: str, size: int) -> None:
    path = PurePosixPath(name)
    if size > MOST_FILE_BYTES:
        raise _refused(source, f"holds a file of more than {MOST_FILE_BYTES >> 20} MB, {name}")
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name.partition("/")[0]:
        raise _refused(source, f"holds a path that leads out of it, {name}")


def _refused(source: str, what: str) -> FabFileError:
    return FabFileError(source, what, _NEXT)


def _broken(source: str) -> FabFileError:
    return FabFileError(source, "is a damaged archive", "export it again")
