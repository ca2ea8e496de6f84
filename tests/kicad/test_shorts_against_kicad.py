"""What a real KiCad calls a short, a net tie and a fill that is out of date, and what we do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.kicad import read_board
from tests.conftest import KicadCli
from tests.support.mini import mini_file

pytestmark = pytest.mark.kicad

NetPairs = set[tuple[str, str]]

BOARD = {"size_mm": [60, 60], "copper_layers": 4, "stackup": "default"}


def pad(reference: str, net: str, x: float, y: float) -> dict[str, object]:
    """A pad that fixes the net of what ends on it: what ends on none, KiCad gives to whatever net it touches."""
    pads = [{"number": "1", "net": net, "size_mm": [0.3, 0.3]}]
    return {"reference": reference, "at_mm": [x, y], "pads": pads}


def two_pads(reference: str, y: float, **more: object) -> dict[str, object]:
    """Two square pads that overlap by 0.2 mm."""
    pads = [
        {"number": str(k + 1), "net": f"/{reference}.{k}", "at_mm": [k, 0], "size_mm": [1.2, 0.6]} for k in range(2)
    ]
    return {"reference": reference, "at_mm": [50, y], "pads": pads, **more}


def track(net: str, x0: float, y0: float, x1: float, y1: float) -> dict[str, object]:
    return {"net": net, "layer": "F.Cu", "width_mm": 0.1, "path_mm": [[x0, y0], [x1, y1]]}


def written(folder: Path, **table: object) -> Path:
    return mini_file(folder, {**BOARD, **table}, "b")


def kicads(cli: KicadCli, board: Path, *options: str) -> list[dict[str, object]]:
    """What KiCad's design rule check finds."""
    report = board.with_suffix(".json")
    cli("pcb", "drc", "--all-track-errors", "--format", "json", *options, "-o", report, board)
    found: list[dict[str, object]] = json.loads(report.read_text(encoding="utf-8"))["violations"]
    return found


def their_shorts(violations: list[dict[str, object]]) -> NetPairs:
    found = set()
    for one in violations:
        if one["type"] in ("shorting_items", "tracks_crossing"):
            nets = sorted(re.findall(r"\[([^\]]*)\]", json.dumps(one["items"])[1:-1]))
            found.add((nets[0], nets[-1]))
    return found


def our_shorts(report: Report) -> NetPairs:
    return {(f.objects[0], f.objects[-1]) for f in report.findings if f.code == "FAB015"}


def test_shorts_are_kicads(kicad_cli: KicadCli, tmp_path: Path) -> None:
    """Tracks into a via, across and along a track, into a pad; pads of one part; net ties and what lies off them."""
    tracks, parts = [], []
    for k, step in enumerate((0.2, 0.11, 0.098, 0.05)):  # 0.1 and 0.01 mm apart, 0.002 and 0.05 mm over one another
        y = 5.0 + 3 * k
        tracks += [track(f"/P{k}", 5, y, 15, y), track(f"/Q{k}", 10, y + step, 20, y + step)]
        parts += [pad(f"P{k}", f"/P{k}", 5, y), pad(f"Q{k}", f"/Q{k}", 20, round(y + step, 4))]
    tracks += [track("/X", 5, 20, 15, 20), track("/Y", 10, 18, 10, 24)]
    parts += [pad("X1", "/X", 5, 20), pad("Y1", "/Y", 10, 24)]
    tracks += [track("/V", 25, 5, 30, 5), track("/W", 28, 5.21, 35, 5.21), track("/W", 35, 5.21, 35, 9.96)]
    parts += [pad("V1", "/V", 25, 5), pad("W1", "/W", 28, 5.21), pad("Z1", "/Z", 35, 10.1)]
    parts += [two_pads("U1", 5), two_pads("NT1", 10, net_ties=["1, 2"]), two_pads("NT2", 15, net_ties=["1,3"])]
    tracks += [track("/NT1.0", 40, 10, 50, 10), track("/NT1.1", 51, 10, 51, 13), track("/NT1.1", 51, 13, 42, 13)]
    tracks += [track("/NT1.0", 45, 10, 45, 14)]
    vias = [{"net": "/V", "at_mm": [30, 5], "size_mm": 0.4, "drill_mm": 0.2}]
    path = written(tmp_path, tracks=tracks, parts=parts, vias=vias)

    theirs = their_shorts(kicads(kicad_cli, path))

    assert theirs == {
        ("/P2", "/Q2"),
        ("/P3", "/Q3"),
        ("/X", "/Y"),
        ("/V", "/W"),
        ("/W", "/Z"),
        ("/U1.0", "/U1.1"),
        ("/NT1.0", "/NT1.1"),
    }
    # of a footprint with groups KiCad's check lets pads outside them pass as well; only its footprint checker tells
    assert our_shorts(check_board(path)) == theirs | {("/NT2.0", "/NT2.1")}


