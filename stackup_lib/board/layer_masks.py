"""Sets of copper layers as bit masks, bit 0 for F.Cu: how `Board` keeps the layers of pads and zones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Ints


def holds_layer(masks: NDArray[np.uint64], layer: int | Ints) -> NDArray[np.bool_]:
    """Tell which masks hold a layer, or each its own."""
    return np.asarray((masks >> np.asarray(layer).astype(np.uint64)) & np.uint64(1) != 0)


def layers_of(mask: int) -> list[int]:
    """Return the layers of a mask, ascending."""
    return [bit for bit in range(64) if mask >> bit & 1]
