"""Tables that choose no net, or contradict one another, are told; the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.settings.config import parse_config

BOARD = Path(__file__).parents[4] / "fixtures/boards/edge_jetson_carrier_fit/edge_jetson_carrier_fit.kicad_pcb"
CSI = '[[impedance]]\nnet_classes = ["100Ohm-diff_CSI"]\nkind = "differential"\nohm = {}\n'
ONE = '[[impedance]]\nnets = ["/CSI0_D0_*"]\nkind = "differential"\nohm = {}\n'

DRILL = '[[backdrill]]\nnets = ["{}"]\nfrom = "B.Cu"\nmust_cut = "In4.Cu"\n'
USB = '[[interface]]\nis = "usb3.2gen1"\nrole = "type_c"\nnets = ["{}"]\n'
RAIL = '[[rail]]\nnet = "+5V"\nvoltage_v = {}\ncurrent_a = 1\n'


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        (
            CSI.format(100) + CSI.format(85),
            ["[[impedance]] 2 (85 ohm) takes 12 nets for which an earlier [[impedance]] states 100 ohm"],
        ),
        (
            CSI.format(100) + ONE.format(95),
            ["[[impedance]] 2 (95 ohm) takes 2 nets for which an earlier [[impedance]] states 100 ohm"],
        ),
        (
            CSI.format(100).replace("CSI", "CIS"),
            [
                "[[impedance]] 1 (100 ohm) matches no net of this board: the project has no net class "
                '"100Ohm-diff_CIS", did you mean "100Ohm-diff_CSI"?'
            ],
        ),
        (CSI.format(100) + ONE.format(100), []),
        (CSI.format(100), []),
        (
            DRILL.format("/CSI9*"),
            ['[[backdrill]] 1 matches no net of this board: no net is called "/CSI9*", did you mean "/CSI1_D1_P"?'],
        ),
        (DRILL.format("/CSI*"), []),
        (
            DRILL.format("/CSI*") + DRILL.format("/CSI0_D0_*").replace("In4", "In3"),
            [
                "[[backdrill]] 2 must cut In3.Cu from B.Cu, an earlier [[backdrill]] of 2 nets must cut In4.Cu: stubs "
                "follow the shallower one"
            ],
        ),
        (DRILL.format("/CSI*") + DRILL.format("/CSI0_D0_*"), []),
        (
            RAIL.format(12),
            ["[[rail]] 1 (+5V) states 12 V, the name of the net 5 V: drop and current follow voltage_v"],
        ),
        (RAIL.format(5.9), []),
        (RAIL.format(-5), []),
        (
            RAIL.format(5) + RAIL.format(5),
            ["[[rail]] 2 (+5V) is declared twice: each is judged by its own current, not by the sum"],
        ),
        (
            USB.format("/USB3_TX0_P"),
            ["[[interface]] takes /USB3_TX0_P, and not /USB3_TX0_N of the same pair"],
        ),
        (
            USB.format("/USB3_TX?_N"),
            ["[[interface]] takes /USB3_TX0_N, and not /USB3_TX0_P of the same pair; 1 more pair likewise"],
        ),
        (USB.format("/USB3_TX?_P") + USB.format("/USB3_TX?_N"), []),
        (
            '[[interface]]\nis = "usb2"\nnet_classes = ["90Ohm-diff_USB3"]\n',
            [
                '[[interface]] 1 (is = "usb2") matches only control and clock nets, or those of another interface, by '
                "their names; name them one by one if they are meant"
            ],
        ),
        (
            RAIL.format(5).replace("+5V", "+5V_SYS"),
            ['[[rail]] 1 (+5V_SYS): the board has no such net; did you mean "+5V"?'],
        ),
        (
            ONE.format(100).replace('"]', '", "/CSI9_*", "/ETH*", "/SFP*", "/QSFP*"]'),
            [
                '[[impedance]] 1 (100 ohm): no net is called "/CSI9_*", did you mean "/CSI1_D1_P"?; no net is called '
                '"/ETH*"; no net is called "/SFP*"; 1 more likewise'
            ],
        ),
        (
            USB.format("/USB3_*").replace("nets", 'net_classes = ["90Ohm-diff_USB4"]\nnets'),
            [
                '[[interface]] 1 (is = "usb3.2gen1"): the project has no net class "90Ohm-diff_USB4", did you mean '
                '"90Ohm-diff_USB3"?'
            ],
        ),
        (DRILL.format("/CSI0*").replace('"]', '", "/DSI*"]'), ['[[backdrill]] 1: no net is called "/DSI*"']),
        (ONE.format(100).replace('"]', '", "/CSI1_D?_?", "GND"]'), []),
        ("", []),
    ],
    ids=[
        "two targets",
        "one of a class",
        "misspelled",
        "the same twice",
        "one",
        "no drill",
        "a drill",
        "two drills of unlike depth",
        "the same drill twice",
        "another voltage",
        "a bus at its upper end",
        "below ground",
        "a rail twice",
        "half a pair",
        "halves of two pairs",
        "both halves by tables of their own",
        "a class of another interface",
        "a rail of no net",
        "wildcards of a table that match nothing",
        "a class of a table that is not there",
        "a second name of a backdrill",
        "wildcards that all match",
        "none",
    ],
)
def test_what_a_table_does_that_its_writer_may_not_expect_is_told(settings: str, notes: list[str]) -> None:
    report = check_board(BOARD, config=parse_config(settings))
    assert [note for note in report.notes if note.startswith("[[")] == notes


@pytest.mark.parametrize(
    ("cut", "notes"),
    [
        (
            "In6.Cu",
            [
                "[[backdrill]] 1 must cut In6.Cu from B.Cu, the file's backdrills of 16 vias must cut In3.Cu: "
                "stubs follow the shallower one"
            ],
        ),
        ("In3.Cu", []),
    ],
)
def test_a_backdrill_that_contradicts_the_files_is_told(cut: str, notes: list[str]) -> None:
    board = BOARD.parents[1] / "inference_pcie_gen5_fit/inference_pcie_gen5_fit.kicad_pcb"
    settings = f'[[backdrill]]\nnets = ["/PCIE_RX*"]\nfrom = "B.Cu"\nmust_cut = "{cut}"\n'

    report = check_board(board, config=parse_config(settings))

    assert [note for note in report.notes if "backdrill" in note] == notes


@pytest.mark.parametrize(
    ("chosen", "fact"),
    [("", "none is named"), ('nets = ["/FOO*"]', "/FOO* matches none")],
)
def test_an_interface_without_nets_asks_for_them_in_its_own_table(chosen: str, fact: str) -> None:
    """Not in KiCad: the names in the settings are the mistake."""
    report = check_board(BOARD, config=parse_config(f'[[interface]]\nis = "pcie5"\n{chosen}'))
    asked = {one.fact: one.how_to_give for verdict in report.verdicts for one in verdict.missing}
    assert asked[f"the nets of PCIe Gen5: {fact}"] == "in the [[interface]] of PCIe Gen5: the names of its nets"
