"""What a candidate does: widths, loss, legal lengths, stubs, cost. Lengths in mm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stackup_lib.errors import StackwrightError
from stackup_lib.frozen import Frozen
from stackup_lib.interval import Interval
from stackup_lib.lines.foil_roughness import GRADE_RZ_UM, RzInterval
from stackup_lib.lines.inverse import GapPerWidth, Limits, Solved, solve_pair, solve_width
from stackup_lib.lines.laminate_models import laminate_model, through_point
from stackup_lib.lines.lossy import CopperFaces, LineMaterials, SolvedLine, loss_of
from stackup_lib.lines.site import LineSite
from stackup_lib.materials import FoilGrade, LossClass, catalogue
from stackup_lib.synthesis.candidates import MASK_DK, CandidateStackup
from stackup_lib.synthesis.constructions import DK_GHZ
from stackup_lib.synthesis.goals import Goals, LineGoal

TOLERANCE = 1e-3
"""Of the solver while candidates are compared."""

MASK_DF = 0.025
DF_SLACK = 0.1
THICKNESS_SLACK = 0.1
DK_SLACK = 0.02
"""Impedance interval to first order: a dielectric is made to a tenth, its Dk is known to 2 %; engineering judgement."""

LAMINATE_COST = {
    LossClass.STANDARD: 1.0,
    LossClass.MID: 1.7,
    LossClass.LOW: 2.3,
    LossClass.VERY_LOW: 3.5,
    LossClass.ULTRA_LOW: 5.0,
    LossClass.SUPER_ULTRA_LOW: 6.0,
}
"""Relative to FR-4: up to very low loss as a fab's comparison has it, beyond that engineering judgement."""

Judgement = tuple[str, bool, str]
Judge = Callable[[CandidateStackup], list[Judgement]]


class LineResult(Frozen):
    """A line goal on one layer.

    Attributes:
        impedance_ohm: nominal as solved; the ends are first-order estimates.
        loss_db_per_inch: at Nyquist, None where the goal has none.
        longest_legal_mm: within the budget at the worst loss.
    """

    goal: str
    layer: str
    width_mm: float
    gap_mm: float | None
    impedance_ohm: Interval
    loss_db_per_inch: Interval | None = None
    longest_legal_mm: float | None = None
    meets_budget: bool | None = None


class Cost(Frozen):
    """Relative cost: 1 is one layer of FR-4 pressed once; engineering judgement throughout, see the drivers."""

    index: float
    drivers: tuple[str, ...]


class Evaluated(Frozen):
    """A candidate with all that is known of it; `faults` is empty when it meets the goals."""

    candidate: CandidateStackup
    lines: tuple[LineResult, ...]
    cost: Cost
    thickness_error: float
    laminations: int
    aspect_ratio: float
    backdrilled: tuple[str, ...]
    faults: tuple[str, ...]
    clauses: tuple[Judgement, ...] = ()

    @property
    def worst_loss_db_per_inch(self) -> float:
        """Nominal, of the worst line; 0 where no line has a frequency."""
        return max((r.loss_db_per_inch.nominal for r in self.lines if r.loss_db_per_inch), default=0.0)


@dataclass
class Evaluator:
    """Evaluates candidates; equal sites are solved once."""

    goals: Goals
    tolerance: float = TOLERANCE
    _solved: dict[tuple[LineSite, str], Solved | StackwrightError] = field(default_factory=dict)
    _losses: dict[tuple[object, ...], Interval] = field(default_factory=dict)

    def evaluate(self, candidate: CandidateStackup, judge: Judge | None = None) -> Evaluated:
        """Solve every line goal on every layer that carries it, and count what the stackup costs."""
        lines: list[LineResult] = []
        faults: list[str] = []
        for goal in self.goals.lines:
            uses = ("fast",) if goal.where == "stripline" else ("outer",)
            indices = [k for k, c in enumerate(candidate.copper) if c.use in uses]
            if not indices:
                faults.append(f"{goal.name}: no {uses[0]} layer carries it")
            for index in indices:
                try:
                    lines.append(self._line(candidate, index, goal))
                except StackwrightError as error:
                    faults.append(f"{goal.name}: {candidate.copper[index].name}: {error.what}")
        faults += [_over_budget(r, self.goals) for r in lines if r.meets_budget is False]
        aspect = (candidate.thickness_mm) / self.goals.drill_mm
        if aspect > self.goals.max_aspect_ratio:
            faults.append(
                f"aspect ratio {aspect:.1f} of a {self.goals.drill_mm:g} mm drill, "
                f"{self.goals.max_aspect_ratio:g} allowed"
            )
        stubs = self._backdrilled(candidate)
        wanted = self.goals.thickness_mm
        clauses = tuple(judge(candidate)) if judge else ()
        return Evaluated(
            candidate=candidate,
            lines=tuple(lines),
            cost=cost_of(candidate, aspect, stubs, lines),
            thickness_error=0.0 if wanted is None else candidate.thickness_mm / wanted - 1,
            laminations=candidate.order.laminations,
            aspect_ratio=round(aspect, 2),
            backdrilled=stubs,
            faults=tuple(dict.fromkeys(faults)),
            clauses=clauses,
        )

    def _backdrilled(self, candidate: CandidateStackup) -> tuple[str, ...]:
        limit = self.goals.max_stub_mm
        if limit is None:
            return ()
        fast = [k for k, c in enumerate(candidate.copper) if c.use == "fast"]
        return tuple(candidate.copper[k].name for k in fast if candidate.stub_mm(k) > limit)

    def _line(self, candidate: CandidateStackup, index: int, goal: LineGoal) -> LineResult:
        site = candidate.site(index)
        solved = self._solve(site, goal)
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
        meets = None if legal is None or goal.longest_mm is None else goal.longest_mm <= legal
        return result.model_copy(update={"loss_db_per_inch": loss, "longest_legal_mm": legal, "meets_budget": meets})

    def _solve(self, site: LineSite, goal: LineGoal) -> Solved:
        key = (site.canonical(), goal.target.model_dump_json())
        if key not in self._solved:
            try:
                self._solved[key] = self._width(site, goal)
            except StackwrightError as error:
                self._solved[key] = error
        found = self._solved[key]
        if isinstance(found, StackwrightError):
            raise found
        return found

    def _width(self, site: LineSite, goal: LineGoal) -> Solved:
        g = self.goals
        limits = Limits(min_width_mm=g.least_width_mm, max_width_mm=g.greatest_width_mm, min_gap_mm=g.least_gap_mm)
        if goal.target.kind == "single":
            return solve_width(site, goal.target, limits=limits, tolerance=self.tolerance)
        return solve_pair(site, goal.target, limits, how=GapPerWidth(ratio=g.gap_per_width), tolerance=self.tolerance)

    def _loss(
        self, candidate: CandidateStackup, site: LineSite, index: int, solved: Solved, frequency_ghz: float
    ) -> Interval:
        rows = {r.name: r for r in candidate.dielectrics}
        texts = tuple(rows[s.name].construction for s in site.sheets)
        foil = candidate.copper[index].foil
        key = (site.canonical(), tuple(sorted(texts)), foil, solved.target.ohm, frequency_ghz)
        if key not in self._losses:
            section = site.section(solved.width_mm, solved.gap_mm)
            line = SolvedLine(site, section, solved.solution, self.tolerance)
            copper = candidate.copper[1].thickness_mm
            ends = [
                float(loss_of(line, materials, frequency_ghz).total_db_per_mm) * 25.4
                for materials in _materials(site, texts, foil, copper, frequency_ghz)
            ]
            self._losses[key] = Interval(low=min(ends), nominal=ends[1], high=max(ends))
        return self._losses[key]


