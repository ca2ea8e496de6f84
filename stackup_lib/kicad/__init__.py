"""KiCad's files: `.kicad_pcb` and `.kicad_pro` in."""

from stackup_lib.kicad.read.project import read_project
from stackup_lib.kicad.read.reader import read_board

__all__ = ["read_board", "read_project"]
