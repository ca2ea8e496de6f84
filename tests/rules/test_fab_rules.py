"""What FAB rules rest on: limits by tier, one's own fab, bow and weave against published closed forms."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely

from drc_rules.analysis.fabrication.hole_gaps import hole_gaps
from drc_rules.engine.check import check_board
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.limits import LimitName, limit_of, max_board_mm
from drc_rules.settings.config import parse_config
from drc_rules.settings.config_fab import FabDeclaration
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.core.errors import ConfigError
from stackup_lib.kicad import read_board
from stackup_lib.mechanical.bow import BowSheet, bow_pct, copper_bow_pct, curvature_per_mm
from tests.support.mini import mini_board, mini_file

LEAST: tuple[LimitName, ...] = (
    "drill_mm",
    "microvia_mm",
    "ring_mm",
    "microvia_ring_mm",
    "outer_track_mm",
    "dielectric_mm",
    "hole_to_copper_mm",
    "edge_to_copper_mm",
)


@pytest.mark.parametrize("name", LEAST)
def test_a_better_tier_never_makes_less(name: LimitName) -> None:
    """Least sizes fall from standard over advanced to best."""
    known = [limit_of(name, tier) for tier in (Tier.STANDARD, Tier.ADVANCED, Tier.BEST)]
    numbers = [value for value in known if value is not None]

    assert len(numbers) >= 2
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


def test_a_better_tier_builds_thicker_and_larger_boards() -> None:
    """Largest thickness and size grow with the tier; no document gives the best fabs' size."""
    thickness = [limit_of("thickness_mm", tier) or 0.0 for tier in (Tier.STANDARD, Tier.ADVANCED, Tier.BEST)]

    assert thickness == sorted(thickness)
    assert (max_board_mm(Tier.STANDARD) or (0, 0)) < (max_board_mm(Tier.ADVANCED) or (0, 0))
    assert max_board_mm(Tier.BEST) is None


def test_the_own_fab_states_tracks_by_copper_weight() -> None:
    """A weight that it does not state is left to the tiers."""
    fab = parse_config('[fab]\nname = "Ours"\n[fab.track_mm]\n"0.5" = 0.09\n"1" = 0.1\n').fab

    assert fab.name == "Ours"
    assert (fab.track_of(0.5), fab.track_of(1.0), fab.track_of(2.0)) == (0.09, 0.1, None)


def test_a_placeholder_of_the_own_fab_declares_nothing() -> None:
    """What init writes and is not filled in is as good as absent."""
    assert parse_config('[fab]\nring_mm = "?"\n').fab == FabDeclaration()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[fab]\nring = 0.1", 'did you mean "ring_mm"'),
        ("[fab.track_mm]\nthin = 0.1", "copper weights in oz"),
        ("[fab]\nhole_mm = -1", "give more than 0"),
    ],
)
def test_a_slip_in_the_own_fab_says_what_is_meant(text: str, complaint: str) -> None:
    """An unknown key, a weight that is none, a size that cannot be."""
    with pytest.raises(ConfigError, match=complaint):
        parse_config(text)


# Bow. Timoshenko, Analysis of bi-metal thermostats, 1925, equation 4.


def bimetal_curvature(h: tuple[float, float], e: tuple[float, float], strain: tuple[float, float]) -> float:
    m, n, total = h[0] / h[1], e[0] / e[1], sum(h)
    return (
        6 * (strain[1] - strain[0]) * (1 + m) ** 2 / (total * (3 * (1 + m) ** 2 + (1 + m * n) * (m**2 + 1 / (m * n))))
    )


@pytest.mark.parametrize("h", [(0.07, 1.5), (0.5, 0.5), (1.2, 0.1)])
@pytest.mark.parametrize("e", [(120.0, 25.0), (25.0, 120.0)])
def test_two_sheets_bend_as_timoshenko_says(h: tuple[float, float], e: tuple[float, float]) -> None:
    """His closed form for two strips, thick and thin, stiff and soft."""
    strain = (17e-6 * -150, 12e-6 * -150)

    assert curvature_per_mm(h, e, strain) == pytest.approx(bimetal_curvature(h, e, strain), rel=1e-9)


