"""A page of text: paragraphs and aligned rows that fit the terminal, harmless whatever a board file holds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import StringIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from stackup_lib.core.record import record
from stackwright.text.words import clean, no_command

PLAIN_WIDTH = 100
WIDEST = 120
NARROWEST = 40
WIDEST_PIPE = 500
SHORTEST_WRAP = 8
"""Words up to this length are not broken in a column that wraps."""


def styled(words: str, style: str = "") -> Text:
    """Return text in a style of Rich's, e.g. `bold red`, with control characters made visible."""
    return Text(clean(words), style=style)


@record
class Column:
    """A column of `Page.rows`: as wide as its text, or, when it wraps, as wide as what is left."""

    wraps: bool = False
    right: bool = False
    min_width: int | None = None
    max_width: int | None = None


@dataclass
class Page:
    """Collects blocks, renders them once."""

    _blocks: list[tuple[RenderableType, bool, int]] = field(default_factory=list)
    """What to print, whether its lines never wrap, and the width that it needs at least."""

    def line(self, *parts: str | Text, indent: int = 0) -> None:
        """Add one paragraph; long ones wrap under their own indent."""
        self._blocks.append((Padding(_joined(parts), (0, 0, 0, indent)), False, 0))

    def gap(self) -> None:
        """Add an empty line."""
        self._blocks.append((Text(""), False, 0))

    def heading(self, title: str, remark: str = "") -> None:
        """Add an empty line and a heading."""
        self.gap()
        self.line(styled(title, "bold"), styled(f"  {remark}" if remark else "", "dim"))

    def verbatim(self, lines: Iterable[str | Text], indent: int = 2) -> None:
        """Add lines that never wrap, because users copy them."""
        for line in lines:
            self._blocks.append((_joined([" " * indent, line]), True, 0))

    def rows(self, columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], indent: int = 2) -> None:
        """Add aligned rows. Those that need more than the terminal's width get it: no cell loses a letter."""
        from rich.table import Table

        grid = Table.grid(padding=(0, 2, 0, 0))
        cells = [[_joined([cell]) for cell in row] for row in rows]
        least = [_least_width(column, [row[k] for row in cells]) for k, column in enumerate(columns)]
        for column, width in zip(columns, least, strict=True):
            grid.add_column(
                ratio=1 if column.wraps else None,
                no_wrap=not column.wraps and column.max_width is None,
                overflow="fold",
                justify="right" if column.right else "left",
                min_width=width,
                max_width=column.max_width,
            )
        for row in cells:
            grid.add_row(*row)
        if grid.row_count:
            needed = indent + sum(least) + 2 * len(least)
            self._blocks.append((Padding(grid, (0, 0, 0, indent)), False, needed))

    def text(self, console: Console | None = None) -> str:
        """Render the page; without a console as plain text, 100 columns wide."""
        target = console or plain_console()
        with target.capture() as capture:
            usual = target.width
            for block, verbatim, needed in self._blocks:
                target.width = max(usual, needed)
                target.print(block, soft_wrap=verbatim)
            target.width = usual
        return "\n".join(no_command(line.rstrip(" ")) for line in capture.get().split("\n"))


def _least_width(column: Column, cells: Sequence[Text]) -> int:
    """Return the width below which a column would lose letters; one that wraps breaks long words."""
    if not column.wraps and column.max_width is None:
        return max((cell.cell_len for cell in cells), default=0)
    longest = max((len(word) for cell in cells for word in cell.plain.split()), default=0)
    return max(min(longest, SHORTEST_WRAP, column.max_width or SHORTEST_WRAP), column.min_width or 0)


def plain_console(width: int = PLAIN_WIDTH) -> Console:
    """Return a console without colour, for files and pipes."""
    return Console(
        file=StringIO(),
        width=width,
        force_terminal=False,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def terminal_console() -> Console:
    """Return a console for standard output: coloured and as wide as the terminal there, plain in a pipe.

    Rich honours `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb`. In a pipe `COLUMNS` is the width, else 100.
    """
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal or console.legacy_windows:
        return plain_console(_width_of_pipe())
    console.width = max(NARROWEST, min(console.width, WIDEST)) if console.file.isatty() else _width_of_pipe()
    return console


def _width_of_pipe() -> int:
    """Return what `COLUMNS` asks for, 100 where it states no width."""
    stated = os.environ.get("COLUMNS", "")
    is_width = re.fullmatch(r"[1-9][0-9]{0,8}", stated)
    return max(NARROWEST, min(int(stated), WIDEST_PIPE)) if is_width else PLAIN_WIDTH


def _joined(parts: Iterable[str | Text]) -> Text:
    text = Text()
    for part in parts:
        text.append_text(styled(part) if isinstance(part, str) else part)
    return text
