"""What lies between two states of a board: rows of the stackup, ohms and decibels, findings that came and went."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import PurePath
from typing import Literal

from drc_rules.analysis.impedance.line_effects import LineEffect, changed, line_effects
from drc_rules.analysis.impedance.route_impedance import link_impedances
from drc_rules.analysis.stackup.stackup_of_board import stackup_view
from drc_rules.engine.check import CheckUp
from drc_rules.report.findings import Finding
from drc_rules.report.known_findings import KnownFinding, Remembered
from drc_rules.report.link_rows import LinkImpedance
from drc_rules.report.model import Report
from drc_rules.report.stackup_rows import StackupRow, StackupView
from drc_rules.report.verdicts import Verdict
from stackup_lib.core.frozen import Frozen

LEAST_OHM = 0.05
"""A mean impedance that moves by less is the same to a reader."""


class FigureChange(Frozen):
    """One value of a row, as text; empty where it was not stated."""

    what: str
    before: str
    after: str


class RowChange(Frozen):
    """A row of the stackup that differs; its values are empty for one that was added or removed."""

    layer: str
    kind: Literal["changed", "added", "removed"]
    figures: tuple[FigureChange, ...] = ()


class LinkChange(Frozen):
    """Mean impedance along a link before and after; None where it was not known."""

    name: str
    target: str
    before_ohm: float | None
    after_ohm: float | None


class FindingChange(Frozen):
    """A finding that stayed and is worse or better: by its severity, its measured value or the number of its members.

    Attributes:
        finding: as it is now.
        before: what it was.
    """

    finding: Finding
    before: Remembered
    is_worse: bool


NOT_CHECKED = "not checked"
NO_BOARD = "no board"


class VerdictChange(Frozen):
    """A clause whose verdict, or what reports call it, is another one; None where it was not checked.

    Attributes:
        before_words, after_words: the verdicts as reports say them: `met`, `failed`, `not met`, `not checked`.
    """

    clause: str
    title: str
    before: Verdict | None
    after: Verdict | None
    before_words: str
    after_words: str


class BoardDiff(Frozen):
    """Everything that a review of a change wants to know.

    Attributes:
        rows: of the stackup, top to bottom.
        lines: what the old board's routed geometries have in both stackups.
        links: those whose mean impedance moved.
        headlines: of each state; `no board` for the old one where there was none.
        workloads: that each state was checked for, "" without one.
        new, fixed, unchanged: findings by their keys; what could not be decided any more is not fixed, what became more
            severe, is about more pairs of nets, pins, holes or nets, is farther beyond its limit, or is no longer
            accepted, is new.
        changed: findings that were there and are worse, which are new too, or better.
        not_required: findings of requirements that no longer apply, as those of another workload: they are not fixed.
        newly_accepted: findings that are accepted now, and were not before; they are not new.
    """

    before: str
    after: str
    headlines: tuple[str, str]
    workloads: tuple[str, str]
    rows: tuple[RowChange, ...]
    lines: tuple[LineEffect, ...]
    links: tuple[LinkChange, ...]
    verdicts: tuple[VerdictChange, ...]
    new: tuple[Finding, ...]
    fixed: tuple[KnownFinding, ...]
    not_required: tuple[KnownFinding, ...]
    unchanged: int
    newly_accepted: int
    changed: tuple[FindingChange, ...] = ()

    @property
    def worse(self) -> tuple[FindingChange, ...]:
        """Findings that were there, and are worse."""
        return tuple(one for one in self.changed if one.is_worse)

    @property
    def better(self) -> tuple[FindingChange, ...]:
        """Findings that are still there, and are better."""
        return tuple(one for one in self.changed if not one.is_worse)

    @property
    def came(self) -> tuple[Finding, ...]:
        """New findings but for those that were there, and are worse."""
        worse = {one.finding.key for one in self.worse}
        return tuple(one for one in self.new if one.key not in worse)

    @property
    def counts(self) -> str:
        """How many findings came, went and stayed, as one phrase."""
        parts = [self.came_and_went, *([f"{len(self.better)} better"] if self.better else [])]
        parts += [f"{self.unchanged} unchanged"]
        parts += [f"{len(self.not_required)} no longer required"] if self.not_required else []
        return ", ".join([*parts, *([f"{self.newly_accepted} newly accepted"] if self.newly_accepted else [])])

    @property
    def came_and_went(self) -> str:
        """How many findings are new, worse and fixed, as one phrase."""
        worse = [f"{len(self.worse)} worse"] if self.worse else []
        return ", ".join([f"{len(self.came)} new", *worse, f"{len(self.fixed)} fixed"])

    @property
    def is_unchanged(self) -> bool:
        """True where nothing differs that a reader would see."""
        moved = (self.rows, self.links, self.verdicts, self.new, self.fixed, self.not_required, self.newly_accepted)
        same = self.headlines[0] == self.headlines[1] and self.workloads[0] == self.workloads[1]
        return same and not (any(moved) or self.changed or changed(self.lines))

    @property
    def changed_workload(self) -> str:
        """The workloads as one phrase where they differ, else ""."""
        was, now = (one or "none" for one in self.workloads)
        return "" if was == now else f"{was} -> {now}"


def board_diff(before: CheckUp, after: CheckUp) -> BoardDiff:
    """Compare two checked states of a board."""
    old, new = before.report, after.report
    known = {one.key: one for one in _known(old)}
    gone = tuple(_gone(old, new))
    required = {verdict.clause.id for verdict in new.verdicts}
    accepted = {one.finding.key for one in old.accepted}
    came = tuple(f for f in new.findings if f.key in accepted or (was := known.get(f.key)) is None or not was.covers(f))
    moved = tuple(_changed(old, new))
    return BoardDiff(
        before=old.board.path,
        after=new.board.path,
        headlines=(old.headline.value, new.headline.value),
        workloads=(_workload(old), _workload(new)),
        rows=tuple(row_changes(stackup_view(before.context), stackup_view(after.context))),
        lines=line_effects(before.context, after.context),
        links=tuple(_links(before.context.get(link_impedances), after.context.get(link_impedances))),
        verdicts=tuple(_verdicts(old, new)),
        new=came,
        fixed=tuple(one for one in gone if one.clause in required),
        not_required=tuple(one for one in gone if one.clause not in required),
        unchanged=len(new.findings) - len(came) - sum(not one.is_worse for one in moved),
        newly_accepted=sum(one.finding.key not in accepted for one in new.accepted),
        changed=moved,
    )


def _changed(old: Report, new: Report) -> Iterator[FindingChange]:
    """Yield the findings that counted before and now, and are worse or better."""
    was = {one.key: one for one in old.findings}
    for now in new.findings:
        if (former := was.get(now.key)) is None:
            continue
        before, is_worse = Remembered.of(former), not Remembered.of(former).covers(now)
        if is_worse or not Remembered.of(now).covers(former):
            yield FindingChange(finding=now, before=before, is_worse=is_worse)


def new_board(before: str, after: CheckUp) -> BoardDiff:
    """Return what a board brings that was not there before: its stackup and every finding.

    `before` is what the page calls the old state.
    """
    report = after.report
    return BoardDiff(
        before=before,
        after=report.board.path,
        headlines=(NO_BOARD, report.headline.value),
        workloads=(_workload(report), _workload(report)),
        rows=tuple(row_changes(None, stackup_view(after.context))),
        lines=(),
        links=(),
        verdicts=(),
        new=report.findings,
        fixed=(),
        not_required=(),
        unchanged=0,
        newly_accepted=len(report.accepted),
    )


def _workload(report: Report) -> str:
    """Return the profile's name, of one's own the name of its file: a commit's lies in a temporary folder."""
    return PurePath(report.profile).name if report.profile else ""


