"""What a real KiCad 10 makes of conditions, limits and their order, on which the rules about vias of classes rest."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from drc_rules.rules.intent._design_rule_reach import names_of, never_applies
from stackup_lib.board.design_rules import DesignRule
from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.joined_classes import SIZES, joined_classes
from stackup_lib.nets.design_vias import via_meets
from tests.conftest import kicad_cli_path
from tests.support.mini import mini_file

pytestmark = pytest.mark.kicad

CONDITIONS = (
    "A.NetClass == 'FAST'",
    "A.NetClass == 'fast'",
    "A.NetClass == 'FA*'",
    "A.NetClass == 'Default'",
    "A.NetClass == 'FAST,Default'",
    "A.NetClass == 'OTHER'",
    "A.NetClass != 'Default'",
    "A.NetClass != 'FAST'",
    "A.NetClass != 'OTHER'",
    "A.hasNetclass('FAST')",
    "A.hasNetclass('fast')",
    "A.hasNetclass('FA*')",
    "A.hasNetclass('Default')",
    "!A.hasNetclass('OTHER')",
    "A.hasExactNetclass('FAST')",
    "A.hasExactNetclass('FAST,Default')",
    "A.Type == 'Via'",
    "A.Type == 'VIA'",
    "A.Type == 'Vias'",
    "A.Type == 'Through Via'",
    "A.Type == 'Microvia'",
    "A.Type == 'Track'",
    "A.Via_Type == 'Through'",
    "A.Via_Type == 'T*'",
    "A.Via_Type == 'Blind/buried'",
    "A.Via_Type != 'Blind/buried'",
    "A.Via_Type == 'Micro'",
    "A.isMicroVia()",
    "A.isPlated()",
    "A.Layer == 'F.Cu'",
    "A.Layer != 'B.Cu'",
    "B.NetClass == 'FAST'",
    "B.NetClass != 'OTHER'",
    "A.insideArea('nowhere')",
    "!A.intersectsArea('nowhere')",
    "A.memberOfFootprint('U9')",
    "A.inDiffPair('*')",
    "A.NetName == 'N*'",
    "A.NetName == 'n??x'",
)


def violations(folder: Path, rules: str, vias: list[dict[str, object]], **more: object) -> tuple[Path, list[str]]:
    """Return the board and what KiCad's check says of it."""
    net_classes = [{"name": "FAST", "patterns": ["N*"], "track_width_mm": 0.15}]
    data = {"stackup": "default", "copper_layers": 4, "vias": vias, "net_classes": net_classes, **more}
    board = mini_file(folder, data, "b")
    board.with_suffix(".kicad_dru").write_text("(version 1)\n" + rules, encoding="utf-8")
    return board, check(board)


