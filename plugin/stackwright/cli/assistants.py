"""The command line of `mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli.epilog import Command
from stackwright.cli.options import FILE

EPILOG = """
\b
Examples:
  stackwright mcp --folder ~/boards
  stackwright mcp --folder ~/boards --folder ~/archive

The program that asks starts this command. Tools: boards, check, explain, nets, impedance, suggest, materials,
fabs. All of them only read, and only in these folders.
"""


@click.command(cls=Command, short_help="Answer an assistant's questions about boards.", epilog=EPILOG)
@click.option(
    "--folder",
    type=FILE,
    multiple=True,
    required=True,
    metavar="DIR",
    help="Folder whose boards may be read. Repeatable.",
)
def mcp(*, folder: tuple[Path, ...]) -> int:
    """Serve the commands that only read as tools of the Model Context Protocol, on standard input and output."""
    from importlib.util import find_spec

    from stackup_lib.core.errors import ConfigError
    from stackwright.assistants.folders import served

    if find_spec("mcp") is None:
        raise ConfigError("stackwright mcp", "the package mcp is not installed", "pip install mcp")
    folders = served(list(folder))
    from stackwright.assistants.server import serve

    serve(folders)
    return 0


COMMANDS = (mcp,)
