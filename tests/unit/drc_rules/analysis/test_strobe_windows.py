"""Which strobes are compared with which clock of a memory."""

from __future__ import annotations

from pathlib import Path

from drc_rules.analysis.delay.strobe_windows import strobe_windows
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config
from tests.support.small_boards.linked import mini, part, track


def windows(folder: Path, *nets: str, memory: str = "U2") -> dict[str, set[str]]:
    """Name of each window between two parts that share all nets, and its strobes."""
    pads = tuple((str(k), "", net) for k, net in enumerate(nets, start=1))
    text = part("U1", "SoC", *pads) + part(memory, "Memory", *pads, y_mm=40.0)
    text += "".join(track(net, (10 + k, 10), (10 + k, 40)) for k, net in enumerate(nets))
    board = mini(folder, text)
    context, _, _ = prepare(board, Config(), Overrides())
    return {one.name: {board.nets[link.nets[0]] for link in one.strobes} for one in context.get(strobe_windows)}


def test_all_strobes_of_a_memory_are_compared_with_its_clock(tmp_path: Path) -> None:
    strobes = ("DDR4_DQS0_P", "DDR4_DQS0_N", "DDR4_DQS1_P", "DDR4_DQS1_N")

    assert windows(tmp_path, "DDR4_CK_P", "DDR4_CK_N", "DDR4_DQ0", *strobes) == {"clock from U1 to U2": {*strobes}}


def test_each_channel_of_a_memory_has_its_own_clock(tmp_path: Path) -> None:
    nets = tuple(f"LPDDR4_{one}_{side}" for side in "AB" for one in ("CK_T", "CK_C", "DQS0_T", "DQS0_C"))

    assert windows(tmp_path, *nets) == {
        "clock from U1 to U2, LPDDR4_CK_T_A": {"LPDDR4_DQS0_T_A", "LPDDR4_DQS0_C_A"},
        "clock from U1 to U2, LPDDR4_CK_T_B": {"LPDDR4_DQS0_T_B", "LPDDR4_DQS0_C_B"},
    }


def test_the_write_clock_of_lpddr5_and_modules_are_left_alone(tmp_path: Path) -> None:
    """LPDDR5 keeps WCK in step with CK by itself; on a module the clock has its own way."""
    assert windows(tmp_path, "LPDDR5_CK_T", "LPDDR5_CK_C", "LPDDR5_WCK0_T", "LPDDR5_WCK0_C", "LPDDR5_DQ0") == {}
    nets = ("DDR4_CK_P", "DDR4_CK_N", "DDR4_DQS0_P", "DDR4_DQS0_N")
    assert windows(tmp_path, *nets, memory="J1") == {}
