"""The delay of links from end to end, against a 3-D solution and against values worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from drc_rules.analysis.delay.delay_table import delay_table
from drc_rules.analysis.delay.trace_delay import climb_ps
from drc_rules.analysis.delay.via_delay import Climb, climb_of
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.report.delay_rows import DelayGroup, LinkDelay
from drc_rules.settings.config import parse_config
from fixtures.miniboard import MiniBoard, write
from stackup_lib.kicad import read_board
from stackup_lib.nets.routing.routes import Crossing
from tests.support.mini import mini_context

OPENEMS = """
mask 0.01
F.Cu 0.035
prepreg 0.12 "FR4" dk=4.18
In1.Cu 0.035
core 1.2 "FR4" dk=4.18
In2.Cu 0.035
prepreg 0.12 "FR4" dk=4.18
B.Cu 0.035
mask 0.01
"""
"""Stackup of Antmicro's signal-integrity test board, 50 ohm on the outer layers at 0.185 mm."""


def table(folder: Path, nets: dict[str, float], config: str, **more: object) -> tuple[DelayGroup, ...]:
    """Straight tracks on F.Cu from U1 to J1, 3 mm apart, each as long as said."""
    y_mm = 5.0
    u1 = [{"number": str(k), "net": n, "size_mm": (0.2, 0.2), "at_mm": (0, 3 * k)} for k, n in enumerate(nets)]
    j1 = [
        {"number": str(k), "net": net, "size_mm": (0.2, 0.2), "at_mm": (length, 3 * k)}
        for k, (net, length) in enumerate(nets.items())
    ]
    for pads in (u1, j1):  # a part of two pads might be one in series
        pads.append({"number": "G", "net": "GND", "size_mm": (0.2, 0.2), "at_mm": (-2, 0)})
    board = MiniBoard.model_validate(
        {
            "size_mm": (120, 60),
            "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
            "stackup": OPENEMS,
            "config": config,
            "parts": [
                {"reference": "U1", "at_mm": (5, y_mm), "pads": u1},
                {"reference": "J1", "at_mm": (5, y_mm), "pads": j1},
            ],
            "tracks": [
                {
                    "net": net,
                    "layer": "F.Cu",
                    "width_mm": 0.185,
                    "path_mm": ((5, y_mm + 3 * k), (5 + length, y_mm + 3 * k)),
                }
                for k, (net, length) in enumerate(nets.items())
            ],
            **more,
        }
    )
    context, _, _ = prepare(read_board(write(board, folder, "delays")), parse_config(config), Overrides())
    return context.get(delay_table)


def test_a_microstrip_is_as_late_as_a_3d_solver_says(tmp_path: Path) -> None:
    """ANT-PASS of Antmicro's test board by openEMS: 45.405 mm in 268.0 ps between 1 and 4 GHz, +-2 %.

    Ours is 2.5 % later, with a mask and an etch factor that the 3-D model has not; its range holds theirs.
    """
    config = '[[interface]]\nis = "ddr4"\nnets = ["/DDR_*"]\n'
    (group,) = table(tmp_path, {"/DDR_DQ0": 45.405, "/DDR_DQ1": 55.0}, config)
    late, early = group.links

    assert early.tracks_mm == pytest.approx(45.405, abs=1e-3)
    assert early.delay_ps.low < 268.0 < early.delay_ps.nominal < 1.03 * 268.0 < early.delay_ps.high
    assert late.delay_ps.nominal / early.delay_ps.nominal == pytest.approx(55 / 45.405, rel=1e-3)
    assert group.spread_ps == pytest.approx(late.delay_ps.nominal - early.delay_ps.nominal)
    assert late.skew_ps is None
    assert late.layers[0][0] == "F.Cu"


def test_a_via_through_four_layers_is_as_late_as_a_3d_solver_says(tmp_path: Path) -> None:
    """ANT-LC1 and ANT-LC2 by openEMS: 29.4 and 29.5 ps for the layer changes of a link, two vias if it has two.

    The data state neither the vias' sizes nor where return vias are: usual ones, 14 % less. Vias of which both are
    known are within 10 %, `tests/physics/test_openems_vias.py`.
    """
    board = {"size_mm": (20, 20), "planes": {"In1.Cu": "GND", "In2.Cu": "GND"}, "stackup": OPENEMS}
    usual = Climb(0, 3, 0, 3, drill_mm=0.2, pad_mm=0.45, has_all_pads=True, clearance_mm=0.2)
    unknown = Climb(0, 3, 0, 3, drill_mm=math.nan, pad_mm=math.nan, has_all_pads=True, clearance_mm=0.2)
    ctx = mini_context(tmp_path, board)
    one, other = (climb_ps(ctx, [climb]) for climb in (usual, unknown))

    assert one.low < 29.4 / 2 < 29.5 / 2 < one.high
    assert one.nominal == pytest.approx(29.4 / 2, rel=0.15)
    assert (other.low, other.nominal, other.high) == pytest.approx((10.8, 13.2, 16.0), abs=0.05)
    assert climb_ps(ctx, [usual, usual], [usual]).nominal == one.nominal
    assert climb_ps(ctx, [usual], [usual]).high == 0.0


