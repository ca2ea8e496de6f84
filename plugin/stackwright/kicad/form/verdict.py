"""The verdict with and without the answers, and what they change."""

from collections.abc import Iterable

from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from stackup_lib.core.frozen import Frozen
from stackwright.text.words import count, sentence


class FormVerdict(Frozen):
    """What a check says, as far as the form compares it.

    Attributes:
        headline: the verdict, as reports print it.
        why: the reason for it.
        clauses: ids of the clauses that apply or may apply.
        open: those of them that are not verifiable.
        notes: what the check says of the settings.
    """

    headline: str
    why: str
    clauses: tuple[str, ...]
    open: tuple[str, ...]
    notes: tuple[str, ...] = ()


def verdict_of(report: Report) -> FormVerdict:
    """Return what the form compares."""
    counted = [v for v in report.verdicts if v.has_rule]
    return FormVerdict(
        headline=report.headline.value,
        why=report.headline_why,
        clauses=tuple(v.clause.id for v in counted),
        open=tuple(v.clause.id for v in counted if v.verdict is Verdict.NOT_VERIFIABLE),
        notes=report.notes,
    )


def effect(now: FormVerdict, then: FormVerdict) -> dict[str, object]:
    """Return what the answers change, for the page: both verdicts, and sentences on the clauses."""
    former, later = set(now.open), set(then.open)
    new = set(then.clauses) - set(now.clauses)
    verifiable = len((former - later) & set(then.clauses))
    rest = len(later - new)
    sentences = []
    if verifiable or not new:
        sentences.append(f"{count(verifiable, 'requirement')} become{'s' if verifiable == 1 else ''} verifiable.")
    if new:
        verb = "requirement applies" if len(new) == 1 else "requirements apply"
        sentences.append(f"{len(new)} more {verb}, {len(new & later)} of them not verifiable.")
    if rest:
        sentences.append(f"{count(rest, 'requirement')} stay{'s' if rest == 1 else ''} not verifiable.")
    return {
        "now": now.headline,
        "now_why": sentence(now.why),
        "then": then.headline,
        "then_why": sentence(then.why),
        "changes": " ".join(sentences),
        "notes": list(_new(now.notes, then.notes)),
    }


def _new(former: Iterable[str], later: Iterable[str]) -> list[str]:
    known = set(former)
    return [note for note in later if note not in known]
