"""The impedance of routed geometries, with the filled copper next to them on their own layer.

Copper on both sides at one distance is solved with the line. Where it is on one side only, or its distance changes, the
impedance lies between that with copper on both sides where it is nearest and that without it, or where it is farthest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from drc_rules.analysis.lines.routed import RoutedLine
from drc_rules.analysis.lines.solved_lines import LineKey, Lines
from drc_rules.analysis.lines.uncertainty import Cause, Contribution, LineUncertainty
from stackup_lib.core.record import record

if TYPE_CHECKING:
    from stackup_lib.transmission_lines.lossy import SolvedLine


@record
class RoutedImpedance:
    """Z0, or Zdiff of a pair; twice Z0 of a trace of a pair that runs alone.

    Attributes:
        low_ohm, high_ohm: nominal ends that the copper next to the line leaves open; alike where it does not.
    """

    low_ohm: float
    high_ohm: float

    @property
    def ohm(self) -> float:
        """The middle."""
        return (self.low_ohm + self.high_ohm) / 2

    @property
    def fill_pct(self) -> float:
        """How far the ends are from the middle, in percent of it."""
        return 100 * (self.high_ohm / self.ohm - 1)


def routed_impedance(lines: Lines, line: RoutedLine) -> RoutedImpedance:
    """Solve a routed geometry.

    Raises:
        MissingFact: a thickness, a Dk or the plane is not known.
        GeometryError: it cannot exist.
    """
    near_fill = line.near_fill
    if near_fill is None:
        ohm = _ohm(lines, line, None)
        return RoutedImpedance(ohm, ohm)
    low = _ohm(lines, line, near_fill.near_mm)
    return RoutedImpedance(low, low if near_fill.is_even else max(_ohm(lines, line, near_fill.far_mm), low))


def is_solved(lines: Lines, line: RoutedLine) -> bool:
    """Tell whether a routed geometry has been solved already; one of two widths has not."""
    gap = None if line.gap_mm is None else round(line.gap_mm, 4)
    return lines.is_solved(LineKey(line.layer, round(line.width_mm, 4), gap, line.references, line.near_fill))


def routed_impedance_ohm(lines: Lines, line: RoutedLine) -> float:
    """Return the middle of `routed_impedance`; raises the same."""
    return routed_impedance(lines, line).ohm


def routed_uncertainty(lines: Lines, line: RoutedLine) -> LineUncertainty:
    """Return what is not known of the impedance of a routed geometry; raises what solving raises."""
    near_fill = line.near_fill
    ground_mm = None if near_fill is None or not near_fill.is_even else near_fill.near_mm
    known = lines.uncertainty(line.layer, line.width_mm, line.gap_mm, line.references, ground_mm)
    causes = {Cause.FILL: routed_impedance(lines, line).fill_pct}
    if ground_mm is not None:
        causes[Cause.SOLVER] = 100 * _solved(lines, line, ground_mm).solution.error_estimate
    more = (Contribution(cause=cause, low_pct=-pct, high_pct=pct) for cause, pct in causes.items() if pct)
    return replace(known, contributions=tuple(sorted((*known.contributions, *more), key=lambda one: -one.pct)))


def _solved(lines: Lines, line: RoutedLine, coplanar_mm: float | None) -> SolvedLine:
    return lines.solved(line.layer, line.width_mm, line.gap_mm, line.references, line.other_mm, coplanar_mm=coplanar_mm)


def _ohm(lines: Lines, line: RoutedLine, coplanar_mm: float | None) -> float:
    return _solved(lines, line, coplanar_mm).impedance_ohm * (2 if line.is_pair and line.gap_mm is None else 1)
