"""The mini-board builder, and the fixture boards that are made with it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sexpdata
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import fixtures.miniboard
from drc_rules.settings.config import parse_config
from fixtures import make_boards
from fixtures.miniboard import MiniBoard, build, to_text
from fixtures.miniboard.copper import offset_path
from fixtures.miniboard.fill import fill
from fixtures.miniboard.sexpr import number
from stackup_lib.kicad import read_board

NAMES = make_boards.board_names()
FAST = ("/NVLINK", "/PCIE")


def parse(text: str) -> list[Any]:
    """Read a board with plain sexpdata; symbols become strings, all else as it comes."""

    def plain(item: Any) -> Any:
        if isinstance(item, list):
            return [plain(part) for part in item]
        return item.value() if isinstance(item, sexpdata.Symbol) else item

    parsed = plain(sexpdata.loads(text, nil=None, true=None))
    assert isinstance(parsed, list)
    return parsed


def found(tree: list[Any], name: str) -> Iterator[list[Any]]:
    """Yield the direct sub-lists of that name."""
    return (part for part in tree if isinstance(part, list) and part[0] == name)


def one(tree: list[Any], name: str) -> list[Any]:
    (only,) = found(tree, name)
    return only


def mini(text: str) -> list[Any]:
    return parse(to_text(MiniBoard.model_validate(tomllib.loads(text))))


def area(points: list[tuple[float, float]]) -> float:
    x, y = np.array(points).T
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


# ------------------------------------------------------------------------------------------ the builder


def test_the_example_in_the_documentation_is_a_board(tmp_path: Path) -> None:
    """The example that people copy from the package's documentation builds, with all three files."""
    text = fixtures.miniboard.__doc__ or ""
    example = text[text.index("    size_mm") : text.index("Positions are")]
    path = build(tomllib.loads(re.sub(r"(?m)^    ", "", example)), tmp_path, "example")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["example.kicad_pcb", "example.kicad_pro", "stackwright.toml"]
    assert (tmp_path / "stackwright.toml").read_text() == 'profile = "edge"\n'
    board = read_board(path)
    assert board.stackup is not None
    plies = [ply for row in board.stackup.dielectrics for ply in row.plies]
    assert [ply.thickness_mm for ply in plies] == [0.1, 1.2, 0.06, 0.04]
    assert board.project.net_classes_of["/PCIE_P"] == ("85Ohm-diff_PCIE",)
    assert not board.unknown_tokens


def test_an_unknown_key_is_an_error() -> None:
    """A misspelt key is not silently without effect."""
    with pytest.raises(ValidationError, match="trakcs"):
        MiniBoard.model_validate({"trakcs": []})


def test_a_layer_that_the_board_lacks_is_an_error() -> None:
    """A track on a layer outside the stackup is a mistake in the case, not a board."""
    with pytest.raises(ValidationError, match=r"In3\.Cu"):
        MiniBoard.model_validate({"tracks": [{"layer": "In3.Cu", "path_mm": [[1, 1], [2, 1]]}]})


@pytest.mark.parametrize("row", ["perpreg 0.1", "prepreg 0.1 0.2", "prepreg+ 0.1", 'core 0.1 "FR4" dk=four'])
def test_a_stackup_row_that_makes_no_sense_names_its_line(row: str) -> None:
    """The author of a case learns which line to fix."""
    with pytest.raises(ValidationError, match="stackup line 2"):
        MiniBoard.model_validate({"stackup": f"F.Cu 0.035\n{row}\nB.Cu 0.035"})