def test_a_barrel_ends_where_a_backdrill_ends_that_file_or_settings_state(tmp_path: Path) -> None:
    """From F.Cu to In1: the barrel is left whole, cut behind In1, or cut from the wrong side, which leaves In1 on."""
    drill: dict[str, object] = {"size_mm": 0.45, "from": "B.Cu", "must_cut": "In2.Cu"}
    said = '[[backdrill]]\nnets = ["/A"]\nfrom = "B.Cu"\nmust_cut = "In2.Cu"\n'

    def ends(config: str = "", **via: object) -> tuple[int, int]:
        row = {"net": "/A", "at_mm": (10, 10), "size_mm": 0.45, "drill_mm": 0.2, **via}
        ctx = mini_context(tmp_path, {"size_mm": (20, 20), "stackup": OPENEMS, "vias": [row]}, config)
        climb = climb_of(ctx, Crossing(via=0, entry_layer=0, exit_layer=1, at_mm=0.0))
        assert climb is not None
        return climb.top, climb.bottom

    assert ends() == (0, 3)
    assert ends(backdrill=drill) == (0, 1)
    assert ends(said) == (0, 1)
    assert ends(said.replace("/A", "/B")) == (0, 3)
    assert ends(said.replace("In2", "B"), backdrill=drill) == (0, 2)
    assert ends(said, backdrill={**drill, "must_cut": "B.Cu"}) == (0, 2)
    assert ends(backdrill={**drill, "size_mm": 0.2}) == (0, 3)
    assert ends(backdrill={**drill, "from": "F.Cu", "must_cut": "F.Cu"}) == (0, 3)


def test_ports_stand_apart_and_pairs_count_once(tmp_path: Path) -> None:
    """Two cameras with lanes and clock are two groups; P minus N is the skew of a lane."""
    lanes = {
        f"/CSI{port}_{lane}_{sign}": 30.0 + port + (0.5 if lane == "D1" and sign == "P" else 0.0)
        for port in (0, 1)
        for lane in ("D0", "D1", "CLK")
        for sign in "PN"
    }
    config = '[[interface]]\nis = "mipi-dphy"\nnets = ["/CSI*"]\n'

    groups = table(tmp_path, lanes, config)

    assert [(one.by, len(one.links)) for one in groups] == [("/CSI0", 3), ("/CSI1", 3)]
    by_name = {one.name: one for one in groups[0].links}
    skewed = by_name["/CSI0_D1"]
    assert skewed.skew_ps == pytest.approx(0.5 * skewed.lines_ps / skewed.tracks_mm, rel=1e-3)
    assert by_name["/CSI0_CLK"].skew_ps == pytest.approx(0.0, abs=1e-6)
    assert groups[0].links[0] is skewed


def test_a_net_that_ends_nowhere_has_no_delay_and_says_so(tmp_path: Path) -> None:
    config = '[[interface]]\nis = "ddr4"\nnets = ["/DDR_*"]\n'
    nets = {"/DDR_DQ0": 20.0, "/DDR_DQ1": 21.0}
    board = tmp_path / "delays.kicad_pcb"
    table(tmp_path, nets, config)
    text = next(tmp_path.rglob("*.kicad_pcb")).read_text(encoding="utf-8")
    at = text.index("(end ", text.index("(segment", text.index("(segment") + 1))
    x_mm = float(text[at:].split()[1])
    board.write_text(f"{text[:at]}(end {x_mm - 6:g}{text[at:].removeprefix(f'(end {x_mm:g}')}", encoding="utf-8")

    context, _, _ = prepare(read_board(board), parse_config(config), Overrides())
    (group,) = context.get(delay_table)

    assert [one.name for one in group.links] == ["/DDR_DQ0"]
    ((name, why),) = group.open_links
    assert name == "/DDR_DQ1"
    assert "route" in why


