"""Nets whose names say nothing, read from the connectors and chips at their ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.net_interfaces import Assignment, assign_nets
from drc_rules.requirements.interfaces import family, interface_ids
from drc_rules.requirements.parts import known_part, known_parts
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from tests.support.small_boards.linked import mini, part, two_pads


def pair(head: str, first: tuple[str, str], second: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Two pads, number and pin name each, on the nets of a pair."""
    return (*first, f"{head}+"), (*second, f"{head}-")


def assigned(folder: Path, *parts: str) -> tuple[Board, Assignment]:
    board = mini(folder, "".join(parts))
    return board, assign_nets(board, Config(), {})


def families_of(folder: Path, *parts: str) -> dict[str, str]:
    board, found = assigned(folder, *parts)
    return {net: role.family for net, role in zip(board.nets, found.roles, strict=True) if role}


@pytest.mark.parametrize(
    ("value", "first", "second", "expected"),
    [
        ("USB_C_Receptacle_HRO_TYPE-C-31-M-12", ("A6", "DP1"), ("A7", "DN1"), "usb2"),
        ("GCT_USB4105-GF-A", ("A6", ""), ("A7", ""), "usb2"),
        ("USB_C_Receptacle", ("A2", "TX_{1}+"), ("A3", "TX_{1}-"), "usb3"),
        ("USB_C_Receptacle", ("A2", ""), ("A3", ""), "usb3"),
        ("USB_A_Stewart", ("3", "Pin_3"), ("2", "Pin_2"), "usb2"),
        ("HDMI_A_1.4", ("1", "D2+"), ("3", "D2-"), "hdmi"),
        ("Bus_M.2_Socket_Key_M_Amphenol", ("37", "PET1_P"), ("35", "PET1_N"), "pcie"),
        ("Bus_PCI_Express_x16", ("A16", "PERp0"), ("A17", "PERn0"), "pcie"),
        ("Amphenol_SFP28_1x20", ("13", "RD+"), ("12", "RD-"), "ethernet-serdes"),
        ("RJ45_UDE_RB1", ("2", "TD1+"), ("3", "TD1-"), "base-t"),
        ("SATA_7pin", ("2", "A+"), ("3", "A-"), "sata"),
        ("SATA_SMD", ("6", "Pin_6"), ("5", "Pin_5"), "sata"),
        ("SATA_22P", ("S2", ""), ("S3", ""), "sata"),
        ("MPCIE-Socket", ("25", ""), ("23", ""), "pcie"),
        ("Mini PCIe", ("33", "PETp0"), ("31", "PETn0"), "pcie"),
        ("PCI_Express_Mini", ("38", ""), ("36", ""), "usb2"),
        ("ZX62-B-5PA(33)", ("3", ""), ("2", ""), "usb2"),
        ("10118194-0001LF", ("3", "Pin_3"), ("2", "Pin_2"), "usb2"),
        ("Samtec_ASP-134486-01", ("G6", ""), ("G7", ""), "fmc"),
        ("ASP-134603-01", ("H37", ""), ("H38", ""), "fmc"),
        ("ASP-134488-01", ("D8", "D8"), ("D9", "D9"), "fmc"),
        ("USB_C_Receptacle", ("A6", "A6"), ("A7", "A7"), "usb2"),
        ("FMC_HPC_Carrier", ("E36", ""), ("E37", ""), "fmc"),
        ("ASP-134488-01", ("K25", "HB00_P_CC"), ("K26", "HB00_N_CC"), "fmc"),
        ("SomeModule", ("7", "PCIe_RX_P"), ("9", "PCIe_RX_N"), "pcie"),
        ("HDMI_Micro-D_Molex_46765", ("6", ""), ("8", ""), "hdmi"),
        ("RJ45_Bel_SI-60062-F", ("1", ""), ("3", ""), "base-t"),
        ("HANRUN_HR911105A", ("3", ""), ("6", ""), "base-t"),
        ("W5500", ("2", "TXOP"), ("1", "TXON"), "base-t"),
        ("LAN8720A", ("21", "TXP"), ("20", "TXN"), "base-t"),
        ("KSZ8081RNA", ("5", "RXP"), ("4", "RXM"), "base-t"),
        ("KSZ8863MLL", ("5", "RXP1"), ("4", "RXM1"), "base-t"),
        ("IP175G", ("2", "TXOP1"), ("1", "TXOM1"), "base-t"),
        ("HY931147C", ("P$5", "TX+"), ("P$6", "TX-"), "base-t"),
        ("USB2514B_Bi", ("7", "USBDP_DN3/PRT_DIS_P3"), ("6", "USBDM_DN3/PRT_DIS_M3"), "usb2"),
        ("CH334F", ("15", "DPU"), ("14", "DMU"), "usb2"),
        ("CH334F", ("15", "DPU+"), ("14", "DMU-"), "usb2"),
        ("TUSB2046B", ("5", "DP0"), ("4", "DM0"), "usb2"),
        ("CY7C65642-28LTXC", ("16", "P4DP"), ("15", "P4DM"), "usb2"),
        ("GL852G", ("31", "USBDP_UP"), ("30", "USBDM_UP"), "usb2"),
        ("STM32F405RGTx", ("45", "PA12"), ("44", "PA11"), "usb2"),
        ("ESP32-S3-WROOM-1", ("14", "IO20"), ("13", "IO19"), "usb2"),
        ("ESP32-C3-MINI-1", ("27", "GPIO19/USB_D+"), ("26", "GPIO18/USB_D-"), "usb2"),
        ("ATSAMD21G18A", ("34", "PA25"), ("33", "PA24"), "usb2"),
        ("TUSB8041", ("55", "USB_SSTXP_UP"), ("56", "USB_SSTXM_UP"), "usb3"),
    ],
)
def test_pins_tell_what_the_name_does_not(
    tmp_path: Path, value: str, first: tuple[str, str], second: tuple[str, str], expected: str
) -> None:
    found = families_of(tmp_path, part("J1", value, *pair("/X", first, second)))

    assert found == {"/X+": expected, "/X-": expected}


