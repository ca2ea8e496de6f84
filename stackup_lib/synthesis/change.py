"""The least change of a stackup that stands: order and thicknesses stay, as few rows change as will do."""

from collections.abc import Iterator

from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import FoilGrade, catalogue
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup
from stackup_lib.synthesis.change_steps import in_foil, in_laminate, rows_touched
from stackup_lib.synthesis.constructions import why_nothing
from stackup_lib.synthesis.evaluate import COARSE, Evaluated, Evaluator
from stackup_lib.synthesis.goals import Goals, with_usual_gap


class Change(Frozen):
    """A change and what comes of it.

    Attributes:
        words: one phrase per kind of change, e.g. `dielectric 3 and 7 to Megtron 7(N)`; () where nothing has to change.
        result: the changed stackup; no faults.
    """

    words: tuple[str, ...]
    result: Evaluated


class LeastChange(Frozen):
    """The smallest changes first; where there is none, why."""

    changes: tuple[Change, ...]
    faults_now: tuple[str, ...]
    why_not: tuple[str, ...] = ()


def least_change(current: CandidateStackup, goals: Goals, limit: int = 3) -> LeastChange:
    """Return what to change in an existing stackup: widths alone, else foil and laminate of as few rows as will do.

    Args:
        current: the stackup that stands; its dielectrics named as `catalogue().find` knows them.
        goals: as for a new one; numbers of layers are not looked at.
        limit: changes at most.

    Where no change has the gap of pairs that the goals prefer, the usual gap is tried: the widths then show it.
    """
    found = _changes(current, goals, limit)
    usual = None if found.changes else with_usual_gap(goals)
    eased = _changes(current, usual, limit) if usual else found
    return eased if eased.changes else found


def _changes(current: CandidateStackup, goals: Goals, limit: int) -> LeastChange:
    evaluator = Evaluator(goals)
    coarse = Evaluator(goals, COARSE, evaluator.solutions)
    now = evaluator.evaluate(current)
    faults_now = now.faults + _material_faults(current, goals)
    found: list[Change] = []
    why_not: list[str] = []
    for words, candidate in _steps(current, goals, why_not):
        label = " and ".join(words) or "widths alone"
        faults = _material_faults(candidate, goals) if words else ()
        faults = faults or coarse.bound(candidate)[0].faults
        if not faults:
            result = coarse.evaluate(candidate)
            result = result if result.faults else evaluator.evaluate(candidate)
            faults = result.faults + _material_faults(candidate, goals)
        if faults:
            why_not.append(f"{label}: {faults[0]}")
            continue
        found.append(Change(words=words, result=result))
        if not words or len(found) >= limit:
            break
    return LeastChange(changes=tuple(found), faults_now=faults_now, why_not=tuple(why_not))


def _steps(
    current: CandidateStackup, goals: Goals, why_not: list[str]
) -> Iterator[tuple[tuple[str, ...], CandidateStackup]]:
    """Yield changes, those of the fewest rows first; of as many rows a foil first, then the cheapest laminate."""
    yield (), current
    found: list[tuple[tuple[str, ...], CandidateStackup]] = []
    foil = _with_foil(current, goals)
    if foil is not None:
        found.append(((foil[0],), foil[1]))
    fast = tuple(row.name for row in _touching_fast(current))
    at_fault = tuple(row.name for row in _touching_fast(current) if _df_fault(row, goals))
    for names in dict.fromkeys(names for names in (at_fault, fast) if names):
        for family in _by_loss(current, goals):
            step = in_laminate(current, names, family)
            if step.candidate is None:
                why_not.append(step.words)
                continue
            if not step.words:
                continue
            found.append(((step.words,), step.candidate))
            smoother = _with_foil(step.candidate, goals)
            if smoother is not None:
                found.append(((step.words, smoother[0]), smoother[1]))
    yield from sorted(found, key=lambda one: rows_touched(current, one[1]))


def _by_loss(current: CandidateStackup, goals: Goals) -> list[str]:
    """Families that can be built and may be used: those of the stackup, then the highest Df, so the cheapest, first."""
    known = [
        (x.family not in current.laminates, -df, x.family)
        for x in catalogue().laminates
        if not why_nothing(x)
        and x.family not in goals.excluded_laminates
        and (not goals.laminates or x.family in goals.laminates)
        and (df := x.df_at(10.0).value) is not None
    ]
    return [family for _, _, family in sorted(known)]


def _material_faults(candidate: CandidateStackup, goals: Goals) -> tuple[str, ...]:
    """What dielectrics and foils next to high-speed layers lack, whatever the lines do."""
    faults = []
    wanted_mm = goals.thickness_mm
    if wanted_mm is not None and abs(candidate.thickness_mm / wanted_mm - 1) > goals.thickness_tolerance:
        faults.append(f"the stackup is {candidate.thickness_mm:.3f} mm thick, {wanted_mm:g} mm wanted")
    faults += [fault for row in _touching_fast(candidate) if (fault := _df_fault(row, goals))]
    wanted = goals.foil
    for row in candidate.copper if wanted else ():
        if wanted is not None and row.use == "fast" and (not row.foil or FoilGrade(row.foil).rank < wanted.rank):
            faults.append(f"{row.name} has {row.foil or 'undeclared'} foil, {wanted.value} wanted")
    return tuple(faults)


def _df_fault(row: CandidateRow, goals: Goals) -> str:
    """Return what is wrong with the Df of a dielectric next to a high-speed layer; "" where nothing is."""
    limit = goals.df_limit
    if limit is None or row.laminate in goals.named_laminates:
        return ""
    df = catalogue().find(row.construction).df_at(limit.at_ghz).value
    if df is not None and limit.is_met_by(df):
        return ""
    has = "no known Df" if df is None else f"a Df of {df:.4f}"
    return f"{row.name} has {has} at {limit.at_ghz:g} GHz, {limit.max:g} allowed"


def _touching_fast(candidate: CandidateStackup) -> list[CandidateRow]:
    copper = candidate.copper
    return [d for k, d in enumerate(candidate.dielectrics) if "fast" in (copper[k].use, copper[k + 1].use)]


def _with_foil(candidate: CandidateStackup, goals: Goals) -> tuple[str, CandidateStackup] | None:
    names = {row.name for row in candidate.copper if row.use == "fast"}
    step = in_foil(candidate, names, goals.foil or FoilGrade.HVLP)
    return (step.words, step.candidate) if step.words and step.candidate is not None else None
