"""What comes out of a check: findings, verdicts, coverage, the headline. Reporters turn it into text."""

import math
import re
from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from drc_rules.report.kicad_drc import KicadDrc
from drc_rules.report.link_rows import BackdrillRow, BuildUp, LinkImpedance, LinkLossRow, PairRow
from drc_rules.report.process_rows import ProcessView
from drc_rules.report.rail_rows import RailRow
from drc_rules.report.stackup_rows import StackupView
from drc_rules.requirements.clauses import Basis, Clause, Severity
from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen


class Verdict(StrEnum):
    """The answer to one clause; earlier members take precedence."""

    FAILED = "failed"
    NOT_VERIFIABLE = "not verifiable"
    PASSED = "passed"
    NOT_APPLICABLE = "not applicable"


class Headline(StrEnum):
    """The answer to the whole board."""

    FIT = "fit"
    NOT_FIT = "not fit"
    NOT_PROVEN = "not proven"
    NO_WORKLOAD = "no workload"


class Location(Frozen):
    """Where a finding is; every part may be absent."""

    layer: str | None = None
    net: str | None = None
    uuid: str | None = None
    x_mm: float | None = None
    y_mm: float | None = None
    line: int | None = None


MOST_PLACES = 10
"""From here on the places of a finding may be the first of more."""


class ObjectRows(Frozen):
    """All objects of a finding whose places name only the first of many: rows of the board's tables."""

    vias: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    tracks: tuple[int, ...] = ()


class Measured(Frozen):
    """What was found, as a number with its unit or as a word."""

    value: float | str
    unit: str = ""


class FindingLimit(Frozen):
    """What was required, as a number with its unit or as a word, and where that stands."""

    value: float | str | None
    unit: str = ""
    source: str = ""


class Finding(Frozen):
    """One thing wrong.

    Attributes:
        title: what is wrong, with the numbers, in one sentence without a full stop.
        why: what it costs the user.
        fix: what to do.
        objects: structural ids of what it is about (layers, uuids, net names), which make the key.
        key: structural identity: rule code and sorted object ids; survives moves and unrelated edits.
        line: line of the board file where a fix would begin; None for a board that is no file.
        also: other clauses that fail by it without a finding of their own, such as those of milder tiers of fabs.
    """

    code: str
    name: str
    clause: str
    also: tuple[str, ...] = ()
    severity: Severity
    confidence: Confidence
    basis: Basis
    title: str
    why: str
    fix: str
    measured: Measured | None = None
    limit: FindingLimit | None = None
    places: tuple[Location, ...] = ()
    objects: tuple[str, ...] = ()
    key: str
    line: int | None = None
    # all objects, for drawings; no part of the JSON report
    every: SkipJsonSchema[ObjectRows | None] = Field(default=None, exclude=True, repr=False)

    # pairs of nets or pins, where the title counts them; no part of the JSON report
    counted: SkipJsonSchema[int] = Field(default=0, exclude=True, repr=False)

    @property
    def numbers(self) -> tuple[float, float] | None:
        """The measured value and its limit; None where either is no number."""
        measured, limit = self.measured and self.measured.value, self.limit and self.limit.value
        if not isinstance(measured, float | int) or not isinstance(limit, float | int):
            return None
        return measured, limit

    @property
    def members(self) -> int:
        """How many pairs of nets, pins, holes or nets it is about; 0 where its places are the first of many.

        Tracks do not count: another way of the same net is no other defect.
        """
        holes = len(self.every.vias) + len(self.every.pads) if self.every is not None else 0
        if self.counted or holes:
            return self.counted or holes
        if len(self.places) >= MOST_PLACES:
            return 0
        return len({place.net for place in self.places if place.net})


class Missing(Frozen):
    """A fact that was needed and is unknown, with the exact way to give it."""

    fact: str
    how_to_give: str


