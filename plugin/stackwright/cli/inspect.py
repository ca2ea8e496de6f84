"""The command line of what a board is: `stackup`, `impedance`, `nets`, `delay`, `touchstone`, `pdn`; and `validate`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.options import (
    FILE,
    FiniteNumber,
    FiniteRange,
    board_argument,
    config_option,
    csv_flag,
    form_option,
    format_option,
    json_flag,
    markdown_flag,
    one_format,
    output_option,
    overrides,
    plan_flag,
    profile_option,
    svg_flag,
    verbose_option,
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
  1  a target cannot be reached, or data is missing; the output says which; or, with
     --against-kicad, a tuning profile is off
  2  the board cannot be read, or an option is not valid
"""


DELAY_EPILOG = """
\b
Examples:
  stackwright delay card.kicad_pcb
  stackwright delay card.kicad_pcb -v
  stackwright delay card.kicad_pcb --format csv --output delays.csv
"""


TOUCHSTONE_EPILOG = """
\b
Examples:
  stackwright touchstone card.kicad_pcb --output links
  stackwright touchstone card.kicad_pcb --interface pcie5 --output links
  stackwright touchstone card.kicad_pcb --net PCIE_TX0 --max-ghz 40 --output links -v
  stackwright touchstone card.kicad_pcb --interface pcie5 --eye --output links

\b
Exit codes:
  0  every link has a file
  1  a link has none; the output says what is missing
  2  the board cannot be read, it has no such link, or an option is not valid
"""


PDN_EPILOG = """
\b
Examples:
  stackwright pdn card.kicad_pcb --rail +12V
  stackwright pdn card.kicad_pcb --rail +12V --load U1 --target 20 -v
  stackwright pdn card.kicad_pcb --rail +12V --format svg --output pdn.svg

\b
Exit codes:
  0  every rail has its curve
  1  a rail has none, and the output says what is missing; or it exceeds its target, whatever
     is not known of its parts
  2  the board cannot be read, no rail is named, or an option is not valid
"""


