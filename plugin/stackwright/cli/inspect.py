"""The command line of what a board is: `stackup`, `impedance`, `nets`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    AnswerOptions,
    FiniteNumber,
    FiniteRange,
    answers_in,
    board_argument,
    config_option,
    csv_flag,
    form_option,
    format_option,
    json_flag,
    markdown_flag,
    no_cache_option,
    one_format,
    output_option,
    overrides,
    plan_flag,
    profile_option,
    svg_flag,
    words,
)

IMPEDANCE_EPILOG = """
\b
Examples:
  stackwright impedance card.kicad_pcb
  stackwright impedance card.kicad_pcb --target-diff 85 --gap 0.125 --frequency 16
  stackwright impedance card.kicad_pcb --interface pcie5 --layer In2.Cu
  stackwright impedance card.kicad_pcb --layer In2.Cu --width 0.15 --gap 0.125
  stackwright impedance card.kicad_pcb --against-kicad

\b
Exit codes:
  0  every line and target was solved
  1  a target cannot be reached or data is missing: the output says which; with --against-kicad: a profile is off
  2  the board cannot be read, or an option is not valid
"""


@click.command(short_help="Show the stackup of a board.")
@board_argument
@format_option("text", "svg", "markdown", "csv", "json", "plan", but=" A plan is for `stackwright apply`.")
@svg_flag
@markdown_flag
@csv_flag
@json_flag
@plan_flag
@click.option("--to-scale", is_flag=True, help="With --format svg: draw true heights.")
@config_option
@output_option
def stackup(
    *,
    board: Path,
    format_: str | None,
    svg: bool,
    markdown: bool,
    csv: bool,
    json: bool,
    plan: bool,
    to_scale: bool,
    config: Path | None,
    output: Path | None,
) -> int:
    """Show the stackup of a board: thicknesses, materials, copper, layer roles, vias."""
    from stackwright.commands.request import BoardRequest

    format_ = one_format(format_, svg=svg, markdown=markdown, csv=csv, json=json, plan=plan)
    if to_scale and format_ != "svg":
        raise click.BadParameter("--to-scale goes with --format svg")
    request = BoardRequest(config=config, format=format_, output=output)
    if format_ == "plan":
        from stackwright.commands.apply.apply import write_plan_of_board

        return write_plan_of_board(board, request)
    from stackwright.commands.inspect.stackup import show_stackup

    return show_stackup(board, request, to_scale=to_scale)


@click.command(cls=Command, short_help="Show impedance and loss of a board's traces.", epilog=IMPEDANCE_EPILOG)
@board_argument
@click.option("--layer", metavar="LAYER", help="Show only this copper layer.")
@click.option("--width", type=FiniteNumber(), metavar="MM", help="Solve a trace of this width; needs --layer.")
@click.option("--gap", type=FiniteNumber(), metavar="MM", help="Edge-to-edge gap of a differential pair.")
@click.option("--coplanar-gap", type=FiniteNumber(), metavar="MM", help="Gap to the coplanar ground on either side.")
@click.option("--target-diff", type=FiniteNumber(), metavar="OHM", help="Target differential impedance.")
@click.option("--target-se", type=FiniteNumber(), metavar="OHM", help="Target single-ended impedance.")
@click.option(
    "--reference",
    multiple=True,
    metavar="LAYERS",
    help="Reference planes above and below, if the copper does not show them.",
)
@click.option(
    "--frequency",
    type=FiniteRange(min=0.001, max=110),
    multiple=True,
    metavar="GHZ",
    help="Frequency for the loss. Repeatable.",
)
@click.option(
    "--interface",
    metavar="NAME",
    help="Use the target and Nyquist frequency of this interface, e.g. pcie5.",
    shell_complete=names.completed(names.interfaces),
)
@click.option("--against-kicad", is_flag=True, help="Compare KiCad's tuning profiles and calculator with the solver.")
@click.option("--write-profiles", is_flag=True, help="With --against-kicad: correct the tuning profiles.")
@profile_option
@form_option
@config_option
@answers_in("text", "json")
@no_cache_option
def impedance(
    *,
    board: Path,
    layer: str | None,
    width: float | None,
    gap: float | None,
    coplanar_gap: float | None,
    target_diff: float | None,
    target_se: float | None,
    reference: tuple[str, ...],
    frequency: tuple[float, ...],
    interface: str | None,
    against_kicad: bool,
    write_profiles: bool,
    profile: str | None,
    form: str | None,
    config: Path | None,
    answer: AnswerOptions,
) -> int:
    """Solve the traces of a board's stackup: a table of layers and targets, or one trace with --layer and --width."""
    from stackwright.commands.inspect.impedance import ImpedanceRequest, show_impedance

    if write_profiles and not against_kicad:
        raise click.BadParameter("--write-profiles goes with --against-kicad")
    request = ImpedanceRequest(
        layer=layer,
        width_mm=width,
        gap_mm=gap,
        coplanar_gap_mm=coplanar_gap,
        target_diff_ohm=target_diff,
        target_se_ohm=target_se,
        references=words(reference),
        frequencies_ghz=tuple(frequency or ()),
        interface=interface,
        overrides=overrides(profile, form),
        config=config,
        **answer,
    )
    if against_kicad:
        from stackwright.commands.inspect.against_kicad import compare_with_kicad

        return compare_with_kicad(board, request, write=write_profiles)
    return show_impedance(board, request)


@click.command(short_help="Show which interface each net is assigned to.")
@board_argument
@click.option("--explain", metavar="NET", help="Show everything about one net: class, pair, link, route.")
@profile_option
@form_option
@config_option
@answers_in("text", "json")
def nets(
    *,
    board: Path,
    explain: str | None,
    profile: str | None,
    form: str | None,
    config: Path | None,
    answer: AnswerOptions,
) -> int:
    """Show which interface each net is assigned to and why: interfaces with their links, power nets, other nets."""
    from stackwright.commands.inspect.nets import NetsRequest, show_nets

    request = NetsRequest(
        explain,
        overrides=overrides(profile, form),
        config=config,
        **answer,
    )
    return show_nets(board, request)


COMMANDS = (stackup, impedance, nets)
