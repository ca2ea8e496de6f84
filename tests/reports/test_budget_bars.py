"""The loss budget as bars: lengths are decibels, the limit is where it belongs, and nothing unknown is drawn."""

from __future__ import annotations

import re

import pytest

from drc_rules.report.link_rows import Decibels
from stackwright.drawing.budget_bars import LEFT, PLOT, budget_bars
from tests.support.reports.charted import link


def lengths(svg: str) -> list[float]:
    return [float(word) for word in re.findall(r'<rect x="[\d.]+" y="36" width="([\d.]+)"', svg)]


def test_parts_are_as_long_as_their_decibels_and_the_limit_stands_at_the_boards_share() -> None:
    """9.5 dB less 3 dB of the package: the board may lose 6.5 dB, 1.625 times the length of the bar."""
    svg = budget_bars([link()], "b1-")
    parts = lengths(svg)
    assert [part / sum(parts) for part in parts] == pytest.approx([0.25, 0.375, 0.125, 0.25], abs=1e-3)
    limit = float(re.findall(r'class="limit" d="M([\d.]+) 31v', svg)[0])
    assert (limit - LEFT) / sum(parts) == pytest.approx(6.5 / 4, abs=2e-3)
    assert "4.0 dB at 16 GHz, 3.0 to 5.0; the board may lose 6.5 dB" in svg


def test_a_worst_case_without_bound_is_an_arrow_and_does_not_squeeze_the_rest() -> None:
    """A stub near resonance may take all of the signal."""
    svg = budget_bars([link(total_db=Decibels(low=3.0, nominal=4.0, high=None)), link()], "b1-")
    assert "3.0 to far more" in svg
    assert "l5 4l-5 4" in svg
    assert sum(lengths(svg)) == pytest.approx(PLOT * 4 / (2.5 * 6.5), abs=0.3)
    assert "l5 4l-5 4" not in budget_bars([link()], "b1-")


def test_without_a_share_there_is_no_limit() -> None:
    """No unstated number is drawn."""
    svg = budget_bars([link(share_db=None, allowances=())], "b1-")
    assert "may lose 6" not in svg
    assert not re.findall(r'class="limit" d="M[\d.]+ 31v', svg)


@pytest.mark.parametrize(
    "changes",
    [{"total_db": None}, {"holes_db": None}, {"total_db": Decibels(low=1.0, nominal=None, high=None)}],
    ids=["unknown", "resonant stub", "no nominal"],
)
def test_a_loss_that_is_not_known_has_no_bar(changes: dict[str, object]) -> None:
    """An empty bar would read as no loss."""
    assert budget_bars([link(**changes)], "b1-") == ""
    assert budget_bars([link(**changes), link(name="/OTHER")], "b1-").count('class="range"') == 1


def test_names_of_a_board_stay_text() -> None:
    """A net may be called anything."""
    svg = budget_bars([link(name='<script>"x"\u202e', interface="A&B")], "b1-")
    assert "<script" not in svg
    assert "A&amp;B" in svg
    assert "\u202e" not in svg
    assert 'aria-label="Loss budget. A&amp;B, &lt;script&gt;' in svg
