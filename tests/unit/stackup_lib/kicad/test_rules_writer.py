"""Our part of a rule file: replaced as a whole, the user's rules untouched, nothing that KiCad could not read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.kicad.write.rules_writer import BEGIN, END, replace_rules

PCIE = PlannedRule(
    net_class="85Ohm-diff_PCIE",
    layer="In2.Cu",
    width_mm=0.132,
    gap_mm=0.2,
    tolerance_mm=0.005,
    requirement="85 ohm +/- 10 %: PCIe CEM 5.0, table 4-2",
)
USB = PlannedRule(net_class="USB", layer="F.Cu", width_mm=0.15, requirement="90 ohm")
OWN = '(version 1)\n\n# mine (really\n(rule "a ) b # c"\n\t(constraint clearance (min 0.1mm)))\n'


def test_routed_sizes_that_may_stay_widen_the_range_on_their_side_alone() -> None:
    """Thinner pairs stay: nothing wider than solved passes, and no smaller gap."""
    thin = PCIE.model_copy(update={"width_mm": 0.1686, "gap_mm": 0.1, "tolerance_mm": 0.0, "min_width_mm": 0.14})
    wide = thin.model_copy(update={"min_width_mm": None, "max_width_mm": 0.19, "min_gap_mm": 0.09})

    assert (thin.width_range_mm, thin.least_gap_mm) == ((0.14, 0.1686), 0.1)
    assert (wide.width_range_mm, wide.least_gap_mm) == ((0.1686, 0.19), 0.09)


def test_the_rules_of_a_new_file() -> None:
    """Width and gap with their limits in whole nanometres, the requirement in a comment above them.

    No gap is too wide: KiCad would report every pair where it spreads to its pads.
    """
    assert replace_rules(None, [PCIE]).decode() == (
        f"""(version 1)
{BEGIN}
# 85 ohm +/- 10 %: PCIe CEM 5.0, table 4-2
(rule "stackwright: 85Ohm-diff_PCIE, pair on In2.Cu"
	(layer "In2.Cu")
	(condition "A.hasNetclass('85Ohm-diff_PCIE') && A.inDiffPair('*')")
	(constraint track_width (min 0.127mm) (opt 0.132mm) (max 0.137mm))
	(constraint diff_pair_gap (min 0.195mm) (opt 0.2mm)))
{END}
"""
    )


def test_a_rule_with_neck_downs_states_ranges() -> None:
    """From neck-down to solved width; near parts the neck-down is the clearance."""
    rule = PCIE.model_copy(update={"tolerance_mm": 0.0, "neck_mm": 0.09})
    wider = rule.model_copy(update={"layer": "F.Cu", "neck_mm": 0.1})
    text = replace_rules(None, [rule, wider]).decode()
    assert "(constraint track_width (min 0.09mm) (opt 0.132mm) (max 0.132mm))" in text
    assert "(constraint diff_pair_gap (min 0.09mm) (opt 0.2mm))" in text
    assert text.count("breakout") == 1
    assert "&& (A.intersectsCourtyard('U*') || A.intersectsCourtyard('J*'))" in text
    assert text.index("(constraint clearance (min 0.1mm))") > text.index("pair on F.Cu")
    assert not (found := parse_design_rules(text)).doubts
    assert found.fault is None
    assert "breakout" not in replace_rules(None, [rule], format_version=20240108).decode()


def test_a_neck_down_never_forbids_the_solved_width() -> None:
    """A line that is finer than any neck-down keeps its own width and gap."""
    fine = PCIE.model_copy(update={"width_mm": 0.08, "gap_mm": 0.08, "tolerance_mm": 0.0, "neck_mm": 0.09})
    assert fine.width_range_mm == (0.08, 0.08)
    assert fine.least_gap_mm == 0.08


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_our_part_comes_changes_and_goes(newline: str) -> None:
    """It stands first, is replaced where it stands, and without it the file has the user's own bytes again."""
    own = OWN.replace("\n", newline).encode()
    once = replace_rules(own, [PCIE])
    assert once.startswith(f"(version 1){newline}{BEGIN}{newline}# 85".encode())
    assert once.endswith(own.removeprefix(b"(version 1)"))
    assert once.count(b"\n") == once.count(newline.encode())
    assert replace_rules(once, [PCIE]) == once
    twice = replace_rules(once, [USB, PCIE])
    assert replace_rules(twice, [PCIE]) == once
    assert replace_rules(once, []) == replace_rules(own, []) == own


