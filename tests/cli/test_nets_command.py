"""`stackwright nets`: what every net was assigned to, and everything about one; text that fits, complete JSON."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from drc_rules.analysis.targets.unknown_pairs import unknown_pairs
from drc_rules.engine.check import find_config, prepare
from drc_rules.explain.net_explained import ExplainedNet, explain_net
from drc_rules.explain.nets_view import NetsView, find_net, nets_view
from drc_rules.facts.declared import Overrides
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.kicad import read_board
from stackup_lib.nets.links import find_links
from stackwright.cli.app import run
from stackwright.commands.inspect.nets import NetsRequest, show_nets
from tests.support.mini import mini_file
from tests.support.small_boards.linked import PCIE5, chip, track, two_pads

GEN5 = PCIE5.replace("/TX", "/PCIE0_TX0")
CLASSES = """
[[net_classes]]
name = "85Ohm-diff_PCIE"
patterns = ["/PCIE0_*"]
"""
USB2_NAMED_USB3 = (
    chip("U3", 10, "/USB3.D+", "/USB3.D-", y_mm=30)
    + chip("J3", 40, "/USB3.D+", "/USB3.D-", y_mm=30)
    + track("/USB3.D+", (10, 30), (40, 30))
    + track("/USB3.D-", (10, 31), (40, 31))
)
SUPPLY = chip("U4", 60, "+3V3", "GND", "/SDA", y_mm=40) + two_pads("R9", "4k7", 70, 40, "/SDA", "+3V3")
DECLARED = """
config = '''
[[interface]]
is = "pcie5"
net_classes = ["85Ohm-diff_PCIE"]
'''
"""


def board_file(folder: Path, text: str, head: str = "") -> Path:
    data = tomllib.loads("copper_layers = 4\n" + head + text)
    return mini_file(folder, data, "card")


def everything(folder: Path, *, declared: bool = False) -> Path:
    return board_file(folder, GEN5 + USB2_NAMED_USB3 + SUPPLY + CLASSES, DECLARED if declared else "")


def viewed(path: Path) -> NetsView:
    board = read_board(path)
    context, _, _ = prepare(board, find_config(path, None), Overrides())
    return nets_view(context, find_links(board))


def told(path: Path, net: str) -> ExplainedNet:
    board, config = read_board(path), find_config(path, None)
    context, _, _ = prepare(board, config, Overrides())
    return explain_net(context, find_links(board), config, find_net(board, net))


def test_groups_say_what_by_which_class_and_how_sure(tmp_path: Path) -> None:
    """A PCIe lane in a class of that name, generation not said: medium confidence, one pair of links."""
    view = viewed(everything(tmp_path))

    pcie, usb = view.groups
    assert (pcie.title, pcie.interface, pcie.origin) == ("PCI Express", "", Origin.INFERRED)
    assert (pcie.confidence, pcie.by) == (Confidence.MEDIUM, "net class 85Ohm-diff_PCIE")
    assert (pcie.nets, pcie.pairs, pcie.links) == (4, 2, 2)
    assert pcie.routed_mm == pytest.approx((49.0, 49.0))
    assert pcie.layers == ("F.Cu", "In2.Cu")
    assert pcie.vias == (0, 2)
    assert (usb.family, usb.fast, usb.confidence) == ("usb2", False, Confidence.LOW)
    assert [rail.net for rail in view.rails] == ["GND", "+3V3"]
    assert [rail.confidence for rail in view.rails] == [Confidence.MEDIUM, Confidence.LOW]


def test_links_without_tracks_are_counted_apart(tmp_path: Path) -> None:
    """One half of the pair is drawn: its length and vias are not watered down by the other's nothing."""
    text = chip("U1", 10, "/PCIE0_TX0_P", "/PCIE0_TX0_N") + track("/PCIE0_TX0_P", (10, 10), (22, 10))
    (group,) = viewed(board_file(tmp_path, text)).groups

    assert (group.links, group.unrouted, group.vias) == (2, 1, (0, 0))
    assert group.routed_mm == pytest.approx((12.0, 12.0))


