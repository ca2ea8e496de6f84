"""The sheet solver against closed forms: bounds that hold the exact value, convergence, symmetry, barrels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import shapely
from shapely import Geometry, affinity

from stackup_lib.core.interval import Interval
from stackup_lib.power.copper import octagon_radius_mm
from stackup_lib.power.rail_drop.flow import Ways
from stackup_lib.power.rail_drop.mesh import MeshFailed, make_mesh, refine_mesh
from stackup_lib.power.rail_drop.sheets import (
    Barrel,
    Contact,
    CopperSheet,
    NotJoined,
    Precision,
    SheetNetwork,
    solve_sheets,
)
from tests.support.physics.closed_forms import lattice_squares
from tests.support.physics.power_sheets import CASES, FINE, Case, bar, circle, ends, network, solve


def octagon(x: float, y: float, radius_mm: float) -> Geometry:
    turn = (np.arange(8) + 0.5) * np.pi / 4
    corner = octagon_radius_mm(radius_mm)
    return shapely.Polygon(np.column_stack([x + corner * np.cos(turn), y + corner * np.sin(turn)]))


def holds(bounds: Interval, exact: float, share: float = 0.0) -> bool:
    """Tell whether bounds hold a value that is known to so large a share of it, rounding aside."""
    slack = exact * (share + 1e-9)
    return bounds.low - slack <= exact <= bounds.high + slack


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_closed_forms_lie_within_the_bounds_and_one_per_cent_of_the_middle(name: str) -> None:
    """Strip, corner, ring, two contacts, step, neck and slit, each exact by another author's formula."""
    case = CASES[name]
    drop = solve(case).drops_v[0]

    assert holds(drop, case.squares, case.outline)
    assert drop.nominal == pytest.approx(case.squares, rel=0.01)
    assert drop.high - drop.low <= 0.005 * drop.nominal


@pytest.mark.parametrize("name", ["corner", "ring", "neck", "slit"])
def test_coarse_bounds_hold_the_exact_value_as_well(name: str) -> None:
    """One mesh that is far too coarse: the bounds are wide, and still true."""
    case = CASES[name]
    drop = solve(case, Precision(step_mm=4.0, most_passes=1)).drops_v[0]

    assert holds(drop, case.squares, case.outline)
    assert drop.high - drop.low > 0.01 * drop.nominal


def test_the_bounds_close_as_the_mesh_is_halved() -> None:
    """The flow turns around an inner corner of 270 degrees: theory has both errors fall as h^(4/3), 2.5 per halving."""
    case = CASES["corner"]
    solved = [solve(case, Precision(step_mm=0.5 / 2**k, most_passes=1)).drops_v[0] for k in range(4)]
    widths = [drop.high - drop.low for drop in solved]

    assert all(holds(drop, case.squares, case.outline) for drop in solved)
    for coarse, fine in itertools.pairwise(widths):
        assert coarse / fine == pytest.approx(2 ** (4 / 3), rel=0.2)


def test_refining_where_the_bounds_differ_needs_fewer_points_than_refining_everywhere() -> None:
    """At an inner corner the same width of the bounds costs a tenth of the points."""
    case = CASES["corner"]
    even = solve(case, Precision(step_mm=0.5 / 8, most_passes=1))
    width = even.power_w.high - even.power_w.low
    graded = solve(case, Precision(step_mm=0.5, gap=width / even.power_w.nominal))

    assert graded.power_w.high - graded.power_w.low <= width
    assert graded.points < even.points / 5


@pytest.mark.parametrize("name", ["corner", "neck"])
def test_a_turned_or_mirrored_sheet_has_the_same_resistance(name: str) -> None:
    """By 90 degrees, by 37 degrees, in a mirror, moved far from the origin."""
    case = CASES[name]
    for turn, mirror, shift in ((90, 1, 0), (37, 1, 0), (0, -1, 0), (0, 1, 297.3)):
        copper, source, load = (
            affinity.translate(affinity.scale(affinity.rotate(g, turn, origin=(0, 0)), mirror, 1, origin=(0, 0)), shift)
            for g in case[:3]
        )
        drop = solve(Case(copper, source, load, case.squares, case.outline)).drops_v[0]
        assert holds(drop, case.squares, 1e-5)
        assert drop.nominal == pytest.approx(case.squares, rel=0.002)


