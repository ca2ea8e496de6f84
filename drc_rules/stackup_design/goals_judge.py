"""Our own clauses as judges of a candidate: it becomes a board in memory, and is checked.

The trial board: every interface runs on every high-speed layer and, where it may, on the outer ones; grounds and
supplies are filled. What a stackup decides is decided by the same rules as in a check; routing, holes and losses are
not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from drc_rules.analysis.fabrication.fab_limits import OWN
from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import Outcome
from drc_rules.engine.one_finding import of_clause
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.forms import Form
from drc_rules.requirements.profiles.profile import Profile
from drc_rules.rules.rule import all_rules, kinds_by_stackup
from drc_rules.settings.config import Config, CopperDeclaration, Declared, InterfaceDeclaration
from drc_rules.settings.config_fab import FabDeclaration
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.new_board import CORNER_MM, empty_board
from stackup_lib.synthesis import CandidateStackup, to_planned

GOAL_KINDS = frozenset({"power_copper_oz"})
"""Of these kinds information too is a goal, so every answer is judged by it; it rules nothing out."""

OF_YOUR_FAB = frozenset({"dielectric_thickness", "average_dielectric", "fab_thickness"})
"""Of these kinds the clause of your own fab rules a stackup out; those of fabs in general are for the check."""

SIZE_MM = (120.0, 60.0)
_NAME = Path("suggestion.kicad_pcb")
NOT_VERIFIABLE = "not verifiable"
_SUPPLY = "+VCORE"
"""The supply of the trial board; no board's own, so no words name it."""


@record
class CandidateJudge:
    """Judges candidates by the clauses of a selection.

    Attributes:
        fast_outside: the interfaces run on the outer layers too.
        waived: what the user has chosen, by kind: a warning against it is told and rules nothing out.
        fab: your own, whose clauses count too.
    """

    profile: Profile | None
    form: Form | None
    interfaces: tuple[str, ...]
    clauses: tuple[Clause, ...]
    waived: Mapping[str, str] = field(default_factory=dict)
    fast_outside: bool = False
    fab: FabDeclaration = field(default_factory=FabDeclaration)

    def __call__(self, candidate: CandidateStackup) -> list[tuple[str, bool, str]]:
        """Return (clause id, met, words) of every clause that a candidate decides, those among them that are told."""
        outcome = self.outcome(candidate)
        has_power = any(row.use == "power" for row in candidate.copper)
        found = []
        for verdict in outcome.verdicts:
            clause = verdict.clause
            if verdict.verdict is Verdict.NOT_APPLICABLE or not (self.counts(clause) or self.tells(clause)):
                continue
            if clause.kind == "power_copper_oz" and not (has_power or self.counts(clause)):
                continue  # no plane to weigh: supplies share the grounds
            met = verdict.verdict is Verdict.PASSED
            words = clause.title if met else "; ".join(why_not(verdict, outcome)).replace(f" ({_SUPPLY})", "")
            if verdict.verdict is Verdict.FAILED and (chosen := self.waived.get(clause.kind)):
                words = f"{words}; by your {chosen}"
            found.append((clause.id, met, words))
        return found

    def counts(self, clause: Clause) -> bool:
        """Tell whether a breach rules a stackup out: information does not, nor a warning that the user waives."""
        if clause.severity is Severity.INFO:
            return False
        return clause.kind not in self.waived or clause.severity is Severity.ERROR

    def tells(self, clause: Clause) -> bool:
        """Tell whether a breach is shown though it rules nothing out: a goal of information, or the user's choice."""
        if self.counts(clause):
            return False
        return clause.kind in GOAL_KINDS or clause.severity is Severity.WARNING

    @property
    def wishes(self) -> tuple[str, ...]:
        """Clauses that rule nothing out: they require more than the error of their kind does, or are only told."""
        required = {clause.kind for clause in self.clauses if clause.severity is Severity.ERROR}
        preferred = required & kinds_by_stackup("decided")
        return tuple(
            c.id
            for c in self.clauses
            if (c.severity is Severity.WARNING and c.kind in preferred) or (is_of_rows(c) and self.tells(c))
        )

    def outcome(self, candidate: CandidateStackup) -> Outcome:
        """Return verdicts and findings of the clauses that a candidate decides."""
        board = read_board(_NAME, text=trial_board(candidate, self.interfaces, fast_outside=self.fast_outside))
        context, _, _ = prepare(board, self._config(candidate), Overrides())
        return run(context, filter(is_of_rows, self.clauses), all_rules(), all_rules())

    def _config(self, candidate: CandidateStackup) -> Config:
        copper = {
            row.name: CopperDeclaration(foil=row.foil or None, copper_oz=row.copper_oz) for row in candidate.copper
        }
        declared = tuple(
            InterfaceDeclaration.model_validate({"is": one, "nets": (f"/{one}_P", f"/{one}_N")})
            for one in self.interfaces
        )
        return Config(
            profile=self.profile.name if self.profile else None,
            form=self.form.name if self.form else None,
            declared=Declared(copper=copper),
            interface=declared,
            fab=self.fab,
        )


