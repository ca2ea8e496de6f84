"""Reads the rules' case files: `fixtures/rules/<family>/<defect>.toml`, one per rule, named as the rule's file.

A case is `why`, a mini-board (on top of a `base` of the same file), and what the rule `finds`: one piece of each
finding's title, in any order; an empty list: the rule stays quiet. `verdicts` maps clause ids to their verdict. What it
`says` are pieces of why and fix, what it `lacks` pieces of the facts that are missing and of how to give them;
`measured` are the numbers beside the limit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from drc_rules.check import check_board
from drc_rules.declared import CommandLine
from drc_rules.report import Report
from fixtures.miniboard import MiniBoard, write

FOLDER = Path(__file__).parents[1] / "fixtures" / "rules"


class Case(BaseModel):
    """One case as the file states it."""

    model_config = ConfigDict(extra="forbid")

    why: str
    base: str | None = None
    board: dict[str, object] = {}
    profile: str | None = None
    form: str | None = None
    finds: list[str]
    severity: str | None = None
    verdicts: dict[str, str] = {}
    says: list[str] = []
    lacks: list[str] = []
    measured: list[float] = []


@dataclass(frozen=True)
class Loaded:
    """A case with its place, and its board with the base merged in."""

    defect: str
    number: int
    case: Case
    board: Mapping[str, object]

    @property
    def name(self) -> str:
        """Name for pytest."""
        return f"{self.defect}-{self.number}-{self.case.why.replace(' ', '_')[:60]}"

    def check(self, folder: Path) -> Report:
        """Write the board into a folder and check it."""
        path = write(MiniBoard.model_validate(self.board), folder, "board")
        options = CommandLine(profile=self.case.profile, form=self.case.form)
        return check_board(path, command_line=options)


def all_cases() -> Iterator[Loaded]:
    """Every case of every rule."""
    for path in sorted(FOLDER.glob("*/*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        bases = data.pop("base", {})
        for number, row in enumerate(data.pop("case"), start=1):
            case = Case.model_validate(row)
            base = bases[case.base] if case.base else {}
            yield Loaded(path.stem, number, case, {**base, **case.board})
        assert not data, f"{path}: unknown tables {sorted(data)}"
