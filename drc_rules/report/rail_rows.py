"""Rows of what a report tells of the declared rails: what their copper takes, where it is lost, what was assumed."""

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval


class RailLoad(Frozen):
    """What draws from a rail, and the drop of the supply path: nominal, with what delivered copper may be.

    Attributes:
        back_mv: what the return net takes between its ground pads and the source's, other rails' current included.
        way: holes and terminals at which the strongest current to it changes layer, from the load to the source.
    """

    name: str
    current_a: float
    drop_mv: Interval
    back_mv: Interval | None = None
    way: tuple[str, ...]


class RailLayer(Frozen):
    """A layer with copper of a rail.

    Attributes:
        copper_um: thickness as stated or declared.
        fill_mm2: filled copper of the net.
        loss_pct: share of the rail's loss.
    """

    layer: str
    copper_um: float
    fill_mm2: float
    loss_pct: float


class RailRow(Frozen):
    """One declared rail; what the solution gives is None where there is none.

    Attributes:
        source: where it is fed.
        drop_mv: at the load where it is largest, supply path and return where the return is known.
        there_mv, back_mv: its parts; `back_mv` is None where the return is not known.
        ground: net by which the current returns.
        shares_ground: rails whose current in it is counted.
        not_counted: as text, what of the ground return is not counted.
        limit_mv: declared limit of it.
        loss_w: in the copper of the supply side.
        resistance_mohm: from the source to the loads as they share the current and, where it is known, back.
        target_mohm: what declared ripple and step of current require.
        stated_mohm: what was simulated or measured up to 100 MHz.
        layers: with copper of the rail, top to bottom.
        holes: vias and plated pads that carry current from layer to layer; `hole_a` is the largest current of one.
        hole_loss_pct: share of the rail's loss in them.
        densest_a_per_mm2: on `densest_layer`, the mean over 0.2 mm; only of a rail that limits it.
        distance_mm: from the source to the farthest load, pad to pad.
        assumed: as text.
        problem, cure: why there is no solution, and what to do about it.
    """

    net: str
    voltage_v: float | None
    current_a: float | None = None
    core: bool = False
    source: str = ""
    loads: tuple[RailLoad, ...] = ()
    drop_mv: Interval | None = None
    there_mv: Interval | None = None
    back_mv: Interval | None = None
    ground: str = ""
    shares_ground: tuple[str, ...] = ()
    not_counted: str = ""
    limit_mv: float | None = None
    loss_w: Interval | None = None
    resistance_mohm: Interval | None = None
    target_mohm: float | None = None
    stated_mohm: float | None = None
    layers: tuple[RailLayer, ...] = ()
    holes: int = 0
    hole_a: float | None = None
    hole_loss_pct: float | None = None
    densest_a_per_mm2: float | None = None
    densest_layer: str = ""
    distance_mm: float | None = None
    assumed: tuple[str, ...] = ()
    problem: str = ""
    cure: str = ""

    @property
    def drop_pct(self) -> float | None:
        """Nominal drop in percent of the voltage."""
        return self.drop_mv.nominal / self.voltage_v / 10 if self.drop_mv and self.voltage_v else None
