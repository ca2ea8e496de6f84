"""Coupling of pairs that run side by side: which do, for how long, and how much."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.copper.coupling import pieces_of
from stackup_lib.copper.parallel_pairs import ParallelPairs, side_by_side
from stackup_lib.field_solver.sections import Mask
from stackup_lib.transmission_lines.lossy import solve_line
from stackup_lib.transmission_lines.pair_crosstalk import PairCoupling, pair_coupling
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from tests.support.mini import mini_board
from tests.support.physics.four_traces import Box, capacitances, coupling


def sheet(thickness_mm: float, dk: float) -> DielectricSheet:
    return DielectricSheet(name="a", kind="core", thickness_mm=thickness_mm, dk=dk)


def microstrip(height_mm: float, dk: float) -> TraceEnvironment:
    return TraceEnvironment(layer="F.Cu", reference_below="In1.Cu", below=(sheet(height_mm, dk),), copper_mm=0.001)


STRIPLINE = TraceEnvironment(
    layer="In2.Cu",
    reference_below="In3.Cu",
    reference_above="In1.Cu",
    below=(sheet(0.12, 4.0),),
    above=(sheet(0.12, 4.0),),
    copper_mm=0.0175,
)


def images(x_mm: list[float], height_mm: float, radius_mm: float) -> float:
    """Coupling of four thin wires over a plane by their images: mutual terms ln sqrt(1 + (2h/d)^2), own ln(2h/r)."""
    place = np.array(x_mm)
    apart = np.abs(place[:, None] - place)
    far = np.where(apart > 0, apart, 1.0)
    own = math.log(2 * height_mm / radius_mm)
    matrix = np.where(apart > 0, 0.5 * np.log(1 + (2 * height_mm / far) ** 2), own)
    modes = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    pair = modes @ matrix @ modes.T
    return float(pair[0, 1] / pair[0, 0])


@pytest.mark.parametrize("between_mm", [0.4, 0.8, 1.6])
def test_thin_traces_over_a_plane_in_air_couple_as_wires_do(between_mm: float) -> None:
    """A strip of width w is a wire of radius w/4; by images, inductive and capacitive alike."""
    found = pair_coupling(microstrip(0.5, 1.0), 0.01, (0.5, 0.5), between_mm)

    expected = images([0.0, 0.51, 0.52 + between_mm, 1.03 + between_mm], 0.5, 0.0025)
    assert found.inductive == pytest.approx(expected, rel=0.06)  # the plane is 0.5 mm under the base, strips are 1 um
    assert found.capacitive == pytest.approx(found.inductive, rel=1e-3)


def test_in_one_dielectric_nothing_reaches_the_far_end() -> None:
    """A stripline: both couplings are the same, and cancel."""
    found = pair_coupling(STRIPLINE, 0.1, (0.15, 0.15), 0.2)

    assert found.far_end(100, 16) == pytest.approx(0.0, abs=1e-4)
    assert found.delay_ps_per_mm == pytest.approx(2 / 0.299792458, rel=1e-3)


def test_a_microstrip_couples_to_its_far_end_in_proportion_to_its_length() -> None:
    """Part of its field is in air: less capacitive than inductive coupling."""
    found = pair_coupling(microstrip(0.12, 4.0), 0.18, (0.15, 0.15), 0.3)

    assert abs(found.inductive) > 1.5 * abs(found.capacitive)
    assert found.far_end(60, 8) == pytest.approx(2 * found.far_end(30, 8))


def test_coupling_dies_away_between_planes_as_their_lowest_mode() -> None:
    """The planes are 0.2575 mm apart, with the copper between the sheets: 0.24 mm more leave exp(-pi 0.24/0.2575)."""
    near, far = (abs(pair_coupling(STRIPLINE, 0.1, (0.15, 0.15), gap).inductive) for gap in (0.3, 0.54))

    assert far / near == pytest.approx(math.exp(-math.pi * 0.24 / 0.2575), rel=0.03)


def test_the_near_end_is_full_from_a_quarter_of_a_wavelength_on() -> None:
    """sin(2 pi f T): half of it at a twelfth of a wavelength; kL and kC of 2 % make 2 %."""
    coupling = PairCoupling(inductive=0.02, capacitive=0.02, delay_ps_per_mm=5.0)

    assert coupling.near_end(100, 10) == pytest.approx(0.02)
    assert coupling.near_end(1000 / 12 / 5.0, 1) == pytest.approx(0.01)


def by_finite_volumes(
    site: TraceEnvironment, width_mm: float, gaps_mm: tuple[float, float], between_mm: float
) -> tuple[float, float]:
    """The same coupling from the second source; two grids, as its error goes with the size of a cell."""
    lefts = np.cumsum([0.0, *(gap + width_mm for gap in (gaps_mm[0], between_mm, gaps_mm[1]))]).tolist()
    low = sum(one.thickness_mm for one in site.below)
    high = low + site.copper_mm
    traces = [Box(left, left + width_mm, low, high) for left in lefts]
    heights = np.cumsum([0.0, *(one.thickness_mm for one in site.sheets)])
    heights[len(site.below) + 1 :] += site.copper_mm
    sheets = [
        Box(-1e3, 1e3, one, other, sheet.dk)
        for one, other, sheet in zip(heights[:-1].tolist(), heights[1:].tolist(), site.sheets, strict=True)
    ]
    if mask := site.mask:
        sheets.append(Box(-1e3, 1e3, low, low + mask.on_laminate_mm, mask.er))
        over = mask.on_trace_mm
        sheets += [Box(one.left - over, one.right + over, low, high + over, mask.er) for one in traces]
    has_plane = site.reference_above is not None
    top = float(heights[-1]) if has_plane else 4 * lefts[-1]
    found = []
    for fine in (width_mm / 10, width_mm / 20):
        matrices = [
            capacitances(traces, of, top, plane_above=has_plane, fine_mm=fine)
            for of in ([Box(one.left, one.right, one.low, one.high) for one in sheets], sheets)
        ]
        found.append(np.array(coupling(*matrices)))
    inductive, capacitive = (2 * found[1] - found[0]).tolist()
    return inductive, capacitive


BETWEEN_UNLIKE = TraceEnvironment(
    layer="In2.Cu",
    reference_below="In3.Cu",
    reference_above="In1.Cu",
    below=(sheet(0.1, 3.5),),
    above=(sheet(0.3, 4.3),),
    copper_mm=0.03,
)
SOLID = microstrip(0.12, 4.0).model_copy(update={"copper_mm": 0.035})
MASKED = SOLID.model_copy(update={"mask": Mask(er=3.5, on_laminate_mm=0.02, on_trace_mm=0.02)})
HIGH = microstrip(0.3, 4.0).model_copy(update={"copper_mm": 0.03})


@pytest.mark.parametrize(
    ("site", "width_mm", "gaps_mm", "between_mm"),
    [
        (STRIPLINE, 0.1, (0.15, 0.15), 0.24),
        (BETWEEN_UNLIKE, 0.1, (0.1, 0.1), 0.2),
        (SOLID, 0.18, (0.15, 0.15), 0.24),
        (SOLID, 0.18, (0.15, 0.3), 0.24),
        (MASKED, 0.18, (0.15, 0.15), 0.48),
        (HIGH, 0.1, (0.05, 0.05), 0.3),
    ],
    ids=["stripline", "unlike sheets", "microstrip", "unlike gaps", "solder mask", "high over the plane"],
)
def test_two_pairs_couple_as_finite_volumes_say(
    site: TraceEnvironment, width_mm: float, gaps_mm: tuple[float, float], between_mm: float
) -> None:
    """The four traces at once, gaps unlike or alike, thick copper next to each other."""
    found = pair_coupling(site, width_mm, gaps_mm, between_mm)

    inductive, capacitive = by_finite_volumes(site, width_mm, gaps_mm, between_mm)
    assert found.inductive == pytest.approx(inductive, rel=0.015)
    assert found.capacitive == pytest.approx(capacitive, rel=0.015)


def adjacent(folder: Path, pairs: str, reach_mm: float = 1.0) -> tuple[ParallelPairs, ...]:
    """Pairs /A and /B on F.Cu: groups 0 and 1."""
    board = mini_board(folder, tomllib.loads("copper_layers = 2\n" + pairs))
    pieces = pieces_of(board, np.flatnonzero(board.tracks.layer == 0))
    group = np.array([board.nets[net].startswith("/B") for net in pieces.net.tolist()], dtype=np.int64)
    return side_by_side(pieces, group, reach_mm)


def pair(name: str, *path: tuple[float, float], layer: str = "F.Cu") -> str:
    points = [list(point) for point in path]
    nets = [f"/{name}_P", f"/{name}_N"]
    return f'[[pairs]]\nnets = {nets}\nlayer = "{layer}"\nwidth_mm = 0.1\ngap_mm = 0.15\npath_mm = {points}\n'


def test_two_pairs_run_side_by_side_as_far_as_both_go(tmp_path: Path) -> None:
    """Centres 0.75 mm apart, 0.35 mm to either pair's outer edge: 0.4 mm between them, for 20 of 40 mm."""
    (found,) = adjacent(tmp_path, pair("A", (10, 10), (50, 10)) + pair("B", (30, 10.75), (70, 10.75)))

    assert (found.first, found.second) == (0, 1)
    assert found.gap_over_mm(5.0) == pytest.approx(0.4, abs=1e-6)
    assert found.length_within_mm(0.41) == pytest.approx(20.0, abs=1.0)
    assert found.gap_over_mm(30.0) is None