def test_a_sheet_in_pieces_that_touch_is_the_sheet() -> None:
    """Ten overlapping pieces of a strip, joined."""
    pieces = shapely.union_all([bar(0.4 * k, 1, 0.4 * k + 0.5) for k in range(10)])
    drop = solve_sheets(network(pieces, *ends(0, 4.1)), FINE).drops_v[0]

    assert drop.nominal == pytest.approx(4.1, rel=1e-6)


def test_drops_grow_with_sheet_resistance_and_current() -> None:
    """Ohm's law: 2 A through 4 squares of 0.5 milliohm."""
    case = CASES["strip"]
    sheet = SheetNetwork(
        [CopperSheet(case.area, 0.5e-3)], [Contact(0, case.source, 0), Contact(0, case.load, 1)], [], 0, [(1, 2.0)]
    )
    solution = solve_sheets(sheet)

    assert solution.drops_v[0].nominal == pytest.approx(4e-3)
    assert solution.power_w.nominal == pytest.approx(8e-3)
    assert sum(solution.sheet_power_w) == pytest.approx(8e-3)


def test_two_loads_share_the_copper_that_both_use() -> None:
    """Contacts across a strip at 1, 2 and 3 squares: 1 A and 2 A drop 3 and 5 sheet resistances; power is their sum."""
    loads = bar(1, 10, 2), bar(3, 10, 4)
    sheet = SheetNetwork(
        [CopperSheet(bar(0, 1, 3.5), 1.0)],
        [Contact(0, bar(-1, 10, 0), 0), Contact(0, loads[0], 1), Contact(0, loads[1], 2)],
        [],
        0,
        [(1, 1.0), (2, 2.0)],
    )
    solution = solve_sheets(sheet)

    assert [drop.nominal for drop in solution.drops_v] == pytest.approx([3.0, 5.0])
    assert solution.power_w.nominal == pytest.approx(1 * 3 + 2 * 5)


@pytest.mark.slow
def test_the_bounds_of_one_load_hold_what_a_fine_mesh_gives_while_others_draw() -> None:
    """Three round loads on a disc: each coarse interval meets each fine one, and the fine ones are narrower."""
    spots = [(0.0, 6.0, 3.0), (5.0, -3.0, 1.0), (-5.0, -3.0, 0.2)]
    contacts = [Contact(0, circle(0, 0.5), 0)]
    contacts += [Contact(0, octagon(x, y, 0.4), 1 + i) for i, (x, y, _) in enumerate(spots)]
    disc = SheetNetwork(
        [CopperSheet(circle(0, 9), 1.0)], contacts, [], 0, [(1 + i, a) for i, (_, _, a) in enumerate(spots)]
    )
    coarse = solve_sheets(disc, Precision(step_mm=3, most_passes=1))
    fine = solve_sheets(disc, Precision(step_mm=1, gap=0.002))

    for wide, narrow in zip(coarse.drops_v, fine.drops_v, strict=True):
        assert wide.low <= narrow.nominal <= wide.high
        assert narrow.high - narrow.low < 0.2 * (wide.high - wide.low)


def test_the_drop_at_a_load_is_told_by_what_lies_on_its_own_way() -> None:
    """2 squares of a first sheet to load 1, whose 1 A and 2 A share them; a barrel and 3 squares more to load 2."""
    sheet = SheetNetwork(
        [CopperSheet(bar(0, 1, 2), 1.0), CopperSheet(bar(5, 1, 8), 1.0)],
        [
            Contact(0, ends(0, 2, 1)[0], 0),
            Contact(0, ends(0, 2, 1)[1], 1),
            Contact(1, ends(5, 8, 1)[0], 2),
            Contact(1, ends(5, 8, 1)[1], 3),
        ],
        [Barrel(1, 2, 0.1)],
        0,
        [(1, 1.0), (3, 2.0)],
    )
    solution = solve_sheets(sheet)

    assert solution.parts_v == pytest.approx(np.array([[6.0, 0.0, 0.0], [6.0, 6.0, 0.2]]), abs=1e-9)
    assert solution.parts_v.sum(axis=1) == pytest.approx([drop.nominal for drop in solution.drops_v])


