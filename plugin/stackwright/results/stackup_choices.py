"""Stackups to choose from, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.analysis.impedance.line_effects import LineEffect
from stackup_lib.core.record import record
from stackwright.drawing import columns
from stackwright.tables.counts import verdict_count


@record
class Count:
    """Verdicts of the clauses that a stackup decides.

    Attributes:
        rules_out: ids of the clauses that are more than information, and that the user has not decided otherwise.
        not_met: ids of the failed clauses whose severity is warning: they are said not to be met, as `check` says.
        remarks: ids of those that are information.
        faulty: rows of the stackup at which one fails or is not met: the place that a finding names first.
        lines: verdict on the impedance of routed lines; "" where it is met, or there are none. It is told apart, as a
            new stackup has none; a clause that fails is in `failed` all the same.
    """

    failed: tuple[str, ...]
    not_verifiable: tuple[str, ...]
    passed: int
    rules_out: frozenset[str] = frozenset()
    not_met: frozenset[str] = frozenset()
    remarks: frozenset[str] = frozenset()
    faulty: frozenset[str] = frozenset()
    lines: str = ""

    @property
    def describe(self) -> str:
        """`2 failed, 12 of 14 met`; with what is not met, remarks and what is not verifiable, where there are such."""
        always = ("met",) if self.lines == "failed" else ("failed", "met")
        return self._told(one for one in self._counts() if one[0] or one[1] in always)

    def _told(self, counts: Iterable[tuple[int, str]]) -> str:
        lines = [f"routed lines {self.lines}"] if self.lines else []
        return ", ".join([*lines, *(self._said(*one) for one in counts)])

    def _said(self, many: int, word: str) -> str:
        """What is met is told with the number of all: a stackup for other lines is held against other requirements."""
        return f"{many} of {sum(one for one, _ in self._counts())} met" if word == "met" else verdict_count(many, word)

    def _counts(self) -> tuple[tuple[int, str], ...]:
        return (
            (len(self.failed) - len(self.not_met) - len(self.remarks) - (self.lines == "failed"), "failed"),
            (len(self.not_met) - (self.lines == "not met"), "not met"),
            (len(self.remarks) - (self.lines == "remark"), "remark"),
            (len(self.not_verifiable), "not verifiable"),
            (self.passed, "met"),
        )

    def misses(self, clause: str) -> str:
        """Return `failed`, `not met` or `remark`, as the severity of a failed clause is."""
        if clause in self.remarks:
            return "remark"
        return "not met" if clause in self.not_met else "failed"

    @property
    def in_short(self) -> str:
        """`2 failed, 12 of 14 met`: without what there is none of."""
        return self._told(one for one in self._counts() if one[0]) or "nothing judged"

    @property
    def worst(self) -> str:
        """The worst verdict that there is: `failed`, `not met`, `not verifiable` or `met`; remarks decide nothing."""
        counts = self._counts()
        return next((word for many, word in counts if word != "remark" and (many or word == self.lines)), "met")


@record
class LineWords:
    """A geometry and the layers that have it.

    Attributes:
        size: width, and gap of a pair, in mm.
        ohm, loss: with the range of each; `loss` in dB/inch, empty where no frequency is given.
        legal: how long it may be and is wanted, or what its length loses; and what becomes of it as routed.
    """

    goal: str
    size: str
    ohm: str
    loss: str
    legal: str
    layers: tuple[str, ...]


@record
class StackupChoice:
    """One column.

    Attributes:
        pick: its number for `stackwright suggest --pick`; None for the one that stands.
        slots: its rows from top to bottom.
        says: what it changes, or what it is; of the one that stands what it fails.
        figures: what it costs and has, as label and text.
        checked: verdicts of the clauses that a stackup decides; None where not checked.
        stays: routed widths that need not change.
        lines: geometries of a new stackup.
        moved, solved: what the board's own geometries have in it and had before, those that move, and how many there
            are; of a change alone.
        why: drivers of its cost.
    """

    title: str
    slots: tuple[columns.Slot, ...]
    says: tuple[str, ...] = ()
    pick: int | None = None
    figures: tuple[tuple[str, str], ...] = ()
    checked: Count | None = None
    stays: tuple[str, ...] = ()
    lines: tuple[LineWords, ...] = ()
    moved: tuple[LineEffect, ...] = ()
    solved: int = 0
    why: tuple[str, ...] = ()


@record
class SideBySide:
    """What stands, and what might.

    Attributes:
        asked: workload and form factor that the stackups are for.
        choices: the one that stands first, where there is a board.
        remarks: what is to be known before choosing.
        to_state: lines that give the missing fact without which the board's own stackup is no base.
        cost_basis: where the factors of the costs come from.
    """

    asked: str
    choices: tuple[StackupChoice, ...]
    remarks: tuple[str, ...] = ()
    to_state: str = ""
    cost_basis: str = ""

    @property
    def answers(self) -> int:
        """How many there are to choose from."""
        return sum(choice.pick is not None for choice in self.choices)
