"""The command line on the way to the fab: apply, compare, fab-pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

APPLY_EPILOG = """
\b
Examples:
  stackwright stackup card.kicad_pcb --plan --output card.stackwright-plan.toml
  stackwright apply card.stackwright-plan.toml card.kicad_pcb
  stackwright apply card.stackwright-plan.toml card.kicad_pcb --write --change-stackup

\b
Exit codes:
  0  shown, or written
  2  the plan does not fit, KiCad has the board open, or nothing may be written; every file is as it was
"""


COMPARE_EPILOG = """
\b
Examples:
  stackwright compare card.kicad_pcb fab.csv
  stackwright compare card.kicad_pcb - < pasted.txt
  stackwright compare card.kicad_pcb fab.csv --json

\b
Columns, in any order and under their usual names: layer, type, thickness (mm, um, mil, inch), material, Dk, Df,
copper oz; optional width, gap and impedance of the lines on a layer.

\b
Exit codes:
  0  the fab builds what the board states
  1  something differs, or cannot be compared
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
  2  something is there already, or the plan makes no board; nothing is written
"""


SUGGEST_EPILOG = """
\b
Examples:
  stackwright suggest --profile training-b200
  stackwright suggest --profile inference-pcie --form pcie-fhhl --length pcie5=120
  stackwright suggest card.kicad_pcb --profile inference-pcie --plan card.stackwright-plan.toml
  stackwright suggest card.kicad_pcb --html --output stackups.html

\b
Exit codes:
  0  there is a stackup that meets the goals
  1  there is none: it says which goals fight, and what comes nearest
  2  the board cannot be read, or an option makes no sense

Options left out are taken from [goals] in stackwright.toml, then from profile, form and board.
"""


FIT_EPILOG = """
\b
Examples:
  stackwright fit card.kicad_pcb
  stackwright fit card.kicad_pcb --profile training-b200 --suggest
  stackwright fit card.kicad_pcb --form pcie-fhhl --json
  stackwright fit card.kicad_pcb --html --output fit.html

\b
A workload whose clauses wait for facts is "not proven": it is never counted as fit.

\b
Exit codes:
  0  the board was judged, whatever it is fit for
  2  the board or its settings cannot be read, or a rule broke
"""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="What a board is fit for, and how far from the rest.", epilog=FIT_EPILOG)(fit)
    app.command(short_help="Suggest stackups for a workload or a board.", epilog=SUGGEST_EPILOG)(suggest)
    app.command(short_help="Bring a planned stackup into a board.", epilog=APPLY_EPILOG)(apply)
    app.command(short_help="Begin a board: its stackup, net classes, rules, settings.", epilog=NEW_EPILOG)(new)
    app.command("fab-pack", short_help="Tables and notes for the fab.")(fab_pack)
    app.command(short_help="Compare a fab's stackup with the board.", epilog=COMPARE_EPILOG)(compare)


def fit(
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    profile: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Tell of this workload in full; repeatable.")
    ] = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Judge every workload in this form factor.")] = None,
    suggest: Annotated[
        bool | None,
        typer.Option(
            "--suggest/--no-suggest", help="Look for stackups for all workloads that are told of, or for none."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    html: Annotated[bool, typer.Option("--html", help="A page for people, all workloads in full.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Judge a board against every workload: what it is fit for, what lies between it and the rest, what would help.

    By default a stackup is looked for that brings it to the nearest workload it is not fit for.
    """
    from stackwright.commands.fit.command import FitRequest, show_fitness

    if json and html:
        raise typer.BadParameter("--json and --html exclude each other")
    wanted = FitRequest(
        profiles=tuple(profile or ()),
        form=form,
        suggest=suggest,
        as_json=json,
        as_html=html,
        config=config,
        output=output,
    )
    return show_fitness(board, wanted)


