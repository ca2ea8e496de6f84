"""The command line. The work is in `stackwright.commands`, imported when a command runs."""

from __future__ import annotations

from copy import copy
from typing import Annotated

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from stackwright import __version__
from stackwright.cli import assistants, build, changes, check, explain, fabs, inspect, lookup, release, setup
from stackwright.run.wildcards import without_wildcards

app = typer.Typer(
    name="stackwright",
    help="Check the stackup, materials, copper and vias of KiCad boards against the requirements of AI workloads.",
    epilog="Start with: stackwright check my_board.kicad_pcb",
    invoke_without_command=True,
    rich_markup_mode=None,  # plain help: half the start-up time, and it reads the same everywhere
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

CTRL_C = 130
"""What newer Typer makes of an interrupt."""


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; usage errors become one line like every other error."""
    command = typer.main.get_command(_with_command_named(arguments))
    try:
        code = command.main(without_wildcards(arguments), prog_name="stackwright", standalone_mode=False)
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if type(error).__name__ == "Abort":  # older Typer's word for Ctrl-C
            raise KeyboardInterrupt from error
        if usage is None:
            raise
        message = " ".join(usage().split()).rstrip(".").replace("Value error, ", "")
        typer.echo(f"error: {_context(error)}: {message}; see {_context(error)} --help", err=True)
        return 2
    if code == CTRL_C:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _with_command_named(arguments: list[str]) -> typer.Typer:
    """Return the command line with only the command that is named first, for building each takes a while; else all."""
    named = [one for one in app.registered_commands if arguments and _name(one) == arguments[0]]
    if not named:
        return app
    only = copy(app)
    only.registered_commands = named
    return only


def _name(command: CommandInfo) -> str | None:
    return command.name or (command.callback and get_command_name(command.callback.__name__))


def _context(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "stackwright"


def _version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"stackwright {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda wanted: _version(wanted=wanted), is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Show the help where no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


for commands in (check, inspect, explain, build, fabs, changes, release, lookup, setup, assistants):
    commands.register(app)