def test_the_role_says_which_part_it_rests_on_and_is_never_sure(tmp_path: Path) -> None:
    board, found = assigned(tmp_path, part("J1", "HDMI_A", *pair("/X", ("1", "D2+"), ("3", "D2-"))))

    role = found.role_of(board.net_index["/X+"])

    assert role is not None
    assert (role.by_pins, role.interface, role.confidence.value) == (True, None, "low")
    assert role.why == "pins of J1 (HDMI connector) read as HDMI"


@pytest.mark.parametrize(
    "parts",
    [
        part("J1", "Conn_01x04", *pair("/X", ("1", "Pin_1"), ("3", "Pin_3"))),
        part("J1", "HDMI_A", *pair("/X", ("15", "SCL"), ("16", "SDA"))),
        part("J1", "HDMI_A", ("1", "D2+", "/X+"), ("3", "GND", "/X-")),
        part("U1", "FPGA", *pair("/X", ("1", "MGTTXP0"), ("2", "MGTTXN0"))),
        part("U1", "SoC", *pair("/X", ("1", "PCIE_TX0_P/USB3_TX0_P"), ("2", "PCIE_TX0_N/USB3_TX0_N"))),
        part("U1", "Module", *pair("/X", ("1", "DP2_D0_HDMI_D2_P"), ("2", "DP2_D0_HDMI_D2_N"))),
        part("J1", "HDMI_A", ("1", "D2+", "/LONE")),
    ],
    ids=["plain header", "sideband", "one half only", "programmable", "two functions", "two words", "no pair"],
)
def test_what_is_not_clear_stays_open(tmp_path: Path, parts: str) -> None:
    assert families_of(tmp_path, parts) == {}


