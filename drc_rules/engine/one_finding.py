"""One finding per defect: what misses several tiers of fabs is reported once, at the strictest tier that it misses.

Clauses of one kind that differ in their tier of fabs ask the same of the same objects. What the best fabs cannot make,
advanced and standard ones cannot either: each of these clauses fails, the finding of the strictest one speaks for all,
and names the others. Likewise a rule may leave what it finds to another rule that says more of the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from drc_rules.report.findings import Finding
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import STRICTEST_FIRST, Tier
from drc_rules.rules.rule import DraftFinding, Rule
from stackup_lib.core.record import record

TIER_UNIT = "fab tier"
"""Unit of the clauses whose limit is a tier of fabs."""


def tier_of(clause: Clause) -> Tier | None:
    """Return the tier that a clause holds against; None for one of no tier, and for the user's own fab."""
    word = clause.limit.at_least
    return Tier(word) if clause.limit.unit == TIER_UNIT and word in set(Tier) else None


@record
class Tiered:
    """A finding against a tier.

    Attributes:
        defect: alike for findings that are about the same at several tiers.
        is_covered: nothing in it that a stricter tier's finding does not say; None: so it is where there is one.
        names_tiers: the title names the tiers.
    """

    finding: Finding
    clause: Clause
    tier: Tier
    defect: tuple[str, ...]
    is_covered: bool | None
    names_tiers: bool

    @property
    def key(self) -> tuple[str, str, tuple[str, ...]]:
        """What makes findings one."""
        return self.finding.code, self.clause.kind, self.defect


def tiered(finding: Finding, clause: Clause, draft: DraftFinding) -> Tiered | None:
    """Return a finding with its tier; None where its clause has none, or where it is only a remark."""
    tier = tier_of(clause)
    if tier is None or not draft.fails:
        return None
    defect = (draft.defect,) if draft.defect else tuple(sorted(set(draft.ids) - set(Tier)))
    return Tiered(finding, clause, tier, defect, draft.is_covered, draft.names_tiers)


@record
class Left:
    """A finding that is another rule's to tell, where that tells it.

    Attributes:
        at_tier: it with its tier; None where its clause has none.
        to: code and objects of the other finding.
    """

    finding: Finding
    at_tier: Tiered | None
    to: tuple[str, tuple[str, ...]]


def left_over(left: Iterable[Left], findings: list[Finding]) -> list[Left]:
    """Return what no finding speaks for; those that do for others name their clauses, in place."""
    at = {(one.code, one.objects): k for k, one in enumerate(findings)}
    rest = []
    for one in left:
        k = at.get((one.to[0], tuple(sorted(one.to[1]))))
        if k is None:
            rest.append(one)
        elif one.finding.clause not in findings[k].also:
            also = (*findings[k].also, one.finding.clause)
            findings[k] = findings[k].model_copy(update={"also": also})
    return rest


def once_per_defect(found: Iterable[Tiered]) -> Iterator[Finding]:
    """Yield the findings that are left, each with the milder tiers that it misses too."""
    together: dict[tuple[str, str, tuple[str, ...]], list[Tiered]] = {}
    for one in found:
        together.setdefault(one.key, []).append(one)
    for alike in together.values():
        alike.sort(key=lambda one: STRICTEST_FIRST.index(one.tier))
        strictest = alike[0].tier
        for one in alike:
            if one.tier is not strictest and one.is_covered is not False:
                continue
            milder = [other for other in alike if STRICTEST_FIRST.index(other.tier) > STRICTEST_FIRST.index(one.tier)]
            yield _naming(one, milder)


def _naming(strictest: Tiered, milder: Sequence[Tiered]) -> Finding:
    finding = strictest.finding
    if not milder:
        return finding
    tiers = " and ".join(dict.fromkeys(str(other.tier) for other in milder))
    also = tuple(dict.fromkeys(other.clause.id for other in milder))
    title = f"{finding.title} (also for {tiers} fabs)" if strictest.names_tiers else finding.title
    return finding.model_copy(update={"title": title, "also": also})


def yielded(findings: Sequence[Finding], rules: Iterable[Rule]) -> list[Finding]:
    """Return the findings without those that are left to another rule: one that lists every item of them."""
    gives_way = {rule.code: rule.gives_way_to for rule in rules if rule.gives_way_to}
    covered: dict[str, set[str]] = {}
    kept, left = list[Finding](), list[Finding]()
    for finding in findings:
        (left if finding.code in gives_way else kept).append(finding)
    for one in kept:
        covered.setdefault(one.code, set()).update(_items(one))
    for finding in left:
        items = _items(finding)
        others = [code for code in gives_way[finding.code] if items & covered.get(code, set())]
        if not items or not items <= set().union(*(covered[code] for code in others)):
            kept.append(finding)
            continue
        for k, one in enumerate(kept):
            if one.code in others and items & _items(one):
                kept[k] = one.model_copy(update={"also": (*one.also, finding.clause)})
    return kept


def _items(finding: Finding) -> set[str]:
    return {place.uuid for place in finding.places if place.uuid}


def of_clause(verdict: ClauseVerdict, findings: Iterable[Finding]) -> list[Finding]:
    """Return a clause's own findings; of a failed one without any, those that speak for it."""
    listed = list(findings)
    own = [f for f in listed if f.clause == verdict.clause.id]
    if own or verdict.verdict is not Verdict.FAILED:
        return own
    return [f for f in listed if verdict.clause.id in f.also]