class ClauseVerdict(Frozen):
    """The answer to one clause.

    Attributes:
        code: rule that decides the clause; empty when there is no rule yet.
        checked: objects that were decided, e.g. how many dielectrics.
        undecided: objects for which a fact was missing.
        missing: those facts, without repetition.
        has_rule: False for a clause whose rule does not exist yet; it then counts nowhere.
        worst: highest severity among its findings, None without findings.
        guesses: of a clause that passed on facts of low confidence, what would make it sure.
    """

    clause: Clause
    code: str
    verdict: Verdict
    confidence: Confidence
    checked: int = 0
    undecided: int = 0
    missing: tuple[Missing, ...] = ()
    source: str = ""
    has_rule: bool = True
    worst: Severity | None = None
    guesses: tuple[Missing, ...] = ()

    @property
    def is_guess(self) -> bool:
        """True for a clause that passed on facts of low confidence."""
        return self.verdict is Verdict.PASSED and self.confidence is Confidence.LOW

    @property
    def is_proven(self) -> bool:
        """True for a clause that does not apply, or passed on facts of better than low confidence.

        So is one with nothing but remarks on what its rule is sure of, as a closed jumper is no short circuit.
        """
        if self.verdict is Verdict.FAILED:
            return self.worst is Severity.INFO and not (self.undecided or self.guesses)
        return self.verdict is Verdict.NOT_APPLICABLE or (self.verdict is Verdict.PASSED and not self.is_guess)

    @property
    def left_out_by(self) -> str:
        """What leaves its rule out, e.g. `--ignore VIA`; "" for a clause that was looked at."""
        told = (_LEFT_OUT.fullmatch(missing.fact) for missing in self.missing)
        return next((found[1] for found in told if found), "")

    @property
    def words(self) -> str:
        """The verdict as people read it: `failed` is kept for errors."""
        if self.left_out_by:
            return NOT_LOOKED_AT
        return verdict_words(self.verdict, self.worst, is_guess=self.is_guess)


_LEFT_OUT = re.compile(r"rule \w+, which (.+) leaves out")


def left_out(code: str, by: str) -> Missing:
    """Return what a clause lacks whose rule the user has left out, as `ClauseVerdict.left_out_by` reads it."""
    return Missing(fact=f"rule {code}, which {by or '--select or --ignore'} leaves out", how_to_give="")


NOT_LOOKED_AT = "not looked at"
MET_ON_A_GUESS = "met, on a guess"
NOT_MET = {Severity.WARNING: "not met", Severity.INFO: "remark"}
"""Words for a failed clause whose worst finding is no error."""


def verdict_words(verdict: Verdict, worst: Severity | None, *, is_guess: bool = False) -> str:
    """Return a verdict as people read it, by the highest severity of what was found."""
    if verdict is Verdict.FAILED and worst in NOT_MET:
        return NOT_MET[worst]
    if verdict is Verdict.PASSED:
        return MET_ON_A_GUESS if is_guess else "met"
    return verdict.value


class RuleCrash(Frozen):
    """A rule that raised: a defect of ours, reported by name; its clauses are not verifiable."""

    code: str
    name: str
    error: str


class Coverage(Frozen):
    """How much of what applies was decided, in pairs of clause and object.

    Attributes:
        unknown_pairs: differential pairs of unknown interface, of which nothing is required; each counts as undecided.
        unjudged_pairs: pairs with a target of which no section is judged, such as short ones; the same.
        coupled_pairs: nets that run like pairs by their tracks alone, without an interface; they count nowhere.
        coupled_mm: routed length of these, of the longer net of each.
    """

    decided: int
    total: int
    clauses_without_rule: int
    unknown_pairs: int = 0
    unjudged_pairs: int = 0
    coupled_pairs: int = 0
    coupled_mm: float = 0.0

    @property
    def percent(self) -> float:
        """Decided pairs in percent; 0 when nothing applied."""
        return 100.0 * self.decided / self.total if self.total else 0.0

    @property
    def whole_percent(self) -> int:
        """The same as people read it: 100 only where every pair was decided."""
        return math.floor(self.percent)


class BoardFacts(Frozen):
    """The board in a few numbers, for the head of every report."""

    path: str
    sha256: str
    kicad: str
    copper_layers: int
    thickness_mm: float | None
    size_mm: tuple[float, float] | None
    stackup: str
    materials: tuple[str, ...]
    copper: str
    tracks: int
    vias: int
    nets: int
    lines: tuple[str, ...]
    build_up: BuildUp | None = None


class TakenAs(Frozen):
    """What a group of nets was assigned to, and why."""

    group: str
    nets: int
    interface: str
    family: str
    origin: str
    confidence: Confidence
    why: str


class Accepted(Frozen):
    """A finding that the user has accepted: it no longer counts for the exit code.

    Attributes:
        by: `suppression` (a `[[suppress]]` table, with reason and owner) or `baseline`.
        expires: last day of the suppression.
    """

    finding: Finding
    by: Literal["suppression", "baseline"]
    reason: str
    owner: str = ""
    expires: date | None = None


class StaleSuppression(Frozen):
    """A `[[suppress]]` table that does nothing (any more); it counts as a warning.

    Attributes:
        entry: what it accepts, as text.
        problem: `matches nothing` or `expired on <date>`.
        line: its line in the settings file.
    """

    entry: str
    problem: str
    reason: str
    owner: str
    line: int | None = None


WORSE_SHARE = 0.1
"""Of the larger of value and limit: a finding that moves by less is as before. Findings do not store the uncertainty of
their values; that of a line's impedance or delay is within 10 %, and edits elsewhere move values by less."""


