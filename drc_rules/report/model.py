"""The report of a check: the board in short, the headline, findings, verdicts, tables. Reporters turn it into text."""

from enum import StrEnum

from drc_rules.report.findings import Finding
from drc_rules.report.kicad_drc import KicadDrc
from drc_rules.report.known_findings import Accepted, KnownFinding, StaleSuppression
from drc_rules.report.link_rows import BackdrillRow, BuildUp, LinkImpedance, LinkLossRow, PairRow
from drc_rules.report.process_rows import ProcessView
from drc_rules.report.rail_rows import RailRow
from drc_rules.report.stackup_rows import StackupView
from drc_rules.report.verdicts import ClauseVerdict, Coverage, Missing
from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen


class Headline(StrEnum):
    """The answer to the whole board."""

    FIT = "fit"
    NOT_FIT = "not fit"
    NOT_PROVEN = "not proven"
    NO_WORKLOAD = "no workload"


class RuleCrash(Frozen):
    """A rule that raised: a defect of ours, reported by name; its clauses are not verifiable."""

    code: str
    name: str
    error: str


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
