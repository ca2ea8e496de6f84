"""What KiCad 4 and 5 wrote otherwise: net classes inside the board, overbars in names, drills left to the class.

Each was tried on KiCad 10, which reads such files and writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

import numpy as np

from stackup_lib.board.board import NetClass, Project, ViaKind, Vias
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.class_fields import BOARD_TOKENS
from stackup_lib.kicad.read.project import DEFAULT, LAST_PRIORITY, Parts
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.source import BoardText

NEW_OVERBARS = 20210606
"""From this version on an overbar is `~{NAME}`; before, it ran from one tilde to the next."""

KICAD_4 = 4
"""The version that KiCad 4 wrote."""

_TOKENS = re.compile(r"~~|[~ })]|[^~ })]+")
_CONSTRAINTS = {
    "min_track_width": "trace_min",
    "min_via_diameter": "via_min_size",
    "min_through_hole_diameter": "via_min_drill",
    "min_via_annular_width": "via_min_annulus",
    "min_microvia_diameter": "uvia_min_size",
    "min_microvia_drill": "uvia_min_drill",
}
"""Board Setup's constraints by KiCad 6's names, and how a board's own `(setup ...)` called them before."""
_IMPORT = "import it in KiCad (File > Import) and save it, or give the .kicad_pcb of the board"
_UNPACK = "unpack it, and give the .kicad_pcb in it, or import what is in it in KiCad (File > Import)"
_OTHER_TOOLS = (
    (
        re.compile(rb"\s*(?:<\?xml|<!DOCTYPE eagle|<eagle)", re.IGNORECASE),
        "an XML file, perhaps an Eagle board",
        _IMPORT,
    ),
    (re.compile(rb"\xd0\xcf\x11\xe0"), "a compound file, perhaps an Altium board", _IMPORT),
    (re.compile(rb"PK\x03\x04"), "a ZIP archive, perhaps of a project", _UNPACK),
    (re.compile(rb"\x1f\x8b"), "a gzip archive", _UNPACK),
    (re.compile(rb"\s*\{\s*\"(?:editorVersion|head|docType)"), "an EasyEDA board", _IMPORT),
)


@workpiece
class BoardClasses:
    """The `(net_class ...)` blocks of a board, with the drills of their microvias by class."""

    parts: Parts = field(default_factory=Parts)
    microvia_drill_mm: dict[str, float] = field(default_factory=dict)


def other_tool(content: bytes) -> tuple[str, str] | None:
    """Return what a file is that begins like another program's, and what to do with it; None for any other."""
    return next(((what, fix) for pattern, what, fix in _OTHER_TOOLS if pattern.match(content)), None)


def net_name(name: str, version: int) -> str:
    """Return a net's name with its overbars as KiCad 6 and later write them, so that old and new files agree."""
    if version >= NEW_OVERBARS or "~" not in name or name == "~" or "~{" in name:
        return name
    written, inside = [], False
    for token in _TOKENS.findall(name):
        if token == "~~":  # noqa: S105 - two tildes stand for one
            written.append("~")
        elif token == "~":  # noqa: S105
            written.append("}" if inside else "~{")
            inside = not inside
        else:
            if inside and token in (" ", "}", ")"):  # these end an overbar as well
                written.append("}")
                inside = False
            written.append(token)
    return "".join(written) + ("}" if inside else "")


def board_classes(source: BoardText) -> BoardClasses:
    """Return the net classes and constraints that a board of KiCad 5 or older holds; none in newer ones."""
    found = BoardClasses()
    is_old = bool(len(source.items("net_class")))
    for offset, node in source.nodes(source.items("setup")[: int(is_old)]):
        with source.at(offset):
            stated = {name: tree.value(node, token) for name, token in _CONSTRAINTS.items()}
            found.parts.limits = {name: size for name, size in stated.items() if size is not None}
    for offset, node in source.nodes(source.items("net_class")):
        with source.at(offset):
            name = tree.word(node)
            sizes = {size: tree.value(node, token) for size, token in BOARD_TOKENS.items()}
            priority = LAST_PRIORITY if name == DEFAULT else len(found.parts.classes)
            found.parts.classes[name] = NetClass(name=name, priority=priority, **sizes)
            micro = tree.value(node, "uvia_drill")
            if micro is not None:
                found.microvia_drill_mm[name] = micro
            for row in tree.lists(node, "add_net"):
                net = net_name(tree.word(row), source.version)
                assigned = found.parts.assignments
                assigned[net] = (*assigned.get(net, ()), name)
    return found


def state_drills(source: BoardText, vias: Vias, project: Project, microvia_drill_mm: Mapping[str, float]) -> None:
    """Fill in the drills that a board leaves to the net class: of a microvia its own, of any other the via's."""
    for row in np.flatnonzero(np.isnan(vias.drill_mm)).tolist():
        net = source.nets.names[int(vias.net[row])]
        stated = project.effective(net).via_drill_mm
        if vias.kind[row] == ViaKind.MICRO:
            name = next(iter(project.net_classes_of.get(net, ())), DEFAULT)
            stated = microvia_drill_mm.get(name, microvia_drill_mm.get(DEFAULT))
        if stated is None:
            source.left_out["drill sizes of vias: neither the via nor its net class states one"] += 1
        else:
            vias.drill_mm[row] = stated
