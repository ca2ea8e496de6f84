"""The command line on the way to the fab: `apply`, `new`, `fab-pack`, `compare`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    FILE,
    AnswerOptions,
    WholeRange,
    answers_in,
    board_argument,
    config_option,
    form_option,
    interfaces_option,
    laminates_option,
    layers_option,
    lengths_option,
    needed_board_argument,
    thickness_option,
    verbose_option,
    words,
)

APPLY_EPILOG = """
\b
Examples:
  stackwright stackup card.kicad_pcb --format plan --output card.stackwright-plan.toml
  stackwright apply card.stackwright-plan.toml card.kicad_pcb
  stackwright apply card.stackwright-plan.toml card.kicad_pcb --write --change-stackup

\b
Exit codes:
  0  the changes were shown or written
  2  the plan does not fit, KiCad has the board open, or a file cannot be written; all files are unchanged
"""


COMPARE_EPILOG = """
\b
Examples:
  stackwright compare card.kicad_pcb fab.csv
  stackwright compare card.kicad_pcb - < pasted.txt
  stackwright compare card.kicad_pcb fab.xlsx --reply
  stackwright compare card.kicad_pcb fab.csv --format json

Columns, in any order and under their usual names: layer, type, thickness (mm, um, mil, inch), material, Dk, Df,
copper oz; optional width, gap and impedance of the traces on a layer.

\b
Exit codes:
  0  the fab's stackup agrees with the board's
  1  a value differs, or cannot be compared
  2  the table or the board cannot be read, or they do not match
"""


NEW_EPILOG = """
\b
Examples:
  stackwright new --profile training-b200 board.kicad_pcb
  stackwright new --profile inference-pcie --form pcie-fhhl card.kicad_pcb
  stackwright new --profile edge --plan mine.stackwright-plan.toml board.kicad_pcb

\b
Exit codes:
  0  board, project, design rules and settings are written
  2  a file exists already, or the plan makes no valid board; nothing is written
"""


@click.command(cls=Command, short_help="Apply a planned stackup to a board.", epilog=APPLY_EPILOG)
@click.argument("plan", type=FILE, help="Plan file, e.g. from `stackwright stackup --format plan`.")
@board_argument
@click.option("--write", is_flag=True, help="Change the files; without it, only compare.")
@click.option("--change-stackup", is_flag=True, help="With --write: allow changes to copper and dielectrics.")
@click.option("--layers", is_flag=True, help="Allow copper layers to be added or removed.")
@click.option("--classes", is_flag=True, help="Also write the plan's net classes to the project.")
@click.option("--rules", is_flag=True, help="Also write the plan's design rules to .kicad_dru.")
@click.option("--no-backup", is_flag=True, help="Keep no copies of the former files.")
def apply(
    *,
    plan: Path,
    board: Path,
    write: bool,
    change_stackup: bool,
    layers: bool,
    classes: bool,
    rules: bool,
    no_backup: bool,
) -> int:
    """Compare a plan with a board: what would change in its files and traces; with --write, change the files."""
    from stackwright.commands.apply.apply import PlanParts, apply_plan

    parts = PlanParts(
        write=write,
        change_stackup=change_stackup,
        layers=layers,
        classes=classes,
        rules=rules,
        backup=not no_backup,
    )
    return apply_plan(plan, board, parts)


@click.command(cls=Command, short_help="Create a new board: stackup, net classes, rules, settings.", epilog=NEW_EPILOG)
@click.argument("board", type=FILE, help="The .kicad_pcb file to create.")
@click.option(
    "--profile",
    required=True,
    metavar="NAME",
    help="Workload of the board; `stackwright profiles` lists them.",
    shell_complete=names.completed(names.profiles),
)
@form_option
@interfaces_option
@layers_option
@thickness_option
@laminates_option
@lengths_option
@click.option(
    "--pick",
    type=WholeRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the suggestion to use.",
)
@click.option("--plan", type=FILE, metavar="PLAN", help="Use this plan instead of the best suggestion.")
@click.option("--finish", metavar="NAME", help="Copper finish, e.g. ENIG.")
@config_option
def new(
    *,
    board: Path,
    profile: str,
    form: str | None,
    interface: tuple[str, ...],
    layers: int | None,
    thickness_mm: float | None,
    laminate: tuple[str, ...],
    length: tuple[str, ...],
    pick: int,
    plan: Path | None,
    finish: str | None,
    config: Path | None,
) -> int:
    """Create an empty board: .kicad_pcb with the stackup, .kicad_pro with net classes, design rules, settings.

    Existing files are not replaced; all files are written or none.
    """
    from stackwright.commands.apply.new import NewRequest, new_board

    request = NewRequest(
        profile=profile,
        form=form,
        interfaces=words(interface),
        plan=plan,
        pick=pick,
        layers=layers,
        thickness_mm=thickness_mm,
        laminates=tuple(laminate or ()),
        lengths=tuple(length or ()),
        finish=finish,
        config=config,
    )
    return new_board(board, request)


@click.command("fab-pack", short_help="Write PDF, HTML and tables for the fab.")
@board_argument
@click.option(
    "--output", "-o", type=FILE, required=True, metavar="FOLDER", help="Folder for the files; created if missing."
)
@config_option
@verbose_option
def fab_pack(
    *,
    board: Path,
    output: Path,
    config: Path | None,
    verbose: bool,
) -> int:
    """Write what the fab needs as PDF, HTML and CSV: what is not stated, notes, stackup, impedances, holes."""
    from stackwright.commands.fab.fab_pack import write_fab_pack

    return write_fab_pack(board, output, config, verbose=verbose)


@click.command(cls=Command, short_help="Compare a fab's stackup with the board.", epilog=COMPARE_EPILOG)
@needed_board_argument
@click.argument(
    "table",
    type=FILE,
    required=True,
    help="The fab's stackup: xlsx, CSV or text; - for standard input.",
)
@click.option("--reply", is_flag=True, help="Print the answer to the fab as plain text.")
@config_option
@answers_in("text", "json")
def compare(
    *,
    board: Path,
    table: Path,
    reply: bool,
    config: Path | None,
    answer: AnswerOptions,
) -> int:
    """Compare a fab's stackup with the board's, layer by layer, and show how each difference affects the traces."""
    from stackwright.commands.fab.compare import compare_tables
    from stackwright.commands.request import BoardRequest

    request = BoardRequest(config=config, **answer)
    return compare_tables(board, table, request, reply=reply)


COMMANDS = (apply, new, fab_pack, compare)
