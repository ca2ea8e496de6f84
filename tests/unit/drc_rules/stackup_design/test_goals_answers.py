"""What is only preferred gives way where nothing can be built with it, and nothing that is required does."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config
from drc_rules.stackup_design.goals import (
    From,
    GoalChoices,
    GoalsFound,
    answers_for,
    goals_for,
    project_of,
    selection_for,
)
from drc_rules.stackup_design.goals_judge import CandidateJudge
from stackup_lib.kicad import read_board
from stackup_lib.synthesis import Answers, CandidateStackup, evaluate
from stackup_lib.transmission_lines import inverse
from tests.support.mini import mini_file

BUILD_UP = {"layers": 8, "build_ups": 1}
THIN = {"layers": 8, "thickness_mm": 0.5}


@pytest.mark.parametrize(
    ("profile", "choices", "power_oz"),
    [
        ("edge", BUILD_UP, 1.0),  # on a sub-lamination with cores outside, no signal layer shares the plane's core
        ("edge", {"layers": 8}, 1.0),
        ("edge", THIN, 0.5),  # its 1 oz is a remark: with it 0.61 mm is the least
        ("edge", THIN | {"power_copper_oz": 1.0}, None),
        ("inference", {"layers": 12, "build_ups": 1}, 1.0),
        ("inference", {"layers": 12, "thickness_mm": 0.8}, None),  # its 1 oz is required
    ],
)
def test_the_weight_of_power_planes_gives_way_where_it_is_only_preferred(
    profile: str, choices: dict[str, float], power_oz: float | None
) -> None:
    chosen = GoalChoices.model_validate(choices)

    answers, met = answers_for(goals_for(selection_for(profile, None, chosen), choices=chosen), 1)

    (said,) = [one for one in met.reasons if one.goal == "power copper"]
    assert bool(answers.ranked) is (power_oz is not None)
    assert met.goals.power_copper_oz == (power_oz or 1.0)
    assert {row.copper_oz for one in answers.ranked for row in one.candidate.copper if row.use == "power"} <= {power_oz}
    if power_oz == 0.5:
        assert (said.value, said.origin) == ("0.5 oz, not 1 oz", From.ASSUMPTION)
        assert said.source.endswith("0.61 to 5.00 mm can be built, 0.5 mm wanted")
    else:
        assert said.value == "1 oz"


GROUNDS = {"In1.Cu": "GND", "In4.Cu": "GND"}


@pytest.mark.parametrize(
    ("profile", "planes", "value", "origin"),
    [
        ("inference-workstation", GROUNDS, "2", From.ASSUMPTION),  # its 1 oz is an error: zero planes met nothing
        ("inference-workstation", GROUNDS | {"In3.Cu": "+3V3"}, "1", From.BOARD),
        ("edge", GROUNDS, "0", From.BOARD),  # its 1 oz is a remark
    ],
)
def test_copper_that_is_required_of_power_planes_asks_for_one(
    tmp_path: Path, profile: str, planes: dict[str, str], value: str, origin: From
) -> None:
    """A board whose filled inner layers carry no supply got no stackup: the weight of no plane can be verified."""
    project = project_of(
        read_board(mini_file(tmp_path, {"copper_layers": 6, "planes": planes})), Config(), Overrides(profile=profile)
    )

    found = goals_for(selection_for(profile, None, None, project), project)

    (said,) = [one for one in found.reasons if one.goal == "power planes"]
    assert (said.value, said.origin) == (value, origin)
    assert ("inference.copper.min" in said.source) is (value == "2")
    answers, _ = answers_for(found, 1)
    assert answers.ranked and not answers.unreachable


PLANES = {"In1.Cu": "GND", "In3.Cu": "+3V3", "In4.Cu": "GND"}
WIDE, USUAL, KEPT = (1.0, 0.075), (0.12, 0.15), (0.3178, 0.075)


@pytest.mark.parametrize(
    ("layer", "size_mm", "ratio"),
    [("F.Cu", WIDE, 1.5), ("In2.Cu", WIDE, 1.5), ("F.Cu", USUAL, 1.25), ("In2.Cu", USUAL, 1.25)],
)
def test_the_gap_of_routed_pairs_gives_way_where_no_stackup_has_their_impedance_with_it(
    tmp_path: Path, layer: str, size_mm: tuple[float, float], ratio: float
) -> None:
    """A gap far below the width, out of tolerance over any dielectric: the layers stay, the pair is redrawn."""
    answers, met = _answers_with_pair(tmp_path, layer, size_mm)

    (best,), (said,) = answers.ranked, [one for one in met.reasons if one.goal == "gap of pairs"]
    assert answers.keeps_layers and met.goals.gap_per_width == ratio
    assert {round((line.gap_mm or 0.0) / line.width_mm, 2) for line in best.lines} == {ratio}
    if size_mm == USUAL:
        assert (said.value, said.origin) == ("1.25 times the width", From.BOARD)
        assert answers.why_usual_gap == ""
    else:
        words = "1.5 times the width, not 0.075 as most pairs are routed"
        assert (said.value, said.origin) == (words, From.ASSUMPTION)
        assert said.source.startswith("with 0.075, PCIe Gen3 85 ohm: ")
        assert best.rerouted == 1
        assert {line.layer for line in best.lines if line.is_moved} == {layer}


@pytest.mark.parametrize(("size_mm", "most"), [(WIDE, 40), (USUAL, 40)])
def test_stackups_that_hold_no_pair_of_the_routed_gap_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size_mm: tuple[float, float], most: int
) -> None:
    """0.075 widths of gap leave no width that can be etched: 95 stackups were judged before the first line."""
    judged: list[CandidateStackup] = []
    judge = CandidateJudge.__call__

    def counted(self: CandidateJudge, one: CandidateStackup) -> list[tuple[str, bool, str]]:
        judged.append(one)
        return judge(self, one)

    monkeypatch.setattr(CandidateJudge, "__call__", counted)

    answers, _ = _answers_with_pair(tmp_path, "F.Cu", size_mm)

    assert answers.ranked and 0 < len(judged) <= most


def test_a_search_seeks_no_remedy_for_lines_that_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It took three quarters of the time, and only who reads an error sees it."""
    monkeypatch.setattr(inverse, "remedy_for", lambda *_: pytest.fail("a remedy was sought"))

    answers, _ = _answers_with_pair(tmp_path, "F.Cu", (0.3, 0.075))

    assert "needs a trace narrower than 0.3 mm" in answers.why_usual_gap


