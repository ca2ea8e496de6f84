"""Layer changes of pairs in a 3-D solver: solves `fixtures/reference/openems_via_pairs.toml` into the table next to it.

usage: /usr/bin/python3 -m tests.physics.openems_via_pairs [CASE[:MODE] ...]   (two minutes of one core per mode)

Rows of the named cases replace those in the table; without a name all are solved. Needs what `openems_vias.py` needs,
and takes lines, ports, mesh and copper from there.

Two vias stand on a line across two pairs of traces, each trace at the height of its via, and behind each via stands a
return via. The whole is its own mirror image: with an electric wall half way between the vias one half of it is the
differential mode, with a magnetic wall the common mode, each with ports of 50 ohm to the planes. Antipads are round, or
one oval opening that both vias share. A delay is the phase of S21 less that of straight traces the same distance apart.
"""

from __future__ import annotations

import csv
import math
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.physics.openems_nulls import keep_null
from tests.physics.openems_vias import (
    ENDED,
    FINE_MM,
    HALF_MM,
    HIGHEST_HZ,
    LINE_MM,
    PORT_MM,
    REFERENCE,
    STEPS,
    copper_mm,
    graded,
    heights,
    lines_and_ports,
    run,
)

Case = Mapping[str, Any]
Complex = NDArray[np.complex128]

AT_GHZ = (1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 12.5, 15.0, 17.5, 20.0)
WALLS = {"differential": "PEC", "common": "PMC"}
HEADER = ("case", "mode", "ghz", "s11_re", "s11_im", "s21_re", "s21_im", "delay_ps")


def across(case: Case, fine_half_mm: float, cell_mm: float) -> list[float]:
    """Return mesh lines from the wall to the absorbing side, fine round the via."""
    middle = case["apart_mm"] / 2
    lines = [round(middle + y, 6) for y in graded(HALF_MM[1] - middle, fine_half_mm, cell_mm)]
    below = [y for y in lines if y > cell_mm / 2]
    return [0.0, *below]


def draw(csx: Any, case: Case, faces: list[tuple[float, float]]) -> Any:
    """Add laminate, planes, the via and its return via in one half; return the metal."""
    x_mm, y_mm, at = HALF_MM[0], HALF_MM[1], case["apart_mm"] / 2
    laminate, copper = csx.AddMaterial("laminate", epsilon=case["dk"]), csx.AddMetal("copper")
    laminate.AddBox([-x_mm, 0, faces[-1][1]], [x_mm, y_mm, faces[0][0]], priority=1)
    for plane in case["planes"]:
        copper.AddBox([-x_mm, 0, faces[plane][0]], [x_mm, y_mm, faces[plane][1]], priority=10)
    if case["entry"] == case["exit"]:
        return copper
    antipads = csx.AddMaterial("antipads", epsilon=case["dk"])
    top, bottom = case["barrel"]
    radius = case["antipad_mm"] / 2
    for plane in (p for p in case["planes"] if top <= p <= bottom):
        low, high = faces[plane][0] - 0.01, faces[plane][1] + 0.01
        antipads.AddCylinder([0, at, low], [0, at, high], radius, priority=20)
        if case["is_oval"]:
            antipads.AddBox([-radius, 0, low], [radius, at, high], priority=20)
    copper.AddCylinder([0, at, faces[bottom][0]], [0, at, faces[top][1]], case["drill_mm"] / 2, priority=30)
    for layer in range(top, bottom + 1) if case["has_all_pads"] else (case["entry"], case["exit"]):
        copper.AddCylinder([0, at, faces[layer][0]], [0, at, faces[layer][1]], case["pad_mm"] / 2, priority=30)
    behind = at + case["ground_mm"]
    copper.AddCylinder([0, behind, faces[-1][0]], [0, behind, faces[0][1]], case["drill_mm"] / 2, priority=30)
    return copper


def solved(case: Case, wall: str) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Return frequencies in Hz, S11 and S21 of a mode."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = solved_in(case, wall, f"{folder}/run")
        os.chdir(REFERENCE)  # the solver has gone into its folder
        return found


