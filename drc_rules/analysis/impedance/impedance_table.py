"""Layer by target: the geometry that meets an impedance, what it loses, and how a fab's spread moves it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from drc_rules.analysis.lines.broadside_pairs import BROADSIDE, is_broadside
from drc_rules.analysis.lines.routed import NearFill, RoutedLine
from drc_rules.analysis.lines.routed_impedance import routed_impedance_ohm
from drc_rules.analysis.lines.solved_lines import (
    LINE_TOLERANCE,
    Lines,
    LossAt,
    production_process,
)
from drc_rules.analysis.targets.targets import USUAL_TOLERANCE_PCT
from drc_rules.requirements.fabs import Tier, track_space
from stackup_lib.core.errors import StackwrightError, answer_once
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import ounce_class
from stackup_lib.transmission_lines.inverse import Solved, Unreachable, solve_pair, solve_width
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError
from stackup_lib.transmission_lines.site import TraceEnvironment
from stackup_lib.transmission_lines.tolerance import ImpedanceSpread, spread_or_why
from stackup_lib.transmission_lines.width_request import GapPerWidth, KeepGap, PairRule, Target, WidthLimits

WIDEST_MM = 5.0
"""No controlled line of a board is wider."""

WIDEST_GAP_MM = 2.0

FALLBACK_LEAST_MM = 0.075
"""Finest track and space of half-ounce copper at the best fabs; used where the copper weight is not known."""

GAPS_PER_WIDTH = (1.0, 2.0)
"""Gap of a pair of which nothing states one: as wide as the trace; twice as wide where that does not reach.

A pair that is routed on other layers keeps the gap that it has there, where that reaches: a net class has one gap."""


class LineTarget(Frozen):
    """A target impedance.

    Attributes:
        title: for whom, e.g. `PCIe Gen5` or a net class.
        nyquist_ghz: where its loss counts, None where not specified.
        gap_mm: of the pair, where the design states one.
        coplanar_mm: distance to ground on both sides on the line's own layer, None without.
        source: where it comes from.
        tolerance_pct: how far the impedance may be off.
        routed: in which geometries the board's nets of it were routed.
    """

    title: str
    target: Target
    nyquist_ghz: float | None = None
    gap_mm: float | None = None
    coplanar_mm: float | None = None
    source: str = ""
    tolerance_pct: float = USUAL_TOLERANCE_PCT
    routed: tuple[RoutedLine, ...] = ()

    def traces(self, gap_mm: float | None) -> int:
        """Return of how many routed lines the target is the impedance: 2 where a trace of a pair runs alone."""
        return 2 if self.target.kind == "differential" and gap_mm is None else 1


class Routed(Frozen):
    """A routed geometry and what it has: Z0, or Zdiff of a pair; None where it has no plane or cannot be solved.

    `near_fill` is filled copper next to it on its own layer; where it is not even, the impedance is the middle of what
    it leaves open.
    """

    width_mm: float
    gap_mm: float | None
    length_mm: float
    impedance_ohm: float | None
    problem: str = ""
    near_fill: NearFill | None = None


class ImpedanceRow(Frozen):
    """One target on one layer.

    Attributes:
        width_mm, gap_mm: what meets the target, at the base; None where nothing does.
        impedance_ohm: of that geometry.
        loss: at the target's Nyquist frequency.
        model_pct: what is not known of Dk, etch taper, outer copper and mask, in percent of the impedance.
        process_pct: standard deviation of a typical production, in percent; None, as the yields, where its limits
            leave no line.
        yield_10_pct: share of it inside +-10 % of the target, in percent.
        yield_pct: the same inside the target's own tolerance.
        routed: what is on the board for this target on this layer, the longest first.
        problem: why there is no geometry: a missing fact, or what cannot be reached.
        loss_problem: why there is no loss.
        cure: what to do about either.
    """

    layer: str
    target: LineTarget
    references: tuple[str, ...] = ()
    width_mm: float | None = None
    gap_mm: float | None = None
    impedance_ohm: float | None = None
    eps_eff: float | None = None
    loss: LossAt | None = None
    model_pct: float | None = None
    process_pct: float | None = None
    yield_10_pct: float | None = None
    yield_pct: float | None = None
    routed: tuple[Routed, ...] = ()
    problem: str = ""
    loss_problem: str = ""
    cure: str = ""
    assumptions: tuple[str, ...] = ()


def limits_of(lines: Lines, index: int) -> WidthLimits:
    """Return the finest width and gap that the best fabs etch in a layer's copper."""
    thickness = lines.ctx.copper_thickness_mm(index).value
    ounces = ounce_class(thickness, outer=False).value if thickness else None
    row = track_space(ounces) if ounces else None
    least = row.least_mm(Tier.BEST) if row else FALLBACK_LEAST_MM
    return WidthLimits(min_width_mm=least, max_width_mm=WIDEST_MM, min_gap_mm=least, max_gap_mm=WIDEST_GAP_MM)


