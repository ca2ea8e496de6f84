"""Arguments and options that several commands have, each declared once, and what they become together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackwright.cli import names

if TYPE_CHECKING:
    from typer.models import OptionInfo

    from drc_rules.facts.declared import Overrides


def one_of(*names: str) -> Callable[[str], str]:
    """Return a reader of one of a few words."""

    def parse(text: str) -> str:
        if text in names:
            return text
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(names)}")

    return parse


SEVERITIES = ("error", "warning", "info", "never")
BOARD = "Board (.kicad_pcb), project (.kicad_pro) or folder with one board."

BoardArg = Annotated[
    Path, typer.Argument(metavar="BOARD", help=f"{BOARD} Default: the current folder.", show_default=False)
]
NeededBoardArg = Annotated[Path, typer.Argument(metavar="BOARD", help=BOARD)]
BoardsArg = Annotated[
    list[Path], typer.Argument(metavar="BOARD", help="Boards, projects, or folders to search with their subfolders.")
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Workload to check against; `stackwright profiles` lists them.",
        autocompletion=names.profiles,
    ),
]
FormOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Form factor, in place of the profile's.", autocompletion=names.forms),
]
ConfigOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Settings file to use instead of the board's stackwright.toml.")
]
ImpedanceOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NETS=OHM", help='Target impedance of a net class or nets, e.g. "USB*=90 diff". Repeatable.'),
]
InterfacesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Interface on the board, e.g. pcie5. Repeatable.",
        autocompletion=names.interfaces,
    ),
]
LengthsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=MM", help="Maximum routed length of an interface, e.g. pcie5=150. Repeatable."),
]
LaminatesOption = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Use only this laminate. Repeatable.")]
LayersOption = Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of copper layers.")]
ThicknessOption = Annotated[float | None, typer.Option(metavar="MM", help="Finished board thickness.")]
FailOnOption = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        parser=one_of(*SEVERITIES),
        autocompletion=lambda: list(SEVERITIES),
        help="Lowest severity that gives exit code 1: error (default), warning, info or never.",
    ),
]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")]
OpenOption = Annotated[bool, typer.Option("--open", help="Open the HTML page in the browser.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show details: reasons, fixes, sources, all rows.")
]

# Former spellings, which work as before.
AllFlag = Annotated[bool, typer.Option("--all", hidden=True)]
JsonFlag = Annotated[bool, typer.Option("--json", hidden=True)]
HtmlFlag = Annotated[bool, typer.Option("--html", hidden=True)]
MarkdownFlag = Annotated[bool, typer.Option("--markdown", hidden=True)]
SvgFlag = Annotated[bool, typer.Option("--svg", hidden=True)]
CsvFlag = Annotated[bool, typer.Option("--csv", hidden=True)]
PlanFlag = Annotated[bool, typer.Option("--plan", hidden=True)]


def format_option(*formats: str, but: str = "") -> OptionInfo:
    """Return the option that names the output format of a command, the first one its default."""
    listed = ", ".join((f"{formats[0]} (default)", *formats[1:]))
    option: OptionInfo = typer.Option(
        "--format",
        metavar="FORMAT",
        parser=one_of(*formats),
        autocompletion=lambda: list(formats),
        help=f"Output format: {listed}.{but}",
    )
    return option


def one_format(named: str | None, *, open_page: bool = False, **flags: bool) -> str:
    """Return the format that `--format` or one of its former spellings names, by default text."""
    given = {named: f"--format {named}"} if named else {}
    given |= {name: f"--{name}" for name, is_given in flags.items() if is_given and name not in given}
    if len(given) > 1:
        raise typer.BadParameter(f"{' and '.join(list(given.values())[:2])} exclude each other")
    format_ = next(iter(given), "text")
    if open_page and format_ != "html":
        raise typer.BadParameter("--open goes with --format html")
    return format_


def overrides(
    profile: str | None = None,
    form: str | None = None,
    impedance: Iterable[str] | None = None,
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] | None = None,
    suppress: bool = True,
) -> Overrides:
    """Return what a command line says in place of the settings.

    Raises:
        ConfigError: an impedance makes no sense.
    """
    from drc_rules.analysis.targets.impedance_option import parse_impedance
    from drc_rules.facts.declared import Overrides

    return Overrides(
        profile, form, words(select), words(ignore), suppress, tuple(parse_impedance(one) for one in impedance or ())
    )


def words(given: Iterable[str] | None) -> tuple[str, ...]:
    """Split `STK,MAT001` and repeated options into words."""
    return tuple(word for part in given or () for word in part.replace(",", " ").split())
