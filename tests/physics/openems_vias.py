"""Layer changes in a 3-D field solver: solves `fixtures/reference/openems_vias.toml` into the table next to it.

usage: /usr/bin/python3 tests/physics/openems_vias.py [CASE ...] [--finer F] [--longer F]   (100 s of one core per run)

Rows of the named cases replace those in the table; without a name all are solved. `--finer` and `--longer` print what
a finer mesh and a longer run give and leave the table as it is; that is in `openems_vias_finer.csv`.

Needs openEMS with its Python bindings, Debian's package python3-openems 0.0.35.

Two lines of one width run from a port of 50 ohm to the via, each 4 mm long; planes reach into absorbing walls on all
sides; copper is perfect and 35 um thick, the laminate lossless. A via's delay is the phase of S21 less that of straight
lines of the same lengths on the same layers. Cells are an even part of the width around the barrel, 0.034 mm at most,
and 0.25 mm far from it.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

REFERENCE = Path(__file__).resolve().parents[2] / "fixtures" / "reference"
LINE_MM, HALF_MM, COPPER_MM, AIR_MM, PORT_MM = 4.0, (6.0, 3.5), 0.035, 1.2, 0.1
FINE_MM, COARSE_MM, GROWTH = 0.034, 0.25, 1.25
PLY_MM, PLY_CELLS = 0.1, 3
HIGHEST_HZ, FREQUENCIES, STEPS, ENDED = 20e9, 79, 22_000, 1e-4
AT_GHZ = (2.0, 5.0, 10.0)

Case = Mapping[str, Any]
Complex = NDArray[np.complex128]


def copper_mm(plies_mm: Sequence[float]) -> list[tuple[float, float]]:
    """Return lower and upper face of each copper layer, the top of the board at 0, down is negative."""
    faces, z_mm = [], 0.0
    for ply_mm in (*plies_mm, 0.0):
        low_mm = round(z_mm - COPPER_MM, 6)  # to the digit that the mesh has: a face must lie on a mesh line
        faces.append((low_mm, z_mm))
        z_mm = round(low_mm - ply_mm, 6)
    return faces


def graded(half_mm: float, fine_half_mm: float, fine_mm: float, port_mm: Sequence[float] = ()) -> list[float]:
    """Return mesh lines about 0, fine in the middle, through the edges of ports far from it."""
    points, step_mm = [0.0], fine_mm
    while points[-1] < half_mm:
        step_mm = step_mm if points[-1] < fine_half_mm else min(step_mm * GROWTH, COARSE_MM)
        points.append(points[-1] + step_mm)
    points = [*(p for p in points if p < half_mm - step_mm / 2), half_mm]
    apart = [p for p in points if all(abs(p - edge) > PORT_MM / 2 for edge in port_mm)]
    return sorted({sign * p for sign in (1, -1) for p in (*apart, *port_mm)})


def heights(faces: Sequence[tuple[float, float]], finer: float = 1.0) -> list[float]:
    """Return mesh lines through the board: one cell in copper, at least three in a ply; growing ones in the air."""
    edges = sorted({round(z, 6) for face in faces for z in face})
    lines = set(edges)
    for low, high in itertools.pairwise(edges):
        cells = max(PLY_CELLS, math.ceil((high - low) / PLY_MM)) if high - low > 1.5 * COPPER_MM else 1
        cells = math.ceil(cells * finer - 1e-9)
        lines |= set(np.linspace(low, high, cells + 1).round(6).tolist())
    for edge, sign in ((edges[0], -1), (edges[-1], 1)):
        out_mm, step_mm = 0.0, 0.05
        while out_mm < AIR_MM:
            step_mm = min(step_mm * 1.4, COARSE_MM)
            out_mm += step_mm
            lines.add(round(edge + sign * out_mm, 6))
    return sorted(lines)


def draw(csx: Any, case: Case, faces: Sequence[tuple[float, float]]) -> Any:
    """Add laminate, planes and the via; return the metal."""
    x_mm, y_mm = HALF_MM
    laminate, copper = csx.AddMaterial("laminate", epsilon=case["dk"]), csx.AddMetal("copper")
    antipads = csx.AddMaterial("antipads", epsilon=case["dk"])
    laminate.AddBox([-x_mm, -y_mm, faces[-1][1]], [x_mm, y_mm, faces[0][0]], priority=1)
    for plane in case["planes"]:
        copper.AddBox([-x_mm, -y_mm, faces[plane][0]], [x_mm, y_mm, faces[plane][1]], priority=10)
    if case["entry"] == case["exit"]:
        return copper
    top, bottom = case["barrel"]
    for plane in (p for p in case["planes"] if top <= p <= bottom):
        low, high = faces[plane]
        antipads.AddCylinder([0, 0, low - 0.01], [0, 0, high + 0.01], case["antipad_mm"] / 2, priority=20)
    copper.AddCylinder([0, 0, faces[bottom][0]], [0, 0, faces[top][1]], case["drill_mm"] / 2, priority=30)
    for layer in range(top, bottom + 1) if case["has_all_pads"] else (case["entry"], case["exit"]):
        copper.AddCylinder([0, 0, faces[layer][0]], [0, 0, faces[layer][1]], case["pad_mm"] / 2, priority=30)
    for y in (case["ground_mm"], -case["ground_mm"]):
        copper.AddCylinder([0, y, faces[-1][0]], [0, y, faces[0][1]], case["drill_mm"] / 2, priority=30)
    return copper


def solved(case: Case) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Return frequencies in Hz, S11 and S21."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = solved_in(case, f"{folder}/run")
        os.chdir(REFERENCE)  # the solver has gone into its folder
        return found


def solved_in(case: Case, folder: str) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Solve in a folder of its own, which the solver makes."""
    np.float, np.int, np.complex = float, int, complex  # type: ignore[attr-defined]  # what 0.0.35 still asks for
    from CSXCAD import ContinuousStructure  # type: ignore[import-not-found]
    from openEMS import openEMS  # type: ignore[import-not-found]

    faces, width_mm = copper_mm(case["plies_mm"]), case["width_mm"]
    steps = round(STEPS * case.get("finer", 1.0) * case.get("longer", 1.0))
    solver, csx = openEMS(NrTS=steps, EndCriteria=case.get("ended", ENDED)), ContinuousStructure()
    solver.SetGaussExcite(HIGHEST_HZ / 2, HIGHEST_HZ / 2)
    solver.SetBoundaryCond(["PML_8"] * 6)
    solver.SetCSX(csx)
    mesh = csx.GetGrid()
    mesh.SetDeltaUnit(1e-3)
    fine_mm = max(0.15, width_mm * 0.75) if case["entry"] == case["exit"] else 0.45
    finer = case.get("finer", 1.0)
    cell_mm = width_mm / 2 / math.ceil(width_mm / 2 / FINE_MM * finer)
    mesh.AddLine("x", graded(HALF_MM[0], fine_mm, cell_mm, [LINE_MM - PORT_MM, LINE_MM + PORT_MM]))
    mesh.AddLine("y", graded(HALF_MM[1], fine_mm, cell_mm))
    mesh.AddLine("z", heights(faces, finer))
    copper = draw(csx, case, faces)
    ports = lines_and_ports(solver, copper, case, faces)
    return run(solver, ports, folder)


