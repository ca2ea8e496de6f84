"""KiCad's custom rules: what they say, and what makes KiCad ignore them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackup_lib.board.design_rules import DesignRules
from stackup_lib.core.facts import Confidence
from stackup_lib.kicad.design_rules.rules_conditions import TrackOfNet, holds
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules, read_design_rules
from stackup_lib.nets.design_widths import configured_geometry
from tests.support.mini import mini_board

SENTINEL = '(rule "s" (constraint track_width (min 5mm)))\n'


def test_a_rule_is_read_with_layer_condition_limits_and_line() -> None:
    """Everything that a rule states is kept, with the line at which it stands."""
    read = parse_design_rules(
        "(version 1)\n# (rule nothing\n"
        '(rule "(85" (layer inner) (severity error)\n'
        "  (condition \"A.NetClass == '85*'\")\n"
        "  (constraint track_width (min 4mil) (opt 0.15 mm) (max 0.01in)))\n"
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
        ('(rule "a" (constraint clearance (max .01in)))', 3, "begins with a dot"),
        ('(rule "a" (constraint clearance (min foo)))', 3, "without a number"),
        ('(rule "a" (constraint disallow foo))', 3, '"foo" in the constraint disallow'),
        ('(rule "a" (constraint disallow track Via))', 3, '"Via"'),
        ('(rule "a" (constraint disallow (min 1mm)))', 3, "parentheses"),
        ('(rule "a" (constraint zone_connection thermal_relief))', 3, "thermal_relief"),
        ('(rule "a" (constraint zone_connection solid none))', 3, "takes one"),
        ('(rule "a" (constraint zone_connection))', 3, "0 values"),
        ('(rule "a" (constraint min_resolved_spokes (min 2)))', 3, "parentheses"),
        ('(rule "a" (constraint min_resolved_spokes foo))', 3, "takes a number"),
        ('(rule "a" (constraint min_resolved_spokes "2"))', 3, "takes a number"),
        ('(rule "a" (constraint assertion))', 3, "0 values"),
        ('(rule "a" (constraint length (max 10)))', 3, "no unit"),
        ('(rule "a" (constraint skew (max 5ns)))', 3, "mm, mil, in, ps and fs"),
        ('(rule "a" (constraint skew within_diff_pairs))', 3, "within_diff_pairs"),
        ('(rule "a" (constraint courtyard_clearance (min 1)))', 3, "no unit"),
        ('(rule "a" (constraint text_height (foo 3mm)))', 3, "foo"),
        ('(rule "a" (constraint via_count 3))', 3, '"3"'),
        ('(rule "a" (constraint via_count (max 3mm)))', 3, "plain number"),
        ('(rule "a" (constraint via_count (max 1 2)))', 3, "more than one number"),
        ('(rule "a" (constraint track_angle (min 30deg)))', 3, "plain number"),
        ('(rule "a" (constraint clearance (min 1e-1mm)))', 3, "exponent"),
        ('(rule "a" (constraint hole_size (min 2mm + 1E0mm)))', 3, "exponent"),
        ('(rule "a" (constraint via_count (max 1e1)))', 3, "exponent"),
        ('(rule "a" (constraint clearance (min 0.1mm 0.2mm)))', 3, "more than one number"),
        ('(rule "a" (constraint clearance (min 2mm/2 1mm)))', 3, "more than one number"),
        ('(rule "a" (constraint length (min 10mm) (max 100ps)))', 3, "lengths and times"),
        ('(rule "a" (constraint skew (opt 1 ps) (max 1in)))', 3, "lengths and times"),
        ('(rule "a" (constraint solder_paste_rel_margin (opt -10%)))', 3, 'the unit "%"'),
    ],
)
def test_what_kicad_rejects_is_found_with_its_line(tail: str, line: int, word: str) -> None:
    """One such error, and KiCad applies none of the file's rules."""
    fault = parse_design_rules("(version 1)\n" + SENTINEL + tail + "\n").fault
    assert fault is not None
    assert fault.line == line
    assert word in fault.what


