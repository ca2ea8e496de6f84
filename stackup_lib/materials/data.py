"""Reads the catalogue's TOML files; a row names its source by key, `[source.<key>]` holds text and grade."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli

from stackup_lib.materials.sources import MaterialSource

Table = dict[str, Any]  # what tomli returns; pydantic checks it


def read_toml(name: str) -> Table:
    """Return one data file of this package, by its path inside it."""
    return tomli.loads(read_text(name))


def read_text(name: str) -> str:
    """Return the text of one data file of this package, by its path inside it."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def laminate_files() -> Iterator[str]:
    """Yield the names of the makers' files, sorted."""
    yield from sorted(f"laminates/{path.name}" for path in Path(__file__).with_name("laminates").glob("*.toml"))


def sources_of(data: Table) -> Mapping[str, MaterialSource]:
    """Return the sources of a file by key."""
    return {key: MaterialSource.model_validate(value) for key, value in data.get("source", {}).items()}
