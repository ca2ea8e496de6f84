"""What fabs drill, by tier: aspect ratios of holes, and the room that a backdrill needs."""

import math
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.fabs import Tier
from stackup_lib.board.board import Floats
from stackup_lib.core.frozen import Frozen
from stackup_lib.vias.via_spans import PLATING_MM

FILE = Path(__file__).parent / "holes.toml"

HoleKind = Literal["through", "buried", "microvia"]

PLATING_ALLOWANCE_MM = PLATING_MM
"""Drilled diameter less the finished one that KiCad stores: both walls plated, as fabs allow for (Eurocircuits)."""


class ByTier(Frozen):
    """One number per tier."""

    standard: float
    advanced: float
    best: float

    def of(self, tier: Tier) -> float:
        """Return the number of a tier."""
        return {Tier.STANDARD: self.standard, Tier.ADVANCED: self.advanced, Tier.BEST: self.best}[tier]


class _AspectRatios(Frozen):
    through: ByTier
    buried: ByTier
    microvia: ByTier


class _Backdrill(Frozen):
    clearance_mm: ByTier


class _Pad(Frozen):
    over_drill_mm: float


class _File(Frozen):
    aspect_ratio: _AspectRatios
    pad: _Pad
    backdrill: _Backdrill


@cache
def _file() -> _File:
    return read_model(FILE, _File)


def max_aspect_ratio(kind: HoleKind, tier: Tier) -> float:
    """Return the maximum ratio of depth to diameter that a tier drills and plates."""
    rows = _file().aspect_ratio
    return {"through": rows.through, "buried": rows.buried, "microvia": rows.microvia}[kind].of(tier)


def drilled_mm(finished_mm: Floats, pad_mm: Floats) -> Floats:
    """Return what is drilled for finished holes: wider for the plating, where their pads leave room for that.

    Every rule that goes from one diameter to the other does so here, or backwards by `finished_from_mm`.

    Args:
        finished_mm: as KiCad stores it.
        pad_mm: narrowest pad on each; NaN where that is not known, or no pad is meant.
    """
    room = pad_mm - _file().pad.over_drill_mm
    return np.maximum(finished_mm, np.fmin(finished_mm + PLATING_ALLOWANCE_MM, room))


def drilled_one_mm(finished_mm: float, pad_mm: float = math.nan) -> float:
    """Return what is drilled for one finished hole, to a nanometre; see `drilled_mm`."""
    return round(float(drilled_mm(np.array([finished_mm]), np.array([pad_mm]))[0]), 6)


def finished_from_mm(drilled_mm: float) -> float:
    """Return what is left of a drill's hole when it is plated."""
    return round(drilled_mm - PLATING_ALLOWANCE_MM, 6)


def backdrill_clearance_mm(tier: Tier) -> float:
    """Return the least distance from a backdrill's edge to copper that must stay."""
    return _file().backdrill.clearance_mm.of(tier)
