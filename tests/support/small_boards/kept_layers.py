"""Six layers with ground and supply planes, and one track between them."""

from __future__ import annotations

SIX = """
F.Cu {outer}
prepreg 0.1 "370HR 2116 RC56%"
In1.Cu {inner}
core 0.51 "370HR"
In2.Cu {inner}
prepreg 0.11 "370HR 2116 RC56%"
In3.Cu {inner}
core 0.51 "370HR"
In4.Cu {inner}
prepreg 0.1 "370HR 2116 RC56%"
B.Cu {outer}
"""
PLANES = {"In1.Cu": "GND", "In3.Cu": "+3V3", "In4.Cu": "GND"}
TRACK = {"net": "/A", "layer": "In2.Cu", "path_mm": [[5, 5], [70, 5]]}
