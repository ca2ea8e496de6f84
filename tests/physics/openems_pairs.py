"""Coupled pairs in a 3-D field solver: solves `fixtures/reference/openems_pairs.toml` into the table next to it.

usage: /usr/bin/python3 -m tests.physics.openems_pairs [CASE ...]   (a few minutes on one core)

Needs openEMS with its Python bindings, Debian's package python3-openems 0.0.35.

Two traces of one width run over a plane, both of their ends on ports of 50 ohm to it. Copper is perfect and 35 um
thick, the laminate lossless; board and plane reach into absorbing walls. One port is driven: the pair is its own mirror
image in two ways, so that what leaves the four ports is all of its S-parameters. Cells are a sixth of the gap.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.physics.openems_vias import COPPER_MM, GROWTH, PORT_MM, REFERENCE, copper_mm, heights

Case = Mapping[str, Any]
Complex = NDArray[np.complex128]

HIGHEST_HZ, STEPS, ENDED = 10e9, 60_000, 1e-5
AT_GHZ = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
ALONG_MM, COARSE_MM, AROUND_MM = 0.25, 0.3, 3.0
PORTS = ("near", "far", "near_other", "far_other")


def across(edges_mm: tuple[float, ...], fine_mm: float) -> list[float]:
    """Return mesh lines across the pair: through the edges of its copper, fine between them, growing outside."""
    inner, outer = edges_mm
    half = [k * fine_mm for k in range(1, round(inner / fine_mm) + 1)]
    cells = round((outer - inner) / fine_mm)
    half += [inner + (outer - inner) * k / cells for k in range(1, cells + 1)]
    step = fine_mm
    while half[-1] < outer + AROUND_MM:
        half.append(half[-1] + step)
        step = min(step * GROWTH, COARSE_MM)
    return sorted({0.0, *(round(sign * y, 6) for y in half for sign in (1, -1))})


def solved(case: Case) -> Complex:
    """Return what leaves the four ports of one that is driven, shape (frequencies, 4)."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = solved_in(case, f"{folder}/run")
        os.chdir(REFERENCE)  # the solver has gone into its folder
        return found


def solved_in(case: Case, folder: str) -> Complex:
    """Solve in a folder of its own, which the solver makes."""
    np.float, np.int, np.complex = float, int, complex  # type: ignore[attr-defined]  # what 0.0.35 still asks for
    from CSXCAD import ContinuousStructure  # type: ignore[import-not-found]
    from openEMS import openEMS  # type: ignore[import-not-found]

    faces, width, gap, end = copper_mm([case["ply_mm"]]), case["width_mm"], case["gap_mm"], case["length_mm"] / 2
    solver, csx = openEMS(NrTS=STEPS, EndCriteria=ENDED), ContinuousStructure()
    solver.SetGaussExcite(HIGHEST_HZ / 2, HIGHEST_HZ / 2)
    solver.SetBoundaryCond(["PML_8"] * 6)
    solver.SetCSX(csx)
    mesh = csx.GetGrid()
    mesh.SetDeltaUnit(1e-3)
    y = across((gap / 2, gap / 2 + width), gap / 6)
    inside = np.linspace(-end + PORT_MM, end - PORT_MM, round((2 * end - 2 * PORT_MM) / ALONG_MM) + 1)
    outside = [end + PORT_MM + ALONG_MM * k for k in range(round(AROUND_MM / ALONG_MM) + 1)]
    x = sorted({round(sign * one, 6) for one in [*inside.tolist(), *outside, end] for sign in (1, -1)})
    mesh.AddLine("x", x)
    mesh.AddLine("y", y)
    mesh.AddLine("z", heights(faces))
    low, high = [x[0], y[0], faces[1][1]], [x[-1], y[-1], faces[0][0]]
    csx.AddMaterial("laminate", epsilon=case["dk"]).AddBox(low, high, priority=1)
    copper = csx.AddMetal("copper")
    copper.AddBox([x[0], y[0], faces[1][0]], [x[-1], y[-1], faces[1][1]], priority=10)
    ports: list[Any] = []
    for trace in (1, -1):
        left, right = sorted((trace * gap / 2, trace * (gap / 2 + width)))
        copper.AddBox([-end, left, -COPPER_MM], [end, right, 0], priority=30)
        for side in (-1, 1):
            start = [side * end - PORT_MM, left, -COPPER_MM]
            stop = [side * end + PORT_MM, right, faces[1][1]]
            number = len(ports) + 1
            ports.append(solver.AddLumpedPort(number, 50, start, stop, "z", number == 1, priority=40))
    solver.Run(folder, verbose=0, cleanup=True)
    hertz = np.array(AT_GHZ) * 1e9
    for port in ports:
        port.CalcPort(folder, hertz, ref_impedance=50)
    return np.stack([port.uf_ref / ports[0].uf_inc for port in ports], axis=1)


def main() -> int:
    """Solve, and write the table."""
    read = tomllib.loads((REFERENCE / "openems_pairs.toml").read_text(encoding="utf-8"))
    names = sys.argv[1:] or list(read["case"])
    with (REFERENCE / "openems_pairs.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["case", "ghz", *(f"{port}_{part}" for port in PORTS for part in ("re", "im"))])
        for name in names:
            for ghz, row in zip(AT_GHZ, solved(read["case"][name]), strict=True):
                table.writerow([name, f"{ghz:g}", *(f"{part:.5f}" for s in row for part in (s.real, s.imag))])
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
