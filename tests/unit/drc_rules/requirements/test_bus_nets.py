"""Memory buses whose names do not tell the interface are known by their differential strobes and what these join."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import prepare
from drc_rules.explain.net_explained import explain_net
from drc_rules.facts.declared import Overrides
from drc_rules.facts.guesses import open_generations
from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.requirements.interfaces.bus_nets import family_by_bus
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Confidence
from stackup_lib.nets.links import find_links
from tests.support.mini import mini_board
from tests.support.small_boards.linked import chip

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
        ("DQSL_P", "DQSL_N"),
        ("DQSU", "~{DQSU}"),
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
        *((), ("DQS0_P",), ("DQS0",), ("RWDS",), ("DQS0_A", "DQS0_B"), ("DQS0", "DQS0_A", "DQS0_B")),
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


def test_nxp_puts_sd_before_some_names_of_a_bus(tmp_path: Path) -> None:
    """As the data sheets of i.MX 6 call the pins; DATA without a number is no net of theirs."""
    strobes = ("DRAM_SDQS0_P", "DRAM_SDQS0_N")
    data = ("DRAM_DATA00", "DRAM_ADDR15", "DRAM_SDBA2", "DRAM_SDCKE0", "DRAM_SDCLK0_P", "DRAM_SDWE_B")
    nets = (*strobes, *data, "DRAM_DQM1", "DRAM_ODT0", "DRAM_CAS_B", "DRAM_CS0_B")
    aside = ("DRAM_DATA", "DRAM_SDA", "SD_DATA0", "DATA0")

    assert found(board_of(tmp_path, ("U1", (*nets, *aside)), ("U2", (*nets, *aside)))) == dict.fromkeys(nets, "ddr")


@pytest.mark.parametrize("strobes", [("RAM_DQSL", "~{RAM_DQSL}"), ("RAM_SDQS0", "RAM_SDQS0_B")])
def test_a_bus_may_have_bars_over_its_names_and_short_names_of_data(tmp_path: Path, strobes: tuple[str, str]) -> None:
    """On the whole name or behind the prefix; another part's nets of such names stay aside."""
    nets = (*strobes, "RAM_D0", "RAM_D15", "RAM_A0", "RAM_DML", "~{RAM_CAS}", "RAM_~{WE}", "~{RAM_CS0}", "RAM_BA2")
    others = ("RAM_D", "D0", "~{CAS}", "FLASH_D0")
    board = board_of(tmp_path, ("U1", (*nets, *others)), ("U2", nets), ("U3", others))

    assert found(board) == dict.fromkeys(nets, "ddr")


def test_the_sram_and_sdram_of_a_microcontroller_is_no_ddr(tmp_path: Path) -> None:
    """They have the same names, and no differential strobe."""
    nets = (*(f"RAM_{name}" for name in ("D0", "D15", "A0", "BA1", "CLK", "CKE", "DQML", "LDQM")), "~{RAM_CAS}")

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))) == {}


@pytest.mark.parametrize(("sheet", "is_bus"), [("ddr2", True), ("DDR3 memory", True), ("RAM", False), ("flash", False)])
def test_on_a_sheet_of_the_memory_single_ended_strobes_count(tmp_path: Path, sheet: str, *, is_bus: bool) -> None:
    """DDR and DDR2 may do without the complement; HyperRAM always does."""
    nets = tuple(f"/{sheet}/{name}" for name in ("DQS0", "DQ0", "DQ7", "A0", "WE#", "CK#0"))

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))) == dict.fromkeys(nets if is_bus else (), "ddr")


GRAPHICS = ("WCK01_P", "WCK01_N", "WCK23_P", "WCK23_N", "D0", "DQ31", "DBI0", "CA0_A", "CABI", "CK_P", "CK_N", "EDC0")


def test_a_bus_with_write_clock_and_error_detection_is_graphics_memory(tmp_path: Path) -> None:
    """GDDR5 and GDDR6 have both, each memory on a sheet of its own."""
    nets = tuple(f"/vram{memory}/{name}" for memory in (0, 1) for name in GRAPHICS)
    board = board_of(tmp_path, ("U1", nets), ("U2", nets[: len(GRAPHICS)]), ("U3", nets[len(GRAPHICS) :]))

    assert found(board) == dict.fromkeys(nets, "gddr")


def test_gddr7_has_its_error_detection_in_dqe(tmp_path: Path) -> None:
    """It has a read clock besides."""
    nets = ("WCK_P_A", "WCK_N_A", "RCK_P_A", "RCK_N_A", "DQ0_A", "DQE_A", "CA4_A")

    assert found(board_of(tmp_path, ("U1", nets), ("U2", nets))) == dict.fromkeys(nets, "gddr")


@pytest.mark.parametrize(
    "nets",
    [
        ("WCK0_T_A", "WCK0_C_A", "RDQS0_T_A", "RDQS0_C_A", "DQ0_A", "DMI0_A", "CA0_A", "CK_T_A", "CK_C_A"),
        ("DQS0_P", "DQS0_N", "DQ0", "DBI0", "A0", "CK_P", "CK_N"),
        ("WCK01_P", "DQ0", "EDC0", "CA0"),
        ("D0", "EDC0", "CK_P", "CK_N"),
    ],
    ids=["LPDDR5", "DDR4", "half a write clock", "no write clock"],
)
def test_other_memories_are_no_graphics_memory(tmp_path: Path, nets: tuple[str, ...]) -> None:
    """LPDDR5 has a write clock without error detection; others have none."""
    assert "gddr" not in found(board_of(tmp_path, ("U1", nets), ("U2", nets))).values()


