"""The command line. The work is in `stackwright.commands`, imported when a command runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module

import click

from stackwright import __version__
from stackwright.cli.options import NO_CACHE
from stackwright.run.wildcards import without_wildcards

NAME = "stackwright"
COMPLETE = "_STACKWRIGHT_COMPLETE"
"""Set by the script of `completion` where the shell asks what a word may become."""

ROOMS = (
    "check",
    "inspect",
    "signals",
    "explain",
    "design",
    "build",
    "fabs",
    "changes",
    "release",
    "lookup",
    "setup",
    "assistants",
    "shell",
)
"""Modules of this folder that hold `COMMANDS`, in the order of the help."""


class _Program(click.Group):
    """All commands, in the order of a user's work. Modules behind the one that holds the named command stay unread."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return [str(command.name) for command in _commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, None where there is none."""
        return next((command for command in _commands() if command.name == cmd_name), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant; of one that is not known, the error names the nearest, as for options."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches  # only of a mistake

            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            meant = f" (Did you mean {near[0]!r}?)" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)


def _commands() -> Iterator[click.Command]:
    for room in ROOMS:
        yield from import_module(f"stackwright.cli.{room}").COMMANDS


@click.group(
    name=NAME,
    cls=_Program,
    epilog="Start with: stackwright check my_board.kicad_pcb",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--no-cache", is_flag=True, envvar="STACKWRIGHT_NO_CACHE", help=NO_CACHE)
@click.version_option(__version__, message="%(prog)s %(version)s", help="Show the version.")
@click.pass_context
def app(context: click.Context, *, no_cache: bool) -> None:
    """Check the stackup, materials, copper and vias of KiCad boards against the requirements of AI workloads."""
    if not no_cache:
        from stackwright.run.line_cache import using_line_cache

        context.with_resource(using_line_cache())


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; usage errors become one line like every other error."""
    if asked := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, NAME, COMPLETE, asked)
    try:
        with app.make_context(NAME, without_wildcards(arguments)) as context:
            code = app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        return 2
    except click.ClickException as error:
        message = " ".join(error.format_message().split()).rstrip(".")
        where = _command(error, arguments)
        click.echo(f"error: {where}: {message}; see {where} --help", err=True)
        return 2
    return code if isinstance(code, int) else 0


def _command(error: click.ClickException, arguments: Sequence[str]) -> str:
    """Return the command that is wrong; of an option without its value click does not say which it is."""
    context = getattr(error, "ctx", None)
    if context is not None:
        return str(context.command_path)
    word = next((word for word in arguments if not word.startswith("-")), "")
    return f"{NAME} {word}" if app.get_command(click.Context(app), word) else NAME
