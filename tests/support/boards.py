"""The boards of `fixtures/boards`: where they are, and copies to change."""

from __future__ import annotations

import shutil
from pathlib import Path

BOARDS = Path(__file__).parents[2] / "fixtures" / "boards"


def board_file(name: str) -> Path:
    """Return the `.kicad_pcb` of a fixture board."""
    return BOARDS / name / f"{name}.kicad_pcb"


def copied(name: str, target: Path, folder: str = "") -> Path:
    """Copy a fixture board's folder into `target`, as `folder` or by its own name, and return its board file there."""
    made = target / (folder or name)
    shutil.copytree(BOARDS / name, made)
    return made / f"{name}.kicad_pcb"
