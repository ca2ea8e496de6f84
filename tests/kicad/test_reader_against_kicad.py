"""The reader against a real KiCad: board statistics, net class patterns, and what the running editor answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board, Floats, LayerKind, PadKind, Text, ViaKind
from stackup_lib.kicad import read_board, read_project
from tests.conftest import KicadCli
from tests.support.kicad.kicad_boards import board_text, kicad_layout
from tests.support.kicad.kicad_patterns import AS_KICAD

EDITOR = os.environ.get("STACKWRIGHT_KICAD_EDITOR")
"""A command that opens a board in KiCad's editor with the API on: `start --name N --fresh BOARD` prints the socket."""

DEMOS = (
    "cm5_minima/CM5_MINIMA_3",
    "complex_hierarchy/complex_hierarchy",
    "ecc83/ecc83-pp",
    "interf_u/interf_u",
    "jetson-agx-thor-baseboard/jetson-agx-thor-baseboard",
    "kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213",
    "microwave/microwave",
    "openair-max/One-Air-Max",
    "pic_programmer/pic_programmer",
    "royalblue54L_feather/RoyalBlue54L-Feather",
    "sonde xilinx/sonde xilinx",
    "stickhub/StickHub",
    "tiny_tapeout/tinytapeout-demo",
    "video/video",
    "vme-wren/vme-wren",
)

SLOW_IN_KICAD = (
    "jetson-agx-thor-baseboard/jetson-agx-thor-baseboard",
    "tiny_tapeout/tinytapeout-demo",
    "video/video",
    "vme-wren/vme-wren",
)


