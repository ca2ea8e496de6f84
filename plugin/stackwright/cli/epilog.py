"""Examples and exit codes below the help of a command, in lines that fit the terminal and can be copied."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator

import click

GLUE = "\N{NO-BREAK SPACE}"
REMARK = re.compile(r"(\s*\S.*?\s{2,})(\S.*)")
"""A line of two columns: a command or an exit code, and what is said of it."""


TYPED = "stackwright.typed"
"""Key in `Context.meta` of the words behind the name of the command."""


class Command(click.Command):
    """A command whose help wraps what stands below the options: text under its column, commands with a backslash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed, for answers that say how to ask again."""
        ctx.meta[TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the blocks; one that begins with a backspace keeps its lines."""
        for block in inspect.cleandoc(self.epilog).split("\n\n") if self.epilog else ():
            formatter.write_paragraph()
            with formatter.indentation():
                if not block.startswith("\b"):
                    formatter.write_text(block)
                    continue
                room = formatter.width - formatter.current_indent
                for line in block.split("\n")[1:]:
                    for part in _fitted(line, room):
                        formatter.write(f"{' ' * formatter.current_indent}{part}\n")


def _fitted(line: str, room: int) -> Iterator[str]:
    """Yield the lines of a line."""
    indent = " " * (len(line) - len(line.lstrip()))
    if len(line) <= room:
        yield line
    elif found := REMARK.fullmatch(line):
        yield from _wrapped(found[2], room, found[1], " " * len(found[1]))
    elif line.lstrip().startswith("stackwright "):
        joined = re.sub(r" (?!-)", GLUE, line.lstrip())  # an option and its value stay together
        *parts, last = _wrapped(joined, room - 2, indent, f"{indent}    ")
        yield from (f"{part} \\" for part in parts)
        yield last
    else:
        yield from _wrapped(line.lstrip(), room, indent, f"{indent}  ")


def _wrapped(words: str, room: int, first: str, others: str) -> list[str]:
    lines = textwrap.wrap(
        words, room, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(GLUE, " ") for line in lines]
