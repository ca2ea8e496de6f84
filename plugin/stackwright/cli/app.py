"""The command line: names, options and help. The work is in `stackwright.commands`, imported when it is asked for."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stackwright import __version__
from stackwright.cli import build as cli_build
from stackwright.cli import changes as cli_changes
from stackwright.cli import explain as cli_explain
from stackwright.cli import kicad as cli_kicad
from stackwright.cli import lines as cli_lines
from stackwright.cli import profiles as cli_profiles
from stackwright.cli.lines import words
from stackwright.run.wildcards import without_wildcards

app = typer.Typer(
    name="stackwright",
    help="Checks a KiCad board's stackup, materials, copper and vias against what an AI workload asks of it.",
    epilog="Begin with: stackwright check my_board.kicad_pcb",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: half the start-up time, and it reads the same everywhere
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

CTRL_C = 130
"""What newer Typer makes of an interrupt."""

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
  0  no finding at or above the failing severity
  1  findings, violations that --kicad-drc shows, or coverage below --min-coverage
  2  the check could not be made, --kicad-drc could not run, a rule broke, or nothing was checked

Options left out are taken from [check] in stackwright.toml.
"""


class Format(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    SARIF = "sarif"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"
    KICAD = "kicad"


class FailOn(StrEnum):
    """Lowest severity that makes the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; usage errors become one line like every other error."""
    command = typer.main.get_command(app)
    try:
        code = command.main(without_wildcards(arguments), prog_name="stackwright", standalone_mode=False)
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if type(error).__name__ == "Abort":  # older Typer's word for Ctrl-C
            raise KeyboardInterrupt from error
        if usage is None:
            raise
        message = " ".join(usage().split()).rstrip(".").replace("Value error, ", "")
        typer.echo(f"error: {_context(error)}: {message}; see {_context(error)} --help", err=True)
        return 2
    if code == CTRL_C:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _context(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "stackwright"


def _version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"stackwright {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda wanted: _version(wanted=wanted), is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Show the help where no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command(short_help="Check boards.", epilog=CHECK_EPILOG)
def check(
    boards: Annotated[
        list[Path], typer.Argument(metavar="BOARD", help=".kicad_pcb, .kicad_pro, or a folder with one board.")
    ],
    *,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Workload to judge against; see `stackwright profiles`.")
    ] = None,
    form: Annotated[
        str | None, typer.Option(metavar="NAME", help="Form factor, where the profile does not say it.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings instead of the stackwright.toml beside the board.")
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="RULES", help="Only these rules: codes, beginnings of codes or names.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Not these rules.")] = None,
    impedance: Annotated[
        list[str] | None,
        typer.Option(metavar="NETS=OHM", help='Target of a net class or nets, e.g. "USB*=90 diff". Repeatable.'),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            metavar="LEVEL", help="Lowest severity that gives exit code 1: error (default), warning, info, never."
        ),
    ] = None,
    min_coverage: Annotated[
        float | None, typer.Option(metavar="PCT", min=0, max=100, help="Exit code 1 when less than this was decided.")
    ] = None,
    format_: Annotated[
        list[Format] | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text (default), html, markdown; json, sarif, junit, github, gitlab, kicad for machines. Repeatable.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="File for the report; of several, the first is for the first --format."),
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show every finding, not the ten that matter most.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge only findings that this baseline does not know.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="COMMIT", help="Judge only findings that were not there in that commit.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="So many boards at a time, by default one per core; 1 also keeps a large board to one process.",
        ),
    ] = None,
    no_suppressions: Annotated[
        bool, typer.Option("--no-suppressions", help="Disregard [[suppress]] in stackwright.toml.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="With --format html: every workload's verdict, and stackups that would mend it, side by side.",
        ),
    ] = False,
    kicad_drc: Annotated[
        bool,
        typer.Option(
            "--kicad-drc",
            help="Also run KiCad's own check (kicad-cli pcb drc) and show its shorts, opens, edge, hole and clearance "
            "violations; they count for the exit code.",
        ),
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Show where the time goes: reading, solving, each rule.")
    ] = False,
) -> int:
    """Check boards: facts, findings, what is not proven, and how to prove it."""
    from stackwright.commands.check.command import Settings, check_boards
    from stackwright.commands.check.options import wanted_reports

    settings = Settings(
        profile=profile,
        form=form,
        config=config,
        select=words(select),
        ignore=words(ignore),
        impedance=tuple(impedance or ()),
        fail_on=fail_on.value if fail_on else None,
        min_coverage_pct=min_coverage,
        wanted=wanted_reports([one.value for one in format_ or []], output or [], json=json),
        show_all=show_all,
        baseline=baseline,
        against=against,
        jobs=jobs,
        suppress=not no_suppressions,
        timing=timing,
        full=full,
        kicad_drc=kicad_drc,
    )
    if full and not any(one.format == Format.HTML for one in settings.wanted):
        raise typer.BadParameter("--full goes with --format html")
    return check_boards(boards, settings)


