"""Memory buses whose names do not tell the interface are known by their differential strobes and what these join."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import prepare
from drc_rules.explain.net_explained import explain_net
from drc_rules.facts.declared import Overrides
from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.requirements.interfaces.bus_nets import family_by_bus
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Confidence
from stackup_lib.nets.links import find_links
from tests.support.mini import mini_board
from tests.unit.stackup_lib.nets.test_links import chip

DQ = tuple(f"DQ0{k}_A" for k in range(4))


def board_of(folder: Path, *parts: tuple[str, tuple[str, ...]]) -> Board:
    text = "".join(chip(name, 10.0 * k, *nets) for k, (name, nets) in enumerate(parts, start=1))
    return mini_board(folder, tomllib.loads("copper_layers = 2\n" + text))


def found(board: Board) -> dict[str, str]:
    return {board.nets[net]: of for net, of in family_by_bus(board).items()}


@pytest.mark.parametrize(
    "strobes",
    [
        ("DQS0_P", "DQS0_N"),
        ("DQS0_T_A", "DQS0_C_A"),
        ("DQS_T0", "DQS_C0"),
        ("LDQS+", "LDQS-"),
        ("DQS0", "DQS#0"),
        ("UDQS", "UDQS#"),
    ],
)
def test_bare_names_are_a_bus_where_a_differential_strobe_joins_the_same_parts(
    tmp_path: Path, strobes: tuple[str, str]
) -> None:
    """Data, command and clock of one controller and one memory."""
    nets = (*DQ, "CA0_A", "CK_T_A", "DMI0_A", "A13", *strobes)

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))) == dict.fromkeys(nets, "ddr")


@pytest.mark.parametrize(
    "strobes",
    [
        *((), ("DQS0_P",), ("DQS0",), ("RWDS",)),
        ("RAM_DQS0_P", "RAM_DQS0_N"),
        ("/flash/DQS0_P", "/flash/DQS0_N"),
    ],
)
def test_without_a_differential_strobe_of_the_same_bus_they_say_nothing(
    tmp_path: Path, strobes: tuple[str, ...]
) -> None:
    """SDRAM, flash and HyperRAM have data lines of these names; so has another bus, by prefix or by sheet."""
    nets = (*DQ, "CK_P", "CK_N", *strobes)

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))).keys() <= set(strobes)


def test_a_prefix_needs_no_separator(tmp_path: Path) -> None:
    """As processors of Allwinner call a memory's nets."""
    nets = ("S0SDQS0_P", "S0SDQS0_N", "S0SDQ0", "S0SA15", "S0SBA2", "S0SCAS", "S0SCK_P", "S0SDQM0", "S0SODT1")

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))) == dict.fromkeys(nets, "ddr")


@pytest.mark.parametrize(("sheet", "is_bus"), [("ddr2", True), ("DDR3 memory", True), ("RAM", False), ("flash", False)])
def test_on_a_sheet_of_the_memory_single_ended_strobes_count(tmp_path: Path, sheet: str, *, is_bus: bool) -> None:
    """DDR and DDR2 may do without the complement; HyperRAM always does."""
    nets = tuple(f"/{sheet}/{name}" for name in ("DQS0", "DQ0", "DQ7", "A0", "WE#", "CK#0"))

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))) == dict.fromkeys(nets if is_bus else (), "ddr")


def test_a_net_that_goes_to_another_part_is_not_of_the_bus(tmp_path: Path) -> None:
    """An analog input A0 and a chip select CS of the same controller; reset is slow."""
    bus, other = ("DRAM_DQS0_P", "DRAM_DQS0_N", "DRAM_DQ0"), ("DRAM_A0", "DRAM_CS", "A0")
    board = board_of(tmp_path, ("U1", (*bus, *other, "DRAM_RESET")), ("U2", (*bus, "DRAM_RESET")), ("J1", other))

    assert set(found(board)) == set(bus)


def test_a_role_from_the_bus_is_a_guess_that_says_what_it_rests_on(tmp_path: Path) -> None:
    """Low confidence, the generation open, and `--explain` shows the reading that counted."""
    nets = (*DQ, "DQS0_P", "DQS0_N")
    board = board_of(tmp_path, ("U1", nets), ("U2", nets))

    role = assign_nets(board, Config(), {}).role_of(board.net_index["DQ00_A"])

    assert role is not None
    assert (role.family, role.interface, role.confidence) == ("ddr", None, Confidence.LOW)
    assert "differential strobes" in role.why
    context, _, _ = prepare(board, Config(), Overrides())
    told = explain_net(context, find_links(board), Config(), board.net_index["DQ00_A"])
    assert [reading.looked_at for reading in told.readings if reading.counted] == ["bus"]
