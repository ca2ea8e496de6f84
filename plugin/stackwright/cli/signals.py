"""The command line of links and rails over time and frequency: `delay`, `touchstone`, `pdn`; and `validate`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    FILE,
    AnswerOptions,
    FiniteNumber,
    FiniteRange,
    answers_in,
    board_argument,
    config_option,
    format_option,
    interfaces_option,
    one_format,
    output_option,
    overrides,
    profile_option,
    verbose_option,
    words,
)

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
  1  a rail has none, and the output says what is missing; or it exceeds its target, whatever is not known of its parts
  2  the board cannot be read, no rail is named, or an option is not valid
"""


VALIDATE_EPILOG = """
\b
Examples:
  stackwright validate my_cases.csv
  stackwright validate my_cases.csv --limit-pct 0.5 --format json

\b
Columns: geometry, parameters, quantity, value_ohm; optional id, uncertainty_pct, completeness
  stripline,"{""w"": 0.15, ""b"": 0.4, ""t"": 0.015, ""er"": 4}",Z0,53.1
Columns of skin-effect loss: geometry, parameters, mode, R_total_over_Rs_per_mm; optional R_signal..., Z_ohm

\b
Exit codes:
  0  every solved row agrees; skipped rows are named
  1  a row differs by more than the limit, or cannot be solved
  2  the file cannot be read, or none of its rows can be solved
"""


@click.command(cls=Command, short_help="Show the delay of every routed link.", epilog=DELAY_EPILOG)
@board_argument
@config_option
@answers_in("text", "json", "csv")
@verbose_option
def delay(
    *,
    board: Path,
    config: Path | None,
    answer: AnswerOptions,
    verbose: bool,
) -> int:
    """Show the delay of every routed link in picoseconds, by port or bus: pairs, memory buses, clocks."""
    from stackwright.commands.inspect.delay import DelayRequest, show_delays

    request = DelayRequest(verbose=verbose, config=config, **answer)
    return show_delays(board, request)


@click.command(cls=Command, short_help="Write the S-parameters of routed links.", epilog=TOUCHSTONE_EPILOG)
@board_argument
@click.option(
    "--output", "-o", type=FILE, required=True, metavar="FOLDER", help="Folder for the files; created if missing."
)
@interfaces_option
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


@click.command(cls=Command, short_help="Show the impedance of supply rails over frequency.", epilog=PDN_EPILOG)
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


@click.command(cls=Command, short_help="Check the field solver against your own numbers.", epilog=VALIDATE_EPILOG)
@click.argument("cases", type=FILE, help="File of reference cases: .csv or .toml.")
@click.option(
    "--limit-pct",
    type=FiniteNumber(),
    default=0.1,
    show_default=True,
    metavar="PCT",
    help="Maximum difference beyond the uncertainty of the reference.",
)
@answers_in("text", "json")
def validate(
    *,
    cases: Path,
    limit_pct: float,
    answer: AnswerOptions,
) -> int:
    """Solve each row of a file of reference impedances or skin-effect values, and compare."""
    import os

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: its threads slow small matrices down
    from stackwright.commands.inspect.validate import ValidateRequest, validate_cases

    return validate_cases(cases, ValidateRequest(limit_pct, **answer))


COMMANDS = (delay, touchstone, pdn, validate)
