"""What a candidate does: widths, loss, legal lengths, stubs, cost. Lengths in mm."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from stackup_lib.core.errors import StackwrightError, answer_once
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import Section
from stackup_lib.field_solver.solver import LADDER, impedance_once, solve
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup
from stackup_lib.synthesis.cost import Cost, cost_of
from stackup_lib.synthesis.goals import USUAL_GAP_PER_WIDTH, Goals, LineGoal, RoutedSize
from stackup_lib.synthesis.line_loss import least_loss_db_per_inch, loss_key, materials_of
from stackup_lib.synthesis.routed_lines import leaves, most_ohm, rerouted
from stackup_lib.transmission_lines.inverse import Solved, solve_pair, solve_width
from stackup_lib.transmission_lines.lossy import SolvedLine, loss_of
from stackup_lib.transmission_lines.site import TraceEnvironment
from stackup_lib.transmission_lines.width_request import GapPerWidth, KeepPitch, Target, WidthLimits

COARSE = 1e-3
"""Tolerance of the solver while candidates are compared."""

FINE = 1e-4
"""Tolerance of the solver for what is shown."""

THICKNESS_SLACK = 0.1
DK_SLACK = 0.02
"""Impedance interval to first order: a dielectric is made to a tenth, its Dk is known to 2 %; engineering judgement."""

ROUGH_ERROR = 0.02
"""Relative; the coarsest mesh was off by 0.06 % at most on 34 pairs of candidates of three profiles."""

LOSES = "loses up to"
"""How a fault of loss says what a layer loses at most."""

ALONE = "the dielectrics alone lose"
"""How a fault of loss says that no trace can help."""

FAR_BELOW = 0.985
"""Of a target: 25 times the error of the coarsest mesh below it."""

GAP_BEYOND_PEAK = 3.0

PIECES = 6
"""Of the widths of a pair, to bound its impedance in each."""

MAY_BE_TOO_WIDE = 1.5
"""Pairs whose flat faces alone allow more than this times their target are left for the search of their width."""

Judgement = tuple[str, bool, str]
Judge = Callable[[CandidateStackup], list[Judgement]]


class LineResult(Frozen):
    """A line goal on one layer.

    Attributes:
        impedance_ohm: nominal as solved; the ends are first-order estimates.
        loss_db_per_inch: at Nyquist, None where the goal has none.
        longest_legal_mm: within the budget at the worst loss.
        margin_db: what is left of the budget over the longest link at the worst loss.
        is_routed: as wide as a board routes it, not as wide as the goal takes.
        is_moved: a board routes it there in a size that leaves the tolerance.
    """

    goal: str
    layer: str
    width_mm: float
    gap_mm: float | None
    impedance_ohm: Interval
    loss_db_per_inch: Interval | None = None
    longest_legal_mm: float | None = None
    meets_budget: bool | None = None
    margin_db: float | None = None
    is_routed: bool = False
    is_moved: bool = False


class Evaluated(Frozen):
    """A candidate with all that is known of it; `faults` is empty when it meets the goals.

    Attributes:
        missed_wishes: preferred clauses that it does not meet.
        rerouted: routed sizes of a board that is laid out that leave their tolerance.
    """

    candidate: CandidateStackup
    lines: tuple[LineResult, ...]
    cost: Cost
    thickness_error: float
    laminations: int
    aspect_ratio: float
    backdrilled: tuple[str, ...]
    faults: tuple[str, ...]
    clauses: tuple[Judgement, ...] = ()
    missed_wishes: tuple[str, ...] = ()
    rerouted: int = 0

    @property
    def worst_loss_db_per_inch(self) -> float:
        """Nominal, of the worst line; 0 where no line has a frequency."""
        return max((r.loss_db_per_inch.nominal for r in self.lines if r.loss_db_per_inch), default=0.0)

    @property
    def least_margin_db(self) -> float | None:
        """Of all lines with a budget; None without one."""
        return min((r.margin_db for r in self.lines if r.margin_db is not None), default=None)


class TooWideError(StackwrightError):
    """The narrowest trace is too wide for its impedance."""


@dataclass
class Solutions:
    """Solved lines and their losses; evaluators share them, and equal sites are solved once."""

    widths: dict[tuple[object, ...], Solved | StackwrightError] = field(default_factory=dict)
    results: dict[tuple[object, ...], LineResult | StackwrightError] = field(default_factory=dict)
    lines: dict[tuple[object, ...], SolvedLine] = field(default_factory=dict)
    losses: dict[tuple[object, ...], Interval] = field(default_factory=dict)
    wider: dict[tuple[object, ...], bool] = field(default_factory=dict)
    leaving: dict[tuple[object, ...], bool] = field(default_factory=dict)


@dataclass
class Evaluator:
    """Evaluates candidates against goals."""

    goals: Goals
    tolerance: float = FINE
    solutions: Solutions = field(default_factory=Solutions)

    def __post_init__(self) -> None:
        g = self.goals
        inner = WidthLimits(min_width_mm=g.least_width_mm, max_width_mm=g.max_width_mm, min_gap_mm=g.least_gap_mm)
        width, gap = g.least_outer_width_mm or inner.min_width_mm, g.least_outer_gap_mm or inner.min_gap_mm
        outer = inner.model_copy(update={"min_width_mm": width, "min_gap_mm": gap})
        self.limits = {"stripline": inner, "outer": outer}
        of_goals = g.laid_out.of_goals if g.laid_out else ()
        self.routed = {(one.goal, one.layer): one for one in of_goals}
        self.sought = (inner, outer, g.gap_per_width, g.pair_pitch_mm)

    def evaluate(self, candidate: CandidateStackup, clauses: tuple[Judgement, ...] = ()) -> Evaluated:
        """Solve every line goal on every layer that carries it, and count what the stackup costs."""
        return self.judged(self._with_lines(candidate, self.goals.lines), clauses)

    def judged(self, found: Evaluated, clauses: tuple[Judgement, ...]) -> Evaluated:
        """Return what is known of a candidate with what a judge says of it: required clauses are faults."""
        wishes = self.goals.preferred_clauses
        unmet = tuple(f"{clause}: {words}" for clause, met, words in clauses if not met and clause not in wishes)
        missed = tuple(clause for clause, met, _ in clauses if not met and clause in wishes)
        return found.model_copy(update={"clauses": clauses, "faults": found.faults + unmet, "missed_wishes": missed})

    def evaluate_inner(self, candidate: CandidateStackup) -> Evaluated:
        """Solve the striplines, and pairs that may have no width: loss, cost and faults are no worse than of the whole.

        Those are pairs of a routed gap over width, which few dielectrics hold, and others that no width saves.
        """
        is_routed_gap = self.goals.gap_per_width != USUAL_GAP_PER_WIDTH
        return self._with_lines(
            candidate,
            tuple(
                goal
                for goal in self.goals.lines
                if goal.where == "stripline"
                or (is_routed_gap and goal.target.kind == "differential")
                or self._is_surely_too_wide(candidate, goal)
            ),
        )

    def bound(self, candidate: CandidateStackup) -> tuple[Evaluated, float]:
        """Return what is known without solving a line, and a loss in dB/inch that the worst line cannot undercut."""
        found = self._with_lines(candidate, ())
        least, faults = 0.0, list(found.faults)
        for goal in self.goals.lines:
            if goal.nyquist_ghz is None:
                continue
            for index in _layers_of(goal, candidate) if goal.where == "stripline" else ():
                loss = least_loss_db_per_inch(candidate, index, goal.nyquist_ghz)
                if loss is None:
                    faults.append(f"{goal.name}: no Df is known at {goal.nyquist_ghz:g} GHz")
                    continue
                least = max(least, loss)
                if goal.loss_budget_db is not None and loss * (goal.longest_mm or 0) / 25.4 > goal.loss_budget_db:
                    faults.append(_hopeless(goal, loss))
        return found.model_copy(update={"faults": tuple(dict.fromkeys(faults))}), least

    def _with_lines(self, candidate: CandidateStackup, goals: tuple[LineGoal, ...]) -> Evaluated:
        lines: list[LineResult] = []
        faults: list[str] = []
        copper, sheets = candidate.copper, candidate.dielectrics
        around = [Around(candidate, copper, sheets, index) for index in range(len(copper))] if goals else []
        for goal in goals:
            indices = _layers_of(goal, candidate)
            if not indices:
                faults.append(f"{goal.name}: no {'fast' if goal.where == 'stripline' else 'outer'} layer carries it")
            is_routed = {index: (goal.name, index) in self.routed for index in indices}
            of_goal: dict[int, LineResult] = {}
            for index in sorted(indices, key=is_routed.__getitem__):
                if faults and is_routed[index]:
                    continue  # widths that are sought fail most often
                try:
                    of_goal[index] = self._line(around[index], goal)
                except StackwrightError as error:
                    faults.append(f"{goal.name}: {copper[index].name}: {error.what}")
            lines += [of_goal[index] for index in sorted(of_goal)]
        faults += [_over_budget(r, self.goals) for r in lines if r.meets_budget is False]
        aspect = candidate.drilled_mm / self.goals.drill_mm
        if aspect > self.goals.max_aspect_ratio:
            faults.append(
                f"aspect ratio {aspect:.1f} of a {self.goals.drill_mm:g} mm drill, "
                f"{self.goals.max_aspect_ratio:g} allowed"
            )
        stubs = self._backdrilled(candidate)
        wanted = self.goals.thickness_mm
        sizes = [min(r.width_mm, r.gap_mm or r.width_mm) for r in lines]
        routed = self.goals.laid_out.routed if self.goals.laid_out else ()
        return Evaluated(
            candidate=candidate,
            lines=tuple(lines),
            cost=cost_of(candidate, aspect, stubs, min(sizes, default=None)),
            thickness_error=0.0 if wanted is None else candidate.thickness_mm / wanted - 1,
            laminations=candidate.order.laminations,
            aspect_ratio=round(aspect, 2),
            backdrilled=stubs,
            faults=tuple(dict.fromkeys(faults)),
            rerouted=rerouted(candidate, routed, self.solutions.leaving),
        )

    def _backdrilled(self, candidate: CandidateStackup) -> tuple[str, ...]:
        limit = self.goals.max_stub_mm
        if limit is None or candidate.is_any_layer:
            return ()  # microvias end where they are needed
        layers = zip(candidate.copper, candidate.stubs_mm(), strict=True)
        return tuple(row.name for row, stub_mm in layers if row.use == "fast" and stub_mm > limit)

    def _line(self, around: "Around", goal: LineGoal) -> LineResult:
        """Return a line, solved once for all layers with the same neighbours."""
        name = around.copper[around.index].name
        routed = self.routed.get((goal.name, around.index))
        key = (around.decides, goal, self.tolerance, self.sought, routed and (routed.width_mm, routed.gap_mm))
        found = answer_once(
            self.solutions.results, key, lambda: self._solved_line(around.candidate, around.index, goal, routed)
        )
        return found if found.layer == name else found.model_copy(update={"layer": name})

    def with_sizes(
        self,
        found: Evaluated,
        sizes: Mapping[tuple[str, str], tuple[float, float | None]],
        moved: Container[tuple[str, str]] = (),
    ) -> Evaluated:
        """Return what is known of a candidate with some lines as wide as they are routed.

        Args:
            found: its lines are of this evaluator's goals.
            sizes: width and gap in mm by goal and layer; lines of others stay as they were sought.
            moved: goal and layer of lines that are routed in another size.
        """
        goals = {goal.name: goal for goal in self.goals.lines}
        index = {row.name: k for k, row in enumerate(found.candidate.copper)}
        lines = []
        for line in found.lines:
            if (size := sizes.get((line.goal, line.layer))) is None:
                lines.append(line.model_copy(update={"is_moved": (line.goal, line.layer) in moved}))
                continue
            goal, at = goals[line.goal], index[line.layer]
            site = found.candidate.site(at)
            routed = self._result(found.candidate, site, at, goal, _of_size(site, goal, size, self.tolerance))
            lines.append(routed.model_copy(update={"is_routed": True}))
        least = min((min(line.width_mm, line.gap_mm or line.width_mm) for line in lines), default=None)
        cost = cost_of(found.candidate, found.candidate.drilled_mm / self.goals.drill_mm, found.backdrilled, least)
        return found.model_copy(update={"lines": tuple(lines), "cost": cost})

    def _solved_line(
        self, candidate: CandidateStackup, index: int, goal: LineGoal, routed: RoutedSize | None
    ) -> LineResult:
        """Return a line as it is routed, where that keeps impedance and budget, else as wide as the goal takes."""
        site = candidate.site(index)
        if routed is not None and not leaves(site.section(routed.width_mm, routed.gap_mm), routed):
            solved = _of_size(site, goal, (routed.width_mm, routed.gap_mm), self.tolerance)
            kept = self._result(candidate, site, index, goal, solved)
            if kept.meets_budget is not False:
                return kept.model_copy(update={"is_routed": True})
        sought = self._result(candidate, site, index, goal, self._solve(site, goal))
        return sought.model_copy(update={"is_moved": routed is not None})

    def _result(
        self, candidate: CandidateStackup, site: TraceEnvironment, index: int, goal: LineGoal, solved: Solved
    ) -> LineResult:
        z = solved.impedance_ohm
        slack = z * ((0.5 * THICKNESS_SLACK) ** 2 + (0.5 * DK_SLACK) ** 2) ** 0.5
        result = LineResult(
            goal=goal.name,
            layer=candidate.copper[index].name,
            width_mm=round(solved.width_mm, 5),
            gap_mm=None if solved.gap_mm is None else round(solved.gap_mm, 5),
            impedance_ohm=Interval(low=z - slack, nominal=z, high=z + slack),
        )
        if goal.nyquist_ghz is None:
            return result
        loss = self._loss(candidate, site, index, solved, goal.nyquist_ghz)
        legal = None if goal.loss_budget_db is None else goal.loss_budget_db / loss.high * 25.4
        meets, margin = None, None
        if legal is not None and goal.longest_mm is not None and goal.loss_budget_db is not None:
            meets = goal.longest_mm <= legal
            margin = goal.loss_budget_db - loss.high * goal.longest_mm / 25.4
        return result.model_copy(
            update={
                "loss_db_per_inch": loss,
                "longest_legal_mm": legal,
                "meets_budget": meets,
                "margin_db": None if margin is None else round(margin, 4),
            }
        )

    def _solve(self, site: TraceEnvironment, goal: LineGoal) -> Solved:
        key = (site.canonical(), goal.target, self.sought)
        coarse = self.solutions.widths.get((*key, COARSE))
        start = coarse if isinstance(coarse, Solved) and self.tolerance < COARSE else None
        return answer_once(self.solutions.widths, (*key, self.tolerance), lambda: self._width(site, goal, start))

    def _width(self, site: TraceEnvironment, goal: LineGoal, start: Solved | None) -> Solved:
        limits = self.limits[goal.where]
        if goal.target.kind == "single":
            return solve_width(site, goal.target, limits=limits, tolerance=self.tolerance, start=start)
        how = self._pair_rule(site, goal.target, limits)
        if self.tolerance >= COARSE and isinstance(how, GapPerWidth):
            _refuse_too_wide(site, goal.target, limits, how)
        return solve_pair(site, goal.target, limits, how=how, tolerance=self.tolerance, start=start)

    def _is_surely_too_wide(self, candidate: CandidateStackup, goal: LineGoal) -> bool:
        """Tell whether a pair's narrowest traces are refused on some layer; few are solved to know it."""
        if goal.target.kind == "single" or self.goals.pair_pitch_mm is not None:
            return False
        ratio, limits = self.goals.gap_per_width, self.limits[goal.where]
        for index in _layers_of(goal, candidate):
            if limits.min_gap_mm / ratio > limits.max_width_mm and (goal.name, index) not in self.routed:
                return True
            site = candidate.site(index)
            sizes = _most_impedance_at(site, limits, ratio)
            if not sizes or most_ohm(site.section(*sizes[0])) > MAY_BE_TOO_WIDE * goal.target.ohm:
                continue
            if _stays_far_below(site, sizes, goal.target.ohm):
                return True
        return False

    def _pair_rule(self, site: TraceEnvironment, target: Target, limits: WidthLimits) -> GapPerWidth | KeepPitch:
        """Return the usual ratio of gap to width, or the maximum pitch where that ratio would exceed it."""
        ratio, pitch = self.goals.gap_per_width, self.goals.pair_pitch_mm
        if pitch is None:
            return GapPerWidth(ratio=ratio)
        width = pitch / (1 + ratio)
        if width <= max(limits.min_width_mm, limits.min_gap_mm / ratio, 1.5 * site.taper_mm):
            return KeepPitch(pitch_mm=pitch)
        key = (site.canonical(), width, ratio, target.ohm)
        if key not in self.solutions.wider:
            self.solutions.wider[key] = _exceeds(site.section(width, ratio * width), target.ohm)
        return KeepPitch(pitch_mm=pitch) if self.solutions.wider[key] else GapPerWidth(ratio=ratio)

    def _loss(
        self, candidate: CandidateStackup, site: TraceEnvironment, index: int, solved: Solved, frequency_ghz: float
    ) -> Interval:
        sizes = solved.width_mm, solved.gap_mm
        mirrored = site.canonical().base != site.base
        one = (site.canonical(), mirrored, sizes, solved.target, self.tolerance)
        key = (one[0], sizes, solved.target, loss_key(candidate, site, index), frequency_ghz, self.tolerance)
        if key not in self.solutions.losses:
            if one not in self.solutions.lines:
                self.solutions.lines[one] = SolvedLine(site, site.section(*sizes), solved.solution, self.tolerance)
            line = self.solutions.lines[one]
            ends = [
                float(loss_of(line, materials, frequency_ghz).total_db_per_mm) * 25.4
                for materials in materials_of(candidate, site, index, frequency_ghz)
            ]
            self.solutions.losses[key] = Interval(low=min(ends), nominal=ends[1], high=max(ends))
        return self.solutions.losses[key]


