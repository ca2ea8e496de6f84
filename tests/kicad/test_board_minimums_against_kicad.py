"""Board Setup's minimums against `kicad-cli pcb drc`: the same items, kind by kind."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from drc_rules.analysis.fabrication.board_minimums import below
from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.engine.check import check_up
from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.board_minimums import (
    CLEARANCE,
    MICROVIA_DIAMETER,
    board_minimums,
    nets_with_own_minimum,
)
from stackup_lib.kicad.design_rules.rules_file import read_design_rules
from tests.conftest import KicadCli
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.mini import mini_file

pytestmark = pytest.mark.kicad

Broken = dict[str, set[frozenset[str]]]

MICRO: dict[str, Any] = {"kind": "micro", "span": ["F.Cu", "In1.Cu"]}
BLIND: dict[str, Any] = {"kind": "blind", "span": ["F.Cu", "In1.Cu"]}
CONSTRAINTS = {
    "min_track_width": 0.1,
    "min_via_diameter": 0.4,
    "min_through_hole_diameter": 0.2,
    "min_via_annular_width": 0.1,
    "min_hole_to_hole": 0.25,
    "min_microvia_diameter": 0.25,
    "min_microvia_drill": 0.1,
}


def via(x: float, y: float, size: float = 0.4, drill: float = 0.2, **more: object) -> dict[str, object]:
    return {"net": "/A", "at_mm": [x, y], "size_mm": size, "drill_mm": drill, **more}


def pad(number: str, x: float, size: tuple[float, float], drill: float, **more: object) -> dict[str, object]:
    own = {"kind": "through", "shape": "circle", **more}
    return {"number": number, "net": "/A", "at_mm": [x, 0], "size_mm": size, "drill_mm": drill, **own}


VIAS = [
    *(via(5 + 5 * k, 10, size, drill) for k, (size, drill) in enumerate(((0.399, 0.2), (0.4, 0.199), (0.4, 0.201)))),
    *(via(5 + 5 * k, 15, size, drill, **MICRO) for k, (size, drill) in enumerate(((0.3, 0.1), (0.24, 0.09)))),
    via(20, 15, 0.35, 0.15, **BLIND),
    via(25, 15, 0.35, 0.15, kind="buried", span=["In1.Cu", "In2.Cu"]),
    # Pairs of holes: 1 um too close, within what KiCad lets pass, exact; drilled twice, on other layers, by laser.
    *(via(x, 20) for x in (5, 5.449, 10, 10.4496, 15, 15.45, 20, 20, 25, 25.001, 30, 30.3, 30.15)),
    *(via(35, 20, 0.3, 0.1, **MICRO), via(35.3, 20), via(40, 20, 0.3, 0.1, **MICRO), via(40.2, 20, 0.3, 0.1, **MICRO)),
    *(via(45, 20, **BLIND), via(45.3, 20), via(50, 20, **BLIND)),
    *(via(50.3, 20, kind="blind", span=["In2.Cu", "B.Cu"]), via(55, 20, kind="buried", span=["In1.Cu", "In2.Cu"])),
    via(55.3, 20, **BLIND),
]
PADS = [
    pad("1", 0, (0.5, 0.5), 0.35),
    pad("2", 2, (0.5, 0.8), 0.35, shape="rect"),
    pad("3", 4, (0.15, 0.15), 0.15, kind="non_plated"),
    pad("4", 6, (0.5, 0.5), 0.15),
    pad("5", 8, (1, 1), 0.5),
    pad("6", 8.7, (1, 1), 0.5),
    pad("7", 12, (0.5, 0.5), 0.5),
    pad("8", 14, (0.4, 0.4), 0.5),
    pad("9", 16, (0.5, 0.5), 0.5, kind="non_plated"),
    pad("10", 16.6, (0.5, 0.5), 0.5, kind="non_plated"),
    pad("11", 20, (0.45, 0.9), 0.3, shape="oval"),
    pad("12", 22, (0.45, 0.45), 0.3, shape="roundrect"),
    pad("13", 24, (0.5, 0.5), 0.30001),
    pad("14", 26, (0.5, 0.5), 0.3),
]
TRACKS = [
    {
        "net": f"/{'AB'[k % 2]}",
        "layer": ("F.Cu", "In1.Cu")[k % 2],
        "width_mm": width,
        "path_mm": [[5, 40 + k], [9, 40 + k]],
    }
    for k, width in enumerate((0.0999, 0.099999, 0.1, 0.09, 0.2))
]
BOARD: dict[str, object] = {
    "copper_layers": 4,
    "constraints_mm": CONSTRAINTS,
    "vias": VIAS,
    "tracks": TRACKS,
    "parts": [{"reference": "U1", "at_mm": [40, 60], "pads": PADS}],
}


def by_kicad(board: Path, kicad_cli: KicadCli) -> Broken:
    """Items that KiCad reports, by its type of violation; microvias whose diameter is too small are left out."""
    report = board.with_name("drc.json")
    kicad_cli("pcb", "drc", "--format", "json", "--severity-all", "--all-track-errors", "-o", report, board)
    found: Broken = {}
    for violation in json.loads(report.read_text(encoding="utf-8"))["violations"]:
        items = violation["items"]
        if violation["type"] == "via_diameter" and items[0]["description"].startswith("Micro via"):
            continue
        if not violation.get("excluded") and not items[0]["description"].startswith("Rule Area"):
            items = [item for item in items if not item["description"].startswith("Rule Area")]
            found.setdefault(violation["type"], set()).add(frozenset(item["uuid"] for item in items))
    return found


def by_us(path: Path) -> Broken:
    board, rules = read_board(path), read_design_rules(path.with_suffix(".kicad_dru"), [])
    found: Broken = {}
    for minimum in board_minimums(board.project):
        spared = nets_with_own_minimum(board, rules, minimum.constraint)
        if spared is not None and minimum.key not in (CLEARANCE.key, MICROVIA_DIAMETER.key):
            items = below(board, minimum, spared).items
            found.setdefault(minimum.check, set()).update(frozenset(one.uuid for one in pair) for pair in items)
    return found


def agree(path: Path, kicad_cli: KicadCli) -> Broken:
    ours, theirs = by_us(path), by_kicad(path, kicad_cli)
    assert ours == {check: theirs.get(check, set()) for check in ours}
    return ours


def test_the_same_items_of_a_board_with_everything(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """Every kind finds some, and spares what is at the limit."""
    path = mini_file(tmp_path, BOARD, "b")
    found = agree(path, kicad_cli)
    assert {check: len(items) for check, items in found.items()} == {
        "track_width": 3,
        "via_diameter": 3,
        "annular_width": 10,
        "drill_out_of_range": 5,
        "microvia_drill_out_of_range": 1,
        "hole_to_hole": 10,
    }


@pytest.mark.parametrize(
    "rules",
    [
        "(rule x (constraint track_width (min 0.08mm)))",
        "(rule x (constraint track_width (min 0.08mm)) (condition \"A.NetName == '/A'\"))",
        "(rule x (constraint track_width (opt 0.08mm)))",
        "(rule x (constraint track_width (max 0.15mm)))",
        "(rule x (constraint hole_size (min 0.1mm))) (rule y (constraint hole_to_hole (min 0.1mm)))",
        "(rule x (severity ignore) (constraint via_diameter (min 0.2mm)))",
        "(rule x (constraint annular_width (min 0.01mm)) (condition \"A.NetClass == 'none*'\"))",
        "(rule x (constraint track_width (min 0.08mm))",
    ],
)
def test_the_same_items_under_custom_design_rules(rules: str, tmp_path: Path, kicad_cli: KicadCli) -> None:
    """A rule's minimum replaces Board Setup's, a preferred value or a maximum does not, a broken file does nothing."""
    data = {**BOARD, "design_rules": f"(version 1)\n{rules}\n"}
    path = mini_file(tmp_path, data, "b")
    ours, theirs = by_us(path), by_kicad(path, kicad_cli)
    if "max" in rules:  # KiCad reports what breaks the rule's own maximum, too
        theirs["track_width"] = {one for one in theirs["track_width"] if one in ours["track_width"]}
        assert len(ours["track_width"]) == 3
    assert ours == {check: theirs.get(check, set()) for check in ours}


def test_severities_and_exclusions_of_the_project_hold(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """What KiCad ignores, or the user excluded there, is not reported."""
    path = mini_file(tmp_path, {**BOARD, "severities": {"via_diameter": "ignore"}}, "b")
    before = agree(path, kicad_cli)
    assert "via_diameter" not in before
    narrow = next(iter(sorted(before["track_width"], key=sorted)))
    tracks = read_board(path).tracks
    row = tracks.uuid.tolist().index(next(iter(narrow)))
    middle = (tracks.start_x_mm[row] + tracks.end_x_mm[row]) / 2, tracks.start_y_mm[row]
    text = "|".join(
        ["track_width", *(str(round(at * 1e6)) for at in middle), *narrow, "0" * 8 + "-0000" * 3 + "-" + "0" * 12]
    )
    for exclusion in (text, [text, "agreed with the fab"]):
        project = json.loads(path.with_suffix(".kicad_pro").read_text(encoding="utf-8"))
        project["board"]["design_settings"]["drc_exclusions"] = [exclusion]
        path.with_suffix(".kicad_pro").write_text(json.dumps(project), encoding="utf-8")
        assert agree(path, kicad_cli)["track_width"] == before["track_width"] - {narrow}


def test_a_kicad_5_board_states_its_own(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """KiCad 10 holds such a board against the constraints inside it, and so do we."""
    text = whole_board().text()
    for token, value in (("trace_min", 0.2), ("via_min_size", 0.7), ("via_min_drill", 0.35), ("uvia_min_drill", 0.11)):
        text = re.sub(rf"\({token} [0-9.]+\)", f"({token} {value})", text)
    path = tmp_path / "old.kicad_pcb"
    path.write_text(text, encoding="utf-8")
    board = read_board(path)
    theirs = by_kicad(path, kicad_cli)
    counts = {one.check: len(below(board, one, frozenset()).items) for one in board_minimums(board.project)}
    assert counts["track_width"] == len(theirs["track_width"]) == 3
    assert counts["drill_out_of_range"] == len(theirs["drill_out_of_range"])
    assert counts["microvia_drill_out_of_range"] == len(theirs["microvia_drill_out_of_range"])


@pytest.mark.demo
@pytest.mark.parametrize("name", ["StickHub", "pic_programmer", "RoyalBlue54L-Feather", "CM5_MINIMA_3"])
def test_the_same_items_of_a_demo_board(
    name: str, demo_boards: Path, kicad_cli: KicadCli, copy_board: functools.partial[Path]
) -> None:
    """None that KiCad does not report; of those it reports, only rings of pads that overlap one another are missing."""
    path = copy_board(next(demo_boards.rglob(f"{name}.kicad_pcb")))
    ours, theirs = by_us(path), by_kicad(path, kicad_cli)
    missing = {check: theirs.get(check, set()) - items for check, items in ours.items()}
    assert {check: items - theirs.get(check, set()) for check, items in ours.items() if items} == {
        check: set() for check, items in ours.items() if items
    }
    expected = {"annular_width": 2} if name == "RoyalBlue54L-Feather" else {}
    assert {check: len(items) for check, items in missing.items() if items} == expected


@pytest.mark.demo
def test_the_same_clearances_of_a_demo_board(
    demo_boards: Path, kicad_cli: KicadCli, copy_board: functools.partial[Path]
) -> None:
    """Between the same pairs of nets."""
    path = copy_board(next(demo_boards.rglob("multichannel_mixer.kicad_pcb")))
    report = path.with_name("drc.json")
    kicad_cli("pcb", "drc", "--format", "json", "--all-track-errors", "-o", report, path)
    violations = json.loads(report.read_text(encoding="utf-8"))["violations"]
    theirs = {
        frozenset(re.findall(r"\[(.*)\]", item["description"])[0] for item in violation["items"])
        for violation in violations
        if violation["type"] == "clearance"
    }
    context = check_up(path).context
    names, ours = context.board.nets, set()
    for layer in range(context.board.layer_count):
        spaces = context.get(space_finder).on(layer)
        narrow = spaces.where(spaces.gap_mm < 0.299)
        nets = zip(narrow.one.net.tolist(), narrow.other.net.tolist(), strict=True)
        ours |= {frozenset((names[one], names[other])) for one, other in nets}
    assert ours == theirs
    assert len(ours) == 16
