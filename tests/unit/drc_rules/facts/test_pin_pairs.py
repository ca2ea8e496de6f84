"""Pairs of nets that KiCad named after pins: told by the pins of a part, and left alone where they lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.facts.pin_pairs import links_without_fills
from drc_rules.settings.config import Config
from tests.support.small_boards.linked import mini, part, two_pads

Part = tuple[str, str, tuple[str, str]]
"""Reference, value, names of two pins."""


def pairs_of(folder: Path, *parts: str) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Name of each pair -> its nets, and net -> family of each net that has one."""
    board = mini(folder, "".join(parts))
    pairs = links_without_fills(board).pairs
    nets = zip(pairs.positive.tolist(), pairs.negative.tolist(), strict=True)
    found = {name: (board.nets[one], board.nets[other]) for name, (one, other) in zip(pairs.name, nets, strict=True)}
    roles = assign_nets(board, Config(), {}).roles
    return found, {net: role.family for net, role in zip(board.nets, roles, strict=True) if role}


def ends(reference: str, value: str, pins: tuple[str, str], *nets: str, y_mm: float = 10.0) -> str:
    """A part with two pins on two nets."""
    return part(reference, value, ("1", pins[0], nets[0]), ("2", pins[1], nets[1]), y_mm=y_mm)


def hub(*nets: str) -> str:
    return ends("U3", "USB2514B_Bi", ("USBDP_DN3/PRT_DIS_P3", "USBDM_DN3/PRT_DIS_M3"), *nets, y_mm=30)


USB = ("Net-(P1-D+)", "Net-(P1-D-)")
HDMI = ("Net-(J1-D2+)", "Net-(J1-D2-)")
PADS = ("Net-(J1-Pad1)", "Net-(J1-Pad2)")


@pytest.mark.parametrize(
    ("near", "far", "nets", "told"),
    [
        (("P1", "USB_A", ("D+", "D-")), ("U1", "MCU", ("PA1", "PA2")), USB, ("P1-D", "usb2")),
        (("P1", "USB_C_Receptacle", ("DP1", "DN1")), ("U1", "MCU", ("1", "2")), USB, ("P1-D1", "usb2")),
        (("J1", "HDMI_A", ("D2+", "D2-")), ("U1", "GPU", ("1", "2")), HDMI, ("J1-D2", "hdmi")),
        (("J1", "Jack", ("1", "2")), ("U2", "HUB", ("USBDP_UP", "USBDM_UP")), PADS, ("U2-USBD_UP", "usb2")),
    ],
)
def test_the_pins_of_a_part_tell_a_pair(
    tmp_path: Path, near: Part, far: Part, nets: tuple[str, str], told: tuple[str, str]
) -> None:
    name, family = told
    found, families = pairs_of(tmp_path, ends(*near, *nets), ends(*far, *nets, y_mm=30))

    assert found == {name: nets}
    assert families == dict.fromkeys(nets, family)


def test_both_sides_of_series_resistors_are_pairs(tmp_path: Path) -> None:
    far = ("Net-(U3-USBDP_DN3{slash}PRT_DIS_P3)", "Net-(U3-USBDM_DN3{slash}PRT_DIS_M3)")
    resistors = two_pads("R1", "22", 20, 10, USB[0], far[0]) + two_pads("R2", "22", 20, 12, USB[1], far[1])

    found, families = pairs_of(tmp_path, ends("P1", "USB_A", ("D+", "D-"), *USB), resistors, hub(*far))

    assert set(found.values()) == {USB, far}
    assert families == dict.fromkeys((*USB, *far), "usb2")


LANE = ("/PCIE_TX0_P", "/PCIE_TX0_N")
BEHIND = ("Net-(J1-Pad3)", "Net-(J1-Pad4)")


def capacitors(near: tuple[str, str], far: tuple[str, str]) -> str:
    return two_pads("C1", "220n", 20, 10, near[0], far[0]) + two_pads("C2", "220n", 20, 12, near[1], far[1])


def test_nets_behind_the_series_parts_of_a_pair_are_one(tmp_path: Path) -> None:
    near, far = ends("U1", "GPU", ("1", "2"), *LANE), ends("J1", "Slot", ("3", "4"), *BEHIND, y_mm=30)

    found, families = pairs_of(tmp_path, near, capacitors(LANE, BEHIND), far)

    assert found == {"/PCIE_TX0": LANE, "/PCIE_TX0 behind C1": BEHIND}
    assert families == dict.fromkeys((*LANE, *BEHIND), "pcie")


