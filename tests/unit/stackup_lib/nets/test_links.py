"""Links from end to end: what joins nets and what does not, and how each net is routed."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from stackup_lib.nets.chokes import unread_filters
from stackup_lib.nets.links import Link, Links, PadRole, find_links, route_of
from stackup_lib.nets.power_nets import reads_as_supply
from stackup_lib.nets.routing.routes import BranchKind, Route
from stackup_lib.nets.two_pin_parts import PartKind, kind_of, refusal, resistance_ohm
from tests.conftest import KicadCli
from tests.support.small_boards.linked import PCIE5, chip, mini, names, track, two_pads, via


def is_complete(route: Route) -> bool:
    """True when tracks and vias join every pad of the net."""
    return route.start_pad is not None and not route.unreached_pads


def only(links: Links, net: str) -> Link:
    (link,) = links.of(links.board.net_index[net])
    return link


def test_coupling_capacitors_join_both_nets_of_a_pair(tmp_path: Path) -> None:
    """A PCIe lane: chip, 20 mm, capacitor, 29 mm with 10 of them on an inner layer, connector."""
    links = find_links(mini(tmp_path, PCIE5))
    positive, negative = only(links, "/TX_P"), only(links, "/TX_N")

    assert names(links, positive) == ["/TX_P", "C1", "/TXC_P"]
    assert names(links, negative) == ["/TX_N", "C2", "/TXC_N"]
    assert links.complement_of(positive) == negative
    assert links.complement_of(negative) == positive
    assert [pad.name for pad in positive.ends] == ["U1.1", "J1.1"]
    assert positive.taps == ()
    assert positive.notes == ()
    assert positive.via_count == 2
    assert positive.length_mm_by_layer == pytest.approx({0: 39.0, 2: 10.0})
    assert positive.parts[0][0].kind is PartKind.CAPACITOR
    assert positive.parts[0][0].value == "220n"


CHOKE = (
    chip("U1", 10, "/TX_P", "/TX_N")
    + chip("J1", 60, "/CON_P", "/CON_N")
    + track("/TX_P", (10, 10), (30, 10))
    + track("/TX_N", (10, 11), (30, 11))
    + track("/CON_P", (31, 10), (60, 10))
    + track("/CON_N", (31, 11), (60, 11))
)


def filtered(reference: str, *nets: str) -> str:
    """A part with pads in two columns 1 mm apart at (30, 10), row by row."""
    pads = ", ".join(
        f'{{ number = "{k + 1}", net = "{net}", at_mm = [{k % 2}, {k // 2}], size_mm = [0.3, 0.3] }}'
        for k, net in enumerate(nets)
    )
    return f'[[parts]]\nreference = "{reference}"\nvalue = "900"\nat_mm = [30, 10]\npads = [{pads}]\n'


@pytest.mark.parametrize("more", [(), ("GND", "GND")], ids=["four pads", "and two on ground"])
def test_a_link_goes_on_through_a_common_mode_choke(tmp_path: Path, more: tuple[str, ...]) -> None:
    """20 mm and 29 mm are one link of 49 mm, with the pads of each line on its own net."""
    links = find_links(mini(tmp_path, CHOKE + filtered("L1", "/TX_P", "/CON_P", "/TX_N", "/CON_N", *more)))
    positive, negative = only(links, "/TX_P"), only(links, "/CON_N")

    assert names(links, positive) == ["/TX_P", "L1", "/CON_P"]
    assert names(links, negative) == ["/TX_N", "L1", "/CON_N"]
    assert links.complement_of(positive) == negative
    assert [pad.name for pad in positive.ends] == ["U1.1", "J1.1"]
    assert sum(route.path_length_mm for route in links.routes(positive)) == pytest.approx(49)
    assert positive.parts[0][0].kind is PartKind.CHOKE
    assert unread_filters(links.board, links.pairs, links.rails.grounds) == frozenset()


@pytest.mark.parametrize(
    ("reference", "nets", "is_unread"),
    [
        ("L1", ("/TX_P", "/CON_P", "/TX_N", "/CON_N", "/X_P", "/Y_P", "/X_N", "/Y_N"), True),
        ("L1", ("/TX_P", "/CON_P", "/TX_N", "/CON_N", "/ENABLE"), True),
        ("D1", ("/TX_P", "/CON_P", "/TX_N", "/CON_N"), False),
        ("T1", ("/TX_P", "/CON_P", "/TX_N", "/CON_N", "/TAP"), False),
        ("U5", ("/TX_P", "/CON_P", "/TX_N", "/CON_N"), False),
    ],
)
def test_a_filter_of_unknown_pins_ends_a_link_and_is_told(
    tmp_path: Path, reference: str, nets: tuple[str, ...], is_unread: bool
) -> None:
    """Two chokes in one package, or a pad on another signal; a chip, a diode and a transformer are ends."""
    links = find_links(mini(tmp_path, CHOKE + filtered(reference, *nets)))

    assert names(links, only(links, "/TX_P")) == ["/TX_P"]
    unread = unread_filters(links.board, links.pairs, links.rails.grounds)
    assert [str(links.board.footprints.reference[part]) for part in unread] == ([reference] if is_unread else [])


def test_a_links_routes_run_from_end_to_part_to_end(tmp_path: Path) -> None:
    """Pieces in order with layer and width, vias with the layers that the signal enters and leaves on."""
    board = mini(tmp_path, PCIE5)
    links = find_links(board)
    near, far = links.routes(only(links, "/TX_P"))

    assert near.path_length_mm == pytest.approx(20.0)
    assert [(p.layer, p.width_mm, round(p.length_mm, 6)) for p in far.pieces] == [
        (0, 0.15, 9.0),
        (2, 0.15, 10.0),
        (0, 0.15, 10.0),
    ]
    assert [(c.entry_layer, c.exit_layer, round(c.at_mm, 6)) for c in far.crossings] == [(0, 2, 9.0), (2, 0, 19.0)]
    assert far.start_pad is not None
    assert far.end_pad is not None
    assert board.pads.number[far.start_pad] == "2"
    assert board.footprints.reference[board.pads.footprint[far.end_pad]] == "J1"
    assert is_complete(far)
    assert far.branches == ()


@pytest.mark.parametrize(
    ("reference", "value", "joins"),
    [
        ("R1", "33R", True),
        ("R1", "0", True),
        ("R1", "R_27R_0402", True),
        ("R1", "150 ohm", True),
        ("R1", "4k7", False),
        ("R1", "200", False),
        ("R1", "R_Small", False),
        ("R1", "0R DNP", False),
        ("C1", "100n", True),
        ("C1", "C_Small", True),
        ("C1", "2.2pF", False),
        ("C1", "100nF DNP", False),
        ("FB1", "600R@100MHz", False),
        ("L1", "10uH", False),
        ("L1", "0R", True),
        ("D1", "BAT54", False),
        ("SW1", "", False),
    ],
)
def test_what_a_part_is_and_says_decides_whether_it_joins(
    tmp_path: Path, reference: str, value: str, *, joins: bool
) -> None:
    """Between two signals a capacitor couples and a small resistor terminates; all else ends or hangs on the net."""
    text = chip("U1", 10, "/A") + two_pads(reference, value, 20, 10, "/A", "/B") + chip("U2", 30, "/B")
    links = find_links(mini(tmp_path, text))

    expected = ["/A", reference, "/B"] if joins else ["/A"]
    assert names(links, only(links, "/A")) == expected
    refused = links.refused(links.board.net_index["/A"])
    assert [part.reference for part in refused] == ([] if joins else [reference])
    assert all(part.why for part in refused)


@pytest.mark.parametrize(
    ("first", "second", "joins"),
    [
        (("U5", "EMI"), ("U6", "EMI"), True),
        (("JP5", ""), ("JP6", ""), True),
        (("U5", "EMI"), ("U6", "ESD"), False),
        (("U5", "EMI"), ("FL6", "EMI"), False),
        (("J5", ""), ("J6", ""), False),
        (("D5", "EMI"), ("D6", "EMI"), False),
        (("R5", "4k7"), ("R6", "4k7"), False),
    ],
)
def test_two_parts_alike_in_both_traces_of_a_pair_join(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], *, joins: bool
) -> None:
    """Whatever they are, the lane goes through them; connectors, diodes and large resistors end it or hang on it."""
    parts = two_pads(*first, 20, 10, "/A_P", "/B1") + two_pads(*second, 20, 15, "/A_N", "/B2")
    links = find_links(mini(tmp_path, chip("U1", 10, "/A_P", "/A_N") + parts + chip("U2", 30, "/B1", "/B2")))

    expected = [["/A_P", first[0], "/B1"], ["/A_N", second[0], "/B2"]] if joins else [["/A_P"], ["/A_N"]]
    assert [names(links, only(links, net)) for net in ("/A_P", "/A_N")] == expected


@pytest.mark.parametrize("is_tie", [True, False])
def test_a_part_whose_pads_are_joined_by_copper_is_no_end(tmp_path: Path, *, is_tie: bool) -> None:
    """A net tie is one, as KiCad's bridged solder jumpers are."""
    part = two_pads("JP1", "", 20, 10, "/A", "/B") + ('net_ties = ["1, 2"]\n' if is_tie else "")
    links = find_links(mini(tmp_path, chip("U1", 10, "/A") + part + chip("U2", 30, "/B")))

    assert names(links, only(links, "/A")) == (["/A", "JP1", "/B"] if is_tie else ["/A"])


