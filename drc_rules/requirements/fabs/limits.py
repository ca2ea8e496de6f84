"""What fabs make by tier: holes, rings, tracks, dielectrics, thickness and size; the numbers are in `limits.toml`."""

from functools import cache
from pathlib import Path
from typing import Literal

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.fabs import Tier
from stackup_lib.core.frozen import Frozen

FILE = Path(__file__).parent / "limits.toml"

LimitName = Literal[
    "drill_mm",
    "microvia_mm",
    "ring_mm",
    "microvia_ring_mm",
    "outer_track_mm",
    "dielectric_mm",
    "thickness_mm",
    "hole_to_copper_mm",
    "unplated_hole_to_copper_mm",
    "edge_to_copper_mm",
]


class Tiers(Frozen):
    """One number per tier; None for a tier that no document gives."""

    standard: float
    advanced: float | None = None
    best: float | None = None

    def of(self, tier: Tier) -> float | None:
        """Return the number of a tier."""
        return {Tier.STANDARD: self.standard, Tier.ADVANCED: self.advanced, Tier.BEST: self.best}[tier]


class SizeTiers(Frozen):
    """The maximum board size by tier, as two sides in mm."""

    standard: tuple[float, float]
    advanced: tuple[float, float]
    best: tuple[float, float] | None = None

    def of(self, tier: Tier) -> tuple[float, float] | None:
        """Return the sides of a tier, the shorter first."""
        sides = {Tier.STANDARD: self.standard, Tier.ADVANCED: self.advanced, Tier.BEST: self.best}[tier]
        return None if sides is None else (min(sides), max(sides))


class _File(Frozen):
    drill_mm: Tiers
    microvia_mm: Tiers
    ring_mm: Tiers
    microvia_ring_mm: Tiers
    outer_track_mm: Tiers
    dielectric_mm: Tiers
    thickness_mm: Tiers
    hole_to_copper_mm: Tiers
    unplated_hole_to_copper_mm: Tiers
    edge_to_copper_mm: Tiers
    board_mm: SizeTiers


@cache
def _file() -> _File:
    return read_model(FILE, _File)


def limit_of(name: LimitName, tier: Tier) -> float | None:
    """Return the number of a tier, None where no document gives one."""
    found: Tiers = getattr(_file(), name)
    return found.of(tier)


def max_board_mm(tier: Tier) -> tuple[float, float] | None:
    """Return the maximum board size of a tier, the shorter side first."""
    return _file().board_mm.of(tier)
