"""`[fab]` of `stackwright.toml`: what the board's own fab makes; it takes the place of the three tiers of fabs."""

from math import inf
from typing import Annotated

from pydantic import Field, model_validator

from drc_rules.settings.declaration import PLACEHOLDER, Declaration

Side = Annotated[float, Field(gt=0, le=5000)]
"""One side of a board in mm."""


class FabDeclaration(Declaration):
    """Limits of one's own fab, in mm unless the name says otherwise; what is None is left to the tiers.

    Attributes:
        name: how findings call it.
        hole_mm: least finished diameter of a plated hole; `microvia_mm` of a laser-drilled one.
        ring_mm: least annular ring about a hole as it is drawn; `microvia_ring_mm` about a microvia.
        outer_track_mm: least width on the outer layers.
        track_mm: least width on inner layers by copper weight, e.g. `{ "0.5" = 0.09, "1" = 0.1 }`.
        outer_space_mm: least space between copper of different nets on the outer layers.
        space_mm: least such space on inner layers by copper weight.
        dielectric_mm: least thickness of one dielectric.
        thickness_mm: maximum thickness of a board.
        board_mm: maximum board size, two sides.
        aspect_ratio: maximum depth over drilled diameter; `microvia_aspect_ratio` of a microvia.
        hole_to_copper_mm: least distance from a hole's wall to copper of another net on an inner layer, and from
            that of an unplated hole to any copper.
        edge_to_copper_mm: least distance from the board's edge, as it is cut for this board, to copper.
        registration_mm: by how much layers may lie off one another.
        bow_twist_pct: bow and twist that it is held to for this board.
        local_bow_um: bow of the surface under a package that the order allows.
        max_local_bow_um: bow that a package allows by its assembly guide, by reference, e.g. `{ U1 = 100 }`.
        spread_glass: True where the order says spread glass, or a board rotated on the panel.
    """

    name: str | None = None
    hole_mm: float | None = Field(default=None, gt=0, le=2)
    microvia_mm: float | None = Field(default=None, gt=0, le=2)
    ring_mm: float | None = Field(default=None, ge=0, le=2)
    microvia_ring_mm: float | None = Field(default=None, ge=0, le=2)
    outer_track_mm: float | None = Field(default=None, gt=0, le=2)
    track_mm: dict[str, float] = Field(default_factory=dict)
    outer_space_mm: float | None = Field(default=None, gt=0, le=0.5)
    space_mm: dict[str, float] = Field(default_factory=dict)
    dielectric_mm: float | None = Field(default=None, gt=0, le=2)
    thickness_mm: float | None = Field(default=None, gt=0, le=30)
    board_mm: tuple[Side, Side] | None = None
    aspect_ratio: float | None = Field(default=None, gt=0, le=60)
    microvia_aspect_ratio: float | None = Field(default=None, gt=0, le=60)
    hole_to_copper_mm: float | None = Field(default=None, gt=0, le=0.25)
    edge_to_copper_mm: float | None = Field(default=None, gt=0, le=2)
    registration_mm: float | None = Field(default=None, gt=0, le=2)
    bow_twist_pct: float | None = Field(default=None, ge=0.05, le=5)  # less is a fraction: 0.0075
    local_bow_um: float | None = Field(default=None, gt=0, le=2000)
    max_local_bow_um: dict[str, Annotated[float, Field(gt=0, le=2000)]] = Field(default_factory=dict)
    spread_glass: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        """A key that still holds the placeholder is as good as absent, and so is a weight of a table or a side."""
        if not isinstance(data, dict):
            return data
        filled = {key: _filled(value) for key, value in data.items()}
        return {key: value for key, value in filled.items() if value != PLACEHOLDER}

    @model_validator(mode="after")
    def _weights_are_numbers(self) -> "FabDeclaration":
        for key, table, most in (("track_mm", self.track_mm, 2.0), ("space_mm", self.space_mm, 0.5)):
            for weight, least in table.items():
                if not _is_weight(weight):
                    raise ValueError(f'{key} has "{weight}" = {least:g}; write copper weights in oz, e.g. "0.5" = 0.09')
                if not 0 < least <= most:
                    raise ValueError(
                        f'{key} has "{weight}" = {least:g}; give millimetres, more than 0 and at most {most:g}'
                    )
        return self

    def track_of(self, copper_oz: float) -> float | None:
        """Return the least inner width for a copper weight, None where it is not stated."""
        return next((least for weight, least in self.track_mm.items() if float(weight) == copper_oz), None)

    def space_of(self, copper_oz: float) -> float | None:
        """Return the least inner space for a copper weight, None where it is not stated."""
        return next((least for weight, least in self.space_mm.items() if float(weight) == copper_oz), None)


def _is_weight(text: str) -> bool:
    try:
        return 0 < float(text) < inf
    except ValueError:
        return False


def _filled(value: object) -> object:
    """Return a table without the weights that hold the placeholder, and the placeholder for a list that holds one."""
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if one != PLACEHOLDER}
    return PLACEHOLDER if isinstance(value, list) and PLACEHOLDER in value else value
