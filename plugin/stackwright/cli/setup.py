"""The command line of what is set up once: `init`, `schema`, `kicad doctor`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.epilog import Command
from stackwright.cli.options import board_argument, form_option, output_option

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


@click.command(short_help="Create a stackwright.toml for a board.")
@board_argument
@click.option(
    "--profile",
    metavar="NAME",
    help="Request all data that this workload needs; adds to an existing file.",
    shell_complete=names.completed(names.profiles),
)
@form_option
@click.option("--interactive", "-i", is_flag=True, help="Ask at most five questions.")
@click.option("--yes", "-y", is_flag=True, hidden=True)
@click.option("--force", is_flag=True, help="Replace an existing stackwright.toml.")
@click.option("--serve", is_flag=True, help="Answer the missing facts in a form in the browser; keeps what is there.")
@click.option(
    "--browser/--no-browser", default=True, show_default=True, help="With --serve: open the form, or print its address."
)
def init(
    *,
    board: Path,
    profile: str | None,
    form: str | None,
    interactive: bool,
    yes: bool,
    force: bool,
    serve: bool,
    browser: bool,
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


@click.command(cls=Command, short_help="Write the JSON schema of stackwright.toml.", epilog=SCHEMA_EPILOG)
@output_option
def schema(*, output: Path | None) -> int:
    """Write the JSON schema of stackwright.toml, with which editors complete and check its keys."""
    from stackwright.commands.request import OutputRequest
    from stackwright.commands.setup.settings_schema import write_schema

    return write_schema(OutputRequest(format="json", output=output))


@click.group(short_help="The button in KiCad: find out why it is missing.")
def kicad() -> None:
    """The button in KiCad."""


@kicad.command(short_help="Find out why the button is missing.", epilog=DOCTOR_EPILOG)
def doctor() -> int:
    """Find out why KiCad shows no Stackwright button, and show the fix; changes nothing."""
    from stackwright.kicad.doctor_page import examine

    return examine()


COMMANDS = (init, schema, kicad)
