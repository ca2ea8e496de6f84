"""What we call a fault makes a real KiCad 10 ignore the whole file, and what we accept it applies."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from tests.conftest import kicad_cli_path
from tests.support.mini import mini_file

pytestmark = pytest.mark.kicad

HEAD = "(version 1)\n"
SENTINEL = '(rule "sentinel" (constraint track_width (min 5mm)))\n'
BROKEN = {
    "no version": SENTINEL,
    "open parenthesis": HEAD + SENTINEL + '(rule "a" (constraint clearance (min 1mm))\n',
    "open quote": HEAD + SENTINEL + '(rule "a (constraint clearance (min 1mm)))\n',
    "unknown constraint": HEAD + SENTINEL + '(rule "a" (constraint via_drill (min 1mm)))\n',
    "no unit": HEAD + SENTINEL + '(rule "a" (constraint clearance (min 1)))\n',
    "unknown unit": HEAD + SENTINEL + '(rule "a" (constraint clearance (min 1um)))\n',
    "comment behind a rule": HEAD + SENTINEL + '(rule "a" (constraint clearance (min 1mm))) # x\n',
    "unknown severity": HEAD + SENTINEL + '(rule "a" (severity foo) (constraint clearance (min 1mm)))\n',
    "second layer": HEAD + SENTINEL + '(rule "a" (layer inner) (layer outer) (constraint clearance (min 1mm)))\n',
    "no value": HEAD + SENTINEL + '(rule "a" (constraint clearance (min)))\n',
    "no such word": HEAD + SENTINEL + '(rule "a" (constraint disallow foo))\n',
    "a count with a unit": HEAD + SENTINEL + '(rule "a" (constraint via_count (max 3mm)))\n',
    "an exponent": HEAD + SENTINEL + '(rule "a" (constraint clearance (min 1e-1mm)))\n',
    "two numbers": HEAD + SENTINEL + '(rule "a" (constraint clearance (min 0.1mm 0.2mm)))\n',
    "lengths and times": HEAD + SENTINEL + '(rule "a" (constraint length (min 10mm) (max 100ps)))\n',
    "percent": HEAD + SENTINEL + '(rule "a" (constraint solder_paste_rel_margin (opt -10%)))\n',
    "no digit before the dot": HEAD + SENTINEL + '(rule "a" (constraint clearance (min .5mm)))\n',
}
SOUND = {
    "plain": HEAD + SENTINEL,
    "empty rule": HEAD + SENTINEL + '(rule "a")\n',
    "below zero without a unit": HEAD + SENTINEL + '(rule "a" (constraint solder_paste_rel_margin (opt -0.1)))\n',
    "a value in parentheses": HEAD + SENTINEL + '(rule "a" (constraint hole_size (min (1mm))))\n',
    "name used twice": HEAD + SENTINEL + SENTINEL,
    "comment": HEAD + "# (rule\n  # x\n" + SENTINEL,
}


def _acts(folder: Path, text: str) -> bool:
    """Whether KiCad's check names the rule "sentinel", which every track breaks."""
    kicad = kicad_cli_path()
    assert kicad is not None
    track = {"net": "A", "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[10, 10], [50, 10]]}
    board = mini_file(folder, {"stackup": "default", "tracks": [track]}, "b")
    board.with_suffix(".kicad_dru").write_text(text, encoding="utf-8")
    report = folder / "report.json"
    command = [kicad, "pcb", "drc", "--format", "json", "-o", str(report), str(board)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return any("sentinel" in v["description"] for v in json.loads(report.read_text(encoding="utf-8"))["violations"])


@pytest.mark.parametrize("name", BROKEN)
def test_kicad_ignores_a_file_in_which_we_find_a_fault(name: str, tmp_path: Path) -> None:
    """One error anywhere, and no rule of the file acts."""
    assert parse_design_rules(BROKEN[name]).fault is not None
    assert not _acts(tmp_path, BROKEN[name])


@pytest.mark.parametrize("name", SOUND)
def test_kicad_applies_a_file_in_which_we_find_none(name: str, tmp_path: Path) -> None:
    """What is odd but accepted is no fault."""
    assert parse_design_rules(SOUND[name]).fault is None
    assert _acts(tmp_path, SOUND[name])
