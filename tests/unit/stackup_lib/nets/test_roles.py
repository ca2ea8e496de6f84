"""Layer roles come from filled copper, nets and tracks; plated holes know which layers use them."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board, Outline
from stackup_lib.board.default_stackup import is_untouched_default
from stackup_lib.board.layer_roles import LayerRole, is_ground, layer_uses, polygon_areas_mm2
from stackup_lib.copper.cuts.board_area import board_area_mm2
from stackup_lib.vias.plated_holes import copper_heights_mm, plated_holes, stubs
from tests.support.mini import mini_board

FOUR = '''
size_mm = [60, 40]
stackup = """
F.Cu 0.035
prepreg 0.1 "370HR"
In1.Cu 0.030
core 1.0 "370HR"
In2.Cu 0.030
prepreg 0.1 "370HR"
B.Cu 0.035
"""
'''


def mini(folder: Path, extra: str) -> Board:
    return mini_board(folder, tomllib.loads(FOUR + extra))


def test_a_ring_and_a_ring_with_a_slit_hole_have_their_true_area() -> None:
    """A 10 x 10 square is 100; with a 2 x 2 hole joined by a slit it is 96."""
    square_x, square_y = [0.0, 10, 10, 0], [0.0, 0, 10, 10]
    slit_x = [0.0, 10, 10, 0, 0, 4, 4, 6, 6, 4, 4, 0]
    slit_y = [0.0, 0, 10, 10, 5, 5, 6, 6, 4, 4, 5, 5]

    areas = polygon_areas_mm2(np.array(square_x + slit_x), np.array(square_y + slit_y), np.array([0, 4, 16]))

    assert areas.tolist() == pytest.approx([100.0, 96.0])


def test_planes_are_told_by_filled_copper_and_net_not_by_kicads_type(tmp_path: Path) -> None:
    """KiCad's type says signal everywhere; the fills say what the layers are."""
    board = mini(tmp_path, 'planes = { "In1.Cu" = "GND", "In2.Cu" = "+12V" }\n')

    roles = {use.name: use.role for use in layer_uses(board, board_area_mm2(board))}

    assert roles["In1.Cu"] is LayerRole.GROUND
    assert roles["In2.Cu"] is LayerRole.POWER
    assert roles["B.Cu"] is LayerRole.EMPTY
    assert {layer.kicad_type for layer in board.copper_layers} == {"signal"}


@pytest.mark.parametrize(("is_closed", "role"), [(True, LayerRole.GROUND), (False, LayerRole.SIGNAL)])
def test_a_plane_is_compared_with_what_the_outline_encloses_and_not_with_its_bounding_box(
    tmp_path: Path, is_closed: bool, role: LayerRole
) -> None:
    """A board 60 x 40 mm with an arm of 1 mm to the side: the box around both is nine times as large."""
    board = mini(tmp_path, 'planes = { "In1.Cu" = "GND" }\n')
    x, y = float(board.outline.x_mm.min()), float(board.outline.y_mm.min())
    arm = [(0, 0), (60, 0), (60, 20), (180, 20), (180, 120), (179, 120), (179, 21), (60, 21), (60, 40), (0, 40), (0, 0)]
    points = np.array(arm if is_closed else arm[:-1], dtype=np.float64)
    outline = Outline(np.array([0, len(points)]), points[:, 0] + x, points[:, 1] + y, np.array([-1]))
    around = dataclasses.replace(board, outline=outline)

    use = layer_uses(around, board_area_mm2(around))[1]

    assert use.ground_share == pytest.approx(59 * 39 / (60 * 40 + 219 if is_closed else 180 * 120), abs=0.01)
    assert use.role is role


def test_a_plane_with_many_tracks_is_mixed_and_few_tracks_leave_it_a_plane(tmp_path: Path) -> None:
    """Forty tracks across a plane make it mixed; one does not."""
    one = 'tracks = [{ net = "/A", layer = "In1.Cu", path_mm = [[5, 5], [20, 5]] }]\n'
    heights = [5 + i * 0.7 for i in range(40)]
    rows = ",".join(
        f'{{ net = "/A{y:g}", layer = "In1.Cu", width_mm = 0.2, path_mm = [[5, {y:g}], [55, {y:g}]] }}' for y in heights
    )
    planes = 'planes = { "In1.Cu" = "GND" }\n'

    few = layer_uses(mini(tmp_path / "few", planes + one), 60 * 40)[1]
    many = layer_uses(mini(tmp_path / "many", planes + f"tracks = [{rows}]\n"), 60 * 40)[1]

    assert few.role is LayerRole.GROUND
    assert many.role is LayerRole.MIXED
    assert many.track_mm == pytest.approx(40 * 50)