def test_the_stackup_is_written_as_given_and_nothing_else() -> None:
    """Thickness, lock, material, Dk, Df and plies reach the file; what was left out is absent from it."""
    board = mini("""
stackup = '''
F.Cu
prepreg 0.1 locked "2116 # 1" dk=4.1 df=0.018   # a comment
prepreg+ 0.05 "1080"
B.Cu 0.035
'''
""")
    rows = [row for row in found(one(one(board, "setup"), "stackup"), "layer") if not row[1][2:].startswith(("S", "P"))]
    assert rows == [
        ["layer", "F.Cu", ["type", "copper"]],
        [
            *("layer", "dielectric 1", ["type", "prepreg"]),
            *(["thickness", 0.1, "locked"], ["material", "2116 # 1"], ["epsilon_r", 4.1], ["loss_tangent", 0.018]),
            *("addsublayer", ["thickness", 0.05], ["material", "1080"]),
        ],
        ["layer", "B.Cu", ["type", "copper"], ["thickness", 0.035]],
    ]
    assert one(one(board, "general"), "thickness") == ["thickness", 0.185]


def dielectrics_of(text: str) -> list[tuple[str, float]]:
    """Return type and thickness of each dielectric, which must all be FR4 4.5 / 0.02."""
    rows = found(one(one(mini(text), "setup"), "stackup"), "layer")
    dielectrics = [row[2:] for row in rows if row[1].startswith("dielectric")]
    for row in dielectrics:
        assert row[2:] == [["material", "FR4"], ["epsilon_r", 4.5], ["loss_tangent", 0.02]]
    return [(row[0][1], row[1][1]) for row in dielectrics]


@pytest.mark.parametrize(("layers", "share_mm"), [(2, 1.51), (4, 0.48), (6, 0.274), (28, 0.022222)])
def test_the_default_stackup_is_the_one_that_kicad_fills_in(layers: int, share_mm: float) -> None:
    """Core first, and each dielectric takes an equal share of 1.6 mm less 35 um copper layers and 10 um masks."""
    kinds = ["core", "prepreg"] * layers
    expected = [(kind, share_mm) for kind in kinds[: layers - 1]]
    assert dielectrics_of(f'copper_layers = {layers}\nstackup = "default"') == expected


