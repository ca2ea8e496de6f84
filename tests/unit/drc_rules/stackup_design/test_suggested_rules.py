"""Design rules and words of the lines of a suggested stackup: sizes as routed, and sources that say what they cite."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config
from drc_rules.stackup_design.goals import GoalChoices, answers_for, goals_for, project_of, selection_for
from drc_rules.stackup_design.new_plan import plan_of_answer
from stackup_lib.kicad import read_board
from stackup_lib.transmission_lines.width_request import Target
from stackwright.commands.suggest.lines import line_words
from tests.support.mini import mini_file

PLANES = {"In1.Cu": "GND", "In2.Cu": "+3V3"}


def board(folder: Path, width_mm: float, gap_mm: float) -> Path:
    """A board of four layers with one pair on the surface."""
    pair = {"nets": ["/PCIE_TX0_P", "/PCIE_TX0_N"], "layer": "F.Cu", "path_mm": [[5, 10], [70, 10]]}
    sized = pair | {"width_mm": width_mm, "gap_mm": gap_mm}
    return mini_file(folder, {"size_mm": [80, 40], "copper_layers": 4, "planes": PLANES, "pairs": [sized]})


@pytest.mark.parametrize(("width_mm", "gap_mm", "is_kept"), [(0.15, 0.13, True), (0.9, 0.1, False)])
def test_rules_have_the_routed_size_where_it_stays_and_words_say_where_it_does_not(
    tmp_path: Path, width_mm: float, gap_mm: float, is_kept: bool
) -> None:
    """KiCad reports each segment wider than the maximum of its rule: 199 on a demo board that needed no change."""
    chosen = GoalChoices(interfaces=("pcie4",))
    read = read_board(board(tmp_path, width_mm, gap_mm))
    project = project_of(read, Config(), Overrides(profile="edge"), ("pcie4",))
    answers, met = answers_for(goals_for(selection_for("edge", None, chosen, project), project, chosen), 1, project)

    plan = plan_of_answer(answers.ranked[0], met.goals, met.interfaces)

    sizes = {(rule.width_mm, rule.gap_mm) for rule in plan.rule if rule.layer == "F.Cu"}
    assert (sizes == {(width_mm, gap_mm)}) is is_kept
    said = {layer: words.legal for words in line_words(answers.ranked[0], met) for layer in words.layers}
    assert ("to be rerouted" in said["F.Cu"]) is not is_kept
    assert "not routed there" in said["B.Cu"] and "not routed there" not in said["F.Cu"]
    assert not said["F.Cu"].startswith(",")


@pytest.mark.parametrize(("ohm", "source"), [(85.0, "NVIDIA"), (100.0, "this board's own target")])
def test_a_rule_cites_the_document_of_its_own_impedance_alone(ohm: float, source: str) -> None:
    """The guide of 85 ohm was given as the source of the 100 ohm that a board's net class asks for."""
    chosen = GoalChoices(interfaces=("pcie4",))
    found = goals_for(selection_for("edge", None, chosen), choices=chosen)
    target = Target(kind="differential", ohm=ohm)
    lines = tuple(goal.model_copy(update={"target": target}) for goal in found.goals.lines)
    goals = found.goals.model_copy(update={"lines": lines})
    answers, _ = answers_for(found, 1)

    plan = plan_of_answer(answers.ranked[0], goals, found.interfaces)

    assert plan.rule
    for rule in plan.rule:
        assert rule.requirement.startswith(f"{ohm:g} ohm differential for PCIe Gen4 (")
        assert ("own target" in rule.requirement) is (source == "this board's own target")


@pytest.mark.parametrize(
    ("length_mm", "ends"),
    [
        (100, "dB over 100 mm"),
        (600, "dB over 600 mm: at worst more than the 30 dB of the whole channel"),
        (2000, "dB over 2000 mm: surely more than the 30 dB of the whole channel"),
    ],
)
def test_a_length_without_a_share_says_what_it_loses_of_the_whole_channel(length_mm: float, ends: str) -> None:
    """No document states a board's share of 112G Ethernet: 2000 mm of it passed without a word."""
    chosen = GoalChoices(interfaces=("eth112g",), longest_mm={"eth112g": length_mm})
    met = goals_for(selection_for("training", None, chosen), None, chosen)
    answers, _ = answers_for(met, 1)

    (inner, outer) = line_words(answers.ranked[0], met)

    assert inner.legal.endswith(ends) and outer.legal == ""
    nominal = float(inner.loss.split(" ")[0])
    assert float(inner.legal.split(" ")[0]) == pytest.approx(nominal * length_mm / 25.4, rel=0.01)
