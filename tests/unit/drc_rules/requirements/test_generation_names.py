"""Names that spell a generation out, and numbers in names that only count ports, channels or lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from drc_rules.facts.net_interfaces import Assignment, assign_nets
from drc_rules.requirements.interfaces import family, interface
from drc_rules.requirements.interfaces.generations import spelled_generation
from drc_rules.requirements.interfaces.names import family_by_class
from drc_rules.settings.config import Config
from tests.support.each import each
from tests.support.mini import mini_board

Assign = Callable[..., dict[str, str | None]]


@pytest.fixture
def generations(tmp_path: Path) -> Assign:
    """Return net -> generation of a board with these nets, those of pairs by what stands before `_P`."""

    def assign(
        *nets: str, classes: Mapping[str, list[str]] | None = None, expected: Mapping[str, str] | None = None
    ) -> dict[str, str | None]:
        tracks = [{"net": net, "layer": "F.Cu", "path_mm": [[1, 1 + i], [9, 1 + i]]} for i, net in enumerate(nets)]
        rows = [{"name": name, "nets": members} for name, members in (classes or {}).items()]
        board = mini_board(tmp_path, {"copper_layers": 2, "tracks": tracks, "net_classes": rows})
        found: Assignment = assign_nets(board, Config(), expected or {})
        return {
            net.removesuffix("_P"): role.interface
            for net, role in zip(board.nets, found.roles, strict=True)
            if role is not None and not net.endswith("_N")
        }

    return assign


def pairs(*names: str) -> list[str]:
    return [f"{name}_{sign}" for name in names for sign in "PN"]


@each(
    row=[
        ("QSFP28_100G", "eth25g"),  # four lanes of 25.78 Gb/s
        ("CAUI-4_100G", "eth25g"),  # IEEE 802.3 annex 83E
        ("100GBASE-KR4_TX0_P", "eth25g"),  # clause 93
        ("SFP28_TX_P", "eth25g"),
        ("100GAUI-4", "eth25g"),  # 26.56 Gb/s, NRZ
        ("QSFP56_200G", "eth56g"),  # four lanes of 53.125 Gb/s
        ("SFP56_50G", "eth56g"),
        ("100GAUI-2", "eth56g"),
        ("400GAUI-8", "eth56g"),
        ("QSFP112_400G", "eth112g"),
        ("100GBASE-KR1", "eth112g"),
        ("400GAUI-4", "eth112g"),
        ("200GAUI-1", "eth224g"),
        ("224G_SERDES", "eth224g"),
        ("112G_SERDES", "eth112g"),
        ("10GKR_SFP0", "eth10g-kr"),
        ("40GBASE-KR4", "eth10g-kr"),
        ("QSFP_100G", None),
        ("OSFP_800G", None),
        ("SFP_50G", None),
        ("QSFP_200G", None),
        ("QSFP28_10G", None),  # a module for 28 Gb/s, at 10
        ("10G_XAUI", None),  # four lanes of 3.125 Gb/s
        ("SERDES_6.25G", None),
        ("GTX_1.25G", None),
    ]
)
def test_the_speed_of_a_port_tells_its_lanes_only_with_their_number(row: tuple[str, str | None]) -> None:
    """100G is four lanes, two or one, by what stands next to it."""
    name, generation = row
    assert spelled_generation("ethernet-serdes", name) == generation


@each(
    row=[
        *(
            (name, "base-t")
            for name in ("10GBASE-T", "10GBASE-T_MDI", "10GBE_MDI", "MDI_10GBE", "2.5GBASE-T", "10G_MDI")
        ),
        *((name, "ethernet-serdes") for name in ("10GBASE-KR", "10GBE", "10GBASE", "25GBE", "100GBASE-KR4")),
        ("10GBASE-T1", None),
    ]
)
def test_twisted_pairs_are_no_backplane_whatever_their_speed(row: tuple[str, str | None]) -> None:
    """10GBASE-T has 800 MBd on each of four pairs; that of cars (T1) is neither."""
    name, family = row
    assert family_by_class(name) == family


def test_channels_of_a_memory_are_no_generations(generations: Assign) -> None:
    """Eight channels, one of them with a net that the others lack; none reads as DDR3, DDR4 or DDR5."""
    nets = [net for k in range(8) for net in (f"/DDR{k}_DQ0", *pairs(f"/DDR{k}_DQS0"))]

    found = generations(*nets, "/DDR3_DQ71")

    assert len(found) == 17
    assert set(found.values()) == {None}


def test_sheets_of_channels_are_no_generations(generations: Assign) -> None:
    """The same where only the sheets are numbered."""
    nets = [net for k in range(8) for net in (f"/DDR{k}/DDR_DQ0", *pairs(f"/DDR{k}/DDR_DQS0"))]

    assert set(generations(*nets).values()) == {None}


def test_two_memories_keep_their_generations(generations: Assign) -> None:
    """DDR3 next to DDR4: what differs is a generation in both."""
    nets = [net for k in (3, 4) for net in (f"/DDR{k}_DQ0", *pairs(f"/DDR{k}_DQS0"))]

    found = generations(*nets)

    assert (found["/DDR3_DQ0"], found["/DDR4_DQ0"], found["/DDR4_DQS0"]) == ("ddr3", "ddr4", "ddr4")


def test_the_generation_of_a_class_holds_for_numbered_channels(generations: Assign) -> None:
    """The class says what the channels' numbers do not."""
    nets = [net for k in range(8) for net in (f"/DDR{k}_DQ0", *pairs(f"/DDR{k}_DQS0"))]

    assert set(generations(*nets, classes={"DDR5_DATA": nets}).values()) == {"ddr5"}


