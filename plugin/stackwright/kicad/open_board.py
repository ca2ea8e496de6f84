"""What is read from the board that is open in KiCad; the page of the button opens before rules and physics are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from stackup_lib.core.record import record

SLOW_TO_COMPARE_BYTES = 8_000_000
"""A board beyond this is compared by what is cheap to fetch: KiCad would stand still for the whole of it."""


@record
class Marker:
    """One line of the DRC window.

    Attributes:
        at_mm: x and y; None for a finding about the whole board.
        items: uuids of the items concerned; KiCad shows the first four.
    """

    message: str
    is_warning: bool
    at_mm: tuple[float, float] | None = None
    items: tuple[str, ...] = ()


class Canvas(Protocol):
    """What takes markers."""

    def corner_mm(self) -> tuple[float, float]:
        """Return where markers without a place go."""

    def add(self, marker: Marker, corner_mm: tuple[float, float]) -> str:
        """Add a marker and return its id."""

    def remove(self, ids: Sequence[str]) -> None:
        """Remove markers."""


class Reloading(Protocol):
    """What applying a change needs."""

    path: Path

    def content(self) -> bytes:
        """Return the board as it is now."""

    def save(self) -> None:
        """Save the board."""

    def reload(self) -> None:
        """Take the board from the disk."""

    def program(self, name: str) -> Path:
        """Return where a program of this KiCad lies."""


class OpenBoard(Canvas, Reloading, Protocol):
    """What a session needs."""

    def hang_up(self) -> None:
        """End the question that is on its way."""

    def digest(self) -> str:
        """Return a fingerprint of the board as it is now."""

    def quick_digest(self) -> str:
        """Return one of its copper, layers and drawings."""

    def select(self, uuids: Sequence[str], layer: str | None = None) -> int:
        """Select items, bring them into view, return how many there are."""

    def active_layer(self) -> str:
        """Return the layer that the editor draws on top."""

    def activate(self, layer: str) -> None:
        """Draw a layer on top; one that KiCad does not know changes nothing."""

    def settings_folder(self, plugin: str) -> Path:
        """Return the folder for what a plugin remembers."""

    def draw(self, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
        """Draw a circle and a code at each place in one step of undo; return ids of what was drawn, and the layer."""


@record
class Seen:
    """The fingerprint of a board; a large one's is of its copper, layers and drawings."""

    digest: str = ""
    is_large: bool = False

    def again(self, live: OpenBoard) -> Seen:
        """Return the fingerprint as it is now."""
        return Seen(live.quick_digest() if self.is_large else live.digest(), self.is_large)


def content_and_digest(live: OpenBoard) -> tuple[bytes, Seen]:
    """Return the board as it is now, and its fingerprint."""
    content = live.content()
    return content, Seen(is_large=len(content) >= SLOW_TO_COMPARE_BYTES).again(live)
