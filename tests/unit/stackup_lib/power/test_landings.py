"""How pads reach planes: only over copper that joins them, with its width, and vias that they share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.kicad import read_board
from stackup_lib.power.over_frequency.landings import Landing, Landings

STACKUP = """
F.Cu 0.035
core 0.2 "370HR"
In1.Cu 0.035
prepreg 0.1 "370HR"
In2.Cu 0.035
core 0.2 "370HR"
B.Cu 0.035
"""
PLANE = frozenset({2})
NET = "VDD"


def pad(number: str = "1", x: float = 0, **changes: Any) -> dict[str, Any]:
    """A pad of the net, 0.5 mm wide along x."""
    return {"number": number, "net": NET, "at_mm": [x, 0], "size_mm": [0.5, 0.8], "shape": "rect"} | changes


def track(*path: list[float], width: float = 0.2, layer: str = "F.Cu") -> dict[str, Any]:
    return {"net": NET, "layer": layer, "width_mm": width, "path_mm": [*path]}


def via(x: float, y: float = 20, **changes: Any) -> dict[str, Any]:
    return {"net": NET, "at_mm": [x, y]} | changes


def landings(folder: Path, pads: list[dict[str, Any]], *, back: bool = False, **keys: Any) -> dict[int, Landing]:
    """The landings of all pads of a part at (10, 20) over a plane of the net on In2."""
    part = {"reference": "C1", "at_mm": [10, 20], "pads": pads, "side": "back" if back else "front"}
    mini = {"size_mm": [50, 40], "stackup": STACKUP, "planes": {"In2.Cu": NET}, "parts": [part]} | keys
    board = read_board(write(MiniBoard.model_validate(mini), folder, "board"))
    return Landings(CopperMap(board)).of(range(len(pads)), PLANE, back=back)


def test_a_via_that_no_copper_joins_is_not_the_pads(tmp_path: Path) -> None:
    """A track leads 3 mm to a via; another via lies 0.7 mm from the pad, and nothing joins it."""
    found = landings(tmp_path, [pad()], vias=[via(13), via(10, 20.7)], tracks=[track([10, 20], [13, 20])])
    assert (found[0].x_mm - 50, found[0].y_mm - 50) == pytest.approx((13, 20))
    assert found[0].length_mm == pytest.approx(3)
    assert landings(tmp_path / "none", [pad()], vias=[via(13), via(10, 20.7)]) == {}


def test_the_way_has_the_width_of_the_pad_and_then_of_each_track(tmp_path: Path) -> None:
    """0.25 mm in the pad, 1.75 mm of 0.2 mm, a corner, 1 mm of 0.4 mm."""
    tracks = [track([10, 20], [12, 20]), track([12, 20], [12, 21], width=0.4)]
    (step, *more) = landings(tmp_path, [pad()], vias=[via(12, 21)], tracks=tracks)[0].steps
    assert tuple(step) == pytest.approx((0.25, 0.5), abs=1e-4)
    assert [tuple(one) for one in more] == [pytest.approx((1.75, 0.2), abs=1e-4), pytest.approx((1.0, 0.4), abs=1e-4)]


def test_a_track_may_go_on_from_the_middle_of_another_and_from_pads_and_lands(tmp_path: Path) -> None:
    """Pad, 1 mm along a track that goes on to nothing, 1 mm down from there, through the pad of another part."""
    other = {"reference": "U1", "at_mm": [11, 21.5], "pads": [pad("7", size_mm=[0.4, 0.6])]}
    tracks = [track([10, 20], [14, 20]), track([11, 20], [11, 21.5]), track([11, 21.5], [12, 21.5])]
    own = {"reference": "C1", "at_mm": [10, 20], "pads": [pad()]}
    found = landings(tmp_path, [pad()], parts=[own, other], tracks=tracks, vias=[via(12, 21.5)])
    assert found[0].length_mm == pytest.approx(1 + 1.5 + 1)


def test_a_pad_drawn_off_its_position_begins_where_its_copper_is(tmp_path: Path) -> None:
    """The same copper stated in two ways has the same way of 1 mm, within the pad."""
    keys: dict[str, Any] = {"vias": [via(12)], "tracks": [track([11, 20], [12, 20])]}
    shifted = landings(tmp_path / "a", [pad(size_mm=[2.5, 0.5], shift_mm=[1, 0])], **keys)[0]
    placed = landings(tmp_path / "b", [pad(x=1, size_mm=[2.5, 0.5])], **keys)[0]
    assert shifted == placed
    assert [tuple(step) for step in placed.steps] == [pytest.approx((1.0, 0.5))]


@pytest.mark.parametrize(("height", "width"), [(4.0, 1.6), (0.8, 0.8)])
def test_a_fill_is_as_wide_as_it_is_where_the_current_spreads(tmp_path: Path, height: float, width: float) -> None:
    """0.5 mm of the pad and as much more as the way is long, 1.1 mm; in a strip of 0.8 mm no more than that."""
    fill = {"net": NET, "layer": "F.Cu", "rect_mm": [8, 20 - height / 2, 14, 20 + height / 2]}
    (step, *more) = landings(tmp_path, [pad()], vias=[via(11.1)], zones=[fill])[0].steps
    assert step.length_mm + sum(one.length_mm for one in more) == pytest.approx(1.1)
    assert step.width_mm == pytest.approx(width, rel=0.07)


def test_a_fill_that_the_pad_does_not_touch_joins_nothing(tmp_path: Path) -> None:
    fill = {"net": NET, "layer": "F.Cu", "rect_mm": [10.6, 15, 14, 25]}
    assert landings(tmp_path, [pad()], vias=[via(11.1)], zones=[fill]) == {}


def test_vias_close_behind_share_the_current(tmp_path: Path) -> None:
    """1 mm and 1.3 mm away count, 2 mm does not; a pad with a hole needs none."""
    drilled = pad("2", 8, kind="through", drill_mm=0.5, size_mm=[1, 1])
    tracks = [track([10, 20], [12, 20])]
    near, hole = landings(tmp_path, [pad(), drilled], vias=[via(11), via(11.3), via(12)], tracks=tracks).values()
    near, hole = sorted((near, hole), key=lambda one: one.x_mm)
    assert (near.length_mm, near.vias, near.barrel_mm) == pytest.approx((1.0, 2, 0.25))
    assert (hole.length_mm, hole.vias, hole.barrel_mm) == pytest.approx((0.0, 1, 0.55))


def test_each_pad_of_a_row_has_its_own_via(tmp_path: Path) -> None:
    """Five pads 0.9 mm apart in one fill, a via 0.6 mm above each: the neighbours' is theirs though it is near."""
    pads = [pad(str(k), 0.9 * k, size_mm=[0.5, 0.5]) for k in range(5)]
    fill = {"net": NET, "layer": "F.Cu", "rect_mm": [8, 17, 16, 23]}
    found = landings(tmp_path, pads, vias=[via(10 + 0.9 * k, 19.4) for k in range(5)], zones=[fill])
    assert [one.vias for one in found.values()] == [1.0] * 5


