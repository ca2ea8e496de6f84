"""Text on copper that may join two nets: its outlines are KiCad's, so that only where it may reach is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.clearances import SpaceFinder
from stackup_lib.copper.copper_map import NO_COPPER
from stackup_lib.copper.shorts import piece_areas

LONGEST_SHOWN = 20


def texts_over_nets(finder: SpaceFinder, layers: Iterable[int]) -> Iterator[str]:
    """Yield what and where the texts and dimensions are that may touch copper of more than one net.

    A fill counts where the text's anchor lies in it: KiCad keeps fills away from text.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a board with such text needs it

    board, texts = finder.copper.board, finder.copper.board.texts
    for layer in layers:
        rows = np.flatnonzero(holds_layer(texts.layers, layer))
        if not len(rows):
            continue
        boxes = shapely.polygons(np.stack([texts.corner_x_mm[rows], texts.corner_y_mm[rows]], axis=-1))
        pieces = finder.pieces(layer)
        pieces = pieces.where(pieces.net > 0)
        found, piece = shapely.STRtree(boxes).query(shapely.box(*pieces.boxes()))[::-1]
        touch = shapely.intersects(boxes[found], piece_areas(board, pieces.where(piece)))
        in_fill = finder.copper.net_at(layer, texts.x_mm[rows], texts.y_mm[rows])
        for k, row in enumerate(rows.tolist()):
            nets = {*pieces.net[piece[touch & (found == k)]].tolist(), int(in_fill[k])} - {0, NO_COPPER}
            if len(nets) > 1:
                names = sorted(board.nets[net] for net in nets)
                over = f"{names[0]} and {names[1]}" + (f" and {len(names) - 2} more" if len(names) > 2 else "")
                at = f"x {texts.x_mm[row]:.3f} mm, y {texts.y_mm[row]:.3f} mm"
                yield f"{_said(str(texts.words[row]))} on {board.copper_layers[layer].name} ({at}), over {over}"


def _said(words: str) -> str:
    shown = " ".join(words.split())
    return f'the text "{shown if len(shown) <= LONGEST_SHOWN else shown[: LONGEST_SHOWN - 3] + "..."}"'
