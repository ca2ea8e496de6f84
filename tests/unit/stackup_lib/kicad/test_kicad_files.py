"""The reader of `.kicad_pcb`: every version's spelling, every layout, sexpdata's own numbers, clear errors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import NO_LAYER, LayerKind, PadKind, ViaKind
from stackup_lib.kicad import read_board
from tests.support.kicad.kicad_boards import HEAD_V6, HEAD_V10, LAYERS_V6, board_text, read_as_board


def test_tracks_and_arcs(tmp_path: Path) -> None:
    """A segment's length is 5 for 3-4-5; an arc's runs along the circle through its middle, here half of 2 pi 10."""
    tracks = read_as_board(tmp_path, board_text()).tracks
    assert tracks.length_mm.tolist() == pytest.approx([5.0, 3.0, 10 * math.pi])
    assert tracks.layer.tolist() == [0, 2, 3]
    assert tracks.width_mm.tolist() == [0.2, 0.1, 0.3]
    assert np.isnan(tracks.mid_x_mm).tolist() == [True, True, False]
    assert (tracks.mid_x_mm[2], tracks.mid_y_mm[2]) == (0, 10)
    assert tracks.uuid.tolist() == ["s1", "s2", "a1"]


@pytest.mark.parametrize(
    ("middle", "end", "length"),
    [
        ((5, 5), (10, 0), 5 * math.pi),  # half circle
        ((10, 0), (5, -5), 7.5 * math.pi),  # three quarters
        ((10, 0), (0, 0), 10 * math.pi),  # a full circle ends where it begins
        ((5, 0), (10, 0), 10.0),  # the middle on the chord: straight
        ((5, 1e-4), (10, 0), 10.0000000027),  # nearly straight: chord (1 + 8/3 (h/c)^2)
    ],
)
def test_arc_lengths(tmp_path: Path, middle: tuple[float, float], end: tuple[float, float], length: float) -> None:
    """Arcs from (0, 0): short and long way round, closed, and degenerate."""
    item = (
        f'(arc (start 0 0) (mid {middle[0]} {middle[1]:f}) (end {end[0]} {end[1]}) (width 0.3) (layer "F.Cu") (net 1))'
    )
    assert read_as_board(tmp_path, board_text(items=item)).tracks.length_mm[0] == pytest.approx(length, rel=1e-9)


def test_vias_of_every_kind(tmp_path: Path) -> None:
    """Types and spans are read; a "blind" via that reaches no outer layer is a buried one."""
    vias = read_as_board(tmp_path, board_text()).vias
    assert vias.kind.tolist() == [ViaKind.THROUGH, ViaKind.BLIND, ViaKind.BURIED, ViaKind.MICRO]
    assert list(zip(vias.start_layer.tolist(), vias.end_layer.tolist(), strict=True)) == [
        (0, 3),
        (0, 1),
        (1, 2),
        (2, 3),
    ]
    assert np.isnan(vias.pad_size_mm).tolist()[1] == [False, False, True, True]
    assert vias.pad_size_mm[0].tolist() == [0.45] * 4
    assert vias.remove_unused.tolist() == [0, 0, 1, 0]
    assert vias.keep_end.tolist() == [0, 0, 1, 0]
    assert vias.tented_front.tolist() == [-1, -1, 1, -1]
    assert vias.tented_back.tolist() == [-1, -1, -1, -1]
    assert vias.drill_mm.tolist() == [0.1, 0.2, 0.2, 0.1]


def test_machining_and_protection_of_version_10(tmp_path: Path) -> None:
    """Backdrills, post-machining, IPC-4761 tokens and padstacks are read from vias, and drilling from pads too."""
    items = """
    (via buried (at 1 1) (size 0.5) (drill 0.3) (layers "In1.Cu" "In2.Cu") (net "GND"))
    (via (at 6 6) (size 0.5) (drill 0.3) (backdrill (size 0.45) (layers "F.Cu" "In1.Cu"))
      (tertiary_drill (size 0.46) (layers "B.Cu" "In2.Cu"))
      (front_post_machining counterbore (size 0.6) (depth 0.2))
      (back_post_machining countersink (size 0.7) (depth 0.15) (angle 90))
      (layers "F.Cu" "B.Cu") (padstack (mode front_inner_back) (layer "Inner" (size 0.7)) (layer "B.Cu" (size 0.9)))
      (tenting (front yes) (back no)) (capping yes) (covering (front no) (back yes)) (plugging (front yes) (back no))
      (filling no) (net "GND") (uuid "v"))
    (via (at 7 7) (size 0.5) (drill 0.3) (layers "F.Cu" "B.Cu")
      (padstack (mode custom) (layer "In1.Cu" (size 0.6)) (layer "In2.Cu" (size 0.61)) (layer "B.Cu" (size 0.62))))
    (footprint "a" (layer "F.Cu") (at 0 0) (pad "A1" thru_hole circle (at 0 0) (size 1 1) (drill 0.4)
      (backdrill (size 0.6) (layers "B.Cu" "In1.Cu")) (layers "*.Cu")
      (padstack (mode front_inner_back) (layer "Inner" (shape circle) (size 0.8 0.8))) (net "/A") (die_delay 12)))"""
    board = read_as_board(tmp_path, board_text(head=HEAD_V10, nets="", items=items))
    vias = board.vias
    assert board.nets == ("", "GND", "/A")
    assert vias.net.tolist() == [1, 1, 0]
    assert vias.kind.tolist() == [ViaKind.BURIED, ViaKind.THROUGH, ViaKind.THROUGH]
    assert vias.pad_size_mm[1].tolist() == [0.5, 0.7, 0.7, 0.9]
    assert vias.pad_size_mm[2].tolist() == [0.5, 0.6, 0.61, 0.62]
    d = vias.drilling
    assert (d.backdrill_size_mm[1], d.backdrill_start[1], d.backdrill_must_cut[1]) == (0.45, 0, 1)
    assert (d.tertiary_size_mm[1], d.tertiary_start[1], d.tertiary_must_cut[1]) == (0.46, 3, 2)
    assert (d.front_post[1], d.front_post_size_mm[1], d.front_post_depth_mm[1]) == ("counterbore", 0.6, 0.2)
    assert (d.back_post[1], d.back_post_size_mm[1], d.back_post_angle_deg[1]) == ("countersink", 0.7, 90)
    assert np.isnan(d.backdrill_size_mm[[0, 2]]).all()
    assert d.backdrill_start[0] == NO_LAYER
    stated = [
        (vias.tented_front, vias.tented_back, vias.covered_front, vias.covered_back),
        (vias.plugged_front, vias.plugged_back, vias.capped, vias.filled),
    ]
    assert [[int(c[1]) for c in group] for group in stated] == [[1, 0, 0, 1], [1, 0, 1, 0]]
    assert [[int(c[2]) for c in group] for group in stated] == [[-1] * 4] * 2
    pads = board.pads
    assert (pads.drilling.backdrill_size_mm[0], pads.drilling.backdrill_start[0]) == (0.6, 3)
    assert pads.drilling.backdrill_must_cut[0] == 1
    assert board.unknown_tokens == {}


def test_pads_tell_their_corners_and_where_their_copper_lies(tmp_path: Path) -> None:
    """Corners of a rounded pad, none of a rectangle; an offset from the hole; where a size does not tell the shape."""
    as_they_are = board_text()
    changed = as_they_are.replace('(pad "1" connect rect (at 3 4)', '(pad "1" connect trapezoid (at 3 4)')
    changed = changed.replace(
        "(roundrect_rratio 0.25)", "(roundrect_rratio 0.25) (chamfer_ratio 0.2) (chamfer top_left)"
    )
    changed = changed.replace('(layers "*.Cu" "*.Mask")', '(layers "*.Cu" "*.Mask") (remove_unused_layers yes)')

    pads, other = (read_as_board(tmp_path, text).pads for text in (as_they_are, changed))

    assert pads.corner_mm.tolist() == [0.25 * 0.8, 0.5, 0.5, 0.0]
    assert (pads.shift_x_mm.tolist(), pads.shift_y_mm.tolist()) == ([0.0, 0.1, 0.0, 0.0], [0.0] * 4)
    assert np.isnan(other.corner_mm).tolist() == [True, False, False, True]
    assert (pads.remove_unused.tolist(), other.remove_unused.tolist()) == ([0] * 4, [0, 1, 0, 0])
    assert other.keep_end.tolist() == [0] * 4


def test_pads_stand_where_the_footprint_puts_them(tmp_path: Path) -> None:
    """A pad's place turns with its footprint (a quarter turn takes +x to -y); its own angle is absolute."""
    board = read_as_board(tmp_path, board_text())
    pads = board.pads
    assert list(zip(pads.x_mm.tolist(), pads.y_mm.tolist(), strict=True)) == [(100, 51), (102, 49), (100, 50), (13, 24)]
    assert pads.rotation_deg.tolist() == [90, 180, 0, 0]
    assert pads.kind.tolist() == [PadKind.SMD, PadKind.THROUGH, PadKind.NON_PLATED, PadKind.CONNECTOR]
    assert pads.layers.tolist() == [0b0001, 0b1111, 0b1001, 0b1000]
    assert (pads.drill_x_mm[1], pads.drill_y_mm[1]) == (1.2, 0.6)
    assert np.isnan(pads.drill_x_mm[[0, 3]]).all()
    assert [board.nets[i] for i in pads.net] == ["GND", '/A (1) "q"', "", "GND"]
    assert pads.number.tolist() == ["1", "2", "", "1"]
    assert pads.footprint.tolist() == [0, 0, 0, 1]
    assert board.footprints.reference.tolist() == ["R1", "J1"]
    assert board.footprints.value.tolist() == ["10k (1%)", "CONN"]
    assert board.footprints.library_id.tolist() == ["lib:R (0603)", "lib:J"]
    assert board.footprints.back.tolist() == [0, 1]


