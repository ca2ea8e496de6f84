"""What goes into the solution of a rail, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property

from stackup_lib.board.board import Floats
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import entity, record

DENSITY_RADIUS_MM = 0.1
"""Current density is averaged over discs of this radius: the narrowest neck that matters is 0.2 mm wide."""


@record
class BoardCopper:
    """What conducts.

    Attributes:
        thickness_mm: finished thickness per copper layer, top to bottom.
        height_mm: depth of each layer below the top; the lengths of barrels are differences of it.
        plating_mm: thickness of the plating in holes.
        temperature_c: of all copper.
    """

    thickness_mm: tuple[float, ...]
    height_mm: tuple[float, ...]
    plating_mm: float
    temperature_c: float = 20.0


@record
class Terminal:
    """Pads on one potential, as rows of `Board.pads`: a regulator's output, a connector's pins, a load.

    A soldered pin is equipotential through the board: plated pads of a terminal feed every layer that they touch.
    Regulators in parallel may be one source, at one voltage.
    """

    name: str
    pads: tuple[int, ...]


@record
class Load(Terminal):
    """A terminal that draws a current; give each pad its own load where the current of each is known."""

    current_a: float


@record
class RouteStep:
    """A hole or terminal on the way of the strongest current, and the layer on which it leaves for the load."""

    name: str
    layer: str
    drop_v: float


@record
class LoadDrop:
    """What the copper takes between the source and a load.

    Attributes:
        drop_v: bounds of the drop.
        route: the way from load to source.
        layer_v: what of the drop arises in each layer; the rest is `barrel_v`. Loads elsewhere may lower it.
    """

    name: str
    current_a: float
    drop_v: Interval
    route: tuple[RouteStep, ...]
    layer_v: Mapping[str, float]
    barrel_v: float


@record
class HoleCurrent:
    """The largest current in the barrel of a via or plated pad, between two neighbouring layers of the net.

    Attributes:
        current_a: of the rail, with `others_a`.
        others_a: what other rails send through it as well, in ground.
        left_a: the same where one of them sends far more than the rail: it is not in `current_a`.
    """

    uuid: str
    x_mm: float
    y_mm: float
    is_via: bool
    current_a: float
    from_layer: str
    to_layer: str
    others_a: float = 0.0
    left_a: float = 0.0


@record
class DensityPeak:
    """Where current is densest: mean over the copper within `DENSITY_RADIUS_MM`, with what its mesh leaves open."""

    layer: str
    x_mm: float
    y_mm: float
    a_per_mm: Interval
    a_per_mm2: Interval


@record
class TrackCurrent:
    """The largest current along a track whose middle lies outside the net's fills.

    Attributes:
        run_v: largest drop within the tracks outside fills that it is joined to, and the barrels at their ends.
        bound_divisor: n of the bound V2/(n k rho) on its rise over wide copper; 0 where none holds, see `TrackEnds`.
    """

    uuid: str
    layer: str
    x_mm: float
    y_mm: float
    width_mm: float
    thickness_mm: float
    current_a: float
    run_v: float
    bound_divisor: int


@entity
class LayerFlow:
    """Where the current of a rail flows on one layer, triangle by triangle.

    Attributes:
        corners_mm: shape (triangles, 3, 2).
        a_per_mm: shape (triangles, 2): current per mm of width, as a vector.
    """

    corners_mm: Floats
    a_per_mm: Floats


@record
class RailDrop:
    """IR drop of a rail; losses and drops are those of this net alone, its return is another net.

    Attributes:
        loads: as given; `worst` is the one with the largest drop.
        power_w: lost in the copper.
        layer_power_w: of it, per layer, middle of the bounds; the rest is `barrel_power_w`.
        holes, tracks: largest current first.
        points, passes: size of the last mesh, and number of meshes.
        find_peak: solves where current is densest, which `peak` remembers; raises `RailNotSolvedError`.
        find_flow: gives where current flows on each layer that it can reach, by name.
    """

    net: str
    loads: tuple[LoadDrop, ...]
    power_w: Interval
    layer_power_w: Mapping[str, float]
    barrel_power_w: float
    holes: tuple[HoleCurrent, ...]
    tracks: tuple[TrackCurrent, ...]
    points: int
    passes: int
    find_peak: Callable[[], DensityPeak] = field(compare=False, repr=False)
    find_flow: Callable[[], Mapping[str, LayerFlow]] = field(compare=False, repr=False)

    @cached_property
    def peak(self) -> DensityPeak:
        """Where current is densest; raises `RailNotSolvedError` where the copper there cannot be meshed."""
        return self.find_peak()

    @property
    def worst(self) -> LoadDrop:
        """The load with the largest drop."""
        return max(self.loads, key=lambda load: load.drop_v.nominal)
