"""Pairs of planes in a 3-D field solver: solves `fixtures/reference/openems_planes.toml` into the table next to it.

usage: /usr/bin/python3 tests/physics/openems_planes.py [CASE ...]   (ten minutes on one core)

Needs openEMS with its Python bindings, Debian's package python3-openems 0.0.35.

Both planes are drawn as sheets of the same outline; the laminate ends with the board's box, air is around it. Current
enters at one edge of the mesh between the planes; a second place is left open. A capacitor is a resistor and a
capacitance, one upon the other between the planes, each one cell high. Its inductance is that of the way through them.
"""

from __future__ import annotations

import csv
import itertools
import math
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

REFERENCE = Path(__file__).resolve().parents[2] / "fixtures" / "reference"
FINE_MM, COARSE_MM, GROWTH, AIR_MM, AIR_GROWTH = 0.5, 2.0, 1.4, 16.0, 1.8
PORT_OHM, HIGHEST_HZ, STEPS, ENDED, FREQUENCIES = 10.0, 1.5e9, 110_000, 1e-5, 601
GAP_CELLS = 2
"""Cells between the planes: one for the resistor and one for the capacitor."""

FROM_HZ, TO_HZ, PROMINENT = 0.1e9, 1.3e9, 1.1

EDGE_MM = 0.1985 * FINE_MM
"""Radius of the round wire that has the inductance of one edge of a square mesh: e^-Euler/sqrt(8) of its cell."""

Case = Mapping[str, Any]
Complex = NDArray[np.complex128]


def graded(fixed_mm: Iterable[float]) -> list[float]:
    """Return mesh lines through fixed ones, fine next to them, coarse between, growing in the air outside."""
    fixed = sorted(set(fixed_mm))
    lines = set(fixed)
    for low, high in itertools.pairwise(fixed):
        lines |= between(low, high)
    for edge, sign in ((fixed[0], -1), (fixed[-1], 1)):
        out_mm, step_mm = 0.0, FINE_MM
        while out_mm < AIR_MM:
            out_mm += step_mm
            step_mm *= AIR_GROWTH
            lines.add(round(edge + sign * out_mm, 6))
    return sorted(lines)


def between(low_mm: float, high_mm: float) -> set[float]:
    """Return lines inside of an interval, whose cells grow from both ends to the middle."""
    wide = high_mm - low_mm
    if wide < 1.5 * FINE_MM:
        return set()
    steps = [FINE_MM]
    while 2 * sum(steps) < wide:
        steps.append(min(steps[-1] * GROWTH, COARSE_MM))
    if 2 * sum(steps[:-1]) > 0.8 * wide:
        del steps[-1]
    cells = np.array([*steps, *reversed(steps)])
    return set((low_mm + np.cumsum(cells * (wide / cells.sum()))[:-1]).round(6).tolist())


def solved(case: Case) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Return frequencies in Hz, impedance of the port and to the open place in ohm."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = solved_in(case, f"{folder}/run")
        os.chdir(REFERENCE)  # the solver has gone into its folder
        return found


