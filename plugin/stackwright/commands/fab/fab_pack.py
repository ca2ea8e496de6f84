"""`stackwright fab-pack`: what the fab needs in writing, as one PDF, the same as HTML, and tables as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from drc_rules.cam.report import stackup_questions
from drc_rules.engine.check import find_config, prepare
from drc_rules.fab_exchange.pack.fab_pack import FabPack, fab_pack
from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings import FILE_NAME
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.fab.pack_html import html_of
from stackwright.commands.fab.pack_pdf import NO_FPDF, pdf_of
from stackwright.drawing.tables import in_csv
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.tables.fab_questions import question_rows
from stackwright.text.output import make_folder, show, write_file
from stackwright.text.page import Page, styled, terminal_console


def write_fab_pack(typed: Path, folder: Path, config: Path | None = None, *, verbose: bool = False) -> int:
    """Write a board's pack into a folder, which is made when it is not there; exit code 0.

    Raises:
        StackwrightError: the board cannot be read, or the folder cannot be written.
    """
    board = find_board(typed)
    with watched(board.name):
        content = read_bytes(board)
        ctx, _, _ = prepare(read_board(board, text=content), find_config(board, config), Overrides())
        pack = fab_pack(ctx, board, content)
    make_folder(folder)
    stem = board.stem
    pdf = pdf_of(pack)
    names = [f"{stem}-fab.html"]
    write_file(folder / names[0], html_of(pack))
    if pdf is not None:
        names.insert(0, f"{stem}-fab.pdf")
        write_file(folder / names[0], pdf)
    for table in pack.tables:
        names.append(f"{stem}-{table.name}.csv")
        write_file(folder / names[-1], csv_text(table))
    page = Page()
    page.line(styled("Fab pack", "bold"), f"  of {board.name} in {folder}")
    page.verbatim(names)
    if pdf is None:
        page.line(styled(NO_FPDF, "yellow"), indent=2)
    settings = ctx.declarations.config.path
    _open_points(page, pack, settings.name if settings else FILE_NAME, verbose=verbose)
    for words in pack.proposed:
        page.line(styled("not in the board file, so it is not in the pack: ", "yellow"), f"backdrill {words}", indent=2)
    _questions(page, ctx)
    show(page.text(terminal_console()))
    return 0


def _open_points(page: Page, pack: FabPack, settings: str, *, verbose: bool) -> None:
    """Tell the designer what the fab will have to ask, and how to answer before it does."""
    if not pack.open_points:
        return
    page.heading(NOT_STATED, "the fab will ask, or choose")
    for words in pack.open_words:
        page.line(words, indent=2)
    if pack.to_add and verbose:
        page.heading("To answer", f"in {settings}")
        page.verbatim([line for table, lines in pack.to_add.items() for line in (table, *lines)])
    elif pack.to_add:
        page.line(f"-v shows the lines of {settings} that answer the notes.", indent=2)


def _questions(page: Page, ctx: Context) -> None:
    """Tell the designer what is stated and a fab would not press as it is; for the designer, not in the pack."""
    try:
        items = stackup_questions(ctx)
    except MissingFact as missing:
        page.line(styled(f"fab questions about the stackup: {missing.what}", "dim"), indent=2)
        return
    if items:
        page.heading("fab questions", "about what the stackup states; answer them before you order")
        page.rows(*question_rows(items, verbose=True))


def csv_text(table: FabTable) -> str:
    """Return one line per row; remarks are on the pages only."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows([in_csv(cell) for cell in row] for row in table.rows)
    return out.getvalue()