def test_pads_of_one_kind_keep_names_that_hold_a_backslash(tmp_path: Path) -> None:
    """KiCad 5 writes such a net without quotes, KiCad 6 and later with two backslashes; pin names and numbers, too."""
    pads = "".join(
        f"(pad {number} thru_hole circle (at 0 {y}) (size 1.7 1.7) (drill 1) (layers *.Cu) (net 2 {net}) {function})"
        for y, (number, net, function) in enumerate(
            [
                ("1", r"/IO0\TX", r'(pinfunction "IO0\\TX")'),
                ("2", r"/IO0\TX", r'(pinfunction "IO0\\TX")'),
                (r"A\3", r'"/IO0\\TX"', r"(pinfunction IO2\TX)"),
                (r'"A\\4"', r'"/IO0\\TX"', r"(pinfunction IO2\TX)"),
            ]
        )
    )
    text = board_text(nets=r'(net 0 "") (net 2 /IO0\TX)', items=f"(footprint lib:J (layer F.Cu) (at 10 20) {pads})")
    board = read_as_board(tmp_path, text)
    assert [board.nets[i] for i in board.pads.net] == [r"/IO0\TX"] * 4
    assert board.pads.number.tolist() == ["1", "2", r"A\3", r"A\4"]
    assert board.pads.function.tolist() == [r"IO0\TX", r"IO0\TX", r"IO2\TX", r"IO2\TX"]