def solved_in(case: Case, folder: str) -> tuple[NDArray[np.float64], Complex, Complex]:
    """Solve in a folder of its own, which the solver makes."""
    np.float, np.int, np.complex = float, int, complex  # type: ignore[attr-defined]  # what 0.0.35 still asks for
    from CSXCAD import ContinuousStructure  # type: ignore[import-not-found]
    from openEMS import openEMS  # type: ignore[import-not-found]
    from openEMS.ports import UI_data  # type: ignore[import-not-found]

    gap_mm, places = case["spacing_mm"], [case["port_mm"], case["open_mm"], *(c["at_mm"] for c in case["capacitors"])]
    solver, csx = openEMS(NrTS=STEPS, EndCriteria=ENDED), ContinuousStructure()
    solver.SetGaussExcite(HIGHEST_HZ / 2, HIGHEST_HZ / 2)
    solver.SetBoundaryCond(["MUR"] * 6)
    solver.SetCSX(csx)
    mesh = csx.GetGrid()
    mesh.SetDeltaUnit(1e-3)
    for axis in (0, 1):
        edges = [box[k] for box in case["copper_mm"] for k in (axis, axis + 2)]
        near = [place[axis] + shift for place in places for shift in (-FINE_MM, 0.0, FINE_MM)]
        mesh.AddLine("xy"[axis], graded([*edges, *near]))
    cells = [gap_mm * k / GAP_CELLS for k in range(GAP_CELLS + 1)]
    out = [gap_mm * (AIR_GROWTH**k - 1) / (AIR_GROWTH - 1) / 2 for k in range(1, 9)]
    mesh.AddLine("z", sorted({round(z, 6) for z in [*cells, *(gap_mm + z for z in out), *(-z for z in out)]}))

    boxes = np.array(case["copper_mm"])
    left, top = boxes[:, :2].min(axis=0).tolist()
    right, bottom = boxes[:, 2:].max(axis=0).tolist()
    siemens = 2 * math.pi * case["df_at_ghz"] * 1e9 * 8.8541878128e-12 * case["dk"] * case["df"]
    laminate = csx.AddMaterial("laminate", epsilon=case["dk"], kappa=siemens)
    laminate.AddBox([left, top, 0], [right, bottom, gap_mm], priority=1)
    copper = csx.AddConductingSheet("copper", conductivity=5.8e7, thickness=case["copper_um"] * 1e-6)
    for x1, y1, x2, y2 in case["copper_mm"]:
        for z_mm in (0, gap_mm):
            copper.AddBox([x1, y1, z_mm], [x2, y2, z_mm], priority=10)
    for number, part in enumerate(case["capacitors"]):
        values = {"R": part["mohm"] * 1e-3}, {"C": part["nf"] * 1e-9}
        for cell, value in enumerate(values):
            x, y = part["at_mm"]
            element = csx.AddLumpedElement(f"part{number}{cell}", ny=2, caps=False, **value)
            element.AddBox([x, y, cells[cell]], [x, y, cells[cell + 1]], priority=20)
    x, y = case["port_mm"]
    port = solver.AddLumpedPort(1, PORT_OHM, [x, y, 0], [x, y, gap_mm], "z", 1, priority=20)
    x, y = case["open_mm"]
    csx.AddProbe("open", 0, weight=-1).AddBox([x, y, 0], [x, y, gap_mm])
    solver.Run(folder, verbose=0, cleanup=True)
    hertz = frequencies_hz()
    port.CalcPort(folder, hertz)
    across = UI_data(["open"], folder, hertz).ui_f_val[0]
    return hertz, port.uf_tot / port.if_tot, across / port.if_tot


def frequencies_hz() -> NDArray[np.float64]:
    """Return the frequencies of all curves, 0.8 % apart."""
    return np.geomspace(10e6, HIGHEST_HZ, FREQUENCIES)


def extremes(hertz: NDArray[np.float64], impedance_ohm: Complex) -> list[tuple[str, float, float]]:
    """Return peaks and floors of |Z| that differ from their neighbours by `PROMINENT`: kind, MHz, ohm.

    Between `FROM_HZ` and `TO_HZ`: the solved time is too short below, and the mesh too coarse above.
    """
    here = (hertz >= FROM_HZ) & (hertz <= TO_HZ)
    hz, size = hertz[here], np.log(np.abs(impedance_ohm[here]))
    turns = (np.flatnonzero((size[1:-1] - size[:-2]) * (size[2:] - size[1:-1]) < 0) + 1).tolist()
    while len(turns) > 1:
        steps = np.abs(np.diff(size[turns]))
        least = int(np.argmin(steps))
        if steps[least] > math.log(PROMINENT):
            break
        del turns[least : least + 2]
    kinds = ["peak" if size[k] > size[k - 1] else "floor" for k in turns]
    return [(kind, hz[k] / 1e6, math.exp(size[k])) for kind, k in zip(kinds, turns, strict=True)]


def main() -> int:
    """Solve, and write the table."""
    read = tomllib.loads((REFERENCE / "openems_planes.toml").read_text(encoding="utf-8"))
    names = sys.argv[1:] or list(read["case"])
    with (REFERENCE / "openems_planes.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["case", "impedance", "kind", "mhz", "ohm"])
        for name in names:
            hertz, own, transfer = solved({"capacitors": [], **read["common"], **read["case"][name]})
            for of, ohm in (("input", own), ("transfer", transfer)):
                for kind, mhz, size in extremes(hertz, ohm):
                    table.writerow([name, of, kind, f"{mhz:.1f}", f"{size:.4g}"])
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
