"""The command line on the way to the fab: `fit`, `suggest`, `apply`, `new`, `fab-pack`, `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli import names
from stackwright.cli.options import (
    BOARD,
    BoardArg,
    ConfigOption,
    FormOption,
    HtmlFlag,
    InterfacesOption,
    JsonFlag,
    LaminatesOption,
    LayersOption,
    LengthsOption,
    NeededBoardArg,
    OpenOption,
    OutputOption,
    ProfileOption,
    ThicknessOption,
    VerboseOption,
    format_option,
    one_format,
    overrides,
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


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Judge a board against all workloads.", epilog=FIT_EPILOG)(fit)
    app.command(short_help="Suggest stackups for a workload or a board.", epilog=SUGGEST_EPILOG)(suggest)
    app.command(short_help="Apply a planned stackup to a board.", epilog=APPLY_EPILOG)(apply)
    app.command(short_help="Create a new board: stackup, net classes, rules, settings.", epilog=NEW_EPILOG)(new)
    app.command("fab-pack", short_help="Write PDF, HTML and tables for the fab.")(fab_pack)
    app.command(short_help="Compare a fab's stackup with the board.", epilog=COMPARE_EPILOG)(compare)


def fit(
    board: BoardArg = Path(),
    *,
    profile: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Report this workload in full. Repeatable.", autocompletion=names.profiles),
    ] = None,
    form: FormOption = None,
    suggest: Annotated[
        bool | None,
        typer.Option(
            "--suggest/--no-suggest",
            help="Search stackups for all reported workloads or none (default: the first).",
        ),
    ] = None,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "html", "json")] = None,
    json: JsonFlag = False,
    html: HtmlFlag = False,
    output: OutputOption = None,
    open_page: OpenOption = False,
    verbose: VerboseOption = False,
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


def suggest(
    board: Annotated[
        Path | None, typer.Argument(metavar="BOARD", help=f"{BOARD} Without one, a stackup for the workload.")
    ] = None,
    *,
    profile: ProfileOption = None,
    form: FormOption = None,
    interface: InterfacesOption = None,
    length: LengthsOption = None,
    layers: LayersOption = None,
    thickness_mm: ThicknessOption = None,
    laminate: LaminatesOption = None,
    drill_mm: Annotated[
        float | None, typer.Option("--drill-mm", metavar="MM", help="Drill diameter of the smallest through via.")
    ] = None,
    power_oz: Annotated[
        float | None, typer.Option("--power-oz", metavar="OZ", help="Copper weight of the power planes.")
    ] = None,
    build_ups: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=10, help="HDI build-up layers on each side.")
    ] = None,
    fast_outside: Annotated[
        bool | None,
        typer.Option("--outer-links/--no-outer-links", help="High-speed links also run on the outer layers."),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=20, help="Maximum number of stackups.")] = 5,
    pick: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=20,
            help="Number of the stackup to draw and to write with --plan; 0 writes the change that helps in part.",
        ),
    ] = 1,
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a plan for `stackwright apply` and `stackwright new`.")
    ] = None,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "html", "json")] = None,
    json: JsonFlag = False,
    html: HtmlFlag = False,
    output: OutputOption = None,
    open_page: OpenOption = False,
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


def apply(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="Plan file, e.g. from `stackwright stackup --format plan`.")
    ],
    board: BoardArg = Path(),
    *,
    write: Annotated[bool, typer.Option("--write", help="Change the files; without it, only compare.")] = False,
    change_stackup: Annotated[
        bool, typer.Option("--change-stackup", help="With --write: allow changes to copper and dielectrics.")
    ] = False,
    layers: Annotated[bool, typer.Option("--layers", help="Allow copper layers to be added or removed.")] = False,
    classes: Annotated[
        bool, typer.Option("--classes", help="Also write the plan's net classes to the project.")
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="Also write the plan's design rules to .kicad_dru.")] = False,
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Keep no copies of the former files.")] = False,
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


def new(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help="The .kicad_pcb file to create.")],
    *,
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Workload of the board; `stackwright profiles` lists them.",
            autocompletion=names.profiles,
        ),
    ],
    form: FormOption = None,
    interface: InterfacesOption = None,
    layers: LayersOption = None,
    thickness_mm: ThicknessOption = None,
    laminate: LaminatesOption = None,
    length: LengthsOption = None,
    pick: Annotated[int, typer.Option(metavar="N", min=1, help="Number of the suggestion to use (default: 1).")] = 1,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Use this plan instead of the best suggestion.")
    ] = None,
    finish: Annotated[str | None, typer.Option(metavar="NAME", help="Copper finish, e.g. ENIG.")] = None,
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


def fab_pack(
    board: BoardArg = Path(),
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; created if missing.")
    ],
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> int:
    """Write what the fab needs as PDF, HTML and CSV: what is not stated, notes, stackup, impedances, holes."""
    from stackwright.commands.fab.fab_pack import write_fab_pack

    return write_fab_pack(board, output, config, verbose=verbose)


def compare(
    board: NeededBoardArg,
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="The fab's stackup: xlsx, CSV or text; - for standard input.")
    ],
    *,
    reply: Annotated[bool, typer.Option("--reply", help="Print the answer to the fab as plain text.")] = False,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "json")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
) -> int:
    """Compare a fab's stackup with the board's, layer by layer, and show how each difference affects the traces."""
    from stackwright.commands.fab.compare import compare_tables
    from stackwright.commands.request import BoardRequest

    request = BoardRequest(config=config, format=one_format(format_, json=json), output=output)
    return compare_tables(board, table, request, reply=reply)
