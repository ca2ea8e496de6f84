"""How a production spreads the impedance of the lines that are judged, against what is allowed; for a drawing.

The board is judged by its nominal impedance alone. What a production makes of it depends on the fab, whose tolerances
are not stated yet: those of a typical one are taken, which has no impedance control of its own and adjusts nothing.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from drc_rules.analysis.lines.broadside_pairs import ASK_THE_FAB, BROADSIDE, is_broadside
from drc_rules.analysis.lines.routed import NearFill
from drc_rules.analysis.lines.routed_impedance import routed_uncertainty
from drc_rules.analysis.lines.solved_lines import Lines, production_process
from drc_rules.analysis.targets.controlled import ControlledLine, controlled_lines, counted
from drc_rules.facts.context import Context
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.transmission_lines.normal_quadratic import NormalQuadratic
from stackup_lib.transmission_lines.process import Process
from stackup_lib.transmission_lines.site import TraceEnvironment
from stackup_lib.transmission_lines.tolerance import CENTRAL, respond
from stackup_lib.transmission_lines.variation import VariedLine

MOST_LINES = 6
"""Number of geometries reported per target, the longest first."""

MOST_SOLVED = 20
"""Cross sections solved for one board: each takes some twenty solutions."""

BINS, WIDEST_SIGMAS = 48, 4.0
"""The curve of a distribution: number of points, and the standard deviations that they span."""

CAUSES = {
    "width": "width",
    "taper": "etched flanks",
    "copper": "copper thickness",
    "thickness": "dielectric thickness",
    "dk": "Dk",
    "mask": "solder mask",
}
"""First word of a variable of the process -> what it is called."""


class SpreadCause(Frozen):
    """What moves an impedance, with its share of the variance to first order, 0 to 1."""

    name: str
    share: float


class LineSpread(Frozen):
    """The impedance that a production makes of one routed geometry.

    Attributes:
        layers: on which it runs; cross sections that are alike, mirror images too, are one.
        length_mm: of all nets together.
        nets: how many.
        nominal_ohm: as the impedance table has it: Z0, or Zdiff of a pair.
        model_pct: what the model itself does not know of that; the whole distribution may lie off by so much.
        sigma_pct: standard deviation.
        interval_ohm: of 99.73 % of the production.
        inside: share inside what is allowed, 0 to 1; `low` where the model is off the worse way.
        causes: the strongest first.
        density: ohm and share per ohm, by rising ohm.
    """

    layers: tuple[str, ...]
    width_mm: float
    gap_mm: float | None
    length_mm: float
    nets: int
    nominal_ohm: float
    model_pct: float
    sigma_pct: float
    interval_ohm: Interval
    inside: Interval
    causes: tuple[SpreadCause, ...]
    density: tuple[tuple[float, float], ...]


class TargetSpread(Frozen):
    """The lines with one target impedance.

    Attributes:
        titles: for whom.
        tolerance_pct: allowed deviation.
        lines: the longest first.
        problems: why others are left out.
    """

    titles: tuple[str, ...]
    target_ohm: float
    kind: Literal["single", "differential"]
    tolerance_pct: float
    lines: tuple[LineSpread, ...]
    problems: tuple[str, ...] = ()

    @property
    def band_ohm(self) -> tuple[float, float]:
        """What is allowed."""
        share = self.tolerance_pct / 100
        return self.target_ohm * (1 - share), self.target_ohm * (1 + share)


Asked = tuple[float, Literal["single", "differential"], float]
Shape = tuple[TraceEnvironment, float, float | None, bool, NearFill | None]
"""Surroundings, width, gap, and whether it is a trace of a pair that runs alone."""


def impedance_spreads(ctx: Context) -> tuple[TargetSpread, ...]:
    """Return what a typical production makes of every geometry whose impedance is judged, the most routed target first.

    Lines with a missing fact are reported as a problem.
    """
    groups: dict[Asked, list[ControlledLine]] = {}
    for found in counted(ctx.get(controlled_lines)):
        asked = found.target
        groups.setdefault((asked.ohm, asked.kind, asked.tolerance_pct), []).append(found)
    ordered = sorted(groups.items(), key=lambda item: (-sum(f.line.length_mm for f in item[1]), item[0]))
    with ctx.recording():  # a drawing decides nothing
        solver = _Solver(ctx)
        return tuple(_target(solver, asked, lines) for asked, lines in ordered)


@record
class _Answer:
    """A geometry's nominal impedance, its distribution in ln(Z / nominal), and what moves it."""

    nominal_ohm: float
    surface: NormalQuadratic
    causes: tuple[SpreadCause, ...]


@dataclass
class _Solver:
    """Solves each cross section once, and no more than `MOST_SOLVED`."""

    ctx: Context
    process: Process = field(default_factory=production_process)
    _known: dict[Shape, _Answer] = field(default_factory=dict)

    def shape(self, found: ControlledLine) -> Shape:
        """Return what equal lines have in common; raises `MissingFact`."""
        line = found.line
        if any(is_broadside(self.ctx, line, net) for net in line.nets):
            raise MissingFact(BROADSIDE, ASK_THE_FAB)
        site = Lines(self.ctx).site(line.layer, line.references).site
        return site.canonical(), line.width_mm, line.gap_mm, line.is_pair and line.gap_mm is None, line.near_fill

    def answer(self, shape: Shape, found: ControlledLine) -> _Answer | None:
        """Return the answer for a geometry, None for one too many; raises what solving raises."""
        if shape not in self._known:
            if len(self._known) >= MOST_SOLVED:
                return None
            nominal = found.impedance_ohm(Lines(self.ctx))  # first: it refuses what no solver should get
            line = VariedLine(shape[0], shape[1], shape[2], _ground_mm(found), self.process)
            fit = respond(line)
            parts = [
                (v.name.split()[0], (fit.sensitivities[v.name] * v.sigma) ** 2) for v in line.variables if v.sigma > 0
            ]
            self._known[shape] = _Answer(nominal, fit.surface, tuple(_causes(parts)))
        return self._known[shape]