@pytest.mark.parametrize(
    ("version", "pins", "names"),
    [
        (20260206, {"2": "D-_2", "3": "D+_3", "SH": "Shield_SH", "4": ""}, ["D-", "D+", "Shield", ""]),
        (20260206, {"1": "Pin_1_1", "2": "Pin_2_2"}, ["Pin_1", "Pin_2"]),
        (20260206, {"1": "GND", "2": "IO_2"}, ["GND", "IO_2"]),
        (20241229, {"1": "IO_1", "2": "IO_2"}, ["IO_1", "IO_2"]),
    ],
)
def test_the_number_that_kicad_10_adds_to_a_pin_s_name_is_none_of_it(
    tmp_path: Path, version: int, pins: dict[str, str], names: list[str]
) -> None:
    """KiCad 10 adds it to all pins of a part that it updates from the schematic; other parts keep their names."""
    pads = "".join(
        f'(pad "{number}" smd rect (at {k} 0) (size 1 1) (layers "F.Cu")'
        + (f' (pinfunction "{name}") (pintype "passive")' if name else "")
        + f' (uuid "{k}"))'
        for k, (number, name) in enumerate(pins.items())
    )
    head = f'(version {version}) (generator "pcbnew")'
    text = board_text(head=head, nets="", items=f'(footprint "lib:J" (layer "F.Cu") (at 10 20) {pads})')
    assert read_as_board(tmp_path, text).pads.function.tolist() == names


