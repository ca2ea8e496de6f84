"""Board Setup's smallest via, as the `.kicad_pro` states it."""

from __future__ import annotations

import json
from pathlib import Path

from stackup_lib.frozen import Frozen

BOARD_SETUP = "Board Setup"
_KEYS = {
    "least_diameter_mm": "min_via_diameter",
    "least_drill_mm": "min_through_hole_diameter",
    "least_ring_mm": "min_via_annular_width",
}


class ViaSettings(Frozen):
    """Constraints of Board Setup on through, blind and buried vias; None where the file does not state one."""

    least_diameter_mm: float | None = None
    least_drill_mm: float | None = None
    least_ring_mm: float | None = None


def read_via_settings(path: Path | None) -> ViaSettings:
    """Return the constraints of a project file; nothing but None without one, or where they cannot be read.

    A project file that is no JSON does not get here: the board's reader has refused it.
    """
    rules = {} if path is None else project_table(path, "board", "design_settings", "rules")
    return ViaSettings(**{name: _length(rules.get(key)) for name, key in _KEYS.items()})


def project_table(path: Path, *keys: str) -> dict[str, object]:
    """Return a table of a project file by the keys that lead to it; empty where there is none."""
    found: object = json.loads(path.read_text(encoding="utf-8-sig"))
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _length(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 100 else None  # type: ignore[arg-type, operator]  # is_number says so