def test_evidence_goes_through_series_parts(tmp_path: Path) -> None:
    """The far side of a capacitor is what the connector says, and what the name on the near side says."""
    parts = (
        part("J1", "Bus_M.2_Key_M", ("35", "PET1_N", "/A-"), ("37", "PET1_P", "/A+")),
        two_pads("C1", "220n", 30, 10, "/A+", "/B+"),
        two_pads("C2", "220n", 30, 12, "/A-", "/B-"),
        part("U1", "Switch", *pair("/B", ("1", "IN1"), ("2", "IN2")), y_mm=30),
    )

    assert families_of(tmp_path, *parts) == dict.fromkeys(("/A+", "/A-", "/B+", "/B-"), "pcie")


@pytest.mark.parametrize(
    ("value", "pins"),
    [
        ("LAN8720A", ("RXD0", "RXD1")),
        ("LAN8720A", ("TXEN", "TXER")),
        ("KSZ8863MLL", ("SMRXD30", "SMRXD31")),
        ("nRF24L01", ("TXP", "TXN")),
        ("W55000", ("TXP", "TXN")),
    ],
)
def test_other_pins_of_ethernet_controllers_and_other_chips_are_no_cable(
    tmp_path: Path, value: str, pins: tuple[str, str]
) -> None:
    assert families_of(tmp_path, part("U1", value, *pair("/X", ("1", pins[0]), ("2", pins[1])))) == {}


def choke(reference: str, *nets: str) -> str:
    return part(reference, "", *((str(k), "", net) for k, net in enumerate(nets, start=1)), y_mm=30)


@pytest.mark.parametrize(
    ("value", "pins"),
    [
        ("STM32F405RGTx", ("PA9", "PA10")),
        ("STM32F405RGTx", ("PB11", "PB12")),
        ("ESP32-WROOM-32", ("IO19", "IO18")),
        ("ESP32-S3-WROOM-1", ("IO18", "IO17")),
        ("ATSAMD21G18A", ("PA22", "PA23")),
    ],
)
def test_other_pins_of_microcontrollers_are_no_usb(tmp_path: Path, value: str, pins: tuple[str, str]) -> None:
    assert families_of(tmp_path, part("U1", value, *pair("/X", ("1", pins[0]), ("2", pins[1])))) == {}


@pytest.mark.parametrize("nets", [("/CAN_TX", "/CAN_RX"), ("/MOTOR_A", "/MOTOR_B"), ("/LED", "/X-")])
def test_usb_pins_of_a_microcontroller_without_a_pair_say_nothing(tmp_path: Path, nets: tuple[str, str]) -> None:
    pads = ("45", "PA12", nets[0]), ("44", "PA11", nets[1])

    assert families_of(tmp_path, part("U1", "STM32F405RGTx", *pads)) == {}


def test_usb_pins_of_a_microcontroller_contradict_no_name(tmp_path: Path) -> None:
    pads = ("45", "PA12", "/SATA_TX_P"), ("44", "PA11", "/SATA_TX_N")
    _, found = assigned(tmp_path, part("U1", "STM32F405RGTx", *pads))

    assert {role.family for role in found.roles if role} == {"sata"}
    assert found.notes == ()


@pytest.mark.parametrize(
    ("net_class", "nets", "found"),
    [
        ("USB3", ("/SD_1D_P", "/SD_1D_N"), "usb2"),
        ("PCIE", ("/SD_1D_P", "/SD_1D_N"), "pcie"),
        ("USB3", ("/SSTX_P", "/SSTX_N"), "usb3"),
    ],
)
def test_pins_of_usb_2_part_from_a_class_of_usb_3_what_its_name_does_not_claim(
    tmp_path: Path, net_class: str, nets: tuple[str, str], found: str
) -> None:
    """A class for all pairs of a USB 3 socket holds D+ and D- too; PCIe over a USB cable runs on the same pins."""
    ends = part("J1", "USB_A_Stewart", ("3", "D+", nets[0]), ("2", "D-", nets[1]))
    classes = f'[[net_classes]]\nname = "{net_class}"\nnets = ["{nets[0]}", "{nets[1]}"]\n'
    resistors = "".join(two_pads(f"R{k}", "22", 20, 10 * k, net, f"Net-(R{k}-Pad2)") for k, net in enumerate(nets, 1))

    assert set(families_of(tmp_path, ends, resistors, classes).values()) == {found}