def test_zones_and_fills(tmp_path: Path) -> None:
    """Fills carry layer and zone; a rule area inside a footprint is a zone of the board, in board coordinates."""
    zones = read_as_board(tmp_path, board_text()).zones
    assert zones.name.tolist() == ["plane (1)", ""]
    assert zones.layers.tolist() == [0b0011, 0b0001]
    assert zones.priority.tolist() == [7, 0]
    assert zones.is_rule_area.tolist() == [0, 1]
    assert zones.is_filled.tolist() == [1, 0]
    assert zones.fill_layer.tolist() == [0, 1]
    assert zones.fill_zone.tolist() == [0, 0]
    assert zones.fill_start.tolist() == [0, 3, 7]
    assert zones.fill_x_mm.tolist() == [0.5, 9.5, 9.5, 1, -9, 9, 1]
    assert zones.fill_y_mm.tolist() == [0.5, 0.5, 9.5, 1, 1.25, 9, 9]
    assert zones.outline_x_mm[zones.outline_start[1] :].tolist() == [11, 12, 12]


def test_outline_holds_all_shapes_of_the_board_and_its_footprints(tmp_path: Path) -> None:
    """Shapes become polylines on Edge.Cuts; a text there is none; arcs reach their outermost point exactly."""
    outline = read_as_board(tmp_path, board_text()).outline
    parts = [slice(a, b) for a, b in zip(outline.start[:-1], outline.start[1:], strict=True)]
    assert len(parts) == 3
    assert outline.x_mm[parts[0]].tolist() == [0, 60, 60, 0, 0]
    assert np.hypot(outline.x_mm[parts[1]] - 30, outline.y_mm[parts[1]] - 20) == pytest.approx(5)
    assert np.ptp(outline.x_mm[parts[1]]) == pytest.approx(10, abs=1e-9)
    assert outline.x_mm[parts[2]] == pytest.approx([100, 100])
    assert outline.y_mm[parts[2]] == pytest.approx([51, 49])
    shapes = """(gr_arc (start 0 0) (mid 5 -5) (end 10 0) (layer "Edge.Cuts") (width 0.1))
      (gr_arc (start 0 0) (end 0 4) (angle 90) (layer Edge.Cuts) (width 0.1))
      (gr_poly (pts (xy 0 0) (xy 3 0) (arc (start 3 0) (mid 4 1) (end 3 2)) (xy 0 2)) (layer "Edge.Cuts"))
      (gr_curve (pts (xy 0 0) (xy 0 1) (xy 1 1) (xy 1 0)) (layer "Edge.Cuts"))
      (gr_line (start 0 0) (end 9 9) (layer "F.SilkS"))"""
    outline = read_as_board(tmp_path, board_text(items=shapes)).outline
    x = [outline.x_mm[a:b] for a, b in zip(outline.start[:-1], outline.start[1:], strict=True)]
    y = [outline.y_mm[a:b] for a, b in zip(outline.start[:-1], outline.start[1:], strict=True)]
    assert len(x) == 4
    assert (x[0].min(), x[0].max(), y[0].min(), y[0].max()) == pytest.approx((0, 10, -5, 0), abs=1e-9)
    assert (x[1][0], y[1][0], x[1][-1], y[1][-1]) == pytest.approx((0, 4, -4, 0), abs=1e-9)
    assert (x[2].max(), x[2][0], x[2][-1]) == pytest.approx((4, 0, 0), abs=1e-9)
    assert y[3].max() == pytest.approx(0.75)  # a cubic with these control points peaks at 3/4


