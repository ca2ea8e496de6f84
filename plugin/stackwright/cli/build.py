"""The command line on the way to the fab: `fit`, `suggest`, `apply`, `new`, `fab-pack`, `compare`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.options import (
    BOARD,
    FILE,
    FiniteNumber,
    board_argument,
    config_option,
    form_option,
    format_option,
    html_flag,
    interfaces_option,
    json_flag,
    laminates_option,
    layers_option,
    lengths_option,
    needed_board_argument,
    one_format,
    open_option,
    output_option,
    overrides,
    profile_option,
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

\b
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


SUGGEST_EPILOG = """
\b
Examples:
  stackwright suggest --profile training-b200
  stackwright suggest --profile inference-pcie --form pcie-fhhl --length pcie5=120
  stackwright suggest card.kicad_pcb --profile inference-pcie --plan card.stackwright-plan.toml
  stackwright suggest card.kicad_pcb --format html --output stackups.html

\b
Exit codes:
  0  there is a stackup that meets the goals
  1  there is none; the output shows which goals conflict, and the nearest stackups
  2  the board cannot be read, or an option is not valid

Defaults come from [goals] in stackwright.toml, then from the workload, the form factor and the board.
"""


FIT_EPILOG = """
\b
Examples:
  stackwright fit card.kicad_pcb
  stackwright fit card.kicad_pcb --profile training-b200 --suggest
  stackwright fit card.kicad_pcb --form pcie-fhhl --format json
  stackwright fit card.kicad_pcb --format html --output fit.html

\b
A workload with missing data is "not proven": it never counts as fit.

\b
Exit codes:
  0  the board was judged, whatever the verdicts
  2  the board or its settings cannot be read, or a rule crashed
"""


@click.command(short_help="Judge a board against all workloads.", epilog=FIT_EPILOG)
@board_argument
@click.option(
    "--profile",
    multiple=True,
    metavar="NAME",
    help="Report this workload in full. Repeatable.",
    shell_complete=names.completed(names.profiles),
)
@form_option
@click.option(
    "--suggest/--no-suggest",
    default=None,
    help="Search stackups for all reported workloads or none (default: the first).",
)
@config_option
@format_option("text", "html", "json")
@json_flag
@html_flag
@output_option
@open_option
@verbose_option
def fit(
    *,
    board: Path,
    profile: tuple[str, ...],
    form: str | None,
    suggest: bool | None,
    config: Path | None,
    format_: str | None,
    json: bool,
    html: bool,
    output: Path | None,
    open_page: bool,
    verbose: bool,
) -> int:
    """Judge a board against all workloads: which it is fit for, what it lacks for the others, and how to fix that.

    By default, a stackup is searched that makes the board fit for the nearest workload.
    """
    from stackwright.commands.fit.command import FitRequest, show_fitness

    request = FitRequest(
        profiles=tuple(profile or ()),
        suggest=suggest,
        verbose=verbose,
        overrides=overrides(form=form),
        config=config,
        format=one_format(format_, open_page=open_page, json=json, html=html),
        output=output,
        open_page=open_page,
    )
    return show_fitness(board, request)


@click.command(short_help="Suggest stackups for a workload or a board.", epilog=SUGGEST_EPILOG)
@click.argument("board", type=FILE, required=False, help=f"{BOARD} Without one, a stackup for the workload.")
@profile_option
@form_option
@interfaces_option
@lengths_option
@layers_option
@thickness_option
@laminates_option
@click.option("--drill-mm", type=FiniteNumber(), metavar="MM", help="Drill diameter of the smallest through via.")
@click.option("--power-oz", type=FiniteNumber(), metavar="OZ", help="Copper weight of the power planes.")
@click.option("--build-ups", type=click.IntRange(min=0, max=10), metavar="N", help="HDI build-up layers on each side.")
@click.option(
    "fast_outside",
    "--outer-links/--no-outer-links",
    default=None,
    help="High-speed links also run on the outer layers.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=20),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of stackups.",
)
@click.option(
    "--pick",
    type=click.IntRange(min=0, max=20),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the stackup to draw and to write with --plan; 0 writes the change that helps in part.",
)
@click.option("--plan", type=FILE, metavar="FILE", help="Write a plan for `stackwright apply` and `stackwright new`.")
@config_option
@format_option("text", "html", "json")
@json_flag
@html_flag
@output_option
@open_option
def suggest(
    *,
    board: Path | None,
    profile: str | None,
    form: str | None,
    interface: tuple[str, ...],
    length: tuple[str, ...],
    layers: int | None,
    thickness_mm: float | None,
    laminate: tuple[str, ...],
    drill_mm: float | None,
    power_oz: float | None,
    build_ups: int | None,
    fast_outside: bool | None,
    limit: int,
    pick: int,
    plan: Path | None,
    config: Path | None,
    format_: str | None,
    json: bool,
    html: bool,
    output: Path | None,
    open_page: bool,
) -> int:
    """Suggest stackups that meet the requirements of a workload, ranked; for a board, its smallest change first.

    The board is not changed: --plan writes a file that `stackwright apply` applies.
    """
    from stackwright.commands.suggest.command import suggest_stackups
    from stackwright.commands.suggest.model import SuggestRequest
    from stackwright.commands.suggest.options import choices_of

    choices = choices_of(
        interfaces=interface,
        lengths=length,
        layers=layers,
        thickness_mm=thickness_mm,
        laminates=laminate,
        drill_mm=drill_mm,
        power_copper_oz=power_oz,
        build_ups=build_ups,
        fast_outside=fast_outside,
    )
    request = SuggestRequest(
        board,
        choices,
        limit,
        plan,
        pick,
        overrides=overrides(profile, form),
        config=config,
        format=one_format(format_, open_page=open_page, json=json, html=html),
        output=output,
        open_page=open_page,
    )
    return suggest_stackups(request)


@click.command(short_help="Apply a planned stackup to a board.", epilog=APPLY_EPILOG)
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


@click.command(short_help="Create a new board: stackup, net classes, rules, settings.", epilog=NEW_EPILOG)
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
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the suggestion to use.",
)
@click.option("--plan", type=FILE, metavar="PLAN", help="Use this plan instead of the best suggestion.")
@click.option("--finish", metavar="NAME", help="Copper finish, e.g. ENIG.")
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


@click.command(short_help="Compare a fab's stackup with the board.", epilog=COMPARE_EPILOG)
@needed_board_argument
@click.argument(
    "table",
    type=FILE,
    required=True,
    help="The fab's stackup: xlsx, CSV or text; - for standard input.",
)
@click.option("--reply", is_flag=True, help="Print the answer to the fab as plain text.")
@config_option
@format_option("text", "json")
@json_flag
@output_option
def compare(
    *,
    board: Path,
    table: Path,
    reply: bool,
    config: Path | None,
    format_: str | None,
    json: bool,
    output: Path | None,
) -> int:
    """Compare a fab's stackup with the board's, layer by layer, and show how each difference affects the traces."""
    from stackwright.commands.fab.compare import compare_tables
    from stackwright.commands.request import BoardRequest

    request = BoardRequest(config=config, format=one_format(format_, json=json), output=output)
    return compare_tables(board, table, request, reply=reply)


COMMANDS = (fit, suggest, apply, new, fab_pack, compare)
