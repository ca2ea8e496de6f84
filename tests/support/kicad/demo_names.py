"""Names of KiCad's demo boards, for tests that run once for each."""

from __future__ import annotations

import math

from tests.conftest import demo_folder


def demo_names(most_bytes: float = math.inf, above_bytes: float = 0) -> list[str]:
    """Return the paths under `demo_folder` of those of a size, or one name that stands for none."""
    folder = demo_folder()
    found = sorted(folder.rglob("*.kicad_pcb")) if folder else []
    names = [
        str(path.relative_to(folder)) for path in found if folder and above_bytes < path.stat().st_size <= most_bytes
    ]
    return names or ["no demo boards"]
