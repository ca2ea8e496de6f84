"""KiCad's custom rules: what they say, and what makes KiCad ignore them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
