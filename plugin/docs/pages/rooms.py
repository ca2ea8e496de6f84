"""The rooms of the project: its packages floor by floor, as the import contracts order them, drawn and listed."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import count
from pathlib import Path

from docs.pages.markdown import code, prose, table

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {"stackwright": ROOT / "plugin" / "stackwright"}
"""Where a top-level package lies, if not in the root."""

TITLES = {
    "stackwright": "stackwright: the command line, the reports, KiCad and CI",
    "drc_rules": "drc_rules: requirements, analyses and rules",
    "drc_rules.analysis": "drc_rules.analysis, in more detail",
    "stackup_lib": "stackup_lib: boards, KiCad files, materials and physics",
}
"""Packages in the order of the drawing; what is above imports what is below."""

WIDTH, ROW, GAP, HEAD = 760, 34, 8, 28


@dataclass(frozen=True)
class Room:
    """A package within another.

    Attributes:
        name: dotted name.
        about: first line of its docstring.
        modules: how many modules lie in it and in its own rooms.
    """

    name: str
    about: str
    modules: int

    @property
    def short(self) -> str:
        """Last part of the name."""
        return self.name.rpartition(".")[2]


@cache
def floors(package: str) -> tuple[tuple[Room, ...], ...]:
    """Return the rooms of a package, floor by floor from the top; those that no contract orders come first.

    Raises:
        ValueError: no contract orders the package.
    """
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    found = [one["layers"] for one in contracts if package in one.get("containers", ())]
    if len(found) != 1:
        raise ValueError(f"{len(found)} import contracts order {package}")
    ordered = [[part.strip() for part in layer.replace("|", ":").split(":")] for layer in found[0]]
    named = {name for floor in ordered for name in floor}
    folder = _folder(package)
    loose = sorted(path.parent.name for path in folder.glob("*/__init__.py") if path.parent.name not in named)
    floor_names = [loose, *ordered] if loose else ordered
    return tuple(tuple(_room(f"{package}.{name}") for name in floor) for floor in floor_names)


def _folder(package: str) -> Path:
    top, *rest = package.split(".")
    return FOLDERS.get(top, ROOT / top).joinpath(*rest)


def _room(name: str) -> Room:
    folder = _folder(name)
    if not folder.is_dir():
        return Room(name, _about(folder.with_suffix(".py")), 1)
    modules = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]
    return Room(name, _about(folder / "__init__.py"), len(modules))


def _about(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def rooms_table(package: str) -> str:
    """Return the rooms of a package from the top floor down, each with what it is for."""
    rows = [(code(room.name), prose(room.about), str(room.modules)) for floor in floors(package) for room in floor]
    return table(("room", "what is in it", "modules"), rows)


def drawing() -> str:
    """Return the rooms of all packages as a figure."""
    shapes: list[str] = []
    y = 0
    for package in TITLES:
        body = list(_package(package, y))
        y += HEAD + len(floors(package)) * (ROW + GAP) + GAP * 2
        shapes += body
    name = "The rooms of the project: packages floor by floor; imports lead down only"
    caption = "Imports lead down only."
    return "\n".join(
        [
            '<figure class="rooms">',
            f'<svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{escape(name)}">',
            f"<title>{escape(name)}</title>",
            *shapes,
            "</svg>",
            f"<figcaption>{escape(caption)}</figcaption>",
            "</figure>",
        ]
    )


def _package(package: str, top: int) -> Iterator[str]:
    rows = floors(package)
    inset = 40 if "." in package else 0
    height = HEAD + len(rows) * (ROW + GAP)
    yield f'<rect class="package" x="{inset + 1}" y="{top + 1}" width="{WIDTH - 2 - inset}" height="{height}" rx="6"/>'
    yield f'<text class="package" x="{inset + 12}" y="{top + 19}">{escape(TITLES[package])}</text>'
    for line, floor in zip(count(top + HEAD, ROW + GAP), rows, strict=False):
        width = (WIDTH - inset - GAP * (len(floor) + 1)) / len(floor)
        for number, room in enumerate(floor):
            x = inset + GAP + number * (width + GAP)
            yield (
                f'<g class="room"><title>{escape(room.about)}</title>'
                f'<rect x="{x:.1f}" y="{line}" width="{width:.1f}" height="{ROW}" rx="3"/>'
                f'<text x="{x + width / 2:.1f}" y="{line + 21}">{escape(room.short)}</text></g>'
            )
