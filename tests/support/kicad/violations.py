"""Tracks written into a board file, and what KiCad's design rule check finds there."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from tests.conftest import KicadCli

OURS = b'\t(generator "stackwright")\n'
KICADS = b'\t(generator "pcbnew")\n\t(generator_version "10.0")\n'


def segment(net: str, layer: str, y_mm: float, width_mm: float) -> str:
    """A track of 40 mm."""
    ends = f"(start 60 {y_mm}) (end 100 {y_mm})"
    identity = uuid.uuid5(uuid.NAMESPACE_DNS, f"{net} {layer} {y_mm}")
    return f'(segment {ends} (width {width_mm}) (layer "{layer}") (net "{net}") (uuid "{identity}"))\n'


def pair(name: str, layer: str, y_mm: float, width_mm: float, gap_mm: float) -> str:
    """Two tracks side by side."""
    return segment(f"/{name}_P", layer, y_mm, width_mm) + segment(
        f"/{name}_N", layer, y_mm + width_mm + gap_mm, width_mm
    )


def all_violations(path: Path, kicad_cli: KicadCli) -> list[tuple[str, str]]:
    """Kind and words of all that KiCad's design rule check finds."""
    report = path.with_suffix(".drc.json")
    kicad_cli("pcb", "drc", "--format", "json", "--severity-all", "-o", report, path)
    found = json.loads(report.read_text(encoding="utf-8"))
    rows = [*found["violations"], *found["unconnected_items"], *found["schematic_parity"]]
    return sorted({(v["type"], v["description"]) for v in rows})


def violations(path: Path, kicad_cli: KicadCli) -> list[tuple[str, str]]:
    """Of these what is about widths, gaps and clearances."""
    kinds = ("track_width", "diff_pair_gap_out_of_range", "clearance")
    return [found for found in all_violations(path, kicad_cli) if found[0] in kinds]