def _known(report: Report) -> tuple[Remembered, ...]:
    """Return every finding of a report, accepted ones too, as a baseline remembers them."""
    return tuple({f.key: Remembered.of(f) for f in _all(report)}.values())


def _all(report: Report) -> Iterator[Finding]:
    yield from report.findings
    yield from (one.finding for one in report.accepted)


def _gone(old: Report, new: Report) -> Iterator[KnownFinding]:
    present = {finding.key for finding in _all(new)}
    undecided = {v.clause.id for v in new.verdicts if v.undecided}
    for one in _known(old):
        if one.key not in present and one.clause not in undecided:
            yield one.plain()


def _verdicts(old: Report, new: Report) -> Iterator[VerdictChange]:
    was = {v.clause.id: v for v in old.verdicts if v.has_rule}
    now = {v.clause.id: v for v in new.verdicts if v.has_rule}
    for clause in dict.fromkeys([*now, *was]):
        a, b = was.get(clause), now.get(clause)
        titled = b or a
        if titled and (a is None or b is None or a.words != b.words):
            yield VerdictChange(
                clause=clause,
                title=titled.clause.title,
                before=a.verdict if a else None,
                after=b.verdict if b else None,
                before_words=a.words if a else NOT_CHECKED,
                after_words=b.words if b else NOT_CHECKED,
            )


