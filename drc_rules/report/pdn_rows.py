"""What is known of a rail's impedance over frequency: the curve with its range, peaks, parts, and what was assumed."""

from pydantic import Field

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval


class PdnPoint(Frozen):
    """|Z| at a frequency, with the range that the parts allow there."""

    hz: float
    mohm: Interval


class PdnTarget(Frozen):
    """The target, from where it is judged, and up to where board parts can meet it, with the sources."""

    mohm: float
    source: str
    from_hz: float
    up_to_hz: float
    up_to_source: str


class PdnPeak(Frozen):
    """A maximum of |Z|.

    Attributes:
        cause: what resonates.
        share_of_mounting: of the inductance of a capacitor that resonates; None for other inductances.
        is_above: it exceeds the target in the range of board parts.
    """

    hz: float
    mohm: Interval
    cause: str
    share_of_mounting: float | None = None
    is_above: bool = False


class PdnExcess(Frozen):
    """A range of frequencies in which the nominal |Z| exceeds the target, and what would bring it below.

    Attributes:
        remedy: capacitor by value and size; "" where no number of any on the rail does.
        count: how many more of it, right at the load.
        note: why no capacitor helps, where one part alone exceeds the target.
    """

    from_hz: float
    to_hz: float
    worst_mohm: float
    remedy: str = ""
    count: int = 0
    note: str = ""


class PdnCapacitor(Frozen):
    """A capacitor of the network; inductances without mounting and of mounting apart.

    Attributes:
        source: of ESR and ESL: `measured` parts of the size, the `band` of parts of the size, or what is declared.
        bias: how `uf` was found.
    """

    reference: str
    group: str
    value: str
    size: str
    uf: Interval
    esr_mohm: Interval
    esl_nh: Interval
    mounting_nh: Interval
    source: str
    bias: str


class PdnGroup(Frozen):
    """Capacitors of one value and size."""

    group: str
    count: int
    uf: Interval
    mounting_nh: Interval
    resonance_hz: float


class PdnPair(Frozen):
    """Two layers between which the rail faces ground."""

    rail_layer: str
    ground_layer: str
    area_mm2: float
    spacing_mm: float
    nf: float


class PdnMissing(Frozen):
    """What is not declared, and the lines of the rail's table that declare it.

    Attributes:
        narrows: it has a usual range, and declaring it makes the range of the curve smaller.
    """

    what: str
    lines: tuple[str, ...] = ()
    narrows: bool = False


class PdnRow(Frozen):
    """A rail's impedance over frequency.

    Attributes:
        net, ground: the rail and its return.
        load: where it is seen.
        at_die: package and die are in it.
        regulator: its kind and values.
        planes_nf: capacitance of all pairs of planes.
        spreading_ph: inductance that planes and vias leave to the load if capacitors were perfect.
        worst_mohm: largest |Z| in the range of the target, with its range; None without a target.
        missing: what is not declared and matters for a verdict.
        left_out: capacitors that are not in the network, by reason.
        lacks_parts: some of them are fitted and may lower the impedance.
        assumed: what no file states.
    """

    net: str
    ground: str = ""
    volts: float | None = None
    load: str = ""
    at_die: bool = False
    regulator: str = ""
    pairs: tuple[PdnPair, ...] = ()
    planes_nf: float = 0.0
    spreading_ph: float = 0.0
    target: PdnTarget | None = None
    points: tuple[PdnPoint, ...] = ()
    peaks: tuple[PdnPeak, ...] = ()
    excess: tuple[PdnExcess, ...] = ()
    worst_mohm: Interval | None = None
    groups: tuple[PdnGroup, ...] = ()
    capacitors: tuple[PdnCapacitor, ...] = ()
    left_out: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    lacks_parts: bool = False
    assumed: tuple[str, ...] = ()
    missing: tuple[PdnMissing, ...] = ()

    @property
    def is_surely_above(self) -> bool:
        """Tell whether the largest |Z| exceeds the target in the whole range, and no part is left out."""
        if self.target is None or self.worst_mohm is None or self.lacks_parts:
            return False
        return self.worst_mohm.low > self.target.mohm
