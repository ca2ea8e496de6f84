"""The command line of `check` and `baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackwright.cli import names
from stackwright.cli.options import (
    AllFlag,
    BoardsArg,
    ConfigOption,
    FailOnOption,
    FormOption,
    ImpedanceOption,
    JsonFlag,
    OpenOption,
    ProfileOption,
    VerboseOption,
    format_option,
    overrides,
)

FORMATS = ("text", "html", "markdown", "json", "sarif", "junit", "github", "gitlab", "kicad")

CHECK_EPILOG = """
\b
Examples:
  stackwright check card.kicad_pcb
  stackwright check card.kicad_pcb --profile inference-pcie
  stackwright check . --fail-on warning --min-coverage 80
  stackwright check card.kicad_pcb --kicad-drc
  stackwright check . --format json --output report.json
  stackwright check . --format html --output report.html
  stackwright check card.kicad_pcb --format html --full --output report.html
  stackwright check . --format sarif --output s.sarif --format junit --output j.xml --format text

\b
Exit codes:
  0  no finding at or above the --fail-on severity
  1  findings, violations from --kicad-drc, or coverage below --min-coverage
  2  a board could not be checked, KiCad's DRC could not run, a rule crashed, or nothing was checked

Defaults come from [check] in stackwright.toml.
"""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="Check boards.", epilog=CHECK_EPILOG)(check)
    app.command(short_help="Record the current findings as known.")(baseline)


def check(
    boards: BoardsArg,
    *,
    profile: ProfileOption = None,
    form: FormOption = None,
    config: ConfigOption = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES", help="Run only these rules: families, codes or names.", autocompletion=names.rules
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULES", help="Skip these rules.", autocompletion=names.rules)
    ] = None,
    impedance: ImpedanceOption = None,
    fail_on: FailOnOption = None,
    min_coverage: Annotated[
        float | None,
        typer.Option(metavar="PCT", min=0, max=100, help="Minimum coverage; exit code 1 when it is lower."),
    ] = None,
    format_: Annotated[list[str] | None, format_option(*FORMATS, but=" Repeatable.")] = None,
    json: JsonFlag = False,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to this file. With several --format, one for each."),
    ] = None,
    open_page: OpenOption = False,
    verbose: VerboseOption = False,
    show_all: AllFlag = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show one line per board.")] = False,
    clauses: Annotated[bool, typer.Option("--clauses", help="Add the table of requirements.")] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Show everything; with --format html also all workloads, and stackups that fix the findings.",
        ),
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Report only findings that are not in this baseline.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="COMMIT", help="Report only findings that are new since this commit.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Boards checked in parallel (default: one per core).")
    ] = None,
    touched: Annotated[
        bool,
        typer.Option(
            "--touched",
            help="Check the boards that belong to these files: boards, projects, rules and stackwright.toml, as a "
            "pre-commit hook passes them.",
        ),
    ] = False,
    no_suppressions: Annotated[
        bool, typer.Option("--no-suppressions", help="Ignore [[suppress]] in stackwright.toml.")
    ] = False,
    kicad_drc: Annotated[
        bool,
        typer.Option(
            "--kicad-drc",
            help="Also run KiCad's DRC (kicad-cli) and report shorts, opens, and edge, hole and clearance violations; "
            "they count for the exit code.",
        ),
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Show the time taken by reading, solving and each rule.")
    ] = False,
) -> int:
    """Check boards: show findings, requirements that could not be verified, and the data that is missing."""
    if quiet and (verbose or clauses or full):
        raise typer.BadParameter("--quiet excludes --verbose, --clauses and --full")
    from stackwright.commands.check.command import check_boards
    from stackwright.commands.check.request import CheckRequest, requested_reports

    request = CheckRequest(
        overrides=overrides(profile, form, impedance, select=select, ignore=ignore, suppress=not no_suppressions),
        config=config,
        fail_on=fail_on,
        min_coverage_pct=min_coverage,
        reports=requested_reports(format_ or [], output or [], json=json),
        verbose=verbose,
        quiet=quiet,
        clauses=clauses,
        baseline=baseline,
        against=against,
        jobs=jobs,
        touched=touched,
        timing=timing,
        full=full or show_all,
        kicad_drc=kicad_drc,
        open_page=open_page,
    )
    if open_page and "html" not in request.formats:
        raise typer.BadParameter("--open goes with --format html")
    return check_boards(boards, request)


def baseline(
    boards: BoardsArg,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Baseline file.")] = Path(
        "stackwright-baseline.json"
    ),
    update: Annotated[bool, typer.Option("--update", help="Add new findings to an existing baseline.")] = False,
    grow: Annotated[bool, typer.Option("--grow", hidden=True)] = False,
    profile: ProfileOption = None,
    form: FormOption = None,
    config: ConfigOption = None,
    impedance: ImpedanceOption = None,
) -> int:
    """Record the current findings, for `check --baseline`. Fixed findings are removed from an existing baseline.

    Exit code 1 when there are new findings; only --update adds them.
    """
    from stackwright.commands.check.baseline import write_baseline
    from stackwright.commands.check.request import CheckRequest

    request = CheckRequest(overrides(profile, form, impedance), config=config)
    return write_baseline(boards, output, request, update=update or grow)