@pytest.mark.parametrize(
    ("end", "name", "found"),
    [
        (("Bus_PCI_Express_x1", ("A13", "REFCLK+"), ("A14", "REFCLK-")), "/LINK", "reference-clock"),
        (("Oscillator", ("3", "OUT+"), ("4", "OUT-")), "/PCIE_CLK", "reference-clock"),
        (("Bus_PCI_Express_x1", ("B14", "PETp0"), ("B15", "PETn0")), "/LINK", "pcie"),
        (("Retimer", ("3", "OUT+"), ("4", "OUT-")), "/LINK", "pcie"),
    ],
)
def test_a_net_class_of_pci_express_holds_its_reference_clock_too(
    tmp_path: Path, end: tuple[str, tuple[str, str], tuple[str, str]], name: str, found: str
) -> None:
    """Behind a series capacitor the clock has a name of no meaning, and the class alone made a lane of it."""
    value, first, second = end
    nets = ("Net-(C1-Pad2)", "Net-(C2-Pad2)")
    ends = part("J1", value, (*first, nets[0]), (*second, nets[1]))
    classes = f'[[net_classes]]\nname = "PCIE"\nnets = ["{nets[0]}", "{nets[1]}"]\n'
    near = (f"{name}_P", f"{name}_N")
    capacitors = "".join(two_pads(f"C{k + 1}", "220n", 20, 10 + 10 * k, near[k], nets[k]) for k in (0, 1))

    roles = families_of(tmp_path, ends, capacitors, classes)

    assert {roles[net] for net in nets} == {found}


@pytest.mark.parametrize(("far", "asked"), [("", ()), ("J2", ("pcie",))])
def test_of_pins_that_a_carrier_leaves_open_nothing_is_asked(tmp_path: Path, far: str, asked: tuple[str, ...]) -> None:
    """A module's symbol names all its pins: one pad without copper leads nowhere, whatever its name reads as."""
    pads = (("121", "PCIE_TX_P", "/PCIE_TX_P"), ("123", "PCIE_TX_N", "/PCIE_TX_N"))
    board = mini(tmp_path, part("J1", "Module", *pads) + (part(far, "Socket", *pads, y_mm=30) if far else ""))

    found = assign_nets(board, Config(), {})

    assert [role.family for role in found.roles if role] == ["pcie", "pcie"]
    assert found.families_without_generation() == asked
    assert [line.nets for line in found.taken_as()] == ([2] if far else [])
    assert [line.nets for line in found.taken_as(idle=True)] == ([] if far else [2])


def test_nets_in_use_and_idle_ones_are_each_named_after_one_of_their_own(tmp_path: Path) -> None:
    """Of two ports of a module the carrier uses the second."""
    port = [(str(n), "", f"/HDMI{n // 2}_D{n % 2}_{side}") for n in range(4) for side in "NP"]
    board = mini(tmp_path, part("J1", "Module", *port) + part("J2", "Socket", *port[4:], y_mm=30))

    found = assign_nets(board, Config(), {})

    assert [(line.group, line.nets) for line in found.taken_as()] == [("nets such as /HDMI1_D0_N", 4)]
    assert [(line.group, line.nets) for line in found.taken_as(idle=True)] == [("nets such as /HDMI0_D0_N", 4)]


def socket(*pads: tuple[str, str]) -> str:
    return part("J1", "HX-31-M", *((number, "", net) for number, net in pads))


def test_a_usb_c_socket_is_known_by_the_pads_that_it_ties(tmp_path: Path) -> None:
    """Neither value nor footprint tells it; both rows of D+ and of D- do."""
    found = families_of(tmp_path, socket(("A6", "/X+"), ("B6", "/X+"), ("A7", "/X-"), ("B7", "/X-")))

    assert found == {"/X+": "usb2", "/X-": "usb2"}


