"""A board crowded by chance, on which KiCad and we look for spaces."""

from __future__ import annotations

import numpy as np


def crowd() -> dict[str, object]:
    """Tracks at all angles, vias, pads of every shape and two planes, at random but not on one another."""
    chance = np.random.default_rng(11)
    tracks, vias, pads = [], [], []
    for k, (column, row) in enumerate(np.ndindex(9, 6)):
        x, y = (2 + np.array([column, row]) * 0.78 + chance.uniform(-0.05, 0.05, 2)).round(4).tolist()
        turn = chance.uniform(0, np.pi)
        end = [round(x + 0.5 * float(np.cos(turn)), 4), round(y + 0.5 * float(np.sin(turn)), 4)]
        if k % 3 == 0:
            tracks.append({"net": f"T{k}", "layer": "F.Cu", "width_mm": 0.15, "path_mm": [[x, y], end]})
        elif k % 3 == 1:
            vias.append({"net": f"V{k}", "at_mm": [x, y], "size_mm": 0.45, "drill_mm": 0.2})
        else:
            shape = ("rect", "circle", "oval", "roundrect")[k % 4]
            size = [0.5, 0.5] if shape == "circle" else [0.6, 0.4]
            pads.append({"number": str(k), "net": f"P{k}", "at_mm": [x, y], "size_mm": size, "shape": shape})
    zones = [
        {"net": "GND", "layer": "F.Cu", "rect_mm": [0.7, 6.2, 6, 12], "clearance_mm": 0.15},
        {"net": "VDD", "layer": "F.Cu", "rect_mm": [6.18, 6.2, 12, 12], "clearance_mm": 0.15},
    ]
    parts = [{"reference": "U1", "at_mm": [0, 0], "pads": pads}]
    return {"size_mm": [13, 13], "tracks": tracks, "vias": vias, "parts": parts, "zones": zones}
