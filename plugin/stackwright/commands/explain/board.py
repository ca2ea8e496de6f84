"""`stackwright explain CODE --board BOARD`: the formula of a rule with the numbers of one board, step by step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from drc_rules.explain.explain_trace import trace_clauses
from stackup_lib.kicad import read_board
from stackwright.commands.explain.board_json import explanation_data
from stackwright.commands.explain.board_page import board_page
from stackwright.commands.explain.subject import subject_of, with_rule
from stackwright.commands.request import JSON, BoardRequest
from stackwright.run.paths import find_board
from stackwright.run.watched import watched


@dataclass(frozen=True)
class ExplainRequest(BoardRequest):
    """What the command line asks: a rule or clause of one board, with the options of `check`.

    Attributes:
        verbose: show all objects, not the first of each clause.
    """

    word: str
    verbose: bool = False


def explain_board(typed: Path, request: ExplainRequest) -> int:
    """Print how one board answers a rule or a clause.

    Raises:
        StackwrightError: no such rule or requirement, or the board or its settings cannot be read.
    """
    path = find_board(typed)
    request.check_file(typed, path)
    subject = subject_of(request.word)
    with watched(path.name):
        found = trace_clauses(read_board(path), request.config_of(path), request.overrides, subject.wants)
    subject = with_rule(subject, found)
    if request.format == JSON:
        text = json.dumps(explanation_data(path, subject, found), indent=2, ensure_ascii=True) + "\n"
    else:
        text = request.laid_out(board_page(path, subject, found, show_all=request.verbose))
    request.deliver(text, "explanation")
    return 0
