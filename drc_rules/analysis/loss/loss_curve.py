"""A link's insertion loss over frequency, part by part: computed as at Nyquist, for a drawing; it decides nothing.

Every point takes the Df of its own frequency. Where a data sheet states none, or a declared one does not reach, the
curve begins or ends, and says which fact is missing.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_table import BOUND_DB, decibels, finite_db
from drc_rules.facts.context import Context
from drc_rules.report.link_rows import Decibels, LinkLossRow
from drc_rules.requirements.interfaces import interface
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen

LOWEST_GHZ = 0.1
"""Below this no link of a board loses anything worth a drawing."""

REACH = 1.5
"""Curves end at this many times Nyquist: beyond it hardly any power of the signal is left."""

STEPS = 18
"""Points, drawn densest at low frequencies, where copper loss rises as the root."""

IN_TABLE = (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
"""Shares of Nyquist at which the curve is given as numbers, too."""

STEEP_DB, MORE_POINTS = 1.0, 16
"""Neighbours that differ by more get a point between them, up to a maximum: a stub near its resonance."""


class LossPoint(Frozen):
    """Loss at one frequency; parts are nominal and add up.

    `holes_db` and with it the nominal total is None where a stub resonates at this frequency or below.
    """

    frequency_ghz: float
    total_db: Decibels
    dielectric_db: float
    copper_db: float
    roughness_db: float
    holes_db: float | None

    @property
    def lines_db(self) -> float:
        """Nominal loss of the lines alone, without vias and pads."""
        return self.dielectric_db + self.copper_db + self.roughness_db


class LossCurve(Frozen):
    """The loss of one link over frequency.

    Attributes:
        row: the link at Nyquist, with what the board may lose.
        points: by frequency, Nyquist among them.
        begins_for, ends_for: the missing fact that stops the curve below or above; empty where it does.
        limit_ghz: beyond this more is lost than is computed; None where that is beyond the last point.
        limit_reason: what ends it.
    """

    row: LinkLossRow
    points: tuple[LossPoint, ...]
    begins_for: str = ""
    ends_for: str = ""
    limit_ghz: float | None = None
    limit_reason: str = ""

    def at(self, frequency_ghz: float) -> LossPoint | None:
        """Return the point at a frequency, None where there is none."""
        return next((p for p in self.points if math.isclose(p.frequency_ghz, frequency_ghz, rel_tol=1e-9)), None)

    @property
    def figures(self) -> tuple[LossPoint, ...]:
        """The points for a table, at simple shares of Nyquist."""
        found = (self.at(share * self.row.nyquist_ghz) for share in IN_TABLE)
        return tuple(point for point in found if point is not None)


def loss_curves(ctx: Context, rows: Iterable[LinkLossRow]) -> tuple[LossCurve, ...]:
    """Return the curves of links whose loss at Nyquist is known, in the order of the rows of the report's table.

    Args:
        ctx: the checked board.
        rows: links of the table that are to be drawn.
    """
    with ctx.recording():  # a drawing decides nothing
        found = ((row, _link_of(ctx, row)) for row in rows)
        return tuple(_curve(ctx, row, link) for row, link in found if link is not None)


def _link_of(ctx: Context, row: LinkLossRow) -> LinkLoss | None:
    """Return the solved link that a row tells of."""
    if row.total_db is None:
        return None
    for one in map(interface, ctx.assignment.fast_interfaces()):
        if one.title == row.interface:
            for link in LinkLosses(ctx).of(one.id, declared=not row.inferred).known:
                if tuple(ctx.board.nets[net] for net in link.nets) == row.nets:
                    return link
    return None


def _curve(ctx: Context, row: LinkLossRow, link: LinkLoss) -> LossCurve:
    asked = _Asked(lambda ghz: LinkLosses(ctx).at(link, ghz))
    nyquist, grid = row.nyquist_ghz, _frequencies(row.nyquist_ghz)
    middle = grid.index(nyquist)
    points = {nyquist: _point(nyquist, link)}
    begins_for = asked.into(points, reversed(grid[:middle]))
    ends_for = asked.into(points, grid[middle + 1 :])
    asked.refine(points)
    limit, reason = min((s.loss.limit_ghz, s.loss.limit_reason) for s in link.sections)
    is_reached = limit < max(points)
    return LossCurve(
        row=row,
        points=tuple(points[ghz] for ghz in sorted(points)),
        begins_for=begins_for,
        ends_for=ends_for,
        limit_ghz=limit if is_reached else None,
        limit_reason=reason if is_reached else "",
    )


def _frequencies(nyquist_ghz: float) -> list[float]:
    """Return the frequencies to solve at, rising: evenly in their root, and those of the table."""
    low, high = math.sqrt(LOWEST_GHZ), math.sqrt(REACH * nyquist_ghz)
    even = {(low + (high - low) * k / STEPS) ** 2 for k in range(STEPS)}
    simple = {share * nyquist_ghz for share in IN_TABLE if share * nyquist_ghz > LOWEST_GHZ} | {nyquist_ghz}
    return sorted(simple | {ghz for ghz in even if not any(math.isclose(ghz, s, rel_tol=0.02) for s in simple)})


@dataclass
class _Asked:
    """Computes the link at a frequency, and remembers why there is no answer."""

    at: Callable[[float], LinkLoss]
    problem: str = field(default="", init=False)

    def point(self, ghz: float) -> LossPoint | None:
        try:
            return _point(ghz, self.at(ghz))
        except MissingFact as fact:
            self.problem = fact.name
        except StackwrightError as error:
            self.problem = error.what
        return None

    def into(self, points: dict[float, LossPoint], frequencies: Iterable[float]) -> str:
        """Add points until one is not known, and return why it is not; empty where all are."""
        for ghz in frequencies:
            point = self.point(ghz)
            if point is None:
                return self.problem
            points[ghz] = point
        return ""

    def refine(self, points: dict[float, LossPoint]) -> None:
        """Add points where the loss is steep, next to the resonance of a stub."""
        for _ in range(MORE_POINTS):
            ghz = max(_steep(points), default=None)
            point = self.point(ghz[1]) if ghz else None
            if ghz is None or point is None:
                return
            points[ghz[1]] = point


def _steep(points: dict[float, LossPoint]) -> Iterator[tuple[float, float]]:
    """Yield the steps of the curve that are too high for a line, and the frequency in their middle."""
    rising = sorted(points)
    widest = rising[-1] / 500
    most = 3 * max(points[ghz].lines_db for ghz in rising)  # what is beyond is beyond the drawing as well
    for a, b in pairwise(rising):
        low, high = (min(_nominal_db(points[ghz]), most) for ghz in (a, b))
        if abs(high - low) > STEEP_DB and b - a > widest:
            yield abs(high - low), (a + b) / 2


def _nominal_db(point: LossPoint) -> float:
    return BOUND_DB if point.total_db.nominal is None else point.total_db.nominal


def _point(ghz: float, link: LinkLoss) -> LossPoint:
    return LossPoint(
        frequency_ghz=ghz,
        total_db=decibels(link.total_db),
        dielectric_db=link.dielectric_db,
        copper_db=link.copper_db,
        roughness_db=link.roughness_db,
        holes_db=finite_db(link.holes_db.nominal),
    )
