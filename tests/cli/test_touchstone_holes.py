"""`stackwright touchstone`: stacked vias count each once, far return vias are told, slow interfaces are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.transmission_lines.four_port import mixed_modes
from stackwright.cli.app import run
from tests.support.cli.touchstone_files import read
from tests.support.in_process import run_here
from tests.support.small_boards.paired import CONFIG, N, P, pads

SIX = """
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0 df=0.01
In1.Cu 0.015
core 0.2 "370HR" dk=4.0 df=0.01
In2.Cu 0.015
prepreg 0.3 "370HR 2116" dk=4.0 df=0.01
In3.Cu 0.015
core 0.2 "370HR" dk=4.0 df=0.01
In4.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0 df=0.01
B.Cu 0.035
"""
SMALL, LARGE = {"size_mm": 0.25, "drill_mm": 0.1}, {"size_mm": 0.6, "drill_mm": 0.35}
Stacked = tuple[str, str, dict[str, float]]
THROUGH: tuple[Stacked, ...] = (("F.Cu", "B.Cu", {}),)


def board(*stack: Stacked, inner: str = "In2.Cu", ground_y_mm: float = 12.0) -> dict[str, Any]:
    """A pair of 40 mm whose middle 20 mm run on an inner layer; `stack` are the vias at each of its ends."""
    rows = ((P, 10.0), (N, 11.0))
    paths = [
        (layer, net, [[first, y], [last, y]])
        for net, y in rows
        for layer, first, last in (("F.Cu", 5, 15), (inner, 15, 35), ("F.Cu", 35, 45))
    ]
    vias = [
        {"net": net, "at_mm": [x, y], "span": [top, bottom], "kind": "blind" if stack != THROUGH else "through", **size}
        for net, y in rows
        for x in (15, 35)
        for top, bottom, size in stack
    ]
    ends = (("U1", 5), ("J1", 45))
    return {
        "size_mm": [60, 60],
        "stackup": SIX,
        "planes": {"In1.Cu": "GND", "In3.Cu": "GND", "In4.Cu": "GND"},
        "config": CONFIG,
        "parts": [{"reference": r, "at_mm": [x, 10], "pads": pads(("1", P, 0, 0), ("2", N, 0, 1))} for r, x in ends],
        "tracks": [{"net": net, "layer": layer, "width_mm": 0.15, "path_mm": path} for layer, net, path in paths],
        "vias": [*vias, *({"net": "GND", "at_mm": [x, ground_y_mm]} for x in (15, 35))],
    }


def written(folder: Path, what: dict[str, Any]) -> tuple[list[str], np.ndarray]:
    path = write(MiniBoard.model_validate(what), folder, "card")
    assert run(["touchstone", str(path), "--output", str(folder / "links")]) == 0
    comments, _, s = read(folder / "links" / "PCIE_TX0_P.s4p")
    return comments, s


def stubs(comments: list[str]) -> list[str]:
    return [line for line in comments if "open stub" in line]


def test_the_stub_of_a_stack_is_counted_once(tmp_path: Path) -> None:
    """F to In1 on a buried via In1 to In4, out on In2: one stub per end, 0.3 + 0.2 mm with In3 and In4."""
    comments, _ = written(tmp_path, board(("F.Cu", "In1.Cu", {}), ("In1.Cu", "In4.Cu", {})))

    assert stubs(comments) == ["element: open stub of 0.530 mm from In2.Cu"] * 2


def test_stacked_vias_are_as_one_through_via(tmp_path: Path) -> None:
    """F to In2 on In2 to B, out on In2: electrically the through via, with as long a barrel and stub."""
    found = [
        written(tmp_path / name, board(*stack))
        for name, stack in (("one", THROUGH), ("two", (("F.Cu", "In2.Cu", {}), ("In2.Cu", "B.Cu", {}))))
    ]

    assert stubs(found[0][0]) == stubs(found[1][0])
    passes = [np.abs(mixed_modes(s)[:, 1, 0]) for _, s in found]
    assert passes[1] == pytest.approx(passes[0], abs=0.06)  # twice the stub: 0.3 less


def test_each_via_of_a_stack_has_its_own_shape(tmp_path: Path) -> None:
    """Four stacks of small and large vias reflect differently; (small, large) was the same as (small, small)."""
    sizes = [(one, two) for one in (SMALL, LARGE) for two in (SMALL, LARGE)]
    reflects = []
    for k, (one, two) in enumerate(sizes):
        _, s = written(tmp_path / str(k), board(("F.Cu", "In1.Cu", one), ("In1.Cu", "In2.Cu", two)))
        reflects.append(float(np.abs(mixed_modes(s)[-1, 0, 0])))

    assert len({round(one, 4) for one in reflects}) == 4


@pytest.mark.parametrize(("ground_y_mm", "is_far"), [(10.5, False), (50.0, True)])
def test_return_vias_that_are_far_are_told(tmp_path: Path, ground_y_mm: float, is_far: bool) -> None:
    """F to B changes from In1 to In4: a ground via 0.5 mm away, or 40; a tenth of a wavelength is 1.9 mm."""
    comments, _ = written(tmp_path, board(*THROUGH, inner="B.Cu", ground_y_mm=ground_y_mm))

    notes = [line for line in comments if "RET003" in line]
    expected = ["note: 4 vias have no return via near (RET003: between F.Cu and B.Cu it is 40.0 mm away)"]
    assert [line.split(" and are counted")[0] for line in notes] == (expected if is_far else [])


def test_a_board_of_slow_interfaces_alone_is_told_which(tmp_path: Path) -> None:
    """`delay` lists its links, and "has no routed link" was said."""
    slow = board(*THROUGH)
    text = json.dumps(slow).replace("pcie4", "usb2").replace("PCIE_TX0", "USB_D").replace("PCIE_*", "USB_*")
    path = write(MiniBoard.model_validate_json(text), tmp_path, "card")
    told = run_here("touchstone", path, "--output", tmp_path / "links")

    assert told.code == 2
    assert "has links that become no file: USB 2.0 high speed; files are for links whose loss matters" in " ".join(
        told.err.split()
    )