def is_of_rows(clause: Clause) -> bool:
    """Tell whether a stackup alone decides a clause, with what is said about its copper."""
    is_own = clause.kind in OF_YOUR_FAB and clause.limit.at_least == OWN
    return is_own or clause.kind in kinds_by_stackup("decided")


def why_not(verdict: ClauseVerdict, outcome: Outcome) -> Iterator[str]:
    """Yield why a clause is not met: its findings, else the facts that are missing."""
    titles = [f.title for f in of_clause(verdict, outcome.findings)]
    if verdict.verdict is Verdict.FAILED and titles:
        yield titles[0] + (f" (and {len(titles) - 1} more)" if len(titles) > 1 else "")
        return
    for fact in list(dict.fromkeys(one.fact for one in verdict.missing))[:2]:
        yield f"{NOT_VERIFIABLE}: {fact}"


def trial_board(candidate: CandidateStackup, interfaces: tuple[str, ...], *, fast_outside: bool) -> bytes:
    """Return a board file with this stackup, a pair of each interface on each high-speed layer, and filled planes.

    `fast_outside` puts pairs on the outer layers too; they are there anyway where no other layer is fast.
    """
    planned = to_planned(candidate)
    text = empty_board(planned, size_mm=SIZE_MM, label="the suggestion", reads_back=False).decode()
    head, _, tail = text.rpartition(")")
    return f"{head}{''.join(_copper(candidate, interfaces, fast_outside=fast_outside))}){tail}".encode()


def _copper(candidate: CandidateStackup, interfaces: tuple[str, ...], *, fast_outside: bool) -> Iterator[str]:
    has_fast = any(row.use == "fast" for row in candidate.copper)
    for row in candidate.copper:
        if row.use in ("ground", "power"):
            yield _plane(row.name, "GND" if row.use == "ground" else _SUPPLY)
        elif row.use == "fast" or ((fast_outside or not has_fast) and row.use == "outer"):
            for k, one in enumerate(interfaces):
                yield _track(row.name, f"/{one}_P", 5.0 + 2 * k)
                yield _track(row.name, f"/{one}_N", 5.3 + 2 * k)
        elif row.use == "signal":
            yield _track(row.name, "/SLOW", 50.0)


def _track(layer: str, net: str, y_mm: float) -> str:
    x, y, length = CORNER_MM + 5, CORNER_MM + y_mm, SIZE_MM[0] - 10
    return f'\t(segment (start {x} {y}) (end {x + length} {y}) (width 0.1) (layer "{layer}") (net "{net}"))\n'


def _plane(layer: str, net: str) -> str:
    x, y, (width, height) = CORNER_MM, CORNER_MM, SIZE_MM
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    points = f"(pts {' '.join(f'(xy {a} {b})' for a, b in corners)})"
    filled = f'(filled_polygon (layer "{layer}") {points})'
    return f'\t(zone (net "{net}") (layer "{layer}") (hatch edge 0.5) (fill yes) (polygon {points}) {filled})\n'
