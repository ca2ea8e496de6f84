"""Goals that cannot be met: which of them conflict, and what relaxing one alone would allow.

A goal is eased step by step, the smallest step first, until the others can be met. Each goal whose easing alone helps
is part of every set in conflict. Of the others as many are left out as can be while the rest still cannot be met (a
deletion filter, all at once where that will do): what stays is minimal.
"""

from collections.abc import Callable, Iterator, Mapping
from math import floor

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.core.words import listed
from stackup_lib.synthesis.arrange import least_layers
from stackup_lib.synthesis.best_first import Relaxation, Search
from stackup_lib.synthesis.evaluate import Evaluated, Judge, Solutions
from stackup_lib.synthesis.fill.closest import thickness_range_mm
from stackup_lib.synthesis.goals import Goals
from stackup_lib.synthesis.laminate_pairs import laminate_pairs
from stackup_lib.synthesis.layer_copper import orders_to_try
from stackup_lib.synthesis.rejected import Rejections

COPPERS_OZ = (2.0, 1.0, 0.5)
FINEST_MM = 0.05
"""Line and gap that the best fabs etch on inner layers."""

MOST_REFUSED = 3
"""Sentences on what chosen laminates break, of each search."""

THICKER = (1.05, 1.1, 1.2)
"""Times the required thickness, which could be built but for its lines: what is tried before any thickness."""

DRILLS_MM = (0.25, 0.3, 0.35, 0.4, 0.5)

SHORTER = tuple(k / 20 for k in range(19, 4, -1))
"""Times the lengths of the links, by steps of a twentieth: what is tried before their loss budgets are given up."""


