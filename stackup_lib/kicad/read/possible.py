"""Sizes that cannot be: a board that holds one was damaged or made up, and no answer about it would mean anything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stackup_lib.board.board import Floats, Ints, Pads, Stackup, Tracks, Vias
from stackup_lib.core.errors import BoardFileError
from stackup_lib.kicad.syntax.source import BoardText

LEAST_MM = -1e-5
"""KiCad writes -0.000001 for a width that was not chosen; what is below is no size."""

MOST_COPPER_LAYERS = 64
"""KiCad makes 32."""

MOST_STACKUP_ROWS = 4 * MOST_COPPER_LAYERS
STEP = "correct it in KiCad, or restore a backup of the file"


def refuse_layers(source: BoardText, copper: int) -> None:
    """Refuse a board whose table lists more copper layers than can be, before its stackup is read row by row.

    Raises:
        BoardFileError: see above.
    """
    if copper > MOST_COPPER_LAYERS:
        raise source.error(_first_of(source, "layers"), f"the board lists {copper} copper layers; KiCad makes 32", STEP)


def refuse_rows(source: BoardText, stackup: Stackup | None) -> None:
    """Refuse a board whose stackup has more rows than can be.

    Raises:
        BoardFileError: see above.
    """
    if stackup is not None and len(stackup.layers) > MOST_STACKUP_ROWS:
        raise source.error(stackup.offset, f"the stackup has {len(stackup.layers)} rows", STEP)


def _first_of(source: BoardText, name: str) -> int:
    """Where the first top-level block of a name stands."""
    return next(iter(source.blocks.items.start[source.items(name)[:1]].tolist()), 0)


def refuse_thicknesses(source: BoardText, thickness_mm: float | None, stackup: Stackup | None) -> None:
    """Refuse a board that states a thickness or a loss tangent below zero.

    Raises:
        BoardFileError: see above.
    """
    if thickness_mm is not None and thickness_mm < LEAST_MM:
        raise source.error(_first_of(source, "general"), f"the board's thickness is {thickness_mm:g} mm", STEP)
    for offset, what in _of_stackup(stackup):
        raise source.error(offset, what, STEP)


def refuse_sizes(source: BoardText, tracks: Tracks, vias: Vias, pads: Pads) -> None:
    """Refuse a board with a track, via or hole of a size below zero; names the first and how many there are.

    Raises:
        BoardFileError: see above.
    """
    columns: tuple[tuple[str, Floats, Ints], ...] = (
        ("a via's drill", vias.drill_mm, vias.offset),
        ("a via's size", vias.size_mm, vias.offset),
        ("a track's width", tracks.width_mm, tracks.offset),
        ("a pad's size", pads.size_x_mm, pads.offset),
        ("a pad's size", pads.size_y_mm, pads.offset),
        ("a pad's drill", pads.drill_x_mm, pads.offset),
        ("a pad's drill", pads.drill_y_mm, pads.offset),
    )
    for name, sizes, offsets in columns:
        if len(sizes) and np.nanmin(sizes, initial=0.0) < LEAST_MM:
            raise _first(source, name, sizes, offsets)


def _first(source: BoardText, name: str, sizes: Floats, offsets: Ints) -> BoardFileError:
    rows = np.flatnonzero(sizes < LEAST_MM)
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    return source.error(int(offsets[rows[0]]), f"{name} is {float(sizes[rows[0]]):g} mm{more}", STEP)


def _of_stackup(stackup: Stackup | None) -> Iterator[tuple[int, str]]:
    for layer in stackup.layers if stackup is not None else ():
        for ply in layer.plies:
            if ply.thickness_mm is not None and ply.thickness_mm < LEAST_MM:
                yield layer.offset, f'the thickness of stackup layer "{layer.name}" is {ply.thickness_mm:g} mm'
            if ply.df is not None and ply.df < 0:
                yield layer.offset, f'the loss tangent of stackup layer "{layer.name}" is {ply.df:g}'