_Solution = tuple[Solved, ImpedanceSpread | None]


@dataclass
class ImpedanceTable:
    """Solves targets on layers; equal surroundings, mirror images among them, are solved once."""

    lines: Lines
    _found: dict[tuple[TraceEnvironment, LineTarget, WidthLimits], _Solution | StackwrightError] = field(
        default_factory=dict
    )

    def rows(
        self,
        layers: Iterable[int],
        targets: Iterable[LineTarget],
        references: tuple[int | None, int | None] | None = None,
    ) -> Iterator[ImpedanceRow]:
        """Solve every target on every layer, target by target."""
        where = tuple(layers)
        for target in targets:
            for index in where:
                yield self._row(index, target, references)

    def _row(self, index: int, asked: LineTarget, references: tuple[int | None, int | None] | None) -> ImpedanceRow:
        layer = self.lines.ctx.board.copper_layers[index].name
        routed = self._routed(index, asked)
        gap = asked.gap_mm if asked.gap_mm is not None or not routed else routed[0].gap_mm
        target = asked.model_copy(update={"routed": (), "gap_mm": gap})
        try:
            site, limits = self.lines.site(index, references).site, limits_of(self.lines, index)
            if gap is None and not routed and (elsewhere := _usual_gap_mm(asked)) and elsewhere >= limits.min_gap_mm:
                with suppress(StackwrightError):
                    kept = target.model_copy(update={"gap_mm": elsewhere})
                    self._solve(site, kept, limits)
                    target = kept
            solved, production = self._solve(site, target, limits)
        except (MissingFact, StackwrightError) as error:
            return ImpedanceRow(layer=layer, target=target, routed=routed, problem=error.what, cure=error.next_step)
        loss, problem, cure = self._loss(index, target, solved, references)
        planes = (
            (site.reference_below, site.reference_above)
            if site.is_turned
            else (site.reference_above, site.reference_below)
        )
        return ImpedanceRow(
            layer=layer,
            target=target,
            references=tuple(plane for plane in planes if plane),
            width_mm=solved.width_mm,
            gap_mm=solved.gap_mm,
            impedance_ohm=solved.impedance_ohm,
            eps_eff=solved.solution.eps_eff_odd if solved.solution.is_pair else solved.solution.eps_eff,
            loss=loss,
            model_pct=self.lines.uncertainty(
                index, solved.width_mm, solved.gap_mm, references, target.coplanar_mm
            ).total_pct,
            process_pct=production.sigma_pct if production else None,
            yield_10_pct=100 * production.inside(10.0).share if production else None,
            yield_pct=100 * production.inside(target.tolerance_pct).share if production else None,
            routed=routed,
            loss_problem=problem,
            cure=cure,
            assumptions=loss.assumptions if loss else self.lines.site(index, references).assumptions,
        )

    def _routed(self, index: int, target: LineTarget) -> tuple[Routed, ...]:
        """Sum the lengths of each width and gap on a layer; its impedance is that between the usual planes."""
        lengths: dict[tuple[float, float | None, NearFill | None], float] = {}
        usual: dict[tuple[float, float | None, NearFill | None], RoutedLine] = {}
        for line in target.routed:
            if line.layer == index:
                key = (line.width_mm, line.gap_mm, line.near_fill)
                lengths[key] = lengths.get(key, 0.0) + line.length_mm
                usual.setdefault(key, line)
        ordered = sorted(lengths, key=lambda key: -lengths[key])
        return tuple(
            Routed(
                width_mm=key[0],
                gap_mm=key[1],
                length_mm=lengths[key],
                impedance_ohm=self._ohm(usual[key]),
                problem=BROADSIDE if self._is_broadside(usual[key]) else "",
                near_fill=key[2],
            )
            for key in ordered
        )

    def _is_broadside(self, line: RoutedLine) -> bool:
        return any(is_broadside(self.lines.ctx, line, net) for net in line.nets)

    def _ohm(self, line: RoutedLine) -> float | None:
        if self._is_broadside(line):
            return None
        try:
            return routed_impedance_ohm(self.lines, line)
        except (MissingFact, StackwrightError):
            return None

    def _solve(self, site: TraceEnvironment, target: LineTarget, limits: WidthLimits) -> _Solution:
        key = (site.canonical(), target, limits)
        return answer_once(self._found, key, lambda: _solved(key[0], target, limits))

    def _loss(
        self,
        index: int,
        target: LineTarget,
        solved: Solved,
        references: tuple[int | None, int | None] | None,
    ) -> tuple[LossAt | None, str, str]:
        if target.nyquist_ghz is None:
            return None, "no frequency: the interface is not specified", "name it with --interface or --frequency"
        try:
            line = self.lines.solved(index, solved.width_mm, solved.gap_mm, references, coplanar_mm=target.coplanar_mm)
            return self.lines.loss_of(line, self.lines.site(index, references), target.nyquist_ghz), "", ""
        except MissingFact as missing:
            return None, missing.what, missing.how_to_give
        except DielectricDataError as error:
            return None, str(error), ""


