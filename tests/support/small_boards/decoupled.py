"""A small board with a supply plane over ground, decoupling capacitors on it, a regulator and a load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from fixtures.miniboard import MiniBoard, write
from stackup_lib.kicad import read_board

NET = "+0V8"
STACKUP = """
F.Cu 0.035
core 0.2 "370HR" dk=4.2 df=0.02
In1.Cu 0.035
prepreg 0.1 "370HR" dk=4.2 df=0.02
In2.Cu 0.035
core 1.2 "370HR" dk=4.2 df=0.02
B.Cu 0.035
"""
RAIL = f'[[rail]]\nnet = "{NET}"\nvoltage_v = 0.8\nfrom = ["L1"]\nto = ["U1"]\n'
REGULATOR = "pdn.regulator_mohm = 0.5\npdn.regulator_khz = 100\n"


def capacitor(reference: str, x: float, y: float, value: str = "10uF 0402 X5R 6.3V") -> dict[str, Any]:
    """A part with pads 1 mm apart, rail on the left."""
    pads = [
        {"number": "1", "net": NET, "at_mm": [-0.5, 0], "size_mm": [0.5, 0.5], "shape": "rect"},
        {"number": "2", "net": "GND", "at_mm": [0.5, 0], "size_mm": [0.5, 0.5], "shape": "rect"},
    ]
    return {"reference": reference, "value": value, "at_mm": [x, y], "pads": pads}


def its_vias(x: float, y: float) -> list[dict[str, Any]]:
    """A via per pad, 0.6 mm outward of it: 2.2 mm apart."""
    return [{"net": NET, "at_mm": [x - 1.1, y]}, {"net": "GND", "at_mm": [x + 1.1, y]}]


def its_tracks(x: float, y: float, width: float = 0.5) -> list[dict[str, Any]]:
    """From each pad straight to its via."""
    ends = ((NET, -1), ("GND", 1))
    return [
        {"net": net, "layer": "F.Cu", "width_mm": width, "path_mm": [[x + side * 0.5, y], [x + side * 1.1, y]]}
        for net, side in ends
    ]


def decoupled(**changes: Any) -> dict[str, Any]:
    """The board: regulator L1 on the left, load U1 with four vias each on the right, two capacitors between them."""
    load_pads = [
        {"number": f"{net}{k}", "net": net, "at_mm": [k, row], "size_mm": [0.4, 0.4], "shape": "circle"}
        for row, net in ((0, NET), (1, "GND"))
        for k in range(4)
    ]
    inductor = [
        {"number": "1", "net": "/SW", "at_mm": [-3, 0], "size_mm": [2, 3], "shape": "rect"},
        {"number": "2", "net": NET, "at_mm": [0, 0], "size_mm": [2, 3], "shape": "rect"},
    ]
    board: dict[str, Any] = {
        "size_mm": [60, 40],
        "stackup": STACKUP,
        "planes": {"In1.Cu": "GND", "In2.Cu": NET},
        "vias": [
            *its_vias(30, 20),
            *its_vias(30, 24),
            {"net": NET, "at_mm": [8, 19], "grid": [1, 3]},
            {"net": NET, "at_mm": [45, 20], "grid": [4, 1]},
            {"net": "GND", "at_mm": [45, 21], "grid": [4, 1]},
        ],
        "tracks": [*its_tracks(30, 20), *its_tracks(30, 24)],
        "parts": [
            capacitor("C1", 30, 20),
            capacitor("C2", 30, 24),
            {"reference": "U1", "at_mm": [45, 20], "pads": load_pads},
            {"reference": "L1", "at_mm": [8, 20], "pads": inductor},
        ],
        "config": RAIL,
    }
    return board | changes


def with_more(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The board's parts, vias and tracks with more capacitors, each with its own vias."""
    keys, places = decoupled(), [part["at_mm"] for part in parts]
    return {
        "parts": [*keys["parts"], *parts],
        "vias": [*keys["vias"], *(via for x, y in places for via in its_vias(x, y))],
        "tracks": [*keys["tracks"], *(track for x, y in places for track in its_tracks(x, y))],
    }


def context_of(folder: Path, **changes: Any) -> Context:
    """The board read back, with what its settings declare."""
    keys = decoupled(**changes)
    path = write(MiniBoard.model_validate(keys), folder, "board")
    return prepare(read_board(path), parse_config(keys["config"]), Overrides())[0]
