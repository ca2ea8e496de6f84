"""What may be changed in a stackup for each clause that it fails: laminate, copper weight, mirrored rows, foil."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.facts.context import Context
from drc_rules.report.findings import Finding
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs.builds import build_rules
from stackup_lib.board.layer_roles import PLANE_MIN_COVERAGE
from stackup_lib.core.record import record
from stackup_lib.materials import catalogue, copper_weights
from stackup_lib.synthesis import CandidateStackup, Goals, TgLimit
from stackup_lib.synthesis.change_steps import ChangeStep, in_foil, in_laminate, in_weight, mirrored, rows_touched
from stackup_lib.synthesis.constructions import why_nothing
from stackup_lib.synthesis.cost import laminate_factor

MOST = 6
"""Combinations of fixes that are gone into."""


@record
class FailedClause:
    """A clause that a stackup fails or cannot prove, with its findings."""

    clause: Clause
    findings: tuple[Finding, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Rows and layers of the findings; of `dielectric 3, ply 2` the row."""
        return tuple(dict.fromkeys(name.partition(",")[0] for one in self.findings for name in one.objects))


@record
class Fix:
    """Steps taken together: what they change as text, and the stackup then; `cautions` as of `ChangeStep`."""

    words: tuple[str, ...]
    candidate: CandidateStackup
    cautions: tuple[str, ...] = ()


Steps = Callable[[CandidateStackup], Iterator[ChangeStep]]


def fixes(current: CandidateStackup, failed: Sequence[FailedClause], ctx: Context, goals: Goals) -> tuple[Fix, ...]:
    """Return the ways to fix what fails of Tg, copper weight and symmetry, those of the fewest rows first."""
    found = [Fix((), current)]
    for steps in (steps_for(one, ctx, goals) for one in _once(failed) if one.clause.kind not in OF_FAST_LAYERS):
        more = [
            Fix((*fix.words, step.words), step.candidate, (*fix.cautions, *step.cautions))
            for fix in found
            for step in steps(fix.candidate)
            if step.candidate is not None and step.words
        ]
        found = sorted(more, key=lambda fix: (len(fix.cautions), rows_touched(current, fix.candidate)))[:MOST] or found
    return tuple(found)


def _once(failed: Sequence[FailedClause]) -> list[FailedClause]:
    """Return one of each kind: the one with the most findings, of copper weight the largest minimum."""
    ranked = sorted(failed, key=lambda one: (one.clause.limit.min or 0.0, len(one.findings)), reverse=True)
    by_kind: dict[str, FailedClause] = {}
    for one in ranked:
        by_kind.setdefault(one.clause.kind, one)
    return list(by_kind.values())


def single_steps(failed: Sequence[FailedClause], ctx: Context, goals: Goals) -> Iterator[tuple[FailedClause, Steps]]:
    """Yield what may be tried for each clause that fails, alone: copper and symmetry first, laminates last."""
    order = tuple(CURES)
    ours = [one for one in _once(failed) if one.clause.kind in order]
    for one in sorted(ours, key=lambda one: order.index(one.clause.kind)):
        yield one, steps_for(one, ctx, goals)


def steps_for(failed: FailedClause, ctx: Context, goals: Goals) -> Steps:
    """Return the steps that may make a stackup meet a clause; the caller judges them."""
    cure = CURES.get(failed.clause.kind)
    return lambda candidate: cure.steps(candidate, failed, ctx, goals) if cure else iter(())


def _mirrored(candidate: CandidateStackup, failed: FailedClause, _ctx: Context, _goals: Goals) -> Iterator[ChangeStep]:
    yield from mirrored(candidate, _pairs(candidate, [one.objects for one in failed.findings]))


def _foil(candidate: CandidateStackup, failed: FailedClause, _ctx: Context, goals: Goals) -> Iterator[ChangeStep]:
    if goals.foil is not None:
        yield in_foil(candidate, failed.names, goals.foil)


def _tg(candidate: CandidateStackup, failed: FailedClause, _ctx: Context, goals: Goals) -> Iterator[ChangeStep]:
    wanted = [TgLimit(min_c=failed.clause.limit.min)] if failed.clause.limit.min else []
    for limit in dict.fromkeys((*wanted, *([goals.tg_limit] if goals.tg_limit else []))):
        yield from tg_steps(candidate, limit, goals)


def _laminate(candidate: CandidateStackup, failed: FailedClause, _ctx: Context, goals: Goals) -> Iterator[ChangeStep]:
    for family in _allowed(candidate, goals):
        yield in_laminate(candidate, failed.names, family)


