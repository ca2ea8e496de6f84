"""The line of a finding is the one where a person would begin to fix it."""

from __future__ import annotations

import numpy as np
import pytest

from drc_rules.engine.check import check_board
from drc_rules.engine.finding_lines import with_lines
from drc_rules.report.findings import Finding, Location
from stackup_lib.kicad import read_board
from tests.support.boards import board_file
from tests.support.reports.made_reports import finding


def located(name: str, *findings: Finding) -> list[tuple[str, list[str | None]]]:
    """Return for each finding the text of its line, and of the lines of its places."""
    path = board_file(name)
    data = path.read_bytes()
    lines = data.decode("utf-8").splitlines()
    done = with_lines(findings, read_board(path, text=data), data)
    return [
        (lines[(f.line or 0) - 1].strip(), [lines[p.line - 1].strip() if p.line else None for p in f.places])
        for f in done
    ]


def test_a_dielectric_is_found_in_the_stackup_and_a_layer_in_its_row() -> None:
    about = finding(objects=("dielectric 5",), places=(Location(layer="In4.Cu"),))
    assert located("training_b200_lossy_prepreg", about) == [('(layer "dielectric 5"', ['(layer "In4.Cu"'])]
    ply = finding(objects=("dielectric 5, ply 2",), places=())
    assert located("training_b200_lossy_prepreg", ply)[0][0] == '(layer "dielectric 5"'


def test_without_a_stackup_a_layer_is_found_in_the_layer_table() -> None:
    ((line, places),) = located("no_stackup", finding(objects=(), places=(Location(layer="B.Cu"),)))
    assert places == ['(2 "B.Cu" signal)']
    assert line == '(2 "B.Cu" signal)'


@pytest.mark.parametrize(
    ("thing", "line"),
    [("layers", "(layers"), ("thickness", "(general"), ("stackup", "(stackup"), ("project", "(stackup")],
)
def test_what_concerns_the_whole_board_is_found_in_its_block(thing: str, line: str) -> None:
    assert located("training_b200_fit", finding(objects=(thing,), places=()))[0][0] == line


@pytest.mark.slow
def test_an_item_is_found_by_its_uuid_and_a_net_by_its_first_item() -> None:
    path = board_file("training_b200_no_backdrill")
    text = path.read_text(encoding="utf-8").splitlines()
    report = check_board(path)
    via = next(f for f in report.findings if f.code == "VIA001")
    place = next(p for p in via.places if p.uuid)
    assert place.line is not None
    assert via.line == place.line
    item = "\n".join(text[place.line - 1 : place.line + 40])
    assert text[place.line - 1].strip() == "(via"
    assert f'(uuid "{place.uuid}")' in item[: item.index("\n\t)")]
    net = with_lines(
        [finding(objects=(), places=(Location(net=via.places[0].net),))], read_board(path), path.read_bytes()
    )
    assert net[0].line is not None
    assert f'(net "{via.places[0].net}")' in "\n".join(text[net[0].line - 1 : net[0].line + 12])


def test_a_pad_without_uuid_is_found_by_its_middle() -> None:
    """Before KiCad 6 pads have no uuid; the first pad of the net would be that of another part."""
    path = board_file("training_b200_no_backdrill")
    board, text = read_board(path), path.read_bytes()
    net, count = np.unique(board.pads.net, return_counts=True)
    row = int(np.flatnonzero(board.pads.net == net[count > 1][-1])[-1])
    name = board.nets[int(board.pads.net[row])]
    x_mm, y_mm = float(board.pads.x_mm[row]), float(board.pads.y_mm[row])
    exact, apart = Location(net=name, x_mm=x_mm, y_mm=y_mm), Location(net=name, x_mm=x_mm + 0.01, y_mm=y_mm)
    (done,) = with_lines([finding(objects=(), places=(exact, apart))], board, text)

    assert done.places[0].line == board.line_of(int(board.pads.offset[row]))
    assert done.places[1].line not in (None, done.places[0].line), "not in the middle of anything: the net's first item"


def test_a_board_that_names_nothing_gets_line_one() -> None:
    path = board_file("no_stackup")
    (done,) = with_lines([finding(objects=(), places=(Location(net="/nowhere"),))], read_board(path), b"")
    assert (done.line, done.places[0].line) == (1, None)


def test_a_track_on_a_layer_is_fixed_at_the_track_and_a_net_begins_with_its_first_pad() -> None:
    path = board_file("inference_pcie_gen5_fit")
    data = path.read_bytes()
    board = read_board(path, text=data)
    of_net = board.tracks.net[0]
    pads = [int(offset) for offset, net in zip(board.pads.offset, board.pads.net, strict=True) if net == of_net]
    assert pads, "the net has no pad"
    assert min(pads) < board.tracks.offset[0]
    track = finding(objects=("F.Cu",), places=(Location(layer="F.Cu", uuid=str(board.tracks.uuid[0])),))
    net = finding(objects=(), places=(Location(net=board.nets[of_net]),))
    done = with_lines([track, net], board, data)
    assert done[0].line == board.line_of(int(board.tracks.offset[0]))
    assert done[1].line == board.line_of(min(pads))
