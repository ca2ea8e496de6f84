"""An empty board from a planned stackup: the `.kicad_pcb` and the `.kicad_pro` of a project without a layout.

`new_board.kicad_pcb` next to this file holds what KiCad 10 itself writes for a board of two layers without a stackup;
its generator is ours, as KiCad asks of other programs. Equal plans give equal bytes.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from pathlib import Path

from stackup_lib.board.planned import PlannedClass, PlannedStackup
from stackup_lib.kicad.read.project import DEFAULT, LAST_PRIORITY
from stackup_lib.kicad.write.project_writer import set_net_classes
from stackup_lib.kicad.write.spans import length_text
from stackup_lib.kicad.write.stackup_writer import replace_stackup

TEMPLATE = Path(__file__).with_suffix(".kicad_pcb")
PAGES_MM = {"A4": (297, 210), "A3": (420, 297), "A2": (594, 420), "A1": (841, 594), "A0": (1189, 841)}
CORNER_MM = 50.0
"""The outline's upper-left corner on the sheet, both ways; as much stays free on the other sides."""
_LINE_MM = 0.1
_LEAST_WIDTH_MM = 0.2
"""KiCad 10's own limit for tracks of a project that states none."""
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "new-board.stackwright")
_PROJECT_VERSION, _CLASSES_VERSION = 3, 5
"""What KiCad 10 writes."""
_DEFAULT_CLASS = {
    "bus_width": 12,
    "clearance": 0.2,
    "diff_pair_gap": 0.25,
    "diff_pair_via_gap": 0.25,
    "diff_pair_width": 0.2,
    "line_style": 0,
    "microvia_diameter": 0.3,
    "microvia_drill": 0.1,
    "name": DEFAULT,
    "pcb_color": "rgba(0, 0, 0, 0.000)",
    "priority": LAST_PRIORITY,
    "schematic_color": "rgba(0, 0, 0, 0.000)",
    "track_width": 0.2,
    "tuning_profile": "",
    "via_diameter": 0.6,
    "via_drill": 0.3,
    "wire_width": 6,
}
"""KiCad's own, for nets that no class of the plan takes."""


def empty_board(
    planned: PlannedStackup,
    *,
    size_mm: tuple[float, float] | None = None,
    label: str = "the new board",
    reads_back: bool = True,
) -> bytes:
    """Return a `.kicad_pcb` with this stackup and, where a size is given, a rectangle of it as outline; nothing else.

    Args:
        planned: the stackup; it names the copper layers.
        size_mm: width and height of the outline.
        label: what errors call the board.
        reads_back: as in `replace_stackup`.

    Raises:
        NotWrittenError: the plan makes no stackup.
    """
    text = TEMPLATE.read_bytes()
    if size_mm is not None:
        text = text.replace(b'(paper "A4")', f'(paper "{_page(size_mm)}")'.encode())
        text = text.replace(b"\t(embedded_fonts no)\n", _outline(size_mm).encode() + b"\t(embedded_fonts no)\n")
    return replace_stackup(text, planned, label=label, change_layers=True, reads_back=reads_back)


def empty_project(
    name: str,
    classes: Iterable[PlannedClass],
    *,
    least_width_mm: float = _LEAST_WIDTH_MM,
    label: str = "the new project",
) -> bytes:
    """Return a `.kicad_pro` with KiCad's own Default and these net classes.

    Args:
        name: file name of the project, e.g. `card.kicad_pro`.
        classes: the net classes, the first with the highest priority.
        least_width_mm: the narrowest track that is planned; KiCad's own limit is lowered where it forbids that.
        label: what errors call the project.

    Raises:
        NotWrittenError: the classes cannot be written.
    """
    least = round(min(least_width_mm, _LEAST_WIDTH_MM), 6)
    project = {
        "board": {"design_settings": {"defaults": {}, "rules": {"min_track_width": least}}},
        "meta": {"filename": name, "version": _PROJECT_VERSION},
        "net_settings": {
            "classes": [_DEFAULT_CLASS],
            "meta": {"version": _CLASSES_VERSION},
            "net_colors": None,
            "netclass_assignments": None,
            "netclass_patterns": [],
        },
        "sheets": [],
        "text_variables": {},
    }
    text = json.dumps(project, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return set_net_classes(text.encode(), classes, label=label).content


def _page(size_mm: tuple[float, float]) -> str:
    width, height = (size + 2 * CORNER_MM for size in size_mm)
    return next((name for name, (w, h) in PAGES_MM.items() if width <= w and height <= h), "A0")


def _outline(size_mm: tuple[float, float]) -> str:
    corner = length_text(CORNER_MM)
    end = " ".join(length_text(CORNER_MM + size) for size in size_mm)
    identity = uuid.uuid5(_NAMESPACE, f"outline {end}")
    lines = (
        "(gr_rect",
        f"\t(start {corner} {corner})",
        f"\t(end {end})",
        "\t(stroke",
        f"\t\t(width {length_text(_LINE_MM)})",
        "\t\t(type default)",
        "\t)",
        "\t(fill no)",
        '\t(layer "Edge.Cuts")',
        f'\t(uuid "{identity}")',
        ")",
    )
    return "".join(f"\t{line}\n" for line in lines)
