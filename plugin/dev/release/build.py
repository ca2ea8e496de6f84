"""Makes everything that a release publishes, from a checkout; the same commit gives the same bytes.

usage: PYTHONPATH=plugin python -m dev.release.build v0.1.0 --output dist

Into the folder: wheel, sdist, the package for KiCad, the bill of materials, SHA256SUMS, notes.md; and `kicad/`, the
files of the repository that KiCad subscribes to. It refuses a tag that is not the version, a version without a section
in the changelog, and an owner that was not filled in.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from dev.release.kicad_repository import repository_files
from dev.release.owner import FILE, ROOT, Owner, ReleaseError, project_version, read_owner, require_filled_in, written
from dev.release.sbom import sbom_text

CHANGES = ROOT / "CHANGELOG.md"


def notes_of(version: str, changelog: str) -> str:
    """Return a version's section of the changelog.

    Raises:
        ReleaseError: there is none.
    """
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise ReleaseError(f"{CHANGES.name}: no section ## {version}; rename Unreleased and date it")
    return found[1].strip() + "\n"


def refuse_unready(tag: str, owner: Owner, owner_file: Path = FILE) -> str:
    """Return the notes of a release that may be made.

    Raises:
        ReleaseError: it may not; see the module.
    """
    require_filled_in(owner, owner_file)
    version = project_version()
    if tag != f"v{version}":
        raise ReleaseError(f"tag {tag}: pyproject.toml says {version}; tag v{version}, or change the version")
    if owner_file == FILE and any(path.read_text(encoding="utf-8") != text for path, text in written(owner).items()):
        raise ReleaseError("pyproject.toml or CITATION.cff names another owner; run python -m dev.release.owner")
    return notes_of(version, CHANGES.read_text(encoding="utf-8"))


def commit_time() -> datetime:
    """Return when the commit was made: SOURCE_DATE_EPOCH, else git's word, else the earliest that a zip can hold."""
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    if not stated:
        asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        stated = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    return datetime.fromtimestamp(int(stated or 315532800), UTC)


def make(folder: Path, owner: Owner, notes: str, former: Path | None = None) -> None:
    """Write all files of a release.

    Args:
        folder: a new folder.
        owner: publisher.
        notes: what is new.
        former: the `packages.json` that KiCad's users have now.

    Raises:
        ReleaseError: a package cannot be built, or the folder is not empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ReleaseError(f"{folder}: is not empty; give a new folder")
    made = commit_time()
    _run("-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT), epoch=made)
    package = folder / "stackwright-pcm.zip"
    addon = str(ROOT / "plugin" / "kicad_addon" / "build.py")
    _run(addon, "--output", str(package), "--web", owner.repository, "--email", owner.email, epoch=made)
    (folder / "stackwright.cdx.json").write_text(sbom_text(), encoding="utf-8")
    before = json.loads(former.read_text(encoding="utf-8")) if former else None
    kicad = folder / "kicad"
    kicad.mkdir()
    for name, data in repository_files(package, owner, made, before).items():
        (kicad / name).write_bytes(data)
    files = sorted(path for path in folder.iterdir() if path.is_file())
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    (folder / "notes.md").write_text(notes, encoding="utf-8")


def _run(*words: str, epoch: datetime) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(int(epoch.timestamp()))}
    done = subprocess.run(  # noqa: S603 - the project's own scripts
        [sys.executable, *words], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(words[:2])}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")


def main() -> int:
    """Make the release that the command line names; exit code 2 with one line where it is refused."""
    parser = argparse.ArgumentParser(description="Makes everything that a release publishes.")
    parser.add_argument("tag", help="the version with a v, e.g. v0.1.0")
    parser.add_argument("--output", type=Path, default=Path("dist"), metavar="FOLDER")
    parser.add_argument("--former", type=Path, metavar="FILE", help="packages.json before, whose versions are kept")
    parser.add_argument("--check", action="store_true", help="only tell whether the release would be refused")
    asked = parser.parse_args()
    try:
        owner = read_owner()
        notes = refuse_unready(asked.tag, owner)
        if not asked.check:
            make(asked.output, owner, notes, asked.former)
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("ready to release" if asked.check else "\n".join(sorted(path.name for path in asked.output.iterdir())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
