"""Planes drawn of rectangles, as the cells that the solver takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stackup_lib.power.over_frequency.plane_cells import PlaneCells, sheet_cells
from stackup_lib.power.over_frequency.plane_outline import outline_modes
from stackup_lib.power.over_frequency.plane_pair import PlanePair, PlanePort
from stackup_lib.power.over_frequency.rail_planes import POINTS
from stackup_lib.transmission_lines.materials.conductor_models import Complex, Real

Box = Sequence[float]


def cells_of(boxes_mm: Sequence[Box], points: int = POINTS) -> PlaneCells:
    """Cells of the union of boxes (left, top, right, bottom), from their common corner."""
    boxes = np.array(boxes_mm, dtype=float)
    (left, top), (right, bottom) = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    about = math.sqrt(points * (right - left) / (bottom - top))
    tried = range(round(0.8 * about), round(1.25 * about))
    columns = min(tried, key=lambda n: (_misfit(n, right - left, bottom - top), abs(n - about)))
    step = (right - left) / columns
    rows = round((bottom - top) / step)
    x, y = np.meshgrid(left + step * (np.arange(columns) + 0.5), top + step * (np.arange(rows) + 0.5))
    copper = np.any([(x >= a) & (x < c) & (y >= b) & (y < d) for a, b, c, d in boxes], axis=0).astype(float)
    return sheet_cells(float(left), float(top), step, copper, copper)


def _misfit(columns: int, wide_mm: float, high_mm: float) -> float:
    """How far the other side is from a whole number of cells."""
    rows = columns * high_mm / wide_mm
    return round(abs(rows - round(rows)), 6)


def rectangle_ohm(
    pair: PlanePair, sides_mm: tuple[float, float], ports: Sequence[PlanePort], frequencies_hz: Real
) -> Complex:
    """Impedances between ports of a rectangle with a corner at 0, 0."""
    return outline_modes(cells_of([(0, 0, *sides_mm)]), ports).impedance_ohm(pair, frequencies_hz)
