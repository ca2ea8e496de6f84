"""The bill of materials of what users run, in CycloneDX 1.6: made of the lock, with the hashes that are installed by.

usage: PYTHONPATH=plugin python -m dev.release.sbom [FILE]
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path

from dev.release.owner import PYPROJECT, ROOT, project_version

LOCK = ROOT / "plugin" / "ci" / "lock-run.txt"
PIN = re.compile(
    r"^([a-z0-9][a-z0-9-]*)==(\S+)(?: ; ([^\\]*))?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE
)


def bill_of_materials(lock: str, version: str) -> dict[str, object]:
    """Return the document; the same lock and version give the same one.

    Args:
        lock: text of `lock-run.txt`.
        version: Stackwright's.
    """
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    components = [_component(*found.groups()) for found in PIN.finditer(lock)]
    build = {"hatchling", "packaging", "pathspec", "pluggy", "trove-classifiers"}
    direct = {re.split(r"[^\w.-]", need)[0].lower() for need in project["dependencies"]}
    own = _url("stackwright", version)
    for one in components:
        one["scope"] = "excluded" if one["name"] in build else "required"
    used = [str(one["bom-ref"]) for one in components if one["name"] in direct]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, own + lock)}",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "stackwright",
                "version": version,
                "description": project["description"],
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": own,
            },
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": used}],
    }


def _component(name: str, version: str, marker: str | None, hashes: str) -> dict[str, object]:
    """Return a package; its hashes are those of all files of that release, one of which is installed."""
    found = re.findall(r"[0-9a-f]{64}", hashes)
    where = [{"name": "stackwright:marker", "value": marker.strip()}] if marker else []
    return {
        "type": "library",
        "bom-ref": _url(name, version),
        "name": name,
        "version": version,
        "purl": _url(name, version),
        "hashes": [{"alg": "SHA-256", "content": one} for one in found],
        **({"properties": where} if where else {}),
    }


def _url(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def sbom_text() -> str:
    """Return the bill of materials of this checkout as JSON."""
    document = bill_of_materials(LOCK.read_text(encoding="utf-8"), project_version())
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(sbom_text(), encoding="utf-8")
    else:
        sys.stdout.write(sbom_text())