def test_barrels_add_to_the_sheets_in_series_and_halve_in_parallel() -> None:
    """Two strips of two squares, one over the other, joined at their ends by two barrels of 3 ohm each."""
    left, right = ends(0, 2)
    joined = SheetNetwork(
        [CopperSheet(bar(0, 1, 2), 1.0), CopperSheet(bar(0, 1, 2), 1.0)],
        [Contact(0, left, 0), Contact(0, right, 1), Contact(1, right, 2), Contact(1, left, 3)],
        [Barrel(1, 2, 3.0), Barrel(1, 2, 3.0)],
        0,
        [(3, 2.0)],
    )
    solution = solve_sheets(joined)

    assert solution.drops_v[0].nominal == pytest.approx(2 * (2 + 1.5 + 2))
    assert solution.barrel_current_a.tolist() == pytest.approx([1.0, 1.0])
    assert solution.barrel_power_w == pytest.approx(6.0)
    assert [step.node for step in Ways(solution).to(3) if step.node >= 0] == [
        int(solution.node_of[node]) for node in (3, 2, 1, 0)
    ]


def test_a_field_of_vias_between_two_planes_is_a_leaky_line() -> None:
    """16 x 4 vias join two planes, fed at one edge of the upper, drawn at the far edge of the lower.

    The mean of the potentials falls as on both planes in parallel; their difference decays from both edges over
    lambda = 1/sqrt(2 g Rs), with g the conductance of a cell per area: barrel and spreading in both planes (Hasimoto).
    Contacts on a share f of the area make a plane (1 - f)/(1 + f) times as resistive (Maxwell, Treatise, art. 314).
    """
    pitch, radius, ohm, columns, rows = 2.0, 0.15, 10.0, 16, 4
    length, width = columns * pitch, rows * pitch
    plane = shapely.box(0, 0, length, width)
    contacts = [Contact(0, shapely.box(-1, 0, 0, width), 0), Contact(1, shapely.box(length, 0, length + 1, width), 1)]
    barrels = []
    for k in range(columns * rows):
        spot = octagon((k % columns + 0.5) * pitch, (k // columns + 0.5) * pitch, radius)
        contacts += [Contact(0, spot, 2 + 2 * k), Contact(1, spot, 3 + 2 * k)]
        barrels.append(Barrel(2 + 2 * k, 3 + 2 * k, ohm))
    joined = SheetNetwork([CopperSheet(plane, 1.0), CopperSheet(plane, 1.0)], contacts, barrels, 0, [(1, 1.0)])
    solution = solve_sheets(joined, Precision(step_mm=1.0, gap=0.01))
    leak = 1 / (pitch**2 * (ohm + 2 * lattice_squares(pitch, radius)))
    share = math.pi * (radius / pitch) ** 2
    ohm_square = (1 - share) / (1 + share)
    decay = 1 / math.sqrt(2 * leak * ohm_square)
    expected = ohm_square * (length / (2 * width) + decay / width / math.tanh(length / (2 * decay)))

    assert solution.drops_v[0].nominal == pytest.approx(expected, rel=0.01)
    assert solution.barrel_current_a.sum() == pytest.approx(1.0)


def test_contacts_that_touch_are_one() -> None:
    """A load that overlaps the source drops nothing; one next to it drops the strip between."""
    strip = bar(0, 1, 4)
    overlapping = [Contact(0, bar(-1, 10, 0), 0), Contact(0, bar(-0.5, 10, 1), 1), Contact(0, bar(3, 10, 5), 2)]
    solution = solve_sheets(SheetNetwork([CopperSheet(strip, 1.0)], overlapping, [], 0, [(1, 5.0), (2, 1.0)]))

    assert [drop.nominal for drop in solution.drops_v] == pytest.approx([0.0, 2.0], abs=1e-9)


def test_copper_that_meets_in_a_point_does_not_conduct() -> None:
    """Two squares that share a corner."""
    squares = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(1, 1, 2, 2)])
    with pytest.raises(NotJoined) as caught:
        solve_sheets(network(squares, shapely.box(-1, 0, 0, 1), shapely.box(2, 1, 3, 2)))

    assert caught.value.loads == (0,)


