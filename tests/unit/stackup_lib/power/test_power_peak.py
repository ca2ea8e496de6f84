"""Where current is densest, against exact fields and finite differences; moved copper keeps it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from shapely import Geometry, affinity

from stackup_lib.power.copper import octagon_radius_mm
from stackup_lib.power.rail_drop.disc import areas_in_discs_mm2, lie_in_mesh
from stackup_lib.power.rail_drop.peak import Peak, resolved_peak
from stackup_lib.power.rail_drop.sheets import (
    Barrel,
    Contact,
    CopperSheet,
    Precision,
    SheetNetwork,
    SheetSolution,
    solve_sheets,
)
from tests.support.physics.densities import bent_strip_a_per_mm, grid_a_per_mm, radial_a_per_mm

RADIUS_MM = 0.1

AS_BOARDS = Precision(step_mm=6.0, gap=0.15, most_points=25_000)
"""As rails of boards are solved."""

Ends = tuple[Geometry, Geometry, Geometry]
"""Copper, source and load."""


def network(copper: Geometry, source: Geometry, load: Geometry) -> SheetNetwork:
    contacts = [Contact(0, source, 0), Contact(0, load, 1)]
    return SheetNetwork([CopperSheet(copper, 1.0)], contacts, [], 0, [(1, 1.0)])


def solved(net: SheetNetwork) -> Peak:
    return resolved_peak(net, solve_sheets(net, AS_BOARDS), RADIUS_MM)


def bent(turn_deg: float, leg_mm: float = 6.0) -> Ends:
    """A strip 1 mm wide around a corner at the origin, between contacts across its ends."""
    turn = math.radians(turn_deg)
    line = shapely.LineString([(-leg_mm, 0), (0, 0), (leg_mm * math.cos(turn), leg_mm * math.sin(turn))])
    strip = line.buffer(0.5, cap_style="flat", join_style="mitre", mitre_limit=20)
    end = shapely.box(leg_mm - 0.5, -0.5, leg_mm, 0.5)
    return strip, affinity.scale(end, -1, 1, origin=(0, 0)), affinity.rotate(end, turn_deg, origin=(0, 0))


def round_contact(radius_mm: float) -> Ends:
    middle = shapely.Point(0, 0)
    sheet = middle.buffer(6)
    return sheet, middle.buffer(radius_mm, quad_segs=8), middle.buffer(7).difference(sheet)


def octagon(x: float, y: float, radius_mm: float) -> Geometry:
    turn = (np.arange(8) + 0.5) * np.pi / 4
    corner = octagon_radius_mm(radius_mm)
    return shapely.Polygon(np.column_stack([x + corner * np.cos(turn), y + corner * np.sin(turn)]))


@pytest.mark.parametrize("turn_deg", [45, 90, 135])
def test_the_density_at_an_inner_corner_is_the_exact_one(turn_deg: float) -> None:
    """1.54, 1.97 and 2.24 times that of the straight strip."""
    exact = bent_strip_a_per_mm(turn_deg, RADIUS_MM)
    peak = solved(network(*bent(turn_deg)))
    half = math.radians(turn_deg) / 2

    assert peak.a_per_mm.nominal == pytest.approx(exact, rel=0.01)
    assert peak.a_per_mm.low <= exact <= peak.a_per_mm.high
    assert peak.a_per_mm.high <= 1.1 * peak.a_per_mm.nominal
    assert (peak.x_mm, peak.y_mm) == pytest.approx((-0.5 * math.tan(half), 0.5), abs=0.06)


@pytest.mark.parametrize("radius_mm", [0.1, 0.25, 0.5, 1.0])
def test_the_density_around_a_contact_is_that_of_the_radial_field(radius_mm: float) -> None:
    """1/(2 pi r), on the disc that begins at the contact's edge."""
    exact = radial_a_per_mm(radius_mm, RADIUS_MM)
    peak = solved(network(*round_contact(radius_mm)))

    assert peak.a_per_mm.nominal == pytest.approx(exact, rel=0.015)
    assert peak.a_per_mm.low <= exact <= peak.a_per_mm.high
    assert peak.a_per_mm.high <= 1.15 * peak.a_per_mm.nominal


