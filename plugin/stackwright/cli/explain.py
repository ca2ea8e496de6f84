"""The command line of `explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli import names
from stackwright.cli.options import (
    AllFlag,
    ConfigOption,
    FormOption,
    ImpedanceOption,
    JsonFlag,
    OutputOption,
    ProfileOption,
    VerboseOption,
    format_option,
    one_format,
    overrides,
)

EPILOG = """
\b
Examples:
  stackwright explain VIA002
  stackwright explain VIA002 --board card.kicad_pcb
  stackwright explain training.df.nvlink5 --board card.kicad_pcb --format json
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(short_help="Explain a rule or clause, with the values of a board.", epilog=EPILOG)(explain)


def explain(
    word: Annotated[
        str,
        typer.Argument(metavar="CODE", help="Code or name of a rule, or id of a clause.", autocompletion=names.rules),
    ],
    *,
    board: Annotated[
        Path | None,
        typer.Option(metavar="BOARD", help="Show the formula with the values of this board, and the verdict."),
    ] = None,
    profile: ProfileOption = None,
    form: FormOption = None,
    config: ConfigOption = None,
    impedance: ImpedanceOption = None,
    verbose: VerboseOption = False,
    show_all: AllFlag = False,
    format_: Annotated[str | None, format_option("text", "json", but=" JSON needs --board.")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
) -> int:
    """Explain a rule (what, why, how to fix, sources) or a clause; with --board, how that board was judged."""
    format_ = one_format(format_, json=json)
    if board is None:
        needs_board: dict[str, object] = {
            "--profile": profile,
            "--form": form,
            "--config": config,
            "--impedance": impedance,
        }
        needs_board |= {"--verbose": verbose or show_all, "--format json": format_ == "json", "--output": output}
        if named := next((name for name, value in needs_board.items() if value), None):
            raise typer.BadParameter(f"{named} goes with --board")
        from stackwright.commands.explain.command import explain_word

        return explain_word(word)
    from stackwright.commands.explain.board import ExplainRequest, explain_board

    request = ExplainRequest(
        word,
        verbose=verbose or show_all,
        overrides=overrides(profile, form, impedance),
        config=config,
        format=format_,
        output=output,
    )
    return explain_board(board, request)
