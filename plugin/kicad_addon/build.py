"""Builds the package that KiCad's Plugin and Content Manager installs.

usage: python plugin/kicad_addon/build.py [--output stackwright-pcm.zip] [--web URL] [--email ADDRESS]

The same checkout gives the same bytes. The package holds our own code; KiCad fetches the rest by its requirements.txt.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

ADDON = Path(__file__).resolve().parent
ROOT = ADDON.parents[1]
PACKAGES = (ROOT / "stackup_lib", ROOT / "drc_rules", ROOT / "plugin" / "stackwright")
LEFT_OUT = {"__pycache__", ".mypy_cache", ".ruff_cache"}
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""


def contents(contact: Mapping[str, str]) -> dict[str, bytes]:
    """Return every file of the package by its name in it; `contact` is the publisher's, by kind."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["kicad"]]
    metadata = (ADDON / "metadata.json").read_text(encoding="utf-8").replace("@version@", project["version"])
    metadata = metadata.replace('"contact": {}', f'"contact": {json.dumps(contact)}')
    metadata = metadata.replace('"resources": {}', f'"resources": {json.dumps(_links(contact))}')
    files = {
        "metadata.json": metadata.encode(),
        "resources/icon.png": (ADDON / "resources" / "icon.png").read_bytes(),
        "plugins/requirements.txt": "".join(f"{need}\n" for need in sorted(needs)).encode(),
        "plugins/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    for name in ("plugin.json", "main.py"):
        files[f"plugins/{name}"] = (ADDON / name).read_bytes()
    for icon in (ADDON / "icons").glob("*.png"):
        files[f"plugins/icons/{icon.name}"] = icon.read_bytes()
    for package in PACKAGES:
        for file in package.rglob("*"):
            if file.is_file() and not LEFT_OUT & set(file.parts):
                files[f"plugins/{file.relative_to(package.parent).as_posix()}"] = file.read_bytes()
    return files


def _links(contact: Mapping[str, str]) -> dict[str, str]:
    return {"homepage": contact["web"]} if "web" in contact else {}


def build(target: Path, contact: Mapping[str, str]) -> None:
    """Write the package."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(contents(contact).items()):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the same on Windows
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)


def main() -> None:
    """Write the package where the command line says."""
    parser = argparse.ArgumentParser(description="Builds the package for KiCad's Plugin and Content Manager.")
    parser.add_argument("--output", type=Path, default=Path("stackwright-pcm.zip"), metavar="FILE")
    parser.add_argument("--web", metavar="URL", help="page of who publishes it")
    parser.add_argument("--email", metavar="ADDRESS", help="of who publishes it")
    asked = parser.parse_args()
    target: Path = asked.output
    build(target, {kind: value for kind, value in (("web", asked.web), ("email", asked.email)) if value})
    print(f"{target}: install it in KiCad by Plugin and Content Manager > Install from File")  # noqa: T201


if __name__ == "__main__":
    main()
