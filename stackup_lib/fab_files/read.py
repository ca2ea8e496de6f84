"""From paths to what they state: each file, folder or archive by its content, not by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from stackup_lib.fab_files.archive import Member, members_of
from stackup_lib.fab_files.excellon import is_excellon, read_excellon
from stackup_lib.fab_files.facts import FabFileError, SentFile
from stackup_lib.fab_files.gerber import is_gerber, read_gerber
from stackup_lib.fab_files.ipc2581 import is_ipc2581, read_ipc2581
from stackup_lib.fab_files.job_file import read_job
from stackup_lib.fab_files.netlist356 import is_netlist, read_netlist
from stackup_lib.fab_files.odb import odb_root, read_odb

HEAD = 4096
"""Bytes by which a format is known."""


def read_fab_files(paths: Iterable[Path]) -> tuple[tuple[SentFile, ...], tuple[str, ...]]:
    """Return what the files state, and the names of those in no format that is known here.

    Raises:
        FabFileError: a file cannot be read, or none of them is in a known format.
    """
    found: list[SentFile] = []
    others: list[str] = []
    named = list(paths)
    for path in named:
        members = members_of(path)
        if (root := odb_root([member.name for member in members])) is not None:
            found.append(_guarded(str(path), partial(read_odb, members, root)))
            members = [member for member in members if not member.name.startswith(root)]
        for member in members:
            if (one := _guarded(member.place, partial(_read, member))) is not None:
                found.append(one)
            else:
                others.append(member.place)
    if not found:
        raise FabFileError(
            ", ".join(map(str, named)) or "no file",
            "no Gerber, drill, IPC-2581, ODB++ or IPC-D-356 file among them",
            "name the files or the folder that go to the fab",
        )
    return tuple(found), tuple(others)


T = TypeVar("T")


def _guarded(place: str, reader: Callable[[], T]) -> T:
    """Run a reader; what it stumbles over is a file that is no such file."""
    try:
        return reader()
    except (ValueError, LookupError, ArithmeticError, RecursionError) as error:
        raise FabFileError(place, "cannot be read: it is damaged, or not what it seems", "export it again") from error


def _read(member: Member) -> SentFile | None:
    if member.base.startswith("."):
        return None
    head = member.read()[:HEAD]
    if member.base.lower().endswith(".gbrjob"):
        return read_job(member)
    if is_ipc2581(head):
        return read_ipc2581(member)
    if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
        return read_ipc2581(member) if member.base.lower().endswith((".xml", ".cvg")) else None
    if is_gerber(head):
        return read_gerber(member)
    if is_excellon(head):
        return read_excellon(member)
    return read_netlist(member) if is_netlist(head) else None