def test_a_gap_of_rounding_is_no_gap_and_a_real_one_is() -> None:
    """Two halves of a strip 1 nm apart, as polygons that were computed apart may be; and 10 um apart."""
    near = shapely.MultiPolygon([bar(0, 1, 2), bar(2.000001, 1, 4)])
    apart = shapely.MultiPolygon([bar(0, 1, 2), bar(2.01, 1, 4)])
    solution = solve_sheets(network(near, *ends(0, 4)))

    assert solution.drops_v[0].nominal == pytest.approx(4.0, rel=1e-4)
    assert solution.points < 100
    with pytest.raises(NotJoined):
        solve_sheets(network(apart, *ends(0, 4)))


def test_a_long_slit_of_a_tenth_of_a_micrometre_does_not_run_away() -> None:
    """4 mm long, along the current: the strip keeps its resistance, and the mesh some thousand points."""
    slit = shapely.box(1, -0.00005, 5, 0.00005)
    solution = solve_sheets(network(bar(0, 1, 6).difference(slit), *ends(0, 6)), Precision(most_passes=1))

    assert solution.drops_v[0].nominal == pytest.approx(6.0, rel=1e-3)
    assert solution.points < 20_000


def test_islands_and_dead_ends_carry_nothing() -> None:
    """A far island, and one that only the load touches, change nothing."""
    case = CASES["strip"]
    islands = shapely.union_all([case.area, shapely.box(20, 0, 30, 9), shapely.box(4.5, 2, 6, 9)])
    solution = solve_sheets(network(islands, case.source, case.load))

    assert solution.drops_v[0].nominal == pytest.approx(4.0)
    assert solution.size_mm2.sum() == pytest.approx(4.0)


def test_current_is_conserved_across_every_section() -> None:
    """Area integral of the density along a strip with a hole is current times length, to the grid of 1e-6 mm."""
    area = bar(0, 4, 10).difference(circle(5, 1))
    solution = solve_sheets(network(area, *ends(0, 10)), Precision(step_mm=1.0, most_passes=2))
    along = (solution.density_a_per_mm * solution.size_mm2[:, None]).sum(axis=0)

    assert abs(along[0]) == pytest.approx(10.0, rel=1e-6)
    assert along[1] == pytest.approx(0.0, abs=1e-5)


def test_more_copper_than_memory_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of 260 corners where 200 are allowed."""
    monkeypatch.setattr("stackup_lib.power.rail_drop.sheets.MOST_CORNERS", 200)

    with pytest.raises(MeshFailed, match="514 corners, of 200"):
        solve(CASES["ring"])


def test_a_mesh_covers_its_copper_and_keeps_its_outline() -> None:
    """A comb with a slot of 0.02 mm and a round hole: the triangles add up to the copper, refined or not."""
    area = shapely.box(0, 0, 10, 5).difference(shapely.box(3, 1, 3.02, 6)).difference(circle(7, 0.8))
    mesh = make_mesh(area, 1.0)
    for _ in range(3):
        corners = mesh.points_mm[mesh.triangles]
        one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        assert np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]).sum() / 2 == pytest.approx(area.area, rel=1e-9)
        mesh = refine_mesh(area, mesh, np.arange(len(mesh.triangles)) % 3 == 0)


def test_a_solution_is_the_same_every_time() -> None:
    """Same copper, same numbers to the last bit."""
    first, second = (solve(CASES["neck"]) for _ in range(2))

    assert first.drops_v == second.drops_v
    assert np.array_equal(first.density_a_per_mm, second.density_a_per_mm)
