"""Interfaces as data, and which net is assigned to which: declared, else inferred with less confidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from drc_rules.facts.net_interfaces import Assignment, assign_nets
from drc_rules.requirements.documents import documents
from drc_rules.requirements.interfaces import Interface, families, family, interface, interface_ids
from drc_rules.requirements.interfaces.generations import spelled_generation
from drc_rules.requirements.interfaces.names import (
    _any_head,
    complements,
    family_by_class,
    family_by_name,
    normalise,
)
from drc_rules.requirements.profiles.profile import assemble, load_profile
from drc_rules.settings.config import Config, parse_config
from drc_rules.settings.net_selection import nets_line
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.kicad import read_board
from tests.support.each import each
from tests.support.hang import no_hang
from tests.support.mini import mini_board

ALL = [interface(one) for one in interface_ids()]
MM_GHZ = 299.792458
THOR = "jetson-agx-thor-baseboard/jetson-agx-thor-baseboard.kicad_pcb"

MakeBoard = Callable[..., Board]


@pytest.fixture
def board_with(tmp_path: Path) -> MakeBoard:
    """Make a board from net names, with net classes given as name -> nets."""

    def make(*nets: str, **classes: list[str]) -> Board:
        named = [*nets, *(net for members in classes.values() for net in members)]
        tracks = [
            {"net": net, "layer": "F.Cu", "path_mm": [[1, 1 + i], [9, 1 + i]]}
            for i, net in enumerate(dict.fromkeys(named))
        ]
        rows = [{"name": name, "nets": members} for name, members in classes.items()]
        data = {"copper_layers": 2, "tracks": tracks, "net_classes": rows}
        return mini_board(tmp_path, data)

    return make


def assigned(board: Board, config: str = "", expected: Mapping[str, str] | None = None) -> Assignment:
    return assign_nets(board, parse_config(config), expected or {})


def taken(board: Board, found: Assignment) -> dict[str, tuple[str, str | None]]:
    """Net name -> (family, interface) for every net that was assigned."""
    return {
        net: (role.family, role.interface)
        for net, role in zip(board.nets, found.roles, strict=True)
        if role is not None
    }


def pair(name: str) -> list[str]:
    return [f"{name}_P", f"{name}_N"]


# --- data ---


@each(one=ALL)
def test_nyquist_is_half_the_symbol_rate(one: Interface) -> None:
    """NRZ carries one bit per symbol, PAM4 two (PAM3 about 1.5); coding overhead moves PAM rates by up to 7 %."""
    bits = {"NRZ": (1.99, 2.01), "PAM4": (3.7, 4.05), "PAM3": (2.9, 3.2)}
    if one.nyquist_ghz is None or one.modulation not in bits or one.family == "base-t":
        return
    low, high = bits[one.modulation]
    assert low <= one.rate / one.nyquist_ghz <= high


@each(one=ALL)
def test_computed_stubs_follow_the_quarter_wave(one: Interface) -> None:
    """f = c / (4 L sqrt(Dk)) with Dk 4, at 3 times Nyquist."""
    if one.nyquist_ghz is None:
        return
    quarter_mm = MM_GHZ / (4 * 2 * one.nyquist_ghz)
    if one.document_of("stub_limit_mm") == "physics":
        assert one.stub_limit_mm == pytest.approx(quarter_mm / 3, rel=0.03)


@each(one=ALL)
def test_every_sourced_number_names_a_known_document_and_exists(one: Interface) -> None:
    """A source for a number that is not there, or in an unknown document, is a slip."""
    assert set(one.sources.values()) <= set(documents())
    for place in one.sources:
        field, _, topology = place.partition(".")
        assert getattr(one, field)
        assert not topology or topology in one.board_loss_db


def test_the_ids_that_profiles_and_users_write_are_all_there() -> None:
    """Ids are part of the user's files: they do not change."""
    promised = {
        *("pcie3", "pcie4", "pcie5", "pcie6", "pcie7", "cxl2", "cxl3", "ualink200", "xgmi4", "jesd204c", "sata3"),
        *("nvlink2", "nvlink3", "nvlink4", "nvlink5", "nvlink-c2c", "base-t", "mipi-dphy", "mipi-cphy"),
        *("eth10g-kr", "eth25g", "eth56g", "eth112g", "eth224g", "usb2", "usb3.2gen1", "usb3.2gen2"),
        *("usb4gen3", "usb4gen4", "dp-hbr3", "dp-uhbr10", "dp-uhbr13.5", "dp-uhbr20", "hdmi2.0", "hdmi2.1"),
        *("ddr3", "lpddr3", "ddr4", "ddr5", "lpddr4", "lpddr5", "gddr6", "gddr7"),
    }
    assert promised <= set(interface_ids())


def test_published_numbers_of_pcie_gen5() -> None:
    """32 GT/s NRZ, 36 dB at 16 GHz (Astera Labs), 9.5 dB for an add-in card, bump to finger (NVIDIA)."""
    gen5 = interface("pcie5")
    assert (gen5.rate, gen5.nyquist_ghz, gen5.channel_loss_db) == (32, 16, 36)
    assert gen5.board_loss_db["add_in_card"] == 9.5
    assert gen5.document_of("channel_loss_db") == "asteralabs-gen5"
    assert gen5.document_of("board_loss_db.add_in_card") == "nvidia-connectx8"
    assert gen5.document_of("skew_mm") == "ti-slaae45"
    assert interface("pcie4").document_of("board_loss_db.add_in_card") == "engineering"


@each(one=("pcie1", "pcie2", "pcie3"))
def test_the_card_specification_divides_the_skew_between_card_and_system_board(one: str) -> None:
    """CEM 3.0: 5 mil within a pair of a card, 10 of a board; lanes 0.35 and 1.25 ns, 1.6 ns together."""
    found = interface(one)
    assert (found.skew_card_mm, found.skew_mm) == (5 * 0.0254, 10 * 0.0254)
    assert (found.lane_skew_card_ps, found.lane_skew_system_ps, found.lane_skew_ps) == (350, 1250, 350 + 1250)


@each(one=("pcie4", "pcie5"))
def test_from_gen4_only_the_shares_of_the_card_specification_are_known(one: str) -> None:
    """CEM 4.0, 4.7.5, and 5.0, table 4-8; between two chips TI SLAAE45 has no limit."""
    found = interface(one)
    assert (found.lane_skew_card_ps, found.lane_skew_system_ps, found.lane_skew_ps) == (350, 1250, None)
    assert found.document_of("lane_skew_system_ps") == "pcisig-cem-5"


