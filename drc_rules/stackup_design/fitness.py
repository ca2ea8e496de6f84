"""One board against every workload: what it is fit for, how far it is from the others, what is still to be stated."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from drc_rules.analysis.nets.coupled_nets import coupled_nets
from drc_rules.analysis.stackup.facts_of_board import board_facts
from drc_rules.analysis.stackup.forms_of_board import FormOfBoard, forms_of_size
from drc_rules.analysis.targets.unknown_pairs import unjudged_pairs, unknown_pairs
from drc_rules.engine.headline import coverage_of, headline_of, not_laid_out
from drc_rules.engine.missing_inputs import in_general, unproven
from drc_rules.engine.one_clause import Outcome
from drc_rules.engine.one_finding import of_clause
from drc_rules.engine.shared_results import Case, Cases
from drc_rules.facts.declared import Overrides, gather, looked_up, purpose_of
from drc_rules.report.findings import Finding, FindingLimit, Measured
from drc_rules.report.model import BoardFacts, Headline, RuleCrash, TakenAs
from drc_rules.report.verdicts import ClauseVerdict, Coverage, Verdict
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.profiles.profile import assemble, load_form, load_profile, profile_names
from drc_rules.settings.config import Config
from drc_rules.stackup_design.goals_judge import is_of_rows
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Fact
from stackup_lib.core.frozen import Frozen

UNEXPECTED = "unexpected_interface"
"""Kind of the clause that an interface which the workload forbids does not meet."""

_BEST_FIRST = (Headline.FIT, Headline.NOT_PROVEN, Headline.NOT_FIT)


class FormOrigin(StrEnum):
    """Why a workload is judged in a form factor."""

    DECLARED = "declared"
    PROFILE = "the workload's"
    SIZE = "by its size"
    NONE = "none"


class Shortfall(Frozen):
    """A clause that the board does not meet.

    Attributes:
        severity: of its worst finding.
        title: that finding, with its numbers.
        more: further findings of the same clause.
        at_ghz: frequency at which the numbers hold; None where they have none.
        by_stackup: a stackup alone can fix it.
    """

    clause: str
    kind: str
    demand: str
    severity: Severity
    code: str
    title: str
    fix: str
    more: int = 0
    measured: Measured | None = None
    limit: FindingLimit | None = None
    at_ghz: float | None = None
    by_stackup: bool = False


class OpenQuestion(Frozen):
    """A fact that is not stated, with the lines that state it, and the clauses that wait for it."""

    fact: str
    how_to_give: str
    clauses: tuple[str, ...]
    errors: int


class Fitness(Frozen):
    """A board against one workload.

    Attributes:
        is_declared: the workload that the settings name.
        short: clauses that failed, errors first.
        unproven: ids of error-tier clauses that have not passed on facts one can rely on.
        open: facts that are missing; what settles most comes first.
        without_rule: clauses that nothing decides yet; the headline does not count them.
    """

    profile: str
    title: str
    is_declared: bool
    form: str | None
    form_origin: FormOrigin
    headline: Headline
    why: str
    short: tuple[Shortfall, ...]
    unproven: tuple[str, ...]
    open: tuple[OpenQuestion, ...]
    passed: int
    without_rule: int
    coverage: Coverage
    taken_as: tuple[TakenAs, ...] = ()

    def count(self, severity: Severity) -> int:
        """Return the number of clauses that fail with this severity."""
        return sum(one.severity is severity for one in self.short)

    @property
    def forbids_what_is_there(self) -> bool:
        """True where the board carries an interface that the workload has no place for."""
        return any(one.kind == UNEXPECTED for one in self.short)


class FitnessReport(Frozen):
    """A board against every workload, the ones that it is fit for first.

    Attributes:
        forms: form factors whose outline the board has, with what their clauses say.
    """

    board: BoardFacts
    rows: tuple[Fitness, ...]
    forms: tuple[FormOfBoard, ...]
    notes: tuple[str, ...] = ()
    crashes: tuple[RuleCrash, ...] = ()


def fitness_of(
    board: Board,
    config: Config,
    overrides: Overrides | None = None,
    *,
    profiles: Sequence[str] | None = None,
    also: Sequence[str] = (),
    sha256: str = "",
) -> FitnessReport:
    """Judge a board against every workload.

    Args:
        board: the board, read once.
        config: its settings. A workload of the user's own that they name is judged along with the shipped ones.
        overrides: the form factor that the user says; its profile counts as the declared one.
        profiles: only these; names, or paths of the user's own.
        also: further ones of the user's own, by path.
        sha256: hash of the file, for the report.

    Raises:
        ConfigError: a profile or a form factor is not known, or the settings contradict the board.
    """
    said = overrides or Overrides()
    base, purpose = gather(board, config, said), purpose_of(board, config, said)
    looked_up(purpose.profile, load_profile, config)  # a name that is none is told with the file that states it
    declared = purpose.profile.value
    names = tuple(profiles or dict.fromkeys((*profile_names(), *((declared,) if declared else ()), *also)))
    forms = forms_of_size(board)
    cases = Cases(board, config, base, purpose)
    judged = [_judged(cases, name, forms, is_declared=name == declared) for name in names]
    crashes = {(c.code, c.error): c for _, _, outcome in judged for c in outcome.crashes}
    own = next((case for row, case, _ in judged if row.is_declared), judged[0][1])
    return FitnessReport(
        board=board_facts(own.context, sha256),
        rows=tuple(sorted((row for row, _, _ in judged), key=_rank)),
        forms=tuple(form.judged(own.outcome(form.clauses()).verdicts) for form in forms),
        notes=(*board.warnings, *base.notes, *own.context.assignment.notes),
        crashes=tuple(crashes.values()),
    )


def _judged(
    cases: Cases, name: str, forms: Sequence[FormOfBoard], *, is_declared: bool
) -> tuple[Fitness, Case, Outcome]:
    profile = load_profile(name)
    form, origin = _form(cases.purpose.form, profile.form, forms)
    # a form that only the outline suggests adds its own clauses; no loss budget may rest on it
    case = cases.of(profile, None if origin is FormOrigin.SIZE else form)
    assignment = case.context.assignment
    used = load_form(form) if form else None
    clauses = assemble(profile, used, case.interfaces, assignment.families_without_generation()).clauses
    outcome = case.outcome(clauses)
    headline, why = headline_of(outcome.verdicts, profile=profile.name, lacking=not_laid_out(cases.board))
    counted = [v for v in outcome.verdicts if v.has_rule]
    row = Fitness(
        profile=profile.name,
        title=profile.title,
        is_declared=is_declared,
        form=form,
        form_origin=origin,
        headline=headline,
        why=why,
        short=tuple(_shortfalls(counted, outcome.findings)),
        unproven=tuple(v.clause.id for v in counted if _is_unproven(v)),
        open=tuple(open_questions(counted)),
        passed=sum(v.verdict is Verdict.PASSED for v in counted),
        without_rule=len(outcome.verdicts) - len(counted),
        coverage=coverage_of(
            outcome.verdicts,
            unknown_pairs=len(case.context.get(unknown_pairs).names),
            unjudged_pairs=unjudged_pairs(case.context),
            coupled_mm=[pair.length_mm for pair in case.context.get(coupled_nets)],
        ),
        taken_as=assignment.taken_as(),
    )
    return row, case, outcome


def _form(declared: Fact[str], own: str | None, forms: Sequence[FormOfBoard]) -> tuple[str | None, FormOrigin]:
    """Return the form factor to judge in: as declared, else the workload's, else the one whose outline it has."""
    if declared.value:
        return declared.value, FormOrigin.DECLARED
    if own:
        return own, FormOrigin.PROFILE
    if len(forms) == 1:
        return forms[0].name, FormOrigin.SIZE
    return None, FormOrigin.NONE


