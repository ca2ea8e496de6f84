"""Nets by number and by name: a merge of two files may leave a number of one net with the name of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackup_lib.board.board import Board
from tests.support.kicad.kicad_boards import HEAD_V9, board_text, read_as_board

PAD = '(pad "{k}" smd rect (at {k} 0) (size 1 1) (layers "F.Cu") {net} (uuid "p{k}"))'
NETS = '(net 0 "") (net 1 "GND") (net 2 "A")'
PADS_SAID = "with the number of one net and the name of another: read without a net, as KiCad does"
ZONES_SAID = "with the number of one net and the name of another: the name counts, as in KiCad"


def with_pads(folder: Path, *nets: str, head: str = HEAD_V9, table: str = NETS) -> Board:
    pads = " ".join(PAD.format(k=k, net=net) for k, net in enumerate(nets, start=1))
    item = f'(footprint "lib:R" (layer "F.Cu") (uuid "f1") (at 10 10) {pads})'
    return read_as_board(folder, board_text(head=head, items=item, nets=table, setup=""))


def with_zone(folder: Path, net: str) -> Board:
    item = f'(zone {net} (layer "F.Cu") (uuid "z1") (hatch edge 0.5) (polygon (pts (xy 0 0) (xy 9 0) (xy 9 9))))'
    return read_as_board(folder, board_text(items=item, nets=NETS, setup=""))


def names(board: Board) -> list[str]:
    return [board.nets[net] for net in board.pads.net.tolist()]


@pytest.mark.parametrize(
    ("net", "name", "is_torn"),
    [
        ('(net 1 "GND")', "GND", False),
        ('(net 2 "A")', "A", False),
        ('(net 0 "")', "", False),
        ("(net 1)", "GND", False),
        ('(net 1 "A")', "", True),
        ('(net 0 "A")', "", True),
        ('(net 1 "B")', "", True),
        ('(net 7 "A")', "A", False),  # the table lacks the number: the name is all there is
        ('(net 7 "B")', "B", False),
    ],
)
def test_a_pad_whose_name_is_not_that_of_its_number_has_no_net(
    net: str, name: str, is_torn: bool, tmp_path: Path
) -> None:
    """As in KiCad 10, the first pad of its kind and a later one alike."""
    board = with_pads(tmp_path, net, '(net 2 "A")', net)
    assert names(board) == [name, "A", name]
    assert board.warnings == ((f"2 pads {PADS_SAID}",) if is_torn else ())


def test_the_overbars_of_old_files_tear_nothing(tmp_path: Path) -> None:
    """Table and pad spell a net alike, whatever the board then calls it."""
    head = "(version 20171130) (host pcbnew 5.1.9)"
    board = with_pads(tmp_path, "(net 1 /~RST)", "(net 1 /~RST)", head=head, table='(net 0 "") (net 1 /~RST)')
    assert names(board) == ["/~{RST}", "/~{RST}"]
    assert board.warnings == ()


@pytest.mark.parametrize(
    ("net", "name", "is_torn"),
    [
        ('(net 1) (net_name "GND")', "GND", False),
        ('(net 0) (net_name "")', "", False),
        ("(net 1)", "GND", False),
        ('(net 1) (net_name "A")', "A", True),
        ('(net 0) (net_name "A")', "A", True),
        ('(net 1) (net_name "")', "", True),
        ('(net 7) (net_name "A")', "A", False),
        ('(net_name "A")', "A", False),
    ],
)
def test_the_name_of_a_zone_goes_before_its_number(net: str, name: str, is_torn: bool, tmp_path: Path) -> None:
    """As in KiCad 10."""
    board = with_zone(tmp_path, net)
    assert board.nets[int(board.zones.net[0])] == name
    assert board.warnings == ((f"1 zone {ZONES_SAID}",) if is_torn else ())
