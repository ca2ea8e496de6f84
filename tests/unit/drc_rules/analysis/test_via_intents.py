"""The vias that classes and design rules require, conditions as trees, and rules that never act."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from drc_rules.engine.check import find_config, prepare
from drc_rules.engine.decide import run
from drc_rules.explain.net_explained import ExplainedVia, explain_net
from drc_rules.explain.nets_view import find_net
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import Verdict
from drc_rules.rules.intent._design_rule_reach import Names, idle_parts, never_applies
from drc_rules.rules.rule import all_rules
from stackup_lib.board.design_rules import Constraint, DesignRule
from stackup_lib.kicad import read_board, read_project
from stackup_lib.kicad.design_rules.condition_tree import Call, Comparison, is_like, parse_condition, truth
from stackup_lib.kicad.design_rules.joined_classes import SIZES, joined_classes
from stackup_lib.kicad.design_rules.via_settings import ViaSettings, via_settings
from stackup_lib.nets.design_vias import via_meets
from stackup_lib.nets.links import find_links
from tests.support.small_boards.configured_vias import board_with, via


def condition(text: str, *, classes: tuple[str, ...] = ("FAST", "Default"), in_pair: bool = False) -> bool | None:
    return via_meets(DesignRule(name="r", condition=text, line=1), "/CLK", classes, in_pair=in_pair)


# ---------------------------------------------------------------------------------------------- conditions


def test_or_binds_stronger_than_and_as_in_kicad() -> None:
    """`a || b && c` is c, and a or b; parentheses turn that round. `test_track_conditions.py` asks KiCad itself."""
    plain, grouped = (
        parse_condition("A.x('1') || A.x('2') && A.x('3')"),
        parse_condition("A.x('1') || (A.x('2') && A.x('3'))"),
    )
    assert plain is not None
    assert grouped is not None

    def only_first(leaf: Comparison | Call) -> bool:
        return leaf == Call("A.x", ("1",))

    assert truth(plain, only_first) is False
    assert truth(grouped, only_first) is True


@pytest.mark.parametrize(
    "text", ["", "A.x(", "A.NetClass = 'x'", "A.NetClass ==", "&& A.x()", "A.x() A.y()", "(" * 200]
)
def test_what_is_no_condition_has_no_tree(text: str) -> None:
    """It is left open, whatever it holds; nothing is raised."""
    assert parse_condition(text) is None


def test_numbers_with_units_are_followed_as_undecided() -> None:
    """`A.Hole < 0.3mm` is a comparison, but not with a text."""
    assert parse_condition("A.Hole < 0.3mm") == Comparison("A.Hole", "<", "0.3mm", is_text=False)


@pytest.mark.parametrize(
    ("value", "pattern", "minds_case", "fits"),
    [
        ("85Ohm-diff_PCIE", "85Ohm-diff*", False, True),
        ("FAST", "fast", False, True),
        ("FAST", "fast", True, False),
        ("N5x", "N?x", True, True),
        ("N55x", "N?x", True, False),
        ("a.b", "a?b", True, True),
        ("axb", "a.b", True, False),
        ("", "*", True, True),
        ("abcabc", "*b?a*c", True, True),
        ("abc", "*c*b*", True, False),
        ("a" * 3000, "*a" * 60 + "*b", True, False),
    ],
)
def test_texts_of_conditions_know_two_wildcards(value: str, pattern: str, *, minds_case: bool, fits: bool) -> None:
    """`*` and `?`; every other sign means itself."""
    assert is_like(value, pattern, minds_case=minds_case) is fits


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("A.NetClass == 'fast'", True),
        ("A.NetClass == 'FAST,Default'", True),
        ("A.NetClass == 'Default'", True),
        ("A.NetClass != 'Default'", False),
        ("A.NetClass != 'FAST'", False),
        ("A.NetClass != 'OTHER'", True),
        ("A.hasNetclass('fast')", False),
        ("A.hasNetclass('FA*')", True),
        ("A.hasExactNetclass('FAST')", False),
        ("A.hasExactNetclass('FAST,Default')", True),
        ("A.Type == 'VIA' && A.Via_Type == 'Through'", True),
        ("A.Type == 'Track'", False),
        ("A.Via_Type != 'Micro' && !A.isMicroVia()", True),
        ("A.Layer == 'F.Cu' || A.Layer != 'F.Cu'", False),
        ("B.NetClass != 'OTHER'", False),
        ("A.insideArea('x') || A.memberOfFootprint('U1') || A.fromTo('U1','U2')", False),
        ("A.NetName == '/clk'", True),
        ("A.inDiffPair('*')", False),
        ("A.inDiffPair('CLK')", None),
        ("A.Hole < 1mm && A.NetClass == 'FAST'", None),
        ("A.Hole < 1mm && A.NetClass == 'OTHER'", False),
    ],
)
def test_conditions_on_a_through_via(text: str, *, holds: bool | None) -> None:
    """As KiCad 10.0.6 decides for a via of class FAST, wherever it is; None where the via itself would decide."""
    assert condition(text) is holds


# ------------------------------------------------------------------------------------------------- the via


def test_each_size_comes_from_the_first_class_that_states_it(tmp_path: Path) -> None:
    """Diameter of the class, hole of Default, limits of Board Setup."""
    found = via(tmp_path, "", {"name": "FAST", "nets": ["/CLK"], "via_diameter_mm": 0.6})

    assert found.asked_mm == (0.6, 0.2)
    assert found.source == "net class FAST and net class Default"
    least = found.limits["ring"].least
    assert least is not None
    assert (least.value_mm, least.source) == (0.05, "Board Setup")


def test_every_bound_comes_from_the_last_rule_that_states_it(tmp_path: Path) -> None:
    """The later rule takes least and preferred, the largest of the earlier one stays."""
    rules = """(rule "a" (constraint hole_size (min 0.3mm) (max 0.5mm)))