@pytest.mark.parametrize(
    ("n_ends_at", "zone", "words", "lengths"),
    [
        (30, "", "a link is 20.0 mm long, 0 vias; on F.Cu", (20.0, 20.0)),
        (12, "", "a link is 20.0 mm long, 0 vias; on F.Cu; 1 link routed in part", (20.0, 20.0)),
        (12, "yes", "a link is 2.0 to 20.0 mm long, 0 vias; on F.Cu", (2.0, 20.0)),
    ],
    ids=["whole", "a fan-out", "a zone may join"],
)
def test_the_length_of_a_fan_out_is_not_that_of_a_link(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    n_ends_at: int,
    zone: str,
    words: str,
    lengths: tuple[float, float],
) -> None:
    """Of a pair from chip to connector, one trace ends after 2 mm."""
    p, n = "/PCIE0_TX0_P", "/PCIE0_TX0_N"
    text = (
        chip("U1", 10, p, n) + chip("J1", 30, p, n) + track(p, (10, 10), (30, 10)) + track(n, (10, 11), (n_ends_at, 11))
    )
    if zone:
        text += f'[[zones]]\nnet = "{n}"\nlayer = "F.Cu"\nrect_mm = [9, 10.8, 31, 11.2]\n'
    path = board_file(tmp_path, text)

    (group,) = viewed(path).groups
    assert group.routed_mm == pytest.approx(lengths)
    assert run(["nets", str(path)]) == 0
    assert f"{words}\n" in capsys.readouterr().out


def test_a_board_with_fan_outs_alone_has_no_link_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    p, n = "/PCIE0_TX0_P", "/PCIE0_TX0_N"
    text = chip("U1", 10, p, n) + chip("J1", 30, p, n) + track(p, (10, 10), (12, 10))

    assert run(["nets", str(board_file(tmp_path, text))]) == 0
    assert "no link is routed from end to end: 2.0 mm of tracks, 0 vias; on F.Cu; 1 link not routed\n" in (
        capsys.readouterr().out
    )


def test_every_net_is_counted_once(tmp_path: Path) -> None:
    """Groups, rails, sidebands, others and unconnected pins add up to all nets but "no net"."""
    path = everything(tmp_path)
    view = viewed(path)

    counted = sum(group.nets for group in view.groups) + len(view.rails) + view.sidebands + view.others
    assert counted + view.unconnected == len(read_board(path).nets) - 1


def test_a_declaration_turns_what_was_inferred_into_what_is_said(tmp_path: Path) -> None:
    """The same board with `[[interface]] is = "pcie5"`."""
    group = viewed(everything(tmp_path, declared=True)).groups[0]

    assert (group.interface, group.origin, group.confidence) == ("pcie5", Origin.DECLARED, Confidence.HIGH)


def test_a_net_is_told_with_its_link_and_lengths(tmp_path: Path) -> None:
    """Class and pattern, pair, chain through the capacitor, length per layer, vias in order."""
    net = told(everything(tmp_path), "/PCIE0_TX0_P")

    assert [(one.name, one.by) for one in net.classes] == [("85Ohm-diff_PCIE", "pattern /PCIE0_*")]
    assert (net.partner, net.paired_by) == ("/PCIE0_TX0_N", "KiCad's naming rule")
    (link,) = net.links
    assert link.chain == ("/PCIE0_TX0_P", "C1 220n", "/PCIE0_TX0C_P")
    assert link.partner == ("/PCIE0_TX0_N", "/PCIE0_TX0C_N")
    assert link.ends == ("U1.1", "J1.1")
    assert link.path_mm == pytest.approx(49.0)
    assert link.nets[1].by_layer_mm == pytest.approx({"F.Cu": 19.0, "In2.Cu": 10.0})
    assert link.nets[1].vias == ("F.Cu to In2.Cu at 9.0 mm", "In2.Cu to F.Cu at 19.0 mm")


def test_a_usb2_pair_named_after_a_usb3_port_is_usb2_and_says_why(tmp_path: Path) -> None:
    """The trap: the name begins like USB 3, but D+ is USB 2.0."""
    net = told(everything(tmp_path), "USB3.D+")

    assert net.net == "/USB3.D+"
    assert net.taken_for == "USB 2.0 high speed"
    said = [(reading.says, reading.counted) for reading in net.readings]
    assert ("USB3.D+ reads as USB 2.0", True) in said
    assert ("begins like USB 3 / USB4, but does not end like it", False) in said


def test_what_a_link_does_not_go_through_is_told(tmp_path: Path) -> None:
    """The pull-up of a bus."""
    assert told(everything(tmp_path), "/SDA").refused == ("R9 (4k7): to +3V3, which counts as a supply rail",)


