"""Arguments and options that several commands have, each declared once, and what they become together."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click
from click.types import FloatParamType

from stackwright.cli import names

if TYPE_CHECKING:
    from drc_rules.facts.declared import Overrides

Declared = TypeVar("Declared", bound=Callable[..., Any])

NO_CACHE = "Do not use the cache of solved cross sections."
SEVERITIES = ("error", "warning", "info", "never")
BOARD = "Board (.kicad_pcb), project (.kicad_pro) or folder with one board."


class FileName(click.Path):
    """The path of a file; no name is not the current folder."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path; refuses an empty name, as that of a variable without a value."""
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


FILE = FileName(path_type=Path, readable=False)
"""Whether it can be read is told where it is read, in the words for every file."""


class FiniteNumber(FloatParamType):
    """A number that is not infinite."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; refuses texts, infinity and what is no number by name."""
        try:
            number = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is no number; write it with a decimal point, without a unit", param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class FiniteRange(click.FloatRange):
    """A finite number in a range."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        return float(super().convert(FiniteNumber().convert(value, param, ctx), param, ctx))


class WholeRange(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; refuses texts and fractions by name."""
        try:
            whole = int(str(value))
        except ValueError:
            self.fail(f"{value!r} is no whole number; write it in digits, without a unit", param, ctx)
        return int(super().convert(whole, param, ctx))


class OneOf(click.Choice[str]):
    """One of a few words; a wrong one is answered with all of them."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the message, without a quote around each word."""
        return f"{value!r} is not one of {', '.join(self.choices)}"


board_argument = click.argument("board", type=FILE, default=".", help=f"{BOARD} Default: the current folder.")
needed_board_argument = click.argument("board", type=FILE, help=BOARD)
boards_argument = click.argument(
    "boards",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="BOARD...",
    help="Boards, projects, or folders to search with their subfolders.",
)
profile_option = click.option(
    "--profile",
    metavar="NAME",
    help="Workload to check against; `stackwright profiles` lists them.",
    shell_complete=names.completed(names.profiles),
)
form_option = click.option(
    "--form",
    metavar="NAME",
    help="Form factor, in place of the profile's.",
    shell_complete=names.completed(names.forms),
)
config_option = click.option(
    "--config", type=FILE, metavar="FILE", help="Settings file to use instead of the board's stackwright.toml."
)
impedance_option = click.option(
    "--impedance",
    multiple=True,
    metavar="NETS=OHM",
    help='Target impedance of a net class or nets, e.g. "USB*=90 diff". Repeatable.',
)
interfaces_option = click.option(
    "--interface",
    multiple=True,
    metavar="NAME",
    help="Interface on the board, e.g. pcie5. Repeatable.",
    shell_complete=names.completed(names.interfaces),
)
lengths_option = click.option(
    "--length",
    multiple=True,
    metavar="NAME=MM",
    help="Maximum routed length of an interface, e.g. pcie5=150. Repeatable.",
)
laminates_option = click.option("--laminate", multiple=True, metavar="NAME", help="Use only this laminate. Repeatable.")
layers_option = click.option("--layers", type=WholeRange(min=1), metavar="N", help="Number of copper layers.")
thickness_option = click.option("--thickness-mm", type=FiniteNumber(), metavar="MM", help="Finished board thickness.")
fail_on_option = click.option(
    "--fail-on",
    type=OneOf(SEVERITIES),
    metavar="LEVEL",
    help="Lowest severity that gives exit code 1: error (default), warning, info or never.",
)
output_option = click.option("--output", "-o", type=FILE, metavar="FILE", help="Write to this file.")
open_option = click.option("open_page", "--open", is_flag=True, help="Open the HTML page in the browser.")
verbose_option = click.option("--verbose", "-v", is_flag=True, help="Show details: reasons, fixes, sources, all rows.")


def _use_no_cache(context: click.Context, _: click.Parameter, is_given: bool) -> None:  # noqa: FBT001 - as click calls it
    if is_given:
        from stackup_lib.core.result_cache import using_cache

        context.with_resource(using_cache(None))


no_cache_option = click.option("--no-cache", is_flag=True, expose_value=False, callback=_use_no_cache, help=NO_CACHE)

# Former spellings, which work as before.
all_flag = click.option("show_all", "--all", is_flag=True, hidden=True)
json_flag = click.option("--json", is_flag=True, hidden=True)
html_flag = click.option("--html", is_flag=True, hidden=True)
markdown_flag = click.option("--markdown", is_flag=True, hidden=True)
svg_flag = click.option("--svg", is_flag=True, hidden=True)
csv_flag = click.option("--csv", is_flag=True, hidden=True)
plan_flag = click.option("--plan", is_flag=True, hidden=True)


def format_option(*formats: str, but: str = "", multiple: bool = False) -> Callable[[Declared], Declared]:
    """Return the option that names the output format of a command, the first one its default."""
    listed = ", ".join((f"{formats[0]} (default)", *formats[1:]))
    return click.option(
        "format_",
        "--format",
        type=OneOf(formats),
        multiple=multiple,
        metavar="FORMAT",
        help=f"Output format: {listed}.{but}",
    )


def one_format(named: str | None, *, open_page: bool = False, **flags: bool) -> str:
    """Return the format that `--format` or one of its former spellings names, by default text."""
    given = {named: f"--format {named}"} if named else {}
    given |= {name: f"--{name}" for name, is_given in flags.items() if is_given and name not in given}
    if len(given) > 1:
        raise click.BadParameter(f"{' and '.join(list(given.values())[:2])} exclude each other")
    format_ = next(iter(given), "text")
    if open_page and format_ != "html":
        raise click.BadParameter("--open goes with --format html")
    return format_


class AnswerOptions(TypedDict):
    """How a command is to write its answer, by the fields of `OutputRequest`."""

    format: str
    output: Path | None


def answers_in(*formats: str, but: str = "") -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options `--format`, with `--json` for it, and `--output`, as its argument `answer`."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def run(*, format_: str | None, json: bool, output: Path | None, **given: object) -> int:
            return command(answer=AnswerOptions(format=one_format(format_, json=json), output=output), **given)

        return format_option(*formats, but=but)(json_flag(output_option(run)))

    return decorate


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
