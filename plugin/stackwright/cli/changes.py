"""The command line of `diff`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    FILE,
    config_option,
    fail_on_option,
    form_option,
    format_option,
    html_flag,
    impedance_option,
    json_flag,
    markdown_flag,
    one_format,
    open_option,
    output_option,
    overrides,
    profile_option,
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


@click.command(cls=Command, short_help="Compare two states of a board.", epilog=DIFF_EPILOG)
@click.argument("old", help="A board, or a git commit of the board.")
@click.argument("new", required=False, help="A board, or a git commit. Default: the file on disk.")
@click.argument("board", type=FILE, required=False, help="Board, project or folder, where OLD and NEW are commits.")
@profile_option
@form_option
@config_option
@impedance_option
@fail_on_option
@format_option("text", "markdown", "html", "json")
@markdown_flag
@json_flag
@html_flag
@output_option
@open_option
def diff(
    *,
    old: str,
    new: str | None,
    board: Path | None,
    profile: str | None,
    form: str | None,
    config: Path | None,
    impedance: tuple[str, ...],
    fail_on: str | None,
    format_: str | None,
    markdown: bool,
    json: bool,
    html: bool,
    output: Path | None,
    open_page: bool,
) -> int:
    """Compare two states of a board: stackup, impedance, loss, yield, new and fixed findings.

    Of a folder with several boards, text and Markdown hold every board that differs. All findings of a board that OLD
    does not have are new.
    """
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


COMMANDS = (diff,)