class KnownFinding(Frozen):
    """A finding as the baseline remembers it."""

    key: str
    code: str
    clause: str
    title: str


class Remembered(KnownFinding):
    """The same with `Finding.members`, 0 where that is not known, its severity, and the number that was measured."""

    members: int = 0
    severity: Severity | None = None
    measured: float | None = None
    unit: str = ""

    @staticmethod
    def of(finding: Finding) -> "Remembered":
        """Return what is remembered of a finding."""
        value = finding.measured.value if finding.measured else None
        return Remembered(
            key=finding.key,
            code=finding.code,
            clause=finding.clause,
            title=finding.title,
            members=finding.members,
            severity=finding.severity,
            measured=float(f"{value:.6g}") if isinstance(value, float | int) else None,
            unit=finding.measured.unit if finding.measured else "",
        )

    def covers(self, finding: Finding) -> bool:
        """Tell whether a finding is the one remembered, and is no worse now."""
        return self.key == finding.key and not self.grown_by(finding)

    def grown_by(self, finding: Finding) -> tuple[str, ...]:
        """Return what is worse in a finding than in the one remembered, a phrase each."""
        words = []
        if self.members and finding.members > self.members:
            words.append(f"There were {self.members} of them, now there are {finding.members}")
        if self.severity is not None and finding.severity.rank > self.severity.rank:
            words.append(f"Its severity was {self.severity.value}, now it is {finding.severity.value}")
        if self._is_farther(finding) and finding.numbers is not None:
            words.append(f"It was {self.measured:g} {self.unit}".rstrip() + f", now it is {finding.numbers[0]:g}")
        return tuple(words)

    def _is_farther(self, finding: Finding) -> bool:
        """Tell whether a value of the same unit is farther from its limit by more than `WORSE_SHARE`."""
        if finding.numbers is None or self.measured is None or finding.measured is None:
            return False
        now, limit = finding.numbers
        farther = abs(now - limit) - abs(self.measured - limit)
        return self.unit == finding.measured.unit and farther > WORSE_SHARE * max(abs(self.measured), abs(limit))

    def plain(self) -> KnownFinding:
        """Return it as reports show it."""
        return KnownFinding(key=self.key, code=self.code, clause=self.clause, title=self.title)


class Report(Frozen):
    """Everything a reporter needs; deterministic for the same board and settings, and the day where one expires.

    Attributes:
        findings: those that count; accepted ones stand in `accepted` and leave the verdicts as they are.
        fixed: findings of the baseline that are gone.
        overruled: which other workload settings or project state than the one that was chosen for the check; or empty.
        process: etching, plating and solder mask that the impedances rest on; None where none is judged.
        impedances: of every link with a target, target by target, the worst first.
        pairs: every routed differential pair with its impedance, those that nothing judges first.
        losses: of every link whose loss is judged, interface by interface, the worst first.
        backdrills: depth groups for the fab, what is ordered and what the stubs would need.
        backdrills_missing: missing facts that keep a stub out of that table.
        rails: as declared, each with what its copper takes.
        kicad_drc: what KiCad's own check says, where it was requested; no verdict of ours rests on it.
        not_routed: what the nets of one pad without copper were assigned to; nothing is asked of them.
        unknown_pairs: names of the differential pairs of unknown interface.
        settings_file: the one that was given in place of the `stackwright.toml` next to the board; or empty.
    """

    board: BoardFacts
    profile: str | None
    form: str | None
    headline: Headline
    headline_why: str
    findings: tuple[Finding, ...]
    verdicts: tuple[ClauseVerdict, ...]
    coverage: Coverage
    taken_as: tuple[TakenAs, ...]
    proofs: tuple[str, ...]
    crashes: tuple[RuleCrash, ...] = ()
    notes: tuple[str, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    stale_suppressions: tuple[StaleSuppression, ...] = ()
    fixed: tuple[KnownFinding, ...] = ()
    stackup: StackupView | None = None
    process: ProcessView | None = None
    impedances: tuple[LinkImpedance, ...] = ()
    pairs: tuple[PairRow, ...] = ()
    losses: tuple[LinkLossRow, ...] = ()
    backdrills: tuple[BackdrillRow, ...] = ()
    backdrills_missing: tuple[Missing, ...] = ()
    rails: tuple[RailRow, ...] = ()
    kicad_drc: KicadDrc | None = None
    not_routed: tuple[TakenAs, ...] = ()
    unknown_pairs: tuple[str, ...] = ()
    overruled: str = ""
    settings_file: str = ""

    @property
    def workload(self) -> str:
        """The workload, and which other one settings or project state."""
        return f"{self.profile} (chosen; {self.overruled})" if self.overruled else self.profile or ""
