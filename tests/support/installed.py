"""A Python environment that has Stackwright installed: what a CI job makes first, without an index of packages."""

from __future__ import annotations

import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def installed_environment(folder: Path) -> str:
    """Make an environment in which `python -I -m stackwright` is this checkout's; return its Python."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    places = [ROOT, ROOT / "plugin", Path(sysconfig.get_paths()["purelib"])]
    site = next(folder.rglob("site-packages"))
    (site / "here.pth").write_text("".join(f"{place}\n" for place in places), encoding="utf-8")
    return str(next(folder.rglob("bin/python"), folder / "Scripts" / "python.exe"))