def test_published_numbers_of_112g_and_what_has_no_source() -> None:
    """CEI-112G-VSR: 16 dB over host, connector, module; 30 dB ball to ball (AMD). 32 dB of Gen6: trade press."""
    host = interface("eth112g")
    assert host.board_loss_db["very_short"] == 16
    assert host.document_of("board_loss_db.very_short") == "oif-cei-112g"
    assert (host.channel_loss_db, host.document_of("channel_loss_db")) == (30, "amd-xapp1392-loss")
    gen6 = interface("pcie6")
    assert (gen6.channel_loss_db, gen6.document_of("channel_loss_db")) == (32, "semiengineering-pcie6")
    assert gen6.document_of("board_loss_db.add_in_card") == "engineering"
    assert interface("pcie7").document_of("channel_loss_db") == "engineering"
    assert interface("pcie7").board_loss_db == {}


@pytest.mark.parametrize(("one", "read"), [("gddr6", "TN-ED-04"), ("gddr7", "JITX")])
def test_graphics_memories_have_no_impedance_without_a_document(one: str, read: str) -> None:
    """A routed impedance off its target is an error, so a target needs a document; the note says what was found."""
    assert (interface(one).impedance_single_ohm, interface(one).impedance_diff_ohm) == (None, None)
    assert read in interface(one).note


def test_nvlink_5_says_why_its_target_is_not_the_one_of_its_tolerance_row() -> None:
    """The row is NVLink 4's: 100 ohm +-5 %. Its percentage holds at least for NVLink 5, its ohm do not."""
    older, newer = interface("nvlink4"), interface("nvlink5")
    found = {c.id: c for c in newer.clauses("training") if c.kind == "impedance_tolerance"}

    assert (older.impedance_diff_ohm, older.document_of("impedance_diff_ohm")) == (100, "nextpcb-30-plus-layers")
    assert (newer.impedance_diff_ohm, newer.document_of("impedance_diff_ohm")) == (85, "engineering")
    assert set(found) == {"training.impedance_tolerance.nvlink5", "training.impedance_tolerance_max.nvlink5"}
    for clause in found.values():
        assert "at least as NVLink 4" in clause.title
        assert clause.source.row.startswith("NVLink 4")
        assert "percentage holds for any target" in clause.note
    assert "85 ohm is engineering" in newer.note


def test_the_foil_of_pcie_gen5_cites_the_column_that_speaks_of_it() -> None:
    """LP to VLP is in the inference column; in training the profile recommends for all high-speed links."""
    (row,) = [c for c in interface("pcie5").clauses("inference") if c.kind == "foil"]
    training = {c.id: c for c in assemble(load_profile("training"), None, ["pcie5"], []).clauses}

    assert row.source.row == "Copper foil grade, inference"
    assert [c for c in interface("pcie5").clauses("training") if c.kind == "foil"] == []
    assert training["training.foil.pcie5"].limit.at_least == "VLP"
    assert training["training.foil.pcie5"].severity == "warning"
    assert "recommendation" in training["training.foil.pcie5"].note


def test_pcie_gen4_asks_for_no_backdrill() -> None:
    """The documents demand it from Gen5 on; what Gen4 gets is a look at the stub."""
    asked = {c.id: c for c in interface("pcie4").clauses("inference")}
    assert asked["inference.backdrill.pcie4"].limit.required is False
    for scope, profile in (("board", "board"), ("edge", "edge"), ("inference", "inference-pcie")):
        (found,) = [c for c in assemble(load_profile(profile), None, ["pcie4"], []).clauses if c.kind == "via_stub"]
        assert (found.id, found.severity, found.limit.max) == (f"{scope}.stub.pcie4", "warning", 0.61)


def test_only_a_document_makes_a_stub_limit_a_clause() -> None:
    """AMD, NVIDIA and TI; what the quarter wave gives is judged as a resonance, and HDMI has no document."""
    limits = {c.interface: (c.limit.max, c.source.document) for one in ALL if (c := one.stub_clause("board"))}

    assert limits == {
        "pcie4": (0.61, "amd-ug1091"),
        "usb3.2gen1": (0.40, "nvidia-xavier-guide"),
        "usb3.2gen2": (0.38, "ti-slaae45"),
        "dp-hbr3": (0.40, "nvidia-xavier-guide"),
    }
    assert {one.document_of("stub_limit_mm") for one in ALL if one.stub_limit_mm is not None} == {
        "physics",
        *(document for _, document in limits.values()),
    }


def test_gen5_laminate_is_judged_by_workload() -> None:
    """Training: below very low loss is an error. Inference: a warning, an error below mid loss. Edge: a warning."""
    training = {c.id: c for c in interface("pcie5").clauses("training")}
    inference = {c.id: c for c in interface("pcie5").clauses("inference")}
    assert training["training.laminate.pcie5"].severity == "error"
    assert inference["inference.laminate.pcie5"].severity == "warning"
    assert inference["inference.laminate_min.pcie5"].limit.at_least == "mid"
    assert {c.severity.value for c in interface("pcie5").clauses("edge")} == {"warning"}


def test_an_unknown_interface_says_which_is_nearest() -> None:
    """One line, with the next step."""
    with pytest.raises(ConfigError, match=r'"pcie9".*did you mean "pcie'):
        interface("pcie9")
    with pytest.raises(ConfigError, match=r'did you mean "nvlink"'):
        family("nvlnk")


# --- names ---


@pytest.mark.parametrize(
    ("net", "read"),
    [
        ("/M.2/PCIe_{C1x1}.TX0+", "PCIE_C1X1.TX0+"),
        ("/M.2/PCIe_{C1x1}.~{CLKREQ}", "PCIE_C1X1._CLKREQ"),
        ("USB_D+", "USB_D+"),
        ("/a/b/", ""),
        ("/x/Q^{2}", "Q_2"),
    ],
)
def test_names_are_read_behind_the_last_slash_without_markup(net: str, read: str) -> None:
    """KiCad's overbar, subscript and superscript become an underscore; case is ignored."""
    assert normalise(net) == read