@pytest.mark.parametrize("joins", [True, False])
def test_a_part_marked_do_not_populate_joins_nothing(tmp_path: Path, *, joins: bool) -> None:
    """KiCad's attribute of the footprint, whatever the value says."""
    part = two_pads("R1", "0R", 20, 10, "/A", "/B") + ("" if joins else "unfitted = true\n")
    links = find_links(mini(tmp_path, chip("U1", 10, "/A") + part + chip("U2", 30, "/B")))
    assert names(links, only(links, "/A")) == (["/A", "R1", "/B"] if joins else ["/A"])
    assert [one.why for one in links.refused(links.board.net_index["/A"])] == ([] if joins else ["not fitted"])


def test_pull_ups_bypasses_and_diodes_to_ground_join_nothing(tmp_path: Path) -> None:
    """A 33 ohm pull-up, a capacitor and a diode to ground: three taps, one net."""
    text = (
        chip("U1", 10, "/SDA", "+3V3", "GND")
        + chip("U2", 30, "/SDA", "+3V3", "GND")
        + two_pads("R1", "33", 15, 10, "/SDA", "+3V3")
        + two_pads("C1", "100n", 18, 10, "/SDA", "GND")
        + two_pads("D1", "ESD5V", 21, 10, "/SDA", "GND")
    )
    links = find_links(mini(tmp_path, text))
    link = only(links, "/SDA")

    assert names(links, link) == ["/SDA"]
    assert [pad.name for pad in link.ends] == ["U1.1", "U2.1"]
    assert [(pad.name, pad.role) for pad in link.taps] == [
        ("C1.1", PadRole.SHUNT),
        ("D1.1", PadRole.SHUNT),
        ("R1.1", PadRole.SHUNT),
    ]
    assert {part.reference: part.why for part in links.refused(link.nets[0])} == {
        "R1": "to +3V3, which counts as a supply rail",
        "C1": "to ground",
        "D1": "to ground",
    }
    assert links.of(links.board.net_index["+3V3"]) == ()
    assert links.of(links.board.net_index["GND"]) == ()


