"""The command line of `explain`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli.lines import words

EPILOG = """
\b
Examples:
  stackwright explain VIA002
  stackwright explain VIA002 --board card.kicad_pcb
  stackwright explain training.df.nvlink5 --board card.kicad_pcb --json
"""


class ExplainFormat(StrEnum):
    """How an explanation is written."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(short_help="Explain a rule or a clause, with a board's own numbers.", epilog=EPILOG)(explain)


def explain(
    word: Annotated[str, typer.Argument(metavar="CODE", help="Code or name of a rule, or id of a clause.")],
    *,
    board: Annotated[
        Path | None,
        typer.Option(metavar="BOARD", help="Board, project or folder: the formula with its numbers, and the verdict."),
    ] = None,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="Workload, as for check.")] = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form factor, as for check.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
    impedance: Annotated[
        list[str] | None, typer.Option(metavar="NETS=OHM", help="Target impedance, as for check.")
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show every object, not the first of each clause.")] = False,
    format_: Annotated[ExplainFormat, typer.Option("--format", help="text or json; json needs --board.")] = (
        ExplainFormat.TEXT
    ),
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file, with --board.")] = None,
) -> int:
    """Explain a rule (what, why, how to fix, sources) or a clause; with a board, what it makes of that board."""
    as_json = json or format_ is ExplainFormat.JSON
    if board is None:
        needs_board: dict[str, object] = {
            "--profile": profile,
            "--form": form,
            "--config": config,
            "--impedance": impedance,
        }
        needs_board |= {"--all": show_all, "--format json": as_json, "--output": output}
        if named := next((name for name, value in needs_board.items() if value), None):
            raise typer.BadParameter(f"{named} goes with --board")
        from stackwright.commands.explain.command import explain_word

        return explain_word(word)
    from stackwright.commands.explain.board import ExplainRequest, explain_board

    question = ExplainRequest(
        word, profile, form, config, words(impedance), show_all=show_all, as_json=as_json, output=output
    )
    return explain_board(board, question)
