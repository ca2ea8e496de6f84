"""The least change of a stackup that stands: order and thicknesses stay, as few things change as will do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.words import listed
from stackup_lib.materials import FoilGrade, catalogue
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup, dielectric_row, facing_copper
from stackup_lib.synthesis.constructions import cores_of, prepregs_of, why_nothing
from stackup_lib.synthesis.evaluate import COARSE, Evaluated, Evaluator
from stackup_lib.synthesis.goals import Goals

SAME_THICKNESS = 0.12
"""A dielectric is swapped for one that differs by at most this share: about what the making of it varies by."""


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
    """Return what to change in an existing stackup: nothing but widths, then foil, then laminate, then both.

    Args:
        current: the stackup that stands; its dielectrics named as `catalogue().find` knows them.
        goals: as for a new one; numbers of layers are not looked at.
        limit: changes at most.
    """
    evaluator = Evaluator(goals)
    coarse = Evaluator(goals, COARSE, evaluator.solutions)
    now = evaluator.evaluate(current)
    faults_now = now.faults + _material_faults(current, goals)
    found: list[Change] = []
    why_not: list[str] = []
    for words, candidate in _steps(current, goals, why_not):
        result = coarse.evaluate(candidate)
        if not result.faults:
            result = evaluator.evaluate(candidate)
        faults = result.faults + _material_faults(candidate, goals)
        label = " and ".join(words) or "widths alone"
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
    yield (), current
    smoother, foil_words = _with_foil(current, goals)
    if foil_words:
        yield (foil_words,), smoother
    for family in _by_loss(goals):
        swapped, words = _with_laminate(current, family)
        if swapped is None:
            why_not.append(words)
            continue
        if not words:
            continue
        yield (words,), swapped
        if foil_words:
            yield (words, foil_words), _with_foil(swapped, goals)[0]


def _by_loss(goals: Goals) -> list[str]:
    """Families that can be built and may be used, the highest Df (and so the cheapest) first."""
    known = [
        (df, x.family)
        for x in catalogue().laminates
        if not why_nothing(x)
        and x.family not in goals.excluded_laminates
        and (not goals.laminates or x.family in goals.laminates)
        and (df := x.df_at(10.0).value) is not None
    ]
    return [family for _, family in sorted(known, key=lambda k: (-k[0], k[1]))]


def _material_faults(candidate: CandidateStackup, goals: Goals) -> tuple[str, ...]:
    """What dielectrics and foils beside fast layers lack, whatever the lines do."""
    faults = []
    wanted_mm = goals.thickness_mm
    if wanted_mm is not None and abs(candidate.thickness_mm / wanted_mm - 1) > goals.thickness_tolerance:
        faults.append(f"the stackup is {candidate.thickness_mm:.3f} mm thick, {wanted_mm:g} mm wanted")
    limit = goals.df_limit
    for row in _touching_fast(candidate) if limit else ():
        df = catalogue().find(row.construction).df_at(limit.at_ghz).value if limit else None
        if limit is None or row.laminate in goals.named_laminates or (df is not None and limit.is_met_by(df)):
            continue
        has = "no known Df" if df is None else f"a Df of {df:.4f}"
        faults.append(f"{row.name} has {has} at {limit.at_ghz:g} GHz, {limit.max:g} allowed")
    wanted = goals.foil
    for row in candidate.copper if wanted else ():
        if wanted is not None and row.use == "fast" and (not row.foil or FoilGrade(row.foil).rank < wanted.rank):
            faults.append(f"{row.name} has {row.foil or 'undeclared'} foil, {wanted.value} wanted")
    return tuple(faults)


def _touching_fast(candidate: CandidateStackup) -> list[CandidateRow]:
    copper = candidate.copper
    return [d for k, d in enumerate(candidate.dielectrics) if "fast" in (copper[k].use, copper[k + 1].use)]


def _with_foil(candidate: CandidateStackup, goals: Goals) -> tuple[CandidateStackup, str]:
    wanted = goals.foil or FoilGrade.HVLP

    def better(row: CandidateRow) -> CandidateRow | None:
        if row.kind is not LayerKind.COPPER or row.use != "fast":
            return None
        if row.foil and FoilGrade(row.foil).rank >= wanted.rank:
            return None
        return row.model_copy(update={"foil": wanted.value})

    changed, names = _replaced(candidate, better)
    return changed, f"{wanted.value} on {listed(names)}" if names else ""


def _with_laminate(candidate: CandidateStackup, family: str) -> tuple[CandidateStackup | None, str]:
    """Swap what touches fast layers; None and the reason where the laminate has no such thickness."""
    touching = {r.name for r in _touching_fast(candidate)}
    missing: list[str] = []
    copper = [c.thickness_mm for c in candidate.copper]

    def other(row: CandidateRow) -> CandidateRow | None:
        if row.name not in touching or row.laminate == family:
            return None
        offers = cores_of(family) if row.kind is LayerKind.CORE else prepregs_of(family)
        gap = next(k for k, d in enumerate(candidate.dielectrics) if d.name == row.name)
        faces = facing_copper(candidate.order, gap, copper)
        pressed = [(t, sold) for sold in offers if (t := sold.pressed_mm(faces)) is not None]
        best = min(pressed, key=lambda p: (abs(p[0] / row.thickness_mm - 1), p[1].plies), default=None)
        if best is None or abs(best[0] / row.thickness_mm - 1) > SAME_THICKNESS:
            missing.append(f"{family} has no {row.kind.value} near {row.thickness_mm:g} mm for {row.name}")
            return None
        return dielectric_row(best[1], best[0], row.name)

    changed, names = _replaced(candidate, other)
    if missing:
        return None, missing[0]
    return changed, f"{listed(names)} to {family}" if names else ""


def _replaced(
    candidate: CandidateStackup, change: Callable[[CandidateRow], CandidateRow | None]
) -> tuple[CandidateStackup, list[str]]:
    rows, names = [], []
    for row in candidate.rows:
        new = change(row)
        rows.append(new or row)
        if new is not None:
            names.append(row.name)
    return candidate.model_copy(update={"rows": tuple(rows)}), names