def test_error_detection_of_another_part_makes_no_graphics_memory(tmp_path: Path) -> None:
    """A net `EDC0` that leaves the controller for a connector."""
    nets = ("WCK0_P", "WCK0_N", "DQ0", "DMI0", "CA0")

    assert found(board_of(tmp_path, ("U1", (*nets, "EDC0")), ("U2", nets), ("J1", ("EDC0",)))) == {}


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


def test_a_net_of_a_bus_takes_the_generation_of_all_others_that_tell_one(tmp_path: Path) -> None:
    """`DRAM_UDM`, which reads as a line of USB, had no generation beside 48 nets of DDR3."""
    nets = (*DQ, "DMI0_A", "DQS0_T_A", "DQS0_C_A")
    board = board_of(tmp_path, ("U1", nets), ("U2", nets))
    strobes = {"nets": ["DQS0_T_A", "DQS0_C_A"]}

    def generation(*rows: dict[str, object]) -> str | None:
        config = Config.model_validate({"interface": rows})
        role = assign_nets(board, config, {}).role_of(board.net_index["DMI0_A"])
        assert role is not None and role.family == "ddr" and role.confidence is Confidence.LOW
        return role.interface

    assert generation({"is": "ddr3", "nets": [*DQ]}) == "ddr3"
    assert generation({"is": "ddr3", "nets": [*DQ]}, {"is": "ddr3", **strobes}) == "ddr3"
    assert generation({"is": "ddr3", "nets": [*DQ]}, {"is": "ddr4", **strobes}) is None
    assert generation() is None


@pytest.mark.parametrize(
    ("others", "config", "generation"),
    [
        (("DDR3_DQ0", "DDR3_DQS0_P", "DDR3_DQS0_N"), {}, "ddr3"),
        (("DDR3_DQ0", "DDR3_DQS0_P", "DDR3_DQS0_N", "DDR4_DQ0", "DDR4_DQS0_P", "DDR4_DQS0_N"), {}, None),
        (("DDR3_DQ0", "DDR3_DQS0_P", "DDR3_DQS0_N"), {"interface": [{"is": "ddr", "nets": ["CPU_*"]}]}, None),
    ],
)
def test_strobes_that_their_name_tells_take_the_generation_of_the_bus_too(
    tmp_path: Path, others: tuple[str, ...], config: dict[str, object], generation: str | None
) -> None:
    """`CPU_DQS0_N` reads as DDR without a generation: `CPU_DQ0` had DDR3, its strobe none. What is declared stays."""
    nets = ("CPU_DQ0", "CPU_DQS0_P", "CPU_DQS0_N", *others)
    board = board_of(tmp_path, ("U1", nets), ("U2", nets))

    found = assign_nets(board, Config.model_validate(config), {})

    roles = [found.role_of(board.net_index[net]) for net in ("CPU_DQS0_P", "CPU_DQS0_N")]
    assert [role and (role.family, role.interface) for role in roles] == [("ddr", generation)] * 2


@pytest.mark.parametrize(
    ("sheets", "generation"),
    [
        ("/DDR4/", "ddr4"),
        ("/CPU/LPDDR4 memory/", "lpddr4"),
        ("/DDR5 module/bank 0/", "ddr5"),
        ("/MEMORY/", None),
        ("/DDR3 or DDR4/", None),
    ],
)
def test_the_sheet_of_a_memory_tells_its_generation_and_a_board_without_one_asks(
    tmp_path: Path, sheets: str, generation: str | None
) -> None:
    """The nearest sheet that names one; what is asked for is offered for pasting, and `init` writes it."""
    nets = tuple(f"{sheets}{net}" for net in (*(f"DQ{k}" for k in range(8)), "DQS0_P", "DQS0_N"))
    board = board_of(tmp_path, ("U1", nets), ("U2", nets))

    context, _, _ = prepare(board, Config(), Overrides())

    roles = [context.assignment.role_of(board.net_index[net]) for net in nets]
    assert {role and (role.family, role.interface) for role in roles} == {("ddr", generation)}
    assert context.assignment.families_without_generation() == ()
    assert context.assignment.memories_without_generation() == (() if generation else ("ddr",))
    asked = [one.name for one in open_generations(context)]
    assert asked == ([] if generation else ["generation of DDR/LPDDR"])


def test_the_sheet_of_a_bus_goes_before_what_other_buses_tell(tmp_path: Path) -> None:
    """DDR3 by its names next to DDR4 by its sheet: either bus has its own."""
    first = ("DDR3_DQ0", "DDR3_DQS0_P", "DDR3_DQS0_N")
    second = ("/DDR4/DQ0", "/DDR4/DQS0_P", "/DDR4/DQS0_N")
    board = board_of(tmp_path, ("U1", (*first, *second)), ("U2", first), ("U3", second))

    found = assign_nets(board, Config(), {})

    roles = [found.role_of(board.net_index[net]) for net in (*first, *second)]
    assert [role and role.interface for role in roles] == ["ddr3"] * 3 + ["ddr4"] * 3
