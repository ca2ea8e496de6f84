"""The manifest of the corpus: which public boards, at which commit, and what they are; never the boards themselves."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from stackwright.text.output import write_file

MANIFEST = Path(__file__).with_name("manifest.csv")


@dataclass(frozen=True, order=True)
class Entry:
    """One board of the corpus."""

    repository: str
    """Owner and name on GitHub."""
    path: str
    """Of the board file inside the repository."""
    commit: str
    sha256: str
    """Of the board file at that commit."""
    project_sha256: str
    """Of the `.kicad_pro` next to it, empty where there is none."""
    licence: str
    """As the nearest licence file has it; `not recognized` where its text is unknown, `not stated` without a file."""
    kicad: str
    """The format's date and KiCad's name for it, as the file's head says."""
    layers: int
    size_bytes: int
    stackup: bool
    """The file has a stackup with thicknesses."""
    impedance: bool
    """The designer ticked *Impedance controlled*."""
    about: str
    """The title of the title block, else the name of the file."""

    @property
    def name(self) -> str:
        """How tables call the board."""
        return f"{self.repository}/{self.path}"


def read_manifest(file: Path = MANIFEST) -> list[Entry]:
    """Return all entries; a missing file is an empty manifest."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return [_entry(row) for row in csv.DictReader(text)]


def _entry(row: dict[str, str]) -> Entry:
    return Entry(
        repository=row["repository"],
        path=row["path"],
        commit=row["commit"],
        sha256=row["sha256"],
        project_sha256=row["project_sha256"],
        licence=row["licence"],
        kicad=row["kicad"],
        layers=int(row["layers"]),
        size_bytes=int(row["size_bytes"]),
        stackup=row["stackup"] == "yes",
        impedance=row["impedance"] == "yes",
        about=row["about"],
    )


def write_manifest(entries: Iterable[Entry], file: Path = MANIFEST) -> None:
    """Write all entries, sorted."""
    rows = [{key: _cell(value) for key, value in asdict(entry).items()} for entry in sorted(entries)]
    write_rows(file, [field.name for field in fields(Entry)], rows)


def _cell(value: object) -> object:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def write_rows(file: Path, columns: list[str], rows: Iterable[dict[str, object]]) -> None:
    """Write a table as CSV, atomically."""
    lines: list[str] = []

    class _Lines:
        def write(self, line: str) -> int:
            lines.append(line)
            return len(line)

    writer = csv.DictWriter(_Lines(), columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_file(file, "".join(lines))
