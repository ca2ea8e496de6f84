"""How fast the field solver is, compared with `atlc` (finite differences on a bitmap) on a line with an exact solution.

Run by hand or by CI: `python tests/bench/bench_solver.py [--skip-atlc] [--json FILE]`. Solver times are of one thread,
the best of nine; atlc's is of its whole process, nearly all of it solving. The exit code is 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402 - the number of threads comes first
from numpy.typing import NDArray  # noqa: E402

from stackup_lib.field_solver.sections import Mask, Section  # noqa: E402
from stackup_lib.field_solver.shapes import microstrip, stripline  # noqa: E402
from stackup_lib.field_solver.solver import solve  # noqa: E402
from stackup_lib.transmission_lines.inverse import solve_pair, solve_width  # noqa: E402
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment  # noqa: E402
from stackup_lib.transmission_lines.width_request import GapPerWidth, Target, WidthLimits  # noqa: E402

EXACT_ZDIFF_AIR_OHM = 97.4459895647 * 4.2**0.5
"""Pair of 0.12/0.15 mm, 0.015 mm thick, midway between planes 0.4 mm apart: Schwarz-Christoffel, in air."""

PIXELS_MM = (0.005, 0.0025)
"""atlc's pixel: half of it takes four to eight times as long, and is about half as wrong."""

STRIPLINE_MS, MASKED_MS, ATLC_RATIO, TABLE_S = 15.0, 40.0, 50.0, 5.0
"""Bounds: milliseconds at 0.01 %, how many times faster than atlc at its best, seconds for the table."""


def stripline_pair(er: float = 4.2) -> Section:
    """The exact case as a section."""
    return stripline(
        width_mm=0.12, gap_mm=0.15, thickness_mm=0.015, layers_below=[(0.1925, er)], layers_above=[(0.2075, er)]
    )


def masked_pair() -> Section:
    """A coated pair of 90 ohm with tapered traces."""
    mask = Mask(er=3.8, on_laminate_mm=0.0305, on_trace_mm=0.0152, between_mm=0.0305)
    return microstrip(
        width_mm=0.15, top_width_mm=0.135, gap_mm=0.15, height_mm=0.1, thickness_mm=0.035, er=4.1, mask=mask
    )


