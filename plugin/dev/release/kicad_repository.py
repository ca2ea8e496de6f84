"""The repository that KiCad's Plugin and Content Manager subscribes to: four files to serve from one folder."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dev.release.owner import ROOT, Owner

SCHEMA = "https://go.kicad.org/pcm/schemas/v2"
ICON = ROOT / "plugin" / "kicad_addon" / "resources" / "icon.png"
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def package_entry(package: Path, owner: Owner) -> dict[str, Any]:
    """Return what the repository says of a package: its metadata, with where its archive is, its hash and its sizes.

    Args:
        package: the zip that `build.py` wrote.
        owner: publisher, whose `downloads` has a folder per release.
    """
    data = package.read_bytes()
    with zipfile.ZipFile(package) as archive:
        metadata: dict[str, Any] = json.loads(archive.read("metadata.json"))
        size = sum(entry.file_size for entry in archive.infolist())
    (version,) = metadata["versions"]
    version |= {
        "download_url": f"{owner.downloads}/v{version['version']}/{package.name}",
        "download_sha256": hashlib.sha256(data).hexdigest(),
        "download_size": len(data),
        "install_size": size,
    }
    return metadata


def with_former(entry: dict[str, Any], former: dict[str, Any] | None) -> dict[str, Any]:
    """Return an entry with the versions of a former `packages.json` behind its own, which a user may go back to."""
    own = {version["version"] for version in entry["versions"]}
    same = [one for one in (former or {}).get("packages", ()) if one["identifier"] == entry["identifier"]]
    kept = [version for one in same for version in one["versions"] if version["version"] not in own]
    return entry | {"versions": [*entry["versions"], *kept]}


def repository_files(
    package: Path, owner: Owner, made: datetime, former: dict[str, Any] | None = None
) -> dict[str, bytes]:
    """Return the files of the repository by name; KiCad subscribes to the address of `repository.json`.

    Args:
        package: the zip that `build.py` wrote.
        owner: publisher, whose `kicad_repository` is the folder's address.
        made: time of the release.
        former: the `packages.json` before, whose versions are kept.
    """
    entry = with_former(package_entry(package, owner), former)
    packages = json.dumps({"packages": [entry]}, indent=2).encode() + b"\n"
    resources = _resources(entry["identifier"])
    repository = {
        "$schema": SCHEMA,
        "schema_version": 2,
        "name": f"Stackwright by {owner.name}",
        "maintainer": {"name": owner.name, "contact": {"web": owner.repository, "email": owner.email}},
        "packages": _reference("packages.json", packages, owner, made),
        "resources": _reference("resources.zip", resources, owner, made),
    }
    return {
        "repository.json": json.dumps(repository, indent=2).encode() + b"\n",
        "packages.json": packages,
        "resources.zip": resources,
    }


def _reference(name: str, data: bytes, owner: Owner, made: datetime) -> dict[str, Any]:
    return {
        "url": f"{owner.kicad_repository}/{name}",
        "sha256": hashlib.sha256(data).hexdigest(),
        "update_time_utc": made.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "update_timestamp": int(made.timestamp()),
    }


def _resources(identifier: str) -> bytes:
    """Return the archive of icons, one folder a package."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"{identifier}/icon.png", LONG_AGO), ICON.read_bytes())
    return out.getvalue()
