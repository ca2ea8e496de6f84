"""The widths that a stackup needs, as a table and as design rules that KiCad reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drc_rules.stackup_design.goals import BoardProject
from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.record import record
from stackup_lib.kicad.read.reader import NEWEST_VERSION
from stackwright.commands.suggest.plans import plan_of_pick
from stackwright.tables.rules_link import rules_link

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested


@record
class Widths:
    """The lines of one answer.

    Attributes:
        pick: number of the answer.
        rules: width and gap by net class and layer; equal ones of several layers apart.
        file: name for the design rules.
        link: the design rules as a `data:` address; empty where they cannot be written.
    """

    pick: int
    rules: tuple[PlannedRule, ...]
    file: str
    link: str


def widths_of(result: Suggested, project: BoardProject | None) -> Iterator[Widths]:
    """Yield the lines of every answer that moves lines; an answer that keeps the routed widths has none."""
    version = project.context.board.format_version if project else NEWEST_VERSION
    stem = result.board.stem if result.board else "stackup"
    for pick in range(1, len(result.entries) + 1):
        rules = plan_of_pick(result, pick).rule
        if rules:
            file = f"{stem}-pick-{pick}.kicad_dru"
            yield Widths(pick, rules, file, rules_link(rules, file, version))