(rule "b" (condition "A.Type == 'Via'") (constraint hole_size (min 0.15mm) (opt 0.25mm)))"""
    found = via(tmp_path, rules)
    hole = found.limits["hole"]

    assert found.asked_mm == (0.45, 0.25)
    assert hole.least is not None
    assert hole.largest is not None
    assert (hole.least.value_mm, hole.least.name) == (0.15, "b")
    assert (hole.largest.value_mm, hole.largest.name) == (0.5, "a")
    assert found.doubts == ()


def test_the_router_places_no_less_than_board_setup_allows(tmp_path: Path) -> None:
    """Requested 0.15/0.05 mm, with 0.2/0.1 mm as the least."""
    found = via(tmp_path, "", {"name": "FAST", "nets": ["/CLK"], "via_diameter_mm": 0.15, "via_drill_mm": 0.05})

    assert found.asked_mm == (0.15, 0.05)
    assert found.placed_mm == (0.2, 0.1)


def test_a_project_that_goes_during_the_check_breaks_no_rule(tmp_path: Path) -> None:
    """It is read once, with the board: another program may save or remove it before the rules are done."""
    path = board_with(tmp_path, {"name": "FAST", "nets": ["/CLK"], "via_diameter_mm": 0.15, "via_drill_mm": 0.05})
    found = []
    for is_there in (True, False):
        context, requirements, _ = prepare(read_board(path), find_config(path, None), Overrides())
        if not is_there:
            path.with_suffix(".kicad_pro").unlink()
        outcome = run(context, requirements.clauses, all_rules(), all_rules())
        assert not outcome.crashes
        found.append([verdict.verdict for verdict in outcome.verdicts if verdict.code in ("VIA013", "VIA014")])

    assert found[0] == found[1]
    assert Verdict.FAILED in found[0]


def test_a_rule_that_cannot_be_followed_is_a_doubt_only_where_it_would_change_something(tmp_path: Path) -> None:
    """A least diameter below the via's changes nothing; one above it does, and so does a preferred one."""
    quiet = '(rule "a" (condition "A.Hole < 1mm") (constraint via_diameter (min 0.4mm)))'
    least = '(rule "a" (condition "A.Hole < 1mm") (constraint via_diameter (min 0.5mm)))'
    preferred = '(rule "a" (condition "A.Hole < 1mm") (constraint via_diameter (opt 0.45mm)))'

    assert via(tmp_path, quiet).doubts == ()
    assert via(tmp_path, least).doubts == ("design rules:2",)
    assert via(tmp_path, preferred).doubts == ("design rules:2",)