@pytest.mark.parametrize("net", ["FTDI_3V3", "PPH_VCC_CTRL", "3V3_I"])
@pytest.mark.parametrize("bypassed", [True, False])
def test_a_name_of_a_supply_or_its_control_is_a_supply_where_bypassed(
    tmp_path: Path, net: str, *, bypassed: bool
) -> None:
    cap = two_pads("C1", "100n", 20, 20, net, "GND") if bypassed else ""

    links = find_links(mini(tmp_path, chip("U1", 10, net, "GND") + cap))

    assert links.rails.is_rail(links.board.net_index[net]) is bypassed


@pytest.mark.parametrize("evidence", ["none", "capacitor", "zone"])
def test_a_voltage_in_front_of_a_signals_name_makes_no_rail(tmp_path: Path, evidence: str) -> None:
    """Half of a pair, and a net that an interface tells; not `12V_IN_P`, nor what a capacitor or a zone speaks for."""
    nets = ("1V8_PCIE_TX0_P", "1V8_PCIE_TX0_N", "1V8_RGMII_TXD0", "1V8_AON", "12V_IN_P", "12V_IN_N")
    first, lone = nets[0], nets[2]
    extra = {
        "none": "",
        "capacitor": two_pads("C1", "100n", 20, 30, first, "GND") + two_pads("C2", "100n", 25, 30, lone, "GND"),
        "zone": "".join(
            f'[[zones]]\nnet = "{net}"\nlayer = "F.Cu"\nrect_mm = [{x}, 40, {x + 1}, 41]\n'
            for net, x in ((first, 10), (lone, 20))
        ),
    }[evidence]
    board = mini(tmp_path, chip("U1", 10, *nets, "GND") + chip("U2", 60, *nets, "GND") + extra)

    rails = find_links(board, signals={board.net_index[lone]}).rails

    is_rail = [rails.is_rail(board.net_index[net]) for net in nets]
    assert is_rail == [evidence != "none", False, evidence != "none", True, True, True]
    assert find_links(board).rails.is_rail(board.net_index[lone])


def test_a_net_with_three_bypasses_is_a_rail_whatever_its_name(tmp_path: Path) -> None:
    """The 0 ohm resistor between two such nets is no series part of a link."""
    bypasses = "".join(two_pads(f"C{k}", "100n", 10 + 3 * k, 20, "/CORE", "GND") for k in range(3))
    text = chip("U1", 10, "/CORE", "GND") + bypasses + two_pads("R1", "0R", 20, 10, "/CORE", "/IN")
    links = find_links(mini(tmp_path, text + chip("J1", 30, "/IN")))

    assert links.rails.is_rail(links.board.net_index["/CORE"])
    assert links.rails.why(links.board.net_index["/CORE"]) == ("bypassed",)
    assert names(links, only(links, "/IN")) == ["/IN"]


def test_filled_copper_makes_a_rail_but_not_of_half_a_pair(tmp_path: Path) -> None:
    """16 mm2 on each of three nets: two of them are a pair, whose copper is a wide line and no supply."""
    zones = "".join(
        f'[[zones]]\nnet = "{net}"\nlayer = "F.Cu"\nrect_mm = [{x}, 20, {x + 4}, 24]\n'
        for net, x in (("/D_P", 10), ("/D_N", 20), ("/X", 30))
    )
    links = find_links(mini(tmp_path, chip("U1", 60, "/D_P", "/D_N", "/X") + zones))

    assert [links.rails.is_rail(links.board.net_index[net]) for net in ("/D_P", "/D_N", "/X")] == [False, False, True]
    assert links.rails.why(links.board.net_index["/X"]) == ("fills",)


