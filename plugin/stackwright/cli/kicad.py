"""The commands about the button in KiCad; the work is in `stackwright.commands`."""

from __future__ import annotations

import typer

DOCTOR_EPILOG = """
\b
Exit codes:
  0  nothing is wrong
  1  there is a fault, with its cure
"""

kicad = typer.Typer(help="The button in KiCad.", invoke_without_command=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(kicad, name="kicad", short_help="The button in KiCad: find out why there is none.")


@kicad.callback()
def _group(context: typer.Context) -> None:
    """Show the help where no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@kicad.command(short_help="Find out why there is no button.", epilog=DOCTOR_EPILOG)
def doctor() -> int:
    """Find out, from outside, why there is no button in KiCad, and say the cure; changes nothing."""
    from stackwright.commands.setup.kicad_doctor import examine

    return examine()
