"""Boards of KiCad 4 and 5: the same facts as in the file that a real KiCad 10 makes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline
from drc_rules.report.verdicts import Verdict
from stackup_lib.board.board import Board, Ints, ViaKind
from stackup_lib.core.errors import BoardFileError, StackwrightError
from stackup_lib.kicad import read_board
from stackup_lib.kicad.read.items.legacy_fills import copper_of, slit
from stackup_lib.kicad.read.legacy import net_name
from stackwright.cli.app import run
from tests.conftest import KicadCli
from tests.support.kicad.kicad5_boards import NET_CLASSES, OUTLINE, TRACKS, Kicad5, whole_board

OVERBARS = {
    "/~RESET~": "/~{RESET}",
    "/~RESET": "/~{RESET}",
    "~A~B": "~{A}B",
    "A~B~C": "A~{B}C",
    "/a~~b": "/a~b",
    "~~{x}": "~~{x}",
    "~{x}": "~{x}",
    "/~A B~": "/~{A} B~{}",
    "~": "~",
    "/~RD~/~WR~": "/~{RD}/~{WR}",
    "~A}b~": "~{A}}b~{}",
    "~A)b": "~{A})b",
    "/~A~~B~": "/~{A~B}",
    "~~": "~",
    "/~~~A": "/~~{A}",
    "/D~{x}~": "/D~{x}~",
}
"""Net names as KiCad 5 wrote them, and what KiCad 10.0.6 makes of them."""


SIX_LAYERS = Path(__file__).parents[4] / "fixtures" / "boards" / "edge_jetson_carrier_fit"
"""A board whose plan would fit."""


def written(folder: Path, board: Kicad5, name: str = "old") -> Path:
    """A board of KiCad 5 as a file."""
    path = folder / f"{name}.kicad_pcb"
    path.write_text(board.text(), encoding="utf-8")
    return path


def read(folder: Path, board: Kicad5) -> Board:
    """A board of KiCad 5, read."""
    return read_board(written(folder, board))


def facts(board: Board) -> dict[str, object]:
    """What a board states, without ids, in an order that does not depend on the file."""

    def nets(rows: Ints) -> list[str]:
        return [board.nets[net] for net in rows.tolist()]

    tracks, vias, pads, feet = board.tracks, board.vias, board.pads, board.footprints
    via_columns = (vias.x_mm, vias.y_mm, vias.size_mm, vias.drill_mm, vias.kind, vias.start_layer, vias.end_layer)
    pad_columns = (pads.x_mm, pads.y_mm, pads.rotation_deg, pads.size_x_mm, pads.size_y_mm, pads.kind, pads.layers)
    drills = (np.nan_to_num(pads.drill_x_mm), np.nan_to_num(pads.drill_y_mm), pads.shape, pads.number)
    ends = (tracks.start_x_mm, tracks.start_y_mm, tracks.end_x_mm, tracks.end_y_mm)
    return {
        "layers": [layer.name for layer in board.copper_layers],
        "kinds": [layer.kicad_type for layer in board.copper_layers],
        "thickness": board.thickness_mm,
        "nets": sorted(board.nets),
        "tracks": _rows(*ends, tracks.width_mm, tracks.length_mm, tracks.layer, nets(tracks.net)),
        "vias": _rows(*via_columns, nets(vias.net)),
        "pads": _rows(*pad_columns, *drills, nets(pads.net)),
        "footprints": _rows(feet.reference, feet.value, feet.library_id, feet.back, feet.x_mm, feet.rotation_deg),
        "zones": _rows(board.zones.layers, board.zones.priority, board.zones.is_rule_area, nets(board.zones.net)),
        "has stackup": board.stackup is not None,
    }


def _rows(*columns: Sequence[object] | np.ndarray) -> list[tuple[object, ...]]:
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
    rounded = [[round(v, 6) if isinstance(v, float) else v for v in column] for column in lists]
    return sorted(zip(*rounded, strict=True), key=repr)


def fills(board: Board) -> dict[tuple[str, int], shapely.Geometry]:
    """The stored copper of every net on every layer."""
    zones = board.zones
    found: dict[tuple[str, int], list[shapely.Geometry]] = {}
    for k, (zone, layer) in enumerate(zip(zones.fill_zone.tolist(), zones.fill_layer.tolist(), strict=True)):
        part = slice(int(zones.fill_start[k]), int(zones.fill_start[k + 1]))
        ring = np.column_stack([zones.fill_x_mm[part], zones.fill_y_mm[part]])
        key = board.nets[int(zones.net[zone])], layer
        found.setdefault(key, []).append(shapely.make_valid(shapely.Polygon(ring)))
    return {key: shapely.union_all(parts) for key, parts in found.items()}


VARIANTS = {
    "KiCad 5": whole_board(),
    "KiCad 5, two layers": Kicad5(layers=("F.Cu signal", "B.Cu signal"), nets=("",), items=(OUTLINE,)),
    "KiCad 4": replace(whole_board(), version="4", host="pcbnew 4.0.7", thickness_mm=1.6),
}


@pytest.mark.slow
@pytest.mark.kicad
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_facts_are_those_of_the_file_that_kicad_10_makes_of_it(
    variant: str, tmp_path: Path, kicad_cli: KicadCli
) -> None:
    """Layers, nets, tracks, vias, pads, footprints, zones, fills, thickness and size are the same in both files."""
    old = written(tmp_path, VARIANTS[variant])
    new = written(tmp_path, VARIANTS[variant], "new")
    kicad_cli("pcb", "upgrade", new)
    before, after = read_board(old), read_board(new)
    assert after.format_version > 20250000 > before.format_version
    assert facts(before) == facts(after)
    assert before.outline.size_mm == pytest.approx(after.outline.size_mm, abs=1e-6)
    ours, theirs = fills(before), fills(after)
    assert set(ours) == set(theirs)
    for key, area in ours.items():
        assert area.symmetric_difference(theirs[key]).area < 1e-5 * area.area
    assert before.warnings == ()
    assert before.unknown_tokens == {}


@pytest.mark.kicad
def test_the_check_says_the_same_of_both_files(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Every verdict is that of the file KiCad 10 makes, but for what its upgrade on the command line loses: classes."""
    paths = [written(tmp_path, whole_board(), name) for name in ("old", "new")]
    kicad_cli("pcb", "upgrade", paths[1])
    options = Overrides(profile="inference-pcie")
    old, new = (
        {v.clause.id: (v.verdict, v.checked, v.undecided) for v in check_board(path, overrides=options).verdicts}
        for path in paths
    )
    of_classes = {"board.project", "board.nets.in_classes", "board.impedance.intended", "board.via.class_allowed"}
    of_classes.add("board.setup.minimums")
    assert {one for one in old.keys() | new.keys() if old.get(one) != new.get(one)} == of_classes