def test_terminations_of_a_pair_do_not_join_its_halves(tmp_path: Path) -> None:
    """100 ohm across, or twice 50 ohm to a common capacitor."""
    ends = chip("U1", 10, "/D_P", "/D_N") + chip("U2", 40, "/D_P", "/D_N")
    across = find_links(mini(tmp_path / "a", ends + two_pads("R1", "100", 30, 15, "/D_P", "/D_N")))
    split = two_pads("R1", "50", 30, 15, "/D_P", "Net-(C1-Pad1)") + two_pads(
        "R2", "50", 30, 18, "/D_N", "Net-(C1-Pad1)"
    )
    split += two_pads("C1", "100n", 35, 15, "Net-(C1-Pad1)", "GND")
    centred = find_links(mini(tmp_path / "b", ends + split + chip("U3", 50, "GND")))

    for links in (across, centred):
        assert names(links, only(links, "/D_P")) == ["/D_P"]
        assert links.complement_of(only(links, "/D_P")) == only(links, "/D_N")
    assert across.refused(across.board.net_index["/D_P"])[0].why == "across the pair"


def test_a_chip_between_two_capacitors_is_the_end_of_two_links(tmp_path: Path) -> None:
    """One lane, wired to either of two connectors by the capacitors that are fitted: never one link through both."""
    text = (
        chip("J1", 10, "/A")
        + two_pads("C1", "100n", 15, 10, "/A", "/TX")
        + chip("U1", 30, "/TX")
        + two_pads("C2", "100n", 40, 10, "/TX", "/B")
        + chip("J2", 50, "/B")
    )
    links = find_links(mini(tmp_path, text))

    found = [names(links, link) for link in links.of(links.board.net_index["/TX"])]
    assert found == [["/TX", "C1", "/A"], ["/TX", "C2", "/B"]]


def test_a_link_goes_through_a_net_where_only_protection_sits(tmp_path: Path) -> None:
    """An array through which each line runs from pad to pad is no end; neither is a test point."""
    array = """[[parts]]
reference = "U9"
at_mm = [20, 10]
[[parts.pads]]
number = "1"
net = "/M"
[[parts.pads]]
number = "2"
net = "GND"
at_mm = [0, 1]
[[parts.pads]]
number = "3"
net = "/M"
at_mm = [0, 2]
"""
    text = chip("U1", 5, "/A", "GND") + two_pads("R1", "22", 10, 10, "/A", "/M") + array
    text += '[[parts]]\nreference = "TP1"\nat_mm = [24, 10]\npads = [{ number = "1", net = "/M" }]\n'
    text += two_pads("C1", "100n", 30, 10, "/M", "/B") + chip("J1", 40, "/B", "GND")
    links = find_links(mini(tmp_path, text))
    link = only(links, "/M")

    assert names(links, link) == ["/A", "R1", "/M", "C1", "/B"]
    assert [(pad.name, pad.role) for pad in link.taps] == [
        ("TP1.1", PadRole.TEST),
        ("U9.1", PadRole.SHUNT),
        ("U9.3", PadRole.SHUNT),
    ]


def test_parts_side_by_side_are_one_step_and_unequal_halves_are_noted(tmp_path: Path) -> None:
    """Two capacitors in parallel on P, one on N: the chain is the same, the note says that the parts are not."""
    text = chip("U1", 10, "/T_P", "/T_N") + chip("U2", 50, "/R_P", "/R_N")
    text += two_pads("C1", "100n", 20, 10, "/T_P", "/R_P") + two_pads("C2", "100n", 20, 8, "/T_P", "/R_P")
    links = find_links(mini(tmp_path, text + two_pads("C3", "100n", 20, 12, "/T_N", "/R_N")))

    assert names(links, only(links, "/T_P")) == ["/T_P", "C1+C2", "/R_P"]
    assert only(links, "/T_P").notes == ("its series parts differ from those of its complement /T_N",)


def test_a_part_with_split_pads_still_has_two(tmp_path: Path) -> None:
    """Four copper pads of two numbers are a two-pad part; three numbers are not."""
    pads = '{ number = "1", net = "/A" }, { number = "1", net = "/A", at_mm = [0, 1] }, '
    pads += '{ number = "2", net = "/B", at_mm = [1, 0] }'
    part = f'[[parts]]\nreference = "R1"\nvalue = "10"\nat_mm = [20, 10]\npads = [{pads}%s]\n'
    ends = chip("U1", 10, "/A") + chip("U2", 30, "/B")
    split = find_links(mini(tmp_path / "a", ends + part % ', { number = "2", net = "/B", at_mm = [1, 1] }'))
    three = find_links(mini(tmp_path / "b", ends + part % ', { number = "3", net = "/B", at_mm = [1, 1] }'))

    assert names(split, only(split, "/A")) == ["/A", "R1", "/B"]
    assert names(three, only(three, "/A")) == ["/A"]


# ------------------------------------------------------------------------------------------------ routes