def _links(old: Iterable[LinkImpedance], new: Iterable[LinkImpedance]) -> Iterator[LinkChange]:
    was = {(one.name, one.target): one for one in old}
    for link in new:
        former = was.get((link.name, link.target))
        if former is None:
            continue
        a = former.mean_ohm.nominal if former.mean_ohm else None
        b = link.mean_ohm.nominal if link.mean_ohm else None
        if (a is None) != (b is None) or (a is not None and b is not None and abs(a - b) >= LEAST_OHM):
            yield LinkChange(name=link.name, target=link.target, before_ohm=a, after_ohm=b)


RowPair = tuple[StackupRow | None, StackupRow | None]


def row_changes(before: StackupView | None, after: StackupView | None) -> Iterator[RowChange]:
    """Yield the rows that differ, top to bottom; rows are met as `row_pairs` meets them."""
    for old, new in row_pairs(before, after):
        if old is not None and new is not None:
            figures = tuple(_figures(old, new))
            if figures:
                yield RowChange(layer=new.name, kind="changed", figures=figures)
        elif old is not None:
            yield RowChange(layer=old.name, kind="removed", figures=tuple(_stated(old)))
        elif new is not None:
            yield RowChange(layer=new.name, kind="added", figures=tuple(_stated(new)))


def row_pairs(before: StackupView | None, after: StackupView | None) -> Iterator[RowPair]:
    """Yield the rows of two stackups side by side, top to bottom; None where the other has no such row.

    While the copper layers are the same, rows are met by name; else KiCad has numbered the dielectrics anew, and they
    are met by what they are.
    """
    old, new = _rows(before), _rows(after)
    same = [row.name for row in old if row.is_copper] == [row.name for row in new if row.is_copper]
    keys = [[(row.name,) if same else _likeness(row) for row in rows] for rows in (old, new)]
    for tag, a, b, c, d in SequenceMatcher(a=keys[0], b=keys[1], autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(old[a:b], new[c:d], strict=True)
        else:
            yield from ((row, None) for row in old[a:b])
            yield from ((None, row) for row in new[c:d])


def _rows(view: StackupView | None) -> Sequence[StackupRow]:
    return view.rows if view else ()


def _likeness(row: StackupRow) -> tuple[str, ...]:
    name = row.name if row.is_copper else ""
    return (name, row.kind.value, *_words(row).values())


def _figures(old: StackupRow, new: StackupRow) -> Iterator[FigureChange]:
    was, now = _words(old), _words(new)
    for what, words in now.items():
        if was[what] != words:
            yield FigureChange(what=what, before=was[what], after=words)


def _stated(row: StackupRow) -> Iterator[FigureChange]:
    for what, words in _words(row).items():
        if words:
            yield FigureChange(what=what, before="", after=words)


def _words(row: StackupRow) -> dict[str, str]:
    """Every value of a row by its name, as text; empty where not stated."""
    return {
        "kind": row.kind.value,
        "thickness": "" if row.thickness_mm is None else f"{row.thickness_mm:g} mm",
        "material": row.material,
        "Dk": "" if row.dk_stated is None else f"{row.dk_stated:g}",
        "Df": "" if row.df_stated is None else f"{row.df_stated:g}",
        "Df at 10 GHz": "" if row.df_10ghz is None else f"{row.df_10ghz.value:.3g}",
        "copper": "" if row.copper_oz is None else f"{row.copper_oz.value:g} oz",
        "foil": "" if row.foil is None else row.foil.grade,
        "role": "" if row.role is None else row.role.value,
    }


def counted(changes: Iterable[LinkChange]) -> dict[str, tuple[LinkChange, ...]]:
    """Return the links by target, the farthest moved first."""
    groups: dict[str, list[LinkChange]] = {}
    for change in changes:
        groups.setdefault(change.target, []).append(change)
    return {target: tuple(sorted(rows, key=lambda row: (-_moved(row), row.name))) for target, rows in groups.items()}


def _moved(change: LinkChange) -> float:
    if change.before_ohm is None or change.after_ohm is None:
        return float("inf")
    return abs(change.after_ohm - change.before_ohm)
