"""A small KiCad board in the spelling of several versions, as text, and comparisons between boards."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import sexpdata

from stackup_lib.board.board import Board, Stackup
from stackup_lib.kicad import read_board

HEAD_V10 = '(version 20260206) (generator "pcbnew") (generator_version "10.0")'
HEAD_V9 = '(version 20241229) (generator "pcbnew") (generator_version "9.0")'
HEAD_V6 = "(version 20211014) (generator pcbnew)"
LAYERS = (
    '(layers (0 "F.Cu" signal) (4 "In1.Cu" power "GND plane") (6 "In2.Cu" jumper)'
    ' (2 "B.Cu" signal) (25 "Edge.Cuts" user))'
)
LAYERS_V6 = "(layers (0 F.Cu signal) (1 In1.Cu power) (2 In2.Cu signal) (31 B.Cu signal) (44 Edge.Cuts user))"
STACKUP = """(stackup
  (layer "F.SilkS" (type "Top Silk Screen") (color "White") (material "Liquid (photo) \\"x\\""))
  (layer "F.Mask" (type "Top Solder Mask") (color "#11223344") (thickness 0.02) (epsilon_r 3.5) (loss_tangent 0))
  (layer "F.Cu" (type "copper") (thickness 0.035))
  (layer "dielectric 1" (type "prepreg") (color "FR4 natural") (thickness 0.1 locked) (material "2116")
    (epsilon_r 4.1) (loss_tangent 0.018) addsublayer (thickness 0.05) (material "1080") (epsilon_r 0))
  (layer "In1.Cu" (type "copper") (thickness 0.018))
  (layer "dielectric 2" (type "core") (thickness 1.2) (material "FR4") (epsilon_r 4.5) (loss_tangent 0.02))
  (layer "In2.Cu" (type "copper") (thickness 0.018))
  (layer "dielectric 3" (type "prepreg") (thickness 0.1) (material "1e5") (epsilon_r 4.1) (loss_tangent 0.018))
  (layer "B.Cu" (type "copper") (thickness 0.035))
  (layer "B.Mask" (type "Bottom Solder Mask") (thickness 0.02))
  (copper_finish "ENIG") (dielectric_constraints yes) (edge_connector bevelled) (edge_plating yes))"""
NETS = '(net 0 "") (net 1 "GND") (net 3 "/A (1) \\"q\\"")'
ITEMS = """
(footprint "lib:R (0603)" (layer "F.Cu") (uuid "f1") (at 100 50 90)
  (property "Reference" "R1" (at 0 0 0) (layer "F.SilkS") (uuid "p1"))
  (property "Value" "10k (1%)" (at 0 0 0) (layer "F.Fab") (uuid "p2"))
  (fp_line (start -1 0) (end 1 0) (stroke (width 0.1) (type solid)) (layer "Edge.Cuts") (uuid "e5"))
  (fp_text user "not ) a ( list" (at 0 0 0) (layer "Edge.Cuts") (uuid "t1"))
  (pad "1" smd roundrect (at -1 0 90) (size 0.8 0.9) (layers "F.Cu" "F.Mask") (roundrect_rratio 0.25)
    (net 1 "GND") (uuid "pad1"))
  (pad "2" thru_hole oval (at 1 2 180) (size 2 1) (drill oval 1.2 0.6 (offset 0.1 0)) (layers "*.Cu" "*.Mask")
    (net 3 "/A (1) \\"q\\"") (uuid "pad2"))
  (pad "" np_thru_hole circle (at 0 0) (size 1 1) (drill 1) (layers "F&B.Cu") (uuid "pad3")))
(footprint "lib:J" (layer "B.Cu") (uuid "f2") (at 10 20)
  (property "Reference" "J1" (at 0 0 0) (layer "B.SilkS") (uuid "p3"))
  (property "Value" "CONN" (at 0 0 0) (layer "B.Fab") (uuid "p4"))
  (pad "1" connect rect (at 3 4) (size 1 1) (layers "B.Cu") (net 1 "GND") (uuid "pad4"))
  (zone (net 0) (net_name "") (layer "F.Cu") (uuid "z2") (hatch full 0.5) (connect_pads (clearance 0))
    (min_thickness 0.01) (keepout (tracks not_allowed) (vias allowed)) (fill (thermal_gap 0.5))
    (polygon (pts (xy 11 21) (xy 12 21) (xy 12 22)))))