def test_what_has_no_net_and_joins_two_is_kicads_short(kicad_cli: KicadCli, tmp_path: Path) -> None:
    """Pads, plated ones and a hole with its pad on the other side: KiCad reports each with what it touches.

    It reports what touches one net alone as well: H3 here.
    """
    tracks, parts = [], []
    for k, at_mm in enumerate((10.0, 20.0, 30.0)):
        names = (f"/A{k}", f"/B{k}" if k < 2 else f"/A{k}")
        for side, (name, layer) in enumerate(zip(names, ("F.Cu", "B.Cu" if k else "F.Cu"), strict=True)):
            y = at_mm + side - 0.5
            tracks.append({**track(name, 5, y, 15, y), "layer": layer})
            parts.append(outside_alone(f"J{k}{side}", name, 5, at_mm + 6 * side - 3))
            tracks.append({**track(name, 5, at_mm + 6 * side - 3, 5, y), "layer": layer})
        kind = {"kind": "through", "drill_mm": 0.5} if k else {"kind": "smd"}
        parts.append(
            {"reference": f"H{k + 1}", "at_mm": [10, at_mm], "pads": [{"number": "1", "size_mm": [3, 3], **kind}]}
        )
    parts.append(outside_alone("J3", "/C", 30, 10))
    parts.append(outside_alone("J4", "/D", 40, 18))
    tracks += [{**track("/D", 30, 18, 40, 18), "layer": "In1.Cu"}, {**track("/D", 30, 10, 30, 18), "layer": "In1.Cu"}]
    path = written(tmp_path, tracks=tracks, parts=parts)

    theirs = {
        re.findall(r"of (H\d)", json.dumps(one["items"]))[0]
        for one in kicads(kicad_cli, path)
        if one["type"] == "shorting_items" and "of H" in json.dumps(one["items"])
    }
    report = check_board(path)
    titles = [f.title for f in report.findings if f.code == "FAB015"]

    assert theirs == {"H1", "H2", "H3"}
    assert sorted(titles) == [
        "short: pad 1 of H1 without a net joins /A0 and /B0 on F.Cu",
        "short: pad 1 of H2 without a net joins /A1 and /B1 on F.Cu and B.Cu",
        "short: track of /D overlaps hole of pad 1 of J3 (/C) by 0.100 mm on In1.Cu",
    ]
    assert ("/C", "/D") in their_shorts(kicads(kicad_cli, path))


def test_before_its_groups_kicad_knew_a_net_tie_by_its_tags(kicad_cli: KicadCli, tmp_path: Path) -> None:
    """Up to KiCad 6, footprints whose tags begin with "net tie"; neither their names count nor other tags."""
    tags = {"NT1": "net tie small", "NT2": "Net tie", "NT3": "small net tie", "NetTie4": "", "NT5": "net tied"}
    path = written(tmp_path, parts=[two_pads(name, 5.0 + 5 * k) for k, name in enumerate(tags)])
    text = path.read_text(encoding="utf-8")
    for name, tag in tags.items():
        start = text.index("(at", text.index(f'(footprint "{name}"'))
        text = text[:start] + (f'(tags "{tag}")\n\t\t' if tag else "") + text[start:]
    found = {}
    for version in (20211014, 20220815, 20220816):
        old = re.sub(r"\(version \d+\)", f"(version {version})", text).replace('(generator_version "10.0")', "")
        path.write_text(old, encoding="utf-8")
        found[version] = their_shorts(kicads(kicad_cli, path))
        assert our_shorts(check_board(path)) == found[version]

    every = {(f"/{name}.0", f"/{name}.1") for name in tags}
    tied = {("/NT1.0", "/NT1.1"), ("/NT5.0", "/NT5.1")}
    assert found == {20211014: every - tied, 20220815: every - tied, 20220816: every}


def in_a_plane(text: str) -> str:
    """The fill of the plane as it was before the via came."""
    return re.sub(
        r"\(filled_polygon.*?\n\t\t\)\n", '(filled_polygon (layer "In1.Cu") (pts PTS))\n', text, flags=re.DOTALL
    ).replace("PTS", " ".join(f"(xy {x} {y})" for x, y in ((55, 55), (95, 55), (95, 95), (55, 95))))


def one_zone_over_another(text: str) -> str:
    """Two zones of one priority, of which neither makes room for the other."""
    return re.sub(r"\(priority \d+\)\s*", "", text)


GROUND = [
    {"reference": "J1", "at_mm": [8, 8], "pads": [{"number": "1", "net": "GND", "kind": "through", "drill_mm": 0.3}]},
    pad("R1", "/A", 30, 20),
]


def outside_alone(reference: str, net: str, x: float, y: float) -> dict[str, object]:
    """A plated hole of 1 mm with a pad on the top and the bottom, and none inside."""
    hole = {"number": "1", "net": net, "kind": "through", "size_mm": [2, 2], "drill_mm": 1, "layers": ["F.Cu", "B.Cu"]}
    return {"reference": reference, "at_mm": [x, y], "pads": [hole]}