@pytest.mark.parametrize(
    ("net", "found"),
    [
        ("/M.2/M2_M_PET0_P", "pcie"),
        ("PETP3", "pcie"),
        ("PET_IN_1+", "pcie"),
        ("PER_OUT0_N", "pcie"),
        ("PER_IN_1", None),
        ("TEMPER_IN_1+", None),
        ("PERn15", "pcie"),
        ("PEX_TX12_N", "pcie"),
        ("/PCIE.PER_N", "pcie"),
        ("/gpu/NVLINK0_TX3_P", "nvlink"),
        ("NVHS2_RX7_N", "nvlink"),
        ("CXL_TX0_P", "cxl"),
        ("XGMI1_TX4_P", "xgmi"),
        ("UALINK0_RX1_N", "ualink"),
        ("QSFP1_TX2_N", "ethernet-serdes"),
        ("/SFP/SFI.RX+", "ethernet-serdes"),
        ("MGT_TX1_P", "ethernet-serdes"),
        ("USBSS1.RX+", "usb3"),
        ("/M.2/USB3.D+", "usb2"),
        ("USB3_D_N", "usb2"),
        ("USB_DM", "usb2"),
        ("DP0.TX0_C+", "displayport"),
        ("HDMI1_CK_N", "hdmi"),
        ("/CSI/CAM0.CSI3_D0+", "mipi"),
        ("DDR4_DQ17", "ddr"),
        ("LPDDR5_A.DQS0_P", "ddr"),
        ("GDDR6_A.WCK0_P", "gddr"),
        ("GDDR6_CA0_A", "gddr"),
        ("FBA_D0", "gddr"),
        ("FBB_WCK01_P", "gddr"),
        ("FBA_EDC0", "gddr"),
        ("/memory/FBC_CMD12", "gddr"),
        ("GDDR7_RCK_N", "gddr"),
        ("LPDDR5_WCK0_P", "ddr"),
        ("SATA0_TX_P", "sata"),
        ("ETH_PI.TRD0_P", "base-t"),
        ("SERDOUT3+", "jesd204"),
        ("CON_PCIE_TX_0+", "pcie"),
        ("PCIE_TX_P0", "pcie"),
        ("PCIE_CLK_CON_N", "reference-clock"),
        ("SSTXM_C", "usb3"),
        ("TMDS-RX1-0", "hdmi"),
        ("DVI_D0_P", "hdmi"),
        ("DSI-CKN", "mipi"),
        ("CSI0_LN0_P", "mipi"),
        ("MIPI0_CL_P", "mipi"),
        ("HS_CSI_C_D0_P", "mipi"),
        ("CSI_LP_C_CLK_N", "low-speed"),
        ("MIPI_LP0_P", "low-speed"),
        ("LP_DSI_D0_N", "low-speed"),
        ("DDR3_DQS0+", "ddr"),
        ("EDP_TX0_DP", "displayport"),
        ("MGT_RX_0_N", "ethernet-serdes"),
        ("MDI[0]+", "base-t"),
        ("/ETH/BI_DA+", "base-t"),
        ("BI_DD_N", "base-t"),
        ("BI_DIR_P", None),
        ("/Ethernet/TXO3+", "base-t"),
        ("/Magnetics/RXI3-", "base-t"),
        ("/lan magnetics/TD0_P", "base-t"),
        ("/LVDS/TXO3+", "lvds"),
        ("TXO3+", None),  # a switch's port, or the odd lanes of a panel
        ("RXI_P", None),  # a port, or the in-phase half of a receiver
        ("/Radio/RXI_N", None),
        ("MAGNETIC_X_P", None),
        ("MDI0+", "base-t"),
        ("/HDMI out/D0_P", "hdmi"),
        ("/pcie/connector/TX0+", "pcie"),
        ("PCIE_UP_P", "pcie"),
        ("LAN1_PCIE_RX_P", "pcie"),
        ("USB_P", "usb2"),
        ("USB2_N", "usb2"),
        ("DQS0_P", "ddr"),
        ("/S0SDQS0_N", "ddr"),
        ("SGMII0_TX_P", "sgmii"),
        ("QSGMII_RX_N", "qsgmii"),
        ("SGMII_2G5_TX_P", "qsgmii"),
        ("HSGMII0_RX_N", "qsgmii"),
        ("SGMII2_TX_P", "sgmii"),
        ("FPD3_DOUT_P", "fpd-link"),
        ("FPD_LINK_DOUT_P", "lvds"),
        ("/FPD/FPD_RIN_P", "lvds"),
        ("LVDS0_CLK_N", "lvds"),
        ("/LVDS_DQ0_P", "lvds"),
        ("/LVDIOC_N", "lvds"),
        ("/LVDS/RIN0+", "lvds"),
        ("/lvds panel/TXOUT3-", "lvds"),
        ("/LVDS/CLKIN-", "lvds"),
        ("/HDMI Output/HDMI_OUT_CK_M_SHIFTED", "hdmi"),
        ("HDMI_HTXCN", "hdmi"),
        ("/LCD/HTX2_P", "hdmi"),
        ("/gpdi/GPDI_D2-", "hdmi"),
        ("/M2 edge/PETX0_2+", "pcie"),
        ("NVME_TX0_P", "pcie"),
        ("PE1_RX3_N", "pcie"),
        ("/USB_UP_D+_HUB", "usb2"),
        ("/USB2_HUB/HD7_P", "usb2"),
        ("/USB2-HUB/USBH_N", "usb2"),
        ("USB_HUB1_P", "usb2"),
        ("HUSB2-D_N", "usb2"),
        ("USB_HOST_UDM1", "usb2"),
        ("USB2_SSTX1_P", "usb3"),
        ("USB1_RX_P", "usb3"),
        ("SS_RX1_N", "usb3"),
        ("TBT_TX0_P", "usb3"),
        ("/TPOUT+", "base-t"),
        ("/rj45_ports/P0_RXD_N", "base-t"),
        ("ENET_TXP", "base-t"),
        ("DDR3_UDQS_P", "ddr"),
        ("DDR_NCAS", "ddr"),
        ("/PER+", "pcie"),
        ("PETn", "pcie"),
        ("/mpcie/PER_P", "pcie"),
        ("DDR3_ADDR12", "ddr"),
        ("LPDDR4_DQ0_A", "ddr"),
        ("DP1_TXD0_N", "displayport"),
        ("EDP_L0_P", "displayport"),
        ("MIPI_TX1_P", "mipi"),
        ("DSI_HS_P0", "mipi"),
        ("CSI_0_P", "mipi"),
        ("CSI0D1P", "mipi"),
        ("DSICLKN", "mipi"),
        ("MIPI_CLOCK_P", "mipi"),
        ("OTG_HS_DP", "usb2"),
        ("/OTG_D-", "usb2"),
        ("HUB_D+", "usb2"),
        ("UFP_D_P", "usb2"),
        ("TYPE-C_DM", "usb2"),
        ("UD+", "usb2"),
        ("BRIDGE_UDM", "usb2"),
        ("SATA_TXD_P", "sata"),
        ("/Ethernet/RGMII_TXD3", "rgmii"),
        ("RGMII_RX_CTL", "rgmii"),
        ("GMII_GTX_CLK", "rgmii"),
        ("FMC1_DP0_C2M_P", "ethernet-serdes"),
        ("FMC_LA00_CC_P", "fmc"),
        ("FMC_LA00_P_CC", "fmc"),
        ("FMC1_HA05_P", "fmc"),
        ("FMC0_HB17_CC_N", "fmc"),
        ("FMC_LA_P[12]", "fmc"),
        ("LA_N12", "fmc"),
        ("/FMC/LA33_P", "fmc"),
    ],
)
def test_a_net_name_reads_as_its_family(net: str, found: str) -> None:
    """As schematics of several makers write them."""
    assert family_by_name(net) == found


