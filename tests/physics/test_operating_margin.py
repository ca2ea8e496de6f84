"""The operating margin of channels and links against another program that follows IEEE 802.3, Annex 93A."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.physics.operating_margin import Compared, channels, disturbed_channels, disturbed_links, link_margins

MOST_OFF_DB = 0.1


def _agrees(one: Compared) -> None:
    """Margin and figure of merit of what either chose from 2,015 equalisers, both within 0.1 dB."""
    assert one.ours.com_db == pytest.approx(one.their_db, abs=MOST_OFF_DB), one.name
    assert one.ours.merit_db == pytest.approx(one.their_merit_db, abs=MOST_OFF_DB), one.name


def test_channels_have_the_margin_of_the_other_program() -> None:
    assert len(channels()) == 10
    for one in channels():
        _agrees(one)


def test_links_of_boards_have_it_too(tmp_path: Path) -> None:
    found = link_margins(tmp_path)
    assert len(found) == 4
    for one in found:
        _agrees(one)


def test_channels_with_aggressors_have_it_too() -> None:
    """Far and near ones, one to four, matched and not; without them the margin is 0.3 to 8 dB higher."""
    assert len(disturbed_channels()) == 8
    for one in disturbed_channels():
        _agrees(one)
        assert one.ours.taken_db


def test_links_with_neighbours_have_it_too(tmp_path: Path) -> None:
    found = disturbed_links(tmp_path)
    assert len(found) == 3
    for one in found:
        _agrees(one)
