"""The generation of a memory bus whose names do not tell it, from the memories on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.net_interfaces import NetRole, assign_nets
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.parts import known_parts
from drc_rules.settings.config import Config, InterfaceDeclaration
from stackup_lib.core.facts import Confidence
from tests.support.small_boards.linked import mini, part, two_pads

BUS = (("A1", "", "/RAM/DQ0"), ("A2", "", "/RAM/DQS0_P"), ("A3", "", "/RAM/DQS0_N"))


def roles_of(folder: Path, *parts: str, config: Config | None = None) -> dict[str, NetRole]:
    board = mini(folder, "".join(parts))
    found = assign_nets(board, config or Config(), {})
    return {net: role for net, role in zip(board.nets, found.roles, strict=True) if role}


def told_by(folder: Path, *memories: str) -> set[str | None]:
    """Generations of a bus between a processor and memories of these values."""
    parts = (part(f"U{k}", value, *BUS, y_mm=10 + 8 * k) for k, value in enumerate(("STM32MP151", *memories)))
    return {role.interface for role in roles_of(folder, *parts).values()}


@pytest.mark.parametrize(
    ("value", "generation"),
    [
        ("MT41K256M16TW-107", "ddr3"),
        ("K4B4G1646E-BYMA", "ddr3"),
        ("IS43TR16256B-125KBL", "ddr3"),
        ("W631GG6NB-12", "ddr3"),
        ("MT40A512M16LY-062E", "ddr4"),
        ("K4AAG165WA-BCWE", "ddr4"),
        ("MT60B2G8HB-48B", "ddr5"),
        ("MT52L256M32D1PF", "lpddr3"),
        ("mt53e512m32d1zw-046", "lpddr4"),
        ("MT62F1G32D2DS-023", "lpddr5"),
        ("DDR3L 256Mx16", "ddr3"),
        ("LPDDR4_200ball", "lpddr4"),
    ],
)
def test_a_memory_s_part_number_tells_its_generation(tmp_path: Path, value: str, generation: str) -> None:
    assert told_by(tmp_path, value) == {generation}


@pytest.mark.parametrize(
    "memories",
    [
        ("RAM",),
        ("K4E6E304EB",),
        ("MT46H64M32LF",),
        ("XMT41K256M16",),
        ("MT41K256M16TW", "MT40A512M16LY"),
    ],
    ids=["no number", "a number of two generations", "of another family", "part of a word", "two that differ"],
)
def test_what_tells_no_generation_leaves_it_open(tmp_path: Path, memories: tuple[str, ...]) -> None:
    assert told_by(tmp_path, *memories) == {None}


def test_it_stays_a_guess_that_says_what_it_rests_on(tmp_path: Path) -> None:
    role = roles_of(tmp_path, part("U1", "SoC", *BUS), part("U2", "MT41K64M16TW", *BUS, y_mm=30))["/RAM/DQ0"]

    assert role.confidence is Confidence.LOW
    assert role.why.endswith("; MT41K64M16TW reads as DDR3-1600")


def test_what_is_declared_or_spelled_out_is_not_overruled(tmp_path: Path) -> None:
    """A sheet that spells DDR4 out, and a declaration that leaves the generation open."""
    named = tuple((pad, pin, net.replace("/RAM/", "/DDR4/")) for pad, pin, net in BUS)
    spelled = roles_of(tmp_path, part("U1", "SoC", *named), part("U2", "MT41K64M16TW", *named, y_mm=30))
    is_open = InterfaceDeclaration.model_validate({"is": "ddr", "nets": ["/RAM/*"]})
    parts = part("U1", "SoC", *BUS), part("U2", "MT41K64M16TW", *BUS, y_mm=30)

    assert {role.interface for role in spelled.values()} == {"ddr4"}
    declared = roles_of(tmp_path, *parts, config=Config(interface=(is_open,)))
    assert {role.interface for role in declared.values()} == {None}


def test_a_memory_tells_nothing_of_another_family(tmp_path: Path) -> None:
    pads = ("1", "", "/USB_D_P"), ("2", "", "/USB_D_N")

    roles = roles_of(tmp_path, part("U1", "MT41K64M16TW", *pads), part("J1", "Header", *pads, y_mm=30))

    assert {role.family for role in roles.values()} == {"usb2"}


def test_a_net_behind_a_series_part_is_of_the_generation_of_its_link(tmp_path: Path) -> None:
    """The camera's name spells D-PHY out, what lies behind the resistors has no telling name."""
    near, far = ("/CAM_D0_P", "/CAM_D0_N"), ("/D0_P", "/D0_N")
    parts = (
        part("J1", "FFC", ("1", "", near[0]), ("2", "", near[1])),
        *(two_pads(f"R{k}", "0R", 30, 10 + 2 * k, near[k], far[k]) for k in (0, 1)),
        part("U1", "IMX585", ("1", "", far[0]), ("2", "", far[1]), y_mm=30),
    )

    roles = roles_of(tmp_path, *parts)

    assert {net: role.interface for net, role in roles.items()} == dict.fromkeys((*near, *far), "mipi-dphy")
    assert roles[far[0]].why.endswith("; MIPI D-PHY as the rest of the link")


def test_every_generation_is_an_interface_of_the_part_s_family() -> None:
    for known in known_parts():
        for generation, _ in known.generations:
            assert interface(generation).family == known.pins[0].family