(gr_rect (start 0 0) (end 60 40) (stroke (width 0.1) (type solid)) (fill none) (layer "Edge.Cuts") (uuid "e1"))
(gr_circle (center 30 20) (end 33 24) (stroke (width 0.1) (type solid)) (fill none) (layer "Edge.Cuts") (uuid "e2"))
(gr_text "on (gr_line (start 0 0)" (at 1 1 0) (layer "F.SilkS") (uuid "g1"))
(segment (start 1 2) (end 4 6) (width 0.2) (layer "F.Cu") (net 1) (uuid "s1"))
(segment (start -1.5 0) (end 1.5 0) (width 0.1) (locked yes) (layer "In2.Cu") (net 3) (uuid "s2"))
(arc (start 10 0) (mid 0 10) (end -10 0) (width 0.3) (layer "B.Cu") (net 1) (uuid "a1"))
(via (at 5 5) (size 0.45) (drill 0.1) (layers "F.Cu" "B.Cu") (net 1) (uuid "v1"))
(via blind (at 6 5) (size 0.5) (drill 0.2) (layers "F.Cu" "In1.Cu") (net 3) (uuid "v2"))
(via blind (at 7 5) (size 0.5) (drill 0.2) (layers "In2.Cu" "In1.Cu") (remove_unused_layers yes) (keep_end_layers yes)
  (tenting front) (net 3) (uuid "v3"))
(via micro (at 8 5) (size 0.3) (drill 0.1) (layers "In2.Cu" "B.Cu") (free yes) (tenting none) (net 1) (uuid "v4"))
(zone (net 1) (net_name "GND") (layers "F.Cu" "In1.Cu") (uuid "z1") (name "plane (1)") (hatch edge 0.5) (priority 7)
  (connect_pads (clearance 0.1)) (min_thickness 0.1) (filled_areas_thickness no)
  (fill yes (thermal_gap 0.5) (thermal_bridge_width 0.5))
  (polygon (pts (xy 0 0) (xy 10 0) (xy 10 10) (xy 0 10)))
  (filled_polygon (layer "F.Cu") (pts (xy 0.5 0.5) (xy 9.5 0.5) (xy 9.5 9.5)))
  (filled_polygon (layer "In1.Cu") (island) (pts (xy 1 1) (xy -9 1.25) (xy 9 9) (xy 1 9))))
(embedded_files (file (name "a.step") (type model) (data |KLUv/WAg
 AAECAwQ=|) (checksum "00")))
