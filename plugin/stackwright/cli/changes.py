"""The commands about what changes from commit to commit; the work is in `stackwright.commands`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DIFF_EPILOG = """
\b
Examples:
  stackwright diff old.kicad_pcb new.kicad_pcb
  stackwright diff HEAD card.kicad_pcb          what is not committed yet
  stackwright diff v1.2 main card.kicad_pcb     two commits
  stackwright diff main HEAD . --markdown --output comment.md
  stackwright diff main HEAD . --html --output diff.html

\b
Exit codes:
  0  no new finding at or above the failing severity
  1  there is one
  2  a board cannot be checked, or a commit is not there
"""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Show what lies between two states of a board.", epilog=DIFF_EPILOG)(diff)


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A board, or a commit of the board.")],
    new: Annotated[
        str | None, typer.Argument(metavar="[NEW]", help="A board, or a commit; by default the file as it lies there.")
    ] = None,
    board: Annotated[
        Path | None, typer.Argument(metavar="[BOARD]", help="Board, project or folder, where both are commits.")
    ] = None,
    *,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="Workload, as for check.")] = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form factor, as for check.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings for both, as for check.")] = None,
    fail_on: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Lowest severity of a new finding that gives exit code 1.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="A comment for a pull request.")] = False,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    html: Annotated[bool, typer.Option("--html", help="A page: both cross-sections side by side.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Show what lies between two states of a board: stackup, ohms, decibels, yield, findings new and fixed."""
    from stackwright.commands.diff.command import HTML, JSON, MARKDOWN, TEXT, Options, diff_boards

    named = [name for name, asked in ((JSON, json), (MARKDOWN, markdown), (HTML, html)) if asked]
    if len(named) > 1:
        raise typer.BadParameter(f"--{named[0]} and --{named[1]} exclude each other")
    if fail_on not in (None, "error", "warning", "info", "never"):
        raise typer.BadParameter("--fail-on takes error, warning, info or never")
    return diff_boards(old, new, board, Options(profile, form, config, fail_on, named[0] if named else TEXT, output))
