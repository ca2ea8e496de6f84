"""The command line of what a board is: `stackup`, `impedance`, `nets`, `delay`, `touchstone`, `pdn`; and `validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli import names
from stackwright.cli.options import (
    BoardArg,
    ConfigOption,
    CsvFlag,
    FormOption,
    JsonFlag,
    MarkdownFlag,
    OutputOption,
    PlanFlag,
    ProfileOption,
    SvgFlag,
    VerboseOption,
    format_option,
    one_format,
    overrides,
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


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Show the stackup of a board.")(stackup)
    app.command(short_help="Show impedance and loss of a board's traces.", epilog=IMPEDANCE_EPILOG)(impedance)
    app.command(short_help="Show which interface each net is assigned to.")(nets)
    app.command(short_help="Show the delay of every routed link.", epilog=DELAY_EPILOG)(delay)
    app.command(short_help="Write the S-parameters of routed links.", epilog=TOUCHSTONE_EPILOG)(touchstone)
    app.command(short_help="Show the impedance of supply rails over frequency.", epilog=PDN_EPILOG)(pdn)
    app.command(short_help="Check the field solver against your own numbers.", epilog=VALIDATE_EPILOG)(validate)


def stackup(
    board: BoardArg = Path(),
    *,
    format_: Annotated[
        str | None,
        format_option("text", "svg", "markdown", "csv", "json", "plan", but=" A plan is for `stackwright apply`."),
    ] = None,
    svg: SvgFlag = False,
    markdown: MarkdownFlag = False,
    csv: CsvFlag = False,
    json: JsonFlag = False,
    plan: PlanFlag = False,
    to_scale: Annotated[bool, typer.Option("--to-scale", help="With --format svg: draw true heights.")] = False,
    config: ConfigOption = None,
    output: OutputOption = None,
) -> int:
    """Show the stackup of a board: thicknesses, materials, copper, layer roles, vias."""
    from stackwright.commands.request import BoardRequest

    format_ = one_format(format_, svg=svg, markdown=markdown, csv=csv, json=json, plan=plan)
    if to_scale and format_ != "svg":
        raise typer.BadParameter("--to-scale goes with --format svg")
    request = BoardRequest(config=config, format=format_, output=output)
    if format_ == "plan":
        from stackwright.commands.apply.apply import write_plan_of_board

        return write_plan_of_board(board, request)
    from stackwright.commands.inspect.stackup import show_stackup

    return show_stackup(board, request, to_scale=to_scale)


def impedance(
    board: BoardArg = Path(),
    *,
    layer: Annotated[str | None, typer.Option(metavar="LAYER", help="Show only this copper layer.")] = None,
    width: Annotated[
        float | None, typer.Option(metavar="MM", help="Solve a trace of this width; needs --layer.")
    ] = None,
    gap: Annotated[float | None, typer.Option(metavar="MM", help="Edge-to-edge gap of a differential pair.")] = None,
    coplanar_gap: Annotated[
        float | None, typer.Option(metavar="MM", help="Gap to the coplanar ground on either side.")
    ] = None,
    target_diff: Annotated[float | None, typer.Option(metavar="OHM", help="Target differential impedance.")] = None,
    target_se: Annotated[float | None, typer.Option(metavar="OHM", help="Target single-ended impedance.")] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="LAYERS", help="Reference planes above and below, if the copper does not show them."),
    ] = None,
    frequency: Annotated[
        list[float] | None, typer.Option(metavar="GHZ", min=0.001, max=110, help="Frequency for the loss. Repeatable.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Use the target and Nyquist frequency of this interface, e.g. pcie5.",
            autocompletion=names.interfaces,
        ),
    ] = None,
    against_kicad: Annotated[
        bool, typer.Option("--against-kicad", help="Compare KiCad's tuning profiles and calculator with the solver.")
    ] = False,
    write_profiles: Annotated[
        bool, typer.Option("--write-profiles", help="With --against-kicad: correct the tuning profiles.")
    ] = False,
    profile: ProfileOption = None,
    form: FormOption = None,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "json")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
) -> int:
    """Solve the traces of a board's stackup: a table of layers and targets, or one trace with --layer and --width."""
    from stackwright.commands.inspect.impedance import ImpedanceRequest, show_impedance

    if write_profiles and not against_kicad:
        raise typer.BadParameter("--write-profiles goes with --against-kicad")
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


def nets(
    board: BoardArg = Path(),
    *,
    explain: Annotated[
        str | None, typer.Option(metavar="NET", help="Show everything about one net: class, pair, link, route.")
    ] = None,
    profile: ProfileOption = None,
    form: FormOption = None,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "json")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
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


def delay(
    board: BoardArg = Path(),
    *,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "json", "csv")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
    verbose: VerboseOption = False,
) -> int:
    """Show the delay of every routed link in picoseconds, by port or bus: pairs, memory buses, clocks."""
    from stackwright.commands.inspect.delay import DelayRequest, show_delays

    request = DelayRequest(verbose=verbose, config=config, format=one_format(format_, json=json), output=output)
    return show_delays(board, request)


def touchstone(
    board: BoardArg = Path(),
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; created if missing.")
    ],
    interface: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Interface on the board, e.g. pcie5. Repeatable.", autocompletion=names.interfaces
        ),
    ] = None,
    net: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Only links with this in a net name. Repeatable.")
    ] = None,
    max_ghz: Annotated[
        float | None, typer.Option(metavar="GHZ", help="Last frequency. Default: twice Nyquist of the interface.")
    ] = None,
    mixed_mode: Annotated[
        bool, typer.Option("--mixed-mode", help="Pairs between differential and common ports, as Touchstone 2.0 (.ts).")
    ] = False,
    tdr: Annotated[
        bool, typer.Option("--tdr", help="For each link also the impedance that a step sees over time, as CSV.")
    ] = False,
    eye: Annotated[
        bool, typer.Option("--eye", help="Also show the eye that each link leaves, before any equaliser.")
    ] = False,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
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


def pdn(
    board: BoardArg = Path(),
    *,
    rail: Annotated[
        list[str] | None,
        typer.Option(metavar="NET", help="Net of the rail. Repeatable. Default: the rails of stackwright.toml."),
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option(metavar="PART", help="Part at which the impedance is seen, e.g. U1.")
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(metavar="MOHM", min=1e-6, max=1e6, help="Target impedance in place of the declared one."),
    ] = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    format_: Annotated[str | None, format_option("text", "csv", "json", "svg")] = None,
    output: OutputOption = None,
    verbose: VerboseOption = False,
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


def validate(
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="File of reference cases: .csv or .toml.")],
    *,
    limit_pct: Annotated[
        float, typer.Option(metavar="PCT", help="Maximum difference beyond the uncertainty of the reference.")
    ] = 0.1,
    format_: Annotated[str | None, format_option("text", "json")] = None,
    json: JsonFlag = False,
    output: OutputOption = None,
) -> int:
    """Solve each row of a file of reference impedances or skin-effect values, and compare."""
    import os

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: its threads slow small matrices down
    from stackwright.commands.inspect.validate import ValidateRequest, validate_cases

    return validate_cases(cases, ValidateRequest(limit_pct, format=one_format(format_, json=json), output=output))
