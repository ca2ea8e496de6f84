"""`stackwright stackup`: the stackup alone, as text, drawing or table."""

from __future__ import annotations

import hashlib
from pathlib import Path

from drc_rules.analysis.stackup.stackup_of_board import stackup_view
from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.declared import CommandLine
from drc_rules.report.stackup_rows import StackupView
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.drawing import tables
from stackwright.drawing.svg import svg
from stackwright.run.paths import find_board
from stackwright.text.output import STDOUT, check_target, show, write_file
from stackwright.text.page import terminal_console


def show_stackup(typed: Path, *, form: str, to_scale: bool, output: Path | None) -> int:
    """Show or write the stackup of a board.

    Args:
        typed: board, project or folder.
        form: `text`, `svg`, `markdown`, `csv` or `json`.
        to_scale: for `svg`: true proportions instead of a readable height for every row.
        output: file to write; None or `-` for standard output.

    Raises:
        StackwrightError: the board cannot be read, the file cannot be written, or a thickness is not stated that
            a drawing to scale needs.
    """
    board_path = find_board(typed)
    target = output if output != STDOUT else None
    if target:
        check_target(target, [typed, board_path])
    context, _, _ = prepare(read_board(board_path), find_config(board_path, None), CommandLine())
    view = stackup_view(context)
    if to_scale and not view.is_to_scale:
        raise StackwrightError(
            str(board_path),
            "the stackup does not state every thickness, so it cannot be drawn to scale",
            "leave --to-scale out, or enter the fab's stackup in KiCad",
        )
    if form == "text" and target is None:
        show(tables.page(view, board_path.name).text(terminal_console()))
        return 0
    written = _written(view, board_path, form, to_scale=to_scale)
    if target is None:
        show(written)
    else:
        write_file(target, written)
        show(f"stackup written to {target}\n")
    return 0


def _written(view: StackupView, path: Path, form: str, *, to_scale: bool) -> str:
    if form == "svg":
        return svg(view, to_scale=to_scale, title=f"Stackup of {path.name}")
    if form == "markdown":
        return tables.markdown(view, f"Stackup of {path.name}")
    if form == "csv":
        return tables.csv_text(view)
    if form == "json":
        return tables.json_text(view, path.as_posix(), hashlib.sha256(read_bytes(path)).hexdigest())
    return tables.page(view, path.name).text()