@pytest.mark.parametrize(
    "net",
    [
        *("AUD+", "CLOUD-", "RUDM", "UDP_TX", "UD1", "UD_EN", "HUB_RST_N", "HUB_P", "OTG_ID", "OTG_EN_N", "TYPE-C_CC1"),
        *("HUBD+", "DFP_P", "CSI_MCLK_P", "CSI_SDA", "DSI_RST_N", "DSIDE_P", "CSI0_EN", "MIPI_CLOCKING_P"),
    ],
)
def test_names_that_only_resemble_usb_or_mipi_are_neither(net: str) -> None:
    assert family_by_name(net) not in ("usb2", "mipi")


@pytest.mark.parametrize(
    "net",
    [
        *("PCIE_PERST", "/M.2/PCIe_{C1x1}.~{CLKREQ}", "PCIE_WAKE_N", "PCIE_REFCLK_P", "PEX_CLK0_N", "/SFP/SFI_REFCLK+"),
        *("SFP_TX_FAULT", "QSFP0_SCL", "DP0.AUX+", "DP1.HPD", "USBC1_SBU_P", "I2C_PCIE_SDA", "NVLINK_REFCLK_P"),
        *("HDMI_HPD", "USB_VBUS", "JESD_SYSREF_P", "DDR_VREF"),
    ],
)
def test_sidebands_and_reference_clocks_are_no_high_speed_nets(net: str) -> None:
    """A reset or a 100 MHz clock needs neither backdrill nor low-loss laminate."""
    found = family_by_name(net)
    assert found is None or not family(found).fast


@pytest.mark.parametrize(
    "net",
    [
        *(
            "GND",
            "+3V3",
            "/SPI_MOSI",
            "TX",
            "RX_N",
            "/UART2.TX",
            "Net-(U1-PCIE_TX0_P)",
            "unconnected-(J1-PET1_P-Pad59)",
        ),
        *("/RAM/RAM0_DQ0", "PROGRAM_CK", "DQS_P", "SDRAM_DQ0", "PCIE_GROUP_P", "LVDS_EN_P", "USB3_P"),
        *("FB_D0", "FBACK_CLK0", "MEMA_D0", "EDC0", "WCK0_P", "CA0_A", "FBA_SENSE", "GDDR6_VREF", "GDDR6_RESET_N"),
        *("OPTO_D_P", "CRYSTAL_TX_N", "PERIPHERAL_P", "PETROL_N", "/ADC/IN_P", "KRAKEN_D", "DP_PWR", "LAN_LED_A"),
    ],
)
def test_ordinary_names_are_no_high_speed_nets(net: str) -> None:
    """Words that only begin like an interface, single nets, and names that KiCad made up."""
    found = family_by_name(net)
    assert found is None or not family(found).fast


@pytest.mark.parametrize(
    ("net", "found"),
    [
        *(
            (net, "low-speed")
            for net in (
                "BAT+",
                "/VBAT-",
                "BATT_P",
                "/Connector/PWR+",
                "POWER-",
                "/amplifier/V+",
                "V-",
                "FAN1-",
                "/power/FAN_POS",
                "LED+",
                "MOTOR_L+",
            )
        ),
        *((net, "low-speed") for net in ("SPK_L_P", "SPKR-", "/Audio/MICIN1N", "MIC_P", "LINE_OUT_R+", "HPOUTL_N")),
        *((net, "low-speed") for net in ("BAT_I-", "/MPPT_I+", "FIRE1+", "/pyro/PYRO2-", "HFXTAL_N", "/XTAL_P")),
        *((net, "low-speed") for net in ("/codec/INTMIC_P", "ENC_A_P", "/ENCODER2_Z-", "ENC1B+")),
        *(
            (net, "low-speed")
            for net in ("SWDIO", "/mcu/SWCLK", "SWD_CLK", "SWO", "/PACK+", "PACK-", "ISNS_P", "VSNS-")
        ),
        *((net, None) for net in ("SWITCH_P", "SWDR_P", "SWORD_N", "PACKET_P", "BACKPACK_TX_P", "SNS0_P", "SNS_D0_P")),
        *((net, "usb2") for net in ("/CPU/USB_JTAG_DM", "USB_AUX_DP", "USB_UART_D+")),
        *((net, "low-speed") for net in ("USB_DP_AUX_P", "USBC_AUX_N", "USB_JTAG_TCK", "JTAG_TDI")),
        *((net, None) for net in ("TX_I+", "RX_I_P", "FIREFLY0_P", "ENC_CLK_P", "ENCLK_A+", "XTALK_P", "CH1_I-")),
        *((net, "low-speed") for net in ("VCCINT_SENSE_P", "USB_SENSE_N", "NTC-", "SHUNT0_P", "PoE_IN_A+", "POE-")),
        *(
            (net, None)
            for net in (
                "FANOUT_CLK_P",
                "MICRO_TX_P",
                "LEDGE_P",
                "HP0_X_P",
                "SENSOR_D0_P",
                "BATCH+",
                "FAN+12V",
                "UV+",
                "V1+",
            )
        ),
        *((net, "mipi") for net in ("LED_CSI_D0_P", "SENSE_CSI_D0_N")),
    ],
)
def test_leads_of_batteries_fans_and_speakers_are_slow(net: str, found: str | None) -> None:
    """Plus and minus make no high-speed pair of them; a word at the front of a longer name says nothing."""
    assert family_by_name(net) == found


@pytest.mark.parametrize(
    "net",
    [
        *("/DRAM_DQ0", "/DRAM_A0", "/DRAM_CAS", "RAM1_DQ3", "SD_DQ0"),
        *("USB_PWR_P", "USB_EN_N", "USB_XI", "USB_FB_P"),
        *("/gpdi/GPDI_ETH+", "/usb/FPD+", "RMII_TXD0", "ETH_TXD0", "PW+", "CLK_HDMI_OUT_P", "HDMI_OUT_EN", "SGMII_TXD"),
        "TRAFO1_P",
        *("PER", "PET_EN", "UPPER+", "PERSP"),
    ],
)
def test_names_that_tell_no_interface_read_as_none(net: str) -> None:
    """SDRAM without strobes, supplies of USB, MII and RMII, pairs of other uses."""
    assert family_by_name(net) is None


