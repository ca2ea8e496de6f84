"""From goals to ranked stackups, and why others lost. Deterministic."""

from __future__ import annotations

from stackup_lib.frozen import Frozen
from stackup_lib.materials import Laminate, catalogue
from stackup_lib.synthesis.arrange import Order, orders
from stackup_lib.synthesis.candidates import CandidateStackup, closest, thickness_range_mm
from stackup_lib.synthesis.constructions import why_nothing
from stackup_lib.synthesis.evaluate import Evaluated, Evaluator, Judge
from stackup_lib.synthesis.goals import Goals


class Answers(Frozen):
    """What was found.

    Attributes:
        ranked: the Pareto of loss, cost, thickness error and laminations, best first; all meet the goals.
        lost: what was left out and why, one sentence each.
        unreachable: why there is no answer at all; empty when there is one.
        nearest: where nothing meets the goals, what comes nearest, with its faults.
    """

    ranked: tuple[Evaluated, ...]
    lost: tuple[str, ...]
    unreachable: tuple[str, ...] = ()
    nearest: Evaluated | None = None


def suggest(goals: Goals, judge: Judge | None = None, limit: int = 5) -> Answers:
    """Return the best stackups for the goals.

    Args:
        goals: what is asked for.
        judge: the caller's clauses: candidate -> (clause id, met, words); an unmet clause is a fault.
        limit: answers at most.

    Raises:
        ConfigError: the layers that are asked for do not fit.
    """
    lost: list[str] = []
    found: list[Evaluated] = []
    evaluator = Evaluator(goals)
    todo = orders(goals)
    for laminate in catalogue().laminates:
        why = _unfit(laminate, goals)
        if why is None:
            continue
        if why:
            lost.append(f"{laminate.family}: {why}")
            continue
        for order in todo:
            closed = closest(order, laminate.family, goals, most=1)
            if not closed:
                lost.append(_not_closed(order, laminate.family, goals))
            found += [_judged(evaluator.evaluate(c, judge)) for c in closed]
    return _answer(goals, found, lost, limit)


def _judged(one: Evaluated) -> Evaluated:
    unmet = tuple(f"{clause}: {words}" for clause, met, words in one.clauses if not met)
    return one.model_copy(update={"faults": one.faults + unmet}) if unmet else one


def _answer(goals: Goals, found: list[Evaluated], lost: list[str], limit: int) -> Answers:
    good = [e for e in found if not e.faults]
    lost += [f"{e.candidate.name}: {e.faults[0]}" for e in found if e.faults]
    front: list[Evaluated] = []
    for one in good:
        better = next((o for o in good if _dominates(o, one)), None)
        if better is None:
            front.append(one)
        else:
            lost.append(
                f"{one.candidate.name}: {better.candidate.name} is no worse in anything and {_how(better, one)}"
            )
    front.sort(key=lambda e: _rank(e, good, goals))
    lost += [f"{e.candidate.name}: ranked below the first {limit}" for e in front[limit:]]
    if front:
        return Answers(ranked=tuple(front[:limit]), lost=tuple(dict.fromkeys(lost)))
    nearest = min(found, key=lambda e: (len(e.faults), e.cost.index, e.candidate.name), default=None)
    why = nearest.faults if nearest else tuple(dict.fromkeys(lost))[:10] or ("no laminate is left to build with",)
    return Answers(ranked=(), lost=tuple(dict.fromkeys(lost)), unreachable=tuple(why), nearest=nearest)


def _unfit(laminate: Laminate, goals: Goals) -> str | None:
    """Return why a laminate is left out; "" when it is not, None when nobody needs to hear of it."""
    family = laminate.family
    if family in goals.excluded_laminates:
        return "excluded"
    if goals.laminates and family not in goals.laminates:
        return None
    why = why_nothing(laminate)
    if why:
        return why
    tg = goals.tg_limit
    if tg is not None:
        known = [t.value_c for t in laminate.tg if t.method is tg.method]
        if not known:
            return f"no Tg by {tg.method.value} is known, {tg.min_c:g} degrees are needed"
        if known[0] < tg.min_c:
            return f"Tg {known[0]:g} degrees by {tg.method.value}, {tg.min_c:g} are needed"
    limit = goals.df_limit
    if limit is None or family in goals.named_laminates:
        return ""
    df = laminate.df_at(limit.at_ghz).value
    if df is None:
        return f"no Df at {limit.at_ghz:g} GHz is known"
    return "" if limit.is_met_by(df) else f"Df {df:.4f} at {limit.at_ghz:g} GHz, {limit.max:g} allowed"


def _not_closed(order: Order, family: str, goals: Goals) -> str:
    what = f"{len(order.layers)} layers {order.layers} of {family}"
    span = thickness_range_mm(order, family, goals)
    if span is None:
        return f"{what}: no construction of it fills the copper and keeps {goals.least_dielectric_mm:g} mm everywhere"
    return f"{what}: {span[0]:.2f} to {span[1]:.2f} mm can be built, {goals.thickness_mm or 0:g} mm asked for"


def _merits(one: Evaluated) -> tuple[float, float, float, float]:
    error = round(abs(one.thickness_error), 2)
    return round(one.worst_loss_db_per_inch, 3), one.cost.index, error, float(one.laminations)


def _dominates(a: Evaluated, b: Evaluated) -> bool:
    first, second = _merits(a), _merits(b)
    return first != second and all(x <= y for x, y in zip(first, second, strict=True))


def _how(a: Evaluated, b: Evaluated) -> str:
    words = (
        "loses {:g} instead of {:g} dB/inch",
        "costs {:g} instead of {:g}",
        "misses the thickness by {:g}, not {:g}",
    )
    pairs = list(zip((*words, "takes {:g}, not {:g} laminations"), _merits(a), _merits(b), strict=True))
    return " and ".join(text.format(x, y) for text, x, y in pairs if x < y)


def _rank(one: Evaluated, good: list[Evaluated], goals: Goals) -> tuple[float, float, str]:
    worst = max(e.worst_loss_db_per_inch for e in good) or 1.0
    dearest = max(e.cost.index for e in good)
    score = goals.cost_weight * one.cost.index / dearest
    score += (1 - goals.cost_weight) * one.worst_loss_db_per_inch / worst
    return round(score + abs(one.thickness_error), 6), one.cost.index, one.candidate.name


__all__ = ["Answers", "CandidateStackup", "suggest"]
