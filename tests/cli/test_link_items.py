"""What a row of the delay table on the live page selects in KiCad."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackwright.commands.check.command import check_in_context
from stackwright.commands.check.request import CheckRequest
from stackwright.drawing.charts import delays_of
from stackwright.kicad import link_items as module
from stackwright.kicad.link_items import link_items
from stackwright.reporters import html

CARRIER = Path(__file__).parents[2] / "fixtures/boards/edge_jetson_carrier_fit/edge_jetson_carrier_fit.kicad_pcb"


@pytest.fixture(scope="module")
def made() -> Any:
    """The board, its charts and the page that shows them."""
    outcome, _, checked = check_in_context(CARRIER, CheckRequest())
    charts = delays_of(checked)
    return checked.context.board, charts, html.render([replace(outcome, charts=charts)])


def test_every_row_of_the_page_is_known_and_has_the_items_of_its_nets(made: Any) -> None:
    """Of both traces of a pair and of all nets behind capacitors, and of no other net."""
    board, charts, page = made
    found = link_items(board, charts)
    links = [link for group in charts.delays for link in group.links]

    assert len(found) == len(links) > 0
    for ident, entry, link in zip(found, found.values(), links, strict=True):
        assert f'<tr id="{ident}">' in page
        (about,) = entry["members"]  # type: ignore[index]
        nets = {board.net_index[name] for name in link.nets}
        items = {*board.tracks.uuid.tolist(), *board.vias.uuid.tolist()}
        own = {
            uuid
            for table in (board.tracks, board.vias)
            for uuid, net in zip(table.uuid.tolist(), table.net.tolist(), strict=True)
            if net in nets
        }
        assert set(about["items"]) == own <= items
        assert len(about["items"]) == len(own) > 1
        assert about["title"] == link.name


def test_the_number_of_items_is_bounded(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    board, charts, _ = made
    many = len(link_items(board, charts))
    monkeypatch.setattr(module, "MOST_IN_ALL", 2 * many)
    found = link_items(board, charts)

    assert len(found) == many
    assert {len(entry["members"][0]["items"]) for entry in found.values()} == {2}  # type: ignore[index]