@pytest.mark.parametrize(
    ("net", "found"),
    [("/LANE_RX0_N", None), ("/LANE0_TX_P", None), ("/LANES.A_P", None), ("/LAN0_TRD1_P", "base-t")],
)
def test_a_lane_is_no_lan(net: str, found: str | None) -> None:
    """Lanes are of any serial link: treated as Ethernet they would be held to 100 ohm."""
    assert family_by_name(net) == found


@pytest.mark.parametrize(
    ("net_class", "found"),
    [
        ("85Ohm-diff_PCIE", "pcie"),
        ("PCIe Gen5", "pcie"),
        ("85Ohm-diff_USB_SS", "usb3"),
        ("90Ohm-diff_USB_2.0", "usb2"),
        ("90Ohm-diff_USB3", "usb3"),
        ("85Ohm-diff_SFI", "ethernet-serdes"),
        ("90Ohm-diff_CSI", "mipi"),
        ("85Ohm-diff_DP", "displayport"),
        ("85Ohm-diff_NVLINK", "nvlink"),
        ("DDR4_BYTE0", "ddr"),
        ("Default", None),
        ("100ohm", None),
        ("power", None),
        ("DPWR", None),
        ("DP_REFCLK", "reference-clock"),
        *((name, "displayport") for name in ("eDP", "DisplayPort", "DP0_ML", "DP_HBR2", "DP-TX", "Mini-DP", "DIFF_DP")),
        *((name, None) for name in ("J1_34_DP0.5/0.5", "DP", "DP1", "100R_DP", "DP_100R", "HS_DP", "DP 0.2")),
        ("SIGNAL_USB", None),
    ],
)
def test_a_class_name_reads_as_its_family(net_class: str, found: str | None) -> None:
    """`USB` alone says neither 2.0 nor 3; `DP` alone is a differential pair as often as DisplayPort."""
    assert family_by_class(net_class) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DDR4_BYTE0", "ddr4"),
        ("/ddr4/DQ0", "ddr4"),
        ("PS-DDR5", "ddr5"),
        ("LPDDR4X", "lpddr4"),
        ("DDR3L_DQ0", "ddr3"),
        ("LPDDR3", "lpddr3"),
        ("/ddr/DRAM_ADDR3", None),
        ("DDR_34R", None),
        ("/ddr/DRAM_ADDR4", None),
        ("/ddr/DRAM_ADDR5", None),
        ("/ddr/DRAM_ADDR3", None),
        ("DDR3L_CK", "ddr3"),
        ("DDR_50OHM", None),
        ("DDR40", None),
        ("LPDDR_48R", None),
    ],
)
def test_a_name_spells_out_the_generation_of_a_memory(text: str, found: str | None) -> None:
    """Address 4 (`ADDR4`) and 40 ohm tell no generation."""
    assert spelled_generation("ddr", text) == found


@pytest.mark.parametrize(
    ("net", "found"),
    [
        *((net, "low-speed") for net in ("/CAN/CAN_P", "CANH", "can_l", "CAN-", "CANFD_H", "CAN_BUS_LOW")),
        *((net, "low-speed") for net in ("RS485_A", "RS-485+", "/io/RS422_TX_N")),
        *((net, None) for net in ("CANCEL", "CANAL_P", "SCAN_P", "VOLCANH", "CAN_LINK_P", "RS4850_P")),
    ],
)
def test_field_buses_are_slow(net: str, found: str | None) -> None:
    """Both lines of CAN and RS-485 are a pair of nothing fast; words that begin or end like them say nothing."""
    assert family_by_name(net) == found


@pytest.mark.parametrize("net", ["/REFCLKB+", "REFCLKA_N", "PEX_REFCLKC_P", "REFCLK1_P"])
def test_a_reference_clock_may_have_a_letter(net: str) -> None:
    """Connectors with two hosts tell their clocks apart by one."""
    assert family_by_name(net) == "reference-clock"


def test_a_camera_in_pairs_is_d_phy() -> None:
    """C-PHY has trios, not pairs; a word that only begins like a camera tells nothing."""
    assert spelled_generation("mipi", "CAM0_D1_P") == "mipi-dphy"
    assert spelled_generation("mipi", "/CAM1_C_N") == "mipi-dphy"
    assert spelled_generation("mipi", "CAMERA_X") is None
    assert spelled_generation("mipi", "CPHY_TRIO_CAM") is None


def test_pairs_are_found_by_their_names() -> None:
    """P and N, + and -, USB's DP and DM, with the lane before or behind."""
    assert complements("TX0_P") == ("TX0_N", "TX0_M")
    assert complements("PETN12") == ("PETP12",)
    assert complements("USB_D+") == ("USB_D-",)
    assert complements("DP0.TX0_C-") == ("DP0.TX0_C+",)
    assert complements("TX_P_CONN") == ("TX_N_CONN", "TX_M_CONN")
    assert complements("TMDS-RX1-0") == ("TMDS-RX1+0",)
    assert complements("RESET") == ()
    assert complements("CLKIN-") == ("CLKIN+",)  # the N belongs to IN


@pytest.mark.parametrize(
    "net", ["/USB HDMI/TX0_P", "/PCIe/RESET_P", "/PCIe/SPARE_P", "/HDMI/D0", "/TX0_P", "/PCIe/CLKREQ_N", "DVI_D0"]
)
def test_a_sheet_tells_only_what_a_bare_lane_is_and_only_when_one_family_claims_it(net: str) -> None:
    """Two protocols in a sheet, a name of its own, a lone signal, and no sheet at all: nothing fast is read."""
    found = family_by_name(net)
    assert found is None or not family(found).fast


def test_a_role_read_from_a_sheet_says_so(board_with: MakeBoard) -> None:
    """The guess rests on less than the net's own name."""
    board = board_with("/HDMI out/D0_P", "/HDMI out/D0_N", *pair("/HDMI_D1"))

    whys = {line.why for line in assigned(board).taken_as()}

    assert whys == {"sheet names read as HDMI", "net names read as HDMI"}


@pytest.mark.parametrize("sheet", ["", "/Ethernet"])
def test_a_name_that_tells_by_itself_counts_whatever_its_sheet(board_with: MakeBoard, sheet: str) -> None:
    """The root sheet has no name, so that it reads as nothing."""
    (line,) = assigned(board_with(*pair(f"{sheet}/TRD0"))).taken_as()

    assert line.why == "net names read as Ethernet BASE-T"


@pytest.mark.slow
@pytest.mark.parametrize(
    "word", ["PCIE_TX", "DDR4_DQ_", "NVLINK0TX", "USB_", "QSFP_D", "CSI_D", "_", "A", "GDDR6_", "REFCLK"]
)
def test_long_names_do_not_hang(word: str) -> None:
    """A hostile net name must not stop the check, however long it is."""
    names = [f"/x/{word * (10 + i % 40)}!{i}" for i in range(1000)] + [word * 100_000]
    with no_hang():
        for name in names:
            family_by_name(name)
            family_by_class(name)
            complements(normalise(name))


