"""What a copper layer is really for, from filled copper, nets and tracks; KiCad's layer type is not to be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

import numpy as np

from stackup_lib.board.board import Board, Floats
from stackup_lib.core.record import record

PLANE_MIN_COVERAGE = 0.30
"""Share of the board area that filled copper of power or ground must reach before a layer counts as a plane."""

SIGNAL_MIN_TRACK_AREA = 0.01
"""Share of the board area that tracks must reach before a layer with a plane counts as mixed."""

_GROUND = re.compile(
    r"[_.\-]?(?:[A-Z]?GND(?:[A-Z]|PWR|REF)?|[ADP]?GROUND|[ADP]?VSS[A-Z]?|EARTH|CHASSIS|0V(?![3-9]|\d\d))(?:$|[_.\-\d])"
    r"|(?:.*[_.\- ])?[A-Z]{0,3}GND\d*$|.*[_.\- ](?:GROUND|EARTH|VSS[A-Z]?)$",
    re.IGNORECASE,
)
"""A word for ground at the start of a name (`GND_SENSE`), or at its end after what it is the ground of: `MOTOR_GND`,
`USBGND`. In the middle it says nothing. `0V` is ground and `0V85` a supply."""


class LayerRole(StrEnum):
    """Role of a copper layer."""

    SIGNAL = "signal"
    GROUND = "ground plane"
    POWER = "power plane"
    MIXED = "mixed"
    EMPTY = "empty"


@record
class LayerUse:
    """What is on one copper layer.

    Attributes:
        fill_mm2: net index -> filled copper area.
        ground_share, power_share: filled ground and other copper as a share of the board area.
        track_mm: routed length.
        copper_share: fills and tracks together as a share of the board area; pads are left out.
        main_net: name of the net with most filled copper, "" when nothing is filled.
    """

    name: str
    role: LayerRole
    fill_mm2: Mapping[int, float]
    ground_share: float
    power_share: float
    track_mm: float
    copper_share: float
    main_net: str

    @property
    def is_plane(self) -> bool:
        """True for a ground or power plane, and for a mixed layer."""
        return self.role in (LayerRole.GROUND, LayerRole.POWER, LayerRole.MIXED)


@lru_cache(maxsize=65536)
def is_ground(net: str) -> bool:
    """Return True for a net whose last path element reads as ground."""
    return bool(_GROUND.match(net.rsplit("/", 1)[-1]))


def polygon_areas_mm2(x_mm: Floats, y_mm: Floats, start: Floats | np.ndarray) -> Floats:
    """Return the area of each ring, by the shoelace formula; a hole joined by a slit is subtracted, as it should be.

    Args:
        x_mm: abscissae of all rings one after another.
        y_mm: ordinates of the same points.
        start: ring k is `[start[k], start[k + 1])`; one element longer than there are rings.
    """
    if len(start) < 2:
        return np.zeros(0)
    first = start[:-1].astype(np.intp)
    following = np.arange(1, len(x_mm) + 1)
    last = start[1:].astype(np.intp) - 1
    following[last] = first
    cross = x_mm * y_mm[following] - x_mm[following] * y_mm
    return np.asarray(np.abs(np.add.reduceat(cross, first)) / 2.0, dtype=np.float64)


def layer_uses(board: Board, area: float | None) -> tuple[LayerUse, ...]:
    """Return what each copper layer of a board of some area in mm2 is used for, top to bottom."""
    zones, tracks = board.zones, board.tracks
    areas = polygon_areas_mm2(zones.fill_x_mm, zones.fill_y_mm, zones.fill_start)
    fill_net = zones.net[zones.fill_zone] if len(areas) else np.zeros(0, dtype=np.int64)
    uses = []
    for index, layer in enumerate(board.copper_layers):
        on_layer = zones.fill_layer == index
        by_net = _sums(fill_net[on_layer], areas[on_layer])
        here = tracks.layer == index
        lengths = tracks.length_mm[here]
        ground, power = _ground_and_power(board, by_net)
        scale = 1.0 / area if area else 0.0
        track_share = float(np.sum(lengths * tracks.width_mm[here])) * scale
        role = _role(ground * scale, power * scale, track_share)
        if role is LayerRole.SIGNAL and not len(lengths) and not by_net:
            role = LayerRole.EMPTY
        main = board.nets[max(by_net, key=lambda net: (by_net[net], -net))] if by_net else ""
        use = LayerUse(
            name=layer.name,
            role=role,
            fill_mm2=by_net,
            ground_share=ground * scale,
            power_share=power * scale,
            track_mm=float(np.sum(lengths)),
            copper_share=min(sum(by_net.values()) * scale + track_share, 1.0),
            main_net=main,
        )
        uses.append(use)
    return tuple(uses)


def _sums(keys: np.ndarray, values: Floats) -> dict[int, float]:
    unique, inverse = np.unique(keys, return_inverse=True)
    return dict(zip(unique.tolist(), np.bincount(inverse, values, len(unique)).tolist(), strict=True))


def _ground_and_power(board: Board, by_net: Mapping[int, float]) -> tuple[float, float]:
    """Filled area of ground nets and of all other nets; copper without a net counts for neither."""
    ground = sum(area for net, area in by_net.items() if is_ground(board.nets[net]))
    return ground, sum(area for net, area in by_net.items() if net and not is_ground(board.nets[net]))


def _role(ground_share: float, power_share: float, track_share: float) -> LayerRole:
    if ground_share + power_share < PLANE_MIN_COVERAGE:
        return LayerRole.SIGNAL
    if track_share >= SIGNAL_MIN_TRACK_AREA:
        return LayerRole.MIXED
    return LayerRole.POWER if power_share > ground_share else LayerRole.GROUND
