"""What the model cannot know of an impedance, and the heights that are shown beside it, on boards added up by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from drc_rules.check import find_config, prepare
from drc_rules.context import Context
from drc_rules.declared import CommandLine
from drc_rules.rules.impedance._model import line_numbers, model_pct
from fixtures.miniboard import MiniBoard, write
from stackup_lib.kicad import read_board

COPPER = """F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0
In1.Cu 0.015
core 0.13 "370HR" dk=4.0
In2.Cu 0.015
prepreg 0.25 "370HR 2116" dk=4.0
In3.Cu 0.015
core 0.5 "370HR" dk=4.0
B.Cu 0.035
"""


def context_of(stackup: str, folder: Path) -> Context:
    """A board with ground on In1 and In3."""
    board = {"size_mm": [60, 40], "stackup": stackup, "planes": {"In1.Cu": "GND", "In3.Cu": "GND"}}
    path = write(MiniBoard.model_validate(board), folder, "board")
    return prepare(read_board(path), find_config(path, None), CommandLine())[0]


@pytest.mark.parametrize(
    ("stackup", "layer", "percent"),
    [
        (f"mask 0.015 dk=3.5\n{COPPER}mask 0.015 dk=3.5\n", 0, 1.0 + 1.5 + 0.3),
        (f"mask 0.015 dk=3.5\n{COPPER}mask 0.015 dk=3.5\n", 2, 1.0 + 1.5),
        (COPPER, 0, 1.0 + 1.5 + 2.5),
        (COPPER, 2, 1.0 + 1.5),
    ],
    ids=["under its mask", "inside", "no mask is stated", "inside, where no mask matters"],
)
def test_dk_taper_and_mask_add_up(stackup: str, layer: int, percent: float, tmp_path: Path) -> None:
    """Dk to 2 % and the taper always; the mask's outline where there is one, the whole mask where nobody states it."""
    assert model_pct(context_of(stackup, tmp_path), layer, None) == pytest.approx(percent)


def test_heights_are_those_of_the_nearer_and_the_farther_plane(tmp_path: Path) -> None:
    """A stripline has two, a microstrip one and nothing on the other side."""
    context = context_of(COPPER, tmp_path)

    assert line_numbers(context, 2, None) == pytest.approx({"t": 0.015, "h_near": 0.13, "h_far": 0.25})
    assert line_numbers(context, 0, None) == pytest.approx({"t": 0.035, "h_near": 0.1, "h_far": math.inf})