def _pairs(candidate: CandidateStackup, found: Sequence[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return the rows of findings of symmetry as (upper, lower)."""
    order = {row.name: k for k, row in enumerate(candidate.rows)}
    pairs = {tuple(sorted((name for name in names if name in order), key=lambda name: order[name])) for names in found}
    return sorted(((pair[0], pair[1]) for pair in pairs if len(pair) == 2), key=lambda pair: order[pair[0]])


def _weights(candidate: CandidateStackup, failed: FailedClause, ctx: Context, _goals: Goals) -> Iterator[ChangeStep]:
    """Yield heavier copper: of declared rails for the planes of the findings together, else for all power planes."""
    least = failed.clause.limit.min
    if least is None:
        return
    inner = {row.name: row for row in candidate.copper[1:-1]}
    named = [name for name in failed.names if name in inner]
    all_planes = [use.name for use in ctx.uses if use.power_share >= PLANE_MIN_COVERAGE / 2 and use.name in inner]
    ways = [dict.fromkeys(all_planes, _listed_oz(least))]
    if PowerRails(ctx).declared:
        ways.insert(0, _together(named, least))
    for wanted in ways:
        if wanted:
            yield from in_weight(candidate, wanted, build_rules())


def _together(names: Sequence[str], least_oz: float) -> dict[str, float]:
    """Return equal weights that make planes in parallel heavy enough."""
    return dict.fromkeys(names, _listed_oz(least_oz / len(names))) if names else {}


def _listed_oz(least_oz: float) -> float:
    """Return the lightest usual foil of at least this weight."""
    return min((w.oz for w in copper_weights() if w.oz >= least_oz - 1e-9), default=least_oz)


def tg_steps(current: CandidateStackup, limit: TgLimit | None, goals: Goals) -> Iterator[ChangeStep]:
    """Yield the swaps that give every row enough Tg; none where every row has it.

    A family that the stackup holds already comes first, then the cheapest.
    """
    low = [row.name for row in current.dielectrics if limit and not _holds(row.laminate, limit)]
    if limit is None or not low:
        return
    for family in _cheapest_first(current, [one for one in _sold(goals) if _holds(one, limit)]):
        step = in_laminate(current, low, family)
        if step.candidate is not None:
            yield step


def _holds(family: str, limit: TgLimit) -> bool:
    laminate = catalogue().get(family)
    return laminate is not None and limit.is_met_by(laminate.tg) is True


def _allowed(candidate: CandidateStackup, goals: Goals) -> list[str]:
    """Return families for rows of too high a Df: those of the stackup first, then the cheapest."""
    return _cheapest_first(candidate, [one for one in _sold(goals) if _is_good(one, goals)])


def _sold(goals: Goals) -> Iterator[str]:
    """Yield the families that a stackup can be built of and that the user allows."""
    for one in catalogue().laminates:
        named = not goals.laminates or one.family in goals.laminates
        if named and one.family not in goals.excluded_laminates and not why_nothing(one):
            yield one.family


def _cheapest_first(current: CandidateStackup, families: Sequence[str]) -> list[str]:
    """Return families, those of the stackup first."""
    return sorted(families, key=lambda family: (family not in current.laminates, laminate_factor(family), family))


def _is_good(family: str, goals: Goals) -> bool:
    limit, laminate = goals.df_limit, catalogue().get(family)
    if limit is None or family in goals.named_laminates:
        return True
    df = laminate.df_at(limit.at_ghz).value if laminate else None
    return df is not None and limit.is_met_by(df)


@record
class Cure:
    """What may be changed for a kind of clause.

    Attributes:
        steps: candidate, clause, board and goals -> what may be tried, in this order.
        takes_laminate: it takes another laminate, so those of the stackup have to be known.
        of_fast_layers: it is about what lies next to high-speed layers: the search for the least change goes into it.
    """

    steps: Callable[[CandidateStackup, FailedClause, Context, Goals], Iterator[ChangeStep]]
    takes_laminate: bool = False
    of_fast_layers: bool = False


CURES: Mapping[str, Cure] = {
    "stackup_symmetry": Cure(_mirrored),
    "power_copper_oz": Cure(_weights),
    "foil": Cure(_foil, of_fast_layers=True),
    "tg": Cure(_tg, takes_laminate=True),
    "laminate_df": Cure(_laminate, takes_laminate=True, of_fast_layers=True),
    "laminate_class": Cure(_laminate, takes_laminate=True, of_fast_layers=True),
}
"""By kind of clause, in the order in which they are tried alone; any other kind no change of rows cures."""

OF_FAST_LAYERS = frozenset(kind for kind, cure in CURES.items() if cure.of_fast_layers)
WITHOUT_LAMINATE = frozenset(kind for kind, cure in CURES.items() if not cure.takes_laminate)
