"""The board from above: what is fast is drawn where it lies, findings are places, and the page stays small."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from drc_rules.engine.check import CheckUp, check_up
from drc_rules.report.findings import Location, ObjectRows
from stackwright.drawing import board_map as drawing
from stackwright.drawing import map_payload, map_pins
from stackwright.drawing.board_map import BoardMap, board_map
from stackwright.drawing.board_view import planes as view_planes
from stackwright.drawing.map_payload import payload
from stackwright.drawing.map_pins import Pin, colour_of, legend, pins_of
from stackwright.reporters import html
from stackwright.results.checked import Checked
from stackwright.tables.grouping import groups
from tests.support.boards import board_file

CARD = "inference_pcie_gen5_caps_no_backdrill"


@pytest.fixture(scope="module")
def card() -> CheckUp:
    return check_up(board_file(CARD))


def drawn(checked: CheckUp) -> BoardMap:
    found = board_map(checked.context, checked.report.findings)
    assert found is not None
    return found


def page(checked: CheckUp) -> str:
    return html.render([Checked(checked.report, None, "0", map=drawn(checked))])


def pins(checked: CheckUp) -> list[Pin]:
    shown = [(f"f{k}", group) for k, group in enumerate(groups(checked.report.findings))]
    return list(pins_of(drawn(checked), shown))


def scene(text: str) -> Any:
    """What the script unpacks."""
    return json.loads(text if text.startswith("{") else zlib.decompress(base64.b64decode(text)))


def points(steps: list[int] | tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Steps as points."""
    return np.array(steps, dtype=np.int64).reshape(-1, 2).cumsum(axis=0)


@pytest.mark.slow
def test_every_track_of_a_high_speed_net_is_drawn_on_its_layer(card: CheckUp) -> None:
    """As many segments as the board has, in its own millimetres."""
    board, found = card.context.board, drawn(card)
    assert legend(found) == ("PCIe Gen5",)
    fast = np.isin(board.tracks.net, card.context.nets_of("pcie5")) & np.isnan(board.tracks.mid_x_mm)
    assert np.count_nonzero(fast) > 100
    for layer in range(board.layer_count):
        rows = np.flatnonzero(fast & (board.tracks.layer == layer))
        mine = [points(one.ends).reshape(-1, 4) for one in found.tracks if one.title and one.layer == layer]
        ends = {tuple(row) for one in mine for row in one.tolist()}
        t = board.tracks
        asked = np.rint(100 * np.column_stack([t.start_x_mm, t.start_y_mm, t.end_x_mm, t.end_y_mm])[rows])
        assert {tuple(row) for row in asked.astype(int).tolist()} <= ends


def test_planes_keep_their_area_on_the_grid(card: CheckUp) -> None:
    """A full plane of the card is as large as its fill, to the step of the grid."""
    board, found = card.context.board, drawn(card).planes
    layer = board.layer_index["In1.Cu"]
    area = sum(_area(points(corners) * found.step / 100) for at, corners in found.fills if at == layer)
    zones = board.zones
    asked = 0.0
    for k in np.flatnonzero(zones.fill_layer == layer).tolist():
        x, y = (c[zones.fill_start[k] : zones.fill_start[k + 1]] for c in (zones.fill_x_mm, zones.fill_y_mm))
        asked += _area(np.column_stack([x, y]))
    assert area == pytest.approx(asked, rel=2e-3)


def _area(corners: np.ndarray[Any, Any]) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def test_more_corners_than_the_page_has_room_for_get_a_coarser_grid(
    card: CheckUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the page says which."""
    fine = drawn(card).planes
    monkeypatch.setattr(view_planes, "MOST_CORNERS", 100)
    coarse = drawn(card).planes
    assert fine.grid_mm == 0.05
    assert coarse.grid_mm == view_planes.COARSEST_MM
    assert sum(len(one) for _, one in coarse.fills) < sum(len(one) for _, one in fine.fills)
    assert "on a grid of 1.6 mm" in page(card)


def test_segments_that_are_left_out_are_the_shortest_and_counted(
    card: CheckUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing from a picture is said next to it."""
    lengths = np.sort(card.context.board.tracks.length_mm)
    monkeypatch.setattr(drawing, "MOST_TRACKS", 10)
    found = drawn(card)
    ends = np.concatenate([points(one.ends).reshape(-1, 4) for one in found.tracks])
    assert len(ends) >= 10
    assert min(np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1])) > 100 * np.median(lengths)
    assert found.left_out > 0
    assert f"{found.left_out} of the shortest segments are left out" in page(card)


