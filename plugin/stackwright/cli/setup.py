"""The command line of what is set up once: `init`, `schema`, `kicad doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli import names
from stackwright.cli.options import BoardArg, FormOption, OutputOption

SCHEMA_EPILOG = """
\b
Examples:
  stackwright schema
  stackwright schema --output stackwright.schema.json

\b
For editors with Taplo or Even Better TOML, put this in the first line of stackwright.toml:
  #:schema ./stackwright.schema.json
"""

DOCTOR_EPILOG = """
\b
Exit codes:
  0  no fault found
  1  a fault was found; its fix is shown
"""

kicad = typer.Typer(help="The button in KiCad.", invoke_without_command=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Create a stackwright.toml for a board.")(init)
    app.command(short_help="Write the JSON schema of stackwright.toml.", epilog=SCHEMA_EPILOG)(schema)
    app.add_typer(kicad, name="kicad", short_help="The button in KiCad: find out why it is missing.")


def init(
    board: BoardArg = Path(),
    *,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Request all data that this workload needs; adds to an existing file.",
            autocompletion=names.profiles,
        ),
    ] = None,
    form: FormOption = None,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Ask at most five questions.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", hidden=True)] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing stackwright.toml.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Answer the missing facts in a form in the browser; keeps what is there.")
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="With --serve: open the form, or print its address.")
    ] = True,
) -> int:
    """Create a stackwright.toml next to a board, filled with what can be inferred from it."""
    if serve:
        from stackwright.kicad.form.serve import serve_form

        _refuse_with_serve(interactive=interactive, force=force, form=form)
        return serve_form(board, profile=profile, open_page=browser)
    from stackwright.commands.setup.init import init_board

    return init_board(board, ask=interactive and not yes, force=force, profile=profile, form=form)


def _refuse_with_serve(*, interactive: bool, force: bool, form: str | None) -> None:
    """Refuse options that the form takes the place of.

    Raises:
        OptionsError: one of them is given.
    """
    from stackwright.commands.check.request import OptionsError

    for name, given in (("--interactive", interactive), ("--force", force), ("--form", form)):
        if given:
            raise OptionsError("--serve", f"and {name} exclude each other", "leave one of them out: the form asks")


def schema(*, output: OutputOption = None) -> int:
    """Write the JSON schema of stackwright.toml, with which editors complete and check its keys."""
    from stackwright.commands.request import OutputRequest
    from stackwright.commands.setup.settings_schema import write_schema

    return write_schema(OutputRequest(output=output))


@kicad.callback()
def _group(context: typer.Context) -> None:
    """Show the help where no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@kicad.command(short_help="Find out why the button is missing.", epilog=DOCTOR_EPILOG)
def doctor() -> int:
    """Find out why KiCad shows no Stackwright button, and show the fix; changes nothing."""
    from stackwright.kicad.doctor_page import examine

    return examine()
