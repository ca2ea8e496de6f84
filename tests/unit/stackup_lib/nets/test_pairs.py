"""Differential pairs by net name: what KiCad pairs, what only the spelling pairs, and what is no pair at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackup_lib.board.board import Board
from stackup_lib.nets.diff_pairs import find_pairs
from tests.conftest import KicadCli
from tests.support.mini import mini_board


def with_nets(folder: Path, *nets: str) -> Board:
    """One 10 mm track per net, 1 mm apart."""
    tracks = [{"net": net, "layer": "F.Cu", "path_mm": [[5, 5 + i], [15, 5 + i]]} for i, net in enumerate(nets)]
    return mini_board(folder, {"copper_layers": 2, "tracks": tracks})


def paired(board: Board) -> dict[str, tuple[str, str]]:
    found = find_pairs(board)
    return {found.name[k]: (board.nets[found.positive[k]], board.nets[found.negative[k]]) for k in range(len(found))}


BY_KICAD = ("/USB.D+", "/USB.D-", "/TX_P", "/TX_N", "LANE_P0", "LANE_N0", "/A_P_12", "/A_N_12", "/CLKP", "/CLKN")


def test_the_polarity_stands_last_or_before_digits_and_underscores(tmp_path: Path) -> None:
    """`D+`/`D-`, `_P`/`_N`, `P`/`N` with and without a number behind."""
    assert paired(with_nets(tmp_path, *BY_KICAD)) == {
        "/USB.D": ("/USB.D+", "/USB.D-"),
        "/TX": ("/TX_P", "/TX_N"),
        "LANE_0": ("LANE_P0", "LANE_N0"),
        "/A__12": ("/A_P_12", "/A_N_12"),
        "/CLK": ("/CLKP", "/CLKN"),
    }


ALONE = ("/RX_P", "/B/TX_N", "/SDP_1", "/SDN_2", "+12", "-12", "/+5", "/-5", "GND", "/TX_P1", "/STEP", "Net-(U1-A+)")


def test_halves_of_different_names_and_signed_rails_are_no_pair(tmp_path: Path) -> None:
    """Another sheet, another number, a missing half, and +12 with -12."""
    assert paired(with_nets(tmp_path, *ALONE)) == {}


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        *(("/SENSOR_VP", "/SENSOR_VN"), ("SENS_VP", "SENS_VN"), ("/SVP", "/SVN"), ("/GPIO36_SVP", "/GPIO36_SVN")),
        *(
            ("/SENSOR_CAPP", "/SENSOR_CAPN"),
            ("/esp/sensor_vp", "/esp/sensor_vn"),
            ("VP", "VN"),
            ("/ESP32_VP", "/ESP32_VN"),
        ),
        *(
            ("V+", "V-"),
            ("/OPAMP_V+", "/OPAMP_V-"),
            ("12V+", "12V-"),
            ("/5VP", "/5VN"),
            ("/VP", "/VM"),
            ("/VP1", "/VN1"),
        ),
    ],
)
def test_voltages_and_sensor_pins_are_no_pair(tmp_path: Path, positive: str, negative: str) -> None:
    """Pins 36 and 39 of ESP32 are two inputs; KiCad pairs them by their names."""
    assert paired(with_nets(tmp_path, positive, negative)) == {}


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        *(("/XADC_VP", "/XADC_VN"), ("/XADC_VP_0", "/XADC_VN_0"), ("/SYSMON_VP", "/SYSMON_VN")),
        *(("/VAUXP0", "/VAUXN0"), ("/AIN_VINP", "/AIN_VINN"), ("/HSYNC_V_P", "/HSYNC_V_N"), ("/SENSOR_P", "/SENSOR_N")),
        *(
            ("/DVP", "/DVN"),
            ("/RECVP", "/RECVN"),
            ("/CAP_P", "/CAP_N"),
            ("/V1_TX_P", "/V1_TX_N"),
            ("/SENSE_P", "/SENSE_N"),
        ),
    ],
)
def test_pairs_with_v_or_sensor_in_their_names_stay_pairs(tmp_path: Path, positive: str, negative: str) -> None:
    """AMD's XADC and SYSMON have one differential input of that name; other words end in V too."""
    assert list(paired(with_nets(tmp_path, positive, negative)).values()) == [(positive, negative)]


SPELLED = ("/usb_dp", "/usb_dn", "/USB_DP", "/USB_DM", "/TX_P_C", "/TX_N_C", "/RX_{P}", "/RX_{N}")


def test_spellings_that_kicad_does_not_pair_are_pairs_and_say_so(tmp_path: Path) -> None:
    """Small letters alone, DP with DM, the far side of a capacitor, KiCad's subscripts."""
    board = with_nets(tmp_path, "/dp", "/dn", "/USB_DP", "/USB_DM", "/TX_P_C", "/TX_N_C", "/RX_{P}", "/RX_{N}")
    found = find_pairs(board)

    assert set(paired(board).values()) == {
        ("/dp", "/dn"),
        ("/USB_DP", "/USB_DM"),
        ("/TX_P_C", "/TX_N_C"),
        ("/RX_{P}", "/RX_{N}"),
    }
    assert found.by_kicad.tolist() == [0, 0, 0, 0]


def test_the_far_side_of_a_connector_or_protection_part_is_a_pair_too(tmp_path: Path) -> None:
    """Words that designers add behind the polarity; any other word is none of them."""
    board = with_nets(tmp_path, "/A_P_CONN", "/A_N_CONN", "/B_P_ESD", "/B_N_ESD", "/C_P_OK", "/C_N_OK")

    assert set(paired(board).values()) == {("/A_P_CONN", "/A_N_CONN"), ("/B_P_ESD", "/B_N_ESD")}


