"""Board Setup's smallest via, as the `.kicad_pro` states it."""

from __future__ import annotations

from stackup_lib.board.project import Project
from stackup_lib.core.record import record

BOARD_SETUP = "Board Setup"
_KEYS = {
    "least_diameter_mm": "min_via_diameter",
    "least_drill_mm": "min_through_hole_diameter",
    "least_ring_mm": "min_via_annular_width",
}


@record
class ViaSettings:
    """Constraints of Board Setup on through, blind and buried vias; None where the file does not state one."""

    least_diameter_mm: float | None = None
    least_drill_mm: float | None = None
    least_ring_mm: float | None = None


def via_settings(project: Project) -> ViaSettings:
    """Return Board Setup's constraints on vias; nothing but None without a project, or where they are no numbers."""
    return ViaSettings(**{name: _length(project.limits.get(key)) for name, key in _KEYS.items()})


def _length(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < 100 else None
