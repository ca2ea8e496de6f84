"""What a comparison with a fab's figures comes to: accepted, different, or not to be told."""

from __future__ import annotations

import pytest

from drc_rules.fab_compare import Compared, LayerMatch, Outcome, WidthJudged


def width(**figures: float | None) -> WidthJudged:
    return WidthJudged.model_validate({"line": 3, "layer": "F.Cu", "width_mm": 0.2, "gap_mm": None, **figures})


@pytest.mark.parametrize(
    ("solved_ohm", "outcome"),
    [(50.0, "accept"), (51.5, "accept"), (48.5, "accept"), (51.6, "differs"), (48.4, "differs")],
)
def test_a_fabs_impedance_is_ours_within_what_the_model_does_not_know(solved_ohm: float, outcome: str) -> None:
    """50 ohm stated, known to 3 %: 48.5 to 51.5 ohm agree."""
    found = width(stated_ohm=50.0, solved_ohm=solved_ohm, model_pct=3.0 + 1e-9)

    assert found.outcome.value == outcome


@pytest.mark.parametrize("unknown", ["stated_ohm", "solved_ohm", "model_pct"])
def test_without_one_of_the_figures_nothing_can_be_told(unknown: str) -> None:
    """Neither agreement nor difference."""
    figures: dict[str, float | None] = {"stated_ohm": 50.0, "solved_ohm": 50.0, "model_pct": 3.0, unknown: None}

    assert width(**figures).outcome is Outcome.OPEN


@pytest.mark.parametrize(
    ("figures", "outcome"),
    [
        ((), Outcome.OPEN),
        ((Outcome.ACCEPT, Outcome.ACCEPT), Outcome.ACCEPT),
        ((Outcome.ACCEPT, Outcome.OPEN), Outcome.OPEN),
        ((Outcome.OPEN, Outcome.DIFFERS, Outcome.ACCEPT), Outcome.DIFFERS),
    ],
)
def test_a_row_is_as_bad_as_the_worst_of_its_figures(figures: tuple[Outcome, ...], outcome: Outcome) -> None:
    """What differs outweighs what is open; a row of which the table says nothing is open."""
    compared = tuple(Compared(what="Dk", board="4.0", fab="4.0", outcome=one) for one in figures)

    assert LayerMatch(layer="dielectric 1", lines=(2,), figures=compared).outcome is outcome
