"""Where tracks cross in mid-run: worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from stackup_lib.nets.routing.track_crossings import crossings


def test_a_bent_line_is_crossed_by_its_second_chord() -> None:
    """Chords from 0 to 2 and from there to 2 + 2i, crossed half-way up; the other line crosses nothing."""
    bent = np.array([[0, 2, 2 + 2j], [0, 2, 2 + 2j]])
    across = np.array([[1 + 1j, 3 + 1j], [1 + 1j, 1.9 + 1j]])
    met = crossings(bent, across)

    assert met.row.tolist() == [0]
    assert met.first_share == pytest.approx([0.75])
    assert met.second_share == pytest.approx([0.5])
    assert met.place == pytest.approx([2 + 1j])


def test_lines_that_end_on_each_other_or_lie_in_one_another_do_not_cross() -> None:
    """An end on a line, an end 0.5 um past it, two lines along one another, and parallel ones."""
    line = np.array([[0, 4]] * 4, dtype=np.complex128)
    others = np.array([[2, 2 + 1j], [2 - 0.0005j, 2 + 1j], [1, 3], [1j, 4 + 1j]])

    assert not len(crossings(line, others).row)
