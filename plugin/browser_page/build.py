"""Builds the page that checks a board in the browser, as a folder that any server of files can serve.

usage: python plugin/browser_page/build.py --pyodide FOLDER --output SITE [--any-pyodide]

FOLDER is a release of Pyodide, unpacked; `pyodide.toml` names the version, and its files are held against the hashes
there. Pure Python packages come from the environment in which this runs. `--any-pyodide` takes another build of it, of
which only the packages are held against its own list.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PAGE = Path(__file__).resolve().parent
ROOT = PAGE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "plugin")]

from drc_rules.requirements.profiles.profile import load_profile, profile_names  # noqa: E402 - of this checkout
from kicad_addon.build import LEFT_OUT, LONG_AGO, PACKAGES  # noqa: E402
from stackwright import __version__  # noqa: E402
from stackwright.reporters.assets import TEMPLATES, script_hash  # noqa: E402

NOT_PYTHON = (".pth", ".so", ".pyd")
"""Of a package, what a browser cannot use: what is compiled there has the same in Python (tomli)."""

Lock = Mapping[str, Mapping[str, Any]]
"""Pyodide's packages by name."""


def main(arguments: list[str] | None = None) -> int:
    """Build the page; exit code 1 where Pyodide is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyodide", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--any-pyodide", action="store_true")
    asked = parser.parse_args(arguments)
    wanted = tomllib.loads((PAGE / "pyodide.toml").read_text(encoding="utf-8"))
    try:
        build(asked.pyodide, asked.output, wanted, any_pyodide=asked.any_pyodide)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def build(pyodide: Path, site: Path, wanted: Mapping[str, Any], *, any_pyodide: bool = False) -> None:
    """Write the page's folder.

    Raises:
        ValueError: a file of Pyodide has another hash.
        OSError: a file is missing or cannot be written.
    """
    target = site / "pyodide"
    target.mkdir(parents=True, exist_ok=True)
    for name, sha256 in wanted["sha256"].items():
        _copy(pyodide / name, target, None if any_pyodide else sha256)
    lock: Lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    compiled = sorted(name for name in needed(lock) if is_of_pyodide(name, lock))
    first = [name for name in compiled if name not in wanted["later"]]
    rows = [
        lock[_key(name, lock)] for name in sorted(with_needs(compiled, lambda one: lock[_key(one, lock)]["depends"]))
    ]
    for row in rows:
        _copy(pyodide / row["file_name"], target, row["sha256"])
    values = {
        "colours": (TEMPLATES / "report.css").read_text(encoding="utf-8").partition("* {")[0],
        "packages": json.dumps(first),
        "profiles": "\n".join(_options()),
        "script_hash": script_hash(),
        "version": __version__,
    }
    for name in ("index.html", "page.css", "page.js", "worker.js"):
        text = (PAGE / name).read_text(encoding="utf-8")
        (site / name).write_text(_filled(text, values), encoding="utf-8")
    _write_packed(site / "stackwright.zip", own_files(lock))


def with_needs(names: Iterable[str], needs: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the names, what they need, what that needs, and so on."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting.extend(needs(name))
    return found


def needed(lock: Lock) -> set[str]:
    """Return the packages that Stackwright needs in a browser."""
    return with_needs(["stackwright"], lambda name: _needs(name, lock)) - {"stackwright"}


def own_files(lock: Lock) -> Iterator[tuple[str, bytes]]:
    """Yield the files of Stackwright and of the pure Python packages that it needs, by their names on Python's path."""
    for package in PACKAGES:
        for file in package.rglob("*"):
            if file.is_file() and not LEFT_OUT & set(file.parts):
                yield file.relative_to(package.parent).as_posix(), file.read_bytes()
    for name in sorted(one for one in needed(lock) if not is_of_pyodide(one, lock)):
        for made in distribution(name).files or ():
            if ".." not in made.parts and not LEFT_OUT & set(made.parts) and made.suffix not in NOT_PYTHON:
                yield made.as_posix(), Path(str(made.locate())).read_bytes()


def _needs(name: str, lock: Lock) -> list[str]:
    """Return what an installed package needs in a browser; what Pyodide brings needs nothing from here."""
    if is_of_pyodide(name, lock):
        return []
    wanted = map(Requirement, distribution(name).requires or ())
    here = {"extra": "", "sys_platform": "emscripten", "platform_system": "Emscripten", "os_name": "posix"}
    return [one.name.lower() for one in wanted if one.marker is None or one.marker.evaluate(here)]


def is_of_pyodide(name: str, lock: Lock) -> bool:
    """Tell whether Pyodide brings a package: one that is compiled, or that goes with one."""
    row = lock.get(_key(name, lock))
    return row is not None and (not row["file_name"].endswith("-none-any.whl") or "pydantic_core" in row["depends"])


def _key(name: str, lock: Lock) -> str:
    """Return a package's name in Pyodide's list, which writes some with a hyphen."""
    return name if name in lock else name.replace("_", "-")


def _options() -> Iterator[str]:
    for name in profile_names():
        yield f'<option value="{escape(name)}">{escape(name)}: {escape(load_profile(name).title)}</option>'


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in place of `@name@`."""
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def _copy(file: Path, target: Path, sha256: str | None) -> None:
    data = file.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if sha256 not in (None, found):
        raise ValueError(f"{file}: SHA-256 {found}, expected {sha256}: another release of Pyodide?")
    (target / file.name).write_bytes(data)


def _write_packed(target: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a zip; the same files give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


if __name__ == "__main__":
    sys.exit(main())
