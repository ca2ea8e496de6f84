"""The words that KiCad writes, by the list they stand in; `tokens.toml` holds them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import tomli


@cache
def _table() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name("tokens.toml").read_text(encoding="utf-8")
    return {parent: frozenset(words) for parent, words in tomli.loads(text).items()}


def known(parent: str) -> frozenset[str]:
    """Return the words that are known to stand inside a list such as `via` or `stackup_layer`."""
    return _table()[parent]