@pytest.mark.parametrize(
    ("table", "edit"),
    [
        (
            {
                "vias": [{"net": "/A", "at_mm": [20, 20], "size_mm": 0.4, "drill_mm": 0.2}],
                "tracks": [track("/A", 20, 20, 30, 20)],
                "zones": [{"net": "GND", "layer": "In1.Cu", "rect_mm": [5, 5, 45, 45], "clearance_mm": 0.2}],
            },
            in_a_plane,
        ),
        (
            {
                "tracks": [track("/A", 20, 20, 30, 20)],
                "zones": [{"net": "GND", "layer": "F.Cu", "rect_mm": [5, 5, 25, 45], "clearance_mm": -1}],
            },
            lambda text: text.replace("(clearance -1)", "(clearance 0.2)"),
        ),
        (
            {
                "zones": [
                    {"net": "GND", "layer": "F.Cu", "rect_mm": [5, 5, 20, 25], "clearance_mm": -9},
                    {"net": "/A", "layer": "F.Cu", "rect_mm": [15, 15, 35, 25], "clearance_mm": -9},
                ],
            },
            lambda text: one_zone_over_another(text.replace("(clearance -9)", "(clearance 0.2)")),
        ),
        (
            {
                "parts": [*GROUND, outside_alone("J2", "/A", 20, 20)],
                "tracks": [track("/A", 20, 20, 30, 20)],
                "zones": [{"net": "GND", "layer": "In1.Cu", "rect_mm": [5, 5, 45, 45], "clearance_mm": -1}],
            },
            lambda text: text.replace("(clearance -1)", "(clearance 0.2)"),
        ),
    ],
    ids=["a via in a plane", "a track into a fill", "two zones of one priority", "a plated hole with its pad outside"],
)
def test_what_lies_in_a_fill_goes_when_kicad_fills_again(
    kicad_cli: KicadCli, tmp_path: Path, table: dict[str, object], edit: Callable[[str], str]
) -> None:
    """KiCad measures 0 mm to the stored fill, nothing once it has filled; so do we, and no track or via is shorted."""
    path = written(tmp_path, **{"parts": GROUND, **table})
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")

    before = check_board(path)
    assert [f.code for f in before.findings if f.code in ("FAB014", "FAB015")] == ["FAB014"]
    assert [one for one in kicads(kicad_cli, path) if "actual 0.0000 mm" in str(one["description"])]
    assert not [one for one in kicads(kicad_cli, path, "--refill-zones", "--save-board") if one["type"] == "clearance"]
    after = check_board(path)
    assert [f.code for f in after.findings if f.code in ("FAB014", "FAB015")] == []
    assert "passed" in {v.verdict.value for v in after.verdicts if v.code == "FAB014"}


@pytest.mark.demo
def test_a_track_of_a_demo_board_that_is_moved_into_a_fill(
    kicad_cli: KicadCli, demo_boards: Path, copy_board: Callable[[Path], Path]
) -> None:
    """One end of a track is moved into a plane, by the text of the file: one finding, gone when KiCad has filled."""
    path = copy_board(demo_boards / "complex_hierarchy" / "complex_hierarchy.kicad_pcb")
    board = read_board(path)
    assert not len(CopperMap(board).other_net)
    tracks, pads = board.tracks, board.pads
    for row in range(len(tracks)):
        x, y, layer = float(tracks.start_x_mm[row]), float(tracks.start_y_mm[row]), int(tracks.layer[row])
        at_pad = np.flatnonzero((pads.net == tracks.net[row]) & (np.hypot(pads.x_mm - x, pads.y_mm - y) < 1e-6))
        around = x + 4 * np.cos(np.arange(8)), y + 4 * np.sin(np.arange(8))
        under = CopperMap(board).net_at(layer, *around)
        inside = np.flatnonzero((under >= 0) & (under != tracks.net[row]))
        if len(at_pad) and len(inside):
            end = round(float(around[0][inside[0]]), 4), round(float(around[1][inside[0]]), 4)
            break
    start = int(tracks.offset[row])
    text = path.read_bytes()
    moved = re.sub(rb"\(end [^)]*\)", b"(end %g %g)" % end, text[start:], count=1)
    path.write_bytes(text[:start] + moved)

    codes = [f.title for f in check_board(path).findings if f.code == "FAB014"]
    assert len(codes) == 1
    assert "track" in codes[0]
    zeros = [one for one in kicads(kicad_cli, path) if "actual 0.0000 mm" in str(one["description"])]
    assert any("Zone" in str(one["items"]) for one in zeros)
    filled = kicads(kicad_cli, path, "--refill-zones", "--save-board")
    assert not [one for one in filled if one["type"] == "clearance" and "Zone" in str(one["items"])]
    assert [f.code for f in check_board(path).findings if f.code == "FAB014"] == []
