"""Words for a cost against the cheapest: Design007, May 2023: below 10 % low, to 25 % medium, above high."""

from __future__ import annotations

import pytest

from stackup_lib.synthesis.cost import cost_word, more_pct


@pytest.mark.parametrize(
    ("index", "more", "word"),
    [
        (40, 0, "lowest"),
        (40.1, 0, "lowest"),
        (43.6, 9, "low"),
        (44, 10, "medium"),
        (50, 25, "medium"),
        (50.4, 26, "high"),
    ],
)
def test_a_cost_is_named_by_what_it_is_above_the_cheapest(index: float, more: int, word: str) -> None:
    """Per cent are whole: the index is no finer."""
    assert more_pct(index, 40) == more
    assert cost_word(index, 40) == word


def test_what_is_cheaper_than_every_answer_is_the_lowest() -> None:
    """A stackup that meets fewer goals may be."""
    assert more_pct(30, 40) == -25
    assert cost_word(30, 40) == "lowest"
