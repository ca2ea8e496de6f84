"""The copper weight of a layer: a declared one first, and what makes a guessed one sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.copper_weight import weight_of
from drc_rules.settings.config import parse_config
from stackup_lib.core.facts import Confidence, Origin
from tests.support.mini import mini_context, mini_file

STACKUP = """
F.Cu 0.035
prepreg 0.5 "370HR"
In1.Cu {}
core 0.6 "370HR"
In2.Cu 0.0152
prepreg 0.5 "370HR"
B.Cu 0.035
"""
DECLARED = '[declared.copper."In1.Cu"]\ncopper_oz = {}\n'
STALE = '[declared]\nstackup_hash = "0123456789abcdef"\n'


def board(mm: float) -> dict[str, object]:
    """A board with a wide track on In1, whose copper has this thickness."""
    track = {"net": "/A", "layer": "In1.Cu", "width_mm": 0.5, "path_mm": [[10, 10], [30, 10]]}
    return {"size_mm": [60, 40], "stackup": STACKUP.format(mm), "tracks": [track]}


@pytest.mark.parametrize(
    ("mm", "settings", "oz", "confidence"),
    [
        (0.035, "", 1, Confidence.HIGH),
        (0.035, DECLARED.format(2), 2, Confidence.HIGH),
        (0.012, DECLARED.format(0.33), 0.33, Confidence.HIGH),
        (0.140, "", 4, Confidence.LOW),
        (0.175, "", 5, Confidence.MEDIUM),
        (0.205, "", 6, Confidence.MEDIUM),
        (0.151, "", 5, Confidence.MEDIUM),
    ],
)
def test_a_declared_weight_goes_before_the_thickness(
    mm: float, settings: str, oz: float, confidence: Confidence, tmp_path: Path
) -> None:
    """An ounce is 34.3 um: 175 um are 5.1 of them, 205 um 6.0; above 150 um it is never the four of the last class."""
    fact = weight_of(mini_context(tmp_path, board(mm), settings), 1)
    assert (fact.value, fact.confidence) == (oz, confidence)
    assert fact.origin is (Origin.DECLARED if settings else Origin.INFERRED)


@pytest.mark.parametrize("settings", ["", DECLARED.format(2)])
def test_the_weight_of_an_outer_layer_is_a_guess_until_it_is_declared(settings: str, tmp_path: Path) -> None:
    fact = weight_of(mini_context(tmp_path, board(0.035), settings.replace("In1", "F")), 0)
    assert fact.confidence is (Confidence.HIGH if settings else Confidence.LOW)
    assert ('[declared.copper."F.Cu"]\ncopper_oz = "?"' in fact.how_to_give) is not bool(settings)


def test_a_weight_declared_for_another_stackup_is_not_known(tmp_path: Path) -> None:
    assert not weight_of(mini_context(tmp_path, board(0.035), STALE + DECLARED.format(2)), 1).known


@pytest.mark.parametrize(("settings", "guessed"), [("", ["In1.Cu"]), (DECLARED.format(4), [])])
def test_a_guess_names_the_layer_that_it_rests_on(settings: str, guessed: list[str], tmp_path: Path) -> None:
    """Four ounces by thickness are no sure weight; that of the outer layers would not help."""
    report = check_board(mini_file(tmp_path, board(0.140)), config=parse_config(settings))
    (verdict,) = [v for v in report.verdicts if v.clause.id == "board.copper.track_space"]
    assert verdict.verdict.value == "passed"
    assert [m.fact for m in verdict.guesses] == [f"copper weight of {name}, which is a guess" for name in guessed]
    assert all(f'[declared.copper."{name}"]' in verdict.guesses[0].how_to_give for name in guessed)