# --- assignment ---


def test_declared_nets_are_sure_and_win(board_with: MakeBoard) -> None:
    """A declaration by class, with the confidence of the user's own word."""
    board = board_with(**{"85Ohm-diff_PCIE": pair("/PCIE_TX0")})

    found = assigned(board, '[[interface]]\nis = "nvlink5"\nnet_classes = ["85Ohm-diff_PCIE"]')

    role = found.roles[board.net_index["/PCIE_TX0_P"]]
    assert role is not None
    assert (role.interface, role.origin, role.confidence) == ("nvlink5", Origin.DECLARED, Confidence.HIGH)
    assert found.is_declared(board.net_index["/PCIE_TX0_N"])
    assert found.interfaces() == ("nvlink5",)
    assert len(found.nets_of("nvlink5")) == len(found.nets_of("nvlink")) == 2
    assert len(found.nets_of("pcie")) == 0


def test_wildcards_choose_over_the_whole_name(board_with: MakeBoard) -> None:
    """`*` and `?`; brackets and braces stand for themselves."""
    board = board_with("/a/X_{1}+", "/a/X_{1}-", "/b/X_{1}+")

    found = assigned(board, '[[interface]]\nis = "pcie5"\nnets = ["/a/X_{?}*"]')

    assert sorted(taken(board, found)) == ["/a/X_{1}+", "/a/X_{1}-"]


@pytest.mark.parametrize(
    ("wanted", "others", "line"),
    [
        (["/SFP0.RX", "/SFP0.TX", "/SFP1.RX"], ["/X"], 'nets = ["/SFP*"]'),
        (["/SFP0.RX", "/SFP0.TX", "/SFP1.RX"], ["/SFP1.LOS"], 'nets = ["/SFP0.*", "/SFP1.RX"]'),
        (["/PET", "/PET0", "/PET1"], ["/PER"], 'nets = ["/PET*"]'),
        (["/PET", "/PET0", "/PET1"], ["/PET2"], 'nets = ["/PET", "/PET0", "/PET1"]'),
        (["/A", "/B"], ["/C"], 'nets = ["/A", "/B"]'),
    ],
)
def test_nets_are_named_by_the_fewest_starts_that_take_no_other(
    wanted: list[str], others: list[str], line: str, board_with: MakeBoard
) -> None:
    """The lines that a user has to paste choose exactly the nets that were meant."""
    board = board_with(*wanted, *others)

    assert nets_line(board, [board.net_index[name] for name in wanted]) == line


def test_a_net_whose_name_holds_a_star_is_named_whole(board_with: MakeBoard) -> None:
    """A name that acts as a wildcard takes more than itself; then every name is written, and nothing is shortened."""
    board = board_with("/PET*", "/PET0", "/PET1", "/PER")

    line = nets_line(board, [board.net_index[name] for name in ("/PET*", "/PET0")])

    assert line == 'nets = ["/PET*", "/PET0"]'


def test_a_declared_class_leaves_its_sidebands_out(board_with: MakeBoard) -> None:
    """CLKREQ, reset and clock sit in the same class on real boards; naming one of them takes it after all."""
    nets = [*pair("/PCIE_TX0"), "/PCIE_CLKREQ", "/PCIE_RST", *pair("/PCIE_REFCLK")]
    board = board_with(PCIE=nets)

    found = assigned(board, '[[interface]]\nis = "pcie5"\nnet_classes = ["PCIE"]')
    named = assigned(board, '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_CLKREQ"]')

    assert [board.nets[n] for n in found.nets_of("pcie5")] == pair("/PCIE_TX0")
    assert "4 control or clock nets left out" in found.taken_as()[0].why
    assert [board.nets[n] for n in named.nets_of("pcie5")] == ["/PCIE_CLKREQ"]


def test_a_wildcard_of_pairs_leaves_out_what_is_half_of_none(board_with: MakeBoard) -> None:
    """Control nets and rails of a module stand among its lanes; where no net is half of a pair, all are meant."""
    slow = ["/SFP0_TXDIS", "/SFP0_RSSI", "/SFP0/SFP_VCCR", "/SFP0_SPARE", "/SFP0_ID", "/SFP0_X", "/SFP0_Y"]
    board, settings = board_with(*pair("/SFP0_TX"), *slow), '[[interface]]\nis = "eth25g"\nnets = ["/SFP0*"]'

    found = assigned(board, settings)

    assert [board.nets[n] for n in found.nets_of("eth25g")] == pair("/SFP0_TX")
    assert found.taken_as()[0].why == "declared; 3 control or clock nets left out; 4 nets of no pair left out"
    where = '[[interface]] 1 (is = "eth25g")'
    left_out = "/SFP0_SPARE, /SFP0_ID, /SFP0_X and 1 more"
    assert found.notes == (f"{where} leaves out {left_out}: of no pair; name what is meant one by one",)
    named = assigned(board, settings + '\n[[interface]]\nis = "eth25g"\nnets = ["/SFP0_SPARE"]')
    assert [board.nets[n] for n in named.nets_of("eth25g")] == [*pair("/SFP0_TX"), "/SFP0_SPARE"]
    alone = board_with("/SFP0_A", "/SFP0_B")
    assert len(assigned(alone, settings).nets_of("eth25g")) == 2


def test_a_lane_whose_complement_is_named_wrongly_stays_declared(board_with: MakeBoard) -> None:
    """A class named after pairs takes all of its nets; a wildcard what reads as half of a lane, and no control net."""
    nets = [*pair("/PCIE_TX0"), "/PCIE_TX1_P", "/PCIE_TX1_NX", "/PCIE_PERN2", "/PCIE_ALT_N", "/PCIE_CLKREQ"]
    row, board = '[[interface]]\nis = "pcie5"\n', board_with(**{"85Ohm-diff": nets, "FAST": nets})

    def taken(choice: str) -> list[str]:
        return [board.nets[n] for n in assigned(board, f"{row}{choice}").nets_of("pcie5")]

    assert taken('net_classes = ["85Ohm-diff"]') == nets[:-1]
    lanes = [*pair("/PCIE_TX0"), "/PCIE_TX1_P", "/PCIE_PERN2"]
    assert taken('net_classes = ["FAST"]') == lanes
    assert taken('nets = ["/PCIE_*"]') == lanes