def solved_in(case: Case, wall: str, folder: str) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Solve in a folder of its own, which the solver makes."""
    np.float, np.int, np.complex = float, int, complex  # type: ignore[attr-defined]  # what 0.0.35 still asks for
    from CSXCAD import ContinuousStructure  # type: ignore[import-not-found]
    from openEMS import openEMS  # type: ignore[import-not-found]

    faces, width_mm, at = copper_mm(case["plies_mm"]), case["width_mm"], case["apart_mm"] / 2
    solver, csx = openEMS(NrTS=STEPS, EndCriteria=ENDED), ContinuousStructure()
    solver.SetGaussExcite(HIGHEST_HZ / 2, HIGHEST_HZ / 2)
    solver.SetBoundaryCond(["PML_8", "PML_8", wall, "PML_8", "PML_8", "PML_8"])
    solver.SetCSX(csx)
    mesh = csx.GetGrid()
    mesh.SetDeltaUnit(1e-3)
    fine_mm = max(0.15, width_mm * 0.75) if case["entry"] == case["exit"] else 0.45
    cell_mm = width_mm / 2 / math.ceil(width_mm / 2 / FINE_MM)
    mesh.AddLine("x", graded(HALF_MM[0], fine_mm, cell_mm, [LINE_MM - PORT_MM, LINE_MM + PORT_MM]))
    mesh.AddLine("y", across(case, fine_mm, cell_mm))
    mesh.AddLine("z", heights(faces))
    copper = draw(csx, case, faces)
    return run(solver, lines_and_ports(solver, copper, case, faces, at), folder)


def rows(name: str, case: Case, mode: str, straight: dict[tuple[Any, ...], NDArray[np.float64]]) -> Iterator[list[str]]:
    """Yield the rows of one case and mode; straight traces are solved once per board, layer and distance."""
    wall, last = WALLS[mode], len(case["plies_mm"])
    keys = [(case["board"], min(k, last - k), case["apart_mm"], mode) for k in (case["entry"], case["exit"])]
    for key in keys:
        if key not in straight:  # the boards are symmetric
            straight[key] = np.unwrap(np.angle(solved({**case, "entry": key[1], "exit": key[1]}, wall)[2]))
    hertz, s11, s21 = solved(case, wall)
    if mode == "differential":
        keep_null(name, hertz, s21)
    without = (straight[keys[0]] + straight[keys[1]]) / 2
    delay_ps = (without - np.unwrap(np.angle(s21))) / (2 * math.pi * hertz) * 1e12
    for ghz in AT_GHZ:
        k = int(np.argmin(abs(hertz - ghz * 1e9)))
        parts = (s11[k].real, s11[k].imag, s21[k].real, s21[k].imag)
        yield [name, mode, f"{ghz:g}", *(f"{part:.4f}" for part in parts), f"{delay_ps[k]:.2f}"]


def main() -> int:
    """Solve, and write the table."""
    path = REFERENCE / "openems_via_pairs.csv"
    read = tomllib.loads((REFERENCE / "openems_via_pairs.toml").read_text(encoding="utf-8"))
    straight: dict[tuple[Any, ...], NDArray[np.float64]] = {}
    for name, _, asked in (word.partition(":") for word in sys.argv[1:] or read["case"]):
        case = {**read["board"][read["case"][name]["board"]], **read["case"][name]}
        for mode in (asked,) if asked else WALLS:
            found = list(rows(name, case, mode, straight))
            with path.open(encoding="utf-8", newline="") as lines:
                kept = [row for row in list(csv.reader(lines))[1:] if row[:2] != [name, mode]]
            kept = sorted(
                [*kept, *found], key=lambda row: (list(read["case"]).index(row[0]), list(WALLS).index(row[1]))
            )
            with path.open("w", encoding="utf-8", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([HEADER, *kept])
    return 0


if __name__ == "__main__":
    sys.exit(main())