def test_stackup(tmp_path: Path) -> None:
    """Plies, locks, finish and flags are read; a permittivity or loss tangent of 0 is not set; words stay text."""
    board = read_as_board(tmp_path, board_text())
    stackup = board.stackup
    assert stackup is not None
    assert [layer.kind for layer in stackup.layers][:5] == [
        LayerKind.SILK, LayerKind.MASK, LayerKind.COPPER, LayerKind.PREPREG, LayerKind.COPPER,
    ]  # fmt: skip
    first, second = stackup.layers[3].plies
    assert (first.thickness_mm, first.thickness_locked, first.material, first.dk, first.df) == (
        0.1,
        True,
        "2116",
        4.1,
        0.018,
    )
    assert (second.thickness_mm, second.thickness_locked, second.material, second.dk, second.df) == (
        0.05,
        False,
        "1080",
        None,
        None,
    )
    assert stackup.layers[0].plies[0].material == 'Liquid (photo) "x"'
    assert stackup.layers[1].plies[0].df is None
    assert stackup.layers[7].plies[0].material == "1e5"
    assert stackup.thickness_mm == pytest.approx(0.02 + 0.035 + 0.15 + 0.018 + 1.2 + 0.018 + 0.1 + 0.035 + 0.02)
    assert (stackup.copper_finish, stackup.edge_connector) == ("ENIG", "bevelled")
    assert (stackup.impedance_controlled, stackup.edge_plating) == (True, True)
    assert [(c.name, c.user_name, c.kicad_type) for c in board.copper_layers] == [
        ("F.Cu", None, "signal"), ("In1.Cu", "GND plane", "power"), ("In2.Cu", None, "jumper"),
        ("B.Cu", None, "signal"),
    ]  # fmt: skip
    assert board.thickness_mm == 1.6


def test_words_without_quotes_stay_text(tmp_path: Path) -> None:
    """What sexpdata would turn into numbers, booleans or lists is read as the text it is."""
    for word in ("00E1", "1_0", "t", "nil", "2116", "370HR"):
        setup = f"(stackup (layer F.Cu (type copper)) (layer d1 (type core) (thickness 1) (material {word})))"
        stackup = read_as_board(tmp_path, board_text(setup=setup)).stackup
        assert stackup is not None
        assert stackup.layers[1].plies[0].material == word
    assert read_as_board(tmp_path, board_text(setup="")).stackup is None


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("(tenting front back)", {"tenting_front": True, "tenting_back": True}),
        ("(tenting front)", {"tenting_front": True, "tenting_back": False}),
        ("(tenting none)", {"tenting_front": False, "tenting_back": False}),
        ("(tenting (front yes) (back no)) (capping no) (filling yes) (plugging (front no) (back no))",
         {"tenting_front": True, "tenting_back": False, "capping": False, "filling": True,
          "plugging_front": False, "plugging_back": False}),
        ("", {}),
    ],
)  # fmt: skip
def test_board_wide_via_protection(tmp_path: Path, setup: str, expected: dict[str, bool]) -> None:
    """The board's own defaults are read in version 9's and 10's spelling; nothing stated stays unstated."""
    assert dict(read_as_board(tmp_path, board_text(setup=setup)).ipc4761) == expected


def test_layers_on_which_a_fill_keeps_a_pad(tmp_path: Path) -> None:
    """KiCad names them for vias and pads without unused pads; an empty list, and none at all, is no layer."""
    via = '(via (at 0 0) (size 0.8) (drill 0.4) (layers "F.Cu" "B.Cu") (remove_unused_layers yes) {} (net 1))'
    pad = (
        '(pad "1" thru_hole circle (at 0 0) (size 2 2) (drill 1) (layers "*.Cu") (remove_unused_layers yes) {} (net 1))'
    )
    stated = ("", "(zone_layer_connections)", '(zone_layer_connections "In1.Cu" "B.Cu")')
    pads = " ".join(pad.format(one) for one in stated)
    items = f'(footprint "lib:J" (layer "F.Cu") (uuid f1) (at 1 2) {pads}) ' + " ".join(via.format(s) for s in stated)
    board = read_as_board(tmp_path, board_text(items=items))

    last = len(board.copper_layers) - 1
    assert board.vias.fill_layers.tolist() == [0, 0, 1 << 1 | 1 << last]
    assert board.pads.fill_layers.tolist() == board.vias.fill_layers.tolist()
    assert board.unknown_tokens == {}