@pytest.mark.parametrize(
    "far",
    [
        ends("J1", "Slot", ("3", "4"), BEHIND[0], "/OTHER", y_mm=30)
        + part("J2", "Slot", ("4", "4", BEHIND[1]), y_mm=40),
        part("J1", "Slot", ("3", "3", BEHIND[0]), y_mm=30),
    ],
)
def test_nets_that_lead_to_different_parts_are_none(tmp_path: Path, far: str) -> None:
    near = ends("U1", "GPU", ("1", "2"), *LANE)

    found, _ = pairs_of(tmp_path, near, capacitors(LANE, BEHIND), far)

    assert found == {"/PCIE_TX0": LANE}


def test_one_trace_with_a_part_makes_no_pair_behind_it(tmp_path: Path) -> None:
    near, far = ends("U1", "GPU", ("1", "2"), *LANE), ends("J1", "Slot", ("3", "4"), BEHIND[0], LANE[1], y_mm=30)

    found, _ = pairs_of(tmp_path, near, two_pads("C1", "220n", 20, 10, LANE[0], BEHIND[0]), far)

    assert found == {"/PCIE_TX0": LANE}


def resistors_to(rail: str, *nets: str) -> str:
    return "".join(two_pads(f"R{k}", "0", 20, 10 + k, net, rail) for k, net in enumerate(nets, start=1))


TWICE = ("Net-(P1-D+-PadA6)", "Net-(P1-D+-PadB6)")
OPEN = ("Net-(U3-DP3)", "Net-(U3-DM3)")


@pytest.mark.parametrize(
    "parts",
    [
        hub(*OPEN) + resistors_to("GND", *OPEN),
        hub(*OPEN) + resistors_to("+3V3", *OPEN),
        hub(*OPEN),
        ends("P1", "USB_A", ("D+", "D-"), *USB) + part("U1", "MCU", ("1", "1", USB[0]), y_mm=30),
        ends("P1", "USB_A", ("D+", "D-"), *USB) + ends("U1", "MCU", ("1", "2"), USB[0], "/OTHER", y_mm=30),
        ends("U1", "OPA2356", ("IN+", "IN-"), "Net-(U1-IN+)", "Net-(U1-IN-)")
        + ends("U2", "DAC", ("1", "2"), "Net-(U1-IN+)", "Net-(U1-IN-)", y_mm=30),
        ends("U1", "TMP411", ("D+", "D-"), "Net-(U1-D+)", "Net-(U1-D-)")
        + ends("U2", "ASIC", ("1", "2"), "Net-(U1-D+)", "Net-(U1-D-)", y_mm=30),
        ends("U1", "TJA1051", ("CANH", "CANL"), "Net-(U1-CANH)", "Net-(U1-CANL)")
        + ends("J1", "CAN", ("1", "2"), "Net-(U1-CANH)", "Net-(U1-CANL)", y_mm=30),
        part("P1", "USB_C", ("A6", "D+", TWICE[0]), ("B6", "D+", TWICE[1]), ("A7", "D-", USB[1]))
        + part("U1", "MCU", ("1", "", TWICE[0]), ("2", "", TWICE[1]), ("3", "", USB[1]), y_mm=30),
    ],
    ids=["ground", "supply", "open", "one_open", "parting", "amplifier", "thermal_diode", "slow_bus", "one_pin_twice"],
)
def test_what_only_looks_like_a_pair_is_none(tmp_path: Path, parts: str) -> None:
    found, families = pairs_of(tmp_path, parts)

    assert found == {}
    assert "usb2" not in families.values()


def test_parts_that_disagree_tell_nothing(tmp_path: Path) -> None:
    three = ("Net-(A)", "Net-(B)", "Net-(C)")
    first = part("P1", "USB_A", ("1", "D+", three[0]), ("2", "D-", three[1]))
    second = part("P2", "USB_A", ("1", "D+", three[0]), ("2", "D-", three[2]), y_mm=30)

    assert pairs_of(tmp_path, first, second)[0] == {}


def test_a_reversible_socket_has_each_pin_twice(tmp_path: Path) -> None:
    pins = (("A6", "D+", USB[0]), ("B6", "D+", USB[0]), ("A7", "D-", USB[1]), ("B7", "D-", USB[1]))

    found, _ = pairs_of(tmp_path, part("P1", "USB_C", *pins), ends("U1", "MCU", ("1", "2"), *USB, y_mm=30))

    assert found == {"P1-D": USB}
