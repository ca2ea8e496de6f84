"""The board from above: what is fast is drawn where it lies, findings are places, and the page stays small."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import CheckUp, check_up
from drc_rules.report.model import Place
from stackwright.drawing import board_map as drawing
from stackwright.drawing.board_map import BoardMap, board_map
from stackwright.drawing.map_pins import colour_of, legend, pins_of
from stackwright.reporters import html
from stackwright.results.checked import Checked
from stackwright.tables.grouping import groups

BOARDS = Path(__file__).parents[2] / "fixtures" / "boards"
CARD = "inference_pcie_gen5_caps_no_backdrill"


@pytest.fixture(scope="module")
def card() -> CheckUp:
    return check_up(BOARDS / CARD / f"{CARD}.kicad_pcb")


def drawn(checked: CheckUp) -> BoardMap:
    found = board_map(checked.context, checked.report.findings)
    assert found is not None
    return found


def page(checked: CheckUp) -> str:
    return html.render([Checked(checked.report, None, "0", map=drawn(checked))])


@pytest.mark.slow
def test_every_track_of_a_fast_net_is_drawn_on_its_layer(card: CheckUp) -> None:
    """As many segments as the board has, in its own millimetres."""
    board, found = card.context.board, drawn(card)
    assert legend(found) == ("PCIe Gen5",)
    fast = np.isin(board.tracks.net, card.context.nets_of("pcie5"))
    for layer in found.layers:
        here = np.flatnonzero(fast & (board.tracks.layer == layer.index))
        paths = "".join(one.path for one in layer.tracks if one.title)
        assert paths.count("M") == len(here)
        for row in here[:3].tolist():
            x, y = (round(100 * float(column[row])) for column in (board.tracks.start_x_mm, board.tracks.start_y_mm))
            assert f"M{x} {y}" in paths


def test_planes_keep_their_area_on_the_grid(card: CheckUp) -> None:
    """A full plane of the card is as large as its fill, to the step of the grid."""
    board, found = card.context.board, drawn(card)
    layer = next(one for one in found.layers if one.name == "In1.Cu")
    area = sum(_area(part) for part in layer.planes.split("M")[1:]) / 1e4
    zones = board.zones
    asked = 0.0
    for k in np.flatnonzero(zones.fill_layer == layer.index).tolist():
        x, y = (c[zones.fill_start[k] : zones.fill_start[k + 1]] for c in (zones.fill_x_mm, zones.fill_y_mm))
        asked += abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2
    assert area == pytest.approx(asked, rel=2e-3)


def _area(path: str) -> float:
    numbers = [int(word) for word in re.findall(r"-?\d+", path)]
    steps = np.array(numbers).reshape(-1, 2).cumsum(axis=0)
    x, y = steps[:, 0], steps[:, 1]
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def test_more_corners_than_the_page_has_room_for_get_a_coarser_grid(
    card: CheckUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the page says which."""
    fine = drawn(card)
    monkeypatch.setattr(drawing, "PLANE_CHARACTERS", 1000)
    coarse = drawn(card)
    assert fine.plane_grid_mm == 0.05
    assert coarse.plane_grid_mm == drawing.COARSEST_MM
    assert sum(len(one.planes) for one in coarse.layers) < sum(len(one.planes) for one in fine.layers)
    assert "on a grid of 1.6 mm" in page(card)


def test_segments_that_are_left_out_are_the_shortest_and_counted(
    card: CheckUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing from a picture is said beside it."""
    monkeypatch.setattr(drawing, "MOST_TRACKS", 10)
    found = drawn(card)
    assert sum(one.path.count("M") for layer in found.layers for one in layer.tracks) == 10
    assert found.left_out > 0
    assert f"{found.left_out} of the shortest segments are left out" in page(card)


def test_every_finding_with_a_place_is_a_numbered_link_and_a_window(card: CheckUp) -> None:
    """Numbers on the map lead to the findings; each finding opens a window on its place."""
    shown = [(f"f{k}", group) for k, group in enumerate(groups(card.report.findings))]
    pins = list(pins_of(drawn(card), shown))
    placed = [group for _, group in shown if any(p.x_mm is not None for p in group.first.places)]
    assert len(pins) == len(placed) >= 3
    assert [pin.number for pin in pins] == list(range(1, len(pins) + 1))
    text = page(card)
    targets = re.findall(r'<a href="#([^"]+)" class="pin', text)
    assert len(targets) == len(pins)
    assert all(f'id="{target}"' in text for target in targets)
    for pin in pins:
        assert f"Place {pin.number} on the board" in text
        left, top, width, height = pin.box
        assert left < pin.x < left + width
        assert top < pin.y < top + height


def test_ids_that_windows_use_are_there(card: CheckUp) -> None:
    """A <use> without its target shows nothing."""
    text = page(card)
    used = set(re.findall(r'<use href="#([^"]+)"', text))
    assert used
    assert all(f'id="{name}"' in text for name in used)


def test_a_finding_names_a_net_that_is_not_fast(card: CheckUp) -> None:
    """Its tracks are drawn too, but for ground and rails, which are seen as planes."""
    board = card.context.board
    slow = next(n for n, name in enumerate(board.nets) if name and n not in set(card.context.nets_of("pcie5").tolist()))
    finding = card.report.findings[0].model_copy(update={"places": (Place(net=board.nets[slow]),)})
    poured = set(board.zones.net.tolist())
    titles = drawing._titles(card.context, [finding])
    assert (slow in titles) is (slow not in poured)
    ground = card.report.findings[0].model_copy(update={"places": (Place(net="GND"),)})
    assert board.net_index["GND"] not in drawing._titles(card.context, [ground])


def test_a_board_without_extent_has_no_map(card: CheckUp) -> None:
    """Nothing is drawn of nothing, and the page has no empty section."""
    board = card.context.board
    none = np.zeros(0)
    bare = replace(
        board,
        outline=replace(board.outline, start=np.zeros(1, dtype=np.int64), x_mm=none, y_mm=none),
        tracks=replace(board.tracks, **{name: getattr(board.tracks, name)[:0] for name in board.tracks.__slots__}),
    )
    assert board_map(replace(card.context, board=bare)) is None
    assert "From above" not in html.render([Checked(card.report, None, "0")])


def test_the_page_of_a_large_board_stays_small(card: CheckUp) -> None:
    """The same board gives the same bytes, well below three megabytes."""
    text = page(card)
    assert text == page(card)
    assert len(text) < 1_000_000


def test_interfaces_keep_their_colours_in_drawing_and_legend() -> None:
    """Nets without an interface are drawn in the colour of text."""
    titles = ("NVLink 5", "PCIe Gen5")
    assert colour_of("NVLink 5", titles) != colour_of("PCIe Gen5", titles)
    assert colour_of("", titles) == "currentColor"