def test_a_declaration_that_passes_a_net_by_is_told_too(tmp_path: Path) -> None:
    """What was looked at and did not count stands next to what did."""
    path = everything(tmp_path, declared=True)

    chosen = told(path, "/PCIE0_TX0_P").readings[0]
    passed = told(path, "/USB3.D+").readings[0]
    assert (chosen.looked_at, chosen.counted) == ("[[interface]] 1", True)
    assert (passed.looked_at, passed.counted) == ("[[interface]] 1", False)


def board_with(folder: Path, *nets: str) -> Board:
    text = "".join(track(net, (5, 5 + k), (9, 5 + k)) for k, net in enumerate(nets))
    return read_board(board_file(folder, text))


def test_a_net_is_found_without_its_path_or_markup_in_any_case(tmp_path: Path) -> None:
    """`/A/PCIe_{C5}.TX0+` by `pcie_c5.tx0+`; a name on two sheets needs the path."""
    board = board_with(tmp_path, "/A/PCIe_{C5}.TX0+", "/A/CLK", "/B/CLK")

    assert board.nets[find_net(board, "pcie_c5.tx0+")] == "/A/PCIe_{C5}.TX0+"
    assert board.nets[find_net(board, "/b/clk")] == "/B/CLK"
    with pytest.raises(ConfigError, match=r"is several nets; give one of: /A/CLK, /B/CLK"):
        find_net(board, "CLK")


def test_a_net_with_a_slash_in_its_label_is_found_and_shown_as_kicad_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`SDI/out0` is not the `out0` of another net; JSON, which is for tools, keeps the spelling of the file."""
    board = board_with(tmp_path, "SDI{slash}out0", "out0")
    assert board.path is not None

    assert [board.nets[find_net(board, typed)] for typed in ("SDI/out0", "sdi/out0", "SDI{slash}out0")] == [
        "SDI{slash}out0"
    ] * 3
    assert board.nets[find_net(board, "out0")] == "out0"
    show_nets(board.path, NetsRequest(explain="SDI/out0"))
    assert capsys.readouterr().out.splitlines()[0] == "SDI/out0"
    show_nets(board.path, NetsRequest(explain="SDI/out0", format="json"))
    assert json.loads(capsys.readouterr().out)["net"]["net"] == "SDI{slash}out0"


def test_a_net_that_is_not_there_is_one_line_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and no page."""
    path = everything(tmp_path)
    with pytest.raises(ConfigError, match=r'did you mean "/PCIE0_TX0_P"\?'):
        show_nets(path, NetsRequest(explain="PCIE0_TX0_PP"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("explain", [[], ["--explain", "/PCIE0_TX0_P"], ["--explain", "GND"]])
def test_the_text_fits_and_names_the_next_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], explain: list[str]
) -> None:
    """At most 100 columns in a pipe."""
    assert run(["nets", str(everything(tmp_path)), *explain]) == 0
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 100
    if not explain:
        assert "[[interface]]\n" in out
        assert (
            '    is = "?"  # pcie1, pcie2, pcie3, pcie4, pcie5, ' in out
        )  # the family alone would leave the generation open
        assert 'net_classes = ["85Ohm-diff_PCIE"]' in out


def test_the_next_command_asks_about_a_net_of_an_interface_first(capsys: pytest.CaptureFixture[str]) -> None:
    """With the path as it is needed from here, and no heading without anything below it."""
    board = "fixtures/boards/edge_jetson_carrier_fit/edge_jetson_carrier_fit.kicad_pcb"
    path = Path(__file__).parents[2] / board
    assert run(["nets", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"next: stackwright nets {path} --explain /USB3_TX0_N\n")
    assert "All other nets" not in out


SCHEMA = Path(__file__).parents[2] / "fixtures" / "schemas" / "nets-v1.json"


@pytest.mark.slow
@pytest.mark.parametrize("explain", [[], ["--explain", "/PCIE0_TX0_P"], ["--explain", "GND"], ["--explain", "/SDA"]])
def test_json_follows_its_schema_to_the_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], explain: list[str]
) -> None:
    """No key beyond the schema's; twice the same bytes."""
    arguments = ["nets", str(everything(tmp_path)), "--format", "json", *explain]
    assert run(arguments) == 0
    first = capsys.readouterr().out
    assert run(arguments) == 0
    assert capsys.readouterr().out == first

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for definition in (schema, *schema["$defs"].values()):
        if "properties" in definition:
            definition["additionalProperties"] = False
    jsonschema.Draft202012Validator(schema).validate(json.loads(first))


