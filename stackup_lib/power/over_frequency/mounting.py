"""Inductance of the loop between a capacitor and the planes it stands over.

What spreads in the planes is not in it: the cavity of `plane_pair` has that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stackup_lib.transmission_lines.materials.conductor_models import MU0


def via_pair_inductance_h(depth_mm: float, apart_mm: float, barrel_mm: float) -> float:
    """Return the loop inductance of two equal vias, mu0 h/pi arccosh(s/d): exact for long round wires.

    Args:
        depth_mm: from the pads to the nearer plane of the pair.
        apart_mm: between centres s.
        barrel_mm: outer diameter d of the barrel.

    Raises:
        ValueError: the vias touch, or the depth is negative.
    """
    if depth_mm < 0 or not 0 < barrel_mm < apart_mm:
        raise ValueError(f"two vias of {barrel_mm:g} mm, {apart_mm:g} mm apart, {depth_mm:g} mm deep are no pair")
    return MU0 * depth_mm * 1e-3 / math.pi * math.acosh(apart_mm / barrel_mm)


def trace_inductance_h(height_mm: float, length_mm: float, width_mm: float) -> float:
    """Return the inductance of a pad or trace over a plane, mu0 h l/(w + 1.4 h); good to some 20 %.

    It is the parallel plate with its width grown by fringes, engineering knowledge. `height_mm` is above the plane.

    Raises:
        ValueError: height or length is negative, or the width is not positive.
    """
    if height_mm < 0 or length_mm < 0 or width_mm <= 0:
        raise ValueError("a trace over a plane has a height, a length and a width")
    return MU0 * height_mm * length_mm / (width_mm + 1.4 * height_mm) * 1e-3


@dataclass(frozen=True, slots=True)
class MountingLoop:
    """The loop of a part with two pads over a pair of planes, in mm; `mounting_inductance_h` is its inductance.

    Attributes:
        to_first_mm: from the pads to the first plane under them, over which their copper runs.
        depth_mm: from the pads to the nearer plane of the pair.
        steps_mm: length and width of each piece of copper from either pad to its vias.
        apart_mm: between the vias of one pad and of the other.
        barrel_mm: outer diameter of a via.
        vias: how many carry the current of either pad; less than one where other parts have a share.
    """

    to_first_mm: float
    depth_mm: float
    steps_mm: tuple[Sequence[tuple[float, float]], Sequence[tuple[float, float]]]
    apart_mm: float
    barrel_mm: float
    vias: tuple[float, float]


def mounting_inductance_h(loop: MountingLoop) -> float:
    """Return copper on both sides plus vias, half of a pair on each side.

    Vias side by side count as uncoupled, which is a little too good.
    """
    copper = sum(trace_inductance_h(loop.to_first_mm, *step) for side in loop.steps_mm for step in side)
    parallel = sum(0.5 / vias for vias in loop.vias)
    return copper + parallel * via_pair_inductance_h(loop.depth_mm, loop.apart_mm, loop.barrel_mm)
