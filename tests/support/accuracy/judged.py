"""Reads the judged findings: `fixtures/expected/judged/<board>.toml`, one file per demo board of KiCad's.

A judgement is true, false or arguable, with evidence that another engineer can check, and the findings that it is
about. A board may bring settings of its own next to the usual ones.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.profiles.profile import Requirements
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board

FOLDER = Path(__file__).parents[3] / "fixtures" / "expected" / "judged"

Call = Literal["true", "false", "arguable"]
CALLS: tuple[Call, ...] = ("true", "false", "arguable")


class Strict(BaseModel):
    """No unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Settings(Strict):
    """What a board is checked against."""

    profile: str | None = None
    form: str | None = None
    config: str = ""


USUAL = {
    "none": Settings(),
    "training": Settings(profile="training"),
    "inference-pcie": Settings(profile="inference-pcie"),
    "edge": Settings(profile="edge"),
}
"""Against these every board is checked."""


class JudgedFinding(Strict):
    """A finding by its clause and key, what it says, and the settings under which it comes."""

    key: str
    clause: str
    severity: Literal["error", "warning", "info"]
    settings: tuple[str, ...] = Field(min_length=1)
    says: str

    @property
    def code(self) -> str:
        """Code of the rule."""
        return self.key.partition("-")[0]


class Judgement(Strict):
    """One judgement with its evidence."""

    judged: Call
    evidence: str = Field(min_length=30)
    findings: tuple[JudgedFinding, ...] = Field(min_length=1)


class JudgedBoard(Strict):
    """All findings on one board; `board` is its place below the folder of KiCad's demos."""

    board: str
    settings: dict[str, Settings] = {}
    judgement: tuple[Judgement, ...]

    @property
    def all_settings(self) -> dict[str, Settings]:
        """The usual settings and the board's own."""
        return {**USUAL, **self.settings}


Said = tuple[str, str, str, tuple[str, ...]]
"""Clause, key, severity, and the numbers of the title: other words are the same finding, other numbers are not."""


def said(clause: str, key: str, severity: str, title: str) -> Said:
    """Return what a judgement is bound to."""
    return clause, key, severity, tuple(re.findall(r"\d+(?:\.\d+)?", title))


@cache
def judged_boards() -> dict[str, JudgedBoard]:
    """Every judged board by the name of its file."""
    paths = sorted(FOLDER.glob("*.toml"))
    return {p.stem: JudgedBoard.model_validate(tomllib.loads(p.read_text(encoding="utf-8"))) for p in paths}


def judgements() -> Iterator[tuple[str, Call, JudgedFinding]]:
    """Yield (board, call, finding) of every judged finding."""
    for name, judged in judged_boards().items():
        for judgement in judged.judgement:
            for finding in judgement.findings:
                yield name, judgement.judged, finding


def expected(judged: JudgedBoard, settings: str) -> Counter[Said]:
    """Return what was judged of a board under these settings."""
    rows = (finding for judgement in judged.judgement for finding in judgement.findings if settings in finding.settings)
    return Counter(said(f.clause, f.key, f.severity, f.says) for f in rows)


@dataclass
class LookedAt:
    """A board under several settings: what no workload changes is worked out once, as `fit` does."""

    board: Board
    _first: dict[str, Context] = field(default_factory=dict)

    def under(self, settings: Settings) -> tuple[Context, Requirements]:
        """Return the board under these settings."""
        options = Overrides(profile=settings.profile, form=settings.form)
        own, requirements, _ = prepare(self.board, parse_config(settings.config), options)
        first = self._first.setdefault(settings.config, own)
        assignment = first.assignment if first.assignment == own.assignment else own.assignment
        return first.under(own.purpose, assignment), requirements


def found(looked_at: LookedAt, settings: Settings) -> Counter[Said]:
    """Return what Stackwright says of a board under these settings."""
    context, requirements = looked_at.under(settings)
    outcome = run(context, requirements.clauses, all_rules(), all_rules())
    assert not outcome.crashes, outcome.crashes
    keys = [f.key for f in outcome.findings]
    assert len(keys) == len(set(keys)), "two findings of a board share a key"
    return Counter(said(f.clause, f.key, f.severity.value, f.title) for f in outcome.findings)
