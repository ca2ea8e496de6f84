"""Where the current of a rail is densest: the highest mean over a disc, on a mesh that resolves the disc.

The density of a steady current is highest at the border of the copper or of a contact, as that of every field without
sources inside is. Places there are looked at in the order in which the solution of the whole rail has them: roughly
first, and those with the highest means finely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stackup_lib.core.interval import Interval
from stackup_lib.core.record import entity, record
from stackup_lib.power.rail_drop.disc import areas_in_discs_mm2, as_complex, lie_in_mesh
from stackup_lib.power.rail_drop.mesh import Indices, Mask, Reals
from stackup_lib.power.rail_drop.sheets import SheetNetwork, SheetSolution, solve_closer
from stackup_lib.power.rail_drop.window import Field, Fineness, ends_of, field_of, finer_field, size_of

ROUGH, FINE = (0.5, 0.5), (0.125, 0.35)
"""Edges of triangles at a place, in terms of the radius of the disc, and as a share of the distance from it."""

GAP, MOST_WORK = 0.05, 20_000
"""Of the whole rail: with a wider gap, currents are shared otherwise than they are; more work is too slow."""

LOOKED_AT = 12
"""Places of each kind, on contacts and elsewhere, in a round; there are `ROUNDS` at most."""

ROUNDS = 3

FINALISTS = 4
"""Places that are solved finely."""

LEAST = 0.4
"""Of the highest density by the whole rail's mesh: where it is lower, the true one is not the highest."""

MARGIN = 1.1
"""How far the density at a place may exceed what the mesh made of others of its kind."""


@record
class Peak:
    """Where current is densest, per mm of width, on the mean over a disc."""

    sheet: int
    x_mm: float
    y_mm: float
    a_per_mm: Interval


@entity
class _Places:
    """Corners at the border of the copper, those first where the whole rail's mesh allows the highest density.

    Attributes:
        sheet: of each; `at_mm`: shape (places, 2).
        most: that density.
        is_contact: whether a contact's border is there.
    """

    sheet: Indices
    at_mm: Reals
    most: Reals
    is_contact: Mask

    def only(self, kept: Mask | Indices) -> _Places:
        """Return some of them."""
        return _Places(self.sheet[kept], self.at_mm[kept], self.most[kept], self.is_contact[kept])

    def by_sheet(self, count: int) -> list[Reals]:
        """Return where those of each sheet are."""
        return [self.at_mm[self.sheet == sheet] for sheet in range(count)]

    def near(self, sheet: int, at_mm: Reals, reach_mm: float) -> Mask:
        """Tell which are near a place."""
        return np.asarray((self.sheet == sheet) & (size_of(self.at_mm - at_mm) < reach_mm))


@entity
class _Spot:
    """A disc, and the means over it; see `Field`."""

    sheet: int
    at_mm: Reals
    mean: float
    apart: float
    other: float

    def rank(self) -> tuple[float, ...]:
        """Order by falling mean; those that are alike to a part in 10^4 by where they are."""
        return -round(1e4 * math.log(self.mean)) if self.mean > 0 else math.inf, self.sheet, *self.at_mm.tolist()

    @property
    def doubt(self) -> float:
        """What the mean may be off: half of the distance between the forms here, and between here and the rest."""
        return (self.apart + abs(self.mean - self.other)) / 2


def resolved_peak(network: SheetNetwork, solution: SheetSolution, radius_mm: float) -> Peak:
    """Return the highest mean of the current density over the copper within a radius of a place in it.

    Raises:
        MeshFailed: the copper there cannot be meshed.
    """
    solution = solve_closer(network, solution, GAP, MOST_WORK)
    places = _places(solution)
    spots, left = _rough_spots(solution, places, radius_mm)
    finalists: list[_Spot] = []
    rest: list[_Spot] = []
    for spot in sorted(spots, key=_Spot.rank):
        apart = all(s.sheet != spot.sheet or size_of(s.at_mm - spot.at_mm) >= 2 * radius_mm for s in finalists)
        if apart:
            (finalists if len(finalists) < FINALISTS else rest).append(spot)
    found = _finely(solution, places, finalists, radius_mm)
    best = min(found, key=_Spot.rank)
    growth = max(fine.mean / rough.mean for fine, rough in zip(found, finalists, strict=True))
    highest = max([best.mean + best.doubt, left, *(spot.mean * growth for spot in rest)])
    x, y = best.at_mm.tolist()
    return Peak(best.sheet, x, y, Interval(low=max(best.mean - best.doubt, 0.0), nominal=best.mean, high=highest))


def _places(solution: SheetSolution) -> _Places:
    """Return the places that may be the densest."""
    field, assembly = field_of(solution), solution.assembly
    edges = assembly.conserving.unknowns
    on_contact = edges < assembly.node_count
    border = on_contact | (np.bincount(edges.ravel())[edges] == 1)
    ends = [as_complex(ends_of(field.corners_mm, *np.nonzero(some)).reshape(-1, 2)) for some in (border, on_contact)]
    most = field.middle + field.apart
    high = np.repeat(np.flatnonzero(most >= LEAST * most.max()), 3)
    at = field.corners_mm[high[::3]].reshape(-1, 2)
    kept = np.isin(as_complex(at), ends[0])
    sheet, at, most = field.sheet_of[high[kept]], at[kept], most[high[kept]]
    order = np.lexsort([at[:, 1], at[:, 0], sheet, -np.round(most / most.max(), 6)])
    found = _Places(sheet, at, most, np.isin(as_complex(at), ends[1])).only(order)
    _, first = np.unique(np.column_stack([found.sheet, found.at_mm]), axis=0, return_index=True)
    return found.only(np.sort(first))


