"""Which address and command nets are compared with which clock, and at which memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.delay.address_groups import address_groups
from drc_rules.analysis.nets.address_nets import read_address_net
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config, parse_config
from tests.support.small_boards.linked import mini, part, track

CLOCK = ("DDR4_CK_P", "DDR4_CK_N")


def groups(folder: Path, *ends: tuple[str, tuple[str, ...]], config: str = "") -> dict[str, tuple[set[str], set[str]]]:
    """Name of each group, with its clock and its members; why it is open in place of both, where it is."""
    text = ""
    begun: dict[str, tuple[float, float]] = {}
    for k, (reference, nets) in enumerate(ends):
        text += part(reference, "Part", *((str(i), "", net) for i, net in enumerate(nets, start=1)), y_mm=10.0 + 30 * k)
        for i, net in enumerate(nets):
            if net in begun:
                text += track(net, begun[net], (10 + i, 10 + 30 * k))
            begun[net] = (10 + i, 10 + 30 * k)
    board = mini(folder, text)
    context, _, _ = prepare(board, parse_config(config) if config else Config(), Overrides())
    named = board.nets
    return {
        one.name: ({one.open_for.name}, set())
        if one.open_for
        else ({named[link.nets[0]] for link in one.strobe}, {named[link.nets[0]] for link in one.members})
        for one in context.get(address_groups)
    }


@pytest.mark.parametrize(
    "net",
    ["DDR4_A10", "DDR3_BA[2]", "nCS0", "DDR_CKE", "LPDDR4_CA3_B", "S0SA3", "DRAM_SDBA0", "DDR3_~{RAS}", "DDR4_ACT_N"],
)
def test_address_and_command_are_read_as_makers_spell_them(net: str) -> None:
    read = read_address_net(net)

    assert read is not None
    assert not read.is_clock


@pytest.mark.parametrize("net", ["CK0_P", "DDR4_CK_T", "LPDDR4_CK_C_A", "/mem/DDR3_CLK_N", "DRAM_SDCLK0_P", "DDR3_CK#"])
def test_clocks_are_read_as_makers_spell_them(net: str) -> None:
    read = read_address_net(net)

    assert read is not None
    assert read.is_clock


@pytest.mark.parametrize(
    "net", ["DDR4_RESET_N", "DDR4_ALERT_N", "DDR4_DQ3", "DDR4_DQS0_P", "LPDDR5_WCK0_P", "DDR_A", "DDR4_DM0", "VREF_CA"]
)
def test_data_strobes_and_what_has_no_clock_are_no_address(net: str) -> None:
    assert read_address_net(net) is None


def test_a_memory_is_compared_with_its_controller(tmp_path: Path) -> None:
    nets = ("DDR4_A0", "DDR4_CS0", *CLOCK)

    found = groups(tmp_path, ("U1", (*nets, "DDR4_DQ0")), ("U2", nets))

    assert found == {"address from U1 to U2": ({*CLOCK}, {"DDR4_A0", "DDR4_CS0"})}


def test_each_memory_of_a_bus_has_a_group_with_the_nets_that_reach_it(tmp_path: Path) -> None:
    shared = ("DDR4_A0", *CLOCK)

    found = groups(
        tmp_path,
        ("U1", (*shared, "DDR4_CS0", "DDR4_CS1")),
        ("U2", (*shared, "DDR4_CS0")),
        ("U3", (*shared, "DDR4_CS1")),
    )

    assert {name: members for name, (_, members) in found.items()} == {
        "address from U1 to U2": {"DDR4_A0", "DDR4_CS0"},
        "address from U1 to U3": {"DDR4_A0", "DDR4_CS1"},
    }


def test_two_channels_of_a_memory_have_their_own_clocks(tmp_path: Path) -> None:
    nets = tuple(f"LPDDR4_{one}_{side}" for side in "AB" for one in ("CA0", "CK_T", "CK_C"))

    found = groups(tmp_path, ("U1", (*nets, "LPDDR4_DQ0_A")), ("U2", nets))

    assert sorted(members.pop() for _, members in found.values()) == ["LPDDR4_CA0_A", "LPDDR4_CA0_B"]


def test_address_of_a_module_with_a_clock_for_each_rank_is_compared_with_both(tmp_path: Path) -> None:
    clocks = ("DDR4_CK_P_A", "DDR4_CK_N_A", "DDR4_CK_P_B", "DDR4_CK_N_B")
    nets = ("DDR4_A0", *clocks)

    found = groups(tmp_path, ("U1", (*nets, "DDR4_DQ0")), ("J1", nets))

    assert found == {"address from U1 to J1": ({*clocks}, {"DDR4_A0"})}


def test_a_net_that_cannot_be_followed_leaves_its_own_bus_open_alone(tmp_path: Path) -> None:
    """Behind R1, of unknown value, the address of the second memory goes on."""
    first = ("DDR4_C0_A0", "DDR4_C0_CK_P", "DDR4_C0_CK_N")
    second = ("DDR4_C1_A0", "DDR4_C1_CK_P", "DDR4_C1_CK_N")

    found = groups(
        tmp_path,
        ("U1", (*first, *second)),
        ("U2", first),
        ("U3", ("OTHER", *second[1:])),
        ("R1", ("DDR4_C1_A0", "OTHER")),
    )

    assert found == {
        "address from U1 to U2": ({*first[1:]}, {"DDR4_C0_A0"}),
        "address from U1 to U3": (
            {"the other end of DDR4_C1_A0: only R1, U1 are on it"},
            set(),
        ),
    }


def test_address_without_a_clock_is_no_group_unless_a_limit_is_declared(tmp_path: Path) -> None:
    nets = ("DDR4_A0", "DDR4_A1", "DDR4_DQ0", "DDR4_DQS0_P", "DDR4_DQS0_N")
    config = '[[interface]]\nis = "ddr4"\nnets = ["DDR4_A*"]\naddress_skew_ps = 10\n'

    assert groups(tmp_path, ("U1", nets), ("U2", nets)) == {}
    assert groups(tmp_path, ("U1", nets), ("U2", nets), config=config) == {
        "[[interface]] 1": (
            {"what address_skew_ps of [[interface]] 1 is for: none of its nets reads as address of a clock"},
            set(),
        )
    }


def test_the_clock_of_a_memory_of_unknown_generation_leaves_its_bus_open(tmp_path: Path) -> None:
    nets = ("DDR_A0", "DDR_CK_P", "DDR_CK_N", "DDR_DQ0", "DDR_DQS0_P", "DDR_DQS0_N")
    text = "".join(
        part(of, "Part", *((str(i), "", net) for i, net in enumerate(nets, start=1)), y_mm=y)
        for of, y in (("U1", 10.0), ("U2", 40.0))
    )
    board = mini(tmp_path, text + "".join(track(net, (10 + i, 10), (10 + i, 40)) for i, net in enumerate(nets)))
    context, _, _ = prepare(board, Config(), Overrides())

    (group,) = context.get(address_groups)

    assert group.limit.open_for is not None
    assert group.limit.open_for.name == "generation of DDR/LPDDR"