def routed(folder: Path, text: str) -> Route:
    links = find_links(mini(folder, text))
    return links.route(links.board.net_index["/S"])


def test_a_stub_is_told_from_the_path(tmp_path: Path) -> None:
    """20 mm from pad to pad, and 3 mm that end in nothing from the middle of it."""
    text = (
        chip("U1", 10, "/S") + chip("U2", 30, "/S") + track("/S", (10, 10), (30, 10)) + track("/S", (18, 10), (18, 13))
    )
    route = routed(tmp_path, text)

    assert route.path_length_mm == pytest.approx(20.0)
    assert route.total_length_mm == pytest.approx(23.0)
    (stub,) = route.branches
    assert stub.kind is BranchKind.STUB
    assert (stub.at_mm, stub.length_mm, stub.reach_mm) == pytest.approx((8.0, 3.0, 3.0))
    assert (stub.pads, stub.layer) == ((), 0)


def test_a_track_drawn_twice_is_no_branch(tmp_path: Path) -> None:
    """10 mm over the path once more, and over 4 mm with two ends; a loop of 13 mm beside it is a branch."""
    ends = chip("U1", 10, "/S") + chip("U2", 30, "/S") + track("/S", (10, 10), (20, 10), (30, 10))
    twice = routed(tmp_path / "a", ends + track("/S", (15, 10), (25, 10)) + track("/S", (26, 10), (28, 10), (29, 10)))
    loop = routed(tmp_path / "b", ends + track("/S", (15, 10), (15, 11.5), (25, 11.5), (25, 10)))

    assert twice.path_length_mm == pytest.approx(20.0)
    assert not twice.branches
    assert [branch.length_mm for branch in loop.branches] == pytest.approx([13.0])


def test_a_second_receiver_and_a_test_point_are_branches_of_their_kind(tmp_path: Path) -> None:
    """The path runs to the farther receiver; 4 mm lead to the nearer one, 2 mm to the test point."""
    text = chip("U1", 10, "/S") + chip("U2", 40, "/S") + chip("U3", 20, "/S", y_mm=14)
    text += (
        '[[parts]]\nreference = "TP1"\nat_mm = [30, 12]\npads = [{ number = "1", net = "/S", size_mm = [0.5, 0.5] }]\n'
    )
    text += (
        track("/S", (10, 10), (20, 10), (40, 10)) + track("/S", (20, 10), (20, 14)) + track("/S", (30, 10), (30, 12))
    )
    route = routed(tmp_path, text)

    assert route.path_length_mm == pytest.approx(30.0)
    assert [(b.kind, round(b.length_mm, 6), round(b.at_mm, 6)) for b in route.branches] == [
        (BranchKind.RECEIVER, 4.0, 10.0),
        (BranchKind.TAP, 2.0, 20.0),
    ]


def test_a_pad_on_the_way_is_passed_not_branched_to(tmp_path: Path) -> None:
    """A diode whose pad the track runs across off its centre."""
    text = chip("U1", 10, "/S", "GND") + chip("U2", 30, "/S", "GND") + two_pads("D1", "ESD", 20, 10.1, "/S", "GND")
    route = routed(tmp_path, text + track("/S", (10, 10), (30, 10), width_mm=0.1))

    assert route.path_length_mm == pytest.approx(20.0)
    assert len(route.passed_pads) == 1
    assert route.branches == ()


def test_tracks_that_nothing_joins_are_apart(tmp_path: Path) -> None:
    """A gap of a millimetre in the middle: no path, and both pads unreached."""
    text = (
        chip("U1", 10, "/S") + chip("U2", 30, "/S") + track("/S", (10, 10), (19, 10)) + track("/S", (20, 10), (30, 10))
    )
    route = routed(tmp_path, text)

    assert not is_complete(route)
    assert route.start_pad is None
    assert route.path_length_mm == 0.0
    assert route.apart_mm == pytest.approx(19.0)
    assert len(route.unreached_pads) == 2


def test_a_via_that_the_path_runs_past_hangs_on_it(tmp_path: Path) -> None:
    """A via between two tracks of F.Cu, and one in the middle of a track: their barrels are stubs."""
    text = chip("U1", 10, "/S") + chip("U2", 40, "/S") + track("/S", (10, 10), (20, 10), (40, 10))
    route = routed(tmp_path, text + via("/S", 20, 10) + via("/S", 30, 10))

    assert [(c.entry_layer, c.exit_layer, round(c.at_mm, 6)) for c in route.crossings] == [(0, 0, 10.0), (0, 0, 20.0)]
    assert route.path_length_mm == pytest.approx(30.0)


def test_copper_that_touches_is_joined_though_no_end_lies_on_it(tmp_path: Path) -> None:
    """A wide track that stops short of a pad by less than half its width, and one that stops short of a track."""
    text = chip("U1", 10, "/S") + chip("U2", 30, "/S") + track("/S", (10.4, 10), (20, 10), width_mm=0.6)
    route = routed(tmp_path, text + track("/S", (20.5, 10), (30, 10), width_mm=0.6))

    assert is_complete(route)
    assert route.path_length_mm == pytest.approx(20.0, abs=0.6)