def test_a_part_that_the_user_moved_stays_there() -> None:
    """Behind the user's rules it wins over them; replaced, it stays behind them."""
    block = replace_rules(None, [USB]).decode().removeprefix("(version 1)\n")
    moved = replace_rules((OWN + block).encode(), [PCIE]).decode()
    assert moved.startswith(OWN)
    assert moved.count(BEGIN) == 1
    assert "85 ohm" in moved


def test_no_rules_need_no_file() -> None:
    """Nothing planned and nothing there: nothing to write."""
    assert replace_rules(None, []) == replace_rules(b"", []) == b""


def test_older_versions_compare_the_classs_name() -> None:
    """KiCad 6 to 8 know no `hasNetclass`, and an unknown word would silence the whole file."""
    old = replace_rules(None, [USB], format_version=20240108).decode()
    assert "(condition \"A.NetClass == 'USB'\")" in old
    assert "hasNetclass" not in old


def test_a_tolerance_wider_than_the_value_stops_at_zero() -> None:
    """A negative length would be an error to KiCad."""
    rule = PlannedRule(net_class="A", layer="B.Cu", width_mm=0.1, tolerance_mm=0.2, requirement="x")
    assert b"(min 0mm) (opt 0.1mm) (max 0.3mm)" in replace_rules(None, [rule])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(rule x)", "does not begin with (version 1)"),
        ('(version 1)\n(rule "a"', "do not match"),
        ("(version 1)\n)", "do not match"),
        ('(version 1)\n(rule "a)', "do not match"),
        (f"(version 1)\n{BEGIN}\n", "only half"),
        (f"(version 1)\n{END}\n", "only half"),
        (f"(version 1)\n{END}\n{BEGIN}\n", "only half"),
        (f"(version 1)\n{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "only half"),
    ],
)
def test_a_file_that_kicad_would_ignore_is_refused(text: str, says: str) -> None:
    """One error silences every rule: it is said instead of added to."""
    with pytest.raises(NotWrittenError, match=re.escape(says)):
        replace_rules(text.encode(), [USB])


def test_bytes_that_are_no_text_are_refused() -> None:
    """A file in another encoding would be damaged."""
    with pytest.raises(NotWrittenError, match="not UTF-8"):
        replace_rules(b"(version 1)\n# \xfc\n", [USB])


@pytest.mark.parametrize(
    "change",
    [{"net_class": "it's"}, {"net_class": 'a"b'}, {"net_class": "a\\"}, {"net_class": "a\nb"}, {"layer": "outer"},
     {"layer": 'F.Cu") (x "'}],
)  # fmt: skip
def test_what_a_condition_cannot_name_is_refused(change: dict[str, str]) -> None:
    """Quotes, backslashes and line breaks in a class's name, and layers that are none."""
    with pytest.raises(NotWrittenError):
        replace_rules(None, [USB.model_copy(update=change)])


def test_single_lines_and_pairs_of_a_class_have_their_own_rules() -> None:
    """Where both are planned on a layer, each condition leaves the other's lines out."""
    single = PCIE.model_copy(update={"gap_mm": None, "width_mm": 0.16})
    text = replace_rules(None, [PCIE, single]).decode()
    assert re.findall(r"hasNetclass\('85Ohm-diff_PCIE'\)(.*?)\"", text) == [
        " && A.inDiffPair('*')",
        " && !A.inDiffPair('*')",
    ]
    names = re.findall('rule "(.*?)"', text)
    assert len(names) == len(set(names)) == 2