def test_a_via_with_pads_at_its_ends_alone(tmp_path: Path) -> None:
    """Between them it has none, whatever joins it; the sizes of the ends are those of its padstack."""
    stack = '(padstack (mode front_inner_back) (layer "Inner" (size 0.9)) (layer "B.Cu" (size 1)))'
    via = "(via {} (at 0 0) (size 0.8) (drill 0.4) (layers {}) (start_end_only {}) {} (net 1))"
    ends = '"F.Cu" "B.Cu"'
    vias = [via.format("", ends, "yes", ""), via.format("", ends, "no", ""), via.format("", ends, "yes", stack)]
    board = read_as_board(
        tmp_path, board_text(items=" ".join([*vias, via.format("micro", '"F.Cu" "In1.Cu"', "yes", "")]))
    )

    pads = [[None if np.isnan(one) else one for one in row] for row in board.vias.pad_size_mm.tolist()]
    last = len(board.copper_layers) - 2
    assert pads == [
        [0.8, *[None] * last, 0.8],
        [0.8] * (last + 2),
        [0.8, *[None] * last, 1.0],
        [0.8, 0.8, *[None] * last],
    ]
    assert (board.vias.remove_unused.tolist(), board.vias.keep_end.tolist()) == ([1, 0, 1, 1], [1, 0, 1, 1])
    assert board.unknown_tokens == {}


def test_version_6_spelling(tmp_path: Path) -> None:
    """Version 6 has unquoted words, `tstamp`, `fp_text`, bare `locked` and numbers for nets."""
    items = """
    (footprint "lib:R" (layer "F.Cu") locked (tedit 0) (tstamp f1) (at 1 2)
      (fp_text reference "R7" (at 0 0) (layer "F.SilkS") (tstamp t)) (fp_text value "1k" (at 0 0) (layer "F.Fab"))
      (pad "1" smd rect locked (at 1 1) (size 1 1) (layers "F.Cu") (net 1 "GND") (tstamp p)))
    (segment locked (start 0 0) (end 1 0) (width 0.2) (layer F.Cu) (net 1) (tstamp s))
    (via locked (at 0 0) (size 0.8) (drill 0.4) (layers F.Cu B.Cu) (remove_unused_layers)
      (keep_end_layers) (free) (net 1))
    (zone (net 1) (net_name "GND") (layer In1.Cu) (tstamp z) (hatch edge 0.5) (connect_pads (clearance 0.5))
      (min_thickness 0.25) (fill yes (thermal_gap 0.5)) (polygon (pts (xy 0 0) (xy 1 0) (xy 1 1)))
      (filled_polygon (layer In1.Cu) (pts (xy 0 0) (xy 1 0) (xy 1 1))))"""
    board = read_as_board(tmp_path, board_text(head=HEAD_V6, layers=LAYERS_V6, items=items))
    assert board.footprints.reference.tolist() == ["R7"]
    assert board.footprints.value.tolist() == ["1k"]
    assert board.tracks.uuid.tolist() == ["s"]
    assert board.vias.remove_unused.tolist() == board.vias.keep_end.tolist() == [1]
    assert board.zones.fill_layer.tolist() == [1]
    assert (board.tracks.net[0], board.vias.net[0], board.pads.net[0], board.zones.net[0]) == (1, 1, 1, 1)
    assert board.unknown_tokens == {}
    assert board.generator == "pcbnew"


