"""Stands for a board that is open in KiCad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackwright.kicad.errors import KicadError

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "fixtures/boards/default_stackup/default_stackup.kicad_pcb"


@dataclass
class Played:
    """Stands for a live board."""

    path: Path
    text: bytes
    items: set[str] = field(default_factory=set)
    selected: list[str] = field(default_factory=list)
    layer: str = "F.SilkS"
    markers: int = 0
    room: int = 1000
    settings: Path = Path()

    def hang_up(self) -> None:
        """Nothing is on its way."""

    def content(self) -> bytes:
        """The board."""
        return self.text

    def digest(self) -> str:
        """Its fingerprint."""
        return str(hash(self.text))

    def quick_digest(self) -> str:
        """The fingerprint of what is cheap to fetch: here of the first line."""
        return str(hash(self.text.splitlines()[0]))

    def select(self, uuids: Sequence[str], layer: str | None = None) -> int:
        """Select items."""
        self.selected = [one for one in uuids if one in self.items]
        self.layer = layer or self.layer
        return len(self.selected)

    def active_layer(self) -> str:
        """The layer on top."""
        return self.layer

    def activate(self, layer: str) -> None:
        """Draw a layer on top."""
        self.layer = layer

    def settings_folder(self, plugin: str) -> Path:
        """Where markers are remembered."""
        return self.settings / plugin

    def corner_mm(self) -> tuple[float, float]:
        """The board's corner."""
        return 0, 0

    def add(self, marker: object, corner_mm: tuple[float, float]) -> str:
        """Set a marker."""
        if self.markers >= self.room:
            raise KicadError("KiCad", "is busy", "wait")
        self.markers += 1
        return f"m{self.markers}"

    def remove(self, ids: Sequence[str]) -> None:
        """Remove markers."""


def played(board: Played) -> Callable[[float], Any]:
    return lambda timeout_s: board