@pytest.mark.kicad
def test_overbars_are_turned_as_kicad_10_turns_them(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """A real KiCad gives every odd name the new form that we give it."""
    items = tuple(
        f"  (segment (start {k} 0) (end {k} 1) (width 0.2) (layer F.Cu) (net {k + 1}))" for k in range(len(OVERBARS))
    )
    path = written(tmp_path, Kicad5(nets=("", *(f'"{name}"' for name in OVERBARS)), items=items))
    kicad_cli("pcb", "upgrade", path)
    board = read_board(path)
    at = {round(x): board.nets[net] for x, net in zip(board.tracks.start_x_mm, board.tracks.net.tolist(), strict=True)}
    assert [at[k] for k in range(len(OVERBARS))] == list(OVERBARS.values())


@pytest.mark.parametrize(("old", "new"), OVERBARS.items())
def test_overbars_of_old_names_are_those_of_new_ones(old: str, new: str) -> None:
    """Between tildes before KiCad 6, in braces since; newer files keep what they hold."""
    assert net_name(old, 20171130) == new
    assert net_name(old, 20211014) == old


def test_net_classes_of_the_board_hold_with_their_nets(tmp_path: Path) -> None:
    """Classes stand in the board; nets of a class keep it under their new names, all others are of Default."""
    project = read(tmp_path, whole_board()).project
    assert project.path is None
    assert set(project.classes) == {"Default", "85R"}
    assert project.net_classes_of == {"/PCIE_TX0_P": ("85R",), "/PCIE_TX0_N": ("85R",)}
    pair = project.effective("/PCIE_TX0_P")
    assert (pair.track_width_mm, pair.diff_pair_width_mm, pair.diff_pair_gap_mm) == (0.12, 0.12, 0.16)
    assert (pair.clearance_mm, pair.via_diameter_mm, pair.via_drill_mm) == (0.15, 0.5, 0.25)
    other = project.effective("/~{RESET}")
    assert (other.track_width_mm, other.via_drill_mm, other.diff_pair_gap_mm) == (0.25, 0.4, None)


def test_drills_left_to_the_class_are_its_own_for_vias_and_for_microvias(tmp_path: Path) -> None:
    """A via without a drill has its class's, and a microvia the class's other one."""
    vias = read(tmp_path, whole_board()).vias
    drill = {(x, y): d for x, y, d in zip(vias.x_mm.tolist(), vias.y_mm.tolist(), vias.drill_mm.tolist(), strict=True)}
    assert drill[(125.0, 70.0)] == 0.25
    assert drill[(105.0, 80.0)] == 0.4
    assert drill[(109.0, 71.0)] == 0.12
    kinds = {ViaKind(kind): int(np.sum(vias.kind == kind)) for kind in np.unique(vias.kind).tolist()}
    assert kinds == {ViaKind.THROUGH: 3, ViaKind.BLIND: 1, ViaKind.BURIED: 1, ViaKind.MICRO: 2}


def test_a_drill_that_is_not_stated_is_reported_and_stays_unknown(tmp_path: Path) -> None:
    """Without net classes a via's drill is unknown; the report says so."""
    board = read(tmp_path, Kicad5(items=(TRACKS,)))
    assert np.isnan(board.vias.drill_mm).sum() == 3
    assert [w for w in board.warnings if "drill sizes of vias" in w]


def test_copper_layers_under_names_of_ones_own(tmp_path: Path) -> None:
    """A layer that the user renamed keeps its place and both names; items use the name of their own."""
    layers = ("Top signal", "GND power", "PWR power", "Bottom signal")
    tracks = TRACKS.replace("F.Cu", "Top").replace("B.Cu", "Bottom").replace("In1.Cu", "GND").replace("In2.Cu", "PWR")
    board = read(tmp_path, Kicad5(layers=layers, net_classes=NET_CLASSES, items=(tracks,)))
    assert [(layer.name, layer.user_name) for layer in board.copper_layers] == [
        ("F.Cu", "Top"),
        ("In1.Cu", "GND"),
        ("In2.Cu", "PWR"),
        ("B.Cu", "Bottom"),
    ]
    assert sorted(set(board.tracks.layer.tolist())) == [0, 3]
    assert (len(board.tracks), len(board.vias)) == (5, 7)


def test_a_layer_that_bears_the_own_name_of_another_layer_is_told_by_its_number(tmp_path: Path) -> None:
    """As WilliamSanchez/Hardware, IMXDesign: the number says which layer it is, and items mean the user's name."""
    layers = ("F.Cu signal", "GND.Cu power", "In1.Cu signal", "B.Cu signal")
    tracks = "\n".join(
        f"  (segment (start 10 {y}) (end 20 {y}) (width 0.2) (layer {layer}) (net 3))"
        for y, layer in enumerate(("F.Cu", "GND.Cu", "In1.Cu", "B.Cu"))
    )
    board = read(tmp_path, Kicad5(layers=layers, net_classes=NET_CLASSES, items=(tracks,)))
    assert [(layer.name, layer.user_name) for layer in board.copper_layers] == [
        ("F.Cu", None),
        ("In1.Cu", "GND.Cu"),
        ("In2.Cu", "In1.Cu"),
        ("B.Cu", None),
    ]
    assert board.tracks.layer.tolist() == [0, 1, 2, 3]


def test_a_layer_that_bears_its_own_name_has_no_other(tmp_path: Path) -> None:
    """Names as KiCad 5 gave them: no layer has a name of the user's."""
    board = read(tmp_path, Kicad5(net_classes=NET_CLASSES, items=(TRACKS,)))
    assert [(layer.name, layer.user_name) for layer in board.copper_layers] == [
        (name, None) for name in ("F.Cu", "In1.Cu", "In2.Cu", "B.Cu")
    ]


def test_a_keepout_is_a_rule_area_without_copper(tmp_path: Path) -> None:
    """A keepout of KiCad 5 has no net and no fill, and holds on the layers it names."""
    zones = read(tmp_path, whole_board()).zones
    assert zones.is_rule_area.tolist() == [0, 0, 1]
    assert zones.layers.tolist() == [0b0010, 0b0100, 0b1001]
    assert 2 not in zones.fill_zone.tolist()


def test_the_pen_makes_fills_larger_by_half_its_width_and_holes_smaller(tmp_path: Path) -> None:
    """A fill of 48 x 11 mm and a pen of 0.254 mm: 2 x 59 x 0.127 and the corners more; its hole shrinks likewise."""
    (area,) = fills(read(tmp_path, whole_board())).values()
    upper, lower = sorted(shapely.get_parts(area), key=lambda part: part.bounds[1])
    corners = np.pi * 0.127**2
    assert upper.bounds == pytest.approx((100.873, 50.873, 149.127, 62.127))
    hole = (5 - 0.254) * (5 - 0.254)
    assert upper.area == pytest.approx(48 * 11 + 2 * 59 * 0.127 + corners - hole, abs=0.002)
    assert lower.area == pytest.approx(48 * 10 + 2 * 58 * 0.127 + corners, abs=0.002)
    assert len(upper.interiors) == 1


@pytest.mark.parametrize("said", ["", "(filled_areas_thickness no)", "(filled_areas_thickness yes)"])
@pytest.mark.parametrize("version", [20171130, 20211014, 20250118, 20250210])
def test_newer_files_say_whether_a_pen_drew_their_fills(version: int, said: str, tmp_path: Path) -> None:
    """KiCad 10 inflates fills of files before 20250210 unless they say no, and of all that say yes."""
    zone = f"""  (zone (net 1) (net_name GND) (layer F.Cu) (tstamp 0) (hatch edge 0.5) (min_thickness 0.2) {said}
    (fill yes) (polygon (pts (xy 0 0) (xy 50 0) (xy 50 50) (xy 0 50)))
    (filled_polygon (layer F.Cu) (pts (xy 1 1) (xy 49 1) (xy 49 49) (xy 1 49))))"""
    board = read(tmp_path, Kicad5(version=str(version), items=(zone,)))
    drawn = "yes" in said or (not said and version < 20250210)
    assert board.zones.fill_x_mm.min() == pytest.approx(0.9 if drawn else 1.0)


def test_slits_join_holes_and_change_no_area() -> None:
    """A plate of 400 holes in rows becomes one ring that encloses exactly what was copper, with no crossing slit."""
    centres = [(x, y) for x in range(1, 21) for y in range(1, 21)]
    holes = [np.array(shapely.Point(x + 0.01 * y, y).buffer(0.3, quad_segs=4).exterior.coords)[:-1] for x, y in centres]
    outer = np.array([(0, 0), (22, 0), (22, 22), (0, 22)], dtype=np.float64)
    ring = slit(outer, holes)
    plate = shapely.Polygon(outer, holes)
    area = shapely.make_valid(shapely.Polygon(ring))
    assert area.area == pytest.approx(plate.area, rel=1e-9)
    assert area.symmetric_difference(plate).area < 1e-9
    assert len(ring) == 4 + sum(len(hole) + 1 for hole in holes) + 2 * len(holes)


def test_holes_that_close_under_the_pen_are_copper() -> None:
    """A hole narrower than the pen vanishes, a piece that a pen joins is one."""
    narrow = np.array([(0, 0), (10, 0), (10, 10), (0, 10), (0, 5), (4, 5), (4, 5.1), (6, 5.1), (6, 5), (4, 5), (0, 5)])
    (ring,) = copper_of(narrow, 0.4)
    assert shapely.Polygon(ring).is_valid
    assert shapely.Polygon(ring).area == pytest.approx(10.4**2 - (4 - np.pi) * 0.04, abs=0.005)


def test_without_a_stackup_nothing_is_proven_and_nothing_is_passed(tmp_path: Path) -> None:
    """STK says that no stackup is stated; thickness and materials are not verifiable, and the board is never fit."""
    path = written(tmp_path, whole_board())
    report = check_board(path, overrides=Overrides(profile="edge"))
    verdicts = {v.clause.id: v for v in report.verdicts}
    assert report.headline is Headline.NOT_PROVEN
    assert verdicts["board.stackup.declared"].verdict is Verdict.FAILED
    for clause in ("board.stackup.layers", "edge.tg.min", "board.stackup.complete"):
        assert verdicts[clause].verdict is Verdict.NOT_VERIFIABLE
    assert verdicts["board.project"].verdict is not Verdict.FAILED
    assert "KiCad 5" not in " ".join(report.notes)


def test_nothing_is_written_into_such_a_board(tmp_path: Path) -> None:
    """apply refuses with one clear line and leaves the file as it was."""
    names = ("F.Cu", "In1.Cu", "In2.Cu", "In3.Cu", "In4.Cu", "B.Cu")
    path = written(tmp_path, Kicad5(layers=tuple(f"{name} signal" for name in names)))
    plan = tmp_path / "six_layers.stackwright-plan.toml"
    before = path.read_bytes()
    assert run(["stackup", str(SIX_LAYERS), "--plan", "--output", str(plan)]) == 0
    with pytest.raises(StackwrightError, match=r"older than KiCad 6.*open the board in KiCad and save it"):
        run(["apply", str(plan), str(path), "--write", "--change-stackup"])
    with pytest.raises(StackwrightError, match="is there already"):
        run(["new", "--profile", "edge", str(path)])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE eagle SYSTEM "eagle.dtd">', "Eagle"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "Altium"),
        (b"PK\x03\x04" + bytes(60), "ZIP"),
        (b'{"head": {"docType": "3"}}', "EasyEDA"),
        (b"PCBNEW-BOARD Version 1 date 2012\n", "KiCad 3 or older"),
    ],
)
def test_other_programs_boards_are_one_clear_line(content: bytes, what: str, tmp_path: Path) -> None:
    """What is no board of ours is named, with the way to bring it into KiCad."""
    path = tmp_path / "other.kicad_pcb"
    path.write_bytes(content)
    with pytest.raises(BoardFileError) as caught:
        read_board(path)
    assert what in caught.value.what
    assert re.search("KiCad", caught.value.next_step)
