"""Net classes, Board Setup and design rules of a KiCad demo board with one fact broken at a time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from tests.support.seeded import Case, State, turned

pytestmark = pytest.mark.demo

# Of the carrier's classes all require 0.45/0.3 mm; Board Setup: 0.45 mm, 0.3 mm, a ring of 0.075 mm.
RULES = """(version 1)
(rule "usb" (condition "A.NetClass == '90ohm'") (constraint via_diameter (min 0.4mm))
  (constraint clearance (min 0.1mm)))
(rule "all" (condition "A.Type == 'Via'") (constraint hole_size (min 0.25mm)))
"""
SETTINGS = ""

Change = Callable[[Path], None]


def in_rules(old: str, new: str) -> Change:
    """Replace a text of the design rules."""

    def change(board: Path) -> None:
        path = board.with_suffix(".kicad_dru")
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


def in_class(name: str, **sizes_mm: float) -> Change:
    """Give a net class another via."""

    def change(board: Path) -> None:
        path = board.with_suffix(".kicad_pro")
        project = json.loads(path.read_text(encoding="utf-8"))
        (row,) = (row for row in project["net_settings"]["classes"] if row["name"] == name)
        row.update(sizes_mm)
        path.write_text(json.dumps(project), encoding="utf-8")

    return change


def in_board_setup(key: str, value_mm: float) -> Change:
    """Give Board Setup another constraint."""

    def change(board: Path) -> None:
        path = board.with_suffix(".kicad_pro")
        project = json.loads(path.read_text(encoding="utf-8"))
        project["board"]["design_settings"]["rules"][key] = value_mm
        path.write_text(json.dumps(project), encoding="utf-8")

    return change


SEEDS: dict[str, tuple[Change, dict[str, str]]] = {
    "the name of a class is misspelt in a rule": (
        in_rules("'90ohm'", "'90_ohm'"),
        {"board.design_rules.act": "failed"},
    ),
    "a rule asks for all classes but Default, and these state every size": (
        in_rules("A.NetClass == '90ohm'", "A.NetClass != 'Default'"),
        {},
    ),
    "a less strict rule for everything comes last": (
        in_rules('(rule "all"', '(rule "late" (constraint clearance (min 0.05mm)))\n(rule "all"'),
        {"board.design_rules.act": "failed"},
    ),
    "a rule of the class wants wider vias than the class asks for": (
        in_rules("via_diameter (min 0.4mm)", "via_diameter (min 0.5mm)"),
        {"board.via.class_allowed": "failed"},
    ),
    "a rule wants a larger hole of every via": (
        in_rules("hole_size (min 0.25mm)", "hole_size (min 0.35mm)"),
        {"board.via.class_allowed": "failed"},
    ),
    "the same rule for microvias only": (
        in_rules("A.Type == 'Via'", "A.Via_Type == 'Micro'"),
        {},
    ),
    "Board Setup wants a wider ring than the classes leave": (
        in_board_setup("min_via_annular_width", 0.1),
        {"board.via.class_allowed": "failed", "board.setup.minimums": "failed"},  # so are those that are routed
    ),
    "the hole of a class leaves a ring that advanced fabs do not hold": (
        in_class("90ohm", via_drill=0.33),
        {
            "board.via.class_allowed": "failed",
            "board.via.class_buildable": "passed",  # not applicable before: vias of the classes' size are routed
            "board.via.class_buildable_advanced": "failed",
        },
    ),
    "the via of a class is one that every fab makes": (
        in_class("90ohm", via_diameter=0.6),
        {"board.via.class_buildable": "passed", "board.via.class_buildable_advanced": "passed"},
    ),
    "a parenthesis is lost": (
        in_rules("(min 0.25mm)))", "(min 0.25mm))"),
        {
            "board.design_rules": "failed",
            "board.design_rules.act": "not verifiable",
            "board.impedance.intended": "not verifiable",
            "board.via.class_allowed": "not verifiable",
            "board.via.class_buildable": "not verifiable",
            "board.via.class_buildable_advanced": "not verifiable",
        },
    ),
}


@pytest.fixture(scope="module")
def carrier(demo_boards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the CM5 carrier with design rules of our own."""
    folder = tmp_path_factory.mktemp("carrier")
    for ending in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(demo_boards / "cm5_minima" / f"CM5_MINIMA_3{ending}", folder)
    board = folder / "CM5_MINIMA_3.kicad_pcb"
    board.with_suffix(".kicad_dru").write_text(RULES, encoding="utf-8")
    return board


@pytest.fixture(scope="module")
def sound(carrier: Path) -> dict[str, State]:
    """The states of the copy before anything is broken."""
    return Case(read_board(carrier), SETTINGS).states()


def test_the_rules_that_are_broken_are_sound(sound: dict[str, State]) -> None:
    """The ground on which the seeds fall."""
    assert sound["board.design_rules"][0] == "passed"
    assert sound["board.design_rules.act"][0] == "passed"
    assert sound["board.via.class_allowed"][0] == "passed"
    assert sound["board.via.class_buildable"][0] == "not applicable"


@pytest.mark.parametrize("name", SEEDS)
def test_a_broken_rule_turns_exactly_its_clauses(
    name: str, carrier: Path, sound: dict[str, State], tmp_path: Path
) -> None:
    """The clauses that rest on the fact, and no other."""
    change, expected = SEEDS[name]
    board = tmp_path / carrier.name
    for ending in (".kicad_pro", ".kicad_dru"):
        shutil.copy(carrier.with_suffix(ending), tmp_path)
    shutil.copy(carrier, board)
    change(board)

    assert turned(sound, Case(read_board(board), SETTINGS).states()) == expected