@record
class Around:
    """A copper layer of a candidate, and what decides a line on it."""

    candidate: CandidateStackup
    copper: tuple[CandidateRow, ...]
    sheets: tuple[CandidateRow, ...]
    index: int

    @cached_property
    def decides(self) -> tuple[object, ...]:
        """Equal for layers whose lines are equal: copper, sheets and planes next to it, seen from the surface."""
        copper, sheets = self.copper, self.sheets
        upper = 2 * self.index < len(copper) - 1
        step = 1 if upper else -1
        out: list[object] = [self.index in (0, len(copper) - 1), self.candidate.finish]
        for k in (self.index, self.index - step, self.index + step):
            row = copper[k] if 0 <= k < len(copper) else None
            out.append(row and (row.thickness_mm, row.foil, row.use in ("ground", "power")))
        for k in (self.index - 1, self.index) if upper else (self.index, self.index - 1):
            sheet = sheets[k] if 0 <= k < len(sheets) else None
            out.append(sheet and (sheet.kind, sheet.thickness_mm, sheet.construction, sheet.plies, sheet.dk))
        far = [copper[k].use for k in (self.index - 1, self.index + 1) if 0 <= k < len(copper)]
        lone = any(use not in ("ground", "power") for use in far)
        return (*out, self.candidate.rows, self.index) if lone else tuple(out)