def test_rules_that_kicad_ignores_do_not_count(tmp_path: Path) -> None:
    """One constraint that KiCad does not know, and none of the file's rules acts."""
    rules = '(rule "a" (constraint via_diameter (opt 1mm)))\n(rule "b" (constraint via_drill (min 1mm)))'

    assert via(tmp_path, rules).asked_mm == (0.45, 0.2)


@pytest.mark.parametrize(
    ("project", "expected"),
    [
        ({"board": {"design_settings": {"rules": {"min_via_diameter": 0.4}}}}, ViaSettings(least_diameter_mm=0.4)),
        ({"board": {"design_settings": {"rules": {"min_via_diameter": "0.4"}}}}, ViaSettings()),
        ({"board": {"design_settings": {"rules": {"min_via_diameter": True}}}}, ViaSettings()),
        ({"board": {"design_settings": []}}, ViaSettings()),
        ({}, ViaSettings()),
    ],
)
def test_board_setup_says_what_its_numbers_say(
    project: dict[str, object], expected: ViaSettings, tmp_path: Path
) -> None:
    """What is no number, or not there, is unknown."""
    path = tmp_path / "a.kicad_pro"
    path.write_text(json.dumps(project), encoding="utf-8")

    assert via_settings(read_project(path, [])) == expected
    assert via_settings(read_project(None, [])) == ViaSettings()


def test_a_net_is_told_the_via_that_wins_and_from_where(tmp_path: Path) -> None:
    """Diameter of the class, hole of a rule, ring of Board Setup."""
    path = board_with(
        tmp_path,
        {"name": "FAST", "nets": ["/CLK"], "via_diameter_mm": 0.6},
        design_rules='(version 1)\n(rule "fine" (constraint hole_size (min 0.15mm) (opt 0.25mm)))',
    )
    board, config = read_board(path), find_config(path, None)
    context, _, _ = prepare(board, config, Overrides())

    diameter, hole, ring = explain_net(context, find_links(board), config, find_net(board, "/CLK")).via

    assert (diameter.asked_mm, diameter.asked_by) == (0.6, "net class FAST")
    assert (diameter.least_mm, diameter.least_by) == (0.2, "Board Setup")
    assert (hole.asked_mm, hole.asked_by) == (0.25, 'rule "fine", card.kicad_dru:2')
    assert (hole.least_mm, hole.least_by) == (0.15, 'rule "fine", card.kicad_dru:2')
    assert ring == ExplainedVia(
        what="ring",
        asked_mm=None,
        asked_by="",
        least_mm=0.05,
        least_by="Board Setup",
        greatest_mm=None,
        greatest_by="",
        doubts=(),
    )


# ----------------------------------------------------------------------------------- rules that never act

FULL_CLASS = dict.fromkeys(SIZES, 0.1)


@pytest.mark.parametrize(
    ("rows", "joined"),
    [
        ([{"name": "A", **FULL_CLASS}], ("A",)),
        ([{"name": "A"}], ("A", "Default")),
        ([{"name": "A", **FULL_CLASS, "wire_width": None}], ("A", "Default")),
        ([{"name": "A", "track_width": 0.1}, {"name": "B", **FULL_CLASS}], ("A", "B")),
    ],
)
def test_default_is_joined_to_classes_that_leave_a_size_empty(
    rows: list[dict[str, object]], joined: tuple[str, ...], tmp_path: Path
) -> None:
    """All sizes count that the classes of a net state between them; a net without a class has Default alone."""
    path = tmp_path / "a.kicad_pro"
    patterns = [{"pattern": "/CLK", "netclass": row["name"]} for row in rows]
    settings = {"net_settings": {"classes": rows, "netclass_patterns": patterns}}
    path.write_text(json.dumps(settings), encoding="utf-8")
    project = read_project(path, ["/CLK", "/LED"])

    assert joined_classes(project, "/CLK") == joined
    assert joined_classes(project, "/LED") == ("Default",)