@pytest.mark.parametrize(
    "constraint",
    [
        "disallow track through_via micro_via blind_via buried_via pad zone text graphic hole footprint",
        'disallow "track"',
        "disallow",
        "zone_connection solid",
        "zone_connection thermal_reliefs",
        "zone_connection none",
        "min_resolved_spokes 2",
        "assertion \"A.Type == 'Via'\"",
        "length (min 1 mm) (opt 5mil)",
        "length (opt 5ps)",
        "skew (max 5fs)",
        'length (max "1mm + 1mm")',
        "length (max 1mm+1mm)",
        "skew (max 1mil) (within_diff_pairs)",
        "courtyard_clearance (min -1mm)",
        "via_count (max 2 + 1)",
        "track_angle (min 1.5)",
        "track_angle (min -45)",
        "solder_paste_rel_margin (opt -0.1)",
        "clearance (min -1)",
        "clearance (min (1mm))",
        "clearance (min (1mm + 1mm)/2)",
        "clearance (min 1mm + 1mm)",
        "length (min 10ps) (max 100fs)",
        "length (min 1mm) (opt 2mil) (max 1in)",
        "bridged_mask (min 1)",
    ],
)
def test_values_that_kicad_takes_are_no_fault(constraint: str) -> None:
    """A rule next to each of them acted in KiCad 10.0.6."""
    assert parse_design_rules(f'(version 1)\n{SENTINEL}(rule "a" (constraint {constraint}))\n').fault is None


def of_rule(clause: str) -> DesignRules:
    """A file with one rule that holds a clause; the board calls one of its layers GNDPLANE."""
    text = f'(version 1)\n(rule "a" {clause} (constraint clearance (min 1mm)))\n'
    return parse_design_rules(text, None, ["GNDPLANE"])


# Each of these was put next to a rule that acts alone, and KiCad 10.0.6 showed what acts then.


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        ("A.Net_Name == 'x'", "Net_Name"),
        ("A.Foo", "Foo"),
        ("A.Net.Name == 'x'", "Net.Name"),
        ("Foo == 1", "single quotes"),
        ("A.NetClass == x", "single quotes"),
        ("true", "single quotes"),
        ("1", "no unit"),
        ("A.Width > 1", "no unit"),
        ("A.foo('x')", "foo"),
        ("A.isThroughVia()", "isThroughVia"),
        ("A.inDiffPair()", "too few"),
        ("A.fromTo('U1-*')", "too few"),
        ("A.NetClass = 'x'", '"="'),
        ("A.NetClass == 'x' and B.NetClass == 'y'", "operator"),
        ("A.NetClass == 'x' & B.NetClass == 'y'", '"&"'),
        ("A.NetClass == 'x' B.NetClass == 'y'", "operator"),
        ("(A.NetClass == 'x'", "never closed"),
        ("A.NetClass == 'x')", "operator"),
        ("A.NetClass ==", "too early"),
        ("A.NetClass == 'x' &&", "too early"),
        ("A.NetClass <> 'x'", "value"),
        ("C.NetClass == 'x'", "A, B or AB"),
        ("a.NetClass == 'x'", "A, B or AB"),
    ],
)
def test_a_condition_that_kicad_cannot_compile_is_a_fault(condition: str, word: str) -> None:
    """KiCad ignores the whole file."""
    read = of_rule(f'(condition "{condition}")')
    assert read.fault is not None
    assert word in read.fault.what


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "A.netclass == 'x'",
        "A.Net_Class == 'x' && !A.INDIFFPAIR('*')",
        "A.Layer == 'Foo' || A.Type == 'Foo'",
        "AB.isCoupledDiffPair()",
        "A.fromTo('U1-*','U2-*')",
        "A.Width > 1mm && B.Diameter > 1 mm",
        "A.getField('x') == 'y'",
        "L == 'F.Cu' && A == 'x'",
        "! A.NetClass == 'x'",
        "A.NetClass == 'x",
        "(A.NetClass == '*diff*')&&(B.Type == 'Zone')&&(A.Layer == B.Layer)&&(A.NetName != '*USB*')",
    ],
)
def test_a_condition_that_kicad_compiles_is_no_fault_and_no_doubt(condition: str) -> None:
    """Nor does a value that nothing can have make it one."""
    read = of_rule(f'(condition "{condition}")')
    assert (read.fault, read.doubts) == (None, ())


@pytest.mark.parametrize("condition", ["A.Width + 1mm > 2mm", "A.Radius_Of_Gyration == 'x'", "A.Orientation > 90deg"])
def test_what_was_not_tried_on_kicad_is_a_doubt(condition: str) -> None:
    """Arithmetic, other properties and other units: neither accepted nor rejected."""
    read = of_rule(f'(condition "{condition}")')
    assert read.fault is None
    assert len(read.doubts) == 1


