"""Impedance targets: what names say, what they do not say, and who wins."""

from __future__ import annotations

import pytest

from drc_rules.targets import target_of_name


@pytest.mark.parametrize(
    ("name", "ohm", "kind"),
    [
        ("85Ohm-diff_PCIE", 85, "differential"),
        ("90Ohm-diff_USB_2.0", 90, "differential"),
        ("50Ohm", 50, None),
        ("50ohm_SE", 50, "single"),
        ("100_OHM_DIFF", 100, "differential"),
        ("DIFF90", 90, "differential"),
        ("Diff_100", 100, "differential"),
        ("SE50", 50, "single"),
        ("Z50", 50, None),
        ("Z0_50", 50, None),
        ("ZDIFF100", 100, "differential"),
        ("USB_90R", 90, None),
        ("50R", 50, None),
        ("DDR4_40R_SE", 40, "single"),
        ("92.5ohm diff", 92.5, "differential"),
        ("100Ω DP", 100, "differential"),
        ("HDMI-100-DIFF", 100, "differential"),
    ],
)
def test_a_class_named_after_its_impedance_says_it(name: str, ohm: float, kind: str | None) -> None:
    """Forms seen on boards; the kind only where the name says it."""
    found = target_of_name(name)

    assert found is not None
    assert (found.ohm, found.kind) == (ohm, kind)


@pytest.mark.parametrize(
    "name",
    ["R100", "5V0", "GND_100", "D90", "100MHz", "CLK_100M", "DDR4_3200", "PCIE_GEN5", "Default", "10OHM", "1000Ohm",
     "USB2", "50OHM_85OHM", "SE50_DIFF100", "POWER_24V", "ETH100", "A50", "MIPI100", "0R", "R50X", "50RX", "100BASE"],
)  # fmt: skip
def test_other_numbers_in_names_are_no_impedances(name: str) -> None:
    """Resistors, voltages, frequencies, rates, and names that contradict themselves."""
    assert target_of_name(name) is None