def check(board: Path) -> list[str]:
    """Return what KiCad's design rule check says."""
    kicad, report = kicad_cli_path(), board.parent / "report.json"
    assert kicad is not None
    command = [kicad, "pcb", "drc", "--format", "json", "-o", str(report), str(board)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return [violation["description"] for violation in json.loads(report.read_text(encoding="utf-8"))["violations"]]


def test_kicad_decides_conditions_on_a_through_via_as_we_do(tmp_path: Path) -> None:
    """One via and one rule per condition, each on a net of class FAST; none is left open by us."""
    vias: list[dict[str, object]] = []
    rules = ""
    for number, condition in enumerate(CONDITIONS, start=10):
        at = [5 + 3 * (number % 28), 5 + 4 * (number // 28)]
        vias.append({"net": f"N{number}x", "at_mm": at, "size_mm": 0.5, "drill_mm": 0.3})
        rules += f'(rule "r_{number}_" (condition "A.NetName == \'N{number}x\' && ({condition})")'
        rules += " (constraint via_diameter (min 5mm)))\n"

    board, said = violations(tmp_path, rules, vias)

    acts = {int(found) for text in said for found in re.findall(r"r_(\d+)_", text)}
    theirs = {text: number in acts for number, text in enumerate(CONDITIONS, start=10)}
    names = names_of(read_board(board))
    ours: dict[str, bool | None] = {}
    for number, text in enumerate(CONDITIONS, start=10):
        rule = DesignRule(name="r", condition=text, line=1)
        ours[text] = via_meets(rule, f"N{number}x", ("FAST", "Default"), in_pair=False)
        assert not (never_applies(rule, names) and theirs[text]), text
    assert ours == theirs


def test_kicad_joins_default_to_a_class_that_leaves_a_size_empty(tmp_path: Path) -> None:
    """Of classes with all sizes one is left out of each: then a rule for Default acts on their nets too."""
    left_out = [*sorted(SIZES), "line_style", "diff_pair_via_gap", "nothing"]
    nets = {key: f"N_{key}" for key in left_out}
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[10, 5 + 4 * row], [50, 5 + 4 * row]]}
        for row, net in enumerate(nets.values())
    ]
    rules = "(version 1)\n" + "".join(
        f"(rule \"r_{key}_\" (condition \"A.NetName == '{net}' && A.NetClass == 'Default'\")"
        " (constraint track_width (min 5mm)))\n"
        for key, net in nets.items()
    )
    data = {"stackup": "default", "tracks": tracks, "design_rules": rules}
    board = mini_file(tmp_path, data, "b")
    path = board.with_suffix(".kicad_pro")
    project = json.loads(path.read_text(encoding="utf-8"))
    whole = dict.fromkeys([*SIZES, "diff_pair_via_gap"], 0.2) | {"line_style": 0}
    for key, net in nets.items():
        row = {name: value for name, value in whole.items() if name != key}
        project["net_settings"]["classes"].append({"name": key, "priority": 0, **row})
        project["net_settings"]["netclass_patterns"].append({"netclass": key, "pattern": net})
    path.write_text(json.dumps(project), encoding="utf-8")

    acts = {found for text in check(board) for found in re.findall(r"r_(\w+)_'", text)}

    ours = read_board(board).project
    assert acts == {key for key, net in nets.items() if "Default" in joined_classes(ours, net)}
    assert acts == SIZES


@pytest.mark.parametrize("kind", ["clearance", "hole_to_hole", "via_diameter"])
def test_in_kicad_a_later_general_rule_replaces_a_special_one(kind: str, tmp_path: Path) -> None:
    """The special rule speaks alone, and is silent before a general one that is less strict."""
    special = f'(rule "special" (condition "A.NetName == \'N1\'") (constraint {kind} (min 9mm)))\n'
    general = f'(rule "general" (constraint {kind} (min 0.01mm)))\n'
    path = [[10, 10], [50, 10]]
    tracks = [{"net": net, "layer": "F.Cu", "width_mm": 0.3, "path_mm": path} for net in ("N1",)]
    tracks.append({"net": "N2", "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[10, 11], [50, 11]]})
    vias: list[dict[str, object]] = [{"net": "N1", "at_mm": [10, 10]}, {"net": "N3", "at_mm": [14, 12]}]

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    alone = violations(tmp_path / "a", special, vias, tracks=tracks)[1]
    before = violations(tmp_path / "b", special + general, vias, tracks=tracks)[1]

    assert any("'special'" in text for text in alone)
    assert not any("'special'" in text for text in before)


@pytest.mark.parametrize(
    ("rules", "limit"),
    [
        ('(rule "a" (constraint via_diameter (min 1mm)))(rule "b" (constraint via_diameter (opt 0.4mm)))', "1.0000"),
        ('(rule "a" (constraint via_diameter (min 1mm)))(rule "b" (constraint via_diameter (min 0.4mm)))', None),
        ('(rule "a" (constraint hole_size (max 0.2mm)))', "0.2000"),
        ('(rule "a" (layer inner) (constraint via_diameter (min 1mm)))', "1.0000"),
        ('(rule "a" (layer "In1.Cu") (constraint annular_width (min 1mm)))', None),
        ('(rule "a" (layer outer) (constraint annular_width (min 1mm)))', "1.0000"),
    ],
)
def test_kicad_takes_each_bound_from_the_last_rule_that_states_it(
    rules: str, limit: str | None, tmp_path: Path
) -> None:
    """A via of 0.5/0.3 mm: the limit that KiCad names, or none."""
    said = violations(tmp_path, rules, [{"net": "N1", "at_mm": [10, 10], "size_mm": 0.5, "drill_mm": 0.3}])[1]
    named = [text for text in said if "rule '" in text]

    assert len(named) == (limit is not None)
    assert all(limit is not None and limit in text for text in named)
