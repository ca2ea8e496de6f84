"""The command line of `explain`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    FILE,
    AnswerOptions,
    all_flag,
    answers_in,
    config_option,
    form_option,
    impedance_option,
    overrides,
    profile_option,
    verbose_option,
)

EPILOG = """
\b
Examples:
  stackwright explain VIA002
  stackwright explain VIA002 --board card.kicad_pcb
  stackwright explain training.df.nvlink5 --board card.kicad_pcb --format json
"""


@click.command(cls=Command, short_help="Explain a rule or requirement, with the values of a board.", epilog=EPILOG)
@click.argument(
    "word",
    required=True,
    metavar="CODE",
    help="Code or name of a rule, or id of a requirement.",
    shell_complete=names.completed(names.rules),
)
@click.option(
    "--board", type=FILE, metavar="BOARD", help="Show the formula with the values of this board, and the verdict."
)
@profile_option
@form_option
@config_option
@impedance_option
@verbose_option
@all_flag
@answers_in("text", "json", but=" JSON needs --board.")
def explain(
    *,
    word: str,
    board: Path | None,
    profile: str | None,
    form: str | None,
    config: Path | None,
    impedance: tuple[str, ...],
    verbose: bool,
    show_all: bool,
    answer: AnswerOptions,
) -> int:
    """Explain a rule (what, why, how to fix, sources) or a clause; with --board, how that board was judged."""
    if board is None:
        needs_board: dict[str, object] = {
            "--profile": profile,
            "--form": form,
            "--config": config,
            "--impedance": impedance,
        }
        needs_board |= {"--verbose": verbose or show_all, "--format json": answer["format"] == "json"}
        needs_board["--output"] = answer["output"]
        if named := next((name for name, value in needs_board.items() if value), None):
            raise click.BadParameter(f"{named} goes with --board")
        from stackwright.commands.explain.command import explain_word

        return explain_word(word)
    from stackwright.commands.explain.board import ExplainRequest, explain_board

    request = ExplainRequest(
        word,
        verbose=verbose or show_all,
        overrides=overrides(profile, form, impedance),
        config=config,
        **answer,
    )
    return explain_board(board, request)


COMMANDS = (explain,)
