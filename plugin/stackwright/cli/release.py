"""The command line of `release`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    BOARD,
    FILE,
    config_option,
    format_option,
    json_flag,
    one_format,
    output_option,
    verbose_option,
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


@click.command(cls=Command, short_help="Compare the files for the fab with the board.", epilog=RELEASE_EPILOG)
@click.argument("board", type=FILE, help=BOARD)
@click.argument(
    "files",
    type=FILE,
    nargs=-1,
    required=True,
    help="Gerber, drill, IPC-2581, ODB++, IPC-D-356: files, folders, zip, tgz.",
)
@click.option("--fix", is_flag=True, help="Write a corrected IPC-2581 C next to the one that is named.")
@config_option
@verbose_option
@format_option("text", "json")
@json_flag
@output_option
def release(
    *,
    board: Path,
    files: tuple[Path, ...],
    fix: bool,
    config: Path | None,
    verbose: bool,
    format_: str | None,
    json: bool,
    output: Path | None,
) -> int:
    """Compare what is sent to the fab with the board: layers, stackup, drills, backdrills, outline, impedance."""
    from stackwright.commands.release.command import ReleaseRequest, check_release

    if fix and (format_ or json or output):
        raise click.BadParameter("--fix writes next to the named file; --format and --output do not go with it")
    request = ReleaseRequest(
        fix=fix,
        verbose=verbose,
        config=config,
        format=one_format(format_, json=json),
        output=output,
    )
    return check_release(board, files, request)


COMMANDS = (release,)