def _usual_gap_mm(target: LineTarget) -> float | None:
    """Return the gap with which most of the pairs of a target are routed; None where none is."""
    lengths: dict[float, float] = {}
    for line in target.routed:
        if line.gap_mm is not None:
            lengths[line.gap_mm] = lengths.get(line.gap_mm, 0.0) + line.length_mm
    return max(lengths, key=lambda gap: (lengths[gap], -gap), default=None)


def _solved(site: TraceEnvironment, target: LineTarget, limits: WidthLimits) -> _Solution:
    if target.target.kind == "single":
        solved = solve_width(
            site, target.target, limits=limits, coplanar_gap_mm=target.coplanar_mm, tolerance=LINE_TOLERANCE
        )
    else:
        solved = _pair(site, target, limits)
    production, _ = spread_or_why(
        site,
        solved.width_mm,
        solved.gap_mm,
        production_process(),
        target.coplanar_mm,
        target_ohm=target.target.ohm,
        within_pct=tuple(dict.fromkeys((10.0, target.tolerance_pct))),
        tolerance=LINE_TOLERANCE,
    )
    return solved, production


def _pair(site: TraceEnvironment, target: LineTarget, limits: WidthLimits) -> Solved:
    rules: list[PairRule] = [GapPerWidth(ratio=ratio) for ratio in GAPS_PER_WIDTH]
    if target.gap_mm is not None:  # as stated: what a fab etches bounds the width alone
        rules = [KeepGap(gap_mm=target.gap_mm)]
        limits = limits.model_copy(update={"min_gap_mm": min(target.gap_mm, limits.min_gap_mm)})
    ground = target.coplanar_mm
    for how in rules[:-1]:
        with suppress(Unreachable):
            return solve_pair(site, target.target, limits, how=how, coplanar_gap_mm=ground, tolerance=LINE_TOLERANCE)
    return solve_pair(site, target.target, limits, how=rules[-1], coplanar_gap_mm=ground, tolerance=LINE_TOLERANCE)
