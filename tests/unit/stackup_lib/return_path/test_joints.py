"""Tracks whose copper meets though their ends do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from stackup_lib.return_path.joints import joined_in_copper
from stackup_lib.return_path.plane_copper import PlaneLines

Line = tuple[complex, complex]


def joined(*lines: Line, nets: Sequence[int] = (), width_mm: float = 0.2) -> list[tuple[int, complex, complex]]:
    """Return (given line, start, end) of what becomes of some lines."""
    start, end = np.array(lines).T
    length = np.abs(end - start)
    given = PlaneLines(start, (end - start) / length, length)
    part, found = joined_in_copper(given, np.array(nets or [1] * len(lines)), np.full(len(lines), width_mm))
    ends = found.start + found.direction * found.length_mm
    ways = zip(part.tolist(), found.start.tolist(), ends.tolist(), strict=True)
    return [(of, rounded(one), rounded(other)) for of, one, other in ways]


def rounded(point: complex) -> complex:
    return complex(round(point.real, 9), round(point.imag, 9))


def test_lines_that_meet_at_their_ends_stay_as_they_are() -> None:
    assert joined((0, 1), (1, 1 + 1j), (1, 2)) == [(0, 0, 1), (1, 1, 1 + 1j), (2, 1, 2)]


def test_ends_beside_each_other_are_joined_by_a_short_line() -> None:
    """0.05 mm apart, in the copper of both; 0.5 mm apart they are no joint."""
    assert joined((0, 1), (1 + 0.05j, 2 + 0.05j)) == [(0, 0, 1), (1, 1 + 0.05j, 2 + 0.05j), (1, 1 + 0.05j, 1)]
    assert joined((0, 1), (1 + 0.5j, 2 + 0.5j)) == [(0, 0, 1), (1, 1 + 0.5j, 2 + 0.5j)]


def test_a_track_that_ends_on_the_middle_of_another_cuts_it() -> None:
    assert joined((0, 2), (1, 1 + 1j)) == [(0, 0, 1), (0, 1, 2), (1, 1, 1 + 1j)]


def test_one_that_ends_in_the_copper_of_another_is_led_to_its_middle() -> None:
    found = joined((0, 2), (1 + 0.08j, 1 + 1j))
    assert found == [(0, 0, 1), (0, 1, 2), (1, 1 + 0.08j, 1 + 1j), (1, 1 + 0.08j, 1)]


def test_what_two_tracks_share_counts_once() -> None:
    """They lie over each other from 0.9 to 1.1; and one drawn twice, the other way round."""
    found = joined((0, 1.1), (0.9, 2))
    assert [(one, other) for _, one, other in found] == [(0, 0.9), (0.9, 1.1), (1.1, 2)]
    assert joined((0, 1), (1, 0)) == [(0, 0, 1)]


@pytest.mark.parametrize("nets", [(1, 2), (2, 1)])
def test_tracks_of_two_nets_never_meet(nets: tuple[int, int]) -> None:
    assert joined((0, 1), (0.9, 2), nets=nets) == [(0, 0, 1), (1, 0.9, 2)]


def test_no_lines_are_none() -> None:
    none = np.zeros(0)
    empty = PlaneLines(none.astype(np.complex128), none.astype(np.complex128), none)
    part, found = joined_in_copper(empty, none.astype(np.int64), none)
    assert len(part) == len(found.length_mm) == 0