@pytest.mark.parametrize(
    ("layer", "is_fault"),
    [
        ("inner", False),
        ('"inner"', True),
        ('"outer"', True),
        ('"In1.Cu"', False),
        ('"In31.Cu"', False),
        ('"*.Cu"', False),
        ('"In?.Cu"', False),
        ("F.SilkS", False),
        ("Edge.Cuts", False),
        ("Edge.User", True),
        ("In62.Cu", False),
        ("In63.Cu", True),
        ("User.45", False),
        ("User.46", True),
        ('"?.Silkscreen"', False),
        ('"?.silkscreen"', True),
        ('"*.Mask"', False),
        ('"[FB].Mask"', True),
        ('"*"', False),
        ('"User.?"', False),
        ('"?.Foo"', True),
        ('"In9?.Cu"', True),
        ('"I?.Cu"', True),
        ('"GND*"', False),
        ("GNDPLANE", False),
        ("Foo", True),
        ("f.cu", True),
        ("F.Cu B.Cu", True),
        ("", True),
    ],
)
def test_a_layer_that_kicad_does_not_know_is_a_fault(layer: str, *, is_fault: bool) -> None:
    """Inner and outer count only without quotes; the names that a board gives its layers count too."""
    assert (of_rule(f"(layer {layer})").fault is not None) == is_fault


def test_without_the_board_no_name_of_a_layer_is_a_fault() -> None:
    """It may be what the board calls the layer."""
    assert parse_design_rules('(version 1)(rule "a" (layer Foo) (constraint clearance (min 1mm)))').fault is None


def test_of_two_conditions_kicad_compiles_the_last() -> None:
    """The first may hold anything."""
    good, bad = "(condition \"A.NetClass == 'x'\")", '(condition "A.foo()")'
    assert of_rule(bad + good).fault is None
    assert of_rule(good + bad).fault is not None


@pytest.mark.parametrize("tail", ['(rule "a")', SENTINEL, '(rule "a" (constraint clearance))'])
def test_what_kicad_accepts_is_no_fault(tail: str) -> None:
    """KiCad applies a file with an empty rule, a name used twice, or a constraint without limits."""
    assert parse_design_rules("(version 1)\n" + SENTINEL + tail + "\n").fault is None


def test_a_file_without_a_version_is_a_fault() -> None:
    """KiCad reads the version first."""
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


TRACK = TrackOfNet(net="/USB_D+", classes=("90Ohm-diff_USB",), layers=("In1.Cu",), in_pair=True)


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
        ("A.Type == 'Track' || A.Type == 'Via' && A.Type == 'Via'", False),  # KiCad joins `||` before `&&`
        ("A.Type == 'Via' && A.Type == 'Track' || A.Type == 'Track'", False),
        ("A.Type == 'Track' || (A.Type == 'Via' && A.Type == 'Via')", True),
        ("A.Type == 'Via' || A.Type == 'Track' && A.Type == 'Track' || A.Type == 'Via'", True),
        ("!A.Type == 'Via'", False),  # KiCad turns the word alone
        ("!!A.Type == 'Track'", False),
        ("!A.Type != 'Track'", True),
        ("!(A.Type == 'Via')", True),
        ("!!(A.Type == 'Track')", True),
        ("!A.Width == 1mm", None),
        ("!A.inDiffPair('*') && A.Type == 'Track'", False),
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
    """What is not known for the whole net stays open, and decides only where the rest does not."""
    assert holds(condition, TRACK) is expected


def test_of_several_classes_each_and_their_joined_name_fit() -> None:
    """As KiCad 10 compares; the tests against KiCad use a real one."""
    track = TrackOfNet(net="A", classes=("fast", "wide", "Default"), layers=("F.Cu",))
    assert holds("A.NetClass == 'fast'", track) is True
    assert holds("A.NetClass == 'Default'", track) is True
    assert holds("A.NetClass == 'fast,wide,Default'", track) is True
    assert holds("A.NetClass == 'slow'", track) is False
    assert holds("A.hasExactNetclass('fast')", track) is False


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
    board = mini_board(tmp_path, {"stackup": "default", "copper_layers": 4})
    rules = parse_design_rules(text, tmp_path / "b.kicad_dru")
    assert board.layer_count == 4
    found = configured_geometry(board, "A", rules, in_pair=True)
    outer, inner = (0, board.layer_count - 1), range(1, board.layer_count - 1)
    assert [found[i].width_mm for i in outer] == [0.3, 0.3]
    assert [(found[i].width_mm, found[i].gap_mm) for i in inner] == [(0.15, 0.125)] * len(inner)
    assert "b.kicad_dru:2" in found[0].source
    area = "(rule area (condition \"A.insideArea('x')\") (constraint track_width (opt 1mm)))"
    doubtful = configured_geometry(board, "A", parse_design_rules(text + area), in_pair=True)
    assert doubtful[0].width_mm == 0.3
    assert {g.confidence for g in doubtful} == {Confidence.LOW}
    ignored = configured_geometry(board, "A", parse_design_rules(text + "(foo)"), in_pair=True)
    assert ignored == configured_geometry(board, "A", None, in_pair=True)