"""


def board_text(
    *, head: str = HEAD_V9, layers: str = LAYERS, setup: str = STACKUP, nets: str = NETS, items: str = ITEMS
) -> str:
    general = '(general (thickness 1.6) (legacy_teardrops no)) (paper "A4")'
    setup = f"(setup {setup} (pad_to_mask_clearance 0))"
    return f"(kicad_pcb {head} {general}\n{layers}\n{setup}\n{nets}\n{items})\n"


def read_as_board(tmp_path: Path, text: str | bytes) -> Board:
    path = tmp_path / "board.kicad_pcb"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_board(path)


TOKENS = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|\|[^|]*\||[^\s()"]+', re.DOTALL)


def kicad_layout(text: str) -> str:
    """Tabs, one list per line, as KiCad 8 and later write it."""
    out: list[str] = []
    depth = 0
    for token in TOKENS.findall(text):
        if token == "(":  # noqa: S105 - a token of the grammar
            out.append("\n" + "\t" * depth + "(")
            depth += 1
        elif token == ")":  # noqa: S105
            depth -= 1
            closes_words_only = out[-1] != ")" and not out[-1].endswith("\t)")
            out.append(")" if closes_words_only else "\n" + "\t" * depth + ")")
        else:
            out.append(token if out[-1].endswith("(") else " " + token)
    return "".join(out).lstrip() + "\n"


def assert_same(first: object, second: object, path: str = "board") -> None:
    """Fail unless two boards hold the same, byte offsets and line feeds aside."""
    if is_dataclass(first):
        for item in fields(first):
            if item.name not in ("offset", "lines", "path"):
                assert_same(getattr(first, item.name), getattr(second, item.name), f"{path}.{item.name}")
    elif isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second, err_msg=path)
    elif isinstance(first, Stackup) and isinstance(second, Stackup):
        assert [row.model_copy(update={"offset": 0}) for row in first.layers] == [
            row.model_copy(update={"offset": 0}) for row in second.layers
        ], path
    else:
        assert first == second, path


def _plain(parsed: object) -> object:
    return [_plain(p) for p in parsed] if isinstance(parsed, list) else str(parsed)


def _of(tree: list[object], *names: str) -> list[list[object]]:
    return [c for c in tree if isinstance(c, list) and c and c[0] in names]


def _xy(item: list[object], name: str) -> tuple[float, float]:
    row = _of(item, name)[0]
    return float(str(row[1])), float(str(row[2]))


def assert_agrees_with_sexpdata(board: Board, text: str) -> None:
    """Fail unless counts, coordinates, nets and stackup are those that plain sexpdata finds in the text."""
    tree = _plain(sexpdata.loads(text, nil=None, true=None))
    assert isinstance(tree, list)
    names = {str(n[1]): str(n[2]) for n in _of(tree, "net")}

    def net_of(item: list[object]) -> str:
        rows = _of(item, "net")
        return "" if not rows else names.get(str(rows[0][1]), "" if rows[0][1] == "0" else str(rows[0][1]))

    tracks = _of(tree, "segment", "arc")
    got = zip(
        board.tracks.start_x_mm, board.tracks.start_y_mm, board.tracks.end_x_mm, board.tracks.end_y_mm, strict=True
    )
    assert list(got) == [(*_xy(t, "start"), *_xy(t, "end")) for t in tracks]
    assert [board.nets[i] for i in board.tracks.net] == [net_of(t) for t in tracks]
    layers = [c.name for c in board.copper_layers]
    assert [layers[i] for i in board.tracks.layer] == [_of(t, "layer")[0][1] for t in tracks]
    vias = _of(tree, "via")
    got_vias = zip(board.vias.x_mm, board.vias.y_mm, board.vias.size_mm, board.vias.drill_mm, strict=True)
    assert list(got_vias) == [
        (*_xy(v, "at"), float(str(_of(v, "size")[0][1])), float(str(_of(v, "drill")[0][1]))) for v in vias
    ]
    assert [board.nets[i] for i in board.vias.net] == [net_of(v) for v in vias]
    footprints = _of(tree, "footprint")
    assert [(x, y) for x, y in zip(board.footprints.x_mm, board.footprints.y_mm, strict=True)] == [
        _xy(f, "at") for f in footprints
    ]
    pads = [p for f in footprints for p in _of(f, "pad")]
    assert [(str(n), board.nets[i]) for n, i in zip(board.pads.number, board.pads.net, strict=True)] == [
        (str(p[1]), net_of(p)) for p in pads
    ]
    assert list(zip(board.pads.size_x_mm, board.pads.size_y_mm, strict=True)) == [_xy(p, "size") for p in pads]
    zones = _of(tree, "zone") + [z for f in footprints for z in _of(f, "zone")]
    assert [board.nets[i] for i in board.zones.net] == [net_of(z) for z in zones]
    points = [
        (float(str(p[1])), float(str(p[2])))
        for z in zones
        for f in _of(z, "filled_polygon")
        for p in _of(_of(f, "pts")[0], "xy")
    ]
    assert list(zip(board.zones.fill_x_mm, board.zones.fill_y_mm, strict=True)) == points
    stackups = _of(_of(tree, "setup")[0], "stackup")
    rows = _of(stackups[0], "layer") if stackups else []
    found = board.stackup.layers if board.stackup else ()
    assert [layer.name for layer in found] == [r[1] for r in rows]
    for layer, row in zip(found, rows, strict=True):
        stated = [float(str(t[1])) for t in _of(row, "thickness")]
        assert [p.thickness_mm for p in layer.plies if p.thickness_mm is not None] == stated
        assert [p.material for p in layer.plies if p.material] == [m[1] for m in _of(row, "material") if m[1]]


EMPTY_V6 = """(kicad_pcb (version 20211014) (generator pcbnew)

  (general
    (thickness 1.6)
  )

  (paper "A4")
  (layers
    (0 "F.Cu" signal)
    (31 "B.Cu" signal)
    (37 "F.SilkS" user "F.Silkscreen")
    (38 "B.Mask" user)
    (39 "F.Mask" user)
    (44 "Edge.Cuts" user)
  )

  (setup
    (pad_to_mask_clearance 0)
  )
)
"""