def test_a_straight_strip_leaves_no_doubt_of_its_density() -> None:
    """Both forms are exact there."""
    ends = shapely.box(-1, 0, 0, 1), shapely.box(4, 0, 5, 1)
    peak = solved(network(shapely.box(0, 0, 4, 1), *ends))

    assert [peak.a_per_mm.low, peak.a_per_mm.nominal, peak.a_per_mm.high] == pytest.approx([1.0] * 3, abs=1e-9)


SHEET = shapely.box(-2, -1.5, 2, 1.5)
FRAME = shapely.box(-3, -3, 3, 3).difference(shapely.box(-1.9, -1.4, 1.9, 1.4))
ENDS = shapely.box(-3, -1.5, -1.9, 1.5), shapely.box(1.9, -1.5, 3, 1.5)


def necked(width_mm: float) -> Geometry:
    cut = shapely.box(-0.5, width_mm / 2, 0.5, 2)
    return SHEET.difference(cut).difference(affinity.scale(cut, 1, -1, origin=(0, 0)))


SHAPES: dict[str, Ends] = {
    "a neck of 1 mm": (necked(1.0), *ENDS),
    "a neck as wide as the disc": (necked(0.2), *ENDS),
    "two vias close together": (
        SHEET,
        shapely.union(shapely.box(-0.5, 0, -0.2, 0.3), shapely.box(0.2, 0, 0.5, 0.3)),
        FRAME,
    ),
    "a pad": (SHEET, shapely.box(-0.5, -0.5, 0.5, 0.5), FRAME),
    "a pad at the edge": (SHEET, shapely.box(-0.5, -1.5, 0.5, -1.0), shapely.box(-2, 1.4, 2, 1.5)),
    "a slot between plane and pad": (SHEET.difference(shapely.box(-1.0, 0.3, 1.5, 0.4)), *ENDS),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_density_is_that_of_finite_differences(shape: str) -> None:
    """Of cells of 1/40 and 1/80 mm, whose error is halved with them."""
    coarse, fine = (grid_a_per_mm(*SHAPES[shape], RADIUS_MM, cells) for cells in (40, 80))
    peak = solved(network(*SHAPES[shape]))

    assert peak.a_per_mm.nominal == pytest.approx(2 * fine - coarse, rel=0.02)
    assert peak.a_per_mm.low <= 2 * fine - coarse <= peak.a_per_mm.high


@pytest.mark.parametrize("name", ["a bend", "a via", "a pad at the edge"])
def test_the_density_stays_where_the_copper_is_turned_mirrored_or_moved(name: str) -> None:
    """Within 1 %, and the place goes with it; a mesh that only suffices for the drop was off by tens of per cent."""
    via = shapely.box(-8, -5, 8, 5), octagon(-5, 1.3, 0.15), octagon(5, -1, 0.4)
    copper = {"a bend": bent(90), "a via": via, "a pad at the edge": SHAPES["a pad at the edge"]}[name]
    first = solved(network(*copper))
    for turn, mirror, shift in ((37, 1, 0), (90, 1, 0), (0, -1, 0), (0, 1, 297.313), (211, -1, -1000.7)):
        moved = [
            affinity.translate(affinity.scale(affinity.rotate(g, turn, origin=(0, 0)), mirror, 1, origin=(0, 0)), shift)
            for g in (*copper, shapely.Point(first.x_mm, first.y_mm))
        ]
        again = solved(network(*moved[:3]))
        assert again.a_per_mm.nominal == pytest.approx(first.a_per_mm.nominal, rel=0.01)
        if name == "a bend":  # the others have equal places on both sides of a contact, or all around it
            assert moved[3].distance(shapely.Point(again.x_mm, again.y_mm)) < 0.05


def test_the_densest_of_many_places_is_found() -> None:
    """30 vias share a current that flows around a slot: at its end, as a fine mesh of the whole has it."""
    plane = shapely.box(0, 0, 40, 12).difference(shapely.box(31.2, 2.5, 31.3, 8))
    contacts = [Contact(0, shapely.box(39.9, 0, 40, 12), 0)]
    vias = [octagon(2 + 3 * column, 2 + 4 * row, 0.2) for column in range(10) for row in range(3)]
    contacts += [Contact(0, via, 1 + k) for k, via in enumerate(vias)]
    barrels = [Barrel(1 + k, 31, 0.3) for k in range(30)]
    net = SheetNetwork([CopperSheet(plane, 1.0)], contacts, barrels, 0, [(31, 10.0)])
    fine = resolved_peak(net, solve_sheets(net, Precision(step_mm=1.0, gap=0.004)), RADIUS_MM)
    peak = solved(net)

    assert peak.a_per_mm.nominal == pytest.approx(fine.a_per_mm.nominal, rel=0.02)
    assert peak.a_per_mm.low <= fine.a_per_mm.nominal <= peak.a_per_mm.high
    assert math.hypot(peak.x_mm - fine.x_mm, peak.y_mm - fine.y_mm) < 0.1


def test_the_densest_place_may_be_on_any_sheet() -> None:
    """A wide and a narrow strip in a row: 1 and 3 A/mm, and none where the copper is left out."""
    sheets = [CopperSheet(shapely.box(0, 0, 4, 3), 1.0), CopperSheet(shapely.box(0, 0, 4, 1), 1.0)]
    left, right = shapely.box(-1, 0, 0, 3), shapely.box(4, 0, 5, 3)
    contacts = [Contact(0, left, 0), Contact(0, right, 1), Contact(1, right, 2), Contact(1, left, 3)]
    net = SheetNetwork(sheets, contacts, [Barrel(1, 2, 0.1)], 0, [(3, 3.0)])
    peak = solved(net)

    assert peak.sheet == 1
    assert peak.a_per_mm.nominal == pytest.approx(3.0)
    assert 0 <= peak.x_mm <= 4 and 0 <= peak.y_mm <= 1


def test_a_rough_solution_of_the_rail_leaves_a_range_that_holds_the_density() -> None:
    """Where the whole rail may not be solved any closer, as that of a board with very much copper."""
    net = network(*bent(90))
    rough: SheetSolution = solve_sheets(net, Precision(step_mm=6.0, most_passes=1))
    exact = bent_strip_a_per_mm(90, RADIUS_MM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stackup_lib.power.rail_drop.peak.solve_closer", lambda _net, solution, *_: solution)
        peak = resolved_peak(net, rough, RADIUS_MM)

    assert peak.a_per_mm.low <= exact <= peak.a_per_mm.high
    assert peak.a_per_mm.low < 0.95 * peak.a_per_mm.nominal


def test_the_areas_of_triangles_in_discs_are_those_of_polygons() -> None:
    """Random ones, one around a disc, one far away, and discs around a corner and on a side."""
    rng = np.random.default_rng(7)
    corners = np.vstack([rng.uniform(-1, 1, (200, 3, 2)), [[[-9, -9], [9, -9], [0, 9]], [[5, 5], [6, 5], [5, 6]]]])
    middles = np.vstack([rng.uniform(-1, 1, (5, 2)), corners[0, 0], corners[1, :2].mean(axis=0), corners[2, 1] + 1e-17])
    found = areas_in_discs_mm2(corners, middles, 0.4)
    discs = shapely.buffer(shapely.points(middles), 0.4, quad_segs=500)
    expected = shapely.area(shapely.intersection(shapely.polygons(corners)[None], discs[:, None]))

    assert found == pytest.approx(expected, abs=1e-5)
    assert found[:, -2] == pytest.approx(math.pi * 0.16)
    assert found[:, -1] == pytest.approx(0.0, abs=1e-12)


def test_places_in_a_mesh_are_those_in_one_of_its_triangles() -> None:
    """Either way round, with its sides."""
    corners = np.array([[[0.0, 0], [1, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]]])
    places = np.array([[0.2, 0.2], [0.9, 0.9], [0.5, 0.5], [1.1, 0.5], [-0.1, 0.0]])

    assert lie_in_mesh(corners, places).tolist() == [True, True, True, False, False]