@pytest.mark.parametrize(
    "pads",
    [
        (("A6", "/X+"), ("A7", "/X-")),
        (("A6", "/X+"), ("B6", "/Y+"), ("A7", "/X-"), ("B7", "/Y-")),
        (("A6", "/X+"), ("B6", "/X+"), ("A7", "/X+"), ("B7", "/X+"), ("A1", "/X-")),
        (("A6", "/X+"), ("B6", "/X+"), ("A7", "/X-"), ("B7", "/X-"), *((f"C{k}", f"/N{k}") for k in range(40))),
    ],
    ids=["one row", "four nets", "one net", "a chip"],
)
def test_other_parts_with_such_pads_are_no_usb_c(tmp_path: Path, pads: tuple[tuple[str, str], ...]) -> None:
    assert families_of(tmp_path, socket(*pads)) == {}


@pytest.mark.parametrize(
    ("pins", "found"),
    [
        (("I/O1", "I/O2", "I/O1", "I/O2"), True),
        (("IO1", "IO2", "IO1_6", "IO2_4"), True),
        (("I/O1", "I/O2", "I/O3", "I/O4"), False),
        (("A", "K", "A", "K"), False),
    ],
)
def test_evidence_goes_through_a_protection_part(tmp_path: Path, pins: tuple[str, ...], *, found: bool) -> None:
    """USBLC6 gives each line two pins; a part with a pin for each line joins nothing."""
    ends = part("U1", "Logic", ("1", "", "/FAR_P"), ("2", "", "/FAR_N"))
    chip = part("U2", "Hub", ("1", "", "USB_D_P"), ("2", "", "USB_D_N"), y_mm=60)
    nets = zip(pins, ("USB_D_P", "USB_D_N", "/FAR_P", "/FAR_N"), strict=True)
    between = part("D1", "USBLC6-2SC6", *((str(k), pin, net) for k, (pin, net) in enumerate(nets, 1)), y_mm=30)

    read = families_of(tmp_path, ends, chip, between)

    assert (read.get("/FAR_P"), read.get("/FAR_N")) == (("usb2", "usb2") if found else (None, None))


@pytest.mark.parametrize(
    ("filter_", "found"),
    [
        (choke("FL1", "CAM_D0_P", "CAM_D0_N", "/D0_N", "/D0_P"), True),
        (choke("L3", "CAM_D0_P", "CAM_D0_N", "/D0_P", "/D0_N"), True),
        (choke("D3", "CAM_D0_P", "CAM_D0_N", "/D0_P", "/D0_N"), False),
        (choke("FL1", "CAM_D0_P", "CAM_D0_N", "/D0_P", "GND"), False),
    ],
)
def test_evidence_goes_through_common_mode_chokes(tmp_path: Path, filter_: str, *, found: bool) -> None:
    """Four pads on two pairs; an ESD part joins nothing."""
    ends = part("J1", "Conn", *pair("/A", ("1", ""), ("2", "")), ("3", "", "/D0_P"), ("4", "", "/D0_N"))
    chip = part("U1", "Sensor", ("1", "", "CAM_D0_P"), ("2", "", "CAM_D0_N"), y_mm=60)

    nets = families_of(tmp_path, ends, chip, filter_)

    assert (nets.get("/D0_P"), nets.get("/D0_N")) == (("mipi", "mipi") if found else (None, None))


def test_the_name_of_a_transceiver_says_less_than_what_it_is_joined_to(tmp_path: Path) -> None:
    """A bank of programmable logic carries any protocol; alone it is a serial link of unknown kind."""
    banks = ("MGT0_TX+", "MGT0_TX-", "MGT1_TX+", "MGT1_TX-")
    chip = part("U1", "XC7A", *((str(k), "", net) for k, net in enumerate(banks)))
    edge = part("J1", "Bus_PCI_Express_x1", ("A16", "PERp0", "/A+"), ("A17", "PERn0", "/A-"), y_mm=30)
    sma = part("J2", "SMA", ("1", "", "MGT1_TX+"), ("2", "", "MGT1_TX-"), y_mm=60)
    series = "".join(
        two_pads(f"C{k}", "100n", 30, 10 * k, f"MGT0_TX{sign}", f"/A{sign}") for k, sign in enumerate("+-")
    )

    found = families_of(tmp_path, chip, edge, sma, series)

    assert {found[net] for net in ("MGT0_TX+", "MGT0_TX-", "/A+", "/A-")} == {"pcie"}
    assert {found[net] for net in ("MGT1_TX+", "MGT1_TX-")} == {"ethernet-serdes"}


