"""The command line of nets and lines: impedance, nets, validate."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

IMPEDANCE_EPILOG = """
\b
Examples:
  stackwright impedance card.kicad_pcb
  stackwright impedance card.kicad_pcb --target-diff 85 --gap 0.125 --frequency 16
  stackwright impedance card.kicad_pcb --interface pcie5 --layer In2.Cu
  stackwright impedance card.kicad_pcb --layer In2.Cu --width 0.15 --gap 0.125

\b
Exit codes:
  0  everything asked for was solved
  1  something cannot be reached, or a fact is missing; it says which
  2  the board cannot be read, or an option makes no sense
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
  1  a row is off, or cannot be solved
  2  the file cannot be read, or nothing in it can be solved
"""


class CasesFormat(StrEnum):
    """How a comparison is written."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Impedance and loss of a board's lines.", epilog=IMPEDANCE_EPILOG)(impedance)
    app.command(short_help="Show what a board's nets were taken for.")(nets)
    app.command(short_help="Test our physics with your own numbers.", epilog=VALIDATE_EPILOG)(validate)


def impedance(
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    layer: Annotated[str | None, typer.Option(metavar="LAYER", help="Only this copper layer.")] = None,
    width: Annotated[float | None, typer.Option(metavar="MM", help="Solve this width, with --layer.")] = None,
    gap: Annotated[float | None, typer.Option(metavar="MM", help="Gap of a pair, edge to edge.")] = None,
    coplanar_gap: Annotated[float | None, typer.Option(metavar="MM", help="Gap to ground beside the line.")] = None,
    target_diff: Annotated[float | None, typer.Option(metavar="OHM", help="Differential target.")] = None,
    target_se: Annotated[float | None, typer.Option(metavar="OHM", help="Single-ended target.")] = None,
    reference: Annotated[
        list[str] | None, typer.Option(metavar="LAYERS", help="Planes above and below, where fills do not tell.")
    ] = None,
    frequency: Annotated[
        list[float] | None, typer.Option(metavar="GHZ", min=0.001, max=110, help="Where loss is wanted.")
    ] = None,
    interface: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its target and Nyquist frequency, e.g. pcie5.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Solve the lines of a board's stackup: the table of layers and targets, or one line with --layer and --width."""
    from stackwright.commands.inspect.impedance import ImpedanceRequest, show_impedance

    question = ImpedanceRequest(
        layer=layer,
        width_mm=width,
        gap_mm=gap,
        coplanar_gap_mm=coplanar_gap,
        target_diff_ohm=target_diff,
        target_se_ohm=target_se,
        references=words(reference),
        frequencies_ghz=tuple(frequency or ()),
        interface=interface,
        config=config,
        as_json=json,
        output=output,
    )
    return show_impedance(board, question)


def nets(
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    explain: Annotated[
        str | None, typer.Option(metavar="NET", help="Everything about one net: class, name, pair, link, route.")
    ] = None,
    format_: Annotated[CasesFormat, typer.Option("--format", help="text or json.")] = CasesFormat.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Show what every net was taken for and why: interfaces with their links, rails, and the rest counted."""
    from stackwright.commands.inspect.nets import NetsRequest, show_nets

    as_json = json or format_ == CasesFormat.JSON
    return show_nets(board, NetsRequest(explain=explain, as_json=as_json, config=config, output=output))


def validate(
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="Reference cases: .csv, or our own .toml.")],
    *,
    limit_pct: Annotated[
        float, typer.Option(metavar="PCT", help="Largest difference beyond the reference's own uncertainty.")
    ] = 0.1,
    format_: Annotated[CasesFormat, typer.Option("--format", help="text or json.")] = CasesFormat.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Solve every row of a file of reference impedances or skin-effect figures and compare."""
    import os

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: its threads slow small matrices down
    from stackwright.commands.inspect.validate import ValidateRequest, validate_cases

    as_json = json or format_ == CasesFormat.JSON
    return validate_cases(cases, ValidateRequest(limit_pct=limit_pct, as_json=as_json, output=output))


def words(given: list[str] | None) -> tuple[str, ...]:
    """Split `STK,MAT001` and repeated options into words."""
    return tuple(word for part in given or () for word in part.replace(",", " ").split())
