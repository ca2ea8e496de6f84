"""What the fields of a net class are called in KiCad's files."""

from __future__ import annotations

PROJECT_KEYS = {
    "clearance_mm": "clearance",
    "track_width_mm": "track_width",
    "via_diameter_mm": "via_diameter",
    "via_drill_mm": "via_drill",
    "diff_pair_width_mm": "diff_pair_width",
    "diff_pair_gap_mm": "diff_pair_gap",
}
"""Field of `NetClass` -> key in a `.kicad_pro`."""

BOARD_TOKENS = PROJECT_KEYS | {"track_width_mm": "trace_width", "via_diameter_mm": "via_dia"}
"""Field of `NetClass` -> token in a board before KiCad 6, which held the classes itself."""