def test_pairs_that_cross_or_lie_farther_apart_do_not_run_side_by_side(tmp_path: Path) -> None:
    """At a right angle; and 2 mm apart with a reach of 1 mm."""
    crossing = pair("A", (10, 10), (50, 10)) + pair("B", (30, 1), (30, 30))
    apart = pair("A", (10, 10), (50, 10)) + pair("B", (10, 12.5), (50, 12.5))

    assert adjacent(tmp_path / "crossing", crossing) == ()
    assert adjacent(tmp_path / "apart", apart) == ()


def test_a_pair_that_comes_nearer_has_the_gap_of_its_nearest_stretch(tmp_path: Path) -> None:
    """10 mm at 0.4 mm, then 20 mm at 0.6: over 8 mm they are 0.4 mm apart, over 25 mm 0.6."""
    bent = pair("B", (10, 10.75), (20, 10.75), (20.2, 10.95), (40, 10.95))
    (found,) = adjacent(tmp_path, pair("A", (10, 10), (40, 10)) + bent)

    assert found.gap_over_mm(8.0) == pytest.approx(0.4, abs=0.01)
    assert found.gap_over_mm(25.0) == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize("start_mm", [10.0, 10.2, 10.4, 10.6, 10.8])
def test_no_gap_is_less_than_that_of_the_copper_where_a_pair_bends_away(start_mm: float, tmp_path: Path) -> None:
    """Both 0.4 mm apart until one bends away by 8 degrees: its bent piece's line would come nearer, the piece not."""
    bent = pair("B", (10, 10.75), (20, 10.75), (40, 10.75 + 20 * float(np.tan(np.radians(8)))))
    (found,) = adjacent(tmp_path, pair("A", (start_mm, 10), (40, 10)) + bent)

    assert found.gap_mm.min() == pytest.approx(0.4, abs=1e-3)


def test_far_apart_unlike_traces_have_the_sum_of_their_impedances() -> None:
    """And near each other less, the same whichever of them comes first."""
    alone = [solve_line(STRIPLINE, width).impedance_ohm for width in (0.1, 0.2)]
    far = solve_line(STRIPLINE, 0.1, 3.0, other_mm=0.2).impedance_ohm
    near = [solve_line(STRIPLINE, one, 0.15, other_mm=two).impedance_ohm for one, two in ((0.1, 0.2), (0.2, 0.1))]

    assert far == pytest.approx(sum(alone), rel=1e-3)
    assert near[0] == pytest.approx(near[1], rel=1e-3)
    assert near[0] < far