def suggest(
    board: Annotated[
        Path | None, typer.Argument(metavar="[BOARD]", help="Board, project or folder; none begins from the workload.")
    ] = None,
    *,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="Workload; see `stackwright profiles`.")] = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form factor.")] = None,
    interface: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="It carries this one, e.g. pcie5; may be repeated.")
    ] = None,
    length: Annotated[
        list[str] | None, typer.Option(metavar="NAME=MM", help="Longest line of an interface; may be repeated.")
    ] = None,
    layers: Annotated[int | None, typer.Option(min=4, max=40, help="Copper layers.")] = None,
    thickness_mm: Annotated[float | None, typer.Option("--thickness-mm", help="Finished thickness.")] = None,
    laminate: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this laminate; may be repeated.")
    ] = None,
    drill_mm: Annotated[float | None, typer.Option("--drill-mm", help="Drill of the smallest through via.")] = None,
    power_oz: Annotated[float | None, typer.Option("--power-oz", help="Copper weight of power planes.")] = None,
    build_ups: Annotated[int | None, typer.Option(min=0, max=10, help="HDI layers on either side.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=20, help="Answers at most.")] = 5,
    pick: Annotated[int, typer.Option(min=1, max=20, help="The answer to draw, and to write with --plan.")] = 1,
    plan: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the plan for `apply` and `new`.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    html: Annotated[bool, typer.Option("--html", help="A page: the stackups side by side.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Suggest stackups that meet what a workload asks, ranked; for a board its least change first.

    Nothing of the board is written: --plan writes a file that `stackwright apply` shows and applies.
    """
    from stackwright.commands.suggest.command import suggest_stackups
    from stackwright.commands.suggest.model import SuggestRequest
    from stackwright.commands.suggest.options import choices_of

    if json and html:
        raise typer.BadParameter("--json and --html exclude each other")
    choices = choices_of(
        interfaces=interface,
        lengths=length,
        layers=layers,
        thickness_mm=thickness_mm,
        laminates=laminate,
        drill_mm=drill_mm,
        power_copper_oz=power_oz,
        build_ups=build_ups,
    )
    wanted = SuggestRequest(board, profile, form, choices, limit, plan, pick, json, config, html, output)
    return suggest_stackups(wanted)


def apply(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file, e.g. from `stackwright stackup --plan`.")],
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Change the files; without it they are only compared.")
    ] = False,
    change_stackup: Annotated[
        bool, typer.Option("--change-stackup", help="With --write: what is built may change.")
    ] = False,
    layers: Annotated[bool, typer.Option("--layers", help="Copper layers may be added or removed.")] = False,
    classes: Annotated[bool, typer.Option("--classes", help="The plan's net classes too, into the project.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="The plan's design rules too, into the .kicad_dru.")] = False,
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Keep no copy of the former files.")] = False,
) -> int:
    """Compare a plan with a board: what would change in its files, and what that does to its lines; write on demand."""
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
    board: Annotated[Path, typer.Argument(metavar="BOARD", help="The board to begin: a .kicad_pcb that is not there.")],
    *,
    profile: Annotated[str, typer.Option(metavar="NAME", help="Workload that it is for; see `stackwright profiles`.")],
    form: Annotated[
        str | None, typer.Option(metavar="NAME", help="Form factor, where the profile does not say it.")
    ] = None,
    interface: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="It carries this one, e.g. pcie5; repeatable."),
    ] = None,
    layers: Annotated[int | None, typer.Option(metavar="N", help="So many copper layers.")] = None,
    thickness_mm: Annotated[float | None, typer.Option(metavar="MM", help="Finished thickness.")] = None,
    laminate: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only of this laminate; repeatable.")
    ] = None,
    length: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=MM", help="Longest line of an interface, e.g. pcie5=150; repeatable."),
    ] = None,
    pick: Annotated[int, typer.Option(metavar="N", min=1, help="Not the best suggestion but this one.")] = 1,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Begin from this plan, not from the best suggestion.")
    ] = None,
    finish: Annotated[str | None, typer.Option(metavar="NAME", help="Copper finish, e.g. ENIG.")] = None,
) -> int:
    """Begin an empty board: .kicad_pcb with the stackup, .kicad_pro with net classes, design rules, settings.

    Nothing that is there is replaced; all files are written or none.
    """
    from stackwright.commands.apply.new import NewRequest, new_board

    said = tuple(word for part in interface or () for word in part.replace(",", " ").split())
    wanted = NewRequest(
        profile=profile,
        form=form,
        interfaces=said,
        plan=plan,
        pick=pick,
        layers=layers,
        thickness_mm=thickness_mm,
        laminates=tuple(laminate or ()),
        lengths=tuple(length or ()),
        finish=finish,
    )
    return new_board(board, wanted)


def fab_pack(
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the files go; made when it is not there.")],
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
) -> int:
    """Write stackup, impedance and backdrill tables and notes for the fab; what nobody states is NOT STATED."""
    from stackwright.commands.fab.fab_pack import write_fab_pack

    return write_fab_pack(board, output, config)


def compare(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help="Board, project or folder.")],
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="The fab's stackup as CSV or text; - for pasted text.")
    ],
    *,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Compare a fab's stackup with the board's, layer by layer, and say what each difference does to the lines."""
    from stackwright.commands.fab.compare import compare_tables

    return compare_tables(board, table, config=config, as_json=json, output=output)