@app.command(short_help="Write down the findings that are there.")
def baseline(
    boards: Annotated[
        list[Path], typer.Argument(metavar="BOARD", help=".kicad_pcb, .kicad_pro, or a folder with one board.")
    ],
    *,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The baseline.")] = Path("stackwright-baseline.json"),
    grow: Annotated[bool, typer.Option("--grow", help="Add new findings to a baseline that is there.")] = False,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="Workload, as for check.")] = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form factor, as for check.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings, as for check.")] = None,
) -> int:
    """Write down the findings that are there, for `check --baseline`; what is fixed is removed, nothing is added.

    Exit code 1 when there are new findings, which only --grow adds.
    """
    from stackwright.commands.check.baseline import write_baseline
    from stackwright.commands.check.command import Settings

    return write_baseline(boards, output, Settings(profile=profile, form=form, config=config), grow=grow)


@app.command(short_help="Write a stackwright.toml beside a board.")
def init(
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write all that this workload needs; add it to a file that is there."),
    ] = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form factor, with --profile.")] = None,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Ask at most five questions.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", hidden=True)] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a stackwright.toml that is there.")] = False,
) -> int:
    """Write a stackwright.toml next to a board, filled with what can be inferred from it."""
    from stackwright.commands.setup.init import init_board

    return init_board(board, ask=interactive and not yes, force=force, profile=profile, form=form)


@app.command(short_help="Show a board's stackup.")
def stackup(
    board: Annotated[Path, typer.Argument(metavar="[BOARD]", help="Board, project or folder.")] = Path(),
    *,
    svg: Annotated[bool, typer.Option("--svg", help="A cross-section as SVG.")] = False,
    to_scale: Annotated[bool, typer.Option("--to-scale", help="With --svg: true heights, not readable ones.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="A Markdown table.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="A table for spreadsheets.")] = False,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="A plan to edit, for `stackwright apply`.")] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Show a board's stackup: thicknesses, materials, copper, roles, vias; as text unless another form is named."""
    from stackwright.commands.inspect.stackup import show_stackup

    wanted = {"svg": svg, "markdown": markdown, "csv": csv, "json": json, "plan": plan}
    named = [form for form, asked in wanted.items() if asked]
    if len(named) > 1:
        raise typer.BadParameter(f"--{named[0]} and --{named[1]} exclude each other")
    if to_scale and not svg:
        raise typer.BadParameter("--to-scale goes with --svg")
    if plan:
        from stackwright.commands.apply.apply import write_plan_of_board

        return write_plan_of_board(board, output)
    return show_stackup(board, form=named[0] if named else "text", to_scale=to_scale, output=output)


cli_lines.register(app)


cli_explain.register(app)


@app.command(short_help="List the rules.")
def rules() -> int:
    """List the rules."""
    from stackwright.commands.explain.command import list_rules

    return list_rules()


@app.command(short_help="Look up laminates.")
def materials(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]", help="A material as you would type it in KiCad.")
    ] = None,
) -> int:
    """List the laminates, or say what a material name is taken for, with Dk, Df and Tg."""
    from stackwright.commands.lookup.materials import list_materials, show_material

    return show_material(" ".join(query)) if query else list_materials()


cli_build.register(app)
cli_changes.register(app)
cli_profiles.register(app)
cli_kicad.register(app)
