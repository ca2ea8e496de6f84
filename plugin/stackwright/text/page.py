"""A page of text: paragraphs and aligned rows that fit the terminal, harmless whatever a board file holds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from io import StringIO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from stackup_lib.core.record import record, workpiece
from stackwright.text.widths import GAP, Column, column_widths
from stackwright.text.words import clean, no_command

__all__ = ["Column", "Page", "plain_console", "styled", "terminal_console"]

PLAIN_WIDTH = 100
WIDEST = 120
NARROWEST = 40
WIDEST_PIPE = 500


def styled(words: str, style: str = "") -> Text:
    """Return text in a style of Rich's, e.g. `bold red`, with control characters made visible."""
    return Text(clean(words), style=style)


@record
class _Table:
    """Aligned rows, laid out when the width is known."""

    columns: Sequence[Column]
    head: Sequence[str]
    cells: Sequence[Sequence[Text]]
    indent: int

    def laid_out(self, width: int) -> tuple[Padding, int]:
        """Return the table, and the width that it needs at least."""
        plain = [[cell.plain for cell in row] for row in self.cells]
        widths = column_widths(self.columns, plain, self.head, width - self.indent)
        if widths[-1] < min(self.columns[-1].below, max(cell_len(row[-1]) for row in plain)):
            widths = column_widths(self.columns[:-1], [row[:-1] for row in plain], self.head[:-1], width - self.indent)
            under = widths[0] + GAP
            blocks = [self._grid(widths, [], self.head[:-1])] if self.head else []
            for *cells, last in self.cells:
                blocks.append(self._grid(widths, [cells]))
                if last.plain:
                    blocks.append(Padding(last, (0, 0, 0, under)))
            shown: RenderableType = Group(*blocks)
        else:
            shown = self._grid(widths, self.cells, self.head)
        return Padding(shown, (0, 0, 0, self.indent)), self.indent + sum(widths) + GAP * (len(widths) - 1)

    def _grid(self, widths: Sequence[int], rows: Sequence[Sequence[Text]], head: Sequence[str] = ()) -> RenderableType:
        from rich.table import Table

        grid = Table.grid(padding=(0, GAP, 0, 0))
        for column, wide in zip(self.columns, widths, strict=False):
            grid.add_column(width=wide, overflow="fold", justify="right" if column.right else "left")
        if head:
            grid.add_row(*(styled(name, "dim") for name in head))
        for row in rows:
            grid.add_row(*row)
        return grid


@workpiece
class Page:
    """Collects blocks, renders them once."""

    _blocks: list[tuple[RenderableType | _Table, bool]] = field(default_factory=list)
    """What to print, and whether its lines never wrap."""

    def line(self, *parts: str | Text, indent: int = 0) -> None:
        """Add one paragraph; long ones wrap under their own indent."""
        self._blocks.append((Padding(_joined(parts), (0, 0, 0, indent)), False))

    def gap(self) -> None:
        """Add an empty line."""
        self._blocks.append((Text(""), False))

    def heading(self, title: str, remark: str = "") -> None:
        """Add an empty line and a heading."""
        self.gap()
        self.line(styled(title, "bold"), styled(f"  {remark}" if remark else "", "dim"))

    def verbatim(self, lines: Iterable[str | Text], indent: int = 2) -> None:
        """Add lines that never wrap, because users copy them."""
        for line in lines:
            self._blocks.append((_joined([" " * indent, line]), True))

    def rows(
        self,
        columns: Sequence[Column],
        rows: Iterable[Sequence[str | Text]],
        indent: int = 2,
        *,
        head: Sequence[str] = (),
    ) -> None:
        """Add aligned rows under the names of their columns.

        Those that need more than the terminal's width get it: no cell loses a letter.
        """
        cells = [[_joined([cell]) for cell in row] for row in rows]
        if cells:
            self._blocks.append((_Table(columns, head, cells, indent), False))

    def text(self, console: Console | None = None) -> str:
        """Render the page; without a console as plain text, 100 columns wide."""
        target = console or plain_console()
        with target.capture() as capture:
            usual = target.width
            for block, verbatim in self._blocks:
                shown, needed = block.laid_out(usual) if isinstance(block, _Table) else (block, 0)
                target.width = max(usual, needed)
                target.print(shown, soft_wrap=verbatim)
            target.width = usual
        return "\n".join(no_command(line.rstrip(" ")) for line in capture.get().split("\n"))


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
