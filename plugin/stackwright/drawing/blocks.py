"""The stackup as a cross-section of characters: a picture that every terminal, log and comment shows."""

from __future__ import annotations

from collections.abc import Collection

from drc_rules.report.stackup_rows import StackupRow, StackupView
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackwright.drawing import words
from stackwright.text.words import clean

WIDTH = 16
FULL, TRACKS = "█" * WIDTH, "█ " * (WIDTH // 2)
FILLS = {LayerKind.MASK: "·" * WIDTH, LayerKind.CORE: "▒" * WIDTH, LayerKind.PREPREG: "░" * WIDTH}
PLANES = {LayerRole.GROUND, LayerRole.POWER}


def cross_section(view: StackupView, *, marked: Collection[str] = ()) -> list[str]:
    """Return one line per row: copper full for planes and broken for signals, core dense, prepreg light.

    `marked` are names of rows that get an arrow.
    """
    names = [clean(words.full_name(row)) for row in view.rows]
    width = max((len(name) for name in names), default=0)
    lines = []
    for name, row in zip(names, view.rows, strict=True):
        arrow = "  ← changed" if row.name in marked else ""
        lines.append(f"{name:<{width}}  {_bar(row)}  {_said(row)}{arrow}".rstrip())
    return lines


def _bar(row: StackupRow) -> str:
    if row.is_copper:
        return FULL if row.role in PLANES else TRACKS
    return FILLS.get(row.kind, " " * WIDTH)


def _said(row: StackupRow) -> str:
    use = words.role(row) if row.is_copper else words.material(row)
    weight = words.copper_weight(row) if row.is_copper else ""
    return clean("  ".join(part for part in (words.thickness(row), weight, use) if part))
