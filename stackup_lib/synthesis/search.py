"""From goals to ranked stackups, and why others lost. Deterministic.

Best first: a candidate's loss is bounded from below without solving a line, then its striplines are solved, then the
whole at full accuracy and judged. Each step can only make it worse, so what a finished candidate beats stays beaten.
"""

from stackup_lib.core.frozen import Frozen
from stackup_lib.synthesis.best_first import Relaxation, Search
from stackup_lib.synthesis.conflict import conflict_of
from stackup_lib.synthesis.evaluate import ALONE, Evaluated, Judge
from stackup_lib.synthesis.goals import Goals, with_usual_gap
from stackup_lib.synthesis.rejected import RejectedGroup


class Answers(Frozen):
    """What was found.

    Attributes:
        ranked: the Pareto of loss, cost, thickness, laminations and number of laminates, best first; all meet the
            goals. Of candidates that are nearly equal there is one.
        lost: what was left out and why, one sentence each.
        lost_groups: the same by reason.
        unreachable: why there is no answer at all; empty when there is one.
        nearest: where nothing meets the goals, what comes nearest, with its faults.
        fighting: goals that cannot be met together; without any one of them the rest can. One alone cannot be
            met however far the others are eased; after laminates alone stands what they break.
        relaxations: each a single goal eased, and what can be built then.
        no_use: goals that may be eased as far as you like without help.
        keeps_layers: the layers stay as they are laid out.
        why_moved: why they cannot; "" where they do, or where nothing is laid out.
        why_usual_gap: why the pairs have the usual gap; "" where they have that of the goals.
    """

    ranked: tuple[Evaluated, ...]
    lost: tuple[str, ...]
    unreachable: tuple[str, ...] = ()
    nearest: Evaluated | None = None
    lost_groups: tuple[RejectedGroup, ...] = ()
    fighting: tuple[str, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    no_use: tuple[str, ...] = ()
    keeps_layers: bool = False
    why_moved: str = ""
    why_usual_gap: str = ""


def suggest(goals: Goals, judge: Judge | None = None, limit: int = 5, kept: Goals | None = None) -> Answers:
    """Return the best stackups for the goals; where none has the gap of pairs that these prefer, with the usual gap.

    Args:
        goals: what is required.
        judge: the caller's clauses: candidate -> (clause id, met, words); an unmet clause is a fault. Checked last, and
            only of candidates that would be among the answers.
        limit: answers at most.
        kept: the same with the layers of a board that is laid out. Where these do, nothing else is searched.

    Raises:
        ConfigError: the required layers do not fit.
    """
    why_moved = ""
    if kept is not None:
        search, found, why_usual_gap = _searched(kept, judge, limit)
        if found:
            return _answers(search, found, why_usual_gap).model_copy(update={"keeps_layers": True})
        why_moved = _why_none(search)[0]
    search, found, why_usual_gap = _searched(goals, judge, limit)
    if found:
        return _answers(search, found, why_usual_gap).model_copy(update={"why_moved": why_moved})
    conflict = conflict_of(search.goals, search.solutions, judge)
    return _answers(search, [], why_usual_gap).model_copy(
        update={
            "unreachable": _why_none(search),
            "nearest": _nearest(search) or conflict.nearest,
            "fighting": conflict.fighting,
            "relaxations": conflict.relaxations,
            "no_use": conflict.no_use,
            "why_moved": why_moved,
        }
    )


def _searched(goals: Goals, judge: Judge | None, limit: int) -> tuple[Search, list[Evaluated], str]:
    """Return the search, what it found, and why it took the usual gap of pairs; "" where it did not."""
    search = Search(goals, judge, limit)
    found, usual = search.run(), with_usual_gap(goals)
    if found or usual is None or not search.failed:  # where none was built, no gap helps
        return search, found, ""
    again = Search(usual, judge, limit)
    return again, again.run(), _why_none(search)[0]


def _answers(search: Search, found: list[Evaluated], why_usual_gap: str) -> Answers:
    lost = search.lost
    return Answers(ranked=tuple(found), lost=lost.sentences, lost_groups=lost.groups, why_usual_gap=why_usual_gap)


def _nearest(search: Search) -> Evaluated | None:
    return min(search.failed, key=_distance, default=None)


def _distance(failed: Evaluated) -> tuple[float | str, ...]:
    """Return how many goals a stackup misses, whether its dielectrics alone lose too much, by how many dB, and cost."""
    missed, margin = {fault.split(":")[0] for fault in failed.faults}, failed.least_margin_db
    hopeless = any(ALONE in fault for fault in failed.faults)
    return len(missed), hopeless, max(0.0, -(margin or 0.0)), failed.cost.index, failed.candidate.name


def _why_none(search: Search) -> tuple[str, ...]:
    """Return what the nearest one lacks, or why nothing was tried."""
    nearest = _nearest(search)
    tried = search.not_closed or search.lost.sentences
    return nearest.faults if nearest else tuple(tried[:10]) or ("no laminate is left to build with",)
