"""Currents of two layers compared: strips whose overlap is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from stackup_lib.power.rail_drop.overlap import likeness
from stackup_lib.power.rail_drop.rail_models import LayerFlow


def strip(start_mm: float, stop_mm: float, amperes: tuple[float, float] = (1.0, 0.0), cells: int = 7) -> LayerFlow:
    """A strip along x of 2 mm in width, in triangles, with an even current per width."""
    x = np.linspace(start_mm, stop_mm, cells + 1)
    corners = [triangle for a, b in pairwise(x) for triangle in ([(a, 0), (b, 0), (b, 2)], [(a, 0), (b, 2), (a, 2)])]
    return LayerFlow(np.array(corners, dtype=np.float64), np.tile(amperes, (len(corners), 1)))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (strip(0, 10), 1.0),
        (strip(0, 10, (3.0, 0.0), cells=40), 1.0),
        (strip(0, 10, (-1.0, 0.0)), -1.0),
        (strip(0, 10, (0.0, 1.0)), 0.0),
        (strip(4, 14, cells=11), 0.6),
        (strip(5, 20, cells=90), 5 / np.sqrt(150)),
        (strip(12, 20), 0.0),
    ],
    ids=["alike", "finer and more", "back", "across", "six of ten", "five of ten and fifteen", "apart"],
)
def test_likeness_is_the_share_of_current_over_current(other: LayerFlow, expected: float) -> None:
    """Length in common over the root of both lengths, for even currents."""
    assert likeness(strip(0, 10), other) == pytest.approx(expected, abs=0.02)
    assert likeness(other, strip(0, 10)) == pytest.approx(expected, abs=0.02)
