"""The net classes of a net as KiCad 10 joins them: what `A.NetClass` and `A.hasNetclass` in a rule compare with."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from stackup_lib.board import Project
from stackup_lib.kicad.via_settings import project_table

SIZES = frozenset(
    [
        "bus_width",
        "clearance",
        "diff_pair_gap",
        "diff_pair_width",
        "microvia_diameter",
        "microvia_drill",
        "track_width",
        "via_diameter",
        "via_drill",
        "wire_width",
    ]
)
"""What the classes of a net state between them, or Default is joined to them: each was tried on KiCad 10.0.6."""


def joined_classes(project: Project, net: str) -> tuple[str, ...]:
    """Return the classes of a net, highest priority first, `Default` last where the others leave a size to it."""
    own = project.net_classes_of.get(net, ())
    path = project.path
    stated = {} if path is None or not own else _stated(path, path.stat().st_mtime_ns)
    is_whole = bool(own) and frozenset().union(*(stated.get(name, frozenset()) for name in own)) >= SIZES
    return own if is_whole else (*own, "Default")


@lru_cache(maxsize=8)
def _stated(path: Path, _changed: int) -> dict[str, frozenset[str]]:
    rows = project_table(path, "net_settings").get("classes")
    return {
        str(row.get("name")): frozenset(key for key, value in row.items() if value is not None)
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    }