def lines_and_ports(
    solver: Any, copper: Any, case: Case, faces: Sequence[tuple[float, float]], at_mm: float = 0.0
) -> list[Any]:
    """Add the two lines to a via at y = `at_mm`, each with its port to the nearest plane; return the ports."""
    ports, half_mm = [], case["width_mm"] / 2
    for number, layer, end_mm in ((1, case["entry"], -LINE_MM), (2, case["exit"], LINE_MM)):
        plane = min(case["planes"], key=lambda one: abs(one - layer))
        line_mm, plane_mm = (faces[layer][0], faces[plane][1]) if plane > layer else (faces[layer][1], faces[plane][0])
        low = [min(end_mm, 0.0), at_mm - half_mm, faces[layer][0]]
        high = [max(end_mm, 0.0), at_mm + half_mm, faces[layer][1]]
        copper.AddBox(low, high, priority=30)
        start = [end_mm - PORT_MM, at_mm - half_mm, line_mm]
        stop = [end_mm + PORT_MM, at_mm + half_mm, plane_mm]
        ports.append(solver.AddLumpedPort(number, 50, start, stop, "z", number == 1, priority=40))
    return ports


def run(solver: Any, ports: Sequence[Any], folder: str) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Run the solver in a folder; return frequencies in Hz, S11 and S21."""
    solver.Run(folder, verbose=0, cleanup=True, numThreads=1)
    hertz = np.linspace(0.5e9, HIGHEST_HZ, FREQUENCIES)
    for port in ports:
        port.CalcPort(folder, hertz, ref_impedance=50)
    return hertz, ports[0].uf_ref / ports[0].uf_inc, ports[1].uf_ref / ports[0].uf_inc


def rows(cases: Mapping[str, Case], boards: Mapping[str, Case], names: Sequence[str]) -> Iterator[list[str]]:
    """Yield one row of the table per case; straight lines are solved once per board and layer."""
    straight: dict[tuple[str, int], NDArray[np.float64]] = {}
    for name in names:
        case = {**boards[cases[name]["board"]], **cases[name]}
        keys = [(case["board"], min(layer, len(case["plies_mm"]) - layer)) for layer in (case["entry"], case["exit"])]
        for key in keys:
            if key not in straight:  # the boards are symmetric
                straight[key] = np.unwrap(np.angle(solved({**case, "entry": key[1], "exit": key[1]})[2]))
        hertz, s11, s21 = solved(case)
        without = (straight[keys[0]] + straight[keys[1]]) / 2
        delay_ps = (without - np.unwrap(np.angle(s21))) / (2 * math.pi * hertz) * 1e12
        at = [int(np.argmin(abs(hertz - ghz * 1e9))) for ghz in AT_GHZ]
        yield [name, *(f"{delay_ps[k]:.2f}" for k in at), *(f"{abs(s11[k]):.3f}" for k in at)]


def main() -> int:
    """Solve, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--finer", type=float, default=1.0, help="print what this many times finer a mesh gives")
    parser.add_argument("--longer", type=float, default=1.0, help="print what this many times longer a run gives")
    asked, path = parser.parse_args(), REFERENCE / "openems_vias.csv"
    read = tomllib.loads((REFERENCE / "openems_vias.toml").read_text(encoding="utf-8"))
    names = asked.names or list(read["case"])
    if asked.finer > 1 or asked.longer > 1:
        more = {"finer": asked.finer, "longer": asked.longer, "ended": ENDED / 10}
        boards = {name: {**board, **more} for name, board in read["board"].items()}
        for row in rows(read["case"], boards, names):
            print(*row, flush=True)  # noqa: T201 - a program of its own
        return 0
    with path.open(encoding="utf-8", newline="") as lines:
        header, *known = csv.reader(lines)
    table: dict[str, list[Any]] = {row[0]: row for row in known}
    for row in rows(read["case"], read["board"], names):
        table[row[0]] = row
        with path.open("w", encoding="utf-8", newline="") as out:
            kept = [table[name] for name in read["case"] if name in table]
            csv.writer(out, lineterminator="\n").writerows([header, *kept])
    return 0


if __name__ == "__main__":
    sys.exit(main())