def _rank(row: Fitness) -> tuple[int, bool, int, int, int, int, str]:
    """What it is fit for first, then what it is nearest to; of equals the workload that asks most.

    What forbids an interface that is there comes after the others: the board was made for something else.
    """
    errors, warnings = row.count(Severity.ERROR), row.count(Severity.WARNING)
    order = _BEST_FIRST.index(row.headline)
    return order, row.forbids_what_is_there, errors, len(row.unproven), warnings, -row.coverage.total, row.profile


def _is_unproven(verdict: ClauseVerdict) -> bool:
    """Tell whether an error-tier clause is neither met on facts to rely on, nor failed with an error."""
    if verdict.clause.severity is not Severity.ERROR or verdict.worst is Severity.ERROR:
        return False
    return not verdict.is_proven


def _shortfalls(verdicts: Iterable[ClauseVerdict], findings: Sequence[Finding]) -> list[Shortfall]:
    found = []
    for verdict in verdicts:
        mine = of_clause(verdict, findings)
        if verdict.verdict is Verdict.FAILED and mine:
            found.append(_shortfall(verdict.clause, mine))
    return sorted(found, key=lambda one: -one.severity.rank)


def _shortfall(clause: Clause, findings: Sequence[Finding]) -> Shortfall:
    first = findings[0]
    return Shortfall(
        clause=clause.id,
        kind=clause.kind,
        demand=clause.title,
        severity=first.severity,
        code=first.code,
        title=first.title,
        fix=first.fix,
        more=len(findings) - 1,
        measured=first.measured,
        limit=first.limit,
        at_ghz=clause.limit.at_ghz,
        by_stackup=is_of_rows(clause),
    )


def open_questions(verdicts: Iterable[ClauseVerdict]) -> list[OpenQuestion]:
    """Return the facts that are missing, what settles most error-tier clauses first; equal ways to give count once."""
    waiting: dict[str, tuple[str, dict[str, Severity]]] = {}
    for verdict in unproven(verdicts):
        for missing in (*verdict.missing, *verdict.guesses):
            key = missing.how_to_give or missing.fact
            _, clauses = waiting.setdefault(key, (missing.fact, {}))
            clauses[verdict.clause.id] = verdict.clause.severity
    hints = in_general(waiting)
    found = []
    for hint in hints:
        covered = [key for key in waiting if key == hint or (key not in hints and _is_row_of(key, hint))]
        clauses = {c: s for key in covered for c, s in waiting[key][1].items()}
        fact = waiting[hint][0] if hint in waiting else _every(waiting[covered[0]][0])
        errors = sum(s is Severity.ERROR for s in clauses.values())
        found.append(OpenQuestion(fact=fact, how_to_give=hint, clauses=tuple(clauses), errors=errors))
    return sorted(found, key=lambda one: (-one.errors, -len(one.clauses)))


def _is_row_of(key: str, general: str) -> bool:
    """Tell whether a hint for one row of the stackup is among those that a general line stands for."""
    head, _, line = general.partition("\n")
    wanted = line.partition(" ")[0]
    return key.startswith(head.rstrip("]") + ".") and key.partition("\n")[2].startswith(wanted)


def _every(fact: str) -> str:
    """`Tg of dielectric 3` said of all rows."""
    return f"{fact.partition(' of ')[0]} of every layer"
