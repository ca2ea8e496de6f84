"""Who publishes Stackwright: read from `plugin/ci/owner.toml`, and written where packages and citations want it.

usage: PYTHONPATH=plugin python -m dev.release.owner
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "plugin" / "ci" / "owner.toml"
PYPROJECT, CITATION = ROOT / "pyproject.toml", ROOT / "CITATION.cff"
PLACEHOLDER = re.compile(r"OWNER|example|\.invalid\b|TODO|^\s*$", re.IGNORECASE)


class ReleaseError(Exception):
    """A release cannot be made; one line says why and what to do."""


@dataclass(frozen=True)
class Owner:
    """The publisher; the file says what each value is."""

    name: str
    email: str
    repository: str
    documentation: str
    downloads: str
    kicad_repository: str
    container: str

    @property
    def placeholders(self) -> list[str]:
        """Names of the values that are not filled in."""
        return [one.name for one in fields(self) if PLACEHOLDER.search(getattr(self, one.name))]


def read_owner(file: Path = FILE) -> Owner:
    """Return the publisher.

    Raises:
        ReleaseError: the file lacks a value, has one too many, or one that is no text.
    """
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    names = {one.name for one in fields(Owner)}
    if wrong := sorted(names ^ set(data)):
        raise ReleaseError(f"{file}: {', '.join(wrong)} missing or unknown; it takes {', '.join(sorted(names))}")
    if wrong := [name for name, value in data.items() if not isinstance(value, str) or value.endswith("/")]:
        raise ReleaseError(f"{file}: {', '.join(wrong)} is no text, or ends with a slash; write a text without one")
    return Owner(**data)


def require_filled_in(owner: Owner, file: Path = FILE) -> None:
    """Refuse a publisher that is none.

    Raises:
        ReleaseError: a value is still a placeholder.
    """
    if owner.placeholders:
        raise ReleaseError(f"{file}: {', '.join(owner.placeholders)} not filled in; name the owner before a release")


def project_version() -> str:
    """Return the version in pyproject.toml."""
    version: str = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["version"]
    return version


def urls_table(owner: Owner) -> str:
    """Return the table `[project.urls]`."""
    rows = {
        "Homepage": owner.repository,
        "Documentation": owner.documentation,
        "Changelog": f"{owner.repository}/blob/main/CHANGELOG.md",
        "Issues": f"{owner.repository}/issues",
    }
    return "[project.urls]\n" + "".join(f'{name} = "{url}"\n' for name, url in rows.items())


def citation(owner: Owner, version: str) -> str:
    """Return CITATION.cff, in the Citation File Format 1.2.0."""
    return f"""\
cff-version: 1.2.0
message: If you use Stackwright in your work, please cite it as below.
type: software
title: Stackwright
abstract: Checks a KiCad board's stackup, materials, copper and vias against what an AI workload asks of it.
authors:
  - name: The Stackwright authors
version: {version}
license: MIT
repository-code: {owner.repository}
url: {owner.documentation}
keywords: [kicad, pcb, stackup, signal integrity, design rule check]
"""


def written(owner: Owner) -> dict[Path, str]:
    """Return the files that name the publisher, as they have to be."""
    table = re.compile(r"^\[project\.urls\]\n(?:\w+ = .*\n)+", re.MULTILINE)
    project = table.sub(lambda _: urls_table(owner), PYPROJECT.read_text(encoding="utf-8"))
    return {PYPROJECT: project, CITATION: citation(owner, project_version())}


if __name__ == "__main__":
    for file, text in written(read_owner()).items():
        file.write_text(text, encoding="utf-8")
