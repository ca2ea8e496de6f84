"""A reference clock takes the impedance of the link whose lanes it serves, and says whose that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from drc_rules.analysis.targets.clock_links import family_named
from drc_rules.analysis.targets.controlled import NetTarget, nets_by_target
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from tests.support.mini import mini_board

PCIE = ("PCIE_TX0_P", "PCIE_TX0_N", "PCIE_RX0_P", "PCIE_RX0_N")
ETH = ("ETH_TX0_P", "ETH_TX0_N")
GEN5 = '[[interface]]\nis = "pcie5"\nnets = ["*PCIE_TX*", "*PCIE_RX*"]\n'
LAN = '[[interface]]\nis = "eth112g"\nnets = ["*ETH_TX*"]\n'


def part(reference: str, nets: Sequence[str], at: float) -> dict[str, object]:
    """A part with a pad per net."""
    pads = [{"number": str(n), "net": net, "at_mm": [0, n]} for n, net in enumerate(nets)]
    return {"reference": reference, "at_mm": [at, 5], "pads": pads}


def target(folder: Path, clock: str, *parts: Sequence[str], config: str = "") -> NetTarget:
    """The target of a clock on a board with such parts."""
    made = {"size_mm": [80, 60], "parts": [part(f"J{n}", nets, 10 * n + 5) for n, nets in enumerate(parts)]}
    board = mini_board(folder, made)
    ctx = prepare(board, parse_config(config), Overrides())[0]
    net = board.nets.index(clock)
    return next(asked for asked, nets in ctx.get(nets_by_target).items() if net in nets)


def clock(stem: str) -> tuple[str, str]:
    return f"{stem}_P", f"{stem}_N"


def test_the_name_says_whose_clock_it_is(tmp_path: Path) -> None:
    """PCIe asks 85 ohm; a clock of PCIe is routed and terminated the same way, whatever else is on the board."""
    ours = clock("PCIE_REFCLK")

    found = target(tmp_path, ours[0], [*ours, *PCIE, *ETH], config=GEN5 + LAN)

    assert (found.ohm, found.kind) == (85, "differential")
    assert found.title == "100 MHz reference clock of PCIe Gen5"
    assert found.source.startswith("PCIe Gen5, ")
    assert found.inferred and found.tolerance_pct == 10


def test_a_clock_at_a_connector_serves_its_lanes(tmp_path: Path) -> None:
    """The processor has every family; the slot has PCIe alone."""
    ours = clock("REFCLK0")

    found = target(tmp_path, ours[0], [*ours, *PCIE, *ETH], [*ours, *PCIE], config=GEN5 + LAN)

    assert (found.ohm, found.title) == (85, "100 MHz reference clock of PCIe Gen5")


def test_a_clock_on_a_sheet_serves_the_lanes_there(tmp_path: Path) -> None:
    """Names of a hierarchical schematic begin with their sheet."""
    ours, lanes = clock("/M2/REFCLK"), [f"/M2/{net}" for net in PCIE]
    other = [f"/LAN/{net}" for net in ETH]

    found = target(tmp_path, ours[0], [*ours], [*lanes, *other], config=GEN5 + LAN)

    assert (found.ohm, found.title) == (85, "100 MHz reference clock of PCIe Gen5")


def test_the_only_fast_family_of_the_board_is_served(tmp_path: Path) -> None:
    """Nothing else on the board needs it."""
    ours = clock("REFCLK0")

    found = target(tmp_path, ours[0], [*ours], [*PCIE], config=GEN5)

    assert (found.ohm, found.title) == (85, "100 MHz reference clock of PCIe Gen5")


def test_what_the_user_asks_of_the_lanes_holds_for_their_clock(tmp_path: Path) -> None:
    """100 ohm PCIe is common on FPGA boards."""
    ours = clock("PCIE_REFCLK")
    asked = '[[impedance]]\nohm = 100\nkind = "differential"\nnets = ["*PCIE_TX*", "*PCIE_RX*"]\n'

    found = target(tmp_path, ours[0], [*ours, *PCIE], config=GEN5 + asked)

    assert found.ohm == 100
    assert found.source == "stackwright.toml, [[impedance]]"
    assert found.document == ""


def test_a_clock_of_a_family_without_lanes_takes_what_its_generations_agree_on(tmp_path: Path) -> None:
    """All of PCIe asks 85 ohm."""
    ours = clock("PCIE_REFCLK")

    found = target(tmp_path, ours[0], [*ours])

    assert (found.ohm, found.title) == (85, "100 MHz reference clock of PCI Express")
    assert found.source == "PCI Express, all generations agree"


def test_a_clock_that_may_serve_either_keeps_its_own(tmp_path: Path) -> None:
    """Two families, one part, no name: not known."""
    ours = clock("REFCLK0")

    found = target(tmp_path, ours[0], [*ours, *PCIE, *ETH], config=GEN5 + LAN)

    assert (found.ohm, found.title) == (100, "100 MHz reference clock")


def test_lanes_that_differ_say_nothing_of_the_clock(tmp_path: Path) -> None:
    """One half of the lanes at 85, the other at 100 ohm."""
    ours = clock("REFCLK0")
    asked = '[[impedance]]\nohm = 100\nkind = "differential"\nnets = ["*PCIE_TX*"]\n'

    found = target(tmp_path, ours[0], [*ours, *PCIE], config=GEN5 + asked)

    assert (found.ohm, found.title) == (100, "100 MHz reference clock")
    assert found.source.startswith("100 MHz reference clock, ")


def test_what_is_asked_of_the_clock_itself_goes_first(tmp_path: Path) -> None:
    """A setting of its own."""
    ours = clock("PCIE_REFCLK")
    asked = '[[impedance]]\nohm = 95\nkind = "differential"\nnets = ["*REFCLK*"]\n'

    board = {"size_mm": [80, 60], "parts": [part("J0", [*ours, *PCIE], 5)]}
    read = mini_board(tmp_path, board)
    targets = prepare(read, parse_config(GEN5 + asked), Overrides())[0].get(nets_by_target)

    assert {t.ohm for t, nets in targets.items() if read.nets.index(ours[0]) in nets} == {95}


@pytest.mark.parametrize(
    "net,named",
    [
        ("PCIE_REFCLK_P", "pcie"),
        ("/PCIE0_REFCLK_P", "pcie"),
        ("/M.2/PEX_CLK_N", "pcie"),
        ("SATA_REFCLK_P", "sata"),
        ("/DP_REFCLK_P", "displayport"),
        ("/REFCLK_DP", None),
        ("/REFCLK_P", None),
        ("SERDES_REFCLK_P", None),
        ("GTH_REFCLK0_P", None),
        ("PCIE_SATA_REFCLK_P", None),
        ("EPCIELIKE_REFCLK_P", None),
    ],
)
def test_names_of_families_in_names_of_clocks(net: str, named: str | None) -> None:
    """Words of transceivers name no family, two families name none."""
    assert family_named(net) == named
