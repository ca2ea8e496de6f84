"""A small board on which three pairs run next to each other from U1 to J1."""

from __future__ import annotations

from typing import Any

from tests.support.small_boards.paired import STACKUP, pads

CENTRES_MM = {"/SFP_RX0": 9.0, "/SFP_TX0": 10.0, "/SFP_TX1": 10.75}
"""Of the positive traces; the negative ones lie 0.3 mm on. From edge to edge 0.55 and 0.30 mm."""


def crowded(
    centres_mm: dict[str, float] | None = None, *, length_mm: float = 60.0, to: str = "J1", layer: str = "F.Cu"
) -> dict[str, Any]:
    """The board; tracks of 0.15 mm, pairs with a gap of 0.15 mm, straight and of one length."""
    places = [
        (f"{name}_{leg}", y + more)
        for name, y in (centres_mm or CENTRES_MM).items()
        for leg, more in (("P", 0.0), ("N", 0.3))
    ]
    parts = [
        {"reference": name, "at_mm": [x, 0], "pads": pads(*((str(k), net, 0, y) for k, (net, y) in enumerate(places)))}
        for name, x in (("U1", 5.0), (to, 5.0 + length_mm))
    ]
    tracks = [
        {"net": net, "layer": layer, "width_mm": 0.15, "path_mm": [[5, y], [5 + length_mm, y]]} for net, y in places
    ]
    return {
        "size_mm": [10 + length_mm, 40],
        "stackup": STACKUP,
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "config": '[declared]\nfoil = "VLP"\n[[interface]]\nis = "eth25g"\nnets = ["/SFP_*"]\n',
        "parts": parts,
        "tracks": tracks,
    }