def test_in_files_of_2013_the_front_is_layer_15(tmp_path: Path) -> None:
    """As myriadrf/LMS8001-Companion: KiCad 10.0.6 plots the first layer of the table as the top, the last as bottom."""
    text = """(kicad_pcb (version 3) (host pcbnew "(2013-june-11)-stable") (general (thickness 1.6)) (page A4)
      (layers (15 F.RO signal hide) (2 B.RO signal) (1 F.FR4 signal) (0 B.FR4 signal) (28 Edge.Cuts user))
      (net 0 "") (net 1 GND)
      (segment (start 0 0) (end 3 4) (width 0.25) (layer F.RO) (net 1))
      (segment (start 0 0) (end 3 4) (width 0.25) (layer B.RO) (net 1))
      (segment (start 0 0) (end 3 4) (width 0.25) (layer F.FR4) (net 1))
      (segment (start 0 0) (end 3 4) (width 0.25) (layer B.FR4) (net 1)))"""
    board = read_as_board(tmp_path, text)
    assert [(c.name, c.user_name) for c in board.copper_layers] == [
        ("F.Cu", "F.RO"), ("In1.Cu", "B.RO"), ("In2.Cu", "F.FR4"), ("B.Cu", "B.FR4"),
    ]  # fmt: skip
    assert board.tracks.layer.tolist() == [0, 1, 2, 3]


def test_version_5_spelling(tmp_path: Path) -> None:
    """Version 5 has `module`, layers under the user's own names, net classes in the board, drills left to the class."""
    text = """(kicad_pcb (version 20171130) (host pcbnew "(5.1.9)") (general (thickness 1.6) (nets 2)) (page A4)
      (layers (0 Top signal) (1 Inner1.Cu power) (31 Bottom signal) (44 Edge.Cuts user))
      (setup (via_size 0.8) (pcbplotparams (mode 1)))
      (net 0 "") (net 1 GND) (net 2 /D+)
      (net_class Default "x" (clearance 0.2) (trace_width 0.25) (via_dia 0.8) (via_drill 0.4) (add_net GND))
      (net_class USB "" (clearance 0.15) (trace_width 0.2) (via_dia 0.6) (via_drill 0.3)
        (diff_pair_gap 0.15) (add_net /D+))
      (module lib:R (layer Bottom) (tedit 1) (tstamp 5D3F1A2B) (at 1 2) (fp_text reference R1 (at 0 0) (layer F.SilkS))
        (pad 1 smd rect (at 1 1) (size 1 1) (layers Bottom) (net 2 /D+)))
      (segment (start 0 0) (end 3 4) (width 0.25) (layer Top) (net 2) (tstamp 5D3F1B00))
      (via (at 0 0) (size 0.8) (layers Top Bottom) (net 2))
      (via (at 0 0) (size 0.8) (drill 0.5) (layers Top Bottom) (net 1))
      (zone (net 1) (net_name GND) (layer Inner1.Cu) (tstamp 0) (hatch edge 0.5) (fill yes)
        (polygon (pts (xy 0 0) (xy 1 0) (xy 1 1))) (filled_polygon (pts (xy 0 0) (xy 1 0) (xy 1 1)))))"""
    board = read_as_board(tmp_path, text)
    assert [(c.name, c.user_name) for c in board.copper_layers] == [
        ("F.Cu", "Top"), ("In1.Cu", "Inner1.Cu"), ("B.Cu", "Bottom"),
    ]  # fmt: skip
    assert board.tracks.layer.tolist() == [0]
    assert board.footprints.back.tolist() == [1]
    assert board.pads.layers.tolist() == [0b100]
    assert board.vias.drill_mm.tolist() == [0.3, 0.5]
    assert board.zones.fill_layer.tolist() == [1]
    assert board.project.path is None
    assert board.project.effective("/D+").diff_pair_gap_mm == 0.15
    assert board.project.effective("GND").track_width_mm == 0.25
    assert board.generator == "pcbnew (5.1.9)"


