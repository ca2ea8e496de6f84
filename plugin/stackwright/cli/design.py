"""The command line of what a board is fit for, and of what would make it so: `fit`, `suggest`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.epilog import TYPED, Command
from stackwright.cli.options import (
    BOARD,
    FILE,
    FiniteNumber,
    WholeRange,
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
    no_cache_option,
    one_format,
    open_option,
    output_option,
    overrides,
    profile_option,
    thickness_option,
    verbose_option,
)

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


@click.command(cls=Command, short_help="Judge a board against all workloads.", epilog=FIT_EPILOG)
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
@no_cache_option
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


@click.command(cls=Command, short_help="Suggest stackups for a workload or a board.", epilog=SUGGEST_EPILOG)
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
@click.option("--build-ups", type=WholeRange(min=0, max=10), metavar="N", help="HDI build-up layers on each side.")
@click.option(
    "fast_outside",
    "--outer-links/--no-outer-links",
    default=None,
    help="High-speed links also run on the outer layers.",
)
@click.option(
    "--limit",
    type=WholeRange(min=1, max=20),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of stackups.",
)
@click.option(
    "--pick",
    type=WholeRange(min=0, max=20),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the stackup to draw and to write with --plan; 0 writes the change that helps in part.",
)
@click.option("--plan", type=FILE, metavar="FILE", help="Write a plan for `stackwright apply` and `stackwright new`.")
@config_option
@verbose_option
@format_option("text", "html", "json")
@json_flag
@html_flag
@output_option
@no_cache_option
@open_option
@click.pass_context
def suggest(
    context: click.Context,
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
    verbose: bool,
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
        verbose,
        context.meta[TYPED],
        overrides=overrides(profile, form),
        config=config,
        format=one_format(format_, open_page=open_page, json=json, html=html),
        output=output,
        open_page=open_page,
    )
    return suggest_stackups(request)


COMMANDS = (fit, suggest)