class Conflict(Frozen):
    """See `Answers` for the meaning of each."""

    fighting: tuple[str, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    no_use: tuple[str, ...] = ()
    nearest: Evaluated | None = None


@record
class _Eased:
    """Goals with one of them eased, and how to say it."""

    goals: Goals
    words: str


def conflict_of(goals: Goals, solutions: Solutions | None = None, judge: Judge | None = None) -> Conflict:
    """Return which goals conflict; the caller's clauses are not among them, and where only those fail nothing does.

    What an eased goal allows is judged, where there is a judge: an easing that breaks a clause says so and comes last.
    """
    shared = solutions or Solutions()
    relaxations, no_use = [], []
    if _first(goals, shared) is not None:
        return Conflict()
    for name in _EASING:
        steps = list(_steps(name, goals))
        if not steps:
            continue
        found = next(((s, r) for s in steps if (r := _first(s.goals, shared)) is not None), None)
        if found is None:
            no_use.append(steps[-1].words)
        else:
            relaxations.append(Relaxation(goal=name, words=_with_numbers(name, *found, goals), result=found[1]))
    fighting = _fighting(goals, [r.goal for r in relaxations], shared) if relaxations else ()
    ordered = _harmless_first(relaxations, goals, judge) if judge else tuple(relaxations)
    nearest = _against(goals, ordered[0]) if ordered else None
    return Conflict(fighting=fighting, relaxations=ordered, no_use=tuple(no_use), nearest=nearest)


def _harmless_first(relaxations: list[Relaxation], goals: Goals, judge: Judge) -> tuple[Relaxation, ...]:
    """Return those that break no clause, then the others, with the clauses that they break."""
    harmless, harmful = [], []
    for one in relaxations:
        clauses = judge(one.result.candidate)
        broken = [clause for clause, met, _ in clauses if not met and clause not in goals.preferred_clauses]
        if broken:
            harmful.append(one.model_copy(update={"words": f"{one.words}, which breaks {listed(broken)}"}))
        else:
            harmless.append(one)
    return (*harmless, *harmful)


def _fighting(goals: Goals, helping: list[str], shared: Solutions) -> tuple[str, ...]:
    """Return a minimal set of goals that cannot be met together; `helping` are those whose easing alone helps."""
    others = [name for name in reversed(tuple(_EASING)) if name not in helping]
    kept = set(helping)
    if _first(_without(goals, others), shared) is not None:
        left = goals
        for name in others:
            eased = _without(left, [name])
            if _first(eased, shared) is None:
                left = eased
            else:
                kept.add(name)
    fighting = tuple(_asked(name, goals) for name in _EASING if name in kept)
    if kept != {"laminates"} or not goals.laminates:
        return fighting
    return tuple(dict.fromkeys((*fighting, *_refused(goals), *_refused(_without(goals, others)))))


def _refused(goals: Goals) -> tuple[str, ...]:
    """Return what the chosen laminates break, the first few of them."""
    lost = Rejections()
    laminate_pairs(goals.model_copy(update={"hybrids": False}), lost)
    return lost.sentences[:MOST_REFUSED]


def _without(goals: Goals, names: list[str]) -> Goals:
    """Return the goals with some of them eased as far as they can be."""
    for name in names:
        steps = list(_steps(name, goals))
        goals = steps[-1].goals if steps else goals
    return goals


def _first(goals: Goals, shared: Solutions) -> Evaluated | None:
    """Return what meets the goals, of one laminate: a hybrid is cheaper, but reaches little that others cannot."""
    try:
        return Search(goals.model_copy(update={"hybrids": False}), solutions=shared).first()
    except StackwrightError:
        return None


def _against(goals: Goals, eased: Relaxation) -> Evaluated:
    """Return a stackup that meets eased goals as it stands against the original ones: it misses at least that one."""
    result = eased.result
    wanted, faults = goals.thickness_mm, list(result.faults)
    error = result.candidate.thickness_mm / wanted - 1 if wanted else 0.0
    if wanted and abs(error) > goals.thickness_tolerance:
        faults.append(f"the stackup is {result.candidate.thickness_mm:.2f} mm thick, {wanted:g} mm wanted")
    layers = len(result.candidate.copper)
    if goals.layer_count is not None and layers != goals.layer_count:
        faults.append(f"{layers} layers, {goals.layer_count} wanted")
    missed = tuple(faults) or (f"meets the other goals, with {eased.words}",)
    return result.model_copy(update={"thickness_error": error, "faults": missed})


def _with_numbers(name: str, step: _Eased, result: Evaluated, goals: Goals) -> str:
    if name == "thickness":
        return f"{step.words} to {result.candidate.thickness_mm:.2f} mm"
    if name == "loss budget" and any(line.loss_budget_db is not None for line in step.goals.lines):
        return listed([*_shorter_words(goals, result)])
    if name == "loss budget":
        worst = max((r.loss_db_per_inch.high for r in result.lines if r.loss_db_per_inch), default=0.0)
        return f"{step.words}: up to {worst:.2f} dB/inch is lost"
    return step.words


def _shorter_words(goals: Goals, result: Evaluated) -> Iterator[str]:
    """Yield how long the links may be that are too long for their budgets."""
    for goal in goals.lines:
        legal = min(
            (r.longest_legal_mm for r in result.lines if r.goal == goal.name and r.longest_legal_mm), default=0.0
        )
        if goal.longest_mm is not None and 0.0 < legal < goal.longest_mm:
            yield f"length of {goal.name} {goal.longest_mm:g} mm to {floor(legal)} mm"


def _asked(name: str, goals: Goals) -> str:
    """Return a goal as it was set."""
    limit, tg = goals.df_limit, goals.tg_limit
    return {
        "thickness": f"a thickness of {goals.thickness_mm or 0:g} mm",
        "least thickness": f"a thickness of {goals.least_thickness_mm or 0:g} mm or more",
        "power copper": f"{goals.power_copper_oz:g} oz power planes",
        "ground copper": f"{goals.ground_copper_oz:g} oz ground planes",
        "layers": f"{goals.layer_count or least_layers(goals)} layers",
        "build-ups": f"{goals.build_ups} build-ups",
        "drill": f"a {goals.drill_mm:g} mm drill at an aspect ratio of {goals.max_aspect_ratio:g}",
        "least width": f"lines of {goals.least_width_mm:g} mm or more",
        "loss budget": "the loss budgets",
        "Df": f"a Df of {limit.max:g} at {limit.at_ghz:g} GHz" if limit else "",
        "Tg": f"a Tg of {tg.min_c:g} degrees by {tg.method.value}" if tg else "",
        "laminates": f"{' or '.join(goals.laminates)}" if goals.laminates else "the laminates that are excluded",
    }[name]


def _steps(name: str, goals: Goals) -> Iterator[_Eased]:
    """Yield ever looser goals; nothing where there is nothing to loosen."""
    return _EASING[name](goals)


def _thickness(goals: Goals) -> Iterator[_Eased]:
    """The nearest thickness that can be built, or a little more where the required one can be; then any."""
    wanted = goals.thickness_mm
    if wanted is None:
        return
    words = f"thickness {wanted:g} mm"
    try:
        offered, todo = laminate_pairs(goals, Rejections()), orders_to_try(goals)
    except StackwrightError:
        return
    spans = [s for b in offered for o in todo if (s := thickness_range_mm(o, b, goals)) is not None]
    if spans and min(low for low, _ in spans) > wanted:
        low = min(low for low, _ in spans)
        for more in (1.0, 1.1):
            yield _eased(goals, words, thickness_mm=round(low * more / (1 + goals.thickness_tolerance) + 0.005, 2))
    elif spans and max(high for _, high in spans) < wanted:
        yield _eased(goals, words, thickness_mm=round(max(high for _, high in spans), 2))
    elif spans:
        for more in THICKER:
            yield _eased(goals, words, thickness_mm=round(wanted * more, 2))
    yield _eased(goals, words, thickness_mm=None)


def _least_thickness(goals: Goals) -> Iterator[_Eased]:
    if goals.thickness_mm is None and goals.least_thickness_mm is not None:
        yield _eased(goals, f"no least thickness instead of {goals.least_thickness_mm:g} mm", least_thickness_mm=None)


def _power_copper(goals: Goals) -> Iterator[_Eased]:
    now = goals.power_copper_oz
    for ounces in (oz for oz in COPPERS_OZ if oz < now and goals.power_planes):
        yield _eased(goals, f"power copper {now:g} oz to {ounces:g} oz", power_copper_oz=ounces)


def _ground_copper(goals: Goals) -> Iterator[_Eased]:
    now = goals.ground_copper_oz
    for ounces in (oz for oz in COPPERS_OZ if oz < now):
        yield _eased(goals, f"ground copper {now:g} oz to {ounces:g} oz", ground_copper_oz=ounces)


def _build_ups(goals: Goals) -> Iterator[_Eased]:
    for count in range(goals.build_ups - 1, -1, -1):
        yield _eased(goals, f"build-ups {goals.build_ups} to {count}", build_ups=count)


def _drill(goals: Goals) -> Iterator[_Eased]:
    for drill in (d for d in DRILLS_MM if d > goals.drill_mm):
        yield _eased(goals, f"drill {goals.drill_mm:g} mm to {drill:g} mm", drill_mm=drill)


def _least_width(goals: Goals) -> Iterator[_Eased]:
    now, gap = goals.least_width_mm, goals.least_gap_mm
    coarsest = max(now, gap, goals.least_outer_width_mm or 0.0, goals.least_outer_gap_mm or 0.0)
    if coarsest > FINEST_MM:
        words = f"narrowest line and gap {coarsest:g} mm to {FINEST_MM:g} mm"
        finest: dict[str, object] = {"least_width_mm": min(FINEST_MM, now), "least_gap_mm": min(FINEST_MM, gap)}
        finest |= {"least_outer_width_mm": None, "least_outer_gap_mm": None}
        yield _eased(goals, words, **finest)


def _loss_budget(goals: Goals) -> Iterator[_Eased]:
    if any(line.loss_budget_db is not None for line in goals.lines):
        for share in SHORTER:
            lines = tuple(
                line.model_copy(update={"longest_mm": line.longest_mm and line.longest_mm * share})
                for line in goals.lines
            )
            yield _eased(goals, f"links of {share:.0%} of their length", lines=lines)
        lines = tuple(line.model_copy(update={"loss_budget_db": None}) for line in goals.lines)
        yield _eased(goals, "no loss budgets", lines=lines)


def _df(goals: Goals) -> Iterator[_Eased]:
    if goals.df_limit is not None:
        yield _eased(goals, f"no limit of Df instead of {goals.df_limit.max:g}", df_limit=None)


def _tg(goals: Goals) -> Iterator[_Eased]:
    if goals.tg_limit is not None:
        yield _eased(goals, f"no limit of Tg instead of {goals.tg_limit.min_c:g} degrees", tg_limit=None)


def _laminates(goals: Goals) -> Iterator[_Eased]:
    if goals.laminates or goals.excluded_laminates:
        yield _eased(goals, "any laminate", laminates=(), excluded_laminates=())


def _layers(goals: Goals) -> Iterator[_Eased]:
    """Fewer layers: first those without a requirement, then fewer power, other signal and high-speed layers."""
    now = goals.layer_count or least_layers(goals)
    for count in range(now - 2, 3, -2):
        fewer = goals.model_copy(update={"layer_count": count})
        while least_layers(fewer) > count:
            smaller = _one_less(fewer)
            if smaller is None:
                return
            fewer = smaller
        asked = f"{fewer.fast_layers} fast, {fewer.other_signal_layers} other signal and {fewer.power_planes} power"
        yield _Eased(fewer, f"layers {now} to {count} ({asked} layers)")


def _one_less(goals: Goals) -> Goals | None:
    """Take two layers of the kind of which there are most; None where each kind is at its least."""
    kinds = {
        "power_planes": goals.power_planes if goals.power_planes > 1 else 0,
        "fast_layers": goals.fast_layers if goals.fast_layers > 1 else 0,
        "other_signal_layers": goals.other_signal_layers - 2,
    }
    most = max(kinds, key=lambda kind: (kinds[kind], kind))
    if kinds[most] <= 0:
        return None
    least = {"power_planes": 1, "fast_layers": 1, "other_signal_layers": 2}[most]
    now = getattr(goals, most)
    return goals.model_copy(update={most: max(least, now - 2)})


def _eased(goals: Goals, words: str, **update: object) -> _Eased:
    return _Eased(goals.model_copy(update=update), words)


_EASING: Mapping[str, Callable[[Goals], Iterator[_Eased]]] = {
    "thickness": _thickness,
    "least thickness": _least_thickness,
    "power copper": _power_copper,
    "ground copper": _ground_copper,
    "layers": _layers,
    "build-ups": _build_ups,
    "drill": _drill,
    "least width": _least_width,
    "loss budget": _loss_budget,
    "Df": _df,
    "Tg": _tg,
    "laminates": _laminates,
}
"""In the order in which they are tried; what a user gives up most readily comes first."""
