"""The command line of `release`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli.options import (
    BOARD,
    ConfigOption,
    JsonFlag,
    OutputOption,
    VerboseOption,
    format_option,
    one_format,
)

RELEASE_EPILOG = """
\b
Examples:
  stackwright release card.kicad_pcb gerbers/
  stackwright release card.kicad_pcb card.xml card-odb.zip card.d356
  stackwright release card.kicad_pcb fab.zip --format json
  stackwright release card.kicad_pcb card.xml --fix

\b
Exit codes:
  0  what is sent agrees with the board
  1  something differs, or what the board states is in no file
  2  the board or a file cannot be read
"""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Compare the files for the fab with the board.", epilog=RELEASE_EPILOG)(release)


def release(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help=BOARD)],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES", help="Gerber, drill, IPC-2581, ODB++, IPC-D-356: files, folders, zip, tgz."),
    ],
    *,
    fix: Annotated[
        bool, typer.Option("--fix", help="Write a corrected IPC-2581 C next to the one that is named.")
    ] = False,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
    format_: Annotated[str | None, format_option("text", "json")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
) -> int:
    """Compare what is sent to the fab with the board: layers, stackup, drills, backdrills, outline, impedance."""
    from stackwright.commands.release.command import ReleaseRequest, check_release

    if fix and (format_ or json or output):
        raise typer.BadParameter("--fix writes next to the named file; --format and --output do not go with it")
    request = ReleaseRequest(
        fix=fix,
        verbose=verbose,
        config=config,
        format=one_format(format_, json=json),
        output=output,
    )
    return check_release(board, files, request)