def test_parts_have_their_references_and_courtyards(card: CheckUp) -> None:
    """Each footprint with pads is there, around its pads; the page holds the references for the script."""
    board, found = card.context.board, drawn(card)
    with_pads = set(board.footprints.reference[np.unique(board.pads.footprint)].tolist())
    assert with_pads == {one.reference for one in found.parts}
    assert all(one.width > 0 and one.height > 0 for one in found.parts)
    held = scene(payload(found, ()))
    assert {part[0] for part in held["parts"]} == with_pads
    assert sum(len(group[-1]) // 2 for group in held["pads"]) == len(board.pads)


def test_every_finding_with_a_place_is_numbered_and_linked_both_ways(card: CheckUp) -> None:
    """Numbers on the board lead to the places, places to the findings, and findings back."""
    found = pins(card)
    placed = [g for g in groups(card.report.findings) if any(p.x_mm is not None for f in g.findings for p in f.places)]
    assert len(found) >= len(placed) >= 3
    assert [pin.number for pin in found] == list(range(1, len(found) + 1))
    text = page(card)
    targets = re.findall(r'<a href="#([^"]+)" class="pin', text)
    assert sorted(targets) == sorted(pin.id for pin in found)
    for pin in found:
        assert pin.id == f"place-{pin.key}"
        assert text.count(f'id="{pin.id}"') == 1
        card_id = re.search(rf'id="{pin.id}".*?place-objects.*?href="#([^"]+)"', text, re.DOTALL)
        assert card_id is not None
        assert text.count(f'id="{card_id[1]}"') == 1
        assert text.index(f'id="{card_id[1]}"') < text.index(f'<a href="#{pin.id}">Place {pin.number} on the board')


def test_places_of_several_boards_on_a_page_differ(card: CheckUp) -> None:
    """The same finding on two boards is two places."""
    one = Checked(card.report, None, "0", map=drawn(card))
    ids = re.findall(r'<li id="((?:b\d-)?place-[^"]+)"', html.render([one, one]))
    assert len(ids) == len(set(ids)) == 2 * len(pins(card))


def test_a_place_draws_every_object_of_its_finding(card: CheckUp) -> None:
    """Also those beyond the places that the finding lists, as many as it says; and all of them are in its window."""
    board = card.context.board
    vias = tuple(range(len(board.vias)))
    listed = Location(uuid=str(board.vias.uuid[0]), x_mm=float(board.vias.x_mm[0]), y_mm=float(board.vias.y_mm[0]))
    finding = card.report.findings[0].model_copy(update={"places": (listed,), "every": ObjectRows(vias=vias)})
    found = board_map(card.context, [finding])
    assert found is not None
    (pin,) = pins_of(found, [("f", group) for group in groups([finding])])
    assert pin.counted == f"{len(vias)} vias"
    assert pin.is_all
    centres = np.concatenate([points(steps) for _, steps in pin.objects[0].shapes.discs])
    assert len(centres) == len(vias) > 20
    left, top, width, height = pin.box
    assert np.all((centres >= (left, top)) & (centres <= (left + width, top + height)))


def test_a_finding_that_lists_the_first_of_many_says_so(card: CheckUp) -> None:
    """Twenty places without the rest are not all of them."""
    vias = card.context.board.vias
    places = tuple(Location(uuid=str(vias.uuid[k]), x_mm=0.0, y_mm=0.0) for k in range(20))
    finding = card.report.findings[0].model_copy(update={"places": places, "every": None})
    found = board_map(card.context, [finding])
    assert found is not None
    (pin,) = pins_of(found, [("f", group) for group in groups([finding])])
    assert (pin.counted, pin.is_all) == ("20 vias", False)


def test_a_group_of_more_objects_than_the_page_has_room_for_says_so(
    card: CheckUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first finding is drawn whole, the rest counted as left out."""
    one = card.report.findings[0].model_copy(update={"every": ObjectRows(vias=(0, 1)), "key": "X-1"})
    other = one.model_copy(update={"every": ObjectRows(vias=(2, 3)), "key": "X-2"})
    found = board_map(card.context, [one, other])
    assert found is not None
    monkeypatch.setattr(map_pins, "MOST_STEPS", 4)
    (pin,) = pins_of(found, [("f", group) for group in groups([one, other])])
    assert (pin.counted, pin.is_all) == ("2 vias", False)


def test_a_finding_of_a_net_draws_its_tracks_on_the_layer_it_names(card: CheckUp) -> None:
    """Its number stands on them."""
    board = card.context.board
    row = int(np.argmax(board.tracks.length_mm))
    net, layer = board.nets[int(board.tracks.net[row])], int(board.tracks.layer[row])
    place = Location(net=net, layer=board.copper_layers[layer].name)
    finding = card.report.findings[0].model_copy(update={"places": (place,)})
    found = board_map(card.context, [finding])
    assert found is not None
    (objects,) = found.objects.values()
    assert {at for at, _, _ in objects.shapes.lines} == {layer}
    assert objects.counts == ((1, "net"),)
    assert (objects.x, objects.y) == tuple(
        round(100 * float(c[row])) for c in (board.tracks.start_x_mm, board.tracks.start_y_mm)
    )


def test_a_finding_names_a_net_that_is_not_fast(card: CheckUp) -> None:
    """Its tracks are drawn too, but for ground and rails, which are seen as planes."""
    board = card.context.board
    slow = next(n for n, name in enumerate(board.nets) if name and n not in set(card.context.nets_of("pcie5").tolist()))
    finding = card.report.findings[0].model_copy(update={"places": (Location(net=board.nets[slow]),)})
    poured = set(board.zones.net.tolist())
    titles = drawing._titles(card.context, [finding])
    assert (slow in titles) is (slow not in poured)
    ground = card.report.findings[0].model_copy(update={"places": (Location(net="GND"),)})
    assert board.net_index["GND"] not in drawing._titles(card.context, [ground])


def test_a_board_without_extent_has_no_map(card: CheckUp) -> None:
    """Nothing is drawn of nothing, and the page has neither an empty section nor data for a view."""
    board = card.context.board
    none = np.zeros(0)
    bare = replace(
        board,
        outline=replace(board.outline, start=np.zeros(1, dtype=np.int64), x_mm=none, y_mm=none),
        tracks=replace(board.tracks, **{one.name: getattr(board.tracks, one.name)[:0] for one in fields(board.tracks)}),
    )
    assert board_map(replace(card.context, board=bare)) is None
    text = html.render([Checked(card.report, None, "0")])
    assert "From above" not in text
    assert 'view-data"' not in text.partition("<script>")[0]
    assert "application/json" not in text


def test_data_in_the_page_is_no_markup(card: CheckUp, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference ends no element, packed or not, and says the same either way."""
    found = drawn(card)
    hostile = replace(found, parts=(replace(found.parts[0], reference="</script><b>&U1"),))
    packed = payload(hostile, ())
    monkeypatch.setattr(map_payload, "LARGE", 10**9)
    plain = payload(hostile, ())
    assert scene(packed) == scene(plain)
    assert scene(plain)["parts"][0][0] == "</script><b>&U1"
    for text in (packed, plain):
        assert not set("<>&") & set(text)


def test_the_policy_allows_exactly_the_script_of_the_page(card: CheckUp) -> None:
    """Named by its hash; data elements run nothing."""
    text = page(card)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'; " in text
    assert text.count("<script") == 2


def test_the_page_of_a_board_stays_small(card: CheckUp) -> None:
    """The same board gives the same bytes, well below two megabytes."""
    text = page(card)
    assert text == page(card)
    assert len(text) < 500_000


def test_interfaces_keep_their_colours_in_drawing_and_legend() -> None:
    """Nets without an interface are drawn in the colour of text."""
    titles = ("NVLink 5", "PCIe Gen5")
    assert colour_of("NVLink 5", titles) != colour_of("PCIe Gen5", titles)
    assert colour_of("", titles) == "currentColor"
