"""`stackwright delay`: every routed link with its delay, for people, spreadsheets and programs."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

from stackwright.cli.app import run
from stackwright.text.command_line import command_line
from tests.support.mini import mini_file

ROOT = Path(__file__).parents[2]
BOARD = ROOT / "fixtures" / "boards" / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit.kicad_pcb"
A_TRACK = {"net": "/A", "layer": "F.Cu", "width_mm": 0.2, "path_mm": ((2, 2), (9, 2))}
SCHEMA = ROOT / "fixtures" / "schemas" / "delay-v1.json"


def test_groups_stand_with_their_spread(capsys: pytest.CaptureFixture[str]) -> None:
    """Eighty columns, no traceback, the latest link first."""
    assert run(["delay", str(BOARD)]) == 0
    out = capsys.readouterr().out
    assert "latest minus earliest" in out
    assert out.index("/PCIE_") < out.index("ps from pad to pad")


def test_json_follows_its_schema_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    """No key beyond the schema's; each part adds up to the whole."""
    assert run(["delay", str(BOARD), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for definition in (schema, *schema["$defs"].values()):
        definition["additionalProperties"] = False
    jsonschema.Draft202012Validator(schema).validate(data)
    links = [link for group in data["groups"] for link in group["links"]]
    assert len(links) >= 4
    for link in links:
        parts = link["lines_ps"] + link["vias_ps"] + link["package_ps"]
        assert parts == pytest.approx(link["delay_ps"]["nominal"])


def test_csv_has_a_line_per_link(capsys: pytest.CaptureFixture[str]) -> None:
    """The same values as JSON."""
    assert run(["delay", str(BOARD), "--format", "json"]) == 0
    links = [link for group in json.loads(capsys.readouterr().out)["groups"] for link in group["links"]]
    assert run(["delay", str(BOARD), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["link"] for row in rows] == [link["name"] for link in links]
    delays = [float(row["delay ps"]) for row in rows]
    assert delays == pytest.approx([link["delay_ps"]["nominal"] for link in links], abs=1e-3)


def test_verbose_adds_the_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """Range, lines, vias and package of every link."""
    assert run(["delay", str(BOARD), "-v"]) == 0
    out = capsys.readouterr().out
    assert "package" in out
    assert "between the last two" not in out


def test_a_board_without_links_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It points to the nets."""
    board = mini_file(tmp_path, {"size_mm": (20, 20), "tracks": [A_TRACK]}, "plain")
    assert run(["delay", str(board)]) == 0
    out = capsys.readouterr().out
    assert "No interface is routed from end to end." in out
    assert f"next: {command_line('nets', str(board))}" in out


def test_delays_without_a_stackup_are_called_a_guess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without -v the text shows no range."""
    nets = ("/USB_D_P", "/USB_D_N")
    parts = [
        {"reference": f"{name}{k}", "at_mm": [x, y], "pads": [{"number": "1", "net": net, "size_mm": [0.2, 0.2]}]}
        for k, (net, y) in enumerate(zip(nets, (9.85, 10.15), strict=True), start=1)
        for name, x in (("U", 10.0), ("J", 40.0))
    ]
    pair = {"nets": nets, "layer": "F.Cu", "path_mm": [[10, 10], [40, 10]], "width_mm": 0.15, "gap_mm": 0.15}
    board = mini_file(tmp_path, {"size_mm": (50, 20), "copper_layers": 2, "parts": parts, "pairs": [pair]}, "bare")

    assert run(["delay", str(board)]) == 0

    out = " ".join(capsys.readouterr().out.split())
    assert "1 link link tracks" in out
    assert re.search(r"a guess, \+-\d+ %: ps of 1 link, without the stackup: in KiCad", out)


def test_a_reason_without_a_delay_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all links of a group together, and of later groups by the first link that has it."""
    nets = [f"/{name}_D_{side}" for name in ("USBA", "USBB") for side in "PN"]
    parts = [
        {"reference": f"{name}{k}", "side": side, "at_mm": [x, y], "pads": [{"number": "1", "net": net}]}
        for k, (net, y) in enumerate(zip(nets, (10.0, 10.3, 20.0, 20.3), strict=True), start=1)
        for name, x, side in (("U", 10.0, "front"), ("J", 40.0, "back"))
    ]
    tracks = [
        {"net": net, "layer": layer, "width_mm": 0.15, "path_mm": [[x, y], [25, y]]}
        for net, y in zip(nets, (10.0, 10.3, 20.0, 20.3), strict=True)
        for layer, x in (("F.Cu", 10), ("B.Cu", 40))
    ]
    vias = [{"net": net, "at_mm": [25, y]} for net, y in zip(nets, (10.0, 10.3, 20.0, 20.3), strict=True)]
    data = {"size_mm": (50, 30), "copper_layers": 2, "parts": parts, "tracks": tracks, "vias": vias}
    board = mini_file(tmp_path, data, "bare")

    assert run(["delay", str(board)]) == 0

    out = " ".join(capsys.readouterr().out.split())
    assert out.count("is not known; in KiCad") == 1, out