VALIDATE_EPILOG = """
\b
Examples:
  stackwright validate my_cases.csv
  stackwright validate my_cases.csv --limit-pct 0.5 --format json

\b
Columns: geometry, parameters, quantity, value_ohm; optional id, uncertainty_pct, completeness
  offset_stripline,"{""w"": 0.15, ""h1"": 0.1, ""h2"": 0.2, ""t"": 0.015, ""er"": 4}",Z0,50.1
Columns of skin-effect loss: geometry, parameters, mode, R_total_over_Rs_per_mm; optional R_signal..., Z_ohm

\b
Exit codes:
  0  every solved row agrees; skipped rows are named
  1  a row differs by more than the limit, or cannot be solved
  2  the file cannot be read, or none of its rows can be solved
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


@click.command(short_help="Show impedance and loss of a board's traces.", epilog=IMPEDANCE_EPILOG)
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
@format_option("text", "json")
@json_flag
@output_option
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
    format_: str | None,
    json: bool,
    output: Path | None,
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
        format=one_format(format_, json=json),
        output=output,
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
@format_option("text", "json")
@json_flag
@output_option
def nets(
    *,
    board: Path,
    explain: str | None,
    profile: str | None,
    form: str | None,
    config: Path | None,
    format_: str | None,
    json: bool,
    output: Path | None,
) -> int:
    """Show which interface each net is assigned to and why: interfaces with their links, power nets, other nets."""
    from stackwright.commands.inspect.nets import NetsRequest, show_nets

    request = NetsRequest(
        explain,
        overrides=overrides(profile, form),
        config=config,
        format=one_format(format_, json=json),
        output=output,
    )
    return show_nets(board, request)


@click.command(short_help="Show the delay of every routed link.", epilog=DELAY_EPILOG)
@board_argument
@config_option
@format_option("text", "json", "csv")
@json_flag
@output_option
@verbose_option
def delay(
    *,
    board: Path,
    config: Path | None,
    format_: str | None,
    json: bool,
    output: Path | None,
    verbose: bool,
) -> int:
    """Show the delay of every routed link in picoseconds, by port or bus: pairs, memory buses, clocks."""
    from stackwright.commands.inspect.delay import DelayRequest, show_delays

    request = DelayRequest(verbose=verbose, config=config, format=one_format(format_, json=json), output=output)
    return show_delays(board, request)


@click.command(short_help="Write the S-parameters of routed links.", epilog=TOUCHSTONE_EPILOG)
@board_argument
@click.option(
    "--output", "-o", type=FILE, required=True, metavar="FOLDER", help="Folder for the files; created if missing."
)
@click.option(
    "--interface",
    multiple=True,
    metavar="NAME",
    help="Interface on the board, e.g. pcie5. Repeatable.",
    shell_complete=names.completed(names.interfaces),
)
@click.option("--net", multiple=True, metavar="TEXT", help="Only links with this in a net name. Repeatable.")
@click.option(
    "--max-ghz", type=FiniteNumber(), metavar="GHZ", help="Last frequency. Default: twice Nyquist of the interface."
)
@click.option(
    "--mixed-mode", is_flag=True, help="Pairs between differential and common ports, as Touchstone 2.0 (.ts)."
)
@click.option("--tdr", is_flag=True, help="For each link also the impedance that a step sees over time, as CSV.")
@click.option("--eye", is_flag=True, help="Also show the eye that each link leaves, before any equaliser.")
@config_option
@verbose_option
def touchstone(
    *,
    board: Path,
    output: Path,
    interface: tuple[str, ...],
    net: tuple[str, ...],
    max_ghz: float | None,
    mixed_mode: bool,
    tdr: bool,
    eye: bool,
    config: Path | None,
    verbose: bool,
) -> int:
    """Write the S-parameters of routed links as Touchstone files: .s4p for pairs, .s2p for single traces."""
    from stackwright.commands.inspect.touchstone import TouchstoneRequest, write_touchstone

    request = TouchstoneRequest(
        interfaces=tuple(interface or ()),
        nets=tuple(net or ()),
        max_ghz=max_ghz,
        mixed_mode=mixed_mode,
        tdr=tdr,
        eye=eye,
        verbose=verbose,
        config=config,
    )
    return write_touchstone(board, output, request)


@click.command(short_help="Show the impedance of supply rails over frequency.", epilog=PDN_EPILOG)
@board_argument
@click.option(
    "--rail", multiple=True, metavar="NET", help="Net of the rail. Repeatable. Default: the rails of stackwright.toml."
)
@click.option("--load", multiple=True, metavar="PART", help="Part at which the impedance is seen, e.g. U1.")
@click.option(
    "--target",
    type=FiniteRange(min=1e-06, max=1000000.0),
    metavar="MOHM",
    help="Target impedance in place of the declared one.",
)
@profile_option
@config_option
@format_option("text", "csv", "json", "svg")
@output_option
@verbose_option
def pdn(
    *,
    board: Path,
    rail: tuple[str, ...],
    load: tuple[str, ...],
    target: float | None,
    profile: str | None,
    config: Path | None,
    format_: str | None,
    output: Path | None,
    verbose: bool,
) -> int:
    """Show the impedance of supply rails from 1 kHz to 1 GHz: regulator, planes, capacitors, and what makes peaks."""
    from stackwright.commands.inspect.pdn import PdnRequest, show_pdn

    request = PdnRequest(
        rails=tuple(rail or ()),
        load=words(load),
        target_mohm=target,
        verbose=verbose,
        overrides=overrides(profile),
        config=config,
        format=one_format(format_),
        output=output,
    )
    return show_pdn(board, request)


@click.command(short_help="Check the field solver against your own numbers.", epilog=VALIDATE_EPILOG)
@click.argument("cases", type=FILE, help="File of reference cases: .csv or .toml.")
@click.option(
    "--limit-pct",
    type=FiniteNumber(),
    default=0.1,
    show_default=True,
    metavar="PCT",
    help="Maximum difference beyond the uncertainty of the reference.",
)
@format_option("text", "json")
@json_flag
@output_option
def validate(
    *,
    cases: Path,
    limit_pct: float,
    format_: str | None,
    json: bool,
    output: Path | None,
) -> int:
    """Solve each row of a file of reference impedances or skin-effect values, and compare."""
    import os

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: its threads slow small matrices down
    from stackwright.commands.inspect.validate import ValidateRequest, validate_cases

    return validate_cases(cases, ValidateRequest(limit_pct, format=one_format(format_, json=json), output=output))


COMMANDS = (stackup, impedance, nets, delay, touchstone, pdn, validate)