@pytest.mark.parametrize(
    ("points", "length_mm"),
    [
        ([(10, 10), (30, 10)], 20.0),
        ([(10, 10.5), (30, 10.5)], 20.6 - math.sqrt(0.6**2 - 0.5**2)),
        ([(10, 10.5), (29.8, 10.5), (30, 10.3)], 20.6 - math.sqrt(0.6**2 - 0.5**2)),
    ],
    ids=["to the middle", "past it", "in two tracks"],
)
def test_current_goes_straight_to_the_middle_of_a_pad(
    tmp_path: Path, points: list[tuple[float, float]], length_mm: float
) -> None:
    """The rim of a round pad is 0.6 mm from its middle: from there the way is straight, wherever tracks end."""
    pad = 'pads = [{ number = "1", net = "/S", kind = "through", size_mm = [1.2, 1.2] }]'
    text = chip("U1", 10, "/S", y_mm=points[0][1]) + f'[[parts]]\nreference = "J1"\nat_mm = [30, 10]\n{pad}\n'
    route = routed(tmp_path, text + track("/S", *points))

    assert route.path_length_mm == pytest.approx(length_mm, abs=2e-3)


@pytest.mark.parametrize(("end_mm", "length_mm"), [(30.0, 20.0), (30.4, 20.0), (29.6, 20.0)])
def test_what_a_track_runs_past_the_middle_of_its_last_pad_does_not_count(
    tmp_path: Path, end_mm: float, length_mm: float
) -> None:
    """To the middle of a pad of 1.2 mm, 0.4 mm past it, and 0.4 mm short of it: no branch is left."""
    pad = 'pads = [{ number = "1", net = "/S", size_mm = [1.2, 0.6] }]'
    text = chip("U1", 10, "/S") + f'[[parts]]\nreference = "J1"\nat_mm = [30, 10]\n{pad}\n'
    route = routed(tmp_path, text + track("/S", (10, 10), (end_mm, 10)))

    assert route.path_length_mm == pytest.approx(length_mm)
    assert route.branches == ()


def test_a_track_through_a_pad_counts_as_drawn(tmp_path: Path) -> None:
    """It ends in the pad past its middle, and goes on from there."""
    pad = 'pads = [{ number = "1", net = "/S", size_mm = [1.2, 0.6] }]'
    text = chip("U1", 10, "/S") + f'[[parts]]\nreference = "TP1"\nat_mm = [20, 10]\n{pad}\n' + chip("J1", 30, "/S")
    route = routed(tmp_path, text + track("/S", (10, 10), (20.4, 10), (30, 10)))

    assert route.path_length_mm == pytest.approx(20.0)
    assert route.branches == ()
    assert len(route.passed_pads) == 1


def test_copper_pads_of_one_number_are_one(tmp_path: Path) -> None:
    """A castellated pad with its hole: the track reaches the one, and so the other; there is no way between them."""
    pads = '{ number = "1", net = "/S", kind = "through" }, { number = "1", net = "/S", at_mm = [-0.5, 0] }'
    text = chip("U1", 30, "/S") + f'[[parts]]\nreference = "J1"\nat_mm = [10, 10]\npads = [{pads}]\n'
    route = routed(tmp_path, text + track("/S", (10, 10), (30, 10)))

    assert is_complete(route)
    assert route.path_length_mm == pytest.approx(20.0)


def test_crossing_tracks_on_two_layers_do_not_touch(tmp_path: Path) -> None:
    """The short way over a crossing exists only with a via."""
    text = chip("U1", 10, "/S") + chip("U2", 10, "/S", y_mm=12)
    loop = track("/S", (10, 10), (30, 10), (30, 20), (20, 20)) + via("/S", 20, 20)
    loop += (
        track("/S", (20, 20), (20, 5), (5, 5), (5, 12), layer="B.Cu")
        + via("/S", 5, 12)
        + track("/S", (5, 12), (10, 12))
    )
    without = routed(tmp_path / "a", text + loop)
    shorted = routed(tmp_path / "b", text + loop + via("/S", 20, 10))

    assert without.path_length_mm == pytest.approx(20 + 10 + 10 + 15 + 15 + 7 + 5)
    assert shorted.path_length_mm == pytest.approx(10 + 5 + 15 + 7 + 5)
    assert [(c.entry_layer, c.exit_layer) for c in shorted.crossings] == [(0, 3), (3, 0)]