def test_routed_pairs_that_no_dielectric_holds_are_refused_without_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gap of 0.25 widths has its peak of impedance near the target: 84 widths were sought."""
    sought: list[object] = []
    solve_pair = inverse.solve_pair

    def counted(*given: object, **how: object) -> object:
        sought.append(given)
        return solve_pair(*given, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluate, "solve_pair", counted)

    answers, _ = _answers_with_pair(tmp_path, "F.Cu", (0.3, 0.075))

    line = answers.ranked[0].lines[0]
    assert [line.width_mm, line.gap_mm] == pytest.approx([0.185, 0.277], abs=1e-3)
    assert len(sought) <= 35


@pytest.mark.parametrize(("size_mm", "is_kept"), [(KEPT, True), (WIDE, False)])
def test_a_new_stackup_gives_lines_the_size_that_they_are_routed_in_while_that_fits(
    tmp_path: Path, size_mm: tuple[float, float], is_kept: bool
) -> None:
    """85 ohm +-17.6 % holds 0.318/0.075 mm; a rule for another size reports every segment of a board that is right."""
    answers, _ = _answers_with_pair(tmp_path, "In2.Cu", size_mm)

    (line,) = answers.ranked[0].lines
    assert (line.is_routed, line.is_moved) == (is_kept, not is_kept)
    assert ((line.width_mm, line.gap_mm) == size_mm) is is_kept
    assert 70 <= line.impedance_ohm.nominal <= 100


def _answers_with_pair(folder: Path, layer: str, size_mm: tuple[float, float]) -> tuple[Answers, GoalsFound]:
    """The best stackup for a board of six layers with one pair."""
    width, gap = size_mm
    pair = {"nets": ["/PCIE_TX0_P", "/PCIE_TX0_N"], "layer": layer, "path_mm": [[5, 10], [70, 10]]}
    board = {
        "size_mm": [80, 40],
        "copper_layers": 6,
        "planes": PLANES,
        "pairs": [pair | {"width_mm": width, "gap_mm": gap}],
        "parts": [{"reference": "R1", "at_mm": [40, 30], "pads": [{"number": "1", "net": "GND"}]}],
    }
    links = ("pcie3",)
    project = project_of(read_board(mini_file(folder, board)), Config(), Overrides(profile="edge"), links)
    chosen = GoalChoices(interfaces=links)
    return answers_for(goals_for(selection_for("edge", None, chosen, project), project, chosen), 1, project)
