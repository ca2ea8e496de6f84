"""`stackwright stackup`: the stackup alone, as text, drawing or table."""

from __future__ import annotations

import hashlib
from pathlib import Path

from drc_rules.analysis.stackup.stackup_of_board import stackup_view
from drc_rules.report.stackup_rows import StackupView
from stackup_lib.core.errors import StackwrightError
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.request import BoardRequest
from stackwright.drawing import tables
from stackwright.drawing.svg import svg
from stackwright.run.paths import find_board


def show_stackup(typed: Path, request: BoardRequest, *, to_scale: bool = False) -> int:
    """Show or write the stackup of a board.

    Args:
        typed: board, project or folder.
        request: with the format `text`, `svg`, `markdown`, `csv` or `json`.
        to_scale: for `svg`: true proportions instead of a readable height for every row.

    Raises:
        StackwrightError: the board cannot be read, the file cannot be written, or a thickness is not stated that
            a drawing to scale needs.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    context = request.context_of(board_path)
    view = stackup_view(context)
    if to_scale and not view.is_to_scale:
        raise StackwrightError(
            str(board_path),
            "the stackup does not state every thickness, so it cannot be drawn to scale",
            "leave --to-scale out, or enter the fab's stackup in KiCad",
        )
    request.deliver(_written(view, board_path, request, to_scale=to_scale), "stackup")
    return 0


def _written(view: StackupView, path: Path, request: BoardRequest, *, to_scale: bool) -> str:
    if request.format == "svg":
        return svg(view, to_scale=to_scale, title=f"Stackup of {path.name}")
    if request.format == "markdown":
        return tables.markdown(view, f"Stackup of {path.name}")
    if request.format == "csv":
        return tables.csv_text(view)
    if request.format == "json":
        return tables.json_text(view, path.as_posix(), hashlib.sha256(read_bytes(path)).hexdigest())
    return request.laid_out(tables.page(view, path.name))
