"""Sheets of copper of known resistance, and what our solver makes of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import shapely
from shapely import Geometry

from stackup_lib.power.rail_drop.sheets import (
    Contact,
    CopperSheet,
    Precision,
    SheetNetwork,
    SheetSolution,
    solve_sheets,
)

REFERENCE = Path(__file__).parents[3] / "fixtures" / "reference" / "power_cases.toml"
FINE = Precision(step_mm=1.0, gap=0.004)


class Case(NamedTuple):
    """A shape between two contacts, and its exact resistance in squares."""

    area: Geometry
    source: Geometry
    load: Geometry
    squares: float
    outline: float


def circle(x_mm: float, radius_mm: float, quarter: int = 16) -> Geometry:
    return shapely.Point(x_mm, 0).buffer(radius_mm, quad_segs=quarter)


def bar(left: float, width: float, right: float) -> Geometry:
    return shapely.box(left, -width / 2, right, width / 2)


def ends(left: float, right: float, width: float = 10.0) -> tuple[Geometry, Geometry]:
    return bar(left - 1, width, left), bar(right, width, right + 1)


def shaped(shape: str, size: Mapping[str, float]) -> tuple[Geometry, Geometry, Geometry]:
    """Copper, source and load of a case."""
    if shape == "strip":
        return bar(0, size["width"], size["length"]), *ends(0, size["length"])
    if shape == "corner":
        leg, w = size["leg"], size["width"]
        area = shapely.union(shapely.box(0, 0, w, w + leg), shapely.box(0, 0, w + leg, w))
        return area, shapely.box(0, w + leg, w, w + leg + 1), shapely.box(w + leg, 0, w + leg + 1, w)
    if shape == "ring":
        outer = circle(0, size["outer_radius"], 64)
        return outer, circle(0, size["inner_radius"], 64), circle(0, size["outer_radius"] + 1).difference(outer)
    if shape == "two_contacts":
        x, radius = size["distance"] / 2, size["radius"]
        return circle(0, size["sheet_radius"]), circle(-x, radius), circle(x, radius)
    wide, narrow, far = size["wide"], size["narrow"], size["wide_length"]
    if shape == "slit":
        half = size["cut"] / 2
        cut = (
            shapely.box(far - half, narrow / 2, far + half, wide),
            shapely.box(far - half, -wide, far + half, -narrow / 2),
        )
        return bar(0, wide, 2 * far).difference(shapely.union_all(cut)), *ends(0, 2 * far)
    step = far + size["narrow_length"]
    parts = [bar(0, wide, far), bar(far, narrow, step)]
    if shape == "neck":
        return shapely.union_all([*parts, bar(step, wide, step + far)]), *ends(0, step + far)
    return shapely.union_all(parts), *ends(0, step)


CASES = {
    row["id"]: Case(*shaped(row["shape"], row["size_mm"]), row["squares"], row["outline_pct"] / 100)
    for row in tomllib.loads(REFERENCE.read_text(encoding="utf-8"))["case"]
}


def network(area: Geometry, source: Geometry, load: Geometry, sheet_ohm: float = 1.0) -> SheetNetwork:
    return SheetNetwork([CopperSheet(area, sheet_ohm)], [Contact(0, source, 0), Contact(0, load, 1)], [], 0, [(1, 1.0)])


def solve(case: Case, precision: Precision = FINE) -> SheetSolution:
    return solve_sheets(network(case.area, case.source, case.load), precision)
