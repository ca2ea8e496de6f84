"""Nets joined through the resistors of an array."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackup_lib.nets.links import Links, PadRole, find_links
from stackup_lib.nets.resistor_arrays import element_value
from stackup_lib.nets.two_pin_parts import resistance_ohm
from tests.support.small_boards.linked import chip, mini, names

INNER, OUTER = ("A0", "A1", "A2", "A3"), ("B0", "B1", "B2", "B3")


def array(value: str, nets: tuple[str, ...], *, in_a_row: bool = False) -> str:
    """RN1, its pads numbered around it as those of an IC; 1 mm from each pad to the one that faces it."""
    half = len(nets) // 2
    places = [(0, k) for k in range(half)] + [(1, half - 1 - k) for k in range(half)]
    if in_a_row:
        places = [(0, k) for k in range(len(nets))]
    pads = ", ".join(
        f'{{ number = "{k + 1}", net = "{net}", at_mm = [{x}, {y}], size_mm = [0.3, 0.3] }}'
        for k, (net, (x, y)) in enumerate(zip(nets, places, strict=True))
    )
    return f'[[parts]]\nreference = "RN1"\nvalue = "{value}"\nat_mm = [20, 10]\npads = [{pads}]\n'


def links_of(folder: Path, text: str) -> Links:
    return find_links(mini(folder, chip("U1", 10, *INNER) + chip("U2", 40, *OUTER) + text))


@pytest.mark.parametrize("value", ["22R", "4x22R", "22R x4"])
def test_each_resistor_of_an_array_joins_the_nets_that_face_each_other(tmp_path: Path, value: str) -> None:
    links = links_of(tmp_path, array(value, (*INNER, *reversed(OUTER))))

    joined = {tuple(names(links, links.link(row))) for row in range(len(links))}
    assert joined == {(a, "RN1", b) for a, b in zip(INNER, OUTER, strict=True)}
    assert all(len(links.link(row).ends) == 2 for row in range(len(links)))


@pytest.mark.parametrize("value", ["10k", "4x10k"])
def test_large_ones_join_nothing_and_are_no_end(tmp_path: Path, value: str) -> None:
    links = links_of(tmp_path, array(value, (*INNER, *reversed(OUTER))))

    assert all(len(links.link(row).nets) == 1 for row in range(len(links)))
    (link,) = links.of(links.board.net_index["A0"])
    assert [pad.reference for pad in link.ends] == ["U1"]
    assert [pad.role for pad in link.taps] == [PadRole.SHUNT]


def test_an_array_may_pull_one_net_and_join_others(tmp_path: Path) -> None:
    links = links_of(tmp_path, array("33R", (*INNER, *reversed(OUTER[:3]), "GND")))

    board = links.board
    assert len(links.of(board.net_index["A0"])[0].nets) == 1
    assert [pad.role for pad in links.pads_of(board.net_index["A0"])] == [PadRole.SHUNT, PadRole.END]
    assert len(links.of(board.net_index["A1"])[0].nets) == 2
    assert [pad.role for pad in links.pads_of(board.net_index["A1"])] == [PadRole.SERIES, PadRole.END]


@pytest.mark.parametrize(
    ("value", "in_a_row"), [("CAY16", False), ("22R", True)], ids=["no value", "pads in one row, as of a common pin"]
)
def test_what_is_not_surely_single_resistors_stays_an_end(tmp_path: Path, value: str, *, in_a_row: bool) -> None:
    links = links_of(tmp_path, array(value, (*INNER, *reversed(OUTER)), in_a_row=in_a_row))

    (link,) = links.of(links.board.net_index["A0"])
    assert {pad.reference for pad in link.ends} == {"U1", "RN1"}


@pytest.mark.parametrize(
    ("value", "ohm"),
    [("4x22R", 22), ("22Rx4", 22), ("33 x4", 33), ("22R 4x0402", 22), ("22", 22), ("R_4x0603_22R", 22)],
)
def test_the_value_of_one_resistor(value: str, ohm: float) -> None:
    assert resistance_ohm(element_value(value)) == ohm
