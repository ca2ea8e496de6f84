"""Our facts against a real KiCad's, value by value, for our own boards: mismatch zero."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import make_boards
from stackup_lib.kicad import read_board
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.kicad.kicad_boards import board_text
from tests.support.kicad.kicad_facts import PARTS, compare
from tests.support.kicad.kicad_python import Facts, kicads_facts

CopyBoard = Callable[[Path], Path]
FIXTURES = Path(make_boards.__file__).parent / "boards"


@pytest.mark.pcbnew
@pytest.mark.parametrize("name", make_boards.board_names())
def test_fixture_boards_hold_what_kicad_finds(name: str, copy_board: CopyBoard) -> None:
    """Layers, stackup, tracks, vias, pads, zones, fills, net classes and backdrills are KiCad's own."""
    board = copy_board(FIXTURES / name / f"{name}.kicad_pcb")
    found = compare(read_board(board), kicads_facts(board))
    assert found.mismatches == []
    assert set(found.values) >= PARTS


ODD_NAMES = {"In1.Cu": "L[1;x'", "In2.Cu": "'L2]", "/PCIE_TX0_N": "/[PCIE;TX0_N'"}
"""KiCad 5 writes these without quotes."""


@pytest.mark.pcbnew
@pytest.mark.parametrize("names", [{}, ODD_NAMES], ids=["plain names", "odd names"])
def test_a_board_of_kicad_5_holds_what_kicad_finds(names: dict[str, str], tmp_path: Path) -> None:
    """Net classes in the board, drills left to them, overbars, layers' own names, and fills that a pen draws."""
    path = tmp_path / "old.kicad_pcb"
    text = whole_board().text()
    for name, other in names.items():
        text = text.replace(name, other)
    path.write_text(text, encoding="utf-8")
    found = compare(read_board(path), kicads_facts(path), by_uuid=False)
    assert found.mismatches == []
    assert found.values["fill area"] > 0


@pytest.fixture(scope="module")
def backdrilled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Facts]:
    """A board with backdrills, and what KiCad finds in it."""
    folder = tmp_path_factory.mktemp("backdrilled")
    source = FIXTURES / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit"
    for suffix in (".kicad_pcb", ".kicad_pro"):
        (folder / f"b{suffix}").write_bytes(source.with_suffix(suffix).read_bytes())
    return folder / "b.kicad_pcb", kicads_facts(folder / "b.kicad_pcb")


CHANGES: dict[str, Callable[[Facts], object]] = {
    "tracks": lambda f: f["tracks"][0].update({"width": f["tracks"][0]["width"] + 1}),
    "segment length": lambda f: f["tracks"][0].update({"length": f["tracks"][0]["length"] + 1.0}),
    "vias": lambda f: next(v for v in f["vias"] if v["machining"]).update({"machining": {}}),
    "pads": lambda f: f["pads"][0].update({"net": "other"}),
    "footprints": lambda f: f["footprints"][0].update({"back": not f["footprints"][0]["back"]}),
    "zones": lambda f: f["zones"][0].update({"priority": 7}),
    "outline area": lambda f: f["zones"][0].update({"outline": (4, 0, 1.0)}),
    "fill corners": lambda f: f["zones"][0]["fills"].clear(),
    "nets": lambda f: f["nets"].pop("GND"),
    "net classes": lambda f: f["nets"]["GND"].update({"track_width": 1}),
    "board thickness": lambda f: f.update({"thickness": f["thickness"] + 1}),
    "board size": lambda f: f.update({"edge": (1, 1)}),
    "layers": lambda f: f["layers"].reverse(),
    "stackup": lambda f: f.update({"settings": f["settings"].replace("(epsilon_r 3.23)", "(epsilon_r 3.24)", 1)}),
}


@pytest.mark.pcbnew
@pytest.mark.parametrize("table", CHANGES)
def test_a_difference_would_be_seen(table: str, backdrilled: tuple[Path, Facts]) -> None:
    """One changed value in what KiCad finds is a mismatch of its table."""
    path, facts = backdrilled
    changed = copy.deepcopy(facts)
    CHANGES[table](changed)
    board = read_board(path)
    assert compare(board, facts).mismatches == []
    assert any(line.startswith(table) for line in compare(board, changed).mismatches)


@pytest.mark.pcbnew
def test_numbers_and_names_of_different_nets_give_what_kicad_takes(tmp_path: Path) -> None:
    """A merge of two files may leave them; zones go by the name, pads lose their net."""
    path = tmp_path / "torn.kicad_pcb"
    nets = [(1, "GND"), (1, "A"), (7, "A"), (7, "B"), (0, "A"), (1, "")]
    uuids = (f'(uuid "00000000-0000-4000-8000-{k:012d}")' for k in range(1000))
    pads = [
        f'(pad "{k}" smd rect (at {2 * k} 0) (size 1 1) (layers "F.Cu") (net {number} "{name}") {next(uuids)})'
        for k, (number, name) in enumerate(nets)
    ]
    zones = [
        f'(zone (net {number}) (net_name "{name}") (layer "B.Cu") {next(uuids)}'
        f" (hatch edge 0.5) (connect_pads (clearance 0.1)) (min_thickness 0.1)"
        f" (polygon (pts (xy {9 * k} 50) (xy {9 * k + 5} 50) (xy {9 * k + 5} 55))))"
        for k, (number, name) in enumerate(nets)
    ]
    part = f'(footprint "lib:R" (layer "F.Cu") {next(uuids)} (at 10 10) {" ".join(pads)})'
    table = '(net 0 "") (net 1 "GND") (net 2 "A")'
    path.write_text(board_text(nets=table, items=part + " ".join(zones), setup=""), encoding="utf-8")
    assert compare(read_board(path), kicads_facts(path)).mismatches == []
