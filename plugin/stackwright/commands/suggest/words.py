"""Phrases of changes: which change something, and their lists of layers written short."""

from __future__ import annotations

import re
from collections.abc import Iterable

from drc_rules.stackup_design.routed_fit import STAYS
from stackwright.text.places import short

_NAME = r"(?:dielectric \d+|[A-Za-z0-9]+\.Cu)"
_LIST = re.compile(rf"{_NAME}(?:(?:, | and ){_NAME})+")


def what_changes(words: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases about something that changes."""
    return tuple(one for one in words if STAYS not in one)


def what_stays(words: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases about routed widths that stay as they are."""
    return tuple(one for one in words if STAYS in one)


def shortened(words: str) -> str:
    """Return a phrase with its lists of layers written short."""
    return _LIST.sub(lambda found: short(re.findall(_NAME, found[0])), words)
