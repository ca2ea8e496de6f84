"""A fab pack: everything that the fab needs in writing, first what is not stated."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from drc_rules.fab_exchange.pack.backdrills import backdrills_table, proposed_drills
from drc_rules.fab_exchange.pack.holes import holes_table, protection_table
from drc_rules.fab_exchange.pack.laminates import laminates_table, substitutes_table, substitution
from drc_rules.fab_exchange.pack.notes import fab_notes, in_ranges, notes_table
from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable
from drc_rules.fab_exchange.pack.tables import (
    drawn_stackup,
    impedance_table,
    stackup_table,
)
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.stackup_rows import StackupView
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad.read.title_block import TitleBlock, title_block

MOST_NAMES = 4
"""Rows of a table that an open point names."""
SAID_BY_NOTES = {("impedance", "coupon"), ("holes", "tolerance +- mm")}
"""Columns that repeat one note in every row."""


class OpenPoint(Frozen):
    """What the fab has to ask: columns of a table that the same rows lack, or a note."""

    what: str
    rows: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """One line: "stackup, Df at GHz: dielectric 1-5", "stackup, foil: F.Cu, In1.Cu, In2.Cu, In3.Cu and 2 more"."""
        if self.rows and all(re.fullmatch(r"dielectric \d+", row) for row in self.rows):
            return f"{self.what}: {in_ranges(self.rows)}"
        more = f" and {len(self.rows) - MOST_NAMES} more" if len(self.rows) > MOST_NAMES else ""
        return f"{self.what}: {', '.join(self.rows[:MOST_NAMES])}{more}" if self.rows else self.what


class FabPack(Frozen):
    """The pack of one board.

    Attributes:
        name: of the board file; `sha256` of its bytes.
        title: what the title block says.
        view: the stackup to draw, None where the board states none of its own.
        to_add: table -> lines of `stackwright.toml` that answer open notes.
        proposed: backdrills that high-speed stubs need and that are not ordered; for the designer, not for the fab.
    """

    name: str
    sha256: str
    title: TitleBlock
    view: StackupView | None
    tables: tuple[FabTable, ...]
    open_points: tuple[OpenPoint, ...]
    to_add: dict[str, tuple[str, ...]]
    proposed: tuple[str, ...]

    @property
    def open_words(self) -> tuple[str, ...]:
        """The open points, one line each; all open notes are one line."""
        notes = ", ".join(point.what for point in self.open_points if not point.rows)
        rest = tuple(point.words for point in self.open_points if point.rows)
        return (f"notes: {notes}", *rest) if notes else rest

    @property
    def head(self) -> tuple[tuple[str, str], ...]:
        """What the first lines say: the title block, then the file's hash."""
        sheet = self.title
        said = (("title", sheet.title), ("revision", sheet.rev), ("date", sheet.date), ("company", sheet.company))
        return (*((label, text) for label, text in said if text), ("board file", f"{self.name}, SHA-256 {self.sha256}"))


def fab_pack(ctx: Context, path: Path, content: bytes) -> FabPack:
    """Return the pack of a board: `ctx` is what was read of `content`, the bytes of the file at `path`."""
    substitutes = substitutes_table(ctx, path, content, Overrides())
    tables = (
        notes_table(ctx, substitution(substitutes)),
        stackup_table(ctx),
        laminates_table(ctx),
        substitutes,
        impedance_table(ctx),
        holes_table(ctx),
        protection_table(ctx),
        backdrills_table(ctx),
    )
    to_add: dict[str, tuple[str, ...]] = {}
    for note in fab_notes(ctx):
        table, line = note.to_add
        if note.answer == NOT_STATED and table:
            to_add[table] = (*to_add.get(table, ()), line)
    return FabPack(
        name=path.name,
        sha256=hashlib.sha256(content).hexdigest(),
        title=title_block(content),
        view=drawn_stackup(ctx),
        tables=tables,
        open_points=tuple(_open_points(tables)),
        to_add=to_add,
        proposed=tuple(
            f"{row.start} through {row.must_cut}, {row.holes} holes, short of {row.must_not_cut}"
            for row in proposed_drills(ctx)
        ),
    )


def _open_points(tables: tuple[FabTable, ...]) -> Iterator[OpenPoint]:
    for table in tables:
        if table.name == "notes":
            yield from (OpenPoint(what=row[0]) for row in table.rows if NOT_STATED in row[1])
            continue
        missing: dict[str, list[str]] = {}
        for row in table.rows:
            named = next((cell for cell in row if cell not in ("", NOT_STATED)), NOT_STATED)
            for head, cell in zip(table.head, row, strict=True):
                if cell == NOT_STATED and (table.name, head) not in SAID_BY_NOTES:
                    missing.setdefault(head, []).append(named)
        columns: dict[tuple[str, ...], list[str]] = {}
        for head, rows in missing.items():
            columns.setdefault(tuple(dict.fromkeys(rows)), []).append(head)
        for names, heads in columns.items():
            yield OpenPoint(what=f"{table.title.lower()}, {', '.join(heads)}", rows=names)
        asks = (OpenPoint(what=f"{table.title.lower()}, {what}", rows=rows) for what, rows in table.questions if rows)
        yield from asks
