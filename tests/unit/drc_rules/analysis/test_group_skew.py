"""Which nets are compared with which strobe, and which traces of pairs with one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.delay.group_skew import SkewGroup, net_groups
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config, parse_config
from stackup_lib.board.board import Board
from tests.support.small_boards.linked import mini, part, track

PAIR = "pair "


def all_groups(folder: Path, *nets: str, config: str = "") -> tuple[Board, tuple[SkewGroup, ...]]:
    """The groups of a board where every net runs from U1 to U2."""
    pads = tuple((str(k), "", net) for k, net in enumerate(nets, start=1))
    text = part("U1", "SoC", *pads) + part("U2", "Memory", *pads, y_mm=40.0)
    text += "".join(track(net, (10, 10 + k), (10, 40 + k)) for k, net in enumerate(nets))
    board = mini(folder, text)
    context, _, _ = prepare(board, parse_config(config) if config else Config(), Overrides())
    return board, context.get(net_groups)


def groups(folder: Path, *nets: str, config: str = "") -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Name of each byte that can be compared, its strobe and its members."""
    board, found = all_groups(folder, *nets, config=config)
    return {
        one.name: (
            tuple(board.nets[trace.nets[0]] for trace in one.strobe),
            tuple(board.nets[link.nets[0]] for link in one.members),
        )
        for one in found
        if one.open_for is None and not one.name.startswith(PAIR)
    }


def pairs(folder: Path, *nets: str) -> list[tuple[str, ...]]:
    """Both traces of each pair that is compared."""
    board, found = all_groups(folder, *nets)
    of_pairs = [one for one in found if one.open_for is None and one.name.startswith(PAIR)]
    return [tuple(board.nets[link.nets[0]] for link in one.members) for one in of_pairs]


def left_open(folder: Path, *nets: str, config: str = "") -> dict[str, str]:
    """Name of each group that cannot be compared, and why."""
    _, found = all_groups(folder, *nets, config=config)
    return {one.name: one.open_for.name for one in found if one.open_for is not None}


def declared(generation: str) -> str:
    return f'[[interface]]\nis = "{generation}"\nnets = ["*D*", "*CB*", "*WCK*", "*_A*"]\ngroup_skew_ps = 10\n'


def byte(pattern: str, number: int = 0) -> tuple[str, ...]:
    return tuple(pattern.format(bit) for bit in range(8 * number, 8 * number + 8))


@pytest.mark.parametrize(
    ("data", "strobe"),
    [
        ("DDR4_DQ{}", ("DDR4_DQS0_P", "DDR4_DQS0_N")),
        ("S0SDQ{}", ("S0SDQS0_P", "S0SDQS0_N")),
        ("DQ{}_A", ("DQS0_T_A", "DQS0_C_A")),
        ("/memory/DQ{}", ("/memory/DQS0", "/memory/DQS#0")),
        ("/DDR_D{}", ("/DDR_DQS0", "/DDR_DQSn0")),
        ("DDR4_DQ{}", ("DDR4_DQSP0", "DDR4_DQSN0")),
        ("DDR4_DQ{}", ("DDR4_DQS_T0", "DDR4_DQS_C0")),
        ("DDR4_DQ{}_A", ("DDR4_DQS0_A_T", "DDR4_DQS0_A_C")),
        ("DDR4_DQ_A{}", ("DDR4_DQS_A0_P", "DDR4_DQS_A0_N")),
        ("DDR4_DQ[{}]", ("DDR4_DQS_P[0]", "DDR4_DQS_N[0]")),
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
        (*byte("DDR4_A{}"), "DDR4_DQS0_P", "DDR4_DQS0_N"),
        (*byte("DDR4_ADD{}"), "DDR4_DQS0_P", "DDR4_DQS0_N"),
        (*byte("DDR4_DQ{}"), "DDR4_DQS0_P", "DDR4_DQS0_N", "DDR4_DQS1_P", "DDR4_DQS1_N"),
        byte("DDR4_DQ{}"),
    ],
    ids=["address", "address, spelled out", "a strobe for four bits", "no strobe"],
)
def test_what_is_no_whole_byte_is_not_compared(tmp_path: Path, nets: tuple[str, ...]) -> None:
    assert groups(tmp_path, *nets) == {}