def _of_size(site: TraceEnvironment, goal: LineGoal, size: tuple[float, float | None], tolerance: float) -> Solved:
    solution = solve(site.section(*size), tolerance)
    ohm = solution.z0_ohm if size[1] is None else solution.z_diff_ohm
    return Solved(goal.target, *size, None, solution, ohm, (0, 1), 1.0)


def _refuse_too_wide(site: TraceEnvironment, target: Target, limits: WidthLimits, how: GapPerWidth) -> None:
    """Refuse, before a search, a pair whose impedance is far below its target at every width; else do nothing."""
    sizes = _most_impedance_at(site, limits, how.ratio)
    if not sizes or not _stays_far_below(site, sizes, target.ohm):
        return
    width_mm = sizes[0][0]
    ohm = impedance_once(site.section(width_mm, how.ratio * width_mm), LADDER[0])
    what = f"{target} needs a trace narrower than {width_mm:.4g} mm; there it is about {ohm:.2g} ohm"
    raise TooWideError(site.layer, what, "allow narrower lines or thicker dielectrics")


def _most_impedance_at(site: TraceEnvironment, limits: WidthLimits, ratio: float) -> list[tuple[float, float]]:
    """Return widths and gaps whose impedances bound those of all pairs of a ratio of gap to width; [] without any.

    Pairs with a gap of a few copper thicknesses lie beyond the peak of their impedance: wider is lower still. Else the
    widths are cut in pieces: in each the narrowest trace with the widest gap has most impedance, for wider copper and a
    nearer neighbour only add capacitance.
    """
    low = max(limits.min_width_mm, limits.min_gap_mm / ratio, 1.5 * site.taper_mm)
    high = min(limits.max_width_mm, limits.max_gap_mm / ratio)
    if low > high:
        return []
    if ratio * low >= GAP_BEYOND_PEAK * site.copper_mm:
        return [(low, ratio * low)]
    widths = [low * (high / low) ** (k / PIECES) for k in range(PIECES + 1)]
    return [(narrow, ratio * wide) for narrow, wide in pairwise(widths)]