def test_pads_without_a_via_of_their_own_share_the_nearest(tmp_path: Path) -> None:
    """Pads at 0.5 and 1.5 mm from one via have half of it each; pads on both sides of it as well."""
    keys: dict[str, Any] = {"vias": [via(11.5)], "tracks": [track([10, 20], [11.5, 20])]}
    behind = landings(tmp_path / "a", [pad(), pad("2", 1, size_mm=[0.4, 0.4])], **keys)
    assert [one.vias for one in behind.values()] == [0.5, 0.5]
    tracks = [track([10, 20], [13, 20])]
    beside = landings(tmp_path / "b", [pad(), pad("2", 3)], vias=[via(11.5)], tracks=tracks)
    assert [one.vias for one in beside.values()] == [0.5, 0.5]


def test_a_microvia_above_the_plane_counts_only_with_what_goes_on_from_it(tmp_path: Path) -> None:
    """F.Cu to In1 with the plane on In2: alone no way; with a buried via on it one, 0.7 mm beside it one longer."""
    micro = via(11, kind="micro", span=["F.Cu", "In1.Cu"], size_mm=0.25, drill_mm=0.1)
    tracks = [track([10, 20], [11, 20])]
    assert landings(tmp_path / "a", [pad()], vias=[micro], tracks=tracks) == {}
    on_it = via(11, kind="blind", span=["In1.Cu", "In2.Cu"])
    stacked = landings(tmp_path / "b", [pad()], vias=[micro, on_it], tracks=tracks)[0]
    assert stacked.length_mm == pytest.approx(1.0)
    beside = via(11.7, kind="blind", span=["In1.Cu", "In2.Cu"])
    assert landings(tmp_path / "c", [pad()], vias=[micro, beside], tracks=tracks) == {}
    inner = track([11, 20], [11.7, 20], layer="In1.Cu")
    staggered = landings(tmp_path / "d", [pad()], vias=[micro, beside], tracks=[*tracks, inner])[0]
    assert staggered.length_mm == pytest.approx(1.7)
    assert staggered.layers == PLANE


def test_a_via_outside_of_the_plane_is_no_way_to_it(tmp_path: Path) -> None:
    zone = {"net": NET, "layer": "In2.Cu", "rect_mm": [13, 5, 45, 35]}
    keys: dict[str, Any] = {"planes": {}, "zones": [zone], "tracks": [track([10, 20], [15, 20])]}
    assert landings(tmp_path / "a", [pad()], vias=[via(11)], **keys) == {}
    farther = landings(tmp_path / "b", [pad()], vias=[via(11), via(15)], **keys)
    assert farther[0].length_mm == pytest.approx(5.0)


def test_on_the_bottom_the_copper_of_the_bottom_counts(tmp_path: Path) -> None:
    """The same track on F.Cu joins nothing there."""
    for layer, joined in (("B.Cu", True), ("F.Cu", False)):
        tracks = [track([10, 20], [11, 20], layer=layer)]
        found = landings(tmp_path / layer, [pad()], back=True, vias=[via(11)], tracks=tracks)
        assert bool(found) is joined


def test_a_custom_pad_reaches_as_far_as_its_shape(tmp_path: Path) -> None:
    """An anchor of 0.4 mm with an area to the right, on which a via lies 1 mm away."""
    area = [[-0.2, -0.2], [1.2, -0.2], [1.2, 0.2], [-0.2, 0.2]]
    custom = pad(size_mm=[0.4, 0.4], shape="circle", area_mm=area)
    assert landings(tmp_path, [custom], vias=[via(11)])[0].length_mm == pytest.approx(1.0)