def test_a_mirrored_board_does_not_bow() -> None:
    """Whatever the materials are, equal copper on both sides pulls equally."""
    bow = copper_bow_pct(
        [BowSheet(0.035, 0.4), BowSheet(0.2), BowSheet(0.07, 0.9), BowSheet(0.2), BowSheet(0.035, 0.4)], 300
    )

    assert bow.high == pytest.approx(0.0, abs=1e-9)


def test_bow_is_in_proportion_to_the_length() -> None:
    """A shallow arc's height goes with the square of its chord, so its share with the chord."""
    sheets = [BowSheet(0.035, 0.9), BowSheet(1.0), BowSheet(0.035, 0.1)]

    assert copper_bow_pct(sheets, 200).high == pytest.approx(2 * copper_bow_pct(sheets, 100).high, rel=1e-3)


@pytest.mark.parametrize("board_mm", [1.0, 2.0])
def test_a_thin_film_bends_its_board_as_stoney_says(board_mm: float) -> None:
    """6 E_f h_f e / (E_s h_s^2), Stoney 1909 for equal strain both ways: twice the thickness, a quarter of the bow."""
    film_mm, film, board, strain = 0.0005, 180.0, 25.0, 0.001

    found = curvature_per_mm((film_mm, board_mm), (film, board), (strain, 0.0))

    assert abs(found) == pytest.approx(6 * film * film_mm * strain / (board * board_mm**2), rel=0.02)


def test_an_arc_of_known_radius_has_the_height_of_its_sagitta() -> None:
    """300 mm over a radius of 15 m: 0.75 mm, a quarter of a per cent."""
    assert bow_pct(1 / 15000, 300) == pytest.approx(100 * 0.75 / 300, rel=1e-3)


def test_a_laminate_may_expand_as_copper_does() -> None:
    """So the minimum bow of the interval is none, and the maximum is never certain."""
    bow = copper_bow_pct([BowSheet(0.07, 1.0), BowSheet(0.4), BowSheet(0.0175, 0.0)], 300)

    assert bow.low == 0.0
    assert bow.high > 0.75


# Holes against copper. Two witnesses: a geometry library on polygons, and the clearance that KiCad's own check keeps.


def test_the_gap_of_a_hole_is_what_polygons_say(tmp_path: Path) -> None:
    """Slanted and straight tracks and a plane with a slit, each against the distance of whole shapes."""
    tracks = [
        {"net": f"/T{k}", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[5 + 6 * k, 5], [5 + 6 * k + k, 15]]}
        for k in range(4)
    ]
    holes = [{"net": "/A", "at_mm": [5.25 + 6.5 * k, 10], "drill_mm": 0.2, "size_mm": 0.3} for k in range(4)]
    board = mini_board(
        tmp_path,
        {
            "size_mm": [60, 40],
            "copper_layers": 4,
            "tracks": tracks,
            "vias": holes,
            "zones": [{"net": "GND", "layer": "In2.Cu", "rect_mm": [0.5, 10.2, 59.5, 30]}],
        },
    )
    found = hole_gaps(CopperMap(board), reach_mm=3.0)
    assert found is not None

    lines = shapely.linestrings(
        np.stack(
            [
                np.column_stack([board.tracks.start_x_mm, board.tracks.start_y_mm]),
                np.column_stack([board.tracks.end_x_mm, board.tracks.end_y_mm]),
            ],
            axis=1,
        )
    )
    copper = list(shapely.buffer(lines, 0.1, quad_segs=64))
    zones = board.zones
    copper += [
        shapely.Polygon(np.column_stack([zones.fill_x_mm[a:b], zones.fill_y_mm[a:b]]))
        for a, b in pairwise(zones.fill_start.tolist())
    ]
    walls = shapely.buffer(shapely.points(board.vias.x_mm, board.vias.y_mm), 0.1, quad_segs=64)
    expected = [min(shapely.distance(wall, one) for one in copper) for wall in walls]

    assert len(copper) == 5
    assert found.gap_mm.tolist() == pytest.approx(expected, abs=2e-4)