def test_json_holds_the_groups_or_one_net(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under `nets`, or under `net`."""
    path = str(everything(tmp_path))
    assert run(["nets", path, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["format"], data["version"]) == ("stackwright-nets", 1)
    assert [group["title"] for group in data["nets"]["groups"]] == ["PCI Express", "USB 2.0 high speed"]
    assert run(["nets", path, "--format", "json", "--explain", "GND"]) == 0
    assert json.loads(capsys.readouterr().out)["net"]["taken_for"] == "ground"


def test_a_board_without_anything_still_has_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No interface, no rail: it says so."""
    assert run(["nets", str(board_file(tmp_path, track("/A", (1, 1), (2, 1))))]) == 0
    out = capsys.readouterr().out
    assert "No interface was detected." in out
    assert "1  no interface" in out


def test_the_pairs_of_unknown_interface_are_those_that_a_check_asks_about(tmp_path: Path) -> None:
    """Leads that fill zones, however small, carry current: a check does not ask what runs on them."""
    text = track("/LINK_P", (1, 1), (9, 1)) + track("/LINK_N", (1, 2), (9, 2))
    text += track("/PHASE_P", (1, 4), (9, 4)) + track("/PHASE_N", (1, 5), (9, 5))
    text += '[[zones]]\nnet = "/PHASE_P"\nlayer = "F.Cu"\nrect_mm = [2, 3.5, 4, 4.5]\n'
    path = board_file(tmp_path, text)
    context, _, _ = prepare(read_board(path), find_config(path, None), Overrides())

    view = viewed(path)

    assert [pair.positive for pair in view.pairs_not_understood] == ["/LINK_P"]
    assert view.other_pairs == ("/LINK_P",)
    assert unknown_pairs(context).names == ("/LINK",)


def test_pairs_that_nothing_names_are_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are listed with their lengths, and are the first to be declared."""
    text = track("/LINK_P", (1, 1), (9, 1)) + track("/LINK_N", (1, 2), (9, 2))
    assert run(["nets", str(board_file(tmp_path, text))]) == 0
    out = capsys.readouterr().out
    assert "1 pair among them" in out
    assert "Pairs of unknown interface" in out
    assert "/LINK_P /LINK_N 8.0" in " ".join(out.split())
    assert out.endswith("card.kicad_pcb --explain /LINK_P\n")


def test_a_link_across_two_groups_is_counted_in_one_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Behind its capacitor the lane has a name of another family: the other group says with whom it is counted."""
    text = chip("U1", 10, "/PCIE0_TX0_P") + two_pads("C1", "220n", 20, 10, "/PCIE0_TX0_P", "/SATA_TX_P")
    text += chip("U2", 30, "/SATA_TX_P", "/SATA_RX_P") + chip("J1", 60, "/SATA_RX_P")
    declared = "config = '''" + "".join(
        f'[[interface]]\nis = "{one}"\nnets = ["{nets}"]\n' for one, nets in (("pcie5", "/PCIE*"), ("sata3", "/SATA*"))
    )
    path = board_file(tmp_path, text + track("/PCIE0_TX0_P", (10, 10), (19, 10)), declared + "'''\n")
    board = read_board(path)

    groups = {group.family: group for group in viewed(path).groups}

    assert set(groups) == {"pcie", "sata"}
    assert sum(group.links for group in groups.values()) == len(find_links(board).chains) == 2
    assert (groups["pcie"].links, groups["pcie"].links_elsewhere) == (1, 0)
    assert (groups["sata"].links, groups["sata"].links_elsewhere) == (1, 1)
    assert run(["nets", str(path)]) == 0
    assert "1 link, and part of 1 link counted with another group" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("options", [[], ["-v"]])
def test_check_names_the_interfaces_that_nets_lists_on_a_board_that_is_not_routed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    """Pins of one part alone, without copper."""
    path = board_file(tmp_path, chip("U1", 10, "/PCIE0_TX0_P", "/PCIE0_TX0_N"))

    assert run(["nets", str(path)]) == 0
    assert "not routed" in capsys.readouterr().out
    run(["check", str(path), *options])
    said = " ".join(capsys.readouterr().out.split())
    assert "not routed" in said
    assert "PCI Express, version unknown" in said or "pcie, version unknown" in said
    assert "no high-speed interface" not in said
