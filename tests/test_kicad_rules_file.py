"""KiCad's custom rules: what they say, and what makes KiCad ignore them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.miniboard import MiniBoard, write
from stackup_lib.facts import Confidence
from stackup_lib.intended import intended_geometry
from stackup_lib.kicad import read_board
from stackup_lib.kicad.rules_conditions import TrackOfNet, holds
from stackup_lib.kicad.rules_file import parse_design_rules, read_design_rules

SENTINEL = '(rule "s" (constraint track_width (min 5mm)))\n'


def test_a_rule_is_read_with_layer_condition_limits_and_line() -> None:
    """Everything that a rule states is kept, with the line at which it stands."""
    read = parse_design_rules(
        "(version 1)\n# (rule nothing\n"
        '(rule "(85" (layer inner) (severity error)\n'
        "  (condition \"A.NetClass == '85*'\")\n"
        "  (constraint track_width (min 4mil) (opt 0.15 mm) (max .01in)))\n"
    )
    assert read.fault is None
    (rule,) = read.rules
    assert (rule.name, rule.layer, rule.severity, rule.line) == ("(85", "inner", "error", 3)
    assert rule.condition == "A.NetClass == '85*'"
    (width,) = rule.constraints
    assert width.line == 5
    assert (width.min_mm, width.opt_mm, width.max_mm) == pytest.approx((0.1016, 0.15, 0.254))


@pytest.mark.parametrize(
    ("tail", "line", "word"),
    [
        ('(rule "a" (constraint via_drill (min 1mm)))', 3, "via_drill"),
        ('(rule "a" (constraint clearance (min 1)))', 3, "no unit"),
        ('(rule "a"\n (constraint clearance (min 1um)))', 4, '"um"'),
        ('(rule "a" (constraint clearance (min 1mm))', 3, "never closed"),
        (")", 3, "nothing opened"),
        ('(rule "a (constraint clearance (min 1mm)))', 3, "quote"),
        ('(rule "a" (constraint Track_Width (min 1mm)))', 3, "Track_Width"),
        ('(rule "a" (constraint clearance (mid 1mm)))', 3, "mid"),
        ('(rule "a" (constraint clearance (min)))', 3, "without a value"),
        ('(rule "a" (foo 1) (constraint clearance (min 1mm)))', 3, "foo"),
        ('(rule "a" (severity foo) (constraint clearance (min 1mm)))', 3, "foo"),
        ('(rule "a" (layer inner) (layer outer) (constraint clearance (min 1mm)))', 3, "second"),
        ("(foo 1)", 3, "foo"),
        ('(rule "a" (constraint clearance (min 1mm))) # behind a rule', 3, "#"),
    ],
)
def test_what_kicad_rejects_is_found_with_its_line(tail: str, line: int, word: str) -> None:
    """One such error, and KiCad applies none of the file's rules."""
    fault = parse_design_rules("(version 1)\n" + SENTINEL + tail + "\n").fault
    assert fault is not None
    assert fault.line == line
    assert word in fault.what


@pytest.mark.parametrize("tail", ['(rule "a")', SENTINEL, '(rule "a" (constraint clearance))'])
def test_what_kicad_accepts_is_no_fault(tail: str) -> None:
    """KiCad applies a file with an empty rule, a name used twice, or a constraint without limits."""
    assert parse_design_rules("(version 1)\n" + SENTINEL + tail + "\n").fault is None


def test_a_file_without_a_version_is_a_fault() -> None:
    """KiCad asks for the version first."""
    fault = parse_design_rules(SENTINEL).fault
    assert fault is not None
    assert "(version 1)" in fault.what


def test_no_file_means_no_rules(tmp_path: Path) -> None:
    """Most boards have none."""
    assert read_design_rules(tmp_path / "board.kicad_dru") is None


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet='()"\\#\n ab1.-', max_size=80))
def test_any_text_gives_rules_or_a_fault(text: str) -> None:
    """Nothing that a file holds raises."""
    assert parse_design_rules("(version 1)\n(rule a " + text) is not None
    assert parse_design_rules(text) is not None


TRACK = TrackOfNet(net="/USB_D+", classes=("90Ohm-diff_USB",), layer="In1.Cu", in_pair=True)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, True),
        ("(A.NetClass == '90Ohm-*')", True),
        ("A.NetClass != '90Ohm-*'", False),
        ("A.NetClass == '85*' || A.NetName == '*usb*'", True),
        ("A.NetClass == '85*' && A.insideArea('x')", False),
        ("A.NetClass == '90*' && A.insideArea('x')", None),
        ("A.NetClass == '90*' || A.insideArea('x')", True),
        ("!A.insideArea('x')", None),
        ("!(A.Layer == 'F.Cu')", True),
        ("A.hasNetclass('90Ohm-diff_USB')", True),
        ("A.hasNetclass('other')", False),
        ("A.inDiffPair('*')", True),
        ("A.inDiffPair('/USB')", None),
        ("A.Type == 'Zone'", False),
        ("A.NetClass ==", None),
        ("A.fromTo('IC1-*','IC2-*')", None),
        ("B.Type == 'Zone'", None),
        ("(" * 5000, None),
    ],
)
def test_a_condition_is_true_false_or_open(condition: str | None, expected: bool | None) -> None:
    """What cannot be told for the whole net stays open, and decides only where the rest does not."""
    assert holds(condition, TRACK) is expected


def test_of_several_classes_only_that_none_fits_is_certain() -> None:
    """KiCad compares a joined name there."""
    track = TrackOfNet(net="A", classes=("fast", "wide"), layer="F.Cu")
    assert holds("A.NetClass == 'fast'", track) is None
    assert holds("A.NetClass == 'slow'", track) is False


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="AB.!()&|=<' *xNetName", max_size=60))
def test_no_condition_raises(condition: str) -> None:
    """Whatever a condition holds, the answer is true, false or open."""
    assert holds(condition, TRACK) in (True, False, None)


def test_the_last_rule_that_applies_gives_width_and_gap_of_a_layer(tmp_path: Path) -> None:
    """Inner and outer layers have their own; a later rule that may apply makes the value doubtful."""
    text = (
        "(version 1)\n"
        "(rule all (constraint track_width (opt 0.3mm)))\n"
        "(rule in (layer inner) (constraint track_width (opt 0.15mm)) (constraint diff_pair_gap (opt 0.125mm)))\n"
    )
    board = read_board(write(MiniBoard.model_validate({"stackup": "default", "copper_layers": 4}), tmp_path, "b"))
    rules = parse_design_rules(text, tmp_path / "b.kicad_dru")
    assert board.layer_count == 4
    found = intended_geometry(board, "A", rules, in_pair=True)
    outer, inner = (0, board.layer_count - 1), range(1, board.layer_count - 1)
    assert [found[i].width_mm for i in outer] == [0.3, 0.3]
    assert [(found[i].width_mm, found[i].gap_mm) for i in inner] == [(0.15, 0.125)] * len(inner)
    assert "b.kicad_dru:2" in found[0].source
    area = "(rule area (condition \"A.insideArea('x')\") (constraint track_width (opt 1mm)))"
    doubtful = intended_geometry(board, "A", parse_design_rules(text + area), in_pair=True)
    assert doubtful[0].width_mm == 0.3
    assert {g.confidence for g in doubtful} == {Confidence.LOW}
    ignored = intended_geometry(board, "A", parse_design_rules(text + "(foo)"), in_pair=True)
    assert ignored == intended_geometry(board, "A", None, in_pair=True)