def _ground_mm(found: ControlledLine) -> float | None:
    """Return how far ground is on both sides on the line's layer, None where it is not at one distance."""
    near_fill = found.line.near_fill
    return near_fill.near_mm if near_fill is not None and near_fill.is_even else None


def _target(solver: _Solver, asked: Asked, lines: Sequence[ControlledLine]) -> TargetSpread:
    shapes: dict[Shape, list[ControlledLine]] = {}
    problems: dict[str, None] = {}
    for found in lines:
        try:
            shapes.setdefault(solver.shape(found), []).append(found)
        except (MissingFact, StackwrightError) as error:
            problems[error.what] = None
    ordered = sorted(shapes.items(), key=lambda item: -_length_mm(item[1]))
    told: list[LineSpread] = []
    left_mm = 0.0
    for shape, same in ordered:
        try:
            answer = solver.answer(shape, same[0]) if len(told) < MOST_LINES else None
        except (MissingFact, StackwrightError) as error:
            problems[error.what] = None
            continue
        if answer is None:
            left_mm += _length_mm(same)
        else:
            told.append(_line(solver.ctx, asked, same, answer))
    if left_mm:
        problems[f"{left_mm:.0f} mm in other widths, gaps and planes are not drawn"] = None
    titles = tuple(dict.fromkeys(found.target.title for found in lines))
    ohm, kind, tolerance = asked
    return TargetSpread(
        titles=titles,
        target_ohm=ohm,
        kind=kind,
        tolerance_pct=tolerance,
        lines=tuple(told),
        problems=tuple(problems),
    )


def _length_mm(lines: Sequence[ControlledLine]) -> float:
    return sum(found.line.length_mm for found in lines)


def _line(ctx: Context, asked: Asked, same: Sequence[ControlledLine], answer: _Answer) -> LineSpread:
    line, surface, nominal = same[0].line, answer.surface, answer.nominal_ohm
    unknown = routed_uncertainty(Lines(ctx), line)
    low, high = (nominal * math.exp(surface.quantile(q)) for q in ((1 - CENTRAL) / 2, (1 + CENTRAL) / 2))
    off_pct = (0.0, unknown.low_pct, unknown.high_pct)
    shares = [inside(surface, nominal * (1 + off / 100), asked[0], asked[2]) for off in off_pct]
    layers = sorted({found.line.layer for found in same})
    return LineSpread(
        layers=tuple(ctx.board.copper_layers[index].name for index in layers),
        width_mm=line.width_mm,
        gap_mm=line.gap_mm,
        length_mm=_length_mm(same),
        nets=len({net for found in same for net in found.line.nets}),
        nominal_ohm=nominal,
        model_pct=unknown.total_pct,
        sigma_pct=100 * surface.sigma,
        interval_ohm=Interval(low=min(low, nominal), nominal=nominal, high=max(high, nominal)),
        inside=Interval(low=min(shares), nominal=shares[0], high=max(shares)),
        causes=answer.causes,
        density=tuple(_density(surface, nominal)),
    )


def inside(surface: NormalQuadratic, nominal_ohm: float, target_ohm: float, tolerance_pct: float) -> float:
    """Return the share of a production inside a tolerance, 0 to 1.

    Args:
        surface: ln(Z / nominal) over the process.
        nominal_ohm: what the nominal line has.
        target_ohm: centre of the tolerance.
        tolerance_pct: half its width, in percent of the target.
    """
    off, share = math.log(target_ohm / nominal_ohm), tolerance_pct / 100
    return surface.between(off + math.log1p(-share), off + math.log1p(share))


def _density(surface: NormalQuadratic, nominal_ohm: float) -> Iterator[tuple[float, float]]:
    """Yield the distribution's density over the impedance, in shares per ohm: from exact shares of narrow bins."""
    if surface.sigma == 0:
        return
    start, step = surface.mean - WIDEST_SIGMAS * surface.sigma, 2 * WIDEST_SIGMAS * surface.sigma / BINS
    edges = [start + k * step for k in range(BINS + 1)]
    below = [surface.below(edge) for edge in edges]
    for k in range(BINS):
        low, high = nominal_ohm * math.exp(edges[k]), nominal_ohm * math.exp(edges[k + 1])
        yield (low + high) / 2, max(below[k + 1] - below[k], 0.0) / (high - low)


def _causes(parts: Sequence[tuple[str, float]]) -> Iterator[SpreadCause]:
    """Yield the causes by their share of the variance; rows of the stackup are taken together."""
    sums: dict[str, float] = {}
    for word, variance in parts:
        name = CAUSES[word]
        sums[name] = sums.get(name, 0.0) + variance
    total = sum(sums.values())
    for name, variance in sorted(sums.items(), key=lambda item: (-item[1], item[0])):
        if total:
            yield SpreadCause(name=name, share=variance / total)
