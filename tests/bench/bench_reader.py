"""How fast the reader is, side by side: `read_board`, plain sexpdata, `kicad-cli pcb drc`; memory; growth with size.

Run by hand or by CI: `python tests/bench/bench_reader.py [BOARD] [--skip-drc] [--skip-sexpdata] [--json FILE]`.
BOARD is by default the largest demo board that KiCad brings (set STACKWRIGHT_DEMOS if it is not found). The exit code
is 1 when a bound is missed. Every measurement runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]
RATIO_DRC = 20.0
RATIO_SEXPDATA = 10.0
Rivals = tuple[tuple[str, str, float, str], ...]
"""Key of our seconds, of the other reader's, the required ratio, the other reader's name."""

RIVALS: Rivals = (
    ("read_s", "drc_s", RATIO_DRC, "kicad-cli pcb drc"),
    ("read_s", "sexpdata_s", RATIO_SEXPDATA, "sexpdata.load"),
)
PEAK_MB = 600.0
HELP_S = 0.25
COLUMNS, APART_MM = 4, 450.0
"""How copies of a board lie side by side: within the 2.1 m that KiCad's coordinates reach."""
POINT = re.compile(rb"\((at|start|mid|end|center|xy) (-?[\d.]+) (-?[\d.]+)")
SLOWER_THAN_LINEAR = 1.5
"""Time per byte of the board tiled four times, against the board itself; noise of a shared machine included."""


class Measure(Protocol):
    """Measures one board against other readers."""

    def __call__(self, board: Path, *, drc: bool, sexpdata: bool) -> dict[str, float]:
        """Return seconds, megabytes and counts, by name."""
        ...


_READ = """
import resource, sys, time
from pathlib import Path
from stackup_lib.kicad import read_board
times = []
for _ in range(int(sys.argv[2])):
    begin = time.perf_counter()
    board = read_board(Path(sys.argv[1]))
    times.append(time.perf_counter() - begin)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(min(times), peak / (1024 * 1024 if sys.platform == "darwin" else 1024), len(board.tracks), len(board.vias))
"""
SEXPDATA = """
import sys, time
import sexpdata
begin = time.perf_counter()
with open(sys.argv[1], encoding="utf-8") as file:
    sexpdata.load(file, nil=None, true=None)
print(time.perf_counter() - begin)
"""


def run_python(code: str, *arguments: str | Path) -> list[float]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")])}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in run.stdout.split()]


def largest_demo() -> Path:
    sys.path.insert(0, str(ROOT))
    from tests.conftest import demo_folder

    folder = demo_folder()
    if folder is None:
        sys.exit("no KiCad demo boards: name a board or set STACKWRIGHT_DEMOS")
    return max(folder.glob("*/*.kicad_pcb"), key=lambda path: path.stat().st_size)


def tile(board: Path, times: int, target: Path) -> None:
    """Write the board with its items (footprints, tracks, vias, zones and all) `times` times, side by side."""
    data = board.read_bytes()
    first = min(at for word in (b"footprint", b"segment", b"via", b"zone") if (at := data.find(b"\n\t(" + word)) >= 0)
    last = data.rindex(b"\n)")
    items = re.split(rb"(?=\n\t\()", data[first:last])
    with target.open("wb") as out:
        out.write(data[:first])
        for k in range(times):
            right_mm, down_mm = k % COLUMNS * APART_MM, k // COLUMNS * APART_MM
            out.writelines(moved(item, right_mm, down_mm) if k else item for item in items)
        out.write(data[last:])


def moved(item: bytes, right_mm: float, down_mm: float) -> bytes:
    """Return an item of a board elsewhere; what a footprint holds lies relative to it."""

    def shifted(match: re.Match[bytes]) -> bytes:
        return b"(%s %.6f %.6f" % (match[1], float(match[2]) + right_mm, float(match[3]) + down_mm)

    if item.startswith(b"\n\t(footprint"):
        head, at, rest = item.partition(b"\n\t\t(at ")
        return head + at[:-4] + POINT.sub(shifted, b"(at " + rest, count=1)
    return POINT.sub(shifted, item)