@pytest.mark.parametrize(
    "net",
    [
        *(
            "GND",
            "GROUND",
            "/power/GND",
            "AGND",
            "PGND",
            "GNDA",
            "VSS",
            "CHASSIS",
            "GND_EARTH",
            "DVSS",
            "GNDPWR",
            "GNDREF",
        ),
        *(
            "MOTOR_GND",
            "/USB_VGND",
            "USBGND",
            "ISO-GND",
            "24V_GND1",
            "0V",
            "0V_ISO",
            "0V1",
            "DIGITAL GND",
            "/High Side/VSSB",
            "SIGNAL_GROUND",
        ),
    ],
)
def test_ground_nets_are_recognised(net: str) -> None:
    """Whatever sheet they come from, as KiCad's power symbols are named, and after what they are the ground of."""
    assert is_ground(net)


@pytest.mark.parametrize(
    "net",
    [
        *("+3V3", "VCC", "/BACKGROUND", "/SIGNAL", "PGOOD", "/UART_TX", "VSSEL_EN", "GNDPWROK"),
        *("0V85", "0V8", "/power/0V75_CORE", "0V05"),
        *("USB_GND_DET", "Net-(J1-GND)", "unconnected-(U3-GND-Pad5)", "CAMPGND", "LEGEND"),
    ],
)
def test_other_nets_are_not_ground(net: str) -> None:
    """A word that only contains the letters is none."""
    assert not is_ground(net)


def test_copper_heights_add_up_from_the_first_copper_layer(tmp_path: Path) -> None:
    """Outer faces and inner middles: 0, 0.15, 1.18 and 1.33 for 35/100/30/1000/30/100/35 um."""
    stackup = mini(tmp_path, "").stackup

    assert stackup is not None
    assert copper_heights_mm(stackup) == pytest.approx((0.0, 0.15, 1.18, 1.33))


def test_the_unused_barrel_of_a_through_via_is_its_stub(tmp_path: Path) -> None:
    """A via from F.Cu to In1.Cu hangs 1.18 mm below In1; its backdrill is known."""
    board = mini(
        tmp_path,
        """
tracks = [
  { net = "/A", layer = "F.Cu", path_mm = [[5, 5], [10, 5]] },
  { net = "/A", layer = "In1.Cu", path_mm = [[10, 5], [30, 5]] },
]
vias = [
  { net = "/A", at_mm = [10, 5], backdrill = { size_mm = 0.5, from = "B.Cu", must_cut = "In2.Cu" } },
]
""",
    )
    assert board.stackup is not None

    holes = plated_holes(board, np.array([board.net_index["/A"]]))
    found = stubs(holes, copper_heights_mm(board.stackup))

    assert [hole.used for hole in holes] == [(0, 1)]
    assert [(s.first, s.side) for s in found] == [(1, 3)]
    assert found[0].length_mm == pytest.approx(1.18)
    assert holes[0].backdrills[0].must_cut == 2


@pytest.mark.parametrize("kind", ["default", "board setup default"])
@pytest.mark.parametrize(("layers", "thickness_mm"), [(2, 1.6), (4, 1.6), (6, 1.6), (8, 2.4), (10, 1.0)])
def test_kicads_default_stackups_are_recognised_for_any_count_and_thickness(
    tmp_path: Path, kind: str, layers: int, thickness_mm: float
) -> None:
    """A board without Board Setup, and one for which only the number of layers was picked."""
    text = {"stackup": kind, "copper_layers": layers, "thickness_mm": thickness_mm}
    board = mini_board(tmp_path, text)

    assert is_untouched_default(board)


def test_a_stackup_that_somebody_entered_is_no_default(tmp_path: Path) -> None:
    """Not even with KiCad's own FR4 numbers, when the heights differ."""
    stackup = """
F.Cu 0.035
prepreg 0.2 "FR4" dk=4.5 df=0.02
In1.Cu 0.035
core 1.24 "FR4" dk=4.5 df=0.02
In2.Cu 0.035
prepreg 0.2 "FR4" dk=4.5 df=0.02
B.Cu 0.035
"""
    board = mini_board(tmp_path, {"stackup": stackup})

    assert not is_untouched_default(board)
