"""A small board with one pair from U1 through capacitors to J1, and Touchstone files to declare for its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

STACKUP = """
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0 df=0.01
In1.Cu 0.015
core 1.2 "370HR" dk=4.0 df=0.01
In2.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0 df=0.01
B.Cu 0.035
"""
CONFIG = """
[declared]
foil = "VLP"
[[interface]]
is = "pcie4"
nets = ["/PCIE_*", "/OUT_*"]
"""
P, N, OUT_P, OUT_N = "/PCIE_TX0_P", "/PCIE_TX0_N", "/OUT_TX0_P", "/OUT_TX0_N"


def pads(*rows: tuple[str, str, float, float]) -> list[dict[str, Any]]:
    return [{"number": n, "net": net, "at_mm": [x, y], "size_mm": [0.2, 0.2]} for n, net, x, y in rows]


def paired(
    *, value: str = "220n 0402", longer_n_mm: float = 0.0, config: str = "", capacitors: bool = True
) -> dict[str, Any]:
    """The board: 40 mm of a pair on F.Cu, N with a detour before the capacitors."""
    up = 10.3 + longer_n_mm / 2
    detour = [[15, 10.3], [15, up], [16, up], [16, 10.3]] if longer_n_mm else []
    after_p, after_n = (OUT_P, OUT_N) if capacitors else (P, N)
    parts = [
        {"reference": "U1", "at_mm": [5, 10], "pads": pads(("1", P, 0, 0), ("2", N, 0, 0.3))},
        {"reference": "J1", "at_mm": [45, 10], "pads": pads(("1", after_p, 0, 0), ("2", after_n, 0, 0.3))},
    ]
    paths = [(P, [[5, 10], [45, 10]]), (N, [[5, 10.3], *detour, [45, 10.3]])]
    if capacitors:
        parts += [
            {"reference": name, "value": value, "at_mm": [25, y], "pads": pads(("1", near, 0, 0), ("2", far, 1, 0))}
            for name, y, near, far in (("C1", 10, P, OUT_P), ("C2", 10.3, N, OUT_N))
        ]
        paths = [
            (P, [[5, 10], [25, 10]]),
            (OUT_P, [[26, 10], [45, 10]]),
            (N, [[5, 10.3], *detour, [25, 10.3]]),
            (OUT_N, [[26, 10.3], [45, 10.3]]),
        ]
    tracks = [{"net": net, "layer": "F.Cu", "width_mm": 0.15, "path_mm": path} for net, path in paths]
    return {
        "size_mm": [60, 40],
        "stackup": STACKUP,
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "config": CONFIG + config,
        "parts": parts,
        "tracks": tracks,
    }


def write_s(path: Path, ghz: NDArray[np.float64], s: NDArray[np.complex128], options: str = "# GHz S RI R 50") -> Path:
    """Write S-parameters as any program would, in the format of the letter."""
    order = s.transpose(0, 2, 1) if s.shape[1] == 2 else s
    rows = [
        f"{f:.9g} " + " ".join(f"{v.real:.12g} {v.imag:.12g}" for v in m.ravel())
        for f, m in zip(ghz, order, strict=True)
    ]
    path.write_text("! made for a test\n" + "\n".join([options, *rows]) + "\n", encoding="ascii")
    return path


def series_s(ohm: NDArray[np.complex128], reference: float = 50.0) -> NDArray[np.complex128]:
    """S of an impedance in series: S11 = Z/(Z + 2 Z0), S21 = 2 Z0/(Z + 2 Z0) (Pozar, table 4.2)."""
    s = np.empty((len(ohm), 2, 2), dtype=np.complex128)
    s[:, 0, 0] = s[:, 1, 1] = ohm / (ohm + 2 * reference)
    s[:, 0, 1] = s[:, 1, 0] = 2 * reference / (ohm + 2 * reference)
    return s
