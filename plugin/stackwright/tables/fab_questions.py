"""What a fab would ask about a stackup, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drc_rules.cam.item import CamItem
from stackwright.text.page import Column
from stackwright.text.places import places

QuestionRows = tuple[Sequence[Column], list[tuple[str, str, str]]]


def question_rows(items: Iterable[CamItem], *, verbose: bool) -> QuestionRows:
    """Return columns and rows: topic, value, where; `verbose` adds what fabs build as usual."""
    rows = [
        (
            item.topic,
            f"{item.figure}; usual: {item.limit}" if verbose and item.limit else item.figure,
            places(item.where),
        )
        for item in items
    ]
    return (Column(), Column(wraps=True), Column(max_width=24)), rows
