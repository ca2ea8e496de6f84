"""`stackwright fab-pack`: what the fab needs in writing, as Markdown for people and CSV for their tools."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path

from drc_rules.engine.check import find_config, prepare
from drc_rules.fab_exchange.fab_tables import NOT_STATED, FabTable, fab_tables, proposed_drills
from drc_rules.facts.declared import Overrides
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.drawing.tables import in_csv
from stackwright.run.paths import find_board
from stackwright.text.markup import escape
from stackwright.text.output import OutputError, show, write_file
from stackwright.text.page import Page, styled, terminal_console
from stackwright.text.words import clean, count


def write_fab_pack(typed: Path, folder: Path, config: Path | None = None) -> int:
    """Write a board's tables into a folder, which is made when it is not there; exit code 0.

    Raises:
        StackwrightError: the board cannot be read, or the folder cannot be written.
    """
    board_path = find_board(typed)
    content = read_bytes(board_path)
    context, _, _ = prepare(read_board(board_path, text=content), find_config(board_path, config), Overrides())
    tables = fab_tables(context)
    _make(folder)
    origin = f"{board_path.name}, SHA-256 {hashlib.sha256(content).hexdigest()}"
    for table in tables:
        write_file(folder / f"{board_path.stem}-{table.name}.csv", csv_text(table))
    write_file(folder / f"{board_path.stem}-fab.md", markdown(tables, board_path.name, origin))
    page = Page()
    page.line(styled("Fab pack", "bold"), f"  of {board_path.name} in {folder}")
    page.verbatim([f"{board_path.stem}-fab.md", *(f"{board_path.stem}-{table.name}.csv" for table in tables)])
    _open_points(page, tables)
    for row in proposed_drills(context):
        words = f"{row.start} through {row.must_cut}, {count(row.holes, 'hole')}, short of {row.must_not_cut}"
        page.line(styled("not in the board file, so it is not in the pack: ", "yellow"), f"backdrill {words}", indent=2)
    show(page.text(terminal_console()))
    return 0


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise OutputError(str(folder), "is a file", "give --output the name of a folder") from None
    except OSError as error:
        reason = f"cannot be made ({error.strerror})"
        raise OutputError(str(folder), reason, "choose a place that is there and writable") from error


def _open_points(page: Page, tables: tuple[FabTable, ...]) -> None:
    """Tell the designer what the fab will have to ask."""
    missing: dict[str, list[str]] = {}
    for table in tables:
        for row in table.rows:
            if table.name == "notes":
                if NOT_STATED in row[1]:
                    missing.setdefault("notes", []).append(row[0])
                continue
            for head, cell in zip(table.head, row, strict=True):
                if cell == NOT_STATED:
                    missing.setdefault(f"{table.name}, {head}", []).append(row[0])
    if missing:
        page.heading(NOT_STATED, "the fab will ask, or choose")
    for what, where in missing.items():
        names = list(dict.fromkeys(where))
        most = len(names) if what == "notes" else 4
        more = f" and {len(names) - most} more" if len(names) > most else ""
        page.line(f"{what}: {', '.join(names[:most])}{more}", indent=2)


def csv_text(table: FabTable) -> str:
    """Return one line per row; remarks are in the Markdown only."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows([in_csv(cell) for cell in row] for row in table.rows)
    return out.getvalue()


def markdown(tables: tuple[FabTable, ...], name: str, origin: str) -> str:
    """Return all tables as one page."""
    lines = [
        f"# Fabrication data of {escape(clean(name))}",
        "",
        f"Made from {escape(clean(origin))}.",
        f'"{NOT_STATED}" means that it is not specified: please ask, do not assume.',
    ]
    for table in tables:
        lines += ["", f"## {table.title}", ""]
        if table.rows:
            lines += [_line(table.head), "|" + "---|" * len(table.head)]
            lines += [_line(tuple(escape(clean(cell)) for cell in row)) for row in table.rows]
        lines += [line for remark in table.remarks for line in ("", escape(clean(remark)))]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"