def test_the_bits_of_a_byte_that_are_there_are_compared(tmp_path: Path) -> None:
    """Check bits of which a controller uses four: DQ64 to DQ67 with the strobe of byte 8."""
    nets = (*byte("DDR4_DQ{}"), *byte("DDR4_DQ{}", 8)[:4])
    strobes = ("DDR4_DQS0_P", "DDR4_DQS0_N", "DDR4_DQS8_P", "DDR4_DQS8_N")

    found = groups(tmp_path, *nets, *strobes)

    assert found["DDR4_DQ64..67"] == (strobes[2:], byte("DDR4_DQ{}", 8)[:4])
    assert found["DDR4_DQ0..7"][0] == strobes[:2]


def test_check_bits_have_the_strobe_that_no_byte_has(tmp_path: Path) -> None:
    strobes = ("DDR4_DQS0_P", "DDR4_DQS0_N", "DDR4_DQS8_P", "DDR4_DQS8_N")

    found = groups(tmp_path, *byte("DDR4_DQ{}"), *byte("DDR4_CB{}"), *strobes)

    assert found["DDR4_CB0..7"] == (strobes[2:], byte("DDR4_CB{}"))


@pytest.mark.parametrize(
    "strobes",
    [
        ("DDR4_LDQS_P", "DDR4_LDQS_N", "DDR4_UDQS_P", "DDR4_UDQS_N"),
        ("DDR4_DQSL", "DDR4_DQSL#", "DDR4_DQSU", "DDR4_DQSU#"),
    ],
)
def test_a_memory_of_sixteen_bits_has_a_lower_and_an_upper_strobe(tmp_path: Path, strobes: tuple[str, ...]) -> None:
    found = groups(
        tmp_path, *byte("DDR4_DQ{}"), *byte("DDR4_DQ{}", 1), *strobes, "DDR4_LDM", "DDR4_UDM", config=declared("ddr4")
    )

    assert found == {
        "DDR4_DQ0..7": (strobes[:2], (*byte("DDR4_DQ{}"), "DDR4_LDM")),
        "DDR4_DQ8..15": (strobes[2:], (*byte("DDR4_DQ{}", 1), "DDR4_UDM")),
    }


def test_lower_and_upper_data_have_their_strobes(tmp_path: Path) -> None:
    nets = (*byte("DDR3_DQL{}"), *byte("DDR3_DQU{}"), "DDR3_DQSL_P", "DDR3_DQSL_N", "DDR3_DQSU_P", "DDR3_DQSU_N")

    found = groups(tmp_path, *nets, config=declared("ddr3"))

    assert found["DDR3_DQL0..7"] == (("DDR3_DQSL_P", "DDR3_DQSL_N"), byte("DDR3_DQL{}"))
    assert found["DDR3_DQU0..7"] == (("DDR3_DQSU_P", "DDR3_DQSU_N"), byte("DDR3_DQU{}"))


@pytest.mark.parametrize("mask", ["DDR4_DM0", "DDR4_DMI0", "DDR4_DBI_N0", "DDR4_DM0_DBI0_N", "DDR4_DQM0"])
def test_a_mask_is_sampled_as_data_are(tmp_path: Path, mask: str) -> None:
    nets = (*byte("DDR4_DQ{}"), mask, "DDR4_DQS0_P", "DDR4_DQS0_N")

    found = groups(tmp_path, *nets, config=declared("ddr4"))

    assert found["DDR4_DQ0..7"][1] == (*byte("DDR4_DQ{}"), mask)


@pytest.mark.parametrize(("also", "strobe"), [((), "WCK"), (("LPDDR5_RDQS0_T", "LPDDR5_RDQS0_C"), "RDQS")])
def test_data_of_lpddr5_without_strobes_have_the_write_clock(
    tmp_path: Path, also: tuple[str, ...], strobe: str
) -> None:
    nets = (*byte("LPDDR5_DQ{}"), "LPDDR5_WCK0_T", "LPDDR5_WCK0_C", *also)

    found = groups(tmp_path, *nets, config=declared("lpddr5"))

    assert found["LPDDR5_DQ0..7"][0] == (f"LPDDR5_{strobe}0_T", f"LPDDR5_{strobe}0_C")