def test_a_sata_connector_decides_what_lane_0_of_m_2_carries(tmp_path: Path) -> None:
    """A symbol may call pin 41 of M.2 by both of its uses: alone it reads as PCI Express."""
    lane = pair("B", ("41", "PET0-/B+"), ("43", "PET0+/B-"))
    assert families_of(tmp_path, part("U2", "NGFF_M", *lane)) == {"B+": "pcie", "B-": "pcie"}

    sata = part("J3", "SATA_SMD", *pair("B", ("2", "Pin_2"), ("3", "Pin_3")), y_mm=30)
    assert families_of(tmp_path, part("U2", "NGFF_M", *lane), sata) == {"B+": "sata", "B-": "sata"}


M2_M = ("5", "7"), ("11", "13"), ("17", "19"), ("23", "25"), ("29", "31"), ("35", "37"), ("41", "43"), ("47", "49")
M2_E = ("35", "37"), ("41", "43"), ("59", "61"), ("65", "67")


@pytest.mark.parametrize(
    ("value", "pads"),
    [*(("Bus_M.2_Socket_Key_M", pads) for pads in M2_M), *(("Bus_M.2_Socket_Key_E", pads) for pads in M2_E)],
)
def test_pads_of_all_lanes_of_m_2_are_known(tmp_path: Path, value: str, pads: tuple[str, str]) -> None:
    """Four lanes of key M and two of key E, on boards without pin names; their rows in the M.2 specification 3.0."""
    assert set(families_of(tmp_path, part("J1", value, *pair("/X", *((pad, "") for pad in pads)))).values()) == {"pcie"}


@pytest.mark.parametrize(
    ("value", "pads"),
    [("Bus_M.2_Socket_Key_M", ("53", "55")), ("Bus_M.2_Socket_Key_E", ("47", "49"))],
)
def test_the_clock_of_m_2_is_no_lane(tmp_path: Path, value: str, pads: tuple[str, str]) -> None:
    found = families_of(tmp_path, part("J1", value, *pair("/X", *((pad, "") for pad in pads))))
    assert set(found.values()) == {"reference-clock"}


def test_a_sata_controller_decides_what_unnamed_pads_of_lane_0_carry(tmp_path: Path) -> None:
    """Pads 41 and 43 of key M are SATA B as well; a name that says SATA is no conflict with them."""
    socket = part("J1", "Bus_M.2_Socket_Key_M", *pair("/X", ("41", ""), ("43", "")))
    source = part("U1", "Hub", *pair("/X", ("1", "SATA_RX_P"), ("2", "SATA_RX_N")), y_mm=30)
    assert set(families_of(tmp_path, socket, source).values()) == {"sata"}

    _, found = assigned(
        tmp_path, part("J1", "Bus_M.2_Socket_Key_M", ("41", "", "/SATA_RX_P"), ("43", "", "/SATA_RX_N"))
    )
    assert found.notes == ()


def test_cnvi_on_the_pads_of_lane_1_of_key_e_is_no_conflict(tmp_path: Path) -> None:
    """They have that other use: a class that says another family stays without a note."""
    _, found = assigned(
        tmp_path, part("J1", "Bus_M.2_Socket_Key_E", ("59", "", "/HDMI_D0_P"), ("61", "", "/HDMI_D0_N"))
    )
    assert found.notes == ()


def test_a_chip_decides_between_what_a_connector_may_carry(tmp_path: Path) -> None:
    socket = part("J1", "USB_C_Receptacle", *pair("/X", ("A2", "TX1+"), ("A3", "TX1-")))
    source = part("U1", "GPU", *pair("/X", ("1", "DP_ML0_P"), ("2", "DP_ML0_N")), y_mm=30)

    assert families_of(tmp_path, socket, source) == {"/X+": "displayport", "/X-": "displayport"}


