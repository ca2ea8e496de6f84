"""One hash over all rule and material data, so that a report says what it was judged by."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import drc_rules
import stackup_lib


@cache
def data_digest() -> str:
    """Return the SHA-256 over every TOML file of the rules and the catalogue, names included."""
    total = hashlib.sha256()
    for package in (drc_rules, stackup_lib):
        root = Path(package.__path__[0])
        for file in sorted(root.rglob("*.toml"), key=lambda path: path.relative_to(root).as_posix()):
            total.update(f"{package.__name__}/{file.relative_to(root).as_posix()}\0".encode())
            total.update(hashlib.sha256(file.read_bytes().replace(b"\r\n", b"\n")).digest())
    return total.hexdigest()