def time_drc(board: Path, folder: Path) -> float | None:
    cli = shutil.which("kicad-cli")
    if cli is None:
        return None
    copy = folder / "drc"
    copy.mkdir()
    for suffix in (".kicad_pcb", ".kicad_pro", ".kicad_dru"):
        if (source := board.with_suffix(suffix)).exists():
            shutil.copyfile(source, copy / source.name)
    begin = time.perf_counter()
    command = [cli, "pcb", "drc", "--format", "json", "-o", str(copy / "drc.json"), str(copy / board.name)]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def measure(board: Path, *, drc: bool, sexpdata: bool) -> dict[str, float]:
    """Return seconds, megabytes and counts, by name."""
    size_mb = board.stat().st_size / 1e6
    seconds, peak_mb, tracks, vias = run_python(_READ, board, "3")
    _, once_mb, _, _ = run_python(_READ, board, "1")
    found = {"board_mb": size_mb, "read_s": seconds, "read_peak_mb": once_mb, "peak_of_three_mb": peak_mb}
    found |= {"tracks": tracks, "vias": vias}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for times in (2, 4):
            tiled = folder / f"tiled{times}.kicad_pcb"
            tile(board, times, tiled)
            tiled_s, tiled_mb, tiled_tracks, _ = run_python(_READ, tiled, "2")
            if tiled_tracks != times * tracks:
                sys.exit(f"the board tiled {times} times has {tiled_tracks} tracks, not {times * tracks}")
            growth = (tiled_s / tiled.stat().st_size) / (seconds / board.stat().st_size)
            found |= {f"read_x{times}_s": tiled_s, f"peak_x{times}_mb": tiled_mb, f"time_per_byte_x{times}": growth}
            tiled.unlink()
        if sexpdata:
            found["sexpdata_s"] = run_python(SEXPDATA, board)[0]
        if drc and (drc_s := time_drc(board, folder)) is not None:
            found["drc_s"] = drc_s
    return found


def missed(found: dict[str, float], what: str, rivals: Rivals = RIVALS) -> list[str]:
    """Return the bounds that a measurement misses, as text; `what` is `read` or `check`."""
    peak_mb = found[f"{what}_peak_mb"]
    out = [
        f"{ours} is 1/{found[key] / found[ours]:.1f} of {name}'s time, not 1/{ratio:g}"
        for ours, key, ratio, name in rivals
        if key in found and found[key] < ratio * found[ours]
    ]
    if peak_mb > PEAK_MB:
        out.append(f"peak memory {peak_mb:.0f} MB is above {PEAK_MB:g} MB")
    if found["time_per_byte_x4"] > SLOWER_THAN_LINEAR:
        out.append(f"time per byte grows {found['time_per_byte_x4']:.2f}-fold when the board is tiled four times")
    if found.get("help_s", 0.0) > HELP_S:
        out.append(f"--help takes {found['help_s']:.2f} s, more than {HELP_S:g} s")
    return out


def main(measure_it: Measure, what: str, rivals: Rivals = RIVALS) -> int:
    """Measure, print, and compare with the bounds; the exit code is 1 when one is missed."""
    parser = argparse.ArgumentParser(description=f"Measure: {what}.")
    parser.add_argument("board", type=Path, nargs="?", default=None)
    parser.add_argument("--skip-drc", action="store_true", help="do not run kicad-cli pcb drc (a minute)")
    parser.add_argument("--skip-sexpdata", action="store_true", help="do not run sexpdata.load (half a minute)")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    board = options.board or largest_demo()
    found = measure_it(board, drc=not options.skip_drc, sexpdata=not options.skip_sexpdata)
    lines = [f"{key:>18} {value:12.3f}" for key, value in found.items()]
    lines += [f"{ours} is 1/{found[k] / found[ours]:.1f} of {name}'s time" for ours, k, _, name in rivals if k in found]
    problems = missed(found, what, rivals)
    sys.stdout.write("\n".join([board.name, *lines, *(f"MISSED: {p}" for p in problems)]) + "\n")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(measure, "read"))