def test_tracks_that_cross_in_mid_run_are_joined(tmp_path: Path) -> None:
    """Neither ends where they meet: 10 mm along the one and 4 mm along the other; one that stops short is apart."""
    text = chip("U1", 10, "/S") + chip("U2", 20, "/S", y_mm=14) + track("/S", (10, 10), (22, 10), width_mm=0.1)
    crossed = routed(tmp_path / "a", text + track("/S", (20, 9), (20, 14), width_mm=0.1))
    apart = routed(tmp_path / "b", text + track("/S", (20, 10.15), (20, 14), width_mm=0.1))

    assert crossed.path_length_mm == pytest.approx(14.0)
    assert [branch.length_mm for branch in crossed.branches] == pytest.approx([2.0, 1.0])
    assert not is_complete(apart)


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "joined"),
    [(10.2, 10, True), (10.5, 10, True), (10.55, 10, False), (10.45, 10.45, True), (10.47, 10.47, False)],
    ids=["in it", "over its edge", "beyond it", "over its corner", "off its corner"],
)
def test_a_via_whose_land_is_on_a_pad_is_joined_from_middle_to_middle(
    tmp_path: Path, x_mm: float, y_mm: float, joined: bool
) -> None:
    """The pad is 0.6 mm square, the land 0.45 mm wide; what the via is off the middle of the pad counts."""
    pad = 'pads = [{ number = "1", net = "/S", shape = "rect", size_mm = [0.6, 0.6] }]'
    text = f'[[parts]]\nreference = "U1"\nat_mm = [10, 10]\n{pad}\n' + chip("U2", 30, "/S", y_mm=y_mm)
    text += via("/S", x_mm, y_mm) + track("/S", (x_mm, y_mm), (28, y_mm), layer="B.Cu") + via("/S", 28, y_mm)
    route = routed(tmp_path, text + track("/S", (28, y_mm), (30, y_mm)))

    assert is_complete(route) is joined
    if joined:
        assert route.path_length_mm == pytest.approx(math.hypot(x_mm - 10, y_mm - 10) + 30 - x_mm)


@pytest.mark.parametrize(("x_mm", "joined"), [(11.6, True), (9.4, False)], ids=["far side", "where none is"])
def test_copper_of_a_pad_lies_where_its_hole_is_off_the_middle(tmp_path: Path, x_mm: float, joined: bool) -> None:
    """2 mm of copper of which the middle is 0.8 mm to the right of the hole: from 9.8 to 11.8 mm."""
    pad = '{ number = "1", net = "/S", kind = "through", shape = "oval", size_mm = [2, 0.6], shift_mm = [0.8, 0] }'
    text = f'[[parts]]\nreference = "J1"\nat_mm = [10, 10]\npads = [{pad}]\n' + chip("U2", x_mm, "/S", y_mm=20)
    route = routed(tmp_path, text + track("/S", (x_mm, 10), (x_mm, 20)))

    assert is_complete(route) is joined


def test_stacked_microvias_are_crossed_one_after_the_other(tmp_path: Path) -> None:
    """F.Cu to In1 to In2 in one place."""
    text = chip("U1", 10, "/S") + chip("J1", 40, "/S")
    text += '[[parts]]\nreference = "U2"\nat_mm = [30, 10]\npads = [{ number = "1", net = "/S", layers = ["F.Cu"] }]\n'
    text += track("/S", (10, 10), (20, 10)) + via("/S", 20, 10, span='kind = "micro"\nspan = ["F.Cu", "In1.Cu"]')
    text += via("/S", 20, 10, span='kind = "buried"\nspan = ["In1.Cu", "In2.Cu"]')
    text += track("/S", (20, 10), (40, 10), layer="In2.Cu") + via("/S", 40, 10)
    route = routed(tmp_path, text)

    assert route.path_length_mm == pytest.approx(30.0)
    assert [(c.entry_layer, c.exit_layer) for c in route.crossings] == [(0, 1), (1, 2), (2, 0)]


def test_a_net_of_unknown_parts_has_its_length_in_order_of_widths(tmp_path: Path) -> None:
    """Three widths one after the other make three pieces; two tracks of one width make one."""
    text = chip("U1", 10, "/S") + chip("U2", 40, "/S") + track("/S", (10, 10), (15, 10), width_mm=0.1)
    text += track("/S", (15, 10), (20, 10), (30, 10), width_mm=0.2) + track("/S", (30, 10), (40, 10), width_mm=0.12)
    board = mini(tmp_path, text)
    route = route_of(board, board.net_index["/S"])

    assert [(p.width_mm, round(p.length_mm, 6), len(p.tracks)) for p in route.pieces] == [
        (0.1, 5.0, 1),
        (0.2, 15.0, 2),
        (0.12, 10.0, 1),
    ]


# ------------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("value", "ohm"),
    [
        ("22", 22.0),
        ("4k7", 4700.0),
        ("0R", 0.0),
        ("2R2", 2.2),
        ("R_27R_0402", 27.0),
        ("R0402_4R7_1%_0.0625W", 4.7),
        ("49.9 ohm", 49.9),
        ("1M1", 1.1e6),
        ("10mR", 0.01),
        ("100 \u2126", 100.0),
        ("R_Small", None),
        ("0402", None),
        ("", None),
    ],
)
def test_resistances_are_read_as_people_write_them(value: str, ohm: float | None) -> None:
    """The unit may stand for the decimal point; a package code is no resistance."""
    assert resistance_ohm(value) == (None if ohm is None else pytest.approx(ohm))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("100n", ""),
        ("CC0402_15PF_50V", ""),
        ("C", ""),
        ("10,5pF", ""),
        ("4p7", "too small to couple (4.7 pF)"),
        ("0,5pF", "too small to couple (0.5 pF)"),
    ],
)
def test_a_capacitor_below_10_pf_does_not_couple(value: str, why: str) -> None:
    """A decimal comma is one: 10,5 pF was read as 5 pF."""
    assert refusal(PartKind.CAPACITOR, value) == why