def test_a_wrong_inference_can_be_undone(board_with: MakeBoard) -> None:
    """Nets declared as low speed are fast no more."""
    board = board_with(*pair("/PCIE_TX0"))

    found = assigned(board, '[[interface]]\nis = "low-speed"\nnets = ["/PCIE_*"]', {"pcie": "pcie5"})

    assert found.interfaces() == ()
    assert found.families_without_generation() == ()


def test_a_declaration_without_nets_is_said(board_with: MakeBoard) -> None:
    """With the nearest class, because a misspelt class would silently prove nothing."""
    board = board_with(**{"85Ohm-diff_PCIE": pair("/PCIE_TX0")})

    found = assigned(board, '[[interface]]\nis = "pcie5"\nnet_classes = ["85ohm-diff-PCIE"]')

    assert len(found.notes) == 1
    assert '[[interface]] 1 (is = "pcie5") matches no net' in found.notes[0]
    assert 'did you mean "85Ohm-diff_PCIE"?' in found.notes[0]


def test_nets_declared_twice_are_said_and_the_later_wins(board_with: MakeBoard) -> None:
    """The general first, the exception after it."""
    board = board_with(*pair("/PCIE_TX0"))
    config = '[[interface]]\nis = "pcie4"\nnets = ["/PCIE*"]\n[[interface]]\nis = "pcie5"\nnets = ["/PCIE_TX0*"]'

    found = assigned(board, config)

    assert found.interfaces() == ("pcie5",)
    assert any("2 nets that an earlier" in note for note in found.notes)


def test_an_unknown_interface_in_the_settings_is_an_error(board_with: MakeBoard) -> None:
    """It names the table and the nearest id."""
    with pytest.raises(ConfigError, match=r'stackwright.toml, \[\[interface\]\] 1.*did you mean "pcie5"'):
        assigned(board_with("/A"), '[[interface]]\nis = "pcie-5"\nnets = ["/A"]')


def test_a_family_may_be_declared_without_generation(board_with: MakeBoard) -> None:
    """Sure of the family, open in the generation: a question, not a guess."""
    board = board_with(*pair("/LANE0"))

    found = assigned(board, '[[interface]]\nis = "pcie"\nnets = ["/LANE*"]')

    assert found.families_without_generation() == ("pcie",)
    assert found.interfaces() == ()


def test_a_family_with_one_generation_is_declared_by_its_name(board_with: MakeBoard) -> None:
    """`sata` says all that `sata3` does."""
    board = board_with(*pair("/LANE0"))

    by_family, by_interface = (
        assigned(board, f'[[interface]]\nis = "{word}"\nnets = ["/LANE*"]') for word in ("sata", "sata3")
    )

    assert by_family.interfaces() == by_interface.interfaces() == ("sata3",)
    assert by_family.families_without_generation() == ()


@pytest.mark.parametrize(
    ("generation", "config", "sure"),
    [
        ("3", "", "low"),
        ("5", "", "medium"),
        ("6", "", "medium"),
        ("3", '[[interface]]\nis = "pcie3"\nnets = ["/PCIE*"]', "high"),
    ],
)
def test_a_class_that_names_a_slower_generation_than_the_profile_is_a_guess(
    board_with: MakeBoard, generation: str, config: str, sure: str
) -> None:
    """A name does not take back what such boards carry; only a declaration does."""
    board = board_with(**{f"85Ohm-diff_PCIE_Gen{generation}": pair("/PCIE_TX0")})

    found = assigned(board, config, {"pcie": "pcie5"})

    assert found.interfaces() == (f"pcie{generation}",)
    assert found.confidence_of(board.net_index["/PCIE_TX0_P"]).value == sure


def test_class_and_name_together_are_surer_than_either(board_with: MakeBoard) -> None:
    """Medium when both read as one family, low for a class or a name alone."""
    board = board_with(*pair("/PCIE_TX1"), **{"85Ohm-diff_PCIE": [*pair("/PCIE_TX0"), *pair("/LANE7")]})

    found = assigned(board)

    confidence = {
        net: found.confidence_of(board.net_index[f"{net}_P"]).value for net in ("/PCIE_TX0", "/LANE7", "/PCIE_TX1")
    }
    assert confidence == {"/PCIE_TX0": "medium", "/LANE7": "low", "/PCIE_TX1": "low"}
    assert {t.group for t in found.taken_as()} == {"net class 85Ohm-diff_PCIE", "nets such as /PCIE_TX1_N"}


def test_the_generation_comes_from_the_profile_and_says_so(board_with: MakeBoard) -> None:
    """Still inferred: the profile knows the type of board, not this board."""
    board = board_with(*pair("/PCIE_TX0"))

    without = assigned(board)
    found = assigned(board, "", {"pcie": "pcie6"})

    assert (without.interfaces(), without.families_without_generation()) == ((), ("pcie",))
    role = found.roles[board.net_index["/PCIE_TX0_P"]]
    assert role is not None
    assert (role.interface, role.origin) == ("pcie6", Origin.INFERRED)
    assert "PCIe Gen6 from the profile" in role.why


def test_a_generation_that_a_name_spells_out_beats_the_profile(board_with: MakeBoard) -> None:
    """The board's own word; a port number behind the name spells nothing out."""
    board = board_with(*pair("/PCIE5_TX0"), **{"85R_PCIE_GEN4": pair("/PCIE_TX0")})

    found = assigned(board)

    assert taken(board, found)["/PCIE_TX0_P"] == ("pcie", "pcie4")
    assert taken(board, found)["/PCIE5_TX0_P"] == ("pcie", None)


def test_a_class_of_differential_pairs_is_no_displayport(board_with: MakeBoard) -> None:
    """What the nets' own names say still counts."""
    board = board_with(**{"J1_34_DP0.5/0.5": pair("/J1_34"), "100R_DP": pair("/DP_TX0")})

    assert taken(board, assigned(board)) == dict.fromkeys(pair("/DP_TX0"), ("displayport", None))


def test_usb_2_of_a_usb_3_port_is_usb_2(board_with: MakeBoard) -> None:
    """`USB3.D+` in a class for USB 2.0, next to the port's high-speed pairs."""
    board = board_with("/USB3.TX+", "/USB3.TX-", **{"90Ohm-diff_USB_2.0": ["/USB3.D+", "/USB3.D-"]})

    found = assigned(board)

    assert taken(board, found)["/USB3.D+"] == ("usb2", "usb2")
    assert taken(board, found)["/USB3.TX+"] == ("usb3", None)


def test_a_name_is_believed_more_than_a_class_that_lumps(board_with: MakeBoard) -> None:
    """The slow pair of a port in the class of its high-speed pairs is still slow; two sources make it unsure."""
    board = board_with(**{"90Ohm-diff_USB3": [*pair("/USB3_TX"), "/USB3_D+", "/USB3_D-"]})

    found = assigned(board)

    assert taken(board, found)["/USB3_D+"] == ("usb2", "usb2")
    assert found.confidence_of(board.net_index["/USB3_D+"]) is Confidence.LOW
    assert taken(board, found)["/USB3_TX_P"] == ("usb3", None)


