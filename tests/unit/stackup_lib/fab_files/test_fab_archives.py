"""Archives of unknown origin: read in memory, within bounds, or refused in one line."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.fab_files import archive
from stackup_lib.fab_files.archive import members_of
from stackup_lib.fab_files.facts import FabFileError


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out.getvalue()


def tarred(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as made:
        for info, content in entries:
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return out.getvalue()


def link(name: str, kind: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return tarred((info, b""))


def zip_link() -> bytes:
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(info, "/etc/passwd")
    return out.getvalue()


def nested(depth: int) -> bytes:
    content = b"M48\n"
    for _ in range(depth):
        content = zipped({"inner.zip" if content[:2] == b"PK" else "a.drl": content})
    return content


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a bomb": (lambda: zipped({"a": bytes(8 << 20)}), "times its size"),
    "a path that climbs": (lambda: zipped({"../../a.drl": b""}), "leads out of it"),
    "an absolute path": (lambda: tarred((tarfile.TarInfo("/etc/x"), b"")), "leads out of it"),
    "a path of Windows": (lambda: zipped({"C:\\x": b""}), "leads out of it"),
    "a link in a zip": (zip_link, "holds a link"),
    "a symbolic link": (lambda: link("a", tarfile.SYMTYPE), "holds a link"),
    "a hard link": (lambda: link("a", tarfile.LNKTYPE), "holds a link"),
    "a device": (lambda: link("a", tarfile.CHRTYPE), "holds a link or device"),
    "zips without end": (lambda: nested(5), "inside archives"),
    "a torn zip": (lambda: zipped({"a": b"abc"})[:-30], "damaged"),
    "a torn tgz": (lambda: tarred((tarfile.TarInfo("a"), b"x" * 5000))[:-40], "damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str, tmp_path: Path) -> None:
    make, words = HOSTILE[name]
    path = tmp_path / "fab.zip"
    path.write_bytes(make())
    with pytest.raises(FabFileError, match=words) as refused:
        [member.read() for member in members_of(path)]
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("pack", [zipped, lambda files: tarred(*((tarfile.TarInfo(n), c) for n, c in files.items()))])
def test_number_and_size_of_members_are_bounded(
    pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fab.zip"
    path.write_bytes(pack({f"{k}.txt": bytes(range(200)) for k in range(30)}))
    assert len(members_of(path)) == 30
    monkeypatch.setattr(archive, "MOST_MEMBERS", 29)
    with pytest.raises(FabFileError, match="more than 29 files"):
        members_of(path)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 30)
    monkeypatch.setattr(archive, "MOST_UNPACKED_BYTES", 5999)
    with pytest.raises(FabFileError, match="unpacks to more than"):
        members_of(path)


def test_a_zip_in_a_folder_and_in_a_zip_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(nested(2))
    (tmp_path / "link.drl").symlink_to("/etc/passwd")
    assert [(member.base, member.read()) for member in members_of(tmp_path)] == [("a.drl", b"M48\n")]