def test_two_rules_for_one_place_are_refused() -> None:
    """The second would silently win."""
    with pytest.raises(NotWrittenError, match=re.escape("two rules for USB on F.Cu")):
        replace_rules(None, [USB, PCIE, USB.model_copy(update={"width_mm": 0.2})])


@pytest.mark.parametrize("marker", [BEGIN, END, END[1:], END[1:].strip("- ")])
def test_a_requirement_cannot_look_like_a_marker(marker: str) -> None:
    """Our part is found again, and goes as a whole."""
    rules = [USB.model_copy(update={"requirement": marker}), PCIE]
    written = replace_rules(OWN.encode(), rules)
    assert replace_rules(written, rules) == written
    assert replace_rules(written, []) == OWN.encode()


@settings(max_examples=100, deadline=None)
@given(requirement=st.text(min_size=1))
def test_no_requirement_ends_its_comment(requirement: str) -> None:
    """Whatever stands in it, line breaks of every alphabet included, every line of it begins with a hash."""
    lines = replace_rules(None, [USB.model_copy(update={"requirement": requirement})]).decode().split("\n")
    start, end = lines.index(BEGIN), next(i for i, line in enumerate(lines) if line.startswith("(rule"))
    assert all(line.startswith("#") and line.isprintable() for line in lines[start:end])
    assert sum(line.startswith("(rule") for line in lines) == 1


@pytest.mark.demo
def test_the_demo_rules_survive(demo_boards: Path) -> None:
    """KiCad's own rule files take our part and give it back."""
    files = sorted(demo_boards.glob("*/*.kicad_dru"))
    assert files
    for path in files:
        content = path.read_bytes()
        written = replace_rules(content, [PCIE, USB], label=str(path))
        assert len(written) > len(content)
        assert replace_rules(written, []) == content


@pytest.mark.parametrize(
    "rule",
    [
        """(rule mine (condition "A.NetName == 'CLK'") (constraint track_width (min 0.2mm)))""",
        """(rule mine\n\t(condition "A.NetName == 'CLK'")\n\t(constraint track_width (min 0.2mm)))""",
    ],
)
def test_a_rule_on_the_line_of_the_version_stays_a_rule(rule: str) -> None:
    """Behind our last line, a comment, it would be a comment too, or leave a parenthesis that nothing opens."""
    new = replace_rules(f"(version 1) {rule}\n".encode(), [PCIE])

    read = parse_design_rules(new.decode())
    assert read.fault is None
    assert [one.name for one in read.rules] == ["stackwright: 85Ohm-diff_PCIE, pair on In2.Cu", "mine"]
    assert read.rules[1].constraints[0].min_mm == 0.2
    assert replace_rules(new, [PCIE]) == new
    assert b"mine" in replace_rules(new, [])


def test_a_rule_behind_our_last_line_is_refused() -> None:
    """It is a comment there; whether it was meant to be one, its owner knows."""
    damaged = replace_rules(b"(version 1)\n", [PCIE]).rstrip(b"\n") + b" (rule mine (constraint clearance (min 1mm)))\n"
    assert [one.name for one in parse_design_rules(damaged.decode()).rules][1:] == []

    with pytest.raises(NotWrittenError, match="has rules that would not be kept"):
        replace_rules(damaged, [USB])


def test_a_layer_that_the_board_has_not_is_refused() -> None:
    """KiCad would ignore the whole file."""
    replace_rules(None, [PCIE], layers=["F.Cu", "In1.Cu", "In2.Cu", "B.Cu"])
    with pytest.raises(NotWrittenError, match=r"85Ohm-diff_PCIE on In2\.Cu, which the board does not have"):
        replace_rules(None, [PCIE], layers=["F.Cu", "B.Cu"])