@pytest.mark.kicad
@pytest.mark.demo
@pytest.mark.parametrize("name", DEMOS)
def test_statistics_are_kicads_own(
    name: str,
    demo_boards: Path,
    copy_board: Callable[[Path], Path],
    *,
    kicad_cli: KicadCli,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Vias and pads by kind, board size, thickness and the narrowest track are what `pcb export stats` prints."""
    if name in SLOW_IN_KICAD and "bench" not in str(request.config.getoption("markexpr")):
        pytest.skip("KiCad itself counts for minutes: run it with -m 'bench or external'")
    path = copy_board(demo_boards / f"{name}.kicad_pcb")
    out = tmp_path / "stats.json"
    kicad_cli("pcb", "export", "stats", "--format", "json", "-o", out, path)
    stats = json.loads(out.read_text())
    board = read_board(path)
    kinds = {"through": ViaKind.THROUGH, "blind": ViaKind.BLIND, "buried": ViaKind.BURIED, "micro": ViaKind.MICRO}
    assert {k: int((board.vias.kind == v).sum()) for k, v in kinds.items()} == stats["vias"]
    pads = {
        "through_hole": PadKind.THROUGH,
        "smd": PadKind.SMD,
        "connector": PadKind.CONNECTOR,
        "npth": PadKind.NON_PLATED,
    }
    assert {k: int((board.pads.kind == v).sum()) for k, v in pads.items()} == {k: stats["pads"][k] for k in pads}
    assert board.outline.size_mm is not None
    for ours, theirs in zip(board.outline.size_mm, ("width", "height"), strict=True):
        assert ours == pytest.approx(_mm(stats["board"][theirs]), abs=0.01)
    if board.stackup is not None:
        assert board.stackup.thickness_mm == pytest.approx(_mm(stats["board"]["board_thickness"]), abs=1e-4)
    if len(board.tracks):
        assert board.tracks.width_mm.min() == pytest.approx(_mm(stats["board"]["min_track_width"]), abs=1e-4)


def _mm(text: str) -> float:
    number, unit = text.split()
    assert unit == "mm"
    return float(number)


@pytest.mark.demo
def test_the_jetson_baseboard(demo_boards: Path) -> None:
    """Ten layers, nine dielectrics, three of them of two plies, In6.Cu of 35 um but 18 in its mirror, 3235 vias."""
    board = read_board(demo_boards / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb")
    stackup = board.stackup
    assert stackup is not None
    assert board.layer_count == len(stackup.copper) == 10
    assert Counter(len(d.plies) for d in stackup.dielectrics) == {1: 6, 2: 3}
    thickness = {c.name: c.thickness_mm for c in stackup.copper}
    assert (thickness["In6.Cu"], thickness["In3.Cu"]) == (0.035, 0.018)
    assert stackup.thickness_mm == pytest.approx(1.711, abs=1e-9)
    assert board.thickness_mm == 1.711
    assert [p.df for d in stackup.dielectrics for p in d.plies].count(None) == 3
    assert len(board.vias) == 3235
    assert set(board.vias.size_mm.tolist()) == {0.45}
    assert set(board.vias.drill_mm.tolist()) == {0.1}
    assert set(board.vias.kind.tolist()) == {ViaKind.THROUGH}
    assert board.outline.size_mm == pytest.approx((180, 100))
    assert len(board.zones.fill_x_mm) == 523351
    project = board.project
    assert len(project.assignments) == 391
    assert sum(net not in board.net_index for net in project.assignments) == 98
    used = Counter(name for names in project.net_classes_of.values() for name in names)
    assert set(used) == {"85Ohm-diff_DP", "85Ohm-diff_PCIE", "85Ohm-diff_SFI", "85Ohm-diff_USB_SS", "90Ohm-diff_CSI",
                         "90Ohm-diff_USB_2.0"}  # fmt: skip
    assert (dict(board.unknown_tokens), board.warnings) == ({}, ())


@pytest.mark.demo
def test_the_vme_wren(demo_boards: Path) -> None:
    """Twelve layers, the same from both sides, every dielectric an IS400."""
    board = read_board(demo_boards / "vme-wren" / "vme-wren.kicad_pcb")
    stackup = board.stackup
    assert stackup is not None
    assert board.layer_count == len(stackup.copper) == 12
    rows = [(row.kind, row.thickness_mm) for row in stackup.layers if row.is_dielectric or row.kind is LayerKind.COPPER]
    assert rows == rows[::-1]
    assert all("IS400" in (ply.material or "") for d in stackup.dielectrics for ply in d.plies)
    assert len(board.vias) == 4374
    assert len(board.zones.fill_x_mm) == 928318


@pytest.mark.kicad
def test_net_class_patterns_match_as_kicad_matches_them(kicad_cli: KicadCli, tmp_path: Path) -> None:
    """For every pattern and every net of the table KiCad's rule engine says whether the net has the pattern's class."""
    patterns = sorted({p for case, _ in AS_KICAD.values() for p in case})
    nets = sorted({net for _, expected in AS_KICAD.values() for net in expected})
    board = tmp_path / "patterns.kicad_pcb"
    tracks = [
        f'(segment (start {10 + 3 * i} {10 + 3 * k}) (end {11 + 3 * i} {10 + 3 * k}) (width {0.2 + i / 100:g})'
        f' (layer "F.Cu") (net {json.dumps(net, ensure_ascii=False)}) (uuid "00000000-0000-4000-8000-{i:06d}{k:06d}"))'
        for i in range(len(patterns))
        for k, net in enumerate(nets)
    ]  # fmt: skip
    head = '(version 20260206) (generator "pcbnew") (generator_version "10.0") (general (thickness 1.6)) (paper "A4")'
    layers = '(layers (0 "F.Cu" signal) (2 "B.Cu" signal) (25 "Edge.Cuts" user))'
    board.write_text(kicad_layout(f"(kicad_pcb {head} {layers} (setup) {' '.join(tracks)})"), encoding="utf-8")
    classes = [{"name": f"C{i}", "priority": i} for i in range(len(patterns))]
    rows = [{"netclass": f"C{i}", "pattern": p} for i, p in enumerate(patterns)]
    default = {"name": "Default", "priority": 2147483647, "track_width": 0.2, "clearance": 0.1}
    settings = {"meta": {"version": 5}, "classes": [default, *classes], "netclass_patterns": rows}
    project = board.with_suffix(".kicad_pro")
    project.write_text(json.dumps({"meta": {"version": 3}, "net_settings": settings}), encoding="utf-8")
    rules = [
        f'(rule "r{i}" (condition "A.hasNetclass(\'C{i}\') && A.Width == {0.2 + i / 100:g}mm")'
        " (constraint track_width (min 50mm)))"
        for i in range(len(patterns))
    ]
    board.with_suffix(".kicad_dru").write_text("(version 1)\n" + "\n".join(rules) + "\n")
    report = tmp_path / "drc.json"
    kicad_cli("pcb", "drc", "--format", "json", "--severity-all", "-o", report, board)
    violations = [v for v in json.loads(report.read_text())["violations"] if v["type"] == "track_width"]
    marked = {v["items"][0]["uuid"][-12:] for v in violations if "rule 'r" in v["description"]}
    theirs = {(patterns[int(u[:6])], nets[int(u[6:])]) for u in marked}
    found = read_project(project, nets).net_classes_of
    ours = {(patterns[int(name[1:])], net) for net, names in found.items() for name in names}
    assert len(theirs) > len(patterns)
    assert ours == theirs


@pytest.mark.kicad
def test_a_board_that_kicad_rewrites_reads_the_same(kicad_cli: KicadCli, tmp_path: Path) -> None:
    """KiCad 10's own rewriting of a version 9 board (nets by name, tokens of version 10) gives the same items."""
    path = tmp_path / "board.kicad_pcb"
    text = board_text().replace('"F&B.Cu"', '"*.Cu"')  # KiCad gives every unplated hole all layers
    path.write_text(text.replace("(at 6 5)", "(at 6 45)").replace("(at 7 5)", "(at 7 45)"))  # off the other net's zone
    before = read_board(path)
    kicad_cli("pcb", "upgrade", path)
    after = read_board(path)
    assert (before.format_version, after.format_version) == (20241229, 20260206)
    assert (dict(after.unknown_tokens), after.warnings) == ({}, ())
    assert _rows(before) == _rows(after)
    assert before.vias.tented_front.tolist().count(1) == after.vias.tented_front.tolist().count(1) == 1


def _rows(board: Board) -> dict[str, list[tuple[object, ...]]]:
    """What a board holds, whatever the order of its items."""
    tracks, vias, pads, zones = board.tracks, board.vias, board.pads, board.zones
    columns = {
        "tracks": (tracks.start_x_mm, tracks.end_y_mm, tracks.width_mm, tracks.length_mm, tracks.layer, tracks.net),
        "vias": (vias.x_mm, vias.drill_mm, vias.kind, vias.start_layer, vias.end_layer, vias.remove_unused, vias.net),
        "pads": (
            pads.number,
            pads.x_mm,
            pads.y_mm,
            pads.rotation_deg,
            pads.kind,
            pads.size_x_mm,
            pads.layers,
            pads.net,
        ),
        "zones": (zones.name, zones.priority, zones.is_rule_area, zones.layers, zones.net),
    }
    rows = {}
    for name, row in columns.items():
        nets = [board.nets[int(i)] for i in row[-1]]
        rows[name] = sorted(zip(*(c.tolist() for c in row[:-1]), nets, strict=True))
    return rows


@pytest.fixture(scope="module", params=DEMOS[:1] + DEMOS[4:5])
def editor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A running KiCad editor with a demo board: its socket, and the board's file."""
    if EDITOR is None:
        pytest.skip("STACKWRIGHT_KICAD_EDITOR is not set")
    demo_boards: Path = request.getfixturevalue("demo_boards")
    source = demo_boards / f"{request.param}.kicad_pcb"
    path = tmp_path_factory.mktemp("editor") / "board.kicad_pcb"
    for suffix in (".kicad_pcb", ".kicad_pro"):
        path.with_suffix(suffix).write_bytes(source.with_suffix(suffix).read_bytes())
    start = [EDITOR, "start", "--name", "stackwright-reader", "--fresh", str(path)]
    run = subprocess.run(start, capture_output=True, text=True, timeout=300, check=True)
    yield run.stdout.strip(), path
    subprocess.run([EDITOR, "stop", "--name", "stackwright-reader"], check=False, timeout=60)


@pytest.mark.kicad
@pytest.mark.demo
def test_the_running_editor_says_the_same(editor: tuple[str, Path]) -> None:
    """Stackup, net classes per net, track lengths and the places of vias and pads are what the editor's API answers."""
    from kipy import KiCad

    socket, path = editor
    live = KiCad(socket_path=socket, timeout_ms=120_000).get_board()
    board = read_board(path, text=live.get_as_string().encode())
    assert (dict(board.unknown_tokens), board.warnings) == ({}, ())
    nets = live.get_nets()
    assert {net.name for net in nets} == set(board.nets)
    for net, net_class in live.get_netclass_for_nets(nets).items():
        names = list(net_class.proto.constituents) or [net_class.proto.name]
        assert board.project.net_classes_of.get(net, ()) == tuple(n for n in names if n != "Default")
    _assert_same_stackup(board, live.get_stackup())
    lengths = {track.id.value: track.length() / 1e6 for track in live.get_tracks()}
    ours = dict(zip(board.tracks.uuid.tolist(), board.tracks.length_mm.tolist(), strict=True))
    assert ours.keys() == lengths.keys()
    assert max(abs(ours[u] - lengths[u]) for u in lengths) < 1e-5
    vias = {v.id.value: (v.position.x / 1e6, v.position.y / 1e6, v.drill_diameter / 1e6) for v in live.get_vias()}
    _assert_same_numbers(vias, board.vias.uuid, (board.vias.x_mm, board.vias.y_mm, board.vias.drill_mm))
    pads = {p.id.value: (p.position.x / 1e6, p.position.y / 1e6) for p in live.get_pads()}
    _assert_same_numbers(pads, board.pads.uuid, (board.pads.x_mm, board.pads.y_mm))


def _assert_same_numbers(theirs: Mapping[str, tuple[float, ...]], uuid: Text, columns: tuple[Floats, ...]) -> None:
    assert set(theirs) == set(uuid.tolist())
    assert np.abs(np.array([theirs[u] for u in uuid.tolist()]) - np.stack(columns, axis=1)).max() < 1e-9


def _assert_same_stackup(board: Board, live: object) -> None:
    stackup = board.stackup
    assert stackup is not None
    rows = [row for row in live.layers if row.type == 1 or row.dielectric]  # type: ignore[attr-defined]
    ours = [row for row in stackup.layers if row.kind is LayerKind.COPPER or row.is_dielectric]
    assert len(rows) == len(ours)
    for theirs, row in zip(rows, ours, strict=True):
        if row.kind is LayerKind.COPPER:
            assert row.thickness_mm == pytest.approx(theirs.thickness / 1e6)
            continue
        plies = [
            (p.thickness / 1e6, p.material_name, p.epsilon_r or None, p.loss_tangent or None)
            for p in theirs.dielectric.layers
        ]
        assert len(plies) == len(row.plies)
        for (thickness, material, dk, df), ply in zip(plies, row.plies, strict=True):
            assert (ply.thickness_mm, ply.dk, ply.df) == pytest.approx((thickness, dk, df))
            assert (ply.material or "") == material