@pytest.mark.parametrize(
    ("layers", "thickness_mm", "prepreg_mm", "core_mm"),
    [(4, 1.6, 0.1, 1.24), (4, 1.2, 0.1, 0.84), (6, 1.6, 0.1, 0.535), (8, 1.6, 0.1, 0.3), (28, 1.6, 0.022222, 0.022222)],
)
def test_the_default_of_board_setup_has_thin_prepregs_outside(
    layers: int, thickness_mm: float, prepreg_mm: float, core_mm: float
) -> None:
    """Values seen in boards made with KiCad 7 to 10, e.g. 0.1 / 1.24 / 0.1 in countless four-layer boards."""
    given = f'copper_layers = {layers}\nthickness_mm = {thickness_mm}\nstackup = "board setup default"'
    rows = dielectrics_of(given)
    assert rows == [("prepreg", prepreg_mm), ("core", core_mm)] * (layers // 2 - 1) + [("prepreg", prepreg_mm)]


def test_equal_boards_give_equal_bytes_and_ids_survive_edits_elsewhere() -> None:
    """An id depends on the item alone, so that a case's expectations do not move when a track is added."""
    track = {"net": "A", "layer": "F.Cu", "path_mm": [[1, 1], [2, 1]]}
    other = {"net": "B", "layer": "B.Cu", "path_mm": [[1, 2], [2, 2]]}
    alone = to_text(MiniBoard.model_validate({"tracks": [track]}))
    assert alone == to_text(MiniBoard.model_validate({"tracks": [track]}))
    both = parse(to_text(MiniBoard.model_validate({"tracks": [other, track, track]})))
    ids = {one(item, "uuid")[1] for item in found(both, "segment")}
    assert len(ids) == 3
    assert one(one(parse(alone), "segment"), "uuid")[1] in ids


def test_via_tokens_are_spelled_as_kicad_10_does() -> None:
    """Backdrill, tertiary drill and IPC-4761 tokens stand in KiCad's own form, and only those that were given."""
    board = mini("""
copper_layers = 6
[[vias]]
net = "A"
at_mm = [1, 2]
size_mm = 0.5
drill_mm = 0.3
backdrill = { size_mm = 0.45, from = "F.Cu", must_cut = "In1.Cu" }
tertiary = { size_mm = 0.46, from = "B.Cu", must_cut = "In4.Cu" }
tented = "front"
filled = true
capped = true
plugged = false
""")
    via = one(board, "via")
    assert one(via, "backdrill") == ["backdrill", ["size", 0.45], ["layers", "F.Cu", "In1.Cu"]]
    assert one(via, "tertiary_drill") == ["tertiary_drill", ["size", 0.46], ["layers", "B.Cu", "In4.Cu"]]
    assert one(via, "at") == ["at", 51, 52]
    assert one(via, "tenting") == ["tenting", ["front", "yes"], ["back", "no"]]
    assert one(via, "plugging") == ["plugging", ["front", "no"], ["back", "no"]]
    assert (one(via, "filling"), one(via, "capping")) == (["filling", "yes"], ["capping", "yes"])
    assert not list(found(via, "covering"))


def test_a_pair_keeps_its_gap_round_a_corner() -> None:
    """Both halves of a pair run at half of width plus gap from the path, on every segment."""
    path = ((0.0, 0.0), (10.0, 0.0), (15.0, 5.0), (15.0, 12.0), (10.0, 12.0))
    for side in (1, -1):
        moved = offset_path(path, side * 0.135)
        for (ax, ay), (bx, by), (px, py) in zip(path, path[1:], moved, strict=False):
            cross = ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / math.hypot(bx - ax, by - ay)
            assert cross == pytest.approx(-side * 0.135, abs=2e-6)


def test_numbers_are_written_without_noise() -> None:
    """Sums of floats do not reach the file."""
    assert [number(v) for v in (0.1 + 0.2, 1.0, -0.0000001, 60.0000005, 5)] == ["0.3", "1", "0", "60", "5"]


# ------------------------------------------------------------------------------------------------ fills

COORDINATE = st.integers(0, 12)
RECTANGLES = st.lists(st.tuples(COORDINATE, COORDINATE, st.integers(1, 6), st.integers(1, 6)), max_size=9)


@given(RECTANGLES)
def test_a_fill_has_the_area_that_is_left(rectangles: list[tuple[int, int, int, int]]) -> None:
    """Slits add no area, holes that overlap count once, islands are all there: compared with counting cells."""
    cells = np.ones((12, 12), dtype=bool)
    for x, y, w, h in rectangles:
        cells[x : x + w, y : y + h] = False
    polygons = fill((0, 0, 12, 12), [(x, y, x + w, y + h) for x, y, w, h in rectangles])
    assert sum(area(polygon) for polygon in polygons) == pytest.approx(cells.sum())


def test_a_fill_keeps_clear_of_other_nets_and_covers_its_own() -> None:
    """A via of another net and a later zone are cut out with the clearance; the own net's via is not."""
    board = mini("""
size_mm = [10, 10]
planes = { "F.Cu" = "GND" }
vias = [{ net = "GND", at_mm = [2, 2] }, { net = "A", at_mm = [5, 5], size_mm = 0.5 }]
zones = [{ net = "B", layer = "F.Cu", rect_mm = [6.5, 1, 8.5, 2.5] }]
""")
    (ground,) = (zone for zone in found(board, "zone") if one(zone, "net")[1] == "GND")
    polygon = [(x, y) for _, x, y in one(one(ground, "filled_polygon"), "pts")[1:]]
    assert area(polygon) == pytest.approx(9 * 9 - 1.0 * 1.0 - 2.5 * 2.0)
    assert {(54.5, 54.5), (55.5, 54.5), (54.5, 55.5), (55.5, 55.5)} <= set(polygon)


def test_a_track_across_a_plane_splits_its_fill() -> None:
    """Two islands remain, each stored as a polygon of its own, 0.5 mm inside the outline."""
    board = mini("""
size_mm = [10, 10]
planes = { "F.Cu" = "GND" }
tracks = [{ net = "A", layer = "F.Cu", path_mm = [[0, 5], [10, 5]], width_mm = 0.5 }]
""")
    polygons = [one(p, "pts")[1:] for p in found(one(board, "zone"), "filled_polygon")]
    assert [area([(x, y) for _, x, y in p]) for p in polygons] == pytest.approx([9 * 4.0, 9 * 4.0])


# ---------------------------------------------------------------------------------------- fixture boards


@pytest.mark.parametrize("name", NAMES)
def test_committed_boards_are_those_that_the_script_makes(name: str, tmp_path: Path) -> None:
    """No fixture board is edited by hand, and no change of the builder goes unseen."""
    made = make_boards.make(name, tmp_path).parent
    committed = make_boards.BOARDS / name
    files = sorted(p.name for p in made.iterdir())
    assert files == sorted(p.name for p in committed.iterdir() if p.name != make_boards.DESCRIPTION)
    for file in files:
        assert (made / file).read_bytes() == (committed / file).read_bytes(), file


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_board_says_why_it_is_there_and_is_small(name: str) -> None:
    """Each has its sentence, declares its facts in a valid `stackwright.toml`, and stays under 300 kB."""
    recipe = make_boards.describe(name)
    assert len(str(recipe["why"])) > 20
    assert (make_boards.BOARDS / name / f"{name}.kicad_pcb").stat().st_size < 300_000
    config = parse_config(str(recipe["config"]))
    assert config.profile is not None
    assert name.startswith(config.profile.split("-")[0]) or config.profile == "edge"


def test_a_twin_cannot_change_what_its_base_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that has lost its difference to an edit of the base is an error, not a second fit board."""
    monkeypatch.setattr(make_boards, "BOARDS", tmp_path)
    for folder, text in {
        "fit": "why = 'fit'\nstackup = 'F.Cu 0.035'",
        "twin": "base = 'fit'\nwhy = 'x'\n[[change]]\nkey = 'stackup'\nold = '0.018'\nnew = '0.07'",
    }.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / make_boards.DESCRIPTION).write_text(text)
    with pytest.raises(ValueError, match=r"twin.*0\.018"):
        make_boards.describe("twin")


def test_the_training_board_is_what_its_name_says() -> None:
    """28 symmetric layers, 8 NVLink striplines between grounds in Megtron 7, six 2 oz power planes."""
    board = read_board(make_boards.BOARDS / "training_b200_fit" / "training_b200_fit.kicad_pcb")
    assert board.layer_count == 28
    assert board.stackup is not None
    rows = [row for row in board.stackup.layers if row.is_dielectric or row.kind == "copper"]
    assert [row.thickness_mm for row in rows] == [row.thickness_mm for row in reversed(rows)]
    assert board.thickness_mm == pytest.approx(3.54, abs=0.01)
    planes = {}
    for zone, layer in zip(board.zones.fill_zone, board.zones.fill_layer, strict=True):
        planes[int(layer)] = board.nets[board.zones.net[zone]]
    power = [layer for layer, net in planes.items() if net.startswith("+")]
    assert len(power) == 6
    assert {board.stackup.copper[layer].thickness_mm for layer in power} == {0.07}
    long = board.tracks.length_mm > 20
    nvlink = {
        int(layer)
        for layer, net in zip(board.tracks.layer[long], board.tracks.net[long], strict=True)
        if board.nets[net].startswith("/NVLINK")
    }
    assert len(nvlink) == 8
    names = [row.name for row in board.stackup.layers]
    for layer in nvlink:
        assert planes[layer - 1] == planes[layer + 1] == "GND"
        at = names.index(board.copper_layers[layer].name)
        for row in (board.stackup.layers[at - 1], board.stackup.layers[at + 1]):
            assert str(row.plies[0].material).startswith(("R-5680(N)", "R-5785(N)"))


@pytest.mark.parametrize("name", ["training_b200_fit", "inference_pcie_gen5_fit"])
def test_backdrills_of_the_fit_boards_spare_the_routed_layer_and_leave_one_gap(name: str) -> None:
    """Every high-speed via is drilled from the side the signal does not use, up to the layer next to its stripline."""
    board = read_board(make_boards.BOARDS / name / f"{name}.kicad_pcb")
    long = board.tracks.length_mm > 20
    routed = dict(zip(board.tracks.net[long].tolist(), board.tracks.layer[long].tolist(), strict=True))
    fast = [k for k, net in enumerate(board.vias.net) if board.nets[net].startswith(FAST)]
    assert len(fast) == {"training_b200_fit": 80, "inference_pcie_gen5_fit": 32}[name]
    drilling, last = board.vias.drilling, board.layer_count - 1
    for k in fast:
        start, cut = int(drilling.backdrill_start[k]), int(drilling.backdrill_must_cut[k])
        step = -1 if start == last else 1
        assert (start, cut) == (0 if step == 1 else last, routed[int(board.vias.net[k])] - step)
        assert board.vias.drill_mm[k] < drilling.backdrill_size_mm[k] < board.vias.size_mm[k]


def test_the_pcie_card_has_the_cards_thickness_and_size() -> None:
    """16 layers, 1.57 +- 0.13 mm, 167.65 x 111.15 mm, bevelled edge connector: the card form factor's values."""
    board = read_board(make_boards.BOARDS / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit.kicad_pcb")
    assert board.layer_count == 16
    assert board.stackup is not None
    assert board.stackup.thickness_mm == pytest.approx(1.57, abs=0.005)
    assert board.outline.size_mm == pytest.approx((167.65, 111.15))
    assert board.stackup.edge_connector == "bevelled"


def test_the_contradiction_is_in_the_file() -> None:
    """Six copper layers in the table, four in the stackup, and the reader keeps both."""
    name = "stackup_contradicts_layers"
    board = read_board(make_boards.BOARDS / name / f"{name}.kicad_pcb")
    assert board.stackup is not None
    assert (board.layer_count, len(board.stackup.copper)) == (6, 4)


def without(tree: list[Any], *names: str) -> list[Any]:
    """Return the tree without the lists of those names, at any depth."""
    kept = [part for part in tree if not (isinstance(part, list) and part and part[0] in names)]
    return [without(part, *names) if isinstance(part, list) else part for part in kept]


@pytest.mark.parametrize(
    ("twin", "fit", "differs_in"),
    [
        ("training_b200_ed_foil", "training_b200_fit", ()),
        ("inference_pcie_loose_impedance", "inference_pcie_gen5_fit", ()),
        ("missing_project", "edge_jetson_carrier_fit", ()),
        ("training_b200_no_backdrill", "training_b200_fit", ("backdrill",)),
        ("training_b200_lossy_prepreg", "training_b200_fit", ("general", "stackup")),
        ("training_b200_thin_power_copper", "training_b200_fit", ("general", "stackup")),
        ("inference_pcie_low_tg", "inference_pcie_gen5_fit", ("stackup",)),
        ("edge_unmirrored_copper", "edge_jetson_carrier_fit", ("general", "stackup")),
        ("stackup_contradicts_layers", "edge_jetson_carrier_fit", ("stackup",)),
        ("default_stackup", "edge_jetson_carrier_fit", ("general", "stackup")),
        ("default_stackup_of_board_setup", "default_stackup", ("stackup",)),
        ("no_stackup", "edge_jetson_carrier_fit", ("general", "stackup")),
    ],
)
def test_a_twin_differs_from_the_fit_board_in_one_thing(twin: str, fit: str, differs_in: tuple[str, ...]) -> None:
    """All else in the board file is the same, so a finding on the twin is about what was broken in it."""
    ours, base = (parse((make_boards.BOARDS / n / f"{n}.kicad_pcb").read_text("utf-8")) for n in (twin, fit))
    assert without(ours, *differs_in) == without(base, *differs_in)
    assert not differs_in or ours != base
