"""Where vias, pads and tracks are, as findings say it."""

from __future__ import annotations

from drc_rules.report.findings import Location
from stackup_lib.board.board import Board, Pads, Vias


def place_in(board: Board, table: Vias | Pads, row: int, layer: str | None = None) -> Location:
    """Return where a via or a pad is, by its row."""
    return Location(
        layer=layer,
        net=board.nets[int(table.net[row])] or None,
        uuid=str(table.uuid[row]) or None,
        x_mm=float(table.x_mm[row]),
        y_mm=float(table.y_mm[row]),
    )


def track_place(board: Board, row: int) -> Location:
    """Return where a track begins, by its row."""
    tracks = board.tracks
    return Location(
        layer=board.copper_layers[int(tracks.layer[row])].name,
        net=board.nets[int(tracks.net[row])] or None,
        uuid=str(tracks.uuid[row]) or None,
        x_mm=float(tracks.start_x_mm[row]),
        y_mm=float(tracks.start_y_mm[row]),
    )