def test_one_odd_bus_leaves_another_alone(tmp_path: Path) -> None:
    """Bus B has two strobes for its byte; A is compared as ever."""
    nets = (*byte("DDR4A_DQ{}"), "DDR4A_DQS0_P", "DDR4A_DQS0_N", *byte("DDR4B_DQ{}"))
    odd = ("DDR4B_DQS0_P", "DDR4B_DQS0_N", "DDR4B_DQS1_P", "DDR4B_DQS1_N")

    assert [*groups(tmp_path, *nets, *odd)] == ["DDR4A_DQ0..7"]
    assert [*left_open(tmp_path, *nets, *odd)] == ["DDR4B_DQ0..7"]


def test_what_is_declared_and_not_compared_says_so(tmp_path: Path) -> None:
    """A byte without a strobe is none where it was only inferred."""
    found = left_open(tmp_path, *byte("DDR4_DQ{}"), config=declared("ddr4"))

    assert found == {"DDR4_DQ0..7": "the strobe of DDR4_DQ0..7 (no net of its bus reads as a strobe)"}
    assert left_open(tmp_path, *byte("DDR4_DQ{}")) == {}


def test_a_limit_for_nets_that_are_no_data_says_so(tmp_path: Path) -> None:
    found = left_open(tmp_path, *byte("DDR4_A{}"), "DDR4_CK_P", "DDR4_CK_N", config=declared("ddr4"))

    assert found == {"[[interface]] 1": "what group_skew_ps of [[interface]] 1 is for: none of its nets reads as data"}


def test_data_of_rgmii_are_compared_by_direction_with_control_and_without_the_clock(tmp_path: Path) -> None:
    """RGMII v2.0 gives data and control one timing: both are sampled by the same edges."""
    found = groups(tmp_path, "RGMII_TXD0", "RGMII_TXD1", "RGMII_TXC", "RGMII_RXD0", "RGMII_RXD1", "RGMII_RX_CTL")

    assert found == {
        "RGMII_RXD": ((), ("RGMII_RXD0", "RGMII_RXD1", "RGMII_RX_CTL")),
        "RGMII_TXD": ((), ("RGMII_TXD0", "RGMII_TXD1")),
    }


@pytest.mark.parametrize("control", ["RGMII_TXEN", "RGMII_TX_CTL", "RGMII_TX_EN"])
def test_data_of_rgmii_may_lack_the_letter_d(tmp_path: Path, control: str) -> None:
    found = groups(tmp_path, "RGMII_TX0", "RGMII_TX1", "RGMII_TX_CLK", control)

    assert found == {"RGMII_TXD": ((), ("RGMII_TX0", "RGMII_TX1", control))}


def test_control_of_gmii_is_not_compared(tmp_path: Path) -> None:
    assert groups(tmp_path, "GMII_TXD0", "GMII_TXD1", "GMII_TX_EN") == {"GMII_TXD": ((), ("GMII_TXD0", "GMII_TXD1"))}


@pytest.mark.parametrize(
    "traces",
    [
        ("DDR4_DQS0_P", "DDR4_DQS0_N"),
        ("DDR5_CK_T", "DDR5_CK_C"),
        ("LPDDR5_WCK0_T", "LPDDR5_WCK0_C"),
        ("DDR3_CK", "DDR3_CK#"),
        ("DDR4_LDQS_P", "DDR4_LDQS_N"),
    ],
)
def test_both_traces_of_a_strobe_or_clock_are_compared(tmp_path: Path, traces: tuple[str, str]) -> None:
    assert pairs(tmp_path, *traces) == [traces]


@pytest.mark.parametrize("traces", [("DDR4_CKE", "DDR4_CS_N"), ("DDR4_RESET_P", "DDR4_RESET_N")])
def test_what_is_no_strobe_or_clock_is_no_pair(tmp_path: Path, traces: tuple[str, str]) -> None:
    assert pairs(tmp_path, *traces) == []