class DfUnknownError(StackwrightError):
    """The catalogue has no Df of a dielectric at the frequency of the goal."""


def _materials(
    site: LineSite, texts: tuple[str, ...], foil: str, plane_mm: float, frequency_ghz: float
) -> list[LineMaterials]:
    """Least lossy, nominal, lossiest: Df and roughness together at their ends."""
    rz = roughness_of(foil)
    out = []
    for k, factor in enumerate((1 - DF_SLACK, 1.0, 1 + DF_SLACK)):
        models = []
        for sheet, text in zip(site.sheets, texts, strict=True):
            df = catalogue().find(text).df_at(frequency_ghz)
            if df.value is None:
                raise DfUnknownError(text, f"no Df of {text} at {frequency_ghz:g} GHz", "leave this laminate out")
            models.append(laminate_model((), sheet.dk, DK_GHZ, df.value * factor, frequency_ghz))
        rough = rz.laws()[k]
        out.append(
            LineMaterials(
                sheets=tuple(models),
                mask=through_point(MASK_DK, MASK_DF, frequency_ghz) if site.mask else None,
                faces=CopperFaces(rough, rough, rough, rough),
                plane_copper_mm=(plane_mm, plane_mm),
            )
        )
    return out


def roughness_of(foil: str) -> RzInterval:
    """Return Rz of a foil grade; without one anything from HVLP to standard foil."""
    low, high = (
        GRADE_RZ_UM[FoilGrade(foil)] if foil else (GRADE_RZ_UM[FoilGrade.HVLP][0], GRADE_RZ_UM[FoilGrade.STD][1])
    )
    return RzInterval(low_um=low, nominal_um=(low + high) / 2, high_um=high)


def _over_budget(result: LineResult, goals: Goals) -> str:
    goal = next(g for g in goals.lines if g.name == result.goal)
    loss = result.loss_db_per_inch
    worst = loss.high * (goal.longest_mm or 0) / 25.4 if loss else 0
    return (
        f"{result.goal}: {result.layer} loses up to {worst:.2f} dB over {goal.longest_mm:g} mm, "
        f"{goal.loss_budget_db:g} dB allowed"
    )


def cost_of(
    candidate: CandidateStackup, aspect_ratio: float, backdrilled: tuple[str, ...], lines: list[LineResult]
) -> Cost:
    """Return the relative cost and what drives it; the factors are engineering judgement."""
    family = catalogue().get(candidate.laminates[0])
    loss_class = family.loss_class if family else None
    laminate = LAMINATE_COST.get(loss_class, 3.5) if loss_class else 3.5
    layers, presses = len(candidate.copper), candidate.order.laminations
    index = laminate * layers * (1 + 0.25 * (presses - 1))
    drivers = [f"{candidate.laminates[0]} at {laminate:g} times FR-4", f"{layers} layers"]
    if presses > 1:
        drivers.append(f"{presses} laminations")
    heavy = max(r.copper_oz or 0 for r in candidate.copper)
    for applies, factor, words in (
        (heavy >= 2, 1.1, f"{heavy:g} oz copper"),
        (bool(backdrilled), 1.1, f"backdrill of {len(backdrilled)} layers"),
        (any(min(r.width_mm, r.gap_mm or 1) < 0.1 for r in lines), 1.1, "lines or gaps below 0.1 mm"),
        (aspect_ratio > 10, 1.1, f"aspect ratio {aspect_ratio:.1f}"),
    ):
        if applies:
            index *= factor
            drivers.append(words)
    return Cost(index=round(index, 2), drivers=tuple(drivers))
