"""The method behind `measured_widths.py`, on lines whose loss and delay are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.physics.measured_widths import DB_PER_NEPER, propagation, transfer, waves


def two_port(s11: complex, s21: complex, s22: complex) -> np.ndarray:
    return np.array([[[s11, s21], [s21, s22]]], dtype=np.complex128)


@pytest.mark.parametrize("ghz", [5.0, 28.0, 90.0])
def test_lines_behind_launches_give_back_their_loss_and_delay(ghz: float) -> None:
    """Launches that reflect and differ fall out; noise on one line spreads the pairs."""
    gamma = complex(0.05 / DB_PER_NEPER, 2 * math.pi * ghz * math.sqrt(2.4) / 299.792458)
    near, far = transfer(two_port(0.3j, 0.8, -0.2)), transfer(two_port(-0.1, 0.7j, 0.25))
    lines = {}
    for mm in (0.0, 0.5, 1.0, 3.0, 5.0, 6.5):
        lines[mm] = (near @ transfer(two_port(0, np.exp(-gamma * (2.0 + mm)), 0)) @ far)[0]
    found, spread = propagation(ghz, lines, 2.5)
    assert found == pytest.approx(gamma, abs=1e-9)
    assert abs(spread) < 1e-9
    lines[3.0] = (near @ transfer(two_port(0.01, np.exp(-gamma * 5.0), 0.01)) @ far)[0] * 1.001
    found, spread = propagation(ghz, lines, 2.5)
    assert abs(spread) > 1e-6
    assert found == pytest.approx(gamma, abs=10 * abs(spread))


def test_lines_of_one_length_give_nothing() -> None:
    alike = np.eye(2, dtype=np.complex128)
    with pytest.raises(ValueError, match="no two lines"):
        propagation(10.0, {1.0: alike, 1.001: alike}, 2.4)


def test_waves_are_read_column_by_column() -> None:
    """The format has S11, S21, S12, S22 in that order."""
    ghz, found = waves("! remark\n# GHz S RI R 50\n2.0 1 0 2 0 3 0 4 0\n")
    assert ghz == pytest.approx([2.0])
    assert found[0].real.tolist() == [[1, 3], [2, 4]]
    assert waves("# HZ S RI R 50\n2e9 1 0 2 0 3 0 4 0\n")[0] == pytest.approx([2.0])