def test_half_a_pair_is_no_pair(board_with: MakeBoard) -> None:
    """A lone net with a telling name, or a monitor signal in a class of pairs, is not taken."""
    board = board_with("/PCIE_TX0_P", **{"85Ohm-diff_USB_SS": ["/VBUS_MON_UP", *pair("/USBSS_TX")]})

    assert sorted(taken(board, assigned(board))) == ["/USBSS_TX_N", "/USBSS_TX_P"]


def test_a_board_without_interfaces_has_none(board_with: MakeBoard) -> None:
    """An ordinary board is not reported as high-speed."""
    board = board_with("GND", "+3V3", "/LED1", "Net-(R1-Pad2)", "/MOSI")

    found = assigned(board)

    assert (found.interfaces(), found.families_without_generation(), found.taken_as()) == ((), (), ())
    assert found.nets_of("pcie5").tolist() == []


def test_families_that_cannot_be_fast_ask_nothing() -> None:
    """No generation question for USB 2.0, BASE-T, MIPI, sidebands."""
    slow = {one.id for one in families() if not one.fast}
    assert {"usb2", "base-t", "mipi", "low-speed", "reference-clock"} <= slow


# --- a real board ---


@pytest.mark.demo
def test_nearly_every_classed_net_of_a_real_board_is_read(demo_boards: Path) -> None:
    """Of the Jetson Thor baseboard's 293 nets in classes one name says nothing: a voltage monitor in a USB class."""
    board = read_board(demo_boards / THOR)
    classed = [net for net in board.nets if board.project.net_classes_of.get(net)]

    assert len(classed) == 293
    assert [net for net in classed if family_by_name(net) is None] == ["/USB Hub/VBUS_MON_UP"]


@pytest.mark.demo
def test_a_real_board_is_taken_for_what_it_is(demo_boards: Path) -> None:
    """Classes and names agree; clocks, resets, AUX and SBU stay out; USB 2.0 pairs of USB 3 ports are USB 2.0."""
    board = read_board(demo_boards / THOR)

    found = assign_nets(board, Config(), {})

    lines = {line.group: (line.family, line.nets, line.confidence.value) for line in found.taken_as()}
    assert lines == {
        "net class 85Ohm-diff_PCIE": ("pcie", 50, "medium"),
        "net class 85Ohm-diff_SFI": ("ethernet-serdes", 8, "medium"),
        "net class 85Ohm-diff_USB_SS": ("usb3", 72, "medium"),
        "net class 85Ohm-diff_DP": ("displayport", 64, "medium"),
        "net class 90Ohm-diff_CSI": ("mipi", 40, "medium"),
        "net class 90Ohm-diff_USB_2.0": ("usb2", 18, "medium"),
    }
    assert taken(board, found)["/M.2/USB3.D+"] == ("usb2", "usb2")
    fast = {net for net, (one, _) in taken(board, found).items() if family(one).fast}
    assert not [net for net in fast if any(w in net for w in ("CLK", "RST", "AUX", "SBU", "HPD", "I2C"))]


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("PCIE_GEN1_TX0_P", "pcie1"),
        ("PCIE_GEN2_TX0_P", "pcie2"),
        ("HDMI1.4_TX0_P", "hdmi1.4"),
        ("HDMI2.0_TX0_P", "hdmi2.0"),
        ("DP_HBR_TX0_P", "dp-hbr"),
        ("DP_HBR2_TX0_P", "dp-hbr2"),
        ("DP_HBR3_TX0_P", "dp-hbr3"),
        ("DP_UHBR10_TX0_P", "dp-uhbr10"),
        ("DP_UHBR13.5_TX0_P", "dp-uhbr13.5"),
        ("DP_UHBR20_TX0_P", "dp-uhbr20"),
    ],
)
def test_slow_generations_have_an_honest_answer(name: str, generation: str) -> None:
    found = interface(generation)

    assert re.search(found.words, name)
    others = [one for one in family(found.family).interfaces if one.id != generation and one.words]
    assert not [one.id for one in others if re.search(one.words, name)]


def test_nets_can_be_ignored_and_that_is_no_high_speed_interface() -> None:
    assert interface("ignore").clauses("training") == ()
    assert not family(interface("ignore").family).fast


@pytest.mark.parametrize(
    "net",
    [
        "LA12",
        "LA3_P",
        "LA34_P",
        "LAN1_P",
        "PLA00_P",
        "HALL_A12_P",
        "HA1_P",
        "FMC_CLK0_M2C_P",
        "FMC_PRSNT_M2C_N",
        "FMC_SCL",
    ],
)
def test_what_only_looks_like_a_user_pin_of_fmc_is_none(net: str) -> None:
    """Address lines, other words, pins beyond the banks, clocks and sidebands of the connector."""
    assert family_by_name(net) != "fmc"


def _outside_groups(expression: str) -> str:
    """Return what of an expression stands in no group and no set of characters."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "_", expression)
    while "(" in plain:
        plain = re.sub(r"\([^()]*\)", "_", plain)
    return plain


def test_one_search_finds_what_any_pattern_finds() -> None:
    """It takes heads apart at their beginning, which alternatives outside a group would not survive."""
    heads = [pattern.head for one in families() for pattern in one.pattern]
    assert all("|" not in _outside_groups(head) for head in heads)
    assert "|" in _outside_groups(r"(?:^|[_.\-])A\|$|[(]B")
    words = {word for head in heads for word in re.findall(r"[A-Z][A-Z0-9_]{1,}", head)}
    ends = ("", "0", "_P", "_N", "0_P", "_0+", "_DP", "[3]", "_INV", "1A")
    names = [f"{begin}{word}{end}" for word in sorted(words) for begin in ("", "X", "A_", "U1.", "-") for end in ends]
    found = [_any_head().search(name) is not None for name in names]
    assert found == [any(re.search(head, name) for head in heads) for name in names]
    assert 0.05 < sum(found) / len(found) < 0.95


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("usb4", "it is one of usb4gen3, usb4gen4"),
        ("ethernet", "it is one of base-t, eth10g-kr, eth25g, eth56g, eth112g, eth224g"),
        ("pcei5", 'did you mean "pcie5"?'),
    ],
)
def test_a_word_for_several_interfaces_names_them(word: str, says: str) -> None:
    """Ids that begin so, those of the families so called, else the nearest id."""
    with pytest.raises(ConfigError, match=re.escape(says)):
        interface(word)