def test_two_nets_of_one_spelling_have_no_complement(tmp_path: Path) -> None:
    """`/d_p` and `/D_p` both read as D_P: it is not known whose complement /D_n is."""
    assert paired(with_nets(tmp_path, "/d_p", "/D_p", "/D_n")) == {}


def test_kicads_own_rule_goes_first_and_a_net_is_in_one_pair(tmp_path: Path) -> None:
    """DP pairs with DN as KiCad does it; DM is left alone."""
    board = with_nets(tmp_path, "/DM", "/DN", "/DP")
    found = find_pairs(board)

    assert paired(board) == {"/D": ("/DP", "/DN")}
    assert found.complement_of(board.net_index["/DP"]) == board.net_index["/DN"]
    assert found.complement_of(board.net_index["/DN"]) == board.net_index["/DP"]
    assert found.complement_of(board.net_index["/DM"]) is None
    assert found.pair_of(board.net_index["/DM"]) is None


def test_pins_without_a_connection_are_no_pair(tmp_path: Path) -> None:
    """Their nets hold pin names such as TX_P, yet have no second end."""
    assert paired(with_nets(tmp_path, "unconnected-(U1-TX_P", "unconnected-(U1-TX_N")) == {}


@pytest.mark.parametrize(
    "nets",
    [
        ("/DDR4_DQS0_T", "/DDR4_DQS0_C"),
        ("/DQS_T0", "/DQS_C0"),
        ("/DQS0_T_A", "/DQS0_C_A"),
        ("/CK_A_T", "/CK_A_C"),
        ("/DQS0", "/DQS0#"),
        ("/DQS0", "/~{DQS0}"),
        ("/DQS0", "/DQS0N"),
        ("/DQS0", "/DQS0_N"),
        ("/DRAM_SDQS0", "/DRAM_SDQS0_B"),
        ("/DDR.DQS[0]", "/DDR.DQS_N[0]"),
        ("/UDQS", "/UDQS#"),
        ("/DQSL", "/DQSL#"),
        ("/RDQS0_T", "/RDQS0_C"),
        ("/WCK0_T", "/WCK0_C"),
        ("/DDR_CK0", "/DDR_CK0N"),
        ("/MEM_CK", "/MEM_CK_N"),
        ("/DDR4/CK", "/DDR4/~{CK}"),
        ("/FBA_WCK01", "/FBA_WCK01#"),
        ("/ddr_dqs0_t", "/ddr_dqs0_c"),
    ],
)
def test_strobes_and_clocks_of_memories_are_pairs_as_jedec_and_chip_makers_write_them(
    tmp_path: Path, nets: tuple[str, str]
) -> None:
    """The true net is the positive one; KiCad pairs none of them."""
    board = with_nets(tmp_path, *reversed(nets))

    assert list(paired(board).values()) == [nets]
    assert find_pairs(board).by_kicad.tolist() == [0]


def test_a_clock_next_to_strobes_is_a_pair_and_one_of_other_parts_is_none(tmp_path: Path) -> None:
    """`CLK` and its inverse on a processor of the eighties are two single lines."""
    board = with_nets(tmp_path, "/A/DQS0_P", "/A/DQS0_N", "/A/CK", "/A/CK#", "/B/CLK", "/B/~{CLK}")

    assert paired(board) == {"/A/DQS0": ("/A/DQS0_P", "/A/DQS0_N"), "/A/CK": ("/A/CK", "/A/CK#")}


@pytest.mark.parametrize(
    "nets",
    [
        ("/DQS0_A", "/DQS0_B"),
        ("/DQS0", "/DQS0_A", "/DQS0_B"),
        ("/DQS0", "/DQS1#"),
        ("/DQS0_C", "/DQS0"),
        ("/DQS0", "/DQS0#", "/DQS0_N"),
        ("/CLK_A", "/CLK_B"),
        ("/DDR_CKE", "/DDR_CKE_N"),
        ("/SPI_CLK", "/SPI_CLK_N"),
        ("/DDR_TCK", "/DDR_TCK_N"),
    ],
)
def test_channels_enables_and_clocks_of_buses_are_no_pairs(tmp_path: Path, nets: tuple[str, ...]) -> None:
    """`DQS0_B` is that of channel B where there is a channel A; of two complements neither is believed."""
    assert paired(with_nets(tmp_path, *nets)) == {}


IN_PAIR_RULE = """(version 1)
(rule pair (condition "A.inDiffPair('*')") (constraint disallow track))
"""


@pytest.mark.kicad
def test_kicad_pairs_the_same_nets(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """A rule that forbids tracks of pairs fires on exactly the nets that are paired by KiCad's rule here."""
    nets = tuple(dict.fromkeys((*BY_KICAD, *(n for n in ALONE if n[-1] not in "25"), *SPELLED)))
    board = with_nets(tmp_path, *nets)
    assert board.path is not None
    board.path.with_suffix(".kicad_dru").write_text(IN_PAIR_RULE)
    report = tmp_path / "drc.json"

    kicad_cli("pcb", "drc", "--format", "json", "--output", report, board.path)

    said = json.loads(report.read_text())["violations"]
    texts = [item["description"] for v in said if v["type"] == "items_not_allowed" for item in v["items"]]
    by_kicad = {net for net in board.nets if any(f"[{net}]" in text for text in texts)}
    found = find_pairs(board)
    ours = {
        board.nets[net]
        for k in range(len(found))
        if found.by_kicad[k]
        for net in (found.positive[k], found.negative[k])
    }
    assert by_kicad == ours
    assert len(ours) >= len(BY_KICAD)
