"""Capacitors by file: SPICE subcircuits and S2P against C, R and L put in by hand; files that say nothing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.core.errors import StackwrightError
from stackup_lib.power.over_frequency.capacitor_curve import table_of_network, table_of_subcircuit
from stackup_lib.power.over_frequency.spice_part import read_subcircuit
from stackup_lib.transmission_lines.touchstone_file import read_network
from tests.support.small_boards.paired import series_s, write_s

FARAD, OHM, HENRY = 1e-6, 5e-3, 300e-12
HZ = np.geomspace(1e3, 1e9, 601)


def by_hand(hz: np.ndarray) -> np.ndarray:
    omega = 2 * math.pi * hz
    return OHM + 1j * omega * HENRY + 1 / (1j * omega * FARAD)


def subcircuit(folder: Path, text: str) -> Path:
    path = folder / "part.lib"
    path.write_text(text, encoding="latin-1")
    return path


def test_a_subcircuit_in_series(tmp_path: Path) -> None:
    """Suffixes, continued lines and comments as makers write them; |Z| within 0.3 % but at resonance, C and L 1 %."""
    path = subcircuit(
        tmp_path,
        "* a part\n.SUBCKT GRM port1 port2 ; two terminals\nC1 port1 11 1.0uF\n"
        "L1 11 12\n+ 300p $ nominal\nR1 12 port2 5m\n.ENDS GRM\n",
    )
    table = table_of_subcircuit(read_subcircuit(path))
    far = HZ[np.abs(HZ / 9.19e6 - 1) > 0.05]
    assert np.abs(table.at(far)) == pytest.approx(np.abs(by_hand(far)), rel=3e-3)
    assert table.capacitance_f == pytest.approx(FARAD, rel=0.01)
    assert table.esl_h == pytest.approx(HENRY, rel=0.01)
    assert table.esr_ohm == pytest.approx(OHM, rel=1e-6)


def test_one_of_several_subcircuits(tmp_path: Path) -> None:
    """By its name, in any case; without a name the file is not unique."""
    one = ".subckt {0} 1 2\nC1 1 3 {1}\nL1 3 2 1n\n.ends\n"
    path = subcircuit(tmp_path, one.format("small", "10n") + one.format("large", "1MEG") + one.format("big", "10u"))
    assert table_of_subcircuit(read_subcircuit(path, "BIG")).capacitance_f == pytest.approx(10e-6, rel=0.01)
    with pytest.raises(StackwrightError, match="has 3 subcircuits"):
        read_subcircuit(path)
    with pytest.raises(StackwrightError, match="has no subcircuit huge"):
        read_subcircuit(path, "huge")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("R1 1 2 5\n", "has no .SUBCKT"),
        (".subckt c 1 2 3\nC1 1 2 1u\n.ends\n", "has 3 terminals"),
        (".subckt c 1 2\nE1 1 2 3 4 5\n.ends\n", "line 2 is E1: only R, L and C"),
        (".subckt c 1 2\nC1 1 2 {cap}\n.ends\n", "line 2, C1, is no element"),
        (".subckt c 1 2\nC1 1 2 -1u\n.ends\n", "line 2, C1, is no element"),
        (".subckt c 1 2\nC1 1 1 1u\n.ends\n", "begins and ends at one node"),
        (".subckt c 1 2\n.ends\n", "is empty"),
        (".subckt c 1 2\nC1 1 3 1u\nR1 4 5 1\n.ends\n", "not every node"),
        (".subckt c 1 2\nL1 1 2 1n\n.ends\n", "is no capacitor"),
        (".subckt c 1 2\nC1 1 2 1p\n.ends\n", "below the series resonance"),
    ],
)
def test_a_subcircuit_that_is_none_of_a_capacitor(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(StackwrightError, match=says):
        table_of_subcircuit(read_subcircuit(subcircuit(tmp_path, text)))


@pytest.mark.parametrize("is_shunt", [False, True])
def test_both_ways_of_measuring(tmp_path: Path, is_shunt: bool) -> None:
    """S21 = 2 Z0/(2 Z0 + Z) in series, 2 Z/(2 Z + Z0) as a shunt (Pozar, table 4.2)."""
    ohm = by_hand(HZ)
    s = series_s(ohm)
    if is_shunt:
        s[:, 0, 0] = s[:, 1, 1] = -50 / (2 * ohm + 50)
        s[:, 0, 1] = s[:, 1, 0] = 2 * ohm / (2 * ohm + 50)
    table = table_of_network(read_network(write_s(tmp_path / "c.s2p", HZ * 1e-9, s), (2,)), is_shunt=is_shunt)
    for hz in (1e4, 1e6, 1e8):
        assert table.at(np.array([hz]))[0] == pytest.approx(by_hand(np.array([hz]))[0], rel=5e-3)
    assert table.capacitance_f == pytest.approx(FARAD, rel=0.01)


def test_beyond_a_file_the_part_goes_on_as_c_and_l(tmp_path: Path) -> None:
    """A measurement from 100 kHz to 100 MHz, looked up at 1 kHz and 1 GHz."""
    hz = np.geomspace(1e5, 1e8, 301)
    path = write_s(tmp_path / "c.s2p", hz * 1e-9, series_s(by_hand(hz)))
    table = table_of_network(read_network(path, (2,)), is_shunt=False)
    assert table.at(np.array([1e3, 1e9])).imag == pytest.approx(by_hand(np.array([1e3, 1e9])).imag, rel=0.01)


def test_a_file_that_ends_below_resonance_is_refused(tmp_path: Path) -> None:
    hz = np.geomspace(1e4, 1e6, 101)
    network = read_network(write_s(tmp_path / "c.s2p", hz * 1e-9, series_s(by_hand(hz))), (2,))
    with pytest.raises(StackwrightError, match="ends at 1 MHz, below the series resonance"):
        table_of_network(network, is_shunt=False)