def test_ports_of_hdmi_are_no_versions(generations: Assign) -> None:
    """Lane 0 of port 2, with an underscore or a dot; version 2.0 has a dot, and no lane 2 next to it."""
    underscore = generations(*pairs(*(f"/HDMI{k}_{lane}" for k in (1, 2) for lane in range(3))))
    dot = generations(*pairs(*(f"/HDMI{k}.{lane}" for k in (1, 2) for lane in range(3))))
    version = generations(*pairs("/HDMI2.0_D0", "/HDMI2.0_D1"))

    assert set(underscore.values()) == set(dot.values()) == {None}
    assert set(version.values()) == {"hdmi2.0"}


def test_groups_of_links_are_no_generations_of_pcie(generations: Assign) -> None:
    """G0 to G3 of a server's processor have the profile's; so has G3 alone, which without a profile is Gen3."""
    groups = pairs(*(f"/PCIE_G{k}_TX0" for k in range(4)))

    assert set(generations(*groups, expected={"pcie": "pcie5"}).values()) == {"pcie5"}
    assert set(generations(*groups).values()) == {None}
    assert generations(*pairs("/PCIE_G3_TX0"), expected={"pcie": "pcie5"}) == {"/PCIE_G3_TX0": "pcie5"}
    assert generations(*pairs("/PCIE_G3_TX0")) == {"/PCIE_G3_TX0": "pcie3"}


def test_what_certainly_names_a_generation_goes_before_the_profile(generations: Assign) -> None:
    """The word GEN in a net's name, though its siblings have other numbers, and G4 in that of a class."""
    named = pairs(*(f"/PCIE_GEN{k}_TX0" for k in (2, 3, 8)))
    of_class = pairs("/PCIE_TX0")

    assert generations(*named, expected={"pcie": "pcie5"})["/PCIE_GEN3_TX0"] == "pcie3"
    found = generations(*of_class, classes={"85R_PCIE_G4": of_class}, expected={"pcie": "pcie5"})
    assert found == {"/PCIE_TX0": "pcie4"}


def test_cages_of_a_switch_are_no_form_of_module(generations: Assign) -> None:
    """The 28th of 32 cages, and a cage for 28 Gb/s."""
    cages = generations(*pairs(*(f"/QSFP{k}_TX0" for k in range(1, 33))))

    assert set(cages.values()) == {None}
    assert generations(*pairs("/QSFP28_TX0")) == {"/QSFP28_TX0": "eth25g"}


def test_a_speed_in_a_class_holds_next_to_a_slower_one(generations: Assign) -> None:
    """`1G` next to `10G` is another rate, not the first of ten."""
    fast, slow = pairs("/SFP_TX0"), pairs("/SFP_TX1")

    found = generations(*fast, *slow, classes={"10G_DIFF": fast, "1G_DIFF": slow})

    assert found["/SFP_TX0"] == "eth10g-kr"


@each(
    row=[
        ("jesd204", "JESD204B", "jesd204b"),
        ("jesd204", "JESD204B_RX0_P", "jesd204b"),
        ("jesd204", "JESD204A", "jesd204a"),
        ("jesd204", "JESD204CTX0_P", "jesd204c"),
        ("jesd204", "JESD204", None),
        ("jesd204", "JESD_B_TX0_P", None),  # bank B
        ("jesd204", "SERDOUT3+", None),
        ("xgmi", "XGMI_32G", "xgmi4"),
        ("xgmi", "XGMI_GEN2", "xgmi2"),
        ("xgmi", "XGMI2_TX4_P", None),  # the third link
        ("ualink", "UALINK_128G", "ualink128"),
        ("ualink", "UALINK_200G", "ualink200"),
        ("ualink", "UALINK0_RX1_N", None),
        ("qsgmii", "QSGMII", "qsgmii"),
        ("qsgmii", "SGMII_2.5G", "2500base-x"),
        ("qsgmii", "2500BASE-X", "2500base-x"),
        ("fpd-link", "FPD-LINK_III", "fpd-link3"),
        ("fpd-link", "FPDLINK_IV", "fpd-link4"),
    ]
)
def test_a_family_of_several_rates_has_none_without_a_word_for_it(row: tuple[str, str, str | None]) -> None:
    """JESD204B ends at 12.5 Gb/s, a third of JESD204C; an EPYC's xGMI has half the rate of an MI300X."""
    family, name, generation = row
    assert spelled_generation(family, name) == generation


def test_links_above_the_rate_of_pcie_gen1_are_fast() -> None:
    """QSGMII has PCIe Gen2's 5 Gb/s: gaps, stubs and skew count for it as for that; SGMII has a quarter of it."""
    families_of = {name: family(interface(name).family) for name in ("qsgmii", "2500base-x", "fpd-link3", "sgmii")}

    assert [families_of[name].fast for name in families_of] == [True, True, True, False]
    assert interface("qsgmii").nyquist_ghz == interface("pcie2").nyquist_ghz