def _rough_spots(solution: SheetSolution, places: _Places, radius_mm: float) -> tuple[list[_Spot], float]:
    """Look at places until no other can be denser than the densest; also the highest density of those left out."""
    spots: list[_Spot] = []
    growth = np.full(2, np.inf)
    for _ in range(ROUNDS):
        chosen = _spaced(places, radius_mm)
        field = finer_field(solution, chosen.by_sheet(len(solution.sheets)), _fineness(ROUGH, radius_mm))
        looked = [
            _roughly(field, sheet, at, radius_mm) for sheet, at in zip(chosen.sheet.tolist(), chosen.at_mm, strict=True)
        ]
        spots += looked
        grown = np.array([spot.mean for spot in looked]) / chosen.most
        for kind in (0, 1):
            of_kind = grown[chosen.is_contact == kind]
            known = growth[kind] if np.isfinite(growth[kind]) else 0.0
            growth[kind] = max([known, *(MARGIN * of_kind)]) or np.inf
        seen = np.zeros(len(places.most), dtype=bool)
        for sheet, at in zip(chosen.sheet.tolist(), chosen.at_mm, strict=True):
            seen |= places.near(sheet, at, radius_mm)
        densest = max(spot.mean for spot in spots)
        may_be = places.most * growth[places.is_contact.astype(np.int64)]
        places = places.only(~seen & (may_be > densest))
        if not len(places.most):
            return spots, 0.0
    return spots, float((places.most * growth[places.is_contact.astype(np.int64)]).max())


def _spaced(places: _Places, radius_mm: float) -> _Places:
    """Return the first places of each kind, no two of them within a radius."""
    chosen: list[int] = []
    count = [0, 0]
    for place, kind in enumerate(places.is_contact.astype(int).tolist()):
        taken = places.only(np.array(chosen, dtype=np.int64))
        if count[kind] < LOOKED_AT and not taken.near(places.sheet[place], places.at_mm[place], radius_mm).any():
            chosen.append(place)
            count[kind] += 1
        if min(count) == LOOKED_AT:
            break
    return places.only(np.array(chosen, dtype=np.int64))


def _roughly(field: Field, sheet: int, at_mm: Reals, radius_mm: float) -> _Spot:
    """Return the disc with the highest mean around a place, of those around corners of the mesh."""
    rows = _around(field, sheet, at_mm, 2 * radius_mm)
    corners = field.corners_mm[rows].reshape(-1, 2)
    corners = corners[size_of(corners - at_mm) <= radius_mm * (1 + 1e-9)]
    _, first = np.unique(np.floor(corners / (radius_mm / 4)), axis=0, return_index=True)
    return _best(field, sheet, rows, np.vstack([at_mm, corners[first]]), radius_mm)


def _finely(solution: SheetSolution, places: _Places, spots: Sequence[_Spot], radius_mm: float) -> list[_Spot]:
    """Solve the surroundings of some discs finely, and move them to where their means are highest."""
    chosen: list[Reals] = [np.zeros((0, 2)) for _ in solution.sheets]
    for spot in spots:
        near = places.at_mm[places.near(spot.sheet, spot.at_mm, 1.5 * radius_mm)]
        _, first = np.unique(np.floor(near / (radius_mm / 2)), axis=0, return_index=True)
        chosen[spot.sheet] = np.unique(np.vstack([chosen[spot.sheet], near[first]]), axis=0)
    field = finer_field(solution, chosen, _fineness(FINE, radius_mm))
    return [_climbed(field, spot, radius_mm) for spot in spots]


def _climbed(field: Field, spot: _Spot, radius_mm: float) -> _Spot:
    """Move a disc by ever smaller steps to where its mean is highest nearby."""
    rows = _around(field, spot.sheet, spot.at_mm, 2.5 * radius_mm)
    best = _best(field, spot.sheet, rows, spot.at_mm[None], radius_mm)
    angles = np.arange(8) * np.pi / 4
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    step = radius_mm / 2
    while step > radius_mm / 40:
        around = best.at_mm + step * ways
        around = around[size_of(around - spot.at_mm) < 1.5 * radius_mm]
        around = around[lie_in_mesh(field.corners_mm[rows], around)]
        tried = _best(field, spot.sheet, rows, np.vstack([best.at_mm, around]), radius_mm)
        if tried.mean > best.mean * (1 + 1e-6):
            best = tried
        else:
            step /= 2
    return best


def _best(field: Field, sheet: int, rows: Indices, middles_mm: Reals, radius_mm: float) -> _Spot:
    """Return the disc with the highest mean."""
    share = areas_in_discs_mm2(field.corners_mm[rows], middles_mm, radius_mm)
    share /= share.sum(axis=1)[:, None]
    means = share @ field.middle[rows]
    first = int(means.argmax())
    apart, other = (float(share[first] @ some[rows]) for some in (field.apart, field.other))
    return _Spot(sheet, middles_mm[first], float(means[first]), apart, other)


def _around(field: Field, sheet: int, at_mm: Reals, reach_mm: float) -> Indices:
    """Return the triangles that meet a square."""
    low, high = field.corners_mm.min(axis=1), field.corners_mm.max(axis=1)
    meets = (low < at_mm + reach_mm).all(axis=1) & (high > at_mm - reach_mm).all(axis=1)
    return np.flatnonzero(meets & (field.sheet_of == sheet))


def _fineness(of: tuple[float, float], radius_mm: float) -> Fineness:
    edge, grade = of
    return Fineness(edge * radius_mm, grade)
