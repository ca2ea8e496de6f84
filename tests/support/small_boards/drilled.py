"""A small board of six layers with holes of any kind."""

from __future__ import annotations

from pathlib import Path

from drc_rules.facts.context import Context
from tests.support.mini import mini_context
from tests.support.stackups import SIX_LAYERS


def context(folder: Path, **board: object) -> Context:
    """A board of six layers, 1.24 mm thick: copper at 0 to 0.03, 0.13, 0.35, 0.67, 1.09 to 1.11, and 1.21 to 1.24."""
    config = str(board.pop("config", ""))
    return mini_context(folder, {"size_mm": (60, 40), "stackup": SIX_LAYERS, **board}, config)


def via(x: float, **fields: object) -> dict[str, object]:
    return {"net": "/A", "at_mm": [x, 10], **fields}