def test_what_has_no_plane_is_told_and_takes_anything_from_air_to_laminate(tmp_path: Path) -> None:
    """60 mm, of which 30 without a plane: up to 30 (5.7 - 3.3) ps less and 30 (6.8 - 5.7) ps more, and 5 % of the rest.

    3.336 ps/mm in air, 6.82 ps/mm in Dk 4.18.
    """
    nets = {"/DDR_DQ0": 60.0, "/DDR_DQ1": 60.0}
    config = '[[interface]]\nis = "ddr4"\nnets = ["/DDR_*"]\n'

    def links(**planes: object) -> dict[str, LinkDelay]:
        (group,) = table(tmp_path, nets, config, **planes)
        return {one.name: one for one in group.links}

    over = links()["/DDR_DQ0"]
    zones = [
        {"net": "GND", "layer": "In1.Cu", "rect_mm": [1, 1, 119, 6.5]},
        {"net": "GND", "layer": "In1.Cu", "rect_mm": [35, 6.5, 119, 59]},
    ]
    half = links(planes={}, zones=zones)
    one, same = half["/DDR_DQ1"], half["/DDR_DQ0"]

    assert over.no_plane_mm == same.no_plane_mm == 0.0
    assert one.no_plane_mm == pytest.approx(30.0, abs=0.6)
    assert one.delay_ps.nominal == pytest.approx(same.delay_ps.nominal, rel=0.01)
    each = one.lines_ps / 60
    assert one.delay_ps.nominal - one.delay_ps.low == pytest.approx(30 * (each - 3.336) + 30 * 0.05 * each, rel=0.02)
    assert one.delay_ps.high - one.delay_ps.nominal == pytest.approx(30 * (6.82 - each) + 30 * 0.05 * each, rel=0.03)
    assert "reference plane" in one.unsure
    assert not same.unsure


def test_the_ring_around_a_hole_is_no_missing_plane(tmp_path: Path) -> None:
    """A via in the middle of the track, and the antipad around it; a gap of 3 mm counts, and is no guess."""
    config = '[[interface]]\nis = "ddr4"\nnets = ["/DDR_*"]\n'
    nets = {"/DDR_DQ0": 60.0}
    via = {"net": "/DDR_DQ0", "at_mm": (30, 5), "size_mm": 0.45, "drill_mm": 0.2}
    (group,) = table(tmp_path, nets, config, vias=[via])
    assert group.links[0].no_plane_mm == 0.0

    gap = [{"net": "GND", "layer": "In1.Cu", "rect_mm": [x, 1, x + 50, 59]} for x in (1, 54)]
    (group,) = table(tmp_path, nets, config, planes={}, zones=gap)
    assert group.links[0].no_plane_mm == pytest.approx(3.0, abs=1.0)
    assert not group.links[0].unsure


def test_two_ways_leave_a_delay_open_up_to_the_longer_one(tmp_path: Path) -> None:
    """A loop of 4 and 8 mm: the link is computed by the shorter way, and may be 4 mm longer; the other net is sure."""
    data = {
        "size_mm": (80, 40),
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": OPENEMS,
        "parts": [
            {"reference": ref, "at_mm": (x, 5), "pads": [{"number": "1", "net": "/DDR4_DQ0", "size_mm": (0.2, 0.2)},
             {"number": "2", "net": "/DDR4_DQ1", "size_mm": (0.2, 0.2), "at_mm": (0, 10)},
             {"number": "3", "net": "GND", "size_mm": (0.2, 0.2), "at_mm": (0, 20)}]}
            for ref, x in (("U1", 5), ("U2", 45))
        ],
        "tracks": [
            {"net": "/DDR4_DQ0", "layer": "F.Cu", "width_mm": 0.185, "path_mm": [(5, 5), (45, 5)]},
            {"net": "/DDR4_DQ0", "layer": "F.Cu", "width_mm": 0.185, "path_mm": [(20, 5), (20, 7), (24, 7), (24, 5)]},
            {"net": "/DDR4_DQ1", "layer": "F.Cu", "width_mm": 0.185, "path_mm": [(5, 15), (45, 15)]},
        ],
    }  # fmt: skip
    (group,) = delay_table(mini_context(tmp_path, data, '[[interface]]\nis = "ddr4"\nnets = ["/DDR4_*"]\n'))
    looped, plain = sorted(group.links, key=lambda one: one.name)

    assert looped.tracks_mm == pytest.approx(40, abs=0.01)
    assert "which way a signal on /DDR4_DQ0 takes: its tracks form a loop of 4.00 and 8.00 mm" in looped.unsure
    more_ps = looped.delay_ps.high - plain.delay_ps.high
    assert more_ps == pytest.approx(4 * looped.lines_ps / 40, rel=0.02)
    assert plain.unsure == ""
