"""The command line of `check` and `baseline`."""

from __future__ import annotations

from pathlib import Path

import click

from stackwright.cli import names
from stackwright.cli.epilog import Command
from stackwright.cli.options import (
    FILE,
    FiniteRange,
    WholeRange,
    all_flag,
    boards_argument,
    config_option,
    fail_on_option,
    form_option,
    format_option,
    impedance_option,
    json_flag,
    no_cache_option,
    open_option,
    overrides,
    profile_option,
    verbose_option,
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


@click.command(cls=Command, short_help="Check boards.", epilog=CHECK_EPILOG)
@boards_argument
@profile_option
@form_option
@config_option
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    help="Run only these rules: families, codes or names.",
    shell_complete=names.completed(names.rules),
)
@click.option(
    "--ignore", multiple=True, metavar="RULES", help="Skip these rules.", shell_complete=names.completed(names.rules)
)
@impedance_option
@fail_on_option
@click.option(
    "--min-coverage",
    type=FiniteRange(min=0, max=100),
    metavar="PCT",
    help="Minimum coverage; exit code 1 when it is lower.",
)
@format_option(*FORMATS, but=" Repeatable.", multiple=True)
@json_flag
@click.option(
    "--output",
    "-o",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Write to this file. With several --format, one for each.",
)
@open_option
@verbose_option
@all_flag
@click.option("--quiet", "-q", is_flag=True, help="Show one line per board.")
@click.option("--clauses", is_flag=True, help="Add the table of requirements.")
@click.option(
    "--full",
    is_flag=True,
    help="Show everything; with --format html also all workloads, and stackups that fix the findings.",
)
@click.option("--baseline", type=FILE, metavar="FILE", help="Report only findings that are not in this baseline.")
@click.option("--against", metavar="COMMIT", help="Report only findings that are new since this commit.")
@click.option("--jobs", type=WholeRange(min=1), metavar="N", help="Boards checked in parallel (default: one per core).")
@click.option(
    "--touched",
    is_flag=True,
    help="Check the boards that belong to these files: boards, projects, rules, stackwright.toml and files that it "
    "names, as a pre-commit hook passes them.",
)
@no_cache_option
@click.option(
    "--no-suppressions",
    is_flag=True,
    help="Ignore [[suppress]], and fail_on, select and ignore of [check], in stackwright.toml.",
)
@click.option(
    "--kicad-drc",
    is_flag=True,
    help="Also run KiCad's DRC (kicad-cli) and report shorts, opens, and edge, hole and clearance violations; "
    "they count for the exit code.",
)
@click.option("--timing", is_flag=True, help="Show the time taken by reading, solving and each rule.")
def check(
    *,
    boards: tuple[Path, ...],
    profile: str | None,
    form: str | None,
    config: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    impedance: tuple[str, ...],
    fail_on: str | None,
    min_coverage: float | None,
    format_: tuple[str, ...],
    json: bool,
    output: tuple[Path, ...],
    open_page: bool,
    verbose: bool,
    show_all: bool,
    quiet: bool,
    clauses: bool,
    full: bool,
    baseline: Path | None,
    against: str | None,
    jobs: int | None,
    touched: bool,
    no_suppressions: bool,
    kicad_drc: bool,
    timing: bool,
) -> int:
    """Check boards: show findings, requirements that could not be verified, and the data that is missing."""
    if quiet and (verbose or clauses or full):
        raise click.BadParameter("--quiet excludes --verbose, --clauses and --full")
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
        raise click.BadParameter("--open goes with --format html")
    return check_boards(boards, request)


@click.command(short_help="Record the current findings as known.")
@boards_argument
@click.option(
    "--output",
    "-o",
    type=FILE,
    default=Path("stackwright-baseline.json"),
    show_default=True,
    metavar="FILE",
    help="Baseline file.",
)
@click.option("--update", is_flag=True, help="Add new findings to an existing baseline.")
@click.option("--grow", is_flag=True, hidden=True)
@profile_option
@form_option
@config_option
@impedance_option
def baseline(
    *,
    boards: tuple[Path, ...],
    output: Path,
    update: bool,
    grow: bool,
    profile: str | None,
    form: str | None,
    config: Path | None,
    impedance: tuple[str, ...],
) -> int:
    """Record the current findings, for `check --baseline`. Fixed findings are removed from an existing baseline.

    Exit code 1 when there are new findings; only --update adds them.
    """
    from stackwright.commands.check.baseline import write_baseline
    from stackwright.commands.check.request import CheckRequest

    request = CheckRequest(overrides(profile, form, impedance), config=config)
    return write_baseline(boards, output, request, update=update or grow)


COMMANDS = (check, baseline)