def test_unknown_words_are_counted_and_known_ones_are_not(tmp_path: Path) -> None:
    """A word that KiCad 10 does not write is skipped and counted under its parent; the rest of the item is read."""
    items = """(hologram (at 1 1)) (hologram (at 1 2)) (target plus (at 1 1))
      (segment (start 0 0) (end 1 0) (width 0.2) (layer "F.Cu") (net 1) (sparkle yes) (uuid "s"))
      (via (at 0 0) (size 0.8) (drill 0.4) (layers "F.Cu" "B.Cu") (coating gold) (net 1))
      (footprint "a" (layer "F.Cu") (at 0 0) (mood happy) (solder_mask_margin 0.1) (solder_mask_mojo 1)
        (pad "1" smd rect (at 0 0) (size 1 1) (layers "F.Cu") (taste sweet)))
      (zone (net 1) (layer "F.Cu") (smell 1) (polygon (pts (xy 0 0) (xy 1 0) (xy 1 1))))"""
    setup = '(stackup (layer "F.Cu" (type "copper") (roughness 0.4)) (weight 3)) (weather fine)'
    board = read_as_board(tmp_path, board_text(setup=setup, items=items))
    assert board.unknown_tokens == {
        "footprint/mood": 1, "footprint/solder_mask_mojo": 1, "kicad_pcb/hologram": 2, "pad/taste": 1,
        "segment/sparkle": 1, "setup/weather": 1, "stackup/layer/roughness": 1, "stackup/weight": 1,
        "via/coating": 1, "zone/smell": 1,
    }  # fmt: skip
    assert (len(board.tracks), len(board.vias), len(board.pads), len(board.zones)) == (1, 1, 1, 1)
    assert board.warnings == (
        "not read: (hologram ...) in the board, 2 times: KiCad up to 10 writes no such word there",
        "not read: (mood ...) in (footprint ...), once: KiCad up to 10 writes no such word there",
        "not read: (solder_mask_mojo ...) in (footprint ...), once: KiCad up to 10 writes no such word there",
        "not read: (taste ...) in (pad ...), once: KiCad up to 10 writes no such word there",
        "not read: (sparkle ...) in (segment ...), once: KiCad up to 10 writes no such word there",
        "not read: 5 more kinds of words that KiCad up to 10 does not write",
    )


def test_what_cannot_be_placed_is_left_out_with_a_warning(tmp_path: Path) -> None:
    """Tracks on layers the board does not have, nets without a number, text after the end: a warning each."""
    items = """(segment (start 0 0) (end 1 0) (width 0.2) (layer "In9.Cu") (net 1))
      (segment (start 0 0) (end 1 0) (width 0.2) (layer "B.Cu") (net 77))
      (via blind (at 0 0) (size 0.8) (drill 0.4) (layers "F.Cu" "In9.Cu") (net 1))"""
    board = read_as_board(tmp_path, board_text(items=items) + "(left over)\n")
    assert (len(board.tracks), len(board.vias)) == (1, 0)
    assert board.tracks.net.tolist() == [0]
    text = "\n".join(board.warnings)
    assert len(board.warnings) == 4
    assert 'not read: 1 track on "In9.Cu"' in text
    assert 'not read: 1 via from "F.Cu" to "In9.Cu"' in text
    assert "(77)" in text
    assert "after the end" in text


def test_newer_files_are_read_with_a_warning(tmp_path: Path) -> None:
    """A file newer than KiCad 10 is read as far as it goes and says so."""
    board = read_as_board(
        tmp_path, board_text(head='(version 20270101) (generator "pcbnew") (generator_version "11.0")')
    )
    assert board.format_version == 20270101
    assert board.generator == "pcbnew 11.0"
    assert len(board.warnings) == 1
    assert "newer than KiCad 10" in board.warnings[0]


def test_live_text_takes_the_place_of_the_file(tmp_path: Path) -> None:
    """The text of a running KiCad is read although the file does not exist; its project is still found next to it."""
    (tmp_path / "live.kicad_pro").write_text('{"text_variables": {"A": "1"}}')
    board = read_board(tmp_path / "live.kicad_pcb", text=board_text().encode())
    assert len(board.tracks) == 3
    assert board.project.text_variables == {"A": "1"}


def test_long_texts_do_not_fill_the_memory(tmp_path: Path) -> None:
    """A column takes the room of its longest text, so a very long one is cut."""
    text = board_text().replace("10k (1%)", "x" * 1_000_000)
    assert read_as_board(tmp_path, text).footprints.value.nbytes < 10_000
