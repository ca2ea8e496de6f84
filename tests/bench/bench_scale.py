"""Many boards in one call, and ever larger ones: `python tests/bench/bench_scale.py [--many] [--large] [--runs N]`.

Many: a hundred boards with one process and with one per core, in turns: seconds of the clock, the share of the cores
that is used (1 means that two cores halve the time), the peak of memory of all processes together.
Large: the largest of KiCad's demo boards, its items written 1, 2, 4 and 8 times: processor seconds, the exponent of
their growth with the size of the file (1 is linear), memory against the size.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench_check import compile_packages, peak_mb
from tests.bench.bench_reader import largest_demo, tile
from tests.bench.bench_table import BOARDS, OURS, Command, copies, cpu_s, environment_of

RUNS = 3
TIMES = (1, 2, 4, 8)


def clock_s(command: Command) -> float:
    """Return seconds of the clock of a check, which may find something and no more."""
    begin = time.perf_counter()
    code = subprocess.run(
        [*map(str, command)], check=False, stdout=subprocess.DEVNULL, env=environment_of(None)
    ).returncode
    if code > 1:
        sys.exit(f"exit code {code}: {' '.join(map(str, command))}")
    return time.perf_counter() - begin


def many(folder: Path, runs: int) -> None:
    """Print what parallel processes give on many boards."""
    boards, cores = copies(folder / "many", BOARDS), os.cpu_count() or 1
    single: Command = (*OURS, "check", boards, "-q", "--jobs", "1")
    shared: Command = (*OURS, "check", boards, "-q", "--jobs", str(cores))
    taken = [(clock_s(single), clock_s(shared)) for _ in range(runs)]
    one_s, all_s = min(pair[0] for pair in taken), min(pair[1] for pair in taken)
    sys.stdout.write(
        f"{BOARDS} boards: {one_s:.1f} s with one process, {all_s:.1f} s with {cores}: "
        f"{one_s / all_s / cores:.0%} of {cores} cores (goal 90 %)\n"
        f"peak memory: {peak_mb(*single[3:]):.0f} MB with one process, {peak_mb(*shared[3:]):.0f} MB with {cores}\n"
    )


def large(folder: Path, runs: int) -> None:
    """Print how time and memory grow with the size of a board."""
    source = largest_demo()
    points: list[tuple[float, float]] = []
    for times in TIMES:
        board = folder / f"tiled{times}.kicad_pcb"
        tile(source, times, board)
        check = ("check", board, "--fail-on", "never", "--jobs", "1")
        size_mb = board.stat().st_size / 1e6
        seconds = min(cpu_s((*OURS, *check)) for _ in range(runs))
        memory_mb = peak_mb(*check)
        points.append((math.log(size_mb), math.log(seconds)))
        sys.stdout.write(f"{size_mb:6.0f} MB: {seconds:6.2f} s CPU, {memory_mb:6.0f} MB, {memory_mb / size_mb:.2f} x\n")
        sys.stdout.flush()
        board.unlink()
    (x_1, y_1), (x_2, y_2) = points[0], points[-1]
    sys.stdout.write(f"exponent {(y_2 - y_1) / (x_2 - x_1):.3f} (goal 1.05), memory at most 4 x the file\n")


def main() -> int:
    """Print both, or what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    compile_packages()
    with tempfile.TemporaryDirectory() as name:
        if options.many or not options.large:
            many(Path(name), options.runs)
        if options.large or not options.many:
            large(Path(name), options.runs)
    sys.stdout.write(f"{options.runs} runs each, load {os.getloadavg()[0]:.1f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