def test_what_is_not_default_acts_where_classes_state_every_size() -> None:
    """And the rule for Default then gets no net of theirs."""
    rule = DesignRule(name="r", condition="A.NetClass != 'Default'", line=1)
    whole = replace(NAMES, joined=("Default", "PCIE"), _known={})

    assert never_applies(rule, whole) == ()
    assert [found.reason for found in never_applies(rule, replace(NAMES, joined=("Default",), _known={}))] == [
        "no net is in another class"
    ]


NAMES = Names(
    classes=("Default", "PCIE", "DDR4_CMD"),
    joined=("DDR4_CMD,Default", "Default", "PCIE,Default"),
    nets=("/LED", "/PCIE_TX0_P"),
    areas=("underFPGA",),
    uuids=frozenset(["0af"]),
    copper=("F.Cu", "In1.Cu", "GND", "B.Cu"),
)


def reach(text: str) -> tuple[str, str]:
    """What makes a rule idle, and what probably is meant."""
    rule = DesignRule(name="r", condition=text, line=1, constraints=(Constraint(kind="clearance", min_mm=1, line=1),))
    found = never_applies(rule, NAMES) or idle_parts(rule, NAMES)
    return (found[0].text, found[0].meant) if found else ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "A.insideArea('underFPGA') || A.intersectsArea('under*') || A.enclosedByArea('0af')",
        "A.Layer == 'In?.Cu' && A.Layer != 'In7.Cu' && A.Layer == 'F.SilkS'",
        "A.NetClass == 'PCIE,Default' || A.NetClass == '*'",
        "A.NetName == '*' && A.NetName != 'nothing'",
        "A.Type == 'Via' || A.Type == 'Footprint' || A.Type == 'Rule Area'",
        "A.Via_Type == 'B*' || A.isMicroVia()",
        "A.memberOfFootprint('U99') || A.hasComponentClass('x') || A.memberOfSheet('/x/')",
        "!A.insideArea('nowhere')",
        "A.NetClass == 'PCIX' && A.Net",
        "A.Hole < 0.3mm",
    ],
)
def test_what_may_be_true_is_not_called_idle(text: str) -> None:
    """Names that are there, functions that are not evaluated, and what cannot be followed."""
    assert reach(text) == ("", "")


@pytest.mark.parametrize(
    ("text", "part", "meant"),
    [
        ("A.insideArea('underfpga')", "A.insideArea('underfpga')", "underFPGA"),
        ("A.NetClass == 'PCIe_' && B.NetClass == 'PCIE'", "A.NetClass == 'PCIe_'", "PCIE"),
        ("A.NetClass == 'HV*' && A.Type == 'Via'", "A.NetClass == 'HV*'", ""),
        ("A.Type == 'Blind Via'", "A.Type == 'Blind Via'", "Via"),
        ("A.Type == 'Tracks'", "A.Type == 'Tracks'", "Track"),
        ("A.Layer == 'In4.Cu'", "A.Layer == 'In4.Cu'", ""),
        ("A.NetClass == 'PCIE' || A.NetClass == 'DDR4_CMDS'", "A.NetClass == 'DDR4_CMDS'", "DDR4_CMD"),
        ("A.NetClass == 'PCIE' || A.NetClass == 'HV'", "", ""),
    ],
)
def test_what_is_never_true_is_named_with_what_is_meant(text: str, part: str, meant: str) -> None:
    """A whole condition always; one alternative of several only where another name is near."""
    assert reach(text) == (part, meant)