@pytest.mark.parametrize(
    ("net", "supply"),
    [
        ("+3V3", True),
        ("/x/1V8_AON", True),
        ("VDD_IO", True),
        ("USBC_VBUS", True),
        ("-12V", True),
        ("P0V85", True),
        ("P0.85V", True),
        ("3.3", True),
        ("P0.02", False),
        ("P1.09", False),
        ("/3V3_CURR", False),
        ("PPH_VCC_CTRL", False),
        ("3V3_I", False),
        ("+3V3_I", True),
        ("VCC_CTRLR", True),
        *((net, True) for net in ("V_BAT", "/V_IN", "V_MOTORS", "VMOT", "V_SYS_1")),
        *((net, False) for net in ("V_BAT_SENSE", "V_IN_DET", "AV_IN", "V_SYNC", "V_INT", "VMOTION", "TEMP_V_IN")),
        *((net, True) for net in ("VDC", "VDC_BUS", "48VDC", "VDD0V9", "V1P8", "3P3V_AUX", "5VSB")),
        *((net, False) for net in ("VDCLK", "24VAC", "V1P8_EN", "12VDC_SENSE")),
        ("VSYNC", False),
        ("3V3_EN", False),
        ("/12V_RST{slash}EN", False),
        ("5V_nRESET", False),
        ("/VDD/3V3{slash}AUX", True),
        ("/I2C1_SCL_3V3", False),
        ("/PCIE_TX0_P", False),
        ("Net-(U1-VDD)", False),
    ],
)
def test_a_level_in_a_signals_name_makes_no_supply(net: str, *, supply: bool) -> None:
    """A voltage leads the name of a supply; at the end of a signal's it is its level."""
    assert reads_as_supply(net) is supply


def test_kinds_go_by_the_letters_of_the_reference() -> None:
    """CN and RN are neither capacitors nor resistors."""
    assert [kind_of(r) for r in ("C1", "R2", "L3", "FB4", "CN5", "RN6", "5")] == [1, 2, 3, 4, 0, 0, 0]
    assert refusal(PartKind.OTHER, "0R") == "neither capacitor nor resistor"


# ------------------------------------------------------------------------------------------------ KiCad


LENGTH_RULE = """(version 1)
(rule all (condition "A.Type == 'Track'") (constraint length (min 2000mm)))
"""


def lengths_by_kicad(kicad_cli: KicadCli, board: Path) -> dict[str, float]:
    """What KiCad's own length check measures, per net, without the height of vias; at most 199 nets are reported."""
    project = json.loads(board.with_suffix(".kicad_pro").read_text())
    settings = project["board"]["design_settings"]
    settings["rules"]["use_height_for_length_calcs"] = False
    settings["rule_severities"] = dict.fromkeys(settings["rule_severities"], "ignore") | {
        "length_out_of_range": "error"
    }
    board.with_suffix(".kicad_pro").write_text(json.dumps(project))
    board.with_suffix(".kicad_dru").write_text(LENGTH_RULE)
    report = board.with_suffix(".json")
    kicad_cli("pcb", "drc", "--format", "json", "--output", report, board)
    found = {}
    for violation in json.loads(report.read_text())["violations"]:
        net = re.search(r"\[(.*)\] on", violation["items"][0]["description"])
        actual = re.search(r"actual ([\d.]+) mm", violation["description"])
        if net and actual:
            found[net[1]] = float(actual[1])
    return found


@pytest.mark.slow
@pytest.mark.kicad
@pytest.mark.demo
@pytest.mark.parametrize("name", ["stickhub/StickHub.kicad_pcb", "cm5_minima/CM5_MINIMA_3.kicad_pcb"])
def test_lengths_are_those_that_kicad_measures(
    name: str, kicad_cli: KicadCli, demo_boards: Path, copy_board: partial[Path]
) -> None:
    """The sum of a net's tracks to a micrometre, and so the path of a net with two pads and no branch."""
    path = copy_board(demo_boards / name)
    links = find_links(read_board(path))
    measured = {n: mm for n, mm in lengths_by_kicad(kicad_cli, path).items() if n in links.board.net_index}
    compared = 0
    for net, actual in measured.items():
        index = links.board.net_index[net]
        if links.rails.stops_links(index):
            continue
        route = links.route(index)
        assert route.total_length_mm == pytest.approx(actual, abs=2e-3), net
        compared += 1
        in_two_pads = len(links.pads_of(index)) == 2 and is_complete(route) and not route.branches
        if in_two_pads and links.pairs.complement_of(index) is not None:
            assert route.path_length_mm == pytest.approx(actual, abs=0.1), net
    assert compared >= 40
    assert not any(math.isnan(mm) for mm in measured.values())