def test_as_much_on_both_sides_decides_nothing(tmp_path: Path) -> None:
    one = part("U1", "GPU", *pair("/X", ("1", "HDMI_D0_P"), ("2", "HDMI_D0_N")))
    other = part("U2", "Hub", *pair("/X", ("1", "SATA_TX_P"), ("2", "SATA_TX_N")), y_mm=30)

    assert families_of(tmp_path, one, other) == {}


def test_a_name_stays_and_the_conflict_is_told(tmp_path: Path) -> None:
    pads = ("1", "D2+", "/SATA_TX_P"), ("3", "D2-", "/SATA_TX_N")
    board, found = assigned(tmp_path, part("J1", "HDMI_A", *pads))

    roles = {net: role.family for net, role in zip(board.nets, found.roles, strict=True) if role}
    assert roles == {"/SATA_TX_P": "sata", "/SATA_TX_N": "sata"}
    assert len(found.notes) == 1
    assert found.notes[0].endswith("is assigned to SATA, but pins of J1 (HDMI connector) read as HDMI")


def test_memory_pins_tell_single_nets_but_no_rails(tmp_path: Path) -> None:
    pads = ("A1", "DQ0", "/D00"), ("A2", "A10/AP", "/RAM10"), ("A3", "VDDQ", "/V"), ("A4", "A3", "GND")

    assert families_of(tmp_path, part("U1", "MT41K256M16TW", *pads)) == {"/D00": "ddr", "/RAM10": "ddr"}


@pytest.mark.parametrize("row", known_parts(), ids=lambda row: row.title)
def test_every_part_names_families_and_its_source(row: object) -> None:
    known = next(one for one in known_parts() if one is row)

    assert known.source
    for group in known.pins:
        assert all(family(one).id == one for one in (group.family, *group.also))
        assert group.family not in interface_ids() or family(group.family)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Connector_USB:USB_C_Receptacle_GCT_USB4105", "USB-C connector"),
        ("CM5IO:USB-C-SMD_TYPEC-305-ACP16H458", "USB-C connector"),
        ("Connector_USB:USB_Micro-B_Molex-105017-0001", "USB connector"),
        ("CM5IO:M.2 M Key socket 2230", "M.2 connector, key M"),
        ("lib:Bus_M.2_Socket_Key_E_TE_2199230-6", "M.2 connector, key E"),
        ("Connector_PCBEdge:BUS_PCIexpress_x1", "PCI Express connector"),
        ("lib:CONN_QSFP+_TE_2110819-1", "QSFP or OSFP cage"),
        ("lib:CONN_SFP+_AMPHENOL_UE76", "SFP cage"),
        ("CM5IO:EDAC 690-019-298-412", "HDMI connector, type A"),
        ("Package_TO_SOT_SMD:SOT-23-6", ""),
        ("Package_QFP:LQFP-48", ""),
        ("Connector_PinHeader_2.54mm:PinHeader_2x20", ""),
    ],
)
def test_parts_are_known_by_their_footprints(text: str, title: str) -> None:
    found = known_part(text, "")

    assert (found.title if found else "") == title


@pytest.mark.parametrize(
    ("value", "is_slot"),
    [
        ("PCIE-064-02-F-D-EMS2", True),
        ("Bus_PCI_Express_x16", True),
        ("PCIEX1", True),
        ("OCuLink PCIe x4", False),
        ("MCIO_74P", False),
        ("MPCIE-Socket", False),
        ("Bus_M.2_Socket_Key_M", False),
        ("PCIE_CONN", False),  # of which size it does not say: it may be any
    ],
)
def test_slots_for_cards_are_told_from_cables_and_modules(value: str, is_slot: bool) -> None:
    found = known_part("", value)
    assert found is not None
    assert found.for_cards is is_slot


