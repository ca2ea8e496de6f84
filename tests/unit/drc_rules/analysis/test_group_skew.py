"""Which nets are compared with which strobe."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.delay.group_skew import net_groups
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config
from tests.unit.drc_rules.facts.test_net_pins import part
from tests.unit.stackup_lib.nets.test_links import mini, track


def groups(folder: Path, *nets: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Name of each group, its strobe and its members, on a board where every net runs from U1 to U2."""
    pads = tuple((str(k), "", net) for k, net in enumerate(nets, start=1))
    text = part("U1", "SoC", *pads) + part("U2", "Memory", *pads, y_mm=40.0)
    text += "".join(track(net, (10, 10 + k), (10, 40 + k)) for k, net in enumerate(nets))
    board = mini(folder, text)
    context, _, _ = prepare(board, Config(), Overrides())
    return {
        one.name: (
            tuple(board.nets[trace.nets[0]] for trace in one.strobe),
            tuple(board.nets[link.nets[0]] for link in one.members),
        )
        for one in context.get(net_groups)
    }


def byte(pattern: str, number: int = 0) -> tuple[str, ...]:
    return tuple(pattern.format(bit) for bit in range(8 * number, 8 * number + 8))


@pytest.mark.parametrize(
    ("data", "strobe"),
    [
        ("DDR4_DQ{}", ("DDR4_DQS0_P", "DDR4_DQS0_N")),
        ("S0SDQ{}", ("S0SDQS0_P", "S0SDQS0_N")),
        ("DQ{}_A", ("DQS0_T_A", "DQS0_C_A")),
        ("/ddr3/DQ{}", ("/ddr3/DQS0", "/ddr3/DQS#0")),
        ("/DDR_D{}", ("/DDR_DQS0", "/DDR_DQSn0")),
    ],
)
def test_a_byte_is_eight_bits_and_both_traces_of_the_strobe_of_its_number(
    tmp_path: Path, data: str, strobe: tuple[str, str]
) -> None:
    found = groups(tmp_path, *byte(data), *strobe)

    assert list(found.values()) == [(strobe, byte(data))]


def test_the_second_byte_has_the_second_strobe(tmp_path: Path) -> None:
    strobes = ("DDR4_DQS0_P", "DDR4_DQS0_N", "DDR4_DQS1_P", "DDR4_DQS1_N")

    found = groups(tmp_path, *byte("DDR4_DQ{}"), *byte("DDR4_DQ{}", 1), *strobes)

    assert {name: strobe for name, (strobe, _) in found.items()} == {
        "DDR4_DQ0..7": strobes[:2],
        "DDR4_DQ8..15": strobes[2:],
    }


@pytest.mark.parametrize(
    "nets",
    [
        (*byte("DDR4_DQ{}")[:7], "DDR4_DQS0_P", "DDR4_DQS0_N"),
        (*byte("DDR4_A{}"), "DDR4_DQS0_P", "DDR4_DQS0_N"),
        (*byte("DDR4_ADD{}"), "DDR4_DQS0_P", "DDR4_DQS0_N"),
        (*byte("DDR4_DQ{}"), "DDR4_DQS0_P", "DDR4_DQS0_N", "DDR4_DQS1_P", "DDR4_DQS1_N"),
        byte("DDR4_DQ{}"),
    ],
    ids=["seven bits", "address", "address, spelled out", "a strobe for four bits", "no strobe"],
)
def test_what_is_no_whole_byte_is_not_compared(tmp_path: Path, nets: tuple[str, ...]) -> None:
    assert groups(tmp_path, *nets) == {}


def test_data_of_rgmii_are_compared_by_direction_without_the_clock(tmp_path: Path) -> None:
    found = groups(tmp_path, "RGMII_TXD0", "RGMII_TXD1", "RGMII_TXC", "RGMII_RXD0", "RGMII_RXD1", "RGMII_RX_CTL")

    assert found == {
        "RGMII_RXD": ((), ("RGMII_RXD0", "RGMII_RXD1")),
        "RGMII_TXD": ((), ("RGMII_TXD0", "RGMII_TXD1")),
    }
