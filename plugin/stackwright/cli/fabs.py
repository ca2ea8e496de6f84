"""The command line of stackups that fabs offer by name: `fabs`, `match`, `retarget`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    FILE,
    AnswerOptions,
    answers_in,
    config_option,
    layers_option,
    needed_board_argument,
    thickness_option,
    verbose_option,
)

fab_option = click.option("--fab", metavar="FAB", help="Only this fab; `stackwright fabs` lists them.")
copper_option = click.option("--copper", metavar="OZ", help="Copper weights, outer/inner, e.g. 1/0.5.")

FABS_EPILOG = """
\b
Examples:
  stackwright fabs
  stackwright fabs --layers 6 --thickness-mm 1.6 --copper 1/0.5
  stackwright fabs show JLC06161H-3313
  stackwright fabs show JLC06161H-3313 --format json

\b
Exit codes:
  0  the fabs or stackups were shown
  1  no stackup fits, or several have the name; the output lists them
  2  there is no such fab or stackup
"""


MATCH_EPILOG = """
\b
Examples:
  stackwright match card.kicad_pcb
  stackwright match card.kicad_pcb --fab jlcpcb
  stackwright match card.kicad_pcb --with JLC06161H-3313 --verbose

\b
Exit codes:
  0  the board's stackup is a named one, as far as both state their rows
  1  it is none of them; the nearest are shown
  2  the board cannot be read, states no stackup, or there is no such fab or stackup
"""


RETARGET_EPILOG = """
\b
Examples:
  stackwright retarget card.kicad_pcb --to JLC06161H-3313
  stackwright retarget card.kicad_pcb --to JLC06161H-3313 --plan card.stackwright-plan.toml
  stackwright retarget card.kicad_pcb --to JLC06161H-3313 --write
  stackwright retarget card.kicad_pcb --to NOREQ --thickness-mm 1.6 --copper 1/0.5

\b
Exit codes:
  0  the changes were shown or written
  2  the stackup does not fit the board, KiCad has the board open, or a file cannot be written; all files are unchanged
"""


@click.command(cls=Command, short_help="List stackups that fabs offer by name.", epilog=FABS_EPILOG)
@click.argument("show", nargs=-1, metavar="[show NAME]", help="Show the rows of this stackup.")
@fab_option
@layers_option
@thickness_option
@copper_option
@answers_in("text", "json")
@verbose_option
def fabs(
    *,
    show: tuple[str, ...],
    fab: str | None,
    layers: int | None,
    thickness_mm: float | None,
    copper: str | None,
    answer: AnswerOptions,
    verbose: bool,
) -> int:
    """List the fabs with named stackups, the stackups that pass the filters, or the rows of one stackup."""
    from stackwright.commands.fab.fabs import FabsRequest, show_fabs

    words = list(show or ())
    if words[:1] == ["show"] and len(words) == 1:
        raise click.BadParameter("show what? Name a stackup, e.g. stackwright fabs show JLC06161H-3313")
    name = " ".join(words[1:] if words[:1] == ["show"] else words) or None
    request = FabsRequest(
        name=name,
        fab=fab,
        layers=layers,
        thickness_mm=thickness_mm,
        copper=copper,
        verbose=verbose,
        **answer,
    )
    return show_fabs(request)


@click.command(cls=Command, short_help="Find the fab's stackup that a board's is nearest to.", epilog=MATCH_EPILOG)
@needed_board_argument
@fab_option
@click.option("with_", "--with", metavar="NAME", help="Compare with this stackup instead of the nearest.")
@config_option
@answers_in("text", "json")
@verbose_option
def match(
    *,
    board: Path,
    fab: str | None,
    with_: str | None,
    config: Path | None,
    answer: AnswerOptions,
    verbose: bool,
) -> int:
    """Show which named stackup of a fab the board's is or is nearest to, row by row, in ohm and dB of its lines."""
    from stackwright.commands.fab.match import MatchRequest, match_board

    request = MatchRequest(
        fab=fab,
        name=with_,
        verbose=verbose,
        config=config,
        **answer,
    )
    return match_board(board, request)


@click.command(cls=Command, short_help="Change a board to a fab's stackup, widths with it.", epilog=RETARGET_EPILOG)
@needed_board_argument
@click.option("--to", required=True, metavar="NAME", help="The stackup; `stackwright fabs` lists them.")
@fab_option
@thickness_option
@copper_option
@click.option("--plan", type=FILE, metavar="FILE", help="Write a plan for `stackwright apply` and `stackwright new`.")
@click.option("--write", is_flag=True, help="Change the files; without it, only compare.")
@click.option("--no-backup", is_flag=True, help="Keep no copies of the former files.")
@config_option
@answers_in("text", "json")
@verbose_option
def retarget(
    *,
    board: Path,
    to: str,
    fab: str | None,
    thickness_mm: float | None,
    copper: str | None,
    plan: Path | None,
    write: bool,
    no_backup: bool,
    config: Path | None,
    answer: AnswerOptions,
    verbose: bool,
) -> int:
    """Show a board in a fab's stackup: widths and gaps of its controlled lines, and what has to be rerouted.

    With --write, changes stackup, net classes, tuning profiles, design rules and the process in stackwright.toml.
    """
    from stackwright.commands.fab.retarget import RetargetRequest, retarget_board

    request = RetargetRequest(
        name=to,
        fab=fab,
        thickness_mm=thickness_mm,
        copper=copper,
        plan=plan,
        write=write,
        backup=not no_backup,
        verbose=verbose,
        config=config,
        **answer,
    )
    return retarget_board(board, request)


COMMANDS = (fabs, match, retarget)