@pytest.mark.parametrize("value", ["USB4085", "TUSB4041", "USB41055", "USB4604"])
def test_a_socket_s_number_is_a_whole_word_of_its_series(tmp_path: Path, value: str) -> None:
    """USB4085 is a socket; a hub, a longer number and one of another series are none."""
    found = families_of(tmp_path, part("J1", value, *pair("/X", ("A6", ""), ("A7", ""))))
    assert bool(found) is (value == "USB4085")


@pytest.mark.parametrize(
    ("value", "pads", "found"),
    [
        ("PCIe_x4_Conn_EdgeMount", ("A16", "A17"), "pcie"),
        ("PCIE-064-02-F-D-EMS2", ("B27", "B28"), "pcie"),
        ("BUS_PCIexpress_x16", ("B78", "B79"), "pcie"),
        ("PCIEX1", ("A13", "A14"), "reference-clock"),
        ("MPCIE-Socket", ("13", "11"), "reference-clock"),
        ("MPCIE-Socket", ("3", "5"), None),
        ("OCuLink PCIe x4", ("23", "25"), None),
        ("SATA_SMD", ("1", "4"), None),
        ("MSATA", ("2", "3"), None),
        ("SATA_POWER_15P", ("2", "3"), None),
        ("105017-1234", ("3", "2"), None),
        ("PCIEX1", ("A10", "A11"), None),
        ("OCuLink PCIe x4", ("A16", "A17"), None),
        ("Mini_PCIe_x1", ("A16", "A17"), None),
        ("PCIe switch", ("A16", "A17"), None),
    ],
)
def test_pads_of_a_slot_tell_its_lanes(tmp_path: Path, value: str, pads: tuple[str, str], found: str | None) -> None:
    """Boards of KiCad 5 name no pins, and some symbols name them by their pads; other sockets have other pads."""
    for names in (("", ""), pads):
        halves = ((pads[0], names[0]), (pads[1], names[1]))
        expected = {"/X+": found, "/X-": found} if found else {}
        assert families_of(tmp_path, part("J1", value, *pair("/X", *halves))) == expected


@pytest.mark.parametrize(
    ("value", "pads"),
    [
        ("ASP-134486-01", ("C2", "C3")),
        ("ASP-134486-01", ("H4", "H5")),
        ("ASP-134486-01", ("K40", "J39")),
        ("ASP-184329-01", ("G6", "G7")),
        ("FMC-1608", ("G6", "G7")),
    ],
)
def test_other_pins_and_other_parts_are_no_user_pins_of_fmc(tmp_path: Path, value: str, pads: tuple[str, str]) -> None:
    """Multi-gigabit lanes, clocks and supplies; connectors of other standards."""
    for names in (("", ""), pads):
        halves = ((pads[0], names[0]), (pads[1], names[1]))
        assert families_of(tmp_path, part("J1", value, *pair("/X", *halves))) == {}


def test_pins_for_any_use_say_less_than_a_chip_and_contradict_no_name(tmp_path: Path) -> None:
    """USB through FMC is USB, by name and by the pins of the chip, and no note says otherwise."""
    connector = part(
        "J1",
        "ASP-134486-01",
        *pair("/X", ("G6", ""), ("G7", "")),
        *pair("/USB_D", ("H7", ""), ("H8", "")),
    )
    chip = part("U1", "GL852G", *pair("/X", ("31", "USBDP_UP"), ("30", "USBDM_UP")), y_mm=30.0)
    _, found = assigned(tmp_path, connector, chip)

    assert {role.family for role in found.roles if role} == {"usb2"}
    assert not any("FMC" in note for note in found.notes)


def test_all_user_pins_of_fmc_are_there_once() -> None:
    """34 pairs in LA, 24 in HA, 22 in HB; LPC has the rows C, D, G and H."""
    (connector,) = (one for one in known_parts() if one.title == "FMC connector")
    numbers = connector.pins[0].numbers

    assert len(set(numbers)) == len(numbers) == 2 * (34 + 24 + 22)
    assert sum(number[0] in "CDGH" for number in numbers) == 2 * 34
