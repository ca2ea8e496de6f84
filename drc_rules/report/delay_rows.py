"""Rows of the delay table: every routed link of an interface with its delay from end to end."""

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval


class LinkDelay(Frozen):
    """One link, a pair or a single trace. Lengths in mm, delays in ps.

    Attributes:
        name: of the pair, or of the first net.
        nets: of both traces, the positive one's first.
        tracks_mm: along the tracks from end to end, the mean of both traces.
        kicad_mm: what KiCad's length check adds up for the nets of one trace, the mean of both traces: all tracks,
            height of vias, pad-to-die lengths. None without the thickness of every layer.
        delay_ps: the mean of both traces, with its range.
        lines_ps, vias_ps, package_ps: its parts.
        vias: on one trace, the greater number.
        layers: copper layer and length on it, the longest first, of the positive trace.
        skew_ps: positive minus negative; None for a single trace.
        unsure: what would narrow the range; empty where all is known.
        no_plane_mm: of the tracks without a plane above or below, the mean of both traces; None where fills are missing
            or out of date.
    """

    name: str
    nets: tuple[str, ...]
    tracks_mm: float
    delay_ps: Interval
    lines_ps: float
    vias_ps: float
    package_ps: float
    vias: int
    layers: tuple[tuple[str, float], ...]
    skew_ps: float | None = None
    kicad_mm: float | None = None
    unsure: str = ""
    no_plane_mm: float | None = None


class DelayGroup(Frozen):
    """Links that belong together: a port of pairs, or the nets of a bus.

    Attributes:
        title: the interface; `by` what the links have in common.
        links: those that are routed, the latest first.
        open_links: name, and why it has no delay.
    """

    title: str
    by: str
    links: tuple[LinkDelay, ...]
    open_links: tuple[tuple[str, str], ...] = ()

    @property
    def spread_ps(self) -> float:
        """The latest minus the earliest."""
        delays = [one.delay_ps.nominal for one in self.links]
        return max(delays, default=0.0) - min(delays, default=0.0)
