"""The limits of your own fab are goals of a stackup: what is suggested passes the check against the same fab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drc_rules.cam.report import cam_report
from drc_rules.settings.config import Config, parse_config
from drc_rules.stackup_design.goals import From, GoalsFound, answers_for, goals_for, selection_for
from stackup_lib.synthesis import Evaluated, Goals
from tests.support.boards import copied
from tests.support.in_process import run_here

SOURCE = "Ours: [fab] of stackwright.toml"


def settings(fab: str) -> Config:
    """Settings with a fab of these keys."""
    return parse_config(f'[fab]\nname = "Ours"\n{fab}\n')


def goals_of(fab: str, profile: str = "inference-pcie") -> GoalsFound:
    """Goals of a new board that a fab of these keys makes."""
    return goals_for(selection_for(profile, None), settings=settings(fab))


def best_of(fab: str) -> tuple[Evaluated, GoalsFound]:
    """The best stackup of such a fab."""
    answers, met = answers_for(goals_of(fab), 1)
    return answers.ranked[0], met


@pytest.mark.parametrize(
    ("fab", "goal", "expected"),
    [
        ("dielectric_mm = 0.1", "least_dielectric_mm", 0.1),
        ("thickness_mm = 1.5", "most_thickness_mm", 1.5),
        ("aspect_ratio = 8", "max_aspect_ratio", 8.0),
        ("hole_mm = 0.35", "drill_mm", 0.45),
        ("hole_mm = 0.1", "drill_mm", 0.25),
        ("microvia_aspect_ratio = 0.5", "max_microvia_ratio", 0.5),
        ("microvia_mm = 0.15", "microvia_drill_mm", 0.15),
        ("microvia_mm = 0.1", "microvia_drill_mm", 0.125),
        ('track_mm = { "0.5" = 0.06 }', "least_width_mm", 0.06),
        ('space_mm = { "0.5" = 0.12 }', "least_gap_mm", 0.12),
        ("outer_track_mm = 0.12", "least_outer_width_mm", 0.12),
        ("outer_space_mm = 0.12", "least_outer_gap_mm", 0.12),
        ('track_mm = { "2" = 0.2 }', "least_width_mm", Goals().least_width_mm),
        ("ring_mm = 0.2", "least_dielectric_mm", Goals().least_dielectric_mm),
    ],
)
def test_a_limit_of_your_fab_takes_the_place_of_the_usual_one(fab: str, goal: str, expected: float) -> None:
    """Coarser or finer; one that says nothing of the goal, or that the usual value keeps anyway, moves nothing."""
    assert getattr(goals_of(fab).goals, goal) == pytest.approx(expected)


def test_a_goal_of_your_fab_names_it_and_without_one_nothing_does() -> None:
    """So a reader sees whose limit rules a stackup out."""
    fab = 'dielectric_mm = 0.1\naspect_ratio = 8\nouter_track_mm = 0.12\ntrack_mm = { "0.5" = 0.1 }'
    said = {reason.goal: (reason.origin, reason.value, reason.source) for reason in goals_of(fab).reasons}
    assert said["thinnest dielectric"] == (From.USER, "0.1 mm", SOURCE)
    assert said["aspect ratio"] == (From.USER, "8 at most", SOURCE)
    assert said["finest line and gap"] == (From.USER, "0.1/0.075 mm, on outer layers 0.12/0.075 mm", SOURCE)
    plain = goals_for(selection_for("inference-pcie", None))
    assert not [reason for reason in plain.reasons if "[fab]" in reason.source]
    assert "thinnest dielectric" not in {reason.goal for reason in plain.reasons}


def test_a_suggested_stackup_keeps_the_limits_of_your_fab() -> None:
    """Each with a limit that the first stackup without a fab breaks."""
    free, _ = best_of("")
    assert min(row.thickness_mm for row in free.candidate.dielectrics) < 0.1
    thick, _ = best_of("dielectric_mm = 0.1")
    assert min(row.thickness_mm for row in thick.candidate.dielectrics) >= 0.1
    assert free.candidate.thickness_mm > 1.5 >= best_of("thickness_mm = 1.5")[0].candidate.thickness_mm
    assert free.aspect_ratio > 6 >= best_of("aspect_ratio = 6")[0].aspect_ratio
    outer = [line.width_mm for line in best_of("outer_track_mm = 0.12")[0].lines if line.layer in ("F.Cu", "B.Cu")]
    assert min(line.width_mm for line in free.lines if line.layer in ("F.Cu", "B.Cu")) < 0.12 <= min(outer)


def test_the_questions_to_the_fab_are_those_of_your_fab() -> None:
    """What it states that it makes is no question, though other fabs would ask."""
    fab = "dielectric_mm = 0.05\naspect_ratio = 12\nouter_track_mm = 0.075\nouter_space_mm = 0.075\nhole_mm = 0.15"
    one, met = best_of(fab)
    asked = {item.topic for item in cam_report(one, met.goals) if item.asks}
    own = cam_report(one, met.goals, None, met.fab)
    assert "thin prepreg" in asked
    assert not {"thin prepreg", "drill", "aspect ratio"} & {item.topic for item in own if item.asks}
    limits = {item.topic: item.limit for item in own if "own fab" in item.source or "[fab]" in item.source}
    assert limits["drill"] == "0.25 mm or more" and limits["aspect ratio"] == "up to 12:1"
    assert limits["line and gap"] == "0.075/0.075 mm or more"
    strict = {
        item.topic for item in cam_report(one, met.goals, None, settings("dielectric_mm = 0.09").fab) if item.asks
    }
    assert "thin prepreg" in strict


def test_what_is_suggested_for_a_board_passes_the_check_against_the_same_fab(tmp_path: Path) -> None:
    """With the rows of a plan in the board, the dielectrics and the aspect ratio of `[fab]` are met."""
    board = copied("inference_pcie_gen5_fit", tmp_path)
    path = board.with_name("stackwright.toml")
    path.write_text(path.read_text("utf-8").replace("[fab]", "[fab]\ndielectric_mm = 0.085\naspect_ratio = 6"), "utf-8")
    plan = tmp_path / "plan.toml"
    run_here("suggest", board, "--profile", "inference-pcie", "--limit", "1", "--plan", plan)
    assert run_here("apply", plan, board, "--write", "--change-stackup").code == 0
    checked = run_here("check", board, "--profile", "inference-pcie", "--format", "json")
    verdicts = {one["clause"]: one["verdict"] for one in json.loads(checked.out)["reports"][0]["verdicts"]}
    assert verdicts["board.fab.dielectric_own"] == verdicts["board.via.aspect_ratio_own"] == "passed"


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("dielectric_mm = 0.1", "dielectric thickness >= minimum (your fab)"),
        ("thickness_mm = 1.5", "(your fab)"),
        ("dielectric_mm = 0.05", ""),
        ("thickness_mm = 1.7", ""),
    ],
)
def test_a_board_that_your_fab_cannot_build_is_not_told_that_nothing_changes(
    limit: str, words: str, tmp_path: Path
) -> None:
    """What your fab says of dielectrics and thickness is in the stackup, not elsewhere; within it all is well."""
    board = copied("inference_pcie_gen5_fit", tmp_path)
    path = board.with_name("stackwright.toml")
    path.write_text(path.read_text("utf-8").replace("[fab]", f"[fab]\n{limit}"), "utf-8")
    asked = run_here("suggest", board, "--profile", "inference-pcie", "--limit", "1", "--format", "json")
    found = json.loads(asked.out)
    unchanged = [one for one in found["changes"] if one["words"][0].startswith("nothing")]
    assert bool(unchanged) is (not words)
    text = " ".join(run_here("suggest", board, "--profile", "inference-pcie", "--limit", "1").out.split())
    assert "lies elsewhere" not in text
    assert ("stackup now: 1 failed" in text or "stackup now: 2 failed" in text) is bool(words)
    assert words in text