def best_ms(action: Callable[[], object], runs: int = 9) -> float:
    """Return the shortest of some runs in milliseconds."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def table_s() -> float:
    """Return seconds for 6 targets on 28 layers that all differ, widths solved to 0.1 %."""
    wishes: list[tuple[float, str]] = [
        (85, "pair"),
        (90, "pair"),
        (100, "pair"),
        (92, "pair"),
        (50, "line"),
        (40, "line"),
    ]
    limits = WidthLimits(min_width_mm=0.05, max_width_mm=3.0, min_gap_mm=0.05, max_gap_mm=3.0)
    begin = time.perf_counter()
    for layer in range(28):
        site = _site(layer)
        for ohm, kind in wishes:
            if kind == "line":
                solve_width(site, Target(ohm=ohm), limits=limits, tolerance=1e-3)
            else:
                target = Target(ohm=ohm, kind="differential")
                solve_pair(site, target, limits, how=GapPerWidth(ratio=1.2), tolerance=1e-3)
    return time.perf_counter() - begin


def _site(layer: int) -> TraceEnvironment:
    """One of 28 layers, two of them outside under mask."""
    below = (DielectricSheet(name="core", kind="core", thickness_mm=0.10 + 0.002 * layer, dk=3.4),)
    if layer in (0, 27):
        mask = Mask(er=3.5, on_laminate_mm=0.03, on_trace_mm=0.015, between_mm=0.03)
        return TraceEnvironment(layer="F", reference_below="P", below=below, copper_mm=0.04, taper_mm=0.02, mask=mask)
    above = (DielectricSheet(name="prepreg", kind="prepreg", thickness_mm=0.11 + 0.003 * layer, dk=3.2),)
    return TraceEnvironment(
        layer=f"In{layer}", reference_below="P", reference_above="Q", below=below, above=above, copper_mm=0.0152,
        taper_mm=0.0152,
    )  # fmt: skip


def atlc(pixel_mm: float, folder: Path) -> tuple[float, float]:
    """Return atlc's seconds and relative error on the exact pair in air."""
    bitmap = folder / "pair.bmp"
    write_bitmap(bitmap, pair_picture(pixel_mm))
    begin = time.perf_counter()
    run = subprocess.run(["atlc", "-s", "-S", str(bitmap)], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    zdiff = float(run.stdout.split("Zdiff=")[1].split()[0])
    return seconds, abs(zdiff / EXACT_ZDIFF_AIR_OHM - 1)


def pair_picture(pixel_mm: float) -> NDArray[np.uint8]:
    """Draw the pair in atlc's colours: red and blue conductors, green ground, white air; walls 2 mm to either side."""
    width, gap, height, thick = (round(x / pixel_mm) for x in (0.12, 0.15, 0.4, 0.015))
    middle = round(2.0 / pixel_mm) + 1
    picture = np.full((height + 2, 2 * middle, 3), 255, dtype=np.uint8)
    for edge in (np.s_[0, :], np.s_[-1, :], np.s_[:, 0], np.s_[:, -1]):
        picture[edge] = (0, 255, 0)
    low = 1 + (height - thick) // 2
    picture[low : low + thick, middle - gap // 2 - width : middle - gap // 2] = (255, 0, 0)
    picture[low : low + thick, middle + gap // 2 : middle + gap // 2 + width] = (0, 0, 255)
    return picture


def write_bitmap(path: Path, picture: NDArray[np.uint8]) -> None:
    """Write a 24-bit bitmap."""
    height, width, _ = picture.shape
    rows = b"".join(row[:, ::-1].tobytes().ljust((width * 3 + 3) // 4 * 4, b"\0") for row in picture[::-1])
    header = struct.pack("<IHHI", 54 + len(rows), 0, 0, 54)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 2835, 2835, 0, 0)
    path.write_bytes(b"BM" + header + info + rows)


def measure(*, with_atlc: bool) -> dict[str, float]:
    """Return milliseconds, seconds and relative errors by name."""
    air, ours = stripline_pair(er=1.0), {}
    ours["stripline_pair_ms"] = best_ms(lambda: solve(stripline_pair()))
    ours["masked_pair_ms"] = best_ms(lambda: solve(masked_pair()))
    ours["air_pair_ms"] = best_ms(lambda: solve(air))
    ours["air_pair_error"] = abs(solve(air).z_diff_ohm / EXACT_ZDIFF_AIR_OHM - 1)
    ours["table_28x6_s"] = table_s()
    if with_atlc:
        with tempfile.TemporaryDirectory() as name:
            for pixel in PIXELS_MM:
                seconds, error = atlc(pixel, Path(name))
                ours[f"atlc_{pixel * 1000:g}um_s"], ours[f"atlc_{pixel * 1000:g}um_error"] = seconds, error
        ours["faster_than_atlc"] = 1e3 * ours[f"atlc_{PIXELS_MM[-1] * 1000:g}um_s"] / ours["air_pair_ms"]
    return ours


def missed(found: dict[str, float]) -> list[str]:
    """Return the bounds that a measurement misses, as text."""
    bounds = (("stripline_pair_ms", STRIPLINE_MS), ("masked_pair_ms", MASKED_MS), ("table_28x6_s", TABLE_S))
    out = [f"{name} is {found[name]:.1f}, more than {bound:g}" for name, bound in bounds if found[name] > bound]
    if found.get("faster_than_atlc", ATLC_RATIO) < ATLC_RATIO:
        out.append(f"only {found['faster_than_atlc']:.0f} times faster than atlc, not {ATLC_RATIO:g}")
    return out


def main() -> int:
    """Measure, print, and compare with the bounds."""
    parser = argparse.ArgumentParser(description="Measure the field solver.")
    parser.add_argument("--skip-atlc", action="store_true", help="do not run atlc")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    found = measure(with_atlc=not options.skip_atlc and shutil.which("atlc") is not None)
    problems = missed(found)
    lines = [f"{key:>22} {value:12.6g}" for key, value in found.items()]
    sys.stdout.write("\n".join([*lines, *(f"MISSED: {p}" for p in problems)]) + "\n")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
