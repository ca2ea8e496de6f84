"""The command line of `diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli.options import (
    ConfigOption,
    FailOnOption,
    FormOption,
    HtmlFlag,
    ImpedanceOption,
    JsonFlag,
    MarkdownFlag,
    OpenOption,
    OutputOption,
    ProfileOption,
    format_option,
    one_format,
    overrides,
)

DIFF_EPILOG = """
\b
Examples:
  stackwright diff old.kicad_pcb new.kicad_pcb
  stackwright diff HEAD card.kicad_pcb          changes that are not committed yet
  stackwright diff v1.2 main card.kicad_pcb     two commits
  stackwright diff main HEAD . --format markdown --output comment.md
  stackwright diff main HEAD . --format html --output diff.html

\b
Exit codes:
  0  no new finding at or above the --fail-on severity
  1  there is one
  2  a board cannot be checked, or there is no such commit
"""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Compare two states of a board.", epilog=DIFF_EPILOG)(diff)


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A board, or a git commit of the board.")],
    new: Annotated[
        str | None, typer.Argument(metavar="NEW", help="A board, or a git commit. Default: the file on disk.")
    ] = None,
    board: Annotated[
        Path | None, typer.Argument(metavar="BOARD", help="Board, project or folder, where OLD and NEW are commits.")
    ] = None,
    *,
    profile: ProfileOption = None,
    form: FormOption = None,
    config: ConfigOption = None,
    impedance: ImpedanceOption = None,
    fail_on: FailOnOption = None,
    format_: Annotated[str | None, format_option("text", "markdown", "html", "json")] = None,
    markdown: MarkdownFlag = False,
    json: JsonFlag = False,
    html: HtmlFlag = False,
    output: OutputOption = None,
    open_page: OpenOption = False,
) -> int:
    """Compare two states of a board: stackup, impedance, loss, yield, new and fixed findings."""
    from stackwright.commands.diff.command import DiffRequest, diff_boards

    request = DiffRequest(
        overrides=overrides(profile, form, impedance),
        config=config,
        fail_on=fail_on,
        format=one_format(format_, open_page=open_page, json=json, markdown=markdown, html=html),
        output=output,
        open_page=open_page,
    )
    return diff_boards(old, new, board, request)