@pytest.mark.slow
@pytest.mark.demo
@pytest.mark.parametrize(
    "board", ["cm5_minima/CM5_MINIMA_3", "vme-wren/vme-wren", "jetson-agx-thor-baseboard/jetson-agx-thor-baseboard"]
)
def test_no_hole_is_nearer_to_copper_than_the_rule_that_kicad_filled_the_zones_by(
    board: str, demo_boards: Path
) -> None:
    """The least gap is the project's own hole clearance, to a hundredth of a millimetre: no more, and never less."""
    path = demo_boards / f"{board}.kicad_pcb"
    rules = json.loads(path.with_suffix(".kicad_pro").read_text(encoding="utf-8"))["board"]["design_settings"]["rules"]

    found = hole_gaps(CopperMap(read_board(path)))

    assert found is not None
    assert rules["min_hole_clearance"] - 1e-4 <= float(np.min(found.gap_mm)) <= rules["min_hole_clearance"] + 0.01


@pytest.mark.parametrize("is_drawn", [True, False])
def test_copper_without_an_outline_is_a_share_of_nothing(tmp_path: Path, *, is_drawn: bool) -> None:
    """A plane on In1.Cu and nothing on In2.Cu; the room that the copper takes is no board."""
    path = mini_file(tmp_path, {"size_mm": [40, 30], "copper_layers": 4, "planes": {"In1.Cu": "GND"}})
    if not is_drawn:
        path.write_text(path.read_text().replace('"Edge.Cuts")', '"Dwgs.User")'))

    (found,) = (one for one in check_board(path).verdicts if one.clause.id == "board.copper.balance")

    assert found.verdict == ("failed" if is_drawn else "not verifiable")


def test_a_board_without_an_outline_has_no_edge_to_pass(tmp_path: Path) -> None:
    """Its rectangle is on Dwgs.User: neither copper to edge nor size is proven, and both ask for the outline."""
    track = {"net": "/A", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 5], [25, 5]]}
    path = mini_file(tmp_path, {"copper_layers": 2, "tracks": [track]})
    text = path.read_text(encoding="utf-8")
    assert text.count('(layer "Edge.Cuts")') == 1
    path.write_text(text.replace('(layer "Edge.Cuts")', '(layer "Dwgs.User")'), encoding="utf-8")

    verdicts = {v.clause.id: v for v in check_board(path).verdicts}

    for clause in ("board.fab.edge", "board.fab.edge_standard", "board.fab.size_standard"):
        assert verdicts[clause].verdict is Verdict.NOT_VERIFIABLE
        assert "outline" in verdicts[clause].missing[0].fact


@pytest.mark.parametrize(("shown", "verdict"), [(4, Verdict.PASSED), (3, Verdict.NOT_VERIFIABLE)])
def test_an_open_outline_passes_no_edge_clearance(tmp_path: Path, shown: int, verdict: Verdict) -> None:
    """A track 5 mm from every line: where a line of the outline is missing, nothing says where the board ends."""
    track = {"net": "/A", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 5], [25, 5]]}
    path = mini_file(tmp_path, {"copper_layers": 2, "size_mm": [40, 30], "tracks": [track]})
    corners = [(50, 50), (90, 50), (90, 80), (50, 80)]
    lines = [
        f'(gr_line (start {x} {y}) (end {u} {v}) (stroke (width 0.05) (type default)) (layer "Edge.Cuts"))'
        for (x, y), (u, v) in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    text = path.read_text(encoding="utf-8").replace('(layer "Edge.Cuts")', '(layer "Dwgs.User")')
    path.write_text(text.rstrip().removesuffix(")") + "\n".join(lines[:shown]) + "\n)", encoding="utf-8")

    verdicts = {v.clause.id: v for v in check_board(path).verdicts}

    assert verdicts["board.fab.edge_standard"].verdict is verdict