def _stays_far_below(site: TraceEnvironment, sizes: list[tuple[float, float]], ohm: float) -> bool:
    """Tell whether pairs of some sizes all have far less impedance than a target; the coarsest solution tells."""
    return all(impedance_once(site.section(*size), LADDER[0]) < ohm * FAR_BELOW for size in sizes)


def _exceeds(section: Section, differential_ohm: float) -> bool:
    """Tell whether a pair's impedance is above a target; the coarsest solution decides where it is far off."""
    rough = impedance_once(section, LADDER[0])
    far = abs(rough / differential_ohm - 1) > ROUGH_ERROR
    return (rough if far else solve(section, COARSE).z_diff_ohm) > differential_ohm


def _layers_of(goal: LineGoal, candidate: CandidateStackup) -> list[int]:
    use = "fast" if goal.where == "stripline" else "outer"
    return [k for k, c in enumerate(candidate.copper) if c.use == use]


def _hopeless(goal: LineGoal, loss_db_per_inch: float) -> str:
    least = loss_db_per_inch * (goal.longest_mm or 0) / 25.4
    return (
        f"{goal.name}: {ALONE} {least:.2f} dB or more over {goal.longest_mm:g} mm, {goal.loss_budget_db:g} dB allowed"
    )


def _over_budget(result: LineResult, goals: Goals) -> str:
    goal = next(g for g in goals.lines if g.name == result.goal)
    loss = result.loss_db_per_inch
    worst = loss.high * (goal.longest_mm or 0) / 25.4 if loss else 0
    return (
        f"{result.goal}: {result.layer} {LOSES} {worst:.2f} dB over {goal.longest_mm:g} mm, "
        f"{goal.loss_budget_db:g} dB allowed"
    )
