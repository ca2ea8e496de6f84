"""Files that belong to a board by its name: project, design rules."""

from __future__ import annotations

from pathlib import Path


def companion(board: Path, suffix: str) -> Path:
    """Return `card.kicad_pro` of `card.kicad_pcb`, and of `card.kicad_pcb.<digest>-bak`, which has none of its own.

    A backup was written next to the board: without its project every net class in it would be unknown.
    """
    stem, _, rest = board.name.partition(".kicad_pcb")
    is_backup = rest.startswith(".") and rest.endswith("-bak")
    return board.with_name(f"{stem}{suffix}") if stem and is_backup else board.with_suffix(suffix)
